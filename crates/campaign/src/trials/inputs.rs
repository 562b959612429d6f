//! The inputs on which a program is run, and how it runs here.

use std::collections::BTreeMap;

use super::traits::operators;
use crate::programs::Drawn;
use crate::questions::is_named_in;
use relax_spec::arguments::{ArgumentSource, Draw, linked};
use relax_spec::book::{Edition, Reading, Rule};
use relax_spec::check::check_program;
use relax_spec::derivation::inferred_results;
use relax_spec::eval::{EvalOptions, evaluate};
use relax_spec::grammar::{IrModule, ShapeVar};
use relax_spec::judge::{Cx, Ending};
use relax_spec::oracle::answer_evaluate;
use relax_spec::question::RunAnswer;
use relax_spec::refine::{LEFT_OPEN, Settings, refine};
use relax_spec::value::{Value, ValueSpec, from_specs};

/// How often arguments are generated until a run reaches its end.
const ATTEMPTS: usize = 6;

/// How a program runs at its example sizes.
#[derive(Clone, PartialEq, Debug)]
pub enum ExampleRun {
    /// It reaches its end.
    Returns,
    /// It stops with an error that the semantics prescribes.
    Fails(Rule),
    /// The semantics leaves the run open, or a limit was reached.
    Open(String),
    /// The checks do not accept it; why.
    Rejected(String),
}

/// Checks a program, and runs its `main` at its example sizes.
pub fn at_example_sizes(cx: &mut Cx, drawn: &Drawn) -> ExampleRun {
    let report = check_program(cx, &drawn.module);
    if let Some(finding) = report.diagnostics.iter().find(|finding| finding.is_fatal()) {
        return ExampleRun::Rejected(format!("{}: {}", finding.code(), finding.message));
    }
    let mut ended = ExampleRun::Open("no arguments can be made".to_string());
    for attempt in 0..ATTEMPTS {
        let Some(args) = example(&drawn.module, "main", &drawn.sizes, Draw { index: 0, attempt }) else { continue };
        let args = from_specs(&args, &EvalOptions::default().registry);
        let Ok(args) = args else { continue };
        let run = evaluate(cx, &drawn.module, "main", args, &EvalOptions::default());
        ended = match run.outcome {
            Ending::Value(_) => return ExampleRun::Returns,
            Ending::Error(error) => ExampleRun::Fails(error.rule),
            Ending::OutOfFuel => ExampleRun::Open("out of fuel".to_string()),
            Ending::Unspecified(reason) | Ending::Unknown(reason) => ExampleRun::Open(reason),
        };
    }
    ended
}

/// Arguments of the example sizes.
fn example(module: &IrModule, entry: &str, sizes: &BTreeMap<ShapeVar, i64>, draw: Draw) -> Option<Vec<ValueSpec>> {
    let func = linked(module, entry)?;
    ArgumentSource::of(&[module], 0, EvalOptions::default().memory).for_function(func, sizes, draw)
}

/// How many bytes inputs may take in addition to those at example sizes: at sizes that a program chooses itself, a run
/// may take minutes.
const ROOM: u64 = 1 << 12;

/// How many bytes generated inputs may take, for a program with these inputs at example sizes.
pub(super) fn room(inputs: &[Vec<ValueSpec>]) -> u64 {
    let bytes = |args: &Vec<ValueSpec>| -> u64 {
        args.iter().flat_map(ValueSpec::tensors).map(|tensor| tensor.bytes.len() as u64).sum()
    };
    inputs.iter().map(bytes).max().unwrap_or(0).saturating_mul(2).saturating_add(ROOM)
}

/// Which arguments are generated.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum ArgumentDomain {
    /// Those for which the documentation of every operator defines the result.
    Documented,
    /// Also those to which an erratum gives a meaning: a position that counts from the end.
    Wide,
}

/// The operators whose documentation leaves some arguments open.
const PARTLY_OPEN: &str = "take grad.take_backward gather_elements gather_nd scatter_nd index_put index_tensor \
    one_hot strided_slice dynamic_strided_slice slice_scatter sort argsort topk median argmax argmin";

/// Whether the result of a run is defined in the corrected reading only.
pub(super) fn is_outside(edition: Edition, module: &IrModule, entry: &str, args: &[ValueSpec]) -> bool {
    if !operators(module).iter().any(|name| is_named_in(name, PARTLY_OPEN)) {
        return false;
    }
    let open = |cx: &mut Cx| matches!(answer_evaluate(cx, module, entry, args), Ok(RunAnswer::Unspecified));
    let mut corrected = Cx::new().with_edition(edition);
    let mut literal = corrected.clone().with_reading(Reading::literal_only(&LEFT_OPEN));
    open(&mut literal) && !open(&mut corrected)
}

/// The inputs on which a program is compared: some at its example sizes, and some generated to reach every branch.
pub(super) fn inputs(
    cx: &mut Cx,
    module: &IrModule,
    entry: &str,
    sizes: &BTreeMap<ShapeVar, i64>,
    runs: usize,
    domain: ArgumentDomain,
) -> Vec<Vec<ValueSpec>> {
    let mut found: Vec<Vec<ValueSpec>> = Vec::new();
    for (index, attempt) in [(0, 0), (0, 1), (1, 2), (2, 4)] {
        let Some(args) = example(module, entry, sizes, Draw { index, attempt }) else { continue };
        match ending(cx, module, entry, &args, FUEL) {
            // Other inputs would run out of fuel, too.
            Some(Ending::OutOfFuel) => return Vec::new(),
            Some(Ending::Value(_)) if !found.contains(&args) => found.push(args),
            Some(Ending::Value(_) | Ending::Error(_) | Ending::Unspecified(_) | Ending::Unknown(_)) | None => {}
        }
        if found.len() == 2 {
            break;
        }
    }
    let settings = Settings { keep: true, steps: STEPS, fuel: FUEL, memory: room(&found), ..Settings::runs(runs) };
    if let Ok(refinement) = refine(cx, module, module, entry, &[], &settings) {
        let mut fresh = refinement.inputs;
        fresh.retain(|input| !found.contains(input));
        fresh.truncate(runs);
        fresh.retain(|input| !matches!(ending(cx, module, entry, input, FUEL), Some(Ending::OutOfFuel)));
        found.extend(fresh);
    }
    let edition = cx.edition();
    found.retain(|args| domain == ArgumentDomain::Wide || !is_outside(edition, module, entry, args));
    found
}

/// How many steps one run of a program may take, and how many steps all runs together that search for inputs. A longer
/// program would take the time of many others.
pub(super) const FUEL: u64 = 500_000;
pub(super) const STEPS: u64 = 2_000_000;

/// After how many steps a program that was read from a text counts as endless: each run of such deep recursion takes a
/// long time.
const ENDLESS: u64 = 10_000;

/// Whether a run of a program from this entry point takes many steps.
pub(super) fn is_endless(cx: &mut Cx, module: &IrModule, entry: &str) -> bool {
    let args = example(module, entry, &BTreeMap::new(), Draw { index: 0, attempt: 0 });
    args.is_some_and(|args| matches!(ending(cx, module, entry, &args, ENDLESS), Some(Ending::OutOfFuel)))
}

/// How a run ends within so many steps.
fn ending(cx: &mut Cx, module: &IrModule, entry: &str, args: &[ValueSpec], fuel: u64) -> Option<Ending<Value>> {
    let options = EvalOptions { fuel, results: inferred_results(cx, module), ..EvalOptions::default() };
    let args = from_specs(args, &options.registry).ok()?;
    Some(evaluate(cx, module, entry, args, &options).outcome)
}
