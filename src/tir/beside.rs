//! Detects accesses that may happen at the same time.
//!
//! The iterations ("rounds") of a parallel, vectorized or thread-bound loop may run in any order or at once, so they
//! must not depend on each other (`PRIMFUNC.LOOP.INDEPENDENT`): no other round may access an element that one of them
//! writes. They run in order here, and for each element the rounds of the last write and of the last read are recorded.
//!
//! A round is a node of a tree; its parent is the round of the enclosing loop. Two rounds may run at once if their
//! paths from the root separate into two rounds of one run of a loop; two runs of a loop happen one after the other.
//! Between two barriers, the threads of a block have a run of their own.

use super::memory::MemoryScope;

/// The maximum number of rounds that are distinguished; further ones count as their enclosing round.
const MOST: usize = 1 << 22;
/// The maximum number of recorded rounds after all earlier ones have ended.
const ENDED: usize = 1 << 16;

/// Not a round: outside of all such loops.
const OUTSIDE: u32 = 0;

/// A loop whose rounds may run at once.
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
    /// The run of the loop that it belongs to.
    run: u32,
    number: i64,
    of: Beside,
}

/// The rounds that accessed an element last.
#[derive(Clone, Copy, Default)]
pub(super) struct Touches {
    written: u32,
    read: u32,
    /// The task that wrote it last, if another task also wrote it, each in its own memory.
    owner: u32,
}

/// The ways in which an access may violate the independence of rounds.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum RoundClash {
    /// Another round that may run at the same time has accessed the element, and one of the two writes it.
    Race,
    /// Each thread, or each block, has its own copy of the memory, and another one has written the element.
    Foreign,
}

/// All distinguished rounds, and the current one.
#[derive(Default)]
pub(super) struct Rounds {
    /// The number of the first recorded round, less 1: all earlier rounds have ended.
    ended: u32,
    kept: Vec<Round>,
    current: u32,
    runs: u32,
}

impl Rounds {
    /// Whether a round is running.
    #[inline]
    pub fn inside(&self) -> bool {
        self.current != OUTSIDE
    }

    /// Starts a run of a loop.
    pub fn begin(&mut self) -> u32 {
        if !self.inside() && self.kept.len() > ENDED {
            // All earlier rounds have ended.
            self.ended = self.ended.saturating_add(self.kept.len() as u32);
            self.kept.clear();
        }
        self.runs = self.runs.wrapping_add(1);
        self.runs
    }

    /// Starts a round. Returns the enclosing one, to return to it.
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

    /// A round that has been recorded.
    fn round(&self, id: u32) -> Option<&Round> {
        self.kept.get(id.checked_sub(self.ended + 1)? as usize)
    }

    /// Records an access of the current round. Returns whether it conflicts with earlier accesses.
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
        // After the loop it is unknown whose memory is read.
        if before.owner != OUTSIDE && !self.is_within(before.owner) {
            return Some(RoundClash::Race);
        }
        self.foreign(before.written, scope)
    }

    /// Whether the current round is this one, or inside of it.
    fn is_within(&self, id: u32) -> bool {
        self.round(id).is_some()
            && std::iter::successors(Some(self.current), |id| Some(self.round(*id)?.parent)).any(|own| own == id)
    }

    /// Whether a round may run at the same time as the current one, and shares memory of this scope with it.
    fn is_beside(&self, other: u32, scope: MemoryScope) -> bool {
        self.parting(other).is_some_and(|(x, _)| !scope.is_own(x.of))
    }

    /// Where the path to another round separates from the path to the current one: the round on the path to the other,
    /// and the number of the round on the own path. Both are rounds of one run of a loop.
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

    /// The conflict if another owner of memory of this scope has written the element. Tasks of different runs of a loop
    /// happen one after the other; threads and blocks are the same in all loops.
    fn foreign(&self, writer: u32, scope: MemoryScope) -> Option<RoundClash> {
        if self.parting(writer).is_some_and(|(x, _)| x.of == Beside::Tasks) {
            return Some(RoundClash::Race);
        }
        let own = |id: u32| self.around(id).filter(|round| round.of != Beside::Tasks && scope.is_own(round.of));
        let is_foreign = own(writer).any(|x| own(self.current).any(|y| x.of == y.of && x.number != y.number));
        is_foreign.then_some(RoundClash::Foreign)
    }

    /// A round, and those that enclose it.
    fn around(&self, id: u32) -> impl Iterator<Item = &Round> {
        std::iter::successors(self.round(id), |round| self.round(round.parent))
    }
}
