//! Running `PrimFunc`s.
//!
//! The meaning is that of the loops run in order. It is undefined if the iterations of a parallel, vectorized or
//! thread-bound loop depend on each other (`beside`). Threads wait for each other at a barrier (`threads`). A block
//! runs its `init` when all its reduction variables are at the start of their domains. Integers wrap around. Floats are
//! rounded to their data type after each operation. `and`, `or`, `T.Select` and `T.if_then_else` evaluate only the
//! operands that decide the result.
//!
//! A function is first lowered to a tree with numbers of slots in place of names, and then interpreted. Nests
//! of loops run many rounds at once (`nest`).

mod arithmetic;
mod beside;
mod bind;
mod code;
mod error;
mod lower;
mod memory;
mod nest;
mod region;
mod run;
mod scalar;
mod scanning;
mod sharing;
mod sorting;
mod threads;

use std::rc::Rc;

use crate::grammar::tir::PrimFunc;
use crate::number::ring::RingNumber;
use crate::value::{Account, Kernels, Noise, Scalar, SharedCalls, Side, Sides, Tensor, address};

pub use error::TirError;

/// An argument.
#[derive(Clone, Debug)]
pub enum TirArg {
    /// For a buffer: the tensor itself, not a copy, so that the function can write to it.
    Tensor(Tensor),
    /// For a scalar parameter.
    Scalar(Scalar),
}

impl TirArg {
    /// The tensor, if it is one.
    pub fn as_tensor(&self) -> Option<&Tensor> {
        if let TirArg::Tensor(tensor) = self { Some(tensor) } else { None }
    }
}

/// The default for the bytes that it may allocate.
const DEFAULT_MEMORY: u64 = 1 << 33;

/// The default for the number of statements and iterations that [`interpret`] runs.
pub const DEFAULT_FUEL: u64 = 1 << 28;

/// Runs `f` on `args`, inputs and outputs in the order of the parameters; results are in the tensors afterwards, also
/// after an error.
///
/// Arguments that are the same tensor are the same memory. OP.CALLTIR.DPS, OP.CALLTIR.RESULT-CHECK (002:1789).
///
/// # Errors
/// What keeps `f` from being run to its end, see [`TirError`].
pub fn interpret(f: &PrimFunc, args: &[TirArg]) -> Result<(), TirError> {
    let mut fuel = DEFAULT_FUEL;
    interpret_within(f, args, &mut fuel, &Account::new(DEFAULT_MEMORY), &TirChoices::default()).map(|_| ())
}

/// How a function is run.
#[derive(Clone, Default)]
pub struct TirChoices {
    /// With noise, floats that are rounded vary.
    pub noise: Option<Rc<Noise>>,
    /// Whether nests of loops may run in the fast way, which gives the same.
    pub kernels: Kernels,
    /// The record of the sides that choices take, and that the function ran.
    pub sides: Option<Rc<Sides>>,
    /// The results of calls that other runs have computed.
    pub shared: Option<Rc<SharedCalls>>,
}

/// [`interpret`] with limits: `fuel` for the statements and iterations, and the elements of arguments and allocations;
/// the rest remains in it. Allocations are charged to the account while the function runs. Returns the result of the
/// function.
pub fn interpret_within(
    f: &PrimFunc,
    args: &[TirArg],
    fuel: &mut u64,
    account: &Rc<Account>,
    choices: &TirChoices,
) -> Result<Option<Scalar>, TirError> {
    let (program, depth) = lower::lower(f, choices.sides.is_some())?;
    if let Some(sides) = &choices.sides {
        sides.take(address(f), Side::Holds);
    }
    // Evaluation recurses as deep as the tree.
    stacker::maybe_grow(depth * 4096 + 256 * 1024, depth * 4096 + 1024 * 1024, || {
        let ended = match account.ring() {
            None => sharing::run::<f64>(f, &program, args, fuel, account, choices),
            Some(_) => sharing::run::<RingNumber>(f, &program, args, fuel, account, choices),
        };
        ended.map_err(|error| *error)
    })
}

#[cfg(test)]
mod tests;
mod touched;
