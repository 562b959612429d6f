//! Softmax and its logarithm on lines of float32, rounded as the exact values are.
//!
//! Below, u is 2^-53, the largest relative error of an operation in float64, and d is the distance of an element from
//! the largest one. The powers `e^-d` are within `(4 + d)u`, where d itself is within u. The terms of a sum are
//! positive, so the sum inherits the error of its terms, with d at most the logarithm of their number. It is computed
//! in blocks, within 14u. Together a softmax is within `(60 + d)u` for lines of up to 2^40 elements; the margins are
//! twice that.

use pulp::{Arch, Simd, WithSimd};

use crate::approximate::{log, power};
use crate::elementary::rounded;

/// The largest relative error of an operation.
const UNIT: f64 = f64::EPSILON / 2.0;

/// How many terms are added independently of each other.
const LANES: usize = 16;

/// Below this, a logarithm only decides the sign of a zero, and powers that are too small for the other bounds count.
const NEGLIGIBLE: f64 = 1e-60;

/// The number of terms after which the errors of a sum are collected.
const BLOCK: usize = 8 * LANES;

/// Writes the softmax of a line, where it is certain. Adds the indices of the other elements to `unknown`.
pub fn softmax_of_f32(line: &[f32], out: &mut [f32], powers: &mut Vec<f64>, unknown: &mut Vec<usize>) {
    Arch::new().dispatch(Softmax { line, out, powers, unknown });
}

/// As [`softmax_of_f32`], the logarithms.
pub fn log_softmax_of_f32(line: &[f32], out: &mut [f32], powers: &mut Vec<f64>, unknown: &mut Vec<usize>) {
    Arch::new().dispatch(LogSoftmax { line, out, powers, unknown });
}

struct Softmax<'a> {
    line: &'a [f32],
    out: &'a mut [f32],
    powers: &'a mut Vec<f64>,
    unknown: &'a mut Vec<usize>,
}

impl WithSimd for Softmax<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        let Softmax { line, out, powers, unknown } = self;
        let largest = f64::from(largest(line));
        lowered_powers(line, largest, powers);
        let inverse = if largest.is_finite() { 1.0 / sum(powers) } else { f64::NAN };
        let shared = |x: f32, power: f64| {
            let apart = (f64::from(x) - largest).max(-1000.0);
            rounded(power * inverse, (120.0 - 2.0 * apart) * UNIT)
        };
        let mut doubts = 0;
        for ((x, out), power) in line.iter().zip(&mut *out).zip(&*powers) {
            let (value, doubt) = shared(*x, *power);
            *out = value;
            doubts |= doubt;
        }
        if doubts != 0 || inverse.is_nan() {
            let is_unknown = |(x, power): (&f32, &f64)| inverse.is_nan() || shared(*x, *power).1 != 0;
            note(line.iter().zip(&*powers).map(is_unknown), unknown);
        }
    }
}

struct LogSoftmax<'a> {
    line: &'a [f32],
    out: &'a mut [f32],
    powers: &'a mut Vec<f64>,
    unknown: &'a mut Vec<usize>,
}

impl WithSimd for LogSoftmax<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        let LogSoftmax { line, out, powers, unknown } = self;
        let single = largest(line);
        let largest = f64::from(single);
        lowered_powers(line, largest, powers);
        // One of the largest elements is left out of the sum: it is the 1 in the logarithm.
        if let Some(power) = line.iter().position(|x| *x == single).and_then(|place| powers.get_mut(place)) {
            *power = 0.0;
        }
        let logarithm = if largest.is_finite() { log_of_1_and(sum(powers)) } else { f64::NAN };
        let lowered = |x: f32| {
            let apart = f64::from(x) - largest;
            let near = apart - logarithm;
            // Of infinity nothing is uncertain.
            let margin = (128.0 * logarithm - 4.0 * apart) * UNIT;
            let margin = if apart == f64::NEG_INFINITY { 0.0 } else { margin };
            let (low, high) = ((near - margin) as f32, (near + margin) as f32);
            (low, (low.to_bits() ^ high.to_bits()) | u32::from(apart == 0.0 && logarithm < NEGLIGIBLE))
        };
        let mut doubts = 0;
        for (x, out) in line.iter().zip(&mut *out) {
            let (value, doubt) = lowered(*x);
            *out = value;
            doubts |= doubt;
        }
        if doubts != 0 || logarithm.is_nan() {
            note(line.iter().map(|x| logarithm.is_nan() || lowered(*x).1 != 0), unknown);
        }
    }
}

#[cold]
#[inline(never)]
fn note(are_unknown: impl Iterator<Item = bool>, unknown: &mut Vec<usize>) {
    unknown.extend(are_unknown.enumerate().filter_map(|(i, is_unknown)| is_unknown.then_some(i)));
}

/// The largest number; NaN is left out.
#[inline(always)]
fn largest(line: &[f32]) -> f32 {
    let mut lanes = [f32::NEG_INFINITY; LANES];
    let (blocks, rest) = line.as_chunks::<LANES>();
    for block in blocks {
        for (largest, x) in lanes.iter_mut().zip(block) {
            *largest = if *x > *largest { *x } else { *largest };
        }
    }
    lanes.iter().chain(rest).fold(f32::NEG_INFINITY, |largest, x| if *x > largest { *x } else { largest })
}

#[inline(always)]
fn lowered_powers(line: &[f32], largest: f64, powers: &mut Vec<f64>) {
    powers.resize(line.len(), 0.0);
    for (x, out) in line.iter().zip(powers) {
        *out = power(f64::from(*x) - largest);
    }
}

/// The sum of numbers that are not negative.
#[inline(always)]
fn sum(terms: &[f64]) -> f64 {
    let (mut total, mut lost) = (0.0, 0.0);
    for block in terms.chunks(BLOCK) {
        let mut lanes = [0.0; LANES];
        let (parts, rest) = block.as_chunks::<LANES>();
        for part in parts {
            lanes.iter_mut().zip(part).for_each(|(sum, x)| *sum += x);
        }
        lanes.iter_mut().zip(rest).for_each(|(sum, x)| *sum += x);
        for half in [8, 4, 2, 1] {
            let (low, high) = lanes.split_at_mut(half);
            low.iter_mut().zip(high).for_each(|(low, high)| *low += *high);
        }
        // D. E. Knuth, The Art of Computer Programming, volume 2, 4.2.2.
        let next: f64 = total + lanes[0];
        let added = next - total;
        lost += (total - (next - added)) + (lanes[0] - added);
        total = next;
    }
    total + lost
}

/// `log(1 + x)` for x that is not negative, within 10u: the logarithm of the rounded sum, and the effect of rounding
/// it.
#[inline(always)]
fn log_of_1_and(x: f64) -> f64 {
    let rounded = 1.0 + x;
    log(rounded) + (x - (rounded - 1.0)) / rounded
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(length: usize, width: f32) -> Vec<f32> {
        (0..length).map(|i| ((i * 7919 % 1000) as f32 / 1000.0 - 0.5) * width).collect()
    }

    #[test]
    fn the_elements_are_those_of_the_definition_except_for_a_few() {
        for (length, width) in [(1, 1.0), (7, 3.0), (100, 20.0), (1000, 200.0), (10_000, 5.0)] {
            let line = line(length, width);
            let largest = line.iter().copied().fold(f32::NEG_INFINITY, f32::max);
            let lowered = || line.iter().map(|x| f64::from(*x) - f64::from(largest));
            let sum: f64 = lowered().map(f64::exp).sum();
            let (mut out, mut powers, mut unknown) = (vec![0.0; length], Vec::new(), Vec::new());
            softmax_of_f32(&line, &mut out, &mut powers, &mut unknown);
            assert!(unknown.len() <= 1, "{length}: {unknown:?}");
            assert!(out.iter().zip(lowered()).all(|(out, x)| (f64::from(*out) - x.exp() / sum).abs() < 1e-7));
            log_softmax_of_f32(&line, &mut out, &mut powers, &mut unknown);
            assert!(unknown.len() <= 2, "{length}: {unknown:?}");
            assert!(out.iter().zip(lowered()).all(|(out, x)| (f64::from(*out) - x + sum.ln()).abs() < 1e-5));
        }
    }

    #[test]
    fn a_sum_loses_few_digits() {
        for length in [1, 15, 16, 17, 128, 1000, 100_000] {
            let terms: Vec<f64> = (0..length).map(|i| f64::from(i * 7919 % 1000) * 0.1).collect();
            // Products with 2^20 and their sum are integers.
            let exact: i128 = terms.iter().map(|x| (x * 2f64.powi(60)) as i128).sum();
            let exact = exact as f64 / 2f64.powi(60);
            assert!((sum(&terms) - exact).abs() <= exact * 14.0 * UNIT, "{length}");
        }
    }

    #[test]
    fn lines_without_a_finite_largest_element_are_not_known() {
        for line in [[f32::NAN, 1.0], [f32::INFINITY, 0.0], [f32::NEG_INFINITY, f32::NEG_INFINITY]] {
            for f in [softmax_of_f32, log_softmax_of_f32] {
                let mut unknown = Vec::new();
                f(&line, &mut [0.0; 2], &mut Vec::new(), &mut unknown);
                assert_eq!(unknown, [0, 1], "{line:?}");
            }
        }
        // A zero whose sign powers decide that are not computed.
        let mut unknown = Vec::new();
        log_softmax_of_f32(&[-1e30, 5.0], &mut [0.0; 2], &mut Vec::new(), &mut unknown);
        assert_eq!(unknown, [1]);
        let (mut out, mut unknown) = ([1.0; 2], Vec::new());
        softmax_of_f32(&[f32::NEG_INFINITY, 3.0], &mut out, &mut Vec::new(), &mut unknown);
        assert_eq!((out, unknown.len()), ([0.0, 1.0], 0));
    }
}
