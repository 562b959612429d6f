//! The laws of the static judgements on random inputs, larger than the universe of `laws.rs`: the provers against
//! evaluation, and the judgements against each other.

use std::sync::Arc;

use proptest::prelude::*;
use quickcheck::{Arbitrary, Gen, QuickCheck, TestResult};
use relax_spec::cx::{Cx, Prover};
use relax_spec::grammar::{BinaryOp, DataType, PrimExpr, ShapeVar, StructInfo, Type};
use relax_spec::shape::{Assignment, exact_value, prove_equal};
use relax_spec::struct_info as si;
use relax_spec::types::{erase_struct_info, find_glb, find_lub, is_subtype};
use relax_spec::verdict::{Compatibility, Proof};

const NAMES: [&str; 3] = ["n", "m", "k"];

fn dim() -> impl Strategy<Value = PrimExpr> {
    let leaf =
        prop_oneof![(0..NAMES.len()).prop_map(|i| PrimExpr::var(NAMES[i])), (-3..6i64).prop_map(PrimExpr::from),];
    leaf.prop_recursive(4, 16, 3, |inner| {
        let operator = (0..BinaryOp::ALL.len()).prop_map(|i| BinaryOp::ALL[i]);
        prop_oneof![
            6 => (operator, inner.clone(), inner.clone()).prop_map(|(op, a, b)| PrimExpr::binary(op, a, b)),
            1 => inner.clone().prop_map(|a| PrimExpr::Not(Arc::new(a))),
            1 => (inner.clone(), inner.clone(), inner)
                .prop_map(|(c, t, f)| PrimExpr::Select(Arc::new(c), Arc::new(t), Arc::new(f))),
        ]
    })
}

fn sizes() -> impl Strategy<Value = Assignment> {
    prop::collection::vec(0..9i64, NAMES.len())
        .prop_map(|sizes| NAMES.iter().zip(sizes).map(|(name, size)| (ShapeVar::new(name), size)).collect())
}

fn small_dim() -> impl Strategy<Value = PrimExpr> {
    prop_oneof![
        (0..NAMES.len()).prop_map(|i| PrimExpr::var(NAMES[i])),
        (0..4i64).prop_map(PrimExpr::from),
        (0..NAMES.len(), 1..3i64).prop_map(|(i, k)| PrimExpr::binary(BinaryOp::Add, PrimExpr::var(NAMES[i]), k.into())),
    ]
}

fn dtype() -> impl Strategy<Value = DataType> {
    prop_oneof![Just(DataType::VOID), Just(DataType::FLOAT32), Just(DataType::INT32)]
}

fn info() -> impl Strategy<Value = StructInfo> {
    let leaf = prop_oneof![
        Just(StructInfo::Object),
        (-1..3i64, dtype()).prop_map(|(ndim, dtype)| StructInfo::tensor_ndim(ndim, dtype)),
        (prop::collection::vec(small_dim(), 0..3), dtype()).prop_map(|(dims, dtype)| StructInfo::tensor(dims, dtype)),
        (-1..3i64).prop_map(StructInfo::shape_ndim),
        prop::collection::vec(small_dim(), 0..3).prop_map(StructInfo::shape),
    ];
    leaf.prop_recursive(5, 48, 4, |inner| {
        prop_oneof![
            2 => prop::collection::vec(inner.clone(), 0..4).prop_map(StructInfo::tuple),
            1 => (prop::collection::vec(inner.clone(), 0..3), inner).prop_map(|(p, r)| StructInfo::func(p, r)),
        ]
    })
}

/// Two infos, of which the second often resembles the first.
fn two_infos() -> impl Strategy<Value = (StructInfo, StructInfo)> {
    prop_oneof![
        (info(), info()),
        info().prop_map(|s| (s.clone(), s)),
        info().prop_map(|s| {
            let weaker = si::wrap_type(&mut Cx::new(), &erase_struct_info(&mut Cx::new(), &s));
            (s, weaker)
        }),
    ]
}

fn erased_below(cx: &mut Cx, s1: &StructInfo, s2: &StructInfo) -> bool {
    let (t1, t2) = (erase_struct_info(cx, s1), erase_struct_info(cx, s2));
    is_subtype(cx, &t1, &t2)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1500, ..ProptestConfig::default() })]

    #[test]
    fn no_assignment_contradicts_a_proof(a in dim(), b in dim(), sizes in prop::collection::vec(sizes(), 12)) {
        for prover in [Prover::Alpha, Prover::Algebraic, Prover::Exhaustive] {
            let proof = prove_equal(&mut Cx::new().with_prover(prover), &a, &b);
            for sizes in &sizes {
                match (proof, exact_value(&a, sizes), exact_value(&b, sizes)) {
                    (Proof::Equal, x, y) => prop_assert_eq!(x, y, "{} and {} at {:?}", a, b, sizes),
                    (Proof::Different, Some(x), Some(y)) => prop_assert_ne!(x, y, "{} and {} at {:?}", a, b, sizes),
                    (Proof::Different, _, _) | (Proof::Unknown, _, _) => {}
                }
            }
        }
    }

    #[test]
    fn a_stronger_prover_takes_nothing_back(a in dim(), b in dim()) {
        let by = |prover| prove_equal(&mut Cx::new().with_prover(prover), &a, &b);
        let answers = [by(Prover::Alpha), by(Prover::Algebraic), by(Prover::Exhaustive)];
        for pair in answers.windows(2) {
            prop_assert!(pair[0] == Proof::Unknown || pair[0] == pair[1], "{a} and {b}: {answers:?}");
        }
    }

    #[test]
    fn a_join_is_above_both((s1, s2) in two_infos()) {
        let cx = &mut Cx::new();
        let join = si::unify_struct_info(cx, &s1, &s2);
        prop_assert!(si::is_more_specific(cx, &s1, &join), "{s1} and {join}");
        prop_assert!(si::is_more_specific(cx, &s2, &join), "{s2} and {join}");
    }

    #[test]
    fn what_is_not_incompatible_erases_to_a_subtype((s1, s2) in two_infos()) {
        let cx = &mut Cx::new();
        let answer = si::check_compatibility(cx, &s1, &s2);
        prop_assert!(answer == Compatibility::Incompatible || erased_below(cx, &s1, &s2), "{s1} and {s2}");
        prop_assert!(!si::is_more_specific(cx, &s1, &s2) || erased_below(cx, &s1, &s2), "{s1} and {s2}");
    }

    #[test]
    fn what_is_more_specific_is_compatible((s1, s2) in two_infos()) {
        // Without packed functions, where the two judgements differ on purpose (A43).
        let cx = &mut Cx::new();
        if si::is_more_specific(cx, &s1, &s2) {
            prop_assert_eq!(si::check_compatibility(cx, &s1, &s2), Compatibility::Compatible, "{} and {}", s1, s2);
        }
    }

    #[test]
    fn a_stronger_prover_only_sharpens_compatibility((s1, s2) in two_infos()) {
        let by = |prover| si::check_compatibility(&mut Cx::new().with_prover(prover), &s1, &s2);
        let (least, most) = (by(Prover::Alpha), by(Prover::Algebraic));
        prop_assert!(least == Compatibility::Possibly || least == most, "{s1} and {s2}: {least}, {most}");
    }
}

/// A random type, for quickcheck.
#[derive(Clone, Debug)]
struct AnyType(Type);

impl Arbitrary for AnyType {
    fn arbitrary(g: &mut Gen) -> AnyType {
        AnyType(random_type(g, 3))
    }

    fn shrink(&self) -> Box<dyn Iterator<Item = AnyType>> {
        let parts: Vec<Type> = match &self.0 {
            Type::Tuple(fields) => fields.to_vec(),
            Type::Func(f) => f.arg_types.iter().chain([&f.ret_type]).cloned().collect(),
            Type::Object | Type::Tensor(_) | Type::Shape(_) | Type::PackedFunc => Vec::new(),
        };
        Box::new(parts.into_iter().map(AnyType))
    }
}

fn random_type(g: &mut Gen, depth: usize) -> Type {
    let dtypes = [DataType::VOID, DataType::FLOAT32, DataType::INT32];
    let ndim = *g.choose(&[-1, 0, 1, 2]).unwrap();
    let kinds: &[u8] = if depth == 0 { &[0, 1, 2, 3] } else { &[0, 1, 2, 3, 4, 5, 4, 5] };
    match *g.choose(kinds).unwrap() {
        0 => Type::Object,
        1 => Type::tensor(ndim, *g.choose(&dtypes).unwrap()),
        2 => Type::shape(ndim),
        3 => Type::PackedFunc,
        kind => {
            let parts: Vec<Type> = (0..*g.choose(&[0, 1, 2]).unwrap()).map(|_| random_type(g, depth - 1)).collect();
            if kind == 4 {
                Type::tuple(parts)
            } else {
                Type::func(parts, random_type(g, depth - 1), bool::arbitrary(g))
            }
        }
    }
}

#[test]
fn bounds_are_bounds_whatever_the_order() {
    fn property(AnyType(a): AnyType, AnyType(b): AnyType) -> bool {
        let cx = &mut Cx::new();
        let lub = find_lub(cx, &a, &b);
        let glb = find_glb(cx, &a, &b);
        is_subtype(cx, &a, &lub)
            && is_subtype(cx, &b, &lub)
            && find_lub(cx, &b, &a) == lub
            && find_glb(cx, &b, &a) == glb
            && glb.is_none_or(|glb| is_subtype(cx, &glb, &a) && is_subtype(cx, &glb, &b))
    }
    QuickCheck::new().tests(5_000).quickcheck(property as fn(AnyType, AnyType) -> bool);
}

#[test]
fn subtyping_is_transitive_through_bounds() {
    fn property(AnyType(a): AnyType, AnyType(b): AnyType, AnyType(c): AnyType) -> TestResult {
        let cx = &mut Cx::new();
        // Random triples are hardly ever related; those through a bound often are.
        let (middle, top) = (find_lub(cx, &a, &b), find_lub(cx, &a, &c));
        let top = find_lub(cx, &middle, &top);
        TestResult::from_bool(is_subtype(cx, &a, &middle) && is_subtype(cx, &middle, &top) && is_subtype(cx, &a, &top))
    }
    QuickCheck::new().tests(3_000).quickcheck(property as fn(AnyType, AnyType, AnyType) -> TestResult);
}
