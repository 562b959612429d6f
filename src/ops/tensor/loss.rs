//! Losses: `nn.cross_entropy_with_logits` and `nn.nll_loss`.

use crate::grammar::{PrimExpr, StructInfo, TensorStructInfo};
use crate::judge::Cx;
use crate::ops::infer::{Domain, TensorDims, arity, common_dtype, differ, given_int, str_attr, tensor};
use crate::ops::kernel::reals::no_ring;
use crate::ops::kernel::{self, at, fail, fresh, from_list, indices};
use crate::ops::tensor::indexing::gather::{coordinate, integer};
use crate::ops::{Attr, EvalArgs, InferArgs, InferError, OpDef, OpParam};
use crate::value::{Host, Scalar, Stop, Tensor, Value};

pub(in crate::ops) const OPS: &[OpDef] = &[
    operator!(
        "nn.cross_entropy_with_logits",
        [rule!("OPS.nn.cross_entropy_with_logits.infer"), rule!("OPS.nn.cross_entropy_with_logits.value")],
        [OpParam::Arg("predictions"), OpParam::Arg("labels")],
        infer_cross_entropy,
        Accumulated,
        cross_entropy
    ),
    operator!(
        "nn.nll_loss",
        [rule!("OPS.nn.nll_loss.infer"), rule!("OPS.nn.nll_loss.value"), rule!("OPS.nn.nll_loss.attrs")],
        [
            OpParam::Arg("predictions"),
            OpParam::Arg("targets"),
            OpParam::OptionalArg("weights"),
            OpParam::Attr(Attr::str("reduction", &["none", "mean", "sum"], "mean")),
            OpParam::Attr(Attr::int("ignore_index", -100))
        ],
        infer_nll_loss,
        Accumulated,
        nll_loss
    ),
];

/// Rejects known dimensions that are provably different.
fn agree(cx: &mut Cx, a: &[PrimExpr], b: &[PrimExpr]) -> Result<(), InferError> {
    match a.iter().zip(b).find(|(x, y)| differ(cx, x, y)) {
        Some((x, y)) => Err(InferError::op(format!("the sizes {x} and {y} differ"))),
        None => Ok(()),
    }
}

fn infer_cross_entropy(cx: &mut Cx, a: &InferArgs<'_>) -> Result<StructInfo, InferError> {
    arity::<2>(a)?;
    let (predictions, labels) = (tensor(a, 0)?, tensor(a, 1)?);
    let dtype = common_dtype(predictions.dtype, labels.dtype)?;
    Domain::Floats.demand(predictions.dtype)?;
    Domain::Floats.demand(labels.dtype)?;
    let (x, y) = (TensorDims::of(predictions), TensorDims::of(labels));
    if let (Some(x), Some(y)) = (x.rank(), y.rank())
        && x != y
    {
        return Err(InferError::op(format!("the ranks {x} and {y} differ")));
    }
    if let (TensorDims::Known(x), TensorDims::Known(y)) = (x, y) {
        agree(cx, &x, &y)?;
    }
    Ok(TensorDims::Known([].into()).tensor(dtype))
}

/// The negative sum of the products, divided by the first dimension if there are several.
fn cross_entropy(m: &mut dyn Host, a: &EvalArgs<'_>) -> Result<Value, Stop> {
    let (predictions, labels) = (kernel::tensor(a, 0)?, kernel::tensor(a, 1)?);
    m.spend(predictions.len() as u64)?;
    let mut sum = 0.0;
    for i in 0..predictions.len() {
        sum += float(predictions.get(i))? * float(labels.get(i))?;
    }
    let batch = match predictions.shape() {
        [batch, _, ..] => *batch as f64,
        [] | [_] => 1.0,
    };
    fresh(from_list(m, predictions.dtype(), &[], &[Scalar::Float(-sum / batch)])?)
}

fn float(x: Option<Scalar>) -> Result<f64, Stop> {
    match x {
        Some(Scalar::Float(x)) => Ok(x),
        Some(Scalar::Ring(_)) => Err(no_ring()),
        Some(Scalar::Bool(_) | Scalar::Int(_) | Scalar::UInt(_)) | None => {
            Err(fail("a loss is defined on floating-point data types"))
        }
    }
}

// nll_loss

/// The target dimensions and the number of classes that the predictions, `(N, C, d1, ..)` or `(C,)`, imply.
fn split(predictions: &TensorStructInfo) -> Result<(TensorDims, Option<PrimExpr>), InferError> {
    match TensorDims::of(predictions) {
        TensorDims::Known(dims) => match &*dims {
            [] => Err(InferError::op("the predictions have no axis of classes")),
            [classes] => Ok((Vec::new().into(), Some(classes.clone()))),
            [batch, classes, rest @ ..] => {
                Ok(([std::slice::from_ref(batch), rest].concat().into(), Some(classes.clone())))
            }
        },
        TensorDims::Rank(0) => Err(InferError::op("the predictions have no axis of classes")),
        TensorDims::Rank(rank) => Ok((TensorDims::of_rank(rank as usize - 1), None)),
        TensorDims::Unknown => Ok((TensorDims::Unknown, None)),
    }
}

pub(in crate::ops) fn infer_nll_loss(cx: &mut Cx, a: &InferArgs<'_>) -> Result<StructInfo, InferError> {
    let (predictions, targets) = (tensor(a, 0)?, tensor(a, 1)?);
    if targets.dtype.is_float() || targets.dtype.is_bool() {
        return Err(InferError::op(format!("the targets must be integers, they are {}", targets.dtype)));
    }
    Domain::Floats.demand(predictions.dtype)?;
    let (expected, classes) = split(predictions)?;
    let found = TensorDims::of(targets);
    if let (Some(x), Some(y)) = (expected.rank(), found.rank())
        && x != y
    {
        return Err(InferError::op(format!("the targets must have rank {x}, not {y}")));
    }
    if let (TensorDims::Known(x), TensorDims::Known(y)) = (&expected, &found) {
        agree(cx, x, y)?;
    }
    let dtype = match a.args.len() {
        0..=2 => predictions.dtype,
        _ => weighted(cx, predictions, tensor(a, 2)?, classes)?,
    };
    match str_attr(a.call, "reduction")? {
        "none" => Ok(expected.tensor(dtype)),
        _ => Ok(TensorDims::Known([].into()).tensor(dtype)),
    }
}

/// Checks that there is a weight for each class.
fn weighted(
    cx: &mut Cx,
    predictions: &TensorStructInfo,
    weights: &TensorStructInfo,
    classes: Option<PrimExpr>,
) -> Result<crate::grammar::DataType, InferError> {
    Domain::Floats.demand(weights.dtype)?;
    let dims = TensorDims::of(weights);
    if let Some(rank) = dims.rank()
        && rank != 1
    {
        return Err(InferError::op(format!("the weights must have rank 1, not {rank}")));
    }
    if let (TensorDims::Known(dims), Some(classes)) = (dims, classes) {
        agree(cx, &dims, &[classes])?;
    }
    common_dtype(predictions.dtype, weights.dtype)
}

/// The negative prediction for the target class, times its weight. A mean is divided by the sum of the weights. Targets
/// equal to `ignore_index` are ignored.
fn nll_loss(m: &mut dyn Host, a: &EvalArgs<'_>) -> Result<Value, Stop> {
    let (predictions, targets) = (kernel::tensor(a, 0)?, kernel::tensor(a, 1)?);
    let weights = a.values.get(2).and_then(Value::as_tensor);
    let ignored = given_int(a.call, "ignore_index")?;
    let out = kernel::out(a)?;
    let classes = match predictions.shape() {
        [classes] | [_, classes, ..] => *classes,
        [] => 0,
    };
    let _held = kernel::beside(m, targets.len() as u64)?;
    m.spend(targets.len() as u64)?;
    let (mut losses, mut total) = (Vec::new(), 0.0);
    for index in indices(targets.shape()) {
        let target = at(targets, &index)?;
        let (loss, weight) = if integer(target)? == ignored {
            (0.0, 0.0)
        } else {
            one(predictions, weights, &index, coordinate(target, classes)?)?
        };
        losses.push(loss);
        total += weight;
    }
    let sum: f64 = losses.iter().sum();
    let losses = match str_attr(a.call, "reduction")? {
        "none" => losses,
        "sum" => vec![sum],
        _ => vec![sum / total],
    };
    let losses: Vec<Scalar> = losses.into_iter().map(Scalar::Float).collect();
    fresh(from_list(m, out.dtype, &out.shape, &losses)?)
}

/// The loss and the weight of one target.
fn one(predictions: &Tensor, weights: Option<&Tensor>, index: &[i64], class: i64) -> Result<(f64, f64), Stop> {
    let weight = weight_of_class(weights, class)?;
    Ok(((0.0 - float(Some(at(predictions, &place_of_class(index, class))?))?) * weight, weight))
}

/// The index of the prediction for a class, given the index of the target.
pub(in crate::ops) fn place_of_class(index: &[i64], class: i64) -> Vec<i64> {
    match index {
        [] => vec![class],
        [batch, rest @ ..] => [&[*batch, class], rest].concat(),
    }
}

/// The weight of a class; 1 if there are no weights.
pub(in crate::ops) fn weight_of_class(weights: Option<&Tensor>, class: i64) -> Result<f64, Stop> {
    match weights {
        Some(weights) => float(Some(at(weights, &[class])?)),
        None => Ok(1.0),
    }
}
