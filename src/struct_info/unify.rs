//! Unification: the least upper bound of two pieces of structural information that the prover can justify.

use std::sync::Arc;

use super::apart::{apart_from, in_variables_of, told_in_both};
use super::derive_func::same_derive_func;
use super::kinds::{InfoPair, is_object};
use super::mapping::{introduced_around, params_of};
use super::order::{ShapeRelation, below};
use super::own::Own;
use super::same_shape::{compare_known_shapes, compare_values};
use super::spelling::{note_spelling, spelled_as_joined};
use super::substitute::replace_everywhere;
use super::surroundings::{JudgementScope, Nowhere, Surroundings};
use super::unknown_purity::joined;
use crate::book::Erratum;
use crate::grammar::{
    DataType, DeriveFunc, FuncStructInfo, Ndim, PrimStructInfo, ShapeStructInfo, StructInfo, TensorStructInfo, VDevice,
};
use crate::judge::{Cx, MemoQuery, Proof};

/// SI.UNIFY: an upper bound of both arguments under `<<:`. No variable is in scope.
///
/// 2023-02, Unification. Literal A01: a join with `ObjectStructInfo` returns the other argument. Literal A04: tensors
/// of equal shapes keep the first datatype. Literal A05: a defined right `values` is returned without a comparison.
pub fn unify_struct_info(cx: &mut Cx, s1: &StructInfo, s2: &StructInfo) -> StructInfo {
    unify_struct_info_in(cx, s1, s2, &Nowhere)
}

/// Like [`unify_struct_info`], at a place where the variables of `scope` are bound.
pub fn unify_struct_info_in(cx: &mut Cx, s1: &StructInfo, s2: &StructInfo, scope: &dyn Surroundings) -> StructInfo {
    unify(cx, s1, s2, &JudgementScope::new(scope))
}

fn unify(cx: &mut Cx, s1: &StructInfo, s2: &StructInfo, scope: &JudgementScope) -> StructInfo {
    cx.judge("unify_struct_info", MemoQuery::both(s1, s2).at(scope.state()), |cx| cases(cx, s1, s2, scope))
}

fn cases(cx: &mut Cx, s1: &StructInfo, s2: &StructInfo, scope: &JudgementScope) -> StructInfo {
    match InfoPair::of(s1, s2) {
        _ if is_object(s2) => object(cx, s1),
        _ if is_object(s1) => object(cx, s2),
        InfoPair::Shapes(a, b) => StructInfo::Shape(shape(cx, a, b)),
        InfoPair::Tensors(a, b) => StructInfo::Tensor(tensor(cx, a, b, scope)),
        InfoPair::Tuples(a, b) => tuple(cx, a, b, scope),
        InfoPair::Funcs(a, b) => func(cx, a, b, scope),
        InfoPair::Prims(a, b) => prim(cx, a, b),
        InfoPair::Objects | InfoPair::Different => cx.by_kind(rule!("SI.UNIFY.KIND"), StructInfo::Object),
    }
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
        cx.by_cases((
            &[(rule!("SI.UNIFY.SHAPE.EQ"), proof == Proof::Equal, s1)],
            (rule!("SI.UNIFY.SHAPE.NEQ"), &of_rank),
        ))
    });
    join.clone()
}

/// SI.UNIFY.TENSOR.
fn tensor(cx: &mut Cx, s1: &TensorStructInfo, s2: &TensorStructInfo, scope: &JudgementScope) -> TensorStructInfo {
    let same_rank = s1.ndim == s2.ndim;
    let ndim = cx.conclude(rule!("SI.UNIFY.TENSOR.NDIM"), if same_rank { s1.ndim } else { Ndim::Unknown });
    let same_dtype = s1.dtype == s2.dtype;
    let dtype = cx.conclude(rule!("SI.UNIFY.TENSOR.DTYPE"), if same_dtype { s1.dtype } else { DataType::VOID });
    let both_ranked_alike = s1.shape.is_some() && s2.shape.is_some() && same_rank;
    // SI.UNIFY.REFL: a shape of unknown rank is kept in a join of a type with itself.
    let of_any_rank = both_ranked_alike && s1.ndim.is_unknown();
    // Errata: N33, literally a shape of unknown rank is dropped.
    let kept = of_any_rank && !cx.literal(Erratum::N33);
    let comparable = both_ranked_alike && (!s1.ndim.is_unknown() || (kept && cx.fire(rule!("SI.UNIFY.REFL"))));
    let shapes = if comparable { (s1.shape.as_ref(), s2.shape.as_ref()) } else { (None, None) };
    let proof = compare_known_shapes(cx, shapes.0, shapes.1, scope).proof;
    let keeps_shape = cx.by_cases((
        &[
            (rule!("SI.UNIFY.TENSOR.NOSHAPE"), !comparable, false),
            (rule!("SI.UNIFY.TENSOR.EQ"), proof == Proof::Equal, true),
        ],
        (rule!("SI.UNIFY.TENSOR.NEQ"), false),
    ));
    let literally = match (keeps_shape, comparable) {
        (true, _) => s1.vdevice.as_ref(),
        (false, true) => common_device(s1, s2),
        (false, false) => None,
    };
    let vdevice = joined_device(cx, s1, s2, literally);
    if !keeps_shape {
        return TensorStructInfo { shape: None, dtype, ndim, vdevice };
    }
    // The text returns `S1`, even if the joined datatype differs (A04).
    let dtype = if cx.literal(Erratum::A04) { s1.dtype } else { dtype };
    TensorStructInfo { shape: s1.shape.clone(), dtype, ndim, vdevice }
}

/// SI.UNIFY.TENSOR.VDEVICE: the device of both, if it is the same. In the first edition devices have no meaning.
///
/// Errata: N32, literally the device is dropped with the shape, and is that of the first if the shape is kept.
fn joined_device(
    cx: &mut Cx,
    s1: &TensorStructInfo,
    s2: &TensorStructInfo,
    literally: Option<&Arc<VDevice>>,
) -> Option<Arc<VDevice>> {
    if (s1.vdevice.is_none() && s2.vdevice.is_none()) || !cx.has(rule!("SI.UNIFY.TENSOR.VDEVICE")) {
        return None;
    }
    let device = if cx.literal(Erratum::N32) { literally } else { common_device(s1, s2) };
    cx.conclude(rule!("SI.UNIFY.TENSOR.VDEVICE"), device.cloned())
}

fn common_device<'s>(s1: &'s TensorStructInfo, s2: &TensorStructInfo) -> Option<&'s Arc<VDevice>> {
    s1.vdevice.as_ref().filter(|device| s2.vdevice.as_ref() == Some(device))
}

/// SI.UNIFY.TUPLE: field by field.
fn tuple(cx: &mut Cx, fields1: &[StructInfo], fields2: &[StructInfo], scope: &JudgementScope) -> StructInfo {
    let other_length = fields1.len() != fields2.len();
    if let Some(join) = cx.by_cases(&[(rule!("SI.UNIFY.TUPLE.LEN"), other_length, &StructInfo::Object)]) {
        return join.clone();
    }
    let fields = fields1.iter().zip(fields2).map(|(field1, field2)| unify(cx, field1, field2, scope)).collect();
    cx.conclude(rule!("SI.UNIFY.TUPLE.RET"), StructInfo::Tuple(fields))
}

/// SI.UNIFY.FUNC.
fn func(cx: &mut Cx, f1: &Arc<FuncStructInfo>, f2: &Arc<FuncStructInfo>, scope: &JudgementScope) -> StructInfo {
    match (&f1.params, &f2.params) {
        (None, None) => packed(cx, f1, f2),
        (Some(_), Some(_)) => closures(cx, f1, f2, scope),
        (None, Some(_)) | (Some(_), None) => cx.by_kind(rule!("SI.UNIFY.FUNC.FORM"), StructInfo::Object),
    }
}

fn packed(cx: &mut Cx, f1: &Arc<FuncStructInfo>, f2: &FuncStructInfo) -> StructInfo {
    let same = same_derive_func(cx, f1.derive_func.as_ref(), f2.derive_func.as_ref());
    let keeps_derive_func =
        cx.by_cases((&[(rule!("SI.UNIFY.FUNC.PACKED.SAME"), same, true)], (rule!("SI.UNIFY.FUNC.PACKED.DIFF"), false)));
    if keeps_derive_func { StructInfo::Func(f1.clone()) } else { StructInfo::packed(DeriveFunc::EmptyDerive) }
}

/// The purity of the join, if the infos have the optional field (A18): pure only if both are.
fn joined_purity(pure1: Option<bool>, pure2: Option<bool>) -> Option<bool> {
    match (pure1, pure2) {
        (None, _) | (_, None) => None,
        (Some(pure1), Some(pure2)) => Some(pure1 && pure2),
    }
}

/// SI.UNIFY.FUNC.PURITY: the purity of the join, if structural information has the field.
fn purity_of_join(cx: &mut Cx, f1: &FuncStructInfo, f2: &FuncStructInfo) -> Option<bool> {
    if cx.has(rule!("PURITY3.UNIFY")) {
        return joined(cx, f1, f2);
    }
    if f1.pure.is_none() && f2.pure.is_none() || !cx.has(rule!("SI.UNIFY.FUNC.PURITY")) {
        return joined_purity(f1.pure, f2.pure);
    }
    Some(cx.conclude(rule!("SI.UNIFY.FUNC.PURITY"), f1.purity() && f2.purity()))
}

fn closures(cx: &mut Cx, f1: &Arc<FuncStructInfo>, f2: &Arc<FuncStructInfo>, scope: &JudgementScope) -> StructInfo {
    let other_arity = params_of(f1).len() != params_of(f2).len();
    if let Some(join) = cx.by_cases(&[(rule!("SI.UNIFY.FUNC.ARITY"), other_arity, &StructInfo::Object)]) {
        return join.clone();
    }
    told(cx, f1, f2, scope)
}

/// The join of two function types. The variables inside the outermost ones are renamed apart first, which covers the
/// inner ones too.
fn told(cx: &mut Cx, f1: &Arc<FuncStructInfo>, f2: &Arc<FuncStructInfo>, scope: &JudgementScope) -> StructInfo {
    let Some(_until_joined) = scope.outermost() else { return parts(cx, f1, f2, scope) };
    let (told1, told2, back) = told_in_both(cx, f1, f2, scope);
    let join = parts(cx, told1.as_ref().unwrap_or(f1), told2.as_ref().unwrap_or(f2), scope);
    if back.is_empty() { join } else { replace_everywhere(&join, &back) }
}

/// The joins of the parameters and of the results, in the same variables.
fn parts(cx: &mut Cx, f1: &Arc<FuncStructInfo>, f2: &Arc<FuncStructInfo>, scope: &JudgementScope) -> StructInfo {
    // Literal A58: nothing is renamed.
    let (apart, renamed) = if cx.literal(Erratum::A58) { (None, None) } else { in_same_variables(f1, f2, scope) };
    let (told1, told2) = (apart.as_ref().unwrap_or(f1), renamed.as_ref().unwrap_or(f2));
    let (params1, params2) = (params_of(told1), params_of(told2));
    let _introduced = scope.introduce(introduced_around(told1, told2));
    let (since, mut unified_params) = (cx.notes(), Vec::with_capacity(params1.len()));
    for (param1, param2) in params1.iter().zip(params2) {
        let join = unify(cx, param1, param2, scope);
        match unified_param(cx, join, param1, param2, scope) {
            Some(param) => unified_params.push(param),
            None => return StructInfo::Object,
        }
    }
    let ret = unify(cx, &told1.ret, &told2.ret, scope);
    let (params, pure) = (Some(unified_params.into()), purity_of_join(cx, told1, told2));
    let join = StructInfo::Func(Arc::new(FuncStructInfo { params, ret, derive_func: None, pure }));
    note_spelling(cx, since, [[f1, told1], [f2, told2]]);
    cx.conclude(rule!("SI.UNIFY.FUNC.RET"), join)
}

/// Renames the own variables of the first function apart from those of the second, and replaces corresponding variables
/// of the second by them. `None` for a function that does not change.
fn in_same_variables(
    f1: &Arc<FuncStructInfo>,
    f2: &Arc<FuncStructInfo>,
    scope: &JudgementScope,
) -> (Option<Arc<FuncStructInfo>>, Option<Arc<FuncStructInfo>>) {
    let (own1, own2) = (Own::of(f1, scope), Own::of(f2, scope));
    let apart = apart_from([f1, f2], [&own1, &own2], scope);
    let told1 = apart.as_ref().map(|f1| Own::of(f1, scope));
    let owns = [told1.as_ref().unwrap_or(&own1), &own2];
    let renamed = in_variables_of([apart.as_ref().unwrap_or(f1), f2], owns, scope);
    (apart, renamed)
}

/// The join of two parameters if it is below both, that is, if they are effectively equal.
fn unified_param(
    cx: &mut Cx,
    join: StructInfo,
    param1: &StructInfo,
    param2: &StructInfo,
    scope: &JudgementScope,
) -> Option<StructInfo> {
    let (spelled1, spelled2) = (spelled_as_joined(cx, param1), spelled_as_joined(cx, param2));
    let (param1, param2) = (spelled1.as_ref().unwrap_or(param1), spelled2.as_ref().unwrap_or(param2));
    let below_both = below(cx, ShapeRelation::Definite, &join, param1, scope)
        && below(cx, ShapeRelation::Definite, &join, param2, scope);
    let kept = cx
        .by_cases((&[(rule!("SI.UNIFY.FUNC.PARAM-OK"), below_both, true)], (rule!("SI.UNIFY.FUNC.PARAM-BAD"), false)));
    kept.then_some(join)
}

/// The only upper bound of different scalars is `ObjectStructInfo` (A53).
fn prim(cx: &mut Cx, p1: &PrimStructInfo, p2: &PrimStructInfo) -> StructInfo {
    let same_dtype = p1.dtype == p2.dtype;
    if !cx.has(rule!("SI.UNIFY.PRIM.DTYPE")) && !cx.holds(&[(rule!("PR14148.SI.PRIM.RULES"), 1, same_dtype)]) {
        return StructInfo::Object;
    }
    let equal = match (&p1.value, &p2.value) {
        (Some(value1), Some(value2)) if same_dtype => crate::shape::prove_equal(cx, value1, value2) == Proof::Equal,
        (Some(_) | None, Some(_) | None) => false,
    };
    let (first, of_dtype) = (StructInfo::Prim(p1.clone()), StructInfo::prim(p1.dtype));
    let valueless = p1.value.is_none() || p2.value.is_none();
    if !cx.has(rule!("SI.UNIFY.PRIM.NEQ")) {
        return if equal { first } else { of_dtype };
    }
    let join = cx.by_cases((
        &[
            (rule!("SI.UNIFY.PRIM.DTYPE"), !same_dtype, &StructInfo::Object),
            (rule!("SI.UNIFY.PRIM.NOVAL"), valueless, &of_dtype),
            (rule!("SI.UNIFY.PRIM.EQ"), equal, &first),
        ],
        (rule!("SI.UNIFY.PRIM.NEQ"), &of_dtype),
    ));
    join.clone()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::book::Reading;
    use crate::grammar::PrimExpr;
    use crate::struct_info::apart::tests::{beside_others, drawn};
    use crate::struct_info::apart::told_all_at_once;
    use crate::struct_info::is_more_specific;
    use crate::struct_info::spelling::as_written;

    #[test]
    fn a_join_does_not_depend_on_how_what_is_joined_is_spelt() {
        let readings = [Reading::corrected(), Reading::literal()].into_iter();
        let single = [Erratum::A11, Erratum::A58, Erratum::E55, Erratum::E80, Erratum::A15];
        let readings: Vec<Reading> = readings.chain(single.map(|e| Reading::literal_only(&[e]))).collect();
        let mut of_functions = 0;
        for seed in 0..1_000 {
            let (s1, s2) = drawn(seed);
            for reading in &readings {
                let cx = || Cx::new().with_reading(reading.clone());
                let join = unify_struct_info(&mut cx(), &s1, &s2);
                assert_eq!(
                    join,
                    as_written(|| unify_struct_info(&mut cx(), &s1, &s2)),
                    "seed {seed}, {reading:?}: {s1} and {s2}"
                );
                of_functions += usize::from(matches!(join, StructInfo::Func(_)));
            }
        }
        assert!(of_functions > 200, "{of_functions}");
    }

    #[test]
    fn what_is_joined_with_itself_is_itself() {
        for seed in 0..3_000 {
            let (s, _) = drawn(seed);
            assert_eq!(unify_struct_info(&mut Cx::new(), &s, &s), s, "seed {seed}");
        }
    }

    #[test]
    fn names_that_are_given_back_mean_what_they_did() {
        let mut given_back = 0;
        for seed in 0..3_000 {
            let (s1, s2) = beside_others(seed);
            let scope = JudgementScope::new(&Nowhere);
            let (told1, told2, back) = told_all_at_once(&s1, &s2, &scope);
            let _told = scope.outermost();
            let told = unify(&mut Cx::new(), &told1, &told2, &scope);
            let join = unify_struct_info(&mut Cx::new(), &s1, &s2);
            given_back += usize::from(!back.is_empty() && join != StructInfo::Object);
            assert!(is_more_specific(&mut Cx::new(), &join, &told), "seed {seed}: {join} and {told}");
            assert!(is_more_specific(&mut Cx::new(), &told, &join), "seed {seed}: {join} and {told}");
        }
        assert!(given_back > 100, "{given_back}");
    }

    #[test]
    fn function_types_in_parameters_may_spell_their_variables_otherwise() {
        let vector = |v: &str| StructInfo::tensor([PrimExpr::var(v)], DataType::FLOAT32);
        let nested = |v: &str| {
            (0..5).fold(vector("a"), |inner, _| StructInfo::func([StructInfo::tuple([inner]), vector(v)], vector(v)))
        };
        let (n, m) = (nested("n"), nested("m"));
        assert_eq!(unify_struct_info(&mut Cx::new(), &n, &m), n);
        assert_eq!(unify_struct_info(&mut Cx::new(), &m, &n), m);
    }
}
