//! Knock-out: whether the suite notices that a rule is switched off, or that a definition by cases has a mistake.
//!
//! Every rule is switched off for the whole suite. A case that does not record a rule cannot depend on it, because
//! recording and masking are the same operation ([`Cx::fire`]). So only the cases that record the rule in some reading
//! run again. [`Baseline::depends_on_more_than_it_records`] checks this assumption.

use std::collections::{BTreeMap, BTreeSet};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::Case;
use super::compare::CaseVerdict;
use super::coverage::{Asking, Execution, execute_in_its_readings};
use crate::book::{Rule, RuleSet};
use crate::judge::{Cx, Fuel, Mistake, RowMutant, RowsLookedAt, with_stack};
use crate::question::{Answer, Derived, DimAnswer, MatchAnswer, Outcome, ReadAnswer, RunAnswer, Verdict};

/// The rules whose absence nothing can detect, with the reason.
const REDUNDANT: &str = include_str!("../../spec/redundant.ron");
/// The rules without which there is no answer at all, not even a plausible wrong one.
const STUCK: &str = include_str!("../../spec/stuck.ron");
/// The mistakes in definitions by cases that make no difference, with the reason.
const EQUIVALENT_ROWS: &str = include_str!("../../spec/equivalent_rows.ron");

/// The maximum number of judgement steps of a case in one edition and reading with a rule switched off. If twice the
/// steps with all rules are more, they are the limit. Of the terminating cases one takes 42,100 steps, and all others
/// far fewer. Without the condition that ends a recursion there would be millions.
pub const STEPS: u64 = 100_000;

/// The effect of switching a rule off.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Shows {
    /// Some case makes the oracle panic, which is a defect of ours.
    Panics,
    /// Some case gets a different answer.
    Flips,
    /// Some case gets no answer any more, and none gets a different one.
    Stuck,
    /// Every case gives the same answer.
    Survives,
    /// No case records the rule.
    NoCase,
}

impl Shows {
    /// In the order of precedence: one panic outweighs all flips.
    pub const ALL: [Shows; 5] = [Shows::Panics, Shows::Flips, Shows::Stuck, Shows::Survives, Shows::NoCase];

    /// The name in reports.
    pub fn name(self) -> &'static str {
        match self {
            Shows::Panics => "panics",
            Shows::Flips => "flips",
            Shows::Stuck => "stuck",
            Shows::Survives => "survives",
            Shows::NoCase => "no case",
        }
    }
}

/// The cases that were asked without a rule, by the effect.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Knockout<'s> {
    /// They get a different answer.
    pub flips: Vec<&'s str>,
    /// They get no answer any more.
    pub stuck: Vec<&'s str>,
    /// They make the oracle panic.
    pub panics: Vec<&'s str>,
    /// They get the same answer.
    pub same: Vec<&'s str>,
}

impl Knockout<'_> {
    /// The effect on all cases together: the first of [`Shows::ALL`] that occurs.
    pub fn shows(&self) -> Shows {
        match (self.panics.is_empty(), self.flips.is_empty(), self.stuck.is_empty(), self.same.is_empty()) {
            (false, _, _, _) => Shows::Panics,
            (true, false, _, _) => Shows::Flips,
            (true, true, false, _) => Shows::Stuck,
            (true, true, true, false) => Shows::Survives,
            (true, true, true, true) => Shows::NoCase,
        }
    }
}

/// The effect of a change in the oracle on one case.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum KnockoutEffect {
    Same,
    Stuck,
    Flip,
    Panic,
}

/// The cases that pass with all rules, and the rules and rows they use.
pub struct Baseline<'s> {
    cases: Vec<Passing<'s>>,
}

struct Passing<'s> {
    case: &'s Case,
    /// The rules recorded in any of its editions and readings; the rows likewise.
    recorded: RuleSet,
    rows: RowsLookedAt,
    /// The maximum number of steps.
    steps: u64,
}

/// The panic payload of a judgement that has used up its steps.
struct Spent;

/// The reason why a judgement with a mistake in it did not finish.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum NoEnd {
    /// It used up its steps.
    Spent,
    /// It panicked.
    Panic,
}

/// Runs a question in a context with a limited number of steps.
///
/// # Errors
///
/// It needs more steps, or panics.
pub fn within<T>(steps: u64, cx: &Cx, ask: impl FnOnce(&Cx) -> T) -> Result<T, NoEnd> {
    let cx = cx.clone().with_fuel(Fuel::new(steps, || resume_unwind(Box::new(Spent))));
    let asked = catch_unwind(AssertUnwindSafe(|| with_stack(|| ask(&cx))));
    asked.map_err(|cause| if cause.is::<Spent>() { NoEnd::Spent } else { NoEnd::Panic })
}

impl<'s> Baseline<'s> {
    /// Asks every case with every rule on, and keeps those that pass.
    pub fn of(suite: &'s [Case]) -> Baseline<'s> {
        Baseline { cases: suite.par_iter().filter_map(Passing::of).collect() }
    }

    /// Asks the cases that record the rule without it.
    pub fn knock_out(&self, rule: Rule) -> Knockout<'s> {
        let cx = Cx::new().with_mask(RuleSet::from_iter([rule]));
        let mut knockout = Knockout::default();
        for passing in self.ending().filter(|passing| passing.recorded.contains(rule)) {
            let cases = match passing.effect(&cx, rule) {
                KnockoutEffect::Same => &mut knockout.same,
                KnockoutEffect::Stuck => &mut knockout.stuck,
                KnockoutEffect::Flip => &mut knockout.flips,
                KnockoutEffect::Panic => &mut knockout.panics,
            };
            cases.push(&passing.case.id);
        }
        knockout
    }

    /// The cases whose run ends. One that never ends records most rules of evaluation, and takes as long as a thousand
    /// others; and what it shows of a rule, the cases that end show too.
    fn ending(&self) -> impl Iterator<Item = &Passing<'s>> {
        let ends = |passing: &&Passing| !passing.case.allow.contains(&Answer::Run(RunAnswer::OutOfFuel));
        self.cases.iter().filter(ends)
    }

    /// The cases that answer differently when every rule that they do not record is switched off. There must be none.
    pub fn depends_on_more_than_it_records(&self) -> Vec<&'s str> {
        let others = |recorded: &RuleSet| Rule::ALL.iter().copied().filter(|rule| !recorded.contains(*rule)).collect();
        let depends = |passing: &&Passing<'s>| {
            let cx = Cx::new().with_mask(others(&passing.recorded));
            !execute_in_its_readings(passing.case, &cx).all(|execution| agrees(&execution))
        };
        self.cases.par_iter().filter(depends).map(|passing| passing.case.id.as_str()).collect()
    }

    /// All mistakes that can be made in a row that some case examines. The last row of a definition cannot be swapped
    /// with the next, and a kind cannot be negated.
    pub fn row_mutants(&self) -> BTreeSet<RowMutant> {
        // A rule that succeeds another one has the same row. The mistakes are made under the id of the older rule.
        let own = |rule: &Rule| rule.info().succeeds.is_empty();
        let looked_at: BTreeSet<Rule> =
            self.cases.iter().flat_map(|passing| passing.rows.rows.iter()).filter(own).collect();
        let followed: BTreeSet<Rule> = self.cases.iter().flat_map(|passing| passing.rows.followed.iter()).collect();
        let kinds: BTreeSet<Rule> = self.cases.iter().flat_map(|passing| passing.rows.kinds.iter()).collect();
        let possible = |mutant: &RowMutant| match mutant.mistake {
            Mistake::Dropped => true,
            Mistake::Negated => !kinds.contains(&mutant.rule),
            Mistake::Swapped => followed.contains(&mutant.rule),
        };
        let mistakes = |rule: Rule| Mistake::ALL.map(|mistake| RowMutant { rule, mistake });
        looked_at.into_iter().flat_map(mistakes).filter(possible).collect()
    }

    /// A case that detects the mistake, by a different answer or none.
    pub fn killer(&self, mutant: RowMutant) -> Option<&'s str> {
        let cx = Cx::new().with_row_mutant(mutant);
        let mut concerned = self.ending().filter(|passing| passing.rows.rows.contains(mutant.rule));
        // A mistake that makes the oracle panic is detected too.
        let killer = concerned.find(|passing| passing.effect(&cx, mutant.rule) != KnockoutEffect::Same)?;
        Some(&killer.case.id)
    }

    /// Makes each mistake in turn.
    pub fn make_each_mistake(&self) -> BTreeMap<RowMutant, Option<&'s str>> {
        let mutants: Vec<RowMutant> = self.row_mutants().into_iter().collect();
        mutants.into_par_iter().with_max_len(1).map(|mutant| (mutant, self.killer(mutant))).collect()
    }
}

impl<'s> Passing<'s> {
    /// `None` if the case does not pass.
    fn of(case: &'s Case) -> Option<Passing<'s>> {
        let mut passing = Passing { case, recorded: RuleSet::new(), rows: RowsLookedAt::default(), steps: STEPS };
        for asking in Asking::all_of(case) {
            let taken = Arc::new(AtomicU64::new(0));
            let count = taken.clone();
            let fuel = Fuel::new(0, move || {
                count.fetch_add(1, Ordering::Relaxed);
            });
            let execution = asking.execute(&Cx::new().with_rows_noted().with_fuel(fuel))?;
            passing.steps = passing.steps.max(2 * taken.load(Ordering::Relaxed));
            if !agrees(&execution) {
                return None;
            }
            passing.recorded.extend(execution.recorded.iter());
            passing.rows.rows.extend(execution.rows.rows.iter());
            passing.rows.followed.extend(execution.rows.followed.iter());
            passing.rows.kinds.extend(execution.rows.kinds.iter());
        }
        Some(passing)
    }

    /// The worst effect in any edition and reading of the case.
    fn effect(&self, cx: &Cx, rule: Rule) -> KnockoutEffect {
        let askings = Asking::all_of(self.case);
        askings.into_iter().map(|asking| self.effect_of(asking, cx, rule)).max().unwrap_or(KnockoutEffect::Same)
    }

    fn effect_of(&self, asking: Asking<'s>, cx: &Cx, rule: Rule) -> KnockoutEffect {
        match within(self.steps, cx, |cx| asking.execute(cx)) {
            Ok(execution) => execution.map_or(KnockoutEffect::Same, |execution| effect_on(&execution, rule)),
            Err(NoEnd::Spent) => KnockoutEffect::Stuck,
            Err(NoEnd::Panic) => KnockoutEffect::Panic,
        }
    }
}

fn agrees(execution: &Execution) -> bool {
    execution.comparison.verdict == CaseVerdict::Agree
}

fn effect_on(execution: &Execution, rule: Rule) -> KnockoutEffect {
    if matches!(execution.comparison.verdict, CaseVerdict::Agree | CaseVerdict::Vacuous) {
        KnockoutEffect::Same
    } else if let Outcome::Answer { answer, warnings: _ } = &execution.outcome
        && is_answer_without(answer, rule)
    {
        KnockoutEffect::Flip
    } else {
        KnockoutEffect::Stuck
    }
}

/// Whether an answer is meaningful. An answer that blames the rule that was switched off only shows that a judgement
/// could not continue. A run that never ends, or that the text does not specify, has no answer.
pub fn is_answer_without(answer: &Answer, rule: Rule) -> bool {
    if let Answer::Verdict(Verdict::Rejected(rules)) | Answer::Read(ReadAnswer::Rejected(rules)) = answer {
        return !rules.contains(&rule);
    }
    if let Answer::Derived(Derived::Rejected(blamed))
    | Answer::Dim(DimAnswer::Fails(blamed))
    | Answer::Match(MatchAnswer::Fails(blamed))
    | Answer::Run(RunAnswer::Fails(blamed, _)) = answer
    {
        return *blamed != rule;
    }
    !matches!(answer, Answer::Run(RunAnswer::OutOfFuel | RunAnswer::Unspecified))
}

/// The numbers of rules of a chapter, by effect.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Figures {
    counts: [usize; Shows::ALL.len()],
}

impl Figures {
    /// Counts one rule.
    pub fn count(&mut self, shows: Shows) {
        self.counts[shows as usize] += 1;
    }

    /// The number of rules with this effect.
    pub fn of(&self, shows: Shows) -> usize {
        self.counts[shows as usize]
    }

    /// The number of rules that some case records.
    pub fn with_cases(&self) -> usize {
        Shows::ALL.iter().filter(|shows| **shows != Shows::NoCase).map(|shows| self.of(*shows)).sum()
    }
}

/// Rules, each with the reason for its place in the list.
pub type Reasons = BTreeMap<Rule, String>;

/// The rules whose absence nothing can detect, with the reason: `spec/redundant.ron`.
pub fn redundant() -> Result<Reasons, ron::error::SpannedError> {
    ron::from_str(REDUNDANT)
}

/// The rules without which there is no answer, right or wrong, with the reason: `spec/stuck.ron`.
pub fn stuck() -> Result<Reasons, ron::error::SpannedError> {
    ron::from_str(STUCK)
}

/// Mistakes that make no difference, for the same reason.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EquivalentRows {
    /// The reason.
    pub why: String,
    #[serde(default)]
    dropped: Vec<Rule>,
    #[serde(default)]
    negated: Vec<Rule>,
    #[serde(default)]
    swapped: Vec<Rule>,
}

impl EquivalentRows {
    /// The mistakes, one for each listed rule.
    pub fn mutants(&self) -> impl Iterator<Item = RowMutant> {
        let of = |mistake: Mistake, rules: &[Rule]| {
            rules.iter().map(|rule| RowMutant { rule: *rule, mistake }).collect::<Vec<RowMutant>>()
        };
        [(Mistake::Dropped, &self.dropped), (Mistake::Negated, &self.negated), (Mistake::Swapped, &self.swapped)]
            .into_iter()
            .flat_map(move |(mistake, rules)| of(mistake, rules))
    }
}

/// The mistakes in definitions by cases that make no difference: `spec/equivalent_rows.ron`.
pub fn equivalent_rows() -> Result<Vec<EquivalentRows>, ron::error::SpannedError> {
    ron::from_str(EQUIVALENT_ROWS)
}
