//! Findings about a program: which rule is broken, where, and how to mend it.

mod diagnostic;
mod trail;

pub use diagnostic::{Diagnostic, NodePath, Severity};
pub use trail::{Step, Trail};
