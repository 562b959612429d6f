//! Calls that other runs have computed are not computed again. They leave the same: elements, steps, sides, noise.

use std::rc::Rc;

use super::arithmetic::Arithmetic;
use super::bind::{self, Bound};
use super::code::LoweredFunction;
use super::error::TirResult;
use super::{TirArg, TirChoices};
use crate::grammar::tir::PrimFunc;
use crate::number::real::ConstantReading;
use crate::value::{
    Account, NoiseMarks, Scalar, SharedArg, SharedCall, SharedKey, Taken, Tensor, TensorContents, to_share,
};

/// Calls on fewer elements are computed again: to look them up takes as long.
const FEWEST: usize = if cfg!(test) { 1 } else { 1 << 12 };

/// Runs a function, or takes the result of an equal call.
pub(super) fn run<N: Arithmetic>(
    f: &PrimFunc,
    program: &LoweredFunction,
    args: &[TirArg],
    fuel: &mut u64,
    account: &Rc<Account>,
    choices: &TirChoices,
) -> TirResult<Option<Scalar>> {
    let sharing = choices.shared.as_ref().and_then(|shared| Some((shared, key(args, account, choices)?)));
    let Some((shared, key)) = sharing else {
        let Bound { result, taken } = bind::run::<N>(program, args, fuel, account, choices);
        note(program, &taken, choices);
        return result;
    };
    let (f, steps) = (to_share(f), *fuel);
    if let Some(call) = shared.get(&f, &key, steps) {
        *fuel = steps - call.steps;
        return Ok(repeated(program, args, call, choices));
    }
    let marks = choices.noise.as_ref().map(|noise| noise.marks());
    choices.noise.iter().for_each(|noise| noise.back_to(NoiseMarks::default()));
    let Bound { result, taken } = bind::run::<N>(program, args, fuel, account, choices);
    note(program, &taken, choices);
    let noise = choices.noise.as_ref().map(|noise| (noise.marks(), noise.place()));
    if let (Some(noise), Some(marks)) = (&choices.noise, marks) {
        noise.back_to(noise.marks().or(marks));
    }
    let returned = result?;
    if let Some(written) = written(&key, args) {
        let steps = steps - *fuel;
        shared.insert(&f, key, SharedCall { written, returned, steps, taken, noise });
    }
    Ok(returned)
}

/// What the result of a call depends on; `None` if it is not shared. Arguments that are the same memory are not.
fn key(args: &[TirArg], account: &Account, choices: &TirChoices) -> Option<SharedKey> {
    let tensors: Vec<&Tensor> = args.iter().filter_map(TirArg::as_tensor).collect();
    let is_alone = |(i, tensor): (usize, &&Tensor)| !tensors.iter().skip(i + 1).any(|other| other.same_as(tensor));
    if !tensors.iter().enumerate().all(is_alone) || tensors.iter().map(|tensor| tensor.len()).sum::<usize>() < FEWEST {
        return None;
    }
    let arg = |arg: &TirArg| match arg {
        TirArg::Tensor(tensor) => SharedArg::of_tensor(tensor),
        TirArg::Scalar(value) => SharedArg::of_scalar(*value),
    };
    let args = args.iter().map(arg).collect::<Option<Vec<_>>>()?;
    let ring = account.ring().map(|reading| reading == ConstantReading::Simplest);
    Some(SharedKey {
        args,
        noise: choices.noise.as_ref().map(|noise| noise.key()),
        ring,
        notes: choices.sides.is_some(),
    })
}

/// The arguments that have other elements after the call; `None` if some elements of one have no value.
fn written(key: &SharedKey, args: &[TirArg]) -> Option<Vec<(usize, Rc<TensorContents>)>> {
    let mut written = Vec::new();
    for (i, (before, arg)) in key.args.iter().zip(args).enumerate() {
        let TirArg::Tensor(tensor) = arg else { continue };
        let after = SharedArg::of_tensor(tensor)?;
        if after != *before {
            written.push((i, tensor.contents()));
        }
    }
    Some(written)
}

/// Leaves what an equal call left.
fn repeated(program: &LoweredFunction, args: &[TirArg], call: SharedCall, choices: &TirChoices) -> Option<Scalar> {
    for (i, contents) in call.written {
        if let Some(TirArg::Tensor(tensor)) = args.get(i) {
            tensor.take_contents(contents);
        }
    }
    note(program, &call.taken, choices);
    if let (Some(noise), Some((marks, place))) = (&choices.noise, call.noise) {
        noise.back_to(noise.marks().or(marks));
        noise.go_to(place);
    }
    call.returned
}

/// Records the sides that the choices took.
fn note(program: &LoweredFunction, taken: &[Taken], choices: &TirChoices) {
    if let Some(sides) = &choices.sides {
        program.choices.iter().zip(taken).for_each(|(choice, taken)| sides.take_all(*choice, *taken));
    }
}
