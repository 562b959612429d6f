//! The conformance suite: golden cases, which answers they permit, which divergences from them are known, and what they
//! prove of the rules.

pub mod accuracy;
pub mod alpha;
mod case;
pub mod compare;
pub mod coverage;
pub mod knockout;
pub mod ledger;
pub mod normalized;
pub mod same_program;
pub mod select;
pub mod witness;

pub use case::{Case, CaseError, read_cases, read_suite};
pub use witness::{Expected, Witness, witness};
