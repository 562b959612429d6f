//! How a rule changes from one edition to another.

use super::{Edition, Rule};

/// How a rule of one edition differs in another edition.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Change {
    /// Only the other edition states it.
    New,
    /// Both editions state it, in different words.
    Changed,
    /// It has the content of a rule that the first edition states under another id.
    Renumbered,
    /// Only the first edition states it, and no rule of the other edition has the same content.
    Removed,
}

impl Change {
    /// Every kind of change, in the order in which reports list them.
    pub const ALL: [Change; 4] = [Change::New, Change::Changed, Change::Renumbered, Change::Removed];

    /// The name used in reports.
    pub fn name(self) -> &'static str {
        match self {
            Change::New => "new",
            Change::Changed => "changed",
            Change::Renumbered => "renumbered",
            Change::Removed => "removed",
        }
    }
}

impl Rule {
    /// How this rule changes from one edition to another. `None` if it stays the same or neither edition states it. If
    /// a later edition states the same content under another id, the change belongs to the rule with that id.
    pub fn change(self, from: Edition, to: Edition) -> Option<Change> {
        match (self.is_stated_by(from), self.is_stated_by(to)) {
            (false, false) => None,
            (true, false) => (!self.is_said_otherwise_by(to)).then_some(Change::Removed),
            (false, true) if self.is_said_otherwise_by(from) => Some(Change::Renumbered),
            (false, true) => Some(Change::New),
            (true, true) => self.is_restated_between(from, to).then_some(Change::Changed),
        }
    }

    /// Whether an edition states this rule's content only under another id: that of a predecessor or of a successor.
    fn is_said_otherwise_by(self, edition: Edition) -> bool {
        let succeeded = |other: &&Rule| self.info().succeeds.contains(&other.id());
        let states = |other: &Rule| other.is_stated_by(edition);
        self.in_edition(edition).is_some() || Rule::ALL.iter().filter(succeeded).any(states)
    }

    fn is_restated_between(self, a: Edition, b: Edition) -> bool {
        let (earlier, later) = (a.min(b).name(), a.max(b).name());
        self.info().later.iter().any(|words| earlier < words.edition && words.edition <= later)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use Edition::{E2023_02, E2023_12, E2024_04};

    fn named(id: &str) -> Rule {
        id.parse().unwrap()
    }

    #[test]
    fn what_becomes_of_a_rule() {
        assert_eq!(named("PURITY.FIELD").change(E2023_02, E2023_12), Some(Change::New));
        assert_eq!(named("PURITY.FIELD").change(E2023_12, E2023_02), Some(Change::Removed));
        assert_eq!(named("TC.CALL.NOTFUNC").change(E2023_02, E2023_12), Some(Change::Removed));
        assert_eq!(named("PRIMFUNC.SI.RESULT").change(E2023_12, E2024_04), Some(Change::Changed));
        assert_eq!(named("EQ.ALPHA").change(E2023_02, E2024_04), None);
    }

    #[test]
    fn a_rule_under_another_number_is_neither_new_nor_removed() {
        for rule in Rule::ALL.iter().filter(|rule| !rule.info().succeeds.is_empty()) {
            assert_ne!(rule.change(E2023_02, E2024_04), Some(Change::New), "{rule}");
            assert_ne!(rule.change(E2024_04, E2023_02), Some(Change::Removed), "{rule}");
        }
    }
}
