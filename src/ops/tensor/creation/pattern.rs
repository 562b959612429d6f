//! Tensors with a regular pattern, and tensors of which a part is kept: `arange`, `eye`, `one_hot`, `tril`, `triu`.

use crate::book::Erratum;
use crate::grammar::{AttrValue, BinaryOp, Call, DataType, Expr, Ndim, PrimExpr, PrimValue, StructInfo};
use crate::judge::Cx;
use crate::ops::infer::{
    TensorDims, arity, axis, boxed_int, dim, dtype_attr, given_int, int_attr, prim, tensor, with_dtype,
};
use crate::ops::kernel::{self, at, fail, fresh, tabulate, tabulate_out};
use crate::ops::{Attr, AttrKind, EvalArgs, InferArgs, InferError, OpDef, OpParam, attr};
use crate::value::{Host, Prim, Scalar, Stop, Value};

pub(in crate::ops) const OPS: &[OpDef] = &[
    operator!(
        "arange",
        [rule!("OPS.arange.infer"), rule!("OPS.arange.value"), rule!("OPS.arange.attrs")],
        [
            OpParam::Arg("start"),
            OpParam::Arg("end"),
            OpParam::Arg("step"),
            OpParam::Attr(Attr::required("dtype", AttrKind::DataType)),
        ],
        infer_arange,
        Rounded,
        arange,
    ),
    operator!(
        "eye",
        [rule!("OPS.eye.infer"), rule!("OPS.eye.value"), rule!("OPS.eye.attrs")],
        [
            OpParam::Arg("n"),
            OpParam::Arg("m"),
            OpParam::Arg("k"),
            OpParam::Attr(Attr::dtype("dtype", DataType::FLOAT32)),
        ],
        infer_eye,
        Exact,
        eye,
    ),
    operator!(
        "eye_like",
        [rule!("OPS.eye_like.infer"), rule!("OPS.eye_like.value"), rule!("OPS.eye_like.attrs")],
        [OpParam::Arg("x"), OpParam::Arg("k"), OpParam::Attr(Attr::optional("dtype", AttrKind::DataType))],
        infer_eye_like,
        Exact,
        eye_like,
    ),
    operator!(
        "one_hot",
        [rule!("OPS.one_hot.infer"), rule!("OPS.one_hot.value"), rule!("OPS.one_hot.attrs")],
        [
            OpParam::Arg("indices"),
            OpParam::Arg("on_value"),
            OpParam::Arg("off_value"),
            OpParam::Attr(Attr::required("depth", AttrKind::Int)),
            OpParam::Attr(Attr::int("axis", -1)),
        ],
        infer_one_hot,
        Exact,
        one_hot,
    ),
    operator!(
        "tril",
        [rule!("OPS.tril.infer"), rule!("OPS.tril.value"), rule!("OPS.tril.attrs")],
        [
            OpParam::Arg("x"),
            OpParam::Attr(Attr { name: "k", kind: AttrKind::Any, default: crate::ops::AttrDefault::Int(0) })
        ],
        infer_triangle,
        Exact,
        |m, a| triangle(m, a, |row, column, k| column <= row.saturating_add(k)),
    ),
    operator!(
        "triu",
        [rule!("OPS.triu.infer"), rule!("OPS.triu.value"), rule!("OPS.triu.attrs")],
        [
            OpParam::Arg("x"),
            OpParam::Attr(Attr { name: "k", kind: AttrKind::Any, default: crate::ops::AttrDefault::Int(0) })
        ],
        infer_triangle,
        Exact,
        |m, a| triangle(m, a, |row, column, k| column >= row.saturating_add(k)),
    ),
];

fn dtype_of(call: &Call, own: DataType) -> Result<DataType, InferError> {
    Ok(dtype_attr(call, "dtype")?.filter(|dtype| !dtype.is_void()).unwrap_or(own))
}

// arange

fn infer_arange(_: &mut Cx, a: &InferArgs<'_>) -> Result<StructInfo, InferError> {
    arity::<3>(a)?;
    let dtype = dtype_of(a.call, DataType::VOID)?;
    let (start, end, step) = (prim(a, 0)?, prim(a, 1)?, prim(a, 2)?);
    let dims = match (start, end, step) {
        (_, _, Some(PrimExpr::IntImm(0))) => return Err(InferError::op("a step of 0 leads nowhere")),
        (Some(PrimExpr::IntImm(start)), Some(PrimExpr::IntImm(end)), Some(PrimExpr::IntImm(step))) => {
            vec![PrimExpr::IntImm(count(*start, *end, *step))].into()
        }
        (Some(start), Some(end), Some(PrimExpr::IntImm(step))) if *step > 0 => {
            let length = dim(BinaryOp::Sub, end.clone(), start.clone());
            let length = dim(BinaryOp::Add, length, PrimExpr::IntImm(step - 1));
            let count = if *step == 1 { length } else { dim(BinaryOp::FloorDiv, length, PrimExpr::IntImm(*step)) };
            vec![dim(BinaryOp::Max, PrimExpr::IntImm(0), count)].into()
        }
        (None | Some(_), None | Some(_), None | Some(_)) => match float_count(a.call) {
            Some(count) => vec![PrimExpr::IntImm(count)].into(),
            None => TensorDims::of_rank(1),
        },
    };
    Ok(dims.tensor(dtype))
}

/// The number of steps between two integers. The end is excluded.
fn count(start: i64, end: i64, step: i64) -> i64 {
    let (length, step) = (i128::from(end) - i128::from(start), i128::from(step));
    let (length, step) = if step < 0 { (-length, -step) } else { (length, step) };
    if length <= 0 || step == 0 { 0 } else { i64::try_from((length - 1) / step + 1).unwrap_or(i64::MAX) }
}

/// The number of steps if one of the numbers is a float. All must be constants.
fn float_count(call: &Call) -> Option<i64> {
    let number = |e: &Expr| {
        if let Expr::PrimValue(PrimValue { float: Some(bits), .. }) = e {
            Some(bits.get())
        } else if let Expr::PrimValue(PrimValue { value: PrimExpr::IntImm(i), .. }) = e {
            Some(*i as f64)
        } else {
            None
        }
    };
    match call.args.iter().map(number).collect::<Option<Vec<f64>>>()?.as_slice() {
        [start, end, step] if *step != 0.0 => Some(((end - start) / step).ceil().max(0.0) as i64),
        [] | [_, ..] => None,
    }
}

fn arange(m: &mut dyn Host, a: &EvalArgs<'_>) -> Result<Value, Stop> {
    let dtype = dtype_of(a.call, DataType::VOID)?;
    let number = |i: usize| match a.values.get(i) {
        Some(Value::Prim(Prim { value: Scalar::Float(x), .. })) => Ok((*x, None)),
        Some(Value::Prim(Prim { value: Scalar::Int(i), .. })) => Ok((*i as f64, Some(*i))),
        Some(_) | None => Err(fail("the bounds of a range must be numbers")),
    };
    let (start, end, step) = (number(0)?, number(1)?, number(2)?);
    if step.0 == 0.0 {
        return Err(fail("a step of 0 leads nowhere"));
    }
    if let ((_, Some(start)), (_, Some(end)), (_, Some(step))) = (start, end, step) {
        let element = |i: &[i64]| Ok(Scalar::Int(start.wrapping_add(first(i).wrapping_mul(step))));
        return fresh(tabulate(m, dtype, &[count(start, end, step)], element)?);
    }
    let count = ((end.0 - start.0) / step.0).ceil().max(0.0) as i64;
    fresh(tabulate(m, dtype, &[count], |i| Ok(Scalar::Float(start.0 + first(i) as f64 * step.0)))?)
}

fn first(index: &[i64]) -> i64 {
    index.first().copied().unwrap_or(0)
}

// eye, eye_like

fn infer_eye(_: &mut Cx, a: &InferArgs<'_>) -> Result<StructInfo, InferError> {
    arity::<3>(a)?;
    boxed_int(a, 2)?;
    let dims = match (boxed_int(a, 0)?, boxed_int(a, 1)?) {
        (Some(rows), Some(columns)) => vec![rows.clone(), columns.clone()].into(),
        (None, _) | (_, None) => TensorDims::of_rank(2),
    };
    Ok(dims.tensor(dtype_of(a.call, DataType::FLOAT32)?))
}

/// Ones on the k-th diagonal above the main diagonal.
fn diagonal(m: &mut dyn Host, dtype: DataType, shape: &[i64], k: i64) -> Result<Value, Stop> {
    fresh(tabulate(m, dtype, shape, |index| match index {
        [row, column] => Ok(Scalar::Int(i64::from(*column == row.saturating_add(k)))),
        [] | [_] | [_, _, _, ..] => Err(fail("a diagonal is that of a matrix")),
    })?)
}

fn eye(m: &mut dyn Host, a: &EvalArgs<'_>) -> Result<Value, Stop> {
    let (rows, columns, k) = (kernel::int(a, 0)?, kernel::int(a, 1)?, kernel::int(a, 2)?);
    diagonal(m, dtype_of(a.call, DataType::FLOAT32)?, &[rows, columns], k)
}

fn infer_eye_like(_: &mut Cx, a: &InferArgs<'_>) -> Result<StructInfo, InferError> {
    arity::<2>(a)?;
    boxed_int(a, 1)?;
    let x = tensor(a, 0)?;
    match x.ndim {
        Ndim::Known(2) => Ok(with_dtype(x, dtype_of(a.call, x.dtype)?)),
        Ndim::Unknown => Ok(TensorDims::of_rank(2).tensor(dtype_of(a.call, x.dtype)?)),
        Ndim::Known(rank) => Err(InferError::op(format!("expects a matrix, found rank {rank}"))),
    }
}

fn eye_like(m: &mut dyn Host, a: &EvalArgs<'_>) -> Result<Value, Stop> {
    let x = kernel::tensor(a, 0)?;
    diagonal(m, dtype_of(a.call, x.dtype())?, x.shape(), kernel::int(a, 1)?)
}

// one_hot

fn infer_one_hot(_: &mut Cx, a: &InferArgs<'_>) -> Result<StructInfo, InferError> {
    arity::<3>(a)?;
    let indices = tensor(a, 0)?;
    if !indices.dtype.is_void() && (indices.dtype.is_bool() || indices.dtype.is_float()) {
        return Err(InferError::op(format!("the indices must be integers, they are {}", indices.dtype)));
    }
    let dtype = match (a.args.get(1), a.args.get(2)) {
        (Some(StructInfo::Prim(on)), Some(StructInfo::Prim(off))) if on.dtype == off.dtype => on.dtype,
        (_, _) => return Err(InferError::op("the two values must be boxed scalars of one data type")),
    };
    let depth = depth(a.call)?;
    let dims = match TensorDims::of(indices) {
        TensorDims::Known(dims) => {
            let mut dims = dims.to_vec();
            dims.insert(axis(given_int(a.call, "axis")?, dims.len() + 1)?, PrimExpr::IntImm(depth));
            dims.into()
        }
        TensorDims::Rank(rank) => {
            axis(given_int(a.call, "axis")?, rank as usize + 1)?;
            TensorDims::of_rank(rank as usize + 1)
        }
        TensorDims::Unknown => TensorDims::Unknown,
    };
    Ok(dims.tensor(dtype))
}

fn depth(call: &Call) -> Result<i64, InferError> {
    int_attr(call, "depth")?.filter(|depth| *depth > 0).ok_or_else(|| InferError::op("the depth must be positive"))
}

fn one_hot(m: &mut dyn Host, a: &EvalArgs<'_>) -> Result<Value, Stop> {
    let indices = kernel::tensor(a, 0)?;
    let (Some(Value::Prim(on)), Some(Value::Prim(off))) = (a.values.get(1), a.values.get(2)) else {
        return Err(fail("the two values must be boxed scalars"));
    };
    let along = axis(given_int(a.call, "axis")?, indices.shape().len() + 1)?;
    let (depth, from_the_end) = (depth(a.call)?, !m.cx().literal(Erratum::A63));
    tabulate_out(m, a, |index| {
        let mut place = index.to_vec();
        let class = place.remove(along);
        let is_on = match at(indices, &place)? {
            Scalar::Int(i) if i < 0 && from_the_end => i.saturating_add(depth) == class,
            Scalar::Int(i) => i == class,
            Scalar::UInt(i) => i64::try_from(i) == Ok(class),
            Scalar::Bool(_) | Scalar::Float(_) | Scalar::Ring(_) => return Err(fail("the indices must be integers")),
        };
        Ok(if is_on { on.value } else { off.value })
    })
}

// tril, triu

fn infer_triangle(_: &mut Cx, a: &InferArgs<'_>) -> Result<StructInfo, InferError> {
    arity::<1>(a)?;
    let x = tensor(a, 0)?;
    match x.ndim {
        Ndim::Known(0 | 1) => Err(InferError::op("a triangle is that of a matrix")),
        Ndim::Known(_) | Ndim::Unknown => Ok(StructInfo::Tensor(x.clone())),
    }
}

/// The elements on one side of the k-th diagonal of the last two dimensions, and zeros on the other.
fn triangle(m: &mut dyn Host, a: &EvalArgs<'_>, keep: impl Fn(i64, i64, i64) -> bool) -> Result<Value, Stop> {
    let x = kernel::tensor(a, 0)?;
    let k = match attr(a.call, "k") {
        Some(AttrValue::Prim(k)) => m.eval_dim(k)?,
        Some(_) | None => given_int(a.call, "k")?,
    };
    let zero = kernel::convert(Scalar::Int(0), x.dtype())?;
    fresh(tabulate(m, x.dtype(), x.shape(), |index| match index {
        [.., row, column] if keep(*row, *column, k) => at(x, index),
        [.., _, _] => Ok(zero),
        [] | [_] => Err(fail("a triangle is that of a matrix")),
    })?)
}
