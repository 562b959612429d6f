//! Erasing what has gone out of scope.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::mapping::{all_shape_vars, introduced_shape_vars};
use super::surroundings::{Introduced, Scope, Surroundings};
use crate::book::Erratum;
use crate::grammar::{FuncStructInfo, PrimExpr, ShapeStructInfo, StructInfo, TensorShape, TensorStructInfo};
use crate::judge::Cx;

/// SI.ERASE_WD: weakens `s` until it mentions no Relax variable outside Δ and no shape variable outside Σ.
///
/// 2023-02, Erasing Out-of-Scope Information. Literal A24: a shape without out-of-scope variables falls off the end
/// of the procedure, for which `ObjectStructInfo` stands. Literal A44: all variables of a parameter come into
/// scope, those of nested function types and of compound dimensions too.
pub fn erase_to_well_defined(cx: &mut Cx, s: &StructInfo, scope: &dyn Surroundings) -> StructInfo {
    erase(cx, s, &Scope::new(scope))
}

fn erase(cx: &mut Cx, s: &StructInfo, scope: &Scope) -> StructInfo {
    cx.judge(
        "erase_to_well_defined",
        || vec![s.to_string()],
        |cx| match s {
            StructInfo::Object => erase_object(cx, s),
            StructInfo::Tensor(tensor) => erase_tensor(cx, s, tensor, scope),
            StructInfo::Shape(shape) => erase_shape(cx, s, shape, scope),
            StructInfo::Tuple(fields) => erase_tuple(cx, fields, scope),
            StructInfo::Func(func) => match &func.params {
                Some(params) => erase_func(cx, func, params, scope),
                None => erase_packed(cx, func, scope),
            },
            // A53: information about boxed scalars mentions no dimension that could go out of scope, save a value.
            StructInfo::Prim(prim) => match &prim.value {
                Some(value) if mentions_unknown(value, scope) => StructInfo::prim(prim.dtype),
                Some(_) | None => s.clone(),
            },
        },
    )
}

fn mentions_unknown(e: &PrimExpr, scope: &Scope) -> bool {
    let mut found = false;
    e.for_each_var(|v| found |= !scope.has_shape_var(v));
    found
}

fn erase_object(cx: &mut Cx, s: &StructInfo) -> StructInfo {
    // Masking leaves no answer, for which the empty tuple stands.
    if cx.fire(rule!("SI.ERASE_WD.OBJECT")) { s.clone() } else { StructInfo::tuple([]) }
}

fn erase_tensor(cx: &mut Cx, s: &StructInfo, tensor: &TensorStructInfo, scope: &Scope) -> StructInfo {
    let without = || StructInfo::Tensor(TensorStructInfo { shape: None, ..tensor.clone() });
    let drop = match &tensor.shape {
        Some(TensorShape::Var(v) | TensorShape::DataflowVar(v)) => {
            cx.rule(rule!("SI.ERASE_WD.TENSOR.VAR"), !scope.has_var(v))
        }
        Some(TensorShape::Dims(dims)) => {
            let unknown = dims.iter().any(|dim| mentions_unknown(dim, scope));
            cx.rule(rule!("SI.ERASE_WD.TENSOR.DIMS"), unknown)
        }
        // Criterion 13 admits no other expression; nothing is known of its variables.
        Some(TensorShape::Other(_)) => true,
        None => return if cx.fire(rule!("SI.ERASE_WD.TENSOR.NOSHAPE")) { s.clone() } else { StructInfo::Object },
    };
    if drop {
        return without();
    }
    if cx.fire(rule!("SI.ERASE_WD.TENSOR.KEEP")) { s.clone() } else { without() }
}

fn erase_shape(cx: &mut Cx, s: &StructInfo, shape: &ShapeStructInfo, scope: &Scope) -> StructInfo {
    let without = || StructInfo::Shape(ShapeStructInfo { values: None, ndim: shape.ndim });
    let unknown = shape.values.iter().flat_map(|values| values.iter()).any(|value| mentions_unknown(value, scope));
    if cx.rule(rule!("SI.ERASE_WD.SHAPE.DROP"), unknown) {
        return without();
    }
    if cx.literal(Erratum::A24) {
        return StructInfo::Object;
    }
    if cx.fire(rule!("SI.ERASE_WD.SHAPE.KEEP")) { s.clone() } else { StructInfo::Object }
}

fn erase_tuple(cx: &mut Cx, fields: &[StructInfo], scope: &Scope) -> StructInfo {
    if !cx.fire(rule!("SI.ERASE_WD.TUPLE")) {
        return StructInfo::Object;
    }
    StructInfo::Tuple(fields.iter().map(|field| erase(cx, field, scope)).collect())
}

/// The shape variables that come into scope with a parameter.
fn unbound_in_param(cx: &Cx, param: &StructInfo) -> BTreeSet<crate::grammar::ShapeVar> {
    if cx.literal(Erratum::A44) { all_shape_vars(param) } else { introduced_shape_vars(param) }
}

fn erase_func(cx: &mut Cx, func: &FuncStructInfo, params: &[StructInfo], scope: &Scope) -> StructInfo {
    let mut introduced = Vec::with_capacity(params.len());
    let grows = cx.fire(rule!("SI.ERASE_WD.FUNC.PARAMS"));
    // Without the order from left to right every parameter sees the variables of all.
    if grows && !cx.fire(rule!("SI.ERASE_WD.FUNC.ORDER")) {
        introduced.extend(params.iter().map(|param| scope.introduce(unbound_in_param(cx, param))));
    }
    let mut new_params = Vec::with_capacity(params.len());
    for param in params {
        if grows {
            introduced.push(scope.introduce(unbound_in_param(cx, param)));
        }
        new_params.push(erase(cx, param, scope));
    }
    if !cx.fire(rule!("SI.ERASE_WD.FUNC.RET")) {
        introduced.clear();
    }
    let ret = erase(cx, &func.ret, scope);
    if !cx.fire(rule!("SI.ERASE_WD.FUNC.RESTORE")) {
        introduced.into_iter().for_each(Introduced::keep);
    }
    let params = Some(new_params.into());
    StructInfo::Func(Arc::new(FuncStructInfo { params, ret, derive_func: None, pure: func.pure }))
}

fn erase_packed(cx: &mut Cx, func: &FuncStructInfo, scope: &Scope) -> StructInfo {
    if !cx.fire(rule!("SI.ERASE_WD.FUNC.PACKED")) {
        return StructInfo::Object;
    }
    let ret = erase(cx, &func.ret, scope);
    let derive_func = func.derive_func.clone();
    StructInfo::Func(Arc::new(FuncStructInfo { params: None, ret, derive_func, pure: func.pure }))
}
