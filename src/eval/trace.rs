//! The steps of a run, for `run --trace`.

use std::fmt;
use std::rc::Rc;

use crate::grammar::{Call, If, Name, ShapeVar, Span, Var};
use crate::value::{Effect, Host, Sides, Value};

/// Looks on while a program runs.
pub trait RunObserver: fmt::Debug {
    /// A variable was bound to a value; what else is in scope there can be asked of `run`.
    fn bound(&self, run: &mut dyn Host, var: &Var, value: &Value);

    /// The condition of a conditional was evaluated, and one of its branches is next.
    fn decided(&self, _conditional: &If, _holds: bool) {}

    /// An operator was called on these values and has given its result.
    fn called(&self, _call: &Call, _values: &[Value]) {}

    /// Where `PrimFunc`s note which sides their choices take.
    fn sides(&self) -> Option<Rc<Sides>> {
        None
    }
}

/// One step.
#[derive(Clone, PartialEq, Debug)]
pub struct TraceStep {
    /// How many calls are open.
    pub depth: usize,
    /// Where in the source it happens.
    pub span: Span,
    /// What happened.
    pub event: TraceEvent,
}

/// What happened. Values are as they were at the time.
#[derive(Clone, PartialEq, Debug)]
pub enum TraceEvent {
    /// A call of a closure begins; a global function is given by its name.
    Enter(Option<Name>),
    /// The call returns.
    Return(String),
    /// A variable is bound to a value.
    Bind(Var, String),
    /// A shape variable is bound to a size.
    BindShapeVar(ShapeVar, i64),
    /// The world outside sees something.
    Effect(Effect),
}

impl fmt::Display for TraceStep {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let indent = "  ".repeat(self.depth.min(MAX_INDENT));
        write!(f, "{indent}{}", self.event)
    }
}

/// How many calls the indentation shows.
const MAX_INDENT: usize = 20;

impl fmt::Display for TraceEvent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            TraceEvent::Enter(Some(name)) => write!(f, "call @{name}"),
            TraceEvent::Enter(None) => f.write_str("call closure"),
            TraceEvent::Return(value) => write!(f, "return {value}"),
            // As it was written; a variable that is written anew is bound anew.
            TraceEvent::Bind(var, value) => write!(f, "{} = {value}", var.name),
            TraceEvent::BindShapeVar(var, size) => write!(f, "{} := {size}", var.name),
            TraceEvent::Effect(effect) => write!(f, "effect: {effect}"),
        }
    }
}
