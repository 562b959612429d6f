//! All tests of the whole project except the golden suite, in one program, so that everything is linked once.

mod adequacy;
mod attributes;
#[cfg(target_os = "linux")]
mod blame;
mod book;
mod bounds;
mod choice;
mod citations;
mod clauses;
mod cli;
mod corpus;
mod data;
mod delta;
#[cfg(target_os = "linux")]
mod divergences;
mod editions;
mod errata;
#[cfg(target_os = "linux")]
mod faults;
#[cfg(target_os = "linux")]
mod files;
mod findings;
mod floors;
mod foreign;
mod fuzz_targets;
mod gates;
mod invariance;
mod kernels;
mod law_table;
mod laws;
mod ledgers;
mod messages;
mod migrate;
mod models;
mod numbers;
mod onnx;
mod operators;
mod programs;
mod provers;
mod python_files;
mod random_laws;
mod relay;
mod rendered;
mod rendered_book;
mod reported;
mod reports;
mod rewrites;
mod server;
#[cfg(target_os = "linux")]
mod shared_chains;
mod signatures;
mod soundness;
mod started;
mod tir;
#[cfg(unix)]
mod tour;
mod trials;
mod types;
mod unknown_purity;
mod verdicts;
mod vm;
mod why;
mod words;
mod workers;
