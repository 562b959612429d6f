//! Random whole programs, well-typed by construction: what is known of each variable is inferred as it is bound, and
//! every call is drawn among those that what is in scope allows. One tape of choices gives one program, the choice zero
//! the simplest, so that a seed reproduces a program and a shorter tape is a smaller one.
//!
//! Beside its structural information every tensor has example sizes, at which the program is meant to run to its end.

mod apart;
mod bindings;
mod census;
mod control;
mod draw;
mod features;
mod further;
mod operators;
mod prim_funcs;
mod seeds;
mod source;
mod violations;

pub use apart::one_attribute_apart;
pub use census::ConstructCensus;
pub(crate) use census::add_counts;
pub use features::Features;
pub use seeds::Seeds;
pub use source::{ProgramSource, Restriction};

use std::collections::BTreeMap;

use crate::generate::Tape;
use relax_spec::grammar::{IrModule, Name, ShapeVar};

/// How many choices a tape has for each binding of the program, and beside.
const CHOICES: (usize, usize) = (24, 120);

/// Turns are counted up to here.
const TURNS: u64 = 1 << 32;

/// A program that was drawn.
#[derive(Clone, PartialEq, Debug)]
pub struct Drawn {
    /// The program.
    pub module: IrModule,
    /// The functions that can be started, `main` the last of them.
    pub entries: Vec<Name>,
    /// Sizes at which it is meant to run to its end.
    pub sizes: BTreeMap<ShapeVar, i64>,
    /// What it may contain.
    pub features: Features,
    /// The choices that it was made of.
    pub choices: Vec<u32>,
}

impl ProgramSource {
    /// The program with a number.
    pub fn program(&self, seed: u64, number: u64) -> Drawn {
        let drawn = || draw::bindings_of(&mut Tape::numbered(seed, number, draw::SIZING));
        let bindings = self.restriction.exactly.unwrap_or_else(drawn);
        // Each operator has its turn, so that none waits long.
        let mut choices = Tape::numbered(seed, number, CHOICES.0 * bindings + CHOICES.1).choices().to_vec();
        if let (Some(choice), Ok(turn)) = (choices.get_mut(draw::FEATURED), u32::try_from(number % TURNS)) {
            *choice = turn;
        }
        self.of_tape(Tape::from_choices(choices))
    }

    /// The program of a tape.
    pub fn of_tape(&self, mut tape: Tape) -> Drawn {
        draw::ProgramGenerator::new(self, &mut tape).program()
    }
}
