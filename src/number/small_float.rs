//! Floats of at most 8 bits: the number of each code, and how a number is rounded to a code.

/// The meaning of the codes with the largest exponent.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Special {
    /// Infinity where the fraction is zero, and NaNs, as in IEEE 754.
    Ieee,
    /// Numbers, except for the last code, which is NaN.
    LastIsNan,
    /// Numbers; NaN is the code of negative zero.
    NegativeZeroIsNan,
    /// Only numbers.
    None,
}

/// The layout of a format: the bits of the exponent, the bits of the fraction, and the bias of the exponent.
struct FloatLayout {
    exponent: u32,
    fraction: u32,
    bias: i32,
    special: Special,
}

macro_rules! small_floats {
    ($($variant:ident $name:literal ($exponent:literal, $fraction:literal, $bias:literal, $special:ident);)*) => {
        /// A format of floats of at most 8 bits, by the number of bits of exponent and fraction.
        #[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
        pub enum SmallFloat {
            $(#[doc = concat!("`", $name, "`.")] $variant,)*
        }

        impl SmallFloat {
            /// Every format.
            pub const ALL: &[SmallFloat] = &[$(SmallFloat::$variant),*];

            /// The name of the format.
            pub const fn name(self) -> &'static str {
                match self {
                    $(SmallFloat::$variant => $name,)*
                }
            }

            const fn layout(self) -> FloatLayout {
                match self {
                    $(SmallFloat::$variant => FloatLayout {
                        exponent: $exponent,
                        fraction: $fraction,
                        bias: $bias,
                        special: Special::$special,
                    },)*
                }
            }
        }
    };
}

small_floats! {
    E3M4 "float8_e3m4" (3, 4, 3, Ieee);
    E4M3 "float8_e4m3" (4, 3, 7, Ieee);
    E4M3B11Fnuz "float8_e4m3b11fnuz" (4, 3, 11, NegativeZeroIsNan);
    E4M3Fn "float8_e4m3fn" (4, 3, 7, LastIsNan);
    E4M3Fnuz "float8_e4m3fnuz" (4, 3, 8, NegativeZeroIsNan);
    E5M2 "float8_e5m2" (5, 2, 15, Ieee);
    E5M2Fnuz "float8_e5m2fnuz" (5, 2, 16, NegativeZeroIsNan);
    E8M0Fnu "float8_e8m0fnu" (8, 0, 127, LastIsNan);
    E2M3Fn "float6_e2m3fn" (2, 3, 1, None);
    E3M2Fn "float6_e3m2fn" (3, 2, 3, None);
    E2M1Fn "float4_e2m1fn" (2, 1, 1, None);
}

impl SmallFloat {
    /// The width of the format.
    pub const fn bits(self) -> u16 {
        let layout = self.layout();
        (layout.exponent + layout.fraction) as u16 + self.has_sign() as u16
    }

    /// The format that has only powers of two has neither a sign nor a zero.
    const fn has_sign(self) -> bool {
        !matches!(self, SmallFloat::E8M0Fnu)
    }

    /// The number of a code.
    pub fn value(self, code: u8) -> f64 {
        let layout = self.layout();
        let width = layout.exponent + layout.fraction;
        let magnitude = u32::from(code) & ((1 << width) - 1);
        let negative = self.has_sign() && u32::from(code) >> width & 1 == 1;
        let sign = if negative { -1.0 } else { 1.0 };
        let (exponent, fraction) = (magnitude >> layout.fraction, magnitude & ((1 << layout.fraction) - 1));
        let is_largest = exponent == (1 << layout.exponent) - 1;
        match layout.special {
            Special::Ieee if is_largest && fraction == 0 => return sign * f64::INFINITY,
            Special::Ieee if is_largest => return f64::NAN,
            Special::LastIsNan if magnitude == (1 << width) - 1 => return f64::NAN,
            Special::NegativeZeroIsNan if negative && magnitude == 0 => return f64::NAN,
            Special::Ieee | Special::LastIsNan | Special::NegativeZeroIsNan | Special::None => {}
        }
        let part = f64::from(fraction) / f64::from(1u32 << layout.fraction);
        let power = |exponent: i32| 2f64.powi(exponent - layout.bias);
        match (exponent, self.has_sign()) {
            (0, true) => sign * part * power(1),
            (exponent, _) => sign * (1.0 + part) * power(exponent as i32),
        }
    }

    /// The code of the nearest number; ties go to the even code. A number that is too large becomes infinity; NaN if
    /// the format has no infinity; and the largest number if it has neither.
    pub fn code(self, value: f64) -> u8 {
        let width = self.layout().exponent + self.layout().fraction;
        let sign = if value.is_sign_negative() && self.has_sign() { 1u8 << width } else { 0 };
        let codes = || (0..=u8::MAX >> (8 - self.bits())).filter(move |code| u32::from(*code) >> width == 0);
        let all = || 0..=u8::MAX >> (8 - self.bits());
        let nan = || all().find(|code| self.value(*code).is_nan());
        let infinite = || codes().find(|code| self.value(*code).is_infinite());
        let magnitude = if self.has_sign() { value.abs() } else { value };
        let mut best = (f64::INFINITY, 0u8);
        let mut largest = (0.0, 0u8);
        for code in codes() {
            let here = self.value(code);
            if !here.is_finite() {
                continue;
            }
            if here > largest.0 {
                largest = (here, code);
            }
            let distance = (here - magnitude).abs();
            if distance < best.0 || (distance == best.0 && code % 2 == 0) {
                best = (distance, code);
            }
        }
        if value.is_nan() || (!self.has_sign() && value < 0.0) {
            return nan().unwrap_or(0);
        }
        let limit = largest.0 + self.step_at(largest.0) / 2.0;
        let too_large = magnitude > limit || (magnitude == limit && largest.1 % 2 == 1);
        match too_large {
            true => infinite().map(|code| code | sign).or_else(nan).unwrap_or(largest.1 | sign),
            false if best.1 == 0 && self.layout().special == Special::NegativeZeroIsNan => 0,
            false => best.1 | sign,
        }
    }

    /// The distance from a number to the next larger one, if the exponent had no limit: its power of two, divided by
    /// the number of fractions.
    fn step_at(self, number: f64) -> f64 {
        const EXPONENT: u64 = 0x7ff << 52;
        f64::from_bits(number.to_bits() & EXPONENT) / f64::from(1u32 << self.layout().fraction)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_round_trip() {
        for format in SmallFloat::ALL {
            for code in 0..=u8::MAX >> (8 - format.bits()) {
                let value = format.value(code);
                assert!(value.is_nan() || format.code(value) == code, "{format:?} {code}: {value}");
            }
        }
    }

    #[test]
    fn known_numbers() {
        assert_eq!(SmallFloat::E4M3Fn.value(0x7e), 448.0);
        assert_eq!(SmallFloat::E5M2.value(0x7b), 57344.0);
        assert_eq!(SmallFloat::E5M2.value(1), 2f64.powi(-16));
        assert_eq!(SmallFloat::E2M1Fn.value(7), 6.0);
        assert_eq!(SmallFloat::E8M0Fnu.value(127), 1.0);
        assert_eq!(SmallFloat::E4M3Fnuz.value(0x7f), 240.0);
        assert!(SmallFloat::E4M3Fn.value(0x7f).is_nan());
    }

    /// Numbers are too large from half a step above the largest number on, whatever the length of the step below it.
    #[test]
    fn what_is_too_large() {
        let top = 2f64.powi(127);
        assert_eq!(SmallFloat::E8M0Fnu.code(2.3e38), 254);
        assert_eq!(SmallFloat::E8M0Fnu.code(1.5 * top), 254);
        assert_eq!(SmallFloat::E8M0Fnu.code((1.5 * top).next_up()), 255);
        for (format, largest, next) in [
            (SmallFloat::E3M4, 15.5, 16.0),
            (SmallFloat::E4M3, 240.0, 256.0),
            (SmallFloat::E4M3B11Fnuz, 30.0, 32.0),
            (SmallFloat::E4M3Fn, 448.0, 480.0),
            (SmallFloat::E4M3Fnuz, 240.0, 256.0),
            (SmallFloat::E5M2, 57344.0, 65536.0),
            (SmallFloat::E5M2Fnuz, 57344.0, 65536.0),
            (SmallFloat::E8M0Fnu, top, 2.0 * top),
        ] {
            let limit: f64 = (largest + next) / 2.0;
            assert_eq!(format.value(format.code(limit.next_down())), largest, "{format:?}");
            let above = format.value(format.code(limit.next_up()));
            assert!(above.is_nan() || above.is_infinite(), "{format:?}: {above}");
        }
    }

    #[test]
    fn rounding() {
        // 1.0625 is the middle of 1 and 1.125.
        assert_eq!(SmallFloat::E4M3Fn.value(SmallFloat::E4M3Fn.code(1.0625)), 1.0);
        assert_eq!(SmallFloat::E4M3Fn.value(SmallFloat::E4M3Fn.code(1.1875)), 1.25);
        assert!(SmallFloat::E4M3Fn.value(SmallFloat::E4M3Fn.code(1000.0)).is_nan());
        assert_eq!(SmallFloat::E5M2.value(SmallFloat::E5M2.code(-1e9)), f64::NEG_INFINITY);
        assert_eq!(SmallFloat::E2M1Fn.value(SmallFloat::E2M1Fn.code(-9.0)), -6.0);
    }
}
