//! What stands in for a severity where the rule that concludes it is switched off.

use super::Severity;
use crate::book::Rule;
use crate::judge::Instead;

impl Instead for Severity {
    fn instead(self, _: Rule) -> Severity {
        match self {
            Severity::Error => Severity::Warning,
            Severity::Warning => Severity::Error,
            // A limit is no conclusion of a rule.
            Severity::Limit => Severity::Limit,
        }
    }
}
