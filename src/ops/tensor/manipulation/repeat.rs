//! Operators that repeat or reverse: `tile`, `repeat`, `flip`, `stack`; shapes as tensors.

use crate::grammar::{BinaryOp, Call, DataType, Ndim, PrimExpr, StructInfo};
use crate::judge::Cx;
use crate::ops::infer::{
    TensorDims, alike, arity, axis, common_dtypes, dim, given_int, given_ints, int_attr, of_shape_of, product, shape,
    tensor, tensors,
};
use crate::ops::kernel::{self, at, fail, fresh, tabulate, tabulate_out};
use crate::ops::{Attr, AttrKind, EvalArgs, InferArgs, InferError, OpDef, OpParam};
use crate::value::{Host, Scalar, Stop, Value};

pub(in crate::ops) const OPS: &[OpDef] = &[
    operator!(
        "tile",
        [rule!("OPS.tile.infer"), rule!("OPS.tile.value"), rule!("OPS.tile.attrs")],
        [OpParam::Arg("data"), OpParam::Attr(Attr::required("repeats", AttrKind::Ints))],
        infer_tile,
        Exact,
        tile,
    ),
    operator!(
        "repeat",
        [rule!("OPS.repeat.infer"), rule!("OPS.repeat.value"), rule!("OPS.repeat.attrs")],
        [
            OpParam::Arg("data"),
            OpParam::Attr(Attr::required("repeats", AttrKind::Int)),
            OpParam::Attr(Attr::optional("axis", AttrKind::Int)),
        ],
        infer_repeat,
        Exact,
        repeat,
    ),
    operator!(
        "flip",
        [rule!("OPS.flip.infer"), rule!("OPS.flip.value"), rule!("OPS.flip.attrs")],
        [OpParam::Arg("data"), OpParam::Attr(Attr::required("axis", AttrKind::Int))],
        infer_flip,
        Exact,
        flip,
    ),
    operator!(
        "stack",
        [rule!("OPS.stack.infer"), rule!("OPS.stack.value"), rule!("OPS.stack.attrs")],
        [OpParam::Arg("tensors"), OpParam::Attr(Attr::int("axis", 0))],
        infer_stack,
        Exact,
        stack,
    ),
    operator!(
        "size",
        [rule!("OPS.size.infer"), rule!("OPS.size.value")],
        [OpParam::Arg("expr")],
        infer_size,
        Exact,
        size
    ),
    operator!(
        "shape_to_tensor",
        [rule!("OPS.shape_to_tensor.infer"), rule!("OPS.shape_to_tensor.value")],
        [OpParam::ShapeArg("expr")],
        infer_shape_to_tensor,
        Exact,
        shape_to_tensor
    ),
    operator!(
        "tensor_to_shape",
        [rule!("OPS.tensor_to_shape.infer"), rule!("OPS.tensor_to_shape.value")],
        [OpParam::Arg("expr")],
        infer_tensor_to_shape,
        Exact,
        tensor_to_shape
    ),
];

// tile

fn repeats(call: &Call) -> Result<Vec<i64>, InferError> {
    let given = given_ints(call, "repeats")?;
    match given.iter().find(|times| **times < 0) {
        Some(times) => Err(InferError::op(format!("nothing can be repeated {times} times"))),
        None => Ok(given),
    }
}

/// The shorter of the shape and the list of numbers is extended with 1 at the front.
fn infer_tile(_: &mut Cx, a: &InferArgs<'_>) -> Result<StructInfo, InferError> {
    arity::<1>(a)?;
    let (x, times) = (tensor(a, 0)?, repeats(a.call)?);
    let dims = match TensorDims::of(x) {
        TensorDims::Known(dims) => {
            let rank = dims.len().max(times.len());
            let size = |i: usize| before(&dims, rank, i).cloned().unwrap_or(PrimExpr::IntImm(1));
            let factor = |i: usize| PrimExpr::IntImm(before(&times, rank, i).copied().unwrap_or(1));
            (0..rank).map(|i| dim(BinaryOp::Mul, size(i), factor(i))).collect::<Vec<_>>().into()
        }
        TensorDims::Rank(rank) if times.len() <= rank as usize && times.iter().all(|n| *n == 1) => {
            return Ok(of_shape_of(x, x.dtype));
        }
        TensorDims::Rank(rank) => TensorDims::of_rank((rank as usize).max(times.len())),
        TensorDims::Unknown => TensorDims::Unknown,
    };
    Ok(dims.tensor(x.dtype))
}

/// The entry of a list that is aligned with the end of `rank` positions.
fn before<T>(list: &[T], rank: usize, i: usize) -> Option<&T> {
    (i + list.len()).checked_sub(rank).and_then(|i| list.get(i))
}

fn tile(m: &mut dyn Host, a: &EvalArgs<'_>) -> Result<Value, Stop> {
    let x = kernel::tensor(a, 0)?;
    tabulate_out(m, a, |index| {
        let skipped = index.len().saturating_sub(x.shape().len());
        let place: Vec<i64> =
            index.iter().skip(skipped).zip(x.shape()).map(|(i, size)| i.checked_rem(*size).unwrap_or(0)).collect();
        at(x, &place)
    })
}

// repeat

fn times(call: &Call) -> Result<i64, InferError> {
    let given = int_attr(call, "repeats")?.filter(|times| *times >= 0);
    given.ok_or_else(|| InferError::op("the number of repetitions must not be negative"))
}

/// Without an axis the tensor is flattened.
fn infer_repeat(_: &mut Cx, a: &InferArgs<'_>) -> Result<StructInfo, InferError> {
    arity::<1>(a)?;
    let (x, times) = (tensor(a, 0)?, PrimExpr::IntImm(times(a.call)?));
    let dims = match (int_attr(a.call, "axis")?, TensorDims::of(x)) {
        (Some(given), TensorDims::Known(dims)) => {
            let along = axis(given, dims.len())?;
            let mut dims = dims.to_vec();
            if let Some(size) = dims.get_mut(along) {
                *size = dim(BinaryOp::Mul, size.clone(), times);
            }
            dims.into()
        }
        (Some(given), TensorDims::Rank(rank)) => {
            axis(given, rank as usize)?;
            if times == PrimExpr::IntImm(1) {
                return Ok(of_shape_of(x, x.dtype));
            }
            TensorDims::Rank(rank)
        }
        (Some(_), TensorDims::Unknown) => TensorDims::Unknown,
        (None, TensorDims::Known(dims)) => vec![dim(BinaryOp::Mul, product(dims.iter()), times)].into(),
        (None, TensorDims::Rank(_) | TensorDims::Unknown) => TensorDims::of_rank(1),
    };
    Ok(dims.tensor(x.dtype))
}

fn repeat(m: &mut dyn Host, a: &EvalArgs<'_>) -> Result<Value, Stop> {
    let (x, times) = (kernel::tensor(a, 0)?, times(a.call)?);
    let (source, along) = match int_attr(a.call, "axis")? {
        Some(given) => (x.clone(), axis(given, x.shape().len())?),
        None => (kernel::in_shape(m, x, &[x.len() as i64])?, 0),
    };
    tabulate_out(m, a, |index| {
        let mut place = index.to_vec();
        if let Some(i) = place.get_mut(along) {
            *i = i.checked_div(times).unwrap_or(0);
        }
        at(&source, &place)
    })
}

// flip

fn infer_flip(_: &mut Cx, a: &InferArgs<'_>) -> Result<StructInfo, InferError> {
    arity::<1>(a)?;
    let x = tensor(a, 0)?;
    if let (Some(given), Some(rank)) = (int_attr(a.call, "axis")?, TensorDims::of(x).rank()) {
        axis(given, rank)?;
    }
    Ok(StructInfo::Tensor(x.clone()))
}

fn flip(m: &mut dyn Host, a: &EvalArgs<'_>) -> Result<Value, Stop> {
    let x = kernel::tensor(a, 0)?;
    let along = axis(given_int(a.call, "axis")?, x.shape().len())?;
    fresh(tabulate(m, x.dtype(), x.shape(), |index| {
        let mut place = index.to_vec();
        if let (Some(i), Some(size)) = (place.get_mut(along), x.shape().get(along)) {
            *i = size - 1 - *i;
        }
        at(x, &place)
    })?)
}

// stack

fn infer_stack(cx: &mut Cx, a: &InferArgs<'_>) -> Result<StructInfo, InferError> {
    arity::<1>(a)?;
    let parts = tensors(a, 0)?;
    if parts.is_empty() {
        return Err(InferError::op("nothing to stack"));
    }
    let dtype = common_dtypes(parts.iter().map(|part| part.dtype))?;
    let dims = alike(cx, &parts.iter().map(|part| TensorDims::of(part)).collect::<Vec<TensorDims>>(), None)?;
    let given = given_int(a.call, "axis")?;
    let stacked = match dims {
        TensorDims::Known(dims) => {
            let mut dims = dims.to_vec();
            dims.insert(axis(given, dims.len() + 1)?, PrimExpr::IntImm(parts.len() as i64));
            dims.into()
        }
        TensorDims::Rank(rank) => {
            axis(given, rank as usize + 1)?;
            TensorDims::of_rank(rank as usize + 1)
        }
        TensorDims::Unknown => TensorDims::Unknown,
    };
    Ok(stacked.tensor(dtype))
}

fn stack(m: &mut dyn Host, a: &EvalArgs<'_>) -> Result<Value, Stop> {
    let parts = kernel::tensors(a, 0)?;
    let out = kernel::out(a)?;
    let along = axis(given_int(a.call, "axis")?, out.shape.len())?;
    fresh(tabulate(m, out.dtype, &out.shape, |index| {
        let mut place = index.to_vec();
        let part = usize::try_from(place.remove(along)).ok().and_then(|i| parts.get(i));
        part.map_or_else(|| Err(fail("an index lies outside its tensor")), |part| at(part, &place))
    })?)
}

// Shapes as tensors

fn infer_size(_: &mut Cx, a: &InferArgs<'_>) -> Result<StructInfo, InferError> {
    arity::<1>(a)?;
    tensor(a, 0)?;
    Ok(TensorDims::from(Vec::new()).tensor(DataType::INT64))
}

/// The number of elements.
fn size(m: &mut dyn Host, a: &EvalArgs<'_>) -> Result<Value, Stop> {
    let size = kernel::tensor(a, 0)?.len() as i64;
    fresh(tabulate(m, DataType::INT64, &[], |_| Ok(Scalar::Int(size)))?)
}

fn infer_shape_to_tensor(_: &mut Cx, a: &InferArgs<'_>) -> Result<StructInfo, InferError> {
    arity::<1>(a)?;
    let dims = match shape(a, 0)?.ndim {
        Ndim::Known(rank) => vec![PrimExpr::IntImm(i64::from(rank))].into(),
        Ndim::Unknown => TensorDims::of_rank(1),
    };
    Ok(dims.tensor(DataType::INT64))
}

fn shape_to_tensor(m: &mut dyn Host, a: &EvalArgs<'_>) -> Result<Value, Stop> {
    let dims = kernel::shape(a, 0)?;
    let mut rest = dims.iter();
    let next = |_: &[i64]| rest.next().map(|dim| Scalar::Int(*dim)).ok_or_else(|| fail("a dimension is missing"));
    fresh(tabulate(m, DataType::INT64, &[dims.len() as i64], next)?)
}

fn infer_tensor_to_shape(_: &mut Cx, a: &InferArgs<'_>) -> Result<StructInfo, InferError> {
    arity::<1>(a)?;
    let x = tensor(a, 0)?;
    if !x.dtype.is_void() && x.dtype != DataType::INT64 {
        return Err(InferError::op(format!("the dimensions must be int64, they are {}", x.dtype)));
    }
    match (TensorDims::of(x).rank(), TensorDims::of(x)) {
        (Some(1), TensorDims::Known(dims)) => match dims.first() {
            Some(PrimExpr::IntImm(rank)) => Ok(StructInfo::shape_ndim(*rank)),
            Some(_) | None => Ok(StructInfo::shape_ndim(-1)),
        },
        (Some(1), _) => Ok(StructInfo::shape_ndim(-1)),
        (Some(_) | None, _) => Err(InferError::op(format!("expects a vector, found {x}"))),
    }
}

fn tensor_to_shape(_: &mut dyn Host, a: &EvalArgs<'_>) -> Result<Value, Stop> {
    let x = kernel::tensor(a, 0)?;
    let dim = |i: usize| match x.get(i) {
        Some(Scalar::Int(dim)) if dim < 0 => Err(fail(format!("no shape has the negative size {dim}"))),
        Some(Scalar::Int(dim)) => Ok(dim),
        Some(_) | None => Err(fail("the dimensions must be int64")),
    };
    let dims: Vec<i64> = (0..x.len()).map(dim).collect::<Result<_, Stop>>()?;
    Ok(Value::shape(&dims))
}
