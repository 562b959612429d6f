//! The elements of tensors, by class.

use super::constants::Constants;
use super::random::Random;
use crate::grammar::{DataType, TypeCode};
use crate::number::FloatType;
use crate::value::is_short;

/// The kind of numbers in a tensor.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum NumberProfile {
    /// Pairwise different numbers with few digits, of both signs, for which most operations are exact.
    Exact,
    /// Numbers with many digits between -2 and 2.
    Fractional,
    /// Numbers at, below and above the constants of the programs, and ties of rounding.
    Edges,
    /// Numbers above 0.
    Positive,
    /// Numbers of some hundreds.
    Large,
    /// Numbers between -1 and 1, or between 0 and 1.
    Unit,
    /// Numbers so small that the small constants of the programs matter.
    Small,
    /// Small numbers; if the program has small constants in several places, ordinary ones in arguments that do not flow
    /// into one of them.
    SmallBefore,
    /// A few exact numbers, repeatedly.
    Repeated,
    /// Numbers in ascending order.
    Sorted,
    /// Numbers outside of the range of narrower types.
    Wide,
    /// Zeros, and a few other numbers.
    Sparse,
    /// The ends of the range, subnormal numbers, infinities, NaNs.
    Extreme,
    /// Ordinary numbers, infinities and NaNs.
    Boundless,
}

const CYCLE: [NumberProfile; 19] = [
    NumberProfile::Exact,
    NumberProfile::Fractional,
    NumberProfile::Edges,
    NumberProfile::Large,
    NumberProfile::Positive,
    NumberProfile::Small,
    NumberProfile::Wide,
    NumberProfile::Fractional,
    NumberProfile::Unit,
    NumberProfile::Exact,
    NumberProfile::Repeated,
    NumberProfile::Edges,
    NumberProfile::Sorted,
    NumberProfile::SmallBefore,
    NumberProfile::Sparse,
    NumberProfile::Extreme,
    NumberProfile::Large,
    NumberProfile::Edges,
    NumberProfile::Boundless,
];

/// For each position in the cycle: how often its profile occurs before it, and in the whole cycle. They are asked for
/// with each element.
const SAME: [(usize, usize); CYCLE.len()] = {
    let mut found = [(0, 0); CYCLE.len()];
    let mut at = 0;
    while at < CYCLE.len() {
        let mut other = 0;
        while other < CYCLE.len() {
            if CYCLE[other] as u8 == CYCLE[at] as u8 {
                found[at].0 += (other < at) as usize;
                found[at].1 += 1;
            }
            other += 1;
        }
        at += 1;
    }
    found
};

impl NumberProfile {
    /// The profile of the draw with this number.
    pub(super) fn of(index: usize) -> NumberProfile {
        CYCLE.get(NumberProfile::nth(index) % CYCLE.len()).copied().unwrap_or(NumberProfile::Exact)
    }

    /// The position in the cycle of profiles; after each round it is paired differently with the cycle of sizes.
    pub(super) fn nth(index: usize) -> usize {
        index + index / CYCLE.len()
    }

    /// The profile for an argument of a draw; `flows` says whether it flows into the small constant that the draw
    /// tests, if it tests one.
    pub(super) fn of_argument(place: FilledTensor, flows: Option<bool>, random: &mut Random) -> NumberProfile {
        let tame = flows.map_or_else(|| place.is_tame(random), |flows| !flows);
        if tame { NumberProfile::tame(random) } else { NumberProfile::of(place.index) }
    }

    /// How many earlier draws had the same profile.
    fn ordinal(index: usize) -> usize {
        let (round, at) = (index / CYCLE.len(), NumberProfile::nth(index) % CYCLE.len());
        let (before, all) = SAME.get(at).copied().unwrap_or((0, 1));
        round * all + before
    }

    /// A profile that does not hide the effects of other arguments.
    pub(super) fn tame(random: &mut Random) -> NumberProfile {
        random.pick(
            &[NumberProfile::Exact, NumberProfile::Fractional, NumberProfile::Positive, NumberProfile::Unit],
            NumberProfile::Exact,
        )
    }

    /// Whether infinities and NaN are among the numbers.
    pub(super) fn is_boundless(self) -> bool {
        matches!(self, NumberProfile::Extreme | NumberProfile::Boundless)
    }
}

/// Identifies the tensor to fill. This, and not the seed, determines the classes of its numbers, so that every seed
/// covers all classes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct FilledTensor {
    /// The number of the draw.
    pub(super) index: usize,
    /// The number of the tensor in it.
    pub(super) nth: usize,
    /// How many tensors there are.
    pub(super) of: usize,
}

impl FilledTensor {
    /// Whether the tensor should not hide the effects of others: no tensor, the odd ones, the even ones, then some.
    fn is_tame(self, random: &mut Random) -> bool {
        match self.index / CYCLE.len() % 4 {
            _ if self.of < 2 => false,
            0 => false,
            1 => !self.nth.is_multiple_of(2),
            2 => self.nth.is_multiple_of(2),
            _ => random.one_in(4),
        }
    }

    /// Whether a single number is near a constant, whatever the others are: all, none, the even ones, the odd ones.
    pub(super) fn is_at_edge(self) -> bool {
        match (self.index + self.index / 8) % 4 {
            0 => true,
            1 => false,
            2 => self.nth.is_multiple_of(2),
            _ => !self.nth.is_multiple_of(2),
        }
    }
}

/// The meaning of integers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Integers {
    /// As the profile says.
    Values,
    /// Indices below this.
    Below(i64),
}

/// Generates the elements of one tensor.
pub(super) struct ElementGenerator<'c> {
    pub(super) constants: &'c Constants,
    pub(super) profile: NumberProfile,
    pub(super) integers: Integers,
    pub(super) dtype: DataType,
    pub(super) place: FilledTensor,
}

/// Floats that are not finite.
const BOUNDLESS: [f64; 3] = [f64::NAN, f64::INFINITY, f64::NEG_INFINITY];

/// Ties of rounding, and places where functions change their slope.
const TIES: [f64; 14] = [0.5, 1.5, 2.5, -0.5, -1.5, -2.5, 3.5, 0.0, -0.0, 1.0, -1.0, 2.0, 0.75, -0.25];
/// Numbers with few digits.
const FEW: [f64; 8] = [-2.0, -1.0, -0.5, 0.0, 0.5, 1.0, 2.0, 3.0];
/// Numbers outside of int8, uint8, int16, uint16, float16, and of the integers that float16 and float32 represent
/// exactly.
const WIDE: [f64; 20] = [
    127.0, 127.5, 128.0, 129.5, -128.0, -128.5, -129.0, 255.0, 256.0, 300.25, -300.25, 2049.0, 32767.0, 32768.0,
    -32769.0, 65535.0, 65600.0, 70000.5, -70000.5, 16777215.0,
];

impl ElementGenerator<'_> {
    /// Elements as bytes; `None` for a data type that has none.
    pub(super) fn bytes(&self, count: usize, random: &mut Random) -> Option<Vec<u8>> {
        let dtype = self.dtype;
        if let Some(float) = dtype.float_type() {
            let floats = self.floats(count, random);
            let mut bytes = Vec::with_capacity(count.saturating_mul(dtype.bytes()));
            if float == FloatType::Float32 {
                // The most common type without a detour: weights are large.
                floats.iter().for_each(|x| bytes.extend_from_slice(&(float.to_bits(*x) as u32).to_le_bytes()));
                return Some(bytes);
            }
            for x in floats {
                bytes.extend_from_slice(float.to_bits(x).to_le_bytes().get(..dtype.bytes())?);
            }
            return Some(bytes);
        }
        if dtype.is_bool() {
            return Some(self.truths(count, random));
        }
        match dtype.code {
            TypeCode::Int | TypeCode::UInt => {
                let bytes = |x: i64| x.to_le_bytes().into_iter().take(dtype.bytes());
                Some(self.ints(count, random).into_iter().flat_map(bytes).collect())
            }
            // The bits of 0 are those of +0 in every format.
            TypeCode::Small(_) => Some(vec![0; count.checked_mul(dtype.bytes())?]),
            TypeCode::Float | TypeCode::BFloat | TypeCode::Handle => None,
        }
    }

    fn truths(&self, count: usize, random: &mut Random) -> Vec<u8> {
        let constant = self.profile == NumberProfile::Repeated;
        let value = random.below(2) as u8;
        (0..count).map(|_| if constant { value } else { random.below(2) as u8 }).collect()
    }

    /// Numbers that the floating-point data type represents.
    pub(super) fn floats(&self, count: usize, random: &mut Random) -> Vec<f64> {
        let float = self.dtype.float_type().unwrap_or(FloatType::Float64);
        let mut values = self.unrounded(count, float, random);
        values.iter_mut().for_each(|x| *x = float.round(*x));
        if !self.profile.is_boundless() {
            // Infinities are only generated on purpose.
            values.iter_mut().filter(|x| !x.is_finite()).for_each(|x| *x = 1.0);
        }
        if self.profile == NumberProfile::Sorted {
            values.sort_by(f64::total_cmp);
        }
        values
    }

    fn unrounded(&self, count: usize, float: FloatType, random: &mut Random) -> Vec<f64> {
        let scattered = Scattered::new(count, random);
        let scale = self.scale();
        let negative = self.ordinal().is_multiple_of(2);
        (0..count)
            .map(|i| match self.profile {
                NumberProfile::Exact if i % 4 == 1 => {
                    let met = self.ordinal() * count.div_ceil(4) + self.place.nth;
                    // A number that also occurs elsewhere in the tensor would occur twice.
                    let fresh = self.together(met, i / 4, float).filter(|x| !scattered.holds(*x));
                    fresh.unwrap_or_else(|| scattered.quarter(i))
                }
                NumberProfile::Exact => scattered.quarter(i),
                NumberProfile::Fractional | NumberProfile::Sorted => random.float(-2.0, 2.0),
                NumberProfile::Edges => self.edge(i, count, float, random),
                NumberProfile::Positive => random.float(0.01, 4.0),
                NumberProfile::Large | NumberProfile::Small | NumberProfile::SmallBefore => {
                    random.float(-1.5, 1.5) * scale
                }
                NumberProfile::Unit => random.float(if negative { -1.0 } else { 0.0 }, 1.0),
                NumberProfile::Repeated => random.pick(&FEW, 1.0),
                NumberProfile::Wide if i % 3 == 2 => random.float(-400.0, 400.0),
                NumberProfile::Wide => self.in_turn(&WIDE, i - i / 3, count - count / 3).unwrap_or(300.0),
                NumberProfile::Sparse => {
                    if random.one_in(5) {
                        random.float(-3.0, 3.0)
                    } else {
                        0.0
                    }
                }
                NumberProfile::Boundless => self.boundless(i, random),
                NumberProfile::Extreme => self.extreme(i, count, float, random),
            })
            .collect()
    }

    /// How often the profile was used before.
    fn ordinal(&self) -> usize {
        NumberProfile::ordinal(self.place.index)
    }

    /// The items in turn. It continues where the last draw with this profile ended, if its tensor had as many elements;
    /// each tensor of a draw starts at a different item.
    fn in_turn<T: Copy>(&self, items: &[T], i: usize, count: usize) -> Option<T> {
        let at = self.ordinal() * count + self.place.nth * 5 + i;
        items.get(at % items.len().max(1)).copied()
    }

    /// At a constant, next to it or a little away, the constants in turn; or a tie of rounding; or any number.
    fn edge(&self, i: usize, count: usize, float: FloatType, random: &mut Random) -> f64 {
        let constants = self.constants.floats();
        // A single number takes its turn whenever it is near a constant.
        let turn = match count {
            1 => self.place.index / 2,
            _ if i.is_multiple_of(2) => self.ordinal() * count.div_ceil(2) + i / 2,
            _ => {
                return match random.below(4) {
                    0 => random.pick(&TIES, 0.5),
                    1 => random.float(-2.0, 2.0),
                    _ => beside(random.pick(constants, 1.0), random.below(BESIDE), float),
                };
            }
        };
        // Each tensor of a draw starts at a different constant, with the constant itself.
        let shift = self.place.nth * 5;
        match (turn % 3, turn - turn.div_ceil(3), constants.len()) {
            (0, _, _) => TIES.get((turn / 3 + shift) % TIES.len()).copied().unwrap_or(0.5),
            (_, nth, 0) => beside(1.0, which(nth), float),
            (_, nth, len) => {
                beside(constants.get((nth + shift) % len).copied().unwrap_or(1.0), which(nth / len), float)
            }
        }
    }

    /// A number computed from two constants. It continues after the numbers of earlier tensors, and repeats none within
    /// a tensor. It must have few digits, because a program is exact only among such numbers.
    fn together(&self, met: usize, nth: usize, float: FloatType) -> Option<f64> {
        if nth >= self.constants.together().len() {
            return None;
        }
        let short: Vec<f64> = self.constants.together().iter().copied().filter(|x| is_short(float, *x)).collect();
        (nth < short.len()).then(|| short.get((met + nth) % short.len()).copied()).flatten()
    }

    /// Ordinary numbers, NaNs and both infinities; in two tensors, each class meets each other class at some index.
    fn boundless(&self, i: usize, random: &mut Random) -> f64 {
        let at = i + 7 * self.ordinal();
        let class = match self.place.nth % 3 {
            0 => at + 1,
            1 => at / 4 + at,
            _ => at / 4 + 2,
        };
        match (class % 4).checked_sub(1) {
            Some(nth) => BOUNDLESS.get(nth).copied().unwrap_or(f64::NAN),
            None => random.float(-2.0, 2.0),
        }
    }

    /// The ends of the range, and numbers beyond them.
    fn extreme(&self, i: usize, count: usize, float: FloatType, random: &mut Random) -> f64 {
        let least = 2f64.powi(float.least_exponent().max(-1074));
        let normal = least * 2f64.powi(float.digits() as i32 - 1);
        // The exponents of the smallest normal number and of the largest number add up to 1.
        let largest = (2.0 - 2f64.powi(1 - float.digits() as i32)) / normal * 2.0;
        let [nan, infinity, negative] = BOUNDLESS;
        let far = [infinity, largest, -0.0, least, nan, normal, negative, -largest, 0.0, -least * 3.0];
        if i % 6 == 5 {
            random.float(-3.0, 3.0)
        } else {
            self.in_turn(&far, i - i / 6, count - count / 6).unwrap_or(nan)
        }
    }

    /// The magnitude of the numbers of profiles that have a scale.
    fn scale(&self) -> f64 {
        if matches!(self.profile, NumberProfile::Small | NumberProfile::SmallBefore) {
            self.constants.scale(self.place.index / CYCLE.len())
        } else {
            const SCALES: [f64; 4] = [60.0, 700.0, 8.0, 120.0];
            SCALES.get(self.ordinal() % SCALES.len()).copied().unwrap_or(60.0)
        }
    }

    /// Integers that the data type represents.
    fn ints(&self, count: usize, random: &mut Random) -> Vec<i64> {
        let (low, high) = range(self.dtype);
        let scattered = Scattered::new(count, random);
        let limit = match self.integers {
            Integers::Below(limit) => Some(limit.min(high.saturating_add(1)).max(1)),
            Integers::Values => None,
        };
        // Indices from the end: in some draws all of them, then some.
        let from_end = low < 0 && (self.place.index / 2 + self.place.nth) % 6 == 5;
        let mut values: Vec<i64> = (0..count)
            .map(|i| match limit {
                Some(limit) => {
                    let index = if i == 0 { limit - 1 } else { random.between(0, limit - 1) };
                    if from_end && random.one_in(2) { index - limit } else { index }
                }
                None => self.int(i, scattered.at(i), count, low, high, random).clamp(low, high),
            })
            .collect();
        if self.profile == NumberProfile::Sorted {
            values.sort_unstable();
        }
        values
    }

    /// The i-th integer; `nth` is its position in a shuffled range.
    fn int(&self, i: usize, nth: i64, count: usize, low: i64, high: i64, random: &mut Random) -> i64 {
        const WIDE: [i64; 10] = [127, 128, -129, 255, 256, 300, 32768, -32769, 65536, 70000];
        let least = low.max(-9);
        match self.profile {
            NumberProfile::Exact | NumberProfile::Sorted if low < 0 => nth - count as i64 / 2,
            NumberProfile::Exact | NumberProfile::Sorted => nth,
            NumberProfile::Fractional | NumberProfile::Unit | NumberProfile::Boundless => random.between(least, 9),
            NumberProfile::Positive => random.between(1, 9),
            NumberProfile::Edges => self.int_edge(i, count, least, random),
            NumberProfile::Large => random.between(low.max(-1000), high.min(1000)),
            NumberProfile::Small | NumberProfile::SmallBefore | NumberProfile::Repeated => {
                random.between(low.max(-1), 1)
            }
            NumberProfile::Sparse => {
                if random.one_in(5) {
                    random.between(least, 9)
                } else {
                    0
                }
            }
            NumberProfile::Wide if i.is_multiple_of(4) => random.between(low, high),
            NumberProfile::Wide if i.is_multiple_of(2) => of_any_length(low, high, random),
            NumberProfile::Wide => self.in_turn(&WIDE, i, count).unwrap_or(300),
            NumberProfile::Extreme => {
                let far = [low, high, -1, 1 << 33, low.saturating_add(1), 0, high - 1, -(1 << 33), 1, (1 << 24) + 1];
                self.in_turn(&far, i, count).unwrap_or(high)
            }
        }
    }

    /// At a constant or next to it, the constants in turn; or any number.
    fn int_edge(&self, i: usize, count: usize, least: i64, random: &mut Random) -> i64 {
        let constants = self.constants.integers();
        let turn = match count {
            1 => self.place.index / 2,
            _ => self.ordinal() * count + i,
        };
        let nth = turn - turn.div_ceil(4);
        match (turn % 4, constants.len()) {
            (0, _) => random.between(least, 9),
            (_, 0) => random.between(0, 2),
            (_, len) => {
                let beside = [0, 1, -1].get(nth / len % 3).copied().unwrap_or(0);
                constants.get((nth + self.place.nth * 5) % len).map_or(1, |at| at.saturating_add(beside))
            }
        }
    }
}

/// An integer of the range with any number of digits.
fn of_any_length(low: i64, high: i64, random: &mut Random) -> i64 {
    random.between(low, high) >> random.below(64 - high.leading_zeros() as usize)
}

/// The first and the last integer of a data type, as far as an int64 represents it.
fn range(dtype: DataType) -> (i64, i64) {
    let bits = u32::from(dtype.bits.min(64));
    match (dtype.is_uint(), bits) {
        (true, 64) => (0, i64::MAX),
        (true, bits) => (0, (1i64 << bits) - 1),
        (false, 64) => (i64::MIN, i64::MAX),
        (false, bits) => (-(1i64 << (bits.max(1) - 1)), (1i64 << (bits.max(1) - 1)) - 1),
    }
}

/// The number of positions near a number, see [`beside`].
const BESIDE: usize = 8;

/// The next of these positions: the number itself most often.
fn which(turn: usize) -> usize {
    const ORDER: [usize; 10] = [0, 1, 2, 0, 3, 4, 0, 5, 6, 7];
    ORDER.get(turn % ORDER.len()).copied().unwrap_or(0)
}

/// A position near a number: the number itself, next to it, or a little away.
fn beside(constant: f64, which: usize, float: FloatType) -> f64 {
    let step = crate::value::spacing(float, constant.abs().max(f64::MIN_POSITIVE));
    let far = constant.abs().max(0.25) / 8.0;
    match which % BESIDE {
        1 => constant + step,
        2 => constant - step,
        3 => constant + far,
        4 => constant - far,
        5 => -constant,
        6 => constant * 2.0,
        7 => constant * 0.5,
        _ => constant,
    }
}

/// The numbers from 0 to `count`, each once, shuffled.
struct Scattered {
    count: i64,
    stride: i64,
    start: i64,
}

impl Scattered {
    fn new(count: usize, random: &mut Random) -> Scattered {
        let count = (count as i64).max(1);
        let coprime = |stride: &i64| num_integer::gcd(*stride, count) == 1;
        let first = random.between(1, count);
        let stride = (first..first + count).find(coprime).unwrap_or(1);
        Scattered { count, stride, start: random.between(0, count - 1) }
    }

    /// Whether this is one of these numbers with few digits.
    fn holds(&self, x: f64) -> bool {
        let at = x * 4.0 + (self.count / 2) as f64;
        at.fract() == 0.0 && (0.0..self.count as f64).contains(&at)
    }

    /// A number with few digits, of either sign.
    fn quarter(&self, i: usize) -> f64 {
        (self.at(i) - self.count / 2) as f64 * 0.25
    }

    fn at(&self, i: usize) -> i64 {
        (self.start + (i as i64).wrapping_mul(self.stride)).rem_euclid(self.count)
    }
}
