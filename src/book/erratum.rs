//! Errata and ambiguities of the text as data. Each lists the rules at stake and both readings, and has a witness if a
//! judgement can show the difference. The files are `spec/errata/ID.ron`.

use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

use ron::value::RawValue;
use serde::{Deserialize, Serialize};

use super::edition::UnknownEdition;
use super::{Edition, Rule, ron_options};

include!(concat!(env!("OUT_DIR"), "/errata.rs"));

/// A file of `spec/errata/`.
struct ErratumFile {
    id: &'static str,
    text: &'static str,
    also: &'static [&'static str],
    /// One bit for each edition whose text has the words at stake.
    stands: u8,
}

/// The kind of defect in the text.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum ErratumKind {
    /// The text is wrong.
    Erratum,
    /// The text allows several readings.
    Ambiguity,
    /// Two places in the text disagree.
    Conflict,
    /// A clear slip: the intended meaning is beyond doubt.
    Typography,
}

/// The state of an erratum in an edition after the one in which it was found.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum ErratumFate {
    /// The defect remains, in the same or in other words.
    Still,
    /// The defect touches more of the text.
    Worse,
    /// Part of it was repaired.
    Part,
    /// All of it was repaired.
    Fixed,
    /// The text that it was about is gone.
    Moot,
    /// It is about a separate document, which no edition restates.
    Apart,
}

/// The content of `spec/errata/ID.ron`.
#[derive(Clone, PartialEq, Debug)]
pub struct ErratumInfo {
    /// The id, as in the file name: `A08`, `E01`, and so on.
    pub id: String,
    /// The kind of the defect.
    pub kind: ErratumKind,
    /// A summary in one line.
    pub title: String,
    /// Other ids under which the same defect was found.
    pub also: Vec<String>,
    /// The rules at stake.
    pub rules: Vec<Rule>,
    /// The result of the literal text.
    pub literal: String,
    /// The result of the corrected reading, which is the default of the tools.
    pub corrected: String,
    /// The question that distinguishes the readings, or why there is none.
    pub shown: ErratumWitness,
    /// Its state in each edition after the one in which it was found.
    pub later: BTreeMap<Edition, ErratumFate>,
    /// The errata of later editions that cover the part of it that remains.
    pub heirs: Vec<Erratum>,
    /// Other repairs that were considered.
    pub alternatives: Vec<String>,
}

/// Whether a question can show the difference between the readings.
#[derive(Clone, PartialEq, Debug)]
pub enum ErratumWitness {
    /// The question with the answer of each reading, in RON.
    By(String),
    /// Why no question can show it.
    Not(String),
}

/// Why the file of an erratum cannot be read.
#[derive(Clone, PartialEq, Debug, thiserror::Error)]
pub enum ErratumError {
    /// The file is not RON, or does not have this structure.
    #[error(transparent)]
    Ron(#[from] ron::error::SpannedError),
    /// Both of the two fields are present, or neither is.
    #[error("it needs a `witness`, or `unseen` to say why there is none, and not both")]
    WitnessOrReason,
    /// `later` names something that is not an edition.
    #[error(transparent)]
    Edition(#[from] UnknownEdition),
}

#[derive(Deserialize)]
#[serde(rename = "Erratum", deny_unknown_fields)]
struct RawErratum {
    id: String,
    kind: ErratumKind,
    title: String,
    #[serde(default)]
    also: Vec<String>,
    rules: Vec<Rule>,
    literal: String,
    corrected: String,
    #[serde(default)]
    witness: Option<Box<RawValue>>,
    #[serde(default)]
    unseen: Option<String>,
    #[serde(default)]
    later: BTreeMap<String, ErratumFate>,
    #[serde(default)]
    heirs: Vec<Erratum>,
    #[serde(default)]
    alternatives: Vec<String>,
}

impl TryFrom<RawErratum> for ErratumInfo {
    type Error = ErratumError;

    fn try_from(raw: RawErratum) -> Result<ErratumInfo, ErratumError> {
        let shown = match (raw.witness, raw.unseen) {
            (Some(witness), None) => ErratumWitness::By(witness.get_ron().trim().to_string()),
            (None, Some(reason)) => ErratumWitness::Not(reason),
            (None, None) | (Some(_), Some(_)) => return Err(ErratumError::WitnessOrReason),
        };
        Ok(ErratumInfo {
            id: raw.id,
            kind: raw.kind,
            title: raw.title,
            also: raw.also,
            rules: raw.rules,
            literal: raw.literal,
            corrected: raw.corrected,
            shown,
            later: in_editions(raw.later)?,
            heirs: raw.heirs,
            alternatives: raw.alternatives,
        })
    }
}

fn in_editions(later: BTreeMap<String, ErratumFate>) -> Result<BTreeMap<Edition, ErratumFate>, UnknownEdition> {
    later.into_iter().map(|(edition, fate)| Ok((edition.parse()?, fate))).collect()
}

/// An id that belongs to no erratum.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("there is no erratum `{0}`{meant}", meant = super::or_meant(.0, Erratum::ALL.iter().map(|erratum| erratum.id())))]
pub struct UnknownErratum(pub String);

impl Erratum {
    /// The id: the file name without its extension.
    pub fn id(self) -> &'static str {
        SOURCES[self as usize].id
    }

    /// Other ids under which the same defect was found.
    pub fn also(self) -> &'static [&'static str] {
        SOURCES[self as usize].also
    }

    /// Whether an edition's text has the words at stake. The letter of the id tells in which edition they begin. They
    /// end with the edition that repairs them, drops their subject, or leaves only a remainder that has its own
    /// erratum.
    pub fn stands_in(self, edition: Edition) -> bool {
        SOURCES[self as usize].stands & (1 << edition as u8) != 0
    }

    /// Reads the file of the erratum.
    pub fn info(self) -> Result<ErratumInfo, ErratumError> {
        let raw: RawErratum = ron_options().from_str(SOURCES[self as usize].text)?;
        raw.try_into()
    }

    /// The errata that an id names: the one with this id, or else those that list it among their other ids. `E1` is
    /// `E01`.
    pub fn named(id: &str) -> Result<Vec<Erratum>, UnknownErratum> {
        let wanted = numbered(id);
        let with = |is: &dyn Fn(&Erratum) -> bool| Erratum::ALL.iter().copied().filter(is).collect::<Vec<Erratum>>();
        let own = with(&|erratum| erratum.id() == wanted);
        let found = if own.is_empty() { with(&|erratum| erratum.also().contains(&wanted.as_str())) } else { own };
        if found.is_empty() { Err(UnknownErratum(id.to_string())) } else { Ok(found) }
    }
}

/// The id with its number padded to two digits.
fn numbered(id: &str) -> String {
    match id.split_at_checked(1) {
        Some((letter, digit)) if digit.len() == 1 => format!("{letter}0{digit}"),
        Some(_) | None => id.to_string(),
    }
}

impl fmt::Display for Erratum {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.id())
    }
}

impl FromStr for Erratum {
    type Err = UnknownErratum;

    fn from_str(id: &str) -> Result<Erratum, UnknownErratum> {
        Erratum::ALL.iter().copied().find(|e| e.id() == id).ok_or_else(|| UnknownErratum(id.to_string()))
    }
}

impl Serialize for Erratum {
    fn serialize<S: serde::Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        s.serialize_str(self.id())
    }
}

impl<'de> Deserialize<'de> for Erratum {
    fn deserialize<D: serde::Deserializer<'de>>(d: D) -> Result<Erratum, D::Error> {
        String::deserialize(d)?.parse().map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_names_its_erratum_or_those_that_carry_it() {
        assert_eq!(Erratum::named("A06"), Ok(vec![Erratum::A06]));
        assert_eq!(Erratum::named("E33"), Ok(vec![Erratum::A06]));
        assert_eq!(Erratum::named("E1"), Ok(vec![Erratum::A35]));
        assert_eq!(Erratum::named("E27"), Ok(vec![Erratum::A33, Erratum::A34]));
        assert_eq!(Erratum::named("E99"), Err(UnknownErratum("E99".to_string())));
    }
}
