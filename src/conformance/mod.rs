//! The conformance suite: golden cases, what their answers are compared by, and ledgers.

pub mod accuracy;
pub mod alpha;
pub mod case;
pub mod compare;
pub mod coverage;
mod display;
pub mod knockout;
pub mod ledger;
pub mod oracle;
pub mod outcome;
pub mod same_program;
pub mod select;
