//! From dimensions to polynomials. The atoms of [`Polynomial`], each in one orientation, express min, max, select,
//! comparisons and remainders.

use std::collections::BTreeSet;

use num_bigint::BigInt;
use num_integer::Integer;
use num_traits::{One, Signed, Zero};

use super::budget::Budget;
use super::polynomial::{Atom, Monomial, Nested, Polynomial};
use crate::grammar::{BinaryOp, PrimExpr};
use crate::judge::with_stack;

/// A dimension as a polynomial, with the divisors that may be zero.
#[derive(Clone, PartialEq, Debug)]
pub struct NormalForm {
    /// The polynomial.
    pub value: Polynomial,
    /// Each divisor that may be zero, with the conditions under which it is evaluated.
    pub divisors: BTreeSet<(Vec<Polynomial>, Polynomial)>,
}

/// The maximum length of a product.
const MAX_TERMS: usize = 400;
/// The maximum nesting of atoms. Deeper ones are left alone, which also keeps the recursion of comparing and dropping
/// them shallow.
const MAX_NESTING: usize = 24;

/// The normal form, or `None` if it would be too large or divides by the constant zero.
pub fn normal_form(e: &PrimExpr) -> Option<NormalForm> {
    normal_form_within(&mut Budget::of_a_question(), e)
}

/// Like [`normal_form`], within the rest of a budget.
pub(super) fn normal_form_within(budget: &mut Budget, e: &PrimExpr) -> Option<NormalForm> {
    let mut normalizer = PolynomialNormalizer { budget, path: Vec::new(), divisors: BTreeSet::new() };
    let value = normalizer.value(e, 0)?;
    Some(NormalForm { value, divisors: normalizer.divisors })
}

struct PolynomialNormalizer<'b> {
    budget: &'b mut Budget,
    path: Vec<Polynomial>,
    divisors: BTreeSet<(Vec<Polynomial>, Polynomial)>,
}

impl PolynomialNormalizer<'_> {
    fn spend(&mut self, work: usize) -> Option<()> {
        self.budget.spend(work)
    }

    /// The polynomial of `e`. `nesting` counts the operators around `e` that become atoms.
    fn value(&mut self, e: &PrimExpr, nesting: usize) -> Option<Polynomial> {
        self.spend(1)?;
        if nesting > MAX_NESTING {
            return None;
        }
        with_stack(|| match e {
            PrimExpr::Var(v) => Some(Polynomial::atom(Atom::Var(v.clone()))),
            PrimExpr::IntImm(i) => Some(Polynomial::constant(*i)),
            PrimExpr::Binary(op, a, b) => self.binary(*op, a, b, nesting),
            PrimExpr::Not(a) => Some(not(truth(self.value(a, nesting + 1)?))),
            PrimExpr::Select(c, t, f) => self.select(c, t, f, nesting + 1),
        })
    }

    fn binary(&mut self, op: BinaryOp, a: &PrimExpr, b: &PrimExpr, nesting: usize) -> Option<Polynomial> {
        let is_of_polynomials = matches!(op, BinaryOp::Add | BinaryOp::Sub | BinaryOp::Mul);
        let inside = if is_of_polynomials { nesting } else { nesting + 1 };
        let (a, b) = (self.value(a, inside)?, self.value(b, inside)?);
        match op {
            BinaryOp::Add => Some(a.plus(b)),
            BinaryOp::Sub => Some(a.minus(b)),
            BinaryOp::Mul => self.product(&a, &b),
            BinaryOp::FloorDiv => self.divide(floor_div, a, b),
            BinaryOp::Div => self.divide(trunc_div, a, b),
            BinaryOp::FloorMod => self.remainder(floor_div, a, b),
            BinaryOp::Mod => self.remainder(trunc_div, a, b),
            BinaryOp::Max => Some(b.clone().plus(self.positive_part(a.minus(b))?)),
            BinaryOp::Min => Some(a.clone().minus(self.positive_part(a.minus(b))?)),
            BinaryOp::And => self.product(&truth(a), &truth(b)),
            BinaryOp::Or => Some(not(self.product(&not(truth(a)), &not(truth(b)))?)),
            BinaryOp::Eq => Some(is_zero(self.difference(a, b)?)),
            BinaryOp::Ne => Some(not(is_zero(self.difference(a, b)?))),
            BinaryOp::Ge => Some(at_least_0(self.difference(a, b)?)),
            BinaryOp::Le => Some(at_least_0(self.difference(b, a)?)),
            BinaryOp::Gt => Some(at_least_0(self.difference(a, b)?.minus(Polynomial::constant(1)))),
            BinaryOp::Lt => Some(at_least_0(self.difference(b, a)?.minus(Polynomial::constant(1)))),
        }
    }

    /// A difference inside an atom, which is compared with other atoms as a whole.
    fn difference(&mut self, a: Polynomial, b: Polynomial) -> Option<Polynomial> {
        let difference = a.minus(b);
        self.spend(difference.weight())?;
        Some(difference)
    }

    fn product(&mut self, a: &Polynomial, b: &Polynomial) -> Option<Polynomial> {
        let atoms = |p: &Polynomial, times: &Polynomial| p.weight().saturating_mul(times.terms.len());
        self.spend(atoms(a, b).saturating_add(atoms(b, a)))?;
        let product = a.times(b);
        (product.terms.len() <= MAX_TERMS).then_some(product)
    }

    /// `max(x, 0)`, with a positive first coefficient in the condition: `max(x, 0) = x + max(-x, 0)`.
    fn positive_part(&mut self, x: Polynomial) -> Option<Polynomial> {
        self.spend(x.weight())?;
        if x.is_reversed() {
            let opposite = x.clone().negated();
            return Some(x.plus(self.gated(at_least_0(opposite.clone()), opposite)?));
        }
        self.gated(at_least_0(x.clone()), x)
    }

    /// `condition * x`. The condition does not matter where `x` is 0: `[x - 1 >= 0] * x = [x >= 0] * x`.
    fn gated(&mut self, condition: Polynomial, x: Polynomial) -> Option<Polynomial> {
        if let Some(weaker) = same_with_zero(&condition, &x) {
            return self.product(&weaker, &x);
        }
        let opposite = not(condition.clone());
        if let Some(weaker) = same_with_zero(&opposite, &x) {
            return Some(x.clone().minus(self.product(&weaker, &x)?));
        }
        self.product(&condition, &x)
    }

    fn select(&mut self, c: &PrimExpr, t: &PrimExpr, f: &PrimExpr, nesting: usize) -> Option<Polynomial> {
        let condition = truth(self.value(c, nesting)?);
        match condition.as_constant() {
            Some(constant) => self.value(if constant.is_zero() { f } else { t }, nesting),
            None => {
                let t = self.under(condition.clone(), t, nesting)?;
                let f = self.under(not(condition.clone()), f, nesting)?;
                Some(f.clone().plus(self.gated(condition, t.minus(f))?))
            }
        }
    }

    fn under(&mut self, condition: Polynomial, e: &PrimExpr, nesting: usize) -> Option<Polynomial> {
        self.path.push(condition);
        let value = self.value(e, nesting);
        self.path.pop();
        value
    }

    fn divide(
        &mut self,
        how: fn(Polynomial, Polynomial) -> Polynomial,
        a: Polynomial,
        b: Polynomial,
    ) -> Option<Polynomial> {
        self.spend(a.weight().saturating_add(b.weight()))?;
        if b.is_zero() {
            return None;
        }
        if !b.bounds().excludes_zero() {
            self.divisors.insert((self.path.clone(), b.clone()));
        }
        Some(how(a, b))
    }

    fn remainder(
        &mut self,
        how: fn(Polynomial, Polynomial) -> Polynomial,
        a: Polynomial,
        b: Polynomial,
    ) -> Option<Polynomial> {
        let quotient = self.divide(how, a.clone(), b.clone())?;
        Some(a.minus(self.product(&quotient, &b)?))
    }
}

/// `[x >= 0]` if the condition is `[x >= k]` and `k` makes a difference only where `x` is 0.
fn same_with_zero(condition: &Polynomial, x: &Polynomial) -> Option<Polynomial> {
    let mut terms = condition.terms.iter();
    let (Some((Monomial(atoms), one)), None) = (terms.next(), terms.next()) else { return None };
    let ([(Atom::AtLeast0(p), 1)], true) = (atoms.as_slice(), one.is_one()) else { return None };
    let next = (**p).clone().plus(Polynomial::constant(1));
    let proportional = x.content().is_multiple_of(&next.content()) && !next.content().is_zero();
    let factor = if proportional { x.content() / next.content() } else { return None };
    (next.clone().scaled(&factor) == *x || next.clone().scaled(&-factor) == *x).then(|| at_least_0(next))
}

/// 1 where the polynomial is not 0, else 0.
fn truth(p: Polynomial) -> Polynomial {
    if is_truth(&p) { p } else { not(is_zero(p)) }
}

/// Whether a polynomial has one of the simple forms that are always 0 or 1.
fn is_truth(p: &Polynomial) -> bool {
    let only_conditions = |monomial: &Monomial| monomial.0.iter().all(|(atom, _)| matches!(atom, Atom::AtLeast0(_)));
    let mut varying = p.varying();
    let constant = p.constant_term();
    match (varying.next(), varying.next()) {
        (None, _) => constant.is_zero() || constant.is_one(),
        (Some((m, c)), None) if only_conditions(m) => {
            (constant.is_zero() && c.is_one()) || (constant.is_one() && *c == BigInt::from(-1))
        }
        (Some(_), Some(_) | None) => false,
    }
}

fn not(p: Polynomial) -> Polynomial {
    Polynomial::constant(1).minus(p)
}

/// `[p = 0] = [p >= 0] - [p >= 1]`.
fn is_zero(p: Polynomial) -> Polynomial {
    let p = if p.is_reversed() { p.negated() } else { p };
    at_least_0(p.clone()).minus(at_least_0(p.minus(Polynomial::constant(1))))
}

/// `[p >= 0]` with coprime coefficients, the first of them positive: `[-p >= 0] = 1 - [p - 1 >= 0]`.
pub(super) fn at_least_0(p: Polynomial) -> Polynomial {
    let bounds = p.bounds();
    if bounds.is_not_negative() {
        return Polynomial::constant(1);
    }
    if bounds.is_negative() {
        return Polynomial::zero();
    }
    let content = p.content();
    if content.is_zero() {
        return Polynomial::constant(i64::from(!p.constant_term().is_negative()));
    }
    // The remainder of the constant does not decide: `2*x + 1 >= 0` exactly if `x >= 0`.
    let (p, _) = p.split(&content);
    if p.is_reversed() {
        let opposite = p.negated().minus(Polynomial::constant(1));
        return not(Polynomial::atom(Atom::AtLeast0(Nested::new(opposite))));
    }
    Polynomial::atom(Atom::AtLeast0(Nested::new(p)))
}

fn floor_div(p: Polynomial, q: Polynomial) -> Polynomial {
    match q.as_constant() {
        Some(c) if c.is_negative() => floor_div_by(p.negated(), -c),
        Some(c) => floor_div_by(p, c),
        None => symbolic_div(p, q, Atom::FloorDiv),
    }
}

/// Division by a positive constant. The divisible part is taken out, and nested divisions are merged.
fn floor_div_by(p: Polynomial, c: BigInt) -> Polynomial {
    let (p, c) = merge_nested(p, c);
    let (quotient, rest) = p.split(&c);
    let common = rest.content().gcd(&c);
    // `floor((g*x + k) / (g*d)) = floor((x + floor(k/g)) / d)`.
    let (rest, c) = if common.is_one() { (rest, c) } else { (rest.split(&common).0, c / common) };
    let bounds = rest.bounds();
    let ends = (bounds.low.map(|low| low.div_floor(&c)), bounds.high.map(|high| high.div_floor(&c)));
    let fraction = match ends {
        (Some(low), Some(high)) if low == high => Polynomial::constant(low),
        (Some(_) | None, Some(_) | None) => {
            Polynomial::atom(Atom::FloorDiv(Nested::new(rest), Nested::new(Polynomial::constant(c))))
        }
    };
    quotient.plus(fraction)
}

/// `floor((floor(a / b) + k) / c) = floor((a + k*b) / (b*c))` for positive constants.
fn merge_nested(p: Polynomial, c: BigInt) -> (Polynomial, BigInt) {
    let mut varying = p.varying();
    let (Some((Monomial(atoms), one)), None) = (varying.next(), varying.next()) else {
        drop(varying);
        return (p, c);
    };
    let ([(Atom::FloorDiv(a, b), 1)], true) = (atoms.as_slice(), one.is_one()) else {
        drop(varying);
        return (p, c);
    };
    match b.as_constant() {
        Some(b) if b.is_positive() => {
            let a = (**a).clone().plus(Polynomial::constant(p.constant_term() * &b));
            (a, b * c)
        }
        Some(_) | None => {
            drop(varying);
            (p, c)
        }
    }
}

fn trunc_div(p: Polynomial, q: Polynomial) -> Polynomial {
    let Some(c) = q.as_constant() else { return symbolic_div(p, q, Atom::TruncDiv) };
    if c.is_negative() {
        return trunc_div(p, Polynomial::constant(-c)).negated();
    }
    let bounds = p.bounds();
    if bounds.is_not_negative() {
        return floor_div_by(p, c);
    }
    if bounds.is_not_positive() {
        return floor_div_by(p.negated(), c).negated();
    }
    if let Some(exact) = p.exact_quotient(&q) {
        return exact;
    }
    let common = p.content().gcd(&p.constant_term()).gcd(&c);
    let (p, c) = if common.is_one() { (p, c) } else { (p.split(&common).0, c / common) };
    let atom = |p: Polynomial| Polynomial::atom(Atom::TruncDiv(Nested::new(p), Nested::new(Polynomial::constant(c))));
    if p.is_reversed() { atom(p.negated()).negated() } else { atom(p) }
}

fn symbolic_div(p: Polynomial, q: Polynomial, atom: fn(Nested, Nested) -> Atom) -> Polynomial {
    if p == q {
        return Polynomial::constant(1);
    }
    if let Some(exact) = p.exact_quotient(&q) {
        return exact;
    }
    let (p, q) = if q.is_reversed() { (p.negated(), q.negated()) } else { (p, q) };
    // Both roundings agree on values that are not negative.
    let same = p.bounds().is_not_negative() && q.bounds().is_not_negative();
    let atom = if same { Atom::FloorDiv } else { atom };
    Polynomial::atom(atom(Nested::new(p), Nested::new(q)))
}

/// Replaces an atom everywhere in a polynomial, and brings it to normal form again. `None` if that divides by zero.
pub(super) fn rebuild(p: &Polynomial, atom: &Atom, value: &Polynomial) -> Option<Polynomial> {
    let mut result = p.clone();
    // In a product of sums each atom occurs in most terms.
    for old in p.atoms().collect::<BTreeSet<&Atom>>() {
        let new = if old == atom { value.clone() } else { rebuild_atom(old, atom, value)? };
        if new != Polynomial::atom(old.clone()) {
            result = result.with_atom(old, &new);
        }
    }
    Some(result)
}

fn rebuild_atom(old: &Atom, atom: &Atom, value: &Polynomial) -> Option<Polynomial> {
    let quotient = |p: &Polynomial, q: &Polynomial, how: fn(Polynomial, Polynomial) -> Polynomial| {
        let (p, q) = (rebuild(p, atom, value)?, rebuild(q, atom, value)?);
        (!q.is_zero()).then(|| how(p, q))
    };
    match old {
        Atom::Var(_) => Some(Polynomial::atom(old.clone())),
        Atom::AtLeast0(p) => Some(at_least_0(rebuild(p, atom, value)?)),
        Atom::FloorDiv(p, q) => quotient(p, q, floor_div),
        Atom::TruncDiv(p, q) => quotient(p, q, trunc_div),
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use BinaryOp::*;

    fn op(op: BinaryOp, a: impl Into<PrimExpr>, b: impl Into<PrimExpr>) -> PrimExpr {
        PrimExpr::binary(op, a.into(), b.into())
    }

    fn n() -> PrimExpr {
        PrimExpr::var("n")
    }

    fn m() -> PrimExpr {
        PrimExpr::var("m")
    }

    fn same(a: &PrimExpr, b: &PrimExpr) -> bool {
        normal_form(a).unwrap() == normal_form(b).unwrap()
    }

    #[test]
    fn sums_and_products() {
        assert!(same(&op(Add, n(), n()), &op(Mul, 2, n())));
        assert!(same(&op(Mul, op(Add, n(), 1), op(Sub, n(), 1)), &op(Sub, op(Mul, n(), n()), 1)));
        assert!(!same(&n(), &m()));
    }

    #[test]
    fn min_and_max() {
        assert!(same(&op(Min, n(), m()), &op(Min, m(), n())));
        assert!(same(&op(Add, op(Min, n(), m()), op(Max, n(), m())), &op(Add, n(), m())));
        assert!(same(&op(Max, n(), 0), &n()));
        assert!(same(&op(Min, op(Add, n(), 2), op(Add, m(), 2)), &op(Add, op(Min, n(), m()), 2)));
    }

    #[test]
    fn select_as_maximum() {
        let choose = |c| PrimExpr::Select(Arc::new(c), n().into(), m().into());
        for comparison in [Gt, Ge] {
            assert!(same(&choose(op(comparison, n(), m())), &op(Max, n(), m())));
        }
        for comparison in [Lt, Le] {
            assert!(same(&choose(op(comparison, n(), m())), &op(Min, n(), m())));
        }
    }

    #[test]
    fn divisions() {
        assert!(same(&op(FloorDiv, op(Add, op(Mul, 4, n()), 6), 2), &op(Add, op(Mul, 2, n()), 3)));
        assert!(same(&op(Add, op(Mul, op(FloorDiv, n(), 3), 3), op(FloorMod, n(), 3)), &n()));
        assert!(same(&op(FloorDiv, op(FloorDiv, n(), 2), 3), &op(FloorDiv, n(), 6)));
        // Both roundings agree on sizes, but not on differences.
        assert!(same(&op(Div, n(), 2), &op(FloorDiv, n(), 2)));
        assert!(!same(&op(Div, op(Sub, n(), m()), 2), &op(FloorDiv, op(Sub, n(), m()), 2)));
        assert!(same(&op(FloorMod, n(), 1), &0.into()));
    }

    #[test]
    fn a_divisor_that_may_be_zero_is_remembered() {
        let quotient = op(FloorDiv, n(), m());
        assert_eq!(normal_form(&quotient).unwrap().divisors.len(), 1);
        assert!(!same(&op(Sub, quotient.clone(), quotient), &0.into()));
        assert!(normal_form(&op(FloorDiv, n(), op(Add, m(), 1))).unwrap().divisors.is_empty());
        assert_eq!(normal_form(&op(FloorDiv, n(), 0)), None);
    }

    #[test]
    fn truth_values() {
        assert!(same(&op(Eq, op(Mul, 2, n()), op(Add, op(Mul, 2, m()), 1)), &0.into()));
        assert!(same(&PrimExpr::Not(op(Lt, n(), m()).into()), &op(Ge, n(), m())));
        assert!(same(&op(Ge, n(), 0), &1.into()));
    }
}
