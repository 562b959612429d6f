//! The verdict of the ring, the first channel, and its combination with the verdict on floats.

use std::fmt;

use super::RefinementVerdict;
use crate::judge::Cx;

/// Why a difference of floats does not decide.
pub(super) const NEAR_END: &str = "an argument is so large or small that the order of operations decides";
/// A draw misses a difference with a probability below 2 to the power of minus this.
const BITS: u32 = 12;

/// The verdict of the ring on two programs.
#[derive(Clone, PartialEq, Debug)]
pub enum RealVerdict {
    /// They are the same real function on the shapes of the inputs, except with a small probability.
    Equal {
        /// On how many draws they were compared.
        draws: u32,
    },
    /// They are, if each constant is replaced by the simplest fraction that rounds to it (REFINE.RING.CONSTANTS).
    RoundedConstants {
        /// On how many draws they were compared.
        draws: u32,
    },
    /// They are not: a place where they differ.
    Different {
        /// The draw that shows it: 1 is the first one.
        draw: u32,
        /// What differs, for people.
        how: String,
    },
    /// The ring does not decide, with the reason.
    Undecided(String),
}

impl fmt::Display for RealVerdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let odds = |draws: &u32| format!("probability of error < 2^-{} below degree 16", draws * BITS);
        match self {
            RealVerdict::Equal { draws } => write!(f, "equal on these shapes and integers ({})", odds(draws)),
            RealVerdict::RoundedConstants { draws } => {
                write!(f, "equal on these shapes and integers but for the rounding of constants ({})", odds(draws))
            }
            RealVerdict::Different { how, .. } => write!(f, "different: {how}"),
            RealVerdict::Undecided(reason) => write!(f, "undecided in the ring: {reason}"),
        }
    }
}

impl RealVerdict {
    /// The exponent of 2 that bounds the probability of error, for the verdicts that have one.
    pub fn error_bits(&self) -> Option<u32> {
        match self {
            RealVerdict::Equal { draws } | RealVerdict::RoundedConstants { draws } => Some(draws * BITS),
            RealVerdict::Different { .. } | RealVerdict::Undecided(_) => None,
        }
    }
}

/// REFINE.REAL: a target within rounding that is another real function is not allowed, unless it differs only in
/// rounded constants. The same holds if an operand is so large or small that floats do not decide.
pub(super) fn with_real(cx: &mut Cx, verdict: RefinementVerdict, real: &RealVerdict) -> RefinementVerdict {
    match (&verdict, real) {
        (RefinementVerdict::Allowed, RealVerdict::Different { how, .. }) => {
            let rule = rule!("REFINE.REAL");
            let message = format!("different as real functions, though within rounding: {how}");
            cx.premise(rule, 1, RefinementVerdict::NotAllowed { rule, message })
        }
        (RefinementVerdict::Undecided(reason), RealVerdict::Different { how, .. }) if reason == NEAR_END => {
            let rule = rule!("REFINE.REAL");
            let message = format!("different as real functions, and floats are too large or small to tell: {how}");
            cx.premise(rule, 1, RefinementVerdict::NotAllowed { rule, message })
        }
        (_, _) => verdict,
    }
}
