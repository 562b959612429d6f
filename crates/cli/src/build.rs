//! `relax-spec build`.

use std::path::PathBuf;

use super::budget::StepBudget;
use super::choice::Choosing;
use super::options::{self, ReportFormat};
use super::{CommandResult, Exit, Failure, input, print_program, render};
use ask::checkout::write_atomically;
use relax_spec::check::{all_findings, check_program, unknown_names};
use relax_spec::data::Write as _;
use relax_spec::data::json::write_pretty;
use relax_spec::vm;

/// Compile a program to an executable of the virtual machine, and print it as text
///
/// The program is checked first; --unchecked compiles it despite its errors. `relax-spec vm run` runs the output.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  relax-spec build model.py
  relax-spec build model.py --output model.rvm
  relax-spec build model.py --format json")]
pub struct Args {
    /// TVMScript (.py), RON, JSON or Relay (.relay); `-` is standard input
    #[arg(value_name = "FILE")]
    pub(super) file: PathBuf,
    #[command(flatten)]
    selected: input::Selected,
    /// Write the executable into a file
    #[arg(short, long, value_name = "EXEC")]
    output: Option<PathBuf>,
    /// The text form, or the data form in JSON
    #[arg(long, value_enum, default_value_t = ReportFormat::Human)]
    format: ReportFormat,
    /// Compile without checking first
    #[arg(long)]
    unchecked: bool,
    /// Give the result of an unknown operator the information `Object`, with a warning, as the text says
    #[arg(long)]
    allow_unknown_ops: bool,
    #[command(flatten)]
    pub(super) budget: StepBudget,
    #[command(flatten)]
    choosing: Choosing,
}

pub fn run(args: &Args) -> CommandResult {
    let source = input::read(&args.file)?;
    let module = source.module(args.selected.module.as_deref())?;
    let choice = args.choosing.for_module(&args.file, &source, &module)?;
    let cx = || choice.cx(args.budget.cx());
    if !args.unchecked {
        let unknown = unknown_names(&module, options::unknown_ops(args.allow_unknown_ops));
        let findings = all_findings(&mut cx(), &check_program(&mut cx(), &module), unknown);
        render::tell_all(&source, choice.edition, &findings);
        if let Some(exit) = render::rejection(&findings) {
            let message = "the program is not compiled (--unchecked compiles it all the same)";
            return Err(Failure::new(exit, message));
        }
        choice.lowers(&findings)?;
    }
    let executable = vm::build(&mut cx(), &module);
    // A large program and its text need not stand beside each other.
    drop(module);
    let text = match args.format {
        ReportFormat::Human => vm::print(&executable),
        ReportFormat::Json => write_pretty(&executable.write()) + "\n",
    };
    match &args.output {
        Some(path) => write_atomically(path, text.as_bytes())?,
        None => print_program(&text)?,
    }
    Ok(Exit::AsExpected)
}
