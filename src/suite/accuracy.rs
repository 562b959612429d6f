//! Agreement of numbers: the table `spec/accuracy.ron`, and the comparison of two values within a class of it.

use std::sync::LazyLock;

use serde::Deserialize;

use crate::data::record::{record, word};
use crate::grammar::{DataType, TensorData, TypeCode};
use crate::judge::with_stack;
use crate::ops::Accuracy;
use crate::value::{Scalar, Tensor, ValueSpec};

const TABLE: &str = include_str!("../../spec/accuracy.ron");

/// A class of the table.
#[derive(Clone, PartialEq, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AccuracyRow {
    /// The class.
    pub class: Accuracy,
    /// The maximum error of a float.
    pub bound: ErrorBound,
    /// The source of the bound, for people.
    pub source: String,
}

/// The maximum difference of a float from the expected value.
#[derive(Clone, Copy, PartialEq, Debug, Deserialize)]
pub enum ErrorBound {
    /// No difference at all, not even in the sign of zero.
    Equal,
    /// This many units in the last place of the expected value.
    Ulps(f64),
    /// This factor, times the number of terms, times half the spacing at 1, times the sum of the magnitudes of the
    /// terms.
    Reduction(f64),
    /// This factor, times the spacing at 1, times the largest intermediate magnitude.
    Absolute(f64),
}

/// The agreement that a case requires.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Within {
    /// The class of the operators that compute the value.
    pub class: Accuracy,
    /// For a reduction, the number of terms of an element.
    pub length: u64,
    /// For a reduction, the sum of the magnitudes of the terms; for an absolute bound, the largest intermediate
    /// magnitude.
    pub magnitude: f64,
}

word! { Accuracy, "a class of accuracy" { Exact, Rounded, Elementary, Accumulated, Absolute } }

record! { Within, "Within", closed { class: one, length: or(0), magnitude: or(0.0) } }

/// Exact data: the same bits.
pub const BIT_FOR_BIT: Within = Within { class: Accuracy::Exact, length: 0, magnitude: 0.0 };

static CLASSES: LazyLock<Result<Vec<AccuracyRow>, ron::error::SpannedError>> =
    LazyLock::new(|| crate::book::ron_options().from_str(TABLE));

/// The table.
pub fn table() -> Result<&'static [AccuracyRow], &'static ron::error::SpannedError> {
    CLASSES.as_deref()
}

impl Within {
    /// The maximum difference of an element from the expected one; 0 for an element that is not a float, which must be
    /// equal.
    fn tolerance(&self, dtype: DataType, expected: f64) -> f64 {
        let bound = table().ok().and_then(|table| table.iter().find(|c| c.class == self.class)).map(|c| c.bound);
        match bound {
            None | Some(ErrorBound::Equal) => 0.0,
            Some(ErrorBound::Ulps(ulps)) => ulps * ulp(dtype, expected),
            Some(ErrorBound::Reduction(factor)) => {
                factor * self.length as f64 * epsilon(dtype) / 2.0 * self.magnitude + ulp(dtype, expected)
            }
            Some(ErrorBound::Absolute(factor)) => factor * epsilon(dtype) * self.magnitude,
        }
    }
}

fn precision(dtype: DataType) -> (i32, i32) {
    match (dtype.code, dtype.bits) {
        (TypeCode::Float, 16) => (10, -24),
        (TypeCode::BFloat, _) => (7, -133),
        (TypeCode::Float, 32) => (23, -149),
        (TypeCode::Float | TypeCode::Small(_) | TypeCode::Int | TypeCode::UInt | TypeCode::Handle, _) => (52, -1074),
    }
}

/// The distance between 1 and the next float.
fn epsilon(dtype: DataType) -> f64 {
    2f64.powi(-precision(dtype).0)
}

/// The distance between the floats around a value.
fn ulp(dtype: DataType, value: f64) -> f64 {
    let (digits, least) = precision(dtype);
    if value == 0.0 || !value.is_finite() {
        return 2f64.powi(least.max(-1022));
    }
    let exponent = value.abs().log2().floor() as i32;
    2f64.powi((exponent - digits).max(least).max(-1022))
}

/// The closeness of a value to the expected one.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Closeness {
    /// Out of bounds, or a different kind of value.
    Apart,
    /// Within bounds. `used` is the largest part of a tolerance that an element uses, 0 if all are equal.
    Within {
        /// The part of the tolerance, from 0 to 1.
        used: f64,
        /// Whether a different value could have been out of bounds.
        could_fail: bool,
    },
}

/// Compares two values: numbers within the class, everything else for equality.
pub fn closeness(within: &Within, expected: &ValueSpec, given: &ValueSpec) -> Closeness {
    match (expected, given) {
        (ValueSpec::Tensor(a), ValueSpec::Tensor(b)) => tensors(within, a, b),
        (ValueSpec::Tuple(a), ValueSpec::Tuple(b)) if a.len() == b.len() => {
            let fields = a.iter().zip(b).map(|(a, b)| with_stack(|| closeness(within, a, b)));
            fields.fold(Closeness::Within { used: 0.0, could_fail: a.is_empty() }, Closeness::and)
        }
        (a, b) if a == b => Closeness::Within { used: 0.0, could_fail: true },
        (_, _) => Closeness::Apart,
    }
}

impl Closeness {
    fn and(self, other: Closeness) -> Closeness {
        match (self, other) {
            (Closeness::Within { used: u1, could_fail: c1 }, Closeness::Within { used: u2, could_fail: c2 }) => {
                Closeness::Within { used: u1.max(u2), could_fail: c1 || c2 }
            }
            (Closeness::Apart, _) | (_, Closeness::Apart) => Closeness::Apart,
        }
    }
}

fn tensors(within: &Within, expected: &TensorData, given: &TensorData) -> Closeness {
    if expected == given {
        return Closeness::Within { used: 0.0, could_fail: could_fail(within, expected) };
    }
    if expected.dtype != given.dtype || expected.shape != given.shape {
        return Closeness::Apart;
    }
    let (Ok(a), Ok(b)) = (Tensor::from_data(expected), Tensor::from_data(given)) else { return Closeness::Apart };
    let mut used = 0f64;
    for i in 0..a.len() {
        match (a.get(i), b.get(i)) {
            (Some(Scalar::Float(x)), Some(Scalar::Float(y))) => match part(within, expected.dtype, x, y) {
                Some(part) => used = used.max(part),
                None => return Closeness::Apart,
            },
            (x, y) if x == y => {}
            (_, _) => return Closeness::Apart,
        }
    }
    Closeness::Within { used, could_fail: could_fail(within, expected) }
}

/// The part of the tolerance that the difference uses; `None` if it exceeds it.
fn part(within: &Within, dtype: DataType, x: f64, y: f64) -> Option<f64> {
    if x.is_nan() && y.is_nan() {
        return Some(0.0);
    }
    if x == y {
        let same_sign = x.is_sign_negative() == y.is_sign_negative();
        return (same_sign || x != 0.0 || within.class != Accuracy::Exact).then_some(0.0);
    }
    let (difference, tolerance) = ((x - y).abs(), within.tolerance(dtype, x));
    (difference <= tolerance && difference.is_finite()).then(|| difference / tolerance)
}

/// Whether some element would reject values that differ by less than its own magnitude. A tolerance as large as the
/// expected values accepts unrelated results.
fn could_fail(within: &Within, expected: &TensorData) -> bool {
    let Ok(tensor) = Tensor::from_data(expected) else { return true };
    let narrow = |i: usize| match tensor.get(i) {
        Some(Scalar::Float(x)) => {
            !x.is_finite() || within.tolerance(expected.dtype, x) < x.abs().max(f64::MIN_POSITIVE)
        }
        Some(Scalar::Bool(_) | Scalar::Int(_) | Scalar::UInt(_) | Scalar::Ring(_)) | None => true,
    };
    // For a tensor without elements the shape and the datatype are compared.
    tensor.is_empty() || (0..tensor.len()).any(narrow)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tensor(values: &[f64]) -> ValueSpec {
        ValueSpec::Tensor(TensorData::from_values(DataType::FLOAT32, &[values.len() as u64], values).unwrap())
    }

    const ULP_AT_1: f64 = 1.0 / 8_388_608.0;

    fn within(class: Accuracy) -> Within {
        Within { class, length: 4, magnitude: 4.0 }
    }

    #[test]
    fn every_class_has_a_bound_and_a_source() {
        let table = table().unwrap();
        for class in Accuracy::ALL {
            let found: Vec<&AccuracyRow> = table.iter().filter(|row| row.class == class).collect();
            assert_eq!(found.len(), 1, "{class:?}");
            assert!(!found[0].source.is_empty());
        }
    }

    #[test]
    fn an_elementary_function_may_err_by_sixteen_places_and_no_more() {
        let (one, near, far) = (tensor(&[1.0]), tensor(&[1.0 + 16.0 * ULP_AT_1]), tensor(&[1.0 + 17.0 * ULP_AT_1]));
        assert_eq!(
            closeness(&within(Accuracy::Elementary), &one, &near),
            Closeness::Within { used: 1.0, could_fail: true }
        );
        assert_eq!(closeness(&within(Accuracy::Elementary), &one, &far), Closeness::Apart);
        assert_eq!(closeness(&within(Accuracy::Rounded), &one, &tensor(&[1.0 + ULP_AT_1])), Closeness::Apart);
    }

    #[test]
    fn a_reduction_may_err_with_its_length() {
        // 4 terms with magnitudes of 4 in total: 4 * 2^-24 * 4 = 8 ulp at 1, and one more for the rounding of the
        // result.
        let (one, near, far) = (tensor(&[1.0]), tensor(&[1.0 + 9.0 * ULP_AT_1]), tensor(&[1.0 + 10.0 * ULP_AT_1]));
        assert!(matches!(closeness(&within(Accuracy::Accumulated), &one, &near), Closeness::Within { .. }));
        assert_eq!(closeness(&within(Accuracy::Accumulated), &one, &far), Closeness::Apart);
    }

    #[test]
    fn special_values() {
        let exact = |a: &[f64], b: &[f64]| closeness(&BIT_FOR_BIT, &tensor(a), &tensor(b)) != Closeness::Apart;
        assert!(exact(&[f64::NAN], &[-f64::NAN]));
        assert!(!exact(&[0.0], &[-0.0]));
        assert!(!exact(&[f64::INFINITY], &[f64::from(f32::MAX)]));
        let rounded = within(Accuracy::Rounded);
        assert_ne!(closeness(&rounded, &tensor(&[0.0]), &tensor(&[-0.0])), Closeness::Apart);
    }

    #[test]
    fn a_tolerance_as_large_as_the_result_could_not_fail() {
        let wide = Within { class: Accuracy::Absolute, length: 0, magnitude: 1e9 };
        let found = closeness(&wide, &tensor(&[1.0]), &tensor(&[2.0]));
        assert!(matches!(found, Closeness::Within { could_fail: false, .. }));
    }
}
