//! Calls the closures that a program returned: those of the source on generated arguments, those of the target on the
//! same ones.

use std::rc::Rc;

use rustc_hash::FxHashSet;

use super::observed::{ClosureObservations, ObservedCall, observed};
use crate::arguments::{ArgumentSource, Draw};
use crate::eval::Machine;
use crate::judge::{Ending, with_stack};
use crate::value::{Closure, TupleObj, Value, ValueSpec, from_specs};

/// How often a closure is called.
const CALLS: usize = 4;
/// How many closures of one value are called: a tuple that shares its parts can hold very many.
const CLOSURES: usize = 16;
/// How deeply closures are called that a call returns.
pub(super) const DEPTH: usize = 3;

/// The arguments for the calls of closures.
pub(super) enum Plan<'a> {
    /// Generated arguments.
    Make(&'a ArgumentSource),
    /// On the arguments of these calls.
    Repeat(&'a ClosureObservations),
}

/// Calls the closures in a value.
pub(super) fn of_closures(
    machine: &mut Machine<'_>,
    value: &Value,
    mut plan: Plan<'_>,
    depth: usize,
) -> ClosureObservations {
    let closures = Closures::of(value);
    if closures.is_empty() {
        return ClosureObservations::default();
    }
    let unseen = |reason: &str| ClosureObservations { closures: Vec::new(), unseen: Some(reason.to_string()) };
    if depth == 0 {
        return unseen("calls of what is returned give closures again and again");
    }
    if closures.len() > CLOSURES {
        return unseen("there are too many closures in what is returned");
    }
    let mut seen = ClosureObservations::default();
    for (i, closure) in closures.iter().enumerate() {
        match called(machine, closure, &mut plan, i, depth) {
            Some(calls) => seen.closures.push(calls),
            None => return unseen("no argument can be made for a closure that is returned"),
        }
    }
    seen
}

/// The closures in a value, without calls: a compiled program cannot be called back.
pub(super) fn not_called(value: &Value) -> ClosureObservations {
    let reason = "a closure that a compiled program returns is not called";
    ClosureObservations { closures: Vec::new(), unseen: (!Closures::of(value).is_empty()).then(|| reason.to_string()) }
}

/// The calls of the i-th closure; `None` if no arguments can be generated.
fn called(
    machine: &mut Machine<'_>,
    closure: &Rc<Closure>,
    plan: &mut Plan<'_>,
    i: usize,
    depth: usize,
) -> Option<Vec<ObservedCall>> {
    match plan {
        Plan::Make(inputs) => {
            let mut calls = Vec::new();
            let func = closure.func.as_ref()?;
            for index in 0..CALLS {
                let draw = Draw { index, attempt: index % 2 };
                let args = inputs.for_function(func, &closure.captured_shape_vars, draw)?;
                let call = call(machine, closure, args, Plan::Make(inputs), depth)?;
                let endless = call.observed.outcome == Ending::OutOfFuel;
                calls.push(call);
                // A call that uses up the fuel of a run is not repeated on other arguments.
                if endless {
                    break;
                }
            }
            Some(calls)
        }
        Plan::Repeat(seen) => {
            let before = seen.closures.get(i)?;
            let again = |before: &ObservedCall| {
                call(machine, closure, before.args.clone(), Plan::Repeat(&before.observed.closures), depth)
            };
            before.iter().map(again).collect()
        }
    }
}

fn call(
    machine: &mut Machine<'_>,
    closure: &Rc<Closure>,
    args: Vec<ValueSpec>,
    plan: Plan<'_>,
    depth: usize,
) -> Option<ObservedCall> {
    let values = from_specs(&args, machine.registered()).ok()?;
    let run = machine.call_from_outside(closure, values.clone());
    let observed = observed(run, &values, |value| of_closures(machine, value, plan, depth - 1));
    Some(ObservedCall { args, observed })
}

/// The closures in a value, from left to right, up to one more than the limit.
#[derive(Default)]
struct Closures<'v> {
    found: Vec<&'v Rc<Closure>>,
    /// Tuples without closures. They are visited once, however often they are shared. Tuples with closures are visited
    /// as often as in a full copy, because the target may have copied them.
    without: FxHashSet<*const TupleObj>,
}

impl<'v> Closures<'v> {
    fn of(value: &'v Value) -> Vec<&'v Rc<Closure>> {
        let mut closures = Closures::default();
        closures.collect(value);
        closures.found
    }

    fn collect(&mut self, value: &'v Value) {
        if self.found.len() > CLOSURES {
            return;
        }
        if let Value::Closure(closure) = value {
            self.found.push(closure);
        } else if let Value::Tuple(tuple) = value {
            let (place, before) = (Rc::as_ptr(tuple), self.found.len());
            if self.without.contains(&place) {
                return;
            }
            with_stack(|| tuple.fields().iter().for_each(|field| self.collect(field)));
            if self.found.len() == before {
                self.without.insert(place);
            }
        }
    }
}
