//! Errata and ambiguities of the text as data: each has the rules at stake, both readings, and (where a
//! judgement shows it) a witness. The files are `spec/errata/ID.ron`.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::conformance::case::Ask;
use crate::rule::Rule;

include!(concat!(env!("OUT_DIR"), "/errata.rs"));

/// What kind of trouble the text has.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum ErratumKind {
    /// The text is wrong.
    Erratum,
    /// The text allows several readings.
    Ambiguity,
    /// Two places of the text disagree.
    Conflict,
}

/// The content of `spec/errata/ID.ron`.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename = "Erratum", deny_unknown_fields)]
pub struct ErratumInfo {
    pub id: String,
    pub kind: ErratumKind,
    pub title: String,
    pub rules: Vec<Rule>,
    /// What the literal text gives.
    pub literal: String,
    /// What the corrected reading gives; the tools' default.
    pub corrected: String,
    /// A question whose answer depends on the reading; `None` where no judgement can show it.
    #[serde(default)]
    pub witness: Option<Ask>,
    /// Other repairs that were considered.
    #[serde(default)]
    pub alternatives: Vec<String>,
}

/// An id that no erratum has.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("there is no erratum `{0}`")]
pub struct UnknownErratum(pub String);

impl Erratum {
    pub fn id(self) -> &'static str {
        SOURCES[self as usize].0
    }

    /// Reads the erratum's file.
    pub fn info(self) -> Result<ErratumInfo, ron::error::SpannedError> {
        crate::conformance::case::ron_options().from_str(SOURCES[self as usize].1)
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
