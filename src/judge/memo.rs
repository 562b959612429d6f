//! A cache of the answers of judgements. It lasts as long as the outermost judgement. A pair of pairs of pairs has far
//! more parts than nodes in memory. The cache also prevents repeated comparisons of two deep trees that differ only at
//! the bottom.

use std::any::Any;
use std::cell::Cell;
use std::fmt;
use std::rc::Rc;
use std::sync::Arc;

use rustc_hash::FxHashMap;

use super::{Cx, is_shared, place};

/// The inputs of a judgement, as derivations show them.
pub trait JudgementInputs<T>: Sized {
    /// The inputs as texts.
    fn told(self) -> Vec<String>;

    /// Whether the same question may be asked again, so that its answer is kept.
    #[inline]
    fn may_recur(&self) -> bool {
        false
    }

    /// The kept answer, if there is one, and the key under which a new answer is kept.
    fn recall(&self, _: &'static str, _: &mut Memo) -> (Option<T>, Option<MemoKey>) {
        (None, None)
    }

    /// Keeps an answer.
    fn keep(&self, _: MemoKey, _: &mut Memo, _: &T) {}
}

impl<T, F: FnOnce() -> Vec<String>> JudgementInputs<T> for F {
    #[inline]
    fn told(self) -> Vec<String> {
        self()
    }
}

/// A tree in which tuples may be shared.
pub trait TreeFields: fmt::Display + Sized + 'static {
    /// The fields, if the tree is a tuple.
    fn fields(&self) -> Option<&Arc<[Self]>>;
}

/// The fields of two tuples.
type TuplePair<'t, A> = (&'t Arc<[A]>, &'t Arc<[A]>);

/// The question of a judgement about one or two trees, possibly at a place.
#[derive(Clone, Copy)]
pub struct MemoQuery<'t, A: TreeFields> {
    first: &'t A,
    second: Option<&'t A>,
    place: Option<&'t ScopeVersion>,
}

impl<'t, A: TreeFields> MemoQuery<'t, A> {
    /// A question about one tree.
    #[inline]
    pub fn of(tree: &'t A) -> MemoQuery<'t, A> {
        MemoQuery { first: tree, second: None, place: None }
    }

    /// A question about two trees.
    #[inline]
    pub fn both(first: &'t A, second: &'t A) -> MemoQuery<'t, A> {
        MemoQuery { first, second: Some(second), place: None }
    }

    /// The question at a place that affects the answer.
    #[inline]
    pub fn at(self, place: &'t ScopeVersion) -> MemoQuery<'t, A> {
        MemoQuery { place: Some(place), ..self }
    }

    /// The fields of both trees; for a single tree its fields twice. `None` if one of them is not a tuple.
    #[inline]
    fn fields(&self) -> Option<TuplePair<'t, A>> {
        let first = self.first.fields()?;
        Some((first, self.second.map_or(Some(first), A::fields)?))
    }

    /// The number of the place's present state. A new state gets its number here.
    fn state(&self, memo: &mut Memo) -> u64 {
        self.place.map_or(0, |place| place.number(memo))
    }
}

impl<A: TreeFields, T: Clone + 'static> JudgementInputs<T> for MemoQuery<'_, A> {
    fn told(self) -> Vec<String> {
        [Some(self.first), self.second].into_iter().flatten().map(A::to_string).collect()
    }

    // An unshared node is met as often as its owner, and the owner's answer is kept.
    #[inline]
    fn may_recur(&self) -> bool {
        self.fields().is_some_and(|(first, second)| is_shared(first) || is_shared(second))
    }

    fn recall(&self, judgement: &'static str, memo: &mut Memo) -> (Option<T>, Option<MemoKey>) {
        let Some((first, second)) = self.fields() else { return (None, None) };
        let key = MemoKey { judgement, state: self.state(memo), places: (place(first), place(second)) };
        (memo.found.get(&key).and_then(|kept| kept.found.downcast_ref::<T>()).cloned(), Some(key))
    }

    fn keep(&self, key: MemoKey, memo: &mut Memo, found: &T) {
        // The answer is kept only if the place has not changed since the question.
        if let Some((first, second)) = self.fields()
            && self.place.is_none_or(|place| place.is(key.state))
        {
            let lies = Rc::new((first.clone(), second.clone()));
            memo.found.insert(key, MemoEntry { found: Rc::new(found.clone()), _lies: lies });
        }
    }
}

/// The key of an answer: the judgement, the state of the place, and the addresses of the tuples.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct MemoKey {
    judgement: &'static str,
    state: u64,
    places: (usize, usize),
}

/// The version of the surroundings of judgements, as a unique number. A change of the surroundings gives a new number.
#[derive(Clone, Debug, Default)]
pub struct ScopeVersion(Cell<u64>);

impl ScopeVersion {
    /// Records a change that affects answers.
    #[inline]
    pub fn change(&self) {
        self.0.set(0);
    }

    fn number(&self, memo: &mut Memo) -> u64 {
        if self.0.get() == 0 {
            memo.states += 1;
            self.0.set(memo.states);
        }
        self.0.get()
    }

    fn is(&self, number: u64) -> bool {
        self.0.get() == number
    }
}

/// An answer together with its inputs. Keeping the inputs alive prevents other nodes from taking their addresses.
#[derive(Clone)]
struct MemoEntry {
    found: Rc<dyn Any>,
    _lies: Rc<dyn Any>,
}

/// The answers of judgements.
#[derive(Clone, Default)]
pub struct Memo {
    found: FxHashMap<MemoKey, MemoEntry>,
    /// The keys of further notes, in order.
    noted: Vec<MemoKey>,
    /// The pairs of nodes that an open comparison found to differ. The pair that is met next is last.
    differing: Vec<(usize, usize)>,
    /// The number of open judgements.
    open: u32,
    states: u64,
}

impl fmt::Debug for Memo {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Memo").field("found", &self.found.len()).finish_non_exhaustive()
    }
}

impl Memo {
    /// Begins a judgement. Returns the value to [end](Memo::end) it with.
    #[inline]
    pub(super) fn begin(&mut self) -> usize {
        self.open += 1;
        self.differing.len()
    }

    /// Ends a judgement. The outermost one clears the cache.
    #[inline]
    pub(super) fn end(&mut self, differing: usize) {
        self.open -= 1;
        self.differing.truncate(differing);
        if self.open == 0 && !self.found.is_empty() {
            self.found.clear();
            self.noted.clear();
        }
    }
}

impl Cx {
    /// Whether an open comparison has found that two nodes differ.
    #[inline]
    pub fn are_known_to_differ<T>(&mut self, first: &T, second: &T) -> bool {
        let (first, second) = (address(first), address(second));
        let known = self.memo.differing.last().is_some_and(|next| *next == (first, second) || *next == (second, first));
        if known {
            self.memo.differing.pop();
        }
        known
    }

    /// Notes, until the judgement ends, that these nodes differ. The pairs that are met first come last.
    pub fn note_differing(&mut self, pairs: impl IntoIterator<Item = (usize, usize)>) {
        if self.memo.open > 0 {
            self.memo.differing.extend(pairs);
        }
    }

    /// The number of notes. Passed to [forget](Cx::forget_notes), it removes later notes.
    pub fn notes(&self) -> usize {
        self.memo.noted.len()
    }

    /// Removes all notes after the first `since`.
    pub fn forget_notes(&mut self, since: usize) {
        for key in self.memo.noted.drain(since.min(self.memo.noted.len())..) {
            self.memo.found.remove(&key);
        }
    }

    /// Notes a fact about the object at an address until the outermost judgement ends. With `None` it removes the note.
    pub fn note_of<A: 'static, T: 'static>(&mut self, what: &'static str, of: &Arc<A>, found: Option<T>) {
        let key = note(what, of);
        match found {
            Some(found) if self.memo.open > 0 => {
                self.memo.noted.push(key);
                self.memo.found.insert(key, MemoEntry { found: Rc::new(found), _lies: Rc::new(of.clone()) });
            }
            Some(_) => {}
            None if self.memo.noted.is_empty() => {}
            None => drop(self.memo.found.remove(&key)),
        }
    }

    /// The fact noted about the object at an address.
    pub fn noted_of<A, T: Clone + 'static>(&self, what: &'static str, of: &Arc<A>) -> Option<T> {
        self.memo.found.get(&note(what, of))?.found.downcast_ref::<T>().cloned()
    }
}

fn note<A>(what: &'static str, of: &Arc<A>) -> MemoKey {
    let lies = Arc::as_ptr(of) as usize;
    MemoKey { judgement: what, state: 0, places: (lies, lies) }
}

/// The address of a node.
pub fn address<T>(node: &T) -> usize {
    std::ptr::from_ref(node) as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A tree for tests: a number, or a list of trees that may be shared.
    struct Numbers(Option<Arc<[Numbers]>>);

    impl fmt::Display for Numbers {
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str(if self.0.is_some() { "tuple" } else { "leaf" })
        }
    }

    impl TreeFields for Numbers {
        fn fields(&self) -> Option<&Arc<[Numbers]>> {
            self.0.as_ref()
        }
    }

    fn leaves(cx: &mut Cx, tree: &Numbers, place: &ScopeVersion, asked: &Cell<u32>) -> u32 {
        cx.judge("leaves", MemoQuery::of(tree).at(place), |cx| {
            asked.set(asked.get() + 1);
            let fields = tree.fields().map(|fields| fields.iter());
            fields.map_or(1, |mut fields| fields.by_ref().fold(0, |all, field| all + leaves(cx, field, place, asked)))
        })
    }

    fn twice(depth: usize) -> Numbers {
        (0..depth).fold(Numbers(None), |inner, _| Numbers(Some([Numbers(inner.0.clone()), inner].into())))
    }

    #[test]
    fn what_is_held_in_common_is_found_once_while_the_outermost_judgement_is_open() {
        let (tree, place, asked, mut cx) = (twice(20), ScopeVersion::default(), Cell::new(0), Cx::new());
        assert_eq!(leaves(&mut cx, &tree, &place, &asked), 1 << 20);
        assert!(asked.get() < 64, "{}", asked.get());
        assert!(cx.memo.found.is_empty() && cx.memo.open == 0);
        // A derivation repeats the judgement each time.
        asked.set(0);
        assert_eq!(leaves(&mut Cx::new().with_trace(), &twice(5), &place, &asked), 32);
        assert_eq!(asked.get(), 63);
    }

    #[test]
    fn what_was_found_before_the_place_changed_is_found_again() {
        let (pair, place, asked) = (twice(2), ScopeVersion::default(), Cell::new(0));
        Cx::new().judge("outermost", Vec::new, |cx| {
            let other = Numbers(pair.0.clone());
            let count = |cx: &mut Cx| {
                asked.set(0);
                leaves(cx, &other, &place, &asked);
                asked.get() > 0
            };
            assert!(count(cx) && !count(cx));
            place.change();
            assert!(count(cx) && !count(cx));
            true
        });
    }

    #[test]
    fn what_is_noted_is_forgotten_in_turn() {
        let (a, b) = (Arc::new(1), Arc::new(2));
        Cx::new().judge("outermost", Vec::new, |cx| {
            cx.note_of("name", &a, Some("a"));
            let since = cx.notes();
            cx.note_of("name", &b, Some("b"));
            assert_eq!((cx.noted_of("name", &a), cx.noted_of("name", &b)), (Some("a"), Some("b")));
            cx.forget_notes(since);
            assert_eq!((cx.noted_of("name", &a), cx.noted_of::<_, &str>("name", &b)), (Some("a"), None));
            cx.note_of::<_, &str>("name", &a, None);
            assert_eq!(cx.noted_of::<_, &str>("name", &a), None);
            true
        });
    }
}
