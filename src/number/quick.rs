//! Functions of [`super::elementary`] in float64 alone, for results that are rounded to fewer digits.
//!
//! The elementary functions compute with twice the digits of float64 where digits are lost, and their results are
//! within two units in the last place of float64. Here the same formula is evaluated in float64, with a bound on its
//! distance from the elementary result. If all numbers within the bound round to the same float, then the elementary
//! result rounds to it too, because rounding is monotonic. Otherwise the number is near the middle of two floats; then
//! the answer is `None`, and the caller computes the elementary function itself.
//!
//! In the bounds u is 2^-53, the largest relative error of an operation. The functions of [`libm`] used here are within
//! a unit in the last place, 2u.

use super::{FloatType, elementary};

/// A function; `None` where the float is not certain.
pub type Quick = fn(FloatType, f64) -> Option<f64>;

/// The maximum relative distance of a function from the elementary one: more than 8,000 u. Each function below is
/// within 1,000 u of its exact value, and the elementary one within 4 u.
const MARGIN: f64 = 1.0 / (1u64 << 40) as f64;

/// The float of a type to which all numbers within the distance `apart` of `near` round.
fn rounded(float: FloatType, near: f64, apart: f64) -> Option<f64> {
    let (low, high) = (float.round(near - apart), float.round(near + apart));
    (low.to_bits() == high.to_bits() && !low.is_nan()).then_some(low)
}

fn within_margin(float: FloatType, near: f64) -> Option<f64> {
    rounded(float, near, near.abs() * MARGIN)
}

/// The maximum exponent of e for which the bounds hold, far from overflow and underflow.
const FAR: f64 = 700.0;

/// [`elementary::sigmoid`]. The exponential is within 2u, the sum and the quotient add u each.
pub fn sigmoid(float: FloatType, x: f64) -> Option<f64> {
    (x.abs() < FAR).then(|| 1.0 / (1.0 + elementary::exp(-x))).and_then(|near| within_margin(float, near))
}

/// [`elementary::silu`]. It rounds once more than [`sigmoid`].
pub fn silu(float: FloatType, x: f64) -> Option<f64> {
    (x.abs() < FAR).then(|| x / (1.0 + elementary::exp(-x))).and_then(|near| within_margin(float, near))
}

/// [`elementary::tanh`].
pub fn tanh(float: FloatType, x: f64) -> Option<f64> {
    /// Below this the relative size of the next term of the series, `17 x^7 / 315`, is less than u.
    const SMALL: f64 = 1.0 / 1024.0;
    let size = x.abs();
    if size < SMALL {
        let square = x * x;
        return within_margin(float, x * (1.0 - square * (1.0 / 3.0 - square * (2.0 / 15.0))));
    }
    // The quotient is at most 1 and within 5u. It is subtracted from a number that is at least 2^-11 larger. A relative
    // error of 2^11 * 5u would exceed the margin, so the bound is absolute.
    let near = 1.0 - 2.0 / (elementary::exp(2.0 * size) + 1.0);
    if size < FAR / 2.0 { rounded(float, near.copysign(x), 1e-14) } else { None }
}

/// [`elementary::gelu`]. The argument of the error function is within 2u. A relative change of the argument z changes
/// the complement at most `2 z^2 + 2` times as much, which is less than 90 for the numbers here.
pub fn gelu(float: FloatType, x: f64) -> Option<f64> {
    (x.abs() < 9.0)
        .then(|| 0.5 * x * libm::erfc(-x * std::f64::consts::FRAC_1_SQRT_2))
        .and_then(|near| within_margin(float, near))
}

/// [`elementary::gelu_tanh`]. The relative error of the exponent is at most 5u, and its magnitude at most 100.
pub fn gelu_tanh(float: FloatType, x: f64) -> Option<f64> {
    let twice = x * (1.595_769_121_605_730_8 + 0.071_354_816_272_600_25 * (x * x));
    (twice.abs() < 100.0).then(|| x / (1.0 + elementary::exp(-twice))).and_then(|near| within_margin(float, near))
}

/// The elements of [`elementary::softmax`], each rounded; `None` if one is not certain.
pub fn softmax(float: FloatType, line: &[f64]) -> Option<Vec<f64>> {
    let (mut powers, sum) = powers(line)?;
    let margin = margin_of_sum(line.len());
    for power in &mut powers {
        let near = *power / sum;
        *power = rounded(float, near, near * margin)?;
    }
    Some(powers)
}

/// The elements of [`elementary::log_softmax`], each rounded; `None` if one is not certain.
pub fn log_softmax(float: FloatType, line: &[f64]) -> Option<Vec<f64>> {
    let (_, sum) = powers(line)?;
    let (largest, logarithm) = (largest(line)?, elementary::log(sum));
    let margin = margin_of_sum(line.len());
    let element = |x: &f64| {
        let lowered = x - largest;
        // The distances of both terms from their exact values, and that of the elementary result.
        let near = lowered - logarithm;
        rounded(float, near, margin + (lowered.abs() + logarithm + near.abs()) * 8.0 * f64::EPSILON)
    };
    line.iter().map(element).collect()
}

/// Twice the maximum relative error of a sum of this many powers of e, and so of the quotients by it. Each power is
/// within 702u, because its exponent is at most 700, within u. Each addition adds u.
fn margin_of_sum(terms: usize) -> f64 {
    (terms as f64 + 2_000.0) * 2.0 * f64::EPSILON
}

fn largest(line: &[f64]) -> Option<f64> {
    line.iter().copied().reduce(f64::max).filter(|largest| largest.is_finite() && !line.iter().any(|x| x.is_nan()))
}

/// `e^(x_i - max)` for each number, and the sum. A power below e^-700 does not change any float with fewer digits than
/// float64.
fn powers(line: &[f64]) -> Option<(Vec<f64>, f64)> {
    let largest = largest(line)?;
    let power = |x: &f64| if x - largest < -FAR { 0.0 } else { elementary::exp(x - largest) };
    let powers: Vec<f64> = line.iter().map(power).collect();
    let sum = powers.iter().sum();
    Some((powers, sum))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The definition of a function.
    type Plain = fn(f64) -> f64;

    const FUNCTIONS: [(Quick, Plain); 5] = [
        (sigmoid, elementary::sigmoid),
        (silu, elementary::silu),
        (tanh, elementary::tanh),
        (gelu, elementary::gelu),
        (gelu_tanh, elementary::gelu_tanh),
    ];
    /// A million numbers, over all functions and types.
    const COUNT: u64 = 70_000;
    const FEWER: [FloatType; 3] = [FloatType::Float32, FloatType::Float16, FloatType::BFloat16];

    /// A sequence of numbers that cover the whole range of the types.
    fn numbers(float: FloatType, count: u64) -> impl Iterator<Item = f64> {
        let mixed = |i: u64| {
            let x = (i + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
            (x ^ (x >> 29)).wrapping_mul(0xBF58_476D_1CE4_E5B9) >> 32
        };
        let near = move |i: u64| float.round((mixed(i) as f64 / 2f64.powi(32) - 0.5) * 30.0);
        (0..count).map(move |i| if i % 4 == 0 { float.of_bits(mixed(i) >> (32 - float.width())) } else { near(i) })
    }

    #[test]
    fn what_is_certain_is_what_the_elementary_function_rounds_to() {
        for float in FEWER {
            for (quick, exact) in FUNCTIONS {
                let mut certain = 0;
                for x in numbers(float, COUNT) {
                    let Some(found) = quick(float, x) else { continue };
                    certain += 1;
                    assert_eq!(found.to_bits(), float.round(exact(x)).to_bits(), "{float:?} of {x}");
                }
                assert!(certain > COUNT / 2, "{float:?}: {certain}");
            }
        }
    }

    #[test]
    fn a_number_near_a_tie_is_not_certain() {
        for float in FEWER {
            for below in numbers(float, COUNT).map(f64::abs) {
                // The middle of two floats, which float64 represents.
                let tie = below + (float.of_bits(float.to_bits(below) + 1) - below) / 2.0;
                if !(2f64.powi(-14)..float.greatest()).contains(&tie) {
                    continue;
                }
                for part in [0.0, 0.5, -0.5, 0.99, -0.99] {
                    assert_eq!(within_margin(float, tie * (1.0 + part * MARGIN)), None, "{float:?} {tie} {part}");
                }
                for part in [1.01, -1.01] {
                    let near = tie * (1.0 + part * MARGIN);
                    assert_eq!(within_margin(float, near), Some(float.round(near)), "{float:?} {tie} {part}");
                }
            }
        }
        assert_eq!(within_margin(FloatType::Float32, f64::NAN), None);
        assert_eq!(within_margin(FloatType::Float32, 0.0).map(f64::to_bits), Some(0));
    }

    #[test]
    fn lines_are_those_of_the_elementary_functions() {
        for float in FEWER {
            let numbers: Vec<f64> = numbers(float, 20_000).collect();
            let mut certain = 0;
            for (i, line) in numbers.chunks(7).enumerate() {
                let line: Vec<f64> = line.iter().map(|x| if i % 3 == 0 { *x } else { x % 20.0 }).collect();
                for (quick, exact) in [
                    (
                        softmax as fn(FloatType, &[f64]) -> Option<Vec<f64>>,
                        elementary::softmax as fn(&[f64]) -> Vec<f64>,
                    ),
                    (log_softmax, elementary::log_softmax),
                ] {
                    let Some(found) = quick(float, &line) else { continue };
                    certain += 1;
                    let expected: Vec<f64> = exact(&line).into_iter().map(|x| float.round(x)).collect();
                    assert_eq!(found, expected, "{line:?}");
                }
            }
            assert!(certain > 1_000, "{float:?}: {certain}");
        }
    }
}
