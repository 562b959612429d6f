//! A stack of scopes with constant-time lookup of the innermost binding: a map, and a log of the bindings that each new
//! one hides. Popping a scope undoes its part of the log.

use std::collections::HashMap;
use std::hash::Hash;

/// A stack of scopes.
#[derive(Debug)]
pub(super) struct Scopes<K, V> {
    visible: HashMap<K, V>,
    /// The value that was visible before each change, oldest first.
    hidden: Vec<(K, Option<V>)>,
}

/// The start of a scope; by default the outermost one.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct ScopeMark(usize);

impl<K, V> Default for Scopes<K, V> {
    fn default() -> Scopes<K, V> {
        Scopes { visible: HashMap::new(), hidden: Vec::new() }
    }
}

impl<K: Eq + Hash + Clone, V> Scopes<K, V> {
    pub(super) fn new() -> Scopes<K, V> {
        Scopes::default()
    }

    /// An independent copy with one scope that has the same visible bindings.
    pub(super) fn with_the_same(&self) -> Scopes<K, V>
    where
        V: Clone,
    {
        Scopes { visible: self.visible.clone(), hidden: Vec::new() }
    }

    /// Begins a scope.
    pub(super) fn push(&self) -> ScopeMark {
        ScopeMark(self.hidden.len())
    }

    /// Ends a scope: removes everything bound since its mark and restores the values that it hid.
    pub(super) fn pop(&mut self, mark: ScopeMark) {
        while self.hidden.len() > mark.0 {
            let Some((key, before)) = self.hidden.pop() else { return };
            match before {
                Some(value) => self.visible.insert(key, value),
                None => self.visible.remove(&key),
            };
        }
    }

    /// Binds a key in the innermost scope.
    pub(super) fn bind(&mut self, key: K, value: V) {
        let before = self.visible.insert(key.clone(), value);
        self.hidden.push((key, before));
    }

    /// Removes a key in the innermost scope.
    pub(super) fn unbind(&mut self, key: &K) {
        let before = self.visible.remove(key);
        self.hidden.push((key.clone(), before));
    }

    pub(super) fn get(&self, key: &K) -> Option<&V> {
        self.visible.get(key)
    }

    /// All visible bindings.
    pub(super) fn iter(&self) -> impl Iterator<Item = (&K, &V)> {
        self.visible.iter()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn popping_shows_what_was_hidden() {
        let mut scopes = Scopes::new();
        scopes.bind("x", 1);
        let mark = scopes.push();
        scopes.bind("x", 2);
        scopes.bind("y", 3);
        scopes.unbind(&"y");
        assert_eq!((scopes.get(&"x"), scopes.get(&"y")), (Some(&2), None));
        scopes.pop(mark);
        assert_eq!(scopes.get(&"x"), Some(&1));
        assert_eq!(scopes.iter().count(), 1);
    }
}
