//! Smaller programs that show the same: first shorter tapes, then parts of the program.

use std::collections::{BTreeMap, BTreeSet};

use super::carried::{carried, simpler, sizes_at};
use super::fewer::fewer;
use super::inputs::{ArgumentDomain, inputs};
use super::judge::{is_accepted, judge};
use super::judged::{ProgramQuestion, TrialDifference, TrialVerdict, WitnessProgram, names_rules};
use super::left_out::without;
use super::path::Path;
use super::reduced::{self, FEW, bindings};
use super::settings::dialect_of;
use super::signature::FailureKind;
use crate::generate::Tape;
use crate::programs::ProgramSource;
use ask::implementation::Implementation;
use ask::worker::StartError;
use relax_spec::check::in_normal_form;
use relax_spec::grammar::{IrModule, Name, ShapeVar};
use relax_spec::judge::Cx;
use relax_spec::question::Outcome;
use relax_spec::syntax::tvmscript::{Dialect, print_module};
use relax_spec::value::ValueSpec;

/// How many inputs a program is run on while it is reduced, where that of the larger one does not fit.
const RUNS: usize = 2;
/// How many questions are asked for simpler inputs.
const OF_INPUTS: usize = 24;
/// For how many questions one counts to which no answer comes: it takes as long as is waited for it.
const WAITED: usize = 20;
/// How the stage of a run begins.
const RUN: &str = "run";

/// Asks about smaller programs.
pub struct Reducer<'a> {
    /// Who is asked.
    implementation: &'a mut dyn Implementation,
    /// By which path.
    path: &'a Path,
    /// How text is written.
    dialect: Dialect,
    /// How many questions may still be asked for smaller programs.
    budget: usize,
    /// How many were asked.
    asked: u64,
}

impl<'a> Reducer<'a> {
    /// One who asks by this path, so many questions for smaller programs and some for simpler inputs.
    pub fn new(implementation: &'a mut dyn Implementation, path: &'a Path, budget: usize) -> Reducer<'a> {
        let dialect = dialect_of(implementation);
        Reducer { implementation, path, dialect, budget, asked: 0 }
    }

    /// How many questions were asked.
    pub fn asked(&self) -> u64 {
        self.asked
    }

    /// The difference that a program shows by the path, if it shows one like that of the other program.
    fn shows(
        &mut self,
        candidate: &ReductionCandidate,
        other: &WitnessProgram,
    ) -> Result<Option<TrialDifference>, StartError> {
        let mut cx = Cx::new().with_edition(self.implementation.edition());
        if self.budget == 0 || !is_accepted(&mut cx, &candidate.module) {
            return Ok(None);
        }
        self.budget -= 1;
        let like = &other.difference.signature;
        let inputs =
            match (like.stage.starts_with(RUN) || like.is_outside(), carried(&mut cx, other, &candidate.module)) {
                // What is refused is refused whatever it would be run on.
                (false, _) => Vec::new(),
                // Twice: what the first run leaves behind may be what shows.
                (true, Some(input)) => vec![input.clone(), input],
                (true, None) => {
                    let domain = if like.is_outside() { ArgumentDomain::Wide } else { ArgumentDomain::Documented };
                    let made = inputs(&mut cx, &candidate.module, &candidate.entry, &candidate.sizes, RUNS, domain);
                    if made.is_empty() {
                        return Ok(None);
                    }
                    made
                }
            };
        self.shows_on(candidate, &inputs, other)
    }

    /// The same on given inputs.
    fn shows_on(
        &mut self,
        candidate: &ReductionCandidate,
        inputs: &[Vec<ValueSpec>],
        other: &WitnessProgram,
    ) -> Result<Option<TrialDifference>, StartError> {
        self.asked += 1;
        let edition = self.implementation.edition();
        let ask = self.path.ask(edition, &candidate.module, &candidate.entry, inputs, self.dialect);
        let outcome = self.implementation.ask(edition, &ask)?;
        if matches!(outcome, Outcome::Timeout { .. }) && other.difference.signature.kind != FailureKind::Hang {
            self.budget = self.budget.saturating_sub(WAITED);
        }
        let names_rules = names_rules(self.implementation);
        let asked =
            ProgramQuestion { module: &candidate.module, entry: &candidate.entry, inputs, names_rules, edition };
        Ok(match judge(asked, self.path, &outcome) {
            TrialVerdict::Differs(found) if found.signature.is_like(&other.difference.signature) => Some(*found),
            TrialVerdict::Differs(_) | TrialVerdict::Agrees { .. } | TrialVerdict::Unsupported(_) => None,
        })
    }

    /// Whether a crash shows in a process of its own, too, or what ran before in the lost one had a part in it.
    ///
    /// # Errors
    ///
    /// If nobody can be asked any more.
    pub fn shows_alone(&mut self, shown: &WitnessProgram) -> Result<bool, StartError> {
        let candidate =
            ReductionCandidate { module: shown.module.clone(), entry: shown.entry.clone(), sizes: shown.sizes.clone() };
        Ok(self.shows(&candidate, shown)?.is_some())
    }

    /// Whether what was found shows once more in a new process, however many questions were asked.
    ///
    /// # Errors
    ///
    /// If nobody can be asked any more.
    pub fn shows_again(&mut self, shown: &WitnessProgram) -> Result<bool, StartError> {
        self.implementation.renew();
        self.budget = self.budget.max(1);
        self.shows_alone(shown)
    }

    /// The smallest program found, on the simplest input.
    ///
    /// # Errors
    ///
    /// If nobody can be asked any more.
    pub fn reduce(
        &mut self,
        source: Option<(&ProgramSource, &[u32])>,
        shown: WitnessProgram,
    ) -> Result<WitnessProgram, StartError> {
        let mut shown = shown;
        if let Some((source, choices)) = source {
            self.tape(source, choices, &mut shown)?;
        }
        self.program(&mut shown)?;
        self.input(&mut shown)?;
        Ok(shown)
    }

    /// Shorter tapes.
    fn tape(&mut self, source: &ProgramSource, choices: &[u32], shown: &mut WitnessProgram) -> Result<(), StartError> {
        let mut choices = choices.to_vec();
        for part in [2, 4, 3, 2, 4] {
            let kept = choices.len() - choices.len() / part;
            let Some(shorter) = choices.get(..kept).map(<[u32]>::to_vec) else { break };
            let drawn = source.of_tape(Tape::from_choices(shorter.clone()));
            if bindings(&drawn.module) >= bindings(&shown.module) {
                choices = shorter;
                continue;
            }
            let candidate = ReductionCandidate { module: drawn.module, entry: shown.entry.clone(), sizes: drawn.sizes };
            if let Some(difference) = self.shows(&candidate, shown)? {
                choices = shorter;
                *shown = candidate.showing(difference);
            }
        }
        Ok(())
    }

    /// Parts of the program, as long as one of them shows it too.
    fn program(&mut self, shown: &mut WitnessProgram) -> Result<(), StartError> {
        let edition = self.implementation.edition();
        let normal = in_normal_form(&mut Cx::new().with_edition(edition), &shown.module).module;
        self.take(shown, normal)?;
        // A program that did not show it is not asked about again after another part is gone.
        let mut tried = BTreeSet::new();
        while bindings(&shown.module) > FEW {
            let before = bindings(&shown.module);
            self.plainer(shown, &mut tried)?;
            self.without_parts(shown, &mut tried)?;
            if bindings(&shown.module) == before {
                break;
            }
        }
        while self.smaller(shown, &mut tried)? {}
        Ok(())
    }

    /// What has the same bindings and makes leaving some of them out easier, as far as it shows the same; again as long as it does, for
    /// sequences stand in sequences.
    fn plainer(&mut self, shown: &mut WitnessProgram, tried: &mut BTreeSet<String>) -> Result<(), StartError> {
        let edition = self.implementation.edition();
        loop {
            let plainer = reduced::plainer(edition, &shown.module, &shown.entry, &sizes_at(shown));
            let mut taken = false;
            for module in plainer {
                if self.take_new(shown, module, tried)? {
                    taken = true;
                    break;
                }
            }
            if !taken {
                return Ok(());
            }
        }
    }

    /// Leaves out halves of all bindings, then quarters, and so on to single ones, the last first, since they use what is before them.
    fn without_parts(&mut self, shown: &mut WitnessProgram, tried: &mut BTreeSet<String>) -> Result<(), StartError> {
        let edition = self.implementation.edition();
        let mut part = bindings(&shown.module).div_ceil(2);
        while part > 0 {
            let mut end = bindings(&shown.module);
            while end > 0 {
                if self.budget == 0 {
                    return Ok(());
                }
                let start = end.saturating_sub(part);
                let less = without(edition, &shown.module, start..end);
                if bindings(&less) < bindings(&shown.module) {
                    self.take_new(shown, less, tried)?;
                }
                end = start;
            }
            part /= 2;
        }
        Ok(())
    }

    /// Takes the program if it was not tried and shows the same.
    fn take_new(
        &mut self,
        shown: &mut WitnessProgram,
        module: IrModule,
        tried: &mut BTreeSet<String>,
    ) -> Result<bool, StartError> {
        Ok(tried.insert(print_module(&module, self.dialect)) && self.take(shown, module)?)
    }

    /// Takes the first part that shows the same. False if there is none, or nothing more may be asked.
    fn smaller(&mut self, shown: &mut WitnessProgram, tried: &mut BTreeSet<String>) -> Result<bool, StartError> {
        let sizes = sizes_at(shown);
        let outer = reduced::candidates(self.implementation.edition(), &shown.module, &shown.entry, &sizes);
        let now = bindings(&shown.module);
        // Those take a while to make, and are made when nothing else is left.
        let inner = std::iter::once(()).flat_map(|()| fewer(&shown.module)).filter(|module| bindings(module) < now);
        let mut found = None;
        for module in outer.into_iter().chain(inner) {
            if self.budget == 0 {
                return Ok(false);
            }
            if !tried.insert(print_module(&module, self.dialect)) {
                continue;
            }
            let candidate = ReductionCandidate { module, entry: shown.entry.clone(), sizes: shown.sizes.clone() };
            if let Some(difference) = self.shows(&candidate, shown)? {
                found = Some(candidate.showing(difference));
                break;
            }
        }
        let Some(smaller) = found else { return Ok(false) };
        *shown = smaller;
        Ok(true)
    }

    /// Simpler numbers, as long as the program shows the same on them.
    fn input(&mut self, shown: &mut WitnessProgram) -> Result<(), StartError> {
        let mut left = OF_INPUTS;
        while let Some(input) = shown.difference.input.clone() {
            let mut found = None;
            for simpler in simpler(&input) {
                if left == 0 {
                    return Ok(());
                }
                left -= 1;
                let candidate = ReductionCandidate {
                    module: shown.module.clone(),
                    entry: shown.entry.clone(),
                    sizes: shown.sizes.clone(),
                };
                if let Some(difference) = self.shows_on(&candidate, &[simpler.clone(), simpler], shown)? {
                    found = Some(candidate.showing(difference));
                    break;
                }
            }
            let Some(simpler) = found else { return Ok(()) };
            *shown = simpler;
        }
        Ok(())
    }

    /// Takes the program if it shows the same.
    fn take(&mut self, shown: &mut WitnessProgram, module: IrModule) -> Result<bool, StartError> {
        let candidate = ReductionCandidate { module, entry: shown.entry.clone(), sizes: shown.sizes.clone() };
        let found = self.shows(&candidate, shown)?;
        let takes = found.is_some();
        if let Some(difference) = found {
            *shown = candidate.showing(difference);
        }
        Ok(takes)
    }
}

struct ReductionCandidate {
    module: IrModule,
    entry: Name,
    sizes: BTreeMap<ShapeVar, i64>,
}

impl ReductionCandidate {
    fn showing(self, difference: TrialDifference) -> WitnessProgram {
        WitnessProgram { module: self.module, entry: self.entry, sizes: self.sizes, difference }
    }
}
