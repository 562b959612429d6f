//! Quick answers about two dimensions without normal forms: complete for linear dimensions; for others only that no
//! definite answer is true. They never contradict the normal forms, and only find the commonest answers sooner.

use num_integer::Integer;

use super::evaluate::apply;
use crate::grammar::{BinaryOp, PrimExpr, ShapeVar};
use crate::judge::Proof;

/// The answer of the algebraic prover, if it can be found quickly.
pub(super) fn quick(a: &PrimExpr, b: &PrimExpr) -> Option<Proof> {
    match Difference::of(a, b) {
        Some(difference) => difference.proof(),
        None => depends(a, b).then_some(Proof::Unknown),
    }
}

/// The limits of quick answers: the number of variables, the depth of operators, and the size of values.
const MAX_VARS: usize = 4;
const MAX_DEPTH: usize = 12;
const MAX_VALUE: i64 = 1 << 31;

/// A few variables, each with a number.
struct SmallAssignment<'e> {
    vars: [Option<(&'e ShapeVar, i64)>; MAX_VARS],
}

impl<'e> SmallAssignment<'e> {
    fn new() -> SmallAssignment<'e> {
        SmallAssignment { vars: [None; MAX_VARS] }
    }

    /// The number of a variable; `first` gives it if the variable is new. `None` if there are too many variables.
    fn of(&mut self, v: &'e ShapeVar, first: impl FnOnce(usize) -> i64) -> Option<&mut i64> {
        let at = self.vars.iter().position(|entry| entry.is_none_or(|(w, _)| v == w))?;
        let entry = self.vars.get_mut(at)?;
        Some(&mut entry.get_or_insert_with(|| (v, first(at))).1)
    }

    fn all(&self) -> impl Iterator<Item = i64> {
        self.vars.iter().map_while(|entry| entry.map(|(_, number)| number))
    }
}

fn small(value: i64) -> Option<i64> {
    (-MAX_VALUE..=MAX_VALUE).contains(&value).then_some(value)
}

/// `c1*x1 + .. + ck*xk + c` over variables.
struct Difference<'e> {
    coefficients: SmallAssignment<'e>,
    constant: i64,
}

impl<'e> Difference<'e> {
    /// `a - b`, if both are linear.
    fn of(a: &'e PrimExpr, b: &'e PrimExpr) -> Option<Difference<'e>> {
        let mut difference = Difference { coefficients: SmallAssignment::new(), constant: 0 };
        difference.add(a, 1, MAX_DEPTH)?;
        difference.add(b, -1, MAX_DEPTH)?;
        Some(difference)
    }

    fn add(&mut self, e: &'e PrimExpr, factor: i64, depth: usize) -> Option<()> {
        let depth = depth.checked_sub(1)?;
        match e {
            PrimExpr::Var(v) => {
                let coefficient = self.coefficients.of(v, |_| 0)?;
                *coefficient = small(*coefficient + factor)?;
            }
            PrimExpr::IntImm(i) => self.constant = small(self.constant + small(*i)? * factor)?,
            PrimExpr::Binary(BinaryOp::Add, a, b) => {
                self.add(a, factor, depth)?;
                self.add(b, factor, depth)?;
            }
            PrimExpr::Binary(BinaryOp::Sub, a, b) => {
                self.add(a, factor, depth)?;
                self.add(b, -factor, depth)?;
            }
            PrimExpr::Binary(BinaryOp::Mul, a, b) => match (&**a, &**b) {
                (e, PrimExpr::IntImm(i)) | (PrimExpr::IntImm(i), e) => {
                    self.add(e, small(factor * small(*i)?)?, depth)?
                }
                (_, _) => return None,
            },
            PrimExpr::Binary(..) | PrimExpr::Not(_) | PrimExpr::Select(..) => return None,
        }
        Some(())
    }

    /// Whether it is always, never or sometimes 0. `None` if that depends on the sums that the terms can reach.
    fn proof(&self) -> Option<Proof> {
        let Difference { coefficients, constant } = self;
        let content = coefficients.all().fold(0, |gcd, c| gcd.gcd(&c));
        if content == 0 {
            return Some(if *constant == 0 { Proof::Equal } else { Proof::Different });
        }
        if !constant.is_multiple_of(&content) {
            return Some(Proof::Different);
        }
        let (no_negative, no_positive) = (coefficients.all().all(|c| c >= 0), coefficients.all().all(|c| c <= 0));
        if (no_negative && *constant > 0) || (no_positive && *constant < 0) {
            return Some(Proof::Different);
        }
        // A variable with the coefficient 1 or -1 takes every value that is needed. So does an only variable, and one
        // of two with different signs.
        let some_unit = coefficients.all().any(|c| c.abs() == 1);
        let alone = coefficients.all().filter(|c| *c != 0).count() == 1;
        let both_signs = !no_negative && !no_positive;
        (some_unit || alone || both_signs || *constant == 0).then_some(Proof::Unknown)
    }
}

/// Sizes to try for the first few variables, in order of occurrence.
const TRIALS: [[i64; MAX_VARS]; 8] =
    [[0, 0, 0, 0], [1, 1, 1, 1], [2, 1, 3, 1], [1, 2, 1, 3], [3, 1, 2, 4], [4, 3, 2, 1], [2, 5, 7, 3], [6, 4, 12, 8]];

/// Whether two dimensions are equal for some tried sizes and different for others.
fn depends(a: &PrimExpr, b: &PrimExpr) -> bool {
    let (mut equal, mut different) = (false, false);
    TRIALS.iter().any(|sizes| {
        let mut assignment = SmallAssignment::new();
        let x = value(a, &mut assignment, sizes, MAX_DEPTH);
        if let (Some(x), Some(y)) = (x, value(b, &mut assignment, sizes, MAX_DEPTH)) {
            equal |= x == y;
            different |= x != y;
        }
        equal && different
    })
}

fn value<'e>(
    e: &'e PrimExpr,
    assignment: &mut SmallAssignment<'e>,
    sizes: &[i64; MAX_VARS],
    depth: usize,
) -> Option<i64> {
    let depth = depth.checked_sub(1)?;
    match e {
        PrimExpr::Var(v) => assignment.of(v, |at| sizes.get(at).copied().unwrap_or(0)).map(|size| *size),
        PrimExpr::IntImm(i) => small(*i),
        PrimExpr::Binary(op, a, b) => {
            let (a, b) = (value(a, assignment, sizes, depth)?, value(b, assignment, sizes, depth)?);
            small(apply(*op, &a, &b)?)
        }
        PrimExpr::Not(a) => Some(i64::from(value(a, assignment, sizes, depth)? == 0)),
        PrimExpr::Select(c, t, f) => {
            let chosen = if value(c, assignment, sizes, depth)? == 0 { f } else { t };
            value(chosen, assignment, sizes, depth)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::generate::{Tape, prim_expr};
    use crate::judge::{Cx, Prover};
    use crate::shape::prove::{by_normal_forms, prove_equal_briefly, prove_equal_with_reason};

    fn v(name: &str) -> PrimExpr {
        PrimExpr::var(name)
    }

    fn op(op: BinaryOp, a: impl Into<PrimExpr>, b: impl Into<PrimExpr>) -> PrimExpr {
        PrimExpr::binary(op, a.into(), b.into())
    }

    /// A dimension with any operators, sometimes with large constants.
    fn any_dim(tape: &mut Tape, depth: usize) -> PrimExpr {
        let vars = ["n", "m", "k", "a", "b"].map(ShapeVar::new);
        match tape.choose(if depth == 0 { 2 } else { 6 }) {
            0 => prim_expr(tape, &vars),
            1 => PrimExpr::IntImm([-3, -1, 0, 1, 2, 6, 7, i64::MAX, i64::MIN][tape.choose(9)]),
            2 => op([BinaryOp::Add, BinaryOp::Sub, BinaryOp::Mul][tape.choose(3)], any_dim(tape, depth - 1), 3),
            3 => PrimExpr::Not(any_dim(tape, depth - 1).into()),
            4 => {
                let [c, t, f] = [0, 1, 2].map(|_| any_dim(tape, depth - 1).into());
                PrimExpr::Select(c, t, f)
            }
            _ => {
                let operator = BinaryOp::ALL[tape.choose(BinaryOp::ALL.len())];
                op(operator, any_dim(tape, depth - 1), any_dim(tape, depth - 1))
            }
        }
    }

    fn pairs() -> impl Iterator<Item = (PrimExpr, PrimExpr)> {
        (0..20_000).map(|seed| {
            let mut tape = Tape::from_seed(seed, 64);
            (any_dim(&mut tape, 2), any_dim(&mut tape, 1))
        })
    }

    #[test]
    fn the_quick_answer_is_that_of_the_normal_forms() {
        let mut answers = [0; 3];
        for (a, b) in pairs() {
            if let Some(proof) = quick(&a, &b) {
                assert_eq!(proof, by_normal_forms(&a, &b).0, "{a} and {b}");
                answers[proof as usize] += 1;
            }
        }
        // Each answer occurs often enough for a comparison.
        assert!(answers.iter().all(|count| *count > 100), "{answers:?}");
    }

    #[test]
    fn an_answer_without_its_reason_is_the_same() {
        for (a, b) in pairs().take(4_000) {
            for prover in [Prover::Alpha, Prover::Algebraic, Prover::Exhaustive] {
                let (mut brief, mut full) = (Cx::new().with_prover(prover), Cx::new().with_prover(prover));
                assert_eq!(
                    prove_equal_briefly(&mut brief, &a, &b).0,
                    prove_equal_with_reason(&mut full, &a, &b).0,
                    "{a} and {b}"
                );
                assert!(brief.recorded() == full.recorded(), "{a} and {b}");
            }
        }
    }

    #[test]
    fn linear_dimensions() {
        let n = || v("n");
        let rows = [
            (op(BinaryOp::Add, n(), n()), op(BinaryOp::Mul, 2, n()), Some(Proof::Equal)),
            (n(), op(BinaryOp::Add, n(), 1), Some(Proof::Different)),
            (n(), (-1).into(), Some(Proof::Different)),
            (n(), 4.into(), Some(Proof::Unknown)),
            (op(BinaryOp::Mul, 2, n()), op(BinaryOp::Add, op(BinaryOp::Mul, v("m"), 2), 1), Some(Proof::Different)),
            (op(BinaryOp::Mul, 3, n()), op(BinaryOp::Add, op(BinaryOp::Mul, v("m"), 5), 1), Some(Proof::Unknown)),
            // It is not obvious whether a sum of threes and fives is 7 or 8.
            (op(BinaryOp::Add, op(BinaryOp::Mul, 3, n()), op(BinaryOp::Mul, v("m"), 5)), 7.into(), None),
            (op(BinaryOp::Mul, n(), i64::MAX), 1.into(), None),
        ];
        for (a, b, expected) in rows {
            assert_eq!(quick(&a, &b), expected, "{a} and {b}");
        }
    }

    #[test]
    fn others_are_tried() {
        let product = op(BinaryOp::Mul, v("n"), v("m"));
        assert_eq!(quick(&product, &3.into()), Some(Proof::Unknown));
        // Equal wherever it is defined, but undefined at 0.
        assert_eq!(quick(&op(BinaryOp::FloorDiv, v("n"), v("n")), &1.into()), None);
    }
}
