//! `reverse_sequence`.

use crate::grammar::StructInfo;
use crate::judge::Cx;
use crate::ops::infer::{Domain, TensorDims, arity, axis, differ, given_int, tensor};
use crate::ops::kernel::{self, at, tabulate_out};
use crate::ops::tensor::indexing::gather::integer;
use crate::ops::{Attr, EvalArgs, InferArgs, InferError, OpDef, OpParam};
use crate::value::{Host, Stop, Value};

pub(in crate::ops) const OPS: &[OpDef] = &[operator!(
    "reverse_sequence",
    [rule!("OPS.reverse_sequence.infer"), rule!("OPS.reverse_sequence.value"), rule!("OPS.reverse_sequence.attrs")],
    [
        OpParam::Arg("data"),
        OpParam::Arg("seq_lengths"),
        OpParam::Attr(Attr::int("seq_axis", 1)),
        OpParam::Attr(Attr::int("batch_axis", 0)),
    ],
    infer_reverse_sequence,
    Exact,
    reverse_sequence
)];

/// The axis of the sequences and the axis of the batch, which must differ.
fn axes(a: &crate::grammar::Call, rank: usize) -> Result<(usize, usize), InferError> {
    let along = axis(given_int(a, "seq_axis")?, rank)?;
    match axis(given_int(a, "batch_axis")?, rank)? {
        batch if batch == along => Err(InferError::op(format!("axis {along} cannot be both sequence and batch"))),
        batch => Ok((along, batch)),
    }
}

fn infer_reverse_sequence(cx: &mut Cx, a: &InferArgs<'_>) -> Result<StructInfo, InferError> {
    arity::<2>(a)?;
    let (data, lengths) = (tensor(a, 0)?, tensor(a, 1)?);
    Domain::Integers.demand(lengths.dtype)?;
    if let Some(rank) = TensorDims::of(lengths).rank()
        && rank != 1
    {
        return Err(InferError::op(format!("the lengths must be a vector, they have rank {rank}")));
    }
    if let Some(rank) = TensorDims::of(data).rank() {
        let (_, batch) = axes(a.call, rank)?;
        if let (TensorDims::Known(dims), TensorDims::Known(lengths)) = (TensorDims::of(data), TensorDims::of(lengths))
            && let (Some(size), Some(count)) = (dims.get(batch), lengths.first())
            && differ(cx, size, count)
        {
            return Err(InferError::op(format!("{count} lengths do not belong to a batch of {size}")));
        }
    }
    Ok(StructInfo::Tensor(data.clone()))
}

/// Reverses the elements before the length; the others stay.
fn reverse_sequence(m: &mut dyn Host, a: &EvalArgs<'_>) -> Result<Value, Stop> {
    let (data, lengths) = (kernel::tensor(a, 0)?, kernel::tensor(a, 1)?);
    let (along, batch) = axes(a.call, data.shape().len())?;
    let size = data.shape().get(along).copied().unwrap_or(0);
    tabulate_out(m, a, |index| {
        let length = integer(at(lengths, &[index.get(batch).copied().unwrap_or(0)])?)?;
        if !(0..=size).contains(&length) {
            return Err(Stop::unspecified(format!("a sequence of length {length} in an axis of size {size}")));
        }
        let mut place = index.to_vec();
        if let Some(slot) = place.get_mut(along).filter(|slot| **slot < length) {
            *slot = length - 1 - *slot;
        }
        at(data, &place)
    })
}
