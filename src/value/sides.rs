//! The sides that the choices of a program take while it runs: which branch, which operand, how many rounds.

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
    /// Of two operands the first is taken, and the second is another.
    First,
    /// Of two operands the second is taken, and the first is another.
    Second,
    /// An element is below the bounds.
    Below,
    /// It is within them.
    Within,
    /// It is above them.
    Above,
    /// A loop has no round.
    Never,
    /// It has one.
    Once,
    /// It has several.
    Often,
}

impl Side {
    /// That of a condition.
    pub fn of_condition(holds: bool) -> Side {
        if holds { Side::Holds } else { Side::Fails }
    }

    /// That of a loop with so many rounds.
    pub fn of_rounds(rounds: u64) -> Side {
        match rounds {
            0 => Side::Never,
            1 => Side::Once,
            2.. => Side::Often,
        }
    }

    /// As a word, for machines.
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

/// Some sides of one choice.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Taken(u16);

impl Taken {
    /// One more.
    pub fn insert(&mut self, side: Side) {
        self.0 |= 1 << side as u16;
    }

    /// Whether it is one of them.
    pub fn contains(self, side: Side) -> bool {
        self.0 >> side as u16 & 1 == 1
    }
}

/// The sides that were taken, by the addresses of the choices: the program stays where it is meanwhile.
#[derive(Clone, Debug, Default)]
pub struct Sides(RefCell<HashMap<usize, Taken>>);

impl Sides {
    /// A choice took a side.
    pub fn take(&self, choice: usize, side: Side) {
        self.0.borrow_mut().entry(choice).or_default().insert(side);
    }

    /// A choice took these sides.
    pub fn take_all(&self, choice: usize, sides: Taken) {
        if sides != Taken::default() {
            self.0.borrow_mut().entry(choice).or_default().0 |= sides.0;
        }
    }

    /// Whether a choice took a side.
    pub fn took(&self, choice: usize, side: Side) -> bool {
        self.0.borrow().get(&choice).is_some_and(|sides| sides.contains(side))
    }

    /// How many sides were taken, of all choices.
    pub fn count(&self) -> u32 {
        self.0.borrow().values().map(|sides| sides.0.count_ones()).sum()
    }

    /// Forgets everything but what `earlier` knows.
    pub fn back_to(&self, earlier: &Sides) {
        self.0.borrow_mut().clone_from(&earlier.0.borrow());
    }
}

/// Where a node of a program is, which tells it from its equals.
pub fn address<T>(node: &T) -> usize {
    std::ptr::from_ref(node).addr()
}
