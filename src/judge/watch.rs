//! Special settings of a run: rules that are switched off, deliberate mistakes, and additional records.

use std::any::Any;
use std::fmt;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use super::{Derivation, DerivationStep};
use crate::book::{Rule, RuleSet};

/// Masked rules, mutants, and records beyond the used rules.
#[derive(Clone, Debug, Default)]
pub(super) struct JudgementWatch {
    pub(super) mask: RuleSet,
    /// The rules of the edition that are treated as absent.
    pub(super) absent: RuleSet,
    pub(super) row_mutant: Option<RowMutant>,
    /// The rows that were considered, if they are recorded.
    pub(super) rows: Option<RowsLookedAt>,
    pub(super) made: MaskedFreshness,
    pub(super) trace: Option<Vec<Derivation>>,
    /// The total length of operands and conclusions in the derivations.
    pub(super) told: usize,
    /// The remaining steps, if there is a limit. Side questions use the same budget.
    pub(super) fuel: Option<Fuel>,
}

/// Objects created under masked rules of freshness ([`super::Instead`]).
#[derive(Clone, Debug, Default)]
pub struct MaskedFreshness(Vec<(Rule, Rc<dyn Any>)>);

impl MaskedFreshness {
    /// An earlier object of the rule that is like the new one, or else the new one.
    pub fn before<T: Clone + 'static>(&mut self, rule: Rule, new: T, like: impl Fn(&T, &T) -> bool) -> T {
        let before = self.0.iter().filter(|(by, _)| *by == rule).filter_map(|(_, made)| made.downcast_ref::<T>());
        if let Some(known) = before.into_iter().find(|known| like(known, &new)).cloned() {
            return known;
        }
        self.0.push((rule, Rc::new(new.clone())));
        new
    }
}

/// The largest number of bytes that derivations use for operands and conclusions.
const MAX_TOLD: usize = 4 << 20;

/// The budget of steps for judgements. Applying a rule, testing a premise and asking a judgement each take one step.
/// Copies share the budget.
#[derive(Clone)]
pub struct Fuel {
    left: Arc<AtomicU64>,
    spent: Arc<dyn Fn() + Send + Sync>,
}

impl Fuel {
    /// A budget of `steps`. The first step beyond it calls `spent`, which need not return. If it returns, the judgement
    /// continues.
    pub fn new(steps: u64, spent: impl Fn() + Send + Sync + 'static) -> Fuel {
        Fuel { left: Arc::new(AtomicU64::new(steps)), spent: Arc::new(spent) }
    }

    /// The steps that are left.
    pub fn left(&self) -> u64 {
        self.left.load(Ordering::Relaxed)
    }

    fn burn(&self) {
        let taken = self.left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(1));
        if taken.is_err() {
            (self.spent)();
        }
    }
}

impl fmt::Debug for Fuel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Fuel").field("left", &self.left).finish_non_exhaustive()
    }
}

impl JudgementWatch {
    /// Whether a rule applies. If so, it becomes a step of the derivation.
    #[cold]
    pub(super) fn fires(&mut self, rule: Rule) -> bool {
        self.burn();
        let applies = !self.mask.contains(rule);
        if applies {
            self.step(|| DerivationStep::Fired(rule));
        }
        applies
    }

    /// Whether the premise of a rule is tested. If so, it becomes a step of the derivation.
    #[cold]
    pub(super) fn tests(&mut self, rule: Rule, n: usize, holds: bool) -> bool {
        self.burn();
        let tested = !self.mask.contains(rule);
        if tested {
            self.step(|| DerivationStep::Premise(rule, n, holds));
        }
        tested
    }

    /// Takes one step from the budget.
    pub(super) fn burn(&self) {
        if let Some(fuel) = &self.fuel {
            fuel.burn();
        }
    }

    /// The text of an operand or a conclusion for derivations. The inputs of nested judgements repeat most of the outer
    /// ones, so texts are cut off beyond a total length.
    pub(super) fn told(&mut self, text: String) -> String {
        self.told = self.told.saturating_add(text.len());
        if self.told > MAX_TOLD { "..".to_string() } else { text }
    }

    /// The settings that remain for side questions, if there are any.
    pub(super) fn aside(&self) -> Option<Box<JudgementWatch>> {
        let fuel = self.fuel.clone();
        // A rule absent from the edition is absent from side questions, too.
        let wanted = fuel.is_some() || !self.absent.is_empty();
        wanted.then(|| Box::new(JudgementWatch { fuel, absent: self.absent, ..JudgementWatch::default() }))
    }

    /// Adds a step to the derivation, if one is collected. The step is constructed only then.
    pub(super) fn step(&mut self, step: impl FnOnce() -> DerivationStep) {
        if let Some(stack) = &mut self.trace
            && let Some(top) = stack.last_mut()
        {
            top.steps.push(step());
        }
    }

    pub(super) fn mistake_at(&self, rule: Rule) -> Option<Mistake> {
        self.row_mutant.filter(|mutant| mutant.rule == rule).map(|mutant| mutant.mistake)
    }
}

/// The rows whose conditions were tested. Only these can be affected by a [`RowMutant`].
#[derive(Clone, Copy, Debug, Default)]
pub struct RowsLookedAt {
    /// The rules of all these rows.
    pub rows: RuleSet,
    /// The rules of the rows that another row follows.
    pub followed: RuleSet,
    /// The rules of the rows that are kinds. Such a row can only be dropped.
    pub kinds: RuleSet,
}

/// A single mistake at the row of a rule, in a definition by cases or a list of conditions.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct RowMutant {
    /// The rule of the row.
    pub rule: Rule,
    /// The kind of mistake.
    pub mistake: Mistake,
}

/// A mistake about a row.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Mistake {
    /// The row is missing.
    Dropped,
    /// The row applies exactly where its condition does not hold.
    Negated,
    /// The row comes after the next row.
    Swapped,
}

impl Mistake {
    /// Every kind of mistake.
    pub const ALL: [Mistake; 3] = [Mistake::Dropped, Mistake::Negated, Mistake::Swapped];

    /// The name used in reports and tables.
    pub fn name(self) -> &'static str {
        match self {
            Mistake::Dropped => "dropped",
            Mistake::Negated => "negated",
            Mistake::Swapped => "swapped",
        }
    }
}
