//! The reducer: passes give smaller candidates, and a loop takes those that still show the same.

mod bindings;
mod body;
mod program;
mod sizes;

pub use bindings::bindings;
pub(crate) use program::{Program, passes, rules_of};
pub(crate) use sizes::{fixed, remade, sizes_on};

use std::ops::Range;

/// The candidates of a pass, created lazily; none for a number without a candidate.
pub(crate) type Candidates<'t, T> = Box<dyn Iterator<Item = Option<T>> + 't>;

type CandidateSource<'p, T> = Box<dyn for<'t> Fn(&'t T, usize) -> Candidates<'t, T> + 'p>;

/// A way of making something smaller.
pub(crate) struct Pass<'p, T> {
    /// Its name, for people.
    name: &'static str,
    /// How many questions it leaves to the passes after it.
    leaves: usize,
    /// Its candidates, starting from a number.
    candidates: CandidateSource<'p, T>,
}

impl<'p, T: 'p> Pass<'p, T> {
    pub(crate) fn new(
        name: &'static str,
        candidates: impl for<'t> Fn(&'t T, usize) -> Candidates<'t, T> + 'p,
    ) -> Pass<'p, T> {
        Pass { name, leaves: 0, candidates: Box::new(candidates) }
    }

    /// All its candidates.
    pub(crate) fn all(&self, of: &T) -> Vec<T> {
        (self.candidates)(of, 0).flatten().collect()
    }

    /// The same pass, which leaves this many questions to the passes after it.
    pub(crate) fn leaving(self, leaves: usize) -> Pass<'p, T> {
        Pass { leaves, ..self }
    }

    /// The same pass on a value of which this is a part.
    pub(crate) fn lifted<W: 'p>(self, part: fn(&W) -> &T, with: fn(&W, T) -> W) -> Pass<'p, W>
    where
        T: 'static,
    {
        let Pass { name, leaves, candidates } = self;
        let lifted = Pass::new(name, move |whole: &W, from| {
            let of_part = candidates(part(whole), from);
            Box::new(of_part.map(move |other| other.map(|other| with(whole, other))))
        });
        lifted.leaving(leaves)
    }
}

/// Decides whether a candidate still shows the same.
pub(crate) trait Shows<T> {
    /// Why it can no longer be decided.
    type Error;
    /// The size of a candidate.
    type Size: Ord;

    fn size(&self, of: &T) -> Self::Size;

    /// How many questions may still be asked.
    fn left(&self) -> usize {
        usize::MAX
    }

    /// Returns the candidate, with the difference that it shows, if it shows the same as the best one so far.
    fn shows(&mut self, best: &T, candidate: T) -> Result<Option<T>, Self::Error>;

    /// Called when a candidate of the pass with this name is taken.
    fn takes(&mut self, _pass: &'static str) {}
}

/// Runs the passes until none of them makes `best` smaller, or no questions are left. The best candidate so far is kept
/// even if an error ends the loop.
///
/// After a success, a pass continues behind the candidate that was taken, so that halves are not tried again after
/// quarters.
pub(crate) fn shrink<T, S: Shows<T>>(best: &mut T, passes: &[Pass<'_, T>], by: &mut S) -> Result<(), S::Error> {
    let mut again = true;
    while std::mem::take(&mut again) {
        for pass in passes {
            let mut from = 0;
            while let Some((at, smaller)) = first(best, pass, from, by)? {
                by.takes(pass.name);
                (*best, from, again) = (smaller, at, true);
            }
        }
    }
    Ok(())
}

/// The first candidate, from a number on, that is smaller and shows the same, with its number.
fn first<T, S: Shows<T>>(
    best: &T,
    pass: &Pass<'_, T>,
    from: usize,
    by: &mut S,
) -> Result<Option<(usize, T)>, S::Error> {
    let size = by.size(best);
    for (at, candidate) in (from..).zip((pass.candidates)(best, from)) {
        if by.left() <= pass.leaves {
            break;
        }
        let Some(candidate) = candidate.filter(|candidate| by.size(candidate) < size) else { continue };
        if let Some(smaller) = by.shows(best, candidate)? {
            return Ok(Some((at, smaller)));
        }
    }
    Ok(None)
}

/// The ranges of a list of this length, from a number on: all of it, halves, quarters, and so on to single items, the
/// last range of each size first. The number of a range does not depend on the length.
pub(crate) fn halves(count: usize, from: usize) -> impl Iterator<Item = Range<usize>> {
    let last = if count == 0 { 0 } else { 2 * count.next_power_of_two() };
    (from + 1..last).map(move |number| {
        let parts = 1 << number.ilog2();
        let nth = 2 * parts - 1 - number;
        count * nth / parts..count * (nth + 1) / parts
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Shows a list while it contains 3 and 5, with this many questions left.
    struct HoldsBoth(usize);

    impl Shows<Vec<u32>> for HoldsBoth {
        type Error = ();
        type Size = usize;

        fn size(&self, of: &Vec<u32>) -> usize {
            of.len()
        }

        fn left(&self) -> usize {
            self.0
        }

        fn shows(&mut self, _: &Vec<u32>, candidate: Vec<u32>) -> Result<Option<Vec<u32>>, ()> {
            self.0 -= 1;
            Ok(Some(candidate).filter(|list| [3, 5].iter().all(|number| list.contains(number))))
        }
    }

    fn parts<'p>() -> Pass<'p, Vec<u32>> {
        Pass::new("parts", |list: &Vec<u32>, from| {
            Box::new(halves(list.len(), from).map(|range| {
                let kept = list.iter().enumerate().filter(|(at, _)| !range.contains(at));
                Some(kept.map(|(_, number)| *number).collect())
            }))
        })
    }

    #[test]
    fn the_parts_of_a_list_become_smaller() {
        let parts: Vec<Range<usize>> = halves(3, 0).collect();
        assert_eq!(parts, [0..3, 1..3, 0..1, 2..3, 1..2, 0..1, 0..0]);
        assert_eq!((halves(3, 2).next(), halves(0, 0).next(), halves(1, 0).count()), (Some(0..1), None, 1));
    }

    #[test]
    fn what_shows_it_is_left_or_what_there_are_questions_for() {
        let left = |questions, leaves| {
            let (mut list, mut holds) = ((0..64).collect::<Vec<u32>>(), HoldsBoth(questions));
            shrink(&mut list, &[parts().leaving(leaves)], &mut holds).unwrap();
            (list, holds.0)
        };
        assert_eq!(left(80, 0).0, [3, 5]);
        assert_eq!(left(2, 0), ((0..32).collect(), 0));
        assert_eq!(left(9, 7), ((0..32).collect(), 7));
    }
}
