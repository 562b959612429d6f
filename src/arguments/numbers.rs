//! The elements of tensors, by class.

use super::constants::Constants;
use super::random::Random;
use crate::grammar::{DataType, TypeCode};
use crate::number::FloatType;
use crate::value::is_short;

/// The kind of numbers in a tensor.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum NumberProfile {
    /// Pairwise different numbers of few digits, of both signs, on which most operations are exact.
    Exact,
    /// Of many digits, between -2 and 2.
    Fractional,
    /// At, below and above the constants of the programs, and where rounding has ties.
    Edges,
    /// Above 0.
    Positive,
    /// Some hundreds.
    Large,
    /// Between -1 and 1, or between 0 and 1.
    Unit,
    /// So small that the small constants of the programs matter.
    Small,
    /// Small; where the program has small constants in several places, tame what does not flow into one of them.
    SmallBefore,
    /// A few exact numbers, again and again.
    Repeated,
    /// Sorted upwards.
    Sorted,
    /// Beyond what narrower types hold.
    Wide,
    /// Zeros, and few others.
    Sparse,
    /// The ends of the range, subnormal numbers, infinities, NaN.
    Extreme,
    /// Ordinary numbers, infinities and NaN among them.
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

impl NumberProfile {
    /// Of the draw with a number.
    pub(super) fn of(index: usize) -> NumberProfile {
        CYCLE.get(NumberProfile::nth(index) % CYCLE.len()).copied().unwrap_or(NumberProfile::Exact)
    }

    /// A count through the cycle, again and again; after each round another pairing with the cycle of sizes begins.
    pub(super) fn nth(index: usize) -> usize {
        index + index / CYCLE.len()
    }

    /// Of an argument of the draw with a number; `flows` says whether it flows into the small constant that the draw is
    /// about, if it is about one.
    pub(super) fn of_argument(place: FilledTensor, flows: Option<bool>, random: &mut Random) -> NumberProfile {
        let tame = flows.map_or_else(|| place.is_tame(random), |flows| !flows);
        if tame { NumberProfile::tame(random) } else { NumberProfile::of(place.index) }
    }

    /// How many draws before the one with a number had its profile.
    fn ordinal(index: usize) -> usize {
        let (round, at) = (index / CYCLE.len(), NumberProfile::nth(index) % CYCLE.len());
        let same = |profile: &&NumberProfile| **profile == NumberProfile::of(index);
        round * CYCLE.iter().filter(same).count() + CYCLE.iter().take(at).filter(same).count()
    }

    /// One that does not hide what other arguments show.
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

/// Which tensor is filled. It decides, and not the seed, which classes of numbers its elements have, so that every seed
/// has all of them.
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
    /// Whether the tensor is to hide nothing of what others show: none, the odd ones, the even ones, then some.
    fn is_tame(self, random: &mut Random) -> bool {
        match self.index / CYCLE.len() % 4 {
            _ if self.of < 2 => false,
            0 => false,
            1 => !self.nth.is_multiple_of(2),
            2 => self.nth.is_multiple_of(2),
            _ => random.one_in(4),
        }
    }

    /// Whether a single number is at an edge, whatever the others are: all, none, the even ones, the odd ones.
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
    /// Whatever the profile says.
    Values,
    /// Indices below this.
    Below(i64),
}

/// How the elements of one tensor are chosen.
pub(super) struct ElementGenerator<'c> {
    pub(super) constants: &'c Constants,
    pub(super) profile: NumberProfile,
    pub(super) integers: Integers,
    pub(super) dtype: DataType,
    pub(super) place: FilledTensor,
}

/// Floats that are not finite.
const BOUNDLESS: [f64; 3] = [f64::NAN, f64::INFINITY, f64::NEG_INFINITY];

/// Ties of rounding, and where functions bend.
const TIES: [f64; 14] = [0.5, 1.5, 2.5, -0.5, -1.5, -2.5, 3.5, 0.0, -0.0, 1.0, -1.0, 2.0, 0.75, -0.25];
/// Of few digits.
const FEW: [f64; 8] = [-2.0, -1.0, -0.5, 0.0, 0.5, 1.0, 2.0, 3.0];
/// Beyond int8, uint8, int16, uint16, float16, and the integers that float16 and float32 hold.
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
            let bytes = |x: f64| float.to_bits(x).to_le_bytes().into_iter().take(dtype.bytes());
            return Some(floats.into_iter().flat_map(bytes).collect());
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

    /// Numbers that the data type, a float, holds.
    pub(super) fn floats(&self, count: usize, random: &mut Random) -> Vec<f64> {
        let float = self.dtype.float_type().unwrap_or(FloatType::Float64);
        let mut values = self.unrounded(count, float, random);
        values.iter_mut().for_each(|x| *x = float.round(*x));
        if !self.profile.is_boundless() {
            // Only what is so on purpose is infinite.
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
                    // What stands elsewhere in the tensor would stand there twice.
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

    /// How often the profile came before.
    fn ordinal(&self) -> usize {
        NumberProfile::ordinal(self.place.index)
    }

    /// One after the other, going on where the last draw of the profile ended, if its tensor had as many; each tensor
    /// of a draw begins elsewhere.
    fn in_turn<T: Copy>(&self, items: &[T], i: usize, count: usize) -> Option<T> {
        let at = self.ordinal() * count + self.place.nth * 5 + i;
        items.get(at % items.len().max(1)).copied()
    }

    /// At a constant, next to it or a little away, one constant after the other; at a tie of rounding; anywhere.
    fn edge(&self, i: usize, count: usize, float: FloatType, random: &mut Random) -> f64 {
        let constants = self.constants.floats();
        // A single number takes its turn whenever it is at an edge.
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
        // Each tensor of a draw begins elsewhere, and all of them at the constants themselves.
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
        let short: Vec<f64> = self.constants.together().iter().copied().filter(|x| is_short(float, *x)).collect();
        (nth < short.len()).then(|| short.get((met + nth) % short.len()).copied()).flatten()
    }

    /// Ordinary, not a number and both infinities; of two tensors each class meets each.
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

    /// The ends of the range, and what is beyond.
    fn extreme(&self, i: usize, count: usize, float: FloatType, random: &mut Random) -> f64 {
        let least = 2f64.powi(float.least_exponent().max(-1074));
        let normal = least * 2f64.powi(float.digits() as i32 - 1);
        // The largest number is below twice the reciprocal of the least normal one, but for two binary places.
        let largest = (2.0 - 2f64.powi(1 - float.digits() as i32)) / normal * 2.0;
        let [nan, infinity, negative] = BOUNDLESS;
        let far = [infinity, largest, -0.0, least, nan, normal, negative, -largest, 0.0, -least * 3.0];
        if i % 6 == 5 {
            random.float(-3.0, 3.0)
        } else {
            self.in_turn(&far, i - i / 6, count - count / 6).unwrap_or(nan)
        }
    }

    /// How large the numbers of the profiles are that have a scale.
    fn scale(&self) -> f64 {
        if matches!(self.profile, NumberProfile::Small | NumberProfile::SmallBefore) {
            self.constants.scale(self.place.index / CYCLE.len())
        } else {
            const SCALES: [f64; 4] = [60.0, 700.0, 8.0, 120.0];
            SCALES.get(self.ordinal() % SCALES.len()).copied().unwrap_or(60.0)
        }
    }

    /// Integers that the data type holds.
    fn ints(&self, count: usize, random: &mut Random) -> Vec<i64> {
        let (low, high) = range(self.dtype);
        let scattered = Scattered::new(count, random);
        let limit = match self.integers {
            Integers::Below(limit) => Some(limit.min(high.saturating_add(1)).max(1)),
            Integers::Values => None,
        };
        // Counted from the end, if at all, then some of them.
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

    /// The i-th integer; `nth` of all that are there, out of order.
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

    /// At a constant or next to it, one constant after the other; anywhere.
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

/// An integer of the range, of any number of digits.
fn of_any_length(low: i64, high: i64, random: &mut Random) -> i64 {
    random.between(low, high) >> random.below(64 - high.leading_zeros() as usize)
}

/// The first and the last integer of a data type, as far as an int64 holds it.
fn range(dtype: DataType) -> (i64, i64) {
    let bits = u32::from(dtype.bits.min(64));
    match (dtype.is_uint(), bits) {
        (true, 64) => (0, i64::MAX),
        (true, bits) => (0, (1i64 << bits) - 1),
        (false, 64) => (i64::MIN, i64::MAX),
        (false, bits) => (-(1i64 << (bits.max(1) - 1)), (1i64 << (bits.max(1) - 1)) - 1),
    }
}

/// How many ways there are to be [`beside`] a number.
const BESIDE: usize = 8;

/// Which of these ways comes next: the number itself again and again.
fn which(turn: usize) -> usize {
    const ORDER: [usize; 10] = [0, 1, 2, 0, 3, 4, 0, 5, 6, 7];
    ORDER.get(turn % ORDER.len()).copied().unwrap_or(0)
}

/// At a number, next to it, or at a little distance: which of these.
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

/// The numbers from 0 to `count`, each once, out of order.
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

    /// Whether this is one of the numbers of few digits.
    fn holds(&self, x: f64) -> bool {
        let at = x * 4.0 + (self.count / 2) as f64;
        at.fract() == 0.0 && (0.0..self.count as f64).contains(&at)
    }

    /// A number of few digits, of either sign.
    fn quarter(&self, i: usize) -> f64 {
        (self.at(i) - self.count / 2) as f64 * 0.25
    }

    fn at(&self, i: usize) -> i64 {
        (self.start + (i as i64).wrapping_mul(self.stride)).rem_euclid(self.count)
    }
}
