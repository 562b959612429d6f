//! Executable reference semantics, test oracle and conformance suite for the Relax IR.
//!
//! Ask it what a program means, one function for each thing that people ask:
//!
//! ```
//! let module = relax_spec::parse(
//!     "@I.ir_module
//! class Module:
//!     @R.function
//!     def main(x: R.Tensor(('n',), 'float32'), y: R.Tensor(('n',), 'float32')):
//!         return R.add(x, y)
//! ")?;
//! assert!(relax_spec::check(&module).accepts());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! | question | function |
//! | --- | --- |
//! | What is the tree of this text? | [`parse`] |
//! | Is the program well-formed and well-typed? | [`fn@check`] |
//! | What is known of its functions and variables? | [`derive()`] |
//! | What is its normal form? | [`normalize`] |
//! | What does it compute? | [`run`] |
//! | Is another program an allowed optimization of it? | [`fn@refine`] |
//! | A subtype, a bound, compatible, unified? | [`fn@judge`] |
//!
//! # The rule is the unit
//!
//! Each rule of the specification has an id, such as `SUB.TENSOR.RANK`, and is a [`Rule`] here. What a judgement used is
//! recorded in the context, [`judge::Cx`], that every judgement takes; it also holds the edition and the reading, that is,
//! which errata of the text are corrected, and collects a derivation tree if asked.
//!
//! # The rooms
//!
//! The modules follow the chapters of the specification book under `spec/`. `ARCHITECTURE.md` tells what each of them
//! knows, and what it may never import.
//!
//! | chapter | module |
//! | --- | --- |
//! | Grammar | [`grammar`], [`syntax`] |
//! | Variable Scoping | [`scope`] |
//! | Purity and Dataflow Blocks | [`purity`] |
//! | Normal Form | [`normal_form`] |
//! | Well-Formedness Criteria | [`well_formed`] |
//! | Types | [`types`] |
//! | Type Checking | [`type_checking`] |
//! | Structural Information | [`struct_info`] |
//! | Derivation | [`derivation`] |
//! | Shape Dimensions, Proving Shapes Equivalent | [`shape`] |
//! | Values | [`value`] |
//! | Evaluating Expressions | [`eval`], [`tir`] |
//! | Relax runtime | [`vm`] |
//! | Optimizations | [`mod@refine`] |
//! | Notable Operators | [`ops`] |
//! | Relay | [`relay`] |
//!
//! Below them stand the text as data ([`book`]), the numbers of the machine ([`number`]), and what every judgement takes ([`mod@judge`]) and reports
//! ([`findings`]). Above them are the whole check of a program ([`mod@check`]), the questions that can be asked
//! ([`question`]), the [`oracle`] that answers them, and the golden [`suite`]. What asks an implementation is the crate
//! `relax-spec-ask`.

// What must be unsafe lives in a crate of its own, and not here.
#![forbid(unsafe_code)]
// No panic on any input: what cannot be is a value of an error type.
#![cfg_attr(not(test), warn(clippy::expect_used, clippy::panic, clippy::unwrap_used))]

// Under test the generator of programs is compiled into the library, which it names by its public name.
#[cfg(test)]
extern crate self as relax_spec;

#[macro_use]
pub mod book;

pub mod arguments;
#[cfg(test)]
#[allow(dead_code, unused_imports)]
#[path = "../crates/campaign/src/calls.rs"]
mod calls;
pub mod check;
pub mod data;
pub mod derivation;
pub mod eval;
mod facade;
pub mod findings;
#[cfg(test)]
#[allow(dead_code, unused_imports)]
#[path = "../crates/campaign/src/generate/mod.rs"]
mod generate;
pub mod grammar;
pub mod judge;
pub mod normal_form;
pub mod number;
pub mod ops;
pub mod oracle;
#[cfg(test)]
#[allow(dead_code, unused_imports)]
#[path = "../crates/campaign/src/programs/mod.rs"]
mod programs;
pub mod purity;
pub mod question;
#[cfg(test)]
#[allow(dead_code, unused_imports)]
#[path = "../crates/campaign/src/questions.rs"]
mod questions;
pub mod reading;
pub mod refine;
pub mod relay;
pub mod scope;
pub mod shape;
pub mod struct_info;
pub mod suite;
pub mod syntax;
#[cfg(test)]
mod testing;
pub mod tir;
pub mod type_checking;
pub mod types;
pub mod value;
pub mod vm;
pub mod well_formed;

pub use book::{Edition, Erratum, Reading, Rule};
pub use facade::{check, derive, judge, normalize, parse, refine, run, run_together};
pub use grammar::IrModule;
pub use question::{Answer, Ask, RunAnswer};
pub use value::ValueSpec;
