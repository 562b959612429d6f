//! What stands in for an arity where the rule that concludes it is switched off.

use super::call::Arity;
use crate::book::Rule;
use crate::judge::Instead;

/// What takes any arguments takes none.
impl Instead for Arity {
    fn instead(self, _: Rule) -> Arity {
        match self {
            Arity::Any => Arity::Exactly(0),
            Arity::Exactly(_) => Arity::Any,
        }
    }
}
