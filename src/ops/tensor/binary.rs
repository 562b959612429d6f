//! Arithmetic on two elements, with broadcasting.

use kernels::Pairwise;

use crate::grammar::{PrimExpr, StructInfo};
use crate::judge::Cx;
use crate::number::real::BinaryFunction;
use crate::number::{FloatType, elementary};
use crate::ops::infer::{Domain, TensorDims};
use crate::ops::kernel::elementwise::{arithmetic as of_numbers, binary, infer_two, number};
use crate::ops::kernel::reals::{RealOp, no_ring};
use crate::ops::kernel::{self, fail, slices};
use crate::ops::{Accuracy, EvalArgs, InferArgs, InferError, OpDef, OpParam};
use crate::value::{Host, Scalar, Stop, Value};

macro_rules! arithmetic {
    ($name:literal, $rules:tt, $accuracy:ident, $f:expr) => {
        operator!($name, $rules, [OpParam::Arg("x1"), OpParam::Arg("x2")], infer_numbers, $accuracy, |m, a| {
            binary(m, a, $f)
        })
    };
    ($name:literal, $rules:tt, $int:expr, $uint:expr, $real:expr) => {
        operator!($name, $rules, [OpParam::Arg("x1"), OpParam::Arg("x2")], infer_numbers, Rounded, |m, a| {
            of_numbers(m, a, $real, |x, y| number(x, y, $int, $uint, $real))
        })
    };
}

macro_rules! of_floats {
    ($name:literal, $rules:tt, $f:expr) => {
        operator!(
            $name,
            $rules,
            [OpParam::Arg("x1"), OpParam::Arg("x2")],
            |cx, a| infer_two(cx, a, Domain::Floats),
            Elementary,
            |m, a| { binary(m, a, |x, y| floats(x, y, $f)) }
        )
    };
}

pub(in crate::ops) const OPS: &[OpDef] = &[
    arithmetic!(
        "add",
        [rule!("OPS.add.infer"), rule!("OPS.add.value")],
        i64::wrapping_add,
        u64::wrapping_add,
        RealOp::Sum
    ),
    arithmetic!(
        "subtract",
        [rule!("OPS.subtract.infer"), rule!("OPS.subtract.value")],
        i64::wrapping_sub,
        u64::wrapping_sub,
        RealOp::Difference
    ),
    arithmetic!(
        "multiply",
        [rule!("OPS.multiply.infer"), rule!("OPS.multiply.value")],
        i64::wrapping_mul,
        u64::wrapping_mul,
        RealOp::Product
    ),
    exact(arithmetic!(
        "maximum",
        [rule!("OPS.maximum.infer"), rule!("OPS.maximum.value")],
        i64::max,
        u64::max,
        RealOp::Larger
    )),
    exact(arithmetic!(
        "minimum",
        [rule!("OPS.minimum.infer"), rule!("OPS.minimum.value")],
        i64::min,
        u64::min,
        RealOp::Smaller
    )),
    operator!(
        "divide",
        [rule!("OPS.divide.infer"), rule!("OPS.divide.value")],
        [OpParam::Arg("x1"), OpParam::Arg("x2")],
        infer_division,
        Rounded,
        |m, a| of_numbers(m, a, RealOp::Quotient, divide)
    ),
    operator!(
        "floor_divide",
        [rule!("OPS.floor_divide.infer"), rule!("OPS.floor_divide.value")],
        [OpParam::Arg("x1"), OpParam::Arg("x2")],
        infer_division,
        Rounded,
        floor_divide
    ),
    operator!(
        "power",
        [rule!("OPS.power.infer"), rule!("OPS.power.value")],
        [OpParam::Arg("x1"), OpParam::Arg("x2")],
        infer_numbers,
        Elementary,
        |m, a| match slices::pairwise(m, a, Pairwise::Power, &elementary::pow)? {
            Some(value) => Ok(value),
            None => binary(m, a, power),
        }
    ),
    division(arithmetic!("mod", [rule!("OPS.mod.infer"), rule!("OPS.mod.value")], Exact, remainder)),
    division(arithmetic!(
        "floor_mod",
        [rule!("OPS.floor_mod.infer"), rule!("OPS.floor_mod.value")],
        Rounded,
        floor_remainder
    )),
    of_floats!("atan2", [rule!("OPS.atan2.infer"), rule!("OPS.atan2.value")], elementary::atan2),
    of_floats!(
        "log_add_exp",
        [rule!("OPS.log_add_exp.infer"), rule!("OPS.log_add_exp.value")],
        elementary::log_add_exp
    ),
];

/// An operation that does not round.
const fn exact(op: OpDef) -> OpDef {
    OpDef { accuracy: Accuracy::Exact, ..op }
}

const fn division(op: OpDef) -> OpDef {
    OpDef { infer: Some(infer_division), inference: "infer_division", ..op }
}

/// As for other arithmetic, but rejects a divisor that is a boxed integer known to be zero.
fn infer_division(cx: &mut Cx, a: &InferArgs<'_>) -> Result<StructInfo, InferError> {
    let info = infer_numbers(cx, a)?;
    let by_zero = match a.args.get(1) {
        Some(StructInfo::Prim(by)) => !by.dtype.is_float() && by.value == Some(PrimExpr::IntImm(0)),
        Some(_) | None => false,
    };
    let divided = match &info {
        StructInfo::Tensor(tensor) => match TensorDims::of(tensor) {
            TensorDims::Known(dims) => dims.iter().all(|dim| matches!(dim, PrimExpr::IntImm(1..))),
            TensorDims::Rank(_) | TensorDims::Unknown => false,
        },
        StructInfo::Prim(_) => true,
        StructInfo::Object | StructInfo::Shape(_) | StructInfo::Tuple(_) | StructInfo::Func(_) => false,
    };
    if by_zero && divided { Err(InferError::op("an integer is divided by zero")) } else { Ok(info) }
}

fn infer_numbers(cx: &mut Cx, a: &InferArgs<'_>) -> Result<StructInfo, InferError> {
    infer_two(cx, a, Domain::Numbers)
}

fn nonzero(y: Scalar) -> Result<(), Stop> {
    match y {
        Scalar::Int(0) | Scalar::UInt(0) => Err(fail("an integer is divided by zero")),
        Scalar::Bool(_) | Scalar::Int(_) | Scalar::UInt(_) | Scalar::Float(_) | Scalar::Ring(_) => Ok(()),
    }
}

/// Division. Integers are truncated towards zero.
fn divide(x: Scalar, y: Scalar) -> Result<Scalar, Stop> {
    nonzero(y)?;
    number(x, y, i64::wrapping_div, u64::wrapping_div, RealOp::Quotient)
}

/// The exact quotient rounded down. Rounding the quotient to the data type first could give the next integer.
fn floor_divide(m: &mut dyn Host, a: &EvalArgs<'_>) -> Result<Value, Stop> {
    let float = kernel::out(a)?.dtype.float_type().unwrap_or(FloatType::Float64);
    let exact = |x, y| float.quotient_rounded_down(x, y);
    if let Some(value) = slices::pairwise(m, a, Pairwise::QuotientRoundedDown, &exact)? {
        return Ok(value);
    }
    let floor = |x: i64, y: i64| {
        let (q, r) = (x.wrapping_div(y), x.wrapping_rem(y));
        if r != 0 && (r < 0) != (y < 0) { q.wrapping_sub(1) } else { q }
    };
    binary(m, a, |x, y| {
        nonzero(y)?;
        number(x, y, floor, u64::wrapping_div, exact)
    })
}

fn power(x: Scalar, y: Scalar) -> Result<Scalar, Stop> {
    if let Scalar::Int(..0) = y {
        return Err(fail("an integer is raised to a negative power"));
    }
    let real = RealOp::Named(BinaryFunction { name: "pow", float: elementary::pow });
    number(x, y, |x, y| wrapping_power(x as u64, y as u64) as i64, wrapping_power, real)
}

/// The power in two's complement. It wraps in the same way for signed and unsigned integers.
fn wrapping_power(x: u64, y: u64) -> u64 {
    let high = u32::try_from(y >> 32).unwrap_or(u32::MAX);
    let low = y as u32;
    // y is 2^32 high + low. Squaring 32 times avoids a loop over the digits.
    (0..32).fold(x, |power, _| power.wrapping_mul(power)).wrapping_pow(high).wrapping_mul(x.wrapping_pow(low))
}

/// The remainder of truncating division. It has the sign of the dividend.
fn remainder(x: Scalar, y: Scalar) -> Result<Scalar, Stop> {
    nonzero(y)?;
    number(x, y, i64::wrapping_rem, u64::wrapping_rem, |x, y| x % y)
}

/// The remainder of division rounded down. It has the sign of the divisor.
fn floor_remainder(x: Scalar, y: Scalar) -> Result<Scalar, Stop> {
    nonzero(y)?;
    let int = |x: i64, y: i64| {
        let r = x.wrapping_rem(y);
        if r != 0 && (r < 0) != (y < 0) { r.wrapping_add(y) } else { r }
    };
    let float = |x: f64, y: f64| {
        let r = x % y;
        // Zero also has the sign of the divisor.
        if r == 0.0 {
            r.copysign(y)
        } else if (r < 0.0) != (y < 0.0) {
            r + y
        } else {
            r
        }
    };
    number(x, y, int, u64::wrapping_rem, float)
}

fn floats(x: Scalar, y: Scalar, f: impl Fn(f64, f64) -> f64) -> Result<Scalar, Stop> {
    match (x, y) {
        (Scalar::Float(x), Scalar::Float(y)) => Ok(Scalar::Float(f(x, y))),
        (Scalar::Ring(_), _) | (_, Scalar::Ring(_)) => Err(no_ring()),
        (Scalar::Bool(_) | Scalar::Int(_) | Scalar::UInt(_) | Scalar::Float(_), _) => {
            Err(fail("expects a floating-point data type"))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// OPS.floor_mod.value, OPS.mod.value: a zero remainder also has the sign of an operand.
    #[test]
    fn a_remainder_of_zero_has_a_sign() {
        for (x, y) in [(0.25, 0.25), (-0.25, 0.25), (0.25, -0.25), (-0.25, -0.25), (-0.0, 0.25), (0.0, -0.25)] {
            let sign = |f: fn(Scalar, Scalar) -> Result<Scalar, Stop>| match f(Scalar::Float(x), Scalar::Float(y)) {
                Ok(Scalar::Float(r)) if r == 0.0 => r.is_sign_negative(),
                other => panic!("{other:?}"),
            };
            assert_eq!((sign(floor_remainder), sign(remainder)), (y < 0.0, x.is_sign_negative()), "{x} and {y}");
        }
    }
}
