//! The witness of a difference, and the passes that make it smaller.

use std::collections::BTreeSet;
use std::rc::Rc;

use super::carry::{not_zero, with_zeros};
use super::path::Path;
use super::signature::{FailureKind, FailureSignature};
use super::traits::{Trait, of_difference, visible};
use super::verdict::TrialDifference;
use crate::generate::Tape;
use crate::programs::{Drawn, ProgramSource};
use crate::shrink::{self, Candidates, Pass, Program, halves, sizes_on};
use relax_spec::book::Edition;
use relax_spec::grammar::{IrModule, Name};

/// Paths that are simpler than others: without optimizations, and the usual one.
const SIMPLE: [Path; 2] = [Path::Run("plain"), Path::Run("llvm")];
/// How many questions other passes leave for simpler paths and simpler inputs.
pub(super) const FOR_PATHS: usize = SIMPLE.len();
pub(super) const FOR_INPUTS: usize = 24 + FOR_PATHS;
/// How much of a tape is kept, in twelfths.
const KEPT: [usize; 4] = [3, 6, 8, 10];
/// How the stage of a run begins.
const RUN: &str = "run";

/// A program with its inputs and its path, and the difference that it shows.
#[derive(Clone, Debug)]
pub struct Witness {
    pub(super) program: Program,
    pub(super) path: Path,
    pub(super) difference: TrialDifference,
    /// The tape from which the program was drawn, as long as the tape still gives this program.
    tape: Option<(Rc<ProgramSource>, Vec<u32>)>,
}

impl Witness {
    /// A program that shows a difference by a path.
    pub fn new(edition: Edition, module: IrModule, entry: Name, path: Path, difference: TrialDifference) -> Witness {
        let program = Program { edition, module, entry, sizes: Default::default() };
        Witness { program, path, difference, tape: None }.at_its_sizes()
    }

    /// The same witness with the tape from which it was drawn.
    pub(super) fn drawn(mut self, source: &Rc<ProgramSource>, drawn: &Drawn) -> Witness {
        self.program.sizes.clone_from(&drawn.sizes);
        // A program that was not drawn has no tape.
        self.tape = (!drawn.choices.is_empty()).then(|| (Rc::clone(source), drawn.choices.clone()));
        self.at_its_sizes()
    }

    /// The program.
    pub fn module(&self) -> &IrModule {
        &self.program.module
    }

    pub(super) fn is_drawn(&self) -> bool {
        self.tape.is_some()
    }

    /// The same witness with the difference that it shows now.
    pub(super) fn showing(self, difference: TrialDifference) -> Witness {
        Witness { difference, ..self }.at_its_sizes()
    }

    pub(super) fn with_program(&self, program: Program) -> Witness {
        Witness { program, tape: None, ..self.clone() }
    }

    /// Sets the sizes at which the program runs to those of the input.
    fn at_its_sizes(mut self) -> Witness {
        let params = self.program.function().map(|function| function.params.as_slice()).unwrap_or_default();
        let sizes = sizes_on(params, self.difference.input.as_deref().unwrap_or_default());
        self.program.sizes.extend(sizes);
        self
    }

    /// What tells it from others with its operators.
    pub(super) fn traits(&self) -> BTreeSet<Trait> {
        let TrialDifference { signature, input, expected, given, .. } = &self.difference;
        let mut traits = visible(self.module(), input.as_deref());
        traits.extend(of_difference(expected, given));
        // It occurs on no simpler path: the last pass has tried those.
        let path = SIMPLE.iter().position(|simple| *simple == self.path);
        let of_path = path.map_or(Some(Trait::OfPath), |at| (at > 0).then_some(Trait::Planned));
        traits.extend(of_path.filter(|_| is_of_run(signature)));
        traits
    }

    /// The size of the program counts first, then the non-zero numbers of the input, then the path.
    pub(super) fn size(&self) -> ((usize, usize, usize), usize, usize) {
        let numbers = self.difference.input.iter().flatten().map(|value| not_zero(value).len()).sum();
        let path = SIMPLE.iter().position(|simple| *simple == self.path).unwrap_or(SIMPLE.len());
        (self.program.size(), numbers, path)
    }
}

/// Whether the difference occurs when a program is run, so that passes of a compiler may be to blame.
fn is_of_run(signature: &FailureSignature) -> bool {
    let is_result = matches!(signature.kind, FailureKind::Crash | FailureKind::Value | FailureKind::Fails);
    is_result && signature.stage.starts_with(RUN)
}

/// All passes, in the order in which they are run.
pub(super) fn passes<'p>() -> Vec<Pass<'p, Witness>> {
    let of_programs =
        shrink::passes().into_iter().map(|pass| pass.lifted(|own: &Witness| &own.program, Witness::with_program));
    let of_programs = std::iter::once(Pass::new("tape", tapes)).chain(of_programs).map(|pass| pass.leaving(FOR_INPUTS));
    of_programs.chain([Pass::new("input", inputs).leaving(FOR_PATHS), Pass::new("path", paths)]).collect()
}

/// Shorter tapes; for a program that breaks a rule, the simplest program that breaks it.
fn tapes(own: &Witness, from: usize) -> Candidates<'_, Witness> {
    let Some((source, choices)) = &own.tape else { return Box::new(std::iter::empty()) };
    let of = |drawn: Drawn| Witness {
        program: Program { module: drawn.module, sizes: drawn.sizes, ..own.program.clone() },
        tape: Some((Rc::clone(source), drawn.choices)),
        ..own.clone()
    };
    let broken = source.violated_rules().find(|rule| rule.id() == own.difference.signature.message);
    if let Some(rule) = broken {
        return Box::new(std::iter::once(rule).skip(from).map(move |rule| source.simplest_violating(rule).map(of)));
    }
    let shorter = |part: usize| choices.get(..choices.len() * part / 12).map(<[u32]>::to_vec);
    let drawn = move |part| Some(of(source.of_tape(Tape::from_choices(shorter(part)?))));
    Box::new(KEPT.into_iter().skip(from).map(drawn))
}

/// Inputs with some elements replaced by zeros.
fn inputs(own: &Witness, from: usize) -> Candidates<'_, Witness> {
    let input = own.difference.input.as_deref().unwrap_or_default();
    let places: Vec<(usize, usize)> = input
        .iter()
        .enumerate()
        .flat_map(|(at, value)| not_zero(value).into_iter().map(move |element| (at, element)))
        .collect();
    Box::new(halves(places.len(), from).map(move |range| {
        let input = Some(with_zeros(input, places.get(range)?));
        Some(Witness { difference: TrialDifference { input, ..own.difference.clone() }, ..own.clone() })
    }))
}

/// Simpler ways of running.
fn paths(own: &Witness, from: usize) -> Candidates<'_, Witness> {
    let simple = if is_of_run(&own.difference.signature) { SIMPLE.as_slice() } else { &[] };
    Box::new(simple.iter().skip(from).map(|path| Some(Witness { path: path.clone(), ..own.clone() })))
}
