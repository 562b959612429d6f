//! Decides about a difference: either it belongs to an existing finding, or it is a new one, which is reduced and
//! stored.

use std::collections::BTreeSet;
use std::rc::Rc;
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::bisect::{Followed, Remembering, culprit, text_of, witness_of};
use super::path::Path;
use super::reducer::Reducer;
use super::settings::{CampaignError, CampaignSettings};
use super::signature::{FailureKind, FailureSignature, FindingContext, KnownForm};
use super::spell::dialect_of;
use super::store::{Finding, FindingStore};
use super::tally::CampaignTally;
use super::traits::operators;
use super::verdict::TrialDifference;
use super::witness::Witness;
use crate::programs::{Drawn, ProgramSource, add_counts};
use crate::shrink::bindings;
use ask::implementation::Implementation;
use ask::worker::StartError;
use relax_spec::grammar::Name;
use relax_spec::question::Ask;
use relax_spec::syntax::tvmscript::Dialect;

/// The budget of questions to reduce a program that hangs: each missing answer takes the whole time-out.
const HANGS: usize = 4;
/// The budget of questions to reduce a difference that a ledger knows, so that its program can be read.
const KNOWN: usize = 24;
/// After how many crashes without an identified cause no further one is traced: each attempt starts processes.
const HUNTS: usize = 6;

/// A difference that waits until it is its turn.
pub(super) struct QueuedDifference {
    pub(super) number: u64,
    pub(super) drawn: Drawn,
    pub(super) entry: Name,
    pub(super) path: Path,
    pub(super) difference: TrialDifference,
    /// The text that was asked about, if the program was not drawn.
    pub(super) text: Option<String>,
    /// For a crash: the questions that the process had been asked, and the question at which it was lost.
    pub(super) lost: Option<(Vec<Ask>, Ask)>,
}

/// What is known of the cause of a crash.
#[derive(Default)]
struct CrashCause {
    /// Whether an earlier program in the same process has a part in it.
    is_shared: bool,
    /// The next question to the process, if the crash occurs only with it.
    then: Option<String>,
}

/// The known form of the difference that a program shows before it is shrunk.
pub fn known_form<'k>(known: &'k [KnownForm], witness: &Witness, version: &str) -> Option<&'k KnownForm> {
    let (finding, path) = (Finding::of(witness, Dialect::default()), witness.path.to_string());
    known.iter().find(|form| form.knows(&finding.signature, &finding.context(&path, version)))
}

/// Handles differences one after the other.
pub(super) struct Triage<'a> {
    pub(super) source: &'a Rc<ProgramSource>,
    pub(super) settings: &'a CampaignSettings,
    pub(super) implementation: &'a mut Remembering,
    pub(super) store: &'a Mutex<FindingStore>,
    pub(super) tally: &'a mut CampaignTally,
}

impl<'a> Triage<'a> {
    /// Counts a difference, and stores it if it is new. After an interrupt it asks no further questions.
    pub(super) fn settle(&mut self, queued: QueuedDifference, interrupted: bool) -> Result<(), CampaignError> {
        let QueuedDifference { number, drawn, entry, path, difference, text, lost } = queued;
        let seen = path.to_string();
        let place = (self.settings.seed, number, seen.clone());
        let called = if text.is_some() { Vec::new() } else { operators(&drawn.module) };
        if self.store().again(&difference.signature, &called, &place, bindings(&drawn.module))? {
            return Ok(());
        }
        let known = self.known_as_it_is(&difference.signature, &called, &seen);
        let edition = self.implementation.edition();
        let mut witness = Witness::new(edition, drawn.module.clone(), entry, path, difference);
        let (mut cause, mut is_whole) = (CrashCause::default(), false);
        if text.is_none() && !interrupted {
            witness = witness.drawn(self.source, &drawn);
            let is_crash = witness.difference.signature.kind == FailureKind::Crash;
            match self.reduce(&mut witness, known.is_some(), lost) {
                // Whether the crash occurs alone has not been tested yet.
                Err(StartError::Interrupted) => cause.is_shared = is_crash,
                other => (cause, is_whole) = (other?, true),
            }
        }
        let has_traits = is_whole && !cause.is_shared && cause.then.is_none();
        let seen = if cause.then.is_none() { seen } else { witness.path.to_string() };
        let finding = self.finding(&witness, cause, &seen, has_traits, known);
        let program = text.unwrap_or_else(|| finding.program.clone());
        Ok(self.store().put(Finding { number, program, counted: [place].into(), ..finding })?)
    }

    fn store(&self) -> MutexGuard<'_, FindingStore> {
        self.store.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Makes the witness as small as possible.
    fn reduce(
        &mut self,
        witness: &mut Witness,
        is_known: bool,
        lost: Option<(Vec<Ask>, Ask)>,
    ) -> Result<CrashCause, StartError> {
        let is_crash = witness.difference.signature.kind == FailureKind::Crash;
        let is_hang = witness.difference.signature.kind == FailureKind::Hang;
        let most = [(is_hang, HANGS), (is_known, KNOWN)].into_iter().find(|(is_so, _)| *is_so);
        let budget = most.map_or(self.settings.budget, |(_, most)| self.settings.budget.min(most));
        let mut reducer = Reducer::new(self.implementation, budget);
        // No earlier question to the process should have a part in it.
        if is_crash && budget > 0 && !reducer.shows_alone(witness)? {
            self.tally.reducing += reducer.asked();
            return self.trace(witness, lost);
        }
        reducer.reduce(witness)?;
        // A crash that does not occur again is due to earlier damage or to chance.
        let is_shared = is_crash && budget > 0 && !reducer.shows_alone(witness)?;
        self.tally.reducing += reducer.asked();
        add_counts(&mut self.tally.passes, reducer.taken().clone());
        Ok(CrashCause { is_shared, then: None })
    }

    /// The earlier program in the process that causes the crash, if it can be identified.
    fn trace(&mut self, witness: &mut Witness, lost: Option<(Vec<Ask>, Ask)>) -> Result<CrashCause, StartError> {
        let untold = || Ok(CrashCause { is_shared: true, then: None });
        let open = self.store().ranked().into_iter().filter(|finding| !finding.alone).count();
        let Some((before, then)) = lost.filter(|_| open < HUNTS) else { return untold() };
        let Some(culprit) = culprit(self.implementation, before, &then)? else { return untold() };
        let dialect = dialect_of(self.implementation);
        let mut followed = Followed { inner: self.implementation, then: &then };
        let Some(earlier) = witness_of(&mut followed, &culprit)? else { return untold() };
        *witness = earlier;
        let mut reducer = Reducer::new(&mut followed, self.settings.budget);
        reducer.reduce(witness)?;
        self.tally.reducing += reducer.asked();
        Ok(CrashCause { is_shared: false, then: Some(text_of(&then, dialect)) })
    }

    /// The entry of the ledger that the signature alone matches, however the program shrinks.
    fn known_as_it_is(&self, signature: &FailureSignature, operators: &[String], path: &str) -> Option<&'a KnownForm> {
        let (version, traits) = (&self.implementation.identity().version, &BTreeSet::new());
        let seen = FindingContext { operators, traits, attributes: &BTreeSet::new(), path, version };
        self.settings.known.iter().find(|form| form.tells(signature) && form.knows(signature, &seen))
    }

    /// The finding, with the entry of the ledger that matches it.
    fn finding(
        &self,
        witness: &Witness,
        cause: CrashCause,
        path: &str,
        has_traits: bool,
        known: Option<&KnownForm>,
    ) -> Finding {
        let mut new = Finding::of(witness, dialect_of(self.implementation));
        let mut signature = new.signature.clone();
        if cause.is_shared {
            signature.message.push_str(", not when it is asked alone");
        }
        if !signature.tells() && !self.settings.known.iter().any(|form| form.tells(&signature)) {
            signature.operators.clone_from(&new.operators);
        }
        if !has_traits {
            new.traits.clear();
            new.attributes.clear();
        }
        let identity = self.implementation.identity();
        let seen = new.context(path, &identity.version);
        let form = self.settings.known.iter().find(|form| form.knows(&signature, &seen)).or(known);
        let known = form.map(|form| match &form.finding {
            Some(folder) => format!("{} (conformance/findings/{folder})", form.reason),
            None => form.reason.clone(),
        });
        new.paths.insert(path.to_string());
        let (alone, then, seed) = (!cause.is_shared, cause.then, self.settings.seed);
        let implementation = format!("{} {}", identity.name, identity.version);
        Finding { signature, known, alone, then, seed, implementation, ..new }
    }
}
