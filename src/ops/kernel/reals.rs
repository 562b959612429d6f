//! Operations on real numbers, that is, floats or numbers of the ring. Each is stated once: the ring computes the same
//! as floats, without rounding (REFINE.RING.NUMBERS).

use std::cmp::Ordering;

use crate::number::real::{BinaryFunction, Function, Real, Unordered};
use crate::number::ring::RingNumber;
use crate::ops::kernel::fail;
use crate::value::{Element, Scalar, Stop};

/// The answer that the ring does not have an operation.
pub(in crate::ops) fn no_ring() -> Stop {
    Stop::unspecified("in the ring: an operator that computes in floats")
}

impl From<Unordered> for Stop {
    fn from(error: Unordered) -> Stop {
        Stop::unspecified(format!("in the ring: {error}"))
    }
}

/// Two numbers of the ring, if at least one of them is; the other may be a constant.
pub(in crate::ops) fn in_ring(x: Scalar, y: Scalar) -> Option<(RingNumber, RingNumber)> {
    match (x, y) {
        (Scalar::Ring(x), Scalar::Ring(y)) => Some((x, y)),
        (Scalar::Ring(x), Scalar::Float(y)) => Some((x, RingNumber::of_float(y))),
        (Scalar::Float(x), Scalar::Ring(y)) => Some((RingNumber::of_float(x), y)),
        (Scalar::Ring(_) | Scalar::Bool(_) | Scalar::Int(_) | Scalar::UInt(_) | Scalar::Float(_), _) => None,
    }
}

/// An element as a number of the ring, for a sum or a product that is one.
pub(in crate::ops) fn as_ring(x: Scalar) -> RingNumber {
    Element::from_scalar(x)
}

/// A function of a float or of a number of the ring.
pub(in crate::ops) fn applied(x: Scalar, name: &'static str, float: fn(f64) -> f64) -> Result<Scalar, Stop> {
    let function = Function { name: name.strip_prefix("nn.").unwrap_or(name), float };
    match x {
        Scalar::Float(x) => Ok(Scalar::Float(float(x))),
        Scalar::Ring(x) => Ok(Scalar::Ring(x.applied(function))),
        Scalar::Bool(_) | Scalar::Int(_) | Scalar::UInt(_) => Err(fail("expects a floating-point data type")),
    }
}

/// NaN is the result if an operand is NaN, as in other arithmetic. Of two zeros the result is the first: `f64::max` may
/// return either.
pub(in crate::ops) fn max_float(x: f64, y: f64) -> f64 {
    if x.is_nan() || y.is_nan() {
        f64::NAN
    } else if x < y {
        y
    } else {
        x
    }
}

pub(in crate::ops) fn min_float(x: f64, y: f64) -> f64 {
    if x.is_nan() || y.is_nan() {
        f64::NAN
    } else if y < x {
        y
    } else {
        x
    }
}

/// An operation on two real numbers. A function that is defined for floats only has no value in the ring.
pub(in crate::ops) trait OfReals {
    fn of_floats(&self, x: f64, y: f64) -> f64;
    fn of_ring(&self, _: RingNumber, _: RingNumber) -> Result<RingNumber, Stop> {
        Err(no_ring())
    }
}

impl<F: Fn(f64, f64) -> f64> OfReals for F {
    fn of_floats(&self, x: f64, y: f64) -> f64 {
        self(x, y)
    }
}

/// Operations on two real numbers.
#[derive(Clone, Copy)]
pub(in crate::ops) enum RealOp {
    Sum,
    Difference,
    Product,
    Quotient,
    /// The larger one; NaN if one is NaN, as in other arithmetic.
    Larger,
    Smaller,
    /// The second operand without its sign.
    Magnitude,
    /// The second operand with the opposite sign.
    Negation,
    /// -1, 0 or 1 for the second operand; zeros and NaN are unchanged.
    Sign,
    /// A function, given by its name.
    Named(BinaryFunction),
}

impl RealOp {
    fn chosen<N: Real>(x: N, y: N, wanted: Ordering) -> Result<N, Unordered> {
        Ok(if x.order(y)? == Some(wanted) { x } else { y })
    }
}

impl OfReals for RealOp {
    fn of_floats(&self, x: f64, y: f64) -> f64 {
        match self {
            RealOp::Sum => x + y,
            RealOp::Difference => x - y,
            RealOp::Product => x * y,
            RealOp::Quotient => x / y,
            RealOp::Larger => max_float(x, y),
            RealOp::Smaller => min_float(x, y),
            RealOp::Magnitude => y.abs(),
            RealOp::Negation => -y,
            RealOp::Sign => {
                if y == 0.0 || y.is_nan() {
                    y
                } else {
                    y.signum()
                }
            }
            RealOp::Named(function) => (function.float)(x, y),
        }
    }

    fn of_ring(&self, x: RingNumber, y: RingNumber) -> Result<RingNumber, Stop> {
        Ok(match self {
            RealOp::Sum => x.plus(y),
            RealOp::Difference => x.minus(y),
            RealOp::Product => x.times(y),
            RealOp::Quotient => x.over(y),
            RealOp::Larger => RealOp::chosen(x, y, Ordering::Greater)?,
            RealOp::Smaller => RealOp::chosen(x, y, Ordering::Less)?,
            RealOp::Magnitude => y.applied(Function { name: "fabs", float: f64::abs }),
            RealOp::Negation => y.negated(),
            RealOp::Sign => y.applied(Function { name: "sign", float: f64::signum }),
            RealOp::Named(function) => x.applied_to(y, *function),
        })
    }
}
