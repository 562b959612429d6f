//! The sides that the choices of a program take at run time: branches, operands, numbers of rounds.

use std::cell::RefCell;
use std::collections::HashMap;
use std::fmt;

/// A side of a choice.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Side {
    /// A condition holds.
    Holds,
    /// It does not.
    Fails,
    /// The first of two different operands is taken.
    First,
    /// The second of two different operands is taken.
    Second,
    /// An element is below the bounds.
    Below,
    /// It is within them.
    Within,
    /// It is above them.
    Above,
    /// A loop has no rounds.
    Never,
    /// A loop has one round.
    Once,
    /// A loop has several rounds.
    Often,
}

impl Side {
    /// The side of a condition.
    pub fn of_condition(holds: bool) -> Side {
        if holds { Side::Holds } else { Side::Fails }
    }

    /// The side of a loop with this many rounds.
    pub fn of_rounds(rounds: u64) -> Side {
        match rounds {
            0 => Side::Never,
            1 => Side::Once,
            2.. => Side::Often,
        }
    }

    /// The name, for machines.
    pub fn word(self) -> &'static str {
        match self {
            Side::Holds => "holds",
            Side::Fails => "fails",
            Side::First => "first",
            Side::Second => "second",
            Side::Below => "below",
            Side::Within => "within",
            Side::Above => "above",
            Side::Never => "never",
            Side::Once => "once",
            Side::Often => "often",
        }
    }
}

impl fmt::Display for Side {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Side::Holds => "whose condition holds",
            Side::Fails => "whose condition does not hold",
            Side::First => "that takes its first operand",
            Side::Second => "that takes its second operand",
            Side::Below => "of what is below its bounds",
            Side::Within => "of what is within its bounds",
            Side::Above => "of what is above its bounds",
            Side::Never => "without a round",
            Side::Once => "with one round",
            Side::Often => "with several rounds",
        })
    }
}

/// A set of sides of one choice.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Taken(u16);

impl Taken {
    /// Adds a side.
    pub fn insert(&mut self, side: Side) {
        self.0 |= 1 << side as u16;
    }

    /// Whether the set contains the side.
    pub fn contains(self, side: Side) -> bool {
        self.0 >> side as u16 & 1 == 1
    }
}

/// The sides taken so far, by the addresses of the choices. The program must not be moved meanwhile.
#[derive(Clone, Debug, Default)]
pub struct Sides(RefCell<HashMap<usize, Taken>>);

impl Sides {
    /// Records that a choice took a side.
    pub fn take(&self, choice: usize, side: Side) {
        self.0.borrow_mut().entry(choice).or_default().insert(side);
    }

    /// Records that a choice took these sides.
    pub fn take_all(&self, choice: usize, sides: Taken) {
        if sides != Taken::default() {
            self.0.borrow_mut().entry(choice).or_default().0 |= sides.0;
        }
    }

    /// Records all that is recorded in another set.
    pub fn join(&self, other: &Sides) {
        other.0.borrow().iter().for_each(|(choice, taken)| self.take_all(*choice, *taken));
    }

    /// Whether a choice took a side.
    pub fn took(&self, choice: usize, side: Side) -> bool {
        self.0.borrow().get(&choice).is_some_and(|sides| sides.contains(side))
    }

    /// The number of sides taken, over all choices.
    pub fn count(&self) -> u32 {
        self.0.borrow().values().map(|sides| sides.0.count_ones()).sum()
    }

    /// Forgets everything that is not in `earlier`.
    pub fn back_to(&self, earlier: &Sides) {
        self.0.borrow_mut().clone_from(&earlier.0.borrow());
    }
}

/// The address of a node of a program, which distinguishes it from equal nodes.
pub fn address<T>(node: &T) -> usize {
    std::ptr::from_ref(node).addr()
}
