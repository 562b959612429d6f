//! Operators that move elements without changing them: `reshape`, `flatten`, `permute_dims`, `expand_dims`, `squeeze`,
//! `concat`, `split`.

use crate::grammar::{AttrValue, BinaryOp, Call, PrimExpr, StructInfo};
use crate::judge::Cx;
use crate::ops::infer::{
    TensorDims, alike, arity, axes, axis, common_dtypes, differ, dim, given_int, held_by_all, int_attr, ints_attr,
    of_held, of_shape_arg, of_shape_of, product, shape, tensor, tensors,
};
use crate::ops::kernel::slices::{self, Run, row_major, runs_of};
use crate::ops::kernel::{self, at, fail, fresh, tabulate, tabulate_out};
use crate::ops::{Attr, AttrKind, EvalArgs, InferArgs, InferError, OpDef, OpParam, attr};
use crate::value::{Host, Scalar, Stop, Tensor, Value, count};

pub(in crate::ops) const OPS: &[OpDef] = &[
    operator!(
        "reshape",
        [rule!("OPS.reshape.infer"), rule!("OPS.reshape.value")],
        [OpParam::Arg("x"), OpParam::ShapeArg("shape")],
        infer_reshape,
        Exact,
        in_another_shape
    ),
    operator!(
        "flatten",
        [rule!("OPS.flatten.infer"), rule!("OPS.flatten.value")],
        [OpParam::Arg("x")],
        infer_flatten,
        Exact,
        in_another_shape
    ),
    operator!(
        "permute_dims",
        [rule!("OPS.permute_dims.infer"), rule!("OPS.permute_dims.value"), rule!("OPS.permute_dims.attrs")],
        [OpParam::Arg("x"), OpParam::Attr(Attr::optional("axes", AttrKind::Ints))],
        infer_permute_dims,
        Exact,
        permute_dims
    ),
    operator!(
        "expand_dims",
        [rule!("OPS.expand_dims.infer"), rule!("OPS.expand_dims.value"), rule!("OPS.expand_dims.attrs")],
        [OpParam::Arg("x"), OpParam::Attr(Attr::required("axis", AttrKind::Ints))],
        infer_expand_dims,
        Exact,
        in_another_shape
    ),
    operator!(
        "squeeze",
        [rule!("OPS.squeeze.infer"), rule!("OPS.squeeze.value"), rule!("OPS.squeeze.attrs")],
        [OpParam::Arg("x"), OpParam::Attr(Attr::optional("axis", AttrKind::Ints))],
        infer_squeeze,
        Exact,
        in_another_shape
    ),
    operator!(
        "concat",
        [rule!("OPS.concat.infer"), rule!("OPS.concat.value"), rule!("OPS.concat.attrs")],
        [OpParam::Arg("tensors"), OpParam::Attr(Attr::int_or_none("axis", 0))],
        infer_concat,
        Exact,
        concat
    ),
    operator!(
        "split",
        [rule!("OPS.split.infer"), rule!("OPS.split.value"), rule!("OPS.split.attrs")],
        [
            OpParam::Arg("x"),
            OpParam::Attr(Attr::required("indices_or_sections", AttrKind::Any)),
            OpParam::Attr(Attr::int("axis", 0))
        ],
        infer_split,
        Exact,
        split
    ),
];

/// The same elements in the shape of the result.
fn in_another_shape(m: &mut dyn Host, a: &EvalArgs<'_>) -> Result<Value, Stop> {
    kernel::in_shape_of_out(m, a, kernel::tensor(a, 0)?)
}

// reshape, flatten

fn infer_reshape(cx: &mut Cx, a: &InferArgs<'_>) -> Result<StructInfo, InferError> {
    arity::<2>(a)?;
    let (x, target) = (tensor(a, 0)?, TensorDims::of_shape(shape(a, 1)?));
    if let (TensorDims::Known(from), TensorDims::Known(to)) = (TensorDims::of(x), &target)
        && let (n, m) = (product(from.iter()), product(to.iter()))
        && differ(cx, &n, &m)
    {
        return Err(InferError::op(format!("{n} elements cannot take a shape of {m}")));
    }
    of_shape_arg(a, 1, x.dtype)
}

fn infer_flatten(_: &mut Cx, a: &InferArgs<'_>) -> Result<StructInfo, InferError> {
    arity::<1>(a)?;
    let x = tensor(a, 0)?;
    let dims = match TensorDims::of(x) {
        TensorDims::Known(dims) => vec![product(dims.iter())].into(),
        TensorDims::Rank(0) => vec![PrimExpr::IntImm(1)].into(),
        TensorDims::Rank(1) => return Ok(of_shape_of(x, x.dtype)),
        TensorDims::Rank(_) | TensorDims::Unknown => TensorDims::of_rank(1),
    };
    Ok(dims.tensor(x.dtype))
}

// permute_dims

/// For each dimension of the result, the dimension of the argument. The default is the reverse order.
fn permutation(call: &Call, rank: usize) -> Result<Vec<usize>, InferError> {
    match ints_attr(call, "axes")? {
        None => Ok((0..rank).rev().collect()),
        Some(given) if given.len() == rank => axes(&given, rank),
        Some(given) => Err(InferError::op(format!("{} axes are given for rank {rank}", given.len()))),
    }
}

fn infer_permute_dims(_: &mut Cx, a: &InferArgs<'_>) -> Result<StructInfo, InferError> {
    arity::<1>(a)?;
    let x = tensor(a, 0)?;
    let dims = match TensorDims::of(x) {
        TensorDims::Known(dims) => {
            let from = permutation(a.call, dims.len())?;
            from.iter().filter_map(|i| dims.get(*i).cloned()).collect::<Vec<_>>().into()
        }
        TensorDims::Rank(rank) => {
            if permutation(a.call, rank as usize)?.iter().enumerate().all(|(i, from)| i == *from) {
                return Ok(of_shape_of(x, x.dtype));
            }
            TensorDims::Rank(rank)
        }
        TensorDims::Unknown => {
            ints_attr(a.call, "axes")?.map_or(TensorDims::Unknown, |axes| TensorDims::of_rank(axes.len()))
        }
    };
    Ok(dims.tensor(x.dtype))
}

/// `out[i_p0, i_p1, ..] = x[i_0, i_1, ..]`.
fn permute_dims(m: &mut dyn Host, a: &EvalArgs<'_>) -> Result<Value, Stop> {
    let x = kernel::tensor(a, 0)?;
    let from = permutation(a.call, x.shape().len())?;
    let (out, own) = (kernel::out(a)?, row_major(x.shape()));
    let strides: Vec<usize> = from.iter().filter_map(|axis| own.get(*axis).copied()).collect();
    if let Some(value) = slices::moved(m, &[x], &out, runs_of(&out.shape, &strides, 0))? {
        return Ok(value);
    }
    tabulate_out(m, a, |index| {
        let mut source = vec![0; index.len()];
        for (i, place) in from.iter().zip(index) {
            if let Some(slot) = source.get_mut(*i) {
                *slot = *place;
            }
        }
        at(x, &source)
    })
}

// expand_dims, squeeze

/// The new axes of the result.
fn new_axes(call: &Call, rank: usize) -> Result<Vec<usize>, InferError> {
    let given = ints_attr(call, "axis")?.ok_or_else(|| InferError::op("the attribute `axis` is missing"))?;
    axes(&given, rank + given.len())
}

/// A shape with 1 inserted at the new axes.
fn expanded<T: Clone>(dims: &[T], new: &[usize], one: &T) -> Vec<T> {
    let mut old = dims.iter();
    (0..dims.len() + new.len()).filter_map(|i| if new.contains(&i) { Some(one) } else { old.next() }).cloned().collect()
}

fn infer_expand_dims(_: &mut Cx, a: &InferArgs<'_>) -> Result<StructInfo, InferError> {
    arity::<1>(a)?;
    let x = tensor(a, 0)?;
    let dims = match TensorDims::of(x) {
        TensorDims::Known(dims) => expanded(&dims, &new_axes(a.call, dims.len())?, &PrimExpr::IntImm(1)).into(),
        TensorDims::Rank(rank) => match new_axes(a.call, rank as usize)?.len() {
            0 => return Ok(of_shape_of(x, x.dtype)),
            more => TensorDims::of_rank(rank as usize + more),
        },
        TensorDims::Unknown => TensorDims::Unknown,
    };
    Ok(dims.tensor(x.dtype))
}

fn infer_squeeze(_: &mut Cx, a: &InferArgs<'_>) -> Result<StructInfo, InferError> {
    arity::<1>(a)?;
    let x = tensor(a, 0)?;
    let given = ints_attr(a.call, "axis")?;
    let dims = match (TensorDims::of(x), given) {
        (TensorDims::Known(dims), Some(given)) => {
            let gone = axes(&given, dims.len())?;
            if let Some(dim) = gone.iter().filter_map(|i| dims.get(*i)).find(|dim| !may_be_one(dim)) {
                return Err(InferError::op(format!("the dimension {dim} is not 1")));
            }
            let left = dims.iter().enumerate().filter(|(i, _)| !gone.contains(i)).map(|(_, dim)| dim.clone());
            left.collect::<Vec<_>>().into()
        }
        // Without axes every dimension of size 1 is removed. The result is known only if all sizes are constants.
        (TensorDims::Known(dims), None) if dims.iter().all(is_constant) => {
            dims.iter().filter(|dim| **dim != PrimExpr::IntImm(1)).cloned().collect::<Vec<_>>().into()
        }
        (TensorDims::Rank(_), Some(given)) if given.is_empty() => return Ok(of_shape_of(x, x.dtype)),
        (TensorDims::Rank(rank), Some(given)) => {
            TensorDims::of_rank(rank as usize - axes(&given, rank as usize)?.len())
        }
        (TensorDims::Known(_) | TensorDims::Rank(_) | TensorDims::Unknown, None) | (TensorDims::Unknown, Some(_)) => {
            TensorDims::Unknown
        }
    };
    Ok(dims.tensor(x.dtype))
}

fn is_constant(dim: &PrimExpr) -> bool {
    matches!(dim, PrimExpr::IntImm(_))
}

fn may_be_one(dim: &PrimExpr) -> bool {
    !is_constant(dim) || *dim == PrimExpr::IntImm(1)
}

// concat

fn infer_concat(cx: &mut Cx, a: &InferArgs<'_>) -> Result<StructInfo, InferError> {
    arity::<1>(a)?;
    let parts = tensors(a, 0)?;
    if parts.is_empty() {
        return Err(InferError::op("nothing to concatenate"));
    }
    let dtype = common_dtypes(parts.iter().map(|part| part.dtype))?;
    let shapes: Vec<TensorDims> = parts.iter().map(|part| TensorDims::of(part)).collect();
    let rank = shapes.iter().find_map(TensorDims::rank);
    let along = rank.map(|rank| joined_axis(a.call, rank)).transpose()?;
    let dims = match (alike(cx, &shapes, along)?, along) {
        (TensorDims::Known(first), Some(along)) => {
            let sizes = shapes
                .iter()
                .filter_map(|dims| if let TensorDims::Known(dims) = dims { dims.get(along) } else { None });
            let total = sizes.cloned().reduce(|sum, size| dim(BinaryOp::Add, sum, size));
            let mut dims = first.to_vec();
            if let (Some(slot), Some(total)) = (dims.get_mut(along), total) {
                *slot = total;
            }
            dims.into()
        }
        // Without an axis all arguments must be vectors.
        (TensorDims::Unknown, _) if int_attr(a.call, "axis")?.is_none() => TensorDims::of_rank(1),
        (dims, _) => dims,
    };
    // A single tensor stays as it is.
    let held = if let [alone] = parts[..] { held_by_all([alone]) } else { None };
    Ok(of_held(held.filter(|_| along.is_some()), dims, dtype))
}

/// The axis along which tensors are concatenated. Without one they must be vectors.
fn joined_axis(call: &Call, rank: usize) -> Result<usize, InferError> {
    match int_attr(call, "axis")? {
        Some(given) => axis(given, rank),
        None if rank == 1 => Ok(0),
        None => Err(InferError::op(format!("tensors of rank {rank} are not joined without an axis"))),
    }
}

fn concat(m: &mut dyn Host, a: &EvalArgs<'_>) -> Result<Value, Stop> {
    let parts = kernel::tensors(a, 0)?;
    let out = kernel::out(a)?;
    let along = joined_axis(a.call, out.shape.len())?;
    m.spend((parts.len() as u64).saturating_mul(count(&out.shape)))?;
    let size_of = |part: &Tensor| part.shape().get(along).copied().unwrap_or(0);
    // The elements from the axis on lie side by side, in each part.
    let beyond = |shape: &[i64]| count(shape.get(along..).unwrap_or_default()) as usize;
    let lengths: Vec<usize> = parts.iter().map(|part| beyond(part.shape())).collect();
    let lines = count(out.shape.get(..along).unwrap_or_default()) as usize;
    let of_line = |line| lengths.iter().enumerate().map(move |(tensor, n)| (tensor, line * n, *n));
    let runs = (0..lines).flat_map(of_line).map(|(tensor, start, count)| Run { tensor, start, step: 1, count });
    if let Some(value) = slices::moved(m, &parts, &out, runs)? {
        return Ok(value);
    }
    fresh(tabulate(m, out.dtype, &out.shape, |index| {
        let mut index = index.to_vec();
        for part in &parts {
            let Some(place) = index.get_mut(along) else { break };
            if *place < size_of(part) {
                return at(part, &index);
            }
            *place -= size_of(part);
        }
        Err::<Scalar, Stop>(fail("an index lies outside its tensor"))
    })?)
}

// split

/// The start and end of each part along an axis of the given size.
fn parts(call: &Call, size: i64) -> Result<Vec<(i64, i64)>, InferError> {
    let bounds: Vec<i64> = match sections(call)? {
        Some(sections) => {
            let step = size.checked_add(sections - 1).map_or(size, |n| n / sections);
            (0..=sections).map(|i| i.saturating_mul(step).min(size)).collect()
        }
        None => {
            let inner = ints_attr(call, "indices_or_sections")?.unwrap_or_default();
            let inner = inner.into_iter().map(|i| if i < 0 { i.saturating_add(size) } else { i }.clamp(0, size.max(0)));
            std::iter::once(0).chain(inner).chain(std::iter::once(size)).collect()
        }
    };
    Ok(bounds.iter().zip(bounds.iter().skip(1)).map(|(begin, end)| (*begin, *end.max(begin))).collect())
}

/// The sizes of the parts along an axis of symbolic size: the distance between adjacent cuts, each clipped to the axis.
///
/// `None` for cuts counted from the end, and for very many parts.
fn symbolic_parts(call: &Call, size: &PrimExpr) -> Result<Option<Vec<PrimExpr>>, InferError> {
    let cuts: Vec<PrimExpr> = match sections(call)? {
        Some(sections) if sections <= MANY_PARTS => {
            let step = dim(BinaryOp::Add, size.clone(), PrimExpr::IntImm(sections - 1));
            let step = dim(BinaryOp::FloorDiv, step, PrimExpr::IntImm(sections));
            (1..sections).map(|i| dim(BinaryOp::Mul, step.clone(), PrimExpr::IntImm(i))).collect()
        }
        Some(_) => return Ok(None),
        None => {
            let cuts = ints_attr(call, "indices_or_sections")?.unwrap_or_default();
            if cuts.iter().any(|cut| *cut < 0) || cuts.len() as i64 > MANY_PARTS {
                return Ok(None);
            }
            cuts.into_iter().map(PrimExpr::IntImm).collect()
        }
    };
    // With equal parts the first cut is always inside the axis.
    let regular = sections(call)?.is_some();
    let inside = |i: usize, cut: &PrimExpr| match i {
        0 if regular => cut.clone(),
        _ => dim(BinaryOp::Min, cut.clone(), size.clone()),
    };
    let cuts: Vec<PrimExpr> = cuts.iter().enumerate().map(|(i, cut)| inside(i, cut)).collect();
    let ends = cuts.iter().chain([size]);
    let starts = std::iter::once(&PrimExpr::IntImm(0)).chain(&cuts);
    let length = |(start, end): (&PrimExpr, &PrimExpr)| {
        let length = dim(BinaryOp::Sub, end.clone(), start.clone());
        if regular || *start == PrimExpr::IntImm(0) { length } else { dim(BinaryOp::Max, length, PrimExpr::IntImm(0)) }
    };
    Ok(Some(starts.zip(ends).map(length).collect()))
}

/// The largest number of parts whose sizes are listed.
const MANY_PARTS: i64 = 64;

/// The largest number of parts for which inference gives a result.
const MAX_PARTS: i64 = 100_000;

/// The number of equal parts, if the attribute is one number; `None` if it lists the cuts.
fn sections(call: &Call) -> Result<Option<i64>, InferError> {
    match attr(call, "indices_or_sections") {
        None => Err(InferError::op("the attribute `indices_or_sections` is missing")),
        Some(AttrValue::List(_)) => Ok(None),
        Some(_) => match int_attr(call, "indices_or_sections")? {
            Some(sections) if sections > 0 => Ok(Some(sections)),
            Some(_) | None => Err(InferError::op("the number of parts must be positive")),
        },
    }
}

fn infer_split(_: &mut Cx, a: &InferArgs<'_>) -> Result<StructInfo, InferError> {
    arity::<1>(a)?;
    let x = tensor(a, 0)?;
    let given = given_int(a.call, "axis")?;
    let dims = TensorDims::of(x);
    let along = dims.rank().map(|rank| axis(given, rank)).transpose()?;
    // An object would be a valid result, but then no field could be taken from the tuple.
    if let Some(sections) = sections(a.call)?
        && sections > MAX_PARTS
    {
        return Err(InferError::limit(format!("{sections} parts are not written down one by one")));
    }
    if let (TensorDims::Known(dims), Some(along)) = (&dims, along)
        && let Some(PrimExpr::IntImm(size)) = dims.get(along)
    {
        let part = |(begin, end): &(i64, i64)| {
            let mut dims = dims.to_vec();
            if let Some(dim) = dims.get_mut(along) {
                *dim = PrimExpr::IntImm(end - begin);
            }
            TensorDims::from(dims).tensor(x.dtype)
        };
        return Ok(StructInfo::tuple(parts(a.call, *size)?.iter().map(part)));
    }
    if let (TensorDims::Known(dims), Some(along)) = (&dims, along)
        && let Some(size) = dims.get(along)
        && let Some(parts) = symbolic_parts(a.call, size)?
    {
        let part = |size: PrimExpr| {
            let mut dims = dims.to_vec();
            if let Some(dim) = dims.get_mut(along) {
                *dim = size;
            }
            TensorDims::from(dims).tensor(x.dtype)
        };
        return Ok(StructInfo::tuple(parts.into_iter().map(part)));
    }
    let count = match sections(a.call)? {
        Some(sections) => usize::try_from(sections).unwrap_or(0),
        None => ints_attr(a.call, "indices_or_sections")?.map_or(1, |cuts| cuts.len() + 1),
    };
    // A single part is the whole tensor.
    let held = held_by_all([x]).filter(|_| count == 1 && along.is_some());
    let part = of_held(held, TensorDims::of_ndim(dims.ndim()), x.dtype);
    Ok(StructInfo::tuple(std::iter::repeat_n(part, count)))
}

fn split(m: &mut dyn Host, a: &EvalArgs<'_>) -> Result<Value, Stop> {
    let x = kernel::tensor(a, 0)?;
    let along = axis(given_int(a.call, "axis")?, x.shape().len())?;
    let size = x.shape().get(along).copied().unwrap_or(0);
    if let Some(sections) = sections(a.call)? {
        // Each part takes memory, even an empty one.
        m.spend(u64::try_from(sections).unwrap_or(u64::MAX))?;
    }
    let mut fields = Vec::new();
    for (begin, end) in parts(a.call, size)? {
        fields.push(kernel::slice(m, x, along, begin, end)?);
    }
    Ok(Value::tuple(fields))
}
