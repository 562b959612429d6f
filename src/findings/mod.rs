//! Findings about a program: which rule is broken, where, and how to mend it.

mod diagnostic;
mod finder;
mod trail;

pub use diagnostic::{Diagnostic, NodePath, Severity};
pub use finder::Finder;
pub use trail::{Step, Trail};
