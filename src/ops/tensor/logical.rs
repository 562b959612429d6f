//! Logical operators and operations on bits.

use crate::ops::infer::Domain;
use crate::ops::kernel::elementwise::{binary, infer_two, number};
use crate::ops::kernel::{self, fail};
use crate::ops::{EvalArgs, OpDef, OpParam};
use crate::value::{Host, Scalar, Stop, Value};

macro_rules! logical {
    ($name:literal, $rules:tt, $f:expr) => {
        operator!(
            $name,
            $rules,
            [OpParam::Arg("x1"), OpParam::Arg("x2")],
            |cx, a| infer_two(cx, a, Domain::Booleans),
            Exact,
            |m, a| { binary(m, a, |x, y| logical(x, y, $f)) }
        )
    };
}

macro_rules! bitwise {
    ($name:literal, $rules:tt, $f:expr) => {
        operator!(
            $name,
            $rules,
            [OpParam::Arg("x1"), OpParam::Arg("x2")],
            |cx, a| infer_two(cx, a, Domain::Bits),
            Exact,
            |m, a| { binary(m, a, |x, y| bitwise(x, y, $f)) }
        )
    };
}

macro_rules! shift {
    ($name:literal, $rules:tt, $int:expr, $uint:expr) => {
        operator!(
            $name,
            $rules,
            [OpParam::Arg("x1"), OpParam::Arg("x2")],
            |cx, a| infer_two(cx, a, Domain::Integers),
            Exact,
            |m, a| { shift(m, a, $int, $uint) }
        )
    };
}

pub(in crate::ops) const OPS: &[OpDef] = &[
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

fn logical(x: Scalar, y: Scalar, f: impl Fn(bool, bool) -> bool) -> Result<Scalar, Stop> {
    match (x, y) {
        (Scalar::Bool(x), Scalar::Bool(y)) => Ok(Scalar::Bool(f(x, y))),
        (Scalar::Bool(_) | Scalar::Int(_) | Scalar::UInt(_) | Scalar::Float(_) | Scalar::Ring(_), _) => {
            Err(fail("logic is defined on Booleans"))
        }
    }
}

/// Applies an operation to the two's complement. For unsigned integers it is the number itself.
fn bitwise(x: Scalar, y: Scalar, f: impl Fn(u64, u64) -> u64) -> Result<Scalar, Stop> {
    match (x, y) {
        (Scalar::Bool(x), Scalar::Bool(y)) => Ok(Scalar::Bool(f(x.into(), y.into()) & 1 == 1)),
        (Scalar::Int(x), Scalar::Int(y)) => Ok(Scalar::Int(f(x as u64, y as u64) as i64)),
        (Scalar::UInt(x), Scalar::UInt(y)) => Ok(Scalar::UInt(f(x, y))),
        (Scalar::Bool(_) | Scalar::Int(_) | Scalar::UInt(_) | Scalar::Float(_) | Scalar::Ring(_), _) => {
            Err(fail("bits are defined of integers"))
        }
    }
}

/// Shifts bits. A signed integer is shifted with its sign. Bits beyond the top of the data type are lost when the
/// result is stored.
fn shift(
    m: &mut dyn Host,
    a: &EvalArgs<'_>,
    int: impl Fn(i64, u32) -> i64,
    uint: impl Fn(u64, u32) -> u64,
) -> Result<Value, Stop> {
    let dtype = if let Some(Value::Prim(prim)) = a.values.first() { prim.dtype } else { kernel::tensor(a, 0)?.dtype() };
    let bits = u32::from(dtype.bits);
    binary(m, a, |x, y| {
        let by = distance(y, bits)?;
        number(x, y, |x, _| int(x, by), |x, _| uint(x, by), |x, _| x)
    })
}

/// The distance of a shift. Negative distances and those of the data type's width or more are unspecified.
fn distance(y: Scalar, bits: u32) -> Result<u32, Stop> {
    let by = match y {
        Scalar::Int(y) => u32::try_from(y).ok(),
        Scalar::UInt(y) => u32::try_from(y).ok(),
        Scalar::Bool(_) | Scalar::Float(_) | Scalar::Ring(_) => return Err(fail("a shift is defined on integers")),
    };
    by.filter(|by| *by < bits).ok_or_else(|| Stop::unspecified(format!("a shift outside of {bits} bits")))
}
