//! Whether the inputs of a `call_tir` can be what the buffers of the `PrimFunc` are declared to be.

use std::collections::BTreeMap;

use crate::grammar::tir::{Buffer, Expr as TirExpr, Param, PrimFunc};
use crate::grammar::{Expr, GlobalFunc, Name, Ndim, PrimExpr, StructInfo, TensorStructInfo};
use crate::judge::{Cx, Proof};
use crate::ops::infer::Dims;
use crate::ops::{CallForm, InferArgs, InferError};
use crate::shape::prove_equal;

/// OP.CALLTIR.DPS: the inputs are passed first, so the first parameters are matched with them. What is certain not to fit would stop
/// every run, and is an error of the call.
pub(super) fn inputs_fit(cx: &mut Cx, a: &InferArgs<'_>) -> Result<(), InferError> {
    let Some((name, func)) = callee(a) else { return Ok(()) };
    let Some(inputs) = inputs(a) else { return Ok(()) };
    let mut sizes = BTreeMap::new();
    for (i, (param, input)) in func.params.iter().zip(inputs).enumerate() {
        let fault = match (param, input) {
            (Param::Buffer(buffer), StructInfo::Tensor(tensor)) => misfit(cx, buffer, tensor, &mut sizes),
            (Param::Buffer(_), StructInfo::Shape(_) | StructInfo::Prim(_) | StructInfo::Func(_)) => {
                Some("a tensor".to_string())
            }
            (Param::Scalar(_), StructInfo::Tensor(_) | StructInfo::Shape(_) | StructInfo::Func(_)) => {
                Some("a scalar".to_string())
            }
            (Param::Buffer(_) | Param::Scalar(_) | Param::Handle(_), _) => None,
        };
        if let Some(expected) = fault {
            return Err(InferError::op(format!("input {i} is {input}, where @{name} takes {expected}")));
        }
    }
    Ok(())
}

fn callee<'a>(a: &InferArgs<'a>) -> Option<(&'a Name, &'a PrimFunc)> {
    let Some(Expr::GlobalVar(gv)) = a.call.args.first() else { return None };
    match a.module?.get(&gv.name)? {
        GlobalFunc::PrimFunc(func) => Some((&gv.name, func)),
        GlobalFunc::Function(_) | GlobalFunc::ExternFunc(_) => None,
    }
}

/// What is known of each input, as far as one knows which they are (C14).
fn inputs<'a>(a: &InferArgs<'a>) -> Option<&'a [StructInfo]> {
    let (_, rest) = a.args.split_first()?;
    match (CallForm::infer(a.args, &a.call.sinfo_args), rest) {
        (CallForm::Tupled, [StructInfo::Tuple(fields), ..]) => Some(fields),
        (CallForm::Tupled, _) => None,
        (CallForm::Flat, [StructInfo::Tuple(fields), _]) => Some(fields),
        (CallForm::Flat, [StructInfo::Object, _]) => None,
        (CallForm::Flat, [inputs @ .., _]) => Some(inputs),
        (CallForm::Flat, []) => None,
    }
}

/// What a buffer demands that a tensor certainly is not. A variable of the `PrimFunc` is the size that it is first matched with.
fn misfit(
    cx: &mut Cx,
    buffer: &Buffer,
    tensor: &TensorStructInfo,
    sizes: &mut BTreeMap<Name, PrimExpr>,
) -> Option<String> {
    let other_dtype = !tensor.dtype.is_void() && tensor.dtype != buffer.dtype;
    let other_rank = !tensor.ndim.is_unknown() && tensor.ndim != Ndim::of_len(buffer.shape.len());
    let expected = || {
        let dims: Vec<String> = buffer.shape.iter().map(shown).collect();
        format!("a tensor of {} and the shape ({})", buffer.dtype, dims.join(", "))
    };
    if other_dtype || other_rank {
        return Some(expected());
    }
    let Dims::Known(dims) = Dims::of(tensor) else { return None };
    for (declared, given) in buffer.shape.iter().zip(dims.iter()) {
        let size = size_of(declared, |var| sizes.entry(var.clone()).or_insert_with(|| given.clone()).clone());
        if size.is_some_and(|size| prove_equal(cx, &size, given) == Proof::Different) {
            return Some(expected());
        }
    }
    None
}

/// A dimension that is a number or a variable alone; what is computed is not looked at.
fn size_of(dim: &TirExpr, var: impl FnOnce(&Name) -> PrimExpr) -> Option<PrimExpr> {
    if let TirExpr::Int(size, _) = dim {
        return Some(PrimExpr::IntImm(*size));
    }
    if let TirExpr::Var(known) = dim { Some(var(&known.name)) } else { None }
}

fn shown(dim: &TirExpr) -> String {
    size_of(dim, |var| PrimExpr::var(var)).map_or_else(|| "..".to_string(), |size| size.to_string())
}
