//! Matching arguments with parameters.

use std::rc::Rc;

use super::arithmetic::Arithmetic;
use super::code::{BufferCode, Int, LoweredFunction, ParamCode};
use super::error::{TirError, TirResult};
use super::memory::{BufferView, Memory, StridedDim, compact_strides};
use super::run::Machine;
use super::scalar::Repr;
use super::{TirArg, TirChoices};
use crate::grammar::{DataType, Name};
use crate::value::{Account, Scalar, Taken, Tensor};

/// A run on arguments.
pub(super) struct Bound {
    /// How it ended.
    pub result: TirResult<Option<Scalar>>,
    /// The sides that the choices of the program took.
    pub taken: Vec<Taken>,
}

/// Matches the arguments, runs the body, and writes the results back.
pub(super) fn run<N: Arithmetic>(
    program: &LoweredFunction,
    args: &[TirArg],
    fuel: &mut u64,
    account: &Rc<Account>,
    choices: &TirChoices,
) -> Bound {
    if program.params.len() != args.len() {
        let (expected, found) = (program.params.len(), args.len());
        return Bound { result: Err(Box::new(TirError::Arity { expected, found })), taken: Vec::new() };
    }
    let TirChoices { noise, kernels, .. } = choices;
    let mut machine = Machine::<N>::new(program, *fuel, account.clone(), noise.clone(), *kernels);
    machine.begun = noise.as_ref().map_or(0, |noise| noise.of_call());
    let mut tensors = Vec::new();
    let bound = bind(&mut machine, args, &mut tensors);
    let result = bound.and_then(|()| machine.run());
    *fuel = machine.fuel;
    for (tensor, memory) in tensors.into_iter().zip(&machine.memory) {
        memory.write_back(tensor);
    }
    Bound { result: result.map(|()| machine.returned), taken: machine.taken }
}

/// Fills the slots of the parameters. A tensor has one memory, even if it is passed several times.
pub(super) fn bind<'a, N: Arithmetic>(
    machine: &mut Machine<'_, N>,
    args: &'a [TirArg],
    tensors: &mut Vec<&'a Tensor>,
) -> TirResult<()> {
    let program = machine.program;
    let mut unbound: Vec<(usize, Name)> = program.shape_vars.clone();
    let mut buffers = Vec::new();
    for (param, arg) in program.params.iter().zip(args) {
        match (param, arg) {
            (ParamCode::Int { slot, name, dtype, repr }, TirArg::Scalar(value)) => {
                machine.ints[*slot] = int_argument(name, *dtype, *repr, *value)?;
            }
            (ParamCode::Float { slot, round, .. }, TirArg::Scalar(value)) => {
                machine.floats[*slot] = N::of_scalar(*value, *round);
            }
            (ParamCode::Buffer(buffer), TirArg::Tensor(tensor)) => buffers.push((buffer, tensor)),
            (ParamCode::Handle, _) => {}
            (ParamCode::Int { name, .. } | ParamCode::Float { name, .. }, TirArg::Tensor(_)) => {
                return Err(Box::new(TirError::Kind { param: name.clone(), expected: "scalar" }));
            }
            (ParamCode::Buffer(buffer), TirArg::Scalar(_)) => {
                return Err(Box::new(TirError::Kind { param: buffer.name.clone(), expected: "tensor" }));
            }
        }
    }
    // A dimension that is a single variable determines its value, before any other dimension is computed.
    for (buffer, tensor) in &buffers {
        solve(machine, buffer, tensor, &mut unbound)?;
    }
    if let Some((_, var)) = unbound.into_iter().next() {
        return Err(Box::new(TirError::Undetermined { var }));
    }
    for (buffer, tensor) in buffers {
        let memory = match tensors.iter().position(|known| known.same_as(tensor)) {
            Some(known) => known,
            None => {
                let held = machine.pay(tensor.len() as u128)?;
                tensors.push(tensor);
                machine.memory.push(Memory::of(tensor, held));
                tensors.len() - 1
            }
        };
        check(machine, buffer, tensor, memory)?;
    }
    Ok(())
}

fn int_argument(name: &Name, dtype: DataType, repr: Repr, value: Scalar) -> TirResult<i64> {
    let exact = match value {
        Scalar::Bool(b) => Some(i128::from(b)),
        Scalar::Int(i) => Some(i128::from(i)),
        Scalar::UInt(u) => Some(i128::from(u)),
        Scalar::Float(_) | Scalar::Ring(_) => None,
    };
    match exact.filter(|value| repr.holds(*value)) {
        Some(value) => Ok(repr.wrap(value as i64)),
        None => Err(Box::new(TirError::Range { param: name.clone(), value: value.to_string(), dtype })),
    }
}

/// Binds the variables that are alone in a dimension, stride or offset.
fn solve<N: Arithmetic>(
    machine: &mut Machine<'_, N>,
    buffer: &BufferCode,
    tensor: &Tensor,
    unbound: &mut Vec<(usize, Name)>,
) -> TirResult<()> {
    if buffer.dtype != tensor.dtype() {
        let (param, expected, found) = (buffer.name.clone(), buffer.dtype, tensor.dtype());
        return Err(Box::new(TirError::DataType { param, expected, found }));
    }
    let shape = tensor.shape();
    if buffer.shape.len() != shape.len() {
        let (name, expected, found) = (buffer.name.clone(), buffer.shape.len(), shape.len());
        return Err(Box::new(TirError::Rank { buffer: name, expected, found }));
    }
    let strides = compact_strides(shape);
    let dims = buffer.shape.iter().zip(shape.iter().copied());
    let strides = buffer.strides.iter().zip(strides);
    for (e, value) in dims.chain(strides).chain(buffer.offset.iter().map(|e| (e, 0))) {
        if let Int::Slot(slot) = e
            && let Some(index) = unbound.iter().position(|(unbound, _)| unbound == slot)
        {
            unbound.swap_remove(index);
            machine.ints[*slot] = value;
        }
    }
    Ok(())
}

/// Checks that a tensor fits the buffer, and makes the buffer a view of it.
fn check<'p, N: Arithmetic>(
    machine: &mut Machine<'p, N>,
    buffer: &'p BufferCode,
    tensor: &Tensor,
    memory: usize,
) -> TirResult<()> {
    let shape = tensor.shape();
    let strides = compact_strides(shape);
    for (dim, (expected, found)) in machine.values(&buffer.shape)?.into_iter().zip(shape).enumerate() {
        if expected != *found {
            let (buffer, found) = (buffer.name.clone(), *found);
            return Err(Box::new(TirError::Shape { buffer, dim, expected, found }));
        }
    }
    for (dim, (expected, found)) in machine.values(&buffer.strides)?.into_iter().zip(&strides).enumerate() {
        // The stride of a dimension with one element does not matter.
        if expected != *found && shape.get(dim).is_some_and(|extent| *extent > 1) {
            let (buffer, found) = (buffer.name.clone(), *found);
            return Err(Box::new(TirError::Stride { buffer, dim, expected, found }));
        }
    }
    if let Some(offset) = &buffer.offset {
        let expected = machine.int(offset)?;
        if expected != 0 {
            return Err(Box::new(TirError::Offset { buffer: buffer.name.clone(), expected, found: 0 }));
        }
    }
    let dims =
        shape.iter().zip(&strides).map(|(extent, stride)| StridedDim { extent: *extent, stride: *stride }).collect();
    machine.views[buffer.slot] = BufferView { memory, offset: 0, dims };
    Ok(())
}
