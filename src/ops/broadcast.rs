//! `broadcast_to` and `where`.

use super::infer::{Dims, arity, broadcast, common_dtype, of_shape_arg, shape, tensor};
use super::kernel::{self, at_broadcast, fail, fresh, tabulate};
use super::{EvalArgs, InferArgs, InferError, OpDef, Param};
use crate::grammar::{PrimExpr, StructInfo};
use crate::judge::Cx;
use crate::value::{Host, Stop, Value};

pub(super) const OPS: &[OpDef] = &[
    operator!(
        "broadcast_to",
        [rule!("OPS.broadcast_to.infer"), rule!("OPS.broadcast_to.value")],
        [Param::Arg("x"), Param::ShapeArg("shape")],
        infer_broadcast_to,
        Exact,
        broadcast_to
    ),
    operator!(
        "where",
        [rule!("OPS.where.infer"), rule!("OPS.where.value")],
        [Param::Arg("condition"), Param::Arg("x1"), Param::Arg("x2")],
        infer_where,
        Exact,
        select
    ),
];

fn infer_broadcast_to(_: &mut Cx, a: &InferArgs<'_>) -> Result<StructInfo, InferError> {
    arity::<2>(a)?;
    let (x, target) = (tensor(a, 0)?, Dims::of_shape(shape(a, 1)?));
    if let (Some(rank), Some(wanted)) = (Dims::of(x).rank(), target.rank())
        && rank > wanted
    {
        return Err(InferError::op(format!("rank {rank} cannot be broadcast to rank {wanted}")));
    }
    if let (Dims::Known(dims), Dims::Known(wanted)) = (Dims::of(x), &target) {
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
    let (x, target) = (kernel::tensor(a, 0)?, kernel::shape(a, 1)?);
    if kernel::broadcast(x.shape(), target)? != target {
        return Err(fail(format!("{:?} cannot be broadcast to {target:?}", x.shape())));
    }
    fresh(tabulate(m, x.dtype(), target, |i| at_broadcast(x, i))?)
}

fn infer_where(_: &mut Cx, a: &InferArgs<'_>) -> Result<StructInfo, InferError> {
    arity::<3>(a)?;
    let (c, x1, x2) = (tensor(a, 0)?, tensor(a, 1)?, tensor(a, 2)?);
    if !c.dtype.is_void() && !c.dtype.is_bool() {
        return Err(InferError::op(format!("the condition must be Boolean, it is {}", c.dtype)));
    }
    let dims = broadcast(&broadcast(&Dims::of(c), &Dims::of(x1))?, &Dims::of(x2))?;
    Ok(dims.tensor(common_dtype(x1.dtype, x2.dtype)?))
}

/// `x1[i]` where the condition holds at `i`, `x2[i]` elsewhere.
fn select(m: &mut dyn Host, a: &EvalArgs<'_>) -> Result<Value, Stop> {
    let (c, x1, x2) = (kernel::tensor(a, 0)?, kernel::tensor(a, 1)?, kernel::tensor(a, 2)?);
    if !c.dtype().is_bool() || x1.dtype() != x2.dtype() {
        return Err(fail("expects a Boolean condition and two tensors of one data type"));
    }
    let shape = kernel::broadcast(&kernel::broadcast(c.shape(), x1.shape())?, x2.shape())?;
    let element = |i: &[i64]| if at_broadcast(c, i)?.is_true() { at_broadcast(x1, i) } else { at_broadcast(x2, i) };
    fresh(tabulate(m, x1.dtype(), &shape, element)?)
}
