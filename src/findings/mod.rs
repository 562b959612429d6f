//! Findings about a program: which rule is broken, where, and how to fix it.

mod diagnostic;
mod finder;
mod instead;
mod places;
mod trail;

pub use diagnostic::{Complaint, Diagnostic, NodePath, Severity};
pub use finder::{Demand, Finder};
pub use places::FaultySpans;
pub(crate) use places::place;
pub use trail::{Trail, TrailStep};
