//! What a question to an implementation can come to.

use std::fmt;

use serde::Serialize;

use super::Answer;
use crate::book::Rule;
use crate::value::Effect;

/// The outcome of one question. The last four are found by the runner.
#[derive(Clone, PartialEq, Debug)]
pub enum Outcome {
    Answer {
        answer: Answer,
        warnings: Option<Vec<Rule>>,
    },
    Rejected {
        stage: String,
        class: String,
        message: String,
    },
    Trapped {
        class: String,
        message: String,
        effects: Vec<Effect>,
    },
    Unsupported {
        what: String,
    },
    InternalError {
        message: String,
    },
    /// The process ended.
    Crash {
        /// How: the signal or the exit status, in words.
        cause: String,
        stage: Option<String>,
        /// The last lines of standard error, for people.
        stderr: String,
    },
    Timeout {
        stage: Option<String>,
    },
    ProtocolError {
        message: String,
    },
    /// Asked twice, ended differently.
    Flaky {
        first: Box<Outcome>,
        second: Box<Outcome>,
    },
}

/// The class of an outcome.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum OutcomeClass {
    Answer,
    Rejected,
    Trapped,
    Unsupported,
    InternalError,
    Crash,
    Timeout,
    ProtocolError,
    Flaky,
}

impl Outcome {
    pub fn class(&self) -> OutcomeClass {
        match self {
            Outcome::Answer { .. } => OutcomeClass::Answer,
            Outcome::Rejected { .. } => OutcomeClass::Rejected,
            Outcome::Trapped { .. } => OutcomeClass::Trapped,
            Outcome::Unsupported { .. } => OutcomeClass::Unsupported,
            Outcome::InternalError { .. } => OutcomeClass::InternalError,
            Outcome::Crash { .. } => OutcomeClass::Crash,
            Outcome::Timeout { .. } => OutcomeClass::Timeout,
            Outcome::ProtocolError { .. } => OutcomeClass::ProtocolError,
            Outcome::Flaky { .. } => OutcomeClass::Flaky,
        }
    }
}

impl fmt::Display for OutcomeClass {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            OutcomeClass::Answer => "answer",
            OutcomeClass::Rejected => "rejected",
            OutcomeClass::Trapped => "trapped",
            OutcomeClass::Unsupported => "unsupported",
            OutcomeClass::InternalError => "internal_error",
            OutcomeClass::Crash => "crash",
            OutcomeClass::Timeout => "timeout",
            OutcomeClass::ProtocolError => "protocol_error",
            OutcomeClass::Flaky => "flaky",
        })
    }
}

/// ` during STAGE`, where a stage is known.
fn during(stage: &Option<String>) -> String {
    stage.as_ref().map(|stage| format!(" during {stage}")).unwrap_or_default()
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Outcome::Answer { answer, warnings: _ } => write!(f, "{answer}"),
            Outcome::Rejected { stage, class, message } => write!(f, "rejected at {stage} ({class}): {message}"),
            Outcome::Trapped { class, message, effects } => {
                write!(f, "trapped ({class}): {message}; {} effects before", effects.len())
            }
            Outcome::Unsupported { what } => write!(f, "unsupported: {what}"),
            Outcome::InternalError { message } => write!(f, "internal error: {message}"),
            Outcome::Crash { cause, stage, stderr: _ } => write!(f, "crashed{}: {cause}", during(stage)),
            Outcome::Timeout { stage } => write!(f, "no answer in time{}", during(stage)),
            Outcome::ProtocolError { message } => write!(f, "broke the protocol: {message}"),
            Outcome::Flaky { first, second } => write!(f, "first: {first}; then: {second}"),
        }
    }
}
