//! The laws of the static judgements on random inputs, larger than the universe of `laws.rs`. The same laws run in
//! proptest and in quickcheck. The provers are compared with evaluation, and the judgements with each other.

use std::cell::Cell;
use std::fmt;
use std::rc::Rc;
use std::sync::Arc;

use campaign::generate::{self, Tape};
use proptest::prelude::*;
use proptest::test_runner::{RngSeed, TestRunner};
use quickcheck::{Arbitrary, Gen, QuickCheck, TestResult, Testable};
use relax_spec::book::{Edition, Erratum};
use relax_spec::grammar::{BinaryOp, DataType, FuncStructInfo, PrimExpr, ShapeVar, StructInfo, Type};
use relax_spec::judge::{Compatibility, Cx, Proof, Prover};
use relax_spec::shape::{Assignment, exact_value, prove_equal};
use relax_spec::struct_info as si;
use relax_spec::types::{erase_struct_info, find_glb, find_lub, is_subtype};

use crate::law_table::later::has_packed;
use crate::law_table::{Law, at_stake, info_laws, literal, type_laws};

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
            1 => (prop::collection::vec(inner.clone(), 0..3), inner, prop::option::of(any::<bool>()))
                .prop_map(|(params, ret, pure)| func(params, ret, pure)),
        ]
    })
}

fn func(params: Vec<StructInfo>, ret: StructInfo, pure: Option<bool>) -> StructInfo {
    StructInfo::Func(Arc::new(FuncStructInfo { params: Some(params.into()), ret, derive_func: None, pure }))
}

/// Two infos. The second often resembles the first.
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

/// Two infos of an edition, with that edition.
fn in_an_edition() -> impl Strategy<Value = (Edition, (StructInfo, StructInfo))> {
    prop::sample::select(Edition::ALL.to_vec()).prop_flat_map(|edition| (Just(edition), StructInfo::strategy(edition)))
}

fn erased_below(cx: &mut Cx, s1: &StructInfo, s2: &StructInfo) -> bool {
    let (t1, t2) = (erase_struct_info(cx, s1), erase_struct_info(cx, s2));
    is_subtype(cx, &t1, &t2)
}

proptest! {
    #![proptest_config(config(1_500))]

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
    fn a_join_is_above_both((edition, (s1, s2)) in in_an_edition()) {
        let cx = &mut Cx::new().with_edition(edition);
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
    fn what_is_more_specific_is_compatible((edition, (s1, s2)) in in_an_edition()) {
        let cx = &mut Cx::new().with_edition(edition);
        // Packed functions are excluded, because the two judgements differ there on purpose (A43).
        let packed = has_packed(&s1) || has_packed(&s2);
        if !packed && si::is_more_specific(cx, &s1, &s2) {
            prop_assert_eq!(si::check_compatibility(cx, &s1, &s2), Compatibility::Compatible, "{} and {}", s1, s2);
        }
    }

    #[test]
    fn a_stronger_prover_only_sharpens_compatibility((edition, (s1, s2)) in in_an_edition()) {
        let cx = |prover| Cx::new().with_edition(edition).with_prover(prover);
        let by = |prover| si::check_compatibility(&mut cx(prover), &s1, &s2);
        let (least, most) = (by(Prover::Alpha), by(Prover::Algebraic));
        prop_assert!(least == Compatibility::Possibly || least == most, "{s1} and {s2}: {least}, {most}");
    }
}

/// The seed for both tools. The inputs are the same in every run; `LAWS_SEED=2 cargo test` selects others.
fn seed() -> u64 {
    std::env::var("LAWS_SEED").ok().and_then(|seed| seed.parse().ok()).unwrap_or(1)
}

fn config(cases: u32) -> ProptestConfig {
    // A failure can be found again by its seed, so nothing needs to be stored.
    ProptestConfig { cases, rng_seed: RngSeed::Fixed(seed()), failure_persistence: None, ..ProptestConfig::default() }
}

/// The number of families of inputs for each law and tool.
const FAMILIES: u32 = 1_000;

/// The subject of the laws.
trait Subject: Clone + fmt::Display + fmt::Debug + 'static {
    /// Types or infos that resemble and bound each other. Random ones hardly ever do.
    fn family(edition: Edition, a: Self, b: Self) -> Vec<Self>;

    fn pair(edition: Edition, tape: &mut Tape) -> (Self, Self);

    fn strategy(edition: Edition) -> BoxedStrategy<(Self, Self)>;
}

impl Subject for Type {
    fn family(_: Edition, a: Type, b: Type) -> Vec<Type> {
        let cx = &mut Cx::new();
        let bounds = [Some(find_lub(cx, &a, &b)), find_glb(cx, &a, &b)];
        [a, b].into_iter().chain(bounds.into_iter().flatten()).collect()
    }

    fn pair(_: Edition, tape: &mut Tape) -> (Type, Type) {
        generate::type_pair(tape, 5)
    }

    fn strategy(edition: Edition) -> BoxedStrategy<(Type, Type)> {
        prop_oneof![(ty(), ty()), on_tapes(edition)].boxed()
    }
}

impl Subject for StructInfo {
    fn family(edition: Edition, a: StructInfo, b: StructInfo) -> Vec<StructInfo> {
        let join = si::unify_struct_info(&mut Cx::new().with_edition(edition), &a, &b);
        // Wrapped types are in terms of the first edition, whatever the edition of the others.
        let cx = &mut Cx::new();
        let erased = erase_struct_info(cx, &a);
        let weaker = si::wrap_type(cx, &erased);
        vec![a, b, join, weaker]
    }

    fn pair(edition: Edition, tape: &mut Tape) -> (StructInfo, StructInfo) {
        generate::struct_info_pair_of(edition, tape, 5, &NAMES.map(ShapeVar::new))
    }

    fn strategy(edition: Edition) -> BoxedStrategy<(StructInfo, StructInfo)> {
        prop_oneof![two_infos(), on_tapes(edition)].boxed()
    }
}

/// Two infos from the generator of the campaigns, which often differ in few places.
fn on_tapes<T: Subject>(edition: Edition) -> impl Strategy<Value = (T, T)> {
    prop::collection::vec(any::<u32>(), 0..400)
        .prop_map(move |choices| T::pair(edition, &mut Tape::from_choices(choices)))
}

fn ty() -> impl Strategy<Value = Type> {
    let leaf = prop_oneof![
        Just(Type::Object),
        Just(Type::PackedFunc),
        (-1..3i64, dtype()).prop_map(|(ndim, dtype)| Type::tensor(ndim, dtype)),
        (-1..3i64).prop_map(Type::shape),
    ];
    leaf.prop_recursive(5, 48, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Type::tuple),
            (prop::collection::vec(inner.clone(), 0..3), inner, any::<bool>())
                .prop_map(|(params, ret, pure)| Type::func(params, ret, pure)),
        ]
    })
}

/// The search for a violation of a law, with these errata taken literally.
struct Search<T> {
    law: Rc<Law<T>>,
    edition: Edition,
    errata: Vec<Erratum>,
    /// The number of times that the law was tested.
    asked: Rc<Cell<usize>>,
}

impl<T: Subject> Search<T> {
    fn new(law: &Rc<Law<T>>, edition: Edition, errata: Vec<Erratum>) -> Search<T> {
        Search { law: law.clone(), edition, errata, asked: Rc::default() }
    }

    /// Members of the family, as many as the law needs, for which it does not hold.
    fn violation(&self, a: T, b: T) -> Option<String> {
        let (law, family) = (&self.law, T::family(self.edition, a, b));
        let member = |choice: usize, place: usize| &family[choice / family.len().pow(place as u32) % family.len()];
        (0..family.len().pow(law.arity as u32)).find_map(|choice| {
            let members: Vec<&T> = (0..law.arity).map(|place| member(choice, place)).collect();
            if !(law.applies)(&members) {
                return None;
            }
            self.asked.set(self.asked.get() + 1);
            let texts = || members.iter().map(ToString::to_string).collect::<Vec<String>>().join("  |  ");
            (!(law.holds)(&mut literal(self.edition, &self.errata), &members)).then(texts)
        })
    }

    fn by_proptest(self) -> Option<String> {
        let outcome = TestRunner::new(config(FAMILIES)).run(&T::strategy(self.edition), |(a, b)| {
            self.violation(a, b).map_or(Ok(()), |found| Err(TestCaseError::fail(found)))
        });
        outcome.err().map(|error| error.to_string())
    }

    fn by_quickcheck(self) -> Option<String> {
        let mut quickcheck = QuickCheck::new().tests(FAMILIES.into()).rng(Gen::from_size_and_seed(100, seed()));
        quickcheck.quicktest(self).err().map(|result| format!("{result:?}"))
    }

    fn on_tape(&self, choices: &[u32]) -> Option<String> {
        let (a, b) = T::pair(self.edition, &mut Tape::from_choices(choices.to_vec()));
        self.violation(a, b)
    }

    /// The violation on the shortest tape of choices that can be found.
    fn cut_down(&self, choices: Vec<u32>, found: String) -> String {
        let smaller = choices.shrink().find_map(|fewer| self.on_tape(&fewer).map(|found| (fewer, found)));
        smaller.map_or(found, |(choices, found)| self.cut_down(choices, found))
    }
}

impl<T: Subject> Testable for Search<T> {
    fn result(&self, g: &mut Gen) -> TestResult {
        let choices: Vec<u32> = (0..400).map(|_| u32::arbitrary(g)).collect();
        match self.on_tape(&choices) {
            None => TestResult::passed(),
            Some(found) => TestResult::error(self.cut_down(choices, found)),
        }
    }
}

/// A tool's name and search.
type Tool<T> = (&'static str, fn(Search<T>) -> Option<String>);

fn carried_by_both<T: Subject>(edition: Edition, laws: Vec<Law<T>>) {
    let mut unseen = Vec::new();
    for law in laws.into_iter().filter(|law| law.is_asked_in(edition)).map(Rc::new) {
        let tools: [Tool<T>; 2] = [("proptest", Search::by_proptest), ("quickcheck", Search::by_quickcheck)];
        for (tool, find) in tools {
            let search = Search::new(&law, edition, Vec::new());
            let asked = search.asked.clone();
            assert_eq!(find(search), None, "{tool}, seed {}, {edition}: {} does not hold", seed(), law.name);
            assert!(asked.get() >= 100, "{tool}, {edition}: {} was asked {} times only", law.name, asked.get());
            // A law that the literal text breaks must be found broken.
            let literally = find(Search::new(&law, edition, at_stake(edition)));
            if literally.is_some() == law.explained_in(edition).is_empty() {
                unseen.push(format!("{tool}, {edition}: {}: {literally:?}", law.name));
            }
        }
    }
    assert!(unseen.is_empty(), "literally, violations are not as explained: {unseen:#?}");
}

#[test]
fn the_laws_of_types_hold_of_large_ones() {
    carried_by_both(Edition::E2023_02, type_laws());
}

#[test]
fn the_laws_of_structural_information_hold_of_large_ones() {
    Edition::ALL.into_iter().for_each(|edition| carried_by_both(edition, info_laws()));
}
