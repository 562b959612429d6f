//! The outcomes of a question to an implementation.

use std::fmt;

use serde::Serialize;

use super::Answer;
use crate::book::Rule;
use crate::value::Effect;

/// The stage at which a program cannot be read.
pub const PARSE: &str = "parse";

/// The outcome of one question. The last four are found by the runner.
#[derive(Clone, PartialEq, Debug)]
pub enum Outcome {
    /// It was answered.
    Answer {
        /// The answer.
        answer: Answer,
        /// The rules that it warns of; `None` from an implementation that does not report them.
        warnings: Option<Vec<Rule>>,
    },
    /// The program or the term was refused before it ran.
    Rejected {
        /// The stage it reached, in the implementation's own words.
        stage: String,
        /// The kind of error, in its own words.
        class: String,
        /// For people.
        message: String,
    },
    /// The run ended with an error.
    Trapped {
        /// The kind of error, in its own words.
        class: String,
        /// For people.
        message: String,
        /// The effects seen before the error.
        effects: Vec<Effect>,
    },
    /// The implementation lacks the feature that the question needs.
    Unsupported {
        /// The missing feature.
        what: String,
    },
    /// The implementation reports a defect of its own.
    InternalError {
        /// For people.
        message: String,
    },
    /// The process ended.
    Crash {
        /// The signal or the exit status, in words.
        cause: String,
        /// The last stage that it reported.
        stage: Option<String>,
        /// The last lines of standard error, for people.
        stderr: String,
    },
    /// No answer came in time.
    Timeout {
        /// The last stage that it reported.
        stage: Option<String>,
    },
    /// The line that it wrote is not a valid reply.
    ProtocolError {
        /// The defect of the line.
        message: String,
    },
    /// The same question, asked twice, had two outcomes.
    Flaky {
        /// The outcome of the first attempt.
        first: Box<Outcome>,
        /// The outcome of the second attempt.
        second: Box<Outcome>,
    },
}

/// The class of an outcome.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum OutcomeClass {
    /// [`Outcome::Answer`].
    Answer,
    /// [`Outcome::Rejected`].
    Rejected,
    /// [`Outcome::Trapped`].
    Trapped,
    /// [`Outcome::Unsupported`].
    Unsupported,
    /// [`Outcome::InternalError`].
    InternalError,
    /// [`Outcome::Crash`].
    Crash,
    /// [`Outcome::Timeout`].
    Timeout,
    /// [`Outcome::ProtocolError`].
    ProtocolError,
    /// [`Outcome::Flaky`].
    Flaky,
}

impl Outcome {
    /// Whether the program or the term could not even be read, so that nothing was judged.
    pub fn is_unread(&self) -> bool {
        matches!(self, Outcome::Rejected { stage, .. } if stage == PARSE)
    }

    /// The class, without the details.
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
