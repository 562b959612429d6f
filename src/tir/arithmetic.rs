//! The arithmetics with which `PrimFunc`s run: floats and the ring.

use super::error::TirError;
use crate::number::FloatType;
use crate::number::real::{Real, Unordered};
use crate::number::ring::RingNumber;
use crate::value::{Element, Scalar};

/// A real number as an element of a tensor or an argument.
pub(super) trait Arithmetic: Real {
    /// The argument for a parameter of a type.
    fn of_scalar(value: Scalar, float: FloatType) -> Self;
    /// The number as an element or a result.
    fn scalar(self) -> Scalar;
    /// The numbers as floats, if that is what they are.
    fn floats(numbers: &mut [Self]) -> Option<&mut [f64]>;
    /// The number plus others of its type, one after the other.
    fn accumulated(self, values: &[Self], float: FloatType) -> Self {
        values.iter().fold(self, |sum, x| sum.plus(*x).rounded(|sum| float.round(sum)))
    }
}

impl Arithmetic for f64 {
    fn of_scalar(value: Scalar, float: FloatType) -> f64 {
        match value {
            Scalar::Bool(b) => float.round_int(b.into()),
            Scalar::Int(i) => float.round_int(i.into()),
            Scalar::UInt(u) => float.round_int(u.into()),
            Scalar::Float(f) => float.round(f),
            Scalar::Ring(_) => f64::NAN,
        }
    }
    fn scalar(self) -> Scalar {
        Scalar::Float(self)
    }
    fn floats(numbers: &mut [f64]) -> Option<&mut [f64]> {
        Some(numbers)
    }
    fn accumulated(self, values: &[f64], float: FloatType) -> f64 {
        match float {
            FloatType::Float64 => values.iter().fold(self, |sum, x| sum + x),
            // The sum of two float32 in float64 has digits enough to be rounded again without harm.
            FloatType::Float32 => values.iter().fold(self as f32, |sum, x| sum + *x as f32).into(),
            FloatType::Float16 | FloatType::BFloat16 => values.iter().fold(self, |sum, x| float.round(sum + x)),
        }
    }
}

impl Arithmetic for RingNumber {
    fn of_scalar(value: Scalar, _: FloatType) -> RingNumber {
        Element::from_scalar(value)
    }
    fn scalar(self) -> Scalar {
        Scalar::Ring(self)
    }
    fn floats(_: &mut [RingNumber]) -> Option<&mut [f64]> {
        None
    }
}

impl From<Unordered> for Box<TirError> {
    fn from(error: Unordered) -> Box<TirError> {
        Box::new(TirError::Unsupported(format!("in the ring: {error}")))
    }
}
