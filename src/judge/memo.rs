//! What judgements have found, for as long as the outermost of them is asked: a pair of pairs of pairs has far more
//! parts than it occupies, and two deep trees that differ at the bottom are not to be compared anew at each level.

use std::any::Any;
use std::cell::Cell;
use std::fmt;
use std::rc::Rc;
use std::sync::Arc;

use rustc_hash::FxHashMap;

use super::{Cx, is_shared, place};

/// What a judgement is asked about, as derivations tell it.
pub trait JudgementInputs<T>: Sized {
    /// As written.
    fn told(self) -> Vec<String>;

    /// Whether this may be asked more than once, so that what is found is kept.
    #[inline]
    fn may_recur(&self) -> bool {
        false
    }

    /// What was found before, and what to keep it by.
    fn recall(&self, _: &'static str, _: &mut Memo) -> (Option<T>, Option<MemoKey>) {
        (None, None)
    }

    /// Keeps what was found.
    fn keep(&self, _: MemoKey, _: &mut Memo, _: &T) {}
}

impl<T, F: FnOnce() -> Vec<String>> JudgementInputs<T> for F {
    #[inline]
    fn told(self) -> Vec<String> {
        self()
    }
}

/// A tree in which several may hold a tuple in common.
pub trait TreeFields: fmt::Display + Sized + 'static {
    /// The fields, if it is a tuple.
    fn fields(&self) -> Option<&Arc<[Self]>>;
}

/// The fields of two tuples.
type TuplePair<'t, A> = (&'t Arc<[A]>, &'t Arc<[A]>);

/// One or two trees that a judgement is asked about, anywhere or at a place.
#[derive(Clone, Copy)]
pub struct MemoQuery<'t, A: TreeFields> {
    first: &'t A,
    second: Option<&'t A>,
    place: Option<&'t ScopeVersion>,
}

impl<'t, A: TreeFields> MemoQuery<'t, A> {
    /// One tree.
    #[inline]
    pub fn of(tree: &'t A) -> MemoQuery<'t, A> {
        MemoQuery { first: tree, second: None, place: None }
    }

    /// Two trees.
    #[inline]
    pub fn both(first: &'t A, second: &'t A) -> MemoQuery<'t, A> {
        MemoQuery { first, second: Some(second), place: None }
    }

    /// The same at a place on which the answer depends.
    #[inline]
    pub fn at(self, place: &'t ScopeVersion) -> MemoQuery<'t, A> {
        MemoQuery { place: Some(place), ..self }
    }

    /// The fields of both, of one alone twice; `None` where one is no tuple.
    #[inline]
    fn fields(&self) -> Option<TuplePair<'t, A>> {
        let first = self.first.fields()?;
        Some((first, self.second.map_or(Some(first), A::fields)?))
    }

    /// How the place is now: its number, which it is given here.
    fn state(&self, memo: &mut Memo) -> u64 {
        self.place.map_or(0, |place| place.number(memo))
    }
}

impl<A: TreeFields, T: Clone + 'static> JudgementInputs<T> for MemoQuery<'_, A> {
    fn told(self) -> Vec<String> {
        [Some(self.first), self.second].into_iter().flatten().map(A::to_string).collect()
    }

    // What one holder has is met as often as that one, of whom the same is known.
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
        // Something may have changed meanwhile on which the answer depends.
        if let Some((first, second)) = self.fields()
            && self.place.is_none_or(|place| place.is(key.state))
        {
            let lies = Rc::new((first.clone(), second.clone()));
            memo.found.insert(key, MemoEntry { found: Rc::new(found.clone()), _lies: lies });
        }
    }
}

/// What something that was found is known by: the judgement, how the place was, and where the tuples lie.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct MemoKey {
    judgement: &'static str,
    state: u64,
    places: (usize, usize),
}

/// How the surroundings of judgements are, by a number that no others have; they get another one when they change.
#[derive(Clone, Debug, Default)]
pub struct ScopeVersion(Cell<u64>);

impl ScopeVersion {
    /// Something has changed on which answers depend.
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

/// Something that was found, and what it was found of, so that nothing else comes to lie there.
#[derive(Clone)]
struct MemoEntry {
    found: Rc<dyn Any>,
    _lies: Rc<dyn Any>,
}

/// What judgements have found.
#[derive(Clone, Default)]
pub struct Memo {
    found: FxHashMap<MemoKey, MemoEntry>,
    /// What was noted beside that, in order.
    noted: Vec<MemoKey>,
    /// The pairs of nodes of which an open comparison has found that they differ; those that are met next are last.
    differing: Vec<(usize, usize)>,
    /// How many judgements are open.
    open: u32,
    states: u64,
}

impl fmt::Debug for Memo {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Memo").field("found", &self.found.len()).finish_non_exhaustive()
    }
}

impl Memo {
    /// A judgement begins; what to [end](Memo::end) it with.
    #[inline]
    pub(super) fn begin(&mut self) -> usize {
        self.open += 1;
        self.differing.len()
    }

    /// A judgement ends. With the outermost everything is forgotten.
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

    /// Notes until the judgement ends which nodes differ, those that are met first last.
    pub fn note_differing(&mut self, pairs: impl IntoIterator<Item = (usize, usize)>) {
        if self.memo.open > 0 {
            self.memo.differing.extend(pairs);
        }
    }

    /// How much is noted, so as to [forget](Cx::forget_notes) what is noted from here on.
    pub fn notes(&self) -> usize {
        self.memo.noted.len()
    }

    /// Forgets what was noted since there were so many notes.
    pub fn forget_notes(&mut self, since: usize) {
        for key in self.memo.noted.drain(since.min(self.memo.noted.len())..) {
            self.memo.found.remove(&key);
        }
    }

    /// Notes something of what lies at a place, or that there is nothing to note of it, until the outermost judgement
    /// ends.
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

    /// What was noted of what lies at a place.
    pub fn noted_of<A, T: Clone + 'static>(&self, what: &'static str, of: &Arc<A>) -> Option<T> {
        self.memo.found.get(&note(what, of))?.found.downcast_ref::<T>().cloned()
    }
}

fn note<A>(what: &'static str, of: &Arc<A>) -> MemoKey {
    let lies = Arc::as_ptr(of) as usize;
    MemoKey { judgement: what, state: 0, places: (lies, lies) }
}

/// Where a node lies.
pub fn address<T>(node: &T) -> usize {
    std::ptr::from_ref(node) as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A tree for tests: a number, or numbers that several may hold in common.
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
        // A derivation shows each time.
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
