//! `relax-spec run`.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use super::arrays::write_arrays;
use super::budget::{CommandLimits, InputSizes, TimeBudget};
use super::choice::{Choosing, JudgementChoice};
use super::externs::Externs;
use super::given::{self, EntryArguments};
use super::options::{EngineOption, KernelsOption, ReportFormat};
use super::value::PrintExtent;
use super::{CommandResult, Exit, Failure, input, note, options, print, print_json, render, value};
use ask::extern_process::ExternProcess;
use relax_spec::arguments::{ArgumentSource, Draw, linked};
use relax_spec::check::{all_findings, check_program, unknown_names};
use relax_spec::data::json::to_value;
use relax_spec::derivation::inferred_results;
use relax_spec::eval::{self, EvalOptions, EvalRun, SignatureOrder};
use relax_spec::grammar::IrModule;
use relax_spec::judge::{self, Cx};
use relax_spec::oracle::answer_evaluate_together;
use relax_spec::question::RunAnswer;
use relax_spec::rule;
use relax_spec::value::{self as values, ValueSpec};
use relax_spec::vm;

/// Run a program and print its result
///
/// The program is checked first; --unchecked runs it despite its errors. conformance/INTERPRETING.md describes the
/// packed functions that programs may call.
#[derive(clap::Args)]
#[command(
    after_help = "Values: tensors [[1, 2.5], [inf, nan]]:float32, 3:int64, zeros(2, 3):float32, ones(2, 3):int8, iota(6):int64, \
random((2, 3), float32, 7) with its seed, shapes shape(2, 3), packed(NAME), integers, true, false, tuples (1:int64, shape(2)), and anything as in suite \
files, for example Tuple([Shape([2]), Int(1)]). Floats are rounded to the nearest of their type.

Files: @x.npy and @x.npz:NAME, written by NumPy, and @x.safetensors:NAME, in any order of elements and bytes. Raw data of two bytes per element (|V2) is bfloat16, as \
ml_dtypes writes it; raw data of one byte per element (float8, int4) is rejected.

Examples:
  relax-spec run model.py --arg '[[1, 2], [3, 4]]:float32'
  relax-spec run model.py --entry predict --arg 'zeros(8, 16):float32' --trace
  relax-spec run model.py --arg @image.npy --args weights.npz --save result.npz
  relax-spec run model.py --extern 'python3 my_functions.py' --arg '[1, 2]:float32'"
)]
pub struct Args {
    /// TVMScript (.py), RON, JSON or Relay (.relay); `-` is standard input
    #[arg(value_name = "FILE")]
    file: PathBuf,
    #[command(flatten)]
    selected: input::Selected,
    /// The global symbol of the function to start [default: main, or the only one]
    #[arg(long, value_name = "NAME")]
    entry: Option<String>,
    #[command(flatten)]
    given: EntryArguments,
    /// Generate the arguments, around the constants of the program
    #[arg(long, conflicts_with_all = ["args", "files"])]
    random: bool,
    /// The seed of the generated arguments
    #[arg(long, value_name = "N", default_value_t = 0, requires = "random")]
    seed: u64,
    /// Who runs the program
    #[arg(long, value_enum, default_value_t = EngineOption::Evaluator)]
    engine: EngineOption,
    /// Show bindings, shape variables, calls and effects in order; with the virtual machine, its instructions,
    /// registers and shape heap
    #[arg(long)]
    trace: bool,
    /// Print every element of the result; by default, only some at the edges of a tensor with more than 1000 elements
    #[arg(long)]
    full: bool,
    /// Also write the result into a file of NumPy, or of safetensors if its name ends so: the fields of a tuple as the
    /// arrays 0, 1, .., anything else as 0
    #[arg(long, value_name = "OUT.npz")]
    save: Option<PathBuf>,
    #[arg(long, value_enum, default_value_t = ReportFormat::Human)]
    format: ReportFormat,
    /// Run without checking first
    #[arg(long)]
    unchecked: bool,
    /// Give the result of an unknown operator the information `Object`, with a warning, as the text says
    #[arg(long)]
    allow_unknown_ops: bool,
    /// Limit of the steps of the run; each element that an operator computes counts as one [default: 200000000; for a
    /// program without recursion and `while`, limited only by the time]
    #[arg(long, value_name = "STEPS")]
    fuel: Option<u64>,
    /// Limit of the bytes that the tensors of the run, including its arguments, and the temporaries of operators use at
    /// the same time. K, M and G are powers of 1024 [default: 1G, and the size of the files of arrays]
    #[arg(long, value_name = "BYTES", value_parser = options::bytes)]
    memory: Option<u64>,
    /// How operators compute; all ways give the same bits
    #[arg(long, value_enum, default_value_t = KernelsOption::Fast)]
    kernels: KernelsOption,
    /// Maximum depth of calls [default: 50000]
    #[arg(long, value_name = "CALLS")]
    depth: Option<usize>,
    /// Run the program on N workers, which synchronize in its collectives. Each gets all arguments, or its own if there
    /// are N times as many, those of worker 0 first
    #[arg(long, value_name = "N", conflicts_with_all = ["engine", "trace", "save", "format", "commands", "fuel", "memory", "depth", "kernels", "signature_order", "proposal"])]
    workers: Option<usize>,
    #[command(flatten)]
    externs: Externs,
    /// The order in which a signature binds its shape variables: `left-to-right`, or `any` for all lone dimensions
    /// first (A08)
    #[arg(long, value_name = "ORDER", default_value = "left-to-right", value_parser = options::signature_order, conflicts_with = "engine")]
    signature_order: SignatureOrder,
    #[command(flatten)]
    pub(super) budget: TimeBudget,
    #[command(flatten)]
    choosing: Choosing,
}

impl Args {
    /// The limits of the command.
    pub fn limits(&self) -> CommandLimits {
        self.budget.limits(self.memory(), InputSizes::of([&self.file]))
    }

    /// The limit for the tensors of the run.
    fn memory(&self) -> u64 {
        self.memory.unwrap_or_else(|| self.given.memory())
    }
}

pub fn run(args: &Args) -> CommandResult {
    let source = input::read(&args.file)?;
    let module = source.module(args.selected.module.as_deref())?;
    let choice = args.choosing.for_module(&args.file, &source, &module)?;
    let cx = || choice.cx(Cx::new());
    if !args.unchecked {
        check(args, &source, &choice, &module)?;
    }
    let mut options =
        EvalOptions { trace: args.trace, signature_order: args.signature_order, ..EvalOptions::default() };
    options.results = inferred_results(&cx(), &module);
    options.fuel = options::fuel(args.fuel, || eval::ends(&module));
    options.memory = args.memory();
    options.max_depth = args.depth.unwrap_or(options.max_depth);
    options.kernels = args.kernels.kernels()?;
    let externs = args.externs.bind(&mut options.registry)?;
    let entry = given::entry(&mut cx(), &module, args.entry.as_deref())?;
    let specs = match args.random {
        true => made(args, &module, &entry)?,
        false => args.given.load(linked(&module, &entry), options.memory)?,
    };
    if args.workers.is_none() {
        given::one_for_each_parameter(&entry, linked(&module, &entry), specs.len())?;
    }
    if let Some(workers) = args.workers {
        return together(args, &choice, &module, &entry, workers, &specs);
    }
    let values = values::from_specs(&specs, &options.registry).map_err(Failure::unreadable)?;
    let arguments =
        (args.format == ReportFormat::Json).then(|| specs.iter().map(value::argument).collect::<Vec<String>>());
    drop(specs);
    let run = match args.engine {
        EngineOption::Evaluator => RunTranscript::of(eval::evaluate(&mut cx(), &module, &entry, values, &options)),
        EngineOption::Vm => on_machine(&mut cx(), &module, &entry, values, &options),
    };
    let telling = Telling { trace: args.trace, full: args.full, save: args.save.as_deref() };
    let ended = match arguments {
        Some(arguments) => tell_json(&telling, &entry, &arguments, &run),
        None => tell(&telling, &run),
    };
    match externs.iter().find_map(ExternProcess::failure) {
        Some(error) => Err(Failure::new(Exit::Adapter, error)),
        None => ended,
    }
}

/// Reports the findings about the program. It fails if they prevent the run.
fn check(args: &Args, source: &input::SourceFile, choice: &JudgementChoice, module: &IrModule) -> Result<(), Failure> {
    let cx = || choice.cx(Cx::new());
    let unknown = unknown_names(module, options::unknown_ops(args.allow_unknown_ops));
    let findings = all_findings(&mut cx(), &check_program(&mut cx(), module), unknown);
    if args.format == ReportFormat::Human {
        render::tell_all(source, choice.edition, &findings);
    }
    let Some(exit) = render::rejection(&findings) else { return choice.lowers(&findings) };
    if args.format == ReportFormat::Json {
        let findings: Vec<Value> = findings.iter().map(|finding| render::finding_json(source, "", finding)).collect();
        let outcome = if exit == Exit::Findings { "ill_formed" } else { "limit" };
        print_json(&json!({"outcome": outcome, "findings": findings}))?;
    }
    Err(Failure::new(exit, "the program is not run (--unchecked runs it all the same)"))
}

/// The transcript of a run, by either engine.
pub(super) struct RunTranscript {
    outcome: judge::Ending<values::Value>,
    effects: Vec<values::Effect>,
    steps: Vec<String>,
    out_of_memory: bool,
}

/// The context of the report.
pub(super) struct Telling<'a> {
    pub(super) trace: bool,
    pub(super) full: bool,
    pub(super) save: Option<&'a Path>,
}

impl RunTranscript {
    fn of(run: EvalRun) -> RunTranscript {
        let steps = run.steps.iter().map(ToString::to_string).collect();
        RunTranscript { outcome: run.outcome, effects: run.effects, steps, out_of_memory: run.out_of_memory }
    }

    pub(super) fn of_machine(run: vm::VmRun) -> RunTranscript {
        let steps = run.steps.iter().map(ToString::to_string).collect();
        RunTranscript { outcome: run.outcome, effects: run.effects, steps, out_of_memory: run.out_of_memory }
    }
}

/// Compiles the program, and runs it with the limits of the evaluator.
fn on_machine(
    cx: &mut Cx,
    module: &IrModule,
    entry: &str,
    values: Vec<values::Value>,
    options: &EvalOptions,
) -> RunTranscript {
    let executable = vm::build(cx, module);
    let options = vm::VmOptions {
        fuel: options.fuel,
        memory: options.memory,
        max_depth: options.max_depth,
        trace: options.trace,
        kernels: options.kernels,
        ..vm::VmOptions::new(options.registry.clone())
    };
    RunTranscript::of_machine(vm::run(cx, &executable, entry, values, &options))
}

/// Runs the program with several workers, and reports the outcome of each.
fn together(
    args: &Args,
    choice: &JudgementChoice,
    module: &IrModule,
    entry: &str,
    workers: usize,
    specs: &[ValueSpec],
) -> CommandResult {
    let wanted = linked(module, entry).map_or(specs.len(), |func| func.params.len());
    let own: Vec<Vec<ValueSpec>> = match specs.len() {
        given if given == wanted => vec![specs.to_vec(); workers],
        given if given == wanted.saturating_mul(workers) => specs.chunks(wanted.max(1)).map(<[_]>::to_vec).collect(),
        given => {
            let message =
                format!("{given} arguments are neither {wanted} for all workers nor as many for each of {workers}");
            return Err(Failure::unreadable(message));
        }
    };
    let mut exit = Exit::AsExpected;
    let reading = choice.reading();
    let answers = answer_evaluate_together(choice.edition, &reading, module, entry, &own);
    for (worker, answer) in answers.into_iter().enumerate() {
        let text = match answer.map_err(Failure::unreadable)? {
            RunAnswer::Returns(spec, _) => {
                value::format(&spec, if args.full { PrintExtent::Whole } else { PrintExtent::Summary })
            }
            other => {
                exit = Exit::Findings;
                format!("{other}")
            }
        };
        print(&format!("worker {worker}: {text}\n"))?;
    }
    Ok(exit)
}

/// Generates and reports arguments for the entry point.
fn made(args: &Args, module: &IrModule, entry: &str) -> Result<Vec<ValueSpec>, Failure> {
    let func =
        linked(module, entry).ok_or_else(|| Failure::unreadable(format!("there is no entry point `{entry}`")))?;
    let (index, attempt) = (usize::try_from(args.seed).unwrap_or(usize::MAX), 0);
    let arguments =
        ArgumentSource::of(&[module], 0, args.memory()).for_function(func, &BTreeMap::new(), Draw { index, attempt });
    let made = arguments.ok_or_else(|| Failure::unreadable("no argument can be made for the signature"))?;
    made.iter().for_each(|value| note(&format!("--arg '{}'\n", value::argument(value))));
    Ok(made)
}

/// Writes the result.
fn save(path: &Path, result: &ValueSpec) -> CommandResult {
    let arrays = given::arrays_of(result).map_err(Failure::unreadable)?;
    write_arrays(path, &arrays).map_err(|error| given::failure(path, error))?;
    Ok(Exit::AsExpected)
}

pub(super) fn tell(args: &Telling<'_>, run: &RunTranscript) -> CommandResult {
    for step in &run.steps {
        print(&format!("{step}\n"))?;
    }
    if !args.trace {
        for effect in &run.effects {
            print(&format!("effect: {effect}\n"))?;
        }
    }
    match &run.outcome {
        judge::Ending::Value(result) => {
            let extent = if args.full { PrintExtent::Whole } else { PrintExtent::Summary };
            let spec = values::to_spec(result);
            let text = match &spec {
                Ok(spec) => value::format(spec, extent),
                Err(_) => result.to_string(),
            };
            print(&(text + "\n"))?;
            match (args.save, spec) {
                (None, _) => Ok(Exit::AsExpected),
                (Some(path), Ok(spec)) => save(path, &spec),
                (Some(_), Err(_)) => Err(Failure::unreadable("the result is too large to be saved")),
            }
        }
        judge::Ending::Error(error) if error.rule == rule!("EVAL.EXTERNFUNC.MISSING") => {
            let remedy = "--extern CMD runs with the functions that a process provides";
            Err(Failure::new(Exit::Findings, format!("{error}\nhelp: {remedy}")))
        }
        judge::Ending::Error(error) => Err(Failure::new(Exit::Findings, error)),
        judge::Ending::OutOfFuel if run.out_of_memory => {
            Err(Failure::new(Exit::StoppedEarly, "out of memory (--memory allows more bytes)"))
        }
        judge::Ending::OutOfFuel => {
            Err(Failure::new(Exit::StoppedEarly, "out of fuel (--fuel allows more steps, --depth more open calls)"))
        }
        judge::Ending::Unspecified(reason) => {
            Err(Failure::new(Exit::Findings, format!("the specification does not say what happens: {reason}")))
        }
        judge::Ending::Unknown(what) => {
            Err(Failure::new(Exit::StoppedEarly, format!("undecided: the oracle does not know this: {what}")))
        }
    }
}

/// Reports the run as `run.schema.json` describes it.
fn tell_json(args: &Telling<'_>, entry: &str, arguments: &[String], run: &RunTranscript) -> CommandResult {
    let (outcome, rule, message, exit) = match &run.outcome {
        judge::Ending::Value(_) => ("value", None, None, Exit::AsExpected),
        judge::Ending::Error(error) => ("error", Some(error.rule), Some(error.message.clone()), Exit::Findings),
        judge::Ending::OutOfFuel if run.out_of_memory => ("out_of_memory", None, None, Exit::StoppedEarly),
        judge::Ending::OutOfFuel => ("out_of_fuel", None, None, Exit::StoppedEarly),
        judge::Ending::Unspecified(reason) => ("unspecified", None, Some(reason.clone()), Exit::Findings),
        judge::Ending::Unknown(what) => ("unknown", None, Some(what.clone()), Exit::StoppedEarly),
    };
    let spec = match &run.outcome {
        judge::Ending::Value(result) => {
            let large = |_| Failure::unreadable("the result is too large to be written");
            Some(values::to_spec(result).map_err(large)?)
        }
        judge::Ending::Error(_)
        | judge::Ending::OutOfFuel
        | judge::Ending::Unspecified(_)
        | judge::Ending::Unknown(_) => None,
    };
    let report = json!({
        "outcome": outcome,
        "rule": rule,
        "message": message,
        "entry": entry,
        "arguments": arguments,
        "value": spec.as_ref().map(to_value),
        "text": spec.as_ref().map(value::argument),
        "effects": run.effects.iter().map(ToString::to_string).collect::<Vec<String>>(),
        "steps": args.trace.then_some(&run.steps),
    });
    print_json(&report)?;
    match (args.save, &spec) {
        (Some(path), Some(spec)) => save(path, spec),
        (Some(_) | None, _) => Ok(exit),
    }
}
