//! Golden cases: a question, the set of answers that the text permits, and why.
//!
//! A suite file (`conformance/suite/<chapter>/*.ron`) is a list of cases. The type of `allow` follows from the
//! question, so answers are written bare: `allow: [Object]` after `Unify(..)`.

use std::collections::BTreeMap;

use ron::value::RawValue;
use serde::Deserialize;

use super::accuracy::Within;
use crate::book::{Edition, Erratum, Rule, ron_options};
use crate::question::{Answer, Ask};

include!(concat!(env!("OUT_DIR"), "/suite.rs"));

/// A golden case.
#[derive(Clone, PartialEq, Debug)]
pub struct Case {
    /// `chapter/name`, unique in the suite.
    pub id: String,
    /// The rules that the case is about; see [`Ask::claims_exactly`].
    pub rules: Vec<Rule>,
    /// The editions in which the expectation holds.
    pub editions: Vec<String>,
    /// What is asked.
    pub ask: Ask,
    /// Every permitted answer, in the corrected reading.
    pub allow: Vec<Answer>,
    /// The answer of the literal reading, where `erratum` makes it another one.
    pub literal: Option<Answer>,
    /// The erratum on whose reading the answer depends.
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
    /// The name of the file.
    pub file: String,
    /// What is wrong, and where.
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
    vec![Edition::default().name().to_string()]
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::grammar::{DataType, Type};

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
