//! The verdict of the ring, the first channel, and its combination with the verdict on floats.

use std::fmt;

use super::RefinementVerdict;
use crate::judge::Cx;

/// Why a difference of floats decides nothing.
pub(super) const NEAR_END: &str = "an argument is so large or small that the order of operations decides";
/// The exponent of the probability that a draw shows no difference.
const BITS: u32 = 12;

/// The verdict of the ring on two programs.
#[derive(Clone, PartialEq, Debug)]
pub enum RealVerdict {
    /// They are the same real function on the shapes of the inputs, but for a small probability.
    Equal {
        /// On how many draws they were compared.
        draws: u32,
    },
    /// They are, where each constant stands for the simplest fraction that it is a rounding of (REFINE.RING.CONSTANTS).
    RoundedConstants {
        /// On how many draws they were compared.
        draws: u32,
    },
    /// They are not: here they differ.
    Different(String),
    /// The ring does not tell, with the reason.
    Undecided(String),
}

impl fmt::Display for RealVerdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let odds = |draws: &u32| format!("probability of error < 2^-{} below degree 16", draws * BITS);
        match self {
            RealVerdict::Equal { draws } => write!(f, "equal on these shapes ({})", odds(draws)),
            RealVerdict::RoundedConstants { draws } => {
                write!(f, "equal on these shapes but for the rounding of constants ({})", odds(draws))
            }
            RealVerdict::Different(how) => write!(f, "different: {how}"),
            RealVerdict::Undecided(reason) => write!(f, "undecided in the ring: {reason}"),
        }
    }
}

impl RealVerdict {
    /// The exponent of 2 that bounds the probability of error, of those that have one.
    pub fn error_bits(&self) -> Option<u32> {
        match self {
            RealVerdict::Equal { draws } | RealVerdict::RoundedConstants { draws } => Some(draws * BITS),
            RealVerdict::Different(_) | RealVerdict::Undecided(_) => None,
        }
    }
}

/// REFINE.REAL: what is within rounding and another real function is not allowed, unless what differs are rounded
/// constants. Nor is it where floats do not tell, since an operand is so large or small.
pub(super) fn with_real(cx: &mut Cx, verdict: RefinementVerdict, real: &RealVerdict) -> RefinementVerdict {
    match (&verdict, real) {
        (RefinementVerdict::Allowed, RealVerdict::Different(how)) => {
            let rule = rule!("REFINE.REAL");
            let message = format!("different as real functions, though within rounding: {how}");
            cx.premise(rule, 1, RefinementVerdict::NotAllowed { rule, message })
        }
        (RefinementVerdict::Undecided(reason), RealVerdict::Different(how)) if reason == NEAR_END => {
            let rule = rule!("REFINE.REAL");
            let message = format!("different as real functions, and floats are too large or small to tell: {how}");
            cx.premise(rule, 1, RefinementVerdict::NotAllowed { rule, message })
        }
        (_, _) => verdict,
    }
}
