//! `relax-spec refine`.

use std::path::PathBuf;

use super::{Exit, Failure, Outcome, input, options, print, value};
use crate::book::{Edition, Reading};
use crate::eval;
use crate::judge::Cx;
use crate::refine::{Verdict, refine};
use crate::value::ValueSpec;

/// Is AFTER an allowed optimization of BEFORE?
///
/// Both programs run on the arguments given and on generated ones. Inside of dataflow blocks AFTER may be more defined,
/// never less; elsewhere values, errors, effects and mutations must be preserved.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  relax-spec refine before.py after.py
  relax-spec refine before.py after.py --runs 500
  relax-spec refine before.py after.py --runs 0 --arg '[1, 2]:float32'")]
pub struct Args {
    /// The source: TVMScript (.py), RON or JSON; `-` is standard input
    #[arg(value_name = "BEFORE")]
    before: PathBuf,
    /// The target
    #[arg(value_name = "AFTER")]
    after: PathBuf,
    /// The global symbol of the function to start [default: main]
    #[arg(long, value_name = "NAME")]
    entry: Option<String>,
    /// An argument to try beside the generated ones; give one for each parameter
    #[arg(long = "arg", value_name = "VALUE", value_parser = value::parse, allow_hyphen_values = true)]
    args: Vec<ValueSpec>,
    /// How many generated inputs to try
    #[arg(long, value_name = "N", default_value_t = 100)]
    runs: usize,
    #[arg(long, default_value = "2023-02", value_parser = options::edition)]
    edition: Edition,
    /// `corrected`, `literal`, or a list of errata to take literally; with A13 any divergence may be optimized away
    #[arg(long, value_name = "READING", default_value = "corrected", value_parser = options::reading)]
    reading: Reading,
}

pub fn run(args: &Args) -> Outcome {
    let (before, after) = (input::read(&args.before)?.parse()?, input::read(&args.after)?.parse()?);
    let mut cx = Cx::new().with_edition(args.edition).with_reading(args.reading.clone());
    let entry = match &args.entry {
        Some(entry) => entry.as_str().into(),
        None => eval::default_entry(&mut cx, &before).map_err(Failure::unreadable)?,
    };
    let given: Vec<Vec<ValueSpec>> = if args.args.is_empty() { Vec::new() } else { vec![args.args.clone()] };
    let refinement = refine(&mut cx, &before, &after, &entry, &given, args.runs).map_err(Failure::unreadable)?;
    match refinement.verdict {
        Verdict::Allowed => {
            print(&format!("allowed on {} inputs\n", refinement.compared))?;
            Ok(if refinement.compared == 0 { Exit::NothingRan } else { Exit::AsExpected })
        }
        Verdict::Undecided(reason) => {
            print(&format!("undecided: {reason}\n"))?;
            Ok(Exit::NothingRan)
        }
        Verdict::OutOfBudget(reason) => {
            print(&format!("out of budget: {reason}\n"))?;
            Ok(Exit::StoppedEarly)
        }
        Verdict::NotAllowed { rule, message } => {
            print(&format!("not allowed [{rule}]: {message}\n"))?;
            for argument in refinement.input.iter().flatten() {
                print(&format!("  with --arg '{}'\n", value::format(argument)))?;
            }
            Ok(Exit::Findings)
        }
    }
}
