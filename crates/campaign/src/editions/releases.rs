//! Which golden case shows a rule by which two editions differ, and how the releases of Apache TVM answer it:
//! `conformance/confirmed.ron`, which `cargo xtask confirmed` writes.

use std::collections::BTreeMap;

use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::evidence::EditionProbe;
use super::questions::EditionQuestion;
use super::{EditionPair, Flip, asked, flip};
use ask::conformance;
use relax_spec::book::{Edition, Erratum, Rule, ron_options};
use relax_spec::suite::Case;
use relax_spec::suite::compare::CaseVerdict;

/// The recorded results.
const KEPT: &str = "conformance/confirmed.ron";
/// The rules for which no case can be asked, written by hand.
const UNASKED: &str = "conformance/unconfirmed.ron";

/// A rule by which two editions differ, with a case that shows it and that was put to the releases.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Confirmed {
    /// The two editions.
    pub editions: (Edition, Edition),
    /// The rule.
    pub rule: Rule,
    /// The erratum that is taken literally, if the answers differ only then.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub literally: Option<Erratum>,
    /// The id of the case. It is asked in the edition that the releases claim.
    pub case: String,
    /// The verdict for each release.
    pub answers: BTreeMap<String, CaseVerdict>,
}

impl Confirmed {
    /// Whether the entry is for these two editions, in either order.
    pub fn is_between(&self, a: Edition, b: Edition) -> bool {
        [(a, b), (b, a)].contains(&self.editions)
    }

    /// Whether a release answers the case, right or wrong.
    pub fn is_answered_by(&self, release: &str) -> bool {
        self.answers.get(release).is_some_and(|verdict| is_answer(*verdict))
    }
}

/// A rule by which two editions differ, for which no case can be put to some release.
#[derive(Clone, PartialEq, Eq, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Unconfirmed {
    /// The two editions.
    pub editions: (Edition, Edition),
    /// The rule.
    pub rule: Rule,
    /// The releases; all if the list is empty.
    #[serde(default)]
    pub releases: Vec<String>,
    /// The reason, for people.
    pub reason: String,
}

impl Unconfirmed {
    /// Whether the entry is for these two editions, in either order.
    pub fn is_between(&self, a: Edition, b: Edition) -> bool {
        [(a, b), (b, a)].contains(&self.editions)
    }
}

/// Whether the verdict comes from an answer of the release, right or wrong.
pub fn is_answer(verdict: CaseVerdict) -> bool {
    matches!(verdict, CaseVerdict::Agree | CaseVerdict::Diverge)
}

/// The recorded results.
///
/// # Errors
///
/// If the file cannot be read.
pub fn kept() -> Result<Vec<Confirmed>, ron::error::SpannedError> {
    ron_options().from_str(&conformance::file(KEPT).unwrap_or_default())
}

/// The rules for which no case can be asked.
///
/// # Errors
///
/// If the file cannot be read.
pub fn unasked() -> Result<Vec<Unconfirmed>, ron::error::SpannedError> {
    ron_options().from_str(&conformance::file(UNASKED).unwrap_or_default())
}

/// The rules by which two editions answer a case differently, each with its flip.
///
/// The corrected reading is preferred, if the answers differ by the rule there.
pub fn shown_by(case: &Case, from: Edition, to: Edition) -> BTreeMap<Rule, Flip> {
    let (pair, question) = (EditionPair::new(from, to), EditionQuestion { id: case.id.clone(), ask: case.ask.clone() });
    let mut flips = asked(&pair, &question).flips;
    let plain = EditionProbe::of(&pair, &case.ask, None);
    let corrected =
        plain.responsible().into_iter().map(|(rule, evidence)| (rule, flip(&question, &plain, None, evidence)));
    flips.extend(corrected);
    flips
}

/// The cases of one edition that two editions answer differently, by the rule that they show, the simplest first.
pub fn candidates(suite: &[Case], from: Edition, to: Edition, asked_in: Edition) -> BTreeMap<Rule, Vec<(Flip, &Case)>> {
    let is_asked = |case: &&Case| case.proposal.is_none() && case.is_asked_in(asked_in);
    let cases: Vec<&Case> = suite.iter().filter(is_asked).collect();
    let shown = cases
        .par_iter()
        .flat_map_iter(|case| shown_by(case, from, to).into_iter().map(move |(rule, flip)| (rule, (flip, *case))));
    let mut by_rule: BTreeMap<Rule, Vec<(Flip, &Case)>> = BTreeMap::new();
    shown.collect::<Vec<_>>().into_iter().for_each(|(rule, one)| by_rule.entry(rule).or_default().push(one));
    let rank = |flip: &Flip| (flip.literally, !flip.evidence.is_strong(), flip.evidence, flip.size);
    by_rule.values_mut().for_each(|cases| cases.sort_by_key(|(flip, case)| (rank(flip), case.id.clone())));
    by_rule
}
