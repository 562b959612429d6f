//! The conversion that stands in when the rule that concludes it is switched off.

use super::Conversion;
use crate::book::Rule;
use crate::judge::Instead;

/// Turns a required cast into a silent conversion, and the other way round.
impl Instead for Conversion {
    fn instead(self, _: Rule) -> Conversion {
        match self {
            Conversion::None => Conversion::MatchCast,
            Conversion::MatchCast | Conversion::Unrelated { .. } => Conversion::None,
        }
    }
}
