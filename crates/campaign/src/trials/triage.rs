//! What becomes of a difference: it is one more of a finding that is there, or a new one, which is reduced and kept.

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

/// How many questions are asked to reduce a program that hangs: each answer that does not come takes as long as is
/// waited for it.
const HANGS: usize = 4;
/// How many questions are asked to reduce what a ledger knows already, so that it can be read.
const KNOWN: usize = 24;
/// After how many crashes that could not be traced no further one is traced: each attempt starts processes.
const HUNTS: usize = 6;

/// A difference that waits for its turn.
pub(super) struct QueuedDifference {
    pub(super) number: u64,
    pub(super) drawn: Drawn,
    pub(super) entry: Name,
    pub(super) path: Path,
    pub(super) difference: TrialDifference,
    /// The text that was asked about, where it is no program that was drawn.
    pub(super) text: Option<String>,
    /// Of a crash: what the process had been asked before, and the question that it was lost by.
    pub(super) lost: Option<(Vec<Ask>, Ask)>,
}

/// How far it is known by what a crash comes.
#[derive(Default)]
struct CrashCause {
    /// Whether something that ran before has a part in it.
    is_shared: bool,
    /// What the process was asked next, if it shows only then.
    then: Option<String>,
}

/// The known form of a difference that a program shows as it is, before it is shrunk.
pub fn known_form<'k>(known: &'k [KnownForm], witness: &Witness, version: &str) -> Option<&'k KnownForm> {
    let (finding, path) = (Finding::of(witness, Dialect::default()), witness.path.to_string());
    known.iter().find(|form| form.knows(&finding.signature, &finding.context(&path, version)))
}

/// Looks at differences, one after the other.
pub(super) struct Triage<'a> {
    pub(super) source: &'a Rc<ProgramSource>,
    pub(super) settings: &'a CampaignSettings,
    pub(super) implementation: &'a mut Remembering,
    pub(super) store: &'a Mutex<FindingStore>,
    pub(super) tally: &'a mut CampaignTally,
}

impl<'a> Triage<'a> {
    /// Counts a difference, and keeps it if it is a new one. Nothing more is asked after an interrupt.
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
                // Of a crash it was not seen yet whether it shows alone.
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

    /// Makes the witness as small as it becomes.
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
        // Nothing that was asked before shall have a part in it.
        if is_crash && budget > 0 && !reducer.shows_alone(witness)? {
            self.tally.reducing += reducer.asked();
            return self.trace(witness, lost);
        }
        reducer.reduce(witness)?;
        // A crash that does not come again comes of damage that was done before, or of luck.
        let is_shared = is_crash && budget > 0 && !reducer.shows_alone(witness)?;
        self.tally.reducing += reducer.asked();
        add_counts(&mut self.tally.passes, reducer.taken().clone());
        Ok(CrashCause { is_shared, then: None })
    }

    /// The program of those that ran before in the process by which the crash comes, if it can be told which it is.
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

    /// The form of the ledger that knows it by what it says, whatever the smaller program is.
    fn known_as_it_is(&self, signature: &FailureSignature, operators: &[String], path: &str) -> Option<&'a KnownForm> {
        let (version, traits) = (&self.implementation.identity().version, &BTreeSet::new());
        let seen = FindingContext { operators, traits, attributes: &BTreeSet::new(), path, version };
        self.settings.known.iter().find(|form| form.tells(signature) && form.knows(signature, &seen))
    }

    /// What was found, with the form of the ledger that knows it.
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
