//! Padding and rearranging: `nn.pad`, `nn.pixel_shuffle`, `nn.batch_flatten`, `meshgrid`.

use crate::grammar::{BinaryOp, Call, PrimExpr, StructInfo};
use crate::judge::Cx;
use crate::ops::infer::{
    TensorDims, arity, common_dtypes, constant, dim, float_attr, given_ints, indivisible, int_attr, of_shape_of,
    product, str_attr, tensor, tensors,
};
use crate::ops::kernel::{self, at, convert, fail, fresh, tabulate, tabulate_out};
use crate::ops::{Attr, AttrKind, EvalArgs, InferArgs, InferError, OpDef, OpParam};
use crate::value::{Host, Scalar, Stop, Value};

pub(in crate::ops) const OPS: &[OpDef] = &[
    operator!(
        "nn.pad",
        [rule!("OPS.nn.pad.infer"), rule!("OPS.nn.pad.value"), rule!("OPS.nn.pad.attrs")],
        [
            OpParam::Arg("data"),
            OpParam::Attr(Attr::required("pad_width", AttrKind::Ints)),
            OpParam::Attr(Attr::str("pad_mode", &["constant", "reflect", "replicate", "circular"], "constant")),
            OpParam::Attr(Attr::float("pad_value", 0.0))
        ],
        infer_pad,
        Exact,
        pad
    ),
    operator!(
        "nn.pixel_shuffle",
        [rule!("OPS.nn.pixel_shuffle.infer"), rule!("OPS.nn.pixel_shuffle.value"), rule!("OPS.nn.pixel_shuffle.attrs")],
        [OpParam::Arg("data"), OpParam::Attr(Attr::required("upscale_factor", AttrKind::Int))],
        infer_pixel_shuffle,
        Exact,
        pixel_shuffle
    ),
    operator!(
        "nn.batch_flatten",
        [rule!("OPS.nn.batch_flatten.infer"), rule!("OPS.nn.batch_flatten.value")],
        [OpParam::Arg("data")],
        infer_batch_flatten,
        Exact,
        batch_flatten
    ),
    operator!(
        "meshgrid",
        [rule!("OPS.meshgrid.infer"), rule!("OPS.meshgrid.value"), rule!("OPS.meshgrid.attrs")],
        [OpParam::Arg("tensors"), OpParam::Attr(Attr::str("indexing", &["ij", "xy"], "ij"))],
        infer_meshgrid,
        Exact,
        meshgrid
    ),
];

// pad

/// The padding before and after each axis.
fn widths(call: &Call, rank: usize) -> Result<Vec<(i64, i64)>, InferError> {
    let given = given_ints(call, "pad_width")?;
    if given.len() != 2 * rank {
        return Err(InferError::op(format!("{} widths do not fit rank {rank}", given.len())));
    }
    Ok(given.iter().step_by(2).copied().zip(given.iter().skip(1).step_by(2).copied()).collect())
}

fn infer_pad(_: &mut Cx, a: &InferArgs<'_>) -> Result<StructInfo, InferError> {
    arity::<1>(a)?;
    let x = tensor(a, 0)?;
    let dims = TensorDims::of(x);
    let rank = dims.rank().ok_or_else(|| InferError::op("the rank of what is padded must be known"))?;
    let widths = widths(a.call, rank)?;
    let dims = match dims {
        TensorDims::Known(dims) => {
            let padded = |(size, (before, after)): (&PrimExpr, &(i64, i64))| {
                dim(BinaryOp::Add, size.clone(), constant(before.saturating_add(*after)))
            };
            dims.iter().zip(&widths).map(padded).collect::<Vec<_>>().into()
        }
        TensorDims::Rank(_) | TensorDims::Unknown => dims,
    };
    Ok(dims.tensor(x.dtype))
}

fn pad(m: &mut dyn Host, a: &EvalArgs<'_>) -> Result<Value, Stop> {
    let x = kernel::tensor(a, 0)?;
    let widths = widths(a.call, x.shape().len())?;
    let mode = str_attr(a.call, "pad_mode")?;
    let fill = convert(Scalar::Float(float_attr(a.call, "pad_value")?), x.dtype())?;
    tabulate_out(m, a, |index| {
        let places = index.iter().zip(&widths).zip(x.shape());
        let source: Vec<i64> =
            places.map(|((i, (before, _)), size)| source(i.saturating_sub(*before), *size, mode)).collect();
        match source.iter().zip(x.shape()).all(|(i, size)| (0..*size).contains(i)) {
            true => at(x, &source),
            false if mode == "constant" => Ok(fill),
            false => Err(Stop::unspecified(format!("`{mode}` reaches beyond what it repeats"))),
        }
    })
}

/// The source coordinate for a position before, in or after an axis.
fn source(i: i64, size: i64, mode: &str) -> i64 {
    match mode {
        "reflect" if i < 0 => i.saturating_neg(),
        "reflect" if i >= size => (2 * (size - 1)).saturating_sub(i),
        "replicate" => i.clamp(0, (size - 1).max(0)),
        "circular" if size > 0 => i.rem_euclid(size),
        _ => i,
    }
}

// pixel_shuffle

fn factor(call: &Call) -> Result<i64, InferError> {
    match int_attr(call, "upscale_factor")? {
        Some(factor) if factor > 0 && factor.checked_mul(factor).is_none() => {
            Err(InferError::limit(format!("the square of {factor} is no number of 64 bits")))
        }
        Some(factor) if factor > 0 => Ok(factor),
        Some(_) | None => Err(InferError::op("the factor must be positive")),
    }
}

fn infer_pixel_shuffle(cx: &mut Cx, a: &InferArgs<'_>) -> Result<StructInfo, InferError> {
    arity::<1>(a)?;
    let x = tensor(a, 0)?;
    let factor = factor(a.call)?;
    let dims = match TensorDims::of(x) {
        TensorDims::Known(dims) if dims.len() >= 3 => shuffled(cx, &dims, factor)?.into(),
        TensorDims::Rank(rank) if rank >= 3 => TensorDims::Rank(rank),
        TensorDims::Known(_) | TensorDims::Rank(_) | TensorDims::Unknown => {
            return Err(InferError::op("the data must be known to have channels, rows and columns"));
        }
    };
    Ok(dims.tensor(x.dtype))
}

fn shuffled(cx: &mut Cx, dims: &[PrimExpr], factor: i64) -> Result<Vec<PrimExpr>, InferError> {
    let [outer @ .., channels, rows, columns] = dims else { return Ok(dims.to_vec()) };
    if indivisible(cx, channels, factor * factor) {
        return Err(InferError::op(format!("{channels} channels do not make squares of {factor} by {factor}")));
    }
    let scaled = |size: &PrimExpr| dim(BinaryOp::Mul, size.clone(), constant(factor));
    let left = dim(BinaryOp::FloorDiv, channels.clone(), constant(factor * factor));
    Ok(outer.iter().cloned().chain([left, scaled(rows), scaled(columns)]).collect())
}

/// `out[.., c, h * r + i, w * r + j] = data[.., (c * r + i) * r + j, h, w]`
fn pixel_shuffle(m: &mut dyn Host, a: &EvalArgs<'_>) -> Result<Value, Stop> {
    let x = kernel::tensor(a, 0)?;
    let r = factor(a.call)?;
    tabulate_out(m, a, |index| {
        let [outer @ .., c, h, w] = index else { return Err(fail("an index is too short")) };
        at(x, &[outer, &[(c * r + h % r) * r + w % r, h / r, w / r]].concat())
    })
}

// batch_flatten

fn infer_batch_flatten(_: &mut Cx, a: &InferArgs<'_>) -> Result<StructInfo, InferError> {
    arity::<1>(a)?;
    let x = tensor(a, 0)?;
    let dims = match TensorDims::of(x) {
        TensorDims::Known(dims) => match dims.split_first() {
            Some((batch, rest)) if !rest.is_empty() => vec![batch.clone(), product(rest)].into(),
            Some(_) | None => return Err(InferError::op("the data has no axis beside the batch")),
        },
        TensorDims::Rank(0 | 1) => return Err(InferError::op("the data has no axis beside the batch")),
        TensorDims::Rank(2) => return Ok(of_shape_of(x, x.dtype)),
        TensorDims::Rank(_) | TensorDims::Unknown => TensorDims::of_rank(2),
    };
    Ok(dims.tensor(x.dtype))
}

fn batch_flatten(m: &mut dyn Host, a: &EvalArgs<'_>) -> Result<Value, Stop> {
    kernel::in_shape_of_out(m, a, kernel::tensor(a, 0)?)
}

// meshgrid

/// With `xy` the first two axes of the result are swapped.
fn swapped<T>(call: &Call, mut axes: Vec<T>) -> Result<Vec<T>, InferError> {
    if str_attr(call, "indexing")? == "xy" && axes.len() > 1 {
        axes.swap(0, 1);
    }
    Ok(axes)
}

fn infer_meshgrid(_: &mut Cx, a: &InferArgs<'_>) -> Result<StructInfo, InferError> {
    arity::<1>(a)?;
    let parts = tensors(a, 0)?;
    if parts.is_empty() {
        return Err(InferError::op("there is no tensor"));
    }
    common_dtypes(parts.iter().map(|part| part.dtype))?;
    let mut sizes = Some(Vec::new());
    for part in &parts {
        match (TensorDims::of(part), &mut sizes) {
            (TensorDims::Known(dims), Some(sizes)) if dims.len() == 1 => sizes.extend(dims.iter().cloned()),
            (dims, sizes) if dims.rank() == Some(1) => *sizes = None,
            (_, _) => return Err(InferError::op("each tensor must have one dimension")),
        }
    }
    let dims = match sizes {
        Some(sizes) => TensorDims::from(swapped(a.call, sizes)?),
        None => TensorDims::of_rank(parts.len()),
    };
    Ok(StructInfo::tuple(parts.iter().map(|part| dims.clone().tensor(part.dtype))))
}

/// The i-th result has the elements of the i-th tensor along the i-th axis, repeated along the others.
fn meshgrid(m: &mut dyn Host, a: &EvalArgs<'_>) -> Result<Value, Stop> {
    let parts = kernel::tensors(a, 0)?;
    let sizes: Vec<i64> = parts.iter().flat_map(|part| part.shape()).copied().collect();
    let axes = swapped(a.call, (0..parts.len()).collect())?;
    let shape = swapped(a.call, sizes)?;
    let mut grids = Vec::new();
    for (part, along) in parts.iter().zip(&axes) {
        let element = |index: &[i64]| at(part, &[index.get(*along).copied().unwrap_or(0)]);
        grids.push(fresh(tabulate(m, part.dtype(), &shape, element)?)?);
    }
    Ok(Value::tuple(grids))
}
