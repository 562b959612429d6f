//! The usual irrational numbers, as elements of the ring.

use std::f64::consts;

use super::super::FloatType;
use super::super::real::{Function, Real};
use super::{Parity, Residue, RingNumber, Terms, kind_of, one};

/// The irrational numbers that programs write as constants, and what each is in the ring.
const IRRATIONAL: [(f64, fn() -> RingNumber); 12] = [
    (consts::SQRT_2, || root(whole(2))),
    (consts::FRAC_1_SQRT_2, || one().over(root(whole(2)))),
    (consts::PI, pi),
    (consts::FRAC_1_PI, || one().over(pi())),
    (consts::FRAC_2_PI, || whole(2).over(pi())),
    (consts::FRAC_2_SQRT_PI, || whole(2).over(root(pi()))),
    (consts::E, || one().exponential()),
    (consts::LN_2, || whole(2).logarithm()),
    (consts::LN_10, || whole(10).logarithm()),
    (consts::LOG2_E, || one().over(whole(2).logarithm())),
    (consts::LOG10_E, || one().over(whole(10).logarithm())),
    // In the approximation of gelu by tanh.
    (consts::FRAC_2_SQRT_PI * consts::FRAC_1_SQRT_2, || root(whole(2).over(pi()))),
];

/// The irrational number of which the value is the nearest float, if it is one of the usual ones.
pub(super) fn irrational(value: f64, float: FloatType) -> Option<RingNumber> {
    let (size, number) = IRRATIONAL.into_iter().find(|(number, _)| float.round(*number) == value.abs())?;
    let number = RingNumber { size: RingNumber::of_float(size).marked(number().terms()).size, ..number() };
    Some(if value < 0.0 { number.negated() } else { number })
}

fn whole(n: i128) -> RingNumber {
    RingNumber::of_int(n, FloatType::Float64)
}

fn root(x: RingNumber) -> RingNumber {
    x.term(Function { name: "sqrt", float: libm::sqrt }, Parity::None)
}

fn pi() -> RingNumber {
    RingNumber::new(Ok(Residue::of_term("pi", &[])), consts::PI, Terms(kind_of("pi")))
}

#[cfg(test)]
mod tests {
    use super::super::super::real::ConstantReading;
    use super::*;

    #[test]
    fn the_usual_irrational_numbers_are_known_by_their_roundings() {
        let size = consts::FRAC_1_SQRT_2;
        let found = irrational(-FloatType::Float16.round(size), FloatType::Float16);
        assert_eq!(found.and_then(|found| found.is(one().over(root(whole(2))).negated())), Some(true));
        assert!(found.is_some_and(|found| (found.near() + size).abs() < 1e-11));
        assert!(irrational(FloatType::Float16.round(0.7), FloatType::Float16).is_none());
    }

    #[test]
    fn a_constant_is_the_logarithm_that_it_rounds() {
        let float = FloatType::Float32;
        let constant = RingNumber::of_constant(float.round(consts::LN_2), float, ConstantReading::Simplest);
        let x = RingNumber::drawn(1, 0.5);
        let product = whole(2).times(x.exponential()).logarithm();
        assert_eq!(product.is(x.plus(constant)), Some(true));
    }
}
