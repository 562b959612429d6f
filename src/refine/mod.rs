//! Refinement (chapter Optimizations): whether a target program does only what the text allows an optimizer to make of
//! a source program. Both are run on the same inputs, and what can be observed of the two runs is compared.

mod agree;
mod alone;
mod calls;
mod choices;
mod compare;
mod first;
mod folded;
mod instead;
mod judge;
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
pub use observe::{CompiledProgram, Ran};
pub use observed::{ClosureObservations, Observed};
pub use open::LEFT_OPEN;
pub use reach::called_from;
pub use real::RealVerdict;
pub use unknown::{Assumption, missing};
pub use unreached::Unreached;

use std::collections::BTreeMap;

use compare::{RefinementComparison, RefinementTarget};

use crate::arguments::KnownArguments;
use crate::book::Rule;
use crate::eval::EvalOptions;
use crate::grammar::{IrModule, Name};
use crate::judge::Cx;
use crate::value::{ConvertError, Registry, ValueSpec};

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
    /// Neither program was seen to reach its end, so that nothing speaks against the target, and nothing for it.
    Vacuous(String),
    /// The source run has no prescribed behaviour, or returns what cannot be looked into.
    Undecided(String),
    /// A limit was reached: the steps, or the depth of calls.
    OutOfBudget(String),
}

/// How two programs are compared.
#[derive(Clone, Debug)]
pub struct Settings {
    /// On how many generated inputs.
    pub runs: usize,
    /// The seed of the generated inputs.
    pub seed: u64,
    /// Whether floats that the programs round must be the same bit for bit.
    pub exact: bool,
    /// How far floats may be apart, beside what rounding explains, in proportion to 1 more than their magnitude.
    pub tolerance: f64,
    /// How many steps all runs together may take before no further input is made.
    pub steps: u64,
    /// How many steps one run may take.
    pub fuel: u64,
    /// How many bytes the arguments of one run may take up where their sizes are chosen.
    pub memory: u64,
    /// Whether the ring is asked too where floats are not allowed already.
    pub both: bool,
    /// Whether the inputs are kept on which the programs were compared.
    pub keep: bool,
    /// The known properties of the arguments.
    pub known: KnownArguments,
    /// The packed functions that the programs find.
    pub registry: Registry,
    /// The assumptions about packed functions that the registry does not have; `None` if a call of one is an error of
    /// the run (`EVAL.EXTERNFUNC.MISSING`).
    pub unknown: Option<BTreeMap<Name, Assumption>>,
}

/// The steps of all runs together: some seconds.
const STEPS: u64 = 60_000_000;

impl Settings {
    /// On that many generated inputs.
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
            registry,
            unknown: None,
        }
    }
}

/// How far a float of the target is from that of the source.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Deviation {
    /// How far it is.
    pub error: f64,
    /// How far rounding may bring it.
    pub bound: f64,
    /// Which element, in row-major order.
    pub index: usize,
    /// The float of the source.
    pub before: f64,
    /// The float of the target.
    pub after: f64,
}

impl Deviation {
    /// The error as a part of its bound.
    pub fn part(&self) -> f64 {
        if self.bound > 0.0 { self.error / self.bound } else { f64::INFINITY }
    }
}

/// Why two programs cannot be compared.
#[derive(Clone, PartialEq, Debug, thiserror::Error)]
pub enum RefineError {
    /// An argument that was given is no value of a run.
    #[error("{0}")]
    Input(#[from] ConvertError),
    /// The source has no such function.
    #[error("there is no entry point `{0}` from which arguments could be made")]
    Entry(String),
    /// An assumption about a function that is called nowhere, or that is there.
    #[error("no program calls a packed function `{0}` of which something could be assumed")]
    Assumed(Name),
    /// Something is known of a parameter that the source does not have.
    #[error("there is no parameter `{0}` of which something could be assumed")]
    Parameter(Name),
    /// An argument that was given is not as it is known to be.
    #[error("the argument `{0}` is not as it is assumed: {1}")]
    Known(Name, String),
    /// The signature leaves open too much, or nothing meets it.
    #[error("no argument can be made for the signature of `{0}` within the memory of a run; give the arguments")]
    Arguments(String),
}

/// Compares the programs on the inputs given, and on generated ones.
///
/// OPT.GENERAL: on none of them may the target be told apart from the source, but for what the other rules allow.
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

/// As [`refine_compiled`], with a compiled source: what `program` was compiled to, which says what arguments there are.
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

/// Whether the programs are told apart on the inputs by either channel, the quicker one first, and the steps that it
/// took. Nothing is said after so many steps, nor where nothing was decided.
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
        if let RealVerdict::Different(_) = ring::compare(&mut comparison, first)? {
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
    if settings.runs > 0 && comparison.is_broken() {
        comparison.shrink()?;
    } else if settings.runs > 0 {
        match search::on_generated(&mut comparison) {
            // What was given decides where nothing can be made.
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
