//! How an implementation is asked: in this process or in one of its own, question by question or a whole suite.
//!
//! The questions and what is a right answer to them are decided in `relax-spec`, and nothing here knows a terminal.

#![cfg_attr(not(test), warn(clippy::expect_used, clippy::panic, clippy::unwrap_used))]

pub mod adapters;
pub mod checkout;
pub mod conformance;
pub mod executables;
pub mod extern_process;
mod family;
pub mod implementation;
pub mod kept;
pub mod process;
pub mod protocol;
pub mod runner;
pub mod serve;
pub mod sites;
pub mod standing;
pub mod supervisor;
pub mod worker;
