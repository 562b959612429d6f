//! Replaces the result of a production if its rule is switched off.

use super::DataError;
use crate::book::Rule;
use crate::grammar::Span;
use crate::judge::Instead;

/// Data that the production accepts is rejected, and data that it rejects is accepted.
impl Instead for Result<(), DataError> {
    fn instead(self, _: Rule) -> Self {
        match self {
            Ok(()) => Err(DataError::at(Span::NONE, "refused without a reason")),
            Err(DataError { .. }) => Ok(()),
        }
    }
}
