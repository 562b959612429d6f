//! Noise: what rounding might have done to a run. A program that is run again with noise on shows how far each of its
//! numbers depends on how the operations before it round.

use std::cell::Cell;
use std::rc::Rc;

use rustc_hash::{FxHashMap, FxHashSet};

use super::object::{TupleObj, Value};
use super::tensor::{Scalar, Tensor};
use crate::judge::with_stack;
use crate::number::FloatType;

/// Moves floats that were rounded by a unit or two in the last place, up or down; the seed says which way. A float with so
/// few digits that nobody had to round it stays as it is, so that exact data stay exact.
#[derive(Debug)]
pub struct Noise {
    seed: u64,
    state: Cell<u64>,
    /// How many choices were made between two operands.
    choices: Cell<u64>,
    asked: Cell<bool>,
    overflowed: Cell<bool>,
    neared_end: Cell<bool>,
    /// The finest type that a float was rounded to.
    finest: Cell<Option<FloatType>>,
    /// By units of this type floats are moved at most, whatever they are rounded to.
    at_most: Option<FloatType>,
    /// Whether the arguments have many digits, so that nothing computed from them is exact.
    inexact: Cell<bool>,
}

impl Noise {
    /// Noise that a seed determines.
    pub fn new(seed: u64) -> Noise {
        Noise {
            seed,
            state: Cell::new(seed.wrapping_mul(0x2545_F491_4F6C_DD1D)),
            choices: Cell::new(0),
            asked: Cell::new(false),
            overflowed: Cell::new(false),
            neared_end: Cell::new(false),
            finest: Cell::new(None),
            at_most: None,
            inexact: Cell::new(false),
        }
    }

    /// Noise that is not more than that of rounding to this type.
    pub fn at_most(seed: u64, float: FloatType) -> Noise {
        Noise { at_most: Some(float), ..Noise::new(seed) }
    }

    /// The finest type that a float was rounded to.
    pub fn finest(&self) -> Option<FloatType> {
        self.finest.get()
    }

    /// Sees the arguments of the run: where they have many digits, floats with few are no exact data either.
    pub fn look_at(&self, args: &[Value]) {
        let long = |float: FloatType| move |x: f64| !is_short(float, x);
        let floats = [FloatType::Float16, FloatType::BFloat16, FloatType::Float32, FloatType::Float64];
        let has_long = |float| has_float_of(args, Some(float), &long(float));
        self.inexact.set(floats.into_iter().any(has_long));
    }

    /// Whether a float is as it is without rounding.
    fn is_exact(&self, float: FloatType, value: f64) -> bool {
        !self.inexact.get() && is_short(float, value)
    }

    /// Whether anything was rounded, be it to the same.
    pub fn was_asked(&self) -> bool {
        self.asked.get()
    }

    /// Whether the result of an operation was infinite that was given neither infinities nor zeros: it is too large.
    pub fn overflowed(&self) -> bool {
        self.overflowed.get()
    }

    /// Whether the result of an operation was almost too large or too small for its type, or altogether: in another order it may
    /// be the other of the two.
    pub fn neared_end(&self) -> bool {
        self.neared_end.get()
    }

    /// Takes note of the result of an operation.
    fn see(&self, float: FloatType, value: f64) {
        let least_normal = 2f64.powi((float.least_exponent() + float.digits() as i32 - 1).max(-1022));
        let magnitude = value.abs();
        // The largest number is about four times the reciprocal of the least normal one.
        if magnitude != 0.0
            && !(least_normal * NEAR..=4.0 / (least_normal * NEAR)).contains(&magnitude)
            && !value.is_nan()
        {
            self.neared_end.set(true);
        }
    }

    /// The next number of the sequence (SplitMix64).
    fn next(&self) -> u64 {
        let state = self.state.get().wrapping_add(0x9E37_79B9_7F4A_7C15);
        self.state.set(state);
        mixed(state)
    }

    /// What an operation with the result `value` rounds it to.
    pub fn rounded(&self, float: FloatType, value: f64) -> f64 {
        self.asked.set(true);
        self.see(float, value);
        let nearest = float.round(value);
        if nearest == 0.0 && value != 0.0 {
            return self.beside_zero(float);
        }
        let exact = nearest == value && float != FloatType::Float64;
        if exact || self.is_exact(float, nearest) { nearest } else { self.moved(float, nearest, nearest.abs()) }
    }

    /// What a sum is rounded to. Terms with many digits may have been rounded before, which counts for more than the sum if
    /// they cancel.
    pub fn sum(&self, float: FloatType, a: f64, b: f64) -> f64 {
        self.asked.set(true);
        self.see(float, a + b);
        let nearest = float.round(a + b);
        let exact = nearest == a + b && float != FloatType::Float64;
        let long = !self.is_exact(float, a) || !self.is_exact(float, b);
        if !long && (exact || self.is_exact(float, nearest)) {
            return nearest;
        }
        self.moved(float, nearest, a.abs().max(b.abs()).max(nearest.abs()))
    }

    /// The value, moved by one or two of the steps that floats of a magnitude have.
    fn moved(&self, float: FloatType, value: f64, magnitude: f64) -> f64 {
        if !value.is_finite() || !magnitude.is_finite() || magnitude == 0.0 {
            return value;
        }
        self.finest.set(Some(finer(self.finest.get(), float)));
        let step = spacing(finer(self.at_most, float), magnitude);
        let random = self.next();
        let steps = if random & 1 == 0 { 1.0 } else { 2.0 };
        let moved = float.round(if random & 2 == 0 { value + steps * step } else { value - steps * step });
        // Rounding does not overflow what does not overflow.
        if moved.is_finite() { moved } else { value }
    }

    /// In place of a zero that is a number too small for the type: the least number on either side of it.
    fn beside_zero(&self, float: FloatType) -> f64 {
        self.finest.set(Some(finer(self.finest.get(), float)));
        let least = spacing(float, f64::MIN_POSITIVE);
        if self.next() & 1 == 0 { least } else { -least }
    }

    /// The result of an operator on these arguments, moved. Of a function that is composed of others an intermediate result
    /// may have been some times as large as 1.
    pub fn of_result(&self, result: &Value, args: &[Value], composed: bool, zeros: Zeros, short: Short) -> Value {
        let infinite = |x: f64| x.is_infinite();
        if has_float(std::slice::from_ref(result), &infinite) && !has_float(args, &|x| x == 0.0 || !x.is_finite()) {
            self.overflowed.set(true);
        }
        let underflows = match zeros {
            Zeros::Exact => false,
            Zeros::TooSmall => true,
            Zeros::TooSmallUnlessGiven => !has_float(args, &|x| x == 0.0 || !x.is_finite()),
        };
        let magnitude = if composed { INTERMEDIATE } else { 0.0 };
        self.of_value(result, Moves { magnitude, underflows, short }, &mut Copies::default())
    }

    /// One of two operands, of which one is NaN: nobody says which is the larger. An even seed and the odd one after it choose the
    /// opposite each time, so that among several runs each operand is chosen in one of them, however many choices there are.
    pub fn either(&self, a: f64, b: f64) -> f64 {
        self.asked.set(true);
        let number = self.choices.get();
        self.choices.set(number + 1);
        let of_pair =
            mixed((self.seed / 2).wrapping_mul(0x2545_F491_4F6C_DD1D) ^ number.wrapping_mul(0x9E37_79B9_7F4A_7C15));
        if (of_pair ^ self.seed) & 1 == 0 { a } else { b }
    }

    /// The result of an operator whose definition leaves open what comes of NaN: another number in its place, or not.
    pub fn of_open_nan(&self, result: &Value) -> Value {
        let Value::Tensor(tensor) = result else { return result.clone() };
        if !has_float(std::slice::from_ref(result), &f64::is_nan) {
            return result.clone();
        }
        let element = |i: usize| match tensor.get(i) {
            Some(Scalar::Float(x)) if x.is_nan() => Ok(Scalar::Float(self.either(x, 0.0))),
            Some(other) => Ok(other),
            None => Err(()),
        };
        let copy = Tensor::zeros(tensor.dtype(), tensor.shape()).ok().filter(|copy| copy.fill(element).is_ok());
        copy.map_or_else(|| result.clone(), Value::Tensor)
    }

    /// Copies of the values, whose floats are moved.
    pub fn of_values(&self, values: &[Value]) -> Vec<Value> {
        let moves = Moves { magnitude: 0.0, underflows: false, short: Short::Exact };
        values.iter().map(|value| self.of_value(value, moves, &mut Copies::default())).collect()
    }

    /// A copy of the value, whose floats are moved; a value without floats itself.
    fn of_value(&self, value: &Value, moves: Moves, copies: &mut Copies) -> Value {
        if let Value::Tensor(tensor) = value {
            return self.of_tensor(tensor, moves).map_or_else(|| value.clone(), Value::Tensor);
        }
        let Value::Tuple(tuple) = value else { return value.clone() };
        // What is shared in the value is shared in the copy.
        if let Some(copy) = copies.get(&Rc::as_ptr(tuple)) {
            return copy.clone();
        }
        let copy = with_stack(|| {
            let fields = tuple.fields().iter().map(|field| self.of_value(field, moves, copies));
            Value::tuple(fields.collect())
        });
        copies.insert(Rc::as_ptr(tuple), copy.clone());
        copy
    }

    fn of_tensor(&self, tensor: &Tensor, moves: Moves) -> Option<Tensor> {
        let float = tensor.dtype().float_type()?;
        self.asked.set(true);
        let copy = Tensor::zeros(tensor.dtype(), tensor.shape()).ok()?;
        let element = |i: usize| match tensor.get(i) {
            Some(Scalar::Float(0.0)) if moves.underflows => {
                self.neared_end.set(true);
                Ok(Scalar::Float(self.beside_zero(float)))
            }
            Some(Scalar::Float(x)) => {
                self.see(float, x);
                let moved = || self.moved(float, x, x.abs().max(moves.magnitude));
                let is_exact = !self.inexact.get() && moves.short.is_exact(float, x);
                Ok(Scalar::Float(if is_exact { x } else { moved() }))
            }
            Some(other) => Ok(other),
            None => Err(()),
        };
        copy.fill(element).ok()?;
        Some(copy)
    }
}

/// The copies of tuples, by where those lie.
type Copies = FxHashMap<*const TupleObj, Value>;

/// What zeros in the result of an operator are.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Zeros {
    /// Zeros.
    Exact,
    /// Numbers that are too small for the type.
    TooSmall,
    /// The same, unless a zero was given, or what is infinite.
    TooSmallUnlessGiven,
}

/// What few digits of a result tell.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Short {
    /// That it was not rounded: sums and products of numbers with few digits have few.
    Exact,
    /// That only if they are very few: among the results of a function there are some with few digits by chance.
    ByChance,
}

impl Short {
    fn is_exact(self, float: FloatType, value: f64) -> bool {
        match self {
            Short::Exact => is_short(float, value),
            Short::ByChance => has_digits(float, value, 1),
        }
    }
}

/// How the floats of a value are moved: by steps of a magnitude at least; zeros, too, if they are numbers too small; not those that
/// are exact.
#[derive(Clone, Copy, Debug)]
struct Moves {
    magnitude: f64,
    underflows: bool,
    short: Short,
}

/// So many times the least number that has all its digits, and the reverse at the other end.
const NEAR: f64 = 8.0;

/// How large the intermediate results of composed functions may be that cancel.
const INTERMEDIATE: f64 = 8.0;

/// Whether some float in the values is such.
fn has_float(values: &[Value], is_such: &impl Fn(f64) -> bool) -> bool {
    has_float_of(values, None, is_such)
}

/// Whether some float in the values is such, of a type if one is given. What is shared is looked at once.
fn has_float_of(values: &[Value], kind: Option<FloatType>, is_such: &impl Fn(f64) -> bool) -> bool {
    has_float_in(values, kind, is_such, &mut FxHashSet::default())
}

fn has_float_in(
    values: &[Value],
    kind: Option<FloatType>,
    is_such: &impl Fn(f64) -> bool,
    seen: &mut FxHashSet<*const TupleObj>,
) -> bool {
    values.iter().any(|value| {
        if let Value::Tensor(tensor) = value {
            let such = |i| matches!(tensor.get(i), Some(Scalar::Float(x)) if is_such(x));
            let found = tensor.dtype().float_type();
            found.is_some() && (kind.is_none() || kind == found) && (0..tensor.len()).any(such)
        } else if let Value::Tuple(tuple) = value {
            seen.insert(Rc::as_ptr(tuple)) && with_stack(|| has_float_in(tuple.fields(), kind, is_such, seen))
        } else {
            false
        }
    })
}

/// The type with more digits.
fn finer(known: Option<FloatType>, float: FloatType) -> FloatType {
    known.filter(|known| known.digits() > float.digits()).unwrap_or(float)
}

/// The distance between the floats of a magnitude, which is positive and finite.
pub fn spacing(float: FloatType, magnitude: f64) -> f64 {
    let exponent = ((magnitude.to_bits() >> 52) & 0x7ff) as i32 - 1023;
    let exponent = (exponent - float.digits() as i32 + 1).max(float.least_exponent());
    if exponent >= -1022 { f64::from_bits(((exponent + 1023) as u64) << 52) } else { f64::from_bits(1) }
}

/// Whether so many of the last digits are zero that the number was hardly rounded.
pub fn is_short(float: FloatType, value: f64) -> bool {
    has_digits(float, value, 2)
}

/// Whether not more than so many thirds of the digits are used.
fn has_digits(float: FloatType, value: f64, thirds: u32) -> bool {
    // Subnormal numbers have fewer digits, the nearer to 0 the fewer.
    let exponent = ((value.to_bits() >> 52) & 0x7ff) as i32 - 1023;
    let left = exponent.saturating_sub(float.least_exponent()).saturating_add(1).max(1);
    let digits = float.digits().min(left.unsigned_abs());
    let unused = 53 - digits + digits / 3 * (3 - thirds);
    !value.is_finite() || value.to_bits() & ((1 << unused) - 1) == 0
}

/// A number in which every bit depends on every one (the last step of SplitMix64).
fn mixed(state: u64) -> u64 {
    let mixed = (state ^ (state >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    mixed ^ (mixed >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_of_two_operands_is_chosen_in_one_of_two_runs() {
        let (even, odd) = (Noise::new(2), Noise::new(3));
        let chosen: Vec<(f64, f64)> = (0..1000).map(|_| (even.either(0.0, 1.0), odd.either(0.0, 1.0))).collect();
        assert!(chosen.iter().all(|(even, odd)| even != odd));
        let first = chosen.iter().filter(|(even, _)| *even == 0.0).count();
        assert!((400..600).contains(&first), "{first}");
    }

    #[test]
    fn a_function_has_few_digits_by_chance() {
        // The logarithm of a softmax that uses 16 of 24 digits.
        let value = -f64::from(0x1ab56) * 2f64.powi(-27);
        assert_eq!(FloatType::Float32.round(value), value);
        assert!(Short::Exact.is_exact(FloatType::Float32, value));
        assert!(!Short::ByChance.is_exact(FloatType::Float32, value));
        assert!(
            Short::ByChance.is_exact(FloatType::Float32, 0.75) && Short::ByChance.is_exact(FloatType::Float16, 0.5)
        );
    }

    #[test]
    fn exact_data_stay_exact() {
        let noise = Noise::new(1);
        for x in [0.0, -0.0, 1.0, -2.5, 100.25, 4096.0, f64::INFINITY] {
            assert_eq!(noise.rounded(FloatType::Float32, x).to_bits(), x.to_bits());
        }
        assert_eq!(noise.sum(FloatType::Float32, 1.5, 2.25), 3.75);
    }

    #[test]
    fn what_is_rounded_moves_by_a_unit_or_two() {
        let noise = Noise::new(2);
        for x in [0.1, 1.0 / 3.0, -7.7, 1e-40, 3.0e38] {
            let nearest = FloatType::Float32.round(x);
            let off =
                (noise.rounded(FloatType::Float32, x) - nearest).abs() / spacing(FloatType::Float32, nearest.abs());
            assert!(off == 1.0 || off == 2.0, "{x} {off}");
        }
    }

    #[test]
    fn what_is_too_small_moves_away_from_zero() {
        let noise = Noise::new(3);
        assert_eq!(noise.rounded(FloatType::Float32, 1e-60).abs(), f64::from(f32::from_bits(1)));
        let zero = [Value::Tensor(Tensor::zeros(crate::grammar::DataType::FLOAT32, &[1]).unwrap())];
        let moved = |zeros| match noise.of_result(&zero[0], &zero, false, zeros, Short::Exact) {
            Value::Tensor(tensor) => tensor.get(0) != Some(Scalar::Float(0.0)),
            other => panic!("{other}"),
        };
        assert_eq!([Zeros::Exact, Zeros::TooSmall, Zeros::TooSmallUnlessGiven].map(moved), [false, true, false]);
    }

    #[test]
    fn a_sum_that_cancels_moves_by_units_of_its_terms() {
        let float = FloatType::Float32;
        let (a, b) = (float.round(1.0e6 + 0.1), -1.0e6);
        let off = (Noise::new(3).sum(float, a, b) - (a + b)).abs();
        assert!(off >= spacing(float, 1.0e6), "{off}");
    }
}
