//! Where each rule stands: which cases claim it, and what the suite shows when it is switched off.
//!
//! Measuring it asks the whole suite some thousand times. So it is measured by `cargo xtask regenerate`, and kept in
//! `conformance/standing.jsonl`: a line with the hash of what was measured, then a line for each rule.

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

/// How many cases of a kind are named.
const NAMED: usize = 3;

/// Where all rules stand.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct StandingRecord {
    of: Measured,
    rules: BTreeMap<Rule, RuleStanding>,
}

/// What was measured.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
struct Measured {
    /// The hash of the suite and of the rules' text.
    of: String,
}

/// Where one rule stands.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct RuleStanding {
    /// The rule.
    pub rule: Rule,
    /// The cases that claim it.
    pub cases: Vec<String>,
    /// What switching it off shows, all cases together.
    pub shows: Shows,
    /// The cases that get another answer.
    pub flips: CaseCount,
    /// The cases that get none.
    pub stuck: CaseCount,
    /// The cases that bring the oracle down.
    pub panics: CaseCount,
    /// The cases that get the same answer.
    pub same: CaseCount,
    /// Its premises, and the cases in which each fails.
    pub premises: Vec<PremiseStanding>,
}

/// So many cases, and the first of them.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct CaseCount {
    /// How many.
    pub number: usize,
    /// The first few.
    pub such_as: Vec<String>,
}

/// A premise of a rule.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct PremiseStanding {
    /// Which, counted from 1.
    pub n: usize,
    /// The cases in which it does not hold.
    pub fails_in: CaseCount,
}

/// Why the record cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum StandingError {
    /// There is none.
    #[error("there is no {FILE} (`cargo xtask regenerate` writes it)")]
    Missing,
    /// A line is not of its form.
    #[error("{FILE}:{line}: {message}")]
    Line {
        /// Counted from 1.
        line: usize,
        /// What is wrong with it.
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
    /// Asks the suite without each rule. It takes a minute or more.
    pub fn measure(suite: &[Case]) -> StandingRecord {
        let (claims, premises) = (coverage::claims(suite), coverage::premises(suite));
        let baseline = Baseline::of(suite);
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
        let rules = Rule::ALL.par_iter().with_max_len(1).map(one).collect();
        StandingRecord { of: Measured { of: hash() }, rules }
    }

    /// What is kept.
    ///
    /// # Errors
    ///
    /// There is no record, or it is not of its form.
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

    /// Whether it was measured with the suite and the rules that there are now.
    pub fn is_current(&self) -> bool {
        self.of.of == hash()
    }

    /// Where a rule stands; `None` for one that is newer than the record.
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
    // A value of these types has a JSON form whatever it holds.
    serde_json::to_string(value).unwrap_or_default() + "\n"
}

/// The hash of the suite's files and of what the rules say.
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
    Ok(StandingRecord::measure(&conformance::suite()?))
}
