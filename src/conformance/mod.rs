//! The conformance suite: golden cases, the adapter protocol, the runner, reports and ledgers.

pub mod accuracy;
pub mod adapters;
pub mod agreement;
pub mod alpha;
pub mod campaign;
pub mod case;
pub mod checkout;
pub mod compare;
pub mod coverage;
mod display;
pub mod knockout;
pub mod ledger;
pub mod oracle;
pub mod outcome;
pub mod process;
pub mod protocol;
pub mod questions;
pub mod report;
pub mod runner;
pub mod same_program;
pub mod select;
pub mod serve;
pub mod worker;
