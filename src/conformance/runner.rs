//! Asks an implementation the questions of the suite, in several processes at a time. A process that dies or
//! hangs costs the case that it was asked, and no other.

use std::sync::Mutex;
use std::sync::PoisonError;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use super::case::Case;
use super::compare::{Comparison, compare};
use super::outcome::Outcome;
use super::process::CommandLine;
use super::protocol::Implementation;
use super::worker::{After, StartError, Worker};
use crate::book::Edition;

/// How to run.
#[derive(Clone, Debug)]
pub struct RunOptions {
    pub command: CommandLine,
    pub edition: Edition,
    pub jobs: usize,
    pub timeout: Duration,
    pub startup: Duration,
}

/// What became of a case.
#[derive(Clone, PartialEq, Debug)]
pub struct CaseResult {
    /// Position in the list of cases that was run.
    pub index: usize,
    pub outcome: Outcome,
    pub comparison: Comparison,
    pub time: Duration,
}

/// Everything that a run found, in the order of the cases.
#[derive(Debug)]
pub struct RunResult {
    pub implementation: Implementation,
    pub results: Vec<CaseResult>,
    /// Whether the run ended before all cases were asked.
    pub stopped: bool,
}

/// The stack of a thread that handles questions and answers, which may nest deeply.
const THREAD_STACK: usize = 256 * 1024 * 1024;

/// What the threads share.
struct Shared<'a> {
    cases: &'a [&'a Case],
    options: &'a RunOptions,
    next: AtomicUsize,
    stop: AtomicBool,
    results: Mutex<Vec<CaseResult>>,
    failure: Mutex<Option<StartError>>,
    go_on: &'a (dyn Fn(&CaseResult) -> bool + Sync),
}

/// Runs the cases; `go_on` sees each result and may end the run. An adapter that cannot be started, or not again,
/// ends it with an error.
pub fn run(
    cases: &[&Case],
    options: &RunOptions,
    go_on: &(dyn Fn(&CaseResult) -> bool + Sync),
) -> Result<RunResult, StartError> {
    let first = Worker::start(&options.command, options.startup)?;
    let implementation = first.greeting.implementation.clone();
    let shared = Shared {
        cases,
        options,
        next: AtomicUsize::new(0),
        stop: AtomicBool::new(false),
        results: Mutex::new(Vec::with_capacity(cases.len())),
        failure: Mutex::new(None),
        go_on,
    };
    let mut first = Some(first);
    thread::scope(|scope| {
        for i in 0..options.jobs.clamp(1, cases.len().max(1)) {
            let worker = first.take();
            let shared = &shared;
            let builder = thread::Builder::new().name(format!("worker {i}")).stack_size(THREAD_STACK);
            if let Err(error) = builder.spawn_scoped(scope, move || shared.work(worker)) {
                shared.fail(StartError::Spawn { command: "a thread".into(), error });
            }
        }
    });
    if let Some(error) = shared.failure.into_inner().unwrap_or_else(PoisonError::into_inner) {
        return Err(error);
    }
    let mut results = shared.results.into_inner().unwrap_or_else(PoisonError::into_inner);
    results.sort_by_key(|result| result.index);
    let stopped = results.len() < cases.len();
    Ok(RunResult { implementation, results, stopped })
}

impl Shared<'_> {
    fn fail(&self, error: StartError) {
        self.stop.store(true, Ordering::Relaxed);
        self.failure.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(error);
    }

    fn work(&self, worker: Option<Worker>) {
        if let Err(error) = self.take_cases(worker) {
            self.fail(error);
        }
    }

    fn take_cases(&self, mut worker: Option<Worker>) -> Result<(), StartError> {
        while !self.stop.load(Ordering::Relaxed) {
            let index = self.next.fetch_add(1, Ordering::Relaxed);
            let Some(case) = self.cases.get(index) else { return Ok(()) };
            let start = Instant::now();
            let (outcome, implementation) = self.ask(&mut worker, case)?;
            let oracle = implementation.name == super::protocol::ORACLE;
            let comparison = compare(case, &outcome, self.options.edition, oracle);
            self.report(CaseResult { index, outcome, comparison, time: start.elapsed() });
        }
        Ok(())
    }

    fn report(&self, result: CaseResult) {
        if !(self.go_on)(&result) {
            self.stop.store(true, Ordering::Relaxed);
        }
        self.results.lock().unwrap_or_else(PoisonError::into_inner).push(result);
    }

    /// Asks; after a crash or a time-out, asks once more in a new process.
    fn ask(&self, worker: &mut Option<Worker>, case: &Case) -> Result<(Outcome, Implementation), StartError> {
        let (first, implementation) = self.ask_once(worker, case)?;
        if !matches!(first, Outcome::Crash { .. } | Outcome::Timeout { .. }) {
            return Ok((first, implementation));
        }
        let (second, implementation) = self.ask_once(worker, case)?;
        if first.class() == second.class() {
            return Ok((second, implementation));
        }
        Ok((Outcome::Flaky { first: Box::new(first), second: Box::new(second) }, implementation))
    }

    fn ask_once(&self, slot: &mut Option<Worker>, case: &Case) -> Result<(Outcome, Implementation), StartError> {
        let mut worker = match slot.take() {
            Some(worker) => worker,
            None => Worker::start(&self.options.command, self.options.startup)?,
        };
        let implementation = worker.greeting.implementation.clone();
        let ask = if case.as_text { case.ask.clone() } else { case.ask.clone().with_module() };
        if !worker.greeting.capabilities.contains(&ask.op()) {
            let outcome = Outcome::Unsupported { what: format!("no capability `{}`", ask.op()) };
            *slot = Some(worker);
            return Ok((outcome, implementation));
        }
        let (outcome, after) = worker.ask(self.options.edition, &ask, self.options.timeout);
        match after {
            After::Usable => *slot = Some(worker),
            After::Lost => drop(worker),
        }
        Ok((outcome, implementation))
    }
}
