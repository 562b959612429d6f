//! The order of work: several workers ask about programs at once, but differences are handled one after the other, in
//! the order of the programs. So the findings depend neither on the speed nor on the number of the workers.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The number of a program, and of a difference in it.
type TurnPosition = (u64, usize);

/// The numbers that workers have received, and the differences that wait until it is their turn.
pub(super) struct Turns<T> {
    state: Mutex<TurnState<T>>,
}

struct TurnState<T> {
    next: u64,
    end: Option<u64>,
    open: BTreeSet<u64>,
    /// Numbers that a worker gave up before all questions were asked.
    undone: BTreeSet<u64>,
    waiting: BTreeMap<TurnPosition, T>,
    /// The difference that is being handled.
    taken: Option<TurnPosition>,
}

impl<T> Turns<T> {
    /// Numbers from `first` on, up to `end` if there is one.
    pub(super) fn new(first: u64, end: Option<u64>) -> Turns<T> {
        let state = TurnState {
            next: first,
            end,
            open: BTreeSet::new(),
            undone: BTreeSet::new(),
            waiting: BTreeMap::new(),
            taken: None,
        };
        Turns { state: Mutex::new(state) }
    }

    fn state(&self) -> MutexGuard<'_, TurnState<T>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The next number; none if there is no more.
    pub(super) fn begin(&self) -> Option<u64> {
        let mut state = self.state();
        let number = state.next;
        if state.end.is_some_and(|end| number >= end) {
            return None;
        }
        state.next += 1;
        state.open.insert(number);
        Some(number)
    }

    /// The program with this number is done, and showed these differences.
    pub(super) fn end(&self, number: u64, shown: Vec<T>) {
        let mut state = self.state();
        state.open.remove(&number);
        state.waiting.extend(shown.into_iter().enumerate().map(|(nth, shown)| ((number, nth), shown)));
    }

    /// Not all questions about the program with this number were asked. Its differences are handled, but it is not
    /// done.
    pub(super) fn give_up(&self, number: u64, shown: Vec<T>) {
        self.state().undone.insert(number);
        self.end(number, shown);
    }

    /// The next difference to be handled: none if an earlier program is in progress or another difference is being
    /// handled.
    pub(super) fn take(&self) -> Option<T> {
        let mut state = self.state();
        let (number, nth) = *state.waiting.keys().next()?;
        let is_ripe = state.taken.is_none() && state.open.first().is_none_or(|open| number < *open);
        if !is_ripe {
            return None;
        }
        state.taken = Some((number, nth));
        state.waiting.remove(&(number, nth))
    }

    /// The difference that was taken has been handled.
    pub(super) fn settled(&self) {
        self.state().taken = None;
    }

    /// The programs before this number are done, and all their differences have been handled.
    pub(super) fn done(&self) -> u64 {
        let state = self.state();
        let open = state.open.first().copied();
        let waiting = state.waiting.keys().next().map(|(number, _)| *number);
        let taken = state.taken.map(|(number, _)| number);
        let undone = state.undone.first().copied();
        [open, undone, waiting, taken].into_iter().flatten().min().unwrap_or(state.next)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_seen_first_does_not_come_first() {
        let turns = Turns::new(5, Some(8));
        assert_eq!([turns.begin(), turns.begin(), turns.begin(), turns.begin()], [Some(5), Some(6), Some(7), None]);
        turns.end(6, vec!["b", "c"]);
        assert_eq!(turns.take(), None);
        assert_eq!(turns.done(), 5);
        turns.end(5, vec!["a"]);
        assert_eq!(turns.take(), Some("a"));
        assert_eq!(turns.take(), None, "one at a time");
        assert_eq!(turns.done(), 5);
        turns.settled();
        assert_eq!((turns.take(), turns.done()), (Some("b"), 6));
        turns.settled();
        assert_eq!((turns.take(), turns.done()), (Some("c"), 6));
        turns.settled();
        assert_eq!((turns.take(), turns.done()), (None, 7));
        turns.end(7, Vec::new());
        assert_eq!(turns.done(), 8);
    }

    #[test]
    fn what_was_given_up_is_not_done() {
        let turns = Turns::new(0, None);
        assert_eq!([turns.begin(), turns.begin()], [Some(0), Some(1)]);
        turns.end(1, Vec::new());
        turns.give_up(0, vec!["a"]);
        assert_eq!(turns.take(), Some("a"), "what was found is kept");
        turns.settled();
        assert_eq!(turns.done(), 0, "and asked about again when the campaign goes on");
    }
}
