//! The elementary functions on float64, each within 2 units in the last place of its formula, on its whole domain.
//!
//! The functions of [`libm`] used directly here are that accurate. The others are computed with twice the digits
//! (`Long`) wherever digits are lost. This happens in a difference of nearly equal numbers, and in an exponential,
//! which turns an error in the last place of a large argument into an error of many places.

use super::long::{Long, Scaled};

pub use libm::{acos, asin, atan, atan2, cos, erf, exp, exp2, hypot, log, log1p, log2, log10, pow, sin, sqrt, tan};

/// Below this, a number equals the first term of its series, up to 2^-60 of it.
const SMALL: f64 = 1.0 / (1u64 << 30) as f64;

/// Beyond this, `e^x` and its inverse differ by more digits than a float64 has.
const LARGE: f64 = 45.0;

/// Beyond this, `e^x` is infinite, and `e^-x` is zero.
const ALL: f64 = 800.0;

/// `10^x`.
pub fn exp10(x: f64) -> f64 {
    if x.is_nan() || x.abs() > 2.0 * ALL {
        return exp2(x * 4.0);
    }
    Long::power_of_10(x).rounded()
}

/// The hyperbolic sine.
pub fn sinh(x: f64) -> f64 {
    match x.abs() {
        small if small < SMALL => x + x * x * x / 6.0,
        large if large > LARGE => half_power(large).copysign(x),
        size if size <= LARGE => {
            let less_1 = Long::of(size).power_of_e_less_1();
            less_1.plus(less_1.over(less_1.plus(Long::ONE))).scaled(-1).rounded().copysign(x)
        }
        _ => x,
    }
}

/// The hyperbolic cosine.
pub fn cosh(x: f64) -> f64 {
    match x.abs() {
        large if large > LARGE => half_power(large),
        size if size <= LARGE => {
            let power = Long::of(size).power_of_e().long();
            power.plus(Long::ONE.over(power)).scaled(-1).rounded()
        }
        _ => x,
    }
}

/// `e^x / 2` for x above [`LARGE`].
fn half_power(x: f64) -> f64 {
    if x > ALL {
        return f64::INFINITY;
    }
    let Scaled { long, exponent } = Long::of(x).power_of_e();
    Scaled { long, exponent: exponent - 1 }.rounded()
}

/// The hyperbolic tangent.
pub fn tanh(x: f64) -> f64 {
    match x.abs() {
        small if small < SMALL => x,
        large if large > LARGE => 1f64.copysign(x),
        size if size <= LARGE => {
            let less_1 = Long::of(2.0 * size).power_of_e_less_1();
            less_1.over(less_1.plus(Long::of(2.0))).rounded().copysign(x)
        }
        _ => x,
    }
}

/// The inverse hyperbolic sine.
pub fn asinh(x: f64) -> f64 {
    match x.abs() {
        small if small < SMALL => x,
        large if large > 1.0 / SMALL => logarithm_of_double(large).copysign(x),
        size if size <= 1.0 / SMALL => {
            let square = Long::product(size, size);
            let root = Long::ONE.plus(square).square_root();
            let beyond_1 = Long::of(size).plus(square.over(Long::ONE.plus(root)));
            beyond_1.logarithm_of_1_and().rounded().copysign(x)
        }
        _ => x,
    }
}

/// The non-negative inverse hyperbolic cosine; NaN below 1.
pub fn acosh(x: f64) -> f64 {
    match x {
        large if large > 1.0 / SMALL => logarithm_of_double(large),
        x if x >= 1.0 => {
            let beyond_1 = Long::sum(x, -1.0);
            let root = beyond_1.times(beyond_1.plus(Long::of(2.0))).square_root();
            beyond_1.plus(root).logarithm_of_1_and().rounded()
        }
        _ => f64::NAN,
    }
}

/// The logarithm of twice a large number.
fn logarithm_of_double(x: f64) -> f64 {
    if x.is_infinite() {
        return x;
    }
    Long::logarithm(x).plus(Long::ln_2()).rounded()
}

/// The inverse hyperbolic tangent: infinite at -1 and 1, NaN beyond.
pub fn atanh(x: f64) -> f64 {
    match x.abs() {
        small if small < SMALL => x + x * x * x / 3.0,
        size if size < 1.0 => {
            let quotient = Long::of(2.0 * size).over(Long::sum(1.0, -size));
            quotient.logarithm_of_1_and().scaled(-1).rounded().copysign(x)
        }
        1.0 => f64::INFINITY.copysign(x),
        _ => f64::NAN,
    }
}

/// 1 divided by the square root.
pub fn rsqrt(x: f64) -> f64 {
    1.0 / x.sqrt()
}

/// `1 / (1 + e^-x)` for a magnitude of x below [`ALL`].
fn logistic(x: Long) -> Scaled {
    if x.high < -LARGE {
        return x.power_of_e();
    }
    let long = if x.high < 0.0 {
        let power = x.power_of_e().long();
        power.over(Long::ONE.plus(power))
    } else {
        Long::ONE.over(Long::ONE.plus(x.negated().power_of_e().long()))
    };
    Scaled { long, exponent: 0 }
}

/// `1 / (1 + e^-x)`.
pub fn sigmoid(x: f64) -> f64 {
    match x {
        x if x > LARGE => 1.0,
        x if x < -ALL => 0.0,
        x if x.is_nan() => x,
        x => logistic(Long::of(x)).rounded(),
    }
}

/// `x * sigmoid(x)`; for negative infinity NaN, like infinity times zero.
pub fn silu(x: f64) -> f64 {
    weighted(x, Long::of(x))
}

/// `x / (1 + e^-y)`.
fn weighted(x: f64, y: Long) -> f64 {
    match y.high {
        high if high > LARGE => x,
        high if high < -ALL => x * 0.0,
        high if high.is_nan() || x == 0.0 => x,
        _ => logistic(y).times(Long::of(x)).rounded(),
    }
}

/// `x` times the distribution function of the normal distribution; NaN for negative infinity.
pub fn gelu(x: f64) -> f64 {
    /// From here on the continued fraction is used; the larger the number, the fewer terms it needs.
    const FAR: f64 = 5.0;
    match x {
        x if x > 9.0 => x,
        x if x < -40.0 => x * 0.0,
        x if x < -FAR => normal_density(x).times(Long::of(x).over(mills(-x))).rounded(),
        x if x.is_nan() || x == 0.0 => x,
        x => {
            let below = Long::of(0.5).plus(normal_density(x).times(central(x)).long());
            below.times(Long::of(x)).rounded()
        }
    }
}

/// `e^(-x^2 / 2) / sqrt(2 pi)`.
fn normal_density(x: f64) -> Scaled {
    const FACTOR: Long = Long { high: 0.398_942_280_401_432_7, low: -2.492_327_202_277_73e-17 };
    Long::product(x, x).scaled(-1).negated().power_of_e().times(FACTOR)
}

/// The integral of the density from 0 to x, divided by the density at x: `x + x^3 / 3 + x^5 / (3 * 5) + ..`.
fn central(x: f64) -> Long {
    let square = Long::product(x, x);
    let (mut sum, mut term) = (Long::of(x), Long::of(x));
    let mut odd = 3.0;
    while term.high.abs() > sum.high.abs() * 1e-33 {
        term = term.times(square).over(Long::of(odd));
        sum = sum.plus(term);
        odd += 2.0;
    }
    sum
}

/// The density at x divided by the integral from there on, for a large x: `x + 1 / (x + 2 / (x + 3 / ..))`.
fn mills(x: f64) -> Long {
    (1..=40).rev().fold(Long::of(x), |rest, i| Long::of(x).plus(Long::of(i.into()).over(rest)))
}

/// `x/2 (1 + tanh(sqrt(2/pi) (x + 0.044715 x^3)))`, which is x times the logistic function of twice the argument of
/// `tanh`.
pub fn gelu_tanh(x: f64) -> f64 {
    /// `2 sqrt(2/pi)`.
    const FIRST: Long = Long { high: 1.595_769_121_605_730_8, low: -9.969_308_809_110_92e-17 };
    /// 0.044715 times that.
    const THIRD: Long = Long { high: 0.071_354_816_272_600_25, low: -6.175_149_918_155_315e-19 };
    match x {
        x if x > 20.0 => x,
        x if x < -40.0 => x * 0.0,
        x => {
            let twice = Long::product(x, x).times(THIRD).plus(FIRST).times(Long::of(x));
            weighted(x, twice)
        }
    }
}

/// The scaled exponential linear unit.
pub fn selu(x: f64) -> f64 {
    const SCALE: Long = Long { high: 1.050_700_987_355_480_5, low: 3.987_484_766_715_414_4e-17 };
    /// The scale times alpha.
    const BELOW: Long = Long { high: 1.758_099_340_847_376_8, low: 1.415_351_938_008_45e-17 };
    match x {
        x if x > 0.0 => x * SCALE.high,
        x if x < -LARGE => -BELOW.high,
        x if x == 0.0 => x,
        x if x.abs() < SMALL => BELOW.times(Long::of(x).plus(Long::of(x * x / 2.0))).rounded(),
        x if x.is_nan() => x,
        x => BELOW.times(Long::of(x).power_of_e_less_1()).rounded(),
    }
}

/// `log(1 + e^(beta x)) / beta`, and x if `beta x` is above the threshold.
pub fn softplus(x: f64, beta: f64, threshold: f64) -> f64 {
    let product = Long::product(beta, x);
    if product.high > threshold || (product.high == threshold && product.low > 0.0) {
        return x;
    }
    match product.high {
        high if high > LARGE => x,
        high if high < -ALL => 0.0 / beta,
        high if high < -LARGE => product.power_of_e().over(Long::of(beta)).rounded(),
        high if high.is_nan() => high,
        _ => product.power_of_e().long().logarithm_of_1_and().over(Long::of(beta)).rounded(),
    }
}

/// `log(e^x + e^y)`.
pub fn log_add_exp(x: f64, y: f64) -> f64 {
    if x.is_nan() || y.is_nan() {
        return f64::NAN;
    }
    let (low, high) = if x < y { (x, y) } else { (y, x) };
    if high.is_infinite() || low == f64::NEG_INFINITY {
        return high;
    }
    let distance = Long::sum(low, -high);
    if distance.high < -ALL {
        return high;
    }
    Long::of(high).plus(distance.power_of_e().long().logarithm_of_1_and()).rounded()
}

/// `e^(x_i)` divided by the sum of all `e^(x_j)`; NaN if one of the elements is NaN or infinity.
pub fn softmax(line: &[f64]) -> Vec<f64> {
    let Some(lowered) = lowered(line) else { return vec![f64::NAN; line.len()] };
    let powers: Vec<Scaled> = lowered.iter().map(|x| power(*x)).collect();
    let sum = powers.iter().fold(Long::ZERO, |sum, power| sum.plus(power.long()));
    powers.into_iter().map(|power| power.over(sum).rounded()).collect()
}

/// The logarithm of the [`softmax`].
pub fn log_softmax(line: &[f64]) -> Vec<f64> {
    let Some(lowered) = lowered(line) else { return vec![f64::NAN; line.len()] };
    // One of the largest elements is left out of the sum: it is the 1 in the logarithm.
    let largest = lowered.iter().position(|x| x.high == 0.0 && x.low == 0.0);
    let others = lowered.iter().enumerate().filter(|(i, _)| Some(*i) != largest);
    let sum = others.fold(Long::ZERO, |sum, (_, x)| sum.plus(power(*x).long())).logarithm_of_1_and();
    lowered.into_iter().map(|x| if x.high.is_infinite() { x.high } else { x.minus(sum).rounded() }).collect()
}

/// The numbers minus the largest of them; `None` if that is infinite or NaN.
fn lowered(line: &[f64]) -> Option<Vec<Long>> {
    let largest = line.iter().copied().reduce(|a, b| if a.is_nan() || a > b { a } else { b })?;
    if !largest.is_finite() {
        return None;
    }
    let lower = |x: f64| if x.is_infinite() { Long::of(x) } else { Long::sum(x, -largest) };
    Some(line.iter().map(|x| lower(*x)).collect())
}

/// `e^x` for x not above 0.
fn power(x: Long) -> Scaled {
    if x.high < -2.0 * ALL {
        return Scaled { long: Long::ZERO, exponent: 0 };
    }
    x.power_of_e()
}
