//! Selecting elements: `take`, `strided_slice`, `dynamic_strided_slice`.

use crate::book::Erratum;
use crate::grammar::{AttrValue, BinaryOp, DataType, Expr, PrimExpr, StructInfo};
use crate::judge::Cx;
use crate::ops::infer::{
    Domain, TensorDims, arity, at_least, axes, axis, bool_attr, constant, dim, int_attr, ints_attr, not_negative,
    str_attr, tensor,
};
use crate::ops::kernel::{self, at, fail, fresh, tabulate, tabulate_out};
use crate::ops::tensor::indexing::gather::{counted, integer, integer_indices};
use crate::ops::{Attr, AttrKind, EvalArgs, InferArgs, InferError, OpDef, OpParam, attr};
use crate::value::{Host, Scalar, Stop, Tensor, Value};

pub(in crate::ops) const OPS: &[OpDef] = &[
    operator!(
        "take",
        [rule!("OPS.take.infer"), rule!("OPS.take.value"), rule!("OPS.take.attrs")],
        [
            OpParam::Arg("x"),
            OpParam::Arg("indices"),
            OpParam::Attr(Attr::optional("axis", AttrKind::Int)),
            OpParam::Attr(Attr::str("mode", &["fast", "wrap", "clip", "nan"], "fast"))
        ],
        infer_take,
        Exact,
        take
    ),
    operator!(
        "strided_slice",
        [rule!("OPS.strided_slice.infer"), rule!("OPS.strided_slice.value"), rule!("OPS.strided_slice.attrs")],
        [
            OpParam::Arg("x"),
            OpParam::Arg("axes"),
            OpParam::Arg("begin"),
            OpParam::Arg("end"),
            OpParam::OptionalArg("strides"),
            OpParam::Attr(Attr::bool("assume_inbound", false)),
        ],
        infer_strided_slice,
        Exact,
        strided_slice
    ),
    operator!(
        "dynamic_strided_slice",
        [rule!("OPS.dynamic_strided_slice.infer"), rule!("OPS.dynamic_strided_slice.value")],
        [OpParam::Arg("x"), OpParam::Arg("begin"), OpParam::Arg("end"), OpParam::Arg("strides")],
        infer_dynamic_strided_slice,
        Exact,
        dynamic_strided_slice
    ),
];

// take

/// Replaces the dimension at the axis by the dimensions of the indices.
pub(in crate::ops) fn infer_take(_: &mut Cx, a: &InferArgs<'_>) -> Result<StructInfo, InferError> {
    arity::<2>(a)?;
    let x = tensor(a, 0)?;
    let (dtype, by) = match a.args.get(1) {
        // A boxed integer is a single index.
        Some(StructInfo::Prim(p)) => (p.dtype, TensorDims::Known([].into())),
        Some(_) | None => tensor(a, 1).map(|indices| (indices.dtype, TensorDims::of(indices)))?,
    };
    integer_indices(dtype)?;
    let given = int_attr(a.call, "axis")?;
    let from = TensorDims::of(x);
    let along = match (given, from.rank()) {
        (Some(given), Some(rank)) => Some(axis(given, rank)?),
        (None, Some(1)) => Some(0),
        (None, Some(_) | None) => return Err(InferError::op("an axis is needed where the rank is not known to be 1")),
        (Some(_), None) => None,
    };
    let dims = match (&from, &by, along) {
        (TensorDims::Known(from), TensorDims::Known(by), Some(along)) => {
            let (before, after) = (from.iter().take(along), from.iter().skip(along + 1));
            before.chain(by.iter()).chain(after).cloned().collect::<Vec<PrimExpr>>().into()
        }
        (
            TensorDims::Known(_) | TensorDims::Rank(_) | TensorDims::Unknown,
            TensorDims::Known(_) | TensorDims::Rank(_) | TensorDims::Unknown,
            _,
        ) => match (from.rank(), by.rank()) {
            (Some(from), Some(by)) => TensorDims::of_rank((from + by).saturating_sub(1)),
            (None, _) | (_, None) => TensorDims::Unknown,
        },
    };
    Ok(dims.tensor(x.dtype))
}

/// `out[.., j.., ..] = x[.., indices[j..], ..]`. `mode` defines the treatment of an index outside the axis.
fn take(m: &mut dyn Host, a: &EvalArgs<'_>) -> Result<Value, Stop> {
    let x = kernel::tensor(a, 0)?;
    let boxed = match a.values.get(1) {
        Some(Value::Prim(prim)) => Some(kernel::from_list(m, prim.dtype, &[], &[prim.value])?),
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
    let from_the_end = !m.cx().literal(Erratum::A60);
    tabulate_out(m, a, |index| {
        let (head, tail) = index.split_at(inner.min(index.len()));
        let (head, place) = head.split_at(along.min(head.len()));
        match chosen(at(indices, place)?, size, mode, from_the_end)? {
            Some(chosen) => at(x, &[head, &[chosen], tail].concat()),
            None if x.dtype().is_bool() => Err(Stop::unspecified("NaN as a Boolean")),
            None => Ok(Scalar::Float(f64::NAN)),
        }
    })
}

/// The coordinate that an index selects; `None` means NaN.
pub(in crate::ops) fn chosen(index: Scalar, size: i64, mode: &str, from_the_end: bool) -> Result<Option<i64>, Stop> {
    if let ("wrap", 1..) = (mode, size) {
        return wrapped(index, size).map(Some);
    }
    let index = integer(index)?;
    match mode {
        "clip" if size > 0 => Ok(Some(index.clamp(0, size - 1))),
        "nan" if from_the_end && (-size..0).contains(&index) => Ok(Some(index + size)),
        "nan" => Ok(Some(index).filter(|index| (0..size).contains(index))),
        _ => counted(Scalar::Int(index), size, from_the_end).map(Some),
    }
}

/// An index modulo a size, which must be positive.
fn wrapped(index: Scalar, size: i64) -> Result<i64, Stop> {
    match index {
        Scalar::UInt(index) => Ok((index % size.unsigned_abs()) as i64),
        Scalar::Int(_) | Scalar::Bool(_) | Scalar::Float(_) | Scalar::Ring(_) => Ok(integer(index)?.rem_euclid(size)),
    }
}

// strided_slice

/// A list of numbers, some of which may be unknown.
type IndexList = Vec<Option<PrimExpr>>;

/// One of the lists of a slice: an argument, or the attribute with its name. `None` if the argument may be a list but
/// its contents are unknown.
fn list(a: &InferArgs<'_>, i: usize, name: &str) -> Result<Option<IndexList>, InferError> {
    let wrong = |found: &dyn std::fmt::Display| {
        InferError::op(format!("`{name}` must be a tuple of boxed integers, it is {found}"))
    };
    match a.args.get(i) {
        None => slice_attr(a, name),
        Some(StructInfo::Object) => Ok(None),
        Some(StructInfo::Shape(shape)) => {
            Ok(shape.values.as_ref().map(|values| values.iter().cloned().map(Some).collect()))
        }
        Some(StructInfo::Tuple(infos)) => {
            let literal =
                |j: usize| if let Some(Expr::Tuple(tuple)) = a.call.args.get(i) { tuple.fields.get(j) } else { None };
            let number = |(j, info): (usize, &StructInfo)| boxed(literal(j), info).ok_or_else(|| wrong(info));
            infos.iter().enumerate().map(number).collect::<Result<IndexList, InferError>>().map(Some)
        }
        Some(other @ (StructInfo::Tensor(_) | StructInfo::Prim(_) | StructInfo::Func(_))) => Err(wrong(other)),
    }
}

/// The value of a boxed integer, if it is known. `None` if it is not a boxed integer.
fn boxed(expr: Option<&Expr>, info: &StructInfo) -> Option<Option<PrimExpr>> {
    if matches!(info, StructInfo::Object) {
        Some(None)
    } else if let StructInfo::Prim(prim) = info
        && Domain::Integers.demand(prim.dtype).is_ok()
    {
        Some(match expr {
            Some(Expr::PrimValue(literal)) => Some(literal.value.clone()),
            Some(_) | None => prim.value.clone(),
        })
    } else {
        None
    }
}

fn slice_attr(a: &InferArgs<'_>, name: &str) -> Result<Option<IndexList>, InferError> {
    match attr(a.call, name) {
        Some(AttrValue::List(items)) => items.iter().map(|item| bound(name, item)).collect::<Result<_, _>>().map(Some),
        Some(single) => Ok(Some(vec![bound(name, single)?])),
        None => Ok(None),
    }
}

fn bound(name: &str, item: &AttrValue) -> Result<Option<PrimExpr>, InferError> {
    if let AttrValue::Int(i) = item {
        Ok(Some(constant(*i)))
    } else if let AttrValue::Prim(dim) = item {
        Ok(Some(dim.clone()))
    } else {
        Err(InferError::op(format!("`{name}` must list integers: {item}")))
    }
}

fn infer_strided_slice(cx: &mut Cx, a: &InferArgs<'_>) -> Result<StructInfo, InferError> {
    let x = tensor(a, 0)?;
    let dims = TensorDims::of(x);
    let rank_only = || Ok(TensorDims::of_ndim(dims.ndim()).tensor(x.dtype));
    let (along, begin) = (list(a, 1, "axes")?, list(a, 2, "begin")?);
    let (end, strides) = (list(a, 3, "end")?, list(a, 4, "strides")?);
    let lengths: Vec<usize> = [&along, &begin, &end, &strides].into_iter().flatten().map(Vec::len).collect();
    if lengths.iter().any(|length| lengths.first() != Some(length)) {
        return Err(InferError::op("axes, begin, end and strides differ in length"));
    }
    for stride in strides.iter().flatten().flatten() {
        if *stride == constant(0) || *stride == constant(i64::MIN) {
            return Err(InferError::op(format!("the stride {stride} is not possible")));
        }
    }
    let Some(along) = along else { return rank_only() };
    let along: Option<Vec<i64>> =
        along.iter().map(|a| if let Some(PrimExpr::IntImm(a)) = a { Some(*a) } else { None }).collect();
    let along = along.ok_or_else(|| InferError::op("the axes must be constants"))?;
    let along = dims.rank().map(|rank| axes(&along, rank)).transpose()?;
    let one = vec![Some(constant(1)); along.as_ref().map_or(0, Vec::len)];
    let strides = if a.args.len() > 4 { strides } else { Some(strides.unwrap_or(one)) };
    let (TensorDims::Known(known), Some(along), Some(begin), Some(end), Some(strides)) =
        (&dims, along, begin, end, strides)
    else {
        return rank_only();
    };
    let bounds = Bounds { inbound: bool_attr(a.call, "assume_inbound")?, from_the_end: !cx.literal(Erratum::A64) };
    let mut sliced = known.to_vec();
    for (((axis, begin), end), stride) in along.iter().zip(&begin).zip(&end).zip(&strides) {
        let Some(size) = sliced.get_mut(*axis) else { continue };
        let (Some(begin), Some(end), Some(stride)) = (begin, end, stride) else { return rank_only() };
        match slice_length(size, begin, end, stride, bounds)? {
            Some(length) => *size = length,
            None => return rank_only(),
        }
    }
    Ok(TensorDims::from(sliced).tensor(x.dtype))
}

/// The interpretation of the bounds of a slice.
#[derive(Clone, Copy)]
struct Bounds {
    /// Whether they are promised to be on the axis.
    inbound: bool,
    /// Whether negative bounds count from the end. Literal A64: they are outside.
    from_the_end: bool,
}

/// The number of positions that a slice selects. `None` if its stride is not a constant, or if the sign of a bound is
/// unknown.
fn slice_length(
    size: &PrimExpr,
    begin: &PrimExpr,
    end: &PrimExpr,
    stride: &PrimExpr,
    bounds: Bounds,
) -> Result<Option<PrimExpr>, InferError> {
    let PrimExpr::IntImm(stride) = stride else { return Ok(None) };
    if let (PrimExpr::IntImm(size), PrimExpr::IntImm(begin), PrimExpr::IntImm(end)) = (size, begin, end) {
        return Ok(Some(constant(range(*size, *begin, *end, *stride, bounds.from_the_end)?.count)));
    }
    let step = stride.checked_abs().filter(|step| *step > 0);
    let step = step.ok_or_else(|| InferError::op(format!("the stride {stride} is not possible")))?;
    let named = |bound: &PrimExpr| if bounds.from_the_end { from_end(bound, size) } else { Some(bound.clone()) };
    let (Some(begin), Some(end)) = (named(begin), named(end)) else { return Ok(None) };
    let place = |place: PrimExpr| if bounds.inbound { place } else { clipped(place, size, *stride) };
    let (begin, end) = (place(begin), place(end));
    let (low, high) = if *stride > 0 { (begin, end) } else { (end, begin) };
    let length = divided_up(dim(BinaryOp::Sub, high, low), step);
    Ok(Some(if not_negative(&length) { length } else { dim(BinaryOp::Max, length, constant(0)) }))
}

/// A length divided by a step and rounded up. For a very large step the usual formula could overflow an int64.
fn divided_up(length: PrimExpr, step: i64) -> PrimExpr {
    match step {
        1 => length,
        2..=0x7fff_ffff => dim(BinaryOp::FloorDiv, dim(BinaryOp::Add, length, constant(step - 1)), constant(step)),
        _ => {
            let before_last = dim(BinaryOp::Sub, length, constant(1));
            dim(BinaryOp::Add, dim(BinaryOp::FloorDiv, before_last, constant(step)), constant(1))
        }
    }
}

/// The position that a bound denotes. A negative one counts from the end. `None` if its sign is unknown.
fn from_end(bound: &PrimExpr, size: &PrimExpr) -> Option<PrimExpr> {
    if not_negative(bound) {
        return Some(bound.clone());
    }
    let below = dim(BinaryOp::Sub, constant(-1), bound.clone());
    not_negative(&below).then(|| dim(BinaryOp::Add, size.clone(), bound.clone()))
}

/// A position moved to the nearest one on the axis, or next to the axis if a slice can end there.
fn clipped(place: PrimExpr, size: &PrimExpr, stride: i64) -> PrimExpr {
    let (low, high) = if stride > 0 { (0, size.clone()) } else { (-1, dim(BinaryOp::Sub, size.clone(), constant(1))) };
    let raised = if at_least(&place, low) { place } else { PrimExpr::binary(BinaryOp::Max, place, constant(low)) };
    let below = dim(BinaryOp::Sub, high.clone(), raised.clone());
    if not_negative(&below) { raised } else { PrimExpr::binary(BinaryOp::Min, raised, high) }
}

/// The positions along an axis that a slice selects.
struct SliceRange {
    begin: i64,
    stride: i64,
    count: i64,
}

/// From `begin` to `end`. Negative bounds may count from the end, and both are clipped to the axis.
fn range(size: i64, begin: i64, end: i64, stride: i64, from_the_end: bool) -> Result<SliceRange, InferError> {
    // An annotation may state a negative size. Such an axis has no elements.
    let size = size.max(0);
    let (low, high) = if stride > 0 { (0, size) } else { (-1, size - 1) };
    let clip = |i: i64| place_of(i, size, from_the_end).clamp(low, high);
    let (begin, end) = (clip(begin), clip(end));
    let length = if stride > 0 { end - begin } else { begin - end };
    let step = stride.checked_abs().filter(|step| *step > 0);
    let step = step.ok_or_else(|| InferError::op(format!("the stride {stride} is not possible")))?;
    let count = if length > 0 { (length - 1) / step + 1 } else { 0 };
    Ok(SliceRange { begin, stride, count })
}

/// The position that a bound denotes, on the axis or outside.
fn place_of(bound: i64, size: i64, from_the_end: bool) -> i64 {
    if bound < 0 && from_the_end { bound.saturating_add(size) } else { bound }
}

/// Whether a position is on the axis, or next to it if a slice can end there.
fn reaches(size: i64, place: i64, stride: i64) -> bool {
    if stride > 0 { (0..=size).contains(&place) } else { (-1..size).contains(&place) }
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
    let bounds = Bounds { inbound: bool_attr(a.call, "assume_inbound")?, from_the_end: !m.cx().literal(Erratum::A64) };
    let mut ranges: Vec<SliceRange> =
        x.shape().iter().map(|size| SliceRange { begin: 0, stride: 1, count: *size }).collect();
    for (((a, begin), end), stride) in along.iter().zip(begin).zip(end).zip(strides) {
        let a = axis(*a, x.shape().len())?;
        if let (Some(slot), Some(size)) = (ranges.get_mut(a), x.shape().get(a)) {
            let outside = |bound| !reaches(*size, place_of(bound, *size, bounds.from_the_end), stride);
            if bounds.inbound && (outside(begin) || outside(end)) {
                return Err(Stop::unspecified("a bound that is promised to lie on its axis lies outside"));
            }
            *slot = range(*size, begin, end, stride, bounds.from_the_end)?;
        }
    }
    sliced(m, x, &ranges)
}

/// The elements at the selected positions along each axis.
fn sliced(m: &mut dyn Host, x: &Tensor, ranges: &[SliceRange]) -> Result<Value, Stop> {
    let shape: Vec<i64> = ranges.iter().map(|range| range.count).collect();
    fresh(tabulate(m, x.dtype(), &shape, |index| {
        let place: Vec<i64> = index.iter().zip(ranges).map(|(i, range)| range.begin + i * range.stride).collect();
        at(x, &place)
    })?)
}

// dynamic_strided_slice

/// The bounds are tensors, so only the rank is known.
fn infer_dynamic_strided_slice(_: &mut Cx, a: &InferArgs<'_>) -> Result<StructInfo, InferError> {
    arity::<4>(a)?;
    let x = tensor(a, 0)?;
    for i in 1..4 {
        let bounds = tensor(a, i)?;
        if !bounds.dtype.is_void() && bounds.dtype != DataType::INT64 {
            return Err(InferError::op(format!("the bounds must be int64, they are {}", bounds.dtype)));
        }
        match (TensorDims::of(bounds), TensorDims::of(x).rank()) {
            (TensorDims::Known(dims), rank) if is_one_for_each(&dims, rank) => {}
            (TensorDims::Known(_) | TensorDims::Rank(_) | TensorDims::Unknown, _) => {
                return Err(InferError::op("the bounds must be known to be as many as there are axes"));
            }
        }
    }
    Ok(TensorDims::of_ndim(TensorDims::of(x).ndim()).tensor(x.dtype))
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
    if begin.iter().chain(&end).any(|bound| *bound < 0) && m.cx().literal(Erratum::A64) {
        return Err(Stop::unspecified("a negative bound of dynamic_strided_slice"));
    }
    if [&begin, &end, &strides].iter().any(|list| list.len() != x.shape().len()) {
        return Err(fail("the bounds must be as many as there are axes"));
    }
    let bounds = x.shape().iter().zip(begin).zip(end).zip(strides);
    let ranges = bounds.map(|(((size, begin), end), stride)| range(*size, begin, end, stride, true));
    sliced(m, x, &ranges.collect::<Result<Vec<SliceRange>, InferError>>()?)
}
