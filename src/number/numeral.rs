//! Numbers in decimal notation.

use std::cmp::Ordering;

use super::FloatType;

/// The maximum number of decimal places of a number halfway between two floats with 16 bits.
const PLACES: usize = 150;

/// The bits of the float nearest to a decimal number, ties to even; `None` if the text is not a number.
///
/// It is rounded only once. A decimal number slightly above the middle of two floats with 16 bits gives the upper
/// float, even if the nearest float64 is exactly that middle.
pub fn nearest(float: FloatType, numeral: &str) -> Option<u64> {
    match float {
        FloatType::Float64 => numeral.parse::<f64>().ok().map(|x| float.to_bits(x)),
        FloatType::Float32 => numeral.parse::<f32>().ok().map(|x| float.to_bits(x.into())),
        FloatType::Float16 | FloatType::BFloat16 => {
            numeral.parse().ok().map(|x| float.to_bits(aside(float, x, numeral)))
        }
    }
}

/// The float64 nearest to the decimal number. If that is exactly halfway between two floats, but the decimal number is
/// not, then the float on the side of the decimal number.
fn aside(float: FloatType, x: f64, numeral: &str) -> f64 {
    let near = float.round(x);
    if near.is_infinite() && x.is_finite() {
        return below_the_end(float, x, numeral);
    }
    let mirrored = x + (x - near);
    if near == x || !near.is_finite() || float.round(mirrored) != mirrored {
        return x;
    }
    match Decimal::of(numeral).cmp(&Decimal::of(&format!("{x:.PLACES$}"))) {
        Ordering::Equal => x,
        // Both compare magnitudes.
        Ordering::Greater => {
            if near.abs() > mirrored.abs() {
                near
            } else {
                mirrored
            }
        }
        Ordering::Less => {
            if near.abs() < mirrored.abs() {
                near
            } else {
                mirrored
            }
        }
    }
}

/// As [`aside`], for a float64 that rounds to an infinity: the largest float, if the decimal number is below the bound
/// where infinity begins.
fn below_the_end(float: FloatType, x: f64, numeral: &str) -> f64 {
    let infinity = float.to_bits(f64::INFINITY);
    let [largest, before] = [1, 2].map(|less| float.of_bits(infinity - less));
    let end = largest + (largest - before) / 2.0;
    let below = x.abs() == end && Decimal::of(numeral) < Decimal::of(&format!("{end:.PLACES$}"));
    if below { largest.copysign(x) } else { x }
}

/// The magnitude of a number above 0: the position of the point before its first non-zero digit, and its digits from
/// there.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Decimal {
    point: i64,
    digits: String,
}

impl Decimal {
    fn of(numeral: &str) -> Decimal {
        let unsigned = numeral.trim_start_matches(['+', '-']);
        let (mantissa, exponent) = unsigned.split_once(['e', 'E']).unwrap_or((unsigned, "0"));
        let (whole, part) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        let digits = format!("{whole}{part}");
        let significant = digits.trim_start_matches('0');
        let before = whole.len() as i64 - (digits.len() - significant.len()) as i64;
        let point = before.saturating_add(exponent.parse().unwrap_or(0));
        Decimal { point, digits: significant.trim_end_matches('0').to_string() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_beside_a_tie_goes_to_its_side() {
        let read = |float: FloatType, numeral: &str| float.of_bits(nearest(float, numeral).unwrap());
        // 1 + 2^-11 is halfway between 1 and 1 + 2^-10 of float16.
        let tie = "1.00048828125";
        assert_eq!(read(FloatType::Float16, tie), 1.0);
        assert_eq!(read(FloatType::Float16, &format!("{tie}0000000000000000000000001")), 1.0009765625);
        assert_eq!(read(FloatType::Float16, "100.048828125000000000000000000001e-2"), 1.0009765625);
        assert_eq!(read(FloatType::Float16, &format!("-{tie}0000000000000000000000001")), -1.0009765625);
        // 1 + 3 * 2^-11 goes to the even one above, and to the one below if it is a little less.
        assert_eq!(read(FloatType::Float16, "1.00146484375"), 1.001953125);
        assert_eq!(read(FloatType::Float16, "1.001464843749999999999999999999999"), 1.0009765625);
        assert_eq!(read(FloatType::BFloat16, "1.00390625"), 1.0);
        assert_eq!(read(FloatType::BFloat16, "0.100390625000000000000000000000000001E1"), 1.0078125);
        // Half of the least float16 is a tie, too.
        assert_eq!(read(FloatType::Float16, "2.98023223876953125e-8"), 0.0);
        assert_eq!(read(FloatType::Float16, "2.980232238769531250000000000000001e-8"), 2f64.powi(-24));
        // 65520 is where infinity begins; just below it lies the largest float16.
        let below = format!("65519.{}", "9".repeat(40));
        assert_eq!(read(FloatType::Float16, &below), 65504.0);
        assert_eq!(read(FloatType::Float16, &format!("-{below}")), -65504.0);
        assert_eq!(read(FloatType::Float16, "65520"), f64::INFINITY);
        assert_eq!(read(FloatType::Float16, "-65520.000000000000000000000000000001"), f64::NEG_INFINITY);
        let end = 2f64.powi(128) - 2f64.powi(119);
        let (exact, below) = (format!("{end:.1}"), format!("{:.1}", end - 2f64.powi(80)));
        assert_eq!(read(FloatType::BFloat16, &exact), f64::INFINITY);
        assert_eq!(read(FloatType::BFloat16, &below), FloatType::BFloat16.of_bits(0x7f7f));
        assert_eq!(read(FloatType::Float32, "0.1"), f64::from(0.1f32));
        assert_eq!(nearest(FloatType::Float32, "-0"), Some(0x8000_0000));
        assert_eq!(nearest(FloatType::Float16, "one"), None);
    }
}
