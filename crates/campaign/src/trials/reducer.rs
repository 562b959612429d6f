//! Smaller witnesses of a difference: the implementation is asked whether a candidate shows the same difference.

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

/// How many inputs a reduced program is run on, where the input of the larger program does not fit.
const RUNS: usize = 2;
/// How much a question without an answer costs, as a number of answered questions: it takes the whole time-out.
const WAITED: usize = 20;
/// How the stage of a run begins.
const RUN: &str = "run";

/// Asks about smaller witnesses.
pub struct Reducer<'a> {
    /// The implementation under test.
    implementation: &'a mut dyn Implementation,
    /// How many questions may still be asked.
    left: usize,
    /// How many were asked.
    asked: u64,
    /// The candidates so far; one that did not show the difference is not asked about again.
    tried: BTreeSet<String>,
    /// The rules that the program breaks: smaller programs must break exactly the same.
    broken: Vec<Rule>,
    /// How often each pass made the witness smaller.
    taken: BTreeMap<&'static str, u64>,
}

impl<'a> Reducer<'a> {
    /// A reducer with a budget of questions for smaller programs, and a few more for simpler inputs and paths.
    pub fn new(implementation: &'a mut dyn Implementation, budget: usize) -> Reducer<'a> {
        let (tried, broken, taken) = (BTreeSet::new(), Vec::new(), BTreeMap::new());
        Reducer { implementation, left: budget.saturating_add(FOR_INPUTS), asked: 0, tried, broken, taken }
    }

    /// How many questions were asked.
    pub fn asked(&self) -> u64 {
        self.asked
    }

    /// How often each pass made the witness smaller.
    pub fn taken(&self) -> &BTreeMap<&'static str, u64> {
        &self.taken
    }

    /// Makes the witness as small as possible. The result so far is kept if the implementation can no longer be asked.
    pub fn reduce(&mut self, witness: &mut Witness) -> Result<(), StartError> {
        let program = &witness.program;
        self.broken = program.broken();
        let module = in_normal_form(&mut Cx::new().with_edition(program.edition), &program.module).module;
        // A drawn program has a tape, which cannot give another form of it.
        if !witness.is_drawn() && module != program.module {
            let normal = witness.with_program(Program { module, ..program.clone() });
            if let Some(shown) = self.shows(witness, normal)? {
                *witness = shown;
            }
        }
        shrink(witness, &passes(), self)
    }

    /// Whether the difference occurs in a new process. This is asked even if the budget is spent.
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

/// The inputs of a candidate; none if no input can be generated.
fn inputs_of(best: &Witness, candidate: &Witness) -> Option<Vec<Vec<ValueSpec>>> {
    let like = &best.difference.signature;
    if !like.stage.starts_with(RUN) && !like.is_outside() {
        // A program that is refused is refused whatever its input.
        return Some(Vec::new());
    }
    let mut cx = Cx::new().with_edition(best.program.edition);
    let input = candidate.difference.input.as_deref();
    if let Some(input) = input.and_then(|input| carry(&mut cx, &best.program, input, &candidate.program)) {
        // Twice: the difference may come from state that the first run leaves behind.
        return Some(vec![input.clone(), input]);
    }
    let domain = if like.is_outside() { ArgumentDomain::Wide } else { ArgumentDomain::Documented };
    let Program { module, entry, sizes, .. } = &candidate.program;
    let made = inputs(&mut cx, module, entry, sizes, RUNS, domain);
    (!made.is_empty()).then_some(made)
}
