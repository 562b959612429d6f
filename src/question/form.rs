//! The data form of questions and answers. A question on the wire is its name with the list of its parts. An answer has
//! no kind, because it follows from the question.

use super::{
    Answer, AnswerKind, Derived, DimAnswer, MatchAnswer, ProgramInput, ReadAnswer, RunAnswer, TrialAnswer, Verdict,
};
use crate::book::Edition;
use crate::data::record::choice;
use crate::data::{DataError, DataReader, DataResult, FromData, Node, NodeData, Write};
use crate::grammar::IrModule;
use crate::judge::Cx;
use crate::syntax::tvmscript::parse_module;
use crate::value::Effect;

choice! { ProgramInput, "a program, Script(..) or Module(..)" { Script(text), Module(module) } }
choice! { ReadAnswer, "Module(..) or Rejected([..])" { Module(module), Rejected(rules) } }
choice! { DimAnswer, "Is(..) or Fails(..)" { Is(value), Fails(rule) } }
choice! { MatchAnswer, "Matches(..) or Fails(..)" { Matches(sigma), Fails(rule) } }
choice! {
    TrialAnswer, "Returns(..), Fails(..) or Open(..)" {
        Returns(value, arguments, effects), Fails(message, effects), Open(reason)
    }
}
choice! { Verdict, "Accepted or Rejected([..])" { Accepted, Rejected(rules) } }
choice! { Derived, "Is(..) or Rejected(..)" { Is(info), Rejected(rule) } }

/// The effects may be left out if there are none.
impl FromData for RunAnswer {
    fn read(r: &mut DataReader<'_>, node: &Node<'_>) -> DataResult<RunAnswer> {
        let what = "Returns(..), Fails(..), OutOfFuel or Unspecified";
        match node.as_variant() {
            Some(("Returns", Some(content))) => {
                let (value, effects) = with_effects(r, content)?;
                Ok(RunAnswer::Returns(value, effects))
            }
            Some(("Fails", Some(content))) => {
                let (rule, effects) = with_effects(r, content)?;
                Ok(RunAnswer::Fails(rule, effects))
            }
            Some(("OutOfFuel", None)) => Ok(RunAnswer::OutOfFuel),
            Some(("Unspecified", None)) => Ok(RunAnswer::Unspecified),
            Some(_) | None => r.unexpected(node, what),
        }
    }
}

fn with_effects<T: FromData, E: FromData>(r: &mut DataReader<'_>, content: &Node<'_>) -> DataResult<(T, Vec<E>)> {
    match content.as_items() {
        Some([end, effects]) => Ok((r.read(end)?, r.read(effects)?)),
        Some([end]) => Ok((r.read(end)?, Vec::new())),
        Some(_) => r.unexpected(content, "the end of a run and its effects"),
        None => Ok((r.read(content)?, Vec::new())),
    }
}

impl Write for RunAnswer {
    fn write(&self) -> Node<'_> {
        match self {
            RunAnswer::Returns(value, effects) => ended("Returns", value.write(), effects),
            RunAnswer::Fails(rule, effects) => ended("Fails", rule.write(), effects),
            RunAnswer::OutOfFuel => NodeData::Variant("OutOfFuel".into(), None).into(),
            RunAnswer::Unspecified => NodeData::Variant("Unspecified".into(), None).into(),
        }
    }
}

fn ended<'n>(name: &'static str, end: Node<'n>, effects: &'n [Effect]) -> Node<'n> {
    Node::variant(name, NodeData::Tuple(vec![end, effects.write()]).into())
}

impl AnswerKind {
    /// Reads an answer of this kind.
    pub fn read(self, r: &mut DataReader<'_>, node: &Node<'_>) -> DataResult<Answer> {
        Ok(match self {
            AnswerKind::Bool => Answer::Bool(r.read(node)?),
            // A type may have the syntax of any edition.
            AnswerKind::Type => {
                Answer::Type(DataReader::new(&mut Cx::new().with_edition(Edition::E2024_04)).read(node)?)
            }
            AnswerKind::OptionType => Answer::OptionType(r.read(node)?),
            AnswerKind::StructInfo => Answer::StructInfo(r.read(node)?),
            AnswerKind::Mapping => Answer::Mapping(r.read(node)?),
            AnswerKind::Compatibility => Answer::Compatibility(r.read(node)?),
            AnswerKind::Proof => Answer::Proof(r.read(node)?),
            AnswerKind::Dim => Answer::Dim(r.read(node)?),
            AnswerKind::Match => Answer::Match(r.read(node)?),
            AnswerKind::Program => Answer::Program(r.read(node)?),
            AnswerKind::Read => Answer::Read(match node.as_variant() {
                Some(("Rejected", Some(_))) => r.read(node)?,
                Some(_) | None => ReadAnswer::Module(r.read(node)?),
            }),
            AnswerKind::Verdict => Answer::Verdict(r.read(node)?),
            AnswerKind::Derived => Answer::Derived(r.read(node)?),
            AnswerKind::Run => Answer::Run(r.read(node)?),
            AnswerKind::Text => Answer::Text(r.read(node)?),
            AnswerKind::Trials => Answer::Trials(r.read(node)?),
        })
    }

    /// Reads an answer as test cases write it: a program may be given as TVMScript.
    pub fn read_expected(self, r: &mut DataReader<'_>, node: &Node<'_>) -> DataResult<Answer> {
        if matches!(self, AnswerKind::Program) {
            expected_program(r, node).map(Answer::Program)
        } else if matches!(self, AnswerKind::Read) {
            Ok(Answer::Read(match node.as_variant() {
                Some(("Rejected", Some(_))) => r.read(node)?,
                Some(_) | None => ReadAnswer::Module(expected_program(r, node)?),
            }))
        } else {
            self.read(r, node)
        }
    }
}

fn expected_program(r: &mut DataReader<'_>, node: &Node<'_>) -> DataResult<IrModule> {
    match r.read(node)? {
        ProgramInput::Module(module) => Ok(module),
        ProgramInput::Script(text) => parse_module(&text).map_err(|error| DataError::at(node.span, error.to_string())),
    }
}

impl Write for Answer {
    fn write(&self) -> Node<'_> {
        match self {
            Answer::Bool(x) => x.write(),
            Answer::Type(x) => x.write(),
            Answer::OptionType(x) => x.write(),
            Answer::StructInfo(x) => x.write(),
            Answer::Mapping(x) => x.write(),
            Answer::Compatibility(x) => x.write(),
            Answer::Proof(x) => x.write(),
            Answer::Dim(x) => x.write(),
            Answer::Match(x) => x.write(),
            Answer::Program(x) | Answer::Read(ReadAnswer::Module(x)) => x.write(),
            Answer::Read(x @ ReadAnswer::Rejected(_)) => x.write(),
            Answer::Verdict(x) => x.write(),
            Answer::Derived(x) => x.write(),
            Answer::Run(x) => x.write(),
            Answer::Text(x) => x.write(),
            Answer::Trials(x) => x.write(),
        }
    }
}
