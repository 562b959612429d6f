//! What a judgement can answer. All of these are closed: a match on them is exhaustive.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::book::Rule;

/// The answer of `check_compatibility`. From best to worst.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug, Serialize, Deserialize)]
pub enum Compatibility {
    Compatible,
    Possibly,
    Incompatible,
}

/// The answer of a best-effort proof.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug, Serialize, Deserialize)]
pub enum Proof {
    /// Equal under every admissible assignment.
    Equal,
    /// Different under every admissible assignment (A36).
    Different,
    /// The prover draws no conclusion.
    Unknown,
}

/// A best-effort answer together with every answer that the text permits.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct BestEffort<T> {
    pub answer: T,
    /// From the floor (alpha-equality) to the ceiling (the truth), without repetition.
    pub permitted: Vec<T>,
}

/// How an evaluation ends.
#[derive(Clone, PartialEq, Debug)]
pub enum Outcome<V> {
    Value(V),
    Error(RuntimeError),
    OutOfFuel,
    /// The text says nothing of this case.
    Unspecified(String),
}

/// An error that the semantics prescribes.
#[derive(Clone, PartialEq, Debug, thiserror::Error)]
#[error("{message} [{rule}]")]
pub struct RuntimeError {
    pub rule: Rule,
    pub message: String,
}

impl fmt::Display for Compatibility {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Compatibility::Compatible => "compatible",
            Compatibility::Possibly => "possibly compatible",
            Compatibility::Incompatible => "incompatible",
        })
    }
}

impl fmt::Display for Proof {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Proof::Equal => "equal",
            Proof::Different => "different",
            Proof::Unknown => "unknown",
        })
    }
}
