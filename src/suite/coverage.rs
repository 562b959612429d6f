//! What ties the golden cases to the rules: which rules a case records, and which premises it tests. What happens when a
//! rule is switched off, is in [`crate::suite::knockout`].

use std::collections::{BTreeMap, BTreeSet};

use rayon::prelude::*;

use super::Case;
use super::compare::{Comparison, compare};
use crate::book::{Edition, Reading, Rule, RuleSet};
use crate::judge::{Cx, RowsLookedAt, Step};
use crate::oracle;
use crate::question::Outcome;

/// A case, asked of the oracle in this process.
#[derive(Debug)]
pub struct Execution {
    /// What the question came to.
    pub outcome: Outcome,
    /// Whether the case allows that.
    pub comparison: Comparison,
    /// Every rule that was recorded.
    pub recorded: RuleSet,
    /// Every row of a definition by cases that was looked at.
    pub rows: RowsLookedAt,
}

/// Asks a case in one of its editions, in the corrected reading.
pub fn execute(case: &Case, edition: Edition, mask: RuleSet) -> Execution {
    execute_in(case, Cx::new().with_edition(case.basis_in(edition)).with_mask(mask))
}

/// Asks a case with its erratum taken literally, and compares with its literal answer; `None` if it has none.
pub fn execute_literally(case: &Case, edition: Edition, mask: RuleSet) -> Option<Execution> {
    execute_literally_in(case, Cx::new().with_edition(case.basis_in(edition)).with_mask(mask))
}

/// The rules that the literal reading of a case records; none if it has no literal answer.
pub fn recorded_literally(case: &Case, edition: Edition) -> RuleSet {
    execute_literally(case, edition, RuleSet::new()).map_or_else(RuleSet::new, |execution| execution.recorded)
}

/// An edition and a reading for which a case has an answer.
#[derive(Clone, Copy, Debug)]
pub struct Asking<'c> {
    case: &'c Case,
    edition: Edition,
    literally: bool,
}

impl<'c> Asking<'c> {
    /// All of a case.
    pub fn all_of(case: &'c Case) -> Vec<Asking<'c>> {
        let readings: &[bool] = if case.literal.is_some() { &[false, true] } else { &[false] };
        let in_edition = |edition: &Edition| {
            let edition = *edition;
            readings.iter().map(move |literally| Asking { case, edition, literally: *literally })
        };
        case.editions.iter().flat_map(in_edition).collect()
    }

    /// Asks so, in a context made so; `None` if there is no such answer.
    pub fn execute(self, cx: &Cx) -> Option<Execution> {
        let cx = cx.clone().with_edition(self.case.basis_in(self.edition));
        if self.literally { execute_literally_in(self.case, cx) } else { Some(execute_in(self.case, cx)) }
    }
}

/// Asks a case in each of the editions and readings for which it has an answer, in a context made so.
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

/// Each once.
fn premises_of(case: &Case) -> Vec<Tested> {
    let mut tested: Vec<Tested> = case.editions.iter().flat_map(|edition| premises_in(case, *edition)).collect();
    tested.sort_unstable();
    tested.dedup();
    tested
}

fn premises_in(case: &Case, edition: Edition) -> Vec<Tested> {
    let mut cx = Cx::new().with_edition(case.basis_in(edition)).with_trace();
    // What the answer is, the suite looks at.
    let _ = oracle::outcome(&mut cx, &case.ask);
    let mut tested = Vec::new();
    let mut steps = cx.take_steps();
    while let Some(step) = steps.pop() {
        match step {
            Step::Fired(_) | Step::Tried(_) => {}
            Step::Premise(rule, n, holds) => tested.push((rule, n, holds)),
            Step::Sub(derivation) => steps.extend(derivation.steps),
        }
    }
    tested
}

/// The cases by the rules that they claim.
pub fn claims(suite: &[Case]) -> BTreeMap<Rule, Vec<&Case>> {
    let mut claims: BTreeMap<Rule, Vec<&Case>> = BTreeMap::new();
    for case in suite {
        // Under each of the ids by which its editions know the rules.
        let rules: BTreeSet<Rule> = case.editions.iter().flat_map(|edition| case.rules_in(*edition)).collect();
        for rule in rules {
            claims.entry(rule).or_default().push(case);
        }
    }
    claims
}

/// `conformance/lock/CHAPTER.lock`, by chapter: how many cases there are, and the rules that each question about a program
/// records. Such a question fires dozens of rules, of which the case names the ones at stake; a change in the others shows
/// in the difference of these files.
pub fn locks(suite: &[Case]) -> BTreeMap<&str, String> {
    let mut lines: Vec<(&Case, Option<String>)> = suite.par_iter().map(|case| (case, lock_line(case))).collect();
    lines.sort_unstable_by(|(a, _), (b, _)| a.id.cmp(&b.id));
    let mut chapters: BTreeMap<&str, (usize, String)> = BTreeMap::new();
    for (case, line) in &lines {
        let (count, text) = chapters.entry(case.chapter()).or_default();
        *count += 1;
        text.extend(line.as_deref());
    }
    let head = "# Written by `relax-spec conform --update-lock`; see src/suite/coverage.rs.";
    chapters.into_iter().map(|(name, (count, text))| (name, format!("{head}\n# {count} cases\n{text}"))).collect()
}

/// Nothing for a question that claims exactly what it records.
fn lock_line(case: &Case) -> Option<String> {
    if case.ask.claims_exactly() {
        return None;
    }
    Some(case.editions.iter().map(|edition| lock_line_in(case, *edition)).collect())
}

/// An edition that is not the default one is named.
fn lock_line_in(case: &Case, edition: Edition) -> String {
    let recorded: Vec<&str> = execute(case, edition, RuleSet::new()).recorded.iter().map(Rule::id).collect();
    let named = if edition == Edition::default() { String::new() } else { format!(" @{}", case.basis_in(edition)) };
    format!("{}{named}: {}\n", case.id, recorded.join(" "))
}
