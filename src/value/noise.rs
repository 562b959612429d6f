//! Noise: a simulation of different rounding. Running a program again with noise shows how far each of its numbers
//! depends on the rounding of earlier operations.

mod series;

use std::cell::Cell;
use std::rc::Rc;

use rustc_hash::{FxHashMap, FxHashSet};

use super::object::{TupleObj, Value};
use super::tensor::{Elements, Scalar, Tensor};
use crate::judge::with_stack;
use crate::number::FloatType;

pub use series::NoiseSeries;

/// Moves rounded floats by a unit or two in the last place, up or down, as determined by the seed. A float that no
/// operation had to round is not changed, so that exact data remain exact.
#[derive(Debug)]
pub struct Noise {
    seed: u64,
    state: Cell<u64>,
    /// How many choices between two operands were made.
    choices: Cell<u64>,
    asked: Cell<bool>,
    computes: Cell<bool>,
    approximates: Cell<bool>,
    overflowed: Cell<bool>,
    neared_top: Cell<bool>,
    neared_bottom: Cell<bool>,
    /// Whether an argument is near one of the ends of its type.
    begins_at_end: Cell<bool>,
    /// The type with the most digits in which a float was computed.
    finest: Cell<Option<FloatType>>,
    /// Floats are moved at most by units of this type, whatever type they are rounded to.
    at_most: Option<FloatType>,
    /// Whether numbers that overflow, or nearly do, are replaced by NaN.
    without_tops: bool,
    /// Whether the arguments have many digits, so that a number with few digits has them by chance.
    inexact: Cell<bool>,
    /// How the operator being evaluated rounds.
    rounding: Cell<Option<Rounding>>,
}

/// What noise has recorded of the operations that it varied.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct NoiseMarks {
    asked: bool,
    computes: bool,
    approximates: bool,
    overflowed: bool,
    neared_top: bool,
    neared_bottom: bool,
    finest: Option<FloatType>,
}

impl NoiseMarks {
    /// What was recorded here or there.
    pub fn or(self, other: NoiseMarks) -> NoiseMarks {
        NoiseMarks {
            asked: self.asked || other.asked,
            computes: self.computes || other.computes,
            approximates: self.approximates || other.approximates,
            overflowed: self.overflowed || other.overflowed,
            neared_top: self.neared_top || other.neared_top,
            neared_bottom: self.neared_bottom || other.neared_bottom,
            finest: other.finest.map(|float| finer(self.finest, float)).or(self.finest),
        }
    }
}

/// How an operator rounds.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Rounding {
    /// It moves elements, and rounds those that the type of the result cannot represent.
    Conversion,
    /// Once, from the exact value of its formula.
    Once,
    /// Once, from a value that may have lost digits.
    OnceOrMore,
    /// It is a function that an implementation may miss by some units.
    Function {
        /// Whether all its values are positive.
        positive: bool,
    },
    /// It adds terms in any order.
    Sum {
        /// The number of terms.
        terms: f64,
        /// The number of digits that an exact sum needs.
        digits: f64,
    },
    /// It is a composition of functions.
    Composed {
        /// The magnitude of intermediate results that may cancel out.
        magnitude: f64,
        /// Whether all its values are positive.
        positive: bool,
    },
}

impl Rounding {
    /// Whether its operands are moved too, because its intermediate rounding is unknown. Functions of types with few
    /// digits are computed with more digits.
    fn blurs(self, float: FloatType) -> bool {
        match self {
            Rounding::Conversion | Rounding::Once | Rounding::OnceOrMore => false,
            Rounding::Function { .. } => !is_half(float),
            Rounding::Sum { digits, .. } => digits > f64::from(float.digits()),
            Rounding::Composed { .. } => true,
        }
    }

    /// The factor by which a number is moved further: functions may be off by some units, and long sums by more.
    fn steps(self, float: FloatType) -> f64 {
        match self {
            Rounding::Conversion | Rounding::Once | Rounding::OnceOrMore => 1.0,
            Rounding::Function { .. } | Rounding::Composed { .. } if is_half(float) => 1.0,
            Rounding::Function { .. } | Rounding::Composed { .. } => 2.0,
            // Errors of random sign grow with the square root of their number.
            Rounding::Sum { terms, .. } => (terms.sqrt() / 4.0).max(1.0),
        }
    }

    fn is_positive(self) -> bool {
        match self {
            Rounding::Function { positive } | Rounding::Composed { positive, .. } => positive,
            Rounding::Conversion | Rounding::Once | Rounding::OnceOrMore | Rounding::Sum { .. } => false,
        }
    }
}

/// How many digits an exact sum of products needs, in any order. Each product has one element of each of these tensors.
pub fn digits_of_sums(factors: &[&Tensor]) -> f64 {
    // All terms are multiples of a power of two, and the sum is at most the sum of their magnitudes.
    let (mut bits, mut sums) = (0.0, Vec::new());
    for factor in factors {
        let (mut least, mut largest, mut sum) = (i32::MAX, 0f64, 0f64);
        any_float_of(factor, |x| {
            if x != 0.0 {
                least = least.min(last_place(x));
                (largest, sum) = (largest.max(x.abs()), sum + x.abs());
            }
            false
        });
        if least == i32::MAX {
            return 0.0;
        }
        bits -= f64::from(least);
        sums.push((largest, sum));
    }
    let total = |nth: usize| sums.iter().enumerate().map(|(i, (l, s))| if i == nth { *s } else { *l }).product::<f64>();
    let least = (0..sums.len()).map(total).fold(f64::INFINITY, f64::min);
    if least.is_finite() { least.log2() + bits } else { f64::INFINITY }
}

/// The exponent of the last binary place of a number that is not 0.
fn last_place(x: f64) -> i32 {
    let exponent = ((x.to_bits() >> 52) & 0x7ff) as i32 - 1075;
    let digits = (x.to_bits() & ((1 << 52) - 1)) | (1 << 52);
    exponent + digits.trailing_zeros() as i32
}

/// Whether it is one of the types with 16 bits.
#[inline]
pub fn is_half(float: FloatType) -> bool {
    match float {
        FloatType::Float16 | FloatType::BFloat16 => true,
        FloatType::Float32 | FloatType::Float64 => false,
    }
}

impl Noise {
    /// Noise determined by a seed.
    pub fn new(seed: u64) -> Noise {
        Noise {
            seed,
            state: Cell::new(seed.wrapping_mul(0x2545_F491_4F6C_DD1D)),
            choices: Cell::new(0),
            asked: Cell::new(false),
            computes: Cell::new(false),
            approximates: Cell::new(false),
            overflowed: Cell::new(false),
            neared_top: Cell::new(false),
            neared_bottom: Cell::new(false),
            begins_at_end: Cell::new(false),
            finest: Cell::new(None),
            at_most: None,
            without_tops: false,
            inexact: Cell::new(false),
            rounding: Cell::new(None),
        }
    }

    /// No noise, but NaN in place of all numbers that overflow, or nearly do. Results without NaN do not depend on
    /// them.
    pub fn without_tops() -> Noise {
        Noise { without_tops: true, ..Noise::new(1) }
    }

    /// The result of an operation, or NaN if it is to be replaced.
    #[inline]
    fn unless_top(&self, float: FloatType, value: f64) -> f64 {
        let is_low = || value.abs() <= float.greatest() / NEAR;
        if self.without_tops && !is_low() { f64::NAN } else { value }
    }

    /// Noise that is at most that of rounding to this type.
    pub fn at_most(seed: u64, float: FloatType) -> Noise {
        Noise { at_most: Some(float), ..Noise::new(seed) }
    }

    /// The type with the most digits in which a float was computed.
    pub fn finest(&self) -> Option<FloatType> {
        self.finest.get()
    }

    /// Inspects the arguments of the run: if they have many digits, floats with few digits do not count as exact.
    pub fn look_at(&self, args: &[Value]) {
        let long = |float: FloatType| move |x: f64| !is_short(float, x);
        let floats = [FloatType::Float16, FloatType::BFloat16, FloatType::Float32, FloatType::Float64];
        let has_long = |float| has_float_of(args, Some(float), &long(float));
        self.inexact.set(floats.into_iter().any(has_long));
        for_each_tensor(args, &mut |float, tensor| {
            let ends = FloatEnds::of(tensor);
            self.see_ends(float, ends);
            // The reciprocal of such a small argument overflows.
            if ends.least != 0.0 && ends.least <= least_normal(float) {
                self.neared_top.set(true);
                self.begins_at_end.set(true);
            }
            if ends.is_infinite || ends.greatest > float.greatest() / NEAR {
                self.begins_at_end.set(true);
            }
        });
    }

    /// Whether an argument nearly overflows, or is so small that its reciprocal does.
    pub fn begins_at_end(&self) -> bool {
        self.begins_at_end.get()
    }

    /// Whether a float, whose computation may have lost digits, counts as exact.
    #[inline]
    fn is_exact(&self, float: FloatType, value: f64) -> bool {
        !self.inexact.get() && is_short(float, value)
    }

    /// Whether any operation was rounded, even without a change.
    pub fn was_asked(&self) -> bool {
        self.asked.get()
    }

    /// Whether floats were computed, and not only moved.
    pub fn computes(&self) -> bool {
        self.computes.get()
    }

    /// Records that floats are computed, even without rounding.
    pub fn compute(&self) {
        self.computes.set(true);
    }

    /// Whether a function was evaluated that an implementation may miss by some units.
    pub fn approximates(&self) -> bool {
        self.approximates.get()
    }

    /// Whether an operation without infinite or zero operands gave an infinite result: an overflow.
    pub fn overflowed(&self) -> bool {
        self.overflowed.get()
    }

    /// Whether an operand or the result of an operation nearly overflowed its type: in another order of operations it
    /// may be infinite.
    pub fn neared_top(&self) -> bool {
        self.neared_top.get()
    }

    /// Whether one had fewer digits than its type, so that hardware may replace it by 0.
    pub fn neared_bottom(&self) -> bool {
        self.neared_bottom.get()
    }

    /// Records an operand or the result of an operation.
    fn see(&self, float: FloatType, value: f64) {
        let magnitude = value.abs();
        if magnitude.is_finite() && magnitude > float.greatest() / NEAR {
            self.neared_top.set(true);
        }
        if magnitude != 0.0 && magnitude < least_normal(float) {
            self.neared_bottom.set(true);
        }
    }

    /// Records an operation that rounds to this type.
    fn ask(&self, float: FloatType, value: f64) {
        self.asked.set(true);
        self.computes.set(true);
        self.finest.set(Some(finer(self.finest.get(), float)));
        self.see(float, value);
        if value.is_finite() && !float.round(value).is_finite() {
            self.overflowed.set(true);
        }
    }

    /// Begins the sequence of a place in a `PrimFunc`: a statement by its number, or the end of a loop. What follows
    /// does not depend on what was asked before, so that statements that are computed together vary as one after the
    /// other.
    pub fn begin_at(&self, place: u64) {
        self.resume(self.state_at(place));
    }

    /// The state in which the sequence of a place begins.
    pub fn state_at(&self, place: u64) -> u64 {
        mixed(self.seed.wrapping_mul(0x2545_F491_4F6C_DD1D) ^ mixed(place.wrapping_mul(0x9E37_79B9_7F4A_7C15)))
    }

    /// The state of the sequence.
    pub fn state(&self) -> u64 {
        self.state.get()
    }

    /// Goes on from a state of the sequence.
    pub fn resume(&self, state: u64) {
        self.state.set(state);
    }

    /// All that determines what the noise does next.
    pub fn key(&self) -> [u64; 6] {
        let at_most = self.at_most.map_or(0, |float| u64::from(float.digits()));
        let [state, choices] = self.place();
        [self.seed, state, choices, at_most, self.without_tops.into(), self.inexact.get().into()]
    }

    /// How far the noise is in its sequences.
    pub fn place(&self) -> [u64; 2] {
        [self.state.get(), self.choices.get()]
    }

    /// Goes on from a place in the sequences.
    pub fn go_to(&self, [state, choices]: [u64; 2]) {
        self.state.set(state);
        self.choices.set(choices);
    }

    /// A number that begins the sequences of a call.
    pub fn of_call(&self) -> u64 {
        self.next()
    }

    /// What was recorded so far.
    pub fn marks(&self) -> NoiseMarks {
        NoiseMarks {
            asked: self.asked.get(),
            computes: self.computes.get(),
            approximates: self.approximates.get(),
            overflowed: self.overflowed.get(),
            neared_top: self.neared_top.get(),
            neared_bottom: self.neared_bottom.get(),
            finest: self.finest.get(),
        }
    }

    /// Goes back to what was recorded.
    pub fn back_to(&self, marks: NoiseMarks) {
        self.asked.set(marks.asked);
        self.computes.set(marks.computes);
        self.approximates.set(marks.approximates);
        self.overflowed.set(marks.overflowed);
        self.neared_top.set(marks.neared_top);
        self.neared_bottom.set(marks.neared_bottom);
        self.finest.set(marks.finest);
    }

    /// The next number of the sequence.
    fn next(&self) -> u64 {
        self.going_on(next_from)
    }

    /// What goes on from the state of the sequence.
    fn going_on<T>(&self, op: impl FnOnce(&mut u64) -> T) -> T {
        let mut state = self.state.get();
        let result = op(&mut state);
        self.state.set(state);
        result
    }

    /// Rounds the exact result `value` of an operation, with noise.
    pub fn rounded(&self, float: FloatType, value: f64) -> f64 {
        let mut series = self.series(float);
        let result = self.going_on(|state| series.rounded(state, value));
        series.note();
        result
    }

    /// Converts a float to the type, with noise.
    pub fn converted(&self, float: FloatType, value: f64) -> f64 {
        if float.round(value) == value || value.is_nan() { value } else { self.rounded(float, value) }
    }

    /// Applies a function, with noise: operand and result vary as if they were rounded, unless the result needs no
    /// rounding.
    pub fn function(&self, float: FloatType, x: f64, function: impl Fn(f64) -> f64) -> f64 {
        let (rounding, plain) = (Rounding::Function { positive: false }, function(x));
        let held = float.round(plain) == plain && (float != FloatType::Float64 || self.is_exact(float, plain));
        if held || plain.abs() == x.abs() || plain.fract() == 0.0 {
            self.ask(float, plain);
            return self.unless_top(float, float.round(plain));
        }
        self.approximates.set(true);
        let blurred = rounding.blurs(float) && x.is_finite() && !self.is_exact(float, x);
        let value = function(if blurred { self.moved(float, x, x.abs(), 1.0) } else { x });
        self.ask(float, value);
        self.of_operation(rounding, float, value)
    }

    /// Rounds a sum, with noise.
    pub fn sum(&self, float: FloatType, a: f64, b: f64) -> f64 {
        let mut series = self.series(float);
        let result = self.going_on(|state| series.sum(state, a, b));
        series.note();
        result
    }

    /// The value, moved by one or two steps of floats of the given magnitude, times a factor; for types with few digits
    /// by one step.
    fn moved(&self, float: FloatType, value: f64, magnitude: f64, times: f64) -> f64 {
        self.going_on(|state| self.moved_from(state, float, value, magnitude, times))
    }

    #[inline]
    fn moved_from(&self, state: &mut u64, float: FloatType, value: f64, magnitude: f64, times: f64) -> f64 {
        if !value.is_finite() || !magnitude.is_finite() || magnitude == 0.0 || self.without_tops {
            return value;
        }
        let step = spacing(finer(self.at_most, float), magnitude);
        let random = next_from(state);
        let steps = if random & 1 == 0 || is_half(float) { times } else { 2.0 * times };
        let moved = float.round(if random & 2 == 0 { value + steps * step } else { value - steps * step });
        // Rounding does not cause an overflow by itself.
        if moved.is_finite() { moved } else { value }
    }

    /// For a number that underflows to zero: the smallest number of either sign.
    fn beside_zero(&self, float: FloatType) -> f64 {
        self.neared_bottom.set(true);
        self.going_on(|state| self.beside_zero_from(state, float))
    }

    fn beside_zero_from(&self, state: &mut u64, float: FloatType) -> f64 {
        if self.without_tops {
            return 0.0;
        }
        let least = spacing(float, f64::MIN_POSITIVE);
        if next_from(state) & 1 == 0 { least } else { -least }
    }

    /// Records that an operator with this rounding is evaluated on these arguments. Returns the arguments, moved as
    /// earlier rounding might have moved them.
    pub fn begin(&self, rounding: Rounding, args: &[Value]) -> Vec<Value> {
        self.rounding.set(Some(rounding));
        match rounding {
            Rounding::Conversion => {}
            Rounding::Once | Rounding::OnceOrMore => self.compute(),
            Rounding::Function { .. } | Rounding::Sum { .. } | Rounding::Composed { .. } => {
                self.compute();
                self.approximates.set(!matches!(rounding, Rounding::Sum { .. }) || self.approximates.get());
            }
        }
        if rounding != Rounding::Conversion {
            for_each_tensor(args, &mut |float, tensor| self.see_ends(float, FloatEnds::of(tensor)));
        }
        args.iter().map(|value| self.of_value(value, rounding, &mut Copies::default())).collect()
    }

    /// Records the result of the operator.
    pub fn end(&self, result: Option<&Value>, args: &[Value]) {
        self.rounding.set(None);
        let infinite = |x: f64| x.is_infinite();
        if result.is_some_and(|result| has_float(std::slice::from_ref(result), &infinite))
            && !has_float(args, &|x| x == 0.0 || !x.is_finite())
        {
            self.overflowed.set(true);
            self.neared_top.set(true);
        }
    }

    /// The element that an operator stores for a value, with noise.
    pub fn stored(&self, float: FloatType, value: f64) -> f64 {
        let Some(rounding) = self.rounding.get() else { return value };
        if rounding == Rounding::Conversion && (float.round(value) == value || value.is_nan()) {
            return value;
        }
        self.ask(float, value);
        self.of_operation(rounding, float, value)
    }

    /// The result of an operation with this rounding, with noise.
    fn of_operation(&self, rounding: Rounding, float: FloatType, value: f64) -> f64 {
        let nearest = float.round(value);
        if nearest == 0.0 && (value != 0.0 || rounding.is_positive()) {
            return self.beside_zero(float);
        }
        // A float64 does not show that digits were lost.
        let held = nearest == value && (float != FloatType::Float64 || self.is_exact(float, nearest));
        let (exact, magnitude) = match rounding {
            Rounding::Conversion | Rounding::Once => (held, 0.0),
            // A hyperbolic tangent, for instance, is never exactly 1.
            Rounding::Function { .. } => (nearest == 0.0, 0.0),
            Rounding::OnceOrMore => (self.is_exact(float, nearest) && nearest == value, 0.0),
            Rounding::Sum { digits, .. } => (held && digits <= f64::from(float.digits()), 0.0),
            Rounding::Composed { magnitude, .. } => {
                let magnitude = if is_half(float) { magnitude / 4.0 } else { magnitude };
                (!self.inexact.get() && has_digits(float, nearest, 1), magnitude)
            }
        };
        let times = match rounding {
            // An exact sum is rounded once.
            Rounding::Sum { digits, .. } if digits <= f64::from(float.digits()) => 1.0,
            other => other.steps(float),
        };
        let result = if exact { nearest } else { self.moved(float, nearest, nearest.abs().max(magnitude), times) };
        self.unless_top(float, result)
    }

    /// Records all floats of an operand.
    fn see_ends(&self, float: FloatType, ends: FloatEnds) {
        self.see(float, ends.least);
        self.see(float, ends.greatest);
    }

    /// One of two operands, one of which is NaN: it is open which of them is larger. An even seed and the next odd one
    /// choose the opposite each time. So each operand is chosen in one of several runs, however many choices there are.
    pub fn either(&self, a: f64, b: f64) -> f64 {
        self.asked.set(true);
        let number = self.choices.get();
        self.choices.set(number + 1);
        let of_pair =
            mixed((self.seed / 2).wrapping_mul(0x2545_F491_4F6C_DD1D) ^ number.wrapping_mul(0x9E37_79B9_7F4A_7C15));
        if (of_pair ^ self.seed) & 1 == 0 { a } else { b }
    }

    /// The result of an operator whose definition leaves open what it does with NaN: each NaN may become another
    /// number.
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

    /// A copy of the value with its floats moved as far as an operator with this rounding may blur them; a value
    /// without floats is returned itself.
    fn of_value(&self, value: &Value, rounding: Rounding, copies: &mut Copies) -> Value {
        if let Value::Tensor(tensor) = value {
            return self.of_tensor(tensor, rounding).map_or_else(|| value.clone(), Value::Tensor);
        }
        let Value::Tuple(tuple) = value else { return value.clone() };
        // Parts that are shared in the value are shared in the copy.
        if let Some(copy) = copies.get(&Rc::as_ptr(tuple)) {
            return copy.clone();
        }
        let copy = with_stack(|| {
            let fields = tuple.fields().iter().map(|field| self.of_value(field, rounding, copies));
            Value::tuple(fields.collect())
        });
        copies.insert(Rc::as_ptr(tuple), copy.clone());
        copy
    }

    fn of_tensor(&self, tensor: &Tensor, rounding: Rounding) -> Option<Tensor> {
        let float = tensor.dtype().float_type().filter(|float| self.without_tops || rounding.blurs(*float))?;
        let times = if let Rounding::Sum { .. } = rounding { rounding.steps(float) } else { 1.0 };
        // The most common types without a detour: weights are large.
        let of_common = self.going_on(|state| match &*tensor.elements() {
            Elements::Float32(a) => {
                let moved = |x: &f32| self.operand_from(state, FloatType::Float32, f64::from(*x), times) as f32;
                Some(Elements::Float32(a.map(moved)))
            }
            Elements::Float64(a) => {
                Some(Elements::Float64(a.map(|x| self.operand_from(state, FloatType::Float64, *x, times))))
            }
            _ => None,
        });
        if let Some(elements) = of_common {
            return Some(Tensor::from_elements(elements));
        }
        let copy = Tensor::zeros(tensor.dtype(), tensor.shape()).ok()?;
        let mut state = self.state.get();
        let element = |i: usize| match tensor.get(i) {
            Some(Scalar::Float(x)) => Ok(Scalar::Float(self.operand_from(&mut state, float, x, times))),
            Some(other) => Ok(other),
            None => Err(()),
        };
        copy.fill(element).ok()?;
        self.state.set(state);
        Some(copy)
    }

    /// An element of an operand that is moved too.
    #[inline]
    fn operand_from(&self, state: &mut u64, float: FloatType, x: f64, times: f64) -> f64 {
        match x {
            x if self.without_tops => self.unless_top(float, x),
            x if self.is_exact(float, x) => x,
            x => self.moved_from(state, float, x, x.abs(), times),
        }
    }
}

/// The next number of a sequence (SplitMix64).
#[inline]
fn next_from(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
    mixed(*state)
}

/// The copies of tuples, by the addresses of the originals.
type Copies = FxHashMap<*const TupleObj, Value>;

/// A number is near the largest one if it is larger than that divided by this.
const NEAR: f64 = 4.0;

/// Calls a function with each tensor of floats in the values. Shared parts are visited once.
fn for_each_tensor(values: &[Value], each: &mut dyn FnMut(FloatType, &Tensor)) {
    fn visit(values: &[Value], each: &mut dyn FnMut(FloatType, &Tensor), seen: &mut FxHashSet<*const TupleObj>) {
        for value in values {
            if let Value::Tensor(tensor) = value {
                tensor.dtype().float_type().into_iter().for_each(|float| each(float, tensor));
            } else if let Value::Tuple(tuple) = value
                && seen.insert(Rc::as_ptr(tuple))
            {
                with_stack(|| visit(tuple.fields(), each, seen));
            }
        }
    }
    visit(values, each, &mut FxHashSet::default());
}

/// The ends of the range of the floats in a tensor.
#[derive(Clone, Copy, PartialEq, Debug)]
struct FloatEnds {
    /// The least magnitude other than 0; 0 if there is none that is finite.
    least: f64,
    /// The greatest finite magnitude.
    greatest: f64,
    is_infinite: bool,
}

impl FloatEnds {
    fn of(tensor: &Tensor) -> FloatEnds {
        let (mut least, mut greatest, mut is_infinite) = (f64::INFINITY, 0.0f64, false);
        any_float_of(tensor, |x| {
            let magnitude = x.abs();
            if magnitude != 0.0 && magnitude < least {
                least = magnitude;
            }
            if magnitude > greatest {
                match magnitude.is_finite() {
                    true => greatest = magnitude,
                    false => is_infinite = true,
                }
            }
            false
        });
        FloatEnds { least: if least.is_finite() { least } else { 0.0 }, greatest, is_infinite }
    }
}

/// Whether some float of a tensor has a property.
fn any_float_of(tensor: &Tensor, mut is_such: impl FnMut(f64) -> bool) -> bool {
    match &*tensor.elements() {
        Elements::Float16(a) => a.iter().any(|x| is_such(x.to_f64())),
        Elements::BFloat16(a) => a.iter().any(|x| is_such(x.to_f64())),
        // Weights are large, and in order.
        Elements::Float32(a) => a.as_slice().unwrap_or_default().iter().any(|x| is_such(f64::from(*x))),
        Elements::Float64(a) => a.as_slice().unwrap_or_default().iter().any(|x| is_such(*x)),
        Elements::Small(format, a) => a.iter().any(|x| is_such(format.value(*x))),
        Elements::Bool(_)
        | Elements::Int8(_)
        | Elements::Int16(_)
        | Elements::Int32(_)
        | Elements::Int64(_)
        | Elements::UInt8(_)
        | Elements::UInt16(_)
        | Elements::UInt32(_)
        | Elements::UInt64(_)
        | Elements::Narrow(..)
        | Elements::Ring(..) => false,
    }
}

/// Whether some float in the values has a property.
fn has_float(values: &[Value], is_such: &impl Fn(f64) -> bool) -> bool {
    has_float_of(values, None, is_such)
}

/// Whether some float in the values, of this type if one is given, has a property. Shared parts are visited once.
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
            let found = tensor.dtype().float_type();
            found.is_some() && (kind.is_none() || kind == found) && any_float_of(tensor, is_such)
        } else if let Value::Tuple(tuple) = value {
            seen.insert(Rc::as_ptr(tuple)) && with_stack(|| has_float_in(tuple.fields(), kind, is_such, seen))
        } else {
            false
        }
    })
}

/// The type with more digits.
#[inline]
fn finer(known: Option<FloatType>, float: FloatType) -> FloatType {
    known.filter(|known| known.digits() > float.digits()).unwrap_or(float)
}

/// The smallest number with all digits of the type; hardware may replace smaller ones by 0.
#[inline]
pub fn least_normal(float: FloatType) -> f64 {
    let exponent = (float.least_exponent() + float.digits() as i32 - 1).max(-1022);
    f64::from_bits(((exponent + 1023) as u64) << 52)
}

/// The distance between adjacent floats of a magnitude, which is positive and finite.
#[inline]
pub fn spacing(float: FloatType, magnitude: f64) -> f64 {
    let exponent = ((magnitude.to_bits() >> 52) & 0x7ff) as i32 - 1023;
    let exponent = (exponent - float.digits() as i32 + 1).max(float.least_exponent());
    if exponent >= -1022 { f64::from_bits(((exponent + 1023) as u64) << 52) } else { f64::from_bits(1) }
}

/// Whether so many of the last digits are zero that the number was probably not rounded.
#[inline]
pub fn is_short(float: FloatType, value: f64) -> bool {
    has_digits(float, value, 2)
}

/// Whether at most this many thirds of the digits are used.
#[inline]
fn has_digits(float: FloatType, value: f64, thirds: u32) -> bool {
    // Subnormal numbers have fewer digits, the fewer the closer they are to 0.
    let exponent = ((value.to_bits() >> 52) & 0x7ff) as i32 - 1023;
    let left = exponent.saturating_sub(float.least_exponent()).saturating_add(1).max(1);
    let digits = float.digits().min(left.unsigned_abs());
    let unused = 53 - digits + digits / 3 * (3 - thirds);
    !value.is_finite() || value.to_bits() & ((1 << unused) - 1) == 0
}

/// Mixes the bits, so that every bit depends on every other one (the last step of SplitMix64).
#[inline]
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
    fn the_ends_of_floats_are_those_of_their_finite_magnitudes() {
        let ends = |values: &[f64]| {
            let data = crate::grammar::TensorData::from_values(
                crate::grammar::DataType::FLOAT32,
                &[values.len() as u64],
                values,
            );
            let FloatEnds { least, greatest, is_infinite } = FloatEnds::of(&Tensor::from_data(&data.unwrap()).unwrap());
            (least, greatest, is_infinite)
        };
        assert_eq!(ends(&[0.0, -2.0, 0.5]), (0.5, 2.0, false));
        assert_eq!(ends(&[f64::NEG_INFINITY, f64::NAN, -1.0]), (1.0, 1.0, true));
        assert_eq!(ends(&[0.0, f64::INFINITY]), (0.0, 0.0, true));
        assert_eq!(ends(&[]), (0.0, 0.0, false));
    }

    #[test]
    fn exact_data_stay_exact() {
        let noise = Noise::new(1);
        for x in [0.0, -0.0, 1.0, -2.5, 100.25, 4096.0, f64::INFINITY] {
            assert_eq!(noise.rounded(FloatType::Float32, x).to_bits(), x.to_bits());
        }
        assert_eq!(noise.sum(FloatType::Float32, 1.5, 2.25), 3.75);
        // A sum that absorbs a term is rounded, although float64 does not show it.
        assert_ne!(noise.sum(FloatType::Float32, 2f64.powi(80), 1.5), 2f64.powi(80));
    }

    #[test]
    fn what_an_operator_rounds_is_told_by_the_value_of_its_formula() {
        let noise = Noise::new(4);
        assert_eq!(noise.stored(FloatType::Float16, 0.1), 0.1);
        noise.begin(Rounding::Once, &[]);
        assert_eq!(noise.stored(FloatType::Float16, 1.01171875), 1.01171875);
        let third = FloatType::Float16.round(1.0 / 3.0);
        let off = (noise.stored(FloatType::Float16, 1.0 / 3.0) - third).abs();
        assert_eq!(off, spacing(FloatType::Float16, third));
    }

    #[test]
    fn a_sum_is_exact_if_no_order_of_its_terms_loses_a_digit() {
        let tensor = |values: &[f64]| {
            let shape = [values.len() as u64];
            let data = crate::grammar::TensorData::from_values(crate::grammar::DataType::FLOAT32, &shape, values);
            Tensor::from_data(&data.unwrap()).unwrap()
        };
        assert_eq!(digits_of_sums(&[&tensor(&[0.0, 1.0, 0.0])]), 0.0);
        assert_eq!(digits_of_sums(&[&tensor(&[0.25, 1.75])]), 3.0);
        assert!(digits_of_sums(&[&tensor(&[2f64.powi(24), 0.5, -(2f64.powi(24))])]) > 25.0);
        // Multiples of 2, and 6 at most.
        let digits = digits_of_sums(&[&tensor(&[1.0, 0.5]), &tensor(&[4.0, 4.0])]);
        assert!((digits - 3f64.log2()).abs() < 1e-9, "{digits}");
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
        let moved = |rounding| {
            noise.begin(rounding, &[]);
            noise.stored(FloatType::Float32, 0.0) != 0.0
        };
        let functions = [false, true].map(|positive| Rounding::Function { positive });
        assert_eq!([moved(Rounding::Once), moved(functions[0]), moved(functions[1])], [false, false, true]);
    }
}
