//! The observations of a run, and of the closures that it returned.

use crate::eval::EvalRun;
use crate::judge::Ending;
use crate::value::{Effect, Stop, Value, ValueSpec, to_spec};

/// The observable behaviour of a run.
#[derive(Clone, PartialEq, Debug)]
pub struct Observed {
    /// How it ended.
    pub outcome: Ending<ValueSpec>,
    /// The effects that are visible outside, in order.
    pub effects: Vec<Effect>,
    /// The contents of the arguments at the end, where mutations show.
    pub arguments: Vec<ValueSpec>,
    /// Whether a packed function has mutated anything.
    pub mutated: bool,
    /// Whether it ended inside of a `DataflowBlock`, where an optimizer may do more (`OPT.DF.*`).
    pub in_dataflow_block: bool,
    /// The behaviour of the returned closures.
    pub closures: ClosureObservations,
}

/// A call of a closure.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct ObservedCall {
    pub(super) args: Vec<ValueSpec>,
    pub(super) observed: Observed,
}

/// The observations of the closures in a value.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct ClosureObservations {
    /// For each closure, from left to right, its calls.
    pub(super) closures: Vec<Vec<ObservedCall>>,
    /// Why a part was not observed.
    pub(super) unseen: Option<String>,
}

impl ClosureObservations {
    pub(super) fn calls(&self) -> impl Iterator<Item = &ObservedCall> {
        self.closures.iter().flatten()
    }

    /// Why a part was not observed, here or in the result of a call.
    pub(super) fn unseen(&self) -> Option<&str> {
        self.unseen.as_deref().or_else(|| self.calls().find_map(|call| call.observed.closures.unseen()))
    }
}

/// The observable behaviour of a run on these arguments. Its closures are called after everything else was recorded,
/// because they may mutate values that they share with it.
pub(super) fn observed(
    run: EvalRun,
    args: &[Value],
    of_closures: impl FnOnce(&Value) -> ClosureObservations,
) -> Observed {
    let (mutated, in_dataflow_block) = (run.mutates, run.in_dataflow_block);
    Observed { mutated, in_dataflow_block, ..seen(run.outcome, run.effects, args, of_closures) }
}

pub(super) fn seen(
    outcome: Ending<Value>,
    effects: Vec<Effect>,
    args: &[Value],
    of_closures: impl FnOnce(&Value) -> ClosureObservations,
) -> Observed {
    let arguments = args.iter().map(to_spec).collect::<Result<Vec<_>, Stop>>().unwrap_or_default();
    let mut closures = ClosureObservations::default();
    let outcome = match outcome {
        Ending::Value(value) => {
            let seen = to_spec(&value).map_err(|stop| unseen(&stop));
            // A value that is too large to be written is not inspected either.
            if seen.is_ok() {
                closures = of_closures(&value);
            }
            seen.map_or_else(Ending::Unknown, Ending::Value)
        }
        Ending::Error(error) => Ending::Error(error),
        Ending::OutOfFuel => Ending::OutOfFuel,
        Ending::Unspecified(reason) => Ending::Unspecified(reason),
        Ending::Unknown(what) => Ending::Unknown(what),
    };
    Observed { outcome, effects, arguments, mutated: false, in_dataflow_block: false, closures }
}

fn unseen(stop: &Stop) -> String {
    match stop {
        Stop::Unspecified(reason) | Stop::Unknown(reason) => reason.clone(),
        Stop::Error(error) => error.to_string(),
        Stop::OutOfFuel => "out of fuel".to_string(),
    }
}
