//! The tests of the whole but for the golden suite, in one program, so that everything is linked once.

mod adequacy;
#[cfg(feature = "cli")]
mod book;
#[cfg(feature = "cli")]
mod choice;
mod citations;
mod clauses;
#[cfg(feature = "cli")]
mod cli;
mod corpus;
#[cfg(feature = "cli")]
mod data;
mod delta;
#[cfg(all(feature = "cli", target_os = "linux"))]
mod divergences;
mod editions;
mod errata;
#[cfg(all(feature = "cli", target_os = "linux"))]
mod faults;
#[cfg(all(feature = "cli", target_os = "linux"))]
mod files;
mod findings;
mod floors;
mod foreign;
mod fuzz_targets;
mod gates;
mod invariance;
mod law_table;
mod laws;
mod ledgers;
mod models;
mod numbers;
mod onnx;
mod operators;
mod programs;
mod provers;
#[cfg(feature = "cli")]
mod python_files;
mod random_laws;
mod relay;
#[cfg(feature = "cli")]
mod rendered;
mod rendered_book;
#[cfg(feature = "cli")]
mod reports;
mod rewrites;
mod soundness;
mod tir;
mod trials;
mod types;
mod unknown_purity;
mod vm;
mod workers;
