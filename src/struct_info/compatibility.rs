//! Checks compatibility: whether a value described by `S1` may be used where `S2` is expected.

use std::sync::Arc;

use super::apart::{apart_if_unmapped, told_apart, told_inside_if_matched};
use super::derive_func::same_derive_func;
use super::kinds::{InfoPair, is_object};
use super::mapping::{PartialMapping, introduced_around, matched, params_of};
use super::own::Own;
use super::same_shape::{Compared, compare_known_shapes, compare_values, is_var};
use super::substitute::substitute_in_func;
use super::surroundings::{Introduced, JudgementScope, Nowhere, Surroundings};
use super::unknown_purity::compatible_purity;
use crate::book::Erratum;
use crate::grammar::{FuncStructInfo, PrimStructInfo, ShapeStructInfo, StructInfo, TensorStructInfo};
use crate::judge::Compatibility::{self, Compatible, Incompatible, Possibly};
use crate::judge::{Cx, MemoQuery, Proof};

/// SI.COMPAT: whether a value described by `s1` may be used where `s2` is expected. No variable is in scope.
///
/// 2023-02, Checking Compatibility.
pub fn check_compatibility(cx: &mut Cx, s1: &StructInfo, s2: &StructInfo) -> Compatibility {
    check_compatibility_in(cx, s1, s2, &Nowhere)
}

/// Like [`check_compatibility`], at a place where the variables of `scope` are bound.
pub fn check_compatibility_in(
    cx: &mut Cx,
    s1: &StructInfo,
    s2: &StructInfo,
    scope: &dyn Surroundings,
) -> Compatibility {
    check(cx, s1, s2, &JudgementScope::new(scope))
}

fn check(cx: &mut Cx, s1: &StructInfo, s2: &StructInfo, scope: &JudgementScope) -> Compatibility {
    cx.judge("check_compatibility", MemoQuery::both(s1, s2).at(scope.state()), |cx| cases(cx, s1, s2, scope))
}

fn cases(cx: &mut Cx, s1: &StructInfo, s2: &StructInfo, scope: &JudgementScope) -> Compatibility {
    match InfoPair::of(s1, s2) {
        _ if is_object(s2) => cx.by_kind(rule!("SI.COMPAT.OBJECT"), Compatible),
        InfoPair::Tuples(fields1, fields2) => tuple(cx, fields1, fields2, scope),
        InfoPair::Shapes(s1, s2) => shape(cx, s1, s2),
        InfoPair::Tensors(t1, t2) => tensor(cx, t1, t2, scope),
        InfoPair::Funcs(f1, f2) => func(cx, f1, f2, scope),
        InfoPair::Prims(p1, p2) => prim(cx, p1, p2),
        InfoPair::Objects | InfoPair::Different => cx.by_kind(rule!("SI.COMPAT.KIND"), Incompatible),
    }
}

/// SI.COMPAT.TUPLE: a tuple is as compatible as its worst field.
fn tuple(cx: &mut Cx, fields1: &[StructInfo], fields2: &[StructInfo], scope: &JudgementScope) -> Compatibility {
    let by_length = cx.by_cases(&[(rule!("SI.COMPAT.TUPLE.LEN"), fields1.len() != fields2.len(), Incompatible)]);
    if let Some(answer) = by_length {
        return answer;
    }
    let worst = worst(cx, fields1.iter().zip(fields2), scope);
    cx.by_cases((
        &[
            (rule!("SI.COMPAT.TUPLE.INCOMPAT"), worst == Incompatible, Incompatible),
            (rule!("SI.COMPAT.TUPLE.POSSIBLE"), worst == Possibly, Possibly),
        ],
        (rule!("SI.COMPAT.TUPLE.ALL"), Compatible),
    ))
}

fn worst<'s>(
    cx: &mut Cx,
    pairs: impl IntoIterator<Item = (&'s StructInfo, &'s StructInfo)>,
    scope: &JudgementScope,
) -> Compatibility {
    pairs.into_iter().fold(Compatible, |worst, (s1, s2)| worst.max(check(cx, s1, s2, scope)))
}

/// SI.COMPAT.SHAPE.
fn shape(cx: &mut Cx, s1: &ShapeStructInfo, s2: &ShapeStructInfo) -> Compatibility {
    let by_form = cx.by_cases(&[
        (rule!("SI.COMPAT.SHAPE.ANYRANK"), s2.ndim.is_unknown(), Compatible),
        (rule!("SI.COMPAT.SHAPE.RANK"), s1.ndim != s2.ndim, Incompatible),
        (rule!("SI.COMPAT.SHAPE.NOVALUES"), s2.values.is_none(), Compatible),
        (rule!("SI.COMPAT.SHAPE.S1NOVALUES"), s1.values.is_none(), Possibly),
    ]);
    if let Some(answer) = by_form {
        return answer;
    }
    let Compared { proof, advanced } = compare_values(cx, s1.values.as_deref(), s2.values.as_deref());
    let by_values = cx.by_cases((
        &[
            (rule!("SI.COMPAT.SHAPE.NEQ"), proof == Proof::Different, Incompatible),
            (rule!("SI.COMPAT.SHAPE.EQ"), proof == Proof::Equal, Compatible),
        ],
        (rule!("SI.COMPAT.SHAPE.UNKNOWN"), Possibly),
    ));
    best_effort(cx, advanced, by_values)
}

/// SI.COMPAT.BESTEFFORT: a proof beyond the minimum decides the answer like any other.
fn best_effort(cx: &mut Cx, advanced: bool, answer: Compatibility) -> Compatibility {
    if advanced { cx.conclude(rule!("SI.COMPAT.BESTEFFORT"), answer) } else { answer }
}

/// SI.COMPAT.TENSOR.
///
/// Errata: N36, literally the last step ignores the rank.
fn tensor(cx: &mut Cx, t1: &TensorStructInfo, t2: &TensorStructInfo, scope: &JudgementScope) -> Compatibility {
    // In the first edition an unknown property differs from a known one. Later editions leave this to the last step.
    let differs = !cx.has(rule!("SI.COMPAT.TENSOR.STEP8"));
    let by_shape = tensor_but_for_what_is_open(cx, t1, t2, differs, scope);
    if differs {
        return by_shape;
    }
    // A property that is unknown in the first and known in the second.
    let open = is_open(t1.dtype.is_void(), t2.dtype.is_void())
        || (is_open(t1.ndim.is_unknown(), t2.ndim.is_unknown()) && !cx.literal(Erratum::N36))
        || is_open(t1.vdevice.is_none(), t2.vdevice.is_none());
    let pending = by_shape == Compatible;
    cx.by_cases(&[
        (rule!("SI.COMPAT.TENSOR.STEP8"), pending && open, Possibly),
        (rule!("SI.COMPAT.TENSOR.STEP8"), pending, Compatible),
    ])
    .unwrap_or(by_shape)
}

/// Whether something is unknown in the first and known in the second.
fn is_open(unknown1: bool, unknown2: bool) -> bool {
    unknown1 && !unknown2
}

fn tensor_but_for_what_is_open(
    cx: &mut Cx,
    t1: &TensorStructInfo,
    t2: &TensorStructInfo,
    differs: bool,
    scope: &JudgementScope,
) -> Compatibility {
    let other_dtype = t1.dtype != t2.dtype && !t2.dtype.is_void() && (differs || !t1.dtype.is_void());
    let other_rank = t1.ndim != t2.ndim && !t2.ndim.is_unknown() && (differs || !t1.ndim.is_unknown());
    let is_elsewhere = is_elsewhere(cx, t1, t2);
    let by_form = cx.by_cases(&[
        (rule!("SI.COMPAT.TENSOR.DTYPE"), other_dtype, Incompatible),
        (rule!("SI.COMPAT.TENSOR.NDIM"), other_rank, Incompatible),
        (rule!("SI.COMPAT.TENSOR.VDEVICE"), is_elsewhere, Incompatible),
        (rule!("SI.COMPAT.TENSOR.NOSHAPE"), t2.shape.is_none(), Compatible),
        (rule!("SI.COMPAT.TENSOR.S1NOSHAPE"), t1.shape.is_none(), Possibly),
    ]);
    if let Some(answer) = by_form {
        return answer;
    }
    let by_var = t1.shape.as_ref().is_some_and(is_var) || t2.shape.as_ref().is_some_and(is_var);
    let Compared { proof, advanced } = compare_known_shapes(cx, t1.shape.as_ref(), t2.shape.as_ref(), scope);
    let by_shape = cx.by_cases((
        &[
            (rule!("SI.COMPAT.TENSOR.VAR.NEQ"), by_var && proof == Proof::Different, Incompatible),
            (rule!("SI.COMPAT.TENSOR.VAR.EQ"), by_var && proof == Proof::Equal, Compatible),
            (rule!("SI.COMPAT.TENSOR.VAR.UNKNOWN"), by_var, Possibly),
            (rule!("SI.COMPAT.TENSOR.DIMS.NEQ"), proof == Proof::Different, Incompatible),
            (rule!("SI.COMPAT.TENSOR.DIMS.EQ"), proof == Proof::Equal, Compatible),
        ],
        (rule!("SI.COMPAT.TENSOR.DIMS.UNKNOWN"), Possibly),
    ));
    best_effort(cx, advanced, by_shape)
}

/// SI.COMPAT.TENSOR.VDEVICE: whether the first is on a different device from the second.
///
/// Errata: N35, literally an unknown device is a different one.
fn is_elsewhere(cx: &Cx, t1: &TensorStructInfo, t2: &TensorStructInfo) -> bool {
    let other_device = t2.vdevice.is_some() && t1.vdevice != t2.vdevice;
    other_device && (t1.vdevice.is_some() || cx.literal(Erratum::N35))
}

/// SI.COMPAT.FUNC.
fn func(cx: &mut Cx, f1: &Arc<FuncStructInfo>, f2: &Arc<FuncStructInfo>, scope: &JudgementScope) -> Compatibility {
    match (&f1.params, &f2.params) {
        (None, None) => packed(cx, f1, f2),
        (Some(_), Some(_)) => closures(cx, f1, f2, scope),
        (None, Some(_)) | (Some(_), None) => cx.by_kind(rule!("SI.COMPAT.FUNC.FORM"), Incompatible),
    }
}

fn packed(cx: &mut Cx, f1: &FuncStructInfo, f2: &FuncStructInfo) -> Compatibility {
    let same = same_derive_func(cx, f1.derive_func.as_ref(), f2.derive_func.as_ref());
    cx.by_cases((
        &[(rule!("SI.COMPAT.FUNC.PACKED.SAME"), same, Compatible)],
        (rule!("SI.COMPAT.FUNC.PACKED.DIFF"), Possibly),
    ))
}

/// A function info in terms of the variables that the parameters of another one introduce, if `mapping` changes it.
/// These variables are brought into scope. `own1` are the variables of the first. A variable that is not mapped differs
/// from all variables of the other, even from one of the same name.
pub(super) fn in_terms_of<'s>(
    cx: &mut Cx,
    [f1, f2]: [&Arc<FuncStructInfo>; 2],
    own1: &Own,
    mapping: &PartialMapping,
    scope: &'s JudgementScope,
) -> (Option<Arc<FuncStructInfo>>, Introduced<'s>) {
    let apart = apart_if_unmapped([f1, f2], own1, |var| mapping.contains_key(var), scope);
    let f1 = apart.as_ref().unwrap_or(f1);
    let replaced = substitute_in_func(cx, f1, mapping, scope).or_else(|| apart.clone());
    let introduced = introduced_around(replaced.as_ref().unwrap_or(f1), f2);
    (replaced, scope.introduce(introduced))
}

fn closures(cx: &mut Cx, f1: &Arc<FuncStructInfo>, f2: &Arc<FuncStructInfo>, scope: &JudgementScope) -> Compatibility {
    let (params1, params2) = (params_of(f1), params_of(f2));
    let by_arity = cx.by_cases(&[(rule!("SI.COMPAT.FUNC.ARITY"), params1.len() != params2.len(), Incompatible)]);
    if let Some(answer) = by_arity {
        return answer;
    }
    let at_best = compatible_purity(cx, f1, f2);
    if at_best == Incompatible {
        return Incompatible;
    }
    // An impure function where a pure one is required, if the infos have the optional field (A18).
    if f2.pure == Some(true)
        && !cx.has(rule!("PURITY.FIELD"))
        && !cx.literal(Erratum::A18)
        && !cx.holds(&[(rule!("SI.COMPAT.INVARIANT"), 1, f1.pure == f2.pure)])
    {
        return Incompatible;
    }
    told(cx, f1, f2, scope, at_best)
}

/// Compares two function types. The variables inside the outermost ones are renamed apart first, which covers the inner
/// ones too. `at_best` is the answer that their purity allows.
fn told(
    cx: &mut Cx,
    f1: &Arc<FuncStructInfo>,
    f2: &Arc<FuncStructInfo>,
    scope: &JudgementScope,
    at_best: Compatibility,
) -> Compatibility {
    let Some(_until_judged) = scope.outermost() else { return parts(cx, f1, f2, scope, at_best) };
    let (told1, told2) = (told_inside_if_matched(cx, f1, scope), told_inside_if_matched(cx, f2, scope));
    parts(cx, told1.as_ref().unwrap_or(f1), told2.as_ref().unwrap_or(f2), scope, at_best)
}

/// Compares the parameters and the result, in the same variables.
fn parts(
    cx: &mut Cx,
    f1: &Arc<FuncStructInfo>,
    f2: &Arc<FuncStructInfo>,
    scope: &JudgementScope,
    at_best: Compatibility,
) -> Compatibility {
    let (own1, own2) = (Own::of(f1, scope), Own::of(f2, scope));
    let (apart1, apart2) = told_apart(cx, [f1, f2], [&own1, &own2], scope);
    let own1_told = apart1.as_ref().map(|f1| Own::of(f1, scope));
    let (f1, f2) = (apart1.as_ref().unwrap_or(f1), apart2.as_ref().unwrap_or(f2));
    let (params1, params2) = (params_of(f1), params_of(f2));
    let mapping = matched(cx, params1.iter().zip(params2), scope);
    let mapping = cx.conclude(rule!("SI.COMPAT.FUNC.MAP"), mapping);
    let (replaced, _introduced) = in_terms_of(cx, [f1, f2], own1_told.as_ref().unwrap_or(&own1), &mapping, scope);
    let f1 = replaced.as_ref().unwrap_or(f1);
    // Parameters are compared in reverse, then the results forward.
    let worst = worst(cx, params2.iter().zip(params_of(f1)).chain([(&f1.ret, &f2.ret)]), scope);
    let worst = worst.max(at_best);
    cx.by_cases((
        &[
            (rule!("SI.COMPAT.FUNC.INCOMPAT"), worst == Incompatible, Incompatible),
            (rule!("SI.COMPAT.FUNC.POSSIBLE"), worst == Possibly, Possibly),
        ],
        (rule!("SI.COMPAT.FUNC.ALL"), Compatible),
    ))
}

/// Boxed scalars are related only to their own datatype (A53). Known values are compared like dimensions.
fn prim(cx: &mut Cx, p1: &PrimStructInfo, p2: &PrimStructInfo) -> Compatibility {
    let same_dtype = p1.dtype == p2.dtype;
    if !cx.has(rule!("SI.COMPAT.PRIM.DTYPE")) && !cx.holds(&[(rule!("PR14148.SI.PRIM.RULES"), 1, same_dtype)]) {
        return Incompatible;
    }
    let proof = match (&p1.value, &p2.value) {
        (Some(value1), Some(value2)) if same_dtype => crate::shape::prove_equal(cx, value1, value2),
        (Some(_) | None, Some(_) | None) => Proof::Unknown,
    };
    let by_values = match (&p1.value, &p2.value, proof) {
        (_, None, _) | (Some(_), Some(_), Proof::Equal) => Compatible,
        (None, Some(_), _) | (Some(_), Some(_), Proof::Unknown) => Possibly,
        (Some(_), Some(_), Proof::Different) => Incompatible,
    };
    if !cx.has(rule!("SI.COMPAT.PRIM.EQ")) {
        return by_values;
    }
    let by_proof = match proof {
        Proof::Equal => Compatible,
        Proof::Unknown => Possibly,
        Proof::Different => Incompatible,
    };
    cx.by_cases((
        &[
            (rule!("SI.COMPAT.PRIM.DTYPE"), !same_dtype, Incompatible),
            (rule!("SI.COMPAT.PRIM.NOVAL2"), p2.value.is_none(), Compatible),
            (rule!("SI.COMPAT.PRIM.NOVAL1"), p1.value.is_none(), Possibly),
        ],
        (rule!("SI.COMPAT.PRIM.EQ"), by_proof),
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::book::{Edition, Erratum, Reading};
    use crate::generate::{Tape, struct_info_pair};
    use crate::grammar::{BinaryOp, DataType, Ndim, PrimExpr, ShapeVar, Target, TensorShape, VDevice, Var};
    use crate::struct_info::apart::tests::beside_others;
    use crate::struct_info::apart::told_all_at_once;
    use crate::struct_info::is_more_specific;

    fn v(name: &str) -> StructInfo {
        StructInfo::tensor([PrimExpr::var(name)], DataType::FLOAT32)
    }

    fn check(s1: &StructInfo, s2: &StructInfo) -> Compatibility {
        check_compatibility(&mut Cx::new(), s1, s2)
    }

    /// SI.COMPAT.INVARIANT, as later editions are read (N34): for tensors the check agrees with the order.
    #[test]
    fn levels_agree_with_the_order() {
        let devices = ["llvm", "cuda"].map(|tag| {
            Some(Arc::new(VDevice { target: Target::Tag(tag.into()), dev_id: 0, mem_scope: "global".into() }))
        });
        let dims = |dims: &[PrimExpr]| (Some(TensorShape::Dims(dims.into())), Ndim::of_len(dims.len()));
        let (two, three, n) = (PrimExpr::IntImm(2), PrimExpr::IntImm(3), PrimExpr::var("n"));
        let shapes = [
            (None, Ndim::Unknown),
            (None, Ndim::Known(1)),
            (None, Ndim::Known(2)),
            dims(&[two]),
            dims(std::slice::from_ref(&three)),
            dims(std::slice::from_ref(&n)),
            dims(&[three, n]),
        ];
        let mut tensors = Vec::new();
        for (shape, ndim) in shapes {
            for dtype in [DataType::VOID, DataType::FLOAT32, DataType::INT64] {
                for vdevice in std::iter::once(None).chain(devices.iter().cloned()) {
                    tensors.push(StructInfo::Tensor(TensorStructInfo { shape: shape.clone(), dtype, ndim, vdevice }));
                }
            }
        }
        for edition in [Edition::E2023_12, Edition::E2024_04] {
            let cx = || Cx::new().with_edition(edition);
            for (s1, s2) in tensors.iter().flat_map(|s1| tensors.iter().map(move |s2| (s1, s2))) {
                let by_order = match (
                    is_more_specific(&mut cx(), s1, s2),
                    crate::struct_info::is_possibly_more_specific(&mut cx(), s1, s2),
                ) {
                    (true, _) => Compatible,
                    (false, true) => Possibly,
                    (false, false) => Incompatible,
                };
                assert_eq!(check_compatibility(&mut cx(), s1, s2), by_order, "{s1} and {s2} in {edition}");
            }
        }
    }

    #[test]
    fn nested_functions_introduce_their_own_variables() {
        let f = |outer: &str, inner: &str| StructInfo::func([v(outer)], StructInfo::func([v(inner)], v(inner)));
        assert_eq!(check(&f("n", "k"), &f("m", "j")), Compatible);
    }

    #[test]
    fn a_nested_function_may_demand_a_size_of_the_outer_one() {
        // The first returns a function for vectors of one size `n`. The second promises one for any size.
        let returning =
            |outer: &str, inner: &str| StructInfo::func([v(outer)], StructInfo::func([v(inner)], StructInfo::Object));
        assert_eq!(check(&returning("n", "n"), &returning("m", "k")), Possibly);
    }

    #[test]
    fn a_variable_that_finds_no_match_is_no_variable_of_the_other_side() {
        let next = PrimExpr::binary(BinaryOp::Add, PrimExpr::var("n"), 1.into());
        let s1 = StructInfo::func([v("n"), v("m")], StructInfo::tensor([next], DataType::FLOAT32));
        let unknown = StructInfo::tensor_ndim(1, DataType::FLOAT32);
        // The `n` of the first side is free: its result may have the size that the second calls `n`.
        assert_eq!(check(&s1, &StructInfo::func([unknown, v("n")], v("n"))), Possibly);
    }

    /// Literally, matching the parameters also searches function types among them. The variables bound there differ
    /// from those of the outer function, even if they have the same name.
    #[test]
    fn by_the_letter_too_a_function_inside_binds_variables_of_its_own() {
        let given = |inner: &str| StructInfo::func([StructInfo::func([v(inner)], v(inner))], v("n"));
        for inner in ["k", "n"] {
            let mut cx = Cx::new().with_reading(Reading::literal_only(&[Erratum::E55]));
            assert_eq!(check_compatibility(&mut cx, &given(inner), &given("m")), Compatible);
        }
    }

    struct HoldsFour;

    impl Surroundings for HoldsFour {
        fn has_var(&self, _: &Var) -> bool {
            true
        }
        fn has_shape_var(&self, _: &ShapeVar) -> bool {
            false
        }
        fn struct_info_of(&self, var: &Var) -> Option<StructInfo> {
            match &*var.name {
                "s" => Some(StructInfo::shape([4.into()])),
                "p" | "q" => Some(StructInfo::shape_ndim(1)),
                "r" => Some(StructInfo::shape_ndim(2)),
                _ => None,
            }
        }
    }

    #[test]
    fn a_variable_is_looked_through() {
        let held = |name: &str| {
            let shape = Some(TensorShape::Var(Var::new(name).into()));
            StructInfo::Tensor(TensorStructInfo {
                shape,
                dtype: DataType::FLOAT32,
                ndim: Ndim::Known(1),
                vdevice: None,
            })
        };
        let vector = |size: i64| StructInfo::tensor([size.into()], DataType::FLOAT32);
        let check = |s1: &StructInfo, s2: &StructInfo| check_compatibility_in(&mut Cx::new(), s1, s2, &HoldsFour);
        assert_eq!(check(&vector(4), &held("s")), Compatible);
        assert_eq!(check(&vector(3), &held("s")), Incompatible);
        assert_eq!(check(&vector(3), &held("t")), Possibly);
        assert_eq!(check(&held("t"), &held("t")), Compatible);
        // The tensors themselves do not state their ranks.
        let of = |name: &str| {
            let shape = Some(TensorShape::Var(Var::new(name).into()));
            StructInfo::Tensor(TensorStructInfo { shape, dtype: DataType::FLOAT32, ndim: Ndim::Unknown, vdevice: None })
        };
        for (one, other, answer) in [
            ("p", "q", Possibly),
            ("p", "r", Incompatible),
            ("s", "q", Possibly),
            ("s", "r", Incompatible),
            ("r", "s", Incompatible),
            ("t", "r", Possibly),
        ] {
            assert_eq!(check(&of(one), &of(other)), answer, "{one} and {other}");
        }
    }

    /// The function info with an additional parameter.
    fn with_param(s: &StructInfo, param: StructInfo) -> StructInfo {
        let StructInfo::Func(func) = s else { panic!("{s}") };
        let params = params_of(func).iter().cloned().chain([param]).collect();
        StructInfo::Func(Arc::new(FuncStructInfo { params: Some(params), ..(**func).clone() }))
    }

    #[test]
    fn function_types_are_told_apart_inside_one_by_one_as_well_as_all_at_once() {
        let mut told = 0;
        for seed in 0..3_000 {
            let (s1, s2) = beside_others(seed);
            let scope = JudgementScope::new(&Nowhere);
            let (told1, told2, back) = told_all_at_once(&s1, &s2, &scope);
            let _told = scope.outermost();
            told += usize::from(!back.is_empty());
            let at_once = super::check(&mut Cx::new(), &told1, &told2, &scope);
            assert_eq!(check(&s1, &s2), at_once, "seed {seed}: {s1} and {s2}");
        }
        assert!(told > 500, "{told}");
    }

    #[test]
    fn what_is_left_out_for_speed_changes_no_answer() {
        let vars = ["n", "m"].map(ShapeVar::new);
        let nothing = || StructInfo::func([], StructInfo::Object);
        let mut asked = 0;
        for seed in 0..4_000 {
            let (s1, s2) = struct_info_pair(&mut Tape::from_seed(seed, 128), 3, &vars);
            let (StructInfo::Func(f1), StructInfo::Func(f2)) = (&s1, &s2) else { continue };
            if f1.params.is_none() || f2.params.is_none() {
                continue;
            }
            asked += 1;
            // One pair has an inner function, so the variables are brought into scope. The other has a variable that
            // must be replaced, so the others are replaced too. The added parameters are compatible with each other.
            let inside = [with_param(&s1, nothing()), with_param(&s2, nothing())];
            let replaced = [with_param(&s1, v("left")), with_param(&s2, v("right"))];
            for [long1, long2] in [inside, replaced] {
                assert_eq!(check(&s1, &s2), check(&long1, &long2), "{s1} and {s2}");
                let ordered = |s1: &StructInfo, s2: &StructInfo| is_more_specific(&mut Cx::new(), s1, s2);
                assert_eq!(ordered(&s1, &s2), ordered(&long1, &long2), "{s1} and {s2}");
            }
        }
        assert!(asked > 300, "{asked}");
    }
}
