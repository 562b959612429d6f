//! Elementary functions of float32, rounded as the exact value is.
//!
//! A function is computed with a few more digits than a float32 has. If all numbers within the margin of that value
//! round to the same float32, then the exact value rounds to it too, because rounding is monotonic. Otherwise the value
//! is near the middle of two floats, and the exact function decides.

use std::marker::PhantomData;

use pulp::{Arch, Simd, WithSimd};

use crate::approximate::{self, MARGIN};

/// A function of one number.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Elementary {
    /// The inverse of the cosine.
    Arccosine,
    /// The inverse of the sine.
    Arcsine,
    /// The inverse of the tangent.
    Arctangent,
    /// The cosine.
    Cosine,
    /// The error function.
    Error,
    /// The power of e.
    Exponential,
    /// The number times the distribution function of the normal distribution.
    Gelu,
    /// The approximation of the same by a hyperbolic tangent.
    GeluTanh,
    /// The hyperbolic cosine.
    HyperbolicCosine,
    /// The hyperbolic sine.
    HyperbolicSine,
    /// The hyperbolic tangent.
    HyperbolicTangent,
    /// The natural logarithm.
    Logarithm,
    /// 1 divided by the square root.
    ReciprocalRoot,
    /// The logistic function.
    Sigmoid,
    /// The number times its logistic function.
    Silu,
    /// The sine.
    Sine,
    /// The tangent.
    Tangent,
}

/// A function in float64, as a type: so it becomes a part of each loop over it.
trait Approximation {
    fn near(x: f64) -> f64;
}

/// Runs an expression with the approximation of a function.
macro_rules! with_approximation {
    ($function:expr, $near:ident => $body:expr) => {
        with_approximation!($function, $near => $body,
            Arccosine acos, Arcsine asin, Arctangent atan, Cosine cos, Error erf, Exponential power, Gelu gelu,
            GeluTanh gelu_tanh, HyperbolicCosine cosh, HyperbolicSine sinh, HyperbolicTangent tanh, Logarithm log,
            ReciprocalRoot rsqrt, Sigmoid sigmoid, Silu silu, Sine sin, Tangent tan)
    };
    ($function:expr, $near:ident => $body:expr, $($variant:ident $name:ident),*) => {
        match $function {
            $(Elementary::$variant => {
                struct $near;
                impl Approximation for $near {
                    #[inline(always)]
                    fn near(x: f64) -> f64 {
                        approximate::$name(x)
                    }
                }
                $body
            })*
        }
    };
}

impl Elementary {
    /// A number within [`MARGIN`] of the value for a float32, relative to it; `None` if none is known. For NaN, and
    /// where the function is not defined, it is NaN.
    pub fn near(self, x: f64) -> Option<f64> {
        let near = with_approximation!(self, Near => Near::near(x));
        (!near.is_infinite()).then_some(near)
    }
}

/// Writes the value of the function for each number, rounded to the nearest float32. `exact` is the function.
pub fn elementary_of_f32(function: Elementary, x: &[f32], out: &mut [f32], exact: fn(f64) -> f64) {
    with_approximation!(function, Near => Arch::new().dispatch(Map { x, out, exact, near: PhantomData::<Near> }));
}

/// How many numbers are tested together.
const BLOCK: usize = 128;

struct Map<'a, N> {
    x: &'a [f32],
    out: &'a mut [f32],
    exact: fn(f64) -> f64,
    near: PhantomData<N>,
}

impl<N: Approximation> WithSimd for Map<'_, N> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        for (x, out) in self.x.chunks(BLOCK).zip(self.out.chunks_mut(BLOCK)) {
            let mut unknown = 0;
            for (x, out) in x.iter().zip(&mut *out) {
                let (value, doubt) = rounded(N::near(f64::from(*x)), MARGIN);
                *out = value;
                unknown |= doubt;
            }
            if unknown != 0 {
                settle::<N>(x, out, self.exact);
            }
        }
    }
}

/// The same for a few numbers, with the exact function where the value is not certain.
#[cold]
#[inline(never)]
fn settle<N: Approximation>(x: &[f32], out: &mut [f32], exact: fn(f64) -> f64) {
    for (x, out) in x.iter().zip(out) {
        let x = f64::from(*x);
        if rounded(N::near(x), MARGIN).1 != 0 {
            *out = exact(x) as f32;
        }
    }
}

/// The nearest float32, and zero if all numbers within the relative distance round to it. An infinite number is not
/// known.
#[inline(always)]
pub(crate) fn rounded(near: f64, margin: f64) -> (f32, u32) {
    let (low, high) = ((near * (1.0 - margin)) as f32, (near * (1.0 + margin)) as f32);
    let is_infinite = u32::from(near.abs() == f64::INFINITY);
    (low, (low.to_bits() ^ high.to_bits()) | is_infinite)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn unreachable(_: f64) -> f64 {
        f64::NAN
    }

    #[test]
    fn a_number_near_a_tie_is_not_certain() {
        for below in [1.0f32, 1.5, 2.0, 3.7e-5, 6.1e20, 1e-40, f32::MAX] {
            let (low, high) = (f64::from(below), f64::from(below.next_up()).min(2f64.powi(128)));
            let tie = (low + high) / 2.0;
            for part in [0.0, 0.5, -0.5, 0.99, -0.99] {
                assert_ne!(rounded(tie * (1.0 + part * MARGIN), MARGIN).1, 0, "{tie} {part}");
            }
            for part in [1.01, -1.01] {
                let near = tie * (1.0 + part * MARGIN);
                assert_eq!(rounded(near, MARGIN), (near as f32, 0), "{tie} {part}");
            }
        }
        assert_eq!(rounded(-0.0, MARGIN).0.to_bits(), (-0.0f32).to_bits());
        assert_ne!(rounded(f64::NEG_INFINITY, MARGIN).1, 0);
    }

    #[test]
    fn what_is_not_certain_is_asked() {
        let x = [f32::INFINITY, 0.0, f32::NAN, f32::NEG_INFINITY];
        let mut out = [1.0; 4];
        elementary_of_f32(Elementary::Logarithm, &x, &mut out, |x| if x > 0.0 { 7.0 } else { 8.0 });
        assert_eq!((out[0], out[1]), (7.0, 8.0));
        assert!(out[2].is_nan() && out[3].is_nan());
    }

    #[test]
    fn most_values_are_certain() {
        let x: Vec<f32> = (0..100_000).map(|i| (i as f32 + 0.5) / 7000.0).collect();
        for function in [Elementary::Exponential, Elementary::Logarithm, Elementary::Sine, Elementary::Gelu] {
            let mut out = vec![0.0; x.len()];
            elementary_of_f32(function, &x, &mut out, unreachable);
            let asked = out.iter().filter(|out| out.is_nan()).count();
            assert!(asked < 20, "{function:?}: {asked}");
        }
    }
}
