//! Traversals that visit each shared tuple once. A pair of pairs of pairs has far more parts than nodes in memory.

use std::cell::{Cell, OnceCell, RefCell};
use std::hash::Hash;
use std::sync::Arc;

use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::SmallVec;

type HeldPair<T> = (Arc<[T]>, Arc<[T]>);

type OnceEntries<T, V> = FxHashMap<(usize, usize), (HeldPair<T>, V)>;

/// Answers about tuples, or pairs of them, by address. The tuples are kept alive so that no other tuple takes their
/// address. Sharing is rare, so the table is created only when it is needed.
#[derive(Debug)]
pub struct Once<T, V> {
    kept: OnceCell<Box<OnceTable<T, V>>>,
}

#[derive(Debug)]
struct OnceTable<T, V> {
    known: RefCell<OnceEntries<T, V>>,
    /// The number of changes that affected the answers.
    changes: Cell<u64>,
}

impl<T, V> Default for Once<T, V> {
    fn default() -> Once<T, V> {
        Once { kept: OnceCell::new() }
    }
}

impl<T, V> Default for OnceTable<T, V> {
    fn default() -> OnceTable<T, V> {
        OnceTable { known: RefCell::default(), changes: Cell::new(0) }
    }
}

impl<T, V: Clone> Once<T, V> {
    /// The answer of `find` about a tuple. `find` runs only if there is no kept answer.
    pub fn of(&self, fields: &Arc<[T]>, find: impl FnOnce() -> V) -> V {
        self.of_both(fields, fields, find)
    }

    /// The answer of `find` about a pair of tuples.
    #[inline]
    pub fn of_both(&self, fields1: &Arc<[T]>, fields2: &Arc<[T]>, find: impl FnOnce() -> V) -> V {
        // An unshared node is met as often as its owner, and the owner's answer is kept.
        if !is_shared(fields1) && !is_shared(fields2) {
            return find();
        }
        self.kept.get_or_init(Box::default).of_both(fields1, fields2, find)
    }

    /// Records a change that affects the answers.
    #[inline]
    pub fn forget(&self) {
        if let Some(kept) = self.kept.get() {
            kept.forget();
        }
    }
}

impl<T, V: Clone> OnceTable<T, V> {
    fn of_both(&self, fields1: &Arc<[T]>, fields2: &Arc<[T]>, find: impl FnOnce() -> V) -> V {
        let places = (place(fields1), place(fields2));
        if let Some((_, known)) = self.known.borrow().get(&places) {
            return known.clone();
        }
        let changes = self.changes.get();
        let found = find();
        if changes == self.changes.get() {
            let kept = (fields1.clone(), fields2.clone());
            self.known.borrow_mut().insert(places, (kept, found.clone()));
        }
        found
    }

    fn forget(&self) {
        self.changes.set(self.changes.get().wrapping_add(1));
        if !self.known.borrow().is_empty() {
            self.known.borrow_mut().clear();
        }
    }
}

/// Whether fields may be met more than once, because they have several owners. Empty lists do not count.
pub fn is_shared<T>(fields: &Arc<[T]>) -> bool {
    Arc::strong_count(fields) > 1 && !fields.is_empty()
}

/// The addresses of shared tuples that were already visited.
pub type VisitedTuples = SmallSet<usize>;

/// Up to this number of elements a linear search is faster than hashing.
const FEW: usize = 4;

/// A set that is almost always small.
#[derive(Clone, Debug)]
pub struct SmallSet<T> {
    few: SmallVec<[T; FEW]>,
    /// All elements, if there are more than a few.
    many: FxHashSet<T>,
}

impl<T> Default for SmallSet<T> {
    fn default() -> SmallSet<T> {
        SmallSet { few: SmallVec::new(), many: FxHashSet::default() }
    }
}

impl<T: Eq + Hash> SmallSet<T> {
    /// Adds an element. Returns whether it is new.
    pub fn insert(&mut self, place: T) -> bool {
        if self.many.is_empty() {
            if self.few.contains(&place) {
                return false;
            }
            if self.few.len() < FEW {
                self.few.push(place);
                return true;
            }
            self.many.extend(self.few.drain(..));
        }
        self.many.insert(place)
    }

    /// Removes all elements.
    pub fn clear(&mut self) {
        self.few.clear();
        self.many.clear();
    }
}

/// Whether a tuple may be visited for the first time. An unshared tuple always counts as new.
pub fn is_new<T>(fields: &Arc<[T]>, seen: &mut VisitedTuples) -> bool {
    !is_shared(fields) || seen.insert(place(fields))
}

/// The address of fields.
pub fn place<T>(fields: &Arc<[T]>) -> usize {
    fields.as_ptr() as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_held_in_common_is_asked_once_until_something_changes() {
        let (once, asked) = (Once::<i32, i32>::default(), Cell::new(0));
        let ask = |fields: &Arc<[i32]>| {
            once.of(fields, || {
                asked.set(asked.get() + 1);
                fields.iter().sum()
            })
        };
        let fields: Arc<[i32]> = [1, 2].into();
        assert_eq!((ask(&fields), ask(&fields), asked.get()), (3, 3, 2));
        let other = fields.clone();
        assert_eq!((ask(&fields), ask(&other), asked.get()), (3, 3, 3));
        once.forget();
        assert_eq!((ask(&fields), ask(&other), asked.get()), (3, 3, 4));
        assert_eq!(once.of(&other, || panic!()), 3);
    }

    #[test]
    fn what_was_found_before_a_change_is_not_kept() {
        let (once, fields): (Once<i32, i32>, Arc<[i32]>) = (Once::default(), [1].into());
        let _other = fields.clone();
        let found = once.of(&fields, || {
            once.forget();
            1
        });
        assert_eq!((found, once.of(&fields, || 2), once.of(&fields, || 3)), (1, 2, 2));
    }

    #[test]
    fn a_set_of_places_is_a_set_however_many_there_are() {
        for vars in 1..4 * FEW {
            let (mut places, mut plainly) = (SmallSet::default(), FxHashSet::default());
            for place in (0..6 * FEW).map(|i| i * 7 % vars) {
                assert_eq!(places.insert(place), plainly.insert(place), "{place} of {vars}");
            }
            places.clear();
            assert!(places.insert(0) && !places.insert(0));
        }
    }
}
