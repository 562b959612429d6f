//! Executable reference semantics, test oracle and conformance suite for the Relax IR.
//!
//! Each module follows a chapter of the specification book under `spec/`, in the order of the chapter.
//!
//! | chapter | module |
//! | --- | --- |
//! | Grammar | [`grammar`], [`syntax`] |
//! | Variable Scoping | [`scope`] |
//! | Purity and Dataflow Blocks | [`purity`] |
//! | Normal Form | [`normal_form`] |
//! | Well-Formedness Criteria | [`well_formed`] |
//! | Types, Type Checking | [`types`] |
//! | Structural Information, Derivation | [`struct_info`] |
//! | Shape Dimensions, Proving Shapes Equivalent | [`shape`] |
//! | Evaluating Expressions | [`eval`], [`tir`] |
//! | Notable Operators | [`ops`] |

#[macro_use]
pub mod rule;

pub mod check;
pub mod cli;
pub mod conformance;
pub mod cx;
pub mod diagnostic;
pub mod erratum;
pub mod eval;
pub mod generate;
pub mod grammar;
mod knockout;
pub mod normal_form;
pub mod ops;
pub mod purity;
pub mod scope;
pub mod shape;
pub mod struct_info;
pub mod syntax;
#[cfg(test)]
mod testing;
pub mod tir;
pub mod trail;
pub mod types;
pub mod verdict;
pub mod well_formed;
