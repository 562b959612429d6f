//! Replacements for conclusions whose rule is switched off, for basic types and for verdicts that several judgements
//! share. Each module has a file of this name for its own types.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;
use std::sync::Arc;

use num_bigint::BigInt;

use super::{Compatibility, Every, Instead, Proof, RuntimeError};
use crate::book::Rule;

/// The negation.
impl Instead for bool {
    fn instead(self, _: Rule) -> bool {
        !self
    }
}

/// Nothing is found.
impl<T> Instead for Option<&T> {
    fn instead(self, _: Rule) -> Self {
        None
    }
}

/// The reverse order.
impl<T> Instead for Vec<T> {
    fn instead(mut self, _: Rule) -> Vec<T> {
        self.reverse();
        self
    }
}

/// Only the first element.
impl<T> Instead for Every<T> {
    fn instead(mut self, _: Rule) -> Every<T> {
        self.0.truncate(1);
        self
    }
}

/// The two elements exchanged.
impl<T> Instead for [T; 2] {
    fn instead(self, _: Rule) -> [T; 2] {
        let [first, second] = self;
        [second, first]
    }
}

/// The empty list.
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

/// Nothing is found.
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

/// The error is ignored.
impl<T: Instead + Default> Instead for Result<T, RuntimeError> {
    fn instead(self, rule: Rule) -> Self {
        Ok(self.map_or_else(|_| T::default(), |value| value.instead(rule)))
    }
}

/// Compatible becomes incompatible, and incompatible becomes compatible.
impl Instead for Compatibility {
    fn instead(self, _: Rule) -> Compatibility {
        match self {
            Compatibility::Incompatible => Compatibility::Compatible,
            Compatibility::Compatible | Compatibility::Possibly => Compatibility::Incompatible,
        }
    }
}

/// A wrong proof. An undecided one becomes different.
impl Instead for Proof {
    fn instead(self, _: Rule) -> Proof {
        match self {
            Proof::Different => Proof::Equal,
            Proof::Equal | Proof::Unknown => Proof::Different,
        }
    }
}
