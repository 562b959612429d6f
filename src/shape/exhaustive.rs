//! Definite answers about all assignments of sizes. The methods are cases with linear arithmetic, periods for one
//! variable, and assignments that show that no definite answer is true.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use num_bigint::BigInt;
use num_integer::Integer;
use num_traits::{Signed, ToPrimitive, Zero};

use super::budget::Budget;
use super::evaluate::apply;
use super::linear::infeasible;
use super::normal_form::{NormalForm, normal_form, normal_form_within, rebuild};
use super::polynomial::{Atom, Nested, Polynomial};
use crate::grammar::{BinaryOp, PrimExpr, ShapeVar};
use crate::judge::{Proof, with_stack};

/// Sizes of the shape variables.
pub type Assignment = BTreeMap<ShapeVar, i64>;

/// The decision of the strongest prover.
#[derive(Clone, PartialEq, Debug)]
pub enum Decision {
    /// Always equal, or always different.
    Always(Proof),
    /// Equal for the first assignment and different for the second: no definite answer is true.
    Depends {
        /// An assignment that makes them equal.
        equal: Assignment,
        /// An assignment that makes them different.
        different: Assignment,
    },
    /// The methods do not suffice.
    Open,
}

/// The number of assignments to try before any proof.
const MAX_TRIALS: usize = 4_000;
/// The maximum number of cases in a proof.
const MAX_CASES: usize = 256;
/// The maximum period for one variable, and the size from which its behaviour is taken as regular.
const MAX_PERIOD: i64 = 720;
const REGULAR_FROM: i64 = 256;
/// The limit up to which sums of positive multiples are enumerated.
const MAX_SUM: usize = 100_000;

/// Decides whether two dimensions are equal for all sizes, for none, or for some.
pub fn decide(a: &PrimExpr, b: &PrimExpr) -> Decision {
    let mut vars = Vec::new();
    a.for_each_var(|v| vars.push(v.clone()));
    b.for_each_var(|v| vars.push(v.clone()));
    vars.sort();
    vars.dedup();
    let seen = search(a, b, &vars);
    if let (Some(equal), Some(different)) = (seen.equal, seen.different) {
        return Decision::Depends { equal, different };
    }
    if let [v] = vars.as_slice()
        && let Some(proof) = periodic(a, b, v)
    {
        return Decision::Always(proof);
    }
    let (Some(a), Some(b)) = (normal_form(a), normal_form(b)) else { return Decision::Open };
    by_cases(&a, &b, MAX_CASES).map_or(Decision::Open, Decision::Always)
}

#[derive(Default)]
struct WitnessPair {
    equal: Option<Assignment>,
    different: Option<Assignment>,
}

/// The exact value under an assignment, or `None` where a divisor is zero or a variable has no size.
pub fn exact_value(e: &PrimExpr, sizes: &Assignment) -> Option<BigInt> {
    with_stack(|| match e {
        PrimExpr::Var(v) => sizes.get(v).map(|size| BigInt::from(*size)),
        PrimExpr::IntImm(i) => Some((*i).into()),
        PrimExpr::Binary(op, a, b) => apply(*op, &exact_value(a, sizes)?, &exact_value(b, sizes)?),
        PrimExpr::Not(a) => Some(i64::from(exact_value(a, sizes)?.is_zero()).into()),
        PrimExpr::Select(c, t, f) => exact_value(if exact_value(c, sizes)?.is_zero() { f } else { t }, sizes),
    })
}

/// Sizes near the constants that the expressions compare with and divide by, because the behaviour changes there.
fn interesting_sizes(a: &PrimExpr, b: &PrimExpr) -> Vec<i64> {
    let mut sizes: BTreeSet<i64> = (0..=3).collect();
    for e in a.parts().chain(b.parts()) {
        if let PrimExpr::IntImm(i) = e {
            sizes.extend([i.saturating_sub(1), *i, i.saturating_add(1)]);
        }
    }
    sizes.extend([4, 5, 6, 7, 12, 60, 1_000, 1_001]);
    // No tensor has this many elements. Larger sizes only make the values overflow.
    sizes.into_iter().filter(|size| (0..=1 << 40).contains(size)).collect()
}

/// Tries assignments, small ones first, until both outcomes occur.
fn search(a: &PrimExpr, b: &PrimExpr, vars: &[ShapeVar]) -> WitnessPair {
    let sizes = interesting_sizes(a, b);
    let mut seen = WitnessPair::default();
    // Most of the cost of a trial is arithmetic on large integers.
    let trials = Budget::of_a_question().times(MAX_TRIALS, a.parts().chain(b.parts()).count());
    for trial in 0..trials {
        let Some(assignment) = nth_assignment(vars, &sizes, trial) else { break };
        let (Some(x), Some(y)) = (exact_value(a, &assignment), exact_value(b, &assignment)) else { continue };
        let found = if x == y { &mut seen.equal } else { &mut seen.different };
        found.get_or_insert(assignment);
        if seen.equal.is_some() && seen.different.is_some() {
            break;
        }
    }
    seen
}

/// The assignment of a trial. Trials are numbered in the base of the number of sizes, and the first variable changes
/// fastest.
fn nth_assignment(vars: &[ShapeVar], sizes: &[i64], trial: usize) -> Option<Assignment> {
    let mut rest = trial;
    let mut assignment = Assignment::new();
    for v in vars {
        assignment.insert(v.clone(), *sizes.get(rest % sizes.len().max(1))?);
        rest /= sizes.len();
    }
    (rest == 0).then_some(assignment)
}

/// The product of the constant divisors. A function of one variable behaves regularly in steps of this size.
fn period(e: &PrimExpr) -> Option<i64> {
    let mut period: i64 = 1;
    let mut stack = vec![e];
    while let Some(e) = stack.pop() {
        match e {
            PrimExpr::IntImm(_) | PrimExpr::Var(_) => {}
            PrimExpr::Binary(
                BinaryOp::Div | BinaryOp::Mod | BinaryOp::FloorDiv | BinaryOp::FloorMod,
                dividend,
                divisor,
            ) => {
                let PrimExpr::IntImm(c) = **divisor else { return None };
                period = period.checked_mul(c.checked_abs()?).filter(|period| (1..=MAX_PERIOD).contains(period))?;
                stack.push(dividend);
            }
            PrimExpr::Binary(_, a, b) => stack.extend([&**a, &**b]),
            PrimExpr::Not(a) => stack.push(a),
            PrimExpr::Select(c, t, f) => stack.extend([&**c, &**t, &**f]),
        }
    }
    Some(period)
}

/// Decides a question about one variable. Every size below the regular part is tried, and the rest is decided class by
/// class.
fn periodic(a: &PrimExpr, b: &PrimExpr, v: &ShapeVar) -> Option<Proof> {
    let period = period(a)?.lcm(&period(b)?);
    let (mut budget, nodes) = (Budget::of_a_question(), a.parts().chain(b.parts()).count());
    budget.spend(nodes.saturating_mul(REGULAR_FROM as usize))?;
    let (mut equal, mut different) = (true, true);
    for size in 0..REGULAR_FROM {
        let sizes = Assignment::from([(v.clone(), size)]);
        match (exact_value(a, &sizes), exact_value(b, &sizes)) {
            (Some(x), Some(y)) if x == y => different = false,
            (Some(_), Some(_)) | (None, Some(_)) | (Some(_), None) => equal = false,
            (None, None) => {}
        }
    }
    for class in 0..period {
        if !equal && !different {
            return None;
        }
        // The sizes of the class: a start plus a multiple of the period.
        let start = REGULAR_FROM + class;
        let steps = PrimExpr::binary(BinaryOp::Mul, period.into(), PrimExpr::Var(v.clone()));
        let size = PrimExpr::binary(BinaryOp::Add, steps, start.into());
        budget.spend(nodes)?;
        let mut at =
            |e: &PrimExpr| normal_form_within(&mut budget, &replace(e, &size)).filter(|form| form.divisors.is_empty());
        let difference = at(a)?.value.minus(at(b)?.value);
        equal &= difference.is_zero();
        different &= difference.bounds().excludes_zero();
    }
    match (equal, different) {
        (true, _) => Some(Proof::Equal),
        (false, true) => Some(Proof::Different),
        (false, false) => None,
    }
}

/// `e` with every variable replaced.
fn replace(e: &PrimExpr, by: &PrimExpr) -> PrimExpr {
    let arc = |e: &PrimExpr| Arc::new(replace(e, by));
    with_stack(|| match e {
        PrimExpr::Var(_) => by.clone(),
        PrimExpr::IntImm(i) => PrimExpr::IntImm(*i),
        PrimExpr::Binary(op, a, b) => PrimExpr::Binary(*op, arc(a), arc(b)),
        PrimExpr::Not(a) => PrimExpr::Not(arc(a)),
        PrimExpr::Select(c, t, f) => PrimExpr::Select(arc(c), arc(t), arc(f)),
    })
}

/// Distinguishes up to `limit` cases of the conditions and asks linear arithmetic about each.
pub(super) fn by_cases(a: &NormalForm, b: &NormalForm, limit: usize) -> Option<Proof> {
    let difference = a.value.clone().minus(b.value.clone());
    let always = |claim: DifferenceClaim| {
        let mut cases = Cases { budget: Budget::of_a_question(), left: limit, given: Vec::new(), claim };
        cases.all(&difference)
    };
    // They are not always equal if one side may fail where the other does not.
    if a.divisors == b.divisors && innermost_condition(&difference).is_some() && always(|_, d, _| d.is_zero()) {
        return Some(Proof::Equal);
    }
    let different = no_sum(&difference) || always(never_zero);
    different.then_some(Proof::Different)
}

/// A claim about a difference, given constraints.
type DifferenceClaim = fn(&mut Budget, &Polynomial, &[Polynomial]) -> bool;

fn never_zero(budget: &mut Budget, difference: &Polynomial, given: &[Polynomial]) -> bool {
    let content = difference.content();
    let parity = !content.is_zero() && !difference.constant_term().is_multiple_of(&content);
    let mut constraints = given.to_vec();
    constraints.extend([difference.clone(), difference.clone().negated()]);
    parity || difference.bounds().excludes_zero() || infeasible(budget, &constraints)
}

/// The case distinction for one claim.
struct Cases {
    budget: Budget,
    /// The number of further cases that may be distinguished.
    left: usize,
    /// The constraints of the current case.
    given: Vec<Polynomial>,
    claim: DifferenceClaim,
}

impl Cases {
    /// Whether the claim holds of a difference in every case.
    fn all(&mut self, difference: &Polynomial) -> bool {
        let fewer = self.left.checked_sub(1);
        let (Some(fewer), Some(())) = (fewer, self.budget.spend(difference.weight())) else { return false };
        self.left = fewer;
        if (self.claim)(&mut self.budget, difference, &self.given) || infeasible(&mut self.budget, &self.given) {
            return true;
        }
        let Some(condition) = innermost_condition(difference) else { return false };
        let atom = Atom::AtLeast0(condition.clone());
        let holds = (*condition).clone();
        let fails = holds.clone().negated().minus(Polynomial::constant(1));
        [(1, holds), (0, fails)].into_iter().all(|(truth, constraint)| {
            // Every atom is visited and compared with the condition.
            let work = difference.weight().saturating_mul(condition.weight().min(difference.terms.len()));
            let simpler =
                self.budget.spend(work).and_then(|()| rebuild(difference, &atom, &Polynomial::constant(truth)));
            self.given.push(constraint);
            let proven = simpler.is_some_and(|simpler| self.all(&simpler));
            self.given.pop();
            proven
        })
    }
}

/// A condition without conditions inside it.
fn innermost_condition(p: &Polynomial) -> Option<Nested> {
    p.atoms().find_map(|atom| match atom {
        Atom::Var(_) => None,
        Atom::AtLeast0(inner) => innermost_condition(inner).or_else(|| Some(inner.clone())),
        Atom::FloorDiv(p, q) | Atom::TruncDiv(p, q) => innermost_condition(p).or_else(|| innermost_condition(q)),
    })
}

/// Whether `c1*x1 + .. + ck*xk = c` with positive coefficients has no solution in sizes.
fn no_sum(difference: &Polynomial) -> bool {
    let d = if difference.constant_term().is_positive() { difference.clone().negated() } else { difference.clone() };
    let Some(goal) = (-d.constant_term()).to_usize().filter(|goal| *goal <= MAX_SUM) else { return false };
    let mut reachable = vec![false; goal + 1];
    if let Some(zero) = reachable.first_mut() {
        *zero = true;
    }
    for (monomial, coefficient) in d.varying() {
        let lone = matches!(monomial.0.as_slice(), [(Atom::Var(_), 1)]);
        let Some(step) = coefficient.to_usize().filter(|step| lone && *step > 0) else { return false };
        for sum in step..=goal {
            let before = reachable.get(sum - step).copied().unwrap_or(false);
            if let Some(at) = reachable.get_mut(sum) {
                *at |= before;
            }
        }
    }
    !reachable.last().copied().unwrap_or(true)
}

#[cfg(test)]
mod tests {
    use super::*;
    use BinaryOp::*;

    fn op(op: BinaryOp, a: impl Into<PrimExpr>, b: impl Into<PrimExpr>) -> PrimExpr {
        PrimExpr::binary(op, a.into(), b.into())
    }

    fn v(name: &str) -> PrimExpr {
        PrimExpr::var(name)
    }

    fn always(a: &PrimExpr, b: &PrimExpr) -> Option<Proof> {
        match decide(a, b) {
            Decision::Always(proof) => Some(proof),
            Decision::Depends { .. } | Decision::Open => None,
        }
    }

    #[test]
    fn min_is_associative() {
        let left = op(Min, op(Min, v("a"), v("b")), v("c"));
        let right = op(Min, v("a"), op(Min, v("b"), v("c")));
        assert_eq!(always(&left, &right), Some(Proof::Equal));
        let greater = op(Add, op(Max, v("a"), op(Max, v("b"), v("c"))), 1);
        assert_eq!(always(&left, &greater), Some(Proof::Different));
    }

    #[test]
    fn one_variable_is_decided() {
        let n = || v("n");
        // A square leaves remainder 0 or 1 on division by 4.
        let square = op(FloorMod, op(Mul, n(), n()), 4);
        assert_eq!(always(&square, &2.into()), Some(Proof::Different));
        assert_eq!(always(&square, &op(FloorMod, n(), 2)), Some(Proof::Equal));
        // Equal only at 1.
        assert!(matches!(decide(&op(Mul, n(), n()), &1.into()), Decision::Depends { .. }));
        assert_eq!(always(&op(Mul, n(), n()), &2.into()), Some(Proof::Different));
        // Truncation differs from flooring only on negative numbers, here at 0.
        let below = || op(Sub, n(), 1);
        assert!(matches!(decide(&op(Div, below(), 2), &op(FloorDiv, below(), 2)), Decision::Depends { .. }));
    }

    #[test]
    fn sums_that_no_sizes_reach() {
        assert_eq!(always(&op(Add, op(Mul, 3, v("n")), op(Mul, 5, v("m"))), &7.into()), Some(Proof::Different));
        assert!(matches!(
            decide(&op(Add, op(Mul, 3, v("n")), op(Mul, 5, v("m"))), &8.into()),
            Decision::Depends { .. }
        ));
    }

    #[test]
    fn witnesses_are_witnesses() {
        let (a, b) = (op(Mul, v("n"), v("m")), op(Add, v("n"), v("m")));
        let Decision::Depends { equal, different } = decide(&a, &b) else { panic!() };
        assert_eq!(exact_value(&a, &equal), exact_value(&b, &equal));
        assert_ne!(exact_value(&a, &different), exact_value(&b, &different));
    }

    #[test]
    fn where_one_side_fails_they_are_not_equal() {
        let one = op(FloorDiv, v("n"), v("n"));
        assert_eq!(always(&one, &1.into()), None);
    }
}
