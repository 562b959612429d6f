//! A worker: it draws programs and texts, asks an implementation about them, and judges the answers.

use std::rc::Rc;
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

use super::bisect::Remembering;
use super::choice::ProgramChoice;
use super::compare;
use super::inputs::{ArgumentDomain, inputs, is_endless};
use super::judge::judge;
use super::path::Path;
use super::record::TrialRecord;
use super::settings::{CampaignError, CampaignSettings};
use super::signature::FailureKind;
use super::spell::{dialect_of, says_values};
use super::store::FindingStore;
use super::tally::CampaignTally;
use super::triage::{QueuedDifference, Triage};
use super::turns::Turns;
use super::verdict::{ProgramQuestion, TrialDifference, TrialVerdict, names_rules};
use crate::programs::{Drawn, ProgramSource, Restriction, Seeds};
use crate::shrink::rules_of;
use ask::implementation::Implementation;
use ask::process::Interrupt;
use ask::worker::StartError;
use relax_spec::check::{CheckReport, check_program};
use relax_spec::grammar::{IrModule, Name};
use relax_spec::judge::Cx;
use relax_spec::question::Ask;
use relax_spec::suite::Case;
use relax_spec::syntax::tvmscript::print_module;
use relax_spec::value::ValueSpec;

/// One of this many programs breaks a rule.
const VIOLATING: u64 = 8;

/// How many texts and pairs of terms are asked about together; the program of one of them is run.
const TEXTS: u64 = 12;
const RUN: u64 = 4;
/// The function to run of a text that names none.
const MAIN: &str = "main";

/// One of this many programs is run on arguments for which an operator is not defined by the letter of the text.
const WIDE: u64 = 16;

fn domain(number: u64) -> ArgumentDomain {
    if number % WIDE == WIDE - 3 { ArgumentDomain::Wide } else { ArgumentDomain::Documented }
}

/// The suite whose calls programs make, how programs are restricted, and what is done with them.
pub(super) type CampaignPlan<'a> = (&'a [Case], &'a Restriction, &'a CampaignSettings);

/// A worker with an implementation of its own.
pub(super) struct CampaignWorker<'a> {
    pub(super) source: Rc<ProgramSource>,
    pub(super) choice: &'a ProgramChoice,
    pub(super) seeds: Option<Seeds>,
    pub(super) settings: &'a CampaignSettings,
    pub(super) implementation: Remembering,
    pub(super) store: &'a Mutex<FindingStore>,
    pub(super) tally: CampaignTally,
    /// The differences that the current program has shown so far.
    pub(super) found: Vec<QueuedDifference>,
}

impl<'a> CampaignWorker<'a> {
    /// A worker that has done nothing yet. Programs are typed by the edition that judges them.
    pub(super) fn new(
        (suite, restriction, settings): CampaignPlan<'a>,
        choice: &'a ProgramChoice,
        store: &'a Mutex<FindingStore>,
        implementation: Remembering,
    ) -> CampaignWorker<'a> {
        let values = restriction.values && says_values(&implementation);
        let edition = implementation.edition();
        let source = Rc::new(ProgramSource::of(suite, Restriction { values, edition, ..restriction.clone() }));
        let seeds = settings.seeds.then(|| Seeds::of(suite));
        let (tally, found) = (CampaignTally::default(), Vec::new());
        CampaignWorker { source, choice, seeds, settings, implementation, store, tally, found }
    }

    /// Asks about the program with this number. Nothing is settled.
    pub(super) fn record(&mut self, number: u64, options: &str) -> Result<TrialRecord, CampaignError> {
        let (begun, waited) = (Instant::now(), self.implementation.waited);
        let asked = self.program(number);
        let (mut tally, found) = (std::mem::take(&mut self.tally), std::mem::take(&mut self.found));
        asked?;
        tally.time = (begun.elapsed(), self.implementation.waited.saturating_sub(waited));
        Ok(TrialRecord::of(number, options, tally, found, &self.source))
    }

    /// Asks about one program after the other, and handles the differences whose turn it is, until the time is up.
    pub(super) fn work(
        &mut self,
        turns: &Turns<QueuedDifference>,
        deadline: Option<Instant>,
        interrupt: &Interrupt,
        progress: &(dyn Fn() + Sync),
    ) -> Result<(), CampaignError> {
        loop {
            if let Some(queued) = turns.take() {
                let settled = self.keep(queued, interrupt.is_raised());
                turns.settled();
                settled?;
                self.note(turns)?;
                continue;
            }
            let late = deadline.is_some_and(|deadline| Instant::now() >= deadline);
            let number = if late || interrupt.is_raised() { None } else { turns.begin() };
            let Some(number) = number else { return Ok(()) };
            let asked = self.program(number);
            let found = std::mem::take(&mut self.found);
            match asked {
                Err(CampaignError::Start(StartError::Interrupted)) => turns.give_up(number, found),
                other => {
                    turns.end(number, found);
                    other?;
                    self.note(turns)?;
                }
            }
            progress();
        }
    }

    pub(super) fn keep(&mut self, queued: QueuedDifference, interrupted: bool) -> Result<(), CampaignError> {
        let CampaignWorker { source, settings, store, implementation, tally, .. } = self;
        Triage { source, settings, implementation, store, tally }.settle(queued, interrupted)
    }

    /// Records how far the campaign has come.
    fn note(&mut self, turns: &Turns<QueuedDifference>) -> Result<(), CampaignError> {
        let mut store = self.store.lock().unwrap_or_else(PoisonError::into_inner);
        Ok(store.done(self.settings.seed, turns.done())?)
    }

    fn program(&mut self, number: u64) -> Result<(), CampaignError> {
        let edition = self.implementation.edition();
        // Two of every four numbers; violations and other entry points use the numbers between.
        if let (1 | 2, true) = (number % 4, self.seeds.is_some()) {
            return self.seeds(number);
        }
        let paths = self.settings.paths.of_program(self.settings.seed, number);
        if number % VIOLATING == VIOLATING - 1 && paths.contains(&Path::Check) {
            return self.violation(number);
        }
        let Some(drawn) = self.choice.program(&self.source, self.settings.seed, number) else { return Ok(()) };
        let mut cx = Cx::new().with_edition(edition);
        let report = check_program(&mut cx, &drawn.module);
        if !report.accepts() {
            self.reject(number, &drawn.module, &report);
            return Ok(());
        }
        // Sometimes from another entry point.
        let other = usize::try_from(number / 4).unwrap_or(0).checked_rem(drawn.entries.len()).unwrap_or(0);
        let at = if number.is_multiple_of(4) { other } else { drawn.entries.len().saturating_sub(1) };
        let Some(entry) = drawn.entries.get(at).cloned() else { return Ok(()) };
        let mut inputs = inputs(&mut cx, &drawn.module, &entry, &drawn.sizes, self.settings.runs, domain(number));
        if inputs.is_empty() {
            self.tally.unheld += 1;
            return Ok(());
        }
        // Once more at the end: state that the other runs leave behind must not change the result.
        inputs.extend(inputs.first().cloned());
        self.tally.programs += 1;
        self.tally.coverage.count(&drawn.module, cx.recorded());
        self.go(number, &drawn, &entry, &inputs, paths)
    }

    /// Counts a drawn program that the checks reject.
    fn reject(&mut self, number: u64, module: &IrModule, report: &CheckReport) {
        let said: Vec<String> =
            report.diagnostics.iter().map(|found| format!("{}: {}", found.code(), found.message)).collect();
        let text = print_module(module, dialect_of(&self.implementation));
        self.tally.rejected.push(format!("number {number}: {}\n{text}", said.join("; ")));
    }

    /// Some pairs of terms and some texts of the suite.
    fn seeds(&mut self, number: u64) -> Result<(), CampaignError> {
        self.tally.programs += 1;
        for at in number * TEXTS..(number + 1) * TEXTS {
            if let Some(ask) = self.seeds.as_ref().and_then(|seeds| seeds.terms(self.settings.seed, at)) {
                self.terms(number, &ask)?;
            }
            let Some(text) = self.seeds.as_ref().and_then(|seeds| seeds.text(self.settings.seed, at)) else { continue };
            self.text(number, at, text)?;
        }
        Ok(())
    }

    /// Asks a judgement about two terms.
    fn terms(&mut self, number: u64, ask: &Ask) -> Result<(), CampaignError> {
        let edition = self.implementation.edition();
        let outcome = self.implementation.ask(edition, ask)?;
        self.tally.questions += 1;
        let drawn = Drawn::given(IrModule::default());
        let otherwise = || judge(self.about(&drawn.module, &MAIN.into(), &[]), &Path::Check, &outcome);
        let verdict = compare::of_terms(edition, ask, &outcome).unwrap_or_else(otherwise);
        if let Some(difference) = self.count(verdict) {
            self.queue_text(number, drawn, format!("# {ask}\n"), difference);
        }
        Ok(())
    }

    /// Asks an implementation to read a text of the suite; if the text is a program, asks all questions about it.
    fn text(&mut self, number: u64, at: u64, text: String) -> Result<(), CampaignError> {
        let edition = self.implementation.edition();
        let outcome = self.implementation.ask(edition, &Ask::Parse(text.clone()))?;
        self.tally.questions += 1;
        let module = compare::module_of(edition, &text);
        let is_one = module.is_some();
        let drawn = Drawn::given(module.unwrap_or_default());
        let otherwise = || judge(self.about(&drawn.module, &MAIN.into(), &[]), &Path::Parse, &outcome);
        let verdict =
            compare::read(edition, &text, &outcome, names_rules(&self.implementation)).unwrap_or_else(otherwise);
        if let Some(difference) = self.count(verdict) {
            self.queue_text(number, drawn, text, difference);
            return Ok(());
        }
        if !is_one {
            return Ok(());
        }
        let mut cx = Cx::new().with_edition(edition);
        let entry = drawn.entries.first().cloned();
        let accepted = check_program(&mut cx, &drawn.module).accepts();
        let ends = accepted && !drawn.entries.iter().any(|entry| is_endless(&mut cx, &drawn.module, entry));
        let run = ends && entry.is_some() && at.is_multiple_of(RUN);
        let entry = entry.unwrap_or_else(|| MAIN.into());
        let mut inputs = match run {
            true => inputs(&mut cx, &drawn.module, &entry, &drawn.sizes, self.settings.runs, domain(number)),
            false => Vec::new(),
        };
        inputs.extend(inputs.first().cloned());
        let mut paths = self.settings.paths.of_program(self.settings.seed, at);
        paths.retain(|path| match path {
            Path::Run(_) | Path::Text | Path::Static => !inputs.is_empty(),
            // The normal form is compared with the program by running both.
            Path::Normalize => ends,
            Path::Derive => accepted,
            Path::Check | Path::WellFormed | Path::NormalForm | Path::TypeCheck => true,
            Path::Parse => false,
        });
        self.go(number, &drawn, &entry, &inputs, paths)
    }

    /// Asks along every path.
    fn go(
        &mut self,
        number: u64,
        drawn: &Drawn,
        entry: &Name,
        inputs: &[Vec<ValueSpec>],
        paths: Vec<Path>,
    ) -> Result<(), CampaignError> {
        let mut ran = false;
        for path in paths {
            let (_, verdict) = self.about(&drawn.module, entry, inputs).put(&mut self.implementation, &path)?;
            self.tally.questions += 1;
            ran |= matches!(verdict, TrialVerdict::Agrees { runs: 1.., .. });
            if let Some(difference) = self.count(verdict) {
                ran |= difference.input.is_some();
                self.queue(number, drawn, entry, &path, difference);
            }
        }
        self.tally.ran += u64::from(ran);
        Ok(())
    }

    fn about<'p>(&self, module: &'p IrModule, entry: &'p Name, inputs: &'p [Vec<ValueSpec>]) -> ProgramQuestion<'p> {
        ProgramQuestion::of(&self.implementation, module, entry, inputs)
    }

    /// Counts the verdict on a question, and returns the difference if there is one.
    fn count(&mut self, verdict: TrialVerdict) -> Option<TrialDifference> {
        match verdict {
            TrialVerdict::Agrees { ended, runs } => {
                self.tally.runs.0 += runs;
                self.tally.runs.1 += ended;
            }
            TrialVerdict::Unsupported(what) => *self.tally.unsupported.entry(what).or_default() += 1,
            TrialVerdict::Differs(difference) => return Some(*difference),
        }
        None
    }

    /// Asks whether a program that breaks one rule is accepted.
    fn violation(&mut self, number: u64) -> Result<(), CampaignError> {
        let edition = self.implementation.edition();
        let Some((drawn, rule)) = self.source.violating(self.settings.seed, number) else { return Ok(()) };
        let report = check_program(&mut Cx::new().with_edition(edition), &drawn.module);
        if rules_of(&report) != [rule] {
            self.reject(number, &drawn.module, &report);
            return Ok(());
        }
        let entry: Name = MAIN.into();
        let (_, verdict) = self.about(&drawn.module, &entry, &[]).put(&mut self.implementation, &Path::Check)?;
        self.tally.violations += 1;
        self.tally.questions += 1;
        if let Some(difference) = self.count(verdict) {
            self.queue(number, &drawn, &entry, &Path::Check, difference);
        }
        Ok(())
    }

    /// Queues a difference of a program until it is its turn.
    fn queue(&mut self, number: u64, drawn: &Drawn, entry: &Name, path: &Path, difference: TrialDifference) {
        let kind = difference.signature.kind;
        self.tally.lost += u64::from(matches!(kind, FailureKind::Crash | FailureKind::Hang));
        if kind == FailureKind::Refused {
            let reason = format!("{}: {}", difference.signature.stage, difference.signature.message);
            *self.tally.refused.entry(reason).or_default() += 1;
        }
        let lost = if kind == FailureKind::Crash { self.implementation.take_lost() } else { None };
        let (drawn, entry, path, text) = (drawn.clone(), entry.clone(), path.clone(), None);
        self.found.push(QueuedDifference { number, drawn, entry, path, difference, text, lost });
    }

    /// Queues a text that is read as another program, rejected although it is a program, or accepted although it is
    /// none.
    fn queue_text(&mut self, number: u64, drawn: Drawn, text: String, difference: TrialDifference) {
        let (entry, path, text, lost) = (MAIN.into(), Path::Parse, Some(text), None);
        self.found.push(QueuedDifference { number, drawn, entry, path, difference, text, lost });
    }
}
