//! `relax-spec refine`.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::PathBuf;

use super::externs::Externs;
use super::given::Given;
use super::{Exit, Failure, Outcome, input, options, print, render, value};
use crate::adequacy::{Adequacy, adequacy};
use crate::arguments::linked;
use crate::book::{Edition, Reading};
use crate::check::check_program;
use crate::eval;
use crate::findings::Severity;
use crate::grammar::{IrModule, Name};
use crate::harness::extern_process::ExternProcess;
use crate::judge::Cx;
use crate::refine::{Assumption, Deviation, Differing, Refinement, Settings, Unreached, Verdict, refine};
use crate::value::ValueSpec;

/// Is AFTER an allowed optimization of BEFORE?
///
/// Both programs run on the arguments given, if any are, and on generated ones, which lie around the constants of both. Inside of dataflow
/// blocks AFTER may be more defined, never less; elsewhere values, errors, effects and mutations must be preserved. Floats may
/// differ as far as BEFORE itself would if it rounded otherwise.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  relax-spec refine before.py after.py
  relax-spec refine before.py after.py --runs 500
  relax-spec refine before.py after.py --runs 0 --arg '[1, 2]:float32'
  relax-spec refine before.py after.py --arg @image.npy --args weights.npz

Exit status: 0 allowed; 1 not allowed; 2 a program is ill-formed or cannot be read; 4 vacuous, for no run reached its end;
5 undecided, on more than a tenth of the inputs, or out of budget.")]
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
    #[command(flatten)]
    given: Given,
    /// How many generated inputs to try
    #[arg(long, value_name = "N", default_value_t = 100)]
    runs: usize,
    /// Judge programs though they are ill-formed
    #[arg(long)]
    unchecked: bool,
    /// What determines the generated inputs
    #[arg(long, value_name = "N", default_value_t = 0)]
    seed: u64,
    /// Floats must be the same bit for bit, however they are rounded
    #[arg(long)]
    exact: bool,
    /// Tell how many one-step mutants of BEFORE the inputs tell from it, and which not
    #[arg(long)]
    adequacy: bool,
    /// What is assumed of a packed function that is not there: `NAME=pure`, `NAME=mutates:0`, `NAME=returns:1`, several with
    /// commas; without it its calls are effects, and what it gives is a function of its arguments
    #[arg(long = "assume", value_name = "NAME=WHAT", value_parser = assumption)]
    assumed: Vec<(Name, Assumption)>,
    #[command(flatten)]
    externs: Externs,
    /// How far a float may be off beside what rounding explains, in proportion to 1 more than its magnitude
    #[arg(long, value_name = "X", default_value_t = 0.0)]
    tolerance: f64,
    #[arg(long, default_value = "2023-02", value_parser = options::edition)]
    edition: Edition,
    /// `corrected`, `literal`, or a list of errata to take literally; with A13 any divergence may be optimized away
    #[arg(long, value_name = "READING", default_value = "corrected", value_parser = options::reading)]
    reading: Reading,
}

pub fn run(args: &Args) -> Outcome {
    let (before, after) = (input::read(&args.before)?, input::read(&args.after)?);
    let (source, target) = (before.parse()?, after.parse()?);
    let mut cx = Cx::new().with_edition(args.edition).with_reading(args.reading.clone());
    if !args.unchecked {
        well_formed(&cx, &before, &source)?;
        well_formed(&cx, &after, &target)?;
    }
    let entry = match &args.entry {
        Some(entry) => entry.as_str().into(),
        None => eval::default_entry(&mut cx, &source).map_err(Failure::unreadable)?,
    };
    let mut settings =
        Settings { seed: args.seed, exact: args.exact, tolerance: args.tolerance, ..Settings::runs(args.runs) };
    let externs = args.externs.bind(&mut settings.registry)?;
    let given: Vec<Vec<ValueSpec>> = match args.given.is_empty() {
        true => Vec::new(),
        false => vec![args.given.load(linked(&source, &entry), eval::Options::default().memory)?],
    };
    let assumed: BTreeMap<Name, Assumption> = args.assumed.iter().cloned().collect();
    if assumed.len() < args.assumed.len() {
        return Err(Failure::unreadable(
            "--assume says twice what is assumed of a function; several words go with commas",
        ));
    }
    settings.unknown = Some(assumed);
    settings.keep = args.adequacy;
    let refinement = refine(&mut cx, &source, &target, &entry, &given, &settings).map_err(Failure::unreadable)?;
    if let Some(error) = externs.iter().find_map(ExternProcess::failure) {
        return Err(Failure::new(Exit::Adapter, error));
    }
    print(&told(&refinement))?;
    print(&untried(&refinement, &before, &after))?;
    if args.adequacy {
        let adequacy = adequacy(&mut cx, &source, &entry, &refinement.inputs, &settings);
        print(&worth(&adequacy.map_err(Failure::unreadable)?, &before))?;
    }
    Ok(match refinement.verdict {
        Verdict::Allowed => Exit::AsExpected,
        Verdict::NotAllowed { .. } => Exit::Findings,
        Verdict::Vacuous(_) => Exit::NothingRan,
        Verdict::Undecided(_) | Verdict::OutOfBudget(_) => Exit::StoppedEarly,
    })
}

/// What an "allowed" does not speak of: the branches and calls that no run reached.
fn untried(refinement: &Refinement, before: &input::Source, after: &input::Source) -> String {
    let mut text = String::new();
    if refinement.verdict != Verdict::Allowed {
        return text;
    }
    let (of_before, of_after) = &refinement.unreached;
    for (program, source, unreached) in [("BEFORE", before, of_before), ("AFTER", after, of_after)] {
        for part in unreached.iter().take(SHOWN) {
            let _ = match part {
                Unreached::Branch { span, holds } => {
                    writeln!(text, "  never reached: the branch for {holds} {} in {program}", source.place(*span))
                }
                Unreached::Operator { span, name } => {
                    writeln!(text, "  never reached: {name} {} in {program}", source.place(*span))
                }
            };
        }
        if unreached.len() > SHOWN {
            let _ = writeln!(text, "  never reached: {} more in {program}", unreached.len() - SHOWN);
        }
    }
    text
}

/// So many parts that were not reached are told one by one.
const SHOWN: usize = 8;

/// What the inputs are worth.
fn worth(adequacy: &Adequacy, text: &input::Source) -> String {
    let Adequacy { told, untold, open } = adequacy;
    let mut worth = format!("the inputs tell {told} of {} one-step mutants of BEFORE from it\n", told + untold.len());
    for (what, span) in untold {
        let _ = writeln!(worth, "  not {}: {what}", text.place(*span));
    }
    if *open > 0 {
        let _ = writeln!(worth, "  of {open} more nothing can be said");
    }
    worth
}

/// `NAME=pure|impure|mutates:N|returns:N`, with commas.
fn assumption(text: &str) -> Result<(Name, Assumption), String> {
    let expected = "expected NAME=pure, impure, mutates:N or returns:N, several with commas";
    let (name, says) = text.split_once('=').filter(|(name, _)| !name.is_empty()).ok_or(expected)?;
    let mut assumption = Assumption::default();
    for word in says.split(',') {
        let number = |n: &str| n.parse::<usize>().map_err(|_| format!("`{n}` is no number of an argument; {expected}"));
        match word.split_once(':') {
            None if word == "pure" => assumption.pure = true,
            None if word == "impure" => assumption.pure = false,
            Some(("mutates", n)) => {
                assumption.mutates.insert(number(n)?);
            }
            Some(("returns", n)) => assumption.returns = Some(number(n)?),
            None | Some(_) => return Err(format!("`{word}` is no assumption; {expected}")),
        }
    }
    Ok((name.into(), assumption))
}

/// What is ill-formed is told, and not judged.
fn well_formed(cx: &Cx, text: &input::Source, module: &IrModule) -> Result<(), Failure> {
    let findings = check_program(&mut cx.clone(), module).diagnostics;
    let errors: Vec<_> = findings.iter().filter(|finding| finding.severity == Severity::Error).collect();
    let renderer = render::renderer();
    errors.iter().for_each(|finding| eprint!("{}", render::human(&renderer, text, finding)));
    match errors.as_slice() {
        [] => Ok(()),
        [..] => Err(Failure::unreadable("an ill-formed program is not judged (--unchecked judges it all the same)")),
    }
}

/// The verdict, what it is worth, and the counterexample.
fn told(refinement: &Refinement) -> String {
    let Refinement { verdict, compared, ended, undecided, reason, differing, unknown, deviation, input, .. } =
        refinement;
    let mut text = match verdict {
        Verdict::Allowed => {
            format!("allowed on {compared} inputs, on {ended} of which both programs reach their end\n")
        }
        Verdict::NotAllowed { rule, message } => format!("not allowed [{rule}]: {message}\n"),
        Verdict::Vacuous(reason) => format!("vacuous: {reason}\n"),
        Verdict::Undecided(reason) => format!("undecided: {reason}\n"),
        Verdict::OutOfBudget(reason) => format!("out of budget: {reason}\n"),
    };
    let open = matches!(verdict, Verdict::Undecided(_) | Verdict::OutOfBudget(_));
    if let Some(reason) = reason.as_ref().filter(|_| !open) {
        let _ = writeln!(text, "  undecided on {undecided} more: {reason}");
    } else if *compared > 0 && open {
        let _ = writeln!(text, "  on {undecided} of {} inputs", compared + undecided);
    }
    if let Some(Deviation { error, bound, index, before, after }) = deviation {
        let _ = match verdict {
            Verdict::NotAllowed { .. } => writeln!(
                text,
                "  element {index} is {before:?} in the source and {after:?} in the target; rounding explains {bound:.3e}"
            ),
            Verdict::Allowed | Verdict::Vacuous(_) | Verdict::Undecided(_) | Verdict::OutOfBudget(_) => {
                writeln!(text, "  a float is off by {error:.3e}; rounding explains {bound:.3e}")
            }
        };
    }
    if let Some(Differing { name, before, after }) = differing {
        let _ = writeln!(text, "  first at `{name}`: {before} in the source, {after} in the target");
    }
    if !unknown.is_empty() {
        let names: Vec<&str> = unknown.iter().map(|name| &**name).collect();
        let _ = writeln!(text, "  not known: {} (--extern CMD provides, --assume says more)", names.join(", "));
    }
    for value in input.iter().flatten() {
        let _ = writeln!(text, "  with --arg '{}'", value::argument(value));
    }
    text
}
