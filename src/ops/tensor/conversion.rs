//! Conversions of the data type.

use crate::grammar::{DataType, StructInfo};
use crate::judge::Cx;
use crate::ops::infer::{arity, required_dtype, tensor, with_dtype};
use crate::ops::kernel::{self, at, tabulate_out};
use crate::ops::{Attr, AttrKind, EvalArgs, InferArgs, InferError, OpDef, Param};
use crate::value::{Host, Scalar, Stop, Value};

pub(in crate::ops) const OPS: &[OpDef] = &[operator!(
    "astype",
    [rule!("OPS.astype.infer"), rule!("OPS.astype.value"), rule!("OPS.astype.attrs")],
    [Param::Arg("x"), Param::Attr(Attr::required("dtype", AttrKind::DataType))],
    infer_astype,
    Exact,
    astype
)];

fn infer_astype(_: &mut Cx, a: &InferArgs<'_>) -> Result<StructInfo, InferError> {
    arity::<1>(a)?;
    Ok(with_dtype(tensor(a, 0)?, required_dtype(a)?))
}

/// Each element is converted: floats are truncated towards zero, integers wrap.
fn astype(m: &mut dyn Host, a: &EvalArgs<'_>) -> Result<Value, Stop> {
    let x = kernel::tensor(a, 0)?;
    let dtype = kernel::out(a)?.dtype;
    tabulate_out(m, a, |i| in_range(at(x, i)?, dtype))
}

/// Nothing is said of a float that an integer data type cannot hold.
fn in_range(x: Scalar, dtype: DataType) -> Result<Scalar, Stop> {
    let Scalar::Float(value) = x else { return Ok(x) };
    let (low, high) = match (dtype.is_bool(), dtype.is_int(), dtype.is_uint()) {
        (false, true, _) => (-(2f64.powi(i32::from(dtype.bits) - 1)), 2f64.powi(i32::from(dtype.bits) - 1)),
        (false, false, true) => (0.0, 2f64.powi(i32::from(dtype.bits))),
        (true, _, _) | (false, false, false) => return Ok(x),
    };
    let whole = value.trunc();
    if whole >= low && whole < high { Ok(x) } else { Err(Stop::unspecified(format!("{value} as {dtype}"))) }
}
