//! Unification: the least upper bound of two structural informations that the prover can justify.

use std::sync::Arc;

use super::apart::{apart_from, in_variables_of, told_in_both};
use super::derive_func::same_derive_func;
use super::kinds::{Kinds, is_object};
use super::mapping::{introduced_around, is_or_holds_func, params_of};
use super::order::{Relation, below};
use super::same_shape::{compare_known_shapes, compare_values};
use super::substitute::replace_everywhere;
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
    let (s1, s2, back) = told_in_both(s1, s2, &scope);
    // By the letter of these the order goes by names, and so does not take one spelling for the other.
    let by_name = [Erratum::A11, Erratum::A58, Erratum::E55, Erratum::E80].into_iter().any(|e| cx.literal(e));
    // Only what a function type binds can be spelt in two ways.
    let wanted = !by_name && is_or_holds_func(&s1) && is_or_holds_func(&s2);
    let join = unify(cx, &s1, &s2, &scope, &mut Respelled { wanted, ..Respelled::default() });
    if back.is_empty() { join } else { replace_everywhere(&join, &back) }
}

/// What was joined, with the variables of its function types spelt as in the join, so that it can be compared with that at
/// once; `None` for what is spelt so already.
#[derive(Default)]
struct Respelled {
    wanted: bool,
    first: Option<StructInfo>,
    second: Option<StructInfo>,
}

impl Respelled {
    /// For a part of what is joined.
    fn part(&self) -> Respelled {
        Respelled { wanted: self.wanted, ..Respelled::default() }
    }

    /// A tuple, from its fields.
    fn tuple(&mut self, fields1: &[StructInfo], fields2: &[StructInfo], parts: Vec<Respelled>) {
        let (firsts, seconds): (Vec<_>, Vec<_>) = parts.into_iter().map(|part| (part.first, part.second)).unzip();
        self.first = respelled(fields1, firsts).map(StructInfo::Tuple);
        self.second = respelled(fields2, seconds).map(StructInfo::Tuple);
    }

    /// A function type, from its parameters and, at the end of the parts, its result.
    fn func(
        &mut self,
        [old1, old2]: [&Arc<FuncStructInfo>; 2],
        [f1, f2]: [&Arc<FuncStructInfo>; 2],
        parts: Vec<Respelled>,
    ) {
        if self.wanted {
            let (firsts, seconds): (Vec<_>, Vec<_>) = parts.into_iter().map(|part| (part.first, part.second)).unzip();
            self.first = respelled_func(old1, f1, firsts);
            self.second = respelled_func(old2, f2, seconds);
        }
    }
}

/// The parts, with those that are spelt otherwise; `None` if there are none.
fn respelled(parts: &[StructInfo], new: Vec<Option<StructInfo>>) -> Option<Arc<[StructInfo]>> {
    let changed = new.iter().any(Option::is_some);
    changed.then(|| parts.iter().zip(new).map(|(part, new)| new.unwrap_or_else(|| part.clone())).collect())
}

/// A function type `old` as it is with its own variables renamed, and then with these parts.
fn respelled_func(
    old: &Arc<FuncStructInfo>,
    renamed: &Arc<FuncStructInfo>,
    mut new: Vec<Option<StructInfo>>,
) -> Option<StructInfo> {
    let ret = new.pop().flatten();
    let params = respelled(params_of(renamed), new);
    if ret.is_none() && params.is_none() {
        return (!Arc::ptr_eq(old, renamed)).then(|| StructInfo::Func(renamed.clone()));
    }
    let ret = ret.unwrap_or_else(|| renamed.ret.clone());
    let params = params.or_else(|| renamed.params.clone());
    Some(StructInfo::Func(Arc::new(FuncStructInfo { params, ret, ..(**renamed).clone() })))
}

fn unify(cx: &mut Cx, s1: &StructInfo, s2: &StructInfo, scope: &Scope, spelled: &mut Respelled) -> StructInfo {
    cx.judge(
        "unify_struct_info",
        || vec![s1.to_string(), s2.to_string()],
        |cx| match Kinds::of(s1, s2) {
            _ if is_object(s2) => object(cx, s1),
            _ if is_object(s1) => object(cx, s2),
            Kinds::Shapes(a, b) => StructInfo::Shape(shape(cx, a, b)),
            Kinds::Tensors(a, b) => StructInfo::Tensor(tensor(cx, a, b, scope)),
            Kinds::Tuples(a, b) => tuple(cx, a, b, scope, spelled),
            Kinds::Funcs(a, b) => func(cx, a, b, scope, spelled),
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
fn tuple(
    cx: &mut Cx,
    fields1: &[StructInfo],
    fields2: &[StructInfo],
    scope: &Scope,
    spelled: &mut Respelled,
) -> StructInfo {
    let other_length = fields1.len() != fields2.len();
    if let Some(join) = cx.by_cases(&[(rule!("SI.UNIFY.TUPLE.LEN"), other_length, StructInfo::Object)]) {
        return join;
    }
    let pairs = fields1.iter().zip(fields2);
    if !spelled.wanted {
        return cx.clause(rule!("SI.UNIFY.TUPLE.RET"), |cx| {
            StructInfo::Tuple(pairs.map(|(field1, field2)| unify(cx, field1, field2, scope, spelled)).collect())
        });
    }
    let mut parts: Vec<Respelled> = pairs.clone().map(|_| spelled.part()).collect();
    let join = cx.clause(rule!("SI.UNIFY.TUPLE.RET"), |cx| {
        let fields = pairs.zip(&mut parts);
        StructInfo::Tuple(fields.map(|((field1, field2), part)| unify(cx, field1, field2, scope, part)).collect())
    });
    spelled.tuple(fields1, fields2, parts);
    join
}

/// SI.UNIFY.FUNC.
fn func(
    cx: &mut Cx,
    f1: &Arc<FuncStructInfo>,
    f2: &Arc<FuncStructInfo>,
    scope: &Scope,
    spelled: &mut Respelled,
) -> StructInfo {
    match (&f1.params, &f2.params) {
        (None, None) => packed(cx, f1, f2),
        (Some(_), Some(_)) => closures(cx, f1, f2, scope, spelled),
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

fn closures(
    cx: &mut Cx,
    f1: &Arc<FuncStructInfo>,
    f2: &Arc<FuncStructInfo>,
    scope: &Scope,
    spelled: &mut Respelled,
) -> StructInfo {
    let written = [f1, f2];
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
    let (mut unified_params, mut parts) = (Vec::with_capacity(params1.len()), Vec::with_capacity(params1.len() + 1));
    for (param1, param2) in params1.iter().zip(params2) {
        let mut part = spelled.part();
        match unified_param(cx, param1, param2, scope, &mut part) {
            Some(param) => unified_params.push(param),
            None => return StructInfo::Object,
        }
        parts.push(part);
    }
    let mut part = spelled.part();
    let join = cx.clause(rule!("SI.UNIFY.FUNC.RET"), |cx| {
        let ret = unify(cx, &f1.ret, &f2.ret, scope, &mut part);
        let (params, pure) = (Some(unified_params.into()), joined_purity(f1.pure, f2.pure));
        StructInfo::Func(Arc::new(FuncStructInfo { params, ret, derive_func: None, pure }))
    });
    parts.push(part);
    spelled.func(written, [f1, f2], parts);
    join
}

/// The join of two parameters if it is below both, that is, if they are equal in effect.
fn unified_param(
    cx: &mut Cx,
    param1: &StructInfo,
    param2: &StructInfo,
    scope: &Scope,
    spelled: &mut Respelled,
) -> Option<StructInfo> {
    let join = unify(cx, param1, param2, scope, spelled);
    let (param1, param2) = (spelled.first.as_ref().unwrap_or(param1), spelled.second.as_ref().unwrap_or(param2));
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::book::Reading;
    use crate::generate::{Tape, struct_info_pair};
    use crate::grammar::{PrimExpr, ShapeVar};
    use crate::struct_info::is_more_specific;

    /// Every parameter is compared with the join as it is written.
    fn as_written(cx: &mut Cx, s1: &StructInfo, s2: &StructInfo) -> StructInfo {
        let scope = Scope::new(&Nowhere);
        let (s1, s2, back) = told_in_both(s1, s2, &scope);
        let join = unify(cx, &s1, &s2, &scope, &mut Respelled::default());
        replace_everywhere(&join, &back)
    }

    /// A function type with others in its parameters, that stand before or behind what introduces a variable of these names.
    fn signature(tape: &mut Tape, depth: usize, names: [&str; 3]) -> StructInfo {
        let vector = |tape: &mut Tape| {
            let name = names[tape.choose(3)];
            StructInfo::tensor([PrimExpr::var(name)], DataType::FLOAT32)
        };
        if depth == 0 {
            return vector(tape);
        }
        let inner = signature(tape, depth - 1, names);
        let (a, b, ret) = (vector(tape), vector(tape), vector(tape));
        let params = match tape.choose(3) {
            0 => vec![inner, a],
            1 => vec![a, inner, b],
            _ => vec![StructInfo::tuple([inner, a]), b],
        };
        StructInfo::func(params, ret)
    }

    fn drawn(seed: u64) -> (StructInfo, StructInfo) {
        let mut tape = Tape::from_seed(seed, 256);
        if seed.is_multiple_of(2) {
            return struct_info_pair(&mut tape, 4, &["n", "m", "k"].map(ShapeVar::new));
        }
        let names = [["n", "m", "k"], ["m", "k", "n"], ["a", "b", "c"], ["n", "m", "m"]][tape.choose(4)];
        let depth = 1 + tape.choose(4);
        // The same choices but for the last ones, so that some results differ.
        let (mut one, mut other) = (Tape::from_seed(seed, 256), Tape::from_seed(seed, 5 * depth - tape.choose(3)));
        (signature(&mut one, depth, ["n", "m", "k"]), signature(&mut other, depth, names))
    }

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
                assert_eq!(join, as_written(&mut cx(), &s1, &s2), "seed {seed}, {reading:?}: {s1} and {s2}");
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
        let scope = Scope::new(&Nowhere);
        let mut given_back = 0;
        for seed in 0..3_000 {
            let (s1, s2) = drawn(seed);
            let (told1, told2, back) = told_in_both(&s1, &s2, &scope);
            let spelled = &mut Respelled { wanted: true, ..Respelled::default() };
            let told = unify(&mut Cx::new(), &told1, &told2, &scope, spelled);
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
