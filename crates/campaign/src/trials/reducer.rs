//! Smaller witnesses of what was found: an implementation is asked whether a candidate shows the same.

use std::collections::{BTreeMap, BTreeSet};

use super::carry::carry;
use super::inputs::{ArgumentDomain, inputs};
use super::signature::FailureKind;
use super::spell::dialect_of;
use super::verdict::{ProgramQuestion, TrialVerdict};
use super::witness::{FOR_INPUTS, FOR_PATHS, Witness, passes};
use crate::shrink::{Program, Shows, shrink};
use ask::implementation::Implementation;
use ask::worker::StartError;
use relax_spec::book::Rule;
use relax_spec::check::in_normal_form;
use relax_spec::judge::Cx;
use relax_spec::question::Outcome;
use relax_spec::syntax::tvmscript::print_module;
use relax_spec::value::ValueSpec;

/// How many inputs a program is run on while it is reduced, where that of the larger one does not fit.
const RUNS: usize = 2;
/// For how many questions one counts to which no answer comes: it takes as long as is waited for it.
const WAITED: usize = 20;
/// How the stage of a run begins.
const RUN: &str = "run";

/// Asks about smaller witnesses.
pub struct Reducer<'a> {
    /// Who is asked.
    implementation: &'a mut dyn Implementation,
    /// How many questions may still be asked.
    left: usize,
    /// How many were asked.
    asked: u64,
    /// What was asked about: what did not show it is not asked about again.
    tried: BTreeSet<String>,
    /// The rules that the program breaks, which smaller ones break too, and no others.
    broken: Vec<Rule>,
    /// How often each pass made it smaller.
    taken: BTreeMap<&'static str, u64>,
}

impl<'a> Reducer<'a> {
    /// One who asks so many questions for smaller programs, and some for simpler inputs and paths.
    pub fn new(implementation: &'a mut dyn Implementation, budget: usize) -> Reducer<'a> {
        let (tried, broken, taken) = (BTreeSet::new(), Vec::new(), BTreeMap::new());
        Reducer { implementation, left: budget.saturating_add(FOR_INPUTS), asked: 0, tried, broken, taken }
    }

    /// How many questions were asked.
    pub fn asked(&self) -> u64 {
        self.asked
    }

    /// How often each pass made it smaller.
    pub fn taken(&self) -> &BTreeMap<&'static str, u64> {
        &self.taken
    }

    /// Makes the witness as small as it becomes. What was reached stands if nobody can be asked any more.
    pub fn reduce(&mut self, witness: &mut Witness) -> Result<(), StartError> {
        let program = &witness.program;
        self.broken = program.broken();
        let module = in_normal_form(&mut Cx::new().with_edition(program.edition), &program.module).module;
        // What was drawn has a tape, which gives no other form of it.
        if !witness.is_drawn() && module != program.module {
            let normal = witness.with_program(Program { module, ..program.clone() });
            if let Some(shown) = self.shows(witness, normal)? {
                *witness = shown;
            }
        }
        shrink(witness, &passes(), self)
    }

    /// Whether it shows in a process of its own, however many questions were asked.
    pub fn shows_alone(&mut self, witness: &Witness) -> Result<bool, StartError> {
        self.implementation.renew();
        Ok(self.ask(witness, witness.clone())?.is_some())
    }

    /// Asks about a candidate.
    fn ask(&mut self, best: &Witness, candidate: Witness) -> Result<Option<Witness>, StartError> {
        let like = &best.difference.signature;
        let Some(inputs) = inputs_of(best, &candidate) else { return Ok(None) };
        let Program { module, entry, .. } = &candidate.program;
        let asked = ProgramQuestion::of(self.implementation, module, entry, &inputs);
        let (outcome, verdict) = asked.put(self.implementation, &candidate.path)?;
        self.asked += 1;
        let is_waited = matches!(outcome, Outcome::Timeout { .. }) && like.kind != FailureKind::Hang;
        self.left = match is_waited {
            true => self.left.saturating_sub(1 + WAITED).max(FOR_PATHS),
            false => self.left.saturating_sub(1),
        };
        Ok(match verdict {
            TrialVerdict::Differs(found) if found.signature.is_like(like) => Some(candidate.showing(*found)),
            TrialVerdict::Differs(_) | TrialVerdict::Agrees { .. } | TrialVerdict::Unsupported(_) => None,
        })
    }
}

impl Shows<Witness> for Reducer<'_> {
    type Error = StartError;
    type Size = ((usize, usize, usize), usize, usize);

    fn size(&self, of: &Witness) -> Self::Size {
        of.size()
    }

    fn left(&self) -> usize {
        self.left
    }

    fn shows(&mut self, best: &Witness, candidate: Witness) -> Result<Option<Witness>, StartError> {
        let Program { module, entry, .. } = &candidate.program;
        let mut name = format!("{entry}\n{}", print_module(module, dialect_of(self.implementation)));
        if *module == best.program.module {
            name.push_str(&format!("{} {:?}", candidate.path, candidate.difference.input));
        }
        let is_new = self.tried.insert(name);
        if !is_new || candidate.program.broken() != self.broken {
            return Ok(None);
        }
        self.ask(best, candidate)
    }

    fn takes(&mut self, pass: &'static str) {
        *self.taken.entry(pass).or_default() += 1;
    }
}

/// What a candidate is run on; none if nothing can be made.
fn inputs_of(best: &Witness, candidate: &Witness) -> Option<Vec<Vec<ValueSpec>>> {
    let like = &best.difference.signature;
    if !like.stage.starts_with(RUN) && !like.is_outside() {
        // What is refused is refused whatever it would be run on.
        return Some(Vec::new());
    }
    let mut cx = Cx::new().with_edition(best.program.edition);
    let input = candidate.difference.input.as_deref();
    if let Some(input) = input.and_then(|input| carry(&mut cx, &best.program, input, &candidate.program)) {
        // Twice: what the first run leaves behind may be what shows.
        return Some(vec![input.clone(), input]);
    }
    let domain = if like.is_outside() { ArgumentDomain::Wide } else { ArgumentDomain::Documented };
    let Program { module, entry, sizes, .. } = &candidate.program;
    let made = inputs(&mut cx, module, entry, sizes, RUNS, domain);
    (!made.is_empty()).then_some(made)
}
