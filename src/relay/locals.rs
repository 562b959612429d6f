//! The local variables in scope.

use rustc_hash::FxHashMap;

use crate::grammar::Name;

/// The known facts about local variables. For each name the latest binding counts.
pub(super) struct Locals<T> {
    /// The names, in the order of binding.
    bound: Vec<Name>,
    of: FxHashMap<Name, Vec<T>>,
}

impl<T> Default for Locals<T> {
    fn default() -> Locals<T> {
        Locals { bound: Vec::new(), of: FxHashMap::default() }
    }
}

impl<T> Locals<T> {
    /// Binds a variable.
    pub(super) fn push(&mut self, name: Name, known: T) {
        self.of.entry(name.clone()).or_default().push(known);
        self.bound.push(name);
    }

    /// The visible variable of this name.
    pub(super) fn get(&self, name: &Name) -> Option<&T> {
        self.of.get(name).and_then(|all| all.last())
    }

    /// The number of bound variables.
    pub(super) fn mark(&self) -> usize {
        self.bound.len()
    }

    /// Ends the scope of all variables after the first `mark`.
    pub(super) fn truncate(&mut self, mark: usize) {
        while self.bound.len() > mark {
            let Some(name) = self.bound.pop() else { return };
            if let Some(all) = self.of.get_mut(&name) {
                all.pop();
                if all.is_empty() {
                    self.of.remove(&name);
                }
            }
        }
    }

    /// The known facts about all variables, including hidden ones.
    pub(super) fn all(&self) -> impl Iterator<Item = &T> {
        self.of.values().flatten()
    }

    /// The names, in the order of their binding.
    pub(super) fn names(&self) -> impl Iterator<Item = &Name> {
        self.bound.iter()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_of_a_name_counts_until_it_goes() {
        let (x, y): (Name, Name) = ("x".into(), "y".into());
        let mut locals = Locals::default();
        locals.push(x.clone(), 1);
        let mark = locals.mark();
        locals.push(x.clone(), 2);
        locals.push(y.clone(), 3);
        assert_eq!((locals.get(&x), locals.get(&y)), (Some(&2), Some(&3)));
        assert_eq!(locals.names().count(), 3);
        locals.truncate(mark);
        assert_eq!((locals.get(&x), locals.get(&y)), (Some(&1), None));
        locals.truncate(0);
        assert_eq!(locals.get(&x), None);
    }
}
