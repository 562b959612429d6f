//! How good the inputs of a comparison of two programs are: how many one-step mutants of the first program they detect.

use crate::mutation::{Mutant, MutationKind, mutants_from};
use relax_spec::check::check_program;
use relax_spec::findings::Diagnostic;
use relax_spec::grammar::{IrModule, Span};
use relax_spec::judge::Cx;
use relax_spec::refine::{RefineError, RefinementVerdict, Settings, missing, refine, told_apart};
use relax_spec::value::ValueSpec;

/// The result for the mutants that are accepted programs.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Adequacy {
    /// How many mutants give another result on some input.
    pub told: usize,
    /// Mutants that give the same result on all inputs: what was changed, and where. Some may be equivalent programs.
    pub untold: Vec<(String, Span)>,
    /// How many mutants cannot be decided.
    pub open: usize,
}

/// Compares the program with its mutants, each on one input after the other until one shows a difference.
///
/// # Errors
/// As [`refine`].
pub fn adequacy(
    cx: &mut Cx,
    program: &IrModule,
    entry: &str,
    inputs: &[Vec<ValueSpec>],
    settings: &Settings,
) -> Result<Adequacy, RefineError> {
    let settings = of_mutants(program, settings);
    let mut found = Adequacy::default();
    for mutant in mutants_from(program, entry) {
        let module = mutant.module();
        let Mutant { what, span, kind, .. } = mutant;
        let report = check_program(&mut cx.clone(), &module);
        if report.diagnostics.iter().any(Diagnostic::is_fatal) {
            continue;
        }
        match on_inputs(cx, program, &module, entry, inputs, &settings)? {
            Some(true) => found.told += 1,
            // Independent iterations may be run in parallel.
            Some(false) if kind == MutationKind::Order => {}
            Some(false) => found.untold.push((what, span)),
            None => found.open += 1,
        }
    }
    Ok(found)
}

/// The settings with which a program is compared with its mutants.
fn of_mutants(program: &IrModule, settings: &Settings) -> Settings {
    let mut settings = Settings { runs: 0, keep: false, ..settings.clone() };
    if let Some(assumed) = &mut settings.unknown {
        // A packed function that only the other program calls needs no assumptions.
        let called = missing(&settings.registry, &[program]);
        assumed.retain(|name, _| called.contains(name));
    }
    settings
}

/// The constants of a program that could be other numbers, as far as the inputs of a comparison show.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct UnnoticedConstants {
    /// The constants that give the same result as another number: which, and where.
    pub untold: Vec<(String, Span)>,
    /// How many constants were not tried.
    pub unasked: usize,
}

/// How many constants are tried.
const MOST_CONSTANTS: usize = 16;

/// Tests, with a limit of steps, whether the inputs would detect that a constant of the program is twice as large.
///
/// # Errors
/// As [`refine`].
pub fn unnoticed_constants(
    cx: &mut Cx,
    program: &IrModule,
    entry: &str,
    inputs: &[Vec<ValueSpec>],
    settings: &Settings,
    steps: u64,
) -> Result<UnnoticedConstants, RefineError> {
    let settings = of_mutants(program, settings);
    let (mut left, mut asked) = (steps, 0);
    let mut found = UnnoticedConstants::default();
    let constants = mutants_from(program, entry).filter(|mutant| mutant.kind == MutationKind::Constant);
    for mutant in constants {
        if left == 0 || asked == MOST_CONSTANTS {
            found.unasked += 1;
            continue;
        }
        asked += 1;
        let (told, taken) = told_apart(cx, program, &mutant.module(), entry, inputs, &settings, left)?;
        left = left.saturating_sub(taken);
        match told {
            Some(true) => {}
            Some(false) => found.untold.push((mutant.what, mutant.span)),
            None => found.unasked += 1,
        }
    }
    Ok(found)
}

/// Whether an input tells a mutant from the program; none if nothing can be said.
fn on_inputs(
    cx: &mut Cx,
    program: &IrModule,
    mutant: &IrModule,
    entry: &str,
    inputs: &[Vec<ValueSpec>],
    settings: &Settings,
) -> Result<Option<bool>, RefineError> {
    let mut told = None;
    for input in inputs {
        match refine(cx, program, mutant, entry, std::slice::from_ref(input), settings)?.verdict {
            RefinementVerdict::NotAllowed { .. } => return Ok(Some(true)),
            RefinementVerdict::Allowed => told = Some(false),
            RefinementVerdict::Vacuous(_) | RefinementVerdict::Undecided(_) | RefinementVerdict::OutOfBudget(_) => {}
        }
    }
    Ok(told)
}
