//! Determines by which rule two answers differ.

use super::observable::{agree, blames, differ, says_something, says_something_without};
use super::{EditionPair, reading};
use relax_spec::book::{Change, Edition, Erratum, Rule, RuleSet};
use relax_spec::judge::{Cx, DerivationStep};
use relax_spec::oracle;
use relax_spec::question::{About, Ask, Outcome};
use relax_spec::suite::knockout::{STEPS, within};

named! {
/// How answers that differ change when a rule is removed from both editions; the stronger evidence comes first.
enum RuleEvidence {
    /// The answers are equal if the editions lack the rule.
    Absent = "without it",
    /// The answers are equal if the rule is knocked out.
    Masked = "knocked out",
    /// The answers are equal if the rule is removed together with the rules that replace it.
    Replaced = "another rule in its place",
    /// One of the answers changes without the rule, but they still differ.
    Moved = "moved",
    /// One of the answers names the rule as broken, and the other does not.
    Named = "an error by it",
    /// One edition refuses a text while applying the rule, and no single rule makes the difference.
    Within = "an error within it",
    /// The answers differ by a rule on which this rule rests, or that is a clause of it.
    Part = "by what it rests on",
}
}

impl RuleEvidence {
    /// Whether the answers are equal without the rule.
    pub(super) fn is_strong(self) -> bool {
        self <= RuleEvidence::Replaced
    }
}

/// A question, with its answers in two editions.
pub(super) struct EditionProbe<'a> {
    pair: &'a EditionPair,
    ask: &'a Ask,
    literally: Option<Erratum>,
    answers: [EditionAnswer; 2],
}

#[derive(Clone)]
struct EditionAnswer {
    edition: Edition,
    outcome: Outcome,
    recorded: RuleSet,
}

fn answered(cx: &Cx, ask: &Ask, edition: Edition) -> (EditionAnswer, Cx) {
    let mut cx = cx.clone().with_edition(edition);
    let outcome = oracle::outcome(&mut cx, ask);
    (EditionAnswer { edition, outcome, recorded: *cx.recorded() }, cx)
}

impl<'a> EditionProbe<'a> {
    /// Asked in the reading that takes an erratum literally, or else in the corrected one.
    pub(super) fn of(pair: &'a EditionPair, ask: &'a Ask, literally: Option<Erratum>) -> EditionProbe<'a> {
        let cx = Cx::new().with_reading(reading(literally));
        let answers = [pair.from, pair.to].map(|edition| answered(&cx, ask, edition).0);
        EditionProbe { pair, ask, literally, answers }
    }

    /// Asked in the corrected reading; returns also the errata whose reading either answer depended on.
    pub(super) fn noting_errata(pair: &'a EditionPair, ask: &'a Ask) -> (EditionProbe<'a>, Vec<Erratum>) {
        let asked = [pair.from, pair.to].map(|edition| answered(&Cx::new(), ask, edition));
        let mut errata: Vec<Erratum> = asked.iter().flat_map(|(_, cx)| cx.errata_asked_after().iter()).collect();
        errata.sort_unstable();
        errata.dedup();
        let answers = asked.map(|(answer, _)| answer);
        (EditionProbe { pair, ask, literally: None, answers }, errata)
    }

    pub(super) fn before(&self) -> &Outcome {
        &self.answers[0].outcome
    }

    pub(super) fn after(&self) -> &Outcome {
        &self.answers[1].outcome
    }

    /// Whether both editions answer the question.
    pub(super) fn in_both(&self) -> bool {
        differ(self.before(), self.after()) || agree(self.before(), self.after())
    }

    /// The rules that either answer records.
    pub(super) fn recorded(&self) -> impl Iterator<Item = Rule> {
        recorded_by(&self.answers)
    }

    pub(super) fn same_answers_as(&self, other: &EditionProbe) -> bool {
        agree(self.before(), other.before()) && agree(self.after(), other.after())
    }

    /// The rules by which the answers differ.
    pub(super) fn responsible(&self) -> Vec<(Rule, RuleEvidence)> {
        if !differ(self.before(), self.after()) {
            return Vec::new();
        }
        let changed: Vec<Rule> = self.recorded().filter(|rule| self.pair.changed.contains_key(rule)).collect();
        let mut found: Vec<(Rule, RuleEvidence)> =
            changed.iter().filter_map(|rule| Some((*rule, self.evidence(*rule)?))).collect();
        if found.is_empty() {
            found.extend(self.innermost().map(|rule| (rule, RuleEvidence::Within)));
        }
        let strong: Vec<Rule> = found.iter().map(|(rule, _)| *rule).collect();
        let rests = |rule: &Rule| strong.iter().any(|other| self.rests_on(*rule, *other));
        let parts = changed.into_iter().filter(|rule| !strong.contains(rule) && rests(rule) && self.matters(*rule));
        found.extend(parts.map(|rule| (rule, RuleEvidence::Part)));
        found
    }

    /// Whether a rule, in the words of either edition, rests on another rule, or has it as a clause by its id.
    fn rests_on(&self, rule: Rule, other: Rule) -> bool {
        let needs = |edition| rule.statement(edition).is_some_and(|said| said.needs.contains(&other.id()));
        let is_clause = other.id().strip_prefix(rule.id()).is_some_and(|rest| rest.starts_with('.'));
        is_clause || needs(self.pair.from) || needs(self.pair.to)
    }

    /// Whether one of the answers changes, or disappears, when the rule is knocked out.
    fn matters(&self, rule: Rule) -> bool {
        let cx = Cx::new().with_reading(reading(self.literally)).with_mask(RuleSet::from_iter([rule]));
        self.without(&cx, rule).is_none_or(|without| {
            without.0.iter().zip(&self.answers).any(|(without, with)| differ(&without.outcome, &with.outcome))
        })
    }

    /// When one edition refuses a text that the other one reads: the production that was being applied, if the other
    /// edition words it differently.
    fn innermost(&self) -> Option<Rule> {
        match self.ask.about() {
            About::Text => {}
            About::Terms | About::Program | About::Call | About::TwoPrograms => return None,
        }
        let failing = self.answers.iter().filter(|answer| !says_something(&answer.outcome));
        let failing =
            if let [failing] = failing.collect::<Vec<&EditionAnswer>>().as_slice() { *failing } else { return None };
        let cx = Cx::new().with_reading(reading(self.literally)).with_trace();
        let (_, mut traced) = answered(&cx, self.ask, failing.edition);
        let mut last = None;
        let mut steps: Vec<DerivationStep> = traced.take_steps();
        // The steps of the judgement asked last come after all others.
        while let Some(step) = steps.pop() {
            match step {
                DerivationStep::Sub(derivation) => steps.extend(derivation.steps),
                DerivationStep::Fired(rule) | DerivationStep::Premise(rule, ..) => {
                    last = Some(rule).filter(|rule| self.pair.changed.get(rule) == Some(&Change::Changed));
                    if last.is_some() {
                        break;
                    }
                }
                DerivationStep::Tried(_) => {}
            }
        }
        last
    }

    /// The evidence for a rule that its removal gives, if any.
    fn evidence(&self, rule: Rule) -> Option<RuleEvidence> {
        let only = || RuleSet::from_iter([rule]);
        let cx = Cx::new().with_reading(reading(self.literally));
        let absent = self.without(&cx.clone().with_absent(only()), rule);
        let masked = self.without(&cx.clone().with_mask(only()), rule);
        let in_both = [self.pair.from, self.pair.to].into_iter().all(|edition| rule.is_stated_by(edition));
        let alike = |without: &Option<Without>| without.as_ref().is_some_and(Without::agrees);
        let told = |without: &Option<Without>| without.as_ref().is_some_and(|without| self.tells(without, rule));
        let moved = |without: &Option<Without>| without.as_ref().is_some_and(|without| self.is_moved(without, rule));
        let named = || self.answers.iter().filter(|answer| blames(&answer.outcome, rule)).count() == 1;
        let rows: [(RuleEvidence, &dyn Fn() -> bool); 6] = [
            (RuleEvidence::Absent, &|| alike(&absent) && (!in_both || told(&absent))),
            (RuleEvidence::Masked, &|| alike(&masked) && self.is_decided(&masked, rule) && told(&masked)),
            (RuleEvidence::Masked, &|| masked.as_ref().is_some_and(|masked| masked.exchanges(&self.answers))),
            (RuleEvidence::Replaced, &|| absent.as_ref().is_some_and(|absent| self.is_replaced(&cx, rule, absent))),
            (RuleEvidence::Moved, &|| !in_both && (moved(&absent) || moved(&masked))),
            (RuleEvidence::Named, &named),
        ];
        rows.into_iter().find(|(_, holds)| holds()).map(|(evidence, _)| evidence)
    }

    /// Whether the answers without the rule show that the rule is the one in question. If nothing works without the
    /// rule, they show it only in two cases: an answer names the rule, or both become equal to one of the original
    /// answers, including the rules that it names.
    fn tells(&self, without: &Without, rule: Rule) -> bool {
        without.says_something() || self.is_blamed(rule) || without.is_one_of(&self.answers)
    }

    /// Whether the rule may decide the difference: one of the answers names it as broken, or neither fails, or without
    /// it the one fails in the same way as the other.
    fn is_decided(&self, masked: &Option<Without>, rule: Rule) -> bool {
        self.is_blamed(rule)
            || self.answers.iter().all(|answer| says_something(&answer.outcome))
            || masked.as_ref().is_some_and(|masked| masked.is_one_of(&self.answers))
    }

    fn is_blamed(&self, rule: Rule) -> bool {
        self.answers.iter().any(|answer| blames(&answer.outcome, rule))
    }

    /// Whether exactly one of the answers changes without the rule. If both change, they may have differed by another
    /// rule.
    fn is_moved(&self, without: &Without, rule: Rule) -> bool {
        let pairs = || without.0.iter().zip(&self.answers);
        let mut moved = pairs().filter(|(without, with)| differ(&without.outcome, &with.outcome));
        match (moved.next(), moved.next()) {
            (Some((without, _)), None) => says_something(&without.outcome) || self.is_blamed(rule),
            (None, _) | (Some(_), Some(_)) => false,
        }
    }

    /// Whether the answers are equal when the rule is removed together with the rules that are recorded only in its
    /// absence.
    fn is_replaced(&self, cx: &Cx, rule: Rule, absent: &Without) -> bool {
        let known: RuleSet = self.recorded().collect();
        let is_changed = |rule: &Rule| !known.contains(*rule) && self.pair.changed.contains_key(rule);
        let instead: Vec<Rule> = absent.recorded().filter(is_changed).collect();
        let all: RuleSet = instead.iter().copied().chain([rule]).collect();
        !instead.is_empty() && self.without(&cx.clone().with_absent(all), rule).is_some_and(|without| without.agrees())
    }

    /// The answers in a context without the rule; `None` if the run is not finished within the limit, or an answer says
    /// only that the rule is missing.
    fn without(&self, cx: &Cx, rule: Rule) -> Option<Without> {
        let asked = |with: &EditionAnswer| {
            let answer = within(STEPS, cx, |cx| answered(cx, self.ask, with.edition).0).ok()?;
            let kept = agree(&answer.outcome, &with.outcome) || says_something_without(&answer.outcome, rule);
            kept.then_some(answer)
        };
        let [before, after] = &self.answers;
        Some(Without([asked(before)?, asked(after)?]))
    }
}

/// The answers to a question without a rule.
struct Without([EditionAnswer; 2]);

impl Without {
    fn agrees(&self) -> bool {
        let [before, after] = &self.0;
        agree(&before.outcome, &after.outcome)
    }

    fn says_something(&self) -> bool {
        self.0.iter().all(|answer| says_something(&answer.outcome))
    }

    /// Whether each answer became the original answer of the other edition.
    fn exchanges(&self, with: &[EditionAnswer; 2]) -> bool {
        let ([a, b], [before, after]) = (&self.0, with);
        agree(&a.outcome, &after.outcome) && agree(&b.outcome, &before.outcome)
    }

    /// Whether both are equal to the same original answer, including the rules that it names.
    fn is_one_of(&self, with: &[EditionAnswer; 2]) -> bool {
        let [before, after] = &self.0;
        before.outcome == after.outcome && with.iter().any(|answer| answer.outcome == before.outcome)
    }

    fn recorded(&self) -> impl Iterator<Item = Rule> {
        recorded_by(&self.0)
    }
}

fn recorded_by([before, after]: &[EditionAnswer; 2]) -> impl Iterator<Item = Rule> {
    Rule::ALL.iter().copied().filter(|rule| before.recorded.contains(*rule) || after.recorded.contains(*rule))
}
