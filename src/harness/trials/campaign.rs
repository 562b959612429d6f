//! A campaign: programs one after the other, by several workers, each with an implementation of its own.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use serde_json::Value;

use super::inputs::inputs;
use super::judge::{broken_rules, is_accepted, judge};
use super::judged::{Asked, Difference, Judged, names_rules};
use super::path::{Path, Paths};
use super::reduce::{Reducer, Shown};
use super::reduced::{bindings, operators};
use super::signature::{Kind, KnownForm, Signature};
use super::store::{Finding, Store, StoreError};
use super::tally::Tally;
use super::told;
use crate::book::Edition;
use crate::data::json::to_value;
use crate::grammar::{GlobalFunc, IrModule, Name};
use crate::harness::implementation::Implementation;
use crate::harness::process::Interrupt;
use crate::harness::programs::{Drawn, Features, Restriction, Seeds, Source, violated_rules};
use crate::harness::worker::StartError;
use crate::judge::Cx;
use crate::question::{Ask, Outcome};
use crate::suite::Case;
use crate::syntax::tvmscript::{Dialect, print_module};
use crate::value::ValueSpec;

/// What a campaign does, and when it ends.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Which programs there are.
    pub seed: u64,
    /// How many are asked about; as many as there is time for if it is not said.
    pub programs: Option<u64>,
    /// After how long no further one is begun.
    pub time: Option<Duration>,
    /// How many workers there are.
    pub jobs: usize,
    /// The paths of each program.
    pub paths: Paths,
    /// On how many inputs each is run.
    pub runs: usize,
    /// How many questions may be asked to reduce a finding.
    pub budget: usize,
    /// What is known.
    pub known: Vec<KnownForm>,
    /// Whether every second program is a text of the suite, mostly with something changed.
    pub seeds: bool,
}

/// How a campaign went.
#[derive(Clone, Debug, Default)]
pub struct Campaign {
    /// What was done.
    pub tally: Tally,
    /// Whether it was interrupted.
    pub interrupted: bool,
}

/// Why a campaign ends before its time.
#[derive(Debug, thiserror::Error)]
pub enum CampaignError {
    /// Nobody can be asked.
    #[error(transparent)]
    Start(#[from] StartError),
    /// Findings cannot be kept.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// One process more, for a worker.
pub type Start<'a> = &'a (dyn Fn() -> Result<Box<dyn Implementation + Send>, StartError> + Sync);

/// Asks about programs until the time is up; each finding is in the store as soon as it is reduced. `progress` is told of each program.
///
/// # Errors
///
/// See [`CampaignError`]. What was found until then is in the store.
pub fn campaign(
    (suite, restriction): (&[Case], &Restriction),
    settings: &Settings,
    start: Start<'_>,
    store: &Mutex<Store>,
    interrupt: &Interrupt,
    progress: &(dyn Fn() + Sync),
) -> Result<Campaign, CampaignError> {
    let first = store.lock().unwrap_or_else(PoisonError::into_inner).next();
    let next = AtomicU64::new(first);
    let end = settings.programs.map(|programs| first.saturating_add(programs));
    let deadline = settings.time.map(|time| Instant::now() + time);
    let open = Mutex::new(BTreeSet::new());
    let work = || -> Result<Tally, CampaignError> {
        let begun = Instant::now();
        // Its calls hold values, which stay with one thread.
        let source = Source::of(suite, restriction.clone());
        let implementation = Timed::new(start()?);
        let seeds = settings.seeds.then(|| Seeds::of(suite));
        let mut worker = Worker { source: &source, seeds, settings, implementation, store, tally: Tally::default() };
        loop {
            let late = deadline.is_some_and(|deadline| Instant::now() >= deadline);
            if late || interrupt.is_raised() {
                break;
            }
            let number = {
                let mut open = open.lock().unwrap_or_else(PoisonError::into_inner);
                let number = next.fetch_add(1, Ordering::SeqCst);
                open.insert(number);
                number
            };
            if end.is_some_and(|end| number >= end) {
                break;
            }
            match worker.program(number) {
                Err(CampaignError::Start(StartError::Interrupted)) => break,
                other => other?,
            }
            let mut open = open.lock().unwrap_or_else(PoisonError::into_inner);
            open.remove(&number);
            let done = open.first().copied().unwrap_or(number + 1);
            let mut store = store.lock().unwrap_or_else(PoisonError::into_inner);
            store.done(settings.seed, done)?;
            progress();
        }
        worker.tally.time = (begun.elapsed(), worker.implementation.waited);
        Ok(worker.tally)
    };
    let outcomes: Vec<Result<Tally, CampaignError>> = std::thread::scope(|scope| {
        let workers: Vec<_> = (0..settings.jobs.max(1)).map(|_| scope.spawn(work)).collect();
        workers.into_iter().filter_map(|worker| worker.join().ok()).collect()
    });
    let mut campaign = Campaign { interrupted: interrupt.is_raised(), ..Campaign::default() };
    for outcome in outcomes {
        campaign.tally.add(outcome?);
    }
    Ok(campaign)
}

/// A crash that does not show in a process of its own: what ran before has broken the lost one.
fn not_alone(mut shown: Shown) -> Shown {
    shown.difference.signature.message.push_str(", not when it is asked alone");
    shown
}

/// All questions about one program, each with what becomes of it.
///
/// # Errors
///
/// If nobody can be asked.
pub fn diff(
    implementation: &mut dyn Implementation,
    asked: Asked<'_>,
    paths: &[Path],
) -> Result<Vec<(Path, Judged)>, StartError> {
    let (dialect, edition) = (dialect_of(implementation), asked.edition);
    let mut told = Vec::new();
    for path in paths {
        let ask = path.ask(asked.module, asked.entry, asked.inputs, dialect);
        let outcome = implementation.ask(edition, &ask)?;
        told.push((path.clone(), judge(asked, path, &outcome)));
    }
    Ok(told)
}

/// The inputs on which a given program is compared.
pub fn inputs_of(edition: Edition, module: &IrModule, entry: &Name, runs: usize) -> Vec<Vec<ValueSpec>> {
    inputs(&mut Cx::new().with_edition(edition), module, entry, &BTreeMap::new(), runs)
}

/// How an implementation spells programs.
pub(super) fn dialect_of(implementation: &dyn Implementation) -> Dialect {
    let identity = implementation.identity();
    let old = identity.version.starts_with("0.25");
    if identity.name == "apache-tvm" && !old { Dialect::Tvm027 } else { Dialect::Tvm025 }
}

/// An implementation, and how long it was waited for.
struct Timed {
    inner: Box<dyn Implementation + Send>,
    waited: Duration,
}

impl Timed {
    fn new(inner: Box<dyn Implementation + Send>) -> Timed {
        Timed { inner, waited: Duration::ZERO }
    }
}

impl Implementation for Timed {
    fn identity(&self) -> &crate::harness::protocol::Identity {
        self.inner.identity()
    }

    fn edition(&self) -> Edition {
        self.inner.edition()
    }

    fn ask(&mut self, edition: Edition, ask: &Ask) -> Result<Outcome, StartError> {
        let begun = Instant::now();
        let outcome = self.inner.ask(edition, ask);
        self.waited += begun.elapsed();
        outcome
    }
}

/// How many questions are asked to reduce a program that hangs.
const HANGS: usize = 4;
/// One in so many programs breaks a rule.
const VIOLATING: u64 = 8;

/// How many texts and pairs of terms are asked about at once, and of one in how many the program is run.
const TEXTS: u64 = 12;
const RUN: u64 = 4;
/// The function that is started of a text that names none.
const MAIN: &str = "main";

/// A program that was read: nothing is known of its sizes, and no tape makes it smaller.
fn of_text(module: IrModule) -> Drawn {
    let entry = |(gv, func): &(crate::grammar::GlobalVar, GlobalFunc)| match func {
        GlobalFunc::Function(_) => Some(gv.name.clone()),
        GlobalFunc::PrimFunc(_) | GlobalFunc::ExternFunc(_) => None,
    };
    let mut entries: Vec<Name> = module.funcs.iter().filter_map(entry).collect();
    entries.sort_by_key(|name| &**name != MAIN);
    Drawn { module, entries, sizes: BTreeMap::new(), features: Features::ALL, choices: Vec::new() }
}

struct Worker<'a> {
    source: &'a Source,
    seeds: Option<Seeds>,
    settings: &'a Settings,
    implementation: Timed,
    store: &'a Mutex<Store>,
    tally: Tally,
}

impl Worker<'_> {
    fn program(&mut self, number: u64) -> Result<(), CampaignError> {
        let edition = self.implementation.edition();
        // Of four numbers two, neither of which is that of a program with a violation or that of another entry point.
        if let (1 | 2, true) = (number % 4, self.seeds.is_some()) {
            return self.seeds(number);
        }
        let paths = self.settings.paths.of_program(self.settings.seed, number);
        if number % VIOLATING == VIOLATING - 1 && paths.contains(&Path::Check) {
            return self.violation(number);
        }
        let drawn = self.source.program(self.settings.seed, number);
        let mut cx = Cx::new().with_edition(edition);
        if !is_accepted(&mut cx, &drawn.module) {
            self.tally.rejected += 1;
            return Ok(());
        }
        // Now and then from another entry point.
        let other = usize::try_from(number / 4).unwrap_or(0).checked_rem(drawn.entries.len()).unwrap_or(0);
        let at = if number.is_multiple_of(4) { other } else { drawn.entries.len().saturating_sub(1) };
        let Some(entry) = drawn.entries.get(at).cloned() else { return Ok(()) };
        let mut inputs = inputs(&mut cx, &drawn.module, &entry, &drawn.sizes, self.settings.runs);
        if inputs.is_empty() {
            self.tally.unheld += 1;
            return Ok(());
        }
        // Once more at the end: what the other runs have left behind must not show.
        inputs.extend(inputs.first().cloned());
        self.tally.programs += 1;
        self.tally.coverage.count(&drawn.module, cx.recorded());
        self.go(number, &drawn, &entry, &inputs, paths)
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

    /// A judgement on two terms.
    fn terms(&mut self, number: u64, ask: &Ask) -> Result<(), CampaignError> {
        let edition = self.implementation.edition();
        let outcome = self.implementation.ask(edition, ask)?;
        self.tally.questions += 1;
        let drawn = of_text(IrModule::default());
        let asked = Asked { module: &drawn.module, entry: &MAIN.into(), inputs: &[], names_rules: false, edition };
        let judged = match &outcome {
            Outcome::Answer { .. } | Outcome::Unsupported { .. } => told::of_terms(edition, ask, &outcome),
            Outcome::Rejected { .. }
            | Outcome::Trapped { .. }
            | Outcome::InternalError { .. }
            | Outcome::Crash { .. }
            | Outcome::Timeout { .. }
            | Outcome::ProtocolError { .. }
            | Outcome::Flaky { .. } => judge(asked, &Path::Check, &outcome),
        };
        match judged {
            Judged::Agrees { .. } => Ok(()),
            Judged::Unsupported(what) => {
                *self.tally.unsupported.entry(what).or_default() += 1;
                Ok(())
            }
            Judged::Differs(difference) => self.misread(number, &drawn, format!("# {ask}\n"), *difference),
        }
    }

    /// A text of the suite: what is read from it, and all that is asked about a program if it is one.
    fn text(&mut self, number: u64, at: u64, text: String) -> Result<(), CampaignError> {
        let edition = self.implementation.edition();
        let outcome = self.implementation.ask(edition, &Ask::Parse(text.clone()))?;
        self.tally.questions += 1;
        let module = told::module_of(edition, &text);
        let is_one = module.is_some();
        let drawn = of_text(module.unwrap_or_default());
        let asked = Asked { module: &drawn.module, entry: &MAIN.into(), inputs: &[], names_rules: false, edition };
        let judged = match &outcome {
            Outcome::Answer { .. } | Outcome::Rejected { .. } => {
                told::read((edition, &text), &outcome, names_rules(&self.implementation))
            }
            Outcome::Trapped { .. }
            | Outcome::Unsupported { .. }
            | Outcome::InternalError { .. }
            | Outcome::Crash { .. }
            | Outcome::Timeout { .. }
            | Outcome::ProtocolError { .. }
            | Outcome::Flaky { .. } => judge(asked, &Path::Parse, &outcome),
        };
        match judged {
            Judged::Agrees { .. } => {}
            Judged::Unsupported(what) => *self.tally.unsupported.entry(what).or_default() += 1,
            Judged::Differs(difference) => return self.misread(number, &drawn, text, *difference),
        }
        if !is_one {
            return Ok(());
        }
        let mut cx = Cx::new().with_edition(edition);
        let entry = drawn.entries.first().cloned();
        let accepted = is_accepted(&mut cx, &drawn.module);
        let run = accepted && entry.is_some() && at.is_multiple_of(RUN);
        let entry = entry.unwrap_or_else(|| MAIN.into());
        let mut inputs = match run {
            true => inputs(&mut cx, &drawn.module, &entry, &drawn.sizes, self.settings.runs),
            false => Vec::new(),
        };
        inputs.extend(inputs.first().cloned());
        let mut paths = self.settings.paths.of_program(self.settings.seed, at);
        paths.retain(|path| match path {
            Path::Run(_) | Path::Text => !inputs.is_empty(),
            // The normal form is held against the program by running both.
            Path::Normalize | Path::Derive => accepted,
            Path::Check | Path::WellFormed | Path::NormalForm | Path::TypeCheck => true,
            Path::Parse => false,
        });
        self.go(number, &drawn, &entry, &inputs, paths)
    }

    /// A text of which another program is read, or none, or one where there is none.
    fn misread(
        &mut self,
        number: u64,
        drawn: &Drawn,
        text: String,
        difference: Difference,
    ) -> Result<(), CampaignError> {
        let known_already = {
            let mut store = self.store.lock().unwrap_or_else(PoisonError::into_inner);
            store.again(&difference.signature, &[], &Path::Parse.to_string())?
        };
        if known_already {
            return Ok(());
        }
        let shown = Shown { module: drawn.module.clone(), entry: MAIN.into(), sizes: drawn.sizes.clone(), difference };
        let finding = self.finding(number, &Path::Parse, shown, dialect_of(&self.implementation));
        let mut store = self.store.lock().unwrap_or_else(PoisonError::into_inner);
        store.put(Finding { program: text, ..finding })?;
        Ok(())
    }

    /// Along every path.
    fn go(
        &mut self,
        number: u64,
        drawn: &Drawn,
        entry: &Name,
        inputs: &[Vec<ValueSpec>],
        paths: Vec<Path>,
    ) -> Result<(), CampaignError> {
        let mut ran = false;
        let edition = self.implementation.edition();
        for path in paths {
            let dialect = dialect_of(&self.implementation);
            let ask = path.ask(&drawn.module, entry, inputs, dialect);
            let outcome = self.implementation.ask(edition, &ask)?;
            self.tally.questions += 1;
            let names_rules = names_rules(&self.implementation);
            let asked = Asked { module: &drawn.module, entry, inputs, names_rules, edition };
            match judge(asked, &path, &outcome) {
                Judged::Agrees { ended, runs } => {
                    self.tally.runs.0 += runs;
                    self.tally.runs.1 += ended;
                    ran |= runs > 0;
                }
                Judged::Unsupported(what) => *self.tally.unsupported.entry(what).or_default() += 1,
                Judged::Differs(difference) => {
                    ran |= difference.input.is_some();
                    self.differs(number, drawn, entry, &path, *difference)?;
                }
            }
        }
        self.tally.ran += u64::from(ran);
        Ok(())
    }

    /// Asks whether a program is accepted that breaks one rule.
    fn violation(&mut self, number: u64) -> Result<(), CampaignError> {
        let edition = self.implementation.edition();
        let (drawn, rule) = self.source.violating(self.settings.seed, number);
        if broken_rules(&mut Cx::new().with_edition(edition), &drawn.module) != [rule] {
            self.tally.rejected += 1;
            return Ok(());
        }
        let entry: Name = "main".into();
        let dialect = dialect_of(&self.implementation);
        let ask = Path::Check.ask(&drawn.module, &entry, &[], dialect);
        let outcome = self.implementation.ask(edition, &ask)?;
        self.tally.violations += 1;
        self.tally.questions += 1;
        let names_rules = names_rules(&self.implementation);
        let asked = Asked { module: &drawn.module, entry: &entry, inputs: &[], names_rules, edition };
        match judge(asked, &Path::Check, &outcome) {
            Judged::Agrees { .. } => {}
            Judged::Unsupported(what) => *self.tally.unsupported.entry(what).or_default() += 1,
            Judged::Differs(difference) => self.differs(number, &drawn, &entry, &Path::Check, *difference)?,
        }
        Ok(())
    }

    /// The simplest program that breaks the rule, if it is accepted too.
    fn simplest(&mut self, shown: Shown) -> Result<Shown, StartError> {
        let edition = self.implementation.edition();
        let rule = violated_rules().find(|rule| shown.difference.signature.message == rule.id());
        let Some(drawn) = rule.and_then(|rule| self.source.simplest_violating(rule)) else { return Ok(shown) };
        let dialect = dialect_of(&self.implementation);
        let ask = Path::Check.ask(&drawn.module, &shown.entry, &[], dialect);
        let outcome = self.implementation.ask(edition, &ask)?;
        self.tally.reducing += 1;
        let names_rules = names_rules(&self.implementation);
        let asked = Asked { module: &drawn.module, entry: &shown.entry, inputs: &[], names_rules, edition };
        Ok(match judge(asked, &Path::Check, &outcome) {
            Judged::Differs(found) if found.signature.is_like(&shown.difference.signature) => {
                Shown { module: drawn.module, entry: shown.entry, sizes: drawn.sizes, difference: *found }
            }
            Judged::Differs(_) | Judged::Agrees { .. } | Judged::Unsupported(_) => shown,
        })
    }

    /// A difference is counted, and reduced if it is a new one.
    fn differs(
        &mut self,
        number: u64,
        drawn: &Drawn,
        entry: &Name,
        path: &Path,
        difference: Difference,
    ) -> Result<(), CampaignError> {
        match difference.signature.kind {
            Kind::Crash | Kind::Hang => self.tally.lost += 1,
            Kind::Refused => {
                let reason = format!("{}: {}", difference.signature.stage, difference.signature.message);
                *self.tally.refused.entry(reason).or_default() += 1;
            }
            Kind::Value | Kind::Fails | Kind::NotNormal | Kind::Accepted | Kind::AdapterError => {}
        }
        let all = operators(&drawn.module);
        let known_already = {
            let mut store = self.store.lock().unwrap_or_else(PoisonError::into_inner);
            store.again(&difference.signature, &all, &path.to_string())?
        };
        if known_already {
            return Ok(());
        }
        let shown =
            Shown { module: drawn.module.clone(), entry: entry.clone(), sizes: drawn.sizes.clone(), difference };
        let dialect = dialect_of(&self.implementation);
        let budget = match shown.difference.signature.kind {
            _ if self.is_known_as_it_is(&shown.difference.signature, &all) => 0,
            // Each answer that does not come takes as long as is waited for it.
            Kind::Hang => self.settings.budget.min(HANGS),
            Kind::Accepted => 0,
            Kind::Crash | Kind::Value | Kind::Fails | Kind::NotNormal | Kind::Refused | Kind::AdapterError => {
                self.settings.budget
            }
        };
        let shown = if shown.difference.signature.kind == Kind::Accepted { self.simplest(shown)? } else { shown };
        let mut reducer = Reducer { implementation: &mut self.implementation, path, dialect, budget };
        // The process is a new one now, and asked about nothing else yet.
        let alone = shown.difference.signature.kind != Kind::Crash || budget == 0 || reducer.shows_alone(&shown)?;
        // What was not drawn has no tape.
        let tape = (!drawn.choices.is_empty()).then_some((self.source, drawn.choices.as_slice()));
        let shown = if alone { reducer.reduce(tape, shown)? } else { not_alone(shown) };
        self.tally.reducing += (budget - reducer.budget) as u64;
        let finding = self.finding(number, path, shown, dialect);
        let mut store = self.store.lock().unwrap_or_else(PoisonError::into_inner);
        store.put(finding)?;
        Ok(())
    }

    /// Whether a ledger knows it by what it says, so that a smaller program would tell nothing more.
    fn is_known_as_it_is(&self, signature: &Signature, operators: &[String]) -> bool {
        self.settings.known.iter().any(|form| form.tells(signature) && form.knows(signature, operators))
    }

    fn finding(&self, number: u64, path: &Path, shown: Shown, dialect: Dialect) -> Finding {
        let Shown { module, entry, difference, .. } = shown;
        let called = operators(&module);
        let own = difference.signature;
        let telling = own.tells() || self.settings.known.iter().any(|form| form.tells(&own));
        let signature = Signature { operators: if telling { Vec::new() } else { called.clone() }, ..own };
        let known = self.settings.known.iter().find(|form| form.knows(&signature, &called));
        let identity = self.implementation.identity();
        Finding {
            known: known.map(|form| match &form.finding {
                Some(folder) => format!("{} (conformance/findings/{folder})", form.reason),
                None => form.reason.clone(),
            }),
            signature,
            paths: BTreeSet::from([path.to_string()]),
            count: 1,
            seed: self.settings.seed,
            number,
            implementation: format!("{} {}", identity.name, identity.version),
            message: difference.message,
            expected: difference.expected,
            given: difference.given,
            program: print_module(&module, dialect),
            module: to_value(&module),
            entry: entry.to_string(),
            input: difference.input.as_ref().map_or(Value::Null, to_value),
            bindings: bindings(&module),
            operators: called,
        }
    }
}
