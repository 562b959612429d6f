//! What ties the golden cases to the rules: which rules a case records, and whether anything changes when a rule is
//! switched off (knock-out).

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::panic::{AssertUnwindSafe, catch_unwind};

use rayon::prelude::*;
use serde::Serialize;

use super::case::Case;
use super::compare::{CaseVerdict, Comparison, compare};
use super::outcome::Outcome;
use crate::book::{Edition, Reading, Rule, RuleSet};
use crate::judge::{Cx, Step};

/// The rules that no case can kill, with the reason: `spec/redundant.ron`.
const REDUNDANT: &str = include_str!("../../spec/redundant.ron");

/// A case, asked of the oracle in this process.
#[derive(Debug)]
pub struct Execution {
    pub outcome: Outcome,
    pub comparison: Comparison,
    pub recorded: RuleSet,
}

/// What switching a rule off shows.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Knockout {
    /// Some case that claims the rule fails without it.
    Killed,
    /// Every case that claims the rule passes without it.
    Survived,
    /// No passing case claims the rule.
    NoCase,
}

/// The edition that a case is asked in: the first of its list that there is.
pub fn edition_of(case: &Case) -> Edition {
    let known = |name: &String| Edition::ALL.into_iter().find(|edition| edition.name() == name);
    case.editions.iter().find_map(known).unwrap_or_default()
}

/// Asks a case in the corrected reading.
pub fn execute(case: &Case, mask: RuleSet) -> Execution {
    execute_in(case, Reading::corrected(), mask)
}

/// Asks a case with its erratum taken literally, and compares with its literal answer; `None` if it has none.
pub fn execute_literally(case: &Case, mask: RuleSet) -> Option<Execution> {
    let (literal, erratum) = (case.literal.clone()?, case.erratum?);
    let case = Case { allow: vec![literal], literal: None, warnings: None, ..case.clone() };
    Some(execute_in(&case, Reading::literal_only(&[erratum]), mask))
}

/// The rules that the literal reading of a case records; none if it has no literal answer.
pub fn recorded_literally(case: &Case) -> RuleSet {
    execute_literally(case, RuleSet::new()).map_or_else(RuleSet::new, |execution| execution.recorded)
}

fn execute_in(case: &Case, reading: Reading, mask: RuleSet) -> Execution {
    let edition = edition_of(case);
    let mut cx = Cx::new().with_edition(edition).with_reading(reading).with_mask(mask);
    let outcome = Outcome::of_oracle(&mut cx, &case.ask);
    let comparison = compare(case, &outcome, edition, true);
    Execution { comparison, outcome, recorded: *cx.recorded() }
}

/// A premise by its rule and number, and whether it held.
pub type Tested = (Rule, usize, bool);

/// The premises that the cases test.
pub fn premises(suite: &[Case]) -> BTreeSet<Tested> {
    suite.par_iter().map(premises_of).reduce(BTreeSet::new, |mut all, tested| {
        all.extend(tested);
        all
    })
}

fn premises_of(case: &Case) -> BTreeSet<Tested> {
    let mut cx = Cx::new().with_edition(edition_of(case)).with_trace();
    // What the answer is, the suite looks at.
    let _ = Outcome::of_oracle(&mut cx, &case.ask);
    let mut tested = BTreeSet::new();
    let mut steps = cx.take_steps();
    while let Some(step) = steps.pop() {
        match step {
            Step::Fired(_) | Step::Tried(_) => {}
            Step::Premise(rule, n, holds) => drop(tested.insert((rule, n, holds))),
            Step::Sub(derivation) => steps.extend(derivation.steps),
        }
    }
    tested
}

/// The cases by the rules that they claim.
pub fn claims(suite: &[Case]) -> BTreeMap<Rule, Vec<&Case>> {
    let mut claims: BTreeMap<Rule, Vec<&Case>> = BTreeMap::new();
    for case in suite {
        for rule in &case.rules {
            claims.entry(*rule).or_default().push(case);
        }
    }
    claims
}

/// Switches each rule off in turn and asks the cases that claim it, of those that pass with every rule on.
pub fn knock_out(suite: &[Case]) -> BTreeMap<Rule, Knockout> {
    let passing: Vec<Case> = suite.par_iter().filter(|case| passes(case, RuleSet::new())).cloned().collect();
    let claims = claims(&passing);
    Rule::ALL
        .par_iter()
        .map(|rule| {
            let cases = claims.get(rule).map(Vec::as_slice).unwrap_or_default();
            let knockout = match cases {
                [] => Knockout::NoCase,
                [_, ..] if cases.iter().any(|case| fails_without(case, *rule)) => Knockout::Killed,
                [_, ..] => Knockout::Survived,
            };
            (*rule, knockout)
        })
        .collect()
}

/// A rule whose absence brings the oracle down was needed.
fn fails_without(case: &Case, rule: Rule) -> bool {
    let run = || crate::judge::with_stack(|| passes(case, RuleSet::from_iter([rule])));
    !catch_unwind(AssertUnwindSafe(run)).unwrap_or(false)
}

/// In both readings, where the case has an answer for either.
fn passes(case: &Case, mask: RuleSet) -> bool {
    let agrees = |execution: Execution| execution.comparison.verdict == CaseVerdict::Agree;
    agrees(execute(case, mask)) && execute_literally(case, mask).is_none_or(agrees)
}

/// The rules that are known to be redundant, with the reason.
pub fn redundant() -> Result<BTreeMap<Rule, String>, ron::error::SpannedError> {
    ron::from_str(REDUNDANT)
}

/// `conformance/suite.lock`: the rules that each question about a program records. Such a question fires dozens of
/// rules, of which the case names the ones at stake; a change in the others shows in the difference of this file.
pub fn lock(suite: &[Case]) -> String {
    let mut lines: Vec<String> = suite
        .par_iter()
        .filter(|case| !case.ask.claims_exactly())
        .map(|case| {
            let recorded: Vec<&str> = execute(case, RuleSet::new()).recorded.iter().map(Rule::id).collect();
            format!("{}: {}", case.id, recorded.join(" "))
        })
        .collect();
    lines.sort_unstable();
    let mut text = String::from("# Written by `relax-spec conform --update-lock`; see src/conformance/coverage.rs.\n");
    for (chapter, count) in counts(suite) {
        let _ = writeln!(text, "# {chapter}: {count} cases");
    }
    text + &lines.join("\n") + "\n"
}

/// How many cases each chapter has.
pub fn counts(suite: &[Case]) -> BTreeMap<String, usize> {
    let mut counts = BTreeMap::new();
    for case in suite {
        *counts.entry(case.chapter().to_string()).or_default() += 1;
    }
    counts
}
