//! `relax-spec vm`.

use std::io;
use std::path::{Path, PathBuf};

use clap::Subcommand;

use super::budget::{CommandBudget, CommandLimits, InputSizes, TimeBudget};
use super::choice::Choosing;
use super::externs::Externs;
use super::given::EntryArguments;
use super::run::{RunTranscript, Telling, tell};
use super::{CommandResult, Exit, Failure, options as shared, print, print_rendered};
use ask::executables::answer;
use ask::extern_process::ExternProcess;
use ask::serve::next_line;
use relax_spec::data::from_json;
use relax_spec::eval::prelude;
use relax_spec::grammar::visible_json;
use relax_spec::judge::Cx;
use relax_spec::syntax::load::read_text;
use relax_spec::value::from_specs;
use relax_spec::vm::{self, Executable, TvmExecutable};

/// Run and verify executables of the virtual machine
#[derive(clap::Args)]
pub struct Args {
    #[command(subcommand)]
    command: VmCommand,
}

#[derive(Subcommand)]
enum VmCommand {
    Run(Box<VmRun>),
    Verify(Verify),
    Answer(VmAnswer),
}

/// Run a function of an executable
#[derive(clap::Args)]
#[command(after_help = "Example:
  relax-spec build model.py --output model.rvm
  relax-spec vm run model.rvm --entry main --arg '[1, 2, 3]:float32' --trace")]
struct VmRun {
    /// As `relax-spec build` writes it, as text or in JSON; `-` is standard input
    #[arg(value_name = "EXEC")]
    file: PathBuf,
    /// The global symbol of the function to start
    #[arg(long, value_name = "NAME", default_value = "main")]
    entry: String,
    #[command(flatten)]
    given: EntryArguments,
    /// Show each instruction with the register that it writes and the shape heap
    #[arg(long)]
    trace: bool,
    /// Print every element of the result
    #[arg(long)]
    full: bool,
    /// Write the result into a file of NumPy, too
    #[arg(long, value_name = "OUT.npz")]
    save: Option<PathBuf>,
    /// Run without verifying first; a fault shows only when the run reaches it
    #[arg(long)]
    unverified: bool,
    /// How many steps the run may take [default: 200000000; for a program without recursion and `while`, limited only
    /// by the time]
    #[arg(long, value_name = "STEPS")]
    fuel: Option<u64>,
    /// Limit of the bytes that the tensors of the run, including its arguments, and the temporaries of operators use at
    /// the same time. K, M and G are powers of 1024 [default: 1G, and the size of the files of arrays]
    #[arg(long, value_name = "BYTES", value_parser = shared::bytes)]
    memory: Option<u64>,
    /// Maximum depth of calls [default: 50000]
    #[arg(long, value_name = "CALLS")]
    depth: Option<usize>,
    #[command(flatten)]
    externs: Externs,
    #[command(flatten)]
    choosing: Choosing,
    #[command(flatten)]
    budget: TimeBudget,
}

/// Check an executable against the assumptions of the machine
#[derive(clap::Args)]
struct Verify {
    /// As `relax-spec build` writes it, as text or in JSON; `-` is standard input
    #[arg(value_name = "EXEC")]
    file: PathBuf,
    #[command(flatten)]
    budget: CommandBudget,
}

/// Run executables of TVM, one per line of standard input
///
/// A line is a JSON object: `executable`, as the adapter's question `executable` gives it, `entry`, `args`, `identity`
/// and `edition`. The reply is a line as to the question `evaluate`.
#[derive(clap::Args)]
struct VmAnswer {}

impl Args {
    /// The limits of the command.
    pub fn limits(&self) -> Option<CommandLimits> {
        match &self.command {
            VmCommand::Run(args) => Some(args.budget.limits(args.memory(), InputSizes::of([&args.file]))),
            VmCommand::Verify(args) => Some(args.budget.limits(InputSizes::of([&args.file]))),
            VmCommand::Answer(_) => Some(CommandLimits::without_end()),
        }
    }
}

impl VmRun {
    /// The limit for the tensors of the run.
    fn memory(&self) -> u64 {
        self.memory.unwrap_or_else(|| self.given.memory())
    }
}

pub fn run(args: &Args) -> CommandResult {
    match &args.command {
        VmCommand::Run(args) => start(args),
        VmCommand::Verify(args) => {
            let executable = read(&args.file)?;
            faults(&args.file, &executable)?;
            print(&format!("{} functions are as they should be\n", executable.functions.len()))?;
            Ok(Exit::AsExpected)
        }
        VmCommand::Answer(VmAnswer {}) => {
            let mut stdin = io::stdin().lock();
            while let Some(line) = next_line(&mut stdin)? {
                print_rendered(&visible_json(&format!("{}\n", answer(line.trim_end_matches(['\n', '\r'])))))?;
            }
            Ok(Exit::AsExpected)
        }
    }
}

fn start(args: &VmRun) -> CommandResult {
    // A compiled program has no attributes any more.
    let choice = args.choosing.without_module(&args.file)?;
    let executable = read(&args.file)?;
    if !args.unverified {
        faults(&args.file, &executable)?;
    }
    let mut options = vm::VmOptions::new(prelude());
    options.trace = args.trace;
    options.fuel = shared::fuel(args.fuel, || vm::ends(&executable));
    options.memory = args.memory();
    options.max_depth = args.depth.unwrap_or(options.max_depth);
    let externs = args.externs.bind(&mut options.registry)?;
    let specs = args.given.load(None, options.memory)?;
    let values = from_specs(&specs, &options.registry).map_err(Failure::unreadable)?;
    let run = vm::run(&mut choice.cx(Cx::new()), &executable, &args.entry, values, &options);
    let telling = Telling { trace: args.trace, full: args.full, save: args.save.as_deref() };
    let ended = tell(&telling, &RunTranscript::of_machine(run));
    match externs.iter().find_map(ExternProcess::failure) {
        Some(error) => Err(Failure::new(Exit::Adapter, error)),
        None => ended,
    }
}

/// Reads the text form, the data form, which begins with a brace, or the description of an executable of TVM by its
/// adapter.
fn read(path: &Path) -> Result<Executable, Failure> {
    let text = read_text(path).map_err(|error| Failure::unreadable(format!("{}: {error}", path.display())))?;
    let place = |error: String| Failure::unreadable(format!("{}: {error}", path.display()));
    executable(&text).map_err(place)
}

pub(super) fn executable(text: &str) -> Result<Executable, String> {
    if !text.trim_start().starts_with('{') {
        return vm::read(text).map_err(|error| error.to_string());
    }
    let of_tvm = |own: String| match from_json::<TvmExecutable>(text) {
        Ok(made) => vm::import(&made).map_err(|error| error.to_string()),
        Err(_) => Err(own),
    };
    from_json(text).map_err(|error| error.to_string()).or_else(of_tvm)
}

/// Whether a text is an executable, as opposed to a program.
pub(super) fn is_executable(text: &str) -> bool {
    text.starts_with("relax-spec executable ") || text.starts_with('{') && executable(text).is_ok()
}

pub(super) fn faults(path: &Path, executable: &Executable) -> Result<(), Failure> {
    let faults = vm::verify(executable);
    if faults.is_empty() {
        return Ok(());
    }
    let lines: Vec<String> = faults.iter().map(|fault| format!("{}: {fault}", path.display())).collect();
    Err(Failure::new(Exit::Findings, lines.join("\n")))
}
