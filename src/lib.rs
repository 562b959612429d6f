//! Executable reference semantics, test oracle and conformance suite for the Relax IR.
//!
//! Each module is a room, and imports only rooms on lower floors; `ARCHITECTURE.md` tells what each is for and what it may
//! never know. Those that judge follow a chapter of the specification book under `spec/`, in the order of the chapter:
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
//! | Optimizations | [`refine`] |
//! | Notable Operators | [`ops`] |
//!
//! Below them stand the text as data ([`book`]) and what every judgement takes ([`judge`]) and reports ([`findings`]). Above
//! them are the whole check of a program ([`check`]), the questions that can be asked ([`question`]), the [`oracle`] that
//! answers them, the golden [`suite`], and what asks an implementation ([`harness`]).

// No panic on any input: what cannot be is a value of an error type.
#![cfg_attr(not(test), warn(clippy::expect_used, clippy::panic, clippy::unwrap_used))]

#[macro_use]
pub mod book;

pub mod builder;
pub mod check;
#[cfg(feature = "cli")]
pub mod cli;
pub mod derivation;
pub mod eval;
pub mod findings;
pub mod generate;
pub mod grammar;
pub mod harness;
pub mod judge;
mod knockout;
pub mod normal_form;
pub mod ops;
pub mod oracle;
pub mod purity;
pub mod question;
pub mod refine;
#[cfg(feature = "cli")]
pub mod report;
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
pub mod well_formed;
