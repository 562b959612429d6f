//! The possible answers of judgements. All of these types are closed, so a match on them is exhaustive.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::book::Rule;

/// The answer of `check_compatibility`, from best to worst.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug, Serialize, Deserialize)]
pub enum Compatibility {
    /// Every value of the first may be used where the second is expected.
    Compatible,
    /// Some values may be used; this is decided at run time.
    Possibly,
    /// No value may be used.
    Incompatible,
}

/// The answer of a best-effort proof.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug, Serialize, Deserialize)]
pub enum Proof {
    /// Equal under every admissible assignment.
    Equal,
    /// Different under every admissible assignment (A36).
    Different,
    /// The prover reaches no conclusion.
    Unknown,
}

/// A best-effort answer together with every answer that the text permits.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct BestEffort<T> {
    /// The answer of the selected prover.
    pub answer: T,
    /// From the minimum (alpha-equality) to the maximum (the truth), without repetition.
    pub permitted: Vec<T>,
}

/// The outcome of an evaluation.
#[derive(Clone, PartialEq, Debug)]
pub enum Ending<V> {
    /// The result.
    Value(V),
    /// An error that the text prescribes.
    Error(RuntimeError),
    /// A limit was reached: the number of steps or the depth of calls.
    OutOfFuel,
    /// The text does not specify this case.
    Unspecified(String),
    /// The result may well be defined, but the oracle does not know it; the text says what is unknown.
    Unknown(String),
}

/// An error that the semantics prescribes.
#[derive(Clone, PartialEq, Debug, thiserror::Error)]
#[error("{message} [{rule}]")]
pub struct RuntimeError {
    /// The rule that makes it an error.
    pub rule: Rule,
    /// The message for the user.
    pub message: String,
    /// The negative size of a shape or of a result, if that is the error.
    pub negative: Option<i64>,
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
