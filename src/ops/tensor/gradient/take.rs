//! `grad.take_backward`.

use ndarray::{ArrayD, IxDyn};

use super::{belongs, forward};
use crate::book::Erratum;
use crate::grammar::StructInfo;
use crate::judge::Cx;
use crate::ops::infer::{Domain, arity, axis, int_attr, str_attr, tensor};
use crate::ops::kernel::array::{of_scalars, sizes};
use crate::ops::kernel::{self, at, beside, constant_one, fail, multiply_add, wrapped, zero};
use crate::ops::tensor::indexing::slice::{chosen, infer_take};
use crate::ops::{Attr, AttrKind, EvalArgs, InferArgs, InferError, OpDef, OpParam};
use crate::value::{Host, Stop, Value};

pub(in crate::ops) const OPS: &[OpDef] = &[operator!(
    "grad.take_backward",
    [
        rule!("OPS.grad.take_backward.infer"),
        rule!("OPS.grad.take_backward.value"),
        rule!("OPS.grad.take_backward.attrs")
    ],
    [
        OpParam::Arg("output_grad"),
        OpParam::Arg("x"),
        OpParam::Arg("indices"),
        OpParam::Attr(Attr::optional("axis", AttrKind::Int)),
        OpParam::Attr(Attr::str("mode", &["fast", "wrap", "clip", "nan"], "fast"))
    ],
    infer_take_backward,
    Accumulated,
    take_backward
)];

fn infer_take_backward(cx: &mut Cx, a: &InferArgs<'_>) -> Result<StructInfo, InferError> {
    arity::<3>(a)?;
    let (gradient, x) = (tensor(a, 0)?, tensor(a, 1)?);
    Domain::Numbers.demand(x.dtype)?;
    Domain::Numbers.demand(gradient.dtype)?;
    tensor(a, 2)?;
    let taken = infer_take(cx, &forward(a))?;
    belongs(cx, gradient, &taken)?;
    Ok(StructInfo::Tensor(x.clone()))
}

/// Adds each element of the gradient at the position from which the corresponding element was taken.
fn take_backward(m: &mut dyn Host, a: &EvalArgs<'_>) -> Result<Value, Stop> {
    let (gradient, x, indices) = (kernel::tensor(a, 0)?, kernel::tensor(a, 1)?, kernel::tensor(a, 2)?);
    let along = int_attr(a.call, "axis")?.map_or(Ok(0), |given| axis(given, x.shape().len()))?;
    let size = x.shape().get(along).copied().unwrap_or(0);
    let (inner, mode) = (along + indices.shape().len(), str_attr(a.call, "mode")?);
    let from_the_end = !m.cx().literal(Erratum::A60);
    let _held = beside(m, x.len() as u64)?;
    m.spend(gradient.len() as u64)?;
    let mut out = ArrayD::from_elem(IxDyn(&sizes(x.shape())?), zero(x.dtype()));
    for index in kernel::indices(gradient.shape()) {
        let (head, tail) = index.split_at(inner.min(index.len()));
        let (head, place) = head.split_at(along.min(head.len()));
        // An index that selected no element contributes nothing.
        let Some(chosen) = chosen(at(indices, place)?, size, mode, from_the_end)? else { continue };
        let slot = out.get_mut(IxDyn(&sizes(&[head, &[chosen], tail].concat())?));
        let slot = slot.ok_or_else(|| fail("a place outside of what is taken from"))?;
        let element = at(gradient, &index)?;
        *slot = wrapped(multiply_add(*slot, element, constant_one(element))?, x.dtype())?;
    }
    of_scalars(m, x.dtype(), &out)
}
