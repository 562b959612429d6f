//! The reasons why evaluation stops.

use crate::book::Rule;
use crate::grammar::in_words;
use crate::judge::RuntimeError;

/// The reason why evaluation stops.
#[derive(Clone, PartialEq, Debug)]
pub enum Stop {
    /// The semantics prescribes an error.
    Error(RuntimeError),
    /// A limit was reached: the steps, the depth of calls, or the memory.
    OutOfFuel,
    /// The text does not specify this case.
    Unspecified(String),
    /// The result may well be defined, but the oracle does not know it; the text says what is unknown.
    Unknown(String),
}

impl Stop {
    /// An error that the text prescribes, under the rule that makes it one.
    pub fn error(rule: Rule, message: impl Into<String>) -> Stop {
        Stop::Error(RuntimeError { rule, message: in_words(message), negative: None })
    }

    /// An error for a negative size.
    pub fn of_size(rule: Rule, size: i64, message: impl Into<String>) -> Stop {
        Stop::Error(RuntimeError { rule, message: in_words(message), negative: Some(size) })
    }

    /// A stop at a case that the text does not specify, with the reason.
    pub fn unspecified(reason: impl Into<String>) -> Stop {
        Stop::Unspecified(reason.into())
    }

    /// A stop because the oracle lacks knowledge, with a description.
    pub fn unknown(what: impl Into<String>) -> Stop {
        Stop::Unknown(what.into())
    }
}
