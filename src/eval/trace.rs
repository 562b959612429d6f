//! The steps of a run, for `run --trace`.

use std::fmt;
use std::rc::Rc;

use crate::grammar::{Call, If, Name, ShapeVar, Span, Var};
use crate::value::{Effect, Host, Sides, Value};

/// An observer of a running program.
pub trait RunObserver: fmt::Debug {
    /// A variable was bound to a value. Other variables in scope can be read through `run`.
    fn bound(&self, run: &mut dyn Host, var: &Var, value: &Value);

    /// The condition of a conditional was evaluated, and one of its branches runs next.
    fn decided(&self, _conditional: &If, _holds: bool) {}

    /// An operator was called on these values and returned.
    fn called(&self, _call: &Call, _values: &[Value]) {}

    /// The record in which `PrimFunc`s note the branches that they take.
    fn sides(&self) -> Option<Rc<Sides>> {
        None
    }
}

/// A step of a run.
#[derive(Clone, PartialEq, Debug)]
pub struct TraceStep {
    /// The number of open calls.
    pub depth: usize,
    /// The position in the source.
    pub span: Span,
    /// The event.
    pub event: TraceEvent,
}

/// An event of a run. Values are shown as they were at that time.
#[derive(Clone, PartialEq, Debug)]
pub enum TraceEvent {
    /// A call of a closure begins. A global function has its name.
    Enter(Option<Name>),
    /// The call returns.
    Return(String),
    /// A variable is bound to a value.
    Bind(Var, String),
    /// A shape variable is bound to a size.
    BindShapeVar(ShapeVar, i64),
    /// A visible effect happens.
    Effect(Effect),
}

impl fmt::Display for TraceStep {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let indent = "  ".repeat(self.depth.min(MAX_INDENT));
        write!(f, "{indent}{}", self.event)
    }
}

/// The largest number of calls that the indentation shows.
const MAX_INDENT: usize = 20;

impl fmt::Display for TraceEvent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            TraceEvent::Enter(Some(name)) => write!(f, "call @{name}"),
            TraceEvent::Enter(None) => f.write_str("call closure"),
            TraceEvent::Return(value) => write!(f, "return {value}"),
            // Shows the name as written; a second binding of the same name appears as a second line.
            TraceEvent::Bind(var, value) => write!(f, "{} = {value}", var.name),
            TraceEvent::BindShapeVar(var, size) => write!(f, "{} := {size}", var.name),
            TraceEvent::Effect(effect) => write!(f, "effect: {effect}"),
        }
    }
}
