//! The answers to the questions about running: `MatchValue`, `Evaluate` and `Refine`.

use std::collections::BTreeMap;

use super::machine::{Machine, Options};
use super::program::{default_entry, evaluate};
use super::refine::{RefineError, Verdict, refine};
use crate::conformance::case::{self, MatchAnswer, RunAnswer};
use crate::conformance::oracle::NoAnswer;
use crate::grammar::{IrModule, ShapeVar, StructInfo};
use crate::judge::{Cx, Outcome};
use crate::value::{Stop, ValueSpec, from_spec, from_specs, to_spec};

/// What a match came to, for derivation trees.
struct Matched(Result<BTreeMap<ShapeVar, i64>, Stop>);

impl std::fmt::Display for Matched {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match &self.0 {
            Ok(bound) => {
                let sizes: Vec<String> = bound.iter().map(|(var, size)| format!("{var} = {size}")).collect();
                write!(f, "matches with {{{}}}", sizes.join(", "))
            }
            Err(Stop::Error(error)) => write!(f, "fails: {error}"),
            Err(Stop::OutOfFuel) => f.write_str("out of fuel"),
            Err(Stop::Unspecified(reason)) => write!(f, "unspecified: {reason}"),
            Err(Stop::Stuck(stuck)) => stuck.fmt(f),
        }
    }
}

/// `match(v, S, sigma)`: all shape variables that are bound afterwards, or the rule that failed.
pub fn answer_match_value(
    cx: &mut Cx,
    value: &ValueSpec,
    s: &StructInfo,
    sigma: &BTreeMap<ShapeVar, i64>,
) -> Result<MatchAnswer, NoAnswer> {
    let (module, options) = (IrModule::default(), Options::default());
    let v = from_spec(value, &[], &options.registry).map_err(|error| NoAnswer::Unreadable(error.to_string()))?;
    let inputs = || vec![v.to_string(), s.to_string()];
    let matched = cx.judge("match", inputs, |cx| {
        let mut machine = Machine::new(cx, &module, &options);
        sigma.iter().for_each(|(var, size)| machine.activation.shape_vars.bind(var.clone(), *size));
        let result = machine.match_value(&v, s);
        Matched(result.map(|()| machine.activation.shape_vars.iter().map(|(var, size)| (var.clone(), *size)).collect()))
    });
    match matched.0 {
        Ok(bound) => Ok(MatchAnswer::Matches(bound)),
        Err(Stop::Error(error)) => Ok(MatchAnswer::Fails(error.rule)),
        Err(Stop::Stuck(stuck)) => Err(NoAnswer::Stuck(stuck)),
        Err(Stop::OutOfFuel) => Err(NoAnswer::Unsupported("MatchValue on a value of this size")),
        Err(Stop::Unspecified(reason)) => Err(NoAnswer::Unreadable(reason)),
    }
}

/// Runs an entry point on arguments; an empty name stands for none (MOD.MAIN). The program is taken as it is, without
/// static checks.
pub fn answer_evaluate(cx: &mut Cx, module: &IrModule, entry: &str, args: &[ValueSpec]) -> Result<RunAnswer, NoAnswer> {
    let options = Options::default();
    let args = from_specs(args, &options.registry).map_err(|error| NoAnswer::Unreadable(error.to_string()))?;
    let named = if entry.is_empty() { default_entry(cx, module) } else { Ok(entry.into()) };
    let entry = match &named {
        Ok(entry) => entry,
        Err(error) => return Ok(RunAnswer::Fails(error.rule, Vec::new())),
    };
    let run = evaluate(cx, module, entry, args, &options)?;
    Ok(match run.outcome {
        Outcome::Value(value) => match to_spec(&value) {
            Ok(spec) => RunAnswer::Returns(spec, run.effects),
            Err(Stop::Error(_) | Stop::OutOfFuel | Stop::Unspecified(_) | Stop::Stuck(_)) => RunAnswer::Unspecified,
        },
        Outcome::Error(error) => RunAnswer::Fails(error.rule, run.effects),
        Outcome::OutOfFuel => RunAnswer::OutOfFuel,
        Outcome::Unspecified(_) => RunAnswer::Unspecified,
    })
}

/// Whether the target does on these inputs only what an optimizer may make of the source (OPT.GENERAL).
pub fn answer_refine(
    cx: &mut Cx,
    source: &IrModule,
    target: &IrModule,
    entry: &str,
    inputs: &[Vec<ValueSpec>],
) -> Result<case::Verdict, NoAnswer> {
    let refinement = refine(cx, source, target, entry, inputs, 0).map_err(|error| match error {
        RefineError::Stuck(stuck) => NoAnswer::Stuck(stuck),
        RefineError::Input(_) | RefineError::Entry(_) | RefineError::Arguments(_) => {
            NoAnswer::Unreadable(error.to_string())
        }
    })?;
    match refinement.verdict {
        Verdict::Allowed => Ok(case::Verdict::Accepted),
        Verdict::NotAllowed { rule, .. } => Ok(case::Verdict::Rejected(vec![rule])),
        Verdict::Undecided(reason) => Err(NoAnswer::Unreadable(reason)),
    }
}
