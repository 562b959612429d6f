//! Processes that provide packed functions, as `run` and `refine` take them.

use std::time::Duration;

use super::asking::interrupt;
use super::{Failure, options};
use ask::extern_process::ExternProcess;
use ask::process::{CommandLine, Interrupt};
use relax_spec::value::Registry;

/// The time that a process may take to start.
const STARTUP: Duration = Duration::from_secs(30);

/// The options that name them.
#[derive(clap::Args)]
pub struct Externs {
    /// A process that provides packed functions, over the protocol that conformance/INTERPRETING.md describes
    #[arg(long = "extern", value_name = "CMD")]
    commands: Vec<String>,
    /// Time limit of a call of such a function in seconds
    #[arg(long, value_name = "S", default_value = "30", value_parser = options::seconds)]
    extern_timeout: Duration,
}

impl Externs {
    /// Starts the processes. A later one hides functions of the same names.
    pub fn bind(&self, registry: &mut Registry) -> Result<Vec<ExternProcess>, Failure> {
        let interrupt = if self.commands.is_empty() { Interrupt::default() } else { interrupt()? };
        let bind = |line: &String| {
            let command = CommandLine::split(line)
                .ok_or_else(|| Failure::unreadable(format!("`{line}` is not a command line (unbalanced quotes?)")))?;
            Ok(ExternProcess::bind(registry, &command, STARTUP, self.extern_timeout, &interrupt)?)
        };
        self.commands.iter().map(bind).collect()
    }
}
