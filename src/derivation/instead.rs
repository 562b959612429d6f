//! Replaces a derived result if the rule that concludes it is switched off.

use super::{CallError, Contexts, Fit};
use crate::book::Rule;
use crate::grammar::StructInfo;
use crate::judge::Instead;

/// Without SI.BESTEFFORT an undecided check is an error. Without any other rule it is accepted silently.
impl Instead for Fit {
    fn instead(self, rule: Rule) -> Fit {
        match self {
            Fit::Perhaps if rule == rule!("SI.BESTEFFORT") => Fit::Never,
            Fit::Certainly => Fit::Never,
            Fit::Perhaps | Fit::Never => Fit::Certainly,
        }
    }
}

/// A rejected call gives an object.
impl Instead for Result<StructInfo, CallError> {
    fn instead(self, rule: Rule) -> Self {
        Ok(self.map_or(StructInfo::Object, |info| info.instead(rule)))
    }
}

/// A failed condition is ignored.
impl Instead for Result<(), CallError> {
    fn instead(self, _: Rule) -> Self {
        Ok(())
    }
}

/// A function literal sees none of the surrounding variables.
impl Instead for Contexts<'_> {
    fn instead(self, _: Rule) -> Self {
        Contexts::default()
    }
}
