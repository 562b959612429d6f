//! Proving dimensions equal or different, as strongly as [`Cx::prover`] says.

use std::fmt;

use super::alpha_equal;
use crate::cx::{Cx, Prover};
use crate::grammar::PrimExpr;
use crate::rule::Rule;
use crate::verdict::Proof;

/// Why a prover answered as it did.
#[derive(Clone, PartialEq, Debug)]
pub enum Reason {
    /// The two are built alike.
    Alpha,
    /// Both are constants.
    Constants,
    /// No method of the prover reached a conclusion.
    NoConclusion,
}

/// EQ: are two dimensions equal under every admissible assignment, different under every one, or is that unknown?
///
/// 2023-02, Note on Proving Shapes Equivalent.
pub fn prove_equal(cx: &mut Cx, a: &PrimExpr, b: &PrimExpr) -> Proof {
    prove_equal_with_reason(cx, a, b).0
}

/// As [`prove_equal`], with the reason of the answer.
pub fn prove_equal_with_reason(cx: &mut Cx, a: &PrimExpr, b: &PrimExpr) -> (Proof, Reason) {
    if let Some(proof) = constants(cx, a, b) {
        return (proof, Reason::Constants);
    }
    let alike = alpha_equal(a, b);
    if cx.rule(Rule::EqAlpha, alike) {
        return (Proof::Equal, Reason::Alpha);
    }
    match cx.prover {
        Prover::Alpha => unknown(cx),
        Prover::Algebraic | Prover::Exhaustive => unknown(cx),
    }
}

fn unknown(cx: &mut Cx) -> (Proof, Reason) {
    let answer = if cx.fire(Rule::EqTristate) { Proof::Unknown } else { Proof::Different };
    (answer, Reason::NoConclusion)
}

/// EQ.CONST: two constants are compared by value.
fn constants(cx: &mut Cx, a: &PrimExpr, b: &PrimExpr) -> Option<Proof> {
    let (PrimExpr::IntImm(a), PrimExpr::IntImm(b)) = (a, b) else { return None };
    cx.fire(Rule::EqConst).then_some(if a == b { Proof::Equal } else { Proof::Different })
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Reason::Alpha => f.write_str("both are built alike"),
            Reason::Constants => f.write_str("both are constants"),
            Reason::NoConclusion => f.write_str("no conclusion"),
        }
    }
}
