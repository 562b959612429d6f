//! The tape of choices.

/// A finite sequence of choices, read from the front.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Tape {
    choices: Vec<u32>,
    at: usize,
}

impl Tape {
    /// A tape of `len` choices that a seed determines.
    pub fn from_seed(seed: u64, len: usize) -> Tape {
        let mut random = fastrand::Rng::with_seed(seed);
        Tape { choices: (0..len).map(|_| random.u32(..)).collect(), at: 0 }
    }

    /// A tape of so many choices for a number. Neighbouring numbers do not give related tapes, as the generator of
    /// `fastrand` mixes its seed.
    pub fn numbered(seed: u64, number: u64, choices: usize) -> Tape {
        Tape::from_seed(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15).wrapping_add(number), choices)
    }

    /// A tape with these choices.
    pub fn from_choices(choices: Vec<u32>) -> Tape {
        Tape { choices, at: 0 }
    }

    /// All choices, including those not read yet.
    pub fn choices(&self) -> &[u32] {
        &self.choices
    }

    /// Whether every choice was read.
    pub fn is_exhausted(&self) -> bool {
        self.at >= self.choices.len()
    }

    /// One of `0..n`; 0 when the tape is exhausted or `n` is 0.
    pub fn choose(&mut self, n: usize) -> usize {
        let choice = self.choices.get(self.at).copied().unwrap_or(0);
        self.at += 1;
        if n == 0 { 0 } else { choice as usize % n }
    }

    /// True in one of `n` cases; false when the tape is exhausted.
    pub fn one_in(&mut self, n: usize) -> bool {
        n > 0 && !self.is_exhausted() && self.choose(n) + 1 == n
    }

    /// One of the alternatives; `None` if there are none.
    pub fn pick<'a, T>(&mut self, alternatives: &'a [T]) -> Option<&'a T> {
        let at = self.choose(alternatives.len());
        alternatives.get(at)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_determines_the_tape() {
        assert_eq!(Tape::from_seed(7, 20), Tape::from_seed(7, 20));
        assert_ne!(Tape::from_seed(7, 20), Tape::from_seed(8, 20));
    }

    #[test]
    fn an_exhausted_tape_chooses_the_simplest() {
        let mut tape = Tape::from_choices(vec![5]);
        assert_eq!((tape.choose(3), tape.choose(3), tape.one_in(1)), (2, 0, false));
    }
}
