//! Random whole programs, well-typed by construction: the structural information of each variable is inferred when it
//! is bound, and calls are drawn among those that the variables in scope allow. A tape of choices determines a program,
//! and the choice zero is the simplest. So a seed reproduces a program, and a shorter tape gives a smaller one.
//!
//! In addition to its structural information, every tensor has example sizes, with which the program should run to its
//! end.

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
use relax_spec::grammar::{GlobalFunc, GlobalVar, IrModule, Name, ShapeVar};

/// How many choices a tape has for each binding of the program, and in addition.
const CHOICES: (usize, usize) = (24, 120);

/// The function to run of a program that was not drawn.
const MAIN: &str = "main";

/// The number of turns wraps around here.
const TURNS: u64 = 1 << 32;

/// A drawn program.
#[derive(Clone, PartialEq, Debug)]
pub struct Drawn {
    /// The program.
    pub module: IrModule,
    /// The functions that can be started, `main` last.
    pub entries: Vec<Name>,
    /// Sizes with which it should run to its end.
    pub sizes: BTreeMap<ShapeVar, i64>,
    /// The features that it may have.
    pub features: Features,
    /// The choices from which it was drawn.
    pub choices: Vec<u32>,
}

/// The tape of choices of two bytes each, the lower one first.
pub fn tape_of_bytes(bytes: &[u8]) -> Tape {
    let choice = |pair: &[u8]| pair.iter().rev().fold(0, |choice, byte| choice << 8 | u32::from(*byte));
    Tape::from_choices(bytes.chunks(2).map(choice).collect())
}

impl Drawn {
    /// A program that was not drawn: its example sizes are unknown, and it has no tape to shrink. `main` can be started
    /// first.
    pub(crate) fn given(module: IrModule) -> Drawn {
        let entry = |(gv, func): &(GlobalVar, GlobalFunc)| match func {
            GlobalFunc::Function(_) => Some(gv.name.clone()),
            GlobalFunc::PrimFunc(_) | GlobalFunc::ExternFunc(_) => None,
        };
        let mut entries: Vec<Name> = module.funcs.iter().filter_map(entry).collect();
        entries.sort_by_key(|name| &**name != MAIN);
        Drawn { module, entries, sizes: BTreeMap::new(), features: Features::ALL, choices: Vec::new() }
    }
}

impl ProgramSource {
    /// The program with a number.
    pub fn program(&self, seed: u64, number: u64) -> Drawn {
        let drawn = || draw::bindings_of(&mut Tape::numbered(seed, number, draw::SIZING));
        let bindings = self.restriction.exactly.unwrap_or_else(drawn);
        // The operators take turns, so that each is called soon.
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
