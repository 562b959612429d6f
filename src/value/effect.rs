//! The externally visible effects of a run.

use std::fmt;

use super::written::{List, ValueSpec};
use crate::grammar::Name;

/// A visible effect of a run, in order.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Effect {
    /// A packed function was called; the arguments are as they were at the call.
    Call(Name, Vec<ValueSpec>),
    /// Something was printed.
    Print(Vec<ValueSpec>),
}

impl fmt::Display for Effect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Effect::Call(name, args) => write!(f, "{name}({})", List(args)),
            Effect::Print(args) => write!(f, "print({})", List(args)),
        }
    }
}
