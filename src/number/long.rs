//! Numbers with twice the digits of float64, for functions that lose digits in intermediate results.

/// The sum of two float64, of which the second is at most half a unit in the last place of the first: about 106 binary
/// digits, as long as the second is not subnormal.
///
/// T. J. Dekker, A floating-point technique for extending the available precision, 1971; D. E. Knuth, The Art of
/// Computer Programming, volume 2, 4.2.2.
#[derive(Clone, Copy, Debug)]
pub(super) struct Long {
    pub high: f64,
    pub low: f64,
}

/// `long * 2^exponent`, so that neither overflow nor underflow loses digits.
#[derive(Clone, Copy, Debug)]
pub(super) struct Scaled {
    pub long: Long,
    pub exponent: i32,
}

const LN_2: Long = Long { high: std::f64::consts::LN_2, low: 2.319_046_813_846_299_6e-17 };
const LN_10: Long = Long { high: std::f64::consts::LN_10, low: -2.170_756_223_382_249_4e-16 };
const SIXTH: Long = Long { high: 1.0 / 6.0, low: 9.251_858_538_542_97e-18 };
const TWENTY_FOURTH: Long = Long { high: 1.0 / 24.0, low: 2.312_964_634_635_742_7e-18 };

impl Long {
    pub const ZERO: Long = Long::of(0.0);
    pub const ONE: Long = Long::of(1.0);

    pub const fn of(x: f64) -> Long {
        Long { high: x, low: 0.0 }
    }

    /// The exact sum of two floats.
    pub fn sum(a: f64, b: f64) -> Long {
        let high = a + b;
        let from_b = high - a;
        Long { high, low: (a - (high - from_b)) + (b - from_b) }
    }

    /// The exact sum of two floats, the first of which has at least the magnitude of the second.
    fn ordered_sum(a: f64, b: f64) -> Long {
        let high = a + b;
        Long { high, low: b - (high - a) }
    }

    /// The exact product of two floats.
    pub fn product(a: f64, b: f64) -> Long {
        let high = a * b;
        Long { high, low: a.mul_add(b, -high) }
    }

    pub fn plus(self, other: Long) -> Long {
        let (high, low) = (Long::sum(self.high, other.high), Long::sum(self.low, other.low));
        let first = Long::ordered_sum(high.high, high.low + low.high);
        Long::ordered_sum(first.high, first.low + low.low)
    }

    pub fn minus(self, other: Long) -> Long {
        self.plus(other.negated())
    }

    pub fn negated(self) -> Long {
        Long { high: -self.high, low: -self.low }
    }

    pub fn times(self, other: Long) -> Long {
        let product = Long::product(self.high, other.high);
        Long::ordered_sum(product.high, product.low + (self.high * other.low + self.low * other.high))
    }

    pub fn over(self, other: Long) -> Long {
        let first = self.high / other.high;
        let rest = self.minus(other.times(Long::of(first)));
        let second = rest.high / other.high;
        let rest = rest.minus(other.times(Long::of(second)));
        Long::ordered_sum(first, second).plus(Long::of(rest.high / other.high))
    }

    pub fn square_root(self) -> Long {
        let first = self.high.sqrt();
        if first == 0.0 {
            return Long::ZERO;
        }
        let rest = self.minus(Long::product(first, first));
        Long::ordered_sum(first, rest.high / (2.0 * first))
    }

    /// Times a power of two.
    pub fn scaled(self, exponent: i32) -> Long {
        Long { high: libm::ldexp(self.high, exponent), low: libm::ldexp(self.low, exponent) }
    }

    pub fn rounded(self) -> f64 {
        self.high + self.low
    }

    /// `e^r - 1` and `n`, where this number is `r + n log(2)`.
    fn reduced_power(self) -> (Long, i32) {
        let multiples = (self.high / LN_2.high).round_ties_even();
        let rest = self.minus(LN_2.times(Long::of(multiples)));
        // `expm1` of a 512th of it by the series, whose last terms need only the digits of a float64.
        let x = rest.scaled(-HALVINGS);
        let h = x.high;
        let tail = h * (1.0 / 120.0 + h * (1.0 / 720.0 + h * (1.0 / 5040.0 + h * (1.0 / 40320.0 + h / 362_880.0))));
        let series = TWENTY_FOURTH.plus(Long::of(tail)).times(x).plus(SIXTH).times(x).plus(Long::of(0.5));
        let mut less_one = series.times(x).times(x).plus(x);
        // (1 + e)^2 - 1 = 2e + e^2
        for _ in 0..HALVINGS {
            less_one = less_one.plus(less_one).plus(less_one.times(less_one));
        }
        (less_one, multiples as i32)
    }

    /// `e^x`, for a magnitude below 10,000.
    pub fn power_of_e(self) -> Scaled {
        let (less_one, exponent) = self.reduced_power();
        Scaled { long: Long::ONE.plus(less_one), exponent }
    }

    /// `10^x`, for a magnitude below 4,000.
    pub fn power_of_10(x: f64) -> Scaled {
        LN_10.times(Long::of(x)).power_of_e()
    }

    /// `e^x - 1`, for x below 700.
    pub fn power_of_e_less_1(self) -> Long {
        match self.reduced_power() {
            (less_one, 0) => less_one,
            (less_one, exponent) => Long::ONE.plus(less_one).scaled(exponent).minus(Long::ONE),
        }
    }

    /// `log(1 + x)`, for x above -1 and of magnitude below 2^1000: the result in float64, and a step of Newton's
    /// method.
    pub fn logarithm_of_1_and(self) -> Long {
        if self.high.abs() < SMALL {
            return self;
        }
        let first = libm::log1p(self.high);
        let power = Long::of(first).power_of_e_less_1();
        Long::of(first).plus(self.minus(power).over(Long::ONE.plus(power)))
    }

    /// The natural logarithm of a positive float.
    pub fn logarithm(x: f64) -> Long {
        let (fraction, exponent) = libm::frexp(x);
        let (fraction, exponent) = if fraction < 0.75 { (2.0 * fraction, exponent - 1) } else { (fraction, exponent) };
        let of_fraction = Long::of(fraction - 1.0).logarithm_of_1_and();
        LN_2.times(Long::of(exponent.into())).plus(of_fraction)
    }

    pub const fn ln_2() -> Long {
        LN_2
    }
}

/// How often the argument of the exponential is halved, and the result squared.
const HALVINGS: i32 = 9;

/// For x below this, x equals its sine, its tangent and log(1 + x) to 53 of the 106 digits.
const SMALL: f64 = 1e-32;

impl Scaled {
    pub fn times(self, other: Long) -> Scaled {
        Scaled { long: self.long.times(other), exponent: self.exponent }
    }

    pub fn over(self, other: Long) -> Scaled {
        Scaled { long: self.long.over(other), exponent: self.exponent }
    }

    /// As a long number, whose low half may underflow.
    pub fn long(self) -> Long {
        self.long.scaled(self.exponent)
    }

    pub fn rounded(self) -> f64 {
        libm::ldexp(self.long.rounded(), self.exponent)
    }
}
