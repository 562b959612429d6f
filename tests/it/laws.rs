//! The laws of the static judgements on an exhaustive universe of small types and structural information. None is
//! broken in the corrected reading. In the literal reading exactly those are that the errata explain. Prints a table of
//! laws, readings and violations for each edition.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::Arc;

use rayon::prelude::*;
use relax_spec::book::Erratum::{self, A15, A17, A43};
use relax_spec::book::{Edition, Rule, RuleSet};
use relax_spec::grammar::{
    BinaryOp, DataType, DeriveFunc, FuncStructInfo, Ndim, PrimExpr, PrimStructInfo, StructInfo, Target, TensorShape,
    TensorStructInfo, Type, VDevice, Var,
};
use relax_spec::judge::{Cx, GlbPurity};
use relax_spec::struct_info as si;
use relax_spec::suite::knockout;
use relax_spec::types::axioms::FiniteRelation;
use relax_spec::types::{self, find_glb, find_lub, is_subtype};

use crate::law_table::{Law, at_stake, has_function, info_laws, literal, order, type_laws};

const F32: DataType = DataType::FLOAT32;
const I32: DataType = DataType::INT32;
const VOID: DataType = DataType::VOID;

/// The members of an instance of a law, by position in the universe.
type Instance = Vec<usize>;

/// A minimal set of errata that, taken literally, break the law for the instance. Empty if it is broken anyway.
fn explanation<T>(law: &Law<T>, edition: Edition, at_stake: &[Erratum], instance: &[&T]) -> Vec<Erratum> {
    let mut errata = at_stake.to_vec();
    for erratum in at_stake {
        let fewer: Vec<Erratum> = errata.iter().copied().filter(|e| e != erratum).collect();
        if !(law.holds)(&mut literal(edition, &fewer), instance) {
            errata = fewer;
        }
    }
    errata
}

/// Every instance up to pairs, and a fixed sample of triples.
fn instances<T>(law: &Law<T>, universe: &[T]) -> Vec<Instance> {
    let n = universe.len();
    match law.arity {
        1 => (0..n).map(|i| vec![i]).collect(),
        2 => (0..n).flat_map(|i| (0..n).map(move |j| vec![i, j])).collect(),
        _ => {
            // Neighbours in the list resemble each other, so their triples are the most useful.
            let near =
                (0..n).flat_map(|i| (i..n.min(i + 9)).flat_map(move |j| (i..n.min(i + 9)).map(move |k| vec![j, i, k])));
            let mut state: u64 = 1;
            let mut next = move || {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                (state >> 33) as usize % n
            };
            near.chain((0..150_000).map(move |_| vec![next(), next(), next()])).collect()
        }
    }
}

/// A row of the table.
#[derive(Default)]
struct Outcome {
    instances: usize,
    corrected: Vec<Instance>,
    by_errata: BTreeMap<Vec<Erratum>, usize>,
    unexplained: Vec<(Instance, Vec<Erratum>)>,
}

fn examine<T: Sync>(law: &Law<T>, edition: Edition, universe: &[T]) -> Outcome {
    let (at_stake, may_explain) = (at_stake(edition), law.explained_in(edition));
    let all: Vec<Instance> = instances(law, universe)
        .into_par_iter()
        .filter(|instance| (law.applies)(&members(universe, instance)))
        .collect();
    let violations = |reading: &[Erratum]| -> Vec<Instance> {
        let broken = |instance: &&Instance| !(law.holds)(&mut literal(edition, reading), &members(universe, instance));
        all.par_iter().filter(broken).cloned().collect()
    };
    let by_letter = |letter: &[Erratum]| -> Vec<(Instance, Vec<Erratum>)> {
        let explained = |instance: Instance| {
            let errata = explanation(law, edition, letter, &members(universe, &instance));
            (instance, errata)
        };
        violations(letter).into_par_iter().map(explained).collect()
    };
    let mut explained: BTreeMap<Instance, Vec<Erratum>> = by_letter(&at_stake).into_iter().collect();
    if at_stake.contains(&A15) {
        // In that literal reading all shapes of a rank are alike, which hides the effects of other errata.
        let others: Vec<Erratum> = at_stake.iter().copied().filter(|erratum| *erratum != A15).collect();
        for (instance, errata) in by_letter(&others) {
            explained.entry(instance).or_insert(errata);
        }
    }
    let mut outcome = Outcome { instances: all.len(), corrected: violations(&[]), ..Outcome::default() };
    for (instance, errata) in explained {
        *outcome.by_errata.entry(errata.clone()).or_default() += 1;
        if errata.is_empty() || !errata.iter().all(|erratum| may_explain.contains(erratum)) {
            outcome.unexplained.push((instance, errata));
        }
    }
    outcome
}

fn members<'u, T>(universe: &'u [T], instance: &[usize]) -> Vec<&'u T> {
    instance.iter().map(|i| &universe[*i]).collect()
}

/// Prints the table, and fails for violations without a reason.
fn check<T: Sync + std::fmt::Display>(title: &str, edition: Edition, laws: &[Law<T>], universe: &[T]) {
    let mut table = format!("{title}, {edition}: {} members\n", universe.len());
    let mut failures = String::new();
    for law in laws {
        if !law.is_asked_in(edition) {
            let _ = writeln!(table, "  {:<44} not asked: {}", law.name, law.elsewhere.unwrap_or_default());
            continue;
        }
        let outcome = examine(law, edition, universe);
        if outcome.instances == 0 {
            let _ = writeln!(failures, "{}: the universe has no instance of it", law.name);
        }
        let literal: usize = outcome.by_errata.values().sum();
        let errata: Vec<String> = outcome
            .by_errata
            .iter()
            .map(|(errata, count)| {
                let names: Vec<&str> = errata.iter().map(|e| e.id()).collect();
                format!("{} {count}", names.join("+"))
            })
            .collect();
        let _ = writeln!(
            table,
            "  {:<44} {:>9} instances   corrected {:>6}   literal {:>7}   {}",
            law.name,
            outcome.instances,
            outcome.corrected.len(),
            literal,
            errata.join(", ")
        );
        let seen = |erratum: &Erratum| outcome.by_errata.keys().any(|errata| errata.contains(erratum));
        for erratum in law.explained_in(edition).iter().filter(|erratum| !seen(erratum)) {
            let _ = writeln!(failures, "{}: {erratum} is said to explain violations, and explains none", law.name);
        }
        let show = |instance: &Instance| {
            members(universe, instance).iter().map(ToString::to_string).collect::<Vec<_>>().join("  |  ")
        };
        for instance in outcome.corrected.iter().take(3) {
            let _ = writeln!(failures, "{}: broken in the corrected reading: {}", law.name, show(instance));
        }
        for (instance, errata) in outcome.unexplained.iter().take(3) {
            let _ = writeln!(failures, "{}: {errata:?} do not explain: {}", law.name, show(instance));
        }
    }
    tell(&table);
    assert!(failures.is_empty(), "{failures}");
}

fn leaf_types() -> Vec<Type> {
    let ndims = [-1, 1, 2];
    let mut leaves = vec![Type::Object, Type::PackedFunc];
    leaves.extend(ndims.map(Type::shape));
    leaves.extend(ndims.iter().flat_map(|ndim| [VOID, F32, I32].map(|dtype| Type::tensor(*ndim, dtype))));
    leaves
}

/// All types of depth 1 with up to two components, and a selection of those of depth 2.
fn type_universe() -> Vec<Type> {
    let leaves = leaf_types();
    let few = [Type::Object, Type::shape(-1), Type::shape(1), Type::tensor(-1, VOID), Type::tensor(1, F32)];
    let mut all: Vec<Type> = leaves.clone();
    all.push(Type::tuple([]));
    all.extend(leaves.iter().map(|t| Type::tuple([t.clone()])));
    all.extend(pairs(&leaves, &leaves).map(|(a, b)| Type::tuple([a, b])));
    for pure in [false, true] {
        all.extend(leaves.iter().map(|t| Type::func([], t.clone(), pure)));
        all.extend(pairs(&leaves, &leaves).map(|(a, r)| Type::func([a], r, pure)));
        let arity2 =
            pairs(&few, &few).flat_map(|(a, b)| few.clone().map(|r| Type::func([a.clone(), b.clone()], r, pure)));
        all.extend(arity2);
    }
    let mut nested: Vec<Type> = few.iter().map(|t| Type::tuple([t.clone()])).collect();
    for pure in [false, true] {
        nested.extend(pairs(&few[..3], &few[2..4]).map(|(a, r)| Type::func([a], r, pure)));
    }
    for pure in [false, true] {
        all.extend(pairs(&nested, &few).map(|(a, r)| Type::func([a], r, pure)));
        all.extend(pairs(&few, &nested).map(|(a, r)| Type::func([a], r, pure)));
    }
    all.extend(pairs(&nested, &few).map(|(a, b)| Type::tuple([a, b])));
    distinct(all)
}

fn pairs<'a, A: Clone, B: Clone>(left: &'a [A], right: &'a [B]) -> impl Iterator<Item = (A, B)> + 'a {
    left.iter().flat_map(|a| right.iter().map(|b| (a.clone(), b.clone())))
}

fn distinct<T: Clone + Eq + std::hash::Hash>(all: Vec<T>) -> Vec<T> {
    let mut seen = std::collections::HashSet::new();
    all.into_iter().filter(|t| seen.insert(t.clone())).collect()
}

#[test]
fn laws_of_types() {
    check("types", Edition::E2023_02, &type_laws(), &type_universe());
}

/// The relation of the decision procedure, by rows.
fn decided<T: Sync>(universe: &[T], below: impl Fn(&T, &T) -> bool + Sync) -> Vec<Vec<bool>> {
    universe.par_iter().map(|a| universe.iter().map(|b| below(a, b)).collect()).collect()
}

fn differences<T: std::fmt::Display>(universe: &[T], decided: &[Vec<bool>], axioms: &FiniteRelation) -> Vec<String> {
    let mut found = Vec::new();
    for (i, a) in universe.iter().enumerate() {
        for (j, b) in universe.iter().enumerate() {
            if decided[i][j] != axioms.contains(i, j) {
                found.push(format!("{a} and {b}: decided {}, by the axioms {}", decided[i][j], axioms.contains(i, j)));
            }
        }
    }
    found
}

#[test]
fn subtyping_is_the_closure_of_its_axioms() {
    let universe = type_universe();
    for errata in [&[][..], &[A17][..]] {
        let decided = decided(&universe, |a, b| is_subtype(&mut literal(Edition::E2023_02, errata), a, b));
        let mut cx = literal(Edition::E2023_02, errata);
        let axioms = FiniteRelation::closure(&universe, |a, b, below| types::axioms::axiom(&mut cx, a, b, below));
        let found = differences(&universe, &decided, &axioms);
        assert!(found.is_empty(), "literal {errata:?}: {} differences, e.g. {:?}", found.len(), &found[..3]);
    }
}

/// Counts pairs whose bound is not the best one in the universe.
fn not_best(
    universe: &[Type],
    below: &[Vec<bool>],
    bound: impl Fn(&Type, &Type) -> Option<Type> + Sync,
    upper: bool,
) -> usize {
    let positions: std::collections::HashMap<&Type, usize> = universe.iter().enumerate().map(|(i, t)| (t, i)).collect();
    let related = |i: usize, j: usize| if upper { below[i][j] } else { below[j][i] };
    (0..universe.len())
        .into_par_iter()
        .map(|i| {
            (i..universe.len())
                .filter(|j| {
                    let candidates = (0..universe.len()).filter(|k| related(i, *k) && related(*j, *k));
                    match bound(&universe[i], &universe[*j]) {
                        None => candidates.count() > 0,
                        Some(best) => match positions.get(&best) {
                            Some(b) => candidates.into_iter().any(|k| !related(*b, k)),
                            None => false,
                        },
                    }
                })
                .count()
        })
        .sum()
}

#[test]
fn bounds_are_the_best_ones() {
    let universe: Vec<Type> = type_universe().into_iter().step_by(2).chain(leaf_types()).collect();
    let universe = distinct(universe);
    let below = decided(&universe, |a, b| is_subtype(&mut Cx::new(), a, b));
    let with = |purity| {
        let mut cx = Cx::new();
        cx.glb_purity = purity;
        cx
    };
    let lubs = |purity| not_best(&universe, &below, |a, b| Some(find_lub(&mut with(purity), a, b)), true);
    let glbs = |purity| not_best(&universe, &below, |a, b| find_glb(&mut with(purity), a, b), false);
    let counts = [lubs(GlbPurity::Min), glbs(GlbPurity::Min), lubs(GlbPurity::Literal), glbs(GlbPurity::Literal)];
    tell(&format!(
        "bounds among {} types: not least {} (A27 literal {}), not greatest {} (A27 literal {})",
        universe.len(),
        counts[0],
        counts[2],
        counts[1],
        counts[3]
    ));
    assert_eq!(counts[..2], [0, 0]);
    // The text has the branch on purity, and it makes the difference (A27).
    assert!(counts[3] > 0);
}

fn n() -> PrimExpr {
    PrimExpr::var("n")
}

fn dims() -> Vec<PrimExpr> {
    let sum = PrimExpr::binary(BinaryOp::Add, n(), 1.into());
    let double = PrimExpr::binary(BinaryOp::Mul, 2.into(), n());
    vec![3.into(), 4.into(), n(), PrimExpr::var("m"), sum, double]
}

fn by_var(dtype: DataType) -> StructInfo {
    let shape = Some(TensorShape::Var(Var::new("s").into()));
    StructInfo::Tensor(TensorStructInfo { shape, dtype, ndim: Ndim::Known(1), vdevice: None })
}

fn leaf_infos() -> Vec<StructInfo> {
    let mut leaves = vec![StructInfo::Object, StructInfo::prim(DataType::INT64), by_var(F32), by_var(VOID)];
    for dtype in [VOID, F32, I32] {
        leaves.extend([-1, 1, 2].map(|ndim| StructInfo::tensor_ndim(ndim, dtype)));
        leaves.extend(dims().into_iter().map(|dim| StructInfo::tensor([dim], dtype)));
        leaves.push(StructInfo::tensor([n(), 3.into()], dtype));
        leaves.push(StructInfo::tensor([3.into(), n()], dtype));
    }
    leaves.extend([-1, 1, 2].map(StructInfo::shape_ndim));
    leaves.extend(dims().into_iter().map(|dim| StructInfo::shape([dim])));
    let packed = [DeriveFunc::DefaultDerive, DeriveFunc::EmptyDerive, DeriveFunc::Named("mine".into())];
    leaves.extend(packed.map(StructInfo::packed));
    leaves
}

fn few_infos() -> Vec<StructInfo> {
    let vector = |dim: PrimExpr| StructInfo::tensor([dim], F32);
    vec![
        StructInfo::Object,
        StructInfo::tensor_ndim(-1, VOID),
        StructInfo::tensor_ndim(1, F32),
        vector(3.into()),
        vector(n()),
        vector(PrimExpr::var("m")),
        vector(dims()[4].clone()),
        StructInfo::tensor([n()], VOID),
        StructInfo::shape_ndim(-1),
        StructInfo::shape_ndim(1),
        StructInfo::shape([n()]),
        StructInfo::shape([4.into()]),
    ]
}

fn with_purity(s: &StructInfo, pure: bool) -> StructInfo {
    match s {
        StructInfo::Func(f) => StructInfo::Func(Arc::new(FuncStructInfo { pure: Some(pure), ..(**f).clone() })),
        other => other.clone(),
    }
}

/// Tensors on devices. For each there is one with less information, down to a tensor with none.
fn located_infos() -> Vec<StructInfo> {
    let device = |tag: &str| VDevice { target: Target::Tag(tag.into()), dev_id: 0, mem_scope: "global".into() };
    let devices = [None, Some(Arc::new(device("llvm"))), Some(Arc::new(device("cuda")))];
    let shapes = [StructInfo::tensor_ndim(-1, VOID), StructInfo::tensor_ndim(1, VOID)]
        .into_iter()
        .chain([3.into(), n(), PrimExpr::var("m")].map(|dim| StructInfo::tensor([dim], VOID)));
    let tensors = shapes.filter_map(|shape| shape.as_tensor().cloned());
    tensors
        .flat_map(|tensor| {
            let located = |(dtype, vdevice)| StructInfo::Tensor(TensorStructInfo { dtype, vdevice, ..tensor.clone() });
            pairs(&[VOID, F32, I32], &devices).map(located).collect::<Vec<StructInfo>>()
        })
        .collect()
}

/// Boxed scalars with values and without.
fn scalar_infos() -> Vec<StructInfo> {
    let integers = dims().into_iter().map(|value| (DataType::INT64, value));
    let truths = [PrimExpr::binary(BinaryOp::Lt, n(), 3.into()), PrimExpr::binary(BinaryOp::Eq, n(), 3.into())];
    let valued = integers.chain(truths.into_iter().map(|value| (DataType::BOOL, value)));
    let valued = valued.map(|(dtype, value)| StructInfo::Prim(PrimStructInfo { dtype, value: Some(value) }));
    [DataType::INT64, DataType::BOOL, F32].map(StructInfo::prim).into_iter().chain(valued).collect()
}

/// Information that only later editions have: devices, values of boxed scalars, and functions with a purity.
fn later_infos() -> Vec<StructInfo> {
    let (located, scalars) = (located_infos(), scalar_infos());
    let few: Vec<StructInfo> = located.iter().step_by(4).chain(scalars.iter().step_by(3)).cloned().collect();
    let mut all: Vec<StructInfo> = located.into_iter().chain(scalars).collect();
    all.extend(pairs(&few, &few).step_by(3).map(|(a, b)| StructInfo::tuple([a, b])));
    let functions: Vec<StructInfo> = pairs(&few, &few).step_by(2).map(|(a, r)| StructInfo::func([a], r)).collect();
    all.extend(functions.iter().flat_map(|f| [with_purity(f, true), with_purity(f, false)]));
    let nested = functions.iter().step_by(9).flat_map(|f| [with_purity(f, true), with_purity(f, false)]);
    all.extend(nested.flat_map(|f| {
        let [taking, giving] = [StructInfo::func([f.clone()], few[1].clone()), StructInfo::func([few[1].clone()], f)];
        [with_purity(&taking, false), taking, with_purity(&giving, false), giving]
    }));
    all
}

/// The terms of an edition. Later editions are asked only some of the terms that all editions have.
fn universe_of(edition: Edition) -> Vec<StructInfo> {
    if edition == Edition::E2023_02 {
        return info_universe();
    }
    distinct(info_universe().into_iter().step_by(3).chain(leaf_infos()).chain(later_infos()).collect())
}

fn info_universe() -> Vec<StructInfo> {
    let (leaves, few) = (leaf_infos(), few_infos());
    let mut all = leaves.clone();
    all.push(StructInfo::tuple([]));
    all.extend(leaves.iter().map(|s| StructInfo::tuple([s.clone()])));
    all.extend(pairs(&few, &few).map(|(a, b)| StructInfo::tuple([a, b])));
    all.extend(leaves.iter().map(|s| StructInfo::func([], s.clone())));
    let functions: Vec<StructInfo> = pairs(&few, &few).map(|(a, r)| StructInfo::func([a], r)).collect();
    all.extend(functions.iter().step_by(3).flat_map(|f| [with_purity(f, true), with_purity(f, false)]));
    let nested: Vec<StructInfo> = functions.iter().skip(24).step_by(11).cloned().collect();
    all.extend(functions);
    all.extend(pairs(&few[3..7], &few[2..6]).flat_map(|(a, b)| {
        [a.clone(), b.clone(), StructInfo::Object].map(|r| StructInfo::func([a.clone(), b.clone()], r))
    }));
    all.extend(pairs(&nested, &few[3..6]).map(|(f, r)| StructInfo::func([f], r)));
    all.extend(pairs(&few[3..6], &nested).map(|(a, f)| StructInfo::func([a], f)));
    all.extend(nested.iter().map(|f| StructInfo::tuple([f.clone()])));
    all.extend(pairs(&few[..6], &few[6..]).map(|(a, b)| StructInfo::tuple([a, StructInfo::Object, b])));
    distinct(all)
}

#[test]
fn laws_of_structural_information() {
    for edition in Edition::ALL {
        check("structural informations", edition, &info_laws(), &universe_of(edition));
    }
}

/// Laws have a reason exactly if some edition is not asked.
#[test]
fn what_is_not_asked_has_its_reason() {
    fn checked<T>(laws: &[Law<T>]) {
        for law in laws {
            let skipped = Edition::ALL.iter().any(|edition| !law.is_asked_in(*edition));
            assert_eq!(law.elsewhere.is_some(), skipped, "{}", law.name);
            assert!(Edition::ALL.iter().any(|edition| law.is_asked_in(*edition)), "{}", law.name);
        }
    }
    checked(&type_laws());
    checked(&info_laws());
}

/// Infos without functions that introduce shape variables, because these are renamed before a comparison.
fn plain_infos() -> Vec<StructInfo> {
    let plain = [
        StructInfo::Object,
        StructInfo::tensor_ndim(-1, VOID),
        StructInfo::tensor_ndim(1, F32),
        StructInfo::tensor([3.into()], F32),
        StructInfo::shape_ndim(-1),
        StructInfo::shape_ndim(1),
        StructInfo::shape([4.into()]),
    ];
    let mut all = leaf_infos();
    all.extend(pairs(&few_infos(), &few_infos()).map(|(a, b)| StructInfo::tuple([a, b])));
    all.extend(pairs(&plain, &plain).map(|(a, r)| StructInfo::func([a], r)));
    distinct(all)
}

/// The same with the additions of later editions: devices, values, and functions with a purity.
fn plain_infos_of(edition: Edition) -> Vec<StructInfo> {
    let mut all = plain_infos();
    if edition > Edition::E2023_02 {
        // Purity has no meaning for packed functions.
        let is_closure = |s: &&StructInfo| s.as_func().is_some_and(|func| func.params.is_some());
        let functions: Vec<StructInfo> = all.iter().filter(is_closure).cloned().collect();
        all.extend(functions.iter().flat_map(|f| [with_purity(f, true), with_purity(f, false)]));
        all.extend(located_infos());
        all.extend(scalar_infos());
    }
    distinct(all)
}

#[test]
fn the_order_is_the_closure_of_its_axioms() {
    let letters: [&[Erratum]; 3] = [&[], &[A15], &[A43]];
    for (edition, errata) in pairs(&Edition::ALL, &letters) {
        if !errata.iter().all(|erratum| at_stake(edition).contains(erratum)) {
            continue;
        }
        let universe = plain_infos_of(edition);
        let decided = decided(&universe, |a, b| order(&mut literal(edition, errata), a, b));
        let mut cx = literal(edition, errata);
        let axioms = FiniteRelation::closure(&universe, |a, b, below| si::axioms::axiom(&mut cx, a, b, below));
        let found = differences(&universe, &decided, &axioms);
        assert!(
            found.is_empty(),
            "{edition}, literal {errata:?}: {} differences, e.g. {:?}",
            found.len(),
            &found[..3.min(found.len())]
        );
    }
}

#[test]
fn joins_are_the_least_upper_bounds() {
    for edition in Edition::ALL {
        // Functions are joined more cautiously than the order requires (A42).
        let universe: Vec<StructInfo> = universe_of(edition).into_iter().filter(|s| !has_function(s)).collect();
        let cx = || Cx::new().with_edition(edition);
        let below = decided(&universe, |a, b| order(&mut cx(), a, b));
        let broken: usize = (0..universe.len())
            .into_par_iter()
            .map(|i| {
                let least = |j: &usize| {
                    let join = si::unify_struct_info(&mut cx(), &universe[i], &universe[*j]);
                    (0..universe.len())
                        .filter(|k| below[i][*k] && below[*j][*k])
                        .all(|k| order(&mut cx(), &join, &universe[k]))
                };
                (i..universe.len()).filter(|j| !least(j)).count()
            })
            .sum();
        assert_eq!(broken, 0, "{edition}: among {} infos", universe.len());
    }
}

/// The rules of the list that break a law when switched off, with the law.
fn noticed<T: Sync>(edition: Edition, rules: &[Rule], laws: &[Law<T>], universe: &[T]) -> Vec<String> {
    let cx = || Cx::new().with_edition(edition);
    let noticed_by = |law: &Law<T>| {
        let instances: Vec<Instance> = instances_of_pairs(law, universe);
        let mut used = cx();
        let holds = instances.iter().all(|instance| (law.holds)(&mut used, &members(universe, instance)));
        assert!(holds, "{}", law.name);
        let at_stake = rules.iter().filter(|rule| used.recorded().contains(**rule));
        let broken = at_stake.filter(|rule| {
            let without = || cx().with_mask(RuleSet::from_iter([**rule]));
            instances.iter().any(|instance| !(law.holds)(&mut without(), &members(universe, instance)))
        });
        broken.map(|rule| format!("{rule}: {}", law.name)).collect::<Vec<String>>()
    };
    laws.par_iter().filter(|law| law.is_asked_in(edition)).flat_map(noticed_by).collect()
}

/// The instances of a law with one or two members.
fn instances_of_pairs<T>(law: &Law<T>, universe: &[T]) -> Vec<Instance> {
    let all = if law.arity > 2 { Vec::new() } else { instances(law, universe) };
    all.into_iter().filter(|instance| (law.applies)(&members(universe, instance))).collect()
}

/// A rule whose absence no case detects must not be detected by a law either.
#[test]
fn no_law_notices_a_redundant_rule() {
    let rules: Vec<Rule> = knockout::redundant().unwrap().into_keys().collect();
    let types: Vec<Type> = type_universe().into_iter().step_by(9).collect();
    let mut found = noticed(Edition::E2023_02, &rules, &type_laws(), &types);
    for edition in Edition::ALL {
        let infos: Vec<StructInfo> = universe_of(edition).into_iter().step_by(7).collect();
        found.extend(noticed(edition, &rules, &info_laws(), &infos));
    }
    assert!(found.is_empty(), "in spec/redundant.ron, but a law needs them: {found:?}");
}

#[test]
fn the_universe_is_large() {
    let size = type_universe().len() + info_universe().len();
    assert!(size >= 2_000, "{size}");
    let later = universe_of(Edition::E2024_04).len();
    assert!(later >= 700, "{later}");
}

/// Prints the output of a passing test, which the test harness would capture from `println`.
fn tell(text: &str) {
    use std::io::Write as _;
    // A closed stream does not make a law fail.
    let _ = writeln!(std::io::stderr(), "{text}");
}
