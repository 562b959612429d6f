//! The module after each pass that TVM runs on a program: `conformance/adapters/tvm/stages.py` records it.

use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::library::SavedLibrary;
use crate::process::{CommandLine, Interrupt, LineProcess, MAX_REPLY, Received, deadline_in};
use crate::protocol::{AdapterRequest, prim_func_text};
use relax_spec::data::json::to_value;
use relax_spec::grammar::IrModule;
use relax_spec::judge::with_stack;
use relax_spec::syntax::tvmscript::{Dialect, print_module};

/// A pass to run, or a pipeline of passes.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct PassStep {
    /// `zero`, `default`, `target`, a pass of `relax.transform`, or `FILE.py:NAME`.
    pub name: String,
    /// The arguments of the pass: a list, or a map of names.
    pub arguments: Option<Value>,
}

/// The request for the stages of a program.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct StagesRequest {
    /// The program, in the dialect of the release.
    script: String,
    /// Its syntax.
    module: Value,
    /// Its `PrimFunc`s, as text.
    prim_funcs: Option<String>,
    /// The edition that the release claims.
    edition: &'static str,
    /// The passes to run.
    steps: Vec<PassStep>,
    /// The names of passes that are switched off.
    disable: Vec<String>,
    /// The mode of the generation of code: `bytecode`, `compiled` or `none`.
    exec: String,
}

impl StagesRequest {
    /// All these passes on a program.
    pub fn new(module: &IrModule, dialect: Dialect, steps: Vec<PassStep>, exec: &str) -> StagesRequest {
        StagesRequest {
            script: print_module(module, dialect),
            module: to_value(module),
            prim_funcs: prim_func_text(module),
            edition: dialect.claimed_edition().name(),
            steps,
            disable: Vec::new(),
            exec: exec.to_string(),
        }
    }

    /// The same passes but for these.
    pub fn without(self, disable: Vec<String>) -> StagesRequest {
        StagesRequest { disable, ..self }
    }
}

/// A pass that ran.
#[derive(Clone, PartialEq, Eq, Debug, Deserialize)]
pub struct PassStage {
    /// The name of the pass; `Normalize` or `input` for the module before the first pass.
    pub pass: String,
    /// The text of the module if the pass changed it.
    pub text: Option<String>,
    /// The syntax of its functions, where the text does not tell it, and the text of its `PrimFunc`s.
    #[serde(default)]
    pub syntax: Option<(Value, String)>,
    /// Whether it is one over `PrimFunc`s during code generation. The text holds only these.
    #[serde(default)]
    pub prim_funcs: bool,
    /// The later passes over `PrimFunc`s, which have no text that can be run.
    #[serde(default)]
    pub of_prim_funcs: Vec<String>,
    /// Whether the recorder offers the code as a library.
    #[serde(default)]
    pub library: bool,
}

/// A refusal by TVM, or the end of its process.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Refusal {
    /// The pass, if known.
    pub pass: Option<String>,
    /// The message of TVM.
    pub message: String,
    /// The operators that the message names and that `LegalizeOps` should lower.
    pub left: Vec<String>,
    /// The passes without which TVM refuses nothing, the last one first.
    pub without: Vec<String>,
}

/// A line of the recorder.
#[derive(Deserialize)]
#[serde(untagged)]
enum StageLine {
    Begin {
        begin: String,
    },
    Refused {
        error: String,
        pass: Option<String>,
        #[serde(default)]
        left: Vec<String>,
    },
    Without {
        without: Vec<String>,
    },
    Unknown {
        unknown: String,
    },
    Stage(PassStage),
    Done {
        #[serde(rename = "done")]
        _done: bool,
        #[serde(default)]
        seconds: Option<f64>,
    },
}

/// The reason why the record has no further stage.
#[derive(Debug, thiserror::Error)]
pub enum StagesError {
    /// An adapter that does not run passes.
    #[error("only a release of TVM runs passes, and `{0}` is none")]
    NoPasses(String),
    /// A pass that the release does not have, or no arguments for it.
    #[error("{0}")]
    NoSuchPass(String),
    /// The process cannot be started.
    #[error("{0}")]
    Io(#[from] std::io::Error),
    /// The process ended before it reported anything about a program.
    #[error("the recorder of passes ended: {0}")]
    Ended(String),
    /// A line that is not a stage.
    #[error("the recorder of passes wrote `{0}`")]
    Malformed(String),
    /// A pass, or the recorder before the first one, did not end in so many seconds.
    #[error("{0} did not end within {1} s")]
    TimedOut(String, u64),
    /// The user asked to stop.
    #[error("interrupted")]
    Interrupted,
}

/// A process that records stages. It is started again after a crash of TVM.
pub struct StageRecorder {
    command: CommandLine,
    patience: Duration,
    interrupt: Interrupt,
    process: Option<LineProcess>,
    /// How long processes were waited for that have ended.
    waited: Duration,
    compiled_in: Option<f64>,
}

impl StageRecorder {
    /// The recorder that belongs to the adapter of a command.
    ///
    /// # Errors
    ///
    /// If the command does not start the adapter of TVM.
    pub fn beside(
        command: &CommandLine,
        patience: Duration,
        interrupt: &Interrupt,
    ) -> Result<StageRecorder, StagesError> {
        let command = command.beside("stages.py").ok_or_else(|| StagesError::NoPasses(command.to_string()))?;
        let (interrupt, waited) = (interrupt.clone(), Duration::ZERO);
        Ok(StageRecorder { command, patience, interrupt, process: None, waited, compiled_in: None })
    }

    /// How long TVM was waited for, its start and its compiled functions included.
    pub fn waited(&self) -> Duration {
        self.waited + self.process.as_ref().map_or(Duration::ZERO, LineProcess::waited)
    }

    /// How many seconds the passes of the last record took by themselves, with the generation of code.
    pub fn compiled_in(&self) -> Option<f64> {
        self.compiled_in
    }

    /// Records the stages of a program. `meanwhile` is done while TVM starts. `take` receives each stage as soon as it
    /// is available.
    ///
    /// # Errors
    ///
    /// If the recorder does not work, or `meanwhile` or `take` fails.
    pub fn record<E: From<StagesError>>(
        &mut self,
        request: &StagesRequest,
        meanwhile: impl FnOnce() -> Result<(), E>,
        take: impl FnMut(PassStage) -> Result<(), E>,
    ) -> Result<Option<Refusal>, E> {
        let line =
            with_stack(|| serde_json::to_string(request)).map_err(|error| StagesError::Malformed(error.to_string()))?;
        let mut process = match self.process.take() {
            Some(process) => process,
            None => LineProcess::start(&self.command, &self.interrupt, MAX_REPLY).map_err(StagesError::from)?,
        };
        process.send(line);
        meanwhile()?;
        let mut run = RecordedRun { begun: Vec::new(), refusal: None, seconds: None };
        // A process that did not complete its answer is not asked again.
        match run.receive(&mut process, self.patience, take)? {
            true => self.process = Some(process),
            false => self.waited += process.waited(),
        }
        self.compiled_in = run.seconds;
        Ok(run.refusal)
    }

    /// The code that the last run has generated, in the process that has it. [`StageRecorder::give_back`] returns the
    /// process.
    ///
    /// # Errors
    ///
    /// If the process does not offer it.
    pub fn library(&mut self) -> Result<SavedLibrary, StagesError> {
        let mut process = self.process.take().ok_or_else(|| StagesError::Ended("it has no code".to_string()))?;
        process.send(AdapterRequest::hello_line());
        match process.receive(deadline_in(self.patience)) {
            Received::Line(line) => SavedLibrary::of_process(&self.command, process, &line, self.patience)
                .map_err(|error| StagesError::Malformed(error.to_string())),
            Received::Malformed(message) => Err(StagesError::Malformed(message)),
            Received::TimedOut => Err(timed_out(None, self.patience)),
            Received::Interrupted => Err(StagesError::Interrupted),
            Received::Ended => Err(StagesError::Ended(process.last_stderr())),
        }
    }

    /// Takes the process of a library back, if it still works.
    pub fn give_back(&mut self, library: SavedLibrary) {
        self.process = library.release();
    }
}

/// The error if a pass that has begun does not end.
fn timed_out(pass: Option<&String>, patience: Duration) -> StagesError {
    StagesError::TimedOut(pass.map_or("the recorder of passes".to_string(), Clone::clone), patience.as_secs())
}

/// The state of a run of the passes.
struct RecordedRun {
    /// The passes that have begun and not ended yet.
    begun: Vec<String>,
    refusal: Option<Refusal>,
    /// How long the passes took by themselves.
    seconds: Option<f64>,
}

impl RecordedRun {
    /// Receives the whole answer. Returns whether the process completed it.
    fn receive<E: From<StagesError>>(
        &mut self,
        process: &mut LineProcess,
        patience: Duration,
        mut take: impl FnMut(PassStage) -> Result<(), E>,
    ) -> Result<bool, E> {
        let mut is_silent = true;
        loop {
            let line = match process.receive(deadline_in(patience)) {
                Received::Line(line) => line,
                Received::Malformed(message) => return Err(StagesError::Malformed(message).into()),
                // After a refusal, the rest of the answer would only list further refusals.
                Received::TimedOut | Received::Ended if self.refusal.is_some() => return Ok(false),
                Received::TimedOut => return Err(timed_out(self.begun.last(), patience).into()),
                Received::Interrupted => return Err(StagesError::Interrupted.into()),
                Received::Ended if is_silent => return Err(StagesError::Ended(process.last_stderr()).into()),
                Received::Ended => {
                    let message = format!("TVM's process ended: {}", process.ending());
                    self.refusal = Some(Refusal { pass: self.begun.pop(), message, ..Refusal::default() });
                    return Ok(false);
                }
            };
            is_silent = false;
            match serde_json::from_str(&line) {
                Ok(StageLine::Begin { begin }) => self.begun.push(begin),
                Ok(StageLine::Stage(stage)) => {
                    if self.begun.last() == Some(&stage.pass) {
                        self.begun.pop();
                    }
                    take(stage)?;
                }
                Ok(StageLine::Refused { error, pass, left }) => {
                    self.refusal = Some(Refusal { pass, message: error, left, without: Vec::new() });
                }
                Ok(StageLine::Without { without }) => {
                    self.refusal.iter_mut().for_each(|refusal| refusal.without.clone_from(&without));
                }
                Ok(StageLine::Unknown { unknown }) => return Err(StagesError::NoSuchPass(unknown).into()),
                Ok(StageLine::Done { seconds, .. }) => {
                    self.seconds = seconds;
                    return Ok(true);
                }
                Err(_) => return Err(StagesError::Malformed(line).into()),
            }
        }
    }
}
