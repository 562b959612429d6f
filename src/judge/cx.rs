//! The context of every judgement: the edition, the reading, the strength of the prover, and the records. Only seven
//! methods record the use of a rule: [`Cx::by_cases`], [`Cx::by_kind`], [`Cx::holds`], [`Cx::conclude`], [`Cx::fire`],
//! [`Cx::premise`], and [`Cx::judge`] for a whole judgement. Claims of golden cases, knock-out and derivation trees all
//! depend on them. [`Cx::take_over`] adds what they have recorded in another context.

use std::cell::Cell;
use std::rc::Rc;

use super::forms::{Condition, Conditions, DefinitionRow, Instead, Premise, Rows};
use super::memo::{JudgementInputs, Memo};
use super::watch::{Fuel, JudgementWatch, Mistake, RowMutant, RowsLookedAt};
use super::{Conclusion, Derivation, DerivationStep, with_stack};
use crate::book::{Basis, Edition, Erratum, ErratumSet, Proposal, Reading, Rule, RuleSet};

/// The strength of the prover of shape equality. A stronger prover keeps every answer of a weaker one.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, PartialOrd, Ord)]
pub enum Prover {
    /// Equality means alpha-equality. This is the minimum.
    Alpha,
    /// Polynomial normal form with rules for min, max, select and divisions.
    #[default]
    Algebraic,
    /// Definite answers about all admissible assignments where it finds them. This is the maximum.
    Exhaustive,
}

/// The answer of `find_glb` for two function types of which exactly one is pure (A27).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum GlbPurity {
    /// No lower bound, as in the pseudocode.
    #[default]
    Literal,
    /// The pure type, as the order implies.
    Min,
}

/// The context of a judgement.
#[derive(Clone, Debug, Default)]
pub struct Cx {
    /// The edition and the proposal whose rules hold.
    basis: Basis,
    /// The errata that are read literally.
    pub reading: Reading,
    /// The strength of the prover of shape equality.
    pub prover: Prover,
    /// The behaviour of `find_glb` for purity.
    pub glb_purity: GlbPurity,
    recorded: RuleSet,
    /// The errata that were queried. Side questions add to the same set.
    asked: Rc<Cell<ErratumSet>>,
    /// The answers of the open judgements.
    pub(super) memo: Memo,
    /// Special settings, if there are any. The ordinary paths only test whether there are some.
    watch: Option<Box<JudgementWatch>>,
}

/// A rule that the judgement cannot do without was masked, or the text has no such rule.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[error("no rule applies without {0}")]
pub struct Stuck(pub Rule);

impl Cx {
    /// The default edition, the corrected reading and the middle prover, without masks and records.
    pub fn new() -> Cx {
        Cx::default()
    }

    /// The context with another reading.
    pub fn with_reading(mut self, reading: Reading) -> Cx {
        self.reading = reading;
        self
    }

    /// The context with another prover.
    pub fn with_prover(mut self, prover: Prover) -> Cx {
        self.prover = prover;
        self
    }

    /// The context with another edition, with or without a proposal. An edition alone switches proposals off.
    pub fn with_edition(mut self, basis: impl Into<Basis>) -> Cx {
        self.basis = basis.into();
        self
    }

    /// The context with a proposal and the edition that it extends.
    pub fn with_proposal(self, proposal: Proposal) -> Cx {
        self.with_edition(proposal)
    }

    /// The edition whose rules hold, and the proposal that is on.
    #[inline]
    pub fn basis(&self) -> Basis {
        self.basis
    }

    /// The edition whose rules hold.
    #[inline]
    pub fn edition(&self) -> Edition {
        self.basis.edition()
    }

    /// Switches rules off: [`Cx::fire`] then returns false, and [`Cx::premise`] returns true.
    pub fn with_mask(mut self, mask: RuleSet) -> Cx {
        self.watch().mask = mask;
        self
    }

    /// The edition without some of its rules, as if it never had them.
    pub fn with_absent(mut self, absent: RuleSet) -> Cx {
        self.watch().absent = absent;
        self
    }

    /// Puts a mistake into a definition by cases.
    pub fn with_row_mutant(mut self, mutant: RowMutant) -> Cx {
        self.watch().row_mutant = Some(mutant);
        self
    }

    fn watch(&mut self) -> &mut JudgementWatch {
        self.watch.get_or_insert_default()
    }

    /// A context for a side question. It records nothing and masks nothing.
    pub fn unobserved(&self) -> Cx {
        let (basis, prover, glb_purity) = (self.basis, self.prover, self.glb_purity);
        Cx { basis, prover, glb_purity, ..self.in_same_reading() }
    }

    /// A new context with the same reading.
    pub fn in_same_reading(&self) -> Cx {
        Cx {
            basis: Basis::default(),
            reading: self.reading.clone(),
            prover: Prover::default(),
            glb_purity: GlbPurity::default(),
            recorded: RuleSet::new(),
            asked: self.asked.clone(),
            memo: Memo::default(),
            watch: self.watch.as_ref().and_then(|watch| watch.aside()),
        }
    }

    /// Whether a rule is switched off. Only [`Instead`] and similar code may ask; a chapter states only the behaviour
    /// with the rule.
    pub fn is_masked(&self, rule: Rule) -> bool {
        let rule = self.stated_as(rule);
        self.watch.as_ref().is_some_and(|watch| watch.mask.contains(rule))
    }

    /// Whether a derivation tree is collected. Such a tree repeats a judgement each time it is asked.
    pub fn is_traced(&self) -> bool {
        self.watch.as_ref().is_some_and(|watch| watch.trace.is_some())
    }

    /// Collects a derivation tree.
    pub fn with_trace(mut self) -> Cx {
        self.watch().trace = Some(vec![Derivation::default()]);
        self
    }

    /// Limits the number of steps.
    pub fn with_fuel(mut self, fuel: Fuel) -> Cx {
        self.watch().fuel = Some(fuel);
        self
    }

    /// Records the rows of definitions by cases that are considered.
    pub fn with_rows_noted(mut self) -> Cx {
        self.watch().rows = Some(RowsLookedAt::default());
        self
    }

    /// The errata that this context and its side questions have queried. Changing the reading of any others cannot
    /// change an answer.
    pub fn errata_asked_after(&self) -> ErratumSet {
        self.asked.get()
    }

    /// Runs `body`, and returns the errata that it queries too.
    pub fn with_errata_noted<T>(&mut self, body: impl FnOnce(&mut Cx) -> T) -> (T, ErratumSet) {
        let before = self.asked.take();
        let result = body(self);
        let asked = self.asked.get();
        self.asked.set(asked.or(before));
        (result, asked)
    }

    /// Whether an erratum is read literally and the edition has the words in question. This is the only query for the
    /// reading.
    #[inline]
    pub fn literal(&self, erratum: Erratum) -> bool {
        let mut asked = self.asked.get();
        asked.insert(erratum);
        self.asked.set(asked);
        !self.reading.is_corrected() && self.takes(erratum)
    }

    /// Whether one of several errata is read literally.
    #[inline]
    pub fn literal_any(&self, errata: &[Erratum]) -> bool {
        errata.iter().any(|erratum| self.literal(*erratum))
    }

    /// Whether the edition has the words in question.
    pub fn edition_has(&self, erratum: Erratum) -> bool {
        erratum.stands_in(self.edition())
    }

    #[cold]
    fn takes(&self, erratum: Erratum) -> bool {
        self.reading.is_literal(erratum) && self.edition_has(erratum)
    }

    /// Whether the edition has a rule, under its own id or that of the rule that succeeds it there.
    #[inline]
    pub fn has(&self, rule: Rule) -> bool {
        self.stated(rule).is_some()
    }

    /// The rule under which the edition states this one, unless the edition lacks it or it is absent from this context.
    #[inline]
    fn stated(&self, rule: Rule) -> Option<Rule> {
        let stated = rule.in_edition(self.basis)?;
        if self.watch.is_some() && self.is_absent(stated) { None } else { Some(stated) }
    }

    #[cold]
    fn is_absent(&self, rule: Rule) -> bool {
        self.watch.as_ref().is_some_and(|watch| watch.absent.contains(rule))
    }

    /// The rule under which the edition states this one.
    #[inline]
    pub fn stated_as(&self, rule: Rule) -> Rule {
        rule.in_edition(self.basis).unwrap_or(rule)
    }

    /// Applies a rule: records it and returns true. Returns false if the rule is masked or not in the edition.
    #[must_use = "a masked rule must not apply"]
    #[inline]
    pub fn fire(&mut self, rule: Rule) -> bool {
        let Some(rule) = self.stated(rule) else { return false };
        if let Some(watch) = &mut self.watch
            && !watch.fires(rule)
        {
            return false;
        }
        self.recorded.insert(rule);
        true
    }

    /// Records a rule, if the edition has it.
    #[inline(always)]
    fn record(&mut self, rule: Rule) {
        if let Some(rule) = rule.in_edition(self.basis) {
            self.recorded.insert(rule);
        }
    }

    /// Draws the conclusion of a rule: records the rule and returns the conclusion. For a masked rule it returns a
    /// replacement ([`Instead`]).
    #[inline]
    pub fn conclude<T: Instead>(&mut self, rule: Rule, conclusion: T) -> T {
        if self.draws(rule) { conclusion } else { self.instead_of(rule, conclusion) }
    }

    /// The replacement for the conclusion of a masked rule.
    #[cold]
    fn instead_of<T: Instead>(&mut self, rule: Rule, conclusion: T) -> T {
        let rule = self.stated_as(rule);
        conclusion.instead_of_new(rule, &mut self.watch().made)
    }

    /// Whether the conclusion of a rule is drawn. As [`Cx::fire`], except that a rule outside the edition does not
    /// count as missing.
    #[inline(always)]
    fn draws(&mut self, rule: Rule) -> bool {
        if self.watch.is_some() {
            return self.draws_watched(rule);
        }
        self.record(rule);
        true
    }

    #[cold]
    fn draws_watched(&mut self, rule: Rule) -> bool {
        !self.has(rule) || self.fire(rule)
    }

    /// A definition by cases, in the order of the text. The answer is the conclusion of the first row whose condition
    /// holds, or `None` without such a row. A table with a final row, `(&[..], (rule, conclusion))`, always has a
    /// conclusion. Rows of rules outside the edition are ignored. The rule of the row that applies is recorded. If it
    /// is masked, the answer is the conclusion of the next row that differs, starting again at the top after the last
    /// row.
    #[inline]
    pub fn by_cases<R: Rows>(&mut self, rows: R) -> R::Answer {
        rows.decided(self)
    }

    #[inline]
    pub(super) fn by_rows<T: Clone + PartialEq>(&mut self, rows: &[DefinitionRow<T>]) -> Option<T> {
        if self.watch.is_some() {
            return self.by_watched_rows(rows);
        }
        let (rule, conclusion) = self.row_that_applies(rows)?;
        self.recorded.insert(rule);
        Some(conclusion.clone())
    }

    /// The first row in the edition whose condition holds.
    #[inline]
    fn row_that_applies<'r, T>(&self, rows: &'r [DefinitionRow<T>]) -> Option<(Rule, &'r T)> {
        for (rule, holds, then) in rows {
            if *holds && let Some(rule) = rule.in_edition(self.basis) {
                return Some((rule, then));
            }
        }
        None
    }

    /// The rows whose rules are in the edition.
    fn standing<'r, T>(&self, rows: &'r [DefinitionRow<T>]) -> Vec<(Rule, bool, &'r T)> {
        rows.iter().filter_map(|(rule, holds, then)| Some((self.stated(*rule)?, *holds, then))).collect()
    }

    #[cold]
    fn by_watched_rows<T: Clone + PartialEq>(&mut self, rows: &[DefinitionRow<T>]) -> Option<T> {
        let rows = self.standing(rows);
        let at = self.first_case(rows.len(), &|i| rows[i].0, &|i| rows[i].1)?;
        self.conclusion_of(at, rows.len(), &|i| (rows[i].0, rows[i].2))
    }

    #[inline]
    pub(super) fn by_rows_or<T: Clone + PartialEq>(
        &mut self,
        rows: &[DefinitionRow<T>],
        last: Rule,
        otherwise: T,
    ) -> T {
        if self.watch.is_some() {
            return self.by_watched_rows_or(rows, last, otherwise);
        }
        let row = self.row_that_applies(rows).map(|(rule, then)| (rule, then.clone()));
        match row {
            Some((rule, then)) => {
                self.recorded.insert(rule);
                then
            }
            None => {
                self.record(last);
                otherwise
            }
        }
    }

    #[cold]
    fn by_watched_rows_or<T: Clone + PartialEq>(&mut self, rows: &[DefinitionRow<T>], last: Rule, otherwise: T) -> T {
        let rows = self.standing(rows);
        let Some(last) = self.stated(last) else {
            let at = self.first_case(rows.len(), &|i| rows[i].0, &|i| rows[i].1);
            let of = |at| self.conclusion_of(at, rows.len(), &|i| (rows[i].0, rows[i].2));
            return at.and_then(of).unwrap_or(otherwise);
        };
        let count = rows.len() + 1;
        let row = |i: usize| rows.get(i).map_or((last, &otherwise), |(rule, _, then)| (*rule, *then));
        let holds = |i: usize| rows.get(i).is_none_or(|(_, holds, _)| *holds);
        let conclusion = match self.first_case(count, &|i| row(i).0, &holds) {
            Some(at) => self.conclusion_of(at, count, &row),
            // The mutant prevents even the last row from applying.
            None => another_conclusion(rows.len(), count, &row),
        };
        conclusion.unwrap_or(otherwise)
    }

    /// Records that a row was considered, and whether another row follows it.
    fn look_at(&mut self, rule: Rule, is_followed: bool) {
        if let Some(watch) = &mut self.watch
            && let Some(rows) = &mut watch.rows
        {
            rows.rows.insert(rule);
            if is_followed {
                rows.followed.insert(rule);
            }
        }
    }

    /// A definition by kinds, whose row a `match` has already selected. Returns the conclusion, or a replacement if the
    /// rule is masked.
    #[inline]
    pub fn by_kind<T: Instead>(&mut self, rule: Rule, conclusion: T) -> T {
        if self.watch.is_some() {
            return self.by_watched_kind(rule, conclusion);
        }
        self.record(rule);
        conclusion
    }

    #[cold]
    fn by_watched_kind<T: Instead>(&mut self, rule: Rule, conclusion: T) -> T {
        if self.has(rule) && !self.has_kind(self.stated_as(rule)) {
            return self.instead_of(rule, conclusion);
        }
        self.conclude(rule, conclusion)
    }

    /// Records the row of a kind. Returns whether the row is present.
    #[cold]
    fn has_kind(&mut self, rule: Rule) -> bool {
        self.look_at(rule, false);
        if let Some(watch) = &mut self.watch
            && let Some(rows) = &mut watch.rows
        {
            rows.kinds.insert(rule);
        }
        self.mistake_at(rule) != Some(Mistake::Dropped)
    }

    /// Tests conditions that must all hold, in order. Returns whether they hold. If the conditions have values, the
    /// value of the first one that fails is the error.
    #[inline]
    pub fn holds<C: Conditions>(&mut self, conditions: C) -> C::Answer {
        conditions.tested(self)
    }

    pub(super) fn first_failing<'r, T>(&mut self, conditions: &'r [Condition<T>]) -> Option<&'r Condition<T>> {
        if self.watch.is_none() {
            return conditions.iter().find(|condition| !self.meets(condition.0, condition.1, condition.2));
        }
        self.first_failing_watched(conditions)
    }

    #[cold]
    fn first_failing_watched<'r, T>(&mut self, conditions: &'r [Condition<T>]) -> Option<&'r Condition<T>> {
        let conditions: Vec<&Condition<T>> = conditions.iter().filter(|condition| self.has(condition.0)).collect();
        let stated: Vec<Rule> = conditions.iter().map(|condition| self.stated_as(condition.0)).collect();
        let rule = |i: usize| stated[i];
        let swapped = (1..conditions.len()).find(|i| self.mistake_at(rule(i - 1)) == Some(Mistake::Swapped));
        (0..conditions.len()).find_map(|position| {
            if position + 1 < conditions.len()
                && let Some(watch) = &mut self.watch
                && let Some(rows) = &mut watch.rows
            {
                rows.followed.insert(rule(position));
            }
            let condition = conditions[with_swapped(position, swapped)];
            (!self.meets(condition.0, condition.1, condition.2)).then_some(condition)
        })
    }

    /// Whether one condition holds, including a mutant of it. It is one of several that must hold together but are
    /// tested separately.
    #[inline]
    pub(super) fn meets(&mut self, rule: Rule, n: usize, holds: bool) -> bool {
        // A condition of another edition does not apply.
        let Some(rule) = self.stated(rule) else { return true };
        if self.watch.is_some() {
            return self.meets_watched(rule, n, holds);
        }
        self.recorded.insert(rule);
        holds
    }

    #[cold]
    fn meets_watched(&mut self, rule: Rule, n: usize, holds: bool) -> bool {
        self.look_at(rule, false);
        match self.mistake_at(rule) {
            None | Some(Mistake::Swapped) => self.premise(rule, n, holds),
            Some(Mistake::Negated) => self.premise(rule, n, !holds),
            Some(Mistake::Dropped) => true,
        }
    }

    /// The first of `count` rows that applies, including the effect of a mutant.
    fn first_case(
        &mut self,
        count: usize,
        rule: &dyn Fn(usize) -> Rule,
        holds: &dyn Fn(usize) -> bool,
    ) -> Option<usize> {
        let swapped = (1..count).find(|i| self.mistake_at(rule(i - 1)) == Some(Mistake::Swapped));
        for position in 0..count {
            let i = with_swapped(position, swapped);
            self.look_at(rule(i), i + 1 < count);
            let applies = match self.mistake_at(rule(i)) {
                None | Some(Mistake::Swapped) => holds(i),
                Some(Mistake::Dropped) => false,
                Some(Mistake::Negated) => !holds(i),
            };
            if applies {
                return Some(i);
            }
            if let Some(watch) = &mut self.watch {
                watch.step(|| DerivationStep::Tried(rule(i)));
            }
        }
        None
    }

    fn mistake_at(&self, rule: Rule) -> Option<Mistake> {
        self.watch.as_ref().and_then(|watch| watch.mistake_at(rule))
    }

    /// The conclusion of the row at `at`, or its replacement.
    fn conclusion_of<'r, T: Clone + PartialEq + 'r>(
        &mut self,
        at: usize,
        count: usize,
        row: &dyn Fn(usize) -> (Rule, &'r T),
    ) -> Option<T> {
        let (rule, conclusion) = row(at);
        if self.fire(rule) {
            return Some(conclusion.clone());
        }
        another_conclusion(at, count, row)
    }

    /// Tests the n-th premise of a rule (from 1). Records the test and returns its outcome: a truth value, or a result
    /// with an error if the premise fails. If the rule is masked, there is no error.
    #[must_use = "a failing premise must have a consequence"]
    #[inline]
    pub fn premise<P: Premise>(&mut self, rule: Rule, n: usize, outcome: P) -> P {
        let Some(stated) = self.stated(rule) else { return outcome.untested() };
        if self.watch.is_some() && !self.tests(stated, n, outcome.holds()) {
            return outcome.masked(stated);
        }
        self.recorded.insert(stated);
        outcome
    }

    #[cold]
    fn tests(&mut self, rule: Rule, n: usize, holds: bool) -> bool {
        self.watch.as_mut().is_none_or(|watch| watch.tests(rule, n, holds))
    }

    /// Runs one judgement as a node of the derivation tree, with enough stack for any nesting. Answers about shared
    /// tuples are computed once, unless a derivation is collected.
    #[inline]
    pub fn judge<T: Conclusion, I: JudgementInputs<T>>(
        &mut self,
        judgement: &'static str,
        inputs: I,
        body: impl FnOnce(&mut Cx) -> T,
    ) -> T {
        let differing = self.memo.begin();
        let found = if inputs.may_recur() && !self.is_traced() {
            self.judge_once(judgement, inputs, body)
        } else {
            self.judge_anew(judgement, inputs, body)
        };
        self.memo.end(differing);
        found
    }

    #[cold]
    fn judge_once<T: Conclusion, I: JudgementInputs<T>>(
        &mut self,
        judgement: &'static str,
        inputs: I,
        body: impl FnOnce(&mut Cx) -> T,
    ) -> T {
        let (known, key) = inputs.recall(judgement, &mut self.memo);
        if let Some(known) = known {
            return known;
        }
        let found = self.judge_anew(judgement, Vec::new, body);
        if let Some(key) = key {
            inputs.keep(key, &mut self.memo, &found);
        }
        found
    }

    #[inline]
    fn judge_anew<T: Conclusion, I: JudgementInputs<T>>(
        &mut self,
        judgement: &'static str,
        inputs: I,
        body: impl FnOnce(&mut Cx) -> T,
    ) -> T {
        if self.watch.is_none() {
            return with_stack(|| body(self));
        }
        self.judge_watched(judgement, inputs, body)
    }

    #[cold]
    fn judge_watched<T: Conclusion, I: JudgementInputs<T>>(
        &mut self,
        judgement: &'static str,
        inputs: I,
        body: impl FnOnce(&mut Cx) -> T,
    ) -> T {
        let Some(watch) = &mut self.watch else { return body(self) };
        watch.burn();
        if watch.trace.is_none() {
            return with_stack(|| body(self));
        }
        let inputs = inputs.told().into_iter().map(|input| watch.told(input)).collect();
        if let Some(stack) = &mut watch.trace {
            stack.push(Derivation { judgement, inputs, ..Derivation::default() });
        }
        let result = with_stack(|| body(self));
        let conclusion = result.conclude();
        if let Some(watch) = &mut self.watch {
            let conclusion = watch.told(conclusion);
            if let Some(stack) = &mut watch.trace
                && let Some(mut node) = stack.pop()
            {
                node.conclusion = conclusion;
                if let Some(parent) = stack.last_mut() {
                    parent.steps.push(DerivationStep::Sub(node));
                }
            }
        }
        result
    }

    /// The stack of open judgements, if a derivation is collected.
    fn stack(&mut self) -> Option<&mut Vec<Derivation>> {
        self.watch.as_mut()?.trace.as_mut()
    }

    /// The rules that have been used so far.
    pub fn recorded(&self) -> &RuleSet {
        &self.recorded
    }

    /// The rows of definitions by cases that were considered since the [recording](Cx::with_rows_noted) began.
    pub fn rows_looked_at(&self) -> RowsLookedAt {
        self.watch.as_ref().and_then(|watch| watch.rows).unwrap_or_default()
    }

    /// Takes over the rules that a judgement [aside](Cx::unobserved) has used, as if it had been made here. Returns
    /// false, and takes nothing, if this context has special settings: a mask, a mutant or a record beside that of the
    /// rules would have to know of every step.
    #[must_use = "the judgement must be made again"]
    pub fn take_over(&mut self, aside: &Cx) -> bool {
        if self.watch.is_some() {
            return false;
        }
        self.recorded.add(&aside.recorded);
        true
    }

    /// Clears the record of used rules.
    pub fn clear_recorded(&mut self) {
        self.recorded = RuleSet::new();
    }

    /// Takes the steps so far at the outermost level.
    pub fn take_steps(&mut self) -> Vec<DerivationStep> {
        let Some(stack) = self.stack() else { return Vec::new() };
        let steps = std::mem::take(stack).into_iter().next().map(|root| root.steps).unwrap_or_default();
        stack.push(Derivation::default());
        steps
    }

    /// Takes the judgements so far at the outermost level, as derivation trees.
    pub fn take_derivations(&mut self) -> Vec<Derivation> {
        self.take_steps()
            .into_iter()
            .filter_map(|step| match step {
                DerivationStep::Sub(derivation) => Some(derivation),
                DerivationStep::Fired(_) | DerivationStep::Tried(_) | DerivationStep::Premise(..) => None,
            })
            .collect()
    }
}

/// The index of the row at a position after one row is swapped with the row before it.
fn with_swapped(position: usize, swapped: Option<usize>) -> usize {
    match swapped {
        Some(second) if position == second => second - 1,
        Some(second) if position + 1 == second => second,
        Some(_) | None => position,
    }
}

/// The conclusion of the next row that differs from the row at `at`, starting again at the top after the last row.
fn another_conclusion<'r, T: Clone + PartialEq + 'r>(
    at: usize,
    count: usize,
    row: &dyn Fn(usize) -> (Rule, &'r T),
) -> Option<T> {
    let conclusion = row(at).1;
    (1..count).map(|k| row((at + k) % count).1).find(|other| *other != conclusion).cloned()
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    const FIRST: Rule = rule!("SI.COMPAT.SHAPE.ANYRANK");
    const SECOND: Rule = rule!("SI.COMPAT.SHAPE.RANK");
    const THIRD: Rule = rule!("SI.COMPAT.SHAPE.NOVALUES");

    /// 1 if `a`, else 2 if `b`, else 3 if `c`.
    fn ask(cx: &mut Cx, [a, b, c]: [bool; 3]) -> Option<u8> {
        cx.by_cases(&[(FIRST, a, 1), (SECOND, b, 2), (THIRD, c, 3)])
    }

    #[test]
    fn steps_are_counted_also_of_what_is_asked_aside() {
        let spent = Arc::new(AtomicUsize::new(0));
        let fuel = Fuel::new(3, {
            let spent = spent.clone();
            move || {
                spent.fetch_add(1, Ordering::Relaxed);
            }
        });
        let mut cx = Cx::new().with_fuel(fuel.clone());
        let step = |cx: &mut Cx| {
            assert!(cx.fire(rule!("EQ.ALPHA")));
            spent.load(Ordering::Relaxed)
        };
        assert_eq!((step(&mut cx), step(&mut cx.unobserved()), step(&mut cx.in_same_reading().clone())), (0, 0, 0));
        // If `spent` returns, each further step calls it again.
        assert_eq!((step(&mut cx), step(&mut Cx::new()), step(&mut Cx::new().with_fuel(fuel))), (1, 1, 2));
    }

    #[test]
    fn the_first_row_that_holds_decides() {
        let mut cx = Cx::new().with_trace();
        assert_eq!(ask(&mut cx, [false, true, true]), Some(2));
        assert_eq!(cx.recorded().iter().collect::<Vec<Rule>>(), [SECOND]);
        assert_eq!(cx.take_steps(), [DerivationStep::Tried(FIRST), DerivationStep::Fired(SECOND)]);
        assert_eq!(ask(&mut cx, [false, false, false]), None);
    }

    #[test]
    fn a_masked_row_gives_the_conclusion_of_the_next() {
        let without = |rule| Cx::new().with_mask(RuleSet::from_iter([rule]));
        assert_eq!(ask(&mut without(FIRST), [true, false, false]), Some(2));
        assert_eq!(ask(&mut without(THIRD), [false, false, true]), Some(1));
        assert_eq!(ask(&mut without(FIRST), [false, true, false]), Some(2));
    }

    #[test]
    fn the_rows_up_to_the_first_that_holds_are_looked_at() {
        let mut cx = Cx::new().with_rows_noted();
        assert_eq!(ask(&mut cx, [false, true, true]), Some(2));
        assert_eq!(cx.rows_looked_at().rows, RuleSet::from_iter([FIRST, SECOND]));
        assert_eq!(ask(&mut cx, [false, false, false]), None);
        assert_eq!(cx.rows_looked_at().rows, RuleSet::from_iter([FIRST, SECOND, THIRD]));
        assert_eq!(cx.rows_looked_at().followed, RuleSet::from_iter([FIRST, SECOND]));
    }

    #[test]
    fn a_row_can_be_wrong_in_three_ways() {
        let with = |mistake| Cx::new().with_row_mutant(RowMutant { rule: FIRST, mistake });
        assert_eq!(ask(&mut with(Mistake::Dropped), [true, true, false]), Some(2));
        assert_eq!(ask(&mut with(Mistake::Negated), [false, true, false]), Some(1));
        assert_eq!(ask(&mut with(Mistake::Swapped), [true, true, false]), Some(2));
        assert_eq!(ask(&mut with(Mistake::Swapped), [true, false, true]), Some(1));
    }

    #[test]
    fn every_condition_that_fails_says_what_follows() {
        let conditions = |a, b| [(FIRST, 1, a, "first"), (SECOND, 2, b, "second")];
        let mut cx = Cx::new().with_trace().with_rows_noted();
        let failing = |cx: &mut Cx, a, b| {
            conditions(a, b).iter().filter(|c| !cx.holds(&[(c.0, c.1, c.2)])).map(|c| c.3).collect::<Vec<&str>>()
        };
        assert_eq!(failing(&mut cx, true, true), Vec::<&str>::new());
        assert_eq!(failing(&mut cx, false, false), ["first", "second"]);
        let first = |cx: &mut Cx, a, b| cx.holds(&conditions(a, b)).err().map(|(_, told)| told);
        assert_eq!(first(&mut cx, true, true), None);
        cx.take_steps();
        assert_eq!(first(&mut cx, true, false), Some("second"));
        assert_eq!(
            cx.take_steps(),
            [DerivationStep::Premise(FIRST, 1, true), DerivationStep::Premise(SECOND, 2, false)]
        );
        assert_eq!(cx.rows_looked_at().rows, RuleSet::from_iter([FIRST, SECOND]));
        assert_eq!(cx.rows_looked_at().followed, RuleSet::from_iter([FIRST]));
        assert!(cx.holds(&[(FIRST, 1, true), (SECOND, 1, true)]) && !cx.holds(&[(FIRST, 1, true), (SECOND, 1, false)]));
        let without_first = Cx::new().with_mask(RuleSet::from_iter([FIRST]));
        assert_eq!(first(&mut without_first.clone(), false, false), Some("second"));
        assert_eq!(failing(&mut without_first.clone(), false, true), Vec::<&str>::new());
    }

    #[test]
    fn a_condition_can_be_wrong_in_three_ways() {
        let ask = |mistake, a, b| {
            let mut cx = Cx::new().with_row_mutant(RowMutant { rule: FIRST, mistake });
            cx.holds(&[(FIRST, 1, a, "not so"), (SECOND, 1, b, "not so")]).map_err(|(rule, _)| rule)
        };
        assert_eq!(ask(Mistake::Dropped, false, true), Ok(()));
        assert_eq!(ask(Mistake::Negated, false, true), Ok(()));
        assert_eq!(ask(Mistake::Negated, true, true), Err(FIRST));
        assert_eq!(ask(Mistake::Swapped, false, false), Err(SECOND));
        assert_eq!(ask(Mistake::Swapped, false, true), Err(FIRST));
    }

    #[test]
    fn a_definition_with_a_last_row_always_has_a_conclusion() {
        let ask = |cx: &mut Cx, a: bool| cx.by_cases((&[(FIRST, a, 1)], (SECOND, 2)));
        assert_eq!([true, false].map(|a| ask(&mut Cx::new(), a)), [1, 2]);
        assert_eq!([true, false].map(|a| ask(&mut Cx::new().with_trace(), a)), [1, 2]);
        let without = |rule| Cx::new().with_mask(RuleSet::from_iter([rule]));
        assert_eq!((ask(&mut without(FIRST), true), ask(&mut without(SECOND), false)), (2, 1));
        for mistake in [Mistake::Dropped, Mistake::Negated] {
            let mut with = Cx::new().with_row_mutant(RowMutant { rule: SECOND, mistake });
            assert_eq!([true, false].map(|a| ask(&mut with, a)), [1, 1]);
        }
    }
}
