//! The standing of each rule: the cases that claim it, and the effect on the suite if it is switched off.
//!
//! A measurement runs the whole suite some thousand times. So it is made by `cargo xtask regenerate`, and stored in
//! `conformance/standing.jsonl`: a line with a hash of the inputs, then a line for each rule.

use std::collections::BTreeMap;
use std::hash::Hasher as _;

use rayon::prelude::*;
use relax_spec::Rule;
use relax_spec::suite::coverage::{self, Tested};
use relax_spec::suite::knockout::{Baseline, Shows};
use relax_spec::suite::{Case, CaseError};
use rustc_hash::FxHasher;
use serde::{Deserialize, Serialize};

use crate::conformance::{self, DataDirectory};

/// The file of the record, from the root of the checkout.
pub const FILE: &str = "conformance/standing.jsonl";

/// The number of cases of a kind that are named.
const NAMED: usize = 3;

/// The standing of all rules.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct StandingRecord {
    of: Measured,
    rules: BTreeMap<Rule, RuleStanding>,
}

/// The first line of the record.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
struct Measured {
    /// The hash of the suite and of the rules' text.
    of: String,
}

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

/// The reason why the record cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum StandingError {
    /// There is no record.
    #[error("there is no {FILE} (`cargo xtask regenerate` writes it)")]
    Missing,
    /// A line has the wrong form.
    #[error("{FILE}:{line}: {message}")]
    Line {
        /// The line number, counted from 1.
        line: usize,
        /// The error.
        message: String,
    },
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
            let standing = RuleStanding {
                rule: *rule,
                cases,
                shows: knockout.shows(),
                flips: CaseCount::of(&knockout.flips),
                stuck: CaseCount::of(&knockout.stuck),
                panics: CaseCount::of(&knockout.panics),
                same: CaseCount::of(&knockout.same),
                premises: premises_of(*rule, &premises),
            };
            (*rule, standing)
        };
        let rules = rules.par_iter().with_max_len(1).map(one).collect();
        StandingRecord { of: Measured { of: hash() }, rules }
    }

    /// The stored record.
    ///
    /// # Errors
    ///
    /// There is no record, or it has the wrong form.
    pub fn read() -> Result<StandingRecord, StandingError> {
        let text = conformance::file(FILE).ok_or(StandingError::Missing)?;
        let mut lines = text.lines().enumerate();
        let (_, first) = lines.next().ok_or(StandingError::Missing)?;
        let of = read_line(0, first)?;
        let rules = lines.map(|(at, line)| read_line::<RuleStanding>(at, line).map(|of| (of.rule, of)));
        Ok(StandingRecord { of, rules: rules.collect::<Result<_, StandingError>>()? })
    }

    /// The text of the file.
    pub fn to_text(&self) -> String {
        let lines = self.rules.values().map(to_line);
        std::iter::once(to_line(&self.of)).chain(lines).collect()
    }

    /// Whether it was measured with the current suite and rules.
    pub fn is_current(&self) -> bool {
        self.of.of == hash()
    }

    /// The standing of a rule; `None` if the rule is newer than the record.
    pub fn rule(&self, rule: Rule) -> Option<&RuleStanding> {
        self.rules.get(&rule)
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

fn read_line<T: for<'l> Deserialize<'l>>(at: usize, line: &str) -> Result<T, StandingError> {
    serde_json::from_str(line).map_err(|error| StandingError::Line { line: at + 1, message: error.to_string() })
}

fn to_line(value: &impl Serialize) -> String {
    // All values of these types have a JSON form.
    serde_json::to_string(value).unwrap_or_default() + "\n"
}

/// A hash of the suite's files and of the rules' text.
fn hash() -> String {
    let mut hasher = FxHasher::default();
    for file in conformance::files(DataDirectory::Suite) {
        hasher.write(file.name.as_bytes());
        hasher.write(file.text.as_bytes());
    }
    for rule in Rule::ALL {
        hasher.write(rule.id().as_bytes());
        hasher.write(rule.info().text.as_bytes());
    }
    format!("{:016x}", hasher.finish())
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
