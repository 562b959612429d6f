//! The answers to the questions about running: `MatchValue`, `Evaluate` and `Refine`.

use std::collections::BTreeMap;
use std::rc::Rc;

use super::NoAnswer;
use crate::derivation::inferred_results;
use crate::eval::{Options, default_entry, evaluate, match_value};
use crate::grammar::{IrModule, ShapeVar, StructInfo};
use crate::judge::{Cx, Ending};
use crate::question::{self, MatchAnswer, RunAnswer};
use crate::refine::{Settings, Verdict, refine};
use crate::value::{Stop, Value, ValueSpec, Worker, from_spec, from_specs, to_spec, to_spec_with_identity, workers};

/// `match(v, S, sigma)`: all shape variables that are bound afterwards, or the rule that failed.
pub fn answer_match_value(
    cx: &mut Cx,
    value: &ValueSpec,
    s: &StructInfo,
    sigma: &BTreeMap<ShapeVar, i64>,
) -> Result<MatchAnswer, NoAnswer> {
    let options = Options::default();
    let v = from_spec(value, &[], &options.registry).map_err(|error| NoAnswer::Unreadable(error.to_string()))?;
    match match_value(cx, &v, s, sigma, &options) {
        Ok(bound) => Ok(MatchAnswer::Matches(bound)),
        Err(Stop::Error(error)) => Ok(MatchAnswer::Fails(error.rule)),
        Err(Stop::OutOfFuel) => Err(NoAnswer::OutOfBudget("the value is too large".into())),
        Err(Stop::Unspecified(reason)) => Err(NoAnswer::Undecided(reason)),
    }
}

/// Runs an entry point on arguments; an empty name stands for none (MOD.MAIN). The program is taken as it is, without
/// static checks.
pub fn answer_evaluate(cx: &mut Cx, module: &IrModule, entry: &str, args: &[ValueSpec]) -> Result<RunAnswer, NoAnswer> {
    answer_run(cx, module, entry, args, None, |value, _| to_spec(value))
}

/// Runs an entry point by several workers together, each on arguments of its own; their answers, in order.
pub fn answer_evaluate_together(
    module: &IrModule,
    entry: &str,
    args: &[Vec<ValueSpec>],
) -> Vec<Result<RunAnswer, NoAnswer>> {
    let run = |worker: Worker, args: &[ValueSpec]| {
        answer_run(&mut Cx::new(), module, entry, args, Some(worker), |value, _| to_spec(value))
    };
    let fallen = || Err(NoAnswer::Undecided("a worker has fallen".to_string()));
    std::thread::scope(|scope| {
        let seats = workers(args.len()).into_iter().zip(args);
        // All of them begin before the first is waited for.
        let running: Vec<_> = seats.map(|(worker, args)| scope.spawn(move || run(worker, args))).collect();
        running.into_iter().map(|running| running.join().unwrap_or_else(|_| fallen())).collect()
    })
}

/// As [`answer_evaluate`], but a tensor or object in the result that is an argument is told as that argument.
pub fn answer_evaluate_identity(
    cx: &mut Cx,
    module: &IrModule,
    entry: &str,
    args: &[ValueSpec],
) -> Result<RunAnswer, NoAnswer> {
    answer_run(cx, module, entry, args, None, to_spec_with_identity)
}

fn answer_run(
    cx: &mut Cx,
    module: &IrModule,
    entry: &str,
    args: &[ValueSpec],
    worker: Option<Worker>,
    describe: impl FnOnce(&Value, &[Value]) -> Result<ValueSpec, Stop>,
) -> Result<RunAnswer, NoAnswer> {
    let worker = worker.map(Rc::new);
    let options = Options { results: inferred_results(cx, module), worker, ..Options::default() };
    let args = from_specs(args, &options.registry).map_err(|error| NoAnswer::Unreadable(error.to_string()))?;
    let named = if entry.is_empty() { default_entry(cx, module) } else { Ok(entry.into()) };
    let entry = match &named {
        Ok(entry) => entry,
        Err(error) => return Ok(RunAnswer::Fails(error.rule, Vec::new())),
    };
    let run = evaluate(cx, module, entry, args.clone(), &options);
    Ok(match run.outcome {
        Ending::Value(value) => match describe(&value, &args) {
            Ok(spec) => RunAnswer::Returns(spec, run.effects),
            Err(Stop::Error(_) | Stop::OutOfFuel | Stop::Unspecified(_)) => RunAnswer::Unspecified,
        },
        Ending::Error(error) => RunAnswer::Fails(error.rule, run.effects),
        Ending::OutOfFuel => RunAnswer::OutOfFuel,
        Ending::Unspecified(_) => RunAnswer::Unspecified,
    })
}

/// Whether the target does on these inputs only what an optimizer may make of the source (OPT.GENERAL).
pub fn answer_refine(
    cx: &mut Cx,
    source: &IrModule,
    target: &IrModule,
    entry: &str,
    inputs: &[Vec<ValueSpec>],
) -> Result<question::Verdict, NoAnswer> {
    let refinement = refine(cx, source, target, entry, inputs, &Settings::runs(0));
    let refinement = refinement.map_err(|error| NoAnswer::Unreadable(error.to_string()))?;
    match refinement.verdict {
        Verdict::Allowed | Verdict::Vacuous(_) => Ok(question::Verdict::Accepted),
        Verdict::NotAllowed { rule, .. } => Ok(question::Verdict::Rejected(vec![rule])),
        Verdict::Undecided(reason) => Err(NoAnswer::Undecided(reason)),
        Verdict::OutOfBudget(reason) => Err(NoAnswer::OutOfBudget(reason)),
    }
}
