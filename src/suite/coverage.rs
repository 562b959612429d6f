//! The connection between golden cases and rules: the rules that a case records, and the premises that it tests.
//! [`crate::suite::knockout`] shows the effect of switching a rule off.

use std::collections::{BTreeMap, BTreeSet};

use rayon::prelude::*;

use super::Case;
use super::compare::{CaseComparison, compare};
use crate::book::{Edition, Reading, Rule, RuleSet};
use crate::judge::{Cx, DerivationStep, RowsLookedAt};
use crate::oracle;
use crate::question::Outcome;

/// A case after the oracle in this process has been asked.
#[derive(Debug)]
pub struct Execution {
    /// The outcome of the question.
    pub outcome: Outcome,
    /// The comparison of the outcome with the case.
    pub comparison: CaseComparison,
    /// All recorded rules.
    pub recorded: RuleSet,
    /// All rows of definitions by cases that were examined.
    pub rows: RowsLookedAt,
}

/// Asks a case in one of its editions, in the corrected reading.
pub fn execute(case: &Case, edition: Edition, mask: RuleSet) -> Execution {
    execute_in(case, Cx::new().with_edition(case.basis_in(edition)).with_mask(mask))
}

/// Asks a case with its erratum taken literally, and compares with its literal answer. `None` if it has none.
pub fn execute_literally(case: &Case, edition: Edition, mask: RuleSet) -> Option<Execution> {
    execute_literally_in(case, Cx::new().with_edition(case.basis_in(edition)).with_mask(mask))
}

/// The rules that the literal reading of a case records; empty if it has no literal answer.
pub fn recorded_literally(case: &Case, edition: Edition) -> RuleSet {
    execute_literally(case, edition, RuleSet::new()).map_or_else(RuleSet::new, |execution| execution.recorded)
}

/// An edition and a reading in which a case is asked.
#[derive(Clone, Copy, Debug)]
pub struct Asking<'c> {
    case: &'c Case,
    edition: Edition,
    literally: bool,
}

impl<'c> Asking<'c> {
    /// All editions and readings of a case.
    pub fn all_of(case: &'c Case) -> Vec<Asking<'c>> {
        let readings: &[bool] = if case.literal.is_some() { &[false, true] } else { &[false] };
        let in_edition = |edition: &Edition| {
            let edition = *edition;
            readings.iter().map(move |literally| Asking { case, edition, literally: *literally })
        };
        case.editions.iter().flat_map(in_edition).collect()
    }

    /// Asks the case in a copy of this context. `None` if it has no answer for this reading.
    pub fn execute(self, cx: &Cx) -> Option<Execution> {
        let cx = cx.clone().with_edition(self.case.basis_in(self.edition));
        if self.literally { execute_literally_in(self.case, cx) } else { Some(execute_in(self.case, cx)) }
    }
}

/// Asks a case in each of its editions and readings, in copies of this context.
pub fn execute_in_its_readings(case: &Case, cx: &Cx) -> impl Iterator<Item = Execution> {
    Asking::all_of(case).into_iter().filter_map(|asking| asking.execute(cx))
}

fn execute_literally_in(case: &Case, cx: Cx) -> Option<Execution> {
    let (literal, erratum) = (case.literal.clone()?, case.erratum?);
    let case = Case { allow: vec![literal], literal: None, warnings: None, ..case.clone() };
    Some(execute_in(&case, cx.with_reading(Reading::literal_only(&[erratum]))))
}

fn execute_in(case: &Case, mut cx: Cx) -> Execution {
    let outcome = oracle::outcome(&mut cx, &case.ask);
    let comparison = compare(case, &outcome, cx.edition(), true);
    Execution { comparison, outcome, recorded: *cx.recorded(), rows: cx.rows_looked_at() }
}

/// A premise by its rule and number, and whether it held.
pub type Tested = (Rule, usize, bool);

/// The premises that the cases test, with the ids of those cases.
pub fn premises(suite: &[Case]) -> BTreeMap<Tested, Vec<&str>> {
    let by_case: Vec<(&Case, Vec<Tested>)> = suite.par_iter().map(|case| (case, premises_of(case))).collect();
    let mut premises: BTreeMap<Tested, Vec<&str>> = BTreeMap::new();
    for (case, tested) in by_case {
        for premise in tested {
            premises.entry(premise).or_default().push(&case.id);
        }
    }
    premises
}

/// The premises that a case tests, each once.
fn premises_of(case: &Case) -> Vec<Tested> {
    let mut tested: Vec<Tested> = case.editions.iter().flat_map(|edition| premises_in(case, *edition)).collect();
    tested.sort_unstable();
    tested.dedup();
    tested
}

fn premises_in(case: &Case, edition: Edition) -> Vec<Tested> {
    let mut cx = Cx::new().with_edition(case.basis_in(edition)).with_trace();
    // The suite checks the answer elsewhere.
    let _ = oracle::outcome(&mut cx, &case.ask);
    let mut tested = Vec::new();
    let mut steps = cx.take_steps();
    while let Some(step) = steps.pop() {
        match step {
            DerivationStep::Fired(_) | DerivationStep::Tried(_) => {}
            DerivationStep::Premise(rule, n, holds) => tested.push((rule, n, holds)),
            DerivationStep::Sub(derivation) => steps.extend(derivation.steps),
        }
    }
    tested
}

/// The cases by the rules that they claim.
pub fn claims(suite: &[Case]) -> BTreeMap<Rule, Vec<&Case>> {
    let mut claims: BTreeMap<Rule, Vec<&Case>> = BTreeMap::new();
    for case in suite {
        // Each rule counts under all ids that it has in the editions of the case.
        let rules: BTreeSet<Rule> = case.editions.iter().flat_map(|edition| case.rules_in(*edition)).collect();
        for rule in rules {
            claims.entry(rule).or_default().push(case);
        }
    }
    claims
}

/// `conformance/lock/CHAPTER.lock`, by chapter: the number of cases, and the rules that each question about a program
/// records. Such a question fires dozens of rules, and the case names only the relevant ones. A change in the others
/// shows in the diff of these files.
///
/// Most programs of a chapter record similar rules. Rules that more than half of the questions of a kind and an edition
/// record are listed once, as `usual KIND EDITION: RULES`. The line of a case lists the rules that it records in
/// addition and, after `-`, those that it does not record.
pub fn locks(suite: &[Case]) -> BTreeMap<&str, String> {
    let recorded: Vec<Vec<Locked>> = suite.par_iter().map(locked).collect();
    let mut chapters: BTreeMap<&str, (usize, Vec<Locked>)> = BTreeMap::new();
    for (case, lines) in suite.iter().zip(recorded) {
        let (count, all) = chapters.entry(case.chapter()).or_default();
        *count += 1;
        all.extend(lines);
    }
    let head = "# Written by `relax-spec conform --update-lock`; see src/suite/coverage.rs.";
    let text = |(count, lines)| format!("{head}\n# {count} cases\n{}", lock_lines(lines));
    chapters.into_iter().map(|(name, chapter)| (name, text(chapter))).collect()
}

/// The rules that a case records in one of its editions.
struct Locked<'s> {
    case: &'s Case,
    /// The kind of question and the basis of judgement. Cases of one group share the usual rules.
    group: String,
    recorded: RuleSet,
}

/// The recorded rules of a case; empty if its question claims exactly what it records.
fn locked(case: &Case) -> Vec<Locked<'_>> {
    let editions = case.editions.iter().filter(|_| !case.ask.claims_exactly());
    let one = |edition: &Edition| Locked {
        case,
        group: format!("{} {}", case.ask.op(), case.basis_in(*edition)),
        recorded: execute(case, *edition, RuleSet::new()).recorded,
    };
    editions.map(one).collect()
}

fn lock_lines(mut lines: Vec<Locked>) -> String {
    lines.sort_by(|a, b| (&a.case.id, &a.group).cmp(&(&b.case.id, &b.group)));
    let mut groups: BTreeMap<&str, Vec<&RuleSet>> = BTreeMap::new();
    lines.iter().for_each(|line| groups.entry(&line.group).or_default().push(&line.recorded));
    let usual: BTreeMap<&str, RuleSet> = groups.into_iter().map(|(group, sets)| (group, usual(&sets))).collect();
    let told = |rules: Vec<String>| rules.iter().map(|rule| format!(" {rule}")).collect::<String>();
    let heads = usual.iter().map(|(group, rules)| {
        let ids = rules.iter().map(|rule| rule.id().to_string()).collect();
        format!("usual {group}:{}\n", told(ids))
    });
    let cases = lines.iter().map(|Locked { case, group, recorded }| {
        let usual = usual.get(group.as_str()).copied().unwrap_or_default();
        let beside = recorded.iter().filter(|rule| !usual.contains(*rule)).map(|rule| rule.id().to_string());
        let missing = usual.iter().filter(|rule| !recorded.contains(*rule)).map(|rule| format!("-{rule}"));
        format!("{} {group}:{}\n", case.id, told(beside.chain(missing).collect()))
    });
    heads.chain(cases).collect()
}

/// The rules that more than half of the sets contain.
fn usual(sets: &[&RuleSet]) -> RuleSet {
    let mut counts: BTreeMap<Rule, usize> = BTreeMap::new();
    sets.iter().flat_map(|set| set.iter()).for_each(|rule| *counts.entry(rule).or_default() += 1);
    counts.into_iter().filter(|(_, count)| 2 * count > sets.len()).map(|(rule, _)| rule).collect()
}
