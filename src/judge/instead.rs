//! What stands in for a conclusion whose rule is switched off, where it is of a type that the language has of itself or
//! of a verdict that several judgements share. Each room has a file of this name for the types that it makes.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;
use std::sync::Arc;

use num_bigint::BigInt;

use super::{Compatibility, Every, Instead, Proof, RuntimeError};
use crate::book::Rule;

/// Yes for no.
impl Instead for bool {
    fn instead(self, _: Rule) -> bool {
        !self
    }
}

/// What was found is missed.
impl<T> Instead for Option<&T> {
    fn instead(self, _: Rule) -> Self {
        None
    }
}

/// The other way round.
impl<T> Instead for Vec<T> {
    fn instead(mut self, _: Rule) -> Vec<T> {
        self.reverse();
        self
    }
}

/// The first is enough.
impl<T> Instead for Every<T> {
    fn instead(mut self, _: Rule) -> Every<T> {
        self.0.truncate(1);
        self
    }
}

/// The second first.
impl<T> Instead for [T; 2] {
    fn instead(self, _: Rule) -> [T; 2] {
        let [first, second] = self;
        [second, first]
    }
}

/// None of them.
impl<T> Instead for &[T] {
    fn instead(self, _: Rule) -> Self {
        &[]
    }
}

/// One too many.
impl Instead for usize {
    fn instead(self, _: Rule) -> usize {
        self.saturating_add(1)
    }
}

/// Off by one.
impl Instead for i64 {
    fn instead(self, _: Rule) -> i64 {
        self.wrapping_add(1)
    }
}

/// Off by one.
impl Instead for BigInt {
    fn instead(self, _: Rule) -> BigInt {
        self + 1
    }
}

/// Nothing is found.
impl<T: Ord> Instead for BTreeSet<T> {
    fn instead(self, _: Rule) -> BTreeSet<T> {
        BTreeSet::new()
    }
}

/// Nothing is mapped.
impl<K: Ord, V> Instead for BTreeMap<K, V> {
    fn instead(self, _: Rule) -> BTreeMap<K, V> {
        BTreeMap::new()
    }
}

/// Nothing is mapped.
impl<K: Ord + Clone, V: Clone> Instead for Cow<'_, BTreeMap<K, V>> {
    fn instead(self, _: Rule) -> Self {
        Cow::Owned(BTreeMap::new())
    }
}

/// What was found is missed.
impl<T> Instead for Option<Rc<T>> {
    fn instead(self, _: Rule) -> Self {
        None
    }
}

/// Nothing is known.
impl<T> Instead for Option<Arc<T>> {
    fn instead(self, _: Rule) -> Self {
        None
    }
}

/// An error goes unnoticed.
impl<T: Instead + Default> Instead for Result<T, RuntimeError> {
    fn instead(self, rule: Rule) -> Self {
        Ok(self.map_or_else(|_| T::default(), |value| value.instead(rule)))
    }
}

/// What fits is refused, and what does not is accepted.
impl Instead for Compatibility {
    fn instead(self, _: Rule) -> Compatibility {
        match self {
            Compatibility::Incompatible => Compatibility::Compatible,
            Compatibility::Compatible | Compatibility::Possibly => Compatibility::Incompatible,
        }
    }
}

/// A wrong proof, and different for undecided.
impl Instead for Proof {
    fn instead(self, _: Rule) -> Proof {
        match self {
            Proof::Different => Proof::Equal,
            Proof::Equal | Proof::Unknown => Proof::Different,
        }
    }
}
