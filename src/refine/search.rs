//! Inputs that are made: they satisfy what the source asserts, as far as a search finds such.

use std::collections::{BTreeMap, HashMap};

use super::compare::Comparison;
use super::{Observed, RefineError};
use crate::arguments::Draw;
use crate::book::Rule;
use crate::grammar::Function;
use crate::judge::Ending;
use crate::value::ValueSpec;

/// How often arguments are made for one input until the source reaches its end on them.
const ATTEMPTS: usize = 8;
/// So many inputs on which the source fails in one way are compared too: that it does is to be preserved.
const FAILS: usize = 3;
/// So many inputs are made though the runs take more steps than they should ..
const LEAST: usize = 12;
/// .. but for so many times as many steps.
const MOST: u64 = 4;
/// So many times as many inputs are tried where a branch was not reached.
const MORE: usize = 3;

/// Compares the programs on generated inputs, until one tells them apart.
pub(super) fn on_generated(comparison: &mut Comparison<'_>) -> Result<(), RefineError> {
    let entry = comparison.source.entry;
    let func = comparison.source.function().ok_or_else(|| RefineError::Entry(entry.to_string()))?;
    let mut ways = Ways::default();
    for index in 0..comparison.settings.runs {
        let (steps, limit) = (comparison.steps, comparison.settings.steps);
        if steps > limit.saturating_mul(MOST) || index >= LEAST && steps > limit {
            break;
        }
        let mut last: Option<(Vec<ValueSpec>, Observed)> = None;
        let (mut made, mut ended) = (false, false);
        for attempt in 0..ATTEMPTS {
            let arguments = &comparison.arguments;
            let Some(args) = arguments.for_function(func, &BTreeMap::new(), Draw { index, attempt }) else { continue };
            made = true;
            let run = comparison.source_on(&args)?;
            ended = matches!(run.outcome, Ending::Value(_) | Ending::OutOfFuel);
            if ended || ways.is_new(&run) {
                comparison.on_run(&args, &run)?;
            } else if last.as_ref().is_none_or(|(_, known)| matches!(known.outcome, Ending::Unspecified(_))) {
                // An error is told sooner than what nothing is said of.
                last = Some((args, run));
            }
            if ended || comparison.is_broken() {
                break;
            }
        }
        match last {
            Some((args, run)) if !ended && !comparison.is_broken() => comparison.on_run(&args, &run)?,
            None if !made => return Err(RefineError::Arguments(entry.to_string())),
            Some(_) | None => {}
        }
        if comparison.is_broken() {
            return comparison.shrink();
        }
    }
    towards_branches(comparison, func)
}

/// Looks for inputs that reach a branch of either program which none has reached: only such are compared.
fn towards_branches(comparison: &mut Comparison<'_>, func: &Function) -> Result<(), RefineError> {
    let runs = comparison.settings.runs;
    let mut open = comparison.open_branches();
    for index in runs..runs.saturating_mul(1 + MORE) {
        if open == (false, false) || comparison.steps > comparison.settings.steps {
            break;
        }
        let draw = Draw { index, attempt: index % 2 };
        let Some(args) = comparison.arguments.for_function(func, &BTreeMap::new(), draw) else { continue };
        let taken = comparison.reach.0.branches();
        let run = comparison.source_on(&args)?;
        if comparison.reach.0.branches() > taken || open.1 {
            comparison.on_run(&args, &run)?;
            open = comparison.open_branches();
        }
        if comparison.is_broken() {
            return comparison.shrink();
        }
    }
    Ok(())
}

/// The ways in which the source was seen to fail: the clause, where it stands, and after how many effects.
#[derive(Default)]
struct Ways(HashMap<(Rule, bool, usize), usize>);

impl Ways {
    /// Whether the run fails in a way that was seen seldom.
    fn is_new(&mut self, run: &Observed) -> bool {
        let Ending::Error(error) = &run.outcome else { return false };
        let seen = self.0.entry((error.rule, run.in_dataflow_block, run.effects.len())).or_default();
        *seen += 1;
        *seen <= FAILS
    }
}
