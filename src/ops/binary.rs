//! Functions of two elements with broadcasting: arithmetic, comparison, logic, bits.

use std::cmp::Ordering;

use super::elementwise::{binary, compare, infer_arithmetic, infer_comparison, max_float, min_float, number};
use super::kernel::{self, fail};
use super::{EvalArgs, OpDef, Param};
use crate::grammar::DataType;
use crate::value::{Host, Scalar, Stop, Value};

macro_rules! arithmetic {
    ($name:literal, $rules:tt, $accuracy:ident, $f:expr) => {
        operator!($name, $rules, [Param::Arg("x1"), Param::Arg("x2")], infer_arithmetic, $accuracy, |m, a| {
            binary(m, a, None, $f)
        })
    };
}

macro_rules! comparison {
    ($name:literal, $rules:tt, $f:expr) => {
        operator!($name, $rules, [Param::Arg("x1"), Param::Arg("x2")], infer_comparison, Exact, |m, a| {
            binary(m, a, Some(DataType::BOOL), |x, y| compare(x, y).map($f).map(Scalar::Bool))
        })
    };
}

macro_rules! logical {
    ($name:literal, $rules:tt, $f:expr) => {
        arithmetic!($name, $rules, Exact, |x, y| logical(x, y, $f))
    };
}

macro_rules! bitwise {
    ($name:literal, $rules:tt, $f:expr) => {
        arithmetic!($name, $rules, Exact, |x, y| bitwise(x, y, $f))
    };
}

macro_rules! shift {
    ($name:literal, $rules:tt, $int:expr, $uint:expr) => {
        operator!($name, $rules, [Param::Arg("x1"), Param::Arg("x2")], infer_arithmetic, Exact, |m, a| {
            shift(m, a, $int, $uint)
        })
    };
}

pub(super) const OPS: &[OpDef] = &[
    arithmetic!("add", [rule!("OPS.add.infer"), rule!("OPS.add.value")], Rounded, |x, y| number(
        x,
        y,
        i64::wrapping_add,
        u64::wrapping_add,
        |x, y| x + y
    )),
    arithmetic!("subtract", [rule!("OPS.subtract.infer"), rule!("OPS.subtract.value")], Rounded, |x, y| number(
        x,
        y,
        i64::wrapping_sub,
        u64::wrapping_sub,
        |x, y| x - y
    )),
    arithmetic!("multiply", [rule!("OPS.multiply.infer"), rule!("OPS.multiply.value")], Rounded, |x, y| number(
        x,
        y,
        i64::wrapping_mul,
        u64::wrapping_mul,
        |x, y| x * y
    )),
    arithmetic!("maximum", [rule!("OPS.maximum.infer"), rule!("OPS.maximum.value")], Exact, |x, y| number(
        x,
        y,
        i64::max,
        u64::max,
        max_float
    )),
    arithmetic!("minimum", [rule!("OPS.minimum.infer"), rule!("OPS.minimum.value")], Exact, |x, y| number(
        x,
        y,
        i64::min,
        u64::min,
        min_float
    )),
    arithmetic!("divide", [rule!("OPS.divide.infer"), rule!("OPS.divide.value")], Rounded, divide),
    arithmetic!(
        "floor_divide",
        [rule!("OPS.floor_divide.infer"), rule!("OPS.floor_divide.value")],
        Rounded,
        floor_divide
    ),
    arithmetic!("power", [rule!("OPS.power.infer"), rule!("OPS.power.value")], Elementary, power),
    comparison!("equal", [rule!("OPS.equal.infer"), rule!("OPS.equal.value")], |o| o == Some(Ordering::Equal)),
    comparison!("not_equal", [rule!("OPS.not_equal.infer"), rule!("OPS.not_equal.value")], |o| o
        != Some(Ordering::Equal)),
    comparison!("less", [rule!("OPS.less.infer"), rule!("OPS.less.value")], |o| o == Some(Ordering::Less)),
    comparison!("less_equal", [rule!("OPS.less_equal.infer"), rule!("OPS.less_equal.value")], |o| matches!(
        o,
        Some(Ordering::Less | Ordering::Equal)
    )),
    comparison!("greater", [rule!("OPS.greater.infer"), rule!("OPS.greater.value")], |o| o == Some(Ordering::Greater)),
    comparison!("greater_equal", [rule!("OPS.greater_equal.infer"), rule!("OPS.greater_equal.value")], |o| matches!(
        o,
        Some(Ordering::Greater | Ordering::Equal)
    )),
    arithmetic!("mod", [rule!("OPS.mod.infer"), rule!("OPS.mod.value")], Exact, remainder),
    arithmetic!("floor_mod", [rule!("OPS.floor_mod.infer"), rule!("OPS.floor_mod.value")], Rounded, floor_remainder),
    arithmetic!("atan2", [rule!("OPS.atan2.infer"), rule!("OPS.atan2.value")], Elementary, |y, x| floats(
        y,
        x,
        f64::atan2
    )),
    arithmetic!("log_add_exp", [rule!("OPS.log_add_exp.infer"), rule!("OPS.log_add_exp.value")], Elementary, |x, y| {
        floats(x, y, log_add_exp)
    }),
    logical!("logical_and", [rule!("OPS.logical_and.infer"), rule!("OPS.logical_and.value")], |x, y| x && y),
    logical!("logical_or", [rule!("OPS.logical_or.infer"), rule!("OPS.logical_or.value")], |x, y| x || y),
    logical!("logical_xor", [rule!("OPS.logical_xor.infer"), rule!("OPS.logical_xor.value")], |x, y| x != y),
    bitwise!("bitwise_and", [rule!("OPS.bitwise_and.infer"), rule!("OPS.bitwise_and.value")], |x, y| x & y),
    bitwise!("bitwise_or", [rule!("OPS.bitwise_or.infer"), rule!("OPS.bitwise_or.value")], |x, y| x | y),
    bitwise!("bitwise_xor", [rule!("OPS.bitwise_xor.infer"), rule!("OPS.bitwise_xor.value")], |x, y| x ^ y),
    shift!("left_shift", [rule!("OPS.left_shift.infer"), rule!("OPS.left_shift.value")], |x, by| x << by, |x, by| x
        << by),
    shift!(
        "right_shift",
        [rule!("OPS.right_shift.infer"), rule!("OPS.right_shift.value")],
        |x, by| x >> by,
        |x, by| x >> by
    ),
];

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

/// What is left of truncating division; it has the sign of the dividend.
fn remainder(x: Scalar, y: Scalar) -> Result<Scalar, Stop> {
    nonzero(y)?;
    number(x, y, i64::wrapping_rem, u64::wrapping_rem, |x, y| x % y)
}

/// What is left of division rounded down; it has the sign of the divisor.
fn floor_remainder(x: Scalar, y: Scalar) -> Result<Scalar, Stop> {
    nonzero(y)?;
    let int = |x: i64, y: i64| {
        let r = x.wrapping_rem(y);
        if r != 0 && (r < 0) != (y < 0) { r.wrapping_add(y) } else { r }
    };
    let float = |x: f64, y: f64| {
        let r = x % y;
        if r != 0.0 && (r < 0.0) != (y < 0.0) { r + y } else { r }
    };
    number(x, y, int, u64::wrapping_rem, float)
}

fn floats(x: Scalar, y: Scalar, f: impl Fn(f64, f64) -> f64) -> Result<Scalar, Stop> {
    match (x, y) {
        (Scalar::Float(x), Scalar::Float(y)) => Ok(Scalar::Float(f(x, y))),
        (Scalar::Bool(_) | Scalar::Int(_) | Scalar::UInt(_) | Scalar::Float(_), _) => {
            Err(fail("expects a floating-point data type"))
        }
    }
}

/// Written so that neither exponential overflows.
fn log_add_exp(x: f64, y: f64) -> f64 {
    if x == y { x + std::f64::consts::LN_2 } else { max_float(x, y) + (-(x - y).abs()).exp().ln_1p() }
}

fn logical(x: Scalar, y: Scalar, f: impl Fn(bool, bool) -> bool) -> Result<Scalar, Stop> {
    match (x, y) {
        (Scalar::Bool(x), Scalar::Bool(y)) => Ok(Scalar::Bool(f(x, y))),
        (Scalar::Bool(_) | Scalar::Int(_) | Scalar::UInt(_) | Scalar::Float(_), _) => {
            Err(fail("logic is defined on Booleans"))
        }
    }
}

/// On the two's complement, of which an unsigned integer is a case.
fn bitwise(x: Scalar, y: Scalar, f: impl Fn(u64, u64) -> u64) -> Result<Scalar, Stop> {
    match (x, y) {
        (Scalar::Bool(x), Scalar::Bool(y)) => Ok(Scalar::Bool(f(x.into(), y.into()) & 1 == 1)),
        (Scalar::Int(x), Scalar::Int(y)) => Ok(Scalar::Int(f(x as u64, y as u64) as i64)),
        (Scalar::UInt(x), Scalar::UInt(y)) => Ok(Scalar::UInt(f(x, y))),
        (Scalar::Bool(_) | Scalar::Int(_) | Scalar::UInt(_) | Scalar::Float(_), _) => {
            Err(fail("bits are defined of integers"))
        }
    }
}

/// The bits of a signed integer move with its sign; what leaves the data type at the top is lost when it is stored.
fn shift(
    m: &mut dyn Host,
    a: &EvalArgs<'_>,
    int: impl Fn(i64, u32) -> i64,
    uint: impl Fn(u64, u32) -> u64,
) -> Result<Value, Stop> {
    let bits = u32::from(kernel::tensor(a, 0)?.dtype().bits);
    binary(m, a, None, |x, y| {
        let by = distance(y, bits)?;
        number(x, y, |x, _| int(x, by), |x, _| uint(x, by), |x, _| x)
    })
}

/// How far to shift. Nothing is said of a shift by less than nothing or by as many bits as there are.
fn distance(y: Scalar, bits: u32) -> Result<u32, Stop> {
    let by = match y {
        Scalar::Int(y) => u32::try_from(y).ok(),
        Scalar::UInt(y) => u32::try_from(y).ok(),
        Scalar::Bool(_) | Scalar::Float(_) => return Err(fail("a shift is defined on integers")),
    };
    by.filter(|by| *by < bits).ok_or_else(|| Stop::unspecified(format!("a shift outside of {bits} bits")))
}
