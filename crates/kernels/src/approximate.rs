//! Elementary functions in float64, by polynomials and without branches, so that loops over them use vector
//! instructions.
//!
//! Each is within [`MARGIN`] of the exact value, relative to it. The polynomials interpolate at Chebyshev nodes with a
//! relative error below 2^-46, or are Taylor polynomials whose first omitted term is below 2^-44. The arguments are
//! float32: what is written about a loss of digits relies on it. An infinite result says that the value is not known.

use std::f64::consts::{FRAC_1_SQRT_2, FRAC_PI_2, FRAC_PI_4, LOG2_E, PI};

/// The largest relative distance of a function here from the exact value: 2^-41.
pub const MARGIN: f64 = 1.0 / (1u64 << 41) as f64;

/// Added and subtracted, it rounds to an integer, which is in the low bits of the sum.
const ROUNDER: f64 = 1.5 * (1u64 << 52) as f64;

/// Beyond this exponent every result is zero, infinite or 1 in float32, and none is in float64.
const FAR: f64 = 200.0;

/// The first digits of log 2, so that small multiples are exact, and the others.
const LN_2: [f64; 2] = [0.6931471805592082, 7.371002565167799e-13];

/// Three parts of pi / 2; multiples of the first two by less than 2^19 are exact.
const HALF_PI: [f64; 3] = [1.5707963267341256, 6.077100506303966e-11, 2.0222662487959506e-21];

/// Beyond this, multiples of pi / 2 are not exact enough.
const FAR_ANGLE: f64 = 100_000.0;

/// `1 / 2!, 1 / 3!, ..`.
const POWER: [f64; 12] = [
    1.0 / 2.0,
    1.0 / 6.0,
    1.0 / 24.0,
    1.0 / 120.0,
    1.0 / 720.0,
    1.0 / 5_040.0,
    1.0 / 40_320.0,
    1.0 / 362_880.0,
    1.0 / 3_628_800.0,
    1.0 / 39_916_800.0,
    1.0 / 479_001_600.0,
    1.0 / 6_227_020_800.0,
];

const SINE: [f64; 7] = [
    -1.0 / 6.0,
    1.0 / 120.0,
    -1.0 / 5_040.0,
    1.0 / 362_880.0,
    -1.0 / 39_916_800.0,
    1.0 / 6_227_020_800.0,
    -1.0 / 1_307_674_368_000.0,
];

const COSINE: [f64; 7] = [
    -1.0 / 2.0,
    1.0 / 24.0,
    -1.0 / 720.0,
    1.0 / 40_320.0,
    -1.0 / 3_628_800.0,
    1.0 / 479_001_600.0,
    -1.0 / 87_178_291_200.0,
];

/// `atan(x) / x` as a function of `x^2`, for x up to `tan(pi / 8)`.
const ARCTANGENT: [f64; 10] = [
    0.999999999999999,
    -0.3333333333322143,
    0.19999999978392663,
    -0.14285712661684793,
    0.11111048853751296,
    -0.09089529956562307,
    0.07673535428183285,
    -0.0650598296717084,
    0.05024762118940128,
    -0.025316479573776477,
];

/// `atanh(x) / x` as a function of `x^2`, for x up to `3 - sqrt(8)`.
const LOGARITHM: [f64; 7] = [
    1.0000000000000002,
    0.3333333333327611,
    0.200000000310283,
    0.14285707984857768,
    0.11111719144987368,
    0.09060905047898038,
    0.08419598015446457,
];

/// `erf(x) / x` as a function of `x^2`, for x up to 1.
const ERROR: [f64; 11] = [
    1.1283791670955121,
    -0.376126389031744,
    0.11283791670580423,
    -0.026866170586496874,
    0.005223977154105304,
    -0.0008548304871782741,
    0.00012054681918310599,
    -1.4913300906316395e-05,
    1.631035651387174e-06,
    -1.5188281247335167e-07,
    9.428596956834164e-09,
];

/// `erfc(x) e^(x^2) (1 + 2x)` as a function of `(x - 3) / (x + 3)`, for x from 0 to 20.
const COMPLEMENT: [f64; 19] = [
    1.25300805826973,
    -0.13562110612461323,
    -0.047562294353704945,
    0.12964515870500878,
    -0.11927366339871548,
    0.06830802730306364,
    -0.023770515283810273,
    0.0025293920376168915,
    0.001888694111669145,
    -0.0007798314643885665,
    -0.00010518042804972344,
    0.00012508498891576907,
    5.012940002775822e-06,
    -2.0032690542585275e-05,
    -8.366159690708228e-07,
    3.314237743110744e-06,
    4.30124667136011e-07,
    -4.2684599960053305e-07,
    -1.25219019012428e-07,
];

#[inline(always)]
fn polynomial<const N: usize>(coefficients: &[f64; N], x: f64) -> f64 {
    let mut sum = coefficients[N - 1];
    let mut i = N - 1;
    while i > 0 {
        i -= 1;
        sum = sum * x + coefficients[i];
    }
    sum
}

/// `2^n` and `e^r - 1`, where x is `r + n log(2)` and at most [`FAR`] in magnitude.
#[inline(always)]
fn reduced_power(x: f64) -> (f64, f64) {
    let shifted = x * LOG2_E + ROUNDER;
    let n = shifted - ROUNDER;
    let r = x - n * LN_2[0] - n * LN_2[1];
    let scale = f64::from_bits((shifted.to_bits() << 52).wrapping_add(1023 << 52));
    (scale, r + r * r * polynomial(&POWER, r))
}

#[inline(always)]
fn bounded(x: f64, most: f64) -> f64 {
    let x = if x < -most { -most } else { x };
    if x > most { most } else { x }
}

/// `e^x`; far from zero, a number with the same float32. The relative error is below 4u plus that of the argument,
/// where u is 2^-53.
#[inline(always)]
pub(crate) fn power(x: f64) -> f64 {
    let (scale, less_1) = reduced_power(bounded(x, FAR));
    scale * less_1 + scale
}

/// `e^x - 1` for x that is not negative.
#[inline(always)]
fn power_less_1(x: f64) -> f64 {
    let (scale, less_1) = reduced_power(bounded(x, FAR));
    scale * less_1 + (scale - 1.0)
}

#[inline(always)]
pub(crate) fn sigmoid(x: f64) -> f64 {
    1.0 / (1.0 + power(-x))
}

#[inline(always)]
pub(crate) fn silu(x: f64) -> f64 {
    x / (1.0 + power(-x))
}

/// The logistic function of twice the argument of the hyperbolic tangent, times x.
#[inline(always)]
pub(crate) fn gelu_tanh(x: f64) -> f64 {
    x / (1.0 + power(-(x * (1.595_769_121_605_730_8 + 0.071_354_816_272_600_25 * (x * x)))))
}

#[inline(always)]
pub(crate) fn tanh(x: f64) -> f64 {
    let less_1 = power_less_1(2.0 * x.abs());
    (less_1 / (less_1 + 2.0)).copysign(x)
}

#[inline(always)]
pub(crate) fn sinh(x: f64) -> f64 {
    let less_1 = power_less_1(x.abs());
    (0.5 * (less_1 + less_1 / (less_1 + 1.0))).copysign(x)
}

#[inline(always)]
pub(crate) fn cosh(x: f64) -> f64 {
    let power = power(x.abs());
    0.5 * (power + 1.0 / power)
}

/// The number is a fraction from `sqrt(1/2)` to `sqrt(2)` times a power of two. No digits are lost: the logarithm of
/// the fraction is at most half of that of the power.
#[inline(always)]
pub(crate) fn log(x: f64) -> f64 {
    const HALF_ROOT: u64 = FRAC_1_SQRT_2.to_bits();
    let distance = x.to_bits().wrapping_sub(HALF_ROOT);
    let exponent = distance.cast_signed() >> 52;
    let fraction = f64::from_bits((distance & ((1 << 52) - 1)).wrapping_add(HALF_ROOT));
    let s = (fraction - 1.0) / (fraction + 1.0);
    // The exponent as a float: no vector instruction converts it on every processor.
    let exponent = f64::from_bits(ROUNDER.to_bits().wrapping_add(exponent.cast_unsigned())) - ROUNDER;
    let near = exponent * std::f64::consts::LN_2 + 2.0 * s * polynomial(&LOGARITHM, s * s);
    let near = if x > 0.0 { near } else { f64::NAN };
    if x == 0.0 || x == f64::INFINITY { f64::INFINITY } else { near }
}

/// The complement for a number that is not negative. The square of the argument is at most 110 where the result is not
/// zero in float32, and rounding it changes the power by 110u.
#[inline(always)]
fn complement(x: f64) -> f64 {
    let x = bounded(x, 20.0);
    let tail = polynomial(&COMPLEMENT, (x - 3.0) / (x + 3.0));
    let (scale, less_1) = reduced_power(-(x * x));
    (scale * less_1 + scale) * tail / (1.0 + 2.0 * x)
}

#[inline(always)]
pub(crate) fn erf(x: f64) -> f64 {
    let size = x.abs();
    let small = size * polynomial(&ERROR, size * size);
    let large = 1.0 - complement(size);
    (if size < 1.0 { small } else { large }).copysign(x)
}

#[inline(always)]
pub(crate) fn gelu(x: f64) -> f64 {
    let complement = complement(x.abs() * FRAC_1_SQRT_2);
    0.5 * x * if x < 0.0 { complement } else { 2.0 - complement }
}

/// The sine and the cosine of x minus the nearest multiple of pi / 2, and that multiple. The subtractions are exact
/// where the terms are nearly equal.
#[inline(always)]
fn turned(x: f64) -> (f64, f64, u64) {
    let shifted = x * (2.0 / PI) + ROUNDER;
    let n = shifted - ROUNDER;
    let r = x - n * HALF_PI[0] - n * HALF_PI[1] - n * HALF_PI[2];
    let square = r * r;
    let sine = r * (1.0 + square * polynomial(&SINE, square));
    let cosine = 1.0 + square * polynomial(&COSINE, square);
    (sine, cosine, shifted.to_bits())
}

#[inline(always)]
fn if_near(x: f64, value: f64) -> f64 {
    if x.abs() > FAR_ANGLE { f64::INFINITY } else { value }
}

#[inline(always)]
pub(crate) fn sin(x: f64) -> f64 {
    let (sine, cosine, turns) = turned(x);
    let value = if turns & 1 == 0 { sine } else { cosine };
    if_near(x, f64::from_bits(value.to_bits() ^ ((turns & 2) << 62)))
}

#[inline(always)]
pub(crate) fn cos(x: f64) -> f64 {
    let (sine, cosine, turns) = turned(x);
    let value = if turns & 1 == 0 { cosine } else { sine };
    if_near(x, f64::from_bits(value.to_bits() ^ ((turns.wrapping_add(1) & 2) << 62)))
}

#[inline(always)]
pub(crate) fn tan(x: f64) -> f64 {
    let (sine, cosine, turns) = turned(x);
    if_near(x, if turns & 1 == 0 { sine / cosine } else { -cosine / sine })
}

/// The angle of a point of which no coordinate is negative.
#[inline(always)]
fn angle(y: f64, x: f64) -> f64 {
    const EIGHTH: f64 = std::f64::consts::SQRT_2 - 1.0;
    let (is_low, is_high) = (y < EIGHTH * x, x < EIGHTH * y);
    let up = if is_low { y } else { y - x };
    let right = if is_low { x } else { y + x };
    let (up, right) = if is_high { (-x, y) } else { (up, right) };
    let start = if is_low { 0.0 } else { FRAC_PI_4 };
    let start = if is_high { FRAC_PI_2 } else { start };
    let tangent = up / right;
    start + tangent * polynomial(&ARCTANGENT, tangent * tangent)
}

#[inline(always)]
pub(crate) fn atan(x: f64) -> f64 {
    angle(bounded(x.abs(), f64::MAX), 1.0).copysign(x)
}

#[inline(always)]
pub(crate) fn asin(x: f64) -> f64 {
    angle(x.abs(), ((1.0 - x) * (1.0 + x)).sqrt()).copysign(x)
}

#[inline(always)]
pub(crate) fn acos(x: f64) -> f64 {
    let angle = angle(((1.0 - x) * (1.0 + x)).sqrt(), x.abs());
    if x < 0.0 { PI - angle } else { angle }
}

#[inline(always)]
pub(crate) fn rsqrt(x: f64) -> f64 {
    1.0 / x.sqrt()
}
