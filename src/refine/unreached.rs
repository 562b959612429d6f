//! The parts of a program that its runs did not reach.

use crate::grammar::{Name, Span};
use crate::value::Side;

/// A part of a program that no run reached.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Unreached {
    /// A branch of a conditional.
    Branch {
        /// Where the conditional is written.
        span: Span,
        /// Which branch: the one for a condition that holds, or the other.
        holds: bool,
    },
    /// The call of an operator, outside of such a branch.
    Operator {
        /// Where the call is written.
        span: Span,
        /// The operator.
        name: Name,
    },
    /// A side of a choice that an operator makes for each element, or that a `PrimFunc` makes.
    Side {
        /// Where the choice is written.
        span: Span,
        /// The operator or function that makes the choice.
        of: Name,
        /// The side that was not taken.
        side: Side,
    },
}
