//! The conformance suite: golden cases, the answers they permit, the known divergences from them, and the rules they
//! test.

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
