//! Polynomials with integer coefficients over shape variables and a few kinds of atoms that are not polynomial. Equal
//! polynomials have equal values under every assignment. The converse holds as far as the atoms are canonical.

use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::fmt;
use std::ops::Deref;
use std::sync::{Arc, OnceLock};

use num_bigint::BigInt;
use num_integer::Integer;
use num_traits::{One, Signed, Zero};

use crate::grammar::ShapeVar;

/// An atom of a polynomial. Its values are integers.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Atom {
    /// A size, never negative.
    Var(ShapeVar),
    /// 1 if the polynomial is at least 0, else 0.
    AtLeast0(Nested),
    /// Division rounding down.
    FloorDiv(Nested, Nested),
    /// Division rounding toward zero.
    TruncDiv(Nested, Nested),
}

/// A product of powers of atoms, sorted; empty for 1.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
pub struct Monomial(pub(super) Vec<(Atom, u32)>);

/// A sum of monomials with coefficients other than 0.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
pub struct Polynomial {
    pub(super) terms: BTreeMap<Monomial, BigInt>,
}

/// An interval; it is unbounded on a side without an end.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Interval {
    pub(super) low: Option<BigInt>,
    pub(super) high: Option<BigInt>,
}

impl Monomial {
    fn times(&self, other: &Monomial) -> Monomial {
        let mut powers: BTreeMap<Atom, u32> = self.0.iter().cloned().collect();
        for (atom, power) in &other.0 {
            *powers.entry(atom.clone()).or_insert(0) += power;
        }
        for (atom, power) in &mut powers {
            if matches!(atom, Atom::AtLeast0(_)) {
                *power = 1;
            }
        }
        Monomial(powers.into_iter().collect())
    }

    /// The quotient, if the division is exact and no truth values are involved.
    fn divided_by(&self, other: &Monomial) -> Option<Monomial> {
        let mut powers: BTreeMap<Atom, u32> = self.0.iter().cloned().collect();
        for (atom, power) in &other.0 {
            let have = powers.get_mut(atom).filter(|have| **have >= *power)?;
            *have -= power;
        }
        powers.retain(|_, power| *power > 0);
        (!other.0.iter().any(|(atom, _)| matches!(atom, Atom::AtLeast0(_))))
            .then(|| Monomial(powers.into_iter().collect()))
    }
}

impl Polynomial {
    /// The polynomial without terms.
    pub fn zero() -> Polynomial {
        Polynomial::default()
    }

    /// A number.
    pub fn constant(value: impl Into<BigInt>) -> Polynomial {
        Polynomial::zero().plus_term(Monomial::default(), value.into())
    }

    /// A single atom.
    pub fn atom(atom: Atom) -> Polynomial {
        Polynomial::zero().plus_term(Monomial(vec![(atom, 1)]), BigInt::one())
    }

    /// Whether all terms cancel. The polynomial is then zero for every assignment.
    pub fn is_zero(&self) -> bool {
        self.terms.is_empty()
    }

    /// The value, if the polynomial is constant.
    pub fn as_constant(&self) -> Option<BigInt> {
        match self.terms.len() {
            0 => Some(BigInt::ZERO),
            1 => self.terms.get(&Monomial::default()).cloned(),
            _ => None,
        }
    }

    pub(super) fn constant_term(&self) -> BigInt {
        self.terms.get(&Monomial::default()).cloned().unwrap_or_default()
    }

    /// The terms that are not constant.
    pub(super) fn varying(&self) -> impl Iterator<Item = (&Monomial, &BigInt)> {
        self.terms.iter().filter(|(monomial, _)| !monomial.0.is_empty())
    }

    fn plus_term(mut self, monomial: Monomial, coefficient: BigInt) -> Polynomial {
        let sum = self.terms.get(&monomial).map_or(coefficient.clone(), |old| old + coefficient);
        if sum.is_zero() {
            self.terms.remove(&monomial);
        } else {
            self.terms.insert(monomial, sum);
        }
        self
    }

    /// The sum.
    pub fn plus(self, other: Polynomial) -> Polynomial {
        // The smaller is added to the larger, so a long sum takes linear time.
        let (large, small) = if self.terms.len() < other.terms.len() { (other, self) } else { (self, other) };
        small.terms.into_iter().fold(large, |sum, (monomial, coefficient)| sum.plus_term(monomial, coefficient))
    }

    /// The product with a number.
    pub fn scaled(mut self, factor: &BigInt) -> Polynomial {
        if factor.is_zero() {
            return Polynomial::zero();
        }
        self.terms.values_mut().for_each(|coefficient| *coefficient *= factor);
        self
    }

    /// The product with -1.
    pub fn negated(self) -> Polynomial {
        self.scaled(&BigInt::from(-1))
    }

    /// The difference.
    pub fn minus(self, other: Polynomial) -> Polynomial {
        self.plus(other.negated())
    }

    /// The product.
    pub fn times(&self, other: &Polynomial) -> Polynomial {
        let mut product = Polynomial::zero();
        for (monomial1, coefficient1) in &self.terms {
            for (monomial2, coefficient2) in &other.terms {
                product = product.plus_term(monomial1.times(monomial2), coefficient1 * coefficient2);
            }
        }
        product
    }

    /// The greatest common divisor of the coefficients, without the constant; 0 for a constant polynomial.
    pub(super) fn content(&self) -> BigInt {
        self.varying().fold(BigInt::ZERO, |gcd, (_, coefficient)| gcd.gcd(coefficient))
    }

    /// Whether the first coefficient that is not the constant is negative. This fixes an orientation.
    pub(super) fn is_reversed(&self) -> bool {
        self.varying().next().is_some_and(|(_, coefficient)| coefficient.is_negative())
    }

    /// The quotient by a constant or a single monomial, if exact.
    pub(super) fn exact_quotient(&self, divisor: &Polynomial) -> Option<Polynomial> {
        let mut terms = divisor.terms.iter();
        let (Some((monomial, coefficient)), None) = (terms.next(), terms.next()) else { return None };
        let mut quotient = Polynomial::zero();
        for (m, c) in &self.terms {
            if !c.is_multiple_of(coefficient) {
                return None;
            }
            quotient = quotient.plus_term(m.divided_by(monomial)?, c / coefficient);
        }
        Some(quotient)
    }

    /// `self = divisor * quotient + remainder`, with each coefficient of the remainder at least 0 and less than the
    /// divisor.
    pub(super) fn split(&self, divisor: &BigInt) -> (Polynomial, Polynomial) {
        let (mut quotient, mut remainder) = (Polynomial::zero(), Polynomial::zero());
        for (monomial, coefficient) in &self.terms {
            let (q, r) = coefficient.div_mod_floor(divisor);
            quotient = quotient.plus_term(monomial.clone(), q);
            remainder = remainder.plus_term(monomial.clone(), r);
        }
        (quotient, remainder)
    }

    /// The atoms at the outermost level.
    pub(super) fn atoms(&self) -> impl Iterator<Item = &Atom> {
        self.terms.keys().flat_map(|monomial| monomial.0.iter().map(|(atom, _)| atom))
    }

    /// Replaces an atom at the outermost level by a polynomial.
    pub(super) fn with_atom(&self, atom: &Atom, value: &Polynomial) -> Polynomial {
        let mut result = Polynomial::zero();
        for (monomial, coefficient) in &self.terms {
            let (same, other): (Vec<_>, Vec<_>) = monomial.0.iter().cloned().partition(|(a, _)| a == atom);
            let power: u32 = same.iter().map(|(_, power)| *power).sum();
            let rest = Polynomial::zero().plus_term(Monomial(other), coefficient.clone());
            result = result.plus((0..power).fold(rest, |product, _| product.times(value)));
        }
        result
    }

    /// Its size as a tree: the terms and, recursively, the atoms.
    pub(super) fn weight(&self) -> usize {
        let atom = |atom: &Atom| match atom {
            Atom::Var(_) => 1,
            Atom::AtLeast0(p) => p.weight().saturating_add(1),
            Atom::FloorDiv(p, q) | Atom::TruncDiv(p, q) => p.weight().saturating_add(q.weight()).saturating_add(1),
        };
        self.atoms().map(atom).fold(self.terms.len(), usize::saturating_add)
    }

    /// An interval that contains every value.
    pub(super) fn bounds(&self) -> Interval {
        let plain = self.term_bounds();
        // `k*p - k*c*floor(p/c)` is `k` times a remainder. This bound is tighter than the sum of the bounds of the
        // terms.
        self.atoms().fold(plain, |best, atom| match atom {
            Atom::FloorDiv(p, c) => match (c.as_constant(), self.terms.get(&Monomial(vec![(atom.clone(), 1)]))) {
                (Some(c), Some(k)) if c.is_positive() && k.is_multiple_of(&c) => {
                    let times = -(k / &c);
                    let rest = self.with_atom(atom, &Polynomial::zero()).minus((**p).clone().scaled(&times));
                    let remainder = Interval { low: Some(BigInt::ZERO), high: Some(c - 1) };
                    best.and(rest.term_bounds().plus(remainder.scaled(&times)))
                }
                (Some(_) | None, Some(_) | None) => best,
            },
            Atom::Var(_) | Atom::AtLeast0(_) | Atom::TruncDiv(..) => best,
        })
    }

    fn term_bounds(&self) -> Interval {
        let exactly = |value: BigInt| Interval { low: Some(value.clone()), high: Some(value) };
        self.terms.iter().fold(exactly(BigInt::ZERO), |sum, (monomial, coefficient)| {
            let one = exactly(BigInt::one());
            let product = monomial.0.iter().fold(one, |product, (atom, power)| {
                (0..*power).fold(product, |product, _| product.times(&atom.bounds()))
            });
            // An even power is never negative.
            let even = monomial.0.iter().all(|(_, power)| power % 2 == 0);
            let product = if even { product.at_least_zero() } else { product };
            sum.plus(product.scaled(coefficient))
        })
    }
}

impl Atom {
    fn bounds(&self) -> Interval {
        let positive = || Interval { low: Some(BigInt::ZERO), high: None };
        match self {
            Atom::Var(_) => positive(),
            Atom::AtLeast0(_) => Interval { low: Some(BigInt::ZERO), high: Some(BigInt::one()) },
            Atom::FloorDiv(p, q) | Atom::TruncDiv(p, q) => {
                let (p, floor) = (p.bounds().clone(), matches!(self, Atom::FloorDiv(..)));
                let divide = |end: &BigInt, c: &BigInt| if floor { end.div_floor(c) } else { end / c };
                match q.as_constant() {
                    Some(c) if c.is_positive() => {
                        Interval { low: p.low.map(|low| divide(&low, &c)), high: p.high.map(|high| divide(&high, &c)) }
                    }
                    Some(_) | None if p.is_not_negative() && q.bounds().is_not_negative() => {
                        Interval { high: p.high, ..positive() }
                    }
                    Some(_) | None => Interval { low: None, high: None },
                }
            }
        }
    }
}

impl Interval {
    pub(super) fn is_not_negative(&self) -> bool {
        self.low.as_ref().is_some_and(|low| !low.is_negative())
    }

    pub(super) fn is_not_positive(&self) -> bool {
        self.high.as_ref().is_some_and(|high| !high.is_positive())
    }

    pub(super) fn is_negative(&self) -> bool {
        self.high.as_ref().is_some_and(BigInt::is_negative)
    }

    /// Whether 0 is outside the interval.
    pub(super) fn excludes_zero(&self) -> bool {
        self.is_negative() || self.low.as_ref().is_some_and(BigInt::is_positive)
    }

    fn at_least_zero(self) -> Interval {
        let low = self.low.filter(|low| low.is_positive()).unwrap_or_default();
        Interval { low: Some(low), high: self.high }
    }

    fn plus(self, other: Interval) -> Interval {
        let add = |a: Option<BigInt>, b: Option<BigInt>| Some(a? + b?);
        Interval { low: add(self.low, other.low), high: add(self.high, other.high) }
    }

    fn scaled(self, factor: &BigInt) -> Interval {
        let ends = (self.low.map(|low| low * factor), self.high.map(|high| high * factor));
        match factor.sign() {
            num_bigint::Sign::Plus => Interval { low: ends.0, high: ends.1 },
            num_bigint::Sign::Minus => Interval { low: ends.1, high: ends.0 },
            num_bigint::Sign::NoSign => Interval { low: Some(BigInt::ZERO), high: Some(BigInt::ZERO) },
        }
    }

    fn times(&self, other: &Interval) -> Interval {
        if let (Some(a), Some(b), Some(c), Some(d)) = (&self.low, &self.high, &other.low, &other.high) {
            let products = [a * c, a * d, b * c, b * d];
            return Interval { low: products.iter().min().cloned(), high: products.iter().max().cloned() };
        }
        if self.is_not_negative() && other.is_not_negative() {
            let low = Some(self.low.clone().unwrap_or_default() * other.low.clone().unwrap_or_default());
            return Interval { low, high: None };
        }
        Interval { low: None, high: None }
    }

    /// The intersection.
    fn and(self, other: Interval) -> Interval {
        let tighter = |a: Option<BigInt>, b: Option<BigInt>, pick: fn(BigInt, BigInt) -> BigInt| match (a, b) {
            (Some(a), Some(b)) => Some(pick(a, b)),
            (a, b) => a.or(b),
        };
        Interval { low: tighter(self.low, other.low, Ord::max), high: tighter(self.high, other.high, Ord::min) }
    }
}

impl fmt::Display for Polynomial {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_zero() {
            return f.write_str("0");
        }
        // Higher terms come first and the constant last, as in mathematics.
        for (i, (monomial, coefficient)) in self.terms.iter().rev().enumerate() {
            match (i, coefficient.is_negative()) {
                (0, false) => {}
                (0, true) => f.write_str("-")?,
                (_, false) => f.write_str(" + ")?,
                (_, true) => f.write_str(" - ")?,
            }
            let size = coefficient.abs();
            match (monomial.0.is_empty(), size.is_one()) {
                (true, _) => write!(f, "{size}")?,
                (false, true) => write!(f, "{monomial}")?,
                (false, false) => write!(f, "{size}*{monomial}")?,
            }
        }
        Ok(())
    }
}

impl fmt::Display for Monomial {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, (atom, power)) in self.0.iter().enumerate() {
            let times = if i == 0 { "" } else { "*" };
            match power {
                1 => write!(f, "{times}{atom}")?,
                power => write!(f, "{times}{atom}^{power}")?,
            }
        }
        Ok(())
    }
}

impl fmt::Display for Atom {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Atom::Var(v) => write!(f, "{v}"),
            Atom::AtLeast0(p) => write!(f, "[{p} >= 0]"),
            Atom::FloorDiv(p, q) => write!(f, "floor({p} / ({q}))"),
            Atom::TruncDiv(p, q) => write!(f, "trunc({p} / ({q}))"),
        }
    }
}

/// A polynomial inside an atom. It is shared, and expensive facts about it are computed once. Without that, a term that
/// contains itself twice on each of 24 levels would be walked 2^24 times.
#[derive(Clone, Debug)]
pub struct Nested(Arc<NestedPolynomial>);

#[derive(Debug)]
struct NestedPolynomial {
    polynomial: Polynomial,
    weight: usize,
    bounds: OnceLock<Interval>,
}

impl Nested {
    pub(super) fn new(polynomial: Polynomial) -> Nested {
        let weight = polynomial.weight();
        Nested(Arc::new(NestedPolynomial { polynomial, weight, bounds: OnceLock::new() }))
    }

    /// Its size as a tree.
    pub(super) fn weight(&self) -> usize {
        self.0.weight
    }

    /// An interval that contains every value.
    pub(super) fn bounds(&self) -> &Interval {
        self.0.bounds.get_or_init(|| self.0.polynomial.bounds())
    }
}

impl Deref for Nested {
    type Target = Polynomial;

    fn deref(&self) -> &Polynomial {
        &self.0.polynomial
    }
}

impl fmt::Display for Nested {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.polynomial.fmt(f)
    }
}

impl PartialEq for Nested {
    fn eq(&self, other: &Nested) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Nested {}

impl PartialOrd for Nested {
    fn partial_cmp(&self, other: &Nested) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Nested {
    fn cmp(&self, other: &Nested) -> Ordering {
        if Arc::ptr_eq(&self.0, &other.0) { Ordering::Equal } else { self.0.polynomial.cmp(&other.0.polynomial) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn n() -> Polynomial {
        Polynomial::atom(Atom::Var(ShapeVar::new("n")))
    }

    #[test]
    fn arithmetic_cancels() {
        let square = n().plus(Polynomial::constant(1)).times(&n().minus(Polynomial::constant(1)));
        assert_eq!(square, n().times(&n()).minus(Polynomial::constant(1)));
        assert_eq!(square.to_string(), "n^2 - 1");
        assert!(n().minus(n()).is_zero());
    }

    #[test]
    fn bounds_know_that_sizes_are_not_negative() {
        assert!(n().plus(Polynomial::constant(1)).bounds().excludes_zero());
        assert!(!n().minus(Polynomial::constant(1)).bounds().excludes_zero());
        assert!(n().negated().bounds().is_not_positive());
    }

    #[test]
    fn a_remainder_is_below_its_divisor() {
        let four = Polynomial::constant(4);
        let floor = Polynomial::atom(Atom::FloorDiv(Nested::new(n()), Nested::new(four.clone())));
        let remainder = n().minus(floor.times(&four));
        assert_eq!(remainder.bounds(), Interval { low: Some(0.into()), high: Some(3.into()) });
    }
}
