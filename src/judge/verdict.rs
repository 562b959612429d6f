//! What a judgement can answer. All of these are closed: a match on them is exhaustive.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::book::Rule;

/// The answer of `check_compatibility`. From best to worst.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug, Serialize, Deserialize)]
pub enum Compatibility {
    /// Every value of the first may be used where the second is expected.
    Compatible,
    /// Some may; the run decides.
    Possibly,
    /// None may.
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
    /// The answer of the prover that was chosen.
    pub answer: T,
    /// From the floor (alpha-equality) to the ceiling (the truth), without repetition.
    pub permitted: Vec<T>,
}

/// How an evaluation ends.
#[derive(Clone, PartialEq, Debug)]
pub enum Ending<V> {
    /// The result.
    Value(V),
    /// An error that the text prescribes.
    Error(RuntimeError),
    /// A limit was reached: the steps, or the depth of calls.
    OutOfFuel,
    /// The text says nothing of this case.
    Unspecified(String),
    /// What happens may well be defined, but nothing here knows it; what it is.
    Unknown(String),
}

/// An error that the semantics prescribes.
#[derive(Clone, PartialEq, Debug, thiserror::Error)]
#[error("{message} [{rule}]")]
pub struct RuntimeError {
    /// The rule that makes it an error.
    pub rule: Rule,
    /// For people.
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
