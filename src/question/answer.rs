//! Answers to questions.

use std::collections::BTreeMap;
use std::fmt;

use ron::value::RawValue;
use serde::{Deserialize, Serialize};

use super::Program;
use super::part::{Functions, List, Map};
use crate::book::{Rule, ron_options};
use crate::grammar::{IrModule, PrimExpr, ShapeVar, StructInfo, Type};
use crate::judge::{Compatibility, Proof, RuntimeError};
use crate::value::{Effect, ValueSpec};

/// An answer. [`AnswerKind`] says which variant belongs to which question.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub enum Answer {
    Bool(bool),
    Type(Type),
    OptionType(Option<Type>),
    StructInfo(StructInfo),
    Mapping(BTreeMap<ShapeVar, PrimExpr>),
    Compatibility(Compatibility),
    Proof(Proof),
    Dim(DimAnswer),
    Match(MatchAnswer),
    Program(IrModule),
    Read(ReadAnswer),
    Verdict(Verdict),
    Derived(Derived),
    Run(RunAnswer),
}

/// The program that was read, or the rules of the grammar that it breaks; none where the grammar names none.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub enum ReadAnswer {
    Module(IrModule),
    Rejected(Vec<Rule>),
}

/// The value of a dimension, or the rule that makes it an error.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum DimAnswer {
    Is(i64),
    Fails(Rule),
}

/// The outcome of matching a value: the shape variables bound, or the rule that failed.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum MatchAnswer {
    Matches(BTreeMap<ShapeVar, i64>),
    Fails(Rule),
}

/// The outcome of a static check.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum Verdict {
    Accepted,
    /// The rules broken, sorted, each once. Of an implementation only the rejection itself is compared.
    Rejected(Vec<Rule>),
}

/// The outcome of deriving a call.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub enum Derived {
    Is(StructInfo),
    Rejected(Rule),
}

/// The outcome of a run, with the effects up to its end.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub enum RunAnswer {
    Returns(ValueSpec, #[serde(default)] Vec<Effect>),
    /// Of an implementation only the failure and the effects are compared.
    Fails(Rule, #[serde(default)] Vec<Effect>),
    OutOfFuel,
    Unspecified,
}

/// The type of the answers to a question.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum AnswerKind {
    Bool,
    Type,
    OptionType,
    StructInfo,
    Mapping,
    Compatibility,
    Proof,
    Dim,
    Match,
    Program,
    Read,
    Verdict,
    Derived,
    Run,
}

impl AnswerKind {
    /// Reads an answer of this kind, written bare.
    pub(crate) fn read(self, raw: &RawValue) -> Result<Answer, ron::error::SpannedError> {
        let raw = Bare(raw);
        Ok(match self {
            AnswerKind::Bool => Answer::Bool(raw.read()?),
            AnswerKind::Type => Answer::Type(raw.read()?),
            AnswerKind::OptionType => Answer::OptionType(raw.read()?),
            AnswerKind::StructInfo => Answer::StructInfo(raw.read()?),
            AnswerKind::Mapping => Answer::Mapping(raw.read()?),
            AnswerKind::Compatibility => Answer::Compatibility(raw.read()?),
            AnswerKind::Proof => Answer::Proof(raw.read()?),
            AnswerKind::Dim => Answer::Dim(raw.read()?),
            AnswerKind::Match => Answer::Match(raw.read()?),
            AnswerKind::Program => Answer::Program(read_program(raw.0)?),
            AnswerKind::Read => Answer::Read(read_answer(raw.0)?),
            AnswerKind::Verdict => Answer::Verdict(raw.read()?),
            AnswerKind::Derived => Answer::Derived(raw.read()?),
            AnswerKind::Run => Answer::Run(raw.read()?),
        })
    }
}

/// A part of a suite file that is read once its type is known.
struct Bare<'a>(&'a RawValue);

impl<'a> Bare<'a> {
    fn read<T: Deserialize<'a>>(&self) -> Result<T, ron::error::SpannedError> {
        ron_options().from_str(self.0.get_ron())
    }
}

/// An expected program may be written as TVMScript.
fn read_program(raw: &RawValue) -> Result<IrModule, ron::error::SpannedError> {
    match Bare(raw).read()? {
        Program::Module(module) => Ok(module),
        Program::Script(text) => read_script(&text),
    }
}

/// What reading is expected to give: a program in one of its forms, or a rejection.
#[derive(Deserialize)]
enum ExpectedRead {
    Script(String),
    Module(IrModule),
    Rejected(Vec<Rule>),
}

fn read_answer(raw: &RawValue) -> Result<ReadAnswer, ron::error::SpannedError> {
    match Bare(raw).read()? {
        ExpectedRead::Script(text) => read_script(&text).map(ReadAnswer::Module),
        ExpectedRead::Module(module) => Ok(ReadAnswer::Module(module)),
        ExpectedRead::Rejected(rules) => Ok(ReadAnswer::Rejected(rules)),
    }
}

fn read_script(text: &str) -> Result<IrModule, ron::error::SpannedError> {
    let at = || ron::error::Position { line: 1, col: 1 };
    crate::syntax::tvmscript::parse_module(text).map_err(|error| ron::error::SpannedError {
        code: ron::Error::Message(error.to_string()),
        span: ron::error::Span { start: at(), end: at() },
    })
}

impl From<Result<i64, RuntimeError>> for DimAnswer {
    fn from(value: Result<i64, RuntimeError>) -> DimAnswer {
        match value {
            Ok(size) => DimAnswer::Is(size),
            Err(error) => DimAnswer::Fails(error.rule),
        }
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Verdict::Accepted => f.write_str("accepted"),
            Verdict::Rejected(rules) => {
                let ids: Vec<&str> = rules.iter().map(|rule| rule.id()).collect();
                write!(f, "rejected by {}", ids.join(", "))
            }
        }
    }
}

impl fmt::Display for Answer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Answer::Bool(x) => write!(f, "{x}"),
            Answer::Type(x) => write!(f, "{x}"),
            Answer::OptionType(Some(x)) => write!(f, "{x}"),
            Answer::OptionType(None) => f.write_str("none"),
            Answer::StructInfo(x) => write!(f, "{x}"),
            Answer::Mapping(x) => write!(f, "{}", Map(x)),
            Answer::Compatibility(x) => write!(f, "{x}"),
            Answer::Proof(x) => write!(f, "{x}"),
            Answer::Dim(x) => write!(f, "{x}"),
            Answer::Match(x) => write!(f, "{x}"),
            Answer::Program(x) => write!(f, "{}", Functions(x)),
            Answer::Read(ReadAnswer::Module(x)) => write!(f, "{}", Functions(x)),
            Answer::Read(ReadAnswer::Rejected(rules)) => {
                let ids: Vec<&str> = rules.iter().map(|rule| rule.id()).collect();
                write!(f, "rejected by {}", if ids.is_empty() { "the grammar".to_string() } else { ids.join(", ") })
            }
            Answer::Verdict(x) => write!(f, "{x}"),
            Answer::Derived(Derived::Is(x)) => write!(f, "{x}"),
            Answer::Derived(Derived::Rejected(rule)) => write!(f, "rejected by {rule}"),
            Answer::Run(x) => write!(f, "{x}"),
        }
    }
}

impl fmt::Display for DimAnswer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            DimAnswer::Is(value) => write!(f, "{value}"),
            DimAnswer::Fails(rule) => write!(f, "fails by {rule}"),
        }
    }
}

impl fmt::Display for MatchAnswer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            MatchAnswer::Matches(sigma) => write!(f, "matches {}", Map(sigma)),
            MatchAnswer::Fails(rule) => write!(f, "fails by {rule}"),
        }
    }
}

impl fmt::Display for RunAnswer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            RunAnswer::Returns(value, effects) => write!(f, "returns {value}, effects [{}]", List(effects)),
            RunAnswer::Fails(rule, effects) => write!(f, "fails by {rule}, effects [{}]", List(effects)),
            RunAnswer::OutOfFuel => f.write_str("runs out of fuel"),
            RunAnswer::Unspecified => f.write_str("unspecified"),
        }
    }
}
