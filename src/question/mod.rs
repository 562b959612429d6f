//! The language between a suite and its implementations: questions, answers, and the outcomes of asking.

mod answer;
mod ask;
mod form;
mod instead;
mod outcome;
mod part;

pub use answer::{Answer, AnswerKind, Derived, DimAnswer, MatchAnswer, ReadAnswer, RunAnswer, TrialAnswer, Verdict};
pub use ask::{About, Ask, ProgramInput, snake_case};
pub use outcome::{Outcome, OutcomeClass, PARSE};
