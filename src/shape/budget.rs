//! The work that a prover may spend on one question, so that every question is answered, if need be by "unknown".

/// What is left of the work. A unit is about one atom, compared or copied.
pub(super) struct Budget {
    left: usize,
}

impl Budget {
    /// Enough for what programs have in their shapes, and little enough for a question, which has five such stages, to end
    /// within 100 ms.
    pub(super) fn of_a_question() -> Budget {
        Budget { left: 60_000 }
    }

    /// Takes the work before it is done. `None` if it is too much; then nothing is left for other work either.
    pub(super) fn spend(&mut self, work: usize) -> Option<()> {
        let left = self.left.checked_sub(work);
        self.left = left.unwrap_or(0);
        left.map(|_| ())
    }

    /// How often something may be done that takes so much each time. It is taken as done.
    pub(super) fn times(&mut self, most: usize, work: usize) -> usize {
        let times = most.min(self.left / work.max(1));
        self.left -= times * work;
        times
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_too_much_leaves_nothing() {
        let mut budget = Budget { left: 10 };
        assert_eq!(budget.spend(4), Some(()));
        assert_eq!(budget.times(100, 2), 3);
        assert_eq!(budget.spend(1), None);
        let mut budget = Budget { left: 10 };
        assert_eq!(budget.spend(11), None);
        assert_eq!(budget.spend(1), None);
    }
}
