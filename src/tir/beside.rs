//! Which accesses happen beside each other.
//!
//! The rounds of a parallel, vectorized or thread-bound loop may be run in any order or at once, so they must not
//! depend on each other (`PRIMFUNC.LOOP.INDEPENDENT`): an element that one of them writes no other may touch. They are
//! run in order, and of each element it is kept in which round it was last written, and last read.
//!
//! A round is a node of a tree, under the round of the loop around. Two rounds are beside each other if where their
//! ways part they go into two rounds of one run of a loop; rounds of two runs come one after the other. Between two
//! barriers the threads of a block have a run of their own.

use super::memory::MemoryScope;

/// So many rounds are told apart; what comes after them counts as what is around them.
const MOST: usize = 1 << 22;
/// So many are kept where everything before has ended.
const ENDED: usize = 1 << 16;

/// No round: what is outside of all loops of this kind.
const OUTSIDE: u32 = 0;

/// A loop whose rounds may be run beside each other.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Beside {
    /// Tasks of the host.
    Tasks,
    /// The lanes of a vector.
    Lanes,
    /// The blocks of a device along an axis.
    Blocks(u8),
    /// The threads of a block along an axis.
    Threads(u8),
}

#[derive(Clone, Copy)]
struct Round {
    parent: u32,
    depth: u32,
    /// Which run of the loop it belongs to.
    run: u32,
    number: i64,
    of: Beside,
}

/// Where an element was last touched.
#[derive(Clone, Copy, Default)]
pub(super) struct Touches {
    written: u32,
    read: u32,
    /// The task that wrote it last, if another task has written it too, each in memory of its own.
    owner: u32,
}

/// The ways in which an access may violate the independence of rounds.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum RoundClash {
    /// Another round that may be run beside this one has touched the element, and one of the two writes it.
    Race,
    /// The memory is each thread's own, or each block's, and another one has written the element.
    Foreign,
}

/// The rounds that are told apart, and the one that is run.
#[derive(Default)]
pub(super) struct Rounds {
    /// The number of the first that is kept, less 1: all before it have ended.
    ended: u32,
    kept: Vec<Round>,
    current: u32,
    runs: u32,
}

impl Rounds {
    /// Whether a round is run.
    #[inline]
    pub fn inside(&self) -> bool {
        self.current != OUTSIDE
    }

    /// A run of a loop begins.
    pub fn begin(&mut self) -> u32 {
        if !self.inside() && self.kept.len() > ENDED {
            // Whatever was before it has ended.
            self.ended = self.ended.saturating_add(self.kept.len() as u32);
            self.kept.clear();
        }
        self.runs = self.runs.wrapping_add(1);
        self.runs
    }

    /// A round begins; gives the one around it, which is to be returned to.
    pub fn enter(&mut self, run: u32, number: i64, of: Beside) -> u32 {
        let around = self.current;
        if self.kept.len() < MOST && self.ended < u32::MAX - MOST as u32 {
            let depth = self.round(around).map_or(1, |round| round.depth + 1);
            self.kept.push(Round { parent: around, depth, run, number, of });
            self.current = self.ended + self.kept.len() as u32;
        }
        around
    }

    pub fn leave(&mut self, around: u32) {
        self.current = around;
    }

    /// A round that has not ended with everything around it.
    fn round(&self, id: u32) -> Option<&Round> {
        self.kept.get(id.checked_sub(self.ended + 1)? as usize)
    }

    /// An access in the round that is run; whether it clashes with the accesses before.
    pub fn touch(&self, touches: &mut Touches, scope: MemoryScope, write: bool) -> Option<RoundClash> {
        let before = *touches;
        if write {
            touches.owner = match self.parting(before.written) {
                Some((other, own)) if other.of == Beside::Tasks => own,
                Some(_) | None if self.is_within(before.owner) => before.owner,
                Some(_) | None => OUTSIDE,
            };
            touches.written = self.current;
        } else if !self.is_beside(before.read, scope) {
            touches.read = self.current;
        }
        if self.is_beside(before.written, scope) || write && self.is_beside(before.read, scope) {
            return Some(RoundClash::Race);
        }
        if write {
            return None;
        }
        // Behind the loop nobody can say whose memory is read.
        if before.owner != OUTSIDE && !self.is_within(before.owner) {
            return Some(RoundClash::Race);
        }
        self.foreign(before.written, scope)
    }

    /// Whether the round that is run is this one, or within it.
    fn is_within(&self, id: u32) -> bool {
        self.round(id).is_some()
            && std::iter::successors(Some(self.current), |id| Some(self.round(*id)?.parent)).any(|own| own == id)
    }

    /// Whether a round may be run beside the one that is, and shares memory of this scope with it.
    fn is_beside(&self, other: u32, scope: MemoryScope) -> bool {
        self.parting(other).is_some_and(|(x, _)| !scope.is_own(x.of))
    }

    /// Where the way to another round parts from the way to the one that is run: the other round of that loop, and the
    /// number of the own one. They are rounds of one run of the loop.
    fn parting(&self, other: u32) -> Option<(&Round, u32)> {
        let (mut a, mut b) = (other, self.current);
        if a == b {
            return None;
        }
        let (mut from_a, mut from_b) = (None, None);
        while let (Some(x), Some(y)) = (self.round(a), self.round(b)) {
            if x.depth >= y.depth {
                (from_a, a) = (Some(x), x.parent);
            }
            if y.depth >= x.depth {
                (from_b, b) = (Some((y, b)), y.parent);
            }
            if a == b {
                break;
            }
        }
        match (from_a, from_b) {
            (Some(x), Some((y, own))) => (x.depth == y.depth && a == b && x.run == y.run).then_some((x, own)),
            (Some(_), None) | (None, Some(_)) | (None, None) => None,
        }
    }

    /// The clash where another owner of memory of this scope has written the element. Tasks of different runs of a loop
    /// come one after the other; a thread and a block are the same in all loops.
    fn foreign(&self, writer: u32, scope: MemoryScope) -> Option<RoundClash> {
        if self.parting(writer).is_some_and(|(x, _)| x.of == Beside::Tasks) {
            return Some(RoundClash::Race);
        }
        let own = |id: u32| self.around(id).filter(|round| round.of != Beside::Tasks && scope.is_own(round.of));
        let is_foreign = own(writer).any(|x| own(self.current).any(|y| x.of == y.of && x.number != y.number));
        is_foreign.then_some(RoundClash::Foreign)
    }

    /// A round, and those around it.
    fn around(&self, id: u32) -> impl Iterator<Item = &Round> {
        std::iter::successors(self.round(id), |round| self.round(round.parent))
    }
}
