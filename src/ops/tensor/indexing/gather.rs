//! Gathering elements by tensors of indices: `gather_elements`, `gather_nd`, `index_tensor`.

use crate::book::Erratum;
use crate::grammar::{BinaryOp, DataType, PrimExpr, StructInfo};
use crate::judge::Cx;
use crate::ops::infer::{
    TensorDims, arity, at_least, axis, broadcast_all, differ, dim, given_int, held_by_all, of_held, tensor, tensors,
};
use crate::ops::kernel::{self, at, at_broadcast, fail, tabulate_out};
use crate::ops::{Attr, EvalArgs, InferArgs, InferError, OpDef, OpParam};
use crate::value::{Host, Scalar, Stop, Tensor, Value};

pub(in crate::ops) const OPS: &[OpDef] = &[
    operator!(
        "gather_elements",
        [rule!("OPS.gather_elements.infer"), rule!("OPS.gather_elements.value"), rule!("OPS.gather_elements.attrs")],
        [OpParam::Arg("data"), OpParam::Arg("indices"), OpParam::Attr(Attr::int("axis", 0))],
        infer_gather_elements,
        Exact,
        gather_elements
    ),
    operator!(
        "gather_nd",
        [rule!("OPS.gather_nd.infer"), rule!("OPS.gather_nd.value"), rule!("OPS.gather_nd.attrs")],
        [OpParam::Arg("data"), OpParam::Arg("indices"), OpParam::Attr(Attr::int("batch_dims", 0))],
        infer_gather_nd,
        Exact,
        gather_nd
    ),
    operator!(
        "index_tensor",
        [rule!("OPS.index_tensor.infer"), rule!("OPS.index_tensor.value")],
        [OpParam::Arg("data"), OpParam::Arg("indices")],
        infer_index_tensor,
        Exact,
        index_tensor
    ),
];

/// Checks that indices are integers, or have an unknown data type.
pub(in crate::ops) fn integer_indices(dtype: DataType) -> Result<(), InferError> {
    if dtype.is_float() || dtype.is_bool() {
        return Err(InferError::op(format!("the indices must be integers, they are {dtype}")));
    }
    Ok(())
}

/// An index as a coordinate along an axis of the given size. An index outside the axis is unspecified.
pub(in crate::ops) fn coordinate(index: Scalar, size: i64) -> Result<i64, Stop> {
    let index = integer(index)?;
    if (0..size).contains(&index) {
        return Ok(index);
    }
    Err(Stop::unspecified(format!("the index {index} lies outside of an axis of size {size}")))
}

/// An index as a coordinate. A negative one may count from the end; for each operator this is an erratum.
pub(in crate::ops) fn counted(index: Scalar, size: i64, from_the_end: bool) -> Result<i64, Stop> {
    coordinate(if from_the_end { from_end(index, size)? } else { index }, size)
}

pub(in crate::ops) fn integer(index: Scalar) -> Result<i64, Stop> {
    match index {
        Scalar::Int(i) => Ok(i),
        Scalar::UInt(i) => Ok(i64::try_from(i).unwrap_or(i64::MAX)),
        Scalar::Bool(_) | Scalar::Float(_) | Scalar::Ring(_) => Err(fail("the indices must be integers")),
    }
}

// gather_elements

fn infer_gather_elements(_: &mut Cx, a: &InferArgs<'_>) -> Result<StructInfo, InferError> {
    arity::<2>(a)?;
    let (data, indices) = (tensor(a, 0)?, tensor(a, 1)?);
    integer_indices(indices.dtype)?;
    let (from, by) = (TensorDims::of(data), TensorDims::of(indices));
    if let Some(rank) = from.rank() {
        axis(given_int(a.call, "axis")?, rank)?;
    }
    let dims = match (from.rank(), by.rank()) {
        (Some(rank), Some(other)) if rank != other => {
            return Err(InferError::op(format!("the data has rank {rank}, the indices {other}")));
        }
        (Some(_), Some(_)) => by,
        (None, _) | (_, None) => TensorDims::Unknown,
    };
    if let (TensorDims::Known(from), TensorDims::Known(by)) = (&from, &dims) {
        let along = axis(given_int(a.call, "axis")?, from.len())?;
        no_larger(by, from, along)?;
    }
    let held = held_by_all([indices]).filter(|_| dims.rank().is_some());
    Ok(of_held(held, dims, data.dtype))
}

/// Checks that the indices are not larger than the data along the other axes.
fn no_larger(by: &[PrimExpr], from: &[PrimExpr], along: usize) -> Result<(), InferError> {
    let more = |by: &PrimExpr, from: &PrimExpr| at_least(&dim(BinaryOp::Sub, by.clone(), from.clone()), 1);
    match by.iter().zip(from).enumerate().find(|(i, (by, from))| *i != along && more(by, from)) {
        Some((i, (by, from))) => {
            Err(InferError::op(format!("the indices have {by} places along axis {i}, the data {from}")))
        }
        None => Ok(()),
    }
}

/// `out[.., i, ..] = data[.., indices[.., i, ..], ..]`
fn gather_elements(m: &mut dyn Host, a: &EvalArgs<'_>) -> Result<Value, Stop> {
    let (data, indices) = (kernel::tensor(a, 0)?, kernel::tensor(a, 1)?);
    let along = axis(given_int(a.call, "axis")?, data.shape().len())?;
    let size = data.shape().get(along).copied().unwrap_or(0);
    let from_the_end = !m.cx().literal(Erratum::A61);
    tabulate_out(m, a, |index| {
        let mut place = index.to_vec();
        if let Some(slot) = place.get_mut(along) {
            *slot = counted(at(indices, index)?, size, from_the_end)?;
        }
        at(data, &place)
    })
}

// gather_nd

/// The number of leading dimensions that data and indices share.
fn batch_dims(a: i64, rank: Option<usize>) -> Result<usize, InferError> {
    let batch = usize::try_from(a).ok().filter(|batch| rank.is_none_or(|rank| *batch < rank));
    batch.ok_or_else(|| InferError::op(format!("{a} leading dimensions cannot be shared")))
}

fn infer_gather_nd(cx: &mut Cx, a: &InferArgs<'_>) -> Result<StructInfo, InferError> {
    arity::<2>(a)?;
    let (data, indices) = (tensor(a, 0)?, tensor(a, 1)?);
    integer_indices(indices.dtype)?;
    let (from, by) = (TensorDims::of(data), TensorDims::of(indices));
    let batch = batch_dims(given_int(a.call, "batch_dims")?, from.rank())?;
    if by.rank() == Some(0) {
        return Err(InferError::op("the indices need a last dimension, of coordinates"));
    }
    if by.rank().is_some_and(|rank| rank <= batch) {
        return Err(InferError::op("the indices lack the shared dimensions"));
    }
    if let (TensorDims::Known(from), TensorDims::Known(by)) = (&from, &by)
        && let Some((x, y)) = from.iter().zip(by.iter()).take(batch).find(|(x, y)| differ(cx, x, y))
    {
        return Err(InferError::op(format!("the shared dimensions {x} and {y} differ")));
    }
    let dims = match (&from, &by) {
        (from, TensorDims::Known(by)) => match (from.rank(), by.split_last()) {
            (Some(rank), Some((PrimExpr::IntImm(count), outer))) => {
                let first = usize::try_from(*count).ok().map(|count| batch + count).filter(|first| *first <= rank);
                let first = first.ok_or_else(|| InferError::op(format!("{count} coordinates for rank {rank}")))?;
                match from {
                    TensorDims::Known(from) => {
                        outer.iter().chain(from.iter().skip(first)).cloned().collect::<Vec<_>>().into()
                    }
                    TensorDims::Rank(_) | TensorDims::Unknown => TensorDims::of_rank(outer.len() + rank - first),
                }
            }
            (Some(_) | None, _) => TensorDims::Unknown,
        },
        (_, TensorDims::Rank(_) | TensorDims::Unknown) => TensorDims::Unknown,
    };
    Ok(dims.tensor(data.dtype))
}

/// `out[b.., i.., r..] = data[b.., indices[b.., i.., 0], .., indices[b.., i.., k - 1], r..]`
fn gather_nd(m: &mut dyn Host, a: &EvalArgs<'_>) -> Result<Value, Stop> {
    let (data, indices) = (kernel::tensor(a, 0)?, kernel::tensor(a, 1)?);
    let rank = data.shape().len();
    let batch = batch_dims(given_int(a.call, "batch_dims")?, Some(rank))?;
    let outer = indices.shape().len().saturating_sub(1);
    let from_the_end = !m.cx().literal(Erratum::A61);
    tabulate_out(m, a, |index| {
        let (outer, rest) = index.split_at(outer.min(index.len()));
        let shared = outer.get(..batch).ok_or_else(|| fail("the indices lack the shared dimensions"))?;
        at(data, &[shared, &coordinates(data, indices, outer, batch, from_the_end)?, rest].concat())
    })
}

/// The coordinates in a row of indices, along the axes from `first` on.
pub(in crate::ops) fn coordinates(
    data: &Tensor,
    indices: &Tensor,
    row: &[i64],
    first: usize,
    from_the_end: bool,
) -> Result<Vec<i64>, Stop> {
    let count = indices.shape().last().copied().unwrap_or(0);
    let sizes = data.shape().iter().skip(first);
    (0..count).zip(sizes).map(|(k, size)| counted(at(indices, &[row, &[k]].concat())?, *size, from_the_end)).collect()
}

// index_tensor

fn infer_index_tensor(_: &mut Cx, a: &InferArgs<'_>) -> Result<StructInfo, InferError> {
    arity::<2>(a)?;
    let (data, indices) = (tensor(a, 0)?, tensors(a, 1)?);
    let from = TensorDims::of(data);
    if indices.is_empty() || from.rank().is_some_and(|rank| indices.len() > rank) {
        return Err(InferError::op(format!("{} tensors of indices for rank {}", indices.len(), data.ndim)));
    }
    indices.iter().try_for_each(|index| integer_indices(index.dtype))?;
    let places = broadcast_all(&indices.iter().map(|index| TensorDims::of(index)).collect::<Vec<TensorDims>>())?;
    let dims = match (places, &from) {
        (TensorDims::Known(places), TensorDims::Known(from)) => {
            places.iter().chain(from.iter().skip(indices.len())).cloned().collect::<Vec<_>>().into()
        }
        (TensorDims::Known(places), TensorDims::Rank(rank)) => {
            TensorDims::of_rank(places.len() + *rank as usize - indices.len())
        }
        (
            TensorDims::Known(_) | TensorDims::Rank(_) | TensorDims::Unknown,
            TensorDims::Known(_) | TensorDims::Rank(_) | TensorDims::Unknown,
        ) => TensorDims::Unknown,
    };
    Ok(dims.tensor(data.dtype))
}

/// The indices are broadcast to a common shape and give coordinates along the first axes.
fn index_tensor(m: &mut dyn Host, a: &EvalArgs<'_>) -> Result<Value, Stop> {
    let (data, indices) = (kernel::tensor(a, 0)?, kernel::tensors(a, 1)?);
    // The axes without indices come after them.
    let rest = data.shape().len().saturating_sub(indices.len());
    tabulate_out(m, a, |index| {
        let (place, rest) = index.split_at(index.len().saturating_sub(rest));
        let axes = indices.iter().zip(data.shape());
        // Negative indices count from the end.
        let chosen = axes.map(|(index, size)| coordinate(from_end(at_broadcast(index, place)?, *size)?, *size));
        at(data, &[&chosen.collect::<Result<Vec<i64>, Stop>>()?, rest].concat())
    })
}

pub(in crate::ops) fn from_end(index: Scalar, size: i64) -> Result<Scalar, Stop> {
    let index = integer(index)?;
    Ok(Scalar::Int(if index < 0 { index.saturating_add(size) } else { index }))
}
