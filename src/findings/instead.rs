//! Replaces a severity if the rule that concludes it is switched off.

use super::Severity;
use crate::book::Rule;
use crate::judge::Instead;

impl Instead for Severity {
    fn instead(self, _: Rule) -> Severity {
        match self {
            Severity::Error => Severity::Warning,
            Severity::Warning => Severity::Error,
            // No rule concludes a limit, so it stays.
            Severity::Limit => Severity::Limit,
        }
    }
}
