//! Golden cases: a question, the set of answers that the text permits, and why.
//!
//! A suite file (`conformance/suite/<chapter>/*.ron`) is a list of cases. The type of `allow` follows from the
//! question, so answers are written bare: `allow: [Object]` after `Unify(..)`.

use std::collections::BTreeMap;
use std::fmt;

use ron::value::RawValue;
use serde::{Deserialize, Serialize};

use super::accuracy::Within;
use crate::book::{Erratum, Rule, ron_options};
use crate::grammar::{IrModule, Name, PrimExpr, ShapeVar, StructInfo, Type, Var};
use crate::judge::{Compatibility, Proof, RuntimeError};
use crate::syntax::decode::Profile;
use crate::value::{Effect, ValueSpec};

include!(concat!(env!("OUT_DIR"), "/suite.rs"));

/// A question to an implementation. The variant's name, in snake case, is the `op` of the protocol.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub enum Ask {
    /// Is the first type a subtype of the second? [`Answer::Bool`]
    Subtype(Type, Type),
    /// `find_glb`. [`Answer::OptionType`]
    Glb(Type, Type),
    /// `find_lub`. [`Answer::Type`]
    Lub(Type, Type),
    /// `erase_struct_info`. [`Answer::Type`]
    Erase(StructInfo),
    /// `wrap_type`. [`Answer::StructInfo`]
    Wrap(Type),
    /// `erase_to_well_defined` with the variables in scope. [`Answer::StructInfo`]
    EraseToWellDefined(StructInfo, Vec<Var>, Vec<ShapeVar>),
    /// `get_shape_var_mapping`. [`Answer::Mapping`]
    ShapeVarMapping(StructInfo, StructInfo),
    /// `check_compatibility`. [`Answer::Compatibility`]
    Compatibility(StructInfo, StructInfo),
    /// `S1 <<: S2`, the definite relation (A15). [`Answer::Bool`]
    MoreSpecific(StructInfo, StructInfo),
    /// `S1 <<: S2` with shapes that are only possibly equal. [`Answer::Bool`]
    PossiblyMoreSpecific(StructInfo, StructInfo),
    /// `unify_struct_info`. [`Answer::StructInfo`]
    Unify(StructInfo, StructInfo),
    /// Are two dimensions equal? [`Answer::Proof`]
    ProveEqual(PrimExpr, PrimExpr),
    /// The value of a dimension. [`Answer::Dim`]
    EvalDim(PrimExpr, BTreeMap<ShapeVar, i64>),
    /// Match a value against structural information, with shape variables already bound. [`Answer::Match`]
    MatchValue(ValueSpec, StructInfo, BTreeMap<ShapeVar, i64>),
    /// Read a program's text. [`Answer::Read`]
    Parse(String),
    /// Read a program from data, RON or JSON, by the productions of the grammar. [`Answer::Read`]
    Decode(String, Profile),
    /// Are the well-formedness criteria met? [`Answer::Verdict`]
    WellFormed(Program),
    /// Are the criteria of normal form met? [`Answer::Verdict`]
    NormalForm(Program),
    /// An equivalent program in normal form. [`Answer::Program`]
    Normalize(Program),
    /// The type checking rules. [`Answer::Verdict`]
    TypeCheck(Program),
    /// Well-formed, normalized, type-checked and derived without error? [`Answer::Verdict`]
    Check(Program),
    /// The structural information of a global function. [`Answer::StructInfo`]
    DeriveFunction(Program, Name),
    /// The entry that a local variable of a global function has in the context. [`Answer::StructInfo`]
    DeriveVar(Program, Name, Var),
    /// The structural information of a call: callee, arguments, `sinfo_args`. [`Answer::Derived`]
    DeriveCall(StructInfo, Vec<StructInfo>, Vec<StructInfo>),
    /// Run an entry point on arguments. [`Answer::Run`]
    Evaluate(Program, Name, Vec<ValueSpec>),
    /// Does the second program, as an optimization of the first, do only what is allowed on these inputs of the entry
    /// point? [`Answer::Verdict`]
    Refine(Program, Program, Name, Vec<Vec<ValueSpec>>),
}

/// A program, as text or as an AST.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub enum Program {
    /// TVMScript.
    Script(String),
    Module(IrModule),
}

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

/// A golden case.
#[derive(Clone, PartialEq, Debug)]
pub struct Case {
    /// `chapter/name`, unique in the suite.
    pub id: String,
    /// The rules that the case is about; see [`Ask::claims_exactly`].
    pub rules: Vec<Rule>,
    /// The editions in which the expectation holds.
    pub editions: Vec<String>,
    pub ask: Ask,
    /// Every permitted answer, in the corrected reading.
    pub allow: Vec<Answer>,
    /// The answer of the literal reading, where `erratum` makes it another one.
    pub literal: Option<Answer>,
    pub erratum: Option<Erratum>,
    /// The rules of the warnings that a static check must give; `None` where the case does not say.
    pub warnings: Option<Vec<Rule>>,
    /// Whether implementations are to be given the program's text, because the case is about the text.
    pub as_text: bool,
    /// How closely numbers must agree; bit for bit where the case does not say.
    pub within: Option<Within>,
    /// The derivation of the expectation from the text.
    pub why: String,
}

/// Why a suite file cannot be read.
#[derive(Clone, PartialEq, Debug, thiserror::Error)]
#[error("{file}: {message}")]
pub struct CaseError {
    pub file: String,
    pub message: String,
}

#[derive(Deserialize)]
#[serde(rename = "Case", deny_unknown_fields)]
struct RawCase {
    id: String,
    rules: Vec<Rule>,
    #[serde(default = "first_edition")]
    editions: Vec<String>,
    ask: Ask,
    allow: Vec<Box<RawValue>>,
    #[serde(default)]
    literal: Option<Box<RawValue>>,
    #[serde(default)]
    erratum: Option<Erratum>,
    #[serde(default)]
    warnings: Option<Vec<Rule>>,
    #[serde(default)]
    as_text: bool,
    #[serde(default)]
    within: Option<Within>,
    why: String,
}

fn first_edition() -> Vec<String> {
    vec![crate::book::Edition::default().name().to_string()]
}

impl Ask {
    /// The names of the questions, in the order of the type.
    pub const VARIANTS: [&'static str; 26] = [
        "Subtype",
        "Glb",
        "Lub",
        "Erase",
        "Wrap",
        "EraseToWellDefined",
        "ShapeVarMapping",
        "Compatibility",
        "MoreSpecific",
        "PossiblyMoreSpecific",
        "Unify",
        "ProveEqual",
        "EvalDim",
        "MatchValue",
        "Parse",
        "Decode",
        "WellFormed",
        "NormalForm",
        "Normalize",
        "TypeCheck",
        "Check",
        "DeriveFunction",
        "DeriveVar",
        "DeriveCall",
        "Evaluate",
        "Refine",
    ];

    /// The name of the question.
    pub fn variant(&self) -> &'static str {
        match self {
            Ask::Subtype(..) => "Subtype",
            Ask::Glb(..) => "Glb",
            Ask::Lub(..) => "Lub",
            Ask::Erase(_) => "Erase",
            Ask::Wrap(_) => "Wrap",
            Ask::EraseToWellDefined(..) => "EraseToWellDefined",
            Ask::ShapeVarMapping(..) => "ShapeVarMapping",
            Ask::Compatibility(..) => "Compatibility",
            Ask::MoreSpecific(..) => "MoreSpecific",
            Ask::PossiblyMoreSpecific(..) => "PossiblyMoreSpecific",
            Ask::Unify(..) => "Unify",
            Ask::ProveEqual(..) => "ProveEqual",
            Ask::EvalDim(..) => "EvalDim",
            Ask::MatchValue(..) => "MatchValue",
            Ask::Parse(_) => "Parse",
            Ask::Decode(..) => "Decode",
            Ask::WellFormed(_) => "WellFormed",
            Ask::NormalForm(_) => "NormalForm",
            Ask::Normalize(_) => "Normalize",
            Ask::TypeCheck(_) => "TypeCheck",
            Ask::Check(_) => "Check",
            Ask::DeriveFunction(..) => "DeriveFunction",
            Ask::DeriveVar(..) => "DeriveVar",
            Ask::DeriveCall(..) => "DeriveCall",
            Ask::Evaluate(..) => "Evaluate",
            Ask::Refine(..) => "Refine",
        }
    }

    /// The program that the question is about, if it is about one.
    pub fn program(&self) -> Option<&Program> {
        match self {
            Ask::WellFormed(program)
            | Ask::NormalForm(program)
            | Ask::Normalize(program)
            | Ask::TypeCheck(program)
            | Ask::Check(program)
            | Ask::DeriveFunction(program, _)
            | Ask::DeriveVar(program, ..)
            | Ask::Evaluate(program, ..) => Some(program),
            Ask::Subtype(..)
            | Ask::Glb(..)
            | Ask::Lub(..)
            | Ask::Erase(_)
            | Ask::Wrap(_)
            | Ask::EraseToWellDefined(..)
            | Ask::ShapeVarMapping(..)
            | Ask::Compatibility(..)
            | Ask::MoreSpecific(..)
            | Ask::PossiblyMoreSpecific(..)
            | Ask::Unify(..)
            | Ask::ProveEqual(..)
            | Ask::EvalDim(..)
            | Ask::MatchValue(..)
            | Ask::Parse(_)
            | Ask::Decode(..)
            | Ask::DeriveCall(..)
            | Ask::Refine(..) => None,
        }
    }

    /// The same question about another program; unchanged where it is about none.
    pub fn with_program(self, program: Program) -> Ask {
        match self {
            Ask::WellFormed(_) => Ask::WellFormed(program),
            Ask::NormalForm(_) => Ask::NormalForm(program),
            Ask::Normalize(_) => Ask::Normalize(program),
            Ask::TypeCheck(_) => Ask::TypeCheck(program),
            Ask::Check(_) => Ask::Check(program),
            Ask::DeriveFunction(_, name) => Ask::DeriveFunction(program, name),
            Ask::DeriveVar(_, name, var) => Ask::DeriveVar(program, name, var),
            Ask::Evaluate(_, name, args) => Ask::Evaluate(program, name, args),
            Ask::Subtype(..)
            | Ask::Glb(..)
            | Ask::Lub(..)
            | Ask::Erase(_)
            | Ask::Wrap(_)
            | Ask::EraseToWellDefined(..)
            | Ask::ShapeVarMapping(..)
            | Ask::Compatibility(..)
            | Ask::MoreSpecific(..)
            | Ask::PossiblyMoreSpecific(..)
            | Ask::Unify(..)
            | Ask::ProveEqual(..)
            | Ask::EvalDim(..)
            | Ask::MatchValue(..)
            | Ask::Parse(_)
            | Ask::Decode(..)
            | Ask::DeriveCall(..)
            | Ask::Refine(..) => self,
        }
    }

    pub fn answer_kind(&self) -> AnswerKind {
        match self {
            Ask::Subtype(..) | Ask::MoreSpecific(..) | Ask::PossiblyMoreSpecific(..) => AnswerKind::Bool,
            Ask::Glb(..) => AnswerKind::OptionType,
            Ask::Lub(..) | Ask::Erase(_) => AnswerKind::Type,
            Ask::Wrap(_)
            | Ask::EraseToWellDefined(..)
            | Ask::Unify(..)
            | Ask::DeriveFunction(..)
            | Ask::DeriveVar(..) => AnswerKind::StructInfo,
            Ask::ShapeVarMapping(..) => AnswerKind::Mapping,
            Ask::Compatibility(..) => AnswerKind::Compatibility,
            Ask::ProveEqual(..) => AnswerKind::Proof,
            Ask::EvalDim(..) => AnswerKind::Dim,
            Ask::MatchValue(..) => AnswerKind::Match,
            Ask::Parse(_) | Ask::Decode(..) => AnswerKind::Read,
            Ask::Normalize(_) => AnswerKind::Program,
            Ask::WellFormed(_) | Ask::NormalForm(_) | Ask::TypeCheck(_) | Ask::Check(_) | Ask::Refine(..) => {
                AnswerKind::Verdict
            }
            Ask::DeriveCall(..) => AnswerKind::Derived,
            Ask::Evaluate(..) => AnswerKind::Run,
        }
    }

    /// Whether `rules` must name every rule that is recorded. That is so for judgements on types and structural
    /// information; a question about a program fires dozens of rules, of which `rules` names the ones at stake.
    pub fn claims_exactly(&self) -> bool {
        match self {
            Ask::Subtype(..)
            | Ask::Glb(..)
            | Ask::Lub(..)
            | Ask::Erase(_)
            | Ask::Wrap(_)
            | Ask::EraseToWellDefined(..)
            | Ask::ShapeVarMapping(..)
            | Ask::Compatibility(..)
            | Ask::MoreSpecific(..)
            | Ask::PossiblyMoreSpecific(..)
            | Ask::Unify(..)
            | Ask::ProveEqual(..)
            | Ask::EvalDim(..)
            | Ask::MatchValue(..) => true,
            Ask::Parse(_)
            | Ask::Decode(..)
            | Ask::WellFormed(_)
            | Ask::NormalForm(_)
            | Ask::Normalize(_)
            | Ask::TypeCheck(_)
            | Ask::Check(_)
            | Ask::DeriveFunction(..)
            | Ask::DeriveVar(..)
            | Ask::DeriveCall(..)
            | Ask::Evaluate(..)
            | Ask::Refine(..) => false,
        }
    }
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

impl Case {
    /// The part of the id before the first `/`.
    pub fn chapter(&self) -> &str {
        self.id.split('/').next().unwrap_or(&self.id)
    }
}

impl TryFrom<RawCase> for Case {
    type Error = String;

    fn try_from(raw: RawCase) -> Result<Case, String> {
        let kind = raw.ask.answer_kind();
        let read = |value: &RawValue| {
            kind.read(value).map_err(|e| format!("case {}: answer `{}`: {e}", raw.id, value.get_ron().trim()))
        };
        let allow = raw.allow.iter().map(|value| read(value)).collect::<Result<Vec<Answer>, String>>()?;
        let literal = raw.literal.as_deref().map(read).transpose()?;
        if allow.is_empty() {
            return Err(format!("case {}: `allow` is empty", raw.id));
        }
        if raw.rules.is_empty() {
            return Err(format!("case {}: `rules` is empty", raw.id));
        }
        if literal.is_some() != raw.erratum.is_some() {
            return Err(format!("case {}: `literal` and `erratum` go together", raw.id));
        }
        Ok(Case {
            id: raw.id,
            rules: raw.rules,
            editions: raw.editions,
            ask: raw.ask,
            allow,
            literal,
            erratum: raw.erratum,
            warnings: raw.warnings,
            as_text: raw.as_text,
            within: raw.within,
            why: raw.why,
        })
    }
}

/// Reads one suite file: a RON list of cases.
pub fn read_cases(file: &str, text: &str) -> Result<Vec<Case>, CaseError> {
    let error = |message: String| CaseError { file: file.to_string(), message };
    let raw: Vec<RawCase> = ron_options().from_str(text).map_err(|e| error(e.to_string()))?;
    raw.into_iter().map(|case| Case::try_from(case).map_err(error)).collect()
}

/// The golden suite that is built into the program, in the order of the files.
pub fn embedded_suite() -> Result<Vec<Case>, CaseError> {
    let mut suite = Vec::new();
    let mut seen = BTreeMap::new();
    for (file, text) in FILES {
        for case in read_cases(file, text)? {
            if let Some(first) = seen.insert(case.id.clone(), *file) {
                return Err(CaseError {
                    file: file.to_string(),
                    message: format!("case {} stands in {first} too", case.id),
                });
            }
            suite.push(case);
        }
    }
    Ok(suite)
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::grammar::DataType;

    fn one(text: &str) -> Case {
        read_cases("test", text).unwrap().remove(0)
    }

    #[test]
    fn the_embedded_suite_reads() {
        if let Err(error) = embedded_suite() {
            panic!("{error}");
        }
    }

    #[test]
    fn fields_stand_directly_in_a_variant() {
        let case = one(r#"[Case(id: "a", rules: ["GLB.OBJ-L"], ask: Glb(Object, Tensor(ndim: 2, dtype: "float32")),
                allow: [Some(Tensor(ndim: 2, dtype: "float32")), None], literal: Some(Some(Object)), erratum: Some("A06"), why: "")]"#);
        let tensor = Type::tensor(2, DataType::FLOAT32);
        assert_eq!(case.ask, Ask::Glb(Type::Object, tensor.clone()));
        assert_eq!(case.allow, [Answer::OptionType(Some(tensor)), Answer::OptionType(None)]);
        assert_eq!(case.literal, Some(Answer::OptionType(Some(Type::Object))));
    }

    #[test]
    fn a_literal_answer_needs_its_erratum() {
        let text = r#"[Case(id: "a", rules: ["GLB.OBJ-L"], ask: Glb(Object, Object), allow: [None], literal: Some(None), why: "")]"#;
        assert!(read_cases("test", text).is_err());
    }
}
