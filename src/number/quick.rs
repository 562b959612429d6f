//! Functions of [`super::elementary`] in float64 alone, for results that are rounded to fewer digits.
//!
//! The elementary functions compute with twice the digits of float64 where digits are lost, and their results are
//! within two units in the last place of float64. Here the same formula is evaluated in float64, with a bound on its
//! distance from the elementary result. If all numbers within the bound round to the same float, then the elementary
//! result rounds to it too, because rounding is monotonic. Otherwise the number is near the middle of two floats; then
//! the answer is `None`, and the caller computes the elementary function itself.
//!
//! In the bounds u is 2^-53, the largest relative error of an operation. The functions of [`libm`] used here are within
//! a unit in the last place, 2u; those of `kernels` are within its margin.

use kernels::{Elementary, MARGIN};

use super::{FloatType, elementary};

/// The value of a function at a float of a type, rounded to the type; `None` where the float is not certain. The margin
/// is more than 4,000 u, and the elementary functions are within 4 u.
pub fn value(float: FloatType, function: Elementary, x: f64) -> Option<f64> {
    let near = function.near(x)?;
    if near.is_nan() { Some(near) } else { within_margin(float, near) }
}

/// The float of a type to which all numbers within the distance `apart` of `near` round.
fn rounded(float: FloatType, near: f64, apart: f64) -> Option<f64> {
    let (low, high) = (float.round(near - apart), float.round(near + apart));
    (low.to_bits() == high.to_bits() && !low.is_nan()).then_some(low)
}

fn within_margin(float: FloatType, near: f64) -> Option<f64> {
    if near == 0.0 { Some(near) } else { rounded(float, near, near.abs() * MARGIN) }
}

/// The maximum exponent of e for which the bounds hold, far from overflow and underflow.
const FAR: f64 = 700.0;

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
    use kernels::Pairwise;

    use super::*;

    /// The definition of a function.
    type Plain = fn(f64) -> f64;

    const FUNCTIONS: [(Elementary, Plain); 17] = [
        (Elementary::Arccosine, elementary::acos),
        (Elementary::Arcsine, elementary::asin),
        (Elementary::Arctangent, elementary::atan),
        (Elementary::Cosine, elementary::cos),
        (Elementary::Error, elementary::erf),
        (Elementary::Exponential, elementary::exp),
        (Elementary::Gelu, elementary::gelu),
        (Elementary::GeluTanh, elementary::gelu_tanh),
        (Elementary::HyperbolicCosine, elementary::cosh),
        (Elementary::HyperbolicSine, elementary::sinh),
        (Elementary::HyperbolicTangent, elementary::tanh),
        (Elementary::Logarithm, elementary::log),
        (Elementary::ReciprocalRoot, elementary::rsqrt),
        (Elementary::Sigmoid, elementary::sigmoid),
        (Elementary::Silu, elementary::silu),
        (Elementary::Sine, elementary::sin),
        (Elementary::Tangent, elementary::tan),
    ];
    /// A million numbers, over all functions and types.
    const COUNT: u64 = 20_000;
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

    fn is_same(x: f64, y: f64) -> bool {
        x.to_bits() == y.to_bits() || (x.is_nan() && y.is_nan())
    }

    /// Numbers where functions change: zeros, infinities, the edges of domains, and those next to multiples of pi / 2.
    fn special(float: FloatType) -> Vec<f64> {
        let multiples = (1..40_000).map(|n| float.round(f64::from(n) * std::f64::consts::FRAC_PI_2));
        let least = 2f64.powi(float.least_exponent());
        let edges = [0.0, 1.0, least, 88.7, 89.5, 103.9, 104.1, float.greatest(), f64::INFINITY, f64::NAN];
        let around =
            |x: f64| [x, float.of_bits(float.to_bits(x) + 1), float.of_bits(float.to_bits(x).saturating_sub(1))];
        let positive: Vec<f64> = edges.into_iter().map(|x| float.round(x)).chain(multiples).flat_map(around).collect();
        positive.iter().flat_map(|x| [*x, -x]).collect()
    }

    #[test]
    fn what_is_certain_is_what_the_elementary_function_rounds_to() {
        for float in FEWER {
            for (function, exact) in FUNCTIONS {
                let mut certain = 0;
                for x in numbers(float, COUNT).chain(special(float)) {
                    let Some(found) = value(float, function, x) else { continue };
                    certain += 1;
                    assert!(is_same(found, float.round(exact(x))), "{function:?} in {float:?} of {x}: {found}");
                }
                assert!(certain > COUNT / 2, "{function:?} in {float:?}: {certain}");
            }
        }
    }

    #[test]
    fn approximations_are_within_a_part_of_the_margin() {
        for (function, exact) in FUNCTIONS {
            let numbers = numbers(FloatType::Float32, COUNT).chain(special(FloatType::Float32));
            for x in numbers.filter(|x| x.is_finite()) {
                let (Some(near), exact) = (function.near(x), exact(x)) else { continue };
                // Beyond, neither of them differs from zero or infinity in float32.
                if (1e-50..1e50).contains(&exact.abs()) {
                    assert!(
                        (near - exact).abs() <= MARGIN / 8.0 * exact.abs(),
                        "{function:?} of {x}: {near} and {exact}"
                    );
                }
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
    fn certain_elements_of_lines_of_float32_are_those_of_the_elementary_functions() {
        type OfLine = fn(&[f32], &mut [f32], &mut Vec<f64>, &mut Vec<usize>);
        type ExactLine = fn(&[f64]) -> Vec<f64>;
        let numbers: Vec<f32> = numbers(FloatType::Float32, 20_000).map(|x| x as f32).collect();
        let mut doubts = 0;
        for (i, line) in numbers.chunks(33).enumerate() {
            let near = |x: &f32| if i % 3 == 0 { *x } else { x % 20.0 };
            let line: Vec<f32> = line.iter().map(near).collect();
            let functions: [(OfLine, ExactLine); 2] = [
                (kernels::softmax_of_f32, elementary::softmax),
                (kernels::log_softmax_of_f32, elementary::log_softmax),
            ];
            for (quick, exact) in functions {
                let (mut out, mut unknown) = (vec![0.0; line.len()], Vec::new());
                quick(&line, &mut out, &mut Vec::new(), &mut unknown);
                let exact = exact(&kernels::widened(&line));
                for (place, (found, exact)) in out.iter().zip(exact).enumerate() {
                    let is_known = !unknown.contains(&place);
                    assert!(!is_known || found.to_bits() == (exact as f32).to_bits(), "{line:?}: {place}");
                }
                doubts += unknown.len();
            }
        }
        // Those of lines with infinity or NaN, and near ties.
        assert!(doubts < numbers.len() / 10, "{doubts}");
    }

    #[test]
    fn functions_of_two_float32_are_the_elementary_ones() {
        type Exact<'e> = &'e dyn Fn(f64, f64) -> f64;
        let exact = |x, y| FloatType::Float32.quotient_rounded_down(x, y);
        let functions: [(Pairwise, Exact<'_>); 2] =
            [(Pairwise::Power, &elementary::pow), (Pairwise::QuotientRoundedDown, &exact)];
        let any: Vec<f64> = numbers(FloatType::Float32, COUNT).chain(special(FloatType::Float32)).collect();
        let x: Vec<f32> = any.iter().map(|x| *x as f32).collect();
        let whole = any.iter().enumerate().map(|(i, x)| if i % 3 == 0 { x.round() } else { *x });
        let y: Vec<f32> = whole.rev().map(|x| x as f32).collect();
        for (function, exact) in functions {
            let mut out = vec![0.0; x.len()];
            kernels::pairwise_of_f32(function, &x, &y, &mut out, exact);
            for ((x, y), out) in x.iter().zip(&y).zip(out) {
                let expected = exact((*x).into(), (*y).into()) as f32;
                assert!(is_same(out.into(), expected.into()), "{function:?} of {x} and {y}: {out}");
            }
        }
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
