//! Asks implementations, in this process or in separate ones, single questions or a whole suite.
//!
//! `relax-spec` decides the questions and the correct answers. This crate has no user interface.

#![cfg_attr(not(test), warn(clippy::expect_used, clippy::panic, clippy::unwrap_used))]

pub mod adapters;
pub mod checkout;
pub mod conformance;
pub mod executables;
pub mod extern_process;
mod family;
pub mod implementation;
pub mod kept;
pub mod library;
pub mod process;
pub mod protocol;
pub mod record;
pub mod runner;
pub mod serve;
pub mod sites;
pub mod stages;
pub mod standing;
pub mod supervisor;
pub mod worker;
