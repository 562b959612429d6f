//! Conversions between float32 and float64.

/// The numbers as float64, which represents them exactly.
pub fn widened(x: &[f32]) -> Vec<f64> {
    x.iter().map(|x| f64::from(*x)).collect()
}

/// Writes the float32 that is nearest to each number, ties to even.
pub fn narrow(x: &[f64], out: &mut [f32]) {
    out.iter_mut().zip(x).for_each(|(out, x)| *out = *x as f32);
}

/// Writes each number, and zero for those below zero. A negative zero and NaN stay as they are.
pub fn rectify(x: &[f32], out: &mut [f32]) {
    out.iter_mut().zip(x).for_each(|(out, x)| *out = if *x < 0.0 { 0.0 } else { *x });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_float_is_taken_and_ties_go_to_even() {
        let (one, step) = (1.0f64, f64::from(f32::EPSILON));
        let numbers = [one + step / 2.0, one + step * 1.5, 1e300, -1e-300, f64::INFINITY];
        let mut out = [0.0; 5];
        narrow(&numbers, &mut out);
        assert_eq!(widened(&out), [1.0, 1.0 + 2.0 * step, f64::INFINITY, 0.0, f64::INFINITY]);
        assert!(out[3].is_sign_negative());
    }

    #[test]
    fn what_is_negative_becomes_zero() {
        let mut out = [1.0; 4];
        rectify(&[-1.0, -0.0, 2.0, f32::NAN], &mut out);
        assert!(out[0].to_bits() == 0 && out[1].is_sign_negative() && out[2] == 2.0 && out[3].is_nan());
    }
}
