//! The witnesses of errata: questions whose answers depend on the reading.

use crate::book::erratum::{ErratumInfo, ErratumWitness};
use crate::book::{Basis, Edition, Proposal, Rule};
use crate::data::{self, DataError, DataReader, DataResult, FromData, LocatedError, Node};
use crate::question::{Answer, Ask};

/// A question whose answer depends on the reading.
#[derive(Clone, PartialEq, Debug)]
pub struct Witness {
    /// The first edition with the text in question, or the proposal with it.
    pub basis: Basis,
    /// The question.
    pub ask: Ask,
    /// The expectation if the erratum is read literally.
    pub literal: Expected,
    /// The expectation if it is read as corrected.
    pub corrected: Expected,
}

/// The answer of one reading. It includes the warnings if they make the difference between the readings.
#[derive(Clone, PartialEq, Debug)]
pub struct Expected {
    /// The answer.
    pub answer: Answer,
    /// The rules of the warnings; `None` if they do not matter.
    pub warnings: Option<Vec<Rule>>,
}

impl FromData for Witness {
    fn read(r: &mut DataReader<'_>, node: &Node<'_>) -> DataResult<Witness> {
        let fields = r.fields(node, "Witness", None)?;
        fields.closed(&[
            "edition",
            "proposal",
            "ask",
            "literal",
            "corrected",
            "literal_warnings",
            "corrected_warnings",
        ])?;
        let edition = fields.or(r, "edition", Edition::default)?;
        let proposal: Option<Proposal> = fields.one(r, "proposal")?;
        let basis = proposal.map_or(edition.into(), Basis::from);
        let ask: Ask = fields.one(r, "ask")?;
        let kind = ask.answer_kind();
        let mut expected = |answer: &str, warnings: &str| match fields.present(answer) {
            Some(given) => Ok(Expected { answer: kind.read_expected(r, given)?, warnings: fields.one(r, warnings)? }),
            None => Err(DataError::at(node.span, format!("a witness has the answer `{answer}`"))),
        };
        let (literal, corrected) =
            (expected("literal", "literal_warnings")?, expected("corrected", "corrected_warnings")?);
        Ok(Witness { basis, ask, literal, corrected })
    }
}

/// The question that shows an erratum, if there is one.
///
/// # Errors
///
/// The witness has invalid syntax.
pub fn witness(info: &ErratumInfo) -> Result<Option<Witness>, LocatedError> {
    match &info.shown {
        ErratumWitness::By(text) => data::from_ron(text).map(Some),
        ErratumWitness::Not(_) => Ok(None),
    }
}
