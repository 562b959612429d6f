//! Implementations that can be asked: the oracle in this process, or an adapter in a separate one. The suite, campaigns
//! and questions about operators use [`Implementation`] and do not depend on the kind.

use std::thread::{self, JoinHandle};

use crate::protocol::{Identity, ORACLE, capability};
pub use crate::worker::Launch;
use crate::worker::{AdapterProcess, After, StartError};
use relax_spec::book::{Basis, Edition, Reading};
use relax_spec::judge::Cx;
use relax_spec::oracle;
use relax_spec::question::{Ask, Outcome};

/// An implementation, one for each job.
pub type BoxedImplementation = Box<dyn Implementation + Send>;

/// An implementation that answers the questions of the suite.
pub trait Implementation {
    /// Its name and version.
    fn identity(&self) -> &Identity;

    /// The edition by which it is judged: the one that it claims, unless another one is requested.
    fn edition(&self) -> Edition {
        Edition::default()
    }

    /// Asks a question. A crash or a missing answer is an outcome. An error means that nothing can be asked any more.
    fn ask(&mut self, edition: Edition, ask: &Ask) -> Result<Outcome, StartError>;

    /// Like [`Implementation::ask`], with a possible proposal. An implementation that knows no proposals cannot be
    /// asked about one.
    fn ask_by(&mut self, basis: Basis, ask: &Ask) -> Result<Outcome, StartError> {
        match basis.proposal() {
            None => self.ask(basis.edition(), ask),
            Some(proposal) => Ok(incapable(&capability(proposal))),
        }
    }

    /// Makes the next question go to a fresh process, if there are processes.
    fn renew(&mut self) {}

    /// The lines since the last call about questions that were answered before.
    fn late(&mut self) -> Vec<Late> {
        Vec::new()
    }

    /// Ends the questions. Output that still comes is [`late`](Implementation::late).
    fn finish(&mut self) {}
}

fn incapable(lacking: &str) -> Outcome {
    Outcome::Unsupported { what: format!("no capability `{lacking}`") }
}

/// A line about a question that was answered before. A second answer invalidates the first.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Late {
    /// The number of the question among those put to [`Implementation::ask`], counted from 0.
    pub asked: usize,
    /// The line.
    pub message: String,
}

/// The oracle in this process.
#[derive(Clone, Debug)]
pub struct InProcess {
    identity: Identity,
    reading: Reading,
}

impl InProcess {
    /// The oracle, in this reading.
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
        self.ask_by(edition.into(), ask)
    }

    fn ask_by(&mut self, basis: Basis, ask: &Ask) -> Result<Outcome, StartError> {
        let mut cx = Cx::new().with_edition(basis).with_reading(self.reading.clone());
        Ok(oracle::outcome(&mut cx, ask))
    }
}

impl Launch {
    /// Another instance, for a runner.
    pub fn start(&self) -> Result<BoxedImplementation, StartError> {
        Ok(Box::new(ChildProcess::start(self.clone())?))
    }
}

/// A process that is starting.
type Spare = JoinHandle<Result<AdapterProcess, StartError>>;

/// An adapter in a separate process. After a loss it is started again for the next question.
#[derive(Debug)]
pub struct ChildProcess {
    launch: Launch,
    identity: Identity,
    /// The edition that it claims.
    edition: Edition,
    worker: Option<AdapterProcess>,
    /// The next process, if one is kept ready.
    spare: Option<Spare>,
    /// The number of questions so far.
    asked: usize,
    /// The questions to the current process, in its order.
    of_worker: Vec<usize>,
    late: Vec<Late>,
}

impl ChildProcess {
    /// Starts the adapter and exchanges greetings. Fails if it does not start, or does not speak the protocol.
    pub fn start(launch: Launch) -> Result<ChildProcess, StartError> {
        let worker = AdapterProcess::start(&launch)?;
        let (identity, edition) = (worker.greeting.implementation.clone(), worker.greeting.edition);
        let (worker, spare) = (Some(worker), spare(&launch));
        Ok(ChildProcess { identity, edition, worker, spare, launch, asked: 0, of_worker: Vec::new(), late: Vec::new() })
    }

    /// A fresh process: the spare one, which is then replaced by another.
    fn next_worker(&mut self) -> Result<AdapterProcess, StartError> {
        let ready = self.spare.take().and_then(|spare| spare.join().ok()).and_then(Result::ok);
        let worker = match ready {
            Some(worker) => worker,
            // A further attempt gives the reason for the failure.
            None => AdapterProcess::start(&self.launch)?,
        };
        self.spare = spare(&self.launch);
        Ok(worker)
    }

    /// Asks the current process, or a new one.
    fn ask_worker(&mut self, basis: Basis, ask: &Ask, asked: usize) -> Result<(Outcome, After), StartError> {
        let mut worker = match self.worker.take() {
            Some(worker) => worker,
            None => {
                self.of_worker.clear();
                self.next_worker()?
            }
        };
        // An implementation that does not list a proposal would answer without it.
        let needed = [ask.op()].into_iter().chain(basis.proposal().map(capability));
        if let Some(lacking) = needed.into_iter().find(|needed| !worker.greeting.capabilities.contains(needed)) {
            self.worker = Some(worker);
            return Ok((incapable(&lacking), After::Usable));
        }
        self.of_worker.push(asked);
        let answered = worker.ask(basis, ask, self.launch.timeout);
        self.take_late(&mut worker);
        if let Ok((_, After::Usable)) = &answered {
            self.worker = Some(worker);
        }
        answered
    }

    fn take_late(&mut self, worker: &mut AdapterProcess) {
        for (id, message) in worker.late.drain(..) {
            let at = usize::try_from(id).ok().and_then(|id| id.checked_sub(1));
            if let Some(asked) = at.and_then(|at| self.of_worker.get(at)) {
                self.late.push(Late { asked: *asked, message });
            }
        }
    }
}

/// Starts a spare process, if one is wanted.
fn spare(launch: &Launch) -> Option<Spare> {
    let launch = launch.clone();
    launch.spare.then(|| thread::spawn(move || AdapterProcess::start(&launch)))
}

impl Drop for ChildProcess {
    fn drop(&mut self) {
        // A process that is still starting would outlive everything that could end it.
        if let Some(spare) = self.spare.take() {
            drop(spare.join());
        }
    }
}

impl Implementation for ChildProcess {
    fn identity(&self) -> &Identity {
        &self.identity
    }

    fn edition(&self) -> Edition {
        self.launch.edition.unwrap_or(self.edition)
    }

    fn ask(&mut self, edition: Edition, ask: &Ask) -> Result<Outcome, StartError> {
        self.ask_by(edition.into(), ask)
    }

    fn ask_by(&mut self, basis: Basis, ask: &Ask) -> Result<Outcome, StartError> {
        let asked = self.asked;
        self.asked += 1;
        match self.ask_worker(basis, ask, asked)? {
            // The damage that an earlier question did to the process does not count for this one.
            (_, After::LostBefore) => self.ask_worker(basis, ask, asked).map(|(outcome, _)| outcome),
            (outcome, After::Usable | After::Lost) => Ok(outcome),
        }
    }

    fn renew(&mut self) {
        self.finish();
    }

    fn late(&mut self) -> Vec<Late> {
        std::mem::take(&mut self.late)
    }

    fn finish(&mut self) {
        if let Some(mut worker) = self.worker.take() {
            worker.finish();
            self.take_late(&mut worker);
        }
    }
}
