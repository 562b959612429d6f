//! Erases information that is out of scope.

use std::collections::{BTreeMap, BTreeSet};
use std::slice;
use std::sync::Arc;

use super::apart::{distinct, told_inside, told_inside_and_back};
use super::closed::is_closed;
use super::mapping::{all_shape_vars, introduced_shape_vars};
use super::own::binds_in_any_order;
use super::substitute::replace_everywhere;
use super::surroundings::{JudgementScope, Surroundings};
use crate::book::Erratum;
use crate::grammar::{
    FuncStructInfo, PrimExpr, PrimStructInfo, ShapeStructInfo, ShapeVar, StructInfo, TensorShape, TensorStructInfo,
};
use crate::judge::{Cx, MemoQuery, VisitedTuples, is_new, with_stack};

/// SI.ERASE_WD: weakens `s` until it mentions no Relax variable outside Δ and no shape variable outside Σ.
///
/// 2023-02, Erasing Out-of-Scope Information. Literal A24: a shape without out-of-scope variables reaches the end of
/// the procedure without a result, which becomes `ObjectStructInfo`. Literal A44: all variables of a parameter come
/// into scope, including those of nested function types and of compound dimensions.
pub fn erase_to_well_defined(cx: &mut Cx, s: &StructInfo, scope: &dyn Surroundings) -> StructInfo {
    let scope = JudgementScope::new(scope);
    if !is_closed(s) && cx.literal(Erratum::A44) {
        // All variables of a parameter come into scope, but not different variables of the same names.
        let told = told_inside(cx, s, &scope);
        return erase(cx, &distinct(&told, &scope), &scope);
    }
    // A variable that a function type introduces before another one of the same name is different, and keeps its name.
    let (told, back) = told_inside_and_back(cx, s, &scope);
    let erased = erase(cx, &told, &scope);
    if back.is_empty() { erased } else { replace_everywhere(&erased, &back) }
}

fn erase(cx: &mut Cx, s: &StructInfo, scope: &JudgementScope) -> StructInfo {
    cx.judge("erase_to_well_defined", MemoQuery::of(s).at(scope.state()), |cx| match s {
        StructInfo::Object => cx.conclude(rule!("SI.ERASE_WD.OBJECT"), StructInfo::Object),
        StructInfo::Tensor(tensor) => erase_tensor(cx, s, tensor, scope),
        StructInfo::Shape(shape) => erase_shape(cx, s, shape, scope),
        StructInfo::Tuple(fields) => {
            let fields = fields.iter().map(|field| erase(cx, field, scope)).collect();
            cx.conclude(rule!("SI.ERASE_WD.TUPLE"), StructInfo::Tuple(fields))
        }
        StructInfo::Func(func) => match &func.params {
            Some(params) => erase_func(cx, func, params, scope),
            None => {
                let packed = erase_packed(cx, func, scope);
                cx.conclude(rule!("SI.ERASE_WD.FUNC.PACKED"), packed)
            }
        },
        StructInfo::Prim(prim) => erase_prim(cx, s, prim, scope),
    })
}

fn mentions_unknown(e: &PrimExpr, scope: &JudgementScope) -> bool {
    let mut found = false;
    e.for_each_var(|v| found |= !scope.has_shape_var(v));
    found
}

/// SI.ERASE_WD.PRIM: drops the value if it mentions a variable out of scope (A53).
///
/// Errata: N17, literally it is left unchanged.
fn erase_prim(cx: &mut Cx, s: &StructInfo, prim: &PrimStructInfo, scope: &JudgementScope) -> StructInfo {
    let left_alone = cx.has(rule!("SI.ERASE_WD.PRIM")) && cx.literal(Erratum::N17);
    let is_out = prim.value.as_ref().is_some_and(|value| mentions_unknown(value, scope));
    let erased = if is_out && !left_alone { StructInfo::prim(prim.dtype) } else { s.clone() };
    cx.conclude(rule!("SI.ERASE_WD.PRIM"), erased)
}

/// SI.ERASE_WD.TENSOR: drops the shape if it mentions a variable out of scope.
fn erase_tensor(cx: &mut Cx, s: &StructInfo, tensor: &TensorStructInfo, scope: &JudgementScope) -> StructInfo {
    let (var_is_out, dim_is_out) = match &tensor.shape {
        None => return cx.conclude(rule!("SI.ERASE_WD.TENSOR.NOSHAPE"), s.clone()),
        // Criterion 13 allows no other expression; nothing is known about its variables.
        Some(TensorShape::Other(_)) => return without_shape(cx, tensor),
        Some(TensorShape::Var(v) | TensorShape::DataflowVar(v)) => (!scope.has_var(v), false),
        Some(TensorShape::Dims(dims)) => (false, dims.iter().any(|dim| mentions_unknown(dim, scope))),
    };
    let keeps_shape = cx.by_cases((
        &[(rule!("SI.ERASE_WD.TENSOR.VAR"), var_is_out, false), (rule!("SI.ERASE_WD.TENSOR.DIMS"), dim_is_out, false)],
        (rule!("SI.ERASE_WD.TENSOR.KEEP"), true),
    ));
    if keeps_shape { s.clone() } else { without_shape(cx, tensor) }
}

/// The tensor without its shape. Errata: N18, literally the device is dropped with the shape.
fn without_shape(cx: &Cx, tensor: &TensorStructInfo) -> StructInfo {
    let vdevice = tensor.vdevice.clone().filter(|_| !cx.literal(Erratum::N18));
    StructInfo::Tensor(TensorStructInfo { shape: None, vdevice, ..tensor.clone() })
}

/// SI.ERASE_WD.SHAPE: drops the values if they mention a variable out of scope.
fn erase_shape(cx: &mut Cx, s: &StructInfo, shape: &ShapeStructInfo, scope: &JudgementScope) -> StructInfo {
    let unknown = shape.values.iter().flat_map(|values| values.iter()).any(|value| mentions_unknown(value, scope));
    let without_values = StructInfo::Shape(ShapeStructInfo { values: None, ndim: shape.ndim });
    if !unknown && cx.literal(Erratum::A24) {
        return StructInfo::Object;
    }
    let keeps_values =
        cx.by_cases((&[(rule!("SI.ERASE_WD.SHAPE.DROP"), unknown, false)], (rule!("SI.ERASE_WD.SHAPE.KEEP"), true)));
    if keeps_values { s.clone() } else { without_values }
}

/// The shape variables that come into scope with a parameter. The weakened parameter must still introduce them, and the
/// part that does must not mention any others.
fn unbound_in_params(cx: &Cx, params: &[StructInfo], scope: &JudgementScope) -> BTreeSet<ShapeVar> {
    if cx.literal(Erratum::A44) {
        return params.iter().flat_map(all_shape_vars).collect();
    }
    let mut parts = Vec::new();
    let literal = cx.literal(Erratum::A24);
    params.iter().for_each(|param| collect_parts(param, literal, &mut VisitedTuples::default(), &mut parts));
    still_introduced(&parts, scope)
}

/// A part of a parameter, which is kept if everything it mentions is in scope.
struct ParameterPart {
    mentions: BTreeSet<ShapeVar>,
    introduces: BTreeSet<ShapeVar>,
}

/// Collects the parts of a parameter. Literal A24: no shape is kept. A repeated tuple is visited once.
fn collect_parts(s: &StructInfo, without_shapes: bool, seen: &mut VisitedTuples, parts: &mut Vec<ParameterPart>) {
    with_stack(|| match s {
        StructInfo::Tuple(fields) if is_new(fields, seen) => {
            fields.iter().for_each(|field| collect_parts(field, without_shapes, seen, parts));
        }
        StructInfo::Shape(_) if without_shapes => {}
        StructInfo::Object | StructInfo::Tuple(_) | StructInfo::Func(_) => {}
        StructInfo::Tensor(_) | StructInfo::Shape(_) | StructInfo::Prim(_) => {
            parts.push(ParameterPart { mentions: all_shape_vars(s), introduces: introduced_shape_vars(s) });
        }
    })
}

/// The largest set of variables such that each is introduced by a part that mentions only variables of the set or in
/// scope. It is found by removing variables that are only introduced by parts with other variables, until nothing
/// changes.
fn still_introduced(parts: &[ParameterPart], scope: &JudgementScope) -> BTreeSet<ShapeVar> {
    let mut times: BTreeMap<&ShapeVar, usize> = BTreeMap::new();
    let mut mentioning: BTreeMap<&ShapeVar, Vec<usize>> = BTreeMap::new();
    for (i, part) in parts.iter().enumerate() {
        part.introduces.iter().for_each(|var| *times.entry(var).or_default() += 1);
        let open = part.mentions.iter().filter(|var| !scope.has_shape_var(var));
        open.for_each(|var| mentioning.entry(var).or_default().push(i));
    }
    let mut gone: Vec<&ShapeVar> = mentioning.keys().copied().filter(|var| !times.contains_key(var)).collect();
    let mut dropped = vec![false; parts.len()];
    while let Some(var) = gone.pop() {
        for i in mentioning.remove(var).into_iter().flatten() {
            let (Some(part), Some(dropped)) = (parts.get(i), dropped.get_mut(i)) else { continue };
            if std::mem::replace(dropped, true) {
                continue;
            }
            for introduced in &part.introduces {
                if let Some(left) = times.get_mut(introduced) {
                    *left -= 1;
                    if *left == 0 {
                        gone.push(introduced);
                    }
                }
            }
        }
    }
    times.into_iter().filter(|(_, left)| *left > 0).map(|(var, _)| var.clone()).collect()
}

/// SI.ERASE_WD.FUNC: erases a function from left to right. Each parameter has its own variables and those of earlier
/// parameters in scope, and the result has all. Afterwards they go out of scope. In later editions, where a signature
/// binds in any order, the variables of all parameters come into scope first (SI.ERASE_WD.FUNC.ORDER).
fn erase_func(cx: &mut Cx, func: &FuncStructInfo, params: &[StructInfo], scope: &JudgementScope) -> StructInfo {
    let binding = cx.conclude(rule!("SI.ERASE_WD.FUNC.PARAMS"), params);
    let in_turn: Vec<_> = params.iter().enumerate().collect();
    let mut introduced = Vec::with_capacity(params.len());
    let mut new_params = Vec::with_capacity(params.len());
    let at_once = binds_in_any_order(cx);
    if at_once {
        introduced.push(scope.enter(unbound_in_params(cx, binding, scope)));
    }
    for (i, param) in cx.conclude(rule!("SI.ERASE_WD.FUNC.ORDER"), in_turn) {
        if let Some(param) = binding.get(i).filter(|_| !at_once) {
            introduced.push(scope.enter(unbound_in_params(cx, slice::from_ref(param), scope)));
        }
        let weakened = erase(cx, param, scope);
        new_params.push((i, weakened));
    }
    new_params.sort_by_key(|(i, _)| *i);
    let ret = erase(cx, &func.ret, scope);
    let ret = cx.conclude(rule!("SI.ERASE_WD.FUNC.RET"), ret);
    if cx.fire(rule!("SI.ERASE_WD.FUNC.RESTORE")) {
        introduced.iter().for_each(|vars: &BTreeSet<ShapeVar>| scope.leave(vars));
    }
    let params = Some(new_params.into_iter().map(|(_, param)| param).collect());
    let pure = purity_of(cx, func);
    StructInfo::Func(Arc::new(FuncStructInfo { params, ret, derive_func: None, pure }))
}

/// SI.ERASE_WD.FUNC.PURITY: the purity is kept.
///
/// Errata: N19, literally it is dropped, and a function without it is not pure.
fn purity_of(cx: &mut Cx, func: &FuncStructInfo) -> Option<bool> {
    if !cx.has(rule!("SI.ERASE_WD.FUNC.PURITY")) {
        return func.pure;
    }
    let pure = if cx.literal(Erratum::N19) { func.pure.map(|_| false) } else { func.pure };
    if cx.fire(rule!("SI.ERASE_WD.FUNC.PURITY")) { pure } else { None }
}

fn erase_packed(cx: &mut Cx, func: &FuncStructInfo, scope: &JudgementScope) -> StructInfo {
    let ret = erase(cx, &func.ret, scope);
    let derive_func = func.derive_func.clone();
    let pure = purity_of(cx, func);
    StructInfo::Func(Arc::new(FuncStructInfo { params: None, ret, derive_func, pure }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::generate::{Tape, struct_info_pair};
    use crate::struct_info::{InScope, Nowhere};

    /// The same set, computed by repeated removal of parts that mention other variables.
    fn plainly(parts: &[ParameterPart], scope: &JudgementScope) -> BTreeSet<ShapeVar> {
        let mut own: BTreeSet<ShapeVar> = parts.iter().flat_map(|part| part.introduces.clone()).collect();
        loop {
            let stays =
                |part: &&ParameterPart| part.mentions.iter().all(|var| own.contains(var) || scope.has_shape_var(var));
            let still: BTreeSet<ShapeVar> =
                parts.iter().filter(stays).flat_map(|part| part.introduces.clone()).collect();
            if still == own {
                return own;
            }
            own = still;
        }
    }

    #[test]
    fn what_stays_introduced_is_as_the_plain_definition_says() {
        let vars = ["a", "b", "c", "d"].map(ShapeVar::new);
        let outside = InScope::new(&[], &vars[..1]);
        let (nowhere, outside) = (JudgementScope::new(&Nowhere), JudgementScope::new(&outside));
        let mut weakened = 0;
        for seed in 0..4_000 {
            let mut tape = Tape::from_seed(seed, 256);
            let mut parts = Vec::new();
            for _ in 0..3 {
                let (s1, s2) = struct_info_pair(&mut tape, 2, &vars);
                collect_parts(&StructInfo::tuple([s1, s2]), false, &mut VisitedTuples::default(), &mut parts);
            }
            for scope in [&nowhere, &outside] {
                let still = still_introduced(&parts, scope);
                weakened += usize::from(parts.iter().any(|part| !part.introduces.is_subset(&still)));
                assert_eq!(still, plainly(&parts, scope), "seed {seed}");
            }
        }
        assert!(weakened > 100, "{weakened}");
    }
}
