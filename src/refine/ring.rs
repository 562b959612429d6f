//! The first of two channels: whether the programs are the same as real functions. Both are run on random numbers in
//! the ring, which rounds nothing (REFINE.RING.NUMBERS). The second channel, rounding, is in `compare`.

use ndarray::{ArrayD, IxDyn};

use super::RefineError;
use super::compare::RefinementComparison;
use super::folded::{folds_constants, has_few_digits};
use super::kept::DrawOf;
use super::observe::Subject;
use super::open::LEFT_OPEN;
use super::real::RealVerdict;
use super::search::elements;
use crate::arguments::Draw;
use crate::eval::{EvalOptions, EvalRun, evaluate_then};
use crate::judge::{Cx, Ending};
use crate::number::real::{ConstantReading, Real};
use crate::number::ring::{RingNumber, Terms};
use crate::value::{ConvertError, Elements, Host, Prim, Scalar, Tensor, Value, ValueSpec, from_specs};

/// On how many draws the programs are compared. If they differ by a polynomial of degree below 16, they agree on a draw
/// with a probability below 2^-12 (REFINE.RING.ERROR).
const DRAWS: u32 = 5;
/// A program is costly if a draw takes more than this part of the steps. Then one draw must do.
const COSTLY: u64 = 32;
/// How many draws are tried to get these: on some a divisor has no inverse, or rounding decides an order.
const MOST_DRAWS: usize = 12;
/// The maximum magnitude of the drawn numbers.
const SIZE: f64 = 4.0;
/// The relative difference of sizes above which rounding of float64 does not explain it.
const APART: f64 = 1e-6;
/// The same, where constants are rounded to few digits.
const APART_OF_FEW_DIGITS: f64 = 1.0 / 64.0;

/// What determines the numbers of a run.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct DrawSeed {
    /// No two draws have the same.
    seed: u64,
    reading: ConstantReading,
    /// There are only a few different numbers, so that comparisons for equality hold (REFINE.RING.ORDER).
    coincide: bool,
}

/// The number of different numbers of a draw on which numbers coincide.
const FEW: u64 = 3;

/// The result of one draw.
#[derive(Clone, Debug)]
pub(super) enum Drawn {
    Same,
    Differs(String),
    Open(String),
    /// One of the programs runs out of fuel.
    OutOfFuel,
}

/// Compares the programs in the ring, on the shapes of given and of generated inputs.
pub(super) fn compare(
    comparison: &mut RefinementComparison<'_>,
    given: &[Vec<ValueSpec>],
) -> Result<RealVerdict, RefineError> {
    if comparison.source.compiled.is_some() || comparison.target.compiled.is_some() {
        return Ok(RealVerdict::Undecided("a compiled program runs in floats".to_string()));
    }
    let exact = over_draws(comparison, given, ConstantReading::Exact, APART)?;
    if !matches!(exact, RealVerdict::Different { .. }) {
        return Ok(exact);
    }
    let (source, target) = (comparison.source.module, comparison.target.module);
    Ok(match over_draws(comparison, given, ConstantReading::Simplest, APART)? {
        RealVerdict::Equal { draws } => RealVerdict::RoundedConstants { draws },
        RealVerdict::RoundedConstants { .. } | RealVerdict::Different { .. } | RealVerdict::Undecided(_)
            if folds_constants(source, target) =>
        {
            RealVerdict::Undecided("constants are computed in floats".to_string())
        }
        // The rounding of an irrational constant explains why the sizes are apart.
        undecided @ RealVerdict::Undecided(_) => undecided,
        RealVerdict::RoundedConstants { .. } | RealVerdict::Different { .. } if has_few_digits(source, target) => {
            match over_draws(comparison, given, ConstantReading::Simplest, APART_OF_FEW_DIGITS)? {
                undecided @ RealVerdict::Undecided(_) => undecided,
                RealVerdict::Equal { .. } | RealVerdict::RoundedConstants { .. } | RealVerdict::Different { .. } => {
                    exact
                }
            }
        }
        RealVerdict::RoundedConstants { .. } | RealVerdict::Different { .. } => exact,
    })
}

fn over_draws(
    comparison: &mut RefinementComparison<'_>,
    given: &[Vec<ValueSpec>],
    reading: ConstantReading,
    apart: f64,
) -> Result<RealVerdict, RefineError> {
    let (mut draws, mut open) = (0, None);
    let limit = comparison.steps.saturating_add(comparison.settings.steps / 4);
    let mut is_costly = false;
    for index in 0..MOST_DRAWS {
        let Some(args) = input(comparison, given, index) else { break };
        let steps = comparison.steps;
        comparison.steps += args.iter().map(elements).sum::<u64>();
        match on_draw(comparison, &args, DrawSeed { seed: index as u64 + 1, reading, coincide: false }, apart)? {
            Drawn::Same => draws += 1,
            Drawn::Differs(how) => return Ok(RealVerdict::Different { draw: index as u32 + 1, how }),
            Drawn::Open(reason) => open = Some(reason),
            // It would use up its fuel on every draw.
            Drawn::OutOfFuel => return Ok(RealVerdict::Undecided("a run is out of fuel".to_string())),
        }
        is_costly |= comparison.steps.saturating_sub(steps) > comparison.settings.steps / COSTLY;
        // An operation that the ring lacks is missing on every draw, and a program that is too expensive remains so.
        let tried = if is_costly { 0 } else { 3 };
        if draws == DRAWS || draws > 0 && is_costly || draws == 0 && index >= tried || comparison.steps > limit {
            break;
        }
    }
    if draws == 0 {
        return Ok(RealVerdict::Undecided(open.unwrap_or_else(|| "no input can be made".to_string())));
    }
    // It is not counted: a difference that is zero where numbers coincide is not seen here.
    let last = DrawSeed { seed: MOST_DRAWS as u64 + 1, reading, coincide: true };
    let coinciding = input(comparison, given, 0)
        .filter(|_| !is_costly)
        .map(|args| on_draw(comparison, &args, last, apart))
        .transpose()?;
    Ok(match coinciding {
        Some(Drawn::Differs(how)) => {
            RealVerdict::Different { draw: draws + 1, how: format!("{how}, where numbers of the input are equal") }
        }
        Some(Drawn::Same | Drawn::Open(_) | Drawn::OutOfFuel) | None => RealVerdict::Equal { draws },
    })
}

/// An input that determines sizes, integers and Booleans: a given one, if there is any.
fn input(comparison: &mut RefinementComparison<'_>, given: &[Vec<ValueSpec>], index: usize) -> Option<Vec<ValueSpec>> {
    if let Some(one) = index.checked_rem(given.len()).and_then(|i| given.get(i)) {
        return Some(one.clone());
    }
    let func = comparison.source.function()?;
    let made = |attempt| comparison.generated(func, Draw { index, attempt });
    (0..4).find_map(made)
}

fn on_draw(
    comparison: &mut RefinementComparison<'_>,
    args: &[ValueSpec],
    seed: DrawSeed,
    apart: f64,
) -> Result<Drawn, RefineError> {
    let (before, steps) = run_once(&comparison.source, comparison.cx(), args, seed)?;
    comparison.steps += steps;
    let before = match before {
        Ok(values) => values,
        Err(drawn) => return Ok(drawn),
    };
    let (after, steps) = run_once(&comparison.target, comparison.cx(), args, seed)?;
    comparison.steps += steps;
    Ok(match after.map(|after| same(&before, &after, apart)) {
        Ok(Drawn::Differs(how)) => match by_letter(comparison, args, seed)? {
            Ok(letter) if matches!(same(&before, &letter, apart), Drawn::Same) => Drawn::Differs(how),
            Ok(_) | Err(_) => Drawn::Open("the documentation of an operator leaves open what it gives".to_string()),
        },
        Ok(drawn) => drawn,
        Err(drawn) => drawn,
    })
}

/// OPT.LEFT-OPEN: the source, by the letter of the documentation of operators.
fn by_letter(
    comparison: &mut RefinementComparison<'_>,
    args: &[ValueSpec],
    seed: DrawSeed,
) -> Result<RingResult, RefineError> {
    let cx = comparison.cx();
    let cx = cx.clone().with_reading(cx.reading.with_literal(&LEFT_OPEN));
    let (letter, steps) = run(&comparison.source, &cx, args, seed)?;
    comparison.steps += steps;
    Ok(letter)
}

/// The result and the arguments after a run that ended; or why they cannot be compared.
pub(super) type RingResult = Result<Vec<Value>, Drawn>;

/// As [`run`]; a run that is kept is not repeated.
fn run_once(
    subject: &Subject<'_>,
    cx: &Cx,
    args: &[ValueSpec],
    seed: DrawSeed,
) -> Result<(RingResult, u64), RefineError> {
    let Some(kept) = subject.keeping() else { return run(subject, cx, args, seed) };
    let of = DrawOf { entry: subject.entry, args, seed };
    if let Some(known) = kept.draw(subject.module, of) {
        return Ok(known);
    }
    let shown = run(subject, cx, args, seed)?;
    kept.insert_draw(subject.module, of, shown.clone());
    Ok(shown)
}

fn run(subject: &Subject<'_>, cx: &Cx, args: &[ValueSpec], seed: DrawSeed) -> Result<(RingResult, u64), RefineError> {
    let (results, registry) = (subject.results.clone(), subject.registry.clone());
    let ring = Some(seed.reading);
    let (shared, fuel, memory) = (Some(subject.shared.clone()), subject.fuel, subject.memory);
    let options = EvalOptions { results, registry, fuel, memory, ring, shared, ..EvalOptions::default() };
    let args = subject.values(args, Some(seed), || {
        let mut places = Places { next: seed.seed << 32, few: seed.coincide.then_some(FEW) };
        let values = from_specs(args, &options.registry)?;
        Ok::<_, ConvertError>(values.iter().map(|value| drawn(value, &mut places)).collect())
    })?;
    let ended = |fuel: u64, run: EvalRun| (seen(run, &args), options.fuel.saturating_sub(fuel));
    Ok(evaluate_then(&mut cx.clone(), subject.module, subject.entry, args.clone(), &options, |machine, run| {
        ended(machine.fuel_left(), run)
    }))
}

fn seen(run: EvalRun, args: &[Value]) -> RingResult {
    match run.outcome {
        Ending::OutOfFuel => Err(Drawn::OutOfFuel),
        _ if !run.effects.is_empty() => {
            Err(Drawn::Open("the programs have effects, which floats are compared by".to_string()))
        }
        Ending::Value(value) => Ok([value].into_iter().chain(args.iter().cloned()).collect()),
        Ending::Error(error) => Err(Drawn::Open(format!("a run fails: {error}"))),
        Ending::Unspecified(reason) | Ending::Unknown(reason) => Err(Drawn::Open(reason)),
    }
}

/// The value with its floats replaced by numbers drawn from the ring, one by one.
fn drawn(value: &Value, places: &mut Places) -> Value {
    let mut number = || places.number();
    match value {
        Value::Tensor(tensor) if tensor.dtype().is_float() => {
            let sizes: Vec<usize> = tensor.shape().iter().filter_map(|size| usize::try_from(*size).ok()).collect();
            let numbers = ArrayD::from_shape_simple_fn(IxDyn(&sizes), number);
            Value::Tensor(Tensor::from_elements(Elements::Ring(tensor.dtype(), numbers)))
        }
        Value::Prim(Prim { dtype, value: Scalar::Float(_) }) => {
            Value::Prim(Prim { dtype: *dtype, value: Scalar::Ring(number()) })
        }
        Value::Tuple(tuple) => Value::tuple(tuple.fields().iter().map(|field| drawn(field, places)).collect()),
        Value::Tensor(_)
        | Value::Prim(_)
        | Value::Shape(_)
        | Value::Closure(_)
        | Value::PackedFunc(_)
        | Value::PrimFunc(_)
        | Value::Str(_)
        | Value::DataType(_)
        | Value::Object(_) => value.clone(),
    }
}

/// The numbers of a draw. Each has a place, which determines it.
struct Places {
    next: u64,
    /// How many different numbers there are; `None` if each is another one.
    few: Option<u64>,
}

impl Places {
    fn number(&mut self) -> RingNumber {
        self.next += 1;
        let own = RingNumber::drawn(self.next, 0.0);
        let number = match self.few {
            Some(few) => RingNumber::drawn((self.next >> 32 << 32) + share_of(own) % few, 0.0),
            None => own,
        };
        // A size for each number that occurs in no other draw.
        number.sized((share_of(number) as f64 / (1u64 << 48) as f64 * 2.0 - 1.0) * SIZE)
    }
}

/// 48 bits that a number determines.
fn share_of(number: RingNumber) -> u64 {
    number.bytes().iter().take(6).fold(0u64, |n, b| n << 8 | u64::from(*b))
}

/// Whether the results of two runs are equal.
fn same(before: &[Value], after: &[Value], apart: f64) -> Drawn {
    let mut todo: Vec<(Value, Value)> = before.iter().cloned().zip(after.iter().cloned()).rev().collect();
    let mut open = None;
    while let Some((x, y)) = todo.pop() {
        let found = match (&x, &y) {
            (Value::Tuple(x), Value::Tuple(y)) if x.fields().len() == y.fields().len() => {
                todo.extend(x.fields().iter().cloned().zip(y.fields().iter().cloned()).rev());
                continue;
            }
            (Value::Tensor(x), Value::Tensor(y)) => same_tensor(x, y, apart),
            (Value::Prim(x), Value::Prim(y)) => same_scalar(boxed(x.value), boxed(y.value), 0, apart),
            (Value::Shape(x), Value::Shape(y)) if x == y => Drawn::Same,
            (Value::Str(x), Value::Str(y)) if x == y => Drawn::Same,
            (Value::DataType(x), Value::DataType(y)) if x == y => Drawn::Same,
            (Value::Shape(_), Value::Shape(_)) => Drawn::Differs("a shape".to_string()),
            _ => Drawn::Open(format!("what is returned holds {}, which the ring does not compare", x.category())),
        };
        match found {
            Drawn::Same => {}
            Drawn::Differs(how) => return Drawn::Differs(how),
            Drawn::Open(reason) => open = Some(reason),
            Drawn::OutOfFuel => return found,
        }
    }
    open.map_or(Drawn::Same, Drawn::Open)
}

/// A boxed integer as it is observed: as a number, whatever its data type.
fn boxed(scalar: Scalar) -> Scalar {
    match scalar {
        Scalar::UInt(number) => Scalar::Int(number as i64),
        Scalar::Int(_) | Scalar::Bool(_) | Scalar::Float(_) | Scalar::Ring(_) => scalar,
    }
}

fn same_tensor(x: &Tensor, y: &Tensor, apart: f64) -> Drawn {
    if x.dtype() != y.dtype() || x.shape() != y.shape() {
        return Drawn::Differs(format!(
            "a tensor of {} and {:?} in the source, of {} and {:?} in the target",
            x.dtype(),
            x.shape(),
            y.dtype(),
            y.shape()
        ));
    }
    if are_same_numbers(&x.elements(), &y.elements()) {
        return Drawn::Same;
    }
    let mut open = None;
    for i in 0..x.len() {
        let (Some(x), Some(y)) = (x.get(i), y.get(i)) else { continue };
        match same_scalar(x, y, i, apart) {
            Drawn::Same => {}
            Drawn::Differs(how) => return Drawn::Differs(how),
            Drawn::Open(reason) => open = Some(reason),
            Drawn::OutOfFuel => return Drawn::OutOfFuel,
        }
    }
    open.map_or(Drawn::Same, Drawn::Open)
}

/// Whether all are numbers of the ring, and the same ones. Most are: weights, which no run changes.
fn are_same_numbers(x: &Elements, y: &Elements) -> bool {
    let (Elements::Ring(_, x), Elements::Ring(_, y)) = (x, y) else { return false };
    let (Some(x), Some(y)) = (x.as_slice(), y.as_slice()) else { return false };
    x.iter().zip(y).all(|(x, y)| x.is(*y) == Some(true))
}

/// REFINE.RING.DIFFERENT: different numbers are different real numbers if no function without an algebraic law was used
/// to compute them, or if their sizes differ by more than rounding.
fn same_scalar(x: Scalar, y: Scalar, index: usize, apart: f64) -> Drawn {
    let (Scalar::Ring(x), Scalar::Ring(y)) = (x, y) else {
        return if x == y { Drawn::Same } else { Drawn::Differs(format!("element {index} is {x} and {y}")) };
    };
    let Some(is_same) = x.is(y) else {
        let reason = x.missing().or(y.missing()).map(|reason| reason.to_string());
        return Drawn::Open(reason.unwrap_or_default());
    };
    let (near_x, near_y) = (x.near(), y.near());
    let algebraic = x.functions() == Terms::default() && y.functions() == Terms::default();
    let apart = (near_x - near_y).abs() > apart * near_x.abs().max(near_y.abs());
    match (is_same, algebraic || apart) {
        (true, _) => Drawn::Same,
        (false, true) => Drawn::Differs(format!("element {index} is near {near_x:?} and near {near_y:?}")),
        (false, false) => Drawn::Open(
            "what differs rests on functions without algebra (sqrt, tanh, erf, a narrowing cast, ..)".into(),
        ),
    }
}

#[cfg(test)]
mod tests;
