//! Workers that run one program together: collectives (`ccl`) and distributed tensors (`dist`).

use crate::grammar::{BinaryOp, Call, PrimExpr, StructInfo};
use crate::judge::Cx;
use crate::ops::infer::{Domain, TensorDims, arity, constant, dim, given_int, indivisible, str_attr, tensor};
use crate::ops::kernel::elementwise::{infer_same, itself, number};
use crate::ops::kernel::reals::{max_float, min_float};
use crate::ops::kernel::{self, at, at_flat, fresh, quotient, tabulate, tabulate_flat, tabulate_out};
use crate::ops::language::{infer_call_tir_local_view, run_call_tir};
use crate::ops::{Attr, AttrKind, EvalArgs, InferArgs, InferError, OpDef, OpParam};
use crate::value::{Host, Scalar, Stop, Tensor, Value};

const X: OpParam = OpParam::Arg("x");
const INPUT: OpParam = OpParam::Arg("input");
const WORKERS: OpParam = OpParam::Attr(Attr::required("num_workers", AttrKind::Int));
const AXIS: OpParam = OpParam::Attr(Attr::int("axis", 0));
const IN_GROUP: OpParam = OpParam::Attr(Attr::bool("in_group", true));
const MESH: OpParam = OpParam::Attr(Attr::required("device_mesh", AttrKind::Opaque));
const PLACEMENT: OpParam = OpParam::Attr(Attr::required("placement", AttrKind::Opaque));
const REDUCTIONS: &[&str] = &["sum", "prod", "min", "max", "avg"];

pub(in crate::ops) const OPS: &[OpDef] = &[
    operator!(
        "ccl.allreduce",
        [rule!("OPS.ccl.allreduce.infer"), rule!("OPS.ccl.allreduce.value"), rule!("OPS.ccl.allreduce.attrs")],
        [X, OpParam::Attr(Attr::str("op_type", REDUCTIONS, "sum")), IN_GROUP],
        infer_allreduce,
        Accumulated,
        allreduce
    ),
    operator!(
        "ccl.allgather",
        [rule!("OPS.ccl.allgather.infer"), rule!("OPS.ccl.allgather.value"), rule!("OPS.ccl.allgather.attrs")],
        [X, WORKERS, IN_GROUP],
        infer_allgather,
        Exact,
        allgather
    ),
    operator!(
        "ccl.broadcast_from_worker0",
        [rule!("OPS.ccl.broadcast_from_worker0.infer"), rule!("OPS.ccl.broadcast_from_worker0.value")],
        [X],
        infer_same,
        Exact,
        broadcast
    ),
    operator!(
        "ccl.scatter_from_worker0",
        [
            rule!("OPS.ccl.scatter_from_worker0.infer"),
            rule!("OPS.ccl.scatter_from_worker0.value"),
            rule!("OPS.ccl.scatter_from_worker0.attrs")
        ],
        [X, WORKERS, AXIS],
        infer_part,
        Exact,
        scatter
    ),
    operator!(
        "dist.annotate_sharding",
        [
            rule!("OPS.dist.annotate_sharding.infer"),
            rule!("OPS.dist.annotate_sharding.value"),
            rule!("OPS.dist.annotate_sharding.attrs")
        ],
        [INPUT, MESH, PLACEMENT],
        infer_same,
        Exact,
        itself
    ),
    operator!(
        "dist.redistribute",
        [
            rule!("OPS.dist.redistribute.infer"),
            rule!("OPS.dist.redistribute.value"),
            rule!("OPS.dist.redistribute.attrs")
        ],
        [INPUT, MESH, PLACEMENT],
        infer_same,
        Exact,
        itself
    ),
    operator!(
        "dist.redistribute_replica_to_shard",
        [
            rule!("OPS.dist.redistribute_replica_to_shard.infer"),
            rule!("OPS.dist.redistribute_replica_to_shard.value"),
            rule!("OPS.dist.redistribute_replica_to_shard.attrs")
        ],
        [INPUT, WORKERS, AXIS],
        infer_part,
        Exact,
        own_part
    ),
    operator!(
        "dist.call_tir_local_view",
        [rule!("OPS.dist.call_tir_local_view.infer"), rule!("OPS.dist.call_tir_local_view.value")],
        [OpParam::Arg("prim_func"), OpParam::Rest("args")],
        infer_call_tir_local_view,
        Exact,
        run_call_tir
    ),
];

// Inference.

/// The number of workers in the call.
fn workers(call: &Call) -> Result<i64, InferError> {
    match given_int(call, "num_workers")? {
        workers if workers > 0 => Ok(workers),
        workers => Err(InferError::op(format!("there cannot be {workers} workers"))),
    }
}

fn infer_allreduce(cx: &mut Cx, a: &InferArgs<'_>) -> Result<StructInfo, InferError> {
    let info = infer_same(cx, a)?;
    Domain::Numbers.demand(tensor(a, 0)?.dtype)?;
    Ok(info)
}

/// The first axis of the result has the elements of all workers.
fn infer_allgather(_: &mut Cx, a: &InferArgs<'_>) -> Result<StructInfo, InferError> {
    arity::<1>(a)?;
    let (x, workers) = (tensor(a, 0)?, workers(a.call)?);
    let known = TensorDims::of(x);
    of_axis(&known, 0)?;
    let TensorDims::Known(dims) = &known else { return Ok(known.tensor(x.dtype)) };
    let gathered = dims.iter().enumerate().map(|(i, size)| match i {
        0 => dim(BinaryOp::Mul, size.clone(), constant(workers)),
        _ => size.clone(),
    });
    Ok(TensorDims::from(gathered.collect::<Vec<PrimExpr>>()).tensor(x.dtype))
}

/// Checks that the axis exists.
fn of_axis(dims: &TensorDims, axis: i64) -> Result<usize, InferError> {
    let found = usize::try_from(axis).ok().filter(|axis| dims.rank().is_none_or(|rank| *axis < rank));
    found.ok_or_else(|| InferError::op(format!("the axis {axis} does not exist in rank {}", dims.ndim())))
}

/// One of the equal parts along an axis. There is one part per worker.
fn infer_part(cx: &mut Cx, a: &InferArgs<'_>) -> Result<StructInfo, InferError> {
    arity::<1>(a)?;
    let (x, workers) = (tensor(a, 0)?, workers(a.call)?);
    let known = TensorDims::of(x);
    let along = of_axis(&known, given_int(a.call, "axis")?)?;
    let TensorDims::Known(dims) = &known else { return Ok(known.tensor(x.dtype)) };
    let mut dims = dims.to_vec();
    if let Some(size) = dims.get_mut(along) {
        if indivisible(cx, size, workers) {
            return Err(InferError::op(format!("{size} places cannot be divided among {workers} workers")));
        }
        *size = if workers == 1 { size.clone() } else { dim(BinaryOp::FloorDiv, size.clone(), constant(workers)) };
    }
    Ok(TensorDims::from(dims).tensor(x.dtype))
}

// Evaluation.

/// The tensors of all workers, in the order of the workers.
fn of_all(m: &mut dyn Host, a: &EvalArgs<'_>, what: &str) -> Result<Vec<Tensor>, Stop> {
    let x = kernel::tensor(a, 0)?;
    let what = format!("{what} of {}{:?}", x.dtype(), x.shape());
    m.exchange(&what, x)
}

/// Checks that the number of workers in the call is the actual one.
fn for_all(m: &dyn Host, a: &EvalArgs<'_>) -> Result<i64, Stop> {
    let (meant, there) = (workers(a.call)?, m.seat().of);
    match i64::try_from(there) {
        Ok(there) if there == meant => Ok(meant),
        Ok(_) | Err(_) => Err(Stop::unspecified(format!("a collective of {meant} workers where there are {there}"))),
    }
}

/// Combines the tensors of all workers element by element.
fn allreduce(m: &mut dyn Host, a: &EvalArgs<'_>) -> Result<Value, Stop> {
    let kind = str_attr(a.call, "op_type")?;
    let all = of_all(m, a, &format!("allreduce {kind}"))?;
    let x = kernel::tensor(a, 0)?;
    let count = all.len() as u64;
    m.spend(count.saturating_mul(x.len() as u64))?;
    fresh(tabulate_flat(m, x.dtype(), x.shape(), |flat| {
        let mut elements = all.iter().map(|tensor| at_flat(tensor, flat));
        let first = elements.next().unwrap_or_else(|| at_flat(x, flat))?;
        let reduced = elements.try_fold(first, |reduced, element| joined(kind, reduced, element?))?;
        if kind == "avg" && count > 1 { quotient(reduced, count) } else { Ok(reduced) }
    })?)
}

/// Two elements combined.
fn joined(kind: &str, a: Scalar, b: Scalar) -> Result<Scalar, Stop> {
    match kind {
        "prod" => number(a, b, i64::wrapping_mul, u64::wrapping_mul, |a, b| a * b),
        "min" => number(a, b, i64::min, u64::min, min_float),
        "max" => number(a, b, i64::max, u64::max, max_float),
        _ => number(a, b, i64::wrapping_add, u64::wrapping_add, |a, b| a + b),
    }
}

/// The tensors of all workers, concatenated along the first axis.
fn allgather(m: &mut dyn Host, a: &EvalArgs<'_>) -> Result<Value, Stop> {
    for_all(m, a)?;
    let all = of_all(m, a, "allgather")?;
    let own = kernel::tensor(a, 0)?.len().max(1);
    let mut flat = 0;
    tabulate_out(m, a, |_| {
        let element = all
            .get(flat / own)
            .map_or_else(|| Err(kernel::fail("a worker is missing")), |tensor| at_flat(tensor, flat % own));
        flat += 1;
        element
    })
}

/// The tensor of the first worker.
fn broadcast(m: &mut dyn Host, a: &EvalArgs<'_>) -> Result<Value, Stop> {
    let all = of_all(m, a, "broadcast_from_worker0")?;
    let first = all.first().ok_or_else(|| kernel::fail("a worker is missing"))?;
    fresh(tabulate(m, first.dtype(), first.shape(), |index| at(first, index))?)
}

/// The part of the first worker's tensor that belongs to this worker.
fn scatter(m: &mut dyn Host, a: &EvalArgs<'_>) -> Result<Value, Stop> {
    for_all(m, a)?;
    let all = of_all(m, a, &format!("scatter_from_worker0 along {}", given_int(a.call, "axis")?))?;
    part_of(m, a, all.first().ok_or_else(|| kernel::fail("a worker is missing"))?)
}

/// The part of this worker's own tensor that belongs to it.
fn own_part(m: &mut dyn Host, a: &EvalArgs<'_>) -> Result<Value, Stop> {
    for_all(m, a)?;
    part_of(m, a, kernel::tensor(a, 0)?)
}

fn part_of(m: &mut dyn Host, a: &EvalArgs<'_>, whole: &Tensor) -> Result<Value, Stop> {
    let along = of_axis(&TensorDims::of_rank(whole.shape().len()), given_int(a.call, "axis")?)?;
    let size = kernel::out(a)?.shape.get(along).copied().unwrap_or(0);
    let begin = size.saturating_mul(m.seat().worker as i64);
    kernel::slice(m, whole, along, begin, begin.saturating_add(size))
}
