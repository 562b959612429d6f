//! Tables without duplicates.

use std::hash::Hash;

use rustc_hash::FxHashMap;

/// Values without duplicates, by index.
#[derive(Debug)]
pub(super) struct Pool<T> {
    pub(super) items: Vec<T>,
    known: FxHashMap<T, u32>,
}

impl<T: Clone + Eq + Hash> Pool<T> {
    pub(super) fn new() -> Pool<T> {
        Pool { items: Vec::new(), known: FxHashMap::default() }
    }

    pub(super) fn index_of(&mut self, item: T) -> u32 {
        let next = self.items.len() as u32;
        let index = *self.known.entry(item.clone()).or_insert(next);
        if index == next {
            self.items.push(item);
        }
        index
    }
}
