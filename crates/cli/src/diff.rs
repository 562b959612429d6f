//! `relax-spec diff`.

use std::path::PathBuf;
use std::time::Duration;

use super::asking::{AnswerLimits, interrupt, start};
use super::fuzz::told_of_paths;
use super::given::EntryArguments;
use super::{CommandResult, Exit, Failure, input, options, print, print_program};
use ask::adapters::Adapter;
use ask::implementation::{ChildProcess, Implementation as _};
use campaign::trials::{Path, ProgramQuestion, Reducer, TrialVerdict, Witness, diff, inputs_of};
use relax_spec::arguments::linked;
use relax_spec::book::Edition;
use relax_spec::eval;
use relax_spec::judge::Cx;
use relax_spec::syntax::tvmscript::{Dialect, print_module};

/// Ask an implementation every question about one program, and report the differences
///
/// The program takes every path that `fuzz` knows, each a separate question, with the given arguments and with
/// generated ones.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  relax-spec diff model.py --adapter tvm@0.27
  relax-spec diff model.py --adapter tvm --paths llvm,text
  relax-spec diff model.py --adapter tvm@0.27 --paths llvm --reduce 100 > smaller.py

Exit status: 0 no difference; 1 some; 3 the adapter could not start.")]
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
    /// The edition by which the answers are judged [default: the one that the implementation claims]
    #[arg(long, value_name = "EDITION", value_parser = options::edition)]
    edition: Option<Edition>,
}

pub fn run(args: &Args) -> CommandResult {
    let source = input::read(&args.file)?;
    let module = source.module(args.module.as_deref())?;
    let entry = match &args.entry {
        Some(entry) => entry.as_str().into(),
        None => eval::default_entry(&mut Cx::new(), &module).map_err(Failure::unreadable)?,
    };
    let path =
        |name: &String| Path::named(name).ok_or_else(|| Failure::unreadable(format!("there is no path `{name}`")));
    let paths: Vec<Path> = match args.paths.as_slice() {
        [] => Path::every(),
        named => named.iter().map(path).collect::<Result<_, _>>()?,
    };
    let given = match args.given.is_empty() {
        true => Vec::new(),
        false => vec![args.given.load(linked(&module, &entry), eval::EvalOptions::default().memory)?],
    };
    let interrupt = interrupt()?;
    let mut worst = Exit::AsExpected;
    for adapter in Adapter::named(args.adapter.as_deref())? {
        let mut implementation: ChildProcess =
            start(&adapter, AnswerLimits { timeout: args.timeout, edition: args.edition }, &interrupt)?;
        let edition = implementation.edition();
        let inputs: Vec<_> = given.iter().cloned().chain(inputs_of(edition, &module, &entry, args.runs)).collect();
        let asked = ProgramQuestion::of(&implementation, &module, &entry, &inputs);
        let told = diff(&mut implementation, asked, &paths)?;
        let first = told.iter().find_map(|(path, judged)| match judged {
            TrialVerdict::Differs(difference) => Some((path, difference)),
            TrialVerdict::Agrees { .. } | TrialVerdict::Unsupported(_) => None,
        });
        if first.is_some() {
            worst = Exit::Findings;
        }
        let Some(budget) = args.reduce else {
            print(&format!("{adapter}, edition {edition}, {} inputs\n{}", inputs.len(), told_of_paths(&told)))?;
            continue;
        };
        if let Some((path, difference)) = first {
            let (module, entry, difference) = (module.clone(), entry.clone(), (**difference).clone());
            let mut witness = Witness::new(edition, module, entry, path.clone(), difference);
            Reducer::new(&mut implementation, budget).reduce(&mut witness)?;
            print_program(&print_module(witness.module(), Dialect::default()))?;
        }
    }
    Ok(worst)
}
