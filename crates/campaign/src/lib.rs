//! Campaigns: draw questions and programs, ask an implementation, reduce the differences, and store them as findings.
//!
//! The crate also has the measurements that draw their questions in the same way: how sound the judgements are, what
//! two editions answer differently, how far an implementation agrees with the reference operators.

#![cfg_attr(not(test), warn(clippy::expect_used, clippy::panic, clippy::unwrap_used))]

#[macro_use]
mod kinds;

pub mod adequacy;
pub mod agreement;
pub mod calls;
pub mod classes;
pub mod damage;
pub mod diagnosis;
pub mod editions;
pub mod engines;
pub mod generate;
pub mod infos;
pub mod kernels;
pub mod mutation;
pub mod operator_soundness;
pub mod operators;
pub mod programs;
pub mod questions;
pub mod relay;
mod shrink;
mod smaller;
pub mod soundness;
pub mod trials;

pub use smaller::smaller;
