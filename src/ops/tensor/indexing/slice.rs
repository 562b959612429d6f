//! Choosing elements: `take`, `strided_slice`, `dynamic_strided_slice`.

use crate::grammar::{AttrValue, BinaryOp, DataType, PrimExpr, StructInfo};
use crate::judge::Cx;
use crate::ops::infer::{
    Dims, arity, axes, axis, bool_attr, constant, dim, int_attr, ints_attr, str_attr, tensor, with_attrs,
};
use crate::ops::kernel::{self, at, fail, fresh, tabulate, tabulate_out};
use crate::ops::tensor::indexing::gather::{coordinate, integer};
use crate::ops::{Attr, AttrKind, EvalArgs, InferArgs, InferError, OpDef, Param, attr};
use crate::value::{Host, Scalar, Stop, Tensor, Value};

pub(in crate::ops) const OPS: &[OpDef] = &[
    operator!(
        "take",
        [rule!("OPS.take.infer"), rule!("OPS.take.value"), rule!("OPS.take.attrs")],
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
        [rule!("OPS.strided_slice.infer"), rule!("OPS.strided_slice.value"), rule!("OPS.strided_slice.attrs")],
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
    operator!(
        "dynamic_strided_slice",
        [rule!("OPS.dynamic_strided_slice.infer"), rule!("OPS.dynamic_strided_slice.value")],
        [Param::Arg("x"), Param::Arg("begin"), Param::Arg("end"), Param::Arg("strides")],
        infer_dynamic_strided_slice,
        Exact,
        dynamic_strided_slice
    ),
];

// take

/// The dimension at the axis is replaced by the dimensions of the indices.
fn infer_take(_: &mut Cx, a: &InferArgs<'_>) -> Result<StructInfo, InferError> {
    arity::<2>(a)?;
    let x = tensor(a, 0)?;
    let (dtype, by) = match a.args.get(1) {
        // A boxed integer is one index.
        Some(StructInfo::Prim(p)) => (p.dtype, Dims::Known([].into())),
        Some(_) | None => tensor(a, 1).map(|indices| (indices.dtype, Dims::of(indices)))?,
    };
    if dtype.is_float() || dtype.is_bool() {
        return Err(InferError::op(format!("the indices must be integers, they are {dtype}")));
    }
    let given = int_attr(a.call, "axis")?;
    let from = Dims::of(x);
    let along = match (given, from.rank()) {
        (Some(given), Some(rank)) => Some(axis(given, rank)?),
        (None, Some(1)) => Some(0),
        (None, Some(_) | None) => return Err(InferError::op("an axis is needed where the rank is not known to be 1")),
        (Some(_), None) => None,
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

/// `out[.., j.., ..] = x[.., indices[j..], ..]`; `mode` says what becomes of an index outside.
fn take(m: &mut dyn Host, a: &EvalArgs<'_>) -> Result<Value, Stop> {
    let x = kernel::tensor(a, 0)?;
    let boxed = match a.values.get(1) {
        Some(Value::Prim(prim)) => Some(kernel::from_list(prim.dtype, &[], &[prim.value])?),
        Some(_) | None => None,
    };
    let indices = match &boxed {
        Some(index) => index,
        None => kernel::tensor(a, 1)?,
    };
    let along = match int_attr(a.call, "axis")? {
        Some(given) => axis(given, x.shape().len())?,
        None => 0,
    };
    let size = x.shape().get(along).copied().unwrap_or(0);
    let inner = along + indices.shape().len();
    let mode = str_attr(a.call, "mode")?;
    tabulate_out(m, a, |index| {
        let (head, tail) = index.split_at(inner.min(index.len()));
        let (head, place) = head.split_at(along.min(head.len()));
        match chosen(at(indices, place)?, size, mode)? {
            Some(chosen) => at(x, &[head, &[chosen], tail].concat()),
            None if x.dtype().is_bool() => Err(Stop::unspecified("NaN as a Boolean")),
            None => Ok(Scalar::Float(f64::NAN)),
        }
    })
}

/// The coordinate that an index chooses; `None` for NaN.
fn chosen(index: Scalar, size: i64, mode: &str) -> Result<Option<i64>, Stop> {
    let index = integer(index)?;
    match mode {
        "wrap" if size > 0 => Ok(Some(index.rem_euclid(size))),
        "clip" if size > 0 => Ok(Some(index.clamp(0, size - 1))),
        "nan" if !(-size..size).contains(&index) => Ok(None),
        "nan" => Ok(Some(if index < 0 { index + size } else { index })),
        _ => coordinate(Scalar::Int(index), size).map(Some),
    }
}

// strided_slice

/// The lists of a slice, as immediates of the call.
fn slice_attr(a: &InferArgs<'_>, name: &str) -> Result<Option<Vec<PrimExpr>>, InferError> {
    let call = with_attrs(a.call, 1, &["axes", "begin", "end", "strides"]);
    match attr(&call, name) {
        Some(AttrValue::List(items)) => items.iter().map(|item| bound(name, item)).collect::<Result<_, _>>().map(Some),
        Some(single) => Ok(Some(vec![bound(name, single)?])),
        None => Ok(None),
    }
}

fn bound(name: &str, item: &AttrValue) -> Result<PrimExpr, InferError> {
    match item {
        AttrValue::Int(i) => Ok(constant(*i)),
        AttrValue::Prim(dim) => Ok(dim.clone()),
        AttrValue::None
        | AttrValue::Bool(_)
        | AttrValue::Float(_)
        | AttrValue::Str(_)
        | AttrValue::DataType(_)
        | AttrValue::List(_)
        | AttrValue::Dict(_)
        | AttrValue::StructInfo(_) => Err(InferError::op(format!("`{name}` must list integers: {item:?}"))),
    }
}

fn infer_strided_slice(_: &mut Cx, a: &InferArgs<'_>) -> Result<StructInfo, InferError> {
    let x = tensor(a, 0)?;
    let dims = Dims::of(x);
    let (Some(along), Some(begin), Some(end)) =
        (slice_attr(a, "axes")?, slice_attr(a, "begin")?, slice_attr(a, "end")?)
    else {
        return Ok(Dims::of_ndim(dims.ndim()).tensor(x.dtype));
    };
    let strides = slice_attr(a, "strides")?.unwrap_or_else(|| vec![constant(1); along.len()]);
    if begin.len() != along.len() || end.len() != along.len() || strides.len() != along.len() {
        return Err(InferError::op("axes, begin, end and strides differ in length"));
    }
    let Dims::Known(known) = &dims else { return Ok(Dims::of_ndim(dims.ndim()).tensor(x.dtype)) };
    let along: Option<Vec<i64>> =
        along.iter().map(|a| if let PrimExpr::IntImm(a) = a { Some(*a) } else { None }).collect();
    let along = axes(&along.ok_or_else(|| InferError::op("the axes must be constants"))?, known.len())?;
    let inbound = bool_attr(a.call, "assume_inbound")?;
    let mut sliced = known.to_vec();
    for (((axis, begin), end), stride) in along.iter().zip(&begin).zip(&end).zip(&strides) {
        let Some(size) = sliced.get_mut(*axis) else { continue };
        match slice_length(size, begin, end, stride, inbound)? {
            Some(length) => *size = length,
            None => return Ok(Dims::of_ndim(dims.ndim()).tensor(x.dtype)),
        }
    }
    Ok(Dims::from(sliced).tensor(x.dtype))
}

/// The number of places that a slice chooses; `None` if its stride is not a constant.
fn slice_length(
    size: &PrimExpr,
    begin: &PrimExpr,
    end: &PrimExpr,
    stride: &PrimExpr,
    inbound: bool,
) -> Result<Option<PrimExpr>, InferError> {
    let PrimExpr::IntImm(stride) = stride else { return Ok(None) };
    if let (PrimExpr::IntImm(size), PrimExpr::IntImm(begin), PrimExpr::IntImm(end)) = (size, begin, end) {
        return Ok(Some(constant(range(*size, *begin, *end, *stride)?.count)));
    }
    let step = stride.checked_abs().filter(|step| *step > 0);
    let step = step.ok_or_else(|| InferError::op(format!("the stride {stride} is not possible")))?;
    let place = |bound: &PrimExpr| if inbound { from_end(bound, size) } else { clipped(bound, size, *stride) };
    let (begin_at, end_at) = (place(begin), place(end));
    let (low, high) = if *stride > 0 { (begin_at, end_at) } else { (end_at, begin_at) };
    let reached = dim(BinaryOp::Add, dim(BinaryOp::Sub, high, low), constant(step - 1));
    let length = if step == 1 { reached } else { dim(BinaryOp::FloorDiv, reached, constant(step)) };
    let least = if inbound || in_order(begin, end, *stride) { length } else { dim(BinaryOp::Max, length, constant(0)) };
    Ok(Some(least))
}

/// Whether a slice between clipped bounds cannot have a negative length: bounds that are counted from one side, in order,
/// or the beginning of the axis.
fn in_order(begin: &PrimExpr, end: &PrimExpr, stride: i64) -> bool {
    match (begin, end) {
        (PrimExpr::IntImm(begin), PrimExpr::IntImm(end)) => {
            (*begin < 0) == (*end < 0) && if stride > 0 { begin <= end } else { begin >= end }
                || *begin == 0 && stride > 0
        }
        (begin, _) => *begin == constant(0) && stride > 0,
    }
}

/// A negative constant counts from the end.
fn from_end(bound: &PrimExpr, size: &PrimExpr) -> PrimExpr {
    match bound {
        PrimExpr::IntImm(i) if *i < 0 => dim(BinaryOp::Add, size.clone(), bound.clone()),
        PrimExpr::Var(_) | PrimExpr::IntImm(_) | PrimExpr::Binary(..) | PrimExpr::Not(_) | PrimExpr::Select(..) => {
            bound.clone()
        }
    }
}

/// A bound of a slice, moved to the nearest place on the axis, or beside it where a slice ends there.
fn clipped(bound: &PrimExpr, size: &PrimExpr, stride: i64) -> PrimExpr {
    let (low, high) = if stride > 0 {
        (constant(0), size.clone())
    } else {
        (constant(-1), dim(BinaryOp::Sub, size.clone(), constant(1)))
    };
    let place = from_end(bound, size);
    let raised = match bound {
        PrimExpr::IntImm(i) if *i >= 0 => place,
        PrimExpr::Var(_) => place,
        PrimExpr::IntImm(_) | PrimExpr::Binary(..) | PrimExpr::Not(_) | PrimExpr::Select(..) => {
            PrimExpr::binary(BinaryOp::Max, place, low)
        }
    };
    match raised {
        PrimExpr::IntImm(0) if stride > 0 => constant(0),
        raised if raised == high => high,
        raised => PrimExpr::binary(BinaryOp::Min, raised, high),
    }
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

fn strided_slice(m: &mut dyn Host, a: &EvalArgs<'_>) -> Result<Value, Stop> {
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
    sliced(m, x, &ranges)
}

/// The elements at the places of a range along each axis.
fn sliced(m: &mut dyn Host, x: &Tensor, ranges: &[Range]) -> Result<Value, Stop> {
    let shape: Vec<i64> = ranges.iter().map(|range| range.count).collect();
    fresh(tabulate(m, x.dtype(), &shape, |index| {
        let place: Vec<i64> = index.iter().zip(ranges).map(|(i, range)| range.begin + i * range.stride).collect();
        at(x, &place)
    })?)
}

// dynamic_strided_slice

/// The bounds are tensors, so that only the rank is known.
fn infer_dynamic_strided_slice(_: &mut Cx, a: &InferArgs<'_>) -> Result<StructInfo, InferError> {
    arity::<4>(a)?;
    let x = tensor(a, 0)?;
    for i in 1..4 {
        let bounds = tensor(a, i)?;
        if !bounds.dtype.is_void() && bounds.dtype != DataType::INT64 {
            return Err(InferError::op(format!("the bounds must be int64, they are {}", bounds.dtype)));
        }
        match (Dims::of(bounds), Dims::of(x).rank()) {
            (Dims::Known(dims), rank) if is_one_for_each(&dims, rank) => {}
            (Dims::Known(_) | Dims::Rank(_) | Dims::Unknown, _) => {
                return Err(InferError::op("the bounds must be known to be as many as there are axes"));
            }
        }
    }
    Ok(Dims::of_ndim(Dims::of(x).ndim()).tensor(x.dtype))
}

fn is_one_for_each(dims: &[PrimExpr], rank: Option<usize>) -> bool {
    match dims {
        [PrimExpr::IntImm(count)] => rank.is_none_or(|rank| usize::try_from(*count) == Ok(rank)),
        _ => false,
    }
}

fn dynamic_strided_slice(m: &mut dyn Host, a: &EvalArgs<'_>) -> Result<Value, Stop> {
    let x = kernel::tensor(a, 0)?;
    let list = |i: usize| {
        let bounds = kernel::tensor(a, i)?;
        (0..bounds.len()).filter_map(|i| bounds.get(i)).map(integer).collect::<Result<Vec<i64>, Stop>>()
    };
    let (begin, end, strides) = (list(1)?, list(2)?, list(3)?);
    if begin.iter().chain(&end).any(|bound| *bound < 0) {
        return Err(Stop::unspecified("a negative bound of dynamic_strided_slice"));
    }
    if [&begin, &end, &strides].iter().any(|list| list.len() != x.shape().len()) {
        return Err(fail("the bounds must be as many as there are axes"));
    }
    let bounds = x.shape().iter().zip(begin).zip(end).zip(strides);
    let ranges = bounds.map(|(((size, begin), end), stride)| range(*size, begin, end, stride));
    sliced(m, x, &ranges.collect::<Result<Vec<Range>, InferError>>()?)
}
