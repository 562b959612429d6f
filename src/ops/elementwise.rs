//! Element-wise operators: arithmetic and comparisons with broadcasting, and functions of one element.

use super::infer::{Dims, arity, broadcast, common_dtype, tensor};
use super::kernel::{self, at_broadcast, fail, fresh, tabulate};
use super::{EvalArgs, InferArgs, InferError, OpDef, Param};
use crate::cx::Cx;
use crate::eval::tensor::{Scalar, Tensor};
use crate::eval::{Machine, Stop, Value};
use crate::grammar::{DataType, StructInfo};
use crate::rule::Rule;

macro_rules! arithmetic {
    ($name:literal, $rules:tt, $accuracy:ident, $f:expr) => {
        operator!($name, $rules, [Param::Arg("x1"), Param::Arg("x2")], infer_arithmetic, $accuracy, |m, a| binary(
            m, a, None, $f
        ))
    };
}

macro_rules! comparison {
    ($name:literal, $rules:tt, $f:expr) => {
        operator!($name, $rules, [Param::Arg("x1"), Param::Arg("x2")], infer_comparison, Exact, |m, a| {
            binary(m, a, Some(DataType::BOOL), |x, y| compare(x, y).map($f).map(Scalar::Bool))
        })
    };
}

macro_rules! function {
    ($name:literal, $rules:tt, $accuracy:ident, $f:expr) => {
        operator!($name, $rules, [Param::Arg("x")], infer_float, $accuracy, |m, a| unary(m, a, |x| float(x)
            .map($f)
            .map(Scalar::Float)))
    };
}

pub(super) const OPS: &[OpDef] = &[
    arithmetic!("add", [Rule::OpsAddInfer, Rule::OpsAddValue], Rounded, |x, y| number(
        x,
        y,
        i64::wrapping_add,
        u64::wrapping_add,
        |x, y| x + y
    )),
    arithmetic!("subtract", [Rule::OpsSubtractInfer, Rule::OpsSubtractValue], Rounded, |x, y| number(
        x,
        y,
        i64::wrapping_sub,
        u64::wrapping_sub,
        |x, y| x - y
    )),
    arithmetic!("multiply", [Rule::OpsMultiplyInfer, Rule::OpsMultiplyValue], Rounded, |x, y| number(
        x,
        y,
        i64::wrapping_mul,
        u64::wrapping_mul,
        |x, y| x * y
    )),
    arithmetic!("maximum", [Rule::OpsMaximumInfer, Rule::OpsMaximumValue], Exact, |x, y| number(
        x,
        y,
        i64::max,
        u64::max,
        max_float
    )),
    arithmetic!("minimum", [Rule::OpsMinimumInfer, Rule::OpsMinimumValue], Exact, |x, y| number(
        x,
        y,
        i64::min,
        u64::min,
        min_float
    )),
    arithmetic!("divide", [Rule::OpsDivideInfer, Rule::OpsDivideValue], Rounded, divide),
    arithmetic!("floor_divide", [Rule::OpsFloorDivideInfer, Rule::OpsFloorDivideValue], Rounded, floor_divide),
    arithmetic!("power", [Rule::OpsPowerInfer, Rule::OpsPowerValue], Elementary, power),
    comparison!("equal", [Rule::OpsEqualInfer, Rule::OpsEqualValue], |o| o == Some(std::cmp::Ordering::Equal)),
    comparison!("not_equal", [Rule::OpsNotEqualInfer, Rule::OpsNotEqualValue], |o| o
        != Some(std::cmp::Ordering::Equal)),
    comparison!("less", [Rule::OpsLessInfer, Rule::OpsLessValue], |o| o == Some(std::cmp::Ordering::Less)),
    comparison!("less_equal", [Rule::OpsLessEqualInfer, Rule::OpsLessEqualValue], |o| matches!(
        o,
        Some(std::cmp::Ordering::Less | std::cmp::Ordering::Equal)
    )),
    comparison!("greater", [Rule::OpsGreaterInfer, Rule::OpsGreaterValue], |o| o == Some(std::cmp::Ordering::Greater)),
    comparison!("greater_equal", [Rule::OpsGreaterEqualInfer, Rule::OpsGreaterEqualValue], |o| matches!(
        o,
        Some(std::cmp::Ordering::Greater | std::cmp::Ordering::Equal)
    )),
    operator!(
        "negative",
        [Rule::OpsNegativeInfer, Rule::OpsNegativeValue],
        [Param::Arg("x")],
        infer_same,
        Exact,
        |m, a| unary(m, a, negative)
    ),
    operator!("abs", [Rule::OpsAbsInfer, Rule::OpsAbsValue], [Param::Arg("x")], infer_same, Exact, |m, a| unary(
        m, a, absolute
    )),
    operator!("nn.relu", [Rule::OpsNnReluInfer, Rule::OpsNnReluValue], [Param::Arg("x")], infer_same, Exact, |m, a| {
        unary(m, a, relu)
    }),
    function!("exp", [Rule::OpsExpInfer, Rule::OpsExpValue], Elementary, f64::exp),
    function!("log", [Rule::OpsLogInfer, Rule::OpsLogValue], Elementary, f64::ln),
    function!("sqrt", [Rule::OpsSqrtInfer, Rule::OpsSqrtValue], Rounded, f64::sqrt),
    function!("sigmoid", [Rule::OpsSigmoidInfer, Rule::OpsSigmoidValue], Elementary, sigmoid),
    function!("tanh", [Rule::OpsTanhInfer, Rule::OpsTanhValue], Elementary, f64::tanh),
    function!("nn.gelu", [Rule::OpsNnGeluInfer, Rule::OpsNnGeluValue], Elementary, gelu),
    function!("nn.silu", [Rule::OpsNnSiluInfer, Rule::OpsNnSiluValue], Elementary, |x: f64| x * sigmoid(x)),
];

// Inference.

fn infer_binary(a: &InferArgs<'_>) -> Result<(Dims, DataType), InferError> {
    arity::<2>(a)?;
    let (x1, x2) = (tensor(a, 0)?, tensor(a, 1)?);
    Ok((broadcast(&Dims::of(x1), &Dims::of(x2))?, common_dtype(x1.dtype, x2.dtype)?))
}

fn infer_arithmetic(_: &mut Cx, a: &InferArgs<'_>) -> Result<StructInfo, InferError> {
    infer_binary(a).map(|(dims, dtype)| dims.tensor(dtype))
}

fn infer_comparison(_: &mut Cx, a: &InferArgs<'_>) -> Result<StructInfo, InferError> {
    infer_binary(a).map(|(dims, _)| dims.tensor(DataType::BOOL))
}

/// The result is like the argument; a shape that is held in a variable stays so.
fn infer_same(_: &mut Cx, a: &InferArgs<'_>) -> Result<StructInfo, InferError> {
    arity::<1>(a)?;
    tensor(a, 0).map(|t| StructInfo::Tensor(t.clone()))
}

fn infer_float(cx: &mut Cx, a: &InferArgs<'_>) -> Result<StructInfo, InferError> {
    let info = infer_same(cx, a)?;
    let dtype = tensor(a, 0)?.dtype;
    if dtype.is_void() || dtype.is_float() {
        return Ok(info);
    }
    Err(InferError::op(format!("expects a floating-point data type, found {dtype}")))
}

// Evaluation.

fn binary(
    m: &mut Machine<'_>,
    a: &EvalArgs<'_>,
    dtype: Option<DataType>,
    f: impl Fn(Scalar, Scalar) -> Result<Scalar, Stop>,
) -> Result<Value, Stop> {
    let (x1, x2) = (kernel::tensor(a, 0)?, kernel::tensor(a, 1)?);
    if x1.dtype() != x2.dtype() {
        return Err(fail(format!("the data types {} and {} differ", x1.dtype(), x2.dtype())));
    }
    let shape = kernel::broadcast(x1.shape(), x2.shape())?;
    let dtype = dtype.unwrap_or(x1.dtype());
    fresh(tabulate(m, dtype, &shape, |i| f(at_broadcast(x1, i)?, at_broadcast(x2, i)?))?)
}

fn unary(m: &mut Machine<'_>, a: &EvalArgs<'_>, f: impl Fn(Scalar) -> Result<Scalar, Stop>) -> Result<Value, Stop> {
    let x: &Tensor = kernel::tensor(a, 0)?;
    fresh(tabulate(m, x.dtype(), x.shape(), |i| f(kernel::at(x, i)?))?)
}

/// Arithmetic on two elements of one kind. Integers wrap; a float is rounded to the data type when it is stored.
fn number(
    x: Scalar,
    y: Scalar,
    int: impl Fn(i64, i64) -> i64,
    uint: impl Fn(u64, u64) -> u64,
    float: impl Fn(f64, f64) -> f64,
) -> Result<Scalar, Stop> {
    match (x, y) {
        (Scalar::Int(x), Scalar::Int(y)) => Ok(Scalar::Int(int(x, y))),
        (Scalar::UInt(x), Scalar::UInt(y)) => Ok(Scalar::UInt(uint(x, y))),
        (Scalar::Float(x), Scalar::Float(y)) => Ok(Scalar::Float(float(x, y))),
        (Scalar::Bool(_) | Scalar::Int(_) | Scalar::UInt(_) | Scalar::Float(_), _) => {
            Err(fail("arithmetic is not defined on this data type"))
        }
    }
}

fn nonzero(y: Scalar) -> Result<(), Stop> {
    match y {
        Scalar::Int(0) | Scalar::UInt(0) => Err(fail("an integer is divided by zero")),
        Scalar::Bool(_) | Scalar::Int(_) | Scalar::UInt(_) | Scalar::Float(_) => Ok(()),
    }
}

/// Integers are divided with truncation towards zero.
fn divide(x: Scalar, y: Scalar) -> Result<Scalar, Stop> {
    nonzero(y)?;
    number(x, y, i64::wrapping_div, u64::wrapping_div, |x, y| x / y)
}

fn floor_divide(x: Scalar, y: Scalar) -> Result<Scalar, Stop> {
    nonzero(y)?;
    let floor = |x: i64, y: i64| {
        let (q, r) = (x.wrapping_div(y), x.wrapping_rem(y));
        if r != 0 && (r < 0) != (y < 0) { q - 1 } else { q }
    };
    number(x, y, floor, u64::wrapping_div, |x, y| (x / y).floor())
}

fn power(x: Scalar, y: Scalar) -> Result<Scalar, Stop> {
    if let Scalar::Int(..0) = y {
        return Err(fail("an integer is raised to a negative power"));
    }
    let exponent = |y: u64| u32::try_from(y).unwrap_or(u32::MAX);
    number(x, y, |x, y| x.wrapping_pow(exponent(y.unsigned_abs())), |x, y| x.wrapping_pow(exponent(y)), f64::powf)
}

/// NaN wins, as it does in any arithmetic.
fn max_float(x: f64, y: f64) -> f64 {
    if x.is_nan() || y.is_nan() { f64::NAN } else { x.max(y) }
}

fn min_float(x: f64, y: f64) -> f64 {
    if x.is_nan() || y.is_nan() { f64::NAN } else { x.min(y) }
}

/// The order of two elements; none if one is not a number.
fn compare(x: Scalar, y: Scalar) -> Result<Option<std::cmp::Ordering>, Stop> {
    match (x, y) {
        (Scalar::Bool(x), Scalar::Bool(y)) => Ok(Some(x.cmp(&y))),
        (Scalar::Int(x), Scalar::Int(y)) => Ok(Some(x.cmp(&y))),
        (Scalar::UInt(x), Scalar::UInt(y)) => Ok(Some(x.cmp(&y))),
        (Scalar::Float(x), Scalar::Float(y)) => Ok(x.partial_cmp(&y)),
        (Scalar::Bool(_) | Scalar::Int(_) | Scalar::UInt(_) | Scalar::Float(_), _) => {
            Err(fail("elements of different kinds are compared"))
        }
    }
}

fn negative(x: Scalar) -> Result<Scalar, Stop> {
    number(zero_like(x), x, i64::wrapping_sub, u64::wrapping_sub, |_, x| -x)
}

fn absolute(x: Scalar) -> Result<Scalar, Stop> {
    number(x, x, |x, _| x.wrapping_abs(), |x, _| x, |x, _| x.abs())
}

fn relu(x: Scalar) -> Result<Scalar, Stop> {
    number(x, zero_like(x), i64::max, u64::max, max_float)
}

fn float(x: Scalar) -> Result<f64, Stop> {
    match x {
        Scalar::Float(x) => Ok(x),
        Scalar::Bool(_) | Scalar::Int(_) | Scalar::UInt(_) => Err(fail("expects a floating-point data type")),
    }
}

fn zero_like(x: Scalar) -> Scalar {
    match x {
        Scalar::Bool(_) => Scalar::Bool(false),
        Scalar::Int(_) => Scalar::Int(0),
        Scalar::UInt(_) => Scalar::UInt(0),
        Scalar::Float(_) => Scalar::Float(0.0),
    }
}

fn sigmoid(x: f64) -> f64 {
    1.0 / (1.0 + (-x).exp())
}

/// x times the distribution function of the normal distribution.
fn gelu(x: f64) -> f64 {
    0.5 * x * (1.0 + libm::erf(x / std::f64::consts::SQRT_2))
}
