//! Asks an implementation the questions of the suite, in several processes at a time. A process that dies or
//! hangs costs the case that it was asked, and no other.

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

/// How another one is had.
pub type ImplementationFactory<'a> = &'a (dyn Fn() -> Result<BoxedImplementation, StartError> + Sync);

/// What became of a case, in bounds: of a text or an answer that is too long the beginning is kept.
#[derive(Clone, PartialEq, Debug)]
pub struct CaseResult {
    /// Position in the list of cases that was run.
    pub index: usize,
    /// What the question came to.
    pub outcome: Outcome,
    /// Whether the case allows that.
    pub comparison: CaseComparison,
    /// How long that took.
    pub time: Duration,
}

/// Everything that a run found, in the order of the cases.
#[derive(Debug)]
pub struct RunResult {
    /// Who was asked.
    pub implementation: Identity,
    /// The edition by which it was judged.
    pub edition: Edition,
    /// In the order of the cases.
    pub results: Vec<CaseResult>,
    /// Whether the run ended before all cases were asked.
    pub stopped: bool,
    /// Why nobody could be asked any more. What was found until then stands.
    pub failure: Option<StartError>,
}

/// The stack of a thread that handles questions and answers, which may nest deeply.
const THREAD_STACK: usize = 256 * 1024 * 1024;

/// Which result of a case somebody is shown.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Seen {
    /// The one that it came to.
    First,
    /// Another one, in the place of the first: something came after the answer.
    Instead,
}

/// Sees each result as it comes, and says whether to go on.
pub type GoOn<'a> = &'a (dyn Fn(&CaseResult, Seen) -> bool + Sync);

/// How a suite is asked.
#[derive(Clone, Copy, Debug)]
pub struct SuiteSchedule {
    /// The edition by which the answers are judged.
    pub edition: Edition,
    /// How many processes are asked at a time.
    pub jobs: usize,
}

/// Who is asked.
pub struct ImplementationPool<'a> {
    /// The one that is there already.
    pub first: BoxedImplementation,
    /// How the others are had.
    pub start: ImplementationFactory<'a>,
}

/// What the threads share.
struct RunnerState<'a> {
    cases: &'a [&'a Case],
    edition: Edition,
    start: ImplementationFactory<'a>,
    next: AtomicUsize,
    stop: AtomicBool,
    results: Mutex<Vec<CaseResult>>,
    failure: Mutex<Option<StartError>>,
    go_on: GoOn<'a>,
}

/// Runs the cases; `go_on` sees each result and may end the run, as an interrupt does, and as an implementation does
/// that cannot be started again.
pub fn run(cases: &[&Case], schedule: SuiteSchedule, pool: ImplementationPool<'_>, go_on: GoOn<'_>) -> RunResult {
    let SuiteSchedule { edition, jobs } = schedule;
    let ImplementationPool { first, start } = pool;
    let implementation = first.identity().clone();
    let shared = RunnerState {
        cases,
        edition,
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

    /// Asks case after case. `asked` gets what each question was about, in the order in which they are asked.
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
            // What came late is charged even where nothing more can be asked.
            let late = implementation.late();
            let outcome = outcome?;
            let comparison = compare(case, &outcome, self.edition, is_oracle);
            let (outcome, comparison) = (kept::outcome(outcome), kept::comparison(comparison));
            self.report(CaseResult { index, outcome, comparison, time: start.elapsed() });
            self.revise(late, asked, is_oracle);
        }
        Ok(())
    }

    /// Whoever says more about a question than its answer has broken the protocol in that question.
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

    /// Asks; after a crash or a time-out, asks once more.
    fn ask(&self, asked: &mut dyn Implementation, case: &Case, count: &mut dyn FnMut()) -> Result<Outcome, StartError> {
        let ask = if case.as_text { case.ask.clone() } else { with_module(case.ask.clone()) };
        count();
        let first = asked.ask_by(case.basis_in(self.edition), &ask)?;
        if !matches!(first, Outcome::Crash { .. } | Outcome::Timeout { .. }) {
            return Ok(first);
        }
        count();
        let second = match asked.ask_by(case.basis_in(self.edition), &ask) {
            Ok(second) => second,
            Err(StartError::Interrupted) => return Err(StartError::Interrupted),
            // What it came to the first time stands, though nobody can be asked again.
            Err(error) => {
                self.fail(error);
                return Ok(first);
            }
        };
        if first.class() == second.class() {
            return Ok(second);
        }
        Ok(Outcome::Flaky { first: Box::new(first), second: Box::new(second) })
    }
}
