//! The command line. Results go to standard output, everything else to standard error.

mod adapter;
mod arrays;
mod asking;
mod build;
mod check;
mod completions;
mod conflicts;
mod conform;
mod convert;
mod errata;
mod errata_text;
mod explain;
mod export;
mod externs;
mod fuzz;
mod given;
mod input;
mod judge;
mod normalize;
mod ops;
mod options;
mod refine;
mod render;
mod rules;
mod run;
mod types;
mod value;
mod vm;

use std::fmt;
use std::io::{self, Write};
use std::process::ExitCode;
use std::thread;

use clap::{Parser, Subcommand};

use crate::harness::adapters::SetupError;
use crate::harness::worker::StartError;
use crate::suite::CaseError;

/// Executable reference semantics, test oracle and conformance suite for the Relax IR.
#[derive(Parser)]
#[command(name = "relax-spec", version, about, max_term_width = 100, after_help = EXIT_CODES)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

const EXIT_CODES: &str = "Exit status: 0 as expected; 1 findings or unexpected results, an unexpected pass included; \
2 usage or unreadable input; 3 the adapter could not start or broke the protocol; 4 nothing ran; 5 stopped early.";

#[derive(Subcommand)]
enum Command {
    Check(check::Args),
    Run(run::Args),
    Build(build::Args),
    Vm(vm::Args),
    Judge(judge::Args),
    Normalize(normalize::Args),
    Convert(convert::Args),
    Types(types::Args),
    Refine(refine::Args),
    Rules(rules::Args),
    Explain(explain::Args),
    Errata(errata::Args),
    Conform(conform::Args),
    Fuzz(fuzz::Args),
    Ops(ops::Args),
    Adapter(adapter::Args),
    Export(export::Args),
    Completions(completions::Args),
}

/// How a command ended, as the exit status.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Exit {
    /// 0: all is as it should be, known divergences included.
    AsExpected = 0,
    /// 1: the program, or an answer of the implementation, is not as it should be.
    Findings = 1,
    /// 2: an input or an argument cannot be read.
    Unreadable = 2,
    /// 3: the adapter cannot be made ready or started, or breaks the protocol.
    Adapter = 3,
    /// 4: nothing was left to run.
    NothingRan = 4,
    /// 5: an interrupt or a limit ended the run before its end.
    StoppedEarly = 5,
}

/// Why a command could not do its work.
#[derive(Debug)]
struct Failure {
    exit: Exit,
    message: String,
}

/// What every command gives.
type Outcome = Result<Exit, Failure>;

/// The stack of the thread that does the work. It is only address space until it is used.
const STACK: usize = 1 << 30;

/// Runs the command line of this process.
pub fn main() -> ExitCode {
    let cli = Cli::parse();
    let work = thread::Builder::new().name("relax-spec".to_string()).stack_size(STACK);
    let result = match work.spawn(move || dispatch(cli.command)) {
        Ok(handle) => handle.join().unwrap_or_else(|_| Err(Failure::new(Exit::Unreadable, "internal error"))),
        Err(error) => Err(Failure::new(Exit::Unreadable, format!("cannot start a thread: {error}"))),
    };
    match result {
        Ok(exit) => ExitCode::from(exit as u8),
        Err(failure) => {
            if !failure.message.is_empty() {
                eprintln!("error: {}", failure.message);
            }
            ExitCode::from(failure.exit as u8)
        }
    }
}

fn dispatch(command: Command) -> Outcome {
    match command {
        Command::Check(args) => check::run(&args),
        Command::Run(args) => run::run(&args),
        Command::Build(args) => build::run(&args),
        Command::Vm(args) => vm::run(&args),
        Command::Judge(args) => judge::run(&args),
        Command::Normalize(args) => normalize::run(&args),
        Command::Convert(args) => convert::run(&args),
        Command::Types(args) => types::run(&args),
        Command::Refine(args) => refine::run(&args),
        Command::Rules(args) => rules::run(&args),
        Command::Explain(args) => explain::run(&args),
        Command::Errata(args) => errata::run(&args),
        Command::Conform(args) => conform::run(&args),
        Command::Fuzz(args) => fuzz::run(&args),
        Command::Ops(args) => ops::run(&args),
        Command::Adapter(args) => adapter::run(&args),
        Command::Export(args) => export::run(&args),
        Command::Completions(args) => completions::run(&args),
    }
}

impl Failure {
    fn new(exit: Exit, message: impl fmt::Display) -> Failure {
        Failure { exit, message: message.to_string() }
    }

    fn unreadable(message: impl fmt::Display) -> Failure {
        Failure::new(Exit::Unreadable, message)
    }
}

/// A reader that went away (`relax-spec rules | head`) is not an error.
impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Failure {
        match error.kind() {
            io::ErrorKind::BrokenPipe => Failure::new(Exit::AsExpected, ""),
            _ => Failure::unreadable(error),
        }
    }
}

impl From<CaseError> for Failure {
    fn from(error: CaseError) -> Failure {
        Failure::unreadable(error)
    }
}

impl From<StartError> for Failure {
    fn from(error: StartError) -> Failure {
        let exit = match &error {
            StartError::Interrupted => Exit::StoppedEarly,
            StartError::Spawn { .. }
            | StartError::Timeout { .. }
            | StartError::Ended { .. }
            | StartError::Protocol { .. } => Exit::Adapter,
        };
        Failure::new(exit, error)
    }
}

impl From<SetupError> for Failure {
    fn from(error: SetupError) -> Failure {
        let exit = match &error {
            SetupError::CommandLine(_) | SetupError::Unknown(_) => Exit::Unreadable,
            SetupError::NoCache | SetupError::Python(_) | SetupError::Install { .. } | SetupError::Io { .. } => {
                Exit::Adapter
            }
        };
        Failure::new(exit, error)
    }
}

/// Writes results.
fn print(text: &str) -> Result<(), Failure> {
    let mut out = io::stdout().lock();
    out.write_all(text.as_bytes())?;
    Ok(out.flush()?)
}
