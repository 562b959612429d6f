//! The answers to the questions about running: `MatchValue`, `Evaluate` and `Refine`.

use std::collections::BTreeMap;
use std::rc::Rc;

use super::{Engine, NoAnswer};
use crate::book::{Edition, Reading};
use crate::derivation::inferred_results;
use crate::eval::{EvalOptions, default_entry, evaluate, match_value, prelude};
use crate::grammar::{IrModule, ShapeVar, StructInfo};
use crate::judge::{Cx, Ending};
use crate::question::{self, MatchAnswer, RunAnswer, TrialAnswer};
use crate::refine::{RefinementVerdict, Settings, refine};
use crate::value::{
    Effect, Stop, Value, ValueSpec, Worker, from_spec, from_specs, to_spec, to_spec_with_identity, workers,
};
use crate::vm;

/// The reason for no answer if a run returns a value that cannot be inspected.
pub const UNSEEN: &str = "a value that cannot be looked into";

/// `match(v, S, sigma)`: all shape variables that are bound afterwards, or the rule that failed.
pub fn answer_match_value(
    cx: &mut Cx,
    value: &ValueSpec,
    s: &StructInfo,
    sigma: &BTreeMap<ShapeVar, i64>,
) -> Result<MatchAnswer, NoAnswer> {
    let options = EvalOptions::default();
    let v = from_spec(value, &[], &options.registry).map_err(|error| NoAnswer::Unreadable(error.to_string()))?;
    match match_value(cx, &v, s, sigma, &options) {
        Ok(bound) => Ok(MatchAnswer::Matches(bound)),
        Err(Stop::Error(error)) => Ok(MatchAnswer::Fails(error.rule)),
        Err(Stop::OutOfFuel) => Err(NoAnswer::OutOfBudget("the value is too large".into())),
        Err(Stop::Unspecified(reason)) => Err(NoAnswer::Undecided(reason)),
        Err(Stop::Unknown(what)) => Err(NoAnswer::Unknown(what)),
    }
}

/// Runs an entry point on arguments; an empty name stands for none (MOD.MAIN). The program is taken as it is, without
/// static checks.
pub fn answer_evaluate(cx: &mut Cx, module: &IrModule, entry: &str, args: &[ValueSpec]) -> Result<RunAnswer, NoAnswer> {
    answer_evaluate_by(cx, Engine::Evaluator, module, entry, args)
}

/// As [`answer_evaluate`], by one of the two engines.
pub fn answer_evaluate_by(
    cx: &mut Cx,
    engine: Engine,
    module: &IrModule,
    entry: &str,
    args: &[ValueSpec],
) -> Result<RunAnswer, NoAnswer> {
    answer_run(cx, By { engine, worker: None }, module, entry, args, |value, _| to_spec(value))
}

/// Runs an entry point by several workers together, each on arguments of its own; their answers, in order.
pub fn answer_evaluate_together(
    edition: Edition,
    reading: &Reading,
    module: &IrModule,
    entry: &str,
    args: &[Vec<ValueSpec>],
) -> Vec<Result<RunAnswer, NoAnswer>> {
    let run = |worker: Worker, args: &[ValueSpec]| {
        let by = By { engine: Engine::Evaluator, worker: Some(worker) };
        let mut cx = Cx::new().with_edition(edition).with_reading(reading.clone());
        answer_run(&mut cx, by, module, entry, args, |value, _| to_spec(value))
    };
    let fallen = || Err(NoAnswer::Undecided("a worker has fallen".to_string()));
    std::thread::scope(|scope| {
        let seats = workers(args.len()).into_iter().zip(args);
        // All of them begin before the first is waited for.
        let running: Vec<_> = seats.map(|(worker, args)| scope.spawn(move || run(worker, args))).collect();
        running.into_iter().map(|running| running.join().unwrap_or_else(|_| fallen())).collect()
    })
}

/// Like [`answer_evaluate`], but a tensor or object in the result that is one of the arguments is reported as that
/// argument.
pub fn answer_evaluate_identity(
    cx: &mut Cx,
    engine: Engine,
    module: &IrModule,
    entry: &str,
    args: &[ValueSpec],
) -> Result<RunAnswer, NoAnswer> {
    answer_run(cx, By { engine, worker: None }, module, entry, args, to_spec_with_identity)
}

/// R89.VM.EQUIV: runs a program on the virtual machine after it was built, written and read back. The answer must be
/// that of its evaluation.
pub fn answer_evaluate_compiled(
    cx: &mut Cx,
    module: &IrModule,
    entry: &str,
    args: &[ValueSpec],
) -> Result<RunAnswer, NoAnswer> {
    let executable = vm::build(cx, module);
    let read = vm::read(&vm::print(&executable)).map_err(|error| NoAnswer::Unreadable(error.to_string()))?;
    let executable = cx.conclude(rule!("R89.API.ASTEXT"), read);
    if let Some(fault) = vm::verify(&executable).first() {
        return Err(NoAnswer::Unreadable(fault.to_string()));
    }
    let args = from_specs(args, &prelude()).map_err(|error| NoAnswer::Unreadable(error.to_string()))?;
    let run = vm::run(cx, &executable, entry, args.clone(), &vm::VmOptions::new(prelude()));
    let ended = Ended { outcome: run.outcome, effects: run.effects };
    let answer = answer_of(ended, &args, to_spec_with_identity)?;
    Ok(cx.conclude(rule!("R89.VM.EQUIV"), answer))
}

/// The engine and the worker that run a program.
struct By {
    engine: Engine,
    /// The place of the worker, if several run together.
    worker: Option<Worker>,
}

/// How a run ended, and its effects.
struct Ended {
    outcome: Ending<Value>,
    effects: Vec<Effect>,
}

fn answer_run(
    cx: &mut Cx,
    by: By,
    module: &IrModule,
    entry: &str,
    args: &[ValueSpec],
    describe: impl FnOnce(&Value, &[Value]) -> Result<ValueSpec, Stop>,
) -> Result<RunAnswer, NoAnswer> {
    let args = from_specs(args, &prelude()).map_err(|error| NoAnswer::Unreadable(error.to_string()))?;
    let named = if entry.is_empty() { default_entry(cx, module) } else { Ok(entry.into()) };
    let entry = match &named {
        Ok(entry) => entry,
        Err(error) => return Ok(RunAnswer::Fails(error.rule, Vec::new())),
    };
    let run = ended(cx, by, module, entry, args.clone());
    answer_of(run, &args, describe)
}

/// The answers of the runs of a program, one for each input, in order.
pub fn answer_trial(
    cx: &mut Cx,
    engine: Engine,
    module: &IrModule,
    entry: &str,
    inputs: &[Vec<ValueSpec>],
) -> Result<Vec<TrialAnswer>, NoAnswer> {
    inputs.iter().map(|input| trial(cx, engine, module, entry, input)).collect()
}

fn trial(
    cx: &mut Cx,
    engine: Engine,
    module: &IrModule,
    entry: &str,
    input: &[ValueSpec],
) -> Result<TrialAnswer, NoAnswer> {
    let args = from_specs(input, &prelude()).map_err(|error| NoAnswer::Unreadable(error.to_string()))?;
    let run = ended(cx, By { engine, worker: None }, module, entry, args.clone());
    Ok(match run.outcome {
        Ending::Value(value) => {
            match (to_spec(&value), args.iter().map(to_spec).collect::<Result<Vec<ValueSpec>, Stop>>()) {
                (Ok(value), Ok(args)) => TrialAnswer::Returns(value, args, run.effects),
                (Err(_), _) | (_, Err(_)) => TrialAnswer::Open(UNSEEN.to_string()),
            }
        }
        Ending::Error(error) => TrialAnswer::Fails(error.to_string(), run.effects),
        Ending::OutOfFuel => TrialAnswer::Open("out of fuel".to_string()),
        Ending::Unspecified(reason) | Ending::Unknown(reason) => TrialAnswer::Open(reason),
    })
}

/// The answer for a run that has ended.
fn answer_of(
    run: Ended,
    args: &[Value],
    describe: impl FnOnce(&Value, &[Value]) -> Result<ValueSpec, Stop>,
) -> Result<RunAnswer, NoAnswer> {
    Ok(match run.outcome {
        Ending::Value(value) => match describe(&value, args) {
            Ok(spec) => RunAnswer::Returns(spec, run.effects),
            Err(Stop::Unknown(what)) => return Err(NoAnswer::Unknown(what)),
            Err(Stop::Error(_) | Stop::OutOfFuel | Stop::Unspecified(_)) => RunAnswer::Unspecified,
        },
        Ending::Error(error) => RunAnswer::Fails(error.rule, run.effects),
        Ending::OutOfFuel => RunAnswer::OutOfFuel,
        Ending::Unspecified(_) => RunAnswer::Unspecified,
        Ending::Unknown(what) => return Err(NoAnswer::Unknown(what)),
    })
}

/// Runs a program with one of the engines.
fn ended(cx: &mut Cx, By { engine, worker }: By, module: &IrModule, entry: &str, args: Vec<Value>) -> Ended {
    let worker = worker.map(Rc::new);
    match engine {
        Engine::Evaluator => {
            let options = EvalOptions { results: inferred_results(cx, module), worker, ..EvalOptions::default() };
            let run = evaluate(cx, module, entry, args, &options);
            Ended { outcome: run.outcome, effects: run.effects }
        }
        Engine::Machine => {
            let executable = vm::build(cx, module);
            let options = vm::VmOptions { worker, ..vm::VmOptions::new(prelude()) };
            let run = vm::run(cx, &executable, entry, args, &options);
            Ended { outcome: run.outcome, effects: run.effects }
        }
    }
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
        RefinementVerdict::Allowed | RefinementVerdict::Vacuous(_) => Ok(question::Verdict::Accepted),
        RefinementVerdict::NotAllowed { rule, .. } => Ok(question::Verdict::Rejected(vec![rule])),
        RefinementVerdict::Undecided(reason) => Err(NoAnswer::Undecided(reason)),
        RefinementVerdict::OutOfBudget(reason) => Err(NoAnswer::OutOfBudget(reason)),
    }
}
