//! Pairs of structural information with few names, each sometimes bound and sometimes free.

use std::collections::BTreeSet;
use std::fmt;

use campaign::generate::{self, Tape};
use relax_spec::book::{Edition, Erratum, Reading};
use relax_spec::derivation::derive_call;
use relax_spec::grammar::{BinaryOp, DataType, PrimExpr, ShapeVar, StructInfo};
use relax_spec::judge::Cx;
use relax_spec::struct_info::{self as si, InScope, ShapeRelation};
use relax_spec::suite::alpha::same_struct_info;

use super::alike::alike;
use super::spelling::{Manner, Spelling, free_in};
use super::{cx, readings_of, seeds};

pub(super) fn names() -> [ShapeVar; 4] {
    [ShapeVar::new("n"), ShapeVar::new("m"), ShapeVar::new("k"), ShapeVar::numbered("n".into(), 1)]
}

fn dim(tape: &mut Tape) -> PrimExpr {
    let names = names();
    let var = |tape: &mut Tape| PrimExpr::Var(names[tape.choose(names.len())].clone());
    match tape.choose(8) {
        0..=4 => var(tape),
        5 => PrimExpr::from([3, 4][tape.choose(2)]),
        6 => PrimExpr::binary(BinaryOp::Add, var(tape), 1.into()),
        _ => PrimExpr::binary([BinaryOp::Mul, BinaryOp::Add][tape.choose(2)], var(tape), var(tape)),
    }
}

fn several<T>(tape: &mut Tape, bound: usize, mut item: impl FnMut(&mut Tape) -> T) -> Vec<T> {
    (0..tape.choose(bound)).map(|_| item(tape)).collect()
}

fn leaf(tape: &mut Tape) -> StructInfo {
    let dtype = [DataType::FLOAT32, DataType::FLOAT32, DataType::VOID][tape.choose(3)];
    match tape.choose(8) {
        0..=3 => StructInfo::tensor(vec![dim(tape)], dtype),
        4 => StructInfo::tensor(several(tape, 3, dim), dtype),
        5 => StructInfo::tensor_ndim([1, -1][tape.choose(2)], dtype),
        6 => StructInfo::shape(several(tape, 3, dim)),
        _ => [StructInfo::Object, StructInfo::shape_ndim(1), StructInfo::prim(DataType::INT64)][tape.choose(3)].clone(),
    }
}

fn func(tape: &mut Tape, depth: usize) -> StructInfo {
    let params = several(tape, 4, |tape| info(tape, depth - 1));
    StructInfo::func(params, info(tape, depth - 1))
}

fn info(tape: &mut Tape, depth: usize) -> StructInfo {
    match tape.choose(if depth == 0 { 4 } else { 8 }) {
        0..=3 => leaf(tape),
        4 => StructInfo::tuple(several(tape, 4, |tape| info(tape, depth - 1))),
        _ => func(tape, depth),
    }
}

/// A small change to some parts.
fn nearby(tape: &mut Tape, s: &StructInfo, depth: usize) -> StructInfo {
    if tape.one_in(6) {
        return info(tape, depth.min(1));
    }
    let depth = depth.saturating_sub(1);
    match s {
        StructInfo::Tuple(fields) => StructInfo::tuple(fields.iter().map(|field| nearby(tape, field, depth))),
        StructInfo::Func(f) => match &f.params {
            Some(params) => {
                let params: Vec<StructInfo> = params.iter().map(|param| nearby(tape, param, depth)).collect();
                StructInfo::func(params, nearby(tape, &f.ret, depth))
            }
            None => s.clone(),
        },
        StructInfo::Object | StructInfo::Tensor(_) | StructInfo::Shape(_) | StructInfo::Prim(_) => s.clone(),
    }
}

/// A pair. In later editions a third of them have devices, boxed scalars and purity.
fn pair(edition: Edition, tape: &mut Tape) -> (StructInfo, StructInfo) {
    let is_later = edition > Edition::E2023_02;
    if tape.one_in(if is_later { 3 } else { 5 }) {
        return generate::struct_info_pair_of(edition, tape, 3, &names());
    }
    let first = if tape.one_in(5) { info(tape, 3) } else { func(tape, 3) };
    let second = match tape.choose(4) {
        0 => func(tape, 2),
        1 | 2 => nearby(tape, &first, 3),
        _ => {
            let mut other = Spelling::new(Manner::Exchanged, BTreeSet::new(), &[]).of(edition);
            let renamed = other.info(&first);
            nearby(tape, &renamed, 3)
        }
    };
    (first, second)
}

/// Two signatures with several parameters each. The second often resembles the first.
pub(super) fn signatures(tape: &mut Tape) -> Option<(StructInfo, StructInfo)> {
    let (first, second) = (func(tape, 3), func(tape, 2));
    let second = if tape.one_in(4) { second } else { nearby(tape, &first, 3) };
    let several = |s: &StructInfo| args_of(s).len() > 1;
    (several(&first) && several(&second)).then_some((first, second))
}

/// Errata whose literal reading goes by names in matching and substitution, but not in the other questions of this
/// test.
const BY_LETTER: [Erratum; 2] = [Erratum::E55, Erratum::E80];

/// An answer about a pair.
#[derive(Debug)]
pub(super) enum Said {
    Word(String),
    Info(StructInfo),
}

/// A pair in one renamed form, with arguments for a call of the first.
pub(super) struct Spelt {
    pub(super) manner: String,
    pub(super) s1: StructInfo,
    pub(super) s2: StructInfo,
    pub(super) args: Vec<StructInfo>,
}

impl fmt::Display for Spelt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let args: Vec<String> = self.args.iter().map(ToString::to_string).collect();
        write!(f, "  {}: {}  |  {}  ({})", self.manner, self.s1, self.s2, args.join(", "))
    }
}

impl fmt::Display for Said {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Said::Word(word) => f.write_str(word),
            Said::Info(info) => info.fmt(f),
        }
    }
}

/// Infos that roughly fit the parameters of the first: those of the second, with sizes of the caller.
pub(super) fn args_of(s2: &StructInfo) -> Vec<StructInfo> {
    match s2 {
        StructInfo::Func(f) => f.params.iter().flat_map(|params| params.iter()).cloned().collect(),
        other => vec![other.clone()],
    }
}

pub(super) fn asked(cx: &mut Cx, Spelt { s1, s2, args, .. }: &Spelt, scope: &InScope) -> Vec<(&'static str, Said)> {
    let call = match derive_call(cx, s1, args, &[]) {
        Ok(info) => Said::Info(info),
        Err(rule) => Said::Word(rule.to_string()),
    };
    let word = |answer: &dyn ToString| Said::Word(answer.to_string());
    vec![
        ("compatibility", word(&si::check_compatibility_in(cx, s1, s2, scope))),
        ("order", word(&si::is_more_specific_in(cx, ShapeRelation::Definite, s1, s2, scope))),
        ("possible order", word(&si::is_more_specific_in(cx, ShapeRelation::Possible, s1, s2, scope))),
        ("join", Said::Info(si::unify_struct_info_in(cx, s1, s2, scope))),
        ("what is well defined", Said::Info(si::erase_to_well_defined(cx, s1, scope))),
        ("call", call),
    ]
}

/// Whether two answers agree. A variable that occurs in neither question, left without a binder by some literal
/// readings, may be any.
pub(super) fn agree(edition: Edition, a: &Said, b: &Said, free: &BTreeSet<ShapeVar>) -> bool {
    match (a, b) {
        (Said::Word(a), Said::Word(b)) => a == b,
        (Said::Info(a), Said::Info(b)) => {
            a == b || same_struct_info(&mut Cx::new().with_edition(edition), a, b) || alike(a, b, free)
        }
        (Said::Word(_), Said::Info(_)) | (Said::Info(_), Said::Word(_)) => false,
    }
}

/// The pair in every renamed form; the last with only one side renamed.
fn spellings(edition: Edition, first: &Spelt, scope: &InScope) -> Vec<Spelt> {
    let Spelt { s1, s2, args, .. } = first;
    let spell_in = |scope: &BTreeSet<ShapeVar>, manner, s: &StructInfo, other: &StructInfo| {
        // A name that is free in it cannot be used. A name that is free only in the other can.
        let pool: Vec<ShapeVar> = free_in(other).into_iter().chain(names()).collect();
        Spelling::new(manner, scope.clone(), &pool).of(edition).info(s)
    };
    let spell = |manner, s: &StructInfo, other: &StructInfo| spell_in(&scope.shape_vars, manner, s, other);
    // The variables that the arguments mention are in scope there.
    let caller = &scope.shape_vars | &InScope::mentioned_by(args).shape_vars;
    let spelt = |manner: Manner| Spelt {
        manner: format!("{manner:?}"),
        s1: spell(manner, s1, s2),
        s2: spell(manner, s2, s1),
        args: args.iter().map(|arg| spell_in(&caller, manner, arg, s1)).collect(),
    };
    let mut all: Vec<Spelt> = Manner::ALL.into_iter().map(spelt).collect();
    let (s1, s2) = (s1.clone(), s2.clone());
    let other1 = spell(Manner::Fresh, &s1, &s2);
    let other2 = spell(Manner::Shared, &s2, &s1);
    all.push(Spelt { manner: "the first Fresh".into(), s1: other1, s2, args: args.clone() });
    all.push(Spelt { manner: "the second Shared".into(), s1, s2: other2, args: args.clone() });
    all
}

fn differences(edition: Edition, seed: u64, readings: &[(String, Reading)]) -> Vec<String> {
    let tape = &mut Tape::from_seed(seed, 200);
    let scope = InScope::new(&[], &names()[..tape.choose(3)]);
    let (s1, s2) = pair(edition, tape);
    let first = Spelt { manner: "as it is".into(), args: args_of(&s2), s1, s2 };
    let spellings = spellings(edition, &first, &scope);
    // In a call the callee is separate, and only the variables of the arguments are known outside.
    let caller = InScope::mentioned_by(&first.args).shape_vars;
    let free1 = &free_in(&first.s1) | &scope.shape_vars;
    let free = &free1 | &free_in(&first.s2);
    let mut found = Vec::new();
    for (reading, literal) in readings {
        // In this literal reading nothing is renamed before a substitution.
        let captures = BY_LETTER.iter().any(|erratum| literal.is_literal(*erratum));
        let before = asked(&mut cx(edition, literal), &first, &scope);
        for spelt in &spellings {
            let after = asked(&mut cx(edition, literal), spelt, &scope);
            let differs = |judgement: &str, a: &Said, b: &Said| match judgement {
                "call" => !captures && !agree(edition, a, b, &caller),
                "compatibility" | "order" | "possible order" => !captures && !agree(edition, a, b, &free),
                "what is well defined" => !agree(edition, a, b, &free1),
                _ => !agree(edition, a, b, &free),
            };
            let pairs = before.iter().zip(&after).filter(|((judgement, a), (_, b))| differs(judgement, a, b));
            for ((judgement, a), (_, b)) in pairs {
                let names: Vec<String> = scope.shape_vars.iter().map(ToString::to_string).collect();
                found.push(format!(
                    "{edition}, {judgement} of {seed}, literally {reading}, in scope {names:?}:\n{first}\n    {a}\n{spelt}\n    {b}"
                ));
            }
        }
    }
    found
}

fn judgements_on_information_do_not_depend_on_names(edition: Edition) {
    let readings = readings_of(edition, &["struct_info", "shape", "types/erase.rs", "derivation/call.rs"], &BY_LETTER);
    assert!(readings.len() > if edition == Edition::E2023_02 { 8 } else { 4 }, "{}", readings.len());
    let (mut found, mut different) = (Vec::new(), 0u64);
    for seed in seeds("INVARIANCE_PAIRS", 1_500) {
        let differences = differences(edition, seed, &readings);
        different += u64::from(!differences.is_empty());
        if found.len() < 12 {
            found.extend(differences.into_iter().take(1));
        }
    }
    assert!(found.is_empty(), "{different} pairs differ, such as\n{}", found.join("\n"));
}

#[test]
fn judgements_on_information_do_not_depend_on_names_2023_02() {
    judgements_on_information_do_not_depend_on_names(Edition::E2023_02);
}

#[test]
fn judgements_on_information_do_not_depend_on_names_2023_12() {
    judgements_on_information_do_not_depend_on_names(Edition::E2023_12);
}

#[test]
fn judgements_on_information_do_not_depend_on_names_2024_04() {
    judgements_on_information_do_not_depend_on_names(Edition::E2024_04);
}

#[test]
fn what_is_well_defined_mentions_only_what_is_in_scope() {
    for edition in Edition::ALL {
        let mut weakened = 0;
        for seed in seeds("INVARIANCE_PAIRS", 6_000) {
            let tape = &mut Tape::from_seed(seed, 200);
            let scope = InScope::new(&[], &names()[..tape.choose(3)]);
            let (s, _) = pair(edition, tape);
            let erased = si::erase_to_well_defined(&mut Cx::new().with_edition(edition), &s, &scope);
            weakened += usize::from(erased != s);
            assert!(free_in(&erased).is_subset(&scope.shape_vars), "{edition}, {seed}: {s} is erased to {erased}");
        }
        assert!(weakened > 1_000, "{edition}: {weakened}");
    }
}
