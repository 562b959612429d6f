//! Functions of one element: arithmetic, rounding, elementary functions, predicates.

use super::elementwise::{float, infer_float, infer_predicate, infer_same, number, unary};
use super::infer::{arity, tensor};
use super::kernel::{self, at, fail, fresh, tabulate};
use super::{EvalArgs, InferArgs, InferError, OpDef, Param};
use crate::cx::Cx;
use crate::eval::tensor::Scalar;
use crate::eval::{Machine, Prim, Stop, Value};
use crate::grammar::{DataType, StructInfo};
use crate::rule::Rule;

/// A function of floats only.
macro_rules! function {
    ($name:literal, $rules:tt, $accuracy:ident, $f:expr) => {
        operator!($name, $rules, [Param::Arg("x")], infer_float, $accuracy, |m, a| {
            unary(m, a, |x| float(x).map($f).map(Scalar::Float))
        })
    };
}

/// A function whose result has the data type of its argument, whatever that is.
macro_rules! arithmetic {
    ($name:literal, $rules:tt, $accuracy:ident, $f:expr) => {
        operator!($name, $rules, [Param::Arg("x")], infer_same, $accuracy, |m, a| unary(m, a, $f))
    };
}

/// Rounding, which leaves integers as they are.
macro_rules! rounding {
    ($name:literal, $rules:tt, $f:expr) => {
        arithmetic!($name, $rules, Exact, |x| Ok(rounded(x, $f)))
    };
}

/// A question about a float; the answer for anything else is given.
macro_rules! predicate {
    ($name:literal, $rules:tt, $other:literal, $f:expr) => {
        operator!($name, $rules, [Param::Arg("x")], infer_predicate, Exact, |m, a| ask(m, a, $other, $f))
    };
}

pub(super) const OPS: &[OpDef] = &[
    function!("acos", [Rule::OpsAcosInfer, Rule::OpsAcosValue], Elementary, f64::acos),
    function!("acosh", [Rule::OpsAcoshInfer, Rule::OpsAcoshValue], Elementary, f64::acosh),
    function!("asin", [Rule::OpsAsinInfer, Rule::OpsAsinValue], Elementary, f64::asin),
    function!("asinh", [Rule::OpsAsinhInfer, Rule::OpsAsinhValue], Elementary, asinh),
    function!("atan", [Rule::OpsAtanInfer, Rule::OpsAtanValue], Elementary, f64::atan),
    function!("atanh", [Rule::OpsAtanhInfer, Rule::OpsAtanhValue], Elementary, atanh),
    function!("cos", [Rule::OpsCosInfer, Rule::OpsCosValue], Elementary, f64::cos),
    function!("cosh", [Rule::OpsCoshInfer, Rule::OpsCoshValue], Elementary, f64::cosh),
    function!("erf", [Rule::OpsErfInfer, Rule::OpsErfValue], Elementary, libm::erf),
    function!("exp", [Rule::OpsExpInfer, Rule::OpsExpValue], Elementary, f64::exp),
    function!("log", [Rule::OpsLogInfer, Rule::OpsLogValue], Elementary, f64::ln),
    function!("rsqrt", [Rule::OpsRsqrtInfer, Rule::OpsRsqrtValue], Elementary, |x: f64| 1.0 / x.sqrt()),
    function!("sigmoid", [Rule::OpsSigmoidInfer, Rule::OpsSigmoidValue], Elementary, sigmoid),
    function!("sin", [Rule::OpsSinInfer, Rule::OpsSinValue], Elementary, f64::sin),
    function!("sinh", [Rule::OpsSinhInfer, Rule::OpsSinhValue], Elementary, f64::sinh),
    function!("sqrt", [Rule::OpsSqrtInfer, Rule::OpsSqrtValue], Rounded, f64::sqrt),
    function!("tan", [Rule::OpsTanInfer, Rule::OpsTanValue], Elementary, f64::tan),
    function!("tanh", [Rule::OpsTanhInfer, Rule::OpsTanhValue], Elementary, f64::tanh),
    arithmetic!("abs", [Rule::OpsAbsInfer, Rule::OpsAbsValue], Exact, absolute),
    arithmetic!("negative", [Rule::OpsNegativeInfer, Rule::OpsNegativeValue], Exact, negative),
    arithmetic!("sign", [Rule::OpsSignInfer, Rule::OpsSignValue], Exact, sign),
    arithmetic!("square", [Rule::OpsSquareInfer, Rule::OpsSquareValue], Rounded, square),
    arithmetic!("bitwise_not", [Rule::OpsBitwiseNotInfer, Rule::OpsBitwiseNotValue], Exact, bitwise_not),
    arithmetic!("logical_not", [Rule::OpsLogicalNotInfer, Rule::OpsLogicalNotValue], Exact, logical_not),
    rounding!("ceil", [Rule::OpsCeilInfer, Rule::OpsCeilValue], f64::ceil),
    rounding!("floor", [Rule::OpsFloorInfer, Rule::OpsFloorValue], f64::floor),
    rounding!("round", [Rule::OpsRoundInfer, Rule::OpsRoundValue], f64::round_ties_even),
    rounding!("trunc", [Rule::OpsTruncInfer, Rule::OpsTruncValue], f64::trunc),
    predicate!("isfinite", [Rule::OpsIsfiniteInfer, Rule::OpsIsfiniteValue], true, f64::is_finite),
    predicate!("isinf", [Rule::OpsIsinfInfer, Rule::OpsIsinfValue], false, f64::is_infinite),
    predicate!("isnan", [Rule::OpsIsnanInfer, Rule::OpsIsnanValue], false, f64::is_nan),
    operator!(
        "clip",
        [Rule::OpsClipInfer, Rule::OpsClipValue],
        [Param::Arg("x"), Param::Arg("min"), Param::Arg("max")],
        infer_clip,
        Exact,
        clip
    ),
];

fn rounded(x: Scalar, f: impl Fn(f64) -> f64) -> Scalar {
    match x {
        Scalar::Float(x) => Scalar::Float(f(x)),
        Scalar::Bool(_) | Scalar::Int(_) | Scalar::UInt(_) => x,
    }
}

/// Keeps the sign of a zero, which the standard library's loses.
fn asinh(x: f64) -> f64 {
    if x == 0.0 { x } else { x.asinh() }
}

fn atanh(x: f64) -> f64 {
    if x == 0.0 { x } else { x.atanh() }
}

fn ask(m: &mut Machine<'_>, a: &EvalArgs<'_>, other: bool, f: impl Fn(f64) -> bool) -> Result<Value, Stop> {
    let x = kernel::tensor(a, 0)?;
    fresh(tabulate(m, DataType::BOOL, x.shape(), |i| match at(x, i)? {
        Scalar::Float(x) => Ok(Scalar::Bool(f(x))),
        Scalar::Bool(_) | Scalar::Int(_) | Scalar::UInt(_) => Ok(Scalar::Bool(other)),
    })?)
}

fn negative(x: Scalar) -> Result<Scalar, Stop> {
    number(zero_like(x), x, i64::wrapping_sub, u64::wrapping_sub, |_, x| -x)
}

fn absolute(x: Scalar) -> Result<Scalar, Stop> {
    number(x, x, |x, _| x.wrapping_abs(), |x, _| x, |x, _| x.abs())
}

/// -1, 0 or 1; a zero, and what is not a number, stays as it is.
fn sign(x: Scalar) -> Result<Scalar, Stop> {
    let float = |x: f64| if x == 0.0 || x.is_nan() { x } else { x.signum() };
    number(x, x, |x, _| x.signum(), |x, _| x.min(1), |x, _| float(x))
}

fn square(x: Scalar) -> Result<Scalar, Stop> {
    number(x, x, i64::wrapping_mul, u64::wrapping_mul, |x, y| x * y)
}

fn bitwise_not(x: Scalar) -> Result<Scalar, Stop> {
    match x {
        Scalar::Bool(b) => Ok(Scalar::Bool(!b)),
        Scalar::Int(i) => Ok(Scalar::Int(!i)),
        Scalar::UInt(u) => Ok(Scalar::UInt(!u)),
        Scalar::Float(_) => Err(fail("a float has no bits to invert")),
    }
}

fn logical_not(x: Scalar) -> Result<Scalar, Stop> {
    match x {
        Scalar::Bool(b) => Ok(Scalar::Bool(!b)),
        Scalar::Int(_) | Scalar::UInt(_) | Scalar::Float(_) => Err(fail("negation is defined on Booleans")),
    }
}

pub(super) fn zero_like(x: Scalar) -> Scalar {
    match x {
        Scalar::Bool(_) => Scalar::Bool(false),
        Scalar::Int(_) => Scalar::Int(0),
        Scalar::UInt(_) => Scalar::UInt(0),
        Scalar::Float(_) => Scalar::Float(0.0),
    }
}

pub(super) fn sigmoid(x: f64) -> f64 {
    1.0 / (1.0 + (-x).exp())
}

// clip

fn infer_clip(_: &mut Cx, a: &InferArgs<'_>) -> Result<StructInfo, InferError> {
    arity::<3>(a)?;
    for bound in [1, 2] {
        if !matches!(a.args.get(bound), Some(StructInfo::Prim(_))) {
            return Err(InferError::op(format!("argument {bound} must be a boxed scalar")));
        }
    }
    tensor(a, 0).map(|t| StructInfo::Tensor(t.clone()))
}

/// Each element brought into the range; what is not a number stays.
fn clip(m: &mut Machine<'_>, a: &EvalArgs<'_>) -> Result<Value, Stop> {
    let (low, high) = (bound(a, 1)?, bound(a, 2)?);
    unary(m, a, |x| match x {
        Scalar::Float(x) if x.is_nan() => Ok(Scalar::Float(x)),
        Scalar::Float(x) => Ok(Scalar::Float(x.max(low.0).min(high.0))),
        Scalar::Int(x) => Ok(Scalar::Int(x.max(low.1).min(high.1))),
        Scalar::UInt(x) => {
            let unsigned = |i: i64| u64::try_from(i).unwrap_or(0);
            Ok(Scalar::UInt(x.max(unsigned(low.1)).min(unsigned(high.1))))
        }
        Scalar::Bool(_) => Err(fail("a range of Booleans is not defined")),
    })
}

/// A bound as float and as integer.
fn bound(a: &EvalArgs<'_>, i: usize) -> Result<(f64, i64), Stop> {
    match a.values.get(i) {
        Some(Value::Prim(Prim { value: Scalar::Float(x), .. })) => Ok((*x, *x as i64)),
        Some(Value::Prim(Prim { value: Scalar::Int(i), .. })) => Ok((*i as f64, *i)),
        Some(_) | None => Err(fail("the bounds of a range must be numbers")),
    }
}
