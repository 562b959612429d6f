//! Refinement (chapter Optimizations): whether a target program does only what the text allows an optimizer to do with
//! a source program. Both are run on the same inputs, and the observable behaviour of the two runs is compared.

mod agree;
mod alone;
mod calls;
mod choices;
mod compare;
mod first;
mod folded;
mod gradient;
mod instead;
mod judge;
mod kept;
mod observe;
mod observed;
mod open;
mod reach;
mod real;
mod ring;
mod search;
mod shrink;
mod unknown;

pub use alone::{EDITION_OF_PRIM_FUNCS, prim_funcs_alone, with_entry};
pub use compare::Refinement;
pub use first::Differing;
pub use gradient::{WrongGradient, wrong_gradient};
pub use kept::KeptRuns;
pub use observe::{CompiledProgram, Ran};
pub use observed::{ClosureObservations, Observed};
pub use open::LEFT_OPEN;
pub use reach::called_from;
pub use real::RealVerdict;
pub use unknown::{Assumption, missing};
pub use unreached::Unreached;

use std::collections::BTreeMap;
use std::rc::Rc;

use compare::{RefinementComparison, RefinementTarget};

use crate::arguments::KnownArguments;
use crate::book::Rule;
use crate::eval::EvalOptions;
use crate::grammar::{IrModule, Name};
use crate::judge::Cx;
use crate::value::{ConvertError, Registry, SharedCalls, ValueSpec};

/// The verdict on two runs, or on several pairs of runs.
#[derive(Clone, PartialEq, Debug)]
pub enum RefinementVerdict {
    /// The target may do this.
    Allowed,
    /// The clause that the target breaks.
    NotAllowed {
        /// The clause.
        rule: Rule,
        /// The behaviour of the target, for people.
        message: String,
    },
    /// Neither program reached its end, so there is no evidence for or against the target.
    Vacuous(String),
    /// The semantics leaves the run of the source open, or its result cannot be inspected.
    Undecided(String),
    /// A limit was reached: the steps, or the depth of calls.
    OutOfBudget(String),
}

/// The settings of a comparison.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The number of generated inputs.
    pub runs: usize,
    /// The seed of the generated inputs.
    pub seed: u64,
    /// Whether floats that the programs round must be the same bit for bit.
    pub exact: bool,
    /// The tolerance for floats in addition to rounding, relative to their magnitude plus 1.
    pub tolerance: f64,
    /// The number of steps of all runs after which no further input is generated.
    pub steps: u64,
    /// How many steps one run may take.
    pub fuel: u64,
    /// The maximum number of bytes of the arguments of one run, as far as their sizes are chosen; and of the values of
    /// a run, where that is more than usual.
    pub memory: u64,
    /// Whether the ring is asked too if floats already show a difference that is not allowed.
    pub both: bool,
    /// Whether the result contains the inputs on which the programs were compared.
    pub keep: bool,
    /// The known properties of the arguments.
    pub known: KnownArguments,
    /// The calls of `PrimFunc`s that the comparisons with the same ones share: equal calls on equal arguments are
    /// computed once.
    pub shared: Rc<SharedCalls>,
    /// The programs and runs that the comparisons with the same ones share. Such comparisons have equal settings.
    pub kept: Rc<KeptRuns>,
    /// The packed functions that the programs can call.
    pub registry: Registry,
    /// The assumptions about packed functions that the registry does not have; `None` if a call of one is an error of
    /// the run (`EVAL.EXTERNFUNC.MISSING`).
    pub unknown: Option<BTreeMap<Name, Assumption>>,
    /// The program whose calls say what such functions are, in front of the source: a pass does not leave it there.
    pub origin: Option<Rc<IrModule>>,
}

/// The default for the steps of all runs together: some seconds.
const STEPS: u64 = 60_000_000;

impl Settings {
    /// The default settings with this number of generated inputs.
    pub fn runs(runs: usize) -> Settings {
        let EvalOptions { registry, memory, fuel, .. } = EvalOptions::default();
        Settings {
            runs,
            seed: 0,
            exact: false,
            tolerance: 0.0,
            steps: STEPS,
            fuel,
            memory,
            both: false,
            keep: false,
            known: KnownArguments::default(),
            shared: Rc::default(),
            kept: Rc::default(),
            registry,
            unknown: None,
            origin: None,
        }
    }
}

/// The distance of a float of the target from that of the source.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Deviation {
    /// The distance.
    pub error: f64,
    /// The distance that rounding explains.
    pub bound: f64,
    /// The index of the element, in row-major order.
    pub index: usize,
    /// The float of the source.
    pub before: f64,
    /// The float of the target.
    pub after: f64,
}

impl Deviation {
    /// The error as a fraction of its bound.
    pub fn part(&self) -> f64 {
        if self.bound > 0.0 { self.error / self.bound } else { f64::INFINITY }
    }
}

/// Why two programs cannot be compared.
#[derive(Clone, PartialEq, Debug, thiserror::Error)]
pub enum RefineError {
    /// A given argument is not a value that a run can take.
    #[error("{0}")]
    Input(#[from] ConvertError),
    /// The source has no function with this name.
    #[error("there is no entry point `{0}` from which arguments could be made")]
    Entry(String),
    /// An assumption about a function that is never called, or that is available.
    #[error("no program calls a packed function `{0}` of which something could be assumed")]
    Assumed(Name),
    /// An assumption about a parameter that the source does not have.
    #[error("there is no parameter `{0}` of which something could be assumed")]
    Parameter(Name),
    /// A given argument does not have the known properties.
    #[error("the argument `{0}` is not as it is assumed: {1}")]
    Known(Name, String),
    /// The signature leaves too much open, or no arguments fit it.
    #[error("no argument can be made for the signature of `{0}` within the memory of a run; give the arguments")]
    Arguments(String),
}

/// Compares the programs on the given inputs, and on generated ones.
///
/// OPT.GENERAL: on no input may the target differ observably from the source, except as the other rules allow.
///
/// # Errors
/// See [`RefineError`].
pub fn refine(
    cx: &mut Cx,
    source: &IrModule,
    target: &IrModule,
    entry: &str,
    given: &[Vec<ValueSpec>],
    settings: &Settings,
) -> Result<Refinement, RefineError> {
    RefinementComparison::of(cx, source, target, entry, settings)
        .and_then(|comparison| judged(comparison, given, settings))
}

/// As [`refine`], with a compiled target.
///
/// # Errors
/// See [`RefineError`].
pub fn refine_compiled(
    cx: &mut Cx,
    source: &IrModule,
    target: &dyn CompiledProgram,
    entry: &str,
    given: &[Vec<ValueSpec>],
    settings: &Settings,
) -> Result<Refinement, RefineError> {
    let module = IrModule::default();
    let target = RefinementTarget { module: &module, compiled: Some(target) };
    RefinementComparison::with(cx, source, target, entry, settings)
        .and_then(|comparison| judged(comparison, given, settings))
}

/// As [`refine_compiled`], with a compiled source. `program` is the program before compilation, which determines the
/// arguments.
///
/// # Errors
/// See [`RefineError`].
pub fn refine_stages(
    cx: &mut Cx,
    program: &IrModule,
    source: &dyn CompiledProgram,
    target: &dyn CompiledProgram,
    entry: &str,
    settings: &Settings,
) -> Result<Refinement, RefineError> {
    let module = IrModule::default();
    let target = RefinementTarget { module: &module, compiled: Some(target) };
    let mut comparison = RefinementComparison::with(cx, program, target, entry, settings)?;
    comparison.source.compiled = Some(source);
    judged(comparison, &[], settings)
}

/// Runs the source on the first inputs that [`refine`] generates, in both channels and with noise. The runs are kept if
/// the session keeps the source.
///
/// # Errors
/// See [`RefineError`].
pub fn run_ahead(cx: &mut Cx, source: &IrModule, entry: &str, settings: &Settings) -> Result<(), RefineError> {
    let mut comparison = RefinementComparison::of(cx, source, source, entry, settings)?;
    search::run_first(&mut comparison)?;
    ring::compare(&mut comparison, &[]).map(|_| ())
}

/// The first channel alone: whether the programs are the same as real functions (`REFINE.REAL`).
///
/// # Errors
/// See [`RefineError`].
pub fn as_real_functions(
    cx: &mut Cx,
    source: &IrModule,
    target: &IrModule,
    entry: &str,
    given: &[Vec<ValueSpec>],
    settings: &Settings,
) -> Result<RealVerdict, RefineError> {
    let mut comparison = RefinementComparison::of(cx, source, target, entry, settings)?;
    ring::compare(&mut comparison, given)
}

/// Whether the programs differ on the inputs in either channel (the quicker one is tried first), and the number of
/// steps. None after this many steps, or if nothing was decided.
///
/// # Errors
/// See [`RefineError`].
pub fn told_apart(
    cx: &mut Cx,
    source: &IrModule,
    target: &IrModule,
    entry: &str,
    inputs: &[Vec<ValueSpec>],
    settings: &Settings,
    steps: u64,
) -> Result<(Option<bool>, u64), RefineError> {
    let mut comparison = RefinementComparison::of(cx, source, target, entry, settings)?;
    if settings.tolerance == 0.0 && !settings.known.limits_numbers() {
        let first = inputs.get(..1).unwrap_or_default();
        if let RealVerdict::Different { .. } = ring::compare(&mut comparison, first)? {
            return Ok((Some(true), comparison.steps));
        }
    }
    for input in inputs {
        comparison.on(input)?;
        if comparison.is_broken() {
            return Ok((Some(true), comparison.steps));
        }
        if comparison.steps > steps {
            return Ok((None, comparison.steps));
        }
    }
    Ok((comparison.has_results().then_some(false), comparison.steps))
}

fn judged(
    mut comparison: RefinementComparison<'_>,
    given: &[Vec<ValueSpec>],
    settings: &Settings,
) -> Result<Refinement, RefineError> {
    for input in given {
        comparison.is_as_known(input)?;
        comparison.on(input)?;
    }
    if comparison.is_broken() {
        if settings.runs > 0 { comparison.shrink()? } else { comparison.locate()? }
    } else if settings.runs > 0 {
        match search::on_generated(&mut comparison) {
            // If no inputs can be generated, the given ones decide.
            Err(RefineError::Arguments(_)) if !given.is_empty() => {}
            other => other?,
        }
    }
    let is_of_interest = comparison.has_results() && (settings.both || !comparison.is_broken());
    let real = match is_of_interest {
        true if settings.known.limits_numbers() => {
            RealVerdict::Undecided("its numbers are not in the ranges that are assumed".to_string())
        }
        true => ring::compare(&mut comparison, given)?,
        false => RealVerdict::Undecided("floats decide alone".to_string()),
    };
    Ok(comparison.conclusion(real))
}

#[cfg(test)]
mod tests;
mod unreached;
