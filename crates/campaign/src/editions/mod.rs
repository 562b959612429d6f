//! The differences between two editions: the rules that behave differently, each with the smallest question that shows
//! it.
//!
//! All available questions are asked in both editions: those of the golden cases, the witnesses of errata, and
//! generated ones. Where the answers differ, each recorded rule that is not the same in both editions is removed,
//! either from the edition or by a knock-out. If the answers are equal without the rule, they differ by it;
//! [`RuleEvidence`] lists weaker kinds of evidence. The reading is the corrected one, or one that takes a single
//! erratum literally.

mod evidence;
mod observable;
mod questions;
mod reduce;
pub mod releases;

pub use evidence::RuleEvidence;

use std::collections::BTreeMap;

use rayon::prelude::*;

use questions::EditionQuestion;
use relax_spec::book::{Change, Edition, Erratum, Reading, Rule, Status};
use relax_spec::question::{Ask, Outcome};
use relax_spec::suite::{Case, CaseError};

/// A rule that is not the same in both editions, and the evidence for it.
#[derive(Clone, PartialEq, Debug)]
pub struct RuleDifference {
    /// The rule.
    pub rule: Rule,
    /// How the rule changes.
    pub change: Change,
    /// The question that shows it, if any.
    pub shown: FlipEvidence,
}

/// Whether an answer differs because of a rule.
#[derive(Clone, PartialEq, Debug)]
pub enum FlipEvidence {
    /// The smallest question that shows it.
    By(Box<Flip>),
    /// No question was found.
    Not(Why),
}

/// Why no question shows a difference.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Why {
    /// No run can fire the rule, for this reason.
    Excluded(&'static str),
    /// The rule is stated, but not implemented yet.
    Pending,
    /// The other edition says the same under another id.
    Renumbered,
    /// This many answers record the rule, and none differs by it.
    SameAnswers(usize),
    /// The rule is recorded only by questions of a kind that one of the editions does not have: this many.
    OneEdition(usize),
    /// No answer records it.
    Unasked,
}

/// A question whose answer differs by a rule.
#[derive(Clone, PartialEq, Debug)]
pub struct Flip {
    /// The origin of the question.
    pub id: String,
    /// The question.
    pub ask: Ask,
    /// How large it is.
    pub size: usize,
    /// The erratum that is taken literally, if the answers differ only then.
    pub literally: Option<Erratum>,
    /// The outcome in the first edition.
    pub before: Outcome,
    /// The outcome in the second edition.
    pub after: Outcome,
    /// The evidence that removing the rule gives.
    pub evidence: RuleEvidence,
}

impl Flip {
    /// The order of preference: evidence by the rule itself, the corrected reading, the stronger evidence, the smaller
    /// question; then the id decides.
    fn rank(&self) -> (bool, Option<Erratum>, RuleEvidence, usize, &str) {
        (!self.evidence.is_strong(), self.literally, self.evidence, self.size, &self.id)
    }

    /// The reading in which the answers differ.
    pub fn reading(&self) -> Reading {
        reading(self.literally)
    }
}

fn reading(literally: Option<Erratum>) -> Reading {
    literally.map_or_else(Reading::corrected, |erratum| Reading::literal_only(&[erratum]))
}

/// Two editions, and the rules that are not the same in them.
pub(crate) struct EditionPair {
    from: Edition,
    to: Edition,
    changed: BTreeMap<Rule, Change>,
}

impl EditionPair {
    fn new(from: Edition, to: Edition) -> EditionPair {
        let changed = Rule::ALL.iter().filter_map(|rule| Some((*rule, rule.change(from, to)?)));
        EditionPair { from, to, changed: changed.collect() }
    }
}

/// The flips found so far, and how many answers recorded each rule.
#[derive(Default)]
struct FlipIndex {
    flips: BTreeMap<Rule, Flip>,
    recorded: BTreeMap<Rule, usize>,
    one_sided: BTreeMap<Rule, usize>,
}

impl FlipIndex {
    fn keep(&mut self, rule: Rule, flip: Flip) {
        match self.flips.get(&rule) {
            Some(kept) if kept.rank() <= flip.rank() => {}
            Some(_) | None => {
                self.flips.insert(rule, flip);
            }
        }
    }

    fn with(mut self, other: FlipIndex) -> FlipIndex {
        other.flips.into_iter().for_each(|(rule, flip)| self.keep(rule, flip));
        for (counts, more) in [(&mut self.recorded, other.recorded), (&mut self.one_sided, other.one_sided)] {
            more.into_iter().for_each(|(rule, count)| *counts.entry(rule).or_default() += count);
        }
        self
    }
}

/// The rules that are not the same in two editions, in the order of their ids.
///
/// # Errors
///
/// The witness of an erratum cannot be read.
pub fn between(suite: &[Case], from: Edition, to: Edition) -> Result<Vec<RuleDifference>, CaseError> {
    let pair = EditionPair::new(from, to);
    if pair.changed.is_empty() {
        return Ok(Vec::new());
    }
    let questions = questions::all(suite)?;
    let found = questions.par_iter().map(|question| asked(&pair, question)).reduce(FlipIndex::default, FlipIndex::with);
    let flips: BTreeMap<Rule, Flip> =
        found.flips.par_iter().map(|(rule, flip)| (*rule, reduce::reduced(&pair, *rule, flip))).collect();
    let difference = |(rule, change): (&Rule, &Change)| RuleDifference {
        rule: *rule,
        change: *change,
        shown: match flips.get(rule) {
            Some(flip) => FlipEvidence::By(Box::new(flip.clone())),
            None => FlipEvidence::Not(why(&pair, &found, *rule, *change)),
        },
    };
    Ok(pair.changed.iter().map(difference).collect())
}

/// The flip of a rule by a question.
fn flip(
    question: &EditionQuestion,
    asked: &evidence::EditionProbe,
    literally: Option<Erratum>,
    evidence: RuleEvidence,
) -> Flip {
    Flip {
        id: question.id.clone(),
        ask: question.ask.clone(),
        size: crate::infos::size(&question.ask),
        literally,
        before: asked.before().clone(),
        after: asked.after().clone(),
        evidence,
    }
}

/// All flips that one question shows.
fn asked(pair: &EditionPair, question: &EditionQuestion) -> FlipIndex {
    let mut found = FlipIndex::default();
    let (plain, errata) = evidence::EditionProbe::noting_errata(pair, &question.ask);
    let counts = if plain.in_both() { &mut found.recorded } else { &mut found.one_sided };
    counts.extend(plain.recorded().filter(|rule| pair.changed.contains_key(rule)).map(|rule| (rule, 1)));
    let mut consider = |asked: &evidence::EditionProbe, literally: Option<Erratum>| {
        for (rule, evidence) in asked.responsible() {
            found.keep(rule, flip(question, asked, literally, evidence));
        }
    };
    consider(&plain, None);
    for erratum in errata {
        let literal = evidence::EditionProbe::of(pair, &question.ask, Some(erratum));
        if !literal.same_answers_as(&plain) {
            consider(&literal, Some(erratum));
        }
    }
    found
}

/// Why no question shows a rule.
fn why(pair: &EditionPair, found: &FlipIndex, rule: Rule, change: Change) -> Why {
    let excluded = [pair.to, pair.from].into_iter().find_map(|edition| rule.excluded_in(edition));
    if let Some(reason) = excluded {
        return Why::Excluded(reason);
    }
    let pending = rule.is_pending_in(pair.from) || rule.is_pending_in(pair.to) || rule.status() == Status::Pending;
    match (pending, change, found.recorded.get(&rule), found.one_sided.get(&rule)) {
        (true, ..) => Why::Pending,
        (false, Change::Renumbered, ..) => Why::Renumbered,
        (false, Change::New | Change::Changed | Change::Removed, Some(count), _) => Why::SameAnswers(*count),
        (false, Change::New | Change::Changed | Change::Removed, None, Some(count)) => Why::OneEdition(*count),
        (false, Change::New | Change::Changed | Change::Removed, None, None) => Why::Unasked,
    }
}
