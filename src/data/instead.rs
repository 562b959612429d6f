//! What stands in for the end of a production where its rule is switched off.

use super::DataError;
use crate::book::Rule;
use crate::grammar::Span;
use crate::judge::Instead;

/// What is built by a production is refused, and what is refused is taken.
impl Instead for Result<(), DataError> {
    fn instead(self, _: Rule) -> Self {
        match self {
            Ok(()) => Err(DataError::at(Span::NONE, "refused without a reason")),
            Err(DataError { .. }) => Ok(()),
        }
    }
}
