//! Conversions of the data type.

use crate::grammar::StructInfo;
use crate::judge::Cx;
use crate::number::real::Real;
use crate::ops::infer::{arity, required_dtype, tensor, with_dtype};
use crate::ops::kernel::{self, at, casts, tabulate_out};
use crate::ops::{Attr, AttrKind, EvalArgs, InferArgs, InferError, OpDef, OpParam};
use crate::value::{Host, Scalar, Stop, Value};

pub(in crate::ops) const OPS: &[OpDef] = &[operator!(
    "astype",
    [rule!("OPS.astype.infer"), rule!("OPS.astype.value"), rule!("OPS.astype.attrs")],
    [OpParam::Arg("x"), OpParam::Attr(Attr::required("dtype", AttrKind::DataType))],
    infer_astype,
    Exact,
    astype
)];

pub(in crate::ops) fn infer_astype(_: &mut Cx, a: &InferArgs<'_>) -> Result<StructInfo, InferError> {
    arity::<1>(a)?;
    Ok(with_dtype(tensor(a, 0)?, required_dtype(a.call, "dtype")?))
}

/// Converts each element: floats are truncated towards zero, integers wrap around.
pub(in crate::ops) fn astype(m: &mut dyn Host, a: &EvalArgs<'_>) -> Result<Value, Stop> {
    let x = kernel::tensor(a, 0)?;
    let dtype = kernel::out(a)?.dtype;
    if let Some(value) = casts::converted(m, x, dtype)? {
        return Ok(value);
    }
    let types = x.dtype().float_type().zip(dtype.float_type());
    tabulate_out(m, a, |i| match (at(x, i)?, types) {
        (Scalar::Ring(x), Some((from, to))) => Ok(Scalar::Ring(x.cast(from, to))),
        (x, _) => Ok(x),
    })
}
