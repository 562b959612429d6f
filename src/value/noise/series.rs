//! Noise in a series of operations of one type: each varies as if it was alone, and what they show is recorded once.

use super::{NEAR, Noise, finer, least_normal};
use crate::number::FloatType;

/// The operations of a series, and what is to be recorded of them.
pub struct NoiseSeries<'n> {
    noise: &'n Noise,
    float: FloatType,
    asked: bool,
    /// The greatest finite magnitude of an operand or a result, and the least one other than 0.
    greatest: f64,
    least: f64,
    overflows: bool,
    /// Whether a result that is not 0 is rounded to 0.
    vanishes: bool,
}

impl Noise {
    /// A series of operations that round to this type.
    pub fn series(&self, float: FloatType) -> NoiseSeries<'_> {
        let (greatest, least) = (0.0, f64::INFINITY);
        NoiseSeries { noise: self, float, asked: false, greatest, least, overflows: false, vanishes: false }
    }
}

impl NoiseSeries<'_> {
    /// Rounds the exact result of an operation, with noise that goes on from a state of its sequence.
    #[inline]
    pub fn rounded(&mut self, state: &mut u64, value: f64) -> f64 {
        let nearest = self.asked(value);
        if nearest == 0.0 && value != 0.0 {
            self.vanishes = true;
            return self.noise.beside_zero_from(state, self.float);
        }
        let exact = nearest == value && (self.float != FloatType::Float64 || self.noise.is_exact(self.float, nearest));
        self.result(state, nearest, exact)
    }

    /// Rounds a sum, with noise.
    #[inline]
    pub fn sum(&mut self, state: &mut u64, a: f64, b: f64) -> f64 {
        let sum = a + b;
        let nearest = self.asked(sum);
        self.see(a);
        self.see(b);
        let (a_again, b_again) = (sum - b, sum - (sum - b));
        let exact = nearest == sum && a_again == a && b_again == b;
        self.result(state, nearest, exact)
    }

    #[inline]
    fn asked(&mut self, value: f64) -> f64 {
        self.asked = true;
        self.see(value);
        let nearest = self.float.round(value);
        self.overflows |= value.is_finite() && !nearest.is_finite();
        nearest
    }

    #[inline]
    fn see(&mut self, value: f64) {
        let magnitude = value.abs();
        if magnitude > self.greatest && magnitude.is_finite() {
            self.greatest = magnitude;
        }
        if magnitude < self.least && magnitude != 0.0 {
            self.least = magnitude;
        }
    }

    #[inline]
    fn result(&self, state: &mut u64, nearest: f64, exact: bool) -> f64 {
        let (noise, float) = (self.noise, self.float);
        let result = if exact { nearest } else { noise.moved_from(state, float, nearest, nearest.abs(), 1.0) };
        noise.unless_top(float, result)
    }

    /// Records what the operations have shown.
    pub fn note(self) {
        let NoiseSeries { noise, float, asked, greatest, least, overflows, vanishes } = self;
        if !asked {
            return;
        }
        noise.asked.set(true);
        noise.computes.set(true);
        noise.finest.set(Some(finer(noise.finest.get(), float)));
        noise.overflowed.set(noise.overflowed.get() || overflows);
        noise.neared_top.set(noise.neared_top.get() || greatest > float.greatest() / NEAR);
        noise.neared_bottom.set(noise.neared_bottom.get() || vanishes || least < least_normal(float));
    }
}
