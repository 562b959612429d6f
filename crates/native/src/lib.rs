//! Machine code for nests of loops of `PrimFunc`s (`run --kernels native`), made by Cranelift when a nest is entered.
//!
//! The library hands over a [`LoopNest`]: loops with constant bounds around statements without branches, whose accesses
//! have affine positions. Nothing here is taken on trust: every position is proved to be inside of the memory once more
//! (`proof`), from the numbers that the code is made of. The code gives what the rounds in order give, bit for bit:
//!
//! * Each operation on float32 is computed in float32, which gives what float64, rounded, gives: sums, differences,
//!   products and quotients of two float32 in float64 have digits enough to be rounded again without harm. Only what is
//!   known to be a float32 is held as one (`classes`). Nothing is fused.
//! * If a round only combines an element with a value, the element stays in a register, and the loops in which it stays
//!   the same go inside; several elements are combined at once (`schedule`). Each element meets its values in order.

mod classes;
mod emit;
mod fold;
mod machine;
mod proof;
mod schedule;
mod values;

use relax_spec::value::{LoopMemory, LoopNest, MachineCode};

use classes::Classes;
use schedule::Schedule;

/// The compiler.
#[derive(Debug)]
pub struct Jit {
    /// A nest with fewer rounds is not compiled.
    pub fewest_rounds: u128,
}

/// The compiler of the command. A compilation takes about a millisecond, in which the nest runs some 100,000 rounds
/// without it.
pub static JIT: Jit = Jit { fewest_rounds: 200_000 };

impl MachineCode for Jit {
    fn fewest_rounds(&self) -> u128 {
        self.fewest_rounds
    }

    fn run(&self, nest: &LoopNest, memory: &mut [LoopMemory<'_>]) -> bool {
        let Some(proof) = proof::Proof::of(nest, memory) else { return false };
        let classes = Classes::of(nest, memory);
        let packed = classes.packed(nest, memory);
        let schedule = Schedule::of(nest, &classes, &packed);
        machine::compiled(proof, &classes, &packed, &schedule).is_some_and(|code| code.run(memory, &packed))
    }
}
