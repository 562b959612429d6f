//! Choosing elements: `take`, `strided_slice`.

use super::infer::{Dims, axis, int_attr, ints_attr, tensor, with_attrs};
use super::kernel::{self, at, fail, fresh, tabulate};
use super::{Attr, AttrKind, EvalArgs, InferArgs, InferError, OpDef, Param, attr};
use crate::cx::Cx;
use crate::eval::tensor::Scalar;
use crate::eval::{Machine, Stop, Value};
use crate::grammar::{AttrValue, PrimExpr, StructInfo};
use crate::rule::Rule;

pub(super) const OPS: &[OpDef] = &[
    operator!(
        "take",
        [Rule::OpsTakeInfer, Rule::OpsTakeValue, Rule::OpsTakeAttrs],
        [
            Param::Arg("x"),
            Param::Arg("indices"),
            Param::Attr(Attr::optional("axis", AttrKind::Int)),
            Param::Attr(Attr::str("mode", &["fast", "wrap", "clip", "nan"], "fast"))
        ],
        infer_take,
        Exact,
        take
    ),
    operator!(
        "strided_slice",
        [Rule::OpsStridedSliceInfer, Rule::OpsStridedSliceValue, Rule::OpsStridedSliceAttrs],
        [
            Param::Arg("x"),
            Param::Arg("axes"),
            Param::Arg("begin"),
            Param::Arg("end"),
            Param::OptionalArg("strides"),
            Param::Attr(Attr::bool("assume_inbound", false)),
        ],
        infer_strided_slice,
        Exact,
        strided_slice
    ),
];

// take

/// The dimension at the axis is replaced by the dimensions of the indices.
fn infer_take(_: &mut Cx, a: &InferArgs<'_>) -> Result<StructInfo, InferError> {
    let (x, indices) = (tensor(a, 0)?, tensor(a, 1)?);
    if indices.dtype.is_float() {
        return Err(InferError::op(format!("the indices must be integers, they are {}", indices.dtype)));
    }
    let given = int_attr(a.call, "axis")?;
    let (from, by) = (Dims::of(x), Dims::of(indices));
    let along = match (given, from.rank()) {
        (Some(given), Some(rank)) => Some(axis(given, rank)?),
        (None, Some(1)) => Some(0),
        (None, Some(rank)) => return Err(InferError::op(format!("an axis is needed for rank {rank}"))),
        (Some(_) | None, None) => None,
    };
    let dims = match (&from, &by, along) {
        (Dims::Known(from), Dims::Known(by), Some(along)) => {
            let (before, after) = (from.iter().take(along), from.iter().skip(along + 1));
            before.chain(by.iter()).chain(after).cloned().collect::<Vec<PrimExpr>>().into()
        }
        (Dims::Known(_) | Dims::Rank(_) | Dims::Unknown, Dims::Known(_) | Dims::Rank(_) | Dims::Unknown, _) => {
            match (from.rank(), by.rank()) {
                (Some(from), Some(by)) => Dims::of_rank((from + by).saturating_sub(1)),
                (None, _) | (_, None) => Dims::Unknown,
            }
        }
    };
    Ok(dims.tensor(x.dtype))
}

/// `out[.., j.., ..] = x[.., indices[j..], ..]`; an index outside is an error.
fn take(m: &mut Machine<'_>, a: &EvalArgs<'_>) -> Result<Value, Stop> {
    let (x, indices) = (kernel::tensor(a, 0)?, kernel::tensor(a, 1)?);
    let along = match int_attr(a.call, "axis")? {
        Some(given) => axis(given, x.shape().len())?,
        None if x.shape().len() == 1 => 0,
        None => return Err(fail(format!("an axis is needed for rank {}", x.shape().len()))),
    };
    let size = x.shape().get(along).copied().unwrap_or(0);
    let (before, after) = (x.shape().iter().take(along), x.shape().iter().skip(along + 1));
    let shape: Vec<i64> = before.chain(indices.shape()).chain(after).copied().collect();
    let inner = along + indices.shape().len();
    fresh(tabulate(m, x.dtype(), &shape, |index| {
        let (head, tail) = index.split_at(inner.min(index.len()));
        let (head, place) = head.split_at(along.min(head.len()));
        let chosen = match at(indices, place)? {
            Scalar::Int(i) if i < 0 => i.saturating_add(size),
            Scalar::Int(i) => i,
            Scalar::UInt(i) => i64::try_from(i).unwrap_or(i64::MAX),
            Scalar::Bool(_) | Scalar::Float(_) => return Err(fail("the indices must be integers")),
        };
        at(x, &[head, &[chosen], tail].concat())
    })?)
}

// strided_slice

/// The lists of a slice, as immediates of the call.
fn slice_attr(a: &InferArgs<'_>, name: &str) -> Result<Option<Vec<i64>>, InferError> {
    let call = with_attrs(a.call, 1, &["axes", "begin", "end", "strides"]);
    match attr(&call, name) {
        // A bound that is not a constant is known only when the program runs.
        Some(AttrValue::List(items)) if items.iter().any(is_symbolic) => Ok(None),
        Some(_) => ints_attr(&call, name),
        None => Ok(None),
    }
}

fn is_symbolic(item: &AttrValue) -> bool {
    matches!(item, AttrValue::Prim(PrimExpr::Var(_) | PrimExpr::Binary(..) | PrimExpr::Not(_) | PrimExpr::Select(..)))
}

fn infer_strided_slice(_: &mut Cx, a: &InferArgs<'_>) -> Result<StructInfo, InferError> {
    let x = tensor(a, 0)?;
    let dims = Dims::of(x);
    let (Some(along), Some(begin), Some(end)) =
        (slice_attr(a, "axes")?, slice_attr(a, "begin")?, slice_attr(a, "end")?)
    else {
        return Ok(Dims::of_ndim(dims.ndim()).tensor(x.dtype));
    };
    let strides = slice_attr(a, "strides")?.unwrap_or_else(|| vec![1; along.len()]);
    if begin.len() != along.len() || end.len() != along.len() || strides.len() != along.len() {
        return Err(InferError::op("axes, begin, end and strides differ in length"));
    }
    let Dims::Known(known) = &dims else { return Ok(Dims::of_ndim(dims.ndim()).tensor(x.dtype)) };
    let mut sliced = known.to_vec();
    for (((a, begin), end), stride) in along.iter().zip(begin).zip(end).zip(strides) {
        match sliced.get_mut(axis(*a, known.len())?) {
            Some(PrimExpr::IntImm(size)) => *size = range(*size, begin, end, stride)?.count,
            // The size of a slice of a symbolic dimension depends on where its bounds are clipped.
            Some(_) | None => return Ok(Dims::of_ndim(dims.ndim()).tensor(x.dtype)),
        }
    }
    Ok(Dims::from(sliced).tensor(x.dtype))
}

/// The places along an axis that a slice chooses.
struct Range {
    begin: i64,
    stride: i64,
    count: i64,
}

/// From `begin` to `end`, which count from the end if negative and are clipped to the axis.
fn range(size: i64, begin: i64, end: i64, stride: i64) -> Result<Range, InferError> {
    let (low, high) = if stride > 0 { (0, size) } else { (-1, size - 1) };
    let clip = |i: i64| if i < 0 { i.saturating_add(size) } else { i }.clamp(low, high);
    let (begin, end) = (clip(begin), clip(end));
    let length = if stride > 0 { end - begin } else { begin - end };
    let step = stride.checked_abs().filter(|step| *step > 0);
    let step = step.ok_or_else(|| InferError::op(format!("the stride {stride} is not possible")))?;
    let count = if length > 0 { (length - 1) / step + 1 } else { 0 };
    Ok(Range { begin, stride, count })
}

fn strided_slice(m: &mut Machine<'_>, a: &EvalArgs<'_>) -> Result<Value, Stop> {
    let x = kernel::tensor(a, 0)?;
    let list = |i: usize, name: &str| match a.values.get(i) {
        Some(value) => kernel::ints(value).map(Some),
        None => Ok(ints_attr(a.call, name)?),
    };
    let missing = || fail("strided_slice needs axes, begin and end");
    let along = list(1, "axes")?.ok_or_else(missing)?;
    let (begin, end) = (list(2, "begin")?.ok_or_else(missing)?, list(3, "end")?.ok_or_else(missing)?);
    let strides = list(4, "strides")?.unwrap_or_else(|| vec![1; along.len()]);
    let mut ranges: Vec<Range> = x.shape().iter().map(|size| Range { begin: 0, stride: 1, count: *size }).collect();
    for (((a, begin), end), stride) in along.iter().zip(begin).zip(end).zip(strides) {
        let a = axis(*a, x.shape().len())?;
        if let (Some(slot), Some(size)) = (ranges.get_mut(a), x.shape().get(a)) {
            *slot = range(*size, begin, end, stride)?;
        }
    }
    let shape: Vec<i64> = ranges.iter().map(|range| range.count).collect();
    fresh(tabulate(m, x.dtype(), &shape, |index| {
        let place: Vec<i64> = index.iter().zip(&ranges).map(|(i, range)| range.begin + i * range.stride).collect();
        at(x, &place)
    })?)
}
