//! The module after each pass that TVM runs on a program: `conformance/adapters/tvm/stages.py` records it.

use std::path::Path;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::process::{CommandLine, Interrupt, LineProcess, MAX_REPLY, Received, deadline_in};

/// The passes to run.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
#[serde(untagged)]
pub enum Pipeline {
    /// `zero`, `default` or `target`.
    Named(String),
    /// Passes of `relax.transform`, in this order.
    Passes(Vec<String>),
}

/// The request for the stages of a program.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct StagesRequest {
    /// The program, in the dialect of the release.
    pub script: String,
    /// The passes to run.
    pub pipeline: Pipeline,
    /// The names of passes that are switched off.
    pub disable: Vec<String>,
}

/// A pass that ran.
#[derive(Clone, PartialEq, Eq, Debug, Deserialize)]
pub struct PassStage {
    /// The name of the pass; `input` for the module before the first pass.
    pub pass: String,
    /// The text of the module if the pass changed it.
    pub text: Option<String>,
}

/// A line of the recorder.
#[derive(Deserialize)]
#[serde(untagged)]
enum StageLine {
    Refused {
        error: String,
        pass: Option<String>,
    },
    Stage(PassStage),
    Done {
        #[serde(rename = "done")]
        _done: bool,
    },
}

/// The reason why the record has no further stage.
#[derive(Debug, thiserror::Error)]
pub enum StagesError {
    /// An adapter that does not run passes.
    #[error("only a release of TVM runs passes, and `{0}` is none")]
    NoPasses(String),
    /// The process cannot be started.
    #[error("{0}")]
    Io(#[from] std::io::Error),
    /// TVM raised an exception, or its process ended.
    #[error("{place} refuses the program: {message}")]
    Refused {
        /// The pass; where it is not known, the last one that ended.
        place: String,
        /// The words of TVM.
        message: String,
    },
    /// A line that is no stage.
    #[error("the recorder of passes wrote `{0}`")]
    Malformed(String),
    /// No line came in time.
    #[error("no pass ended within {0} s")]
    TimedOut(u64),
    /// The user asked to stop.
    #[error("interrupted")]
    Interrupted,
}

/// The recorder beside the adapter that a command starts.
fn recorder(command: &CommandLine) -> Result<CommandLine, StagesError> {
    let [script] = command.args.as_slice() else { return Err(StagesError::NoPasses(command.to_string())) };
    let script = Path::new(script);
    if script.file_name().is_none_or(|name| name != "adapter.py") {
        return Err(StagesError::NoPasses(command.to_string()));
    }
    let args = vec![script.with_file_name("stages.py").display().to_string()];
    Ok(CommandLine { program: command.program.clone(), args })
}

/// Records the stages of a program. `take` receives each one as soon as it is there.
pub fn record_stages<E: From<StagesError>>(
    command: &CommandLine,
    request: &StagesRequest,
    patience: Duration,
    interrupt: &Interrupt,
    mut take: impl FnMut(PassStage) -> Result<(), E>,
) -> Result<(), E> {
    let mut process = LineProcess::start(&recorder(command)?, interrupt, MAX_REPLY).map_err(StagesError::from)?;
    process.send(serde_json::to_string(request).map_err(|error| StagesError::Malformed(error.to_string()))?);
    process.close();
    let mut after = "reading".to_string();
    loop {
        let line = match process.receive(deadline_in(patience)) {
            Received::Line(line) => line,
            Received::Malformed(message) => return Err(StagesError::Malformed(message).into()),
            Received::TimedOut => return Err(StagesError::TimedOut(patience.as_secs()).into()),
            Received::Interrupted => return Err(StagesError::Interrupted.into()),
            Received::Ended => {
                let place = format!("TVM's process ended after {after}, and");
                return Err(StagesError::Refused { place, message: process.last_stderr() }.into());
            }
        };
        match serde_json::from_str(&line) {
            Ok(StageLine::Stage(stage)) => {
                after.clone_from(&stage.pass);
                take(stage)?;
            }
            Ok(StageLine::Done { .. }) => return Ok(()),
            Ok(StageLine::Refused { error, pass }) => {
                let place = pass.unwrap_or_else(|| format!("TVM, after {after},"));
                return Err(StagesError::Refused { place, message: error }.into());
            }
            Err(_) => return Err(StagesError::Malformed(line).into()),
        }
    }
}
