//! Starts implementations with the additions for a terminal: progress, and an end on request.

use std::process::Command;
use std::time::Duration;

use indicatif::ProgressBar;

use super::terminal::{progress, remark};
use super::{Exit, Failure};
use ask::adapters::{Adapter, SetupError, own_path};
use ask::implementation::{ChildProcess, Implementation as _, Launch};
use ask::process::{CommandLine, Interrupt, MAX_REPLY};
use ask::supervisor;
use relax_spec::book::Edition;
use relax_spec::oracle::Engine;

/// The time that an adapter may take to start, where no `--startup-timeout` says otherwise.
pub const STARTUP: Duration = Duration::from_secs(120);

/// Sets up an adapter. A pipe gets plain lines, because a progress bar needs a terminal.
pub fn prepare(adapter: &Adapter, startup: Duration) -> Result<CommandLine, SetupError> {
    let progress = progress(ProgressBar::new_spinner());
    progress.enable_steady_tick(Duration::from_millis(120));
    let tell = |text: String| {
        if progress.is_hidden() { remark(&format!("{text}\n")) } else { progress.set_message(text) }
    };
    let command = adapter.prepare(&tell, startup);
    progress.finish_and_clear();
    command
}

/// The name of an adapter for `--adapter`. `given` is the name on the command line, which may stand for several.
pub fn name_of(adapter: &Adapter, given: Option<&str>) -> String {
    match adapter {
        Adapter::Oracle(Engine::Evaluator) => "builtin:evaluator".to_string(),
        // The original quoting of its words is lost.
        Adapter::Command(command) => given.map_or_else(|| command.to_string(), str::to_string),
        Adapter::Oracle(Engine::Machine) | Adapter::Tvm(_) | Adapter::TvmExecutables(_) | Adapter::TvmOf { .. } => {
            adapter.to_string()
        }
    }
}

/// The limits of a command on the answers that it requests.
#[derive(Clone, Copy)]
pub struct AnswerLimits {
    /// The time limit of an answer.
    pub timeout: Duration,
    /// The edition of the judgement; `None` for the one that the implementation claims.
    pub edition: Option<Edition>,
}

/// The parameters to start the processes of an adapter.
pub fn launch(adapter: &Adapter, limits: AnswerLimits, interrupt: &Interrupt) -> Result<Launch, SetupError> {
    Ok(Launch {
        command: prepare(adapter, STARTUP)?,
        startup: STARTUP,
        timeout: limits.timeout,
        max_reply: MAX_REPLY,
        edition: limits.edition,
        spare: false,
        interrupt: interrupt.clone(),
    })
}

/// Starts the single process of a command that asks one question after another.
pub fn start(adapter: &Adapter, limits: AnswerLimits, interrupt: &Interrupt) -> Result<ChildProcess, Failure> {
    let launch = launch(adapter, limits, interrupt)?;
    Ok(ChildProcess::start(launch)?)
}

/// Ends a conversation. Fails if there was any output about questions that were answered before.
pub fn kept_to_the_protocol(implementation: &mut ChildProcess) -> Result<(), Failure> {
    implementation.finish();
    match implementation.late().first() {
        None => Ok(()),
        Some(late) => Err(Failure::new(Exit::Adapter, format!("the adapter broke the protocol: {}", late.message))),
    }
}

/// Has the processes of adapters ended when this process is killed.
pub fn supervised() -> Result<(), Failure> {
    Ok(supervisor::start(Command::new(own_path()?).arg("supervise"))?)
}

/// An interrupt from the keyboard. The processes of adapters are in groups of their own, which a terminal does not
/// signal. So this process must live on to end them. A second signal ends it at once, and then the supervisor ends
/// them.
pub fn interrupt() -> Result<Interrupt, Failure> {
    supervised()?;
    let interrupt = Interrupt::default();
    #[cfg(not(target_family = "wasm"))]
    for signal in [signal_hook::consts::SIGINT, signal_hook::consts::SIGTERM] {
        signal_hook::flag::register_conditional_shutdown(signal, Exit::StoppedEarly as i32, interrupt.flag())?;
        signal_hook::flag::register(signal, interrupt.flag())?;
    }
    Ok(interrupt)
}
