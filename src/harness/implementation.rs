//! What can be asked: the oracle in this process, or an adapter in a process of its own. Suite, campaigns and questions
//! about operators are written against [`Implementation`] and do not know which of them they ask.

use std::time::Duration;

use super::process::{CommandLine, Interrupt};
use super::protocol::{Identity, ORACLE};
use super::runner::Asked;
use super::worker::{After, StartError, Worker};
use crate::book::{Edition, Reading};
use crate::judge::Cx;
use crate::oracle;
use crate::question::{Ask, Outcome};

/// Whatever answers the questions of the suite.
pub trait Implementation {
    /// Its name and version.
    fn identity(&self) -> &Identity;

    /// Asks a question. That the answer is a crash or does not come is an outcome; an error is that nobody can be asked.
    fn ask(&mut self, edition: Edition, ask: &Ask) -> Result<Outcome, StartError>;
}

/// The oracle in this process.
#[derive(Clone, Debug)]
pub struct InProcess {
    identity: Identity,
    reading: Reading,
}

impl InProcess {
    /// The oracle, answering in this reading.
    pub fn new(reading: Reading) -> InProcess {
        let identity = Identity { name: ORACLE.to_string(), version: env!("CARGO_PKG_VERSION").to_string() };
        InProcess { identity, reading }
    }
}

impl Implementation for InProcess {
    fn identity(&self) -> &Identity {
        &self.identity
    }

    fn ask(&mut self, edition: Edition, ask: &Ask) -> Result<Outcome, StartError> {
        let mut cx = Cx::new().with_edition(edition).with_reading(self.reading.clone());
        Ok(oracle::outcome(&mut cx, ask))
    }
}

/// How an adapter is started, and how long it may take.
#[derive(Clone, Debug)]
pub struct Launch {
    /// What is started.
    pub command: CommandLine,
    /// For the greeting.
    pub startup: Duration,
    /// For an answer.
    pub timeout: Duration,
    /// Asks a waiting runner to stop.
    pub interrupt: Interrupt,
}

impl Launch {
    /// One more process, as a runner asks for them.
    pub fn start(&self) -> Result<Asked, StartError> {
        Ok(Box::new(ChildProcess::start(self.clone())?))
    }
}

/// An adapter in a process of its own. A process that was lost is started again for the next question.
#[derive(Debug)]
pub struct ChildProcess {
    launch: Launch,
    identity: Identity,
    worker: Option<Worker>,
}

impl ChildProcess {
    /// Starts the adapter and greets it. An error if it does not start, or does not speak the protocol.
    pub fn start(launch: Launch) -> Result<ChildProcess, StartError> {
        let worker = Worker::start(&launch)?;
        Ok(ChildProcess { identity: worker.greeting.implementation.clone(), worker: Some(worker), launch })
    }
}

impl Implementation for ChildProcess {
    fn identity(&self) -> &Identity {
        &self.identity
    }

    fn ask(&mut self, edition: Edition, ask: &Ask) -> Result<Outcome, StartError> {
        let mut worker = match self.worker.take() {
            Some(worker) => worker,
            None => Worker::start(&self.launch)?,
        };
        if !worker.greeting.capabilities.contains(&ask.op()) {
            self.worker = Some(worker);
            return Ok(Outcome::Unsupported { what: format!("no capability `{}`", ask.op()) });
        }
        let (outcome, after) = worker.ask(edition, ask, self.launch.timeout)?;
        match after {
            After::Usable => self.worker = Some(worker),
            After::Lost => drop(worker),
        }
        Ok(outcome)
    }
}
