//! Unification: the least upper bound of two structural informations that the prover can justify.

use std::sync::Arc;

use super::derive_func::same_derive_func;
use super::mapping::introduced_around;
use super::order::{Relation, below};
use super::same_shape::{compare_dims, compare_shapes};
use super::surroundings::{Nowhere, Scope, Surroundings};
use crate::book::Erratum;
use crate::grammar::{
    DataType, DeriveFunc, FuncStructInfo, Ndim, PrimStructInfo, ShapeStructInfo, StructInfo, TensorStructInfo,
};
use crate::judge::{Cx, Proof};

/// SI.UNIFY: an upper bound of both arguments under `<<:`. Nothing is in scope.
///
/// 2023-02, Unification. Literal A01: joined with `ObjectStructInfo`, the other argument is returned. Literal A04:
/// tensors of equal shapes keep the first datatype. Literal A05: a defined right `values` is returned unseen.
pub fn unify_struct_info(cx: &mut Cx, s1: &StructInfo, s2: &StructInfo) -> StructInfo {
    unify_struct_info_in(cx, s1, s2, &Nowhere)
}

/// As [`unify_struct_info`], at a place where the variables of `scope` are bound.
pub fn unify_struct_info_in(cx: &mut Cx, s1: &StructInfo, s2: &StructInfo, scope: &dyn Surroundings) -> StructInfo {
    unify(cx, s1, s2, &Scope::new(scope))
}

fn unify(cx: &mut Cx, s1: &StructInfo, s2: &StructInfo, scope: &Scope) -> StructInfo {
    cx.judge(
        "unify_struct_info",
        || vec![s1.to_string(), s2.to_string()],
        |cx| match (s1, s2) {
            (_, StructInfo::Object) => object(cx, s1),
            (StructInfo::Object, _) => object(cx, s2),
            (StructInfo::Shape(a), StructInfo::Shape(b)) => shape(cx, a, b),
            (StructInfo::Tensor(a), StructInfo::Tensor(b)) => tensor(cx, a, b, scope),
            (StructInfo::Tuple(a), StructInfo::Tuple(b)) => tuple(cx, a, b, scope),
            (StructInfo::Func(a), StructInfo::Func(b)) => func(cx, a, b, scope),
            (StructInfo::Prim(a), StructInfo::Prim(b)) => prim(cx, a, b),
            (
                StructInfo::Tensor(_)
                | StructInfo::Shape(_)
                | StructInfo::Prim(_)
                | StructInfo::Tuple(_)
                | StructInfo::Func(_),
                StructInfo::Tensor(_)
                | StructInfo::Shape(_)
                | StructInfo::Prim(_)
                | StructInfo::Tuple(_)
                | StructInfo::Func(_),
            ) => kind(cx, s1),
        },
    )
}

fn object(cx: &mut Cx, other: &StructInfo) -> StructInfo {
    if cx.fire(rule!("SI.UNIFY.OBJECT")) && !cx.literal(Erratum::A01) { StructInfo::Object } else { other.clone() }
}

fn kind(cx: &mut Cx, s1: &StructInfo) -> StructInfo {
    if cx.fire(rule!("SI.UNIFY.KIND")) { StructInfo::Object } else { s1.clone() }
}

fn shape(cx: &mut Cx, s1: &ShapeStructInfo, s2: &ShapeStructInfo) -> StructInfo {
    let of_ndim = |ndim| StructInfo::Shape(ShapeStructInfo { values: None, ndim });
    let (first, second) = (|| StructInfo::Shape(s1.clone()), || StructInfo::Shape(s2.clone()));
    if cx.rule(rule!("SI.UNIFY.SHAPE.RANK1"), s1.ndim.is_unknown()) {
        return first();
    }
    if cx.rule(rule!("SI.UNIFY.SHAPE.RANK2"), s2.ndim.is_unknown()) {
        return second();
    }
    if cx.rule(rule!("SI.UNIFY.SHAPE.RANKDIFF"), s1.ndim != s2.ndim) {
        return of_ndim(Ndim::Unknown);
    }
    let Some(values1) = &s1.values else {
        return if cx.fire(rule!("SI.UNIFY.SHAPE.NOVAL1")) { first() } else { second() };
    };
    // The text tests that `S2.values` is defined (A05).
    let returned = s2.values.is_some() == cx.literal(Erratum::A05);
    if cx.rule(rule!("SI.UNIFY.SHAPE.NOVAL2"), returned) {
        return second();
    }
    // Literally an undefined `S2.values` arrives here; nothing can be proven of it.
    let proof = s2.values.as_ref().map_or(Proof::Unknown, |values2| compare_dims(cx, values1, values2).proof);
    if cx.rule(rule!("SI.UNIFY.SHAPE.EQ"), proof == Proof::Equal) {
        return first();
    }
    if cx.fire(rule!("SI.UNIFY.SHAPE.NEQ")) { of_ndim(s1.ndim) } else { first() }
}

fn tensor(cx: &mut Cx, s1: &TensorStructInfo, s2: &TensorStructInfo, scope: &Scope) -> StructInfo {
    let ndim = if cx.fire(rule!("SI.UNIFY.TENSOR.NDIM")) && s1.ndim != s2.ndim { Ndim::Unknown } else { s1.ndim };
    let other = cx.fire(rule!("SI.UNIFY.TENSOR.DTYPE")) && s1.dtype != s2.dtype;
    let dtype = if other { DataType::VOID } else { s1.dtype };
    let without = StructInfo::Tensor(TensorStructInfo { shape: None, dtype, ndim });
    let (Some(shape1), Some(shape2), false, false) = (&s1.shape, &s2.shape, s1.ndim != s2.ndim, s1.ndim.is_unknown())
    else {
        return if cx.fire(rule!("SI.UNIFY.TENSOR.NOSHAPE")) { without } else { StructInfo::Tensor(s1.clone()) };
    };
    let proof = compare_shapes(cx, shape1, shape2, scope).proof;
    if cx.rule(rule!("SI.UNIFY.TENSOR.EQ"), proof == Proof::Equal) {
        // The text returns `S1`, whatever the joined datatype is (A04).
        let dtype = if cx.literal(Erratum::A04) { s1.dtype } else { dtype };
        return StructInfo::Tensor(TensorStructInfo { shape: s1.shape.clone(), dtype, ndim });
    }
    if cx.fire(rule!("SI.UNIFY.TENSOR.NEQ")) { without } else { StructInfo::Tensor(s1.clone()) }
}

fn tuple(cx: &mut Cx, fields1: &[StructInfo], fields2: &[StructInfo], scope: &Scope) -> StructInfo {
    if cx.rule(rule!("SI.UNIFY.TUPLE.LEN"), fields1.len() != fields2.len()) || !cx.fire(rule!("SI.UNIFY.TUPLE.RET")) {
        return StructInfo::Object;
    }
    let pairs = fields1.iter().zip(fields2);
    StructInfo::Tuple(pairs.map(|(field1, field2)| unify(cx, field1, field2, scope)).collect())
}

fn func(cx: &mut Cx, f1: &Arc<FuncStructInfo>, f2: &Arc<FuncStructInfo>, scope: &Scope) -> StructInfo {
    match (&f1.params, &f2.params) {
        (None, None) => packed(cx, f1, f2),
        (Some(params1), Some(params2)) => closures(cx, f1, params1, f2, params2, scope),
        (None, Some(_)) | (Some(_), None) => {
            if cx.fire(rule!("SI.UNIFY.FUNC.FORM")) {
                StructInfo::Object
            } else {
                StructInfo::Func(f1.clone())
            }
        }
    }
}

fn packed(cx: &mut Cx, f1: &Arc<FuncStructInfo>, f2: &FuncStructInfo) -> StructInfo {
    let same = same_derive_func(cx, f1.derive_func.as_ref(), f2.derive_func.as_ref());
    if cx.rule(rule!("SI.UNIFY.FUNC.PACKED.SAME"), same) {
        return StructInfo::Func(f1.clone());
    }
    let bound = cx.fire(rule!("SI.UNIFY.FUNC.PACKED.DIFF"));
    if bound { StructInfo::packed(DeriveFunc::EmptyDerive) } else { StructInfo::Object }
}

/// The purity of the join, where the infos have the optional field (A18): pure only if both are.
fn joined_purity(pure1: Option<bool>, pure2: Option<bool>) -> Option<bool> {
    match (pure1, pure2) {
        (None, _) | (_, None) => None,
        (Some(pure1), Some(pure2)) => Some(pure1 && pure2),
    }
}

fn closures(
    cx: &mut Cx,
    f1: &FuncStructInfo,
    params1: &[StructInfo],
    f2: &FuncStructInfo,
    params2: &[StructInfo],
    scope: &Scope,
) -> StructInfo {
    if cx.rule(rule!("SI.UNIFY.FUNC.ARITY"), params1.len() != params2.len()) {
        return StructInfo::Object;
    }
    let _introduced = scope.introduce(introduced_around(f1, f2));
    let mut unified_params = Vec::with_capacity(params1.len());
    for (param1, param2) in params1.iter().zip(params2) {
        match unified_param(cx, param1, param2, scope) {
            Some(param) => unified_params.push(param),
            None => return StructInfo::Object,
        }
    }
    if !cx.fire(rule!("SI.UNIFY.FUNC.RET")) {
        return StructInfo::Object;
    }
    let ret = unify(cx, &f1.ret, &f2.ret, scope);
    let (params, pure) = (Some(unified_params.into()), joined_purity(f1.pure, f2.pure));
    StructInfo::Func(Arc::new(FuncStructInfo { params, ret, derive_func: None, pure }))
}

/// The join of two parameters if it is below both, that is, if they are equal in effect.
fn unified_param(cx: &mut Cx, param1: &StructInfo, param2: &StructInfo, scope: &Scope) -> Option<StructInfo> {
    let join = unify(cx, param1, param2, scope);
    let below_both =
        below(cx, Relation::Definite, &join, param1, scope) && below(cx, Relation::Definite, &join, param2, scope);
    if cx.rule(rule!("SI.UNIFY.FUNC.PARAM-OK"), below_both) {
        return Some(join);
    }
    if cx.fire(rule!("SI.UNIFY.FUNC.PARAM-BAD")) { None } else { Some(join) }
}

/// Different scalars have only `ObjectStructInfo` in common (A53).
fn prim(cx: &mut Cx, p1: &PrimStructInfo, p2: &PrimStructInfo) -> StructInfo {
    if !cx.premise(rule!("PR14148.SI.PRIM.RULES"), 1, p1.dtype == p2.dtype) {
        return StructInfo::Object;
    }
    let equal = match (&p1.value, &p2.value) {
        (Some(value1), Some(value2)) => crate::shape::prove_equal(cx, value1, value2) == Proof::Equal,
        (Some(_), None) | (None, Some(_)) | (None, None) => false,
    };
    if equal { StructInfo::Prim(p1.clone()) } else { StructInfo::prim(p1.dtype) }
}
