//! The standing of each rule: the cases that claim it, and the effect on the suite if it is switched off.
//!
//! A measurement runs the whole suite some thousand times. So it is made by `cargo xtask regenerate`, and stored in
//! `conformance/standing.jsonl`: a line with a hash of the inputs, then a line for each rule.

use std::collections::BTreeMap;

use rayon::prelude::*;
use relax_spec::Rule;
use relax_spec::suite::coverage::{self, Tested};
use relax_spec::suite::knockout::{Baseline, Shows};
use relax_spec::suite::{Case, CaseError};
use serde::{Deserialize, Serialize};

use crate::conformance;
use crate::record::{RecordError, SuiteRecord};

/// The file of the record, from the root of the checkout.
pub const FILE: &str = "conformance/standing.jsonl";

/// The number of cases of a kind that are named.
const NAMED: usize = 3;

/// The standing of all rules.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct StandingRecord(SuiteRecord<RuleStanding>);

/// The standing of one rule.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct RuleStanding {
    /// The rule.
    pub rule: Rule,
    /// The cases that claim it.
    pub cases: Vec<String>,
    /// The effect of switching it off, over all cases.
    pub shows: Shows,
    /// The cases with a different answer.
    pub flips: CaseCount,
    /// The cases without an answer.
    pub stuck: CaseCount,
    /// The cases that make the oracle panic.
    pub panics: CaseCount,
    /// The cases with the same answer.
    pub same: CaseCount,
    /// Its premises, with the cases in which each fails.
    pub premises: Vec<PremiseStanding>,
}

/// A number of cases, with the first few.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct CaseCount {
    /// The number.
    pub number: usize,
    /// The first few cases.
    pub such_as: Vec<String>,
}

/// A premise of a rule.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct PremiseStanding {
    /// The number of the premise, counted from 1.
    pub n: usize,
    /// The cases in which it does not hold.
    pub fails_in: CaseCount,
}

impl CaseCount {
    fn of<T: AsRef<str>>(cases: &[T]) -> CaseCount {
        let such_as = cases.iter().take(NAMED).map(|case| case.as_ref().to_string()).collect();
        CaseCount { number: cases.len(), such_as }
    }
}

impl StandingRecord {
    /// Runs the suite without each of these rules. For all of them it takes a minute or more.
    pub fn measure(suite: &[Case], baseline: &Baseline, rules: &[Rule]) -> StandingRecord {
        let (claims, premises) = (coverage::claims(suite), coverage::premises(suite));
        let one = |rule: &Rule| {
            let cases = claims.get(rule).into_iter().flatten().map(|case| case.id.clone()).collect();
            let knockout = baseline.knock_out(*rule);
            RuleStanding {
                rule: *rule,
                cases,
                shows: knockout.shows(),
                flips: CaseCount::of(&knockout.flips),
                stuck: CaseCount::of(&knockout.stuck),
                panics: CaseCount::of(&knockout.panics),
                same: CaseCount::of(&knockout.same),
                premises: premises_of(*rule, &premises),
            }
        };
        let rules = rules.par_iter().with_max_len(1).map(one).collect();
        StandingRecord::sorted(SuiteRecord::of(rules))
    }

    fn sorted(mut record: SuiteRecord<RuleStanding>) -> StandingRecord {
        record.rows.sort_unstable_by_key(|standing| standing.rule);
        StandingRecord(record)
    }

    /// The stored record.
    ///
    /// # Errors
    ///
    /// There is no record, or it has the wrong form.
    pub fn read() -> Result<StandingRecord, RecordError> {
        Ok(StandingRecord::sorted(SuiteRecord::read(FILE)?))
    }

    /// The text of the file.
    pub fn to_text(&self) -> String {
        self.0.to_text()
    }

    /// Whether it was measured with the present suite and rules.
    pub fn is_current(&self) -> bool {
        self.0.is_current()
    }

    /// The standing of a rule; `None` if the rule is newer than the record.
    pub fn rule(&self, rule: Rule) -> Option<&RuleStanding> {
        let at = self.0.rows.binary_search_by_key(&rule, |standing| standing.rule).ok()?;
        self.0.rows.get(at)
    }
}

fn premises_of(rule: Rule, tested: &BTreeMap<Tested, Vec<&str>>) -> Vec<PremiseStanding> {
    let mut premises: BTreeMap<usize, CaseCount> = BTreeMap::new();
    for ((_, n, holds), cases) in tested.range((rule, 0, false)..=(rule, usize::MAX, true)) {
        let fails_in = premises.entry(*n).or_default();
        if !holds {
            *fails_in = CaseCount::of(cases);
        }
    }
    premises.into_iter().map(|(n, fails_in)| PremiseStanding { n, fails_in }).collect()
}

/// Reads the suite and measures it.
///
/// # Errors
///
/// The suite cannot be read.
pub fn measured() -> Result<StandingRecord, CaseError> {
    let suite = conformance::suite()?;
    Ok(StandingRecord::measure(&suite, &Baseline::of(&suite), Rule::ALL))
}
