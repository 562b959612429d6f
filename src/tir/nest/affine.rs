//! Affine expressions of the numbers of rounds of a nest of loops, and their exact ranges.

use super::super::scalar::Repr;

/// The maximum number of loops of a nest.
pub(super) const MOST_LEVELS: usize = 12;

/// A sum of a constant and of multiples of the numbers of rounds, each counted from 0.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Affine {
    pub base: i64,
    pub steps: [i64; MOST_LEVELS],
}

/// A loop of a nest.
pub(super) struct Level {
    pub slot: usize,
    pub start: i64,
    pub step: i64,
    /// How many rounds it has, at least one.
    pub count: i64,
    pub choice: Option<usize>,
}

/// The loops of a nest, the outermost first. Each has the same rounds in every round of those around it.
#[derive(Default)]
pub(super) struct Space {
    pub levels: Vec<Level>,
}

impl Affine {
    pub fn constant(base: i64) -> Affine {
        Affine { base, steps: [0; MOST_LEVELS] }
    }

    /// The variable of a loop.
    pub fn variable(level: usize, start: i64, step: i64) -> Affine {
        let mut variable = Affine::constant(start);
        variable.steps[level] = step;
        variable
    }

    pub fn as_constant(&self) -> Option<i64> {
        self.steps.iter().all(|step| *step == 0).then_some(self.base)
    }

    fn combined(&self, other: &Affine, combine: fn(i64, i64) -> Option<i64>) -> Option<Affine> {
        let mut sum = Affine::constant(combine(self.base, other.base)?);
        for (to, (a, b)) in sum.steps.iter_mut().zip(self.steps.iter().zip(&other.steps)) {
            *to = combine(*a, *b)?;
        }
        Some(sum)
    }

    pub fn plus(&self, other: &Affine) -> Option<Affine> {
        self.combined(other, i64::checked_add)
    }

    pub fn minus(&self, other: &Affine) -> Option<Affine> {
        self.combined(other, i64::checked_sub)
    }

    pub fn times(&self, factor: i64) -> Option<Affine> {
        self.combined(&Affine { base: factor, steps: [factor; MOST_LEVELS] }, i64::checked_mul)
    }
}

impl Space {
    /// The least and the greatest value of an expression.
    pub fn range(&self, e: &Affine) -> (i128, i128) {
        let base = i128::from(e.base);
        self.levels.iter().zip(&e.steps).fold((base, base), |(least, greatest), (level, step)| {
            let far = i128::from(*step).saturating_mul(i128::from(level.count - 1));
            (least.saturating_add(far.min(0)), greatest.saturating_add(far.max(0)))
        })
    }

    /// The expression, if all its values are integers of a data type, so that nothing wraps around.
    pub fn within(&self, e: Affine, repr: Repr) -> Option<Affine> {
        let (least, greatest) = self.range(&e);
        (repr.holds(least) && repr.holds(greatest) && greatest <= i128::from(i64::MAX)).then_some(e)
    }

    /// The quotient by a positive number, rounded down or towards zero, if it is the same everywhere.
    pub fn quotient(&self, e: &Affine, divisor: i64, down: bool) -> Option<i64> {
        let (least, greatest) = self.range(e);
        let by = i128::from(divisor);
        let (a, b) = (least.div_euclid(by), greatest.div_euclid(by));
        (a == b && (down || least >= 0)).then_some(i64::try_from(a).ok()?)
    }

    /// How many rounds the innermost loop has altogether.
    pub fn rounds(&self) -> u128 {
        self.levels.iter().fold(1u128, |all, level| all.saturating_mul(u128::from(level.count.unsigned_abs())))
    }

    /// Whether different rounds of the levels from one on give different values: each step is larger than all that the
    /// smaller ones can do together.
    pub fn is_injective(&self, e: &Affine, from: usize) -> bool {
        let mut steps: Vec<(i128, i128)> = self
            .levels
            .iter()
            .zip(&e.steps)
            .skip(from)
            .filter(|(level, _)| level.count > 1)
            .map(|(level, step)| (i128::from(*step).abs(), i128::from(level.count - 1)))
            .collect();
        steps.sort_unstable();
        let mut reach = 0i128;
        steps.into_iter().all(|(step, far)| {
            let apart = step > reach;
            reach = reach.saturating_add(step.saturating_mul(far));
            apart
        })
    }
}
