//! The conformance suite: golden cases, the adapter protocol, the runner, reports and ledgers.

pub mod case;
pub mod oracle;
