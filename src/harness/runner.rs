//! Asks an implementation the questions of the suite, in several processes at a time. A process that dies or
//! hangs costs the case that it was asked, and no other.

use std::sync::Mutex;
use std::sync::PoisonError;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use super::implementation::Implementation;
use super::protocol::{Identity, ORACLE};
use super::worker::StartError;
use crate::book::Edition;
use crate::question::Outcome;
use crate::suite::Case;
use crate::suite::compare::{Comparison, compare};

/// How to run.
#[derive(Clone, Copy, Debug)]
pub struct RunOptions {
    /// The edition that the questions mean.
    pub edition: Edition,
    /// How many are asked at a time.
    pub jobs: usize,
}

/// What is asked, one for each job.
pub type Asked = Box<dyn Implementation + Send>;
/// How another one is had.
pub type Start<'a> = &'a (dyn Fn() -> Result<Asked, StartError> + Sync);

/// What became of a case.
#[derive(Clone, PartialEq, Debug)]
pub struct CaseResult {
    /// Position in the list of cases that was run.
    pub index: usize,
    /// What the question came to.
    pub outcome: Outcome,
    /// Whether the case allows that.
    pub comparison: Comparison,
    /// How long that took.
    pub time: Duration,
}

/// Everything that a run found, in the order of the cases.
#[derive(Debug)]
pub struct RunResult {
    /// Who was asked.
    pub implementation: Identity,
    /// In the order of the cases.
    pub results: Vec<CaseResult>,
    /// Whether the run ended before all cases were asked.
    pub stopped: bool,
}

/// The stack of a thread that handles questions and answers, which may nest deeply.
const THREAD_STACK: usize = 256 * 1024 * 1024;

/// What the threads share.
struct Shared<'a> {
    cases: &'a [&'a Case],
    options: RunOptions,
    start: Start<'a>,
    next: AtomicUsize,
    stop: AtomicBool,
    results: Mutex<Vec<CaseResult>>,
    failure: Mutex<Option<StartError>>,
    go_on: &'a (dyn Fn(&CaseResult) -> bool + Sync),
}

/// Runs the cases; `go_on` sees each result and may end the run, as an interrupt does. An implementation that cannot be
/// started, or not again, ends it with an error.
pub fn run(
    cases: &[&Case],
    options: RunOptions,
    start: Start<'_>,
    go_on: &(dyn Fn(&CaseResult) -> bool + Sync),
) -> Result<RunResult, StartError> {
    let first = start()?;
    let implementation = first.identity().clone();
    let shared = Shared {
        cases,
        options,
        start,
        next: AtomicUsize::new(0),
        stop: AtomicBool::new(false),
        results: Mutex::new(Vec::with_capacity(cases.len())),
        failure: Mutex::new(None),
        go_on,
    };
    let mut first = Some(first);
    thread::scope(|scope| {
        for i in 0..options.jobs.clamp(1, cases.len().max(1)) {
            let ready = first.take();
            let shared = &shared;
            let builder = thread::Builder::new().name(format!("worker {i}")).stack_size(THREAD_STACK);
            if let Err(error) = builder.spawn_scoped(scope, move || shared.work(ready)) {
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

    fn work(&self, ready: Option<Asked>) {
        match self.take_cases(ready) {
            Ok(()) => {}
            Err(StartError::Interrupted) => self.stop.store(true, Ordering::Relaxed),
            Err(error) => self.fail(error),
        }
    }

    fn take_cases(&self, ready: Option<Asked>) -> Result<(), StartError> {
        let mut slot = ready;
        while !self.stop.load(Ordering::Relaxed) {
            let index = self.next.fetch_add(1, Ordering::Relaxed);
            let Some(case) = self.cases.get(index) else { return Ok(()) };
            let start = Instant::now();
            let asked = match &mut slot {
                Some(asked) => asked,
                None => slot.insert((self.start)()?),
            };
            let outcome = self.ask(asked.as_mut(), case)?;
            let is_oracle = asked.identity().name == ORACLE;
            let comparison = compare(case, &outcome, self.options.edition, is_oracle);
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

    /// Asks; after a crash or a time-out, asks once more.
    fn ask(&self, asked: &mut dyn Implementation, case: &Case) -> Result<Outcome, StartError> {
        let ask = if case.as_text { case.ask.clone() } else { case.ask.clone().with_module() };
        let first = asked.ask(self.options.edition, &ask)?;
        if !matches!(first, Outcome::Crash { .. } | Outcome::Timeout { .. }) {
            return Ok(first);
        }
        let second = asked.ask(self.options.edition, &ask)?;
        if first.class() == second.class() {
            return Ok(second);
        }
        Ok(Outcome::Flaky { first: Box::new(first), second: Box::new(second) })
    }
}
