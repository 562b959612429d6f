//! Tests that both engines of the oracle give the same results (`R89.VM.EQUIV`). The evaluator and the virtual machine
//! run the same program, and the observations of the two runs are compared: the value, the rule of an error, the
//! effects in their order, and which arguments are part of the result.

use crate::generate::{Tape, module_of_functions};
use crate::programs::{ProgramSource, Restriction};
use relax_spec::arguments::{ArgumentSource, Draw, linked};
use relax_spec::book::Edition;
use relax_spec::derivation::inferred_results;
use relax_spec::eval::{self, prelude};
use relax_spec::grammar::{AttrValue, GlobalFunc, IrModule, Name};
use relax_spec::judge::{Cx, Ending};
use relax_spec::value::{Effect, Stop, Value, ValueSpec, from_specs, to_spec_with_identity};
use relax_spec::vm;

/// The result of one program on one list of arguments.
#[derive(Clone, PartialEq, Debug)]
pub enum EngineTrial {
    /// Both engines give the same.
    Same(End),
    /// One of them reached a limit, so there is nothing to compare.
    Limited,
    /// They came to different things, for people.
    Different(String),
}

/// How a run ended, as far as it can be seen.
#[derive(Clone, PartialEq, Debug)]
pub enum End {
    /// With a value.
    Returns(ValueSpec),
    /// With the error of a rule.
    Fails(relax_spec::book::Rule),
    /// With a result that the semantics leaves open.
    Unspecified,
}

/// The limit of steps for both engines.
const FUEL: u64 = 500_000;
const DEPTH: usize = 200;

/// Runs a program with both engines, by the rules of an edition.
pub fn try_program(edition: Edition, program: &IrModule, entry: &str, args: &[ValueSpec]) -> EngineTrial {
    let cx = || Cx::new().with_edition(edition);
    let (by_evaluator, by_machine) = (evaluated(cx(), program, entry, args), on_machine(cx(), program, entry, args));
    match (by_evaluator, by_machine) {
        (Some(a), Some(b)) if a == b => EngineTrial::Same(a.0),
        (Some(a), Some(b)) => EngineTrial::Different(format!("evaluator: {a:?}\nmachine: {b:?}")),
        (None, _) | (_, None) => EngineTrial::Limited,
    }
}

/// The end of a run, with the effects before it; `None` if the run reached a limit.
type RunObservation = Option<(End, Vec<Effect>)>;

fn seen(outcome: &Ending<Value>, effects: Vec<Effect>, args: &[Value]) -> RunObservation {
    let end = match outcome {
        Ending::Value(value) => match to_spec_with_identity(value, args) {
            Ok(spec) => End::Returns(spec),
            Err(Stop::Error(_) | Stop::OutOfFuel | Stop::Unspecified(_) | Stop::Unknown(_)) => End::Unspecified,
        },
        Ending::Error(error) => End::Fails(error.rule),
        Ending::OutOfFuel => return None,
        Ending::Unspecified(_) | Ending::Unknown(_) => End::Unspecified,
    };
    Some((end, effects))
}

fn evaluated(mut cx: Cx, program: &IrModule, entry: &str, args: &[ValueSpec]) -> RunObservation {
    let results = inferred_results(&cx, program);
    let options = eval::EvalOptions { results, fuel: FUEL, max_depth: DEPTH, ..eval::EvalOptions::default() };
    let args = from_specs(args, &options.registry).ok()?;
    let run = eval::evaluate(&mut cx, program, entry, args.clone(), &options);
    seen(&run.outcome, run.effects, &args)
}

fn on_machine(mut cx: Cx, program: &IrModule, entry: &str, args: &[ValueSpec]) -> RunObservation {
    let executable = vm::build(&mut cx, program);
    let options = vm::VmOptions { fuel: FUEL, max_depth: DEPTH, ..vm::VmOptions::new(prelude()) };
    let args = from_specs(args, &options.registry).ok()?;
    let run = vm::run(&mut cx, &executable, entry, args.clone(), &options);
    seen(&run.outcome, run.effects, &args)
}

/// The program of a seed, with the constructs of an edition; the two generators take turns.
pub fn program(edition: Edition, seed: u64) -> IrModule {
    let mut tape = Tape::from_seed(seed / 2, 600);
    if seed.is_multiple_of(2) {
        module_of_functions(edition, &mut tape)
    } else {
        ProgramSource::of(&[], Restriction::of_laws(edition)).of_tape(tape).module
    }
}

/// The names by which functions of a program can be started.
pub fn entries(program: &IrModule) -> Vec<Name> {
    let symbol = |func: &GlobalFunc| {
        let GlobalFunc::Function(function) = func else { return None };
        function.attrs.get("global_symbol").and_then(AttrValue::as_str).cloned()
    };
    program.funcs.iter().filter_map(|(_, func)| symbol(func)).collect()
}

/// Runs every function of a program that can be started, on this many lists of arguments each.
pub fn try_all(edition: Edition, program: &IrModule, lists: usize) -> Vec<EngineTrial> {
    let arguments = ArgumentSource::of(&[program], 0, vm::VmOptions::new(prelude()).memory);
    let mut trials = Vec::new();
    for entry in entries(program) {
        let Some(func) = linked(program, &entry) else { continue };
        for index in 0..lists {
            let draw = Draw { index, attempt: 0 };
            if let Some(args) = arguments.for_function(func, &Default::default(), draw) {
                trials.push(try_program(edition, program, &entry, &args));
            }
        }
    }
    trials
}
