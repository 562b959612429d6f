//! The forms in which clauses are stated: rows, conditions, premises and conclusions, as the verbs of [`Cx`] take them.

use super::Cx;
use super::watch::MaskedFreshness;
use crate::book::Rule;

/// A row of a definition by cases: the rule that it states, whether its condition holds, and its conclusion.
pub type DefinitionRow<T> = (Rule, bool, T);

/// What comes of a test ([`Cx::premise`]).
pub trait Premise: Sized {
    /// Whether the premise holds.
    fn holds(&self) -> bool;

    /// What comes of it in an edition that does not demand it.
    fn untested(self) -> Self;

    /// What comes of it where its rule is masked.
    fn masked(self, rule: Rule) -> Self;
}

impl Premise for bool {
    #[inline]
    fn holds(&self) -> bool {
        *self
    }

    #[inline]
    fn untested(self) -> bool {
        true
    }

    fn masked(self, _: Rule) -> bool {
        true
    }
}

impl<T, E> Premise for Result<T, E>
where
    Result<T, E>: Instead,
{
    fn holds(&self) -> bool {
        self.is_ok()
    }

    fn untested(self) -> Self {
        self
    }

    fn masked(self, rule: Rule) -> Self {
        if self.is_err() { self.instead(rule) } else { self }
    }
}

/// The rows of a definition by cases, without a last row for what none of them covers, or with one.
pub trait Rows {
    /// The conclusion, or maybe one.
    type Answer;

    /// The conclusion of the first row that applies.
    fn decided(self, cx: &mut Cx) -> Self::Answer;
}

impl<T: Clone + PartialEq> Rows for &[DefinitionRow<T>] {
    type Answer = Option<T>;

    #[inline]
    fn decided(self, cx: &mut Cx) -> Option<T> {
        cx.by_rows(self)
    }
}

impl<T: Clone + PartialEq, const N: usize> Rows for &[DefinitionRow<T>; N] {
    type Answer = Option<T>;

    #[inline]
    fn decided(self, cx: &mut Cx) -> Option<T> {
        cx.by_rows(self)
    }
}

impl<T: Clone + PartialEq, const N: usize> Rows for (&[DefinitionRow<T>; N], (Rule, T)) {
    type Answer = T;

    #[inline]
    fn decided(self, cx: &mut Cx) -> T {
        cx.by_rows_or(self.0, self.1.0, self.1.1)
    }
}

/// A condition that must hold, of which nothing follows but that it does or not: the rule that sets it, which of its
/// premises it is (counting from 1), and whether it holds.
pub type PlainCondition = (Rule, usize, bool);

/// Conditions that must hold one and all: [plain](PlainCondition) ones, or [with something](Condition) to be said of
/// the first that does not.
pub trait Conditions {
    /// Whether they hold, or the first that does not.
    type Answer;

    /// Whether they hold.
    fn tested(self, cx: &mut Cx) -> Self::Answer;
}

impl Conditions for &[PlainCondition] {
    type Answer = bool;

    #[inline]
    fn tested(self, cx: &mut Cx) -> bool {
        self.iter().all(|(rule, n, holds)| cx.meets(*rule, *n, *holds))
    }
}

impl<const N: usize> Conditions for &[PlainCondition; N] {
    type Answer = bool;

    #[inline]
    fn tested(self, cx: &mut Cx) -> bool {
        self.as_slice().tested(cx)
    }
}

impl<T: Copy> Conditions for &[Condition<T>] {
    type Answer = Result<(), (Rule, T)>;

    fn tested(self, cx: &mut Cx) -> Self::Answer {
        match cx.first_failing(self) {
            None => Ok(()),
            Some((rule, _, _, told)) => Err((cx.stated_as(*rule), *told)),
        }
    }
}

impl<T: Copy, const N: usize> Conditions for &[Condition<T>; N] {
    type Answer = Result<(), (Rule, T)>;

    fn tested(self, cx: &mut Cx) -> Self::Answer {
        self.as_slice().tested(cx)
    }
}

/// A condition that must hold: the rule that sets it, which of its premises it is (counting from 1), whether it holds,
/// and what follows if it does not.
pub type Condition<T> = (Rule, usize, bool, T);

/// A condition with what to say where it does not hold.
pub type ReportedCondition<'a> = Condition<&'a dyn Fn() -> String>;

/// What stands in for a conclusion when the rule that draws it is masked: another answer, such as a plausible wrong
/// implementation would give. What that is stands in
/// the file `instead.rs` of the room that makes the type; no clause says it.
pub trait Instead: Sized {
    /// Another answer than `self`, wherever the type has one.
    fn instead(self, rule: Rule) -> Self;

    /// The same, where the type has rules of which each says that what is concluded is new: then it may be one of those
    /// that they have made before.
    fn instead_of_new(self, rule: Rule, _: &mut MaskedFreshness) -> Self {
        self.instead(rule)
    }
}

/// All that there is of something, where a rule wants every one of them.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Every<T>(pub Vec<T>);
