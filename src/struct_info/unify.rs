//! Unification: the least upper bound of two structural informations that the prover can justify.

use std::sync::Arc;

use super::apart::{apart_from, in_variables_of, told_inside};
use super::derive_func::same_derive_func;
use super::kinds::{Kinds, is_object};
use super::mapping::{introduced_around, params_of};
use super::order::{Relation, below};
use super::same_shape::{compare_known_shapes, compare_values};
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
    let scope = Scope::new(scope);
    let (s1, s2) = (told_inside(s1, &scope), told_inside(s2, &scope));
    unify(cx, &s1, &s2, &scope)
}

fn unify(cx: &mut Cx, s1: &StructInfo, s2: &StructInfo, scope: &Scope) -> StructInfo {
    cx.judge(
        "unify_struct_info",
        || vec![s1.to_string(), s2.to_string()],
        |cx| match Kinds::of(s1, s2) {
            _ if is_object(s2) => object(cx, s1),
            _ if is_object(s1) => object(cx, s2),
            Kinds::Shapes(a, b) => StructInfo::Shape(shape(cx, a, b)),
            Kinds::Tensors(a, b) => StructInfo::Tensor(tensor(cx, a, b, scope)),
            Kinds::Tuples(a, b) => tuple(cx, a, b, scope),
            Kinds::Funcs(a, b) => func(cx, a, b, scope),
            Kinds::Prims(a, b) => prim(cx, a, b),
            Kinds::Objects | Kinds::Different => cx.by_kind((rule!("SI.UNIFY.KIND"), StructInfo::Object)),
        },
    )
}

/// SI.UNIFY.OBJECT. Literally the other argument is returned (A01).
fn object(cx: &mut Cx, other: &StructInfo) -> StructInfo {
    let join = if cx.literal(Erratum::A01) { other.clone() } else { StructInfo::Object };
    cx.conclude(rule!("SI.UNIFY.OBJECT"), join)
}

/// SI.UNIFY.SHAPE.
fn shape(cx: &mut Cx, s1: &ShapeStructInfo, s2: &ShapeStructInfo) -> ShapeStructInfo {
    let of_any_rank = ShapeStructInfo { values: None, ndim: Ndim::Unknown };
    let of_rank = ShapeStructInfo { values: None, ndim: s1.ndim };
    let by_form = cx.by_cases(&[
        (rule!("SI.UNIFY.SHAPE.RANK1"), s1.ndim.is_unknown(), s1),
        (rule!("SI.UNIFY.SHAPE.RANK2"), s2.ndim.is_unknown(), s2),
        (rule!("SI.UNIFY.SHAPE.RANKDIFF"), s1.ndim != s2.ndim, &of_any_rank),
        (rule!("SI.UNIFY.SHAPE.NOVAL1"), s1.values.is_none(), s1),
        // The text tests that `S2.values` is defined (A05).
        (rule!("SI.UNIFY.SHAPE.NOVAL2"), s2.values.is_some() == cx.literal(Erratum::A05), s2),
    ]);
    let join = by_form.unwrap_or_else(|| {
        // Literally an undefined `S2.values` arrives here.
        let proof = compare_values(cx, s1.values.as_deref(), s2.values.as_deref()).proof;
        cx.by_cases_or(
            &[(rule!("SI.UNIFY.SHAPE.EQ"), proof == Proof::Equal, s1)],
            (rule!("SI.UNIFY.SHAPE.NEQ"), &of_rank),
        )
    });
    join.clone()
}

/// SI.UNIFY.TENSOR.
fn tensor(cx: &mut Cx, s1: &TensorStructInfo, s2: &TensorStructInfo, scope: &Scope) -> TensorStructInfo {
    let same_rank = s1.ndim == s2.ndim;
    let ndim = cx.conclude(rule!("SI.UNIFY.TENSOR.NDIM"), if same_rank { s1.ndim } else { Ndim::Unknown });
    let same_dtype = s1.dtype == s2.dtype;
    let dtype = cx.conclude(rule!("SI.UNIFY.TENSOR.DTYPE"), if same_dtype { s1.dtype } else { DataType::VOID });
    let comparable = s1.shape.is_some() && s2.shape.is_some() && same_rank && !s1.ndim.is_unknown();
    let shapes = if comparable { (s1.shape.as_ref(), s2.shape.as_ref()) } else { (None, None) };
    let proof = compare_known_shapes(cx, shapes.0, shapes.1, scope).proof;
    let keeps_shape = cx.by_cases_or(
        &[
            (rule!("SI.UNIFY.TENSOR.NOSHAPE"), !comparable, false),
            (rule!("SI.UNIFY.TENSOR.EQ"), proof == Proof::Equal, true),
        ],
        (rule!("SI.UNIFY.TENSOR.NEQ"), false),
    );
    if !keeps_shape {
        return TensorStructInfo { shape: None, dtype, ndim };
    }
    // The text returns `S1`, whatever the joined datatype is (A04).
    let dtype = if cx.literal(Erratum::A04) { s1.dtype } else { dtype };
    TensorStructInfo { shape: s1.shape.clone(), dtype, ndim }
}

/// SI.UNIFY.TUPLE: field by field.
fn tuple(cx: &mut Cx, fields1: &[StructInfo], fields2: &[StructInfo], scope: &Scope) -> StructInfo {
    let other_length = fields1.len() != fields2.len();
    if let Some(join) = cx.by_cases(&[(rule!("SI.UNIFY.TUPLE.LEN"), other_length, StructInfo::Object)]) {
        return join;
    }
    let pairs = fields1.iter().zip(fields2);
    cx.clause(rule!("SI.UNIFY.TUPLE.RET"), |cx| {
        StructInfo::Tuple(pairs.map(|(field1, field2)| unify(cx, field1, field2, scope)).collect())
    })
}

/// SI.UNIFY.FUNC.
fn func(cx: &mut Cx, f1: &Arc<FuncStructInfo>, f2: &Arc<FuncStructInfo>, scope: &Scope) -> StructInfo {
    match (&f1.params, &f2.params) {
        (None, None) => packed(cx, f1, f2),
        (Some(_), Some(_)) => closures(cx, f1, f2, scope),
        (None, Some(_)) | (Some(_), None) => cx.by_kind((rule!("SI.UNIFY.FUNC.FORM"), StructInfo::Object)),
    }
}

fn packed(cx: &mut Cx, f1: &Arc<FuncStructInfo>, f2: &FuncStructInfo) -> StructInfo {
    let same = same_derive_func(cx, f1.derive_func.as_ref(), f2.derive_func.as_ref());
    let keeps_derive_func = cx
        .by_cases_or(&[(rule!("SI.UNIFY.FUNC.PACKED.SAME"), same, true)], (rule!("SI.UNIFY.FUNC.PACKED.DIFF"), false));
    if keeps_derive_func { StructInfo::Func(f1.clone()) } else { StructInfo::packed(DeriveFunc::EmptyDerive) }
}

/// The purity of the join, where the infos have the optional field (A18): pure only if both are.
fn joined_purity(pure1: Option<bool>, pure2: Option<bool>) -> Option<bool> {
    match (pure1, pure2) {
        (None, _) | (_, None) => None,
        (Some(pure1), Some(pure2)) => Some(pure1 && pure2),
    }
}

fn closures(cx: &mut Cx, f1: &Arc<FuncStructInfo>, f2: &Arc<FuncStructInfo>, scope: &Scope) -> StructInfo {
    let (params1, params2) = (params_of(f1), params_of(f2));
    let other_arity = params1.len() != params2.len();
    if let Some(join) = cx.by_cases(&[(rule!("SI.UNIFY.FUNC.ARITY"), other_arity, StructInfo::Object)]) {
        return join;
    }
    // Literal A58: nothing is renamed.
    let by_name = cx.literal(Erratum::A58);
    let apart = if by_name { None } else { apart_from(f1, f2, scope) };
    let f1 = apart.as_ref().unwrap_or(f1);
    let renamed = if by_name { None } else { in_variables_of(f1, f2, scope) };
    let f2 = renamed.as_ref().unwrap_or(f2);
    let (params1, params2) = (params_of(f1), params_of(f2));
    let _introduced = scope.introduce(introduced_around(f1, f2));
    let mut unified_params = Vec::with_capacity(params1.len());
    for (param1, param2) in params1.iter().zip(params2) {
        match unified_param(cx, param1, param2, scope) {
            Some(param) => unified_params.push(param),
            None => return StructInfo::Object,
        }
    }
    cx.clause(rule!("SI.UNIFY.FUNC.RET"), |cx| {
        let ret = unify(cx, &f1.ret, &f2.ret, scope);
        let (params, pure) = (Some(unified_params.into()), joined_purity(f1.pure, f2.pure));
        StructInfo::Func(Arc::new(FuncStructInfo { params, ret, derive_func: None, pure }))
    })
}

/// The join of two parameters if it is below both, that is, if they are equal in effect.
fn unified_param(cx: &mut Cx, param1: &StructInfo, param2: &StructInfo, scope: &Scope) -> Option<StructInfo> {
    let join = unify(cx, param1, param2, scope);
    let below_both =
        below(cx, Relation::Definite, &join, param1, scope) && below(cx, Relation::Definite, &join, param2, scope);
    let kept = cx
        .by_cases_or(&[(rule!("SI.UNIFY.FUNC.PARAM-OK"), below_both, true)], (rule!("SI.UNIFY.FUNC.PARAM-BAD"), false));
    kept.then_some(join)
}

/// Different scalars have only `ObjectStructInfo` in common (A53).
fn prim(cx: &mut Cx, p1: &PrimStructInfo, p2: &PrimStructInfo) -> StructInfo {
    if !cx.holds(&[(rule!("PR14148.SI.PRIM.RULES"), 1, p1.dtype == p2.dtype)]) {
        return StructInfo::Object;
    }
    let equal = match (&p1.value, &p2.value) {
        (Some(value1), Some(value2)) => crate::shape::prove_equal(cx, value1, value2) == Proof::Equal,
        (Some(_), None) | (None, Some(_)) | (None, None) => false,
    };
    if equal { StructInfo::Prim(p1.clone()) } else { StructInfo::prim(p1.dtype) }
}
