//! Errata and ambiguities of the text as data: each has the rules at stake, both readings, and (where a
//! judgement shows it) a witness. The files are `spec/errata/ID.ron`.

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
    /// A bit for each edition whose text has the words at stake.
    stands: u8,
}

/// What kind of trouble the text has.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum ErratumKind {
    /// The text is wrong.
    Erratum,
    /// The text allows several readings.
    Ambiguity,
    /// Two places of the text disagree.
    Conflict,
    /// A slip of the pen: what is meant is beyond doubt.
    Typography,
}

/// What became of it in an edition after the one in which it was found.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum ErratumFate {
    /// The same words, or others with the same trouble.
    Still,
    /// More of the text is touched.
    Worse,
    /// Some of it was repaired.
    Part,
    /// All of it was repaired.
    Fixed,
    /// What it was about is gone.
    Moot,
    /// It is about a document of its own, which no edition restates.
    Apart,
}

/// The content of `spec/errata/ID.ron`.
#[derive(Clone, PartialEq, Debug)]
pub struct ErratumInfo {
    /// As the file is named: `A08`, `E01`, ...
    pub id: String,
    /// What is wrong with the text.
    pub kind: ErratumKind,
    /// The matter in one line.
    pub title: String,
    /// Other ids under which the same matter was found.
    pub also: Vec<String>,
    /// The rules at stake.
    pub rules: Vec<Rule>,
    /// What the literal text gives.
    pub literal: String,
    /// What the corrected reading gives; the tools' default.
    pub corrected: String,
    /// The question that tells the readings apart, or why there is none.
    pub shown: ErratumWitness,
    /// What became of it in each edition after the one in which it was found.
    pub later: BTreeMap<Edition, ErratumFate>,
    /// The errata of later editions under which what is left of it stands.
    pub heirs: Vec<Erratum>,
    /// Other repairs that were considered.
    pub alternatives: Vec<String>,
}

/// Whether a question shows what the reading changes.
#[derive(Clone, PartialEq, Debug)]
pub enum ErratumWitness {
    /// The question with the answer of each reading, as it is written.
    By(String),
    /// Why no question can.
    Not(String),
}

/// Why the file of an erratum cannot be read.
#[derive(Clone, PartialEq, Debug, thiserror::Error)]
pub enum ErratumError {
    /// It is not RON, or not of this form.
    #[error(transparent)]
    Ron(#[from] ron::error::SpannedError),
    /// Both of the two fields are there, or neither.
    #[error("it needs a `witness`, or `unseen` to say why there is none, and not both")]
    WitnessOrReason,
    /// `later` speaks of something that is no edition.
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

/// An id that no erratum has.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("there is no erratum `{0}`{meant}", meant = super::or_meant(.0, Erratum::ALL.iter().map(|erratum| erratum.id())))]
pub struct UnknownErratum(pub String);

impl Erratum {
    /// As the file is named, without its ending.
    pub fn id(self) -> &'static str {
        SOURCES[self as usize].id
    }

    /// Other ids under which the same matter was found.
    pub fn also(self) -> &'static [&'static str] {
        SOURCES[self as usize].also
    }

    /// Whether the words at stake are those of an edition: from the one in which it was found, which its letter tells, to the one
    /// that mends them, drops what they are about, or leaves so little of them that another erratum has it.
    pub fn stands_in(self, edition: Edition) -> bool {
        SOURCES[self as usize].stands & (1 << edition as u8) != 0
    }

    /// Reads the erratum's file.
    pub fn info(self) -> Result<ErratumInfo, ErratumError> {
        let raw: RawErratum = ron_options().from_str(SOURCES[self as usize].text)?;
        raw.try_into()
    }

    /// The errata that an id names: the one of that id, or those that give it as another id of theirs. `E1` is `E01`.
    pub fn named(id: &str) -> Result<Vec<Erratum>, UnknownErratum> {
        let wanted = numbered(id);
        let with = |is: &dyn Fn(&Erratum) -> bool| Erratum::ALL.iter().copied().filter(is).collect::<Vec<Erratum>>();
        let own = with(&|erratum| erratum.id() == wanted);
        let found = if own.is_empty() { with(&|erratum| erratum.also().contains(&wanted.as_str())) } else { own };
        if found.is_empty() { Err(UnknownErratum(id.to_string())) } else { Ok(found) }
    }
}

/// The id with two digits.
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
