//! What inputs are worth on which two programs were compared: how many one-step mutants of the first they tell from it.

use crate::mutation::{Mutant, MutationKind, mutants_from};
use relax_spec::check::check_program;
use relax_spec::findings::Diagnostic;
use relax_spec::grammar::{IrModule, Span};
use relax_spec::judge::Cx;
use relax_spec::refine::{RefineError, RefinementVerdict, Settings, missing, refine, told_apart};
use relax_spec::value::ValueSpec;

/// What became of the mutants that are programs.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Adequacy {
    /// How many the inputs tell from the program.
    pub told: usize,
    /// Those that they do not tell from it: what was changed, and where. Some of them may be the same program.
    pub untold: Vec<(String, Span)>,
    /// How many nothing can be said of.
    pub open: usize,
}

/// Compares the program with its mutants on the inputs, each until one tells it from the program.
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
    for Mutant { what, span, module, kind } in mutants_from(program, entry) {
        let report = check_program(&mut cx.clone(), &module);
        if report.diagnostics.iter().any(Diagnostic::is_fatal) {
            continue;
        }
        match on_inputs(cx, program, &module, entry, inputs, &settings)? {
            Some(true) => found.told += 1,
            // Iterations that do not depend on each other may be run at once.
            Some(false) if kind == MutationKind::Order => {}
            Some(false) => found.untold.push((what, span)),
            None => found.open += 1,
        }
    }
    Ok(found)
}

/// The settings under which a program is compared with its mutants.
fn of_mutants(program: &IrModule, settings: &Settings) -> Settings {
    let mut settings = Settings { runs: 0, keep: false, ..settings.clone() };
    if let Some(assumed) = &mut settings.unknown {
        // Of a function that only the other program calls nothing needs to be assumed.
        let called = missing(&settings.registry, &[program]);
        assumed.retain(|name, _| called.contains(name));
    }
    settings
}

/// The numbers of a program that could be others, as far as the inputs of a comparison tell.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct UnnoticedConstants {
    /// Those that are not told from another number: which, and where.
    pub untold: Vec<(String, Span)>,
    /// How many were not asked about.
    pub unasked: usize,
}

/// How many numbers are asked about.
const MOST_CONSTANTS: usize = 16;

/// Asks, within so many steps, whether twice as large numbers in the program would have been noticed.
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
    for Mutant { what, span, module, kind: _ } in constants {
        if left == 0 || asked == MOST_CONSTANTS {
            found.unasked += 1;
            continue;
        }
        asked += 1;
        let (told, taken) = told_apart(cx, program, &module, entry, inputs, &settings, left)?;
        left = left.saturating_sub(taken);
        match told {
            Some(true) => {}
            Some(false) => found.untold.push((what, span)),
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
