//! What a campaign has done, in numbers.

use std::collections::BTreeMap;
use std::time::Duration;

use super::choice::RulePairs;
use crate::programs::{ConstructCensus, add_counts};
use relax_spec::book::{Rule, RuleSet};
use relax_spec::grammar::IrModule;

/// What occurred in the programs of a campaign, and what was applied to them.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Coverage {
    /// Constructs and operators.
    pub census: ConstructCensus,
    /// In how many programs a rule was applied, in checking them or in running them.
    pub rules: BTreeMap<Rule, u64>,
    /// Which of them were applied to one program.
    pub pairs: RulePairs,
}

impl Coverage {
    /// Counts a program, of which these rules were applied.
    pub(super) fn count(&mut self, module: &IrModule, rules: &RuleSet) {
        self.census.count(module);
        for rule in rules.iter() {
            *self.rules.entry(rule).or_default() += 1;
        }
        self.pairs.add(rules);
    }

    fn add(&mut self, other: &Coverage) {
        self.census.add(&other.census);
        add_counts(&mut self.rules, other.rules.clone());
        self.pairs.merge(&other.pairs);
    }
}

/// What was done.
#[derive(Clone, Debug, Default)]
pub struct CampaignTally {
    /// Programs that were asked about.
    pub programs: u64,
    /// Programs that the implementation compiled and ran at least once.
    pub ran: u64,
    /// Programs that the generator made and the checks do not accept, each with what they say: mistakes of the
    /// generator.
    pub rejected: Vec<String>,
    /// Programs that break one rule.
    pub violations: u64,
    /// Programs without inputs.
    pub unheld: u64,
    /// Questions.
    pub questions: u64,
    /// Questions asked to reduce findings.
    pub reducing: u64,
    /// How often each pass of the reducer made a finding smaller.
    pub passes: BTreeMap<&'static str, u64>,
    /// Runs, and those of them that reached the end on both sides.
    pub runs: (u64, u64),
    /// Processes that were lost.
    pub lost: u64,
    /// What the implementation says that it cannot do, by reason.
    pub unsupported: BTreeMap<String, u64>,
    /// What it refused, by reason.
    pub refused: BTreeMap<String, u64>,
    /// What occurred in the programs.
    pub coverage: Coverage,
    /// How long the workers were, and how much of that they waited for the implementation.
    pub time: (Duration, Duration),
}

impl CampaignTally {
    pub(super) fn add(&mut self, other: CampaignTally) {
        self.programs += other.programs;
        self.ran += other.ran;
        self.rejected.extend(other.rejected);
        self.violations += other.violations;
        self.unheld += other.unheld;
        self.questions += other.questions;
        self.reducing += other.reducing;
        self.runs.0 += other.runs.0;
        self.runs.1 += other.runs.1;
        self.lost += other.lost;
        add_counts(&mut self.passes, other.passes);
        add_counts(&mut self.unsupported, other.unsupported);
        add_counts(&mut self.refused, other.refused);
        self.coverage.add(&other.coverage);
        self.time.0 += other.time.0;
        self.time.1 += other.time.1;
    }
}
