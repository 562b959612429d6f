//! Smaller programs that show the same: first shorter tapes, then parts of the program.

use std::collections::BTreeMap;

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
use crate::syntax::tvmscript::Dialect;

use super::inputs::inputs;

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
        let inputs = inputs(&mut cx(), &candidate.module, &candidate.entry, &candidate.sizes, RUNS);
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
        loop {
            let before = self.budget;
            let mut smaller = false;
            for candidate in reduced::candidates(edition, &shown.module, &shown.entry, &shown.sizes) {
                if self.take(shown, candidate)? {
                    smaller = true;
                    break;
                }
                if self.budget == 0 {
                    return Ok(());
                }
            }
            if !smaller || before == 0 {
                return Ok(());
            }
        }
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
