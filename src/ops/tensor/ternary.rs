//! Arithmetic on three elements: `ewise_fma`.

use crate::grammar::StructInfo;
use crate::judge::Cx;
use crate::number::FloatType;
use crate::ops::infer::{Domain, TensorDims, alike, arity, common_dtypes, tensor, with_dtype};
use crate::ops::kernel::{self, at_flat, fresh, multiply_add, tabulate_flat};
use crate::ops::{EvalArgs, InferArgs, InferError, OpDef, OpParam};
use crate::value::{Host, Scalar, Stop, Value};

pub(in crate::ops) const OPS: &[OpDef] = &[operator!(
    "ewise_fma",
    [rule!("OPS.ewise_fma.infer"), rule!("OPS.ewise_fma.value")],
    [OpParam::Arg("x1"), OpParam::Arg("x2"), OpParam::Arg("x3")],
    infer_ewise_fma,
    Rounded,
    ewise_fma
)];

fn infer_ewise_fma(cx: &mut Cx, a: &InferArgs<'_>) -> Result<StructInfo, InferError> {
    arity::<3>(a)?;
    let all = [tensor(a, 0)?, tensor(a, 1)?, tensor(a, 2)?];
    all.iter().try_for_each(|t| Domain::Numbers.demand(t.dtype))?;
    let dtype = common_dtypes(all.iter().map(|t| t.dtype))?;
    let dims = alike(cx, &all.map(TensorDims::of), None)?;
    let [first, second, third] = all;
    if first.shape.is_some() && first.shape == second.shape && second.shape == third.shape {
        return Ok(with_dtype(first, dtype));
    }
    Ok(dims.tensor(dtype))
}

/// `x1 * x2 + x3`. Floats are rounded once; integers wrap around.
fn ewise_fma(m: &mut dyn Host, a: &EvalArgs<'_>) -> Result<Value, Stop> {
    let (x, y, z, out) = (kernel::tensor(a, 0)?, kernel::tensor(a, 1)?, kernel::tensor(a, 2)?, kernel::out(a)?);
    let float = out.dtype.float_type().unwrap_or(FloatType::Float64);
    fresh(tabulate_flat(m, out.dtype, &out.shape, |i| match (at_flat(x, i)?, at_flat(y, i)?, at_flat(z, i)?) {
        (Scalar::Float(x), Scalar::Float(y), Scalar::Float(z)) => Ok(Scalar::Float(float.multiply_add(x, y, z))),
        (x, y, z) => multiply_add(z, x, y),
    })?)
}
