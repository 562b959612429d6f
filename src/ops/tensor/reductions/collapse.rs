//! Sums that undo broadcasting: `collapse_sum_to` and `collapse_sum_like`.

use super::reduce::{sum, within};
use crate::grammar::{PrimExpr, StructInfo, TensorStructInfo};
use crate::judge::Cx;
use crate::ops::infer::{Domain, TensorDims, arity, differ, of_shape_arg, shape, tensor, with_dtype};
use crate::ops::kernel::{self, beside, tabulate_out};
use crate::ops::{EvalArgs, InferArgs, InferError, OpDef, OpParam};
use crate::value::{Host, Stop, Value, count};

pub(in crate::ops) const OPS: &[OpDef] = &[
    operator!(
        "collapse_sum_to",
        [rule!("OPS.collapse_sum_to.infer"), rule!("OPS.collapse_sum_to.value")],
        [OpParam::Arg("data"), OpParam::ShapeArg("shape")],
        infer_collapse_sum_to,
        Accumulated,
        collapse_sum
    ),
    operator!(
        "collapse_sum_like",
        [rule!("OPS.collapse_sum_like.infer"), rule!("OPS.collapse_sum_like.value")],
        [OpParam::Arg("data"), OpParam::Arg("collapse_target")],
        infer_collapse_sum_like,
        Accumulated,
        collapse_sum
    ),
];

/// Checks that the target broadcasts to the data. It may have fewer axes, and each of its axes has the same length or
/// length 1.
fn broadcasts(cx: &mut Cx, target: &TensorDims, data: &TensorStructInfo) -> Result<(), InferError> {
    Domain::Numbers.demand(data.dtype)?;
    let from = TensorDims::of(data);
    if let (Some(rank), Some(wanted)) = (from.rank(), target.rank())
        && wanted > rank
    {
        return Err(InferError::op(format!("rank {rank} cannot be collapsed to rank {wanted}")));
    }
    let (TensorDims::Known(from), TensorDims::Known(target)) = (&from, target) else { return Ok(()) };
    let mut wrong =
        |size: &PrimExpr, wanted: &PrimExpr| differ(cx, wanted, &PrimExpr::IntImm(1)) && differ(cx, wanted, size);
    match from.iter().rev().zip(target.iter().rev()).find(|(size, wanted)| wrong(size, wanted)) {
        Some((size, wanted)) => Err(InferError::op(format!("the dimension {size} cannot be collapsed to {wanted}"))),
        None => Ok(()),
    }
}

fn infer_collapse_sum_to(cx: &mut Cx, a: &InferArgs<'_>) -> Result<StructInfo, InferError> {
    arity::<2>(a)?;
    let (data, target) = (tensor(a, 0)?, TensorDims::of_shape(shape(a, 1)?));
    broadcasts(cx, &target, data)?;
    of_shape_arg(a, 1, data.dtype)
}

fn infer_collapse_sum_like(cx: &mut Cx, a: &InferArgs<'_>) -> Result<StructInfo, InferError> {
    arity::<2>(a)?;
    let (data, target) = (tensor(a, 0)?, tensor(a, 1)?);
    broadcasts(cx, &TensorDims::of(target), data)?;
    Ok(with_dtype(target, data.dtype))
}

/// The sum over the axes that are missing in the result and over those with length 1 there.
fn collapse_sum(m: &mut dyn Host, a: &EvalArgs<'_>) -> Result<Value, Stop> {
    let x = kernel::tensor(a, 0)?;
    let target = kernel::out(a)?.shape;
    let skipped = x.shape().len().saturating_sub(target.len());
    let kept = |i: usize| i.checked_sub(skipped).and_then(|i| target.get(i)).is_some_and(|size| *size != 1);
    let inner: Vec<i64> = x.shape().iter().enumerate().map(|(i, size)| if kept(i) { 1 } else { *size }).collect();
    let _held = beside(m, count(&inner))?;
    m.spend(x.len() as u64)?;
    tabulate_out(m, a, |index| {
        let base: Vec<i64> = vec![0; skipped].into_iter().chain(index.iter().copied()).collect();
        sum(&within(x, &base, &inner)?, x.dtype())
    })
}
