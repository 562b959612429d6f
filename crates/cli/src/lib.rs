//! The command `relax-spec`, for its program and for the Python package, which runs it in its own process. Results are
//! written to standard output, everything else to standard error.

mod adapter;
mod annotations;
mod arrays;
mod asking;
mod assume;
mod blame;
mod budget;
mod build;
mod check;
mod choice;
mod cite;
mod compare;
mod completions;
mod conflicts;
mod conform;
mod convert;
mod diff;
mod editions;
mod errata;
mod errata_text;
mod explain;
mod explain_case;
mod export;
mod externs;
mod folder;
mod fuzz;
mod given;
mod input;
mod judge;
mod library;
#[cfg(feature = "mcp")]
mod mcp;
mod migrate;
mod normalize;
mod notebook;
mod ops;
mod options;
mod promote;
mod reduce;
mod refine;
mod refused;
mod render;
mod report;
mod reports;
mod reproduce;
mod rules;
mod run;
mod serve;
mod settings;
mod supervise;
mod terminal;
mod types;
mod value;
mod vm;

use std::cell::RefCell;
use std::ffi::OsString;
use std::fmt;
use std::io::{self, IsTerminal as _, Write};
use std::sync::mpsc::{Receiver, channel};
use std::thread;

use clap::{CommandFactory as _, FromArgMatches as _, Parser, Subcommand};

use budget::InputSizes;

use ask::adapters::SetupError;
use ask::worker::StartError;
use relax_spec::grammar::{visible, visible_json};
use relax_spec::suite::CaseError;

pub use blame::pair::{JudgedModule, MeaningBudget, smaller_program};
pub use fuzz::{ProgramRecorder, ProgramTapes};
pub use judge::{Operand, question};

/// Executable reference semantics, test oracle and conformance suite for the Relax IR.
#[derive(Parser)]
#[command(name = "relax-spec", version, about, max_term_width = 100, after_help = EXIT_CODES)]
struct Cli {
    #[command(flatten)]
    terminal: terminal::TerminalOptions,
    #[command(subcommand)]
    command: RelaxSpecCommand,
}

const EXIT_CODES: &str = "Exit status: 0 as expected; 1 findings or unexpected results, an unexpected pass included; \
2 usage or unreadable input; 3 the adapter could not start or broke the protocol; 4 nothing ran, or no question was answered; 5 stopped early.";

/// A command is built when the command line names it, or when help lists what each of them does.
#[derive(Subcommand)]
#[command(defer = true)]
enum RelaxSpecCommand {
    Check(check::Args),
    Run(run::Args),
    Build(build::Args),
    Vm(vm::Args),
    Judge(judge::Args),
    Normalize(normalize::Args),
    Convert(convert::Args),
    Migrate(migrate::Args),
    Types(types::Args),
    Refine(refine::Args),
    Rules(rules::Args),
    Explain(explain::Args),
    Editions(editions::Args),
    Errata(errata::Args),
    Conform(conform::Args),
    Report(compare::Args),
    Fuzz(fuzz::Args),
    Diff(diff::Args),
    Blame(blame::Args),
    Reduce(reduce::Args),
    Reproduce(reproduce::Args),
    Promote(promote::Args),
    Ops(ops::Args),
    Adapter(adapter::Args),
    Export(export::Args),
    Server(serve::Args),
    #[cfg(feature = "mcp")]
    Mcp(mcp::Args),
    Completions(completions::Args),
    #[command(hide = true)]
    Supervise(supervise::Args),
}

impl RelaxSpecCommand {
    /// The limits of a command that judges untrusted programs.
    fn limits(&self) -> Option<budget::CommandLimits> {
        match self {
            RelaxSpecCommand::Check(args) => Some(args.budget.limits(InputSizes::of(&args.files))),
            RelaxSpecCommand::Run(args) => Some(args.limits()),
            RelaxSpecCommand::Build(args) => Some(args.budget.limits(InputSizes::of([&args.file]))),
            RelaxSpecCommand::Vm(args) => args.limits(),
            RelaxSpecCommand::Judge(args) => Some(args.budget.limits(InputSizes::default())),
            RelaxSpecCommand::Normalize(args) => Some(args.budget.limits(InputSizes::of([&args.file]))),
            RelaxSpecCommand::Convert(args) => Some(args.budget.limits(InputSizes::of([&args.file]))),
            RelaxSpecCommand::Migrate(args) => Some(args.budget.limits(InputSizes::of([&args.file]))),
            RelaxSpecCommand::Types(args) => Some(args.budget.limits(InputSizes::of([&args.file]))),
            RelaxSpecCommand::Refine(args) => {
                Some(args.budget.limits(InputSizes::of([&args.before, &args.after]).with(&args.given)))
            }
            RelaxSpecCommand::Blame(args) => Some(args.budget.limits(InputSizes::of([&args.file]).with(&args.given))),
            RelaxSpecCommand::Adapter(_)
            | RelaxSpecCommand::Diff(_)
            | RelaxSpecCommand::Reduce(_)
            | RelaxSpecCommand::Reproduce(_) => Some(budget::CommandLimits::without_end()),
            RelaxSpecCommand::Promote(_) => Some(budget::CommandLimits::usual()),
            RelaxSpecCommand::Rules(_)
            | RelaxSpecCommand::Explain(_)
            | RelaxSpecCommand::Errata(_)
            | RelaxSpecCommand::Editions(_)
            | RelaxSpecCommand::Conform(_)
            | RelaxSpecCommand::Report(_)
            | RelaxSpecCommand::Fuzz(_)
            | RelaxSpecCommand::Ops(_)
            | RelaxSpecCommand::Export(_)
            | RelaxSpecCommand::Server(_)
            | RelaxSpecCommand::Completions(_)
            | RelaxSpecCommand::Supervise(_) => None,
            #[cfg(feature = "mcp")]
            RelaxSpecCommand::Mcp(_) => None,
        }
    }
}

/// The result of a command, as the exit status.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Exit {
    /// 0: everything is as expected, including known divergences.
    AsExpected = 0,
    /// 1: the program, or an answer of the implementation, has an error.
    Findings = 1,
    /// 2: an input or an argument cannot be read.
    Unreadable = 2,
    /// 3: the adapter cannot be set up or started, or violates the protocol.
    Adapter = 3,
    /// 4: nothing was left to run, or no question was answered.
    NothingRan = 4,
    /// 5: an interrupt or a limit ended the run early.
    StoppedEarly = 5,
}

impl Exit {
    /// The status of a command with two parts: the worse of the two. That nothing was left to run in one part does not
    /// count if something ran in the other.
    fn and(self, other: Exit) -> Exit {
        match (self == Exit::NothingRan, other == Exit::NothingRan) {
            (true, _) => other,
            (false, true) => self,
            (false, false) => self.max(other),
        }
    }
}

/// The reason why a command could not do its work.
#[derive(Debug)]
struct Failure {
    exit: Exit,
    message: String,
}

/// The result of every command.
type CommandResult = Result<Exit, Failure>;

/// The stack of the thread that does the work. It is only address space until it is used.
const STACK: usize = 1 << 30;

/// Runs a command line, the name of the program first, on the streams of the process.
pub fn command(line: impl IntoIterator<Item = OsString>) -> Exit {
    let line: Vec<OsString> = line.into_iter().collect();
    let (limit, limits) = channel();
    let work = move || {
        let cli = match parsed(line) {
            Ok(cli) => cli,
            Err(error) if error.use_stderr() => return Ok(refuse(&error)),
            Err(error) => error.exit(),
        };
        cli.terminal.choose();
        // Without somebody who waits there is nobody to be told.
        let _ = limit.send(cli.command.limits());
        dispatch(cli.command)
    };
    end(match spawn(work) {
        Ok(given) => match limits.recv().ok().flatten() {
            Some(limits) => limits.wait(&given).map_err(|spent| Failure::new(Exit::StoppedEarly, spent)),
            None => Ok(given.recv().ok()),
        },
        Err(failure) => Err(failure),
    })
}

/// The command line, the name of the program first.
fn parsed(line: impl IntoIterator<Item = OsString>) -> Result<Cli, clap::Error> {
    let line: Vec<OsString> = line.into_iter().collect();
    let mut commands = Cli::command();
    if line.get(1).is_none_or(|word| commands.find_subcommand(word).is_none()) {
        commands = with_what_they_do(commands);
    }
    let mut matches = commands.try_get_matches_from_mut(line)?;
    Cli::from_arg_matches_mut(&mut matches).map_err(|error| error.format(&mut commands))
}

/// The list of commands for help. Only a command that is built says what it does.
fn with_what_they_do(commands: clap::Command) -> clap::Command {
    let mut built = Cli::command();
    built.build();
    let about = |name: &str| built.find_subcommand(name)?.get_about().cloned();
    commands.mut_subcommands(|command| match about(command.get_name()) {
        Some(about) => command.about(about),
        None => command,
    })
}

/// What a command has written, and its exit status.
#[derive(Clone, Default, PartialEq, Eq, Debug)]
pub struct CommandOutput {
    /// The exit status.
    pub exit: u8,
    /// The results.
    pub out: String,
    /// Everything else.
    pub err: String,
}

/// Runs a command line that starts no process, the name of the program first, for a caller in the same process. It has
/// no limits but those of its judgements: only the end of a process would end it early.
pub fn command_output(line: impl IntoIterator<Item = OsString>) -> CommandOutput {
    let cli = parsed(line);
    let work = move || {
        WRITTEN.set(Some(CommandOutput::default()));
        let exit = match cli {
            Ok(cli) => end(Ok(Some(dispatch(cli.command)))),
            Err(error) if error.use_stderr() => refuse(&error),
            Err(help) => end(Ok(Some(print(&help.render().to_string()).map(|()| Exit::AsExpected)))),
        };
        CommandOutput { exit: exit as u8, ..WRITTEN.take().unwrap_or_default() }
    };
    let failed = |err: String| CommandOutput { exit: Exit::Unreadable as u8, out: String::new(), err };
    match spawn(work) {
        Ok(given) => given.recv().unwrap_or_else(|_| failed("error: internal error\n".to_string())),
        Err(failure) => failed(format!("error: {}\n", failure.message)),
    }
}

/// Starts the thread that does the work. In a browser there are none, and the work is done at once.
fn spawn<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> Result<Receiver<T>, Failure> {
    let (give, given) = channel();
    if cfg!(target_family = "wasm") {
        // The receiver is here, so it is received.
        let _ = give.send(work());
        return Ok(given);
    }
    let thread = thread::Builder::new().name("relax-spec".to_string()).stack_size(STACK);
    let spawned = thread.spawn(move || give.send(work()));
    spawned.map_err(|error| Failure::new(Exit::Unreadable, format!("cannot start a thread: {error}")))?;
    Ok(given)
}

/// The error repeats parts of the command line, which may contain file names from untrusted sources.
fn refuse(error: &clap::Error) -> Exit {
    note(&visible(&error.render().to_string()));
    note(&refused::why(error).unwrap_or_default());
    Exit::Unreadable
}

/// Tells of a failure; `None` if there is no result at all.
fn end(result: Result<Option<CommandResult>, Failure>) -> Exit {
    let internal = || Failure::new(Exit::Unreadable, "internal error");
    match result.and_then(|result| result.ok_or_else(internal)?) {
        Ok(exit) => exit,
        Err(failure) => {
            if !failure.message.is_empty() {
                note(&format!("error: {}\n", visible(&failure.message)));
            }
            failure.exit
        }
    }
}

fn dispatch(command: RelaxSpecCommand) -> CommandResult {
    match command {
        RelaxSpecCommand::Check(args) => check::run(&args),
        RelaxSpecCommand::Run(args) => run::run(&args),
        RelaxSpecCommand::Build(args) => build::run(&args),
        RelaxSpecCommand::Vm(args) => vm::run(&args),
        RelaxSpecCommand::Judge(args) => judge::run(&args),
        RelaxSpecCommand::Normalize(args) => normalize::run(&args),
        RelaxSpecCommand::Convert(args) => convert::run(&args),
        RelaxSpecCommand::Migrate(args) => migrate::run(&args),
        RelaxSpecCommand::Types(args) => types::run(&args),
        RelaxSpecCommand::Refine(args) => refine::run(&args),
        RelaxSpecCommand::Rules(args) => rules::run(&args),
        RelaxSpecCommand::Explain(args) => explain::run(&args),
        RelaxSpecCommand::Errata(args) => errata::run(&args),
        RelaxSpecCommand::Editions(args) => editions::run(&args),
        RelaxSpecCommand::Conform(args) => conform::run(&args),
        RelaxSpecCommand::Report(args) => compare::run(&args),
        RelaxSpecCommand::Fuzz(args) => fuzz::run(&args),
        RelaxSpecCommand::Diff(args) => diff::run(&args),
        RelaxSpecCommand::Blame(args) => blame::run(&args),
        RelaxSpecCommand::Reduce(args) => reduce::run(&args),
        RelaxSpecCommand::Reproduce(args) => reproduce::run(&args),
        RelaxSpecCommand::Promote(args) => promote::run(&args),
        RelaxSpecCommand::Ops(args) => ops::run(&args),
        RelaxSpecCommand::Adapter(args) => adapter::run(&args),
        RelaxSpecCommand::Export(args) => export::run(&args),
        RelaxSpecCommand::Server(args) => serve::run(&args),
        #[cfg(feature = "mcp")]
        RelaxSpecCommand::Mcp(args) => mcp::run(&args),
        RelaxSpecCommand::Completions(args) => completions::run(&args),
        RelaxSpecCommand::Supervise(args) => supervise::run(&args),
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

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Failure {
        Failure::unreadable(error)
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
            SetupError::NoCache
            | SetupError::Python(_)
            | SetupError::NoTvm { .. }
            | SetupError::Install { .. }
            | SetupError::Io { .. } => Exit::Adapter,
        };
        Failure::new(exit, error)
    }
}

/// Writes results. Untrusted text in them is escaped, so that a terminal does not interpret it.
fn print(text: &str) -> Result<(), Failure> {
    print_rendered(&visible(text))
}

/// Writes results in which untrusted text has been escaped, with our own colours and with programs unchanged.
fn print_rendered(text: &str) -> Result<(), Failure> {
    if written(|output| output.out.push_str(text)) {
        return Ok(());
    }
    let mut out = io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        // A reader that stops early (`| head`) does not change the result.
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        written => Ok(written?),
    }
}

/// Writes a program unchanged, so that it can be read again. For a terminal, control characters are escaped.
fn print_program(text: &str) -> Result<(), Failure> {
    if io::stdout().is_terminal() && !written(|_| ()) { print(text) } else { print_rendered(text) }
}

/// Writes JSON, with control characters in an escaped form that JSON allows.
fn print_json(value: &impl serde::Serialize) -> Result<(), Failure> {
    let text = serde_json::to_string(value).map_err(Failure::unreadable)?;
    print_rendered(&format!("{}\n", visible_json(&text)))
}

/// Writes messages other than results. It does not matter if nobody reads them.
fn note(text: &str) {
    if written(|output| output.err.push_str(text)) {
        return;
    }
    let _ = io::stderr().lock().write_all(text.as_bytes());
}

thread_local! {
    /// What the command of this thread has written, if it is for a caller in the same process.
    static WRITTEN: RefCell<Option<CommandOutput>> = const { RefCell::new(None) };
}

/// Adds to the output of this thread; false if it goes to the streams of the process.
fn written(add: impl FnOnce(&mut CommandOutput)) -> bool {
    WRITTEN.with_borrow_mut(|output| output.as_mut().map(add).is_some())
}
