//! The clauses: what the text allows a run of the target to do for a run of the source on the same arguments.

use super::agree::Agreement;
use super::observed::{ClosureObservations, ObservedCall};
use super::{Observed, RefinementVerdict};
use crate::book::{Erratum, Rule};
use crate::judge::{Cx, Ending, ReportedCondition, RuntimeError};
use crate::value::{Effect, SHOWN, Tensor, ValueSpec};

/// Whether a run of the target is one that the text allows for a run of the source on the same input.
pub(super) fn judge_runs(
    cx: &mut Cx,
    source: &Observed,
    target: &Observed,
    agreement: &Agreement<'_>,
) -> RefinementVerdict {
    match (&source.outcome, &target.outcome) {
        (Ending::Unspecified(reason), _) => {
            RefinementVerdict::Undecided(format!("the source is unspecified: {reason}"))
        }
        (Ending::Unknown(what), _) => RefinementVerdict::Undecided(not_known("source", what)),
        (Ending::Value(_), Ending::Unknown(what)) => RefinementVerdict::Undecided(not_known("target", what)),
        (Ending::Value(before), Ending::Value(after)) => same_value(cx, source, target, before, after, agreement),
        (Ending::Value(_), Ending::Error(error)) => less_defined(cx, target, format!("fails: {error}")),
        (Ending::Value(_), Ending::Unspecified(reason)) => {
            less_defined(cx, target, format!("does what is undefined: {reason}"))
        }
        (Ending::Value(_), Ending::OutOfFuel) => {
            RefinementVerdict::OutOfBudget("the target ran out of fuel".to_string())
        }
        (Ending::Error(error), _) => diverging(cx, source, target, Some(error), agreement),
        (Ending::OutOfFuel, _) => diverging(cx, source, target, None, agreement),
    }
}

/// A construct that the oracle does not know is not a fault of either program.
fn not_known(program: &str, what: &str) -> String {
    format!("the oracle does not know what the {program} uses: {what}")
}

fn not_allowed(rule: Rule, message: String) -> RefinementVerdict {
    RefinementVerdict::NotAllowed { rule, message }
}

/// The verdict by the first condition that the runs do not meet.
fn unmet(cx: &mut Cx, checks: &[ReportedCondition]) -> Option<RefinementVerdict> {
    cx.holds(checks).err().map(|(rule, message)| not_allowed(rule, message()))
}

/// OPT.GENERAL: the same value, and the same visible behaviour.
///
/// OPT.MEM.COPY: in a program that mutates, values that are wrongly copied or shared cause a different result.
fn same_value(
    cx: &mut Cx,
    source: &Observed,
    target: &Observed,
    before: &ValueSpec,
    after: &ValueSpec,
    agreement: &Agreement<'_>,
) -> RefinementVerdict {
    let other_value = || {
        let place = first_difference(before, after).map(|place| format!("; {place}")).unwrap_or_default();
        format!("the source returns {before}, the target {after}{place}")
    };
    let same = agreement.results(before, after);
    let same_value: ReportedCondition = match source.mutated {
        true => (rule!("OPT.MEM.COPY"), 1, same, &other_value),
        false => (rule!("OPT.GENERAL"), 1, same, &other_value),
    };
    differing_effects(cx, source, target, agreement)
        .or_else(|| differing_mutations(cx, source, target, agreement))
        .or_else(|| unmet(cx, &[same_value]))
        .unwrap_or_else(|| same_calls(cx, &source.closures, &target.closures, agreement))
}

/// Where two values differ, if that is behind what is told of a tensor.
fn first_difference(before: &ValueSpec, after: &ValueSpec) -> Option<String> {
    let (x, y) = before.tensors().zip(after.tensors()).find(|(x, y)| x != y)?;
    let (x, y) = (Tensor::from_data(x).ok()?, Tensor::from_data(y).ok()?);
    if x.shape() != y.shape() || x.dtype() != y.dtype() {
        return None;
    }
    let element = |tensor: &Tensor, i| tensor.get(i).map(|x| x.to_string());
    let at = (0..x.len()).find(|i| element(&x, *i) != element(&y, *i)).filter(|i| *i >= SHOWN)?;
    Some(format!("element {at} is {} and {}", element(&x, at)?, element(&y, at)?))
}

/// OPT.GENERAL: the meaning of a closure is the behaviour of its calls, so these are compared one by one, like runs.
fn same_calls(
    cx: &mut Cx,
    source: &ClosureObservations,
    target: &ClosureObservations,
    agreement: &Agreement<'_>,
) -> RefinementVerdict {
    let (mut open, mut compared) = (None, source.calls().next().is_none());
    for (i, (ObservedCall { args, observed: before }, after)) in source.calls().zip(target.calls()).enumerate() {
        let within = agreement.of_call(i);
        let verdict = judge_runs(cx, before, &after.observed, &within);
        agreement.note_call(&within);
        match verdict {
            RefinementVerdict::Allowed | RefinementVerdict::Vacuous(_) => compared = true,
            undecided @ (RefinementVerdict::Undecided(_) | RefinementVerdict::OutOfBudget(_)) => open = Some(undecided),
            RefinementVerdict::NotAllowed { rule, message } => {
                let args: Vec<String> = args.iter().map(ToString::to_string).collect();
                return not_allowed(
                    rule,
                    format!("a returned closure is called with ({}): {message}", args.join(", ")),
                );
            }
        }
    }
    open.filter(|_| !compared).unwrap_or(RefinementVerdict::Allowed)
}

/// OPT.VISIBLE.IO: the effects, their order and their number. If the same calls get different values, the values were
/// computed differently; or, in a program that mutates, a mutation was missed (`OPT.MEM.MUTVISIBLE`).
fn differing_effects(
    cx: &mut Cx,
    source: &Observed,
    target: &Observed,
    agreement: &Agreement<'_>,
) -> Option<RefinementVerdict> {
    let (before, after) = (&source.effects, &target.effects);
    let called = |effects: &[Effect]| effects.iter().map(callee).collect::<Vec<String>>();
    let other_calls = || format!("the source has the effects {:?}, the target {:?}", called(before), called(after));
    let same_calls = called(before) == called(after);
    if let Some(verdict) = unmet(cx, &[(rule!("OPT.VISIBLE.IO"), 1, same_calls, &other_calls)]) {
        return Some(verdict);
    }
    let mut pairs = before.iter().zip(after).enumerate();
    let (_, (x, y)) = pairs.find(|(i, (x, y))| !agreement.effect(*i, x, y))?;
    let message = format!("where the source has the effect {x}, the target has {y}");
    let other_order = same_in_any_order(before, after);
    if let Some(verdict) = unmet(cx, &[(rule!("OPT.VISIBLE.IO"), 2, !other_order, &|| message.clone())]) {
        return Some(verdict);
    }
    let rule = if source.mutated { rule!("OPT.MEM.MUTVISIBLE") } else { rule!("OPT.GENERAL") };
    (!cx.premise(rule, 2, false)).then(|| not_allowed(rule, message))
}

/// Whether two lists hold the same effects.
fn same_in_any_order(before: &[Effect], after: &[Effect]) -> bool {
    let mut rest: Vec<&Effect> = after.iter().collect();
    before.iter().all(|effect| rest.iter().position(|other| *other == effect).map(|i| rest.swap_remove(i)).is_some())
        && rest.is_empty()
}

/// The function that is called, or the text that is printed: the parts of an effect that no optimization may change.
fn callee(effect: &Effect) -> String {
    match effect {
        Effect::Call(name, _) => name.to_string(),
        Effect::Print(printed) => {
            let texts = printed
                .iter()
                .filter_map(|value| if let ValueSpec::Str(text) = value { Some(format!("({text:?})")) } else { None });
            ["print".to_string()].into_iter().chain(texts).collect()
        }
    }
}

/// OPT.VISIBLE.MUTATION: the contents of the arguments when the program ends.
fn differing_mutations(
    cx: &mut Cx,
    source: &Observed,
    target: &Observed,
    agreement: &Agreement<'_>,
) -> Option<RefinementVerdict> {
    let mut pairs = source.arguments.iter().zip(&target.arguments).enumerate();
    let differing = pairs.find(|(i, (before, after))| !agreement.argument(*i, before, after));
    let other_contents = || match differing {
        Some((i, (before, after))) => {
            format!("argument {i} ends as {before} in the source, as {after} in the target")
        }
        None => "the arguments are not the same".to_string(),
    };
    let same = differing.is_none() && source.arguments.len() == target.arguments.len();
    unmet(cx, &[(rule!("OPT.VISIBLE.MUTATION"), 1, same, &other_contents)])
}

/// OPT.DF.NEVER-LESS, PURE.DIVERGE.NEVER-LESS: if the source gives a value, the target gives it too.
fn less_defined(cx: &mut Cx, target: &Observed, how: String) -> RefinementVerdict {
    let rule = if target.in_dataflow_block { rule!("OPT.DF.NEVER-LESS") } else { rule!("PURE.DIVERGE.NEVER-LESS") };
    cx.premise(rule, 1, not_allowed(rule, format!("the source gives a value, the target {how}")))
}

/// The source fails (or does not end, if there is no error).
fn diverging(
    cx: &mut Cx,
    source: &Observed,
    target: &Observed,
    error: Option<&RuntimeError>,
    agreement: &Agreement<'_>,
) -> RefinementVerdict {
    if may_change_divergence(cx, source, error) {
        return more_defined(cx, source, target, agreement);
    }
    match (error, &target.outcome) {
        (Some(before), after) if is_unreadable(before.rule) && !fails_by(after, before.rule) => {
            RefinementVerdict::Undecided(format!("the source is unspecified: {before}"))
        }
        (Some(before), Ending::Error(after)) => same_error(cx, source, target, before, after, agreement),
        (Some(before), Ending::Value(_)) => {
            let message = format!("the source fails outside of DataflowBlocks, the target gives a value: {before}");
            let rule = rule!("OPT.OUTSIDE-DF");
            cx.premise(rule, 1, not_allowed(rule, message))
        }
        (Some(_), Ending::Unknown(what)) => RefinementVerdict::Undecided(not_known("target", what)),
        (Some(_), Ending::OutOfFuel) => RefinementVerdict::OutOfBudget("the target ran out of fuel".to_string()),
        (Some(before), Ending::Unspecified(reason)) => {
            let message = format!(
                "the source fails outside of DataflowBlocks: {before}; of the target nothing is said: {reason}"
            );
            let rule = rule!("OPT.OUTSIDE-DF");
            cx.premise(rule, 1, not_allowed(rule, message))
        }
        (
            None,
            Ending::Value(_) | Ending::Error(_) | Ending::OutOfFuel | Ending::Unspecified(_) | Ending::Unknown(_),
        ) => RefinementVerdict::OutOfBudget("the source ran out of fuel".to_string()),
    }
}

/// Whether this divergence may disappear: inside of a `DataflowBlock`, or anywhere by the literal text of the survey
/// (A13).
fn may_change_divergence(cx: &mut Cx, source: &Observed, error: Option<&RuntimeError>) -> bool {
    let (endless, cast) = (error.is_none(), error.is_some_and(|error| is_cast(error.rule)));
    let other = !endless && !cast;
    let inside = source.in_dataflow_block;
    let may_change = if cx.literal(Erratum::A13) {
        cx.by_cases(&[
            (rule!("PURE.NONTERM-OPT"), endless, true),
            (rule!("PURE.CHECKED-REORDER"), cast, true),
            (rule!("PURE.DIVERGE.MORE-DEFINED"), other, true),
        ])
    } else {
        cx.by_cases(&[
            (rule!("OPT.DF.NONTERM"), endless && inside, true),
            (rule!("OPT.DF.MATCHCAST"), cast && inside, true),
            (rule!("OPT.DF.MORE-DEFINED"), other && inside, true),
        ])
    };
    may_change.is_some()
}

/// MEM.UNWRITTEN, MEM.OVERWRITTEN, MEM.RELEASED: whether what is read is no value. No implementation has to notice it.
fn is_unreadable(rule: Rule) -> bool {
    [rule!("MEM.UNWRITTEN"), rule!("MEM.OVERWRITTEN"), rule!("MEM.RELEASED")].contains(&rule)
}

fn fails_by(outcome: &Ending<ValueSpec>, rule: Rule) -> bool {
    matches!(outcome, Ending::Error(error) if error.rule == rule)
}

fn is_cast(rule: Rule) -> bool {
    rule.id().starts_with("SI.MATCHCAST.")
}

/// OPT.DF.MORE-DEFINED: the effects up to the divergence are the same, and then the rest of the program runs.
fn more_defined(cx: &mut Cx, source: &Observed, target: &Observed, agreement: &Agreement<'_>) -> RefinementVerdict {
    let mut pairs = source.effects.iter().zip(&target.effects).enumerate();
    let same_so_far =
        source.effects.len() <= target.effects.len() && pairs.all(|(i, (x, y))| agreement.effect(i, x, y));
    let message = || "the effects before the source diverges are not those of the target".to_string();
    unmet(cx, &[(rule!("OPT.DF.MORE-DEFINED"), 1, same_so_far, &message)]).unwrap_or(RefinementVerdict::Allowed)
}

/// How the names begin that TVM gives to compiled functions of the program.
const COMPILED: &str = "compiled.";

/// Whether the same check fails. A match that is lowered to builtins of the machine is still the same check.
fn is_same_check(before: &RuntimeError, after: &RuntimeError) -> bool {
    // An operator that is lowered to a call states the sizes of its result.
    let is_its_size = before.negative.is_some()
        && before.negative == after.negative
        && before.rule == rule!("PURE.ERR.OP")
        && after.rule == rule!("SI.DIM.SHAPEEXPR-ERR");
    // What compiled code raises names no check.
    let is_raised = after.rule == rule!("PURE.ERR.OP")
        && after.message.starts_with(COMPILED)
        && after.message.contains(" raised an error: ");
    let (before, after) = (before.rule, after.rule);
    let of_match = |rule: Rule| is_cast(rule) || rule.id().starts_with("SI.BOUNDARY.");
    let of_builtin = |rule: Rule| rule.id().starts_with("BUILTIN.CHECK_") || rule.id().starts_with("BUILTIN.MATCH_");
    before == after
        || is_its_size
        || (of_match(before) || of_builtin(before)) && is_raised
        || of_match(before) && of_builtin(after)
        || of_builtin(before) && (of_match(after) || of_builtin(after))
}

/// OPT.ERROR-IDENTITY: the same check fails, after the same effects.
fn same_error(
    cx: &mut Cx,
    source: &Observed,
    target: &Observed,
    before: &RuntimeError,
    after: &RuntimeError,
    agreement: &Agreement<'_>,
) -> RefinementVerdict {
    let other_error = || format!("the source fails with `{before}`, the target with `{after}`");
    differing_effects(cx, source, target, agreement)
        .or_else(|| unmet(cx, &[(rule!("OPT.ERROR-IDENTITY"), 1, is_same_check(before, after), &other_error)]))
        .unwrap_or(RefinementVerdict::Allowed)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error(rule: Rule, message: &str) -> RuntimeError {
        RuntimeError { rule, message: message.to_string(), negative: None }
    }

    /// What TVM's compiled code raises is the check that fails in the source; what another function raises is not.
    #[test]
    fn compiled_code_raises_what_fails_in_a_check() {
        let check = error(rule!("BUILTIN.MATCH_SHAPE"), "expected 0, found 1");
        let raised = |function: &str| error(rule!("PURE.ERR.OP"), &format!("{function} raised an error: no"));
        assert!(is_same_check(&check, &raised("compiled.main")));
        assert!(!is_same_check(&check, &raised("add_one")));
        assert!(!is_same_check(&error(rule!("SI.DIM.SHAPEEXPR-ERR"), "-1"), &raised("compiled.main")));
    }
}
