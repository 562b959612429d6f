//! Inputs that are made: they satisfy what the source asserts, as far as a search finds such.

use std::collections::{BTreeMap, HashMap};

use super::compare::RefinementComparison;
use super::{Observed, RefineError, Unreached};
use crate::arguments::Draw;
use crate::book::Rule;
use crate::grammar::Function;
use crate::judge::{Ending, with_stack};
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
pub(super) fn on_generated(comparison: &mut RefinementComparison<'_>) -> Result<(), RefineError> {
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
            comparison.steps += args.iter().map(elements).sum::<u64>();
            let run = comparison.source_on(&args)?;
            ended = matches!(run.outcome, Ending::Value(_) | Ending::OutOfFuel);
            if ended || ways.is_new(&run) {
                comparison.on_run(&args, &run)?;
            } else if last.as_ref().is_none_or(|(_, known)| is_open(known)) {
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
    on_related(comparison, func)?;
    if comparison.is_broken() {
        return comparison.shrink();
    }
    towards_the_unreached(comparison, func)
}

/// Compares the programs on arguments that are related: they are not as many as others, and do not count as such.
fn on_related(comparison: &mut RefinementComparison<'_>, func: &Function) -> Result<(), RefineError> {
    let (arguments, runs) = (comparison.arguments.clone(), comparison.settings.runs);
    for args in arguments.related(func).take(runs) {
        if comparison.steps > comparison.settings.steps || comparison.is_broken() {
            break;
        }
        comparison.beside(&args)?;
    }
    Ok(())
}

/// Whether nothing can be said of a run.
fn is_open(run: &Observed) -> bool {
    matches!(run.outcome, Ending::Unspecified(_) | Ending::Unknown(_))
}

/// Selects the unreached parts to search inputs for.
type SideFilter = fn(&Unreached) -> bool;
/// Where it is looked for.
type InputCandidates<'a> = Box<dyn Iterator<Item = Vec<ValueSpec>> + 'a>;

/// Looks for inputs that reach what none has reached of either program: only such are compared.
fn towards_the_unreached(comparison: &mut RefinementComparison<'_>, func: &Function) -> Result<(), RefineError> {
    let arguments = comparison.arguments.clone();
    let runs = comparison.settings.runs;
    // A branch may hide behind anything.
    let more = (runs..runs.saturating_mul(1 + MORE))
        .filter_map(|index| arguments.for_function(func, &BTreeMap::new(), Draw { index, attempt: index % 2 }));
    let ways: [(SideFilter, InputCandidates<'_>); 2] = [
        (|part| matches!(part, Unreached::Branch { .. } | Unreached::Side { .. }), Box::new(arguments.directed(func))),
        (|part| matches!(part, Unreached::Branch { .. }), Box::new(more)),
    ];
    for (is_wanted, inputs) in ways {
        let open = |comparison: &RefinementComparison<'_>| {
            let (source, target) = comparison.unreached();
            (source.iter().any(is_wanted), target.iter().any(is_wanted))
        };
        let mut wanted = open(comparison);
        for args in inputs {
            if wanted == (false, false) || comparison.steps > comparison.settings.steps {
                break;
            }
            let before = comparison.reach.0.known();
            let run = comparison.source_on(&args)?;
            if comparison.reach.0.sides() > before.sides() || wanted.1 {
                comparison.try_on(&args, &run, &before)?;
                wanted = open(comparison);
            }
            if comparison.is_broken() {
                return comparison.shrink();
            }
        }
    }
    Ok(())
}

/// How many elements a value has: making them takes time too.
fn elements(value: &ValueSpec) -> u64 {
    if let ValueSpec::Tensor(data) = value {
        data.shape.iter().product()
    } else if let ValueSpec::Tuple(fields) = value {
        with_stack(|| fields.iter().map(elements).sum())
    } else {
        1
    }
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
