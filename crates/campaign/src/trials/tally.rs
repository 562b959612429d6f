//! Statistics of a campaign.

use std::collections::BTreeMap;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::choice::RulePairs;
use crate::programs::{ConstructCensus, add_counts};
use relax_spec::book::{Rule, RuleSet};
use relax_spec::grammar::IrModule;

/// The constructs of the programs of a campaign, and the rules applied to them.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Coverage {
    /// Constructs and operators.
    pub census: ConstructCensus,
    /// In how many programs each rule was applied, when checking or running them.
    pub rules: BTreeMap<Rule, u64>,
    /// The pairs of rules that were applied to the same program. Those of one program follow from its rules.
    #[serde(skip)]
    pub pairs: RulePairs,
}

impl Coverage {
    /// Counts a program to which these rules were applied.
    pub(super) fn count(&mut self, module: &IrModule, rules: &RuleSet) {
        self.census.count(module);
        for rule in rules.iter() {
            *self.rules.entry(rule).or_default() += 1;
        }
        self.pairs.add(rules);
    }

    /// Counts the pairs of rules, if this is the coverage of at most one program.
    pub(super) fn with_pairs(&mut self) {
        self.pairs.add(&self.rules.keys().copied().collect());
    }

    fn add(&mut self, other: &Coverage) {
        self.census.add(&other.census);
        add_counts(&mut self.rules, other.rules.clone());
        self.pairs.merge(&other.pairs);
    }
}

/// How much was done.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct CampaignTally {
    /// Programs that were asked about.
    pub programs: u64,
    /// Programs that the implementation compiled and ran at least once.
    pub ran: u64,
    /// Programs that the generator drew although the checks do not accept them, each with the diagnostics: mistakes of
    /// the generator.
    pub rejected: Vec<String>,
    /// Programs that break one rule.
    pub violations: u64,
    /// Programs for which no inputs were found.
    pub unheld: u64,
    /// Questions.
    pub questions: u64,
    /// Questions asked to reduce findings.
    pub reducing: u64,
    /// How often each pass of the reducer made a finding smaller.
    #[serde(skip)]
    pub passes: BTreeMap<&'static str, u64>,
    /// Runs, and those of them that reached the end on both sides.
    pub runs: (u64, u64),
    /// Processes that were lost.
    pub lost: u64,
    /// What the implementation says that it does not support, by reason.
    pub unsupported: BTreeMap<String, u64>,
    /// What the implementation refused, by reason.
    pub refused: BTreeMap<String, u64>,
    /// Constructs and rules in the programs.
    pub coverage: Coverage,
    /// How long all workers ran in total, and how much of that they waited for the implementation.
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
