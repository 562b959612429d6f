//! Proves dimensions equal or different, with the strength of [`Cx::prover`].

use std::fmt;

use super::alpha_equal;
use super::exhaustive::{Assignment, Decision, by_cases, decide};
use super::normal_form::{NormalForm, normal_form};
use super::polynomial::Polynomial;
use super::quick::quick;
use crate::grammar::PrimExpr;
use crate::judge::{BestEffort, Cx, Proof, Prover};

/// The reason for an answer of a prover.
#[derive(Clone, PartialEq, Debug)]
pub enum Reason {
    /// The two are structurally equal.
    Alpha,
    /// Both are constants.
    Constants,
    /// Both have this same normal form.
    SameNormalForm(Polynomial),
    /// This difference of the normal forms is never 0.
    NonzeroDifference(Polynomial),
    /// A case distinction covers every assignment.
    EveryCase,
    /// Equal for the first assignment, different for the second.
    Witnesses {
        /// An assignment that makes them equal.
        equal: Assignment,
        /// An assignment that makes them different.
        different: Assignment,
    },
    /// No method of the prover reached a conclusion.
    NoConclusion,
}

/// The number of cases that the algebraic prover distinguishes.
const FEW_CASES: usize = 16;

/// EQ: whether two dimensions are equal under every admissible assignment, different under every one, or neither is
/// known.
///
/// Sizes are not negative. 2023-02, Note on Proving Shapes Equivalent.
pub fn prove_equal(cx: &mut Cx, a: &PrimExpr, b: &PrimExpr) -> Proof {
    prove_equal_briefly(cx, a, b).0
}

/// Like [`prove_equal`], with the reason for the answer.
pub fn prove_equal_with_reason(cx: &mut Cx, a: &PrimExpr, b: &PrimExpr) -> (Proof, Reason) {
    prove(cx, a, b, [Reason::Alpha, Reason::Constants], |prover| match prover {
        Prover::Alpha => (Proof::Unknown, Reason::NoConclusion),
        Prover::Algebraic => algebraic(a, b),
        Prover::Exhaustive => exhaustive(a, b),
    })
}

/// Like [`prove_equal`], with whether a definite answer needed more than structural comparison. It is faster than
/// [`prove_equal_with_reason`].
pub(crate) fn prove_equal_briefly(cx: &mut Cx, a: &PrimExpr, b: &PrimExpr) -> (Proof, bool) {
    prove(cx, a, b, [false, false], |prover| {
        let proof = match (prover, quick(a, b)) {
            (Prover::Alpha, _) => Proof::Unknown,
            (Prover::Algebraic, Some(proof)) => proof,
            (Prover::Exhaustive, Some(proof @ (Proof::Equal | Proof::Different))) => proof,
            (Prover::Algebraic, None) => by_normal_forms(a, b).0,
            (Prover::Exhaustive, Some(Proof::Unknown) | None) => exhaustive(a, b).0,
        };
        (proof, proof != Proof::Unknown)
    })
}

/// The rules, applied to the answer of the current prover. `R` says how an answer was found. `floor` gives its value
/// for structurally equal dimensions and for constants.
fn prove<R>(
    cx: &mut Cx,
    a: &PrimExpr,
    b: &PrimExpr,
    floor: [R; 2],
    by_prover: impl FnOnce(Prover) -> (Proof, R),
) -> (Proof, R) {
    let [alpha, constant] = floor;
    let ((rule, proof), reason) = match (a, b) {
        (PrimExpr::IntImm(a), PrimExpr::IntImm(b)) => {
            let proof = if a == b { Proof::Equal } else { Proof::Different };
            ((rule!("EQ.CONST"), proof), constant)
        }
        (a, b) if alpha_equal(a, b) => ((rule!("EQ.ALPHA"), Proof::Equal), alpha),
        (_, _) => match by_prover(cx.prover) {
            (Proof::Unknown, reason) => ((rule!("EQ.TRISTATE"), Proof::Unknown), reason),
            (proof @ (Proof::Equal | Proof::Different), reason) => ((rule!("EQ.ADVANCED"), proof), reason),
        },
    };
    (cx.by_kind(rule, proof), reason)
}

fn algebraic(a: &PrimExpr, b: &PrimExpr) -> (Proof, Reason) {
    match quick(a, b) {
        Some(Proof::Unknown) => (Proof::Unknown, Reason::NoConclusion),
        // The reason needs the normal form.
        Some(Proof::Equal | Proof::Different) | None => by_normal_forms(a, b),
    }
}

/// Equal normal forms have equal values. If their difference is never 0, the values always differ.
pub(super) fn by_normal_forms(a: &PrimExpr, b: &PrimExpr) -> (Proof, Reason) {
    let (Some(a), Some(b)) = (normal_form(a), normal_form(b)) else {
        return (Proof::Unknown, Reason::NoConclusion);
    };
    compare(&a, &b).unwrap_or((Proof::Unknown, Reason::NoConclusion))
}

fn compare(a: &NormalForm, b: &NormalForm) -> Option<(Proof, Reason)> {
    let difference = a.value.clone().minus(b.value.clone());
    if difference.is_zero() {
        // They are not equal if one side can divide by zero and the other cannot.
        return (a.divisors == b.divisors).then_some((Proof::Equal, Reason::SameNormalForm(a.value.clone())));
    }
    if never_zero(&difference) {
        return Some((Proof::Different, Reason::NonzeroDifference(difference)));
    }
    by_cases(a, b, FEW_CASES).map(|proof| (proof, Reason::EveryCase))
}

/// Whether a difference is never 0: by its bounds, or because a common divisor of the other coefficients does not
/// divide the constant.
fn never_zero(difference: &Polynomial) -> bool {
    use num_integer::Integer;
    use num_traits::Zero;
    let content = difference.content();
    let parity = !content.is_zero() && !difference.constant_term().is_multiple_of(&content);
    parity || difference.bounds().excludes_zero()
}

fn exhaustive(a: &PrimExpr, b: &PrimExpr) -> (Proof, Reason) {
    match algebraic(a, b) {
        (Proof::Unknown, _) => match decide(a, b) {
            Decision::Always(proof) => (proof, Reason::EveryCase),
            Decision::Depends { equal, different } => (Proof::Unknown, Reason::Witnesses { equal, different }),
            Decision::Open => (Proof::Unknown, Reason::NoConclusion),
        },
        definite => definite,
    }
}

/// The answer of the current prover, with all answers that the text permits. They reach from the result of structural
/// comparison to the truth about all assignments. If the truth is not known, any answer may be right.
pub fn permitted_proofs(cx: &mut Cx, a: &PrimExpr, b: &PrimExpr) -> BestEffort<Proof> {
    let answer = prove_equal(cx, a, b);
    let (floor, _) = prove_equal_with_reason(&mut Cx::new().with_prover(Prover::Alpha), a, b);
    let (ceiling, reason) = prove_equal_with_reason(&mut Cx::new().with_prover(Prover::Exhaustive), a, b);
    let permitted = match (floor, ceiling, reason) {
        (Proof::Equal | Proof::Different, _, _) => vec![floor],
        (Proof::Unknown, Proof::Unknown, Reason::NoConclusion) => {
            vec![Proof::Unknown, Proof::Equal, Proof::Different]
        }
        (Proof::Unknown, Proof::Unknown, _) => vec![Proof::Unknown],
        (Proof::Unknown, Proof::Equal | Proof::Different, _) => vec![Proof::Unknown, ceiling],
    };
    BestEffort { answer, permitted }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Reason::Alpha => f.write_str("both are built alike"),
            Reason::Constants => f.write_str("both are constants"),
            Reason::SameNormalForm(form) => write!(f, "both have the normal form {form}"),
            Reason::NonzeroDifference(difference) => write!(f, "the difference {difference} is never 0"),
            Reason::EveryCase => f.write_str("a distinction of cases covers every assignment"),
            Reason::Witnesses { equal, different } => {
                write!(f, "equal for {}, different for {}", show(equal), show(different))
            }
            Reason::NoConclusion => f.write_str("no conclusion"),
        }
    }
}

fn show(assignment: &Assignment) -> String {
    let entries: Vec<String> = assignment.iter().map(|(v, size)| format!("{v} = {size}")).collect();
    entries.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::grammar::BinaryOp::*;

    fn v(name: &str) -> PrimExpr {
        PrimExpr::var(name)
    }

    fn op(op: crate::grammar::BinaryOp, a: impl Into<PrimExpr>, b: impl Into<PrimExpr>) -> PrimExpr {
        PrimExpr::binary(op, a.into(), b.into())
    }

    fn by(prover: Prover, a: &PrimExpr, b: &PrimExpr) -> Proof {
        prove_equal(&mut Cx::new().with_prover(prover), a, b)
    }

    #[test]
    fn the_table_of_the_chapter() {
        let double = || op(Mul, 2, v("n"));
        let rows: [(PrimExpr, PrimExpr, Proof, Proof); 7] = [
            (v("n"), v("n"), Proof::Equal, Proof::Equal),
            (3.into(), 4.into(), Proof::Different, Proof::Different),
            (v("n"), v("m"), Proof::Unknown, Proof::Unknown),
            (op(Add, v("n"), v("n")), double(), Proof::Unknown, Proof::Equal),
            (v("n"), op(Add, v("n"), 1), Proof::Unknown, Proof::Different),
            (op(Mul, v("n"), 0), 0.into(), Proof::Unknown, Proof::Equal),
            (double(), op(Add, op(Mul, 2, v("m")), 1), Proof::Unknown, Proof::Different),
        ];
        for (a, b, least, most) in rows {
            assert_eq!(by(Prover::Alpha, &a, &b), least, "{a} and {b}");
            assert_eq!(by(Prover::Algebraic, &a, &b), most, "{a} and {b}");
            assert_eq!(by(Prover::Exhaustive, &a, &b), most, "{a} and {b}");
        }
    }

    #[test]
    fn what_is_permitted_lies_between_the_floor_and_the_truth() {
        let ask = |a: &PrimExpr, b: &PrimExpr| permitted_proofs(&mut Cx::new(), a, b).permitted;
        assert_eq!(ask(&v("n"), &v("m")), [Proof::Unknown]);
        assert_eq!(ask(&op(Add, v("n"), v("n")), &op(Mul, 2, v("n"))), [Proof::Unknown, Proof::Equal]);
        assert_eq!(ask(&3.into(), &3.into()), [Proof::Equal]);
    }
}
