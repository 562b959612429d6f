//! The floating-point types, and the single way to convert a number to a float of a type: rounded once, to the nearest,
//! ties to even.

use num_bigint::BigInt;
use num_integer::Integer;
use num_traits::{ToPrimitive, Zero};

use super::long::Long;

/// A binary floating-point type of IEEE 754, or bfloat16.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum FloatType {
    /// 11 binary digits, 5 bits of exponent.
    Float16,
    /// 8 binary digits, 8 bits of exponent.
    BFloat16,
    /// 24 binary digits, 8 bits of exponent.
    Float32,
    /// 53 binary digits, 11 bits of exponent.
    Float64,
}

/// A finite number, exactly: `magnitude * 2^exponent`, negated or not.
#[derive(Clone, Copy)]
struct Exact {
    negative: bool,
    magnitude: u128,
    exponent: i32,
}

impl FloatType {
    /// All of them.
    pub const ALL: [FloatType; 4] = [FloatType::Float16, FloatType::BFloat16, FloatType::Float32, FloatType::Float64];

    /// How many bits an element takes.
    pub fn width(self) -> u32 {
        match self {
            FloatType::Float16 | FloatType::BFloat16 => 16,
            FloatType::Float32 => 32,
            FloatType::Float64 => 64,
        }
    }

    /// How many binary digits a normal number has, the leading one included.
    pub fn digits(self) -> u32 {
        match self {
            FloatType::Float16 => 11,
            FloatType::BFloat16 => 8,
            FloatType::Float32 => 24,
            FloatType::Float64 => 53,
        }
    }

    /// The least positive number is 2 to this power.
    pub fn least_exponent(self) -> i32 {
        match self {
            FloatType::Float16 => -24,
            FloatType::BFloat16 => -133,
            FloatType::Float32 => -149,
            FloatType::Float64 => -1074,
        }
    }

    /// The greatest finite number, as float64.
    pub fn greatest(self) -> f64 {
        match self {
            FloatType::Float32 => f64::from(f32::MAX),
            FloatType::Float64 => f64::MAX,
            FloatType::Float16 | FloatType::BFloat16 => self.of_bits(self.infinity() - 1),
        }
    }

    /// The float nearest to `value`, as float64, which represents the floats of every type exactly.
    #[inline]
    pub fn round(self, value: f64) -> f64 {
        match self {
            FloatType::Float64 => value,
            FloatType::Float32 => f64::from(value as f32),
            FloatType::Float16 | FloatType::BFloat16 => self.of_bits(self.to_bits(value)),
        }
    }

    /// The float nearest to an integer, as float64.
    pub fn round_int(self, value: i128) -> f64 {
        self.of_bits(self.int_to_bits(value))
    }

    /// The bits of the float nearest to `value`.
    #[inline]
    pub fn to_bits(self, value: f64) -> u64 {
        match self {
            FloatType::Float64 => value.to_bits(),
            // The language rounds to these two types like IEEE 754 on every machine; NaN is not specified.
            FloatType::Float32 if !value.is_nan() => u64::from((value as f32).to_bits()),
            FloatType::Float16 | FloatType::BFloat16 | FloatType::Float32 => self.nearest_to_float(value),
        }
    }

    /// The bits of the float nearest to an integer.
    pub fn int_to_bits(self, value: i128) -> u64 {
        self.nearest(Exact { negative: value < 0, magnitude: value.unsigned_abs(), exponent: 0 })
    }

    /// The float with these bits; only as many low bits count as the type has.
    pub fn of_bits(self, bits: u64) -> f64 {
        match self {
            FloatType::Float64 => f64::from_bits(bits),
            FloatType::Float32 => f64::from(f32::from_bits(bits as u32)),
            FloatType::BFloat16 => f64::from(f32::from_bits((bits as u32) << 16)),
            FloatType::Float16 => half::f16::from_bits(bits as u16).to_f64(),
        }
    }

    /// `x * y + z` of three floats of this type, rounded once, as float64.
    ///
    /// S. Boldo, G. Melquiond, Emulation of FMA and correctly rounded sums: proved algorithms using rounding to odd,
    /// 2008.
    pub fn multiply_add(self, x: f64, y: f64, z: f64) -> f64 {
        match self {
            FloatType::Float64 => x.mul_add(y, z),
            // The product of two such floats is exact in float64.
            FloatType::Float16 | FloatType::BFloat16 | FloatType::Float32 => {
                let sum = Long::sum(x * y, z);
                let (even, bits) = (sum.high.to_bits() & 1 == 0, sum.high.to_bits());
                let inexact = sum.high.is_finite() && sum.low != 0.0;
                let odd = if (sum.low > 0.0) == (sum.high > 0.0) { bits.wrapping_add(1) } else { bits.wrapping_sub(1) };
                self.round(if inexact && even { f64::from_bits(odd) } else { sum.high })
            }
        }
    }

    /// The product of an integer and a float, rounded once, as float64.
    pub fn multiple(self, whole: i128, x: f64) -> f64 {
        let (fraction, exponent) = libm::frexp(x);
        let digits = libm::ldexp(fraction, 53) as i64;
        match whole.unsigned_abs().checked_mul(digits.unsigned_abs().into()) {
            Some(magnitude) if magnitude > 0 && x.is_finite() => {
                let negative = (whole < 0) != x.is_sign_negative();
                self.of_bits(self.nearest(Exact { negative, magnitude, exponent: exponent - 53 }))
            }
            Some(_) | None => self.round(whole as f64 * x),
        }
    }

    /// The quotient of two floats, rounded down to an integer, which is rounded to the nearest float, as float64.
    pub fn quotient_rounded_down(self, x: f64, y: f64) -> f64 {
        let (Some((dividend, of_x)), Some((divisor, of_y))) = (digits_of(x), digits_of(y)) else {
            return (x / y).floor();
        };
        if dividend.is_zero() || divisor.is_zero() {
            return (x / y).floor();
        }
        let common = of_x.min(of_y);
        let quotient = (dividend << (of_x - common)).div_floor(&(divisor << (of_y - common)));
        // An integer with more digits than are retained: the lost digits only matter as zero or non-zero.
        let places = quotient.bits().saturating_sub(120);
        let (kept, exact) = (&quotient >> places, quotient.trailing_zeros().is_none_or(|zeros| zeros >= places));
        let kept = if exact { kept } else { kept | BigInt::from(1) };
        let (Some(kept), Ok(exponent)) = (kept.to_i128(), i32::try_from(places)) else { return (x / y).floor() };
        let magnitude = kept.unsigned_abs();
        self.of_bits(self.nearest(Exact { negative: kept < 0, magnitude, exponent }))
    }

    /// The bits of the fraction, without sign and exponent.
    fn fraction_bits(self) -> u32 {
        self.digits() - 1
    }

    fn sign_bit(self, negative: bool) -> u64 {
        u64::from(negative) << (self.width() - 1)
    }

    fn infinity(self) -> u64 {
        (self.sign_bit(true) - 1) >> self.fraction_bits() << self.fraction_bits()
    }

    fn nearest_to_float(self, value: f64) -> u64 {
        const FRACTION: u64 = (1 << 52) - 1;
        let bits = value.to_bits();
        let negative = value.is_sign_negative();
        let (exponent, fraction) = ((bits >> 52 & 0x7ff) as i32, bits & FRACTION);
        if value.is_nan() {
            // A quiet NaN, with as many bits of the payload as fit.
            let quiet = 1 << (self.fraction_bits() - 1);
            return self.sign_bit(negative) | self.infinity() | quiet | fraction >> (53 - self.digits());
        }
        if value.is_infinite() {
            return self.sign_bit(negative) | self.infinity();
        }
        let leading = u64::from(exponent != 0) << 52;
        self.nearest(Exact { negative, magnitude: (leading | fraction).into(), exponent: exponent.max(1) - 1075 })
    }

    /// The bits of the float of this type nearest to a number, ties to even.
    fn nearest(self, number: Exact) -> u64 {
        let sign = self.sign_bit(number.negative);
        if number.magnitude == 0 {
            return sign;
        }
        let length = 128 - number.magnitude.leading_zeros() as i32;
        let digits = self.digits() as i32;
        // The exponent of the last digit that is retained.
        let unit = (number.exponent + length - digits).max(self.least_exponent());
        let kept = divided(number.magnitude, unit - number.exponent);
        // The leading digit of a normal number adds one to the exponent. A number that is rounded up to the next power
        // of two carries into the exponent.
        let exponent = (unit - self.least_exponent()) as u64;
        sign | ((exponent << self.fraction_bits()) + kept).min(self.infinity())
    }
}

/// A finite float as an integer times a power of two.
fn digits_of(x: f64) -> Option<(BigInt, i32)> {
    let (fraction, exponent) = libm::frexp(x);
    x.is_finite().then(|| (BigInt::from(libm::ldexp(fraction, 53) as i64), exponent - 53))
}

/// `magnitude` divided by 2 to the power of `places`, to the nearest integer, ties to even. It fits into 64 bits.
fn divided(magnitude: u128, places: i32) -> u64 {
    let Ok(places) = u32::try_from(places) else {
        // Every digit is retained, and there are fewer than 64.
        return (magnitude << places.unsigned_abs()) as u64;
    };
    let (kept, rest) = match magnitude.checked_shr(places) {
        Some(kept) => (kept, magnitude - (kept << places)),
        None => (0, magnitude),
    };
    // Half of the last place, unless that is larger than any remainder.
    let half = places.checked_sub(1).and_then(|place| 1u128.checked_shl(place));
    let up = half.is_some_and(|half| rest > half || (rest == half && kept % 2 == 1));
    (kept + u128::from(up)) as u64
}

#[cfg(test)]
mod tests {
    use super::FloatType::{self, BFloat16, Float16, Float32, Float64};

    #[test]
    fn the_least_number_has_the_bit_of_the_lowest_value() {
        for float in [Float16, BFloat16, Float32, Float64] {
            assert_eq!(float.of_bits(1), libm::ldexp(1.0, float.least_exponent()));
        }
    }

    #[test]
    fn a_number_between_two_floats_goes_to_the_nearest_and_of_two_to_the_even_one() {
        assert_eq!(Float16.round(65519.999), 65504.0);
        assert_eq!(Float16.round(65520.0), f64::INFINITY);
        assert_eq!(BFloat16.round(1.0 + 2f64.powi(-8) + 2f64.powi(-23)), 1.0 + 2f64.powi(-7));
        assert_eq!(BFloat16.round(1.0 + 2f64.powi(-8)), 1.0);
        assert_eq!(BFloat16.round_int((1 << 30) + (1 << 22) + 1), f64::from((1u32 << 30) + (1 << 23)));
        assert_eq!(BFloat16.round_int((1 << 30) + (1 << 22)), f64::from(1u32 << 30));
        assert_eq!(Float16.round(2f64.powi(-25)), 0.0);
        assert_eq!(Float16.round(-2f64.powi(-25) * 1.0000000000000002), -(2f64.powi(-24)));
        assert_eq!(Float64.round_int((1 << 53) + 1), 2f64.powi(53));
        assert_eq!(Float32.round_int(i128::MAX), 2f64.powi(127));
        assert_eq!(Float16.round_int(i128::MIN), f64::NEG_INFINITY);
    }

    #[test]
    fn a_multiple_is_rounded_once() {
        let odd = (1i128 << 53) + 1;
        assert_eq!(Float64.multiple(odd, 1.0), 2f64.powi(53));
        // Rounded before the multiplication, it would be 3 * 2^53.
        assert_eq!(Float64.multiple(odd, 3.0), 3.0 * 2f64.powi(53) + 4.0);
        // Rounded to float64 first it would be a tie.
        assert_eq!(Float32.multiple((1 << 54) + (1 << 30) + 1, 1.0), 2f64.powi(54) + 2f64.powi(31));
        assert_eq!(Float16.multiple(-3, 0.5), -1.5);
        assert_eq!(Float16.multiple(1 << 40, 1.0), f64::INFINITY);
        assert_eq!(Float64.multiple(3, 5e-324), 1.5e-323);
        assert_eq!(Float64.multiple(-1, f64::NEG_INFINITY), f64::INFINITY);
        assert!(Float64.multiple(0, f64::INFINITY).is_nan());
        assert!(Float64.multiple(0, -1.0).is_sign_negative());
    }

    #[test]
    fn a_quotient_is_rounded_down_before_it_is_rounded() {
        for (x, y, expected) in [
            (1.0, 0.1, 9.0),
            (-1.0, 0.1, -10.0),
            (-5e-324, f64::MAX, -1.0),
            (7.0, -2.0, -4.0),
            (f64::MAX, 5e-324, f64::INFINITY),
            (-f64::MAX, 0.5, f64::NEG_INFINITY),
            (0.0, -3.0, 0.0),
            (2f64.powi(60), 3.0, 384_307_168_202_282_325.0),
            (3.0, f64::INFINITY, 0.0),
            (3.0, 0.0, f64::INFINITY),
        ] {
            assert_eq!(Float64.quotient_rounded_down(x, y), expected, "{x} by {y}");
        }
        assert_eq!(
            Float32.quotient_rounded_down(2f64.powi(40), f64::from(1.0f32.next_up())),
            2f64.powi(40) - 131_072.0
        );
    }

    #[test]
    fn signs_infinities_and_nan_stay() {
        for float in FloatType::ALL {
            assert_eq!(float.to_bits(-0.0), 1 << (float.width() - 1));
            assert_eq!(float.round(f64::NEG_INFINITY), f64::NEG_INFINITY);
            assert!(float.round(f64::NAN).is_nan() && float.of_bits(float.to_bits(f64::NAN)).is_nan());
            assert!(float.round(f64::from_bits(0x7ff0_0000_0000_0001)).is_nan());
            assert_eq!(float.round(2f64.powi(float.least_exponent())), 2f64.powi(float.least_exponent()));
        }
    }
}
