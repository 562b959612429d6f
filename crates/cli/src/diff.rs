//! `relax-spec diff`.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use super::asking::{AnswerLimits, STARTUP, interrupt, start};
use super::assume::Assuming;
use super::fuzz::{forms_of, told_of_known, told_of_paths};
use super::given::{self, EntryArguments};
use super::{CommandResult, Exit, Failure, input, options, print, print_program};
use ask::adapters::Adapter;
use ask::implementation::{ChildProcess, Implementation as _};
use campaign::trials::{Path, ProgramQuestion, Reducer, TrialVerdict, Witness, diff, inputs_of, known_form};
use relax_spec::arguments::{ArgumentSource, linked};
use relax_spec::book::Edition;
use relax_spec::eval;
use relax_spec::grammar::{IrModule, Name};
use relax_spec::judge::Cx;
use relax_spec::refine::RefineError;
use relax_spec::syntax::tvmscript::{Dialect, print_module};
use relax_spec::value::ValueSpec;

/// Ask an implementation every question about one program, and report the differences
///
/// The program takes every path that `fuzz` knows, each a separate question, with the given arguments and with
/// generated ones.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  relax-spec diff model.py --adapter tvm@0.27
  relax-spec diff model.py --adapter tvm --paths llvm,text
  relax-spec diff model.py --adapter tvm@0.27 --paths llvm --reduce 100 > smaller.py

Paths: llvm, llvm-0 and the like run the program; a name that is none lists them all. What a form of the ledger of programs knows is told
as known.

Exit status: 0 no difference but known ones; 1 some; 3 the adapter could not start; 5 the time was up before all paths were asked.")]
pub struct Args {
    /// The program: TVMScript (.py), RON or JSON; `-` is standard input
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// `tvm` (all releases), `tvm@0.26`, `tvm@/path/to/python`, or a command that speaks the protocol
    #[arg(long, value_name = "NAME|CMD")]
    adapter: Option<String>,
    /// Of a Python file with several modules: the name of the class
    #[arg(long, value_name = "NAME")]
    module: Option<String>,
    /// The global symbol of the function to start [default: main]
    #[arg(long, value_name = "NAME")]
    entry: Option<String>,
    #[command(flatten)]
    given: EntryArguments,
    #[command(flatten)]
    assuming: Assuming,
    /// How many generated inputs to try
    #[arg(long, value_name = "N", default_value_t = 3)]
    runs: usize,
    /// Only these paths, separated by commas
    #[arg(long, value_name = "PATH,..", value_delimiter = ',')]
    paths: Vec<String>,
    /// Shrink the program, with up to N questions, while it shows the first difference, and print the result
    #[arg(long, value_name = "N")]
    reduce: Option<usize>,
    /// Time limit of an answer in seconds
    #[arg(long, value_name = "S", default_value = "30", value_parser = options::seconds)]
    timeout: Duration,
    /// Seconds for all paths of an implementation together; the remaining paths are skipped
    #[arg(long, value_name = "S", default_value = "300", value_parser = options::seconds)]
    time: Duration,
    /// The edition by which the answers are judged [default: the one that the implementation claims]
    #[arg(long, value_name = "EDITION", value_parser = options::edition)]
    edition: Option<Edition>,
}

/// Generated inputs that fit what is known of the arguments.
struct GeneratedInputs<'a> {
    arguments: ArgumentSource,
    module: &'a IrModule,
    entry: &'a Name,
    runs: usize,
}

impl<'a> GeneratedInputs<'a> {
    /// The inputs of an entry. Given arguments must fit what is known of them.
    fn of(
        args: &Args,
        module: &'a IrModule,
        entry: &'a Name,
        given: &[Vec<ValueSpec>],
    ) -> Result<GeneratedInputs<'a>, Failure> {
        let func = linked(module, entry);
        let known = args.assuming.of_arguments(func)?;
        let arguments = ArgumentSource::of(&[module], 0, eval::EvalOptions::default().memory).knowing(&known);
        let broken = func.and_then(|func| given.iter().find_map(|given| arguments.broken(func, given)));
        match broken {
            Some((name, what)) => Err(Failure::unreadable(RefineError::Known(name, what))),
            None => Ok(GeneratedInputs { arguments, module, entry, runs: args.runs }),
        }
    }

    fn inputs(&self, edition: Edition) -> Vec<Vec<ValueSpec>> {
        let made = inputs_of(edition, self.module, self.entry, self.runs);
        match linked(self.module, self.entry) {
            Some(func) => made.into_iter().filter_map(|inputs| self.arguments.mended(func, inputs)).collect(),
            None => made,
        }
    }
}

/// The requested paths, or all of them. Quick ones come first.
fn paths(args: &Args) -> Result<Vec<Path>, Failure> {
    let path = |name: &String| {
        let all = || Path::every().iter().map(ToString::to_string).collect::<Vec<String>>().join(", ");
        Path::named(name).ok_or_else(|| Failure::unreadable(format!("there is no path `{name}` (there are {})", all())))
    };
    let mut paths: Vec<Path> = match args.paths.as_slice() {
        [] => Path::every(),
        named => named.iter().map(path).collect::<Result<_, _>>()?,
    };
    paths.sort_by_key(|path| (path.runs(), *path == Path::Normalize));
    Ok(paths)
}

pub fn run(args: &Args) -> CommandResult {
    let source = input::read(&args.file)?;
    let module = source.module(args.module.as_deref())?;
    let entry = given::entry(&mut Cx::new(), &module, args.entry.as_deref())?;
    let paths = paths(args)?;
    let given = match args.given.is_empty() {
        true => Vec::new(),
        false => vec![args.given.load(linked(&module, &entry), args.given.memory())?],
    };
    let made = GeneratedInputs::of(args, &module, &entry, &given)?;
    let interrupt = interrupt()?;
    let mut worst = Exit::AsExpected;
    for adapter in Adapter::named(args.adapter.as_deref(), STARTUP)? {
        let mut implementation: ChildProcess =
            start(&adapter, AnswerLimits { timeout: args.timeout, edition: args.edition }, &interrupt)?;
        let known = forms_of(&adapter)?;
        let edition = implementation.edition();
        print(&format!("{adapter}, edition {edition}\n"))?;
        let (began, mut first, mut left) = (Instant::now(), None, Vec::new());
        let mut inputs: Option<Vec<Vec<ValueSpec>>> = None;
        for path in &paths {
            if began.elapsed() > args.time {
                left.push(path.to_string());
                continue;
            }
            if inputs.is_none() && (path.runs() || *path == Path::Normalize) {
                let all: Vec<Vec<ValueSpec>> = given.iter().cloned().chain(made.inputs(edition)).collect();
                print(&format!("on {} inputs:\n", all.len()))?;
                inputs = Some(all);
            }
            let inputs = inputs.as_deref().unwrap_or_default();
            let asked = ProgramQuestion::of(&implementation, &module, &entry, inputs);
            for (path, judged) in diff(&mut implementation, asked, std::slice::from_ref(path))? {
                let shown = shown_by(edition, &module, &entry, &path, &judged);
                let version = &implementation.identity().version;
                match shown.as_ref().and_then(|shown| known_form(&known, shown, version)) {
                    Some(form) => print(&told_of_known(&path, form))?,
                    None => {
                        print(&told_of_paths(&[(path.clone(), judged)]))?;
                        first = first.or(shown);
                    }
                }
            }
        }
        if first.is_some() {
            worst = worst.and(Exit::Findings);
        }
        if !left.is_empty() {
            print(&format!("not asked, for the time was up: {}\n", left.join(", ")))?;
            worst = worst.and(Exit::StoppedEarly);
        }
        if let (Some(budget), Some(mut witness)) = (args.reduce, first) {
            Reducer::new(&mut implementation, budget).reduce(&mut witness)?;
            print_program(&print_module(witness.module(), Dialect::default()))?;
        }
    }
    Ok(worst)
}

/// The program as a witness of a difference.
fn shown_by(edition: Edition, module: &IrModule, entry: &Name, path: &Path, judged: &TrialVerdict) -> Option<Witness> {
    match judged {
        TrialVerdict::Differs(difference) => {
            Some(Witness::new(edition, module.clone(), entry.clone(), path.clone(), (**difference).clone()))
        }
        TrialVerdict::Agrees { .. } | TrialVerdict::Unsupported(_) => None,
    }
}
