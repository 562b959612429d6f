//! New tensors with a single value.

use crate::grammar::{Ndim, StructInfo, TensorStructInfo};
use crate::judge::Cx;
use crate::ops::infer::{arity, dtype_attr, of_shape_arg, required_dtype, tensor, with_dtype};
use crate::ops::kernel::{self, at, tabulate_out};
use crate::ops::{Attr, AttrKind, EvalArgs, InferArgs, InferError, OpDef, OpParam};
use crate::value::{Host, Scalar, Stop, Value};

const ZERO: Scalar = Scalar::Int(0);
const ONE: Scalar = Scalar::Int(1);

pub(in crate::ops) const OPS: &[OpDef] = &[
    operator!(
        "zeros",
        [rule!("OPS.zeros.infer"), rule!("OPS.zeros.value"), rule!("OPS.zeros.attrs")],
        [OpParam::ShapeArg("shape"), OpParam::Attr(Attr::required("dtype", AttrKind::DataType))],
        infer_filled,
        Exact,
        |m, a| filled(m, a, ZERO)
    ),
    operator!(
        "ones",
        [rule!("OPS.ones.infer"), rule!("OPS.ones.value"), rule!("OPS.ones.attrs")],
        [OpParam::ShapeArg("shape"), OpParam::Attr(Attr::required("dtype", AttrKind::DataType))],
        infer_filled,
        Exact,
        |m, a| filled(m, a, ONE)
    ),
    operator!(
        "full",
        [rule!("OPS.full.infer"), rule!("OPS.full.value"), rule!("OPS.full.attrs")],
        [
            OpParam::ShapeArg("shape"),
            OpParam::Arg("fill_value"),
            OpParam::Attr(Attr::optional("dtype", AttrKind::DataType))
        ],
        infer_full,
        Exact,
        full
    ),
    operator!(
        "zeros_like",
        [rule!("OPS.zeros_like.infer"), rule!("OPS.zeros_like.value"), rule!("OPS.zeros_like.attrs")],
        [OpParam::Arg("x"), OpParam::Attr(Attr::optional("dtype", AttrKind::DataType))],
        infer_like,
        Exact,
        |m, a| filled(m, a, ZERO)
    ),
    operator!(
        "ones_like",
        [rule!("OPS.ones_like.infer"), rule!("OPS.ones_like.value"), rule!("OPS.ones_like.attrs")],
        [OpParam::Arg("x"), OpParam::Attr(Attr::optional("dtype", AttrKind::DataType))],
        infer_like,
        Exact,
        |m, a| filled(m, a, ONE)
    ),
    operator!(
        "full_like",
        [rule!("OPS.full_like.infer"), rule!("OPS.full_like.value"), rule!("OPS.full_like.attrs")],
        [OpParam::Arg("x"), OpParam::Arg("fill_value"), OpParam::Attr(Attr::optional("dtype", AttrKind::DataType))],
        infer_full_like,
        Exact,
        full
    ),
];

fn infer_filled(_: &mut Cx, a: &InferArgs<'_>) -> Result<StructInfo, InferError> {
    arity::<1>(a)?;
    of_shape_arg(a, 0, required_dtype(a.call, "dtype")?)
}

/// A tensor with the same value everywhere.
fn filled(m: &mut dyn Host, a: &EvalArgs<'_>, value: Scalar) -> Result<Value, Stop> {
    tabulate_out(m, a, |_| Ok(value))
}

/// The fill value, which must be a scalar. The result has its data type unless the attribute names another.
fn fill_value<'a>(a: &InferArgs<'a>) -> Result<&'a TensorStructInfo, InferError> {
    let fill = tensor(a, 1)?;
    match fill.ndim {
        Ndim::Known(0) => Ok(fill),
        Ndim::Known(_) | Ndim::Unknown => Err(InferError::op(format!("the value that fills is {fill}, not a scalar"))),
    }
}

fn infer_full(_: &mut Cx, a: &InferArgs<'_>) -> Result<StructInfo, InferError> {
    arity::<2>(a)?;
    let dtype = dtype_attr(a.call, "dtype")?.filter(|dtype| !dtype.is_void()).unwrap_or(fill_value(a)?.dtype);
    of_shape_arg(a, 0, dtype)
}

fn full(m: &mut dyn Host, a: &EvalArgs<'_>) -> Result<Value, Stop> {
    let value = at(kernel::tensor(a, 1)?, &[])?;
    filled(m, a, value)
}

fn infer_like(_: &mut Cx, a: &InferArgs<'_>) -> Result<StructInfo, InferError> {
    arity::<1>(a)?;
    let x = tensor(a, 0)?;
    let dtype = dtype_attr(a.call, "dtype")?.filter(|dtype| !dtype.is_void()).unwrap_or(x.dtype);
    Ok(with_dtype(x, dtype))
}

fn infer_full_like(_: &mut Cx, a: &InferArgs<'_>) -> Result<StructInfo, InferError> {
    arity::<2>(a)?;
    fill_value(a)?;
    let x = tensor(a, 0)?;
    let dtype = dtype_attr(a.call, "dtype")?.filter(|dtype| !dtype.is_void()).unwrap_or(x.dtype);
    Ok(with_dtype(x, dtype))
}
