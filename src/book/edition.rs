//! Editions of the specification.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// An edition of the specification. Each edition extends the one before it and keeps every rule that it does not
/// restate.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default, PartialOrd, Ord)]
pub enum Edition {
    /// The five documents merged by the conflicts table.
    #[default]
    E2023_02,
    /// The revision of the specification of December 2023.
    E2023_12,
    /// The text that RFC 0106 puts forward for adoption.
    E2024_04,
}

impl Edition {
    /// Every edition, oldest first.
    pub const ALL: [Edition; 3] = [Edition::E2023_02, Edition::E2023_12, Edition::E2024_04];

    /// The name as it is written after `--edition` and on the wire: the year and month of the document.
    pub fn name(self) -> &'static str {
        match self {
            Edition::E2023_02 => "2023-02",
            Edition::E2023_12 => "2023-12",
            Edition::E2024_04 => "2024-04",
        }
    }

    /// The names of all editions, for messages.
    fn names() -> String {
        Edition::ALL.map(Edition::name).join(", ")
    }
}

impl fmt::Display for Edition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A name that no edition has.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("there is no edition `{0}` (there are {names})", names = Edition::names())]
pub struct UnknownEdition(pub String);

impl Serialize for Edition {
    fn serialize<S: serde::Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        s.serialize_str(self.name())
    }
}

impl<'de> Deserialize<'de> for Edition {
    fn deserialize<D: serde::Deserializer<'de>>(d: D) -> Result<Edition, D::Error> {
        String::deserialize(d)?.parse().map_err(serde::de::Error::custom)
    }
}

impl FromStr for Edition {
    type Err = UnknownEdition;

    fn from_str(name: &str) -> Result<Edition, UnknownEdition> {
        let named = Edition::ALL.into_iter().find(|edition| edition.name() == name);
        named.ok_or_else(|| UnknownEdition(name.to_string()))
    }
}
