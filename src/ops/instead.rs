//! Replaces inferred information if the rule that concludes it is switched off.

use super::InferError;
use crate::book::Rule;
use crate::grammar::StructInfo;
use crate::judge::Instead;

/// Information becomes other information. A rejection becomes unknown information.
impl Instead for Result<StructInfo, InferError> {
    fn instead(self, rule: Rule) -> Self {
        match self {
            Ok(info) => Ok(info.instead(rule)),
            Err(InferError { .. }) => Ok(StructInfo::Object),
        }
    }
}
