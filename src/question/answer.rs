//! Answers to questions.

use std::collections::BTreeMap;
use std::fmt;

use super::part::{Functions, Map};
use crate::book::{Basis, Rule};
use crate::grammar::{IrModule, PrimExpr, ShapeVar, StructInfo, Type};
use crate::judge::{Compatibility, Proof, RuntimeError};
use crate::value::{Effect, List, ValueSpec};

/// An answer. [`AnswerKind`] gives the variant that belongs to each question.
#[derive(Clone, PartialEq, Debug)]
pub enum Answer {
    /// Yes or no.
    Bool(bool),
    /// A type.
    Type(Type),
    /// A type, or none (`find_glb`).
    OptionType(Option<Type>),
    /// Structural information.
    StructInfo(StructInfo),
    /// The expressions that shape variables stand for (`get_shape_var_mapping`).
    Mapping(BTreeMap<ShapeVar, PrimExpr>),
    /// The answer of `check_compatibility`.
    Compatibility(Compatibility),
    /// The answer of a prover.
    Proof(Proof),
    /// The value of a dimension.
    Dim(DimAnswer),
    /// The outcome of matching a value.
    Match(MatchAnswer),
    /// A program, compared up to names.
    Program(IrModule),
    /// The outcome of reading a text.
    Read(ReadAnswer),
    /// Accepted or rejected.
    Verdict(Verdict),
    /// The outcome of deriving a call.
    Derived(Derived),
    /// How a run ends.
    Run(RunAnswer),
    /// Text, compared line by line without white space around the lines.
    Text(String),
    /// The outcomes of runs of a program on several inputs.
    Trials(Vec<TrialAnswer>),
}

impl Answer {
    /// The same answer, with each rule under the id of that edition.
    pub fn stated_in(&self, basis: Basis) -> Answer {
        let one = |rule: Rule| rule.in_edition(basis).unwrap_or(rule);
        let sorted = |rules: &[Rule]| {
            let mut rules: Vec<Rule> = rules.iter().copied().map(one).collect();
            rules.sort_unstable();
            rules.dedup();
            rules
        };
        let mut stated = self.clone();
        if let Answer::Dim(DimAnswer::Fails(rule))
        | Answer::Match(MatchAnswer::Fails(rule))
        | Answer::Derived(Derived::Rejected(rule))
        | Answer::Run(RunAnswer::Fails(rule, _)) = &mut stated
        {
            *rule = one(*rule);
        } else if let Answer::Read(ReadAnswer::Rejected(rules)) | Answer::Verdict(Verdict::Rejected(rules)) =
            &mut stated
        {
            *rules = sorted(rules);
        }
        stated
    }
}

/// The program that was read, or the rules of the grammar that it breaks. The list is empty if the grammar names no
/// rule.
#[derive(Clone, PartialEq, Debug)]
pub enum ReadAnswer {
    /// The program.
    Module(IrModule),
    /// The productions that it breaks.
    Rejected(Vec<Rule>),
}

/// The value of a dimension, or the rule that makes it an error.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum DimAnswer {
    /// The value, as `int64`.
    Is(i64),
    /// The rule that makes it an error.
    Fails(Rule),
}

/// The outcome of matching a value: the shape variables bound, or the rule that failed.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum MatchAnswer {
    /// The shape variables with their sizes.
    Matches(BTreeMap<ShapeVar, i64>),
    /// The rule that is not met.
    Fails(Rule),
}

/// The outcome of a static check.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Verdict {
    /// No error. Warnings do not count.
    Accepted,
    /// The broken rules, sorted, each once. For an implementation only the rejection is compared.
    Rejected(Vec<Rule>),
}

/// The outcome of deriving a call.
#[derive(Clone, PartialEq, Debug)]
pub enum Derived {
    /// The structural information of the result.
    Is(StructInfo),
    /// The rule that makes the call an error.
    Rejected(Rule),
}

/// The outcome of a run, with the effects up to its end.
#[derive(Clone, PartialEq, Debug)]
pub enum RunAnswer {
    /// The value that it returns, and the effects in their order.
    Returns(ValueSpec, Vec<Effect>),
    /// The rule that failed, and the effects before. For an implementation only the failure and the effects are
    /// compared.
    Fails(Rule, Vec<Effect>),
    /// A limit was reached, so there is no answer about the program.
    OutOfFuel,
    /// The text says nothing of this run.
    Unspecified,
}

/// The outcome of one run of several.
#[derive(Clone, PartialEq, Debug)]
pub enum TrialAnswer {
    /// The returned value, the contents of the arguments at the end, and the effects in order.
    Returns(ValueSpec, Vec<ValueSpec>, Vec<Effect>),
    /// The message of the failure, and the effects before it.
    Fails(String, Vec<Effect>),
    /// The semantics leaves the run open, for this reason.
    Open(String),
}

/// The type of the answers to a question.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum AnswerKind {
    /// [`Answer::Bool`].
    Bool,
    /// [`Answer::Type`].
    Type,
    /// [`Answer::OptionType`].
    OptionType,
    /// [`Answer::StructInfo`].
    StructInfo,
    /// [`Answer::Mapping`].
    Mapping,
    /// [`Answer::Compatibility`].
    Compatibility,
    /// [`Answer::Proof`].
    Proof,
    /// [`Answer::Dim`].
    Dim,
    /// [`Answer::Match`].
    Match,
    /// [`Answer::Program`].
    Program,
    /// [`Answer::Read`].
    Read,
    /// [`Answer::Verdict`].
    Verdict,
    /// [`Answer::Derived`].
    Derived,
    /// [`Answer::Run`].
    Run,
    /// [`Answer::Text`].
    Text,
    /// [`Answer::Trials`].
    Trials,
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
            Answer::Text(x) => f.write_str(x.trim()),
            Answer::Trials(x) => write!(f, "[{}]", List(x)),
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

impl fmt::Display for TrialAnswer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            TrialAnswer::Returns(value, arguments, effects) => {
                write!(f, "returns {value}, arguments [{}], effects [{}]", List(arguments), List(effects))
            }
            TrialAnswer::Fails(message, effects) => write!(f, "fails: {message}, effects [{}]", List(effects)),
            TrialAnswer::Open(reason) => write!(f, "open: {reason}"),
        }
    }
}
