//! The arity that stands in when the rule that concludes it is switched off.

use super::call::Arity;
use crate::book::Rule;
use crate::judge::Instead;

/// Any number of arguments becomes none, and the other way round.
impl Instead for Arity {
    fn instead(self, _: Rule) -> Arity {
        match self {
            Arity::Any => Arity::Exactly(0),
            Arity::Exactly(_) => Arity::Any,
        }
    }
}
