//! Functions of two float32, rounded as the exact value is, as in [`crate::elementary`].

use std::marker::PhantomData;

use pulp::{Arch, Simd, WithSimd};

use crate::approximate::{MARGIN, log, power as power_of_e};
use crate::elementary::rounded;

/// A function of two numbers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Pairwise {
    /// The first number to the power of the second.
    Power,
    /// The quotient, rounded down to an integer and then to a float32.
    QuotientRoundedDown,
}

/// Applies the function to the elements of `x` and `y` at each index of `out`. Each operand has as many elements as
/// `out`, or a single one for all indices. `exact` is the function.
pub fn pairwise_of_f32(function: Pairwise, x: &[f32], y: &[f32], out: &mut [f32], exact: &dyn Fn(f64, f64) -> f64) {
    match function {
        Pairwise::Power => each::<Power>(x, y, out, exact),
        Pairwise::QuotientRoundedDown => each::<QuotientRoundedDown>(x, y, out, exact),
    }
}

/// A function in float64: the value, rounded, and zero if that is certain.
trait Certain {
    fn certain(x: f64, y: f64) -> (f32, u32);
}

struct Power;

impl Certain for Power {
    /// The logarithm is within 8u, and the exponent below 110 where the power is a float32, so the power is within
    /// 1,000 u. A negative number has a power only if the exponent is an integer.
    #[inline(always)]
    fn certain(x: f64, y: f64) -> (f32, u32) {
        let is_known = x.abs() < f64::INFINITY && y.abs() < f64::INFINITY && x != 0.0;
        let size = power_of_e(y * log(x.abs()));
        let half = y * 0.5;
        let signed = if half == half.floor() { size } else { -size };
        let of_negative = if y == y.floor() { signed } else { f64::NAN };
        let near = if x < 0.0 { of_negative } else { size };
        rounded(if is_known { near } else { f64::INFINITY }, MARGIN)
    }
}

struct QuotientRoundedDown;

impl Certain for QuotientRoundedDown {
    /// A quotient between two integers remains there if it is rounded, or becomes one of them. It is an integer if its
    /// product with the divisor is the dividend; that product is exact below 2^29.
    #[inline(always)]
    fn certain(x: f64, y: f64) -> (f32, u32) {
        const FAR: f64 = (1u64 << 50) as f64;
        const NEAR: f64 = (1u64 << 29) as f64;
        let quotient = x / y;
        let (whole, size) = (quotient.floor(), quotient.abs());
        let is_between = whole != quotient && size < FAR;
        let is_whole = whole == quotient && size < NEAR && quotient * y == x;
        (whole as f32, u32::from(!(is_between | is_whole)))
    }
}

/// How many numbers are tested together.
const BLOCK: usize = 128;

fn each<C: Certain>(x: &[f32], y: &[f32], out: &mut [f32], exact: &dyn Fn(f64, f64) -> f64) {
    // A single operand is repeated.
    let (repeated_x, repeated_y) =
        ([x.first().copied().unwrap_or(0.0); BLOCK], [y.first().copied().unwrap_or(0.0); BLOCK]);
    let (is_x_single, is_y_single) = (x.len() == 1, y.len() == 1);
    for (number, out) in out.chunks_mut(BLOCK).enumerate() {
        let places = number * BLOCK..number * BLOCK + out.len();
        let x = if is_x_single { &repeated_x[..out.len()] } else { &x[places.clone()] };
        let y = if is_y_single { &repeated_y[..out.len()] } else { &y[places] };
        if Arch::new().dispatch(Block { x, y, out, certain: PhantomData::<C> }) != 0 {
            settle::<C>(x, y, out, exact);
        }
    }
}

struct Block<'a, C> {
    x: &'a [f32],
    y: &'a [f32],
    out: &'a mut [f32],
    certain: PhantomData<C>,
}

impl<C: Certain> WithSimd for Block<'_, C> {
    type Output = u32;

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) -> u32 {
        let mut unknown = 0;
        for ((x, y), out) in self.x.iter().zip(self.y).zip(self.out) {
            let (value, doubt) = C::certain(f64::from(*x), f64::from(*y));
            *out = value;
            unknown |= doubt;
        }
        unknown
    }
}

#[cold]
#[inline(never)]
fn settle<C: Certain>(x: &[f32], y: &[f32], out: &mut [f32], exact: &dyn Fn(f64, f64) -> f64) {
    for ((x, y), out) in x.iter().zip(y).zip(out) {
        let (x, y) = (f64::from(*x), f64::from(*y));
        if C::certain(x, y).1 != 0 {
            *out = exact(x, y) as f32;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(function: Pairwise, x: f32, y: f32) -> f32 {
        let (mut out, nothing) = ([0.0], |_, _| f64::NAN);
        pairwise_of_f32(function, &[x], &[y], &mut out, &nothing);
        out[0]
    }

    #[test]
    fn powers_of_negative_numbers_have_signs() {
        let power = |x, y| of(Pairwise::Power, x, y);
        assert_eq!([power(-2.0, 3.0), power(-2.0, 4.0), power(-2.0, -3.0)], [-8.0, 16.0, -0.125]);
        assert_eq!([power(2.0, 0.5), power(3.0, 0.0), power(1.0, 1e30)], [2f32.sqrt(), 1.0, 1.0]);
        assert!(power(-2.0, 0.5).is_nan());
        assert_eq!(
            [power(10.0, 50.0), power(-10.0, 51.0), power(10.0, -60.0)],
            [f32::INFINITY, f32::NEG_INFINITY, 0.0]
        );
    }

    #[test]
    fn a_quotient_is_rounded_down_once() {
        let quotient = |x, y| of(Pairwise::QuotientRoundedDown, x, y);
        assert_eq!([quotient(7.0, 2.0), quotient(-7.0, 2.0), quotient(6.0, -2.0)], [3.0, -4.0, -3.0]);
        assert!(quotient(-0.0, 2.0).is_sign_negative() && quotient(1e-30, 1e30).is_sign_positive());
        // The float next to 0.1 is larger.
        assert_eq!([quotient(1.0, 0.1), quotient(f32::MIN_POSITIVE, -1e30)], [9.0, -1.0]);
    }

    #[test]
    fn operands_are_repeated_and_what_is_not_certain_is_asked() {
        let (many, mut out) = (vec![2.0; 300], vec![0.0; 300]);
        pairwise_of_f32(Pairwise::Power, &many, &[3.0], &mut out, &|_, _| 5.0);
        assert!(out.iter().all(|out| *out == 8.0));
        pairwise_of_f32(Pairwise::QuotientRoundedDown, &[1.0], &many, &mut out, &|_, _| 5.0);
        assert!(out.iter().all(|out| *out == 0.0));
        pairwise_of_f32(Pairwise::Power, &[0.0], &many, &mut out, &|_, _| 5.0);
        assert!(out.iter().all(|out| *out == 5.0));
    }
}
