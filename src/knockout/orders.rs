//! Lists, whose order or extent a rule prescribes.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use crate::book::Rule;
use crate::judge::{Every, Instead};

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
