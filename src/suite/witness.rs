//! The witnesses of errata: questions whose answers depend on the reading.

use ron::error::SpannedError;
use ron::value::RawValue;
use serde::Deserialize;

use crate::book::erratum::{ErratumInfo, Shown};
use crate::book::{Rule, ron_options};
use crate::question::{Answer, Ask};

/// A question whose answer depends on the reading.
#[derive(Clone, PartialEq, Debug)]
pub struct Witness {
    /// What is asked.
    pub ask: Ask,
    /// Where the erratum is read literally.
    pub literal: Expected,
    /// Where it is read as corrected.
    pub corrected: Expected,
}

/// The answer of one reading; with its warnings, where they are what tells the readings apart.
#[derive(Clone, PartialEq, Debug)]
pub struct Expected {
    /// The answer.
    pub answer: Answer,
    /// The rules that are warned of; `None` where they are no matter.
    pub warnings: Option<Vec<Rule>>,
}

#[derive(Deserialize)]
#[serde(rename = "Witness", deny_unknown_fields)]
struct RawWitness {
    ask: Ask,
    literal: Box<RawValue>,
    corrected: Box<RawValue>,
    #[serde(default)]
    literal_warnings: Option<Vec<Rule>>,
    #[serde(default)]
    corrected_warnings: Option<Vec<Rule>>,
}

impl TryFrom<RawWitness> for Witness {
    type Error = SpannedError;

    fn try_from(raw: RawWitness) -> Result<Witness, SpannedError> {
        let kind = raw.ask.answer_kind();
        let expected = |answer: &RawValue, warnings| Ok(Expected { answer: kind.read(answer)?, warnings });
        let literal: Result<Expected, SpannedError> = expected(&raw.literal, raw.literal_warnings);
        Ok(Witness { literal: literal?, corrected: expected(&raw.corrected, raw.corrected_warnings)?, ask: raw.ask })
    }
}

/// The question that shows an erratum, if there is one.
///
/// # Errors
///
/// The witness is not written as one.
pub fn witness(info: &ErratumInfo) -> Result<Option<Witness>, SpannedError> {
    match &info.shown {
        Shown::By(text) => {
            let raw: RawWitness = ron_options().from_str(text)?;
            raw.try_into().map(Some)
        }
        Shown::Not(_) => Ok(None),
    }
}
