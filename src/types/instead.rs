//! What stands in for a conversion where the rule that concludes it is switched off.

use super::Conversion;
use crate::book::Rule;
use crate::judge::Instead;

/// What needs a cast is converted in silence.
impl Instead for Conversion {
    fn instead(self, _: Rule) -> Conversion {
        match self {
            Conversion::None => Conversion::MatchCast,
            Conversion::MatchCast | Conversion::Unrelated { .. } => Conversion::None,
        }
    }
}
