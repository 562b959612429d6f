//! What is found out of tuples that several hold in common, so that each of them is gone through once: a pair of pairs of pairs has
//! far more parts than it occupies.

use std::cell::{Cell, OnceCell, RefCell};
use std::hash::Hash;
use std::sync::Arc;

use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::SmallVec;

type HeldPair<T> = (Arc<[T]>, Arc<[T]>);

type OnceEntries<T, V> = FxHashMap<(usize, usize), (HeldPair<T>, V)>;

/// What is known of tuples, or of pairs of them, by where they lie. They are kept, so that no other comes to lie in their place.
/// Nearly always nothing is held in common, and then there is nothing here.
#[derive(Debug)]
pub struct Once<T, V> {
    kept: OnceCell<Box<OnceTable<T, V>>>,
}

#[derive(Debug)]
struct OnceTable<T, V> {
    known: RefCell<OnceEntries<T, V>>,
    /// How often something has changed on which the answers depend.
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
    /// What `find` says of a tuple, which is asked only if it has not said it before.
    pub fn of(&self, fields: &Arc<[T]>, find: impl FnOnce() -> V) -> V {
        self.of_both(fields, fields, find)
    }

    /// What `find` says of a pair of tuples.
    #[inline]
    pub fn of_both(&self, fields1: &Arc<[T]>, fields2: &Arc<[T]>, find: impl FnOnce() -> V) -> V {
        // What one holder has is met as often as that one, of whom the same is known.
        if !is_shared(fields1) && !is_shared(fields2) {
            return find();
        }
        self.kept.get_or_init(Box::default).of_both(fields1, fields2, find)
    }

    /// Something has changed on which the answers depend.
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

/// Whether fields may be met more than once, for more than one holds them; of none there is nothing to know.
pub fn is_shared<T>(fields: &Arc<[T]>) -> bool {
    Arc::strong_count(fields) > 1 && !fields.is_empty()
}

/// The tuples that others hold as well and that were gone through, by where they lie.
pub type VisitedTuples = SmallSet<usize>;

/// So many places are sooner looked through than hashed.
const FEW: usize = 4;

/// A set of places. There are few of them nearly always.
#[derive(Clone, Debug)]
pub struct SmallSet<T> {
    few: SmallVec<[T; FEW]>,
    /// All of them, if they are more than a few.
    many: FxHashSet<T>,
}

impl<T> Default for SmallSet<T> {
    fn default() -> SmallSet<T> {
        SmallSet { few: SmallVec::new(), many: FxHashSet::default() }
    }
}

impl<T: Eq + Hash> SmallSet<T> {
    /// Adds a place; whether it is a new one.
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

    /// None from here on.
    pub fn clear(&mut self) {
        self.few.clear();
        self.many.clear();
    }
}

/// Whether it is the first time that a tuple is gone through, or may be.
pub fn is_new<T>(fields: &Arc<[T]>, seen: &mut VisitedTuples) -> bool {
    !is_shared(fields) || seen.insert(place(fields))
}

/// Where fields lie.
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
