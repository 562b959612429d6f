//! Random choices, determined by a seed and the number of the draw.

/// A source of choices.
#[derive(Clone, Debug)]
pub(super) struct Random(fastrand::Rng);

impl Random {
    pub(super) fn new(seed: u64, index: usize, attempt: usize) -> Random {
        let mixed =
            seed.wrapping_mul(0x9E37_79B9_7F4A_7C15).wrapping_add((index as u64) << 16).wrapping_add(attempt as u64);
        Random(fastrand::Rng::with_seed(mixed))
    }

    /// Another source, determined by this one.
    pub(super) fn fork(&mut self) -> Random {
        Random(self.0.fork())
    }

    /// One of `0..n`; 0 if there is none.
    pub(super) fn below(&mut self, n: usize) -> usize {
        if n == 0 { 0 } else { self.0.usize(0..n) }
    }

    /// An integer of an inclusive range.
    pub(super) fn between(&mut self, low: i64, high: i64) -> i64 {
        if low >= high { low } else { self.0.i64(low..=high) }
    }

    /// True in one of `n` cases.
    pub(super) fn one_in(&mut self, n: usize) -> bool {
        self.below(n) == 0
    }

    /// A float in `[low, high)`.
    pub(super) fn float(&mut self, low: f64, high: f64) -> f64 {
        low + self.0.f64() * (high - low)
    }

    /// One of the alternatives.
    pub(super) fn pick<T: Copy>(&mut self, alternatives: &[T], otherwise: T) -> T {
        alternatives.get(self.below(alternatives.len())).copied().unwrap_or(otherwise)
    }
}
