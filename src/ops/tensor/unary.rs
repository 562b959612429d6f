//! Functions of one element: arithmetic, rounding, elementary functions, predicates.

use kernels::{Predicate, Unary};

use crate::grammar::{DataType, StructInfo};
use crate::judge::Cx;
use crate::number::real::{Function, Real};
use crate::number::ring::RingNumber;
use crate::number::{FloatType, elementary};
use crate::ops::infer::{Domain, arity, tensor};
use crate::ops::kernel::elementwise::{
    function, infer_float, infer_one, infer_predicate, infer_same, number, simple, unary,
};
use crate::ops::kernel::reals::{RealOp, applied};
use crate::ops::kernel::{self, at, fail, fresh, slices, tabulate};
use crate::ops::{EvalArgs, InferArgs, InferError, OpDef, OpParam};
use crate::value::{Host, Prim, Scalar, Stop, Value};

/// Defines a function of floats only.
macro_rules! function {
    ($name:literal, $rules:tt, $accuracy:ident, $f:expr) => {
        operator!($name, $rules, [OpParam::Arg("x")], infer_float, $accuracy, |m, a| { function(m, a, $name, $f) })
    };
}

/// Defines a function whose result has the data type of its argument.
macro_rules! arithmetic {
    ($domain:ident, $name:literal, $rules:tt, $accuracy:ident, $f:expr) => {
        operator!($name, $rules, [OpParam::Arg("x")], |cx, a| infer_one(cx, a, Domain::$domain), $accuracy, |m, a| {
            unary(m, a, $f)
        })
    };
    ($name:literal, $rules:tt, $accuracy:ident, $function:ident, $f:expr) => {
        operator!($name, $rules, [OpParam::Arg("x")], |cx, a| infer_one(cx, a, Domain::Numbers), $accuracy, |m, a| {
            simple(m, a, Unary::$function, $f)
        })
    };
}

/// Defines a rounding function, which does not change integers.
macro_rules! rounding {
    ($name:literal, $rules:tt, $function:ident, $f:expr) => {
        operator!($name, $rules, [OpParam::Arg("x")], infer_same, Exact, |m, a| {
            simple(m, a, Unary::$function, |x| Ok(rounded(x, $name, $f)))
        })
    };
}

/// Defines a predicate of floats. The result for other data types is fixed.
macro_rules! predicate {
    ($name:literal, $rules:tt, $other:literal, $predicate:ident, $f:expr) => {
        operator!($name, $rules, [OpParam::Arg("x")], infer_predicate, Exact, |m, a| {
            match slices::asked(m, kernel::tensor(a, 0)?, Predicate::$predicate)? {
                Some(value) => Ok(value),
                None => ask(m, a, $other, $f),
            }
        })
    };
}

pub(in crate::ops) const OPS: &[OpDef] = &[
    function!("acos", [rule!("OPS.acos.infer"), rule!("OPS.acos.value")], Elementary, elementary::acos),
    function!("acosh", [rule!("OPS.acosh.infer"), rule!("OPS.acosh.value")], Elementary, elementary::acosh),
    function!("asin", [rule!("OPS.asin.infer"), rule!("OPS.asin.value")], Elementary, elementary::asin),
    function!("asinh", [rule!("OPS.asinh.infer"), rule!("OPS.asinh.value")], Elementary, elementary::asinh),
    function!("atan", [rule!("OPS.atan.infer"), rule!("OPS.atan.value")], Elementary, elementary::atan),
    function!("atanh", [rule!("OPS.atanh.infer"), rule!("OPS.atanh.value")], Elementary, elementary::atanh),
    function!("cos", [rule!("OPS.cos.infer"), rule!("OPS.cos.value")], Elementary, elementary::cos),
    function!("cosh", [rule!("OPS.cosh.infer"), rule!("OPS.cosh.value")], Elementary, elementary::cosh),
    function!("erf", [rule!("OPS.erf.infer"), rule!("OPS.erf.value")], Elementary, elementary::erf),
    function!("exp", [rule!("OPS.exp.infer"), rule!("OPS.exp.value")], Elementary, elementary::exp),
    function!("log", [rule!("OPS.log.infer"), rule!("OPS.log.value")], Elementary, elementary::log),
    function!("rsqrt", [rule!("OPS.rsqrt.infer"), rule!("OPS.rsqrt.value")], Elementary, elementary::rsqrt),
    function!("sigmoid", [rule!("OPS.sigmoid.infer"), rule!("OPS.sigmoid.value")], Elementary, elementary::sigmoid),
    function!("sin", [rule!("OPS.sin.infer"), rule!("OPS.sin.value")], Elementary, elementary::sin),
    function!("sinh", [rule!("OPS.sinh.infer"), rule!("OPS.sinh.value")], Elementary, elementary::sinh),
    operator!(
        "sqrt",
        [rule!("OPS.sqrt.infer"), rule!("OPS.sqrt.value")],
        [OpParam::Arg("x")],
        infer_float,
        Rounded,
        |m, a| simple(m, a, Unary::SquareRoot, |x| applied(x, "sqrt", f64::sqrt))
    ),
    function!("tan", [rule!("OPS.tan.infer"), rule!("OPS.tan.value")], Elementary, elementary::tan),
    function!("tanh", [rule!("OPS.tanh.infer"), rule!("OPS.tanh.value")], Elementary, elementary::tanh),
    arithmetic!("abs", [rule!("OPS.abs.infer"), rule!("OPS.abs.value")], Exact, Magnitude, absolute),
    arithmetic!("negative", [rule!("OPS.negative.infer"), rule!("OPS.negative.value")], Exact, Negation, negative),
    arithmetic!("sign", [rule!("OPS.sign.infer"), rule!("OPS.sign.value")], Exact, Sign, sign),
    arithmetic!("square", [rule!("OPS.square.infer"), rule!("OPS.square.value")], Rounded, Square, square),
    arithmetic!(
        Bits,
        "bitwise_not",
        [rule!("OPS.bitwise_not.infer"), rule!("OPS.bitwise_not.value")],
        Exact,
        bitwise_not
    ),
    arithmetic!(
        Booleans,
        "logical_not",
        [rule!("OPS.logical_not.infer"), rule!("OPS.logical_not.value")],
        Exact,
        logical_not
    ),
    rounding!("ceil", [rule!("OPS.ceil.infer"), rule!("OPS.ceil.value")], Ceiling, f64::ceil),
    rounding!("floor", [rule!("OPS.floor.infer"), rule!("OPS.floor.value")], Floor, f64::floor),
    rounding!("round", [rule!("OPS.round.infer"), rule!("OPS.round.value")], Nearest, f64::round_ties_even),
    rounding!("trunc", [rule!("OPS.trunc.infer"), rule!("OPS.trunc.value")], Truncation, f64::trunc),
    predicate!("isfinite", [rule!("OPS.isfinite.infer"), rule!("OPS.isfinite.value")], true, Finite, f64::is_finite),
    predicate!("isinf", [rule!("OPS.isinf.infer"), rule!("OPS.isinf.value")], false, Infinite, f64::is_infinite),
    predicate!("isnan", [rule!("OPS.isnan.infer"), rule!("OPS.isnan.value")], false, NotANumber, f64::is_nan),
    operator!(
        "clip",
        [rule!("OPS.clip.infer"), rule!("OPS.clip.value")],
        [OpParam::Arg("x"), OpParam::Arg("min"), OpParam::Arg("max")],
        infer_clip,
        Exact,
        clip
    ),
];

fn rounded(x: Scalar, name: &'static str, float: fn(f64) -> f64) -> Scalar {
    match x {
        Scalar::Float(x) => Scalar::Float(float(x)),
        Scalar::Ring(x) => Scalar::Ring(x.applied(Function { name, float })),
        Scalar::Bool(_) | Scalar::Int(_) | Scalar::UInt(_) => x,
    }
}

fn ask(m: &mut dyn Host, a: &EvalArgs<'_>, other: bool, f: impl Fn(f64) -> bool) -> Result<Value, Stop> {
    let x = kernel::tensor(a, 0)?;
    fresh(tabulate(m, DataType::BOOL, x.shape(), |i| match at(x, i)? {
        Scalar::Float(x) => Ok(Scalar::Bool(f(x))),
        Scalar::Ring(x) => Ok(Scalar::Bool(f(x.near()))),
        Scalar::Bool(_) | Scalar::Int(_) | Scalar::UInt(_) => Ok(Scalar::Bool(other)),
    })?)
}

fn negative(x: Scalar) -> Result<Scalar, Stop> {
    number(zero_like(x), x, i64::wrapping_sub, u64::wrapping_sub, RealOp::Negation)
}

fn absolute(x: Scalar) -> Result<Scalar, Stop> {
    number(x, x, |x, _| x.wrapping_abs(), |x, _| x, RealOp::Magnitude)
}

/// -1, 0 or 1. A zero or NaN stays as it is.
fn sign(x: Scalar) -> Result<Scalar, Stop> {
    number(x, x, |x, _| x.signum(), |x, _| x.min(1), RealOp::Sign)
}

fn square(x: Scalar) -> Result<Scalar, Stop> {
    number(x, x, i64::wrapping_mul, u64::wrapping_mul, RealOp::Product)
}

fn bitwise_not(x: Scalar) -> Result<Scalar, Stop> {
    match x {
        Scalar::Bool(b) => Ok(Scalar::Bool(!b)),
        Scalar::Int(i) => Ok(Scalar::Int(!i)),
        Scalar::UInt(u) => Ok(Scalar::UInt(!u)),
        Scalar::Float(_) | Scalar::Ring(_) => Err(fail("a float has no bits to invert")),
    }
}

fn logical_not(x: Scalar) -> Result<Scalar, Stop> {
    match x {
        Scalar::Bool(b) => Ok(Scalar::Bool(!b)),
        Scalar::Int(_) | Scalar::UInt(_) | Scalar::Float(_) | Scalar::Ring(_) => {
            Err(fail("negation is defined on Booleans"))
        }
    }
}

pub(in crate::ops) fn zero_like(x: Scalar) -> Scalar {
    match x {
        Scalar::Bool(_) => Scalar::Bool(false),
        Scalar::Int(_) => Scalar::Int(0),
        Scalar::UInt(_) => Scalar::UInt(0),
        Scalar::Float(_) => Scalar::Float(0.0),
        Scalar::Ring(_) => Scalar::Ring(RingNumber::default()),
    }
}

// clip

fn infer_clip(_: &mut Cx, a: &InferArgs<'_>) -> Result<StructInfo, InferError> {
    arity::<3>(a)?;
    for bound in [1, 2] {
        if !matches!(a.args.get(bound), Some(StructInfo::Prim(_))) {
            return Err(InferError::op(format!("argument {bound} must be a boxed scalar")));
        }
    }
    let x = tensor(a, 0)?;
    Domain::Numbers.demand(x.dtype)?;
    Ok(StructInfo::Tensor(x.clone()))
}

/// Clips each element to the range. NaN stays as it is.
fn clip(m: &mut dyn Host, a: &EvalArgs<'_>) -> Result<Value, Stop> {
    let float = kernel::tensor(a, 0)?.dtype().float_type().unwrap_or(FloatType::Float64);
    let (low, high) = (bound(a, 1, float)?, bound(a, 2, float)?);
    let (least, greatest) = (kernel::number_of(m, low.0, float), kernel::number_of(m, high.0, float));
    unary(m, a, |x| match x {
        Scalar::Float(x) if x.is_nan() => Ok(Scalar::Float(x)),
        Scalar::Float(x) => Ok(Scalar::Float(x.max(low.0).min(high.0))),
        Scalar::Ring(_) => {
            let above = number(x, least, i64::max, u64::max, RealOp::Larger)?;
            number(above, greatest, i64::min, u64::min, RealOp::Smaller)
        }
        Scalar::Int(x) => Ok(Scalar::Int(x.max(low.1).min(high.1))),
        Scalar::UInt(x) => {
            let unsigned = |i: i64| u64::try_from(i).unwrap_or(0);
            Ok(Scalar::UInt(x.max(unsigned(low.1)).min(unsigned(high.1))))
        }
        Scalar::Bool(_) => Err(fail("a range of Booleans is not defined")),
    })
}

/// A bound as a float of the data type, rounded once, and as an integer.
fn bound(a: &EvalArgs<'_>, i: usize, float: FloatType) -> Result<(f64, i64), Stop> {
    match a.values.get(i) {
        Some(Value::Prim(Prim { value: Scalar::Float(x), .. })) => Ok((*x, *x as i64)),
        Some(Value::Prim(Prim { value: Scalar::Int(i), .. })) => Ok((float.round_int((*i).into()), *i)),
        Some(_) | None => Err(fail("the bounds of a range must be numbers")),
    }
}
