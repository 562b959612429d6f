//! The limit of a prover's work on one question. If it is used up, the answer is "unknown".

/// The remaining work. A unit is about one atom that is compared or copied.
pub(super) struct Budget {
    left: usize,
}

impl Budget {
    /// Enough for the shapes in real programs. A question has five such stages, and still ends within 100 ms.
    pub(super) fn of_a_question() -> Budget {
        Budget { left: 60_000 }
    }

    /// Takes work from the budget before it is done. `None` if there is not enough left; then other work fails too.
    pub(super) fn spend(&mut self, work: usize) -> Option<()> {
        let left = self.left.checked_sub(work);
        self.left = left.unwrap_or(0);
        left.map(|_| ())
    }

    /// The number of times, up to `most`, that a step of this cost may be done. The work for them is taken from the
    /// budget.
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
