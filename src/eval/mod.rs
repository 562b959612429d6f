//! Evaluation (chapters Evaluating Expressions, Match casts and function boundaries, Values, Program organization).
//!
//! [`evaluate`] runs an entry point of a module on values and returns an [`EvalRun`]: the outcome, the visible effects
//! in order, and on request every step.

mod boundary;
mod capture;
mod dim;
mod ends;
mod expr;
mod first_phase;
mod free;
mod machine;
mod match_cast;
mod match_shape;
mod packed;
mod prelude;
mod program;
mod rtsi;
mod scope;
mod trace;

pub use ends::ends;
pub use machine::{EvalOptions, Machine, SignatureOrder};
pub use match_cast::match_value;
pub use prelude::prelude;
pub use program::{EvalRun, default_entry, evaluate, evaluate_then};
pub use trace::{RunObserver, TraceEvent, TraceStep};

#[cfg(test)]
mod tests;
