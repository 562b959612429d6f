//! What operators on single elements share: inference, and evaluation with or without broadcasting.

use crate::grammar::{DataType, StructInfo};
use crate::judge::Cx;
use crate::ops::infer::{Dims, Domain, arity, broadcast, common_dtype, tensor, with_dtype};
use crate::ops::kernel::{self, at_broadcast, at_flat, fail, fresh, tabulate, tabulate_flat};
use crate::ops::{EvalArgs, InferArgs, InferError};
use crate::value::{Host, Scalar, Stop, Tensor, Value};

// Inference.

fn infer_binary(a: &InferArgs<'_>) -> Result<(Dims, DataType), InferError> {
    arity::<2>(a)?;
    let (x1, x2) = (tensor(a, 0)?, tensor(a, 1)?);
    Ok((broadcast(&Dims::of(x1), &Dims::of(x2))?, common_dtype(x1.dtype, x2.dtype)?))
}

/// Of two operands on whose data types the operator is defined; neither hides what the other is.
pub(in crate::ops) fn infer_two(a: &InferArgs<'_>, domain: Domain) -> Result<StructInfo, InferError> {
    let (dims, dtype) = infer_binary(a)?;
    domain.demand(tensor(a, 0)?.dtype)?;
    domain.demand(tensor(a, 1)?.dtype)?;
    Ok(dims.tensor(dtype))
}

pub(in crate::ops) fn infer_comparison(_: &mut Cx, a: &InferArgs<'_>) -> Result<StructInfo, InferError> {
    infer_binary(a).map(|(dims, _)| dims.tensor(DataType::BOOL))
}

/// The result is like the argument; a shape that is held in a variable stays so.
pub(in crate::ops) fn infer_same(_: &mut Cx, a: &InferArgs<'_>) -> Result<StructInfo, InferError> {
    arity::<1>(a)?;
    tensor(a, 0).map(|t| StructInfo::Tensor(t.clone()))
}

/// The result is the argument itself, whatever it is.
pub(in crate::ops) fn infer_itself(_: &mut Cx, a: &InferArgs<'_>) -> Result<StructInfo, InferError> {
    arity::<1>(a)?;
    a.args.first().cloned().ok_or_else(|| InferError::op("an argument is missing"))
}

/// The result is like the argument, on whose data type the operator is defined.
pub(in crate::ops) fn infer_one(cx: &mut Cx, a: &InferArgs<'_>, domain: Domain) -> Result<StructInfo, InferError> {
    let info = infer_same(cx, a)?;
    domain.demand(tensor(a, 0)?.dtype)?;
    Ok(info)
}

pub(in crate::ops) fn infer_float(cx: &mut Cx, a: &InferArgs<'_>) -> Result<StructInfo, InferError> {
    infer_one(cx, a, Domain::Floats)
}

/// A Boolean for each element of the argument.
pub(in crate::ops) fn infer_predicate(_: &mut Cx, a: &InferArgs<'_>) -> Result<StructInfo, InferError> {
    arity::<1>(a)?;
    tensor(a, 0).map(|t| with_dtype(t, DataType::BOOL))
}

// Evaluation.

pub(in crate::ops) fn binary(
    m: &mut dyn Host,
    a: &EvalArgs<'_>,
    f: impl Fn(Scalar, Scalar) -> Result<Scalar, Stop>,
) -> Result<Value, Stop> {
    let (x1, x2, out) = (kernel::tensor(a, 0)?, kernel::tensor(a, 1)?, kernel::out(a)?);
    if x1.shape() == x2.shape() {
        // Nothing is broadcast, so that positions are enough.
        return fresh(tabulate_flat(m, out.dtype, &out.shape, |i| f(at_flat(x1, i)?, at_flat(x2, i)?))?);
    }
    fresh(tabulate(m, out.dtype, &out.shape, |i| f(at_broadcast(x1, i)?, at_broadcast(x2, i)?))?)
}

pub(in crate::ops) fn unary(
    m: &mut dyn Host,
    a: &EvalArgs<'_>,
    f: impl Fn(Scalar) -> Result<Scalar, Stop>,
) -> Result<Value, Stop> {
    let x: &Tensor = kernel::tensor(a, 0)?;
    fresh(tabulate_flat(m, x.dtype(), x.shape(), |i| f(at_flat(x, i)?))?)
}

/// The argument itself.
pub(in crate::ops) fn itself(_: &mut dyn Host, a: &EvalArgs<'_>) -> Result<Value, Stop> {
    a.values.first().cloned().ok_or_else(|| fail("an argument is missing"))
}

/// Arithmetic on two elements of one kind. Integers wrap; a float is rounded to the data type when it is stored.
pub(in crate::ops) fn number(
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

/// The order of two elements; none if one is not a number.
pub(in crate::ops) fn compare(x: Scalar, y: Scalar) -> Result<Option<std::cmp::Ordering>, Stop> {
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

pub(in crate::ops) fn float(x: Scalar) -> Result<f64, Stop> {
    match x {
        Scalar::Float(x) => Ok(x),
        Scalar::Bool(_) | Scalar::Int(_) | Scalar::UInt(_) => Err(fail("expects a floating-point data type")),
    }
}

/// NaN wins, as it does in any arithmetic.
pub(in crate::ops) fn max_float(x: f64, y: f64) -> f64 {
    if x.is_nan() || y.is_nan() { f64::NAN } else { x.max(y) }
}

pub(in crate::ops) fn min_float(x: f64, y: f64) -> f64 {
    if x.is_nan() || y.is_nan() { f64::NAN } else { x.min(y) }
}
