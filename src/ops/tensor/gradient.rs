//! Gradients: markers for their computation, and the operators that it uses.

mod loss;
mod mark;
mod pooling;
mod take;

use crate::grammar::{StructInfo, TensorStructInfo};
use crate::judge::Cx;
use crate::ops::infer::{TensorDims, common_dtype, differ};
use crate::ops::{InferArgs, InferError, OpDef};

pub(super) const FAMILIES: &[&[OpDef]] = &[loss::OPS, mark::OPS, pooling::OPS, take::OPS];

/// The arguments of the operator to which the gradient belongs: all except the first, which is the gradient of its
/// result.
fn forward<'a>(a: &InferArgs<'a>) -> InferArgs<'a> {
    InferArgs { args: a.args.get(1..).unwrap_or_default(), ..*a }
}

/// Checks that a gradient has the type of the result to which it belongs. Provable differences are rejected.
fn belongs(cx: &mut Cx, gradient: &TensorStructInfo, result: &StructInfo) -> Result<(), InferError> {
    let StructInfo::Tensor(result) = result else { return Ok(()) };
    common_dtype(gradient.dtype, result.dtype)?;
    let (found, expected) = (TensorDims::of(gradient), TensorDims::of(result));
    if let (Some(x), Some(y)) = (found.rank(), expected.rank())
        && x != y
    {
        return Err(InferError::op(format!("the gradient has rank {x}, the result {y}")));
    }
    let (TensorDims::Known(found), TensorDims::Known(expected)) = (found, expected) else { return Ok(()) };
    match found.iter().zip(expected.iter()).find(|(x, y)| differ(cx, x, y)) {
        Some((x, y)) => Err(InferError::op(format!("the gradient has the dimension {x}, the result {y}"))),
        None => Ok(()),
    }
}
