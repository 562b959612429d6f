//! What stands in for a verdict where the rule that concludes it is switched off.

use super::Verdict;
use crate::book::Rule;
use crate::judge::{Instead, Premise};

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

/// A premise whose outcome is a verdict holds where the target is allowed.
impl Premise for Verdict {
    fn holds(&self) -> bool {
        *self == Verdict::Allowed
    }

    fn untested(self) -> Verdict {
        self
    }

    fn masked(self, rule: Rule) -> Verdict {
        if self.holds() { self } else { self.instead(rule) }
    }
}
