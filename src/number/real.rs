//! Real numbers: the operations that reference implementations and the interpreter of loops need, for any arithmetic.
//! The arithmetics are floats (`f64`, rounded when they are stored) and the ring (`ring`).

use std::cmp::Ordering;
use std::fmt::Debug;

use super::FloatType;

/// A function of one number: its name, by which an arithmetic may recognize it, and its value for floats.
#[derive(Clone, Copy, Debug)]
pub struct Function {
    /// The name of the intrinsic.
    pub name: &'static str,
    /// The value for floats.
    pub float: fn(f64) -> f64,
}

/// A function of two numbers.
#[derive(Clone, Copy, Debug)]
pub struct BinaryFunction {
    /// The name of the intrinsic.
    pub name: &'static str,
    /// The value for floats.
    pub float: fn(f64, f64) -> f64,
}

/// How an exact arithmetic reads a constant.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ConstantReading {
    /// As the exact value of the float.
    Exact,
    /// As the simplest fraction whose nearest float it is.
    Simplest,
}

/// The order of two numbers is unknown.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[error("of two numbers nobody knows which is the larger: rounding decides, or one is no number")]
pub struct Unordered;

/// A real number in some arithmetic.
pub trait Real: Copy + Default + PartialEq + Debug {
    /// A constant, given as a float of the type.
    fn of_constant(value: f64, float: FloatType, reading: ConstantReading) -> Self;
    /// An integer, rounded to the type.
    fn of_int(value: i128, float: FloatType) -> Self;
    /// The sum.
    fn plus(self, other: Self) -> Self;
    /// The number with the other sign.
    fn negated(self) -> Self;
    /// The product.
    fn times(self, other: Self) -> Self;
    /// The quotient.
    fn over(self, other: Self) -> Self;
    /// The value of a function.
    fn applied(self, function: Function) -> Self;
    /// The value of a function of two numbers.
    fn applied_to(self, other: Self, function: BinaryFunction) -> Self;
    /// The order; none if one is NaN.
    ///
    /// # Errors
    ///
    /// The order is unknown.
    fn order(self, other: Self) -> Result<Option<Ordering>, Unordered>;
    /// Rounds the result of an operation in floats; has no effect on numbers that are not rounded.
    fn rounded(self, round: impl FnOnce(f64) -> f64) -> Self;
    /// A conversion to another type.
    fn cast(self, from: FloatType, to: FloatType) -> Self;
    /// The number as a float, at least approximately.
    fn near(self) -> f64;

    /// The difference.
    fn minus(self, other: Self) -> Self {
        self.plus(other.negated())
    }
}

impl Real for f64 {
    #[inline]
    fn of_constant(value: f64, _: FloatType, _: ConstantReading) -> f64 {
        value
    }
    fn of_int(value: i128, float: FloatType) -> f64 {
        float.round_int(value)
    }
    #[inline]
    fn plus(self, other: f64) -> f64 {
        self + other
    }
    #[inline]
    fn negated(self) -> f64 {
        -self
    }
    #[inline]
    fn times(self, other: f64) -> f64 {
        self * other
    }
    #[inline]
    fn over(self, other: f64) -> f64 {
        self / other
    }
    fn applied(self, function: Function) -> f64 {
        (function.float)(self)
    }
    fn applied_to(self, other: f64, function: BinaryFunction) -> f64 {
        (function.float)(self, other)
    }
    #[inline]
    fn order(self, other: f64) -> Result<Option<Ordering>, Unordered> {
        Ok(self.partial_cmp(&other))
    }
    #[inline]
    fn rounded(self, round: impl FnOnce(f64) -> f64) -> f64 {
        round(self)
    }
    fn cast(self, _: FloatType, to: FloatType) -> f64 {
        to.round(self)
    }
    #[inline]
    fn near(self) -> f64 {
        self
    }
}
