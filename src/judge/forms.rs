//! The forms of clauses: rows, conditions, premises and conclusions, as the methods of [`Cx`] take them.

use super::Cx;
use super::watch::MaskedFreshness;
use crate::book::Rule;

/// A row of a definition by cases: its rule, whether its condition holds, and its conclusion.
pub type DefinitionRow<T> = (Rule, bool, T);

/// The outcome of a test ([`Cx::premise`]).
pub trait Premise: Sized {
    /// Whether the premise holds.
    fn holds(&self) -> bool;

    /// The outcome in an edition that does not demand the premise.
    fn untested(self) -> Self;

    /// The outcome if the rule is masked.
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

/// The rows of a definition by cases, with or without a final row for all remaining cases.
pub trait Rows {
    /// The type of the answer: the conclusion, or an optional one.
    type Answer;

    /// Returns the conclusion of the first row that applies.
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

/// A condition with nothing but its truth: the rule that states it, the number of the premise in that rule (from 1),
/// and whether it holds.
pub type PlainCondition = (Rule, usize, bool);

/// Conditions that must all hold: [plain](PlainCondition) ones, or [with a value](Condition) to return for the first
/// one that fails.
pub trait Conditions {
    /// The type of the answer: whether all hold, or the first that fails.
    type Answer;

    /// Tests the conditions.
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

/// A condition: the rule that states it, the number of the premise in that rule (from 1), whether it holds, and a value
/// to return if it fails.
pub type Condition<T> = (Rule, usize, bool, T);

/// A condition with a message for the case that it fails.
pub type ReportedCondition<'a> = Condition<&'a dyn Fn() -> String>;

/// A replacement for the conclusion of a masked rule: another answer, as a plausible wrong implementation would give
/// it. The file `instead.rs` of the module that defines a type has its replacements; no clause of the text mentions
/// them.
pub trait Instead: Sized {
    /// Another answer than `self`, if the type has one.
    fn instead(self, rule: Rule) -> Self;

    /// As [`Instead::instead`], for types with rules that create something new. The replacement may then be something
    /// that the rule created earlier.
    fn instead_of_new(self, rule: Rule, _: &mut MaskedFreshness) -> Self {
        self.instead(rule)
    }
}

/// A complete list, for a rule that requires every element.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Every<T>(pub Vec<T>);
