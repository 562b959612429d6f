//! What stands in for a verdict where the rule that concludes it is switched off.

use super::Verdict;
use crate::book::Rule;
use crate::judge::Instead;

/// What is allowed is refused, and the other way round.
impl Instead for Verdict {
    fn instead(self, rule: Rule) -> Verdict {
        match self {
            Verdict::Allowed => Verdict::NotAllowed { rule, message: "refused without a reason".to_string() },
            Verdict::NotAllowed { .. } | Verdict::Vacuous(_) | Verdict::Undecided(_) | Verdict::OutOfBudget(_) => {
                Verdict::Allowed
            }
        }
    }
}
