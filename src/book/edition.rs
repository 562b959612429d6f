//! Editions of the specification.

use std::fmt;

/// The edition of the specification.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, PartialOrd, Ord)]
pub enum Edition {
    /// The five documents merged by the conflicts table.
    #[default]
    E2023_02,
    /// The last public revision.
    E2023_12,
}

impl Edition {
    /// Every edition, the oldest first.
    pub const ALL: [Edition; 2] = [Edition::E2023_02, Edition::E2023_12];

    /// As in `--edition` and on the wire: the year and month of the document.
    pub fn name(self) -> &'static str {
        match self {
            Edition::E2023_02 => "2023-02",
            Edition::E2023_12 => "2023-12",
        }
    }
}

impl fmt::Display for Edition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
