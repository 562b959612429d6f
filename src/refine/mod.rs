//! Refinement (chapter Optimizations): whether a target program does only what the text allows an optimizer to make of
//! a source program. Both are run on the same inputs, and what can be observed of the two runs is compared.

mod calls;
mod inputs;

pub use calls::Seen;
use calls::{Call, Plan};
use inputs::Inputs;

use crate::book::{Erratum, Rule};
use crate::derivation::inferred_results;
use crate::eval::{Options, Run, evaluate_then};
use crate::grammar::IrModule;
use crate::judge::{Check, Cx, Ending, RuntimeError};
use crate::value::{ConvertError, Effect, Stop, Value, ValueSpec, from_specs, to_spec};

/// What can be observed of a run.
#[derive(Clone, PartialEq, Debug)]
pub struct Observed {
    /// How it ended.
    pub outcome: Ending<ValueSpec>,
    /// What the world outside saw, in order.
    pub effects: Vec<Effect>,
    /// The contents of the arguments at the end, where mutations show.
    pub arguments: Vec<ValueSpec>,
    /// Whether a packed function has mutated anything.
    pub mutated: bool,
    /// Whether it ended inside of a DataflowBlock, where more is allowed (`OPT.DF.*`).
    pub in_dataflow_block: bool,
    /// What the closures do that it returned.
    pub closures: Seen,
}

/// What the comparison of two runs, or of several pairs of runs, says.
#[derive(Clone, PartialEq, Debug)]
pub enum Verdict {
    /// The target may do this.
    Allowed,
    /// The clause that the target breaks.
    NotAllowed {
        /// The clause.
        rule: Rule,
        /// What the target does, for people.
        message: String,
    },
    /// The source run has no prescribed behaviour, or returns what cannot be looked into.
    Undecided(String),
    /// A limit was reached: the steps, or the depth of calls.
    OutOfBudget(String),
}

/// The outcome of [`refine`].
#[derive(Clone, PartialEq, Debug)]
pub struct Refinement {
    /// On all inputs together.
    pub verdict: Verdict,
    /// The smallest input found on which the target breaks the clause.
    pub input: Option<Vec<ValueSpec>>,
    /// On how many inputs the two programs were compared with a decision.
    pub compared: usize,
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
    /// The signature leaves open too much, or nothing meets it.
    #[error("no argument can be made for the signature of `{0}`; give the arguments")]
    Arguments(String),
}

/// Compares the programs on the inputs given, and on `runs` generated ones.
///
/// OPT.GENERAL: on none of them may the target be told apart from the source, but for what the other rules allow.
pub fn refine(
    cx: &mut Cx,
    source: &IrModule,
    target: &IrModule,
    entry: &str,
    given: &[Vec<ValueSpec>],
    runs: usize,
) -> Result<Refinement, RefineError> {
    let mut made = Inputs::of(source, target);
    let mut inputs = given.to_vec();
    if runs > 0 {
        inputs.extend(made.for_entry(source, entry, runs)?);
    }
    let mut found: Option<(usize, Verdict, Vec<ValueSpec>)> = None;
    let (mut compared, mut open, mut unseen) = (0, None, None);
    for input in inputs {
        let before = observe(cx, source, entry, &input, Plan::Make(&mut made))?;
        let after = observe(cx, target, entry, &input, Plan::Repeat(&before.closures))?;
        unseen = unseen.or_else(|| before.closures.unseen().or_else(|| after.closures.unseen()).map(String::from));
        match judge_runs(cx, &before, &after) {
            Verdict::Allowed => compared += 1,
            undecided @ (Verdict::Undecided(_) | Verdict::OutOfBudget(_)) => open = Some(undecided),
            broken @ Verdict::NotAllowed { .. } => {
                compared += 1;
                let size = size_of(&input);
                if found.as_ref().is_none_or(|(smallest, ..)| size < *smallest) {
                    found = Some((size, broken, input));
                }
            }
        }
    }
    Ok(match (found, open, unseen) {
        (Some((_, verdict, input)), _, _) => Refinement { verdict, input: Some(input), compared },
        // What a closure does on other arguments may be anything.
        (None, _, Some(reason)) => Refinement { verdict: Verdict::Undecided(reason), input: None, compared },
        // A comparison that could not have failed says nothing.
        (None, Some(undecided), None) if compared == 0 => Refinement { verdict: undecided, input: None, compared },
        (None, Some(_) | None, None) => Refinement { verdict: Verdict::Allowed, input: None, compared },
    })
}

/// How large an input is: its sizes and elements together.
fn size_of(input: &[ValueSpec]) -> usize {
    input
        .iter()
        .map(|value| match value {
            ValueSpec::Tensor(data) => 1 + data.shape.len() + data.bytes.len(),
            ValueSpec::Tuple(fields) => 1 + size_of(fields),
            ValueSpec::Shape(dims) => 1 + dims.len(),
            ValueSpec::PackedFunc(_)
            | ValueSpec::Closure
            | ValueSpec::PrimFunc
            | ValueSpec::Int(_)
            | ValueSpec::Bool(_)
            | ValueSpec::Float(_)
            | ValueSpec::Str(_)
            | ValueSpec::DataType(_)
            | ValueSpec::Object
            | ValueSpec::Arg(_) => 1,
        })
        .sum()
}

/// Runs a program and keeps what can be observed; the closures that it returns are called as planned.
fn observe(
    cx: &mut Cx,
    module: &IrModule,
    entry: &str,
    args: &[ValueSpec],
    plan: Plan<'_>,
) -> Result<Observed, RefineError> {
    let options = Options { results: inferred_results(cx, module), ..Options::default() };
    let args = from_specs(args, &options.registry)?;
    Ok(evaluate_then(cx, module, entry, args.clone(), &options, |machine, run| {
        observed(run, &args, |value| calls::of_closures(machine, value, plan, calls::DEPTH))
    }))
}

/// What can be observed of a run that was given these arguments. Its closures are called when everything else has been seen,
/// for they may mutate what they share with it.
fn observed(run: Run, args: &[Value], of_closures: impl FnOnce(&Value) -> Seen) -> Observed {
    let arguments = args.iter().map(to_spec).collect::<Result<Vec<_>, Stop>>().unwrap_or_default();
    let mut closures = Seen::default();
    let outcome = match run.outcome {
        Ending::Value(value) => {
            let seen = to_spec(&value).map_err(|stop| unspecified(&stop));
            closures = of_closures(&value);
            seen.map_or_else(Ending::Unspecified, Ending::Value)
        }
        Ending::Error(error) => Ending::Error(error),
        Ending::OutOfFuel => Ending::OutOfFuel,
        Ending::Unspecified(reason) => Ending::Unspecified(reason),
    };
    let (mutated, in_dataflow_block) = (run.mutates, run.in_dataflow_block);
    Observed { outcome, effects: run.effects, arguments, mutated, in_dataflow_block, closures }
}

fn unspecified(stop: &Stop) -> String {
    match stop {
        Stop::Unspecified(reason) => reason.clone(),
        Stop::Error(error) => error.to_string(),
        Stop::OutOfFuel => "out of fuel".to_string(),
    }
}

/// Whether a run of the target is one that the text allows for a run of the source on the same input.
pub fn judge_runs(cx: &mut Cx, source: &Observed, target: &Observed) -> Verdict {
    match (&source.outcome, &target.outcome) {
        (Ending::Unspecified(reason), _) => Verdict::Undecided(format!("the source is unspecified: {reason}")),
        (_, Ending::Unspecified(reason)) => Verdict::Undecided(format!("the target is unspecified: {reason}")),
        (Ending::Value(before), Ending::Value(after)) => same_value(cx, source, target, before, after),
        (Ending::Value(_), Ending::Error(error)) => less_defined(cx, target, error),
        (Ending::Value(_), Ending::OutOfFuel) => Verdict::OutOfBudget("the target ran out of fuel".to_string()),
        (Ending::Error(error), _) => diverging(cx, source, target, Some(error)),
        (Ending::OutOfFuel, _) => diverging(cx, source, target, None),
    }
}

fn not_allowed(rule: Rule, message: String) -> Verdict {
    Verdict::NotAllowed { rule, message }
}

/// The verdict by the first condition that the runs do not meet.
fn unmet(cx: &mut Cx, checks: &[Check]) -> Option<Verdict> {
    cx.check(checks).err().map(|(rule, message)| not_allowed(rule, message))
}

/// OPT.GENERAL: the same value, and the same visible behaviour.
///
/// OPT.MEM.COPY: where a program mutates, another value comes of values that are copied or shared wrongly.
fn same_value(cx: &mut Cx, source: &Observed, target: &Observed, before: &ValueSpec, after: &ValueSpec) -> Verdict {
    let other_value = || format!("the source returns {before}, the target {after}");
    let same_value: Check = match source.mutated {
        true => (rule!("OPT.MEM.COPY"), 1, before == after, &other_value),
        false => (rule!("OPT.GENERAL"), 1, before == after, &other_value),
    };
    differing_effects(cx, source, target)
        .or_else(|| differing_mutations(cx, source, target))
        .or_else(|| unmet(cx, &[same_value]))
        .unwrap_or_else(|| same_calls(cx, &source.closures, &target.closures))
}

/// OPT.GENERAL: a closure is what its calls do, so these are compared one by one, as runs are.
fn same_calls(cx: &mut Cx, source: &Seen, target: &Seen) -> Verdict {
    let (mut open, mut compared) = (None, source.calls().next().is_none());
    for (Call { args, observed: before }, after) in source.calls().zip(target.calls()) {
        match judge_runs(cx, before, &after.observed) {
            Verdict::Allowed => compared = true,
            undecided @ (Verdict::Undecided(_) | Verdict::OutOfBudget(_)) => open = Some(undecided),
            Verdict::NotAllowed { rule, message } => {
                let args: Vec<String> = args.iter().map(ToString::to_string).collect();
                return not_allowed(
                    rule,
                    format!("a returned closure is called with ({}): {message}", args.join(", ")),
                );
            }
        }
    }
    open.filter(|_| !compared).unwrap_or(Verdict::Allowed)
}

/// OPT.VISIBLE.IO: the effects, their order and their number. Where the same calls are given other values, the values
/// were computed differently, or, in a program that mutates, a mutation was not seen (`OPT.MEM.MUTVISIBLE`).
fn differing_effects(cx: &mut Cx, source: &Observed, target: &Observed) -> Option<Verdict> {
    let (before, after) = (&source.effects, &target.effects);
    let called = |effects: &[Effect]| effects.iter().map(callee).collect::<Vec<String>>();
    let other_calls = || format!("the source has the effects {:?}, the target {:?}", called(before), called(after));
    let same_calls = called(before) == called(after);
    if let Some(verdict) = unmet(cx, &[(rule!("OPT.VISIBLE.IO"), 1, same_calls, &other_calls)]) {
        return Some(verdict);
    }
    let (x, y) = before.iter().zip(after).find(|(x, y)| x != y)?;
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

/// What is called, and what text is printed: that is no value that could be computed in another way.
fn callee(effect: &Effect) -> String {
    match effect {
        Effect::Call(name, _) => name.to_string(),
        Effect::Print(printed) => {
            let texts = printed.iter().filter_map(|value| match value {
                ValueSpec::Str(text) => Some(format!("({text:?})")),
                ValueSpec::Tensor(_)
                | ValueSpec::Tuple(_)
                | ValueSpec::Shape(_)
                | ValueSpec::PackedFunc(_)
                | ValueSpec::Closure
                | ValueSpec::PrimFunc
                | ValueSpec::Int(_)
                | ValueSpec::Bool(_)
                | ValueSpec::Float(_)
                | ValueSpec::DataType(_)
                | ValueSpec::Object
                | ValueSpec::Arg(_) => None,
            });
            ["print".to_string()].into_iter().chain(texts).collect()
        }
    }
}

/// OPT.VISIBLE.MUTATION: the contents of what the arguments hold, when the program ends.
fn differing_mutations(cx: &mut Cx, source: &Observed, target: &Observed) -> Option<Verdict> {
    let mut pairs = source.arguments.iter().zip(&target.arguments).enumerate();
    let differing = pairs.find(|(_, (before, after))| before != after);
    let other_contents = || match differing {
        Some((i, (before, after))) => {
            format!("argument {i} ends as {before} in the source, as {after} in the target")
        }
        None => "the arguments are not the same".to_string(),
    };
    let same = source.arguments == target.arguments;
    unmet(cx, &[(rule!("OPT.VISIBLE.MUTATION"), 1, same, &other_contents)])
}

/// OPT.DF.NEVER-LESS, PURE.DIVERGE.NEVER-LESS: where the source gives a value, the target gives it too.
fn less_defined(cx: &mut Cx, target: &Observed, error: &RuntimeError) -> Verdict {
    let rule = if target.in_dataflow_block { rule!("OPT.DF.NEVER-LESS") } else { rule!("PURE.DIVERGE.NEVER-LESS") };
    cx.refuse(rule, 1, not_allowed(rule, format!("the source gives a value, the target fails: {error}")))
}

/// The source fails (or does not end, if there is no error).
fn diverging(cx: &mut Cx, source: &Observed, target: &Observed, error: Option<&RuntimeError>) -> Verdict {
    if may_change_divergence(cx, source, error) {
        return more_defined(cx, source, target);
    }
    match (error, &target.outcome) {
        (Some(before), Ending::Error(after)) => same_error(cx, source, target, before, after),
        (Some(before), Ending::Value(_)) => {
            let message = format!("the source fails outside of DataflowBlocks, the target gives a value: {before}");
            let rule = rule!("OPT.OUTSIDE-DF");
            cx.refuse(rule, 1, not_allowed(rule, message))
        }
        (Some(_), Ending::OutOfFuel) => Verdict::OutOfBudget("the target ran out of fuel".to_string()),
        (Some(_), Ending::Unspecified(reason)) => Verdict::Undecided(reason.clone()),
        (None, Ending::Value(_) | Ending::Error(_) | Ending::OutOfFuel | Ending::Unspecified(_)) => {
            Verdict::OutOfBudget("the source ran out of fuel".to_string())
        }
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

fn is_cast(rule: Rule) -> bool {
    rule.id().starts_with("SI.MATCHCAST.")
}

/// OPT.DF.MORE-DEFINED: the effects up to the divergence are the same; what follows is what the rest does.
fn more_defined(cx: &mut Cx, source: &Observed, target: &Observed) -> Verdict {
    let same_so_far = target.effects.starts_with(&source.effects);
    let message = || "the effects before the source diverges are not those of the target".to_string();
    unmet(cx, &[(rule!("OPT.DF.MORE-DEFINED"), 1, same_so_far, &message)]).unwrap_or(Verdict::Allowed)
}

/// OPT.ERROR-IDENTITY: the same check fails, after the same effects.
fn same_error(
    cx: &mut Cx,
    source: &Observed,
    target: &Observed,
    before: &RuntimeError,
    after: &RuntimeError,
) -> Verdict {
    let other_error = || format!("the source fails with `{before}`, the target with `{after}`");
    differing_effects(cx, source, target)
        .or_else(|| unmet(cx, &[(rule!("OPT.ERROR-IDENTITY"), 1, before.rule == after.rule, &other_error)]))
        .unwrap_or(Verdict::Allowed)
}
