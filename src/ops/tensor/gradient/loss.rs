//! `grad.nll_loss_backward`.

use super::{belongs, forward};
use crate::grammar::StructInfo;
use crate::judge::Cx;
use crate::ops::infer::{given_int, str_attr, tensor};
use crate::ops::kernel::elementwise::float;
use crate::ops::kernel::{self, at, beside, fresh, from_list, indices};
use crate::ops::tensor::indexing::gather::{coordinate, integer};
use crate::ops::tensor::loss::{infer_nll_loss, place_of_class, weight_of_class};
use crate::ops::{Attr, EvalArgs, InferArgs, InferError, OpDef, OpParam};
use crate::value::{Host, Scalar, Stop, Value};

pub(in crate::ops) const OPS: &[OpDef] = &[operator!(
    "grad.nll_loss_backward",
    [
        rule!("OPS.grad.nll_loss_backward.infer"),
        rule!("OPS.grad.nll_loss_backward.value"),
        rule!("OPS.grad.nll_loss_backward.attrs")
    ],
    [
        OpParam::Arg("output_grad"),
        OpParam::Arg("predictions"),
        OpParam::Arg("targets"),
        OpParam::OptionalArg("weights"),
        OpParam::Attr(Attr::str("reduction", &["none", "mean", "sum"], "mean")),
        OpParam::Attr(Attr::int("ignore_index", -100))
    ],
    infer_nll_loss_backward,
    Accumulated,
    nll_loss_backward
)];

fn infer_nll_loss_backward(cx: &mut Cx, a: &InferArgs<'_>) -> Result<StructInfo, InferError> {
    let gradient = tensor(a, 0)?;
    let loss = infer_nll_loss(cx, &forward(a))?;
    belongs(cx, gradient, &loss)?;
    Ok(StructInfo::Tensor(tensor(a, 1)?.clone()))
}

/// The negative weight of the target class, times the gradient of its loss.
fn nll_loss_backward(m: &mut dyn Host, a: &EvalArgs<'_>) -> Result<Value, Stop> {
    let (gradient, predictions, targets) = (kernel::tensor(a, 0)?, kernel::tensor(a, 1)?, kernel::tensor(a, 2)?);
    let weights = a.values.get(3).and_then(Value::as_tensor);
    let ignored = given_int(a.call, "ignore_index")?;
    let reduction = str_attr(a.call, "reduction")?;
    let out = kernel::out(a)?;
    let &([classes] | [_, classes, ..]) = predictions.shape() else {
        return Err(kernel::fail("the predictions have no axis of classes"));
    };
    let _held = beside(m, (targets.len() as u64).saturating_mul(2).saturating_add(predictions.len() as u64))?;
    m.spend(targets.len() as u64)?;
    let (mut found, mut total) = (Vec::new(), 0.0);
    for index in indices(targets.shape()) {
        let target = at(targets, &index)?;
        if integer(target)? == ignored {
            continue;
        }
        let class = coordinate(target, classes)?;
        let weight = weight_of_class(weights, class)?;
        total += weight;
        let of_loss = at(gradient, if reduction == "none" { &index } else { &[] })?;
        found.push((place_of_class(&index, class), float(of_loss)? * weight));
    }
    let divisor = if reduction == "mean" { total } else { 1.0 };
    let mut elements = vec![Scalar::Float(0.0); predictions.len()];
    for (place, product) in found {
        let flat = place.iter().zip(predictions.shape()).fold(0, |flat, (i, size)| flat * size + i);
        if let Some(slot) = usize::try_from(flat).ok().and_then(|flat| elements.get_mut(flat)) {
            *slot = Scalar::Float(-product / divisor);
        }
    }
    fresh(from_list(m, out.dtype, &out.shape, &elements)?)
}
