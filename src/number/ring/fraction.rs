//! The simplest fraction near a float.

use crate::number::FloatType;

/// Numerator and denominator of the fraction with the smallest denominator whose nearest float is the value; `None` if
/// the value is so large or small that its fraction has more than 100 bits.
pub(super) fn simplest(value: f64, float: FloatType) -> Option<(i128, i128)> {
    if value == 0.0 {
        return Some((0, 1));
    }
    let (fraction, exponent) = libm::frexp(value.abs());
    let digits = libm::ldexp(fraction, float.digits() as i32);
    let exponent = exponent - float.digits() as i32;
    // An attribute has the digits of a double, whatever the type in which its operator computes.
    if digits.fract() != 0.0 && float != FloatType::Float64 {
        return simplest(value, FloatType::Float64);
    }
    // A subnormal number has fewer digits.
    if digits.fract() != 0.0 || !(-70..=40).contains(&exponent) {
        return None;
    }
    // Half a unit below and above, in halves of units.
    let (low, high) = (2 * digits as i128 - 1, 2 * digits as i128 + 1);
    let (scale, divisor) = if exponent > 0 { (1i128 << (exponent - 1), 1) } else { (1, 1i128 << (1 - exponent)) };
    let (numerator, denominator) = between((low * scale, divisor), (high * scale, divisor));
    Some((if value < 0.0 { -numerator } else { numerator }, denominator))
}

/// The fraction with the smallest denominator between two positive fractions: the common terms of their continued
/// fractions, and then the smallest possible term.
fn between(low: (i128, i128), high: (i128, i128)) -> (i128, i128) {
    let whole = low.0 / low.1;
    if low.0 % low.1 == 0 {
        return (whole, 1);
    }
    if whole < high.0 / high.1 {
        return (whole + 1, 1);
    }
    let rest = |(numerator, denominator): (i128, i128)| (denominator, numerator - whole * denominator);
    // Taking reciprocals reverses the order.
    let (numerator, denominator) = between(rest(high), rest(low));
    (whole * numerator + denominator, numerator)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn constants_are_read_as_they_were_meant() {
        let single = |x: f64| simplest(FloatType::Float32.round(x), FloatType::Float32);
        assert_eq!(single(1.0 / 3.0), Some((1, 3)));
        assert_eq!(single(-0.1), Some((-1, 10)));
        assert_eq!(single(1e-5), Some((1, 100_000)));
        assert_eq!(single(100.0), Some((100, 1)));
        assert_eq!(single(0.0), Some((0, 1)));
        assert_eq!(simplest(FloatType::Float16.round(0.3), FloatType::Float16), Some((3, 10)));
        assert_eq!(simplest(2.0 / 7.0, FloatType::Float64), Some((2, 7)));
        assert_ne!(single(1.0 + f64::from(f32::EPSILON)), Some((1, 1)));
        assert_eq!(single(1e-40), None);
        assert_eq!(simplest(0.01, FloatType::Float32), Some((1, 100)));
    }
}
