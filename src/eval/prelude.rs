//! The packed functions `relax_spec.*`, which are available to every program of the suite.
//!
//! | name | purity | what it does |
//! | --- | --- | --- |
//! | `identity` | pure | returns a new tensor with the contents of its tensor argument, any other value itself |
//! | `alias` | pure | returns its argument itself |
//! | `log` | impure | returns its first argument, or unit without arguments; the call is the effect |
//! | `add` | pure | the element-wise sum of two tensors of one shape and data type, as a new tensor |
//! | `add_inplace` | impure | adds its second argument to its first in place and returns the first |
//! | `fail` | impure | raises an error |
//! | `make_object` | pure | a new opaque object |
//! | `same_object` | pure | whether its two arguments are the same object, as a Boolean scalar |
//! | `shape_double` | pure | a shape with every dimension doubled |
//! | `call_closure` | impure | calls its first argument with the others |
//! | `raw_int` | pure | returns plain data that is not boxed |
//! | `fill_dps` | impure | fills its last tensor with the total number of elements of the others |
//! | `fill_dps_pure` | pure | as `fill_dps`, declared pure as later editions assume of `call_dps_packed` |
//!
//! The registry also has `relax.run.print`, `relax.run.assert_op`, `relax.run.nonzero`, `relax.run.unique` and
//! `relax.run.shape_to_tensor`, to which TVM lowers the operators, and the functions that compiled programs call by
//! name: the builtins of TVM's virtual machine (chapter Builtins), and those that make views.

use crate::number::real::Real;
use crate::value::{Host, Reads, Registry, Returned, Scalar, Stop, Tensor, Value};

/// The documented functions `relax_spec.*`.
pub fn prelude() -> Registry {
    let mut registry = Registry::empty();
    registry.register("relax_spec.identity", true, identity);
    registry.register_reading("relax_spec.alias", true, Reads::Nothing, alias);
    registry.register("relax_spec.log", false, log);
    registry.register("relax_spec.add", true, add);
    registry.register("relax_spec.add_inplace", false, add_inplace);
    registry.register("relax_spec.fail", false, fail);
    registry.register("relax_spec.make_object", true, make_object);
    registry.register_reading("relax_spec.same_object", true, Reads::Nothing, same_object);
    registry.register("relax_spec.shape_double", true, shape_double);
    registry.register_reading("relax_spec.call_closure", false, Reads::Nothing, call_closure);
    registry.register("relax_spec.raw_int", true, raw_int);
    registry.register_reading("relax_spec.fill_dps", false, Reads::Nothing, fill_dps);
    registry.register_reading("relax_spec.fill_dps_pure", true, Reads::Nothing, fill_dps);
    // TVM's LegalizeOps lowers the operators `print` and `assert_op` to these functions, so they have the operators'
    // effects.
    registry.register("relax.run.print", true, run_print);
    registry.register("relax.run.assert_op", true, run_assert_op);
    for operator in ["nonzero", "unique", "shape_to_tensor"] {
        let run = move |m: &mut dyn Host, args: &[Value]| crate::ops::applied(m, operator, args).map(Returned::Value);
        registry.register(&format!("relax.run.{operator}"), true, run);
    }
    crate::ops::register_builtins(&mut registry);
    registry
}

/// A packed function of the prelude that is called with the wrong arguments raises an error.
fn wrong(name: &str, expected: &str) -> Stop {
    Stop::error(rule!("PURE.ERR.OP"), format!("relax_spec.{name} expects {expected}"))
}

fn identity(_: &mut dyn Host, args: &[Value]) -> Result<Returned, Stop> {
    match args {
        [Value::Tensor(t)] => Ok(Returned::Value(Value::Tensor(Tensor::from_elements(t.elements().clone())))),
        [other] => Ok(Returned::Value(other.clone())),
        [] | [_, ..] => Err(wrong("identity", "one argument")),
    }
}

fn alias(_: &mut dyn Host, args: &[Value]) -> Result<Returned, Stop> {
    match args {
        [value] => Ok(Returned::Value(value.clone())),
        [] | [_, ..] => Err(wrong("alias", "one argument")),
    }
}

fn log(_: &mut dyn Host, args: &[Value]) -> Result<Returned, Stop> {
    Ok(args.first().map_or(Returned::Nothing, |value| Returned::Value(value.clone())))
}

fn add(m: &mut dyn Host, args: &[Value]) -> Result<Returned, Stop> {
    let [Value::Tensor(a), Value::Tensor(b)] = args else { return Err(wrong("add", "two tensors")) };
    let sum = Tensor::from_elements(a.elements().clone());
    add_to(m, &sum, b, "add")?;
    Ok(Returned::Value(Value::Tensor(sum)))
}

fn add_inplace(m: &mut dyn Host, args: &[Value]) -> Result<Returned, Stop> {
    let [Value::Tensor(a), Value::Tensor(b)] = args else { return Err(wrong("add_inplace", "two tensors")) };
    add_to(m, a, b, "add_inplace")?;
    Ok(Returned::Value(Value::Tensor(a.clone())))
}

/// `a[i] += b[i]`, for tensors of the same shape and data type. A `b` of rank 0 is added to every element.
fn add_to(m: &mut dyn Host, a: &Tensor, b: &Tensor, name: &str) -> Result<(), Stop> {
    let scalar = b.shape().is_empty();
    if a.dtype() != b.dtype() || (a.shape() != b.shape() && !scalar) {
        return Err(wrong(name, "tensors of one shape and data type, or a scalar as the second"));
    }
    m.spend(a.len() as u64)?;
    for i in 0..a.len() {
        let sum = a.get(i).zip(b.get(if scalar { 0 } else { i })).map(|(x, y)| sum(x, y));
        if !sum.is_some_and(|sum| a.set(i, sum)) {
            return Err(wrong(name, "tensors with equally many elements"));
        }
    }
    Ok(())
}

fn sum(x: Scalar, y: Scalar) -> Scalar {
    match (x, y) {
        (Scalar::Int(x), Scalar::Int(y)) => Scalar::Int(x.wrapping_add(y)),
        (Scalar::UInt(x), Scalar::UInt(y)) => Scalar::UInt(x.wrapping_add(y)),
        (Scalar::Float(x), Scalar::Float(y)) => Scalar::Float(x + y),
        (Scalar::Bool(x), Scalar::Bool(y)) => Scalar::Bool(x | y),
        (Scalar::Ring(x), Scalar::Ring(y)) => Scalar::Ring(x.plus(y)),
        (Scalar::Bool(_) | Scalar::Int(_) | Scalar::UInt(_) | Scalar::Float(_) | Scalar::Ring(_), _) => x,
    }
}

/// PURE.EFFECT.ABORT: the function is not pure, and ending the program is its effect.
fn fail(_: &mut dyn Host, _: &[Value]) -> Result<Returned, Stop> {
    Err(Stop::error(rule!("PURE.EFFECT.ABORT"), "relax_spec.fail was called"))
}

fn make_object(_: &mut dyn Host, _: &[Value]) -> Result<Returned, Stop> {
    Ok(Returned::Value(Value::object("object of relax_spec.make_object")))
}

fn same_object(_: &mut dyn Host, args: &[Value]) -> Result<Returned, Stop> {
    let [a, b] = args else { return Err(wrong("same_object", "two arguments")) };
    Ok(Returned::Value(Value::bool_scalar(a.same_as(b))))
}

fn shape_double(_: &mut dyn Host, args: &[Value]) -> Result<Returned, Stop> {
    let [Value::Shape(dims)] = args else { return Err(wrong("shape_double", "a shape")) };
    let doubled: Option<Vec<i64>> = dims.iter().map(|d| d.checked_mul(2)).collect();
    doubled.map(|dims| Returned::Value(Value::shape(&dims))).ok_or_else(|| wrong("shape_double", "sizes below 2^62"))
}

fn call_closure(m: &mut dyn Host, args: &[Value]) -> Result<Returned, Stop> {
    let [callee, args @ ..] = args else { return Err(wrong("call_closure", "a closure and its arguments")) };
    m.call_value(callee, args.to_vec()).map(Returned::Value)
}

fn raw_int(_: &mut dyn Host, _: &[Value]) -> Result<Returned, Stop> {
    Ok(Returned::RawPod)
}

fn fill_dps(m: &mut dyn Host, args: &[Value]) -> Result<Returned, Stop> {
    let [inputs @ .., Value::Tensor(out)] = args else { return Err(wrong("fill_dps", "a tensor as last argument")) };
    let size = |value: &Value| value.as_tensor().map_or(0, |t| t.len() as i64);
    let total: i64 = inputs.iter().map(size).fold(0, i64::saturating_add);
    m.spend(out.len() as u64)?;
    for i in 0..out.len() {
        if !out.set(i, Scalar::Int(total)) {
            return Err(wrong("fill_dps", "a tensor as last argument"));
        }
    }
    Ok(Returned::Nothing)
}

/// The format, then the values to print.
fn run_print(m: &mut dyn Host, args: &[Value]) -> Result<Returned, Stop> {
    m.print(crate::ops::printed(args))?;
    Ok(Returned::Nothing)
}

/// The arguments are the condition and the parts of the message.
fn run_assert_op(m: &mut dyn Host, args: &[Value]) -> Result<Returned, Stop> {
    let condition = args.first().ok_or_else(|| Stop::error(rule!("PURE.ERR.OP"), "assert_op expects a condition"))?;
    crate::ops::assert_holds(m, condition)?;
    Ok(Returned::Nothing)
}
