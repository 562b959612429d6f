//! What becomes of a difference: it is one more of a finding that is there, or a new one, which is reduced and kept.

use std::collections::BTreeSet;
use std::sync::{Mutex, PoisonError};

use serde_json::Value;

use super::before::{Followed, Remembering, culprit, shown, told_of};
use super::judge::judge;
use super::judged::{ProgramQuestion, TrialDifference, TrialVerdict, WitnessProgram, names_rules};
use super::path::Path;
use super::reduce::Reducer;
use super::reduced::{bindings, held, operators};
use super::settings::{CampaignError, CampaignSettings, dialect_of};
use super::signature::{FailureKind, FailureSignature, FindingContext, KnownForm, Trait};
use super::store::{Finding, FindingStore};
use crate::programs::{Drawn, ProgramSource};
use ask::implementation::Implementation;
use ask::worker::StartError;
use relax_spec::data::json::to_value;
use relax_spec::grammar::Name;
use relax_spec::question::Ask;
use relax_spec::syntax::tvmscript::print_module;

/// The way of running without optimizations, and the usual one.
const PLAIN: &str = "plain";
const USUAL: &str = "llvm";
/// How many questions are asked to reduce a program that hangs.
const HANGS: usize = 4;
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

/// What a finding is about, as small as it became.
struct Smallest {
    path: Path,
    shown: WitnessProgram,
    /// Whether it shows in a process of its own.
    alone: bool,
    /// What the process was asked next, if it shows only then.
    then: Option<String>,
    /// What tells it from programs with the same operators.
    traits: BTreeSet<Trait>,
}

/// The known form of a difference that a program shows as it is, not reduced.
pub fn known_form<'k>(
    known: &'k [KnownForm],
    shown: &WitnessProgram,
    path: &Path,
    version: &str,
) -> Option<&'k KnownForm> {
    let (operators, traits) = (operators(&shown.module), held(&shown.module, shown.difference.input.as_deref()));
    let seen = FindingContext { operators: &operators, traits: &traits, path: &path.to_string(), version };
    known.iter().find(|form| form.knows(&shown.difference.signature, &seen))
}

impl Smallest {
    fn alone(path: &Path, shown: WitnessProgram) -> Smallest {
        Smallest { path: path.clone(), shown, alone: true, then: None, traits: BTreeSet::new() }
    }
}

/// Looks at differences, one after the other.
pub(super) struct Keeper<'a> {
    pub(super) source: &'a ProgramSource,
    pub(super) settings: &'a CampaignSettings,
    pub(super) implementation: &'a mut Remembering,
    pub(super) store: &'a Mutex<FindingStore>,
    /// How many questions were asked to reduce.
    pub(super) reducing: u64,
}

impl Keeper<'_> {
    /// Counts a difference, and keeps it if it is a new one. Nothing more is asked after an interrupt.
    pub(super) fn settle(&mut self, pending: QueuedDifference, interrupted: bool) -> Result<(), CampaignError> {
        let all = if pending.text.is_some() { Vec::new() } else { operators(&pending.drawn.module) };
        let place = (self.settings.seed, pending.number, pending.path.to_string());
        let is_there = {
            let mut store = self.store.lock().unwrap_or_else(PoisonError::into_inner);
            store.again(&pending.difference.signature, &all, &place, bindings(&pending.drawn.module))?
        };
        if is_there {
            return Ok(());
        }
        let QueuedDifference { number, drawn, entry, path, difference, text, lost } = pending;
        let shown = WitnessProgram { module: drawn.module.clone(), entry, sizes: drawn.sizes.clone(), difference };
        let is_asked =
            text.is_none() && !interrupted && !self.is_known_as_it_is(&shown.difference.signature, &all, &path);
        let smallest = match is_asked {
            true => match self.smallest(&drawn, &path, shown.clone(), lost) {
                // Of a crash it was not seen yet whether it shows alone.
                Err(StartError::Interrupted) => {
                    let alone = shown.difference.signature.kind != FailureKind::Crash;
                    Smallest { alone, ..Smallest::alone(&path, shown) }
                }
                other => other?,
            },
            false => Smallest::alone(&path, shown),
        };
        let finding = self.finding(number, smallest);
        let program = text.unwrap_or(finding.program.clone());
        let mut store = self.store.lock().unwrap_or_else(PoisonError::into_inner);
        Ok(store.put(Finding { program, counted: [place].into(), ..finding })?)
    }

    /// The smallest program that shows it.
    fn smallest(
        &mut self,
        drawn: &Drawn,
        path: &Path,
        shown: WitnessProgram,
        lost: Option<(Vec<Ask>, Ask)>,
    ) -> Result<Smallest, StartError> {
        let budget = match shown.difference.signature.kind {
            FailureKind::Accepted => return Ok(Smallest::alone(path, self.simplest(shown)?)),
            // Each answer that does not come takes as long as is waited for it.
            FailureKind::Hang => self.settings.budget.min(HANGS),
            FailureKind::Crash
            | FailureKind::Value
            | FailureKind::Fails
            | FailureKind::NotNormal
            | FailureKind::Refused
            | FailureKind::AdapterError => self.settings.budget,
        };
        let is_crash = shown.difference.signature.kind == FailureKind::Crash;
        if is_crash {
            // Nothing that was asked before shall have a part in it.
            self.implementation.renew();
        }
        let mut reducer = Reducer::new(self.implementation, path, budget);
        if is_crash && budget > 0 && !reducer.shows_alone(&shown)? {
            self.reducing += 1;
            return self.of_what_was_before(path, shown, lost);
        }
        // What was not drawn has no tape.
        let tape = (!drawn.choices.is_empty()).then_some((self.source, drawn.choices.as_slice()));
        let shown = reducer.reduce(tape, shown)?;
        // A crash that does not come again comes of damage that was done before, or of luck.
        let alone = !is_crash || budget == 0 || reducer.shows_again(&shown)?;
        self.reducing += reducer.asked();
        let traits = if alone { self.traits(path, &shown)? } else { BTreeSet::new() };
        Ok(Smallest { alone, traits, ..Smallest::alone(path, shown) })
    }

    /// What tells a reduced program from others with its operators. Whether a pass is to blame is asked.
    fn traits(&mut self, path: &Path, shown: &WitnessProgram) -> Result<BTreeSet<Trait>, StartError> {
        let mut traits = held(&shown.module, shown.difference.input.as_deref());
        let runs = match shown.difference.signature.kind {
            FailureKind::Crash | FailureKind::Value | FailureKind::Fails => {
                shown.difference.signature.stage.starts_with("run")
            }
            FailureKind::Hang
            | FailureKind::NotNormal
            | FailureKind::Refused
            | FailureKind::Accepted
            | FailureKind::AdapterError => false,
        };
        let (plain, usual) = (Path::Run(PLAIN), Path::Run(USUAL));
        if runs && *path != plain && !self.shows_by(&plain, shown)? {
            let by_usual = *path == usual || self.shows_by(&usual, shown)?;
            traits.insert(if by_usual { Trait::Planned } else { Trait::OfPath });
        }
        Ok(traits)
    }

    /// Whether the same shows by another path.
    fn shows_by(&mut self, path: &Path, shown: &WitnessProgram) -> Result<bool, StartError> {
        self.reducing += 1;
        Reducer::new(self.implementation, path, 1).shows_alone(shown)
    }

    /// The program of those that ran before in the process by which the crash comes, if it can be told which it is.
    fn of_what_was_before(
        &mut self,
        path: &Path,
        unexplained: WitnessProgram,
        lost: Option<(Vec<Ask>, Ask)>,
    ) -> Result<Smallest, StartError> {
        let not_alone =
            |shown| Smallest { path: path.clone(), shown, alone: false, then: None, traits: BTreeSet::new() };
        let open = {
            let store = self.store.lock().unwrap_or_else(PoisonError::into_inner);
            store.ranked().into_iter().filter(|finding| !finding.alone).count()
        };
        let Some((before, then)) = lost.filter(|_| open < HUNTS) else { return Ok(not_alone(unexplained)) };
        let Some(culprit) = culprit(self.implementation, &before, &then)? else { return Ok(not_alone(unexplained)) };
        let dialect = dialect_of(self.implementation);
        let mut followed = Followed { inner: self.implementation, then: &then };
        let Some((path, shown)) = shown(&mut followed, &culprit)? else { return Ok(not_alone(unexplained)) };
        let mut reducer = Reducer::new(&mut followed, &path, self.settings.budget);
        let shown = reducer.reduce(None, shown)?;
        self.reducing += reducer.asked();
        Ok(Smallest { path, shown, alone: true, then: Some(told_of(&then, dialect)), traits: BTreeSet::new() })
    }

    /// The simplest program that breaks the rule, if it is accepted too.
    fn simplest(&mut self, shown: WitnessProgram) -> Result<WitnessProgram, StartError> {
        let rule = self.source.violated_rules().find(|rule| shown.difference.signature.message == rule.id());
        let Some(drawn) = rule.and_then(|rule| self.source.simplest_violating(rule)) else { return Ok(shown) };
        let dialect = dialect_of(self.implementation);
        let edition = self.implementation.edition();
        let ask = Path::Check.ask(edition, &drawn.module, &shown.entry, &[], dialect);
        let outcome = self.implementation.ask(edition, &ask)?;
        self.reducing += 1;
        let names_rules = names_rules(self.implementation);
        let asked = ProgramQuestion { module: &drawn.module, entry: &shown.entry, inputs: &[], names_rules, edition };
        Ok(match judge(asked, &Path::Check, &outcome) {
            TrialVerdict::Differs(found) if found.signature.is_like(&shown.difference.signature) => {
                WitnessProgram { module: drawn.module, entry: shown.entry, sizes: drawn.sizes, difference: *found }
            }
            TrialVerdict::Differs(_) | TrialVerdict::Agrees { .. } | TrialVerdict::Unsupported(_) => shown,
        })
    }

    /// Whether a ledger knows it by what it says, so that a smaller program would tell nothing more.
    fn is_known_as_it_is(&self, signature: &FailureSignature, operators: &[String], path: &Path) -> bool {
        let (path, version) = (path.to_string(), &self.implementation.identity().version);
        let seen = FindingContext { operators, traits: &BTreeSet::new(), path: &path, version };
        self.settings.known.iter().any(|form| form.tells(signature) && form.knows(signature, &seen))
    }

    fn finding(&self, number: u64, smallest: Smallest) -> Finding {
        let Smallest { path, shown: WitnessProgram { module, entry, difference, .. }, alone, then, traits } = smallest;
        let called = operators(&module);
        let mut own = difference.signature;
        if !alone {
            own.message.push_str(", not when it is asked alone");
        }
        let telling = own.tells() || self.settings.known.iter().any(|form| form.tells(&own));
        let signature = FailureSignature { operators: if telling { Vec::new() } else { called.clone() }, ..own };
        let identity = self.implementation.identity();
        let seen =
            FindingContext { operators: &called, traits: &traits, path: &path.to_string(), version: &identity.version };
        let known = self.settings.known.iter().find(|form| form.knows(&signature, &seen));
        Finding {
            known: known.map(|form| match &form.finding {
                Some(folder) => format!("{} (conformance/findings/{folder})", form.reason),
                None => form.reason.clone(),
            }),
            signature,
            also: BTreeSet::new(),
            paths: BTreeSet::from([path.to_string()]),
            count: 1,
            counted: BTreeSet::new(),
            alone,
            then,
            seed: self.settings.seed,
            number,
            implementation: format!("{} {}", identity.name, identity.version),
            edition: self.implementation.edition(),
            message: difference.message,
            expected: difference.expected,
            given: difference.given,
            program: print_module(&module, dialect_of(self.implementation)),
            module: to_value(&module),
            entry: entry.to_string(),
            input: difference.input.as_ref().map_or(Value::Null, to_value),
            bindings: bindings(&module),
            operators: called,
            traits,
        }
    }
}
