//! Golden cases: a question, the set of answers that the text permits, and the reason.
//!
//! A suite file (`conformance/suite/<chapter>/*.ron`) is a list of cases. The type of `allow` follows from the
//! question, so answers need no type: `allow: [Object]` after `Unify(..)`.

use std::collections::{BTreeMap, BTreeSet};

use super::accuracy::Within;
use crate::book::{Basis, Edition, Erratum, Proposal, Rule};
use crate::data::{self, DataError, DataReader, DataResult, FromData, Node};
use crate::question::{Answer, Ask};

/// A golden case.
#[derive(Clone, PartialEq, Debug)]
pub struct Case {
    /// `chapter/name`, unique in the suite.
    pub id: String,
    /// The rules that the case is about; see [`Ask::claims_exactly`].
    pub rules: Vec<Rule>,
    /// The editions for which the expectation holds.
    pub editions: Vec<Edition>,
    /// Whether it names no edition and tests a document that holds for every edition.
    pub carried: bool,
    /// The proposal that is active, if the case is about one.
    pub proposal: Option<Proposal>,
    /// The question.
    pub ask: Ask,
    /// Every permitted answer, in the corrected reading.
    pub allow: Vec<Answer>,
    /// The answer of the literal reading, if `erratum` makes it different.
    pub literal: Option<Answer>,
    /// The erratum that the answer depends on.
    pub erratum: Option<Erratum>,
    /// The rules of the warnings that a static check must give; `None` if the case does not say.
    pub warnings: Option<Vec<Rule>>,
    /// Whether implementations receive the program as text, because the case is about the text.
    pub as_text: bool,
    /// The required agreement of numbers. Without it, bit for bit.
    pub within: Option<Within>,
    /// The derivation of the expectation from the text.
    pub why: String,
}

/// The reason why a suite file cannot be read.
#[derive(Clone, PartialEq, Debug, thiserror::Error)]
#[error("{file}: {message}")]
pub struct CaseError {
    /// The name of the file.
    pub file: String,
    /// The defect and its position.
    pub message: String,
}

/// The chapters about documents that no later edition changes: the syntax of 2022, Relay, the RFC with its machine, and
/// the documented operators.
const OF_EVERY_EDITION: [&str; 5] = ["ast_2022", "machine", "ops", "relay", "rfc"];

fn chapter_of(id: &str) -> Option<&str> {
    id.split('/').next()
}

fn first_edition() -> Vec<Edition> {
    vec![Edition::default()]
}

impl Case {
    /// The part of the id before the first `/`.
    pub fn chapter(&self) -> &str {
        chapter_of(&self.id).unwrap_or(&self.id)
    }

    /// Whether implementations of an edition are asked this case: it names the edition, or it is
    /// [carried](Case::carried) and the edition has its rules.
    pub fn is_asked_in(&self, edition: Edition) -> bool {
        let has_rules = || self.rules.iter().all(|rule| rule.in_edition(edition).is_some());
        self.editions.contains(&edition) || self.carried && has_rules()
    }

    /// The basis of its judgement in one of its editions.
    pub fn basis_in(&self, edition: Edition) -> Basis {
        self.proposal.map_or(edition.into(), Basis::from)
    }

    /// The rules that it claims, under their ids in an edition.
    pub fn rules_in(&self, edition: Edition) -> BTreeSet<Rule> {
        let basis = self.basis_in(edition);
        self.rules.iter().filter_map(|rule| rule.in_edition(basis)).collect()
    }

    /// The case with the rules of its answers under their ids in an edition.
    pub fn stated_in(&self, edition: Edition) -> Case {
        let basis = self.basis_in(edition);
        let stated = |rule: &Rule| rule.in_edition(basis).unwrap_or(*rule);
        Case {
            allow: self.allow.iter().map(|answer| answer.stated_in(basis)).collect(),
            literal: self.literal.as_ref().map(|answer| answer.stated_in(basis)),
            warnings: self.warnings.as_ref().map(|rules| rules.iter().map(stated).collect()),
            ..self.clone()
        }
    }
}

/// The type of the answers follows from the question.
impl FromData for Case {
    fn read(r: &mut DataReader<'_>, node: &Node<'_>) -> DataResult<Case> {
        let fields = r.fields(node, "Case", None)?;
        fields.closed(&[
            "id", "rules", "editions", "proposal", "ask", "allow", "literal", "erratum", "warnings", "as_text",
            "within", "why",
        ])?;
        let id: String = fields.one(r, "id")?;
        let in_case = |error: DataError| DataError { message: format!("case {id}: {}", error.message), ..error };
        let ask: Ask = fields.one(r, "ask").map_err(in_case)?;
        let kind = ask.answer_kind();
        let mut answer = |answer: &Node<'_>| kind.read_expected(r, answer).map_err(in_case);
        let allow = match fields.get("allow").and_then(Node::as_items) {
            Some(answers) if !answers.is_empty() => {
                answers.iter().map(&mut answer).collect::<DataResult<Vec<Answer>>>()?
            }
            Some(_) | None => return Err(in_case(DataError::at(node.span, "`allow` is empty"))),
        };
        let literal = fields.given("literal").map(&mut answer).transpose()?;
        let case = Case {
            rules: fields.one(r, "rules").map_err(in_case)?,
            editions: fields.or(r, "editions", first_edition)?,
            carried: fields.get("editions").is_none() && chapter_of(&id).is_some_and(|c| OF_EVERY_EDITION.contains(&c)),
            proposal: fields.one(r, "proposal")?,
            ask,
            allow,
            literal,
            erratum: fields.one(r, "erratum")?,
            warnings: fields.one(r, "warnings")?,
            as_text: fields.or(r, "as_text", || false)?,
            within: fields.one(r, "within")?,
            why: fields.one(r, "why").map_err(in_case)?,
            id: id.clone(),
        };
        if case.editions.is_empty() {
            return Err(in_case(DataError::at(node.span, "`editions` is empty")));
        }
        if let Some(wrong) = case.editions.iter().find_map(|edition| Basis::new(*edition, case.proposal).err()) {
            return Err(in_case(DataError::at(node.span, wrong.to_string())));
        }
        match (case.rules.is_empty(), case.literal.is_some() == case.erratum.is_some()) {
            (false, true) => Ok(case),
            (true, _) => Err(in_case(DataError::at(node.span, "`rules` is empty"))),
            (false, false) => Err(in_case(DataError::at(node.span, "`literal` and `erratum` go together"))),
        }
    }
}

/// Reads one suite file: a RON list of cases.
pub fn read_cases(file: &str, text: &str) -> Result<Vec<Case>, CaseError> {
    data::from_ron(text).map_err(|error| CaseError { file: file.to_string(), message: error.to_string() })
}

/// Reads a suite from the texts of its files, each with its name. The cases come in the order of the files.
///
/// # Errors
///
/// A file is not a list of cases, or two cases have the same id.
pub fn read_suite<'f>(files: impl IntoIterator<Item = (&'f str, &'f str)>) -> Result<Vec<Case>, CaseError> {
    let mut suite = Vec::new();
    let mut seen = BTreeMap::new();
    for (file, text) in files {
        for case in read_cases(file, text)? {
            if let Some(first) = seen.insert(case.id.clone(), file) {
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::grammar::{DataType, Type};

    fn one(text: &str) -> Case {
        read_cases("test", text).unwrap().remove(0)
    }

    #[test]
    fn an_id_stands_once_in_a_suite() {
        let case = r#"[Case(id: "a", rules: ["GLB.OBJ-L"], ask: Glb(Object, Object), allow: [None], why: "")]"#;
        assert!(read_suite([("one", case)]).is_ok());
        let error = read_suite([("one", case), ("two", case)]).unwrap_err();
        assert_eq!(error.to_string(), "two: case a stands in one too");
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
