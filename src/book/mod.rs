//! The specification as data: its rules, its errata, its editions, and how its text may be read.

mod change;
mod dialect;
mod edition;
pub mod erratum;
mod nearest;
mod proposal;
mod reading;
#[macro_use]
pub mod rule;
mod search;

pub use change::Change;
pub use dialect::ron_options;
pub use edition::{Edition, UnknownEdition};
pub use erratum::{Erratum, UnknownErratum};
pub use nearest::{did_you_mean, nearest, or_meant};
pub use proposal::{Basis, Proposal, UnknownProposal, WrongBase};
pub use reading::{ErratumSet, Reading};
pub use rule::{Rule, RuleInfo, RuleSet, Statement, Status, UnknownRule};
pub use search::{FoundIn, search};
