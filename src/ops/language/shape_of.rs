//! `shape_of`.

use crate::grammar::{ShapeStructInfo, StructInfo, TensorShape};
use crate::judge::Cx;
use crate::ops::infer::{TensorDims, tensor};
use crate::ops::{Accuracy, Clauses, EvalArgs, InferArgs, InferError, OpDef, OpParam, demand, kernel};
use crate::value::{Host, Stop, Value};

pub(in crate::ops) const OPS: &[OpDef] = &[OpDef {
    name: "relax.shape_of",
    params: &[OpParam::Arg("expr")],
    pure: true,
    infer: Some(infer_shape_of),
    inference: "infer_shape_of",
    eval: shape_of,
    accuracy: Accuracy::Exact,
    clauses: Clauses::Text,
    reads: false,
    excluded: None,
}];

/// OP.SHAPEOF.INFER: the dimensions of the tensor if they are known, otherwise its rank.
fn infer_shape_of(cx: &mut Cx, a: &InferArgs<'_>) -> Result<StructInfo, InferError> {
    // OP.SHAPEOF.ARG: rejects an argument known not to be a tensor, or known only to be an object.
    let argument = tensor(a, 0).ok().filter(|_| a.args.len() == 1);
    demand(
        cx,
        &[(rule!("OP.SHAPEOF.ARG"), 1, argument.is_some(), &|| {
            "the argument of shape_of must be a tensor".to_string()
        })],
    )?;
    let infer = rule!("OP.SHAPEOF.INFER");
    let Some(t) = argument else { return Ok(cx.conclude(infer, StructInfo::shape_ndim(-1))) };
    let values = match (TensorDims::of(t), &t.shape) {
        (TensorDims::Known(dims), _) => Some(dims),
        (
            TensorDims::Rank(_) | TensorDims::Unknown,
            None
            | Some(TensorShape::Dims(_) | TensorShape::Var(_) | TensorShape::DataflowVar(_) | TensorShape::Other(_)),
        ) => None,
    };
    Ok(cx.conclude(infer, StructInfo::Shape(ShapeStructInfo { values, ndim: t.ndim })))
}

/// OP.SHAPEOF: the shape of the tensor. OP.SHAPEOF.FRESH: a new shape object at each evaluation.
fn shape_of(m: &mut dyn Host, a: &EvalArgs<'_>) -> Result<Value, Stop> {
    let _ = m.cx().fire(rule!("OP.SHAPEOF"));
    let _ = m.cx().fire(rule!("VAL.TENSOR.SHAPE"));
    let t = match kernel::tensor(a, 0) {
        Ok(t) => t,
        Err(Stop::Error(error)) => {
            let by_its_rule = Err(Stop::error(rule!("OP.SHAPEOF.ARG"), error.message));
            return m.cx().conclude(rule!("OP.SHAPEOF.ARG"), by_its_rule);
        }
        Err(stop) => return Err(stop),
    };
    let sizes = m.cx().conclude(rule!("OP.SHAPEOF"), t.shape().to_vec());
    let shape = m.cx().conclude(rule!("VAL.TENSOR.SHAPE"), Value::shape(&sizes));
    Ok(m.cx().conclude(rule!("OP.SHAPEOF.FRESH"), shape))
}
