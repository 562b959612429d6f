//! What stands in for inferred information where the rule that concludes it is switched off.

use super::InferError;
use crate::book::Rule;
use crate::grammar::StructInfo;
use crate::judge::Instead;

/// Other information; of what is rejected nothing is known.
impl Instead for Result<StructInfo, InferError> {
    fn instead(self, rule: Rule) -> Self {
        match self {
            Ok(info) => Ok(info.instead(rule)),
            Err(InferError { .. }) => Ok(StructInfo::Object),
        }
    }
}
