//! How an implementation is asked: in this process or in one of its own, question by question, by a suite, a random
//! campaign or for every operator.
//!
//! The questions and what is a right answer to them are not decided here; nothing here knows a terminal.

pub mod adapters;
pub mod agreement;
pub mod calls;
pub mod campaign;
pub mod checkout;
pub mod damage;
pub mod editions;
pub mod engines;
pub mod executables;
pub mod extern_process;
pub mod implementation;
pub mod operator_soundness;
pub mod process;
pub mod programs;
pub mod protocol;
pub mod questions;
pub mod relay;
pub mod runner;
pub mod serve;
pub mod soundness;
pub mod supervisor;
pub mod trials;
pub mod worker;
