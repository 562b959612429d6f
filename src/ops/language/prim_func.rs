//! Runs `PrimFunc`s and translates their errors for the calling program.

use std::ops::Range;

use crate::book::Erratum;
use crate::grammar::tir::{Expr, Param, PrimFunc, Stmt};
use crate::grammar::{DataType, Name};
use crate::judge::with_stack;
use crate::ops::kernel::fail;
use crate::ops::{applied, inspection};
use crate::struct_info::returned_datatype;
use crate::tir::{TirArg, TirChoices, TirError, interpret_within};
use crate::value::{Host, PackedFunc, Poison, Prim, PrimFuncObj, Returned, Scalar, Stop, Tensor, Value};

/// Runs a `PrimFunc` on all its arguments. Those at `outputs` are destination buffers, which are checked.
pub fn run_prim_func(m: &mut dyn Host, func: &PrimFuncObj, args: &[Value], outputs: Range<usize>) -> Result<(), Stop> {
    returned_by(m, func, args, outputs).map(|_| ())
}

/// Calls a packed function whose last `outputs` arguments are destinations. It is a routine of the host, or a
/// `PrimFunc`, which returns nothing.
pub fn run_packed_func(m: &mut dyn Host, f: &PackedFunc, args: &[Value], outputs: usize) -> Result<Returned, Stop> {
    match f {
        PackedFunc::Native(def) => def.call(m, args, outputs),
        PackedFunc::PrimFunc { func, .. } => run_prim_func(m, func, args, 0..0).map(|()| Returned::Nothing),
        PackedFunc::Unknown(name) => Err(Stop::unknown(format!("the packed function {name}"))),
    }
}

/// The value of a direct call. Of a function that reads the representation of a tensor, it is that of the operator for
/// which TVM makes it: the representation is no memory that a body could read here.
///
/// Errata: M06. Read literally, there is none. Otherwise it is a number, if the function declares a result.
pub fn value_of_prim_func(m: &mut dyn Host, func: &PrimFuncObj, args: &[Value]) -> Result<Value, Stop> {
    let dtype = returned_datatype(m.cx(), &func.func);
    let returned = match (returned_by(m, func, args, 0..0), inspection(&func.name)) {
        (Err(Stop::Unknown(_)), Some(operator)) => match applied(m, operator, args)? {
            Value::Prim(Prim { value, .. }) => Some(value),
            value => return Ok(value),
        },
        (returned, _) => returned?,
    };
    let number = dtype.zip(returned).map(|(dtype, value)| Value::Prim(number_of(dtype, value)));
    Ok(number.unwrap_or_else(Value::unit))
}

/// A number of the data type that a function declares. The operator that a function stands for may have another.
fn number_of(dtype: DataType, value: Scalar) -> Prim {
    match value {
        Scalar::Int(number) => Prim::integer(dtype, number),
        Scalar::UInt(number) => Prim::integer(dtype, number as i64),
        Scalar::Bool(truth) => Prim::integer(dtype, i64::from(truth)),
        value @ (Scalar::Float(_) | Scalar::Ring(_)) => Prim { dtype, value },
    }
}

/// As [`run_prim_func`], with the returned value.
fn returned_by(
    m: &mut dyn Host,
    func: &PrimFuncObj,
    args: &[Value],
    outputs: Range<usize>,
) -> Result<Option<Scalar>, Stop> {
    let args = args.iter().map(tir_arg).collect::<Option<Vec<TirArg>>>();
    let args = args.ok_or_else(|| fail(format!("@{} takes tensors and boxed scalars", func.name)))?;
    apart(func, &args)?;
    order_of_nan(m, func, &args)?;
    let poison: Vec<Option<Poison>> = args.iter().map(|arg| poison_of(m, arg)).collect();
    let mut fuel = m.fuel_left();
    let account = m.account().clone();
    let choices = TirChoices { noise: m.noise(), kernels: m.kernels(), sides: m.sides(), shared: m.shared() };
    let result = interpret_within(&func.func, &args, &mut fuel, &account, &choices);
    m.spend(m.fuel_left().saturating_sub(fuel))?;
    let misfit = result.as_ref().is_err_and(|error| is_misfit_of_output(&func.func, error, outputs));
    match result {
        Ok(value) => Ok(value),
        // OP.CALLTIR.RESULT-CHECK: the result of `f` does not match the requested one.
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

/// Different buffers of a `PrimFunc` must be different memory, as far as it writes to one of them. Otherwise its
/// behaviour is unspecified.
fn apart(func: &PrimFuncObj, args: &[TirArg]) -> Result<(), Stop> {
    let buffers: Vec<(&Name, &Tensor)> = func
        .func
        .params
        .iter()
        .map(param_name)
        .zip(args)
        .filter_map(|(name, arg)| Some((name, arg.as_tensor()?)))
        .collect();
    let writes = |name: &Name| may_write(&func.func.body, name);
    let clashes = |(i, (own, x)): (usize, &(&Name, &Tensor))| {
        let others = buffers.iter().skip(i + 1);
        others.filter(|(_, y)| x.overlaps(y)).any(|(other, _)| writes(own) || writes(other))
    };
    if buffers.iter().enumerate().any(clashes) {
        return Err(Stop::unspecified(format!("@{} is given two tensors that lie in the same bytes", func.name)));
    }
    Ok(())
}

/// The packed functions that sort do what the operators do.
///
/// Errata: A77, literally nothing is said of the place of NaN in an order.
fn order_of_nan(m: &mut dyn Host, func: &PrimFuncObj, args: &[TirArg]) -> Result<(), Stop> {
    let is_nan = |tensor: &Tensor, at: usize| matches!(tensor.get(at), Some(Scalar::Float(x)) if x.is_nan());
    let holds_nan = |arg: &TirArg| arg.as_tensor().is_some_and(|x| (0..x.len()).any(|at| is_nan(x, at)));
    if m.cx().literal(Erratum::A77) && sorts(&func.func.body) && args.iter().any(holds_nan) {
        return Err(Stop::unspecified(format!("the place of NaN in an order, in @{}", func.name)));
    }
    Ok(())
}

/// Whether statements call a packed function that sorts.
fn sorts(stmts: &[Stmt]) -> bool {
    stmts.iter().any(|stmt| {
        with_stack(|| match stmt {
            Stmt::For(f) => sorts(&f.body),
            Stmt::While(w) => sorts(&w.body),
            Stmt::Block(b) => b.init.iter().any(|init| sorts(init)) || sorts(&b.body),
            Stmt::If(i) => sorts(&i.then) || sorts(&i.otherwise),
            Stmt::Attr(a) => sorts(&a.body),
            Stmt::LaunchThread(l) => sorts(&l.body),
            Stmt::Evaluate(Expr::Extern(call)) => matches!(call.args.first(), Some(Expr::Str(name)) if is_sort(name)),
            Stmt::Store(_) | Stmt::Let(_) | Stmt::Decl(_) | Stmt::Evaluate(_) => false,
            Stmt::Alloc(_) | Stmt::Assert(_) | Stmt::Break | Stmt::Continue => false,
        })
    })
}

fn is_sort(name: &str) -> bool {
    name.starts_with("tvm.contrib.sort.") || name == "tvm.contrib.thrust.sort"
}

/// Whether a function may write to the buffer of a parameter. It may write to one that it does not have.
pub(super) fn may_write_param(func: &PrimFunc, nth: usize) -> bool {
    func.params.get(nth).map(param_name).is_none_or(|name| may_write(&func.body, name))
}

/// Whether statements may write to a buffer: they store to it, or memory may get another name in them.
fn may_write(stmts: &[Stmt], buffer: &Name) -> bool {
    stmts.iter().any(|stmt| {
        with_stack(|| match stmt {
            Stmt::For(f) => may_write(&f.body, buffer),
            Stmt::While(w) => may_write(&w.body, buffer),
            Stmt::Block(b) => {
                let init = b.init.iter().any(|init| may_write(init, buffer));
                init || !b.matches.is_empty() || may_write(&b.body, buffer)
            }
            Stmt::If(i) => may_write(&i.then, buffer) || may_write(&i.otherwise, buffer),
            Stmt::Store(s) => s.buffer.name == *buffer,
            Stmt::Attr(a) => may_write(&a.body, buffer),
            Stmt::LaunchThread(l) => may_write(&l.body, buffer),
            Stmt::Let(_) | Stmt::Decl(_) | Stmt::Evaluate(_) => true,
            Stmt::Alloc(_) | Stmt::Assert(_) | Stmt::Break | Stmt::Continue => false,
        })
    })
}

/// MEM.UNWRITTEN: the unreadable parts of an argument. They are allowed in arguments that a function only writes.
fn poison_of(m: &mut dyn Host, arg: &TirArg) -> Option<Poison> {
    arg.as_tensor()?.poison(|| m.account().place()).filter(|poison| !poison.is_none())
}

/// The unreadable parts of the argument for a buffer. If the buffer is not a parameter, those of any argument.
fn read_of<'p>(func: &PrimFuncObj, buffer: &Name, poison: &'p [Option<Poison>]) -> Option<&'p Poison> {
    let own = func.func.params.iter().position(|param| param_name(param) == buffer);
    let own = own.and_then(|at| poison.get(at)?.as_ref());
    own.or_else(|| poison.iter().flatten().next())
}

fn tir_arg(value: &Value) -> Option<TirArg> {
    let tensor = value.as_tensor().map(|tensor| TirArg::Tensor(tensor.clone()));
    tensor.or_else(|| value.as_prim().map(|prim| TirArg::Scalar(prim.value)))
}

/// Whether an error says that a parameter at `outputs` is declared with another shape or data type than its buffer.
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

/// Arguments that do not fit and failed assertions are errors. Behaviour that TIR leaves undefined is unspecified, and
/// constructs that the interpreter does not know are unknown.
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
        | TirError::Places(_)
        | TirError::Alloc(_)
        | TirError::Race { .. }
        | TirError::Divergent
        | TirError::Assumption
        | TirError::Malformed(_) => Stop::Unspecified(message),
        TirError::Unsupported(what) => Stop::unknown(format!("{what}, in @{}", func.name)),
    }
}
