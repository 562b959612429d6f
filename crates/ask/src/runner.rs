//! Asks an implementation the questions of the suite, with several processes at a time. If a process dies or hangs,
//! only the case that it was asked is lost.

use std::sync::Mutex;
use std::sync::PoisonError;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use crate::implementation::{BoxedImplementation, Implementation, Late};
use crate::kept;
use crate::protocol::{Identity, ORACLE, with_module};
use crate::worker::StartError;
use relax_spec::book::Edition;
use relax_spec::question::Outcome;
use relax_spec::suite::Case;
use relax_spec::suite::compare::{CaseComparison, compare};

/// Makes another implementation.
pub type ImplementationFactory<'a> = &'a (dyn Fn() -> Result<BoxedImplementation, StartError> + Sync);

/// The result of a case, within limits. Only the start of a longer text or answer is kept.
#[derive(Clone, PartialEq, Debug)]
pub struct CaseResult {
    /// The position in the list of cases.
    pub index: usize,
    /// The outcome of the question.
    pub outcome: Outcome,
    /// The comparison of the outcome with the case.
    pub comparison: CaseComparison,
    /// The time it took.
    pub time: Duration,
}

/// All results of a run, in the order of the cases.
#[derive(Debug)]
pub struct RunResult {
    /// The implementation that was asked.
    pub implementation: Identity,
    /// The edition of the judgement.
    pub edition: Edition,
    /// The results, in the order of the cases.
    pub results: Vec<CaseResult>,
    /// Whether the run ended before all cases were asked.
    pub stopped: bool,
    /// The reason why no process could be asked any more. The results until then are valid.
    pub failure: Option<StartError>,
}

/// The stack of a thread that handles questions and answers, which may nest deeply.
const THREAD_STACK: usize = 256 * 1024 * 1024;

/// The result of a case that is passed on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Seen {
    /// The first result.
    First,
    /// A replacement for the first result, because more output came after the answer.
    Instead,
}

/// Receives each result as it comes, and decides whether to continue.
pub type GoOn<'a> = &'a (dyn Fn(&CaseResult, Seen) -> bool + Sync);

/// The parameters of a run of the suite.
#[derive(Clone, Copy, Debug)]
pub struct SuiteSchedule {
    /// The edition of the judgement.
    pub edition: Edition,
    /// The number of processes to ask at a time.
    pub jobs: usize,
    /// How often a case is asked again after a crash or a time-out.
    pub retries: usize,
}

/// How often a case is asked again, if nobody says how often.
pub const RETRIES: usize = 1;

/// The implementations to ask.
pub struct ImplementationPool<'a> {
    /// The one that exists already.
    pub first: BoxedImplementation,
    /// Makes the others.
    pub start: ImplementationFactory<'a>,
}

/// The state that the threads share.
struct RunnerState<'a> {
    cases: &'a [&'a Case],
    edition: Edition,
    retries: usize,
    start: ImplementationFactory<'a>,
    next: AtomicUsize,
    stop: AtomicBool,
    results: Mutex<Vec<CaseResult>>,
    failure: Mutex<Option<StartError>>,
    go_on: GoOn<'a>,
}

/// Runs the cases. `go_on` receives each result and may end the run. An interrupt also ends it, and so does an
/// implementation that cannot be started again.
pub fn run(cases: &[&Case], schedule: SuiteSchedule, pool: ImplementationPool<'_>, go_on: GoOn<'_>) -> RunResult {
    let SuiteSchedule { edition, jobs, retries } = schedule;
    let ImplementationPool { first, start } = pool;
    let implementation = first.identity().clone();
    let shared = RunnerState {
        cases,
        edition,
        retries,
        start,
        next: AtomicUsize::new(0),
        stop: AtomicBool::new(false),
        results: Mutex::new(Vec::with_capacity(cases.len())),
        failure: Mutex::new(None),
        go_on,
    };
    let mut first = Some(first);
    thread::scope(|scope| {
        for i in 0..jobs.clamp(1, cases.len().max(1)) {
            let ready = first.take();
            let shared = &shared;
            let builder = thread::Builder::new().name(format!("worker {i}")).stack_size(THREAD_STACK);
            if let Err(error) = builder.spawn_scoped(scope, move || shared.work(ready)) {
                shared.fail(StartError::Spawn { command: "a thread".into(), error });
            }
        }
    });
    let failure = shared.failure.into_inner().unwrap_or_else(PoisonError::into_inner);
    let mut results = shared.results.into_inner().unwrap_or_else(PoisonError::into_inner);
    results.sort_by_key(|result| result.index);
    let stopped = results.len() < cases.len();
    RunResult { implementation, edition, results, stopped, failure }
}

impl RunnerState<'_> {
    fn fail(&self, error: StartError) {
        self.stop.store(true, Ordering::Relaxed);
        self.failure.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(error);
    }

    fn work(&self, ready: Option<BoxedImplementation>) {
        match self.take_cases(ready) {
            Ok(()) => {}
            Err(StartError::Interrupted) => self.stop.store(true, Ordering::Relaxed),
            Err(error) => self.fail(error),
        }
    }

    fn take_cases(&self, ready: Option<BoxedImplementation>) -> Result<(), StartError> {
        let mut slot = ready;
        let mut asked = Vec::new();
        let ended = self.ask_cases(&mut slot, &mut asked);
        if let Some(implementation) = &mut slot {
            implementation.finish();
            self.revise(implementation.late(), &asked, implementation.identity().name == ORACLE);
        }
        ended
    }

    /// Asks case after case. `asked` collects the case of each question, in order.
    fn ask_cases(&self, slot: &mut Option<BoxedImplementation>, asked: &mut Vec<usize>) -> Result<(), StartError> {
        while !self.stop.load(Ordering::Relaxed) {
            let index = self.next.fetch_add(1, Ordering::Relaxed);
            let Some(case) = self.cases.get(index) else { return Ok(()) };
            let start = Instant::now();
            let implementation = match slot {
                Some(implementation) => implementation,
                None => slot.insert((self.start)()?),
            };
            let is_oracle = implementation.identity().name == ORACLE;
            let outcome = self.ask(implementation.as_mut(), case, &mut || asked.push(index));
            // Late lines are charged even if no more questions can be asked.
            let late = implementation.late();
            let outcome = outcome?;
            let comparison = compare(case, &outcome, self.edition, is_oracle);
            let (outcome, comparison) = (kept::outcome(outcome), kept::comparison(comparison));
            self.report(CaseResult { index, outcome, comparison, time: start.elapsed() });
            self.revise(late, asked, is_oracle);
        }
        Ok(())
    }

    /// Turns an outcome into a protocol error if lines about its question came after the answer.
    fn revise(&self, late: Vec<Late>, asked: &[usize], is_oracle: bool) {
        let mut results = self.results.lock().unwrap_or_else(PoisonError::into_inner);
        for Late { asked: nth, message } in late {
            let Some(index) = asked.get(nth) else { continue };
            let of_case = |result: &&mut CaseResult| result.index == *index;
            let (Some(result), Some(case)) = (results.iter_mut().find(of_case), self.cases.get(*index)) else {
                continue;
            };
            if !matches!(result.outcome, Outcome::ProtocolError { .. }) {
                result.outcome = kept::outcome(Outcome::ProtocolError { message });
                result.comparison = compare(case, &result.outcome, self.edition, is_oracle);
                self.show(result, Seen::Instead);
            }
        }
    }

    fn show(&self, result: &CaseResult, seen: Seen) {
        if !(self.go_on)(result, seen) {
            self.stop.store(true, Ordering::Relaxed);
        }
    }

    fn report(&self, result: CaseResult) {
        self.show(&result, Seen::First);
        self.results.lock().unwrap_or_else(PoisonError::into_inner).push(result);
    }

    /// Asks a case, and asks again after each crash and each time-out, until the outcome is another one.
    fn ask(&self, asked: &mut dyn Implementation, case: &Case, count: &mut dyn FnMut()) -> Result<Outcome, StartError> {
        let ask = if case.as_text { case.ask.clone() } else { with_module(case.ask.clone()) };
        count();
        let mut first = asked.ask_by(case.basis_in(self.edition), &ask)?;
        if !matches!(first, Outcome::Crash { .. } | Outcome::Timeout { .. }) {
            return Ok(first);
        }
        for _ in 0..self.retries {
            count();
            let again = match asked.ask_by(case.basis_in(self.edition), &ask) {
                Ok(again) => again,
                Err(StartError::Interrupted) => return Err(StartError::Interrupted),
                // The first outcome is valid, although no further question can be asked.
                Err(error) => {
                    self.fail(error);
                    return Ok(first);
                }
            };
            if first.class() != again.class() {
                return Ok(Outcome::Flaky { first: Box::new(first), second: Box::new(again) });
            }
            first = again;
        }
        Ok(first)
    }
}
