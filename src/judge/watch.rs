//! What is out of the ordinary about a run: rules that are switched off, mistakes that are made on purpose, and what is noted.

use std::any::Any;
use std::cell::RefCell;
use std::collections::BTreeSet;
use std::fmt;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use super::{Derivation, DerivationStep};
use crate::book::{Erratum, Rule, RuleSet};

/// What is switched off or mistaken, and what is noted beside the rules that are used.
#[derive(Clone, Debug, Default)]
pub(super) struct JudgementWatch {
    pub(super) mask: RuleSet,
    /// The rules of the edition that it is asked without.
    pub(super) absent: RuleSet,
    pub(super) row_mutant: Option<RowMutant>,
    /// The rows that were looked at, if anyone wants to know.
    pub(super) rows: Option<RowsLookedAt>,
    pub(super) made: MaskedFreshness,
    /// The errata that were asked after, if anyone wants to know; all that is asked aside notes them here too.
    pub(super) consulted: Option<Rc<RefCell<BTreeSet<Erratum>>>>,
    pub(super) trace: Option<Vec<Derivation>>,
    /// How long the operands and conclusions are that the derivations tell.
    pub(super) told: usize,
    /// The steps that are left, if they are counted; all that is asked aside takes its steps from them, too.
    pub(super) fuel: Option<Fuel>,
}

/// What masked rules of freshness have made ([`super::Instead`]).
#[derive(Clone, Debug, Default)]
pub struct MaskedFreshness(Vec<(Rule, Rc<dyn Any>)>);

impl MaskedFreshness {
    /// What a rule has made before that is like something new, or that one.
    pub fn before<T: Clone + 'static>(&mut self, rule: Rule, new: T, like: impl Fn(&T, &T) -> bool) -> T {
        let before = self.0.iter().filter(|(by, _)| *by == rule).filter_map(|(_, made)| made.downcast_ref::<T>());
        if let Some(known) = before.into_iter().find(|known| like(known, &new)).cloned() {
            return known;
        }
        self.0.push((rule, Rc::new(new.clone())));
        new
    }
}

/// How many bytes of operands and conclusions derivations tell at most.
const MAX_TOLD: usize = 4 << 20;

/// The steps that judgements may take: a rule that is applied, a premise that is tested, or a judgement that is asked is one. Whoever has a
/// copy takes from the same.
#[derive(Clone)]
pub struct Fuel {
    left: Arc<AtomicU64>,
    spent: Arc<dyn Fn() + Send + Sync>,
}

impl Fuel {
    /// So many steps. The one after the last calls `spent`, which need not return; if it does, the judgement goes on.
    pub fn new(steps: u64, spent: impl Fn() + Send + Sync + 'static) -> Fuel {
        Fuel { left: Arc::new(AtomicU64::new(steps)), spent: Arc::new(spent) }
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
    /// Whether a rule applies; a step of the derivation if so.
    #[cold]
    pub(super) fn fires(&mut self, rule: Rule) -> bool {
        self.burn();
        let applies = !self.mask.contains(rule);
        if applies {
            self.step(|| DerivationStep::Fired(rule));
        }
        applies
    }

    /// Whether the premise of a rule is tested; a step of the derivation if so.
    #[cold]
    pub(super) fn tests(&mut self, rule: Rule, n: usize, holds: bool) -> bool {
        self.burn();
        let tested = !self.mask.contains(rule);
        if tested {
            self.step(|| DerivationStep::Premise(rule, n, holds));
        }
        tested
    }

    /// Takes a step from those that are left.
    pub(super) fn burn(&self) {
        if let Some(fuel) = &self.fuel {
            fuel.burn();
        }
    }

    /// An operand or a conclusion, as derivations tell it: what each of many nested judgements is asked about repeats nearly all of what the one
    /// around it is.
    pub(super) fn told(&mut self, text: String) -> String {
        self.told = self.told.saturating_add(text.len());
        if self.told > MAX_TOLD { "..".to_string() } else { text }
    }

    /// What is still wanted where something is asked aside, if anything is.
    pub(super) fn aside(&self) -> Option<Box<JudgementWatch>> {
        let (consulted, fuel) = (self.consulted.clone(), self.fuel.clone());
        // What an edition lacks it lacks there too.
        let wanted = consulted.is_some() || fuel.is_some() || !self.absent.is_empty();
        wanted.then(|| Box::new(JudgementWatch { consulted, fuel, absent: self.absent, ..JudgementWatch::default() }))
    }

    /// Notes a step of a derivation, if one is collected; what is noted is made only then.
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

/// The rows whose conditions were looked at: what a [`RowMutant`] can make a difference to.
#[derive(Clone, Copy, Debug, Default)]
pub struct RowsLookedAt {
    /// All of them, by their rules.
    pub rows: RuleSet,
    /// Those among them that another row follows.
    pub followed: RuleSet,
    /// Those among them that have kinds for conditions, which can be missing and no more than that.
    pub kinds: RuleSet,
}

/// A definition by cases, or a list of conditions, with one mistake in it, at the row of a rule.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct RowMutant {
    /// The rule of the row.
    pub rule: Rule,
    /// What is wrong about it.
    pub mistake: Mistake,
}

/// What is wrong about a row.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Mistake {
    /// The row is missing.
    Dropped,
    /// It applies where its condition does not hold, and only there.
    Negated,
    /// It stands behind the next row.
    Swapped,
}

impl Mistake {
    /// Every mistake.
    pub const ALL: [Mistake; 3] = [Mistake::Dropped, Mistake::Negated, Mistake::Swapped];

    /// As in reports and tables.
    pub fn name(self) -> &'static str {
        match self {
            Mistake::Dropped => "dropped",
            Mistake::Negated => "negated",
            Mistake::Swapped => "swapped",
        }
    }
}
