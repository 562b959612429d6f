//! Generated inputs, which satisfy the assertions of the source as far as a search finds such inputs.

use std::collections::{BTreeMap, HashMap};

use super::compare::RefinementComparison;
use super::{Observed, RefineError, Unreached};
use crate::arguments::Draw;
use crate::book::Rule;
use crate::grammar::Function;
use crate::judge::{Ending, with_stack};
use crate::value::ValueSpec;

/// How often arguments are generated for one input until the source reaches its end on them.
const ATTEMPTS: usize = 8;
/// How many inputs on which the source fails in the same way are compared: the target must fail too.
const FAILS: usize = 3;
/// This many inputs are generated even if the runs exceed their steps ..
const LEAST: usize = 12;
/// .. up to this multiple of the steps.
const MOST: u64 = 3;
/// This many times as many inputs are tried if a branch was not reached.
const MORE: usize = 3;

/// Compares the programs on generated inputs, until they differ on one.
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
            let Some(args) = comparison.generated(func, Draw { index, attempt }) else { continue };
            made = true;
            comparison.steps += args.iter().map(elements).sum::<u64>();
            let run = comparison.source_on(&args)?;
            ended = matches!(run.outcome, Ending::Value(_) | Ending::OutOfFuel);
            if ended || ways.is_new(&run) {
                comparison.on_run(&args, &run)?;
            } else if last.as_ref().is_none_or(|(_, known)| is_open(known)) {
                // A failing run is a better input than one with an unspecified result.
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

/// How many inputs are tried ahead: large programs run on few.
const AHEAD: usize = 2;

/// Runs the source on the first inputs, plain and with noise.
pub(super) fn run_first(comparison: &mut RefinementComparison<'_>) -> Result<(), RefineError> {
    let Some(func) = comparison.source.function() else { return Ok(()) };
    for index in 0..AHEAD {
        if let Some(args) = comparison.generated(func, Draw { index, attempt: 0 }) {
            comparison.explain_ahead(&args)?;
        }
    }
    Ok(())
}

/// Compares the programs on arguments that are related to each other; they are few, and do not count as inputs.
fn on_related(comparison: &mut RefinementComparison<'_>, func: &Function) -> Result<(), RefineError> {
    let (arguments, runs) = (comparison.arguments.clone(), comparison.settings.runs);
    let mut related = arguments.related(func).take(runs);
    // Arguments are not made where there are no steps left for them.
    while comparison.steps <= comparison.settings.steps && !comparison.is_broken() {
        let Some(args) = related.next() else { break };
        comparison.beside(&args)?;
    }
    Ok(())
}

/// Whether the semantics leaves the result of a run open.
fn is_open(run: &Observed) -> bool {
    matches!(run.outcome, Ending::Unspecified(_) | Ending::Unknown(_))
}

/// Selects the unreached parts to search inputs for.
type SideFilter = fn(&Unreached) -> bool;
/// The inputs to try.
type InputCandidates<'a> = Box<dyn Iterator<Item = Vec<ValueSpec>> + 'a>;

/// Searches for inputs that reach unreached parts of either program; only such inputs are compared.
fn towards_the_unreached(comparison: &mut RefinementComparison<'_>, func: &Function) -> Result<(), RefineError> {
    let arguments = comparison.arguments.clone();
    let runs = comparison.settings.runs;
    // A branch may depend on anything.
    let more = (runs..runs.saturating_mul(1 + MORE))
        .filter_map(|index| arguments.for_function(func, &BTreeMap::new(), Draw { index, attempt: index % 2 }));
    let ways: [(SideFilter, InputCandidates<'_>); 2] = [
        (|part| matches!(part, Unreached::Branch { .. } | Unreached::Side { .. }), Box::new(arguments.directed(func))),
        (|part| matches!(part, Unreached::Branch { .. }), Box::new(more)),
    ];
    for (is_wanted, mut inputs) in ways {
        let open = |comparison: &RefinementComparison<'_>| {
            let (source, target) = comparison.unreached();
            (source.iter().any(is_wanted), target.iter().any(is_wanted))
        };
        let mut wanted = open(comparison);
        while wanted != (false, false) && comparison.steps <= comparison.settings.steps {
            let Some(args) = inputs.next() else { break };
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

/// How many elements a value has, because generating them takes time too.
pub(super) fn elements(value: &ValueSpec) -> u64 {
    if let ValueSpec::Tensor(data) = value {
        data.shape.iter().product()
    } else if let ValueSpec::Tuple(fields) = value {
        with_stack(|| fields.iter().map(elements).sum())
    } else {
        1
    }
}

/// The ways in which the source failed: the clause, whether inside of a dataflow block, and after how many effects.
#[derive(Default)]
struct Ways(HashMap<(Rule, bool, usize), usize>);

impl Ways {
    /// Whether the run fails in a way that was seen seldom before.
    fn is_new(&mut self, run: &Observed) -> bool {
        let Ending::Error(error) = &run.outcome else { return false };
        let seen = self.0.entry((error.rule, run.in_dataflow_block, run.effects.len())).or_default();
        *seen += 1;
        *seen <= FAILS
    }
}
