//! Executable reference semantics, test oracle and conformance suite for the Relax IR.
//!
//! The main questions about a program have one function each:
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
//! Each rule of the specification has an id, such as `SUB.TENSOR.RANK`, and is a [`Rule`] here. Every judgement takes a
//! context, [`judge::Cx`], and records there the rules that it used. The context also holds the edition and the
//! reading, which says which errata of the text are corrected. It collects a derivation tree on request.
//!
//! # The rooms
//!
//! The modules follow the chapters of the specification book under `spec/`. `ARCHITECTURE.md` describes the knowledge
//! of each module and the imports that are forbidden.
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
//! The modules below them hold the text as data ([`book`]), machine numbers ([`number`]), the context of every
//! judgement ([`mod@judge`]) and its reports ([`findings`]). Above them are the whole check of a program
//! ([`mod@check`]), the questions ([`question`]), the [`oracle`] that answers them, and the golden [`suite`]. The crate
//! `relax-spec-ask` puts questions to implementations.

// Unsafe code lives in a crate of its own.
#![forbid(unsafe_code)]
// No input causes a panic: every failure is a value of an error type.
#![cfg_attr(not(test), warn(clippy::expect_used, clippy::panic, clippy::unwrap_used))]

// The tests compile the generator of programs into the library. The generator imports the library by its public name.
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
