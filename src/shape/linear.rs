//! Linear arithmetic: whether constraints `p >= 0` contradict each other. Unknowns are eliminated one after another
//! over the rationals. Constraints without a rational solution have no integer solution.

use std::collections::BTreeSet;

use num_bigint::BigInt;
use num_traits::Signed;

use super::budget::Budget;
use super::polynomial::{Atom, Monomial, Nested, Polynomial};

/// The number of constraints at which elimination gives up.
const MAX_CONSTRAINTS: usize = 120;

/// Whether no assignment meets all constraints. Also false if that cannot be shown.
pub(super) fn infeasible(budget: &mut Budget, constraints: &[Polynomial]) -> bool {
    if budget.spend(constraints.iter().map(Polynomial::weight).fold(0, usize::saturating_add)).is_none() {
        return false;
    }
    let mut constraints: BTreeSet<Polynomial> = constraints.iter().cloned().collect();
    for fact in facts(&constraints) {
        constraints.insert(fact);
    }
    loop {
        if constraints.iter().any(|p| p.as_constant().is_some_and(|value| value.is_negative())) {
            return true;
        }
        let Some(unknown) = constraints.iter().find_map(|p| p.varying().next().map(|(m, _)| m.clone())) else {
            return false;
        };
        let Some(fewer) = eliminate(budget, constraints, &unknown) else { return false };
        constraints = fewer;
    }
}

/// Constraints that hold for all unknowns: a size is not negative, and a remainder is at least 0 and less than the
/// divisor.
fn facts(constraints: &BTreeSet<Polynomial>) -> Vec<Polynomial> {
    let monomials: BTreeSet<&Monomial> =
        constraints.iter().flat_map(|p| p.varying().map(|(monomial, _)| monomial)).collect();
    let mut facts = Vec::new();
    for monomial in monomials {
        let alone = Polynomial { terms: [(monomial.clone(), BigInt::from(1))].into() };
        if alone.bounds().is_not_negative() {
            facts.push(alone.clone());
        }
        if let [(Atom::FloorDiv(dividend, divisor), 1)] = monomial.0.as_slice()
            && let Some(c) = divisor.as_constant().filter(BigInt::is_positive)
        {
            facts.extend(remainder_facts(dividend, alone, &c));
        }
    }
    facts
}

/// `0 <= dividend - c * quotient <= c - 1`.
fn remainder_facts(dividend: &Nested, quotient: Polynomial, c: &BigInt) -> [Polynomial; 2] {
    let remainder = (**dividend).clone().minus(quotient.scaled(c));
    let rest = Polynomial::constant(c - 1).minus(remainder.clone());
    [remainder, rest]
}

fn coefficient(p: &Polynomial, unknown: &Monomial) -> BigInt {
    p.terms.get(unknown).cloned().unwrap_or_default()
}

/// Combines every lower bound of the unknown with every upper bound. `None` if there are too many.
fn eliminate(
    budget: &mut Budget,
    constraints: BTreeSet<Polynomial>,
    unknown: &Monomial,
) -> Option<BTreeSet<Polynomial>> {
    let (with, mut without): (Vec<Polynomial>, BTreeSet<Polynomial>) = {
        let (with, without): (Vec<_>, Vec<_>) = constraints.into_iter().partition(|p| p.terms.contains_key(unknown));
        (with, without.into_iter().collect())
    };
    let (lower, upper): (Vec<_>, Vec<_>) = with.into_iter().partition(|p| coefficient(p, unknown).is_positive());
    for low in &lower {
        for high in &upper {
            budget.spend(low.weight().saturating_add(high.weight()))?;
            let (l, h) = (coefficient(low, unknown), -coefficient(high, unknown));
            without.insert(low.clone().scaled(&h).plus(high.clone().scaled(&l)));
        }
    }
    (without.len() <= MAX_CONSTRAINTS).then_some(without)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::grammar::ShapeVar;

    fn v(name: &str) -> Polynomial {
        Polynomial::atom(Atom::Var(ShapeVar::new(name)))
    }

    fn c(value: i64) -> Polynomial {
        Polynomial::constant(value)
    }

    #[test]
    fn cycles_of_inequalities() {
        let less = |a: &str, b: &str| v(b).minus(v(a)).minus(c(1));
        assert!(infeasible(&mut Budget::of_a_question(), &[less("a", "b"), less("b", "c"), less("c", "a")]));
        assert!(!infeasible(&mut Budget::of_a_question(), &[less("a", "b"), less("b", "c")]));
    }

    #[test]
    fn sizes_are_not_negative() {
        assert!(infeasible(&mut Budget::of_a_question(), &[v("a").negated().minus(c(1))]));
        assert!(!infeasible(&mut Budget::of_a_question(), &[v("a").negated()]));
    }
}
