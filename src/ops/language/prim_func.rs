//! Running `PrimFunc`s, and what their errors mean to the program that calls them.

use std::ops::Range;

use crate::grammar::Name;
use crate::grammar::tir::{Param, PrimFunc};
use crate::ops::kernel::fail;
use crate::struct_info::returned_datatype;
use crate::tir::{TirArg, TirError, interpret_within};
use crate::value::{Host, PackedFunc, Poison, Prim, PrimFuncObj, Returned, Scalar, Stop, Tensor, Value};

/// Runs a `PrimFunc` on all of its arguments, of which those at `outputs` are destination buffers to be checked.
pub fn run_prim_func(m: &mut dyn Host, func: &PrimFuncObj, args: &[Value], outputs: Range<usize>) -> Result<(), Stop> {
    returned_by(m, func, args, outputs).map(|_| ())
}

/// Calls a packed function, to which the last `outputs` arguments are destinations.
/// It is a routine of the host, or a `PrimFunc`, which gives nothing.
pub fn run_packed_func(m: &mut dyn Host, f: &PackedFunc, args: &[Value], outputs: usize) -> Result<Returned, Stop> {
    match f {
        PackedFunc::Native(def) => def.call(m, args, outputs),
        PackedFunc::PrimFunc { func, .. } => run_prim_func(m, func, args, 0..0).map(|()| Returned::Nothing),
        PackedFunc::Unknown(name) => Err(Stop::unknown(format!("the packed function {name}"))),
    }
}

/// The value of a direct call.
///
/// Errata: M06, literally nothing; otherwise a number, if the function says that it returns one.
pub fn value_of_prim_func(m: &mut dyn Host, func: &PrimFuncObj, args: &[Value]) -> Result<Value, Stop> {
    let returned = returned_by(m, func, args, 0..0)?;
    let dtype = returned_datatype(m.cx(), &func.func);
    let number = dtype.zip(returned).map(|(dtype, value)| Value::Prim(Prim { dtype, value }));
    Ok(number.unwrap_or_else(Value::unit))
}

/// As [`run_prim_func`], with what the function returns.
fn returned_by(
    m: &mut dyn Host,
    func: &PrimFuncObj,
    args: &[Value],
    outputs: Range<usize>,
) -> Result<Option<Scalar>, Stop> {
    let args = args.iter().map(tir_arg).collect::<Option<Vec<TirArg>>>();
    let args = args.ok_or_else(|| fail(format!("@{} takes tensors and boxed scalars", func.name)))?;
    apart(func, &args)?;
    let poison: Vec<Option<Poison>> = args.iter().map(|arg| poison_of(m, arg)).collect();
    let mut fuel = m.fuel_left();
    let (account, sides) = (m.account().clone(), m.sides());
    let result = interpret_within(&func.func, &args, &mut fuel, &account, m.noise(), sides.as_deref());
    m.spend(m.fuel_left().saturating_sub(fuel))?;
    let misfit = result.as_ref().is_err_and(|error| is_misfit_of_output(&func.func, error, outputs));
    match result {
        Ok(value) => Ok(value),
        // OP.CALLTIR.RESULT-CHECK: what `f` produces does not fit what was asked for.
        Err(error) if misfit => result_misfit(m, format!("@{}: {error}", func.name)).map(|()| None),
        Err(TirError::Uninitialized { buffer, indices }) => {
            let known = read_of(func, &buffer, &poison).cloned();
            match known {
                Some(poison) => poison.check(m.cx()).map(|()| None),
                None => Err(tir_stop(func, &TirError::Uninitialized { buffer, indices })),
            }
        }
        Err(error) => match error.leaves_open() {
            Some((rule, n)) => m.cx().premise(rule, n, Err(tir_stop(func, &error))).map(|()| None),
            None => Err(tir_stop(func, &error)),
        },
    }
}

pub(in crate::ops) fn result_misfit(m: &mut dyn Host, message: String) -> Result<(), Stop> {
    let rule = rule!("OP.CALLTIR.RESULT-CHECK");
    m.cx().premise(rule, 1, Err(Stop::error(rule, message)))
}

/// Two buffers of a `PrimFunc` are different memory; nothing is said of what it does where they are not.
fn apart(func: &PrimFuncObj, args: &[TirArg]) -> Result<(), Stop> {
    let tensors: Vec<&Tensor> = args.iter().filter_map(TirArg::as_tensor).collect();
    let overlaps = |(i, x): (usize, &&Tensor)| tensors.iter().skip(i + 1).any(|y| x.overlaps(y));
    if tensors.iter().enumerate().any(overlaps) {
        return Err(Stop::unspecified(format!("@{} is given two tensors that lie in the same bytes", func.name)));
    }
    Ok(())
}

/// MEM.UNWRITTEN: what cannot be read of an argument; a function may be given what it only writes.
fn poison_of(m: &mut dyn Host, arg: &TirArg) -> Option<Poison> {
    arg.as_tensor()?.poison(|| m.account().place()).filter(|poison| !poison.is_none())
}

/// What cannot be read of the argument for a buffer, or of any argument where the buffer is no parameter itself.
fn read_of<'p>(func: &PrimFuncObj, buffer: &Name, poison: &'p [Option<Poison>]) -> Option<&'p Poison> {
    let own = func.func.params.iter().position(|param| param_name(param) == buffer);
    let own = own.and_then(|at| poison.get(at)?.as_ref());
    own.or_else(|| poison.iter().flatten().next())
}

fn tir_arg(value: &Value) -> Option<TirArg> {
    let tensor = value.as_tensor().map(|tensor| TirArg::Tensor(tensor.clone()));
    tensor.or_else(|| value.as_prim().map(|prim| TirArg::Scalar(prim.value)))
}

/// Whether an error says that one of the parameters at `outputs` is declared with another shape or data type than
/// the buffer has that it was given.
fn is_misfit_of_output(f: &PrimFunc, error: &TirError, outputs: Range<usize>) -> bool {
    let is_output = |name: &Name| {
        let params = f.params.iter().enumerate().filter(|(i, _)| outputs.contains(i));
        params.into_iter().any(|(_, param)| param_name(param) == name)
    };
    if let TirError::DataType { param, .. } | TirError::Kind { param, .. } | TirError::Range { param, .. } = error {
        is_output(param)
    } else if let TirError::Rank { buffer, .. } | TirError::Shape { buffer, .. } = error {
        is_output(buffer)
    } else {
        false
    }
}

fn param_name(param: &Param) -> &Name {
    match param {
        Param::Scalar(var) | Param::Handle(var) => &var.name,
        Param::Buffer(buffer) => &buffer.name,
    }
}

/// Arguments that do not fit and failed assertions are errors; what TIR leaves undefined is not specified, and what the
/// interpreter does not know is not known.
fn tir_stop(func: &PrimFuncObj, error: &TirError) -> Stop {
    let message = format!("@{}: {error}", func.name);
    match error {
        TirError::Arity { .. }
        | TirError::Kind { .. }
        | TirError::DataType { .. }
        | TirError::Range { .. }
        | TirError::Rank { .. }
        | TirError::Shape { .. }
        | TirError::Stride { .. }
        | TirError::Offset { .. }
        | TirError::Assert { .. } => fail(message),
        TirError::OutOfFuel => Stop::OutOfFuel,
        TirError::Undetermined { .. }
        | TirError::OutOfBounds { .. }
        | TirError::OutsideMemory { .. }
        | TirError::Uninitialized { .. }
        | TirError::Undeclared { .. }
        | TirError::Region { .. }
        | TirError::DivisionByZero { .. }
        | TirError::Shift { .. }
        | TirError::Cast { .. }
        | TirError::Step(_)
        | TirError::Alloc(_)
        | TirError::Race { .. }
        | TirError::Divergent
        | TirError::Assumption
        | TirError::Malformed(_) => Stop::Unspecified(message),
        TirError::Unsupported(what) => Stop::unknown(format!("{what}, in @{}", func.name)),
    }
}
