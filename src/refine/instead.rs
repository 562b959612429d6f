//! The verdict that replaces another one if the rule that concludes it is switched off.

use super::RefinementVerdict;
use crate::book::Rule;
use crate::judge::{Instead, Premise};

/// An allowed target is refused, and the other way round.
impl Instead for RefinementVerdict {
    fn instead(self, rule: Rule) -> RefinementVerdict {
        match self {
            RefinementVerdict::Allowed => {
                RefinementVerdict::NotAllowed { rule, message: "refused without a reason".to_string() }
            }
            RefinementVerdict::NotAllowed { .. }
            | RefinementVerdict::Vacuous(_)
            | RefinementVerdict::Undecided(_)
            | RefinementVerdict::OutOfBudget(_) => RefinementVerdict::Allowed,
        }
    }
}

/// A premise whose outcome is a verdict holds where the target is allowed.
impl Premise for RefinementVerdict {
    fn holds(&self) -> bool {
        *self == RefinementVerdict::Allowed
    }

    fn untested(self) -> RefinementVerdict {
        self
    }

    fn masked(self, rule: Rule) -> RefinementVerdict {
        if self.holds() { self } else { self.instead(rule) }
    }
}
