//! The differences between two editions according to `relax-spec editions diff`, compared with lists that were made by
//! reading the texts.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use ask::conformance;
use campaign::classes::{CLAIMED, RELEASES};
use campaign::editions::releases::{Confirmed, kept, shown_by, unasked};
use campaign::editions::{Flip, FlipEvidence, RuleDifference, RuleEvidence, Why, between};
use relax_spec::book::{Change, Edition, Erratum, Reading, Rule};
use relax_spec::judge::Cx;
use relax_spec::oracle;
use relax_spec::question::Outcome;
use relax_spec::rule;
use relax_spec::suite::ledger::Ledger;

type Found = BTreeMap<Rule, RuleDifference>;

fn found(from: Edition, to: Edition) -> Found {
    let differences = between(&conformance::suite().unwrap(), from, to).unwrap();
    differences.into_iter().map(|difference| (difference.rule, difference)).collect()
}

static FIRST: LazyLock<Found> = LazyLock::new(|| found(Edition::E2023_02, Edition::E2023_12));
static SECOND: LazyLock<Found> = LazyLock::new(|| found(Edition::E2023_12, Edition::E2024_04));

fn flip(found: &Found, rule: Rule) -> Option<&Flip> {
    match &found[&rule].shown {
        FlipEvidence::By(flip) => Some(flip),
        FlipEvidence::Not(_) => None,
    }
}

fn flips_in_the_corrected_reading(found: &Found, rule: Rule) -> bool {
    flip(found, rule).is_some_and(|flip| flip.literally.is_none())
}

fn assert_flip(found: &Found, rules: &[Rule]) {
    let silent: Vec<&Rule> = rules.iter().filter(|rule| !flips_in_the_corrected_reading(found, **rule)).collect();
    assert!(silent.is_empty(), "{silent:?}");
}

fn assert_none(found: &Found, rules: &[Rule]) {
    let shown: Vec<&Rule> = rules.iter().filter(|rule| flips_in_the_corrected_reading(found, **rule)).collect();
    assert!(shown.is_empty(), "{shown:?}");
}

/// The outcome of a question.
fn asked(flip: &Flip, edition: Edition, reading: Reading) -> Outcome {
    oracle::outcome(&mut Cx::new().with_edition(edition).with_reading(reading), &flip.ask)
}

#[test]
fn what_is_shown_is_so() {
    let pairs = [(&*FIRST, Edition::E2023_02, Edition::E2023_12), (&*SECOND, Edition::E2023_12, Edition::E2024_04)];
    for (found, from, to) in pairs {
        for rule in found.keys() {
            let Some(flip) = flip(found, *rule) else { continue };
            let answers = [from, to].map(|edition| asked(flip, edition, flip.reading()));
            assert_eq!(answers, [flip.before.clone(), flip.after.clone()], "{rule}");
            assert_ne!(flip.before, flip.after, "{rule}");
        }
    }
}

#[test]
fn every_rule_that_is_not_the_same_is_told_of() {
    for (found, from, to) in
        [(&*FIRST, Edition::E2023_02, Edition::E2023_12), (&*SECOND, Edition::E2023_12, Edition::E2024_04)]
    {
        let changed = Rule::ALL.iter().filter_map(|rule| Some((*rule, rule.change(from, to)?)));
        let told = found.iter().map(|(rule, difference)| (*rule, difference.change));
        assert!(told.eq(changed), "{from} {to}");
    }
}

/// 1 of the list of changes: purity is declared, and true by default. An operator replaces the attribute of calls.
/// call_dps_packed is pure.
const PURITY: [Rule; 6] = [
    rule!("PURITY.FIELD"),
    rule!("PURITY.DEFAULT-TRUE"),
    rule!("PURITY.NO-INFER"),
    rule!("SI.DERIVE.CALL.FUNC.PURITY"),
    rule!("OP.CALLPURE"),
    rule!("OP.CALLDPS.IMPURE"),
];

/// Items 2 to 6 and 9 of the list.
const VERDICTS: [Rule; 12] = [
    // 2: shape variables of a signature in any order.
    rule!("WF23-12.6.ANY-ORDER"),
    rule!("WF.5.SIG-ORDER"),
    // 3: arguments by subtyping with levels; unknown information gives a warning.
    rule!("SI.DERIVE.CALL.ARGS.ERR"),
    rule!("SUBSI.TENSOR.MISSING-POSSIBLE"),
    // 4: unknown datatype or rank is possibly compatible.
    rule!("SI.COMPAT.TENSOR.DTYPE"),
    rule!("SI.COMPAT.TENSOR.NDIM"),
    // 5: parameters without annotation.
    rule!("TC.FUNC.PARAM-ANNOT"),
    // 6: PrimFuncs have the information of functions, and can be called.
    rule!("PRIMFUNC.SI.RESULT"),
    rule!("EVAL.CALL.PRIMFUNC"),
    // 9: call_tir and its relatives.
    rule!("OP.CALLTIR.SINFO"),
    rule!("OP.CALLTIR.PACKEDINTS"),
    rule!("NF.5.OPNORM"),
];

#[test]
fn the_changes_that_flip_verdicts() {
    assert_flip(&FIRST, &PURITY);
    assert_flip(&FIRST, &VERDICTS);
}

/// Items 7, 8 and 10 of the list.
#[test]
fn the_changes_that_flip_nothing_in_the_corrected_reading() {
    // 7: the first edition, as it was merged, already has shapes in the arguments of packed functions.
    assert_none(&FIRST, &[rule!("PR14148.SINFO.DEFAULT_DERIVE")]);
    // 8: it cannot be observed whether equal values are the same object.
    assert_none(
        &FIRST,
        &[rule!("OPT.INTERN"), rule!("VAL.TUPLE"), rule!("VAL.SHAPE"), rule!("EVAL.TUPLE"), rule!("EVAL.TUPLE.FRESH")],
    );
    assert!(matches!(FIRST[&rule!("OPT.INTERN")].shown, FlipEvidence::Not(Why::Excluded(_))));
    // 10: the check of the condition is kept (N40). The difference is about a boxed Boolean, which the first edition
    // accepts (A73).
    let flip = flip(&FIRST, rule!("SI.DERIVE.IF.COND")).unwrap();
    let boxed = flip.ask.to_string() + &format!("{:?}", flip.ask);
    assert!(boxed.contains("Prim(") && boxed.to_lowercase().contains("bool"), "{boxed}");
}

/// The entries of the last edition that change behaviour in the corrected reading.
const LAST: [Rule; 13] = [
    rule!("GRAM.EXPR.IF"),
    rule!("NF.UNIT.INLINE"),
    rule!("NF.UNIT.ANY-BINDER"),
    rule!("NF.UNIT.KEEP-BINDING"),
    rule!("PRIMFUNC.PURE.STORE"),
    rule!("PRIMFUNC.PURE.LOCAL"),
    rule!("PRIMFUNC.PURE.EFFECT"),
    rule!("PRIMFUNC.PURE.OTHERWISE"),
    rule!("SI.DERIVE.IF"),
    rule!("SI.DERIVE.IF.PRIMEXPR"),
    rule!("PRIMFUNC.SI.RESULT"),
    rule!("PRIMFUNC.CALL.IMPURE"),
    rule!("PRIMFUNC.CALL.PURE"),
];

/// Those about a boxed Boolean as a condition, which the edition before rejects only literally (N67, A73 there).
const LAST_BY_LETTER: [Rule; 6] = [
    rule!("VAL.PRIM"),
    rule!("SI.DERIVE.IF.COND"),
    rule!("SI.DERIVE.IF.COND.PRIM"),
    rule!("EVAL.IF.COND"),
    rule!("EVAL.IF.PRIMEXPR"),
    rule!("EVAL.IF.TRUE"),
];

/// Those that do not change behaviour.
const LAST_SILENT: [Rule; 3] =
    [rule!("PRIMFUNC.SI.HANDLE"), rule!("EVAL.CALL.PRIMFUNC.EFFECT"), rule!("NF.1.LEAF.PRIMEXPR")];

#[test]
fn the_rows_of_the_last_edition() {
    assert_flip(&SECOND, &LAST);
    for rule in LAST_BY_LETTER {
        let by = flip(&SECOND, rule).map(|flip| flip.literally);
        assert!(matches!(by, Some(Some(_))), "{rule}: {by:?}");
    }
    // This edition has the repair of N62 in its own text. So the difference is only in the literal reading.
    assert_eq!(flip(&SECOND, rule!("PRIMFUNC.SI.HANDLE")).map(|flip| flip.literally), Some(Some(Erratum::N62)));
    // The box of a PrimExpr is a leaf in the earlier edition too. Literally it is not a condition (M03).
    assert_eq!(flip(&SECOND, rule!("NF.1.LEAF.PRIMEXPR")).map(|flip| flip.literally), Some(Some(Erratum::M03)));
    // If a call has no effects, it cannot be observed that it is moved or dropped.
    let rule = rule!("EVAL.CALL.PRIMFUNC.EFFECT");
    assert!(matches!(SECOND[&rule].shown, FlipEvidence::Not(Why::SameAnswers(1..))), "{rule}");
}

const PAIRS: [(Edition, Edition); 2] = [(Edition::E2023_02, Edition::E2023_12), (Edition::E2023_12, Edition::E2024_04)];

/// Each change has a golden case that every release of TVM answers, or a reason why there is none.
#[test]
fn each_change_is_confirmed_by_a_case_that_tvm_answers() {
    let (kept, unasked) = (kept().unwrap(), unasked().unwrap());
    let wanted = PURITY.iter().chain(&VERDICTS).map(|rule| (PAIRS[0], *rule));
    let wanted: Vec<_> =
        wanted.chain(LAST.iter().chain(&LAST_BY_LETTER).chain(&LAST_SILENT).map(|rule| (PAIRS[1], *rule))).collect();
    for (editions, rule) in &wanted {
        let is_it = |of: &(Edition, Edition), about: &Rule| of == editions && about == rule;
        for release in RELEASES {
            let answered = kept.iter().any(|one| is_it(&one.editions, &one.rule) && one.is_answered_by(release));
            let excused = unasked.iter().any(|one| {
                let of_release = one.releases.is_empty() || one.releases.iter().any(|of| of == release);
                is_it(&one.editions, &one.rule) && of_release && !one.reason.trim().is_empty()
            });
            assert!(answered != excused, "{rule} in {release}, {editions:?}: answered {answered}, excused {excused}");
        }
    }
    let needless = unasked.iter().filter(|one| !wanted.contains(&(one.editions, one.rule)));
    assert_eq!(needless.count(), 0);
}

/// The stored record of a case agrees with the suite and the ledgers: the case shows its rule, it is asked, and its
/// divergences are listed.
#[test]
fn what_is_kept_of_tvm_is_what_the_suite_and_the_ledgers_say() {
    let suite = conformance::suite().unwrap();
    let ledgers =
        RELEASES.map(|release| (release, Ledger::parse(&conformance::ledger("tvm").unwrap(), release).unwrap()));
    for Confirmed { editions: (from, to), rule, literally, case, answers } in kept().unwrap() {
        let case = suite.iter().find(|one| one.id == case).unwrap_or_else(|| panic!("there is no case {case}"));
        assert!(case.is_asked_in(CLAIMED), "{}", case.id);
        let shown = shown_by(case, from, to).get(&rule).map(|flip| flip.literally);
        assert_eq!(shown, Some(literally), "{} shows {rule}", case.id);
        assert!(answers.keys().map(String::as_str).eq(RELEASES), "{}: {answers:?}", case.id);
        for (release, ledger) in &ledgers {
            let standing = ledger.standing(&case.id, answers[*release]);
            assert!(!standing.is_unexpected(), "{} in {release}: {standing:?}", case.id);
        }
    }
}

/// The entries of the last edition that do not change behaviour in the corrected reading. PURE.ATTR.REPR is one of
/// them, except for the analysis of PrimFuncs, which is shown.
#[test]
fn what_is_no_behaviour_is_not_shown() {
    assert_none(
        &SECOND,
        &[
            rule!("META.CHEVRON"),
            rule!("GRAM.ATTRS"),
            rule!("GRAM.EXPR.FUNCTION"),
            rule!("GRAM.EXPR.FUNCTION.ATTRS"),
            rule!("MOD.EXTLINK"),
            rule!("MOD.EXTLINK.ATTR"),
            rule!("MOD.PRIVATE"),
            rule!("VAL.TUPLE"),
            rule!("PRIMFUNC.SI.SCALAR"),
        ],
    );
    assert_eq!(flip(&SECOND, rule!("GRAM.EXPR.FUNCTION")).map(|flip| flip.literally), Some(Some(Erratum::M12)));
}

#[test]
fn the_other_way_round_new_rules_are_removed_ones() {
    let back = found(Edition::E2024_04, Edition::E2023_12);
    assert!(back.keys().eq(SECOND.keys()));
    let inline = &back[&rule!("NF.UNIT.INLINE")];
    assert_eq!(inline.change, Change::Removed);
    let (there, here) = (flip(&SECOND, inline.rule).unwrap(), flip(&back, inline.rule).unwrap());
    assert_eq!(
        (&here.ask, here.size, &here.before, &here.after),
        (&there.ask, there.size, &there.after, &there.before)
    );
    assert_eq!(here.evidence, RuleEvidence::Absent);
}

/// There is no difference between an edition and itself.
#[test]
fn an_edition_is_the_same_as_itself() {
    assert!(found(Edition::E2024_04, Edition::E2024_04).is_empty());
}
