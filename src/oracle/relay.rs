//! The answers to the questions about Relay.

use super::NoAnswer;
use crate::book::Rule;
use crate::findings::Severity;
use crate::grammar::IrModule;
use crate::judge::{Cx, Ending};
use crate::question::{RunAnswer, Verdict};
use crate::relay::{self, Environment, InferredProgram, Program, RelayFault};
use crate::value::{Registry, ValueSpec, from_specs, to_spec};

/// Checks a program: rejected if there is an error. The rules of the warnings come with the verdict.
pub(super) fn check(cx: &mut Cx, text: &str) -> Result<(Verdict, Vec<Rule>), NoAnswer> {
    let faults = relay::understand(cx, text).faults;
    let (errors, warnings) = (rules(&faults, Severity::Error), rules(&faults, Severity::Warning));
    match (faults.iter().any(RelayFault::is_error), errors.is_empty()) {
        (false, _) => Ok((Verdict::Accepted, warnings)),
        (true, false) => Ok((Verdict::Rejected(errors), warnings)),
        (true, true) => Err(unreadable(&faults, text)),
    }
}

/// The rules of the faults of this severity, each once, in the order of the ids.
fn rules(faults: &[RelayFault], severity: Severity) -> Vec<Rule> {
    let of = faults.iter().filter(|fault| fault.severity == severity);
    let mut rules: Vec<Rule> = of.filter_map(|fault| fault.rule).collect();
    rules.sort_unstable();
    rules.dedup();
    rules
}

fn unreadable(faults: &[RelayFault], text: &str) -> NoAnswer {
    NoAnswer::Unreadable(relay::located(faults, text))
}

/// Prints the program in its own notation.
pub(super) fn print(cx: &mut Cx, text: &str) -> Result<String, NoAnswer> {
    let (program, faults) = relay::read(cx, text);
    match faults.iter().any(RelayFault::is_error) {
        true => Err(unreadable(&faults, text)),
        false => Ok(relay::print(cx, &program, program.notation)),
    }
}

/// Infers the types of a program without errors, and passes them to `then`.
fn inferred<T>(
    cx: &mut Cx,
    text: &str,
    then: impl FnOnce(&mut Cx, &Program, InferredProgram<'_>) -> Result<T, NoAnswer>,
) -> Result<T, NoAnswer> {
    let (program, faults) = relay::resolved(cx, text);
    if faults.iter().any(RelayFault::is_error) {
        return Err(unreadable(&faults, text));
    }
    let mut inferred = relay::infer(cx, &program);
    let faults = std::mem::take(&mut inferred.faults);
    if !faults.is_empty() {
        return Err(unreadable(&faults, text));
    }
    then(cx, &program, inferred)
}

fn too_wide() -> NoAnswer {
    NoAnswer::OutOfBudget("the types of the program repeat themselves too often to be written".to_string())
}

/// Prints the program with its types.
pub(super) fn infer(cx: &mut Cx, text: &str) -> Result<String, NoAnswer> {
    inferred(cx, text, |cx, program, inferred| {
        let annotated = inferred.annotated(cx).ok_or_else(too_wide)?;
        Ok(relay::print(cx, &annotated, program.notation))
    })
}

/// Prints the environment, one line for each entry.
pub(super) fn environment(cx: &mut Cx, text: &str) -> Result<String, NoAnswer> {
    inferred(cx, text, |cx, _, inferred| Environment::of(cx, &inferred).map(|of| of.told()).ok_or_else(too_wide))
}

/// Converts the program to a Relax module.
pub(super) fn convert(cx: &mut Cx, text: &str) -> Result<IrModule, NoAnswer> {
    inferred(cx, text, |cx, _, inferred| relay::translate(cx, &inferred).map_err(|faults| unreadable(&faults, text)))
}

/// Runs a function.
pub(super) fn run(cx: &mut Cx, text: &str, entry: &str, args: &[ValueSpec]) -> Result<RunAnswer, NoAnswer> {
    let (program, faults) = relay::resolved(cx, text);
    if faults.iter().any(RelayFault::is_error) {
        return Err(unreadable(&faults, text));
    }
    let args = from_specs(args, &Registry::default()).map_err(|error| NoAnswer::Unreadable(error.to_string()))?;
    Ok(match relay::evaluate(cx, &program, entry, &args) {
        Ending::Value(value) => {
            to_spec(&value).map_or(RunAnswer::Unspecified, |spec| RunAnswer::Returns(spec, Vec::new()))
        }
        Ending::Error(error) => RunAnswer::Fails(error.rule, Vec::new()),
        Ending::OutOfFuel => RunAnswer::OutOfFuel,
        Ending::Unspecified(_) | Ending::Unknown(_) => RunAnswer::Unspecified,
    })
}
