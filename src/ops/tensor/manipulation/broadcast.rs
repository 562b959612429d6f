//! `broadcast_to`.

use crate::grammar::{PrimExpr, StructInfo};
use crate::judge::Cx;
use crate::ops::infer::{TensorDims, arity, of_shape_arg, shape, tensor};
use crate::ops::kernel::slices::{self, broadcast_strides, runs_of};
use crate::ops::kernel::{self, at_broadcast, tabulate_out};
use crate::ops::{EvalArgs, InferArgs, InferError, OpDef, OpParam};
use crate::value::{Host, Stop, Value};

pub(in crate::ops) const OPS: &[OpDef] = &[operator!(
    "broadcast_to",
    [rule!("OPS.broadcast_to.infer"), rule!("OPS.broadcast_to.value")],
    [OpParam::Arg("x"), OpParam::ShapeArg("shape")],
    infer_broadcast_to,
    Exact,
    broadcast_to
)];

fn infer_broadcast_to(_: &mut Cx, a: &InferArgs<'_>) -> Result<StructInfo, InferError> {
    arity::<2>(a)?;
    let (x, target) = (tensor(a, 0)?, TensorDims::of_shape(shape(a, 1)?));
    if let (Some(rank), Some(wanted)) = (TensorDims::of(x).rank(), target.rank())
        && rank > wanted
    {
        return Err(InferError::op(format!("rank {rank} cannot be broadcast to rank {wanted}")));
    }
    if let (TensorDims::Known(dims), TensorDims::Known(wanted)) = (TensorDims::of(x), &target) {
        for (dim, wanted) in dims.iter().rev().zip(wanted.iter().rev()) {
            if let (PrimExpr::IntImm(dim), PrimExpr::IntImm(wanted)) = (dim, wanted)
                && *dim != 1
                && dim != wanted
            {
                return Err(InferError::op(format!("the dimension {dim} cannot be broadcast to {wanted}")));
            }
        }
    }
    of_shape_arg(a, 1, x.dtype)
}

fn broadcast_to(m: &mut dyn Host, a: &EvalArgs<'_>) -> Result<Value, Stop> {
    let (x, out) = (kernel::tensor(a, 0)?, kernel::out(a)?);
    if let Some(strides) = broadcast_strides(x.shape(), &out.shape)
        && let Some(value) = slices::moved(m, &[x], &out, runs_of(&out.shape, &strides, 0))?
    {
        return Ok(value);
    }
    tabulate_out(m, a, |i| at_broadcast(x, i))
}
