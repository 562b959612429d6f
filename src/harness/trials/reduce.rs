//! Smaller programs that show the same: first shorter tapes, then parts of the program.

use std::collections::{BTreeMap, BTreeSet};

use super::fewer::fewer;
use super::judge::{is_accepted, judge};
use super::judged::{Asked, Difference, Judged, names_rules};
use super::path::Path;
use super::reduced::{self, bindings};
use crate::check::in_normal_form;
use crate::generate::Tape;
use crate::grammar::{IrModule, Name, ShapeVar};
use crate::harness::implementation::Implementation;
use crate::harness::programs::Source;
use crate::harness::worker::StartError;
use crate::judge::Cx;
use crate::syntax::tvmscript::{Dialect, print_module};

use super::inputs::{Domain, inputs};

/// How many inputs a program is run on while it is reduced.
const RUNS: usize = 2;

/// A program with what it is run by.
#[derive(Clone, Debug)]
pub struct Shown {
    /// The program.
    pub module: IrModule,
    /// The function that is started.
    pub entry: Name,
    /// Example sizes.
    pub sizes: BTreeMap<ShapeVar, i64>,
    /// What speaks against the implementation.
    pub difference: Difference,
}

/// Asks about smaller programs.
pub struct Reducer<'a> {
    /// Who is asked.
    pub implementation: &'a mut dyn Implementation,
    /// By which path.
    pub path: &'a Path,
    /// How text is written.
    pub dialect: Dialect,
    /// How many questions may still be asked.
    pub budget: usize,
}

impl Reducer<'_> {
    /// The difference that a program shows by the path, if it shows one like the other.
    fn shows(&mut self, candidate: &Candidate, like: &Difference) -> Result<Option<Difference>, StartError> {
        let edition = self.implementation.edition();
        let cx = || Cx::new().with_edition(edition);
        if self.budget == 0 || !is_accepted(&mut cx(), &candidate.module) {
            return Ok(None);
        }
        self.budget -= 1;
        let domain = if like.signature.is_outside() { Domain::Wide } else { Domain::Documented };
        let asked = (&candidate.module, &*candidate.entry);
        let inputs = inputs(&mut cx(), asked, &candidate.sizes, RUNS, domain);
        if inputs.is_empty() {
            return Ok(None);
        }
        let ask = self.path.ask(&candidate.module, &candidate.entry, &inputs, self.dialect);
        let outcome = self.implementation.ask(edition, &ask)?;
        let names_rules = names_rules(self.implementation);
        let asked = Asked { module: &candidate.module, entry: &candidate.entry, inputs: &inputs, names_rules, edition };
        Ok(match judge(asked, self.path, &outcome) {
            Judged::Differs(found) if found.signature.is_like(&like.signature) => Some(*found),
            Judged::Differs(_) | Judged::Agrees { .. } | Judged::Unsupported(_) => None,
        })
    }

    /// Whether a crash shows in a process of its own, too, or what ran before in the lost one had a part in it.
    ///
    /// # Errors
    ///
    /// If nobody can be asked any more.
    pub fn shows_alone(&mut self, shown: &Shown) -> Result<bool, StartError> {
        let candidate =
            Candidate { module: shown.module.clone(), entry: shown.entry.clone(), sizes: shown.sizes.clone() };
        Ok(self.shows(&candidate, &shown.difference)?.is_some())
    }

    /// The smallest program found.
    ///
    /// # Errors
    ///
    /// If nobody can be asked any more.
    pub fn reduce(&mut self, source: Option<(&Source, &[u32])>, shown: Shown) -> Result<Shown, StartError> {
        let mut shown = shown;
        if let Some((source, choices)) = source {
            self.tape(source, choices, &mut shown)?;
        }
        self.program(&mut shown)?;
        Ok(shown)
    }

    /// Shorter tapes.
    fn tape(&mut self, source: &Source, choices: &[u32], shown: &mut Shown) -> Result<(), StartError> {
        let mut choices = choices.to_vec();
        for part in [2, 4, 3, 2, 4] {
            let kept = choices.len() - choices.len() / part;
            let Some(shorter) = choices.get(..kept).map(<[u32]>::to_vec) else { break };
            let drawn = source.of_tape(Tape::from_choices(shorter.clone()));
            if bindings(&drawn.module) >= bindings(&shown.module) {
                choices = shorter;
                continue;
            }
            let candidate = Candidate { module: drawn.module, entry: shown.entry.clone(), sizes: drawn.sizes };
            let like = shown.difference.clone();
            if let Some(difference) = self.shows(&candidate, &like)? {
                choices = shorter;
                *shown = candidate.showing(difference);
            }
        }
        Ok(())
    }

    /// Parts of the program, as long as one of them shows it too.
    fn program(&mut self, shown: &mut Shown) -> Result<(), StartError> {
        let edition = self.implementation.edition();
        let normal = in_normal_form(&mut Cx::new().with_edition(edition), &shown.module).module;
        self.take(shown, normal)?;
        // A program that did not show it is not asked about again after another part is gone.
        let mut tried = BTreeSet::new();
        while self.smaller(shown, &mut tried)? {}
        Ok(())
    }

    /// Takes the first part that shows the same. False if there is none, or nothing more may be asked.
    fn smaller(&mut self, shown: &mut Shown, tried: &mut BTreeSet<String>) -> Result<bool, StartError> {
        let outer = reduced::candidates(self.implementation.edition(), &shown.module, &shown.entry, &shown.sizes);
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
            let candidate = Candidate { module, entry: shown.entry.clone(), sizes: shown.sizes.clone() };
            if let Some(difference) = self.shows(&candidate, &shown.difference)? {
                found = Some(candidate.showing(difference));
                break;
            }
        }
        let Some(smaller) = found else { return Ok(false) };
        *shown = smaller;
        Ok(true)
    }

    /// Takes the program if it shows the same.
    fn take(&mut self, shown: &mut Shown, module: IrModule) -> Result<bool, StartError> {
        let candidate = Candidate { module, entry: shown.entry.clone(), sizes: shown.sizes.clone() };
        let like = shown.difference.clone();
        let found = self.shows(&candidate, &like)?;
        let takes = found.is_some();
        if let Some(difference) = found {
            *shown = candidate.showing(difference);
        }
        Ok(takes)
    }
}

struct Candidate {
    module: IrModule,
    entry: Name,
    sizes: BTreeMap<ShapeVar, i64>,
}

impl Candidate {
    fn showing(self, difference: Difference) -> Shown {
        Shown { module: self.module, entry: self.entry, sizes: self.sizes, difference }
    }
}
