//! The functions that programs compiled by TVM call by name (chapter Builtins). [`BUILTINS`] has a row for each.

use crate::book::Rule;
use crate::grammar::DataType;
use crate::ops::applied;
use crate::ops::kernel::{Out, fail, in_shape};
use crate::ops::tensor::memory::{new_storage, new_tensor, place, run_with_sizes, seen};
use crate::value::{
    Applied, Closure, Host, Prim, Reads, Registry, Returned, Scalar, Stop, Tensor, Value, count, readable,
};

/// A function with the rule that defines it.
type BuiltinRow = (&'static str, Rule, fn(&mut dyn Host, &BuiltinCall<'_>) -> Result<Value, Stop>);

/// The name after `vm.builtin.`, the rule, and the function.
const BUILTINS: &[BuiltinRow] = &[
    ("alloc_shape_heap", rule!("BUILTIN.ALLOC_SHAPE_HEAP"), alloc_shape_heap),
    ("match_shape", rule!("BUILTIN.MATCH_SHAPE"), match_shape),
    ("make_shape", rule!("BUILTIN.MAKE_SHAPE"), make_shape),
    ("match_prim_value", rule!("BUILTIN.MATCH_PRIM_VALUE"), match_prim_value),
    ("make_prim_value", rule!("BUILTIN.MAKE_PRIM_VALUE"), make_prim_value),
    ("check_tensor_info", rule!("BUILTIN.CHECK_TENSOR_INFO"), check_tensor_info),
    ("check_shape_info", rule!("BUILTIN.CHECK_SHAPE_INFO"), check_shape_info),
    ("check_prim_value_info", rule!("BUILTIN.CHECK_PRIM_VALUE_INFO"), check_prim_value_info),
    ("check_tuple_info", rule!("BUILTIN.CHECK_TUPLE_INFO"), check_tuple_info),
    ("check_func_info", rule!("BUILTIN.CHECK_FUNC_INFO"), check_func_info),
    ("shape_of", rule!("BUILTIN.SHAPE_OF"), shape_of),
    ("tensor_to_shape", rule!("BUILTIN.TENSOR_TO_SHAPE"), tensor_to_shape),
    ("reshape", rule!("BUILTIN.RESHAPE"), reshape),
    ("copy", rule!("BUILTIN.COPY"), copy),
    ("to_device", rule!("BUILTIN.TO_DEVICE"), to_device),
    ("read_if_cond", rule!("BUILTIN.READ_IF_COND"), read_if_cond),
    ("null_value", rule!("BUILTIN.NULL_VALUE"), null_value),
    ("make_tuple", rule!("BUILTIN.MAKE_TUPLE"), make_tuple),
    ("tuple_getitem", rule!("BUILTIN.TUPLE_GETITEM"), tuple_getitem),
    ("make_closure", rule!("BUILTIN.MAKE_CLOSURE"), make_closure),
    ("invoke_closure", rule!("BUILTIN.INVOKE_CLOSURE"), invoke_closure),
    ("call_tir_dyn", rule!("BUILTIN.CALL_TIR_DYN"), call_tir_dyn),
    ("alloc_storage", rule!("BUILTIN.ALLOC_STORAGE"), alloc_storage),
    ("alloc_tensor", rule!("BUILTIN.ALLOC_TENSOR"), alloc_tensor),
];

/// Registers all of them. A call itself has no visible effect, but a function called by it may have one.
pub(super) fn register(registry: &mut Registry) {
    for (name, rule, run) in BUILTINS {
        registry.register_reading(&format!("vm.builtin.{name}"), true, Reads::Nothing, move |m, args| {
            let value = run(m, &BuiltinCall { name, rule: *rule, args });
            m.cx().conclude(*rule, value).map(Returned::Value)
        });
    }
    for (name, operator) in VIEWS {
        registry.register_reading(name, true, Reads::Nothing, move |m, args| {
            applied(m, operator, args).map(Returned::Value)
        });
    }
}

/// The functions of TVM's run time that do what an operator does, with the same arguments.
pub(crate) const VIEWS: [(&str, &str); 2] = [
    ("runtime.TVMTensorCreateView", "relax.memory.view"),
    ("vm.builtin.ensure_zero_offset", "relax.memory.ensure_zero_offset"),
];

/// The input of a function.
struct BuiltinCall<'a> {
    name: &'static str,
    rule: Rule,
    args: &'a [Value],
}

impl<'a> BuiltinCall<'a> {
    /// The error of a call with wrong arguments.
    fn misused(&self, expected: &str) -> Stop {
        fail(format!("vm.builtin.{} expects {expected}", self.name))
    }

    /// The error of a failed check.
    fn refused(&self, message: String) -> Stop {
        Stop::error(self.rule, message)
    }

    fn holds(&self, holds: bool, message: impl FnOnce() -> String) -> Result<Value, Stop> {
        if holds { Ok(Value::unit()) } else { Err(self.refused(message())) }
    }

    fn at(&self, i: usize) -> Result<&'a Value, Stop> {
        self.args.get(i).ok_or_else(|| self.misused(&format!("more than {i} arguments")))
    }

    fn tensor(&self, i: usize) -> Result<&'a Tensor, Stop> {
        self.at(i)?.as_tensor().ok_or_else(|| self.misused(&format!("a tensor as argument {i}")))
    }

    fn shape(&self, i: usize) -> Result<&'a [i64], Stop> {
        self.at(i)?.as_shape().map(|dims| &**dims).ok_or_else(|| self.misused(&format!("a shape as argument {i}")))
    }

    fn int(&self, i: usize) -> Result<i64, Stop> {
        let misused = || self.misused(&format!("an integer as argument {i}"));
        match self.at(i)?.as_prim().map(|prim| prim.value) {
            Some(Scalar::Int(value)) => Ok(value),
            Some(Scalar::UInt(value)) => i64::try_from(value).map_err(|_| misused()),
            Some(Scalar::Bool(_) | Scalar::Float(_) | Scalar::Ring(_)) | None => Err(misused()),
        }
    }

    fn dtype(&self, i: usize) -> Result<DataType, Stop> {
        if let Value::DataType(dtype) = self.at(i)? {
            return Ok(*dtype);
        }
        Err(self.misused(&format!("a data type as argument {i}")))
    }

    /// A vector of `count` pairs of a code and a number, starting at an argument.
    fn codes(&self, count: usize, from: usize) -> Result<Vec<(i64, i64)>, Stop> {
        (0..count).map(|i| Ok((self.int(from + 2 * i)?, self.int(from + 2 * i + 1)?))).collect()
    }
}

// The shape heap.

/// A heap with this many slots, none of which has a value.
fn alloc_shape_heap(m: &mut dyn Host, g: &BuiltinCall<'_>) -> Result<Value, Stop> {
    let slots = g.int(0)?;
    let tensor = new_tensor(m, &Out { dtype: DataType::INT64, shape: vec![slots] })?;
    let storage = new_storage(m, &[slots, 8])?;
    place(m, tensor, &storage, 0)
}

/// The number in a slot of the heap. The slot must have been written.
fn load(m: &mut dyn Host, g: &BuiltinCall<'_>, heap: Option<&Tensor>, slot: i64) -> Result<i64, Stop> {
    let (heap, at) = slot_of(g, heap, slot)?;
    if let Some(poison) = heap.poison_of(at) {
        poison.check(m.cx())?;
    }
    match heap.get(at) {
        Some(Scalar::Int(value)) => Ok(value),
        Some(Scalar::Bool(_) | Scalar::UInt(_) | Scalar::Float(_) | Scalar::Ring(_)) | None => Err(no_slot(g, slot)),
    }
}

fn store(g: &BuiltinCall<'_>, heap: Option<&Tensor>, slot: i64, value: i64) -> Result<(), Stop> {
    let (heap, at) = slot_of(g, heap, slot)?;
    if heap.set(at, Scalar::Int(value)) { Ok(()) } else { Err(no_slot(g, slot)) }
}

fn slot_of<'a>(g: &BuiltinCall<'_>, heap: Option<&'a Tensor>, slot: i64) -> Result<(&'a Tensor, usize), Stop> {
    let heap = heap.filter(|heap| heap.dtype() == DataType::INT64 && heap.shape().len() == 1);
    heap.zip(usize::try_from(slot).ok()).ok_or_else(|| no_slot(g, slot))
}

fn no_slot(g: &BuiltinCall<'_>, slot: i64) -> Stop {
    g.misused(&format!("a shape heap that has slot {slot}"))
}

/// Compares a number with a constant (0) or with a slot (3), stores it in a slot (1), or ignores it (2).
fn match_one(
    m: &mut dyn Host,
    g: &BuiltinCall<'_>,
    heap: Option<&Tensor>,
    found: i64,
    code: i64,
    operand: i64,
) -> Result<(), Stop> {
    let expected = match code {
        0 => operand,
        1 => return store(g, heap, operand, found),
        2 => return Ok(()),
        3 => load(m, g, heap, operand)?,
        _ => return Err(g.misused("the codes 0 to 3")),
    };
    g.holds(found == expected, || format!("expected {expected}, found {found}")).map(drop)
}

/// BUILTIN.MATCH_SHAPE: the input, the heap, the number of sizes, and a code and a number for each.
fn match_shape(m: &mut dyn Host, g: &BuiltinCall<'_>) -> Result<Value, Stop> {
    let sizes = match g.at(0)?.as_tensor() {
        Some(tensor) => tensor.shape(),
        None => g.shape(0)?,
    };
    let heap = g.at(1)?.as_tensor();
    let expected = usize::try_from(g.int(2)?).map_err(|_| g.misused("a number of sizes"))?;
    g.holds(sizes.len() == expected, || format!("expected {expected} sizes, found {}", sizes.len()))?;
    for (size, (code, operand)) in sizes.iter().zip(g.codes(expected, 3)?) {
        match_one(m, g, heap, *size, code, operand)?;
    }
    Ok(Value::unit())
}

/// A number: a constant (0) or the contents of a slot (1).
fn make_one(m: &mut dyn Host, g: &BuiltinCall<'_>, code: i64, operand: i64) -> Result<i64, Stop> {
    match code {
        0 => Ok(operand),
        1 => load(m, g, g.at(0)?.as_tensor(), operand),
        _ => Err(g.misused("the codes 0 and 1")),
    }
}

/// BUILTIN.MAKE_SHAPE, SI.DIM.SHAPEEXPR-ERR: the heap, the number of sizes, and a code and a number for each.
fn make_shape(m: &mut dyn Host, g: &BuiltinCall<'_>) -> Result<Value, Stop> {
    let count = usize::try_from(g.int(1)?).map_err(|_| g.misused("a number of sizes"))?;
    let codes = g.codes(count, 2)?;
    let made = codes.into_iter().map(|(code, operand)| make_one(m, g, code, operand));
    let sizes = made.collect::<Result<Vec<i64>, Stop>>()?;
    if let Some(size) = sizes.iter().find(|size| **size < 0) {
        return Err(Stop::of_size(rule!("SI.DIM.SHAPEEXPR-ERR"), *size, format!("a dimension is {size}")));
    }
    Ok(Value::shape(&sizes))
}

/// BUILTIN.MATCH_PRIM_VALUE: the number, the heap, a code and a number.
fn match_prim_value(m: &mut dyn Host, g: &BuiltinCall<'_>) -> Result<Value, Stop> {
    match_one(m, g, g.at(1)?.as_tensor(), g.int(0)?, g.int(2)?, g.int(3)?)?;
    Ok(Value::unit())
}

/// BUILTIN.MAKE_PRIM_VALUE: the heap, a code and a number.
fn make_prim_value(m: &mut dyn Host, g: &BuiltinCall<'_>) -> Result<Value, Stop> {
    make_one(m, g, g.int(1)?, g.int(2)?).map(Value::int)
}

// Checks.

/// BUILTIN.CHECK_TENSOR_INFO: a tensor, with this rank unless it is -1, and with this data type if one is given.
fn check_tensor_info(_: &mut dyn Host, g: &BuiltinCall<'_>) -> Result<Value, Stop> {
    let (value, ndim) = (g.at(0)?, g.int(1)?);
    let Some(tensor) = value.as_tensor() else {
        return Err(g.refused(format!("expected a tensor, found {}", value.category())));
    };
    let rank = tensor.shape().len() as i64;
    g.holds(ndim == -1 || rank == ndim, || format!("expected rank {ndim}, found rank {rank}"))?;
    let dtype = if let Some(Value::DataType(dtype)) = g.args.get(2) { *dtype } else { DataType::VOID };
    let found = tensor.dtype();
    g.holds(dtype.is_void() || dtype == found, || format!("expected data type {dtype}, found {found}"))
}

/// BUILTIN.CHECK_SHAPE_INFO: a shape, with this rank unless it is -1.
fn check_shape_info(_: &mut dyn Host, g: &BuiltinCall<'_>) -> Result<Value, Stop> {
    let (value, ndim) = (g.at(0)?, g.int(1)?);
    let Some(sizes) = value.as_shape() else {
        return Err(g.refused(format!("expected a shape, found {}", value.category())));
    };
    g.holds(ndim == -1 || sizes.len() as i64 == ndim, || format!("expected {ndim} sizes, found {}", sizes.len()))
}

/// BUILTIN.CHECK_PRIM_VALUE_INFO: a boxed scalar of a given kind.
fn check_prim_value_info(_: &mut dyn Host, g: &BuiltinCall<'_>) -> Result<Value, Stop> {
    let (value, dtype) = (g.at(0)?, g.dtype(1)?);
    let holds = value.as_prim().is_some_and(|prim| matches!(prim.value, Scalar::Float(_)) == dtype.is_float());
    g.holds(holds, || format!("expected a boxed {dtype}, found {value}"))
}

/// BUILTIN.CHECK_TUPLE_INFO: a tuple with the given number of fields.
fn check_tuple_info(_: &mut dyn Host, g: &BuiltinCall<'_>) -> Result<Value, Stop> {
    let (value, fields) = (g.at(0)?, g.int(1)?);
    let found = value.as_tuple().map(|tuple| tuple.len() as i64);
    g.holds(found == Some(fields), || format!("expected a tuple of {fields} fields, found {value}"))
}

/// BUILTIN.CHECK_FUNC_INFO: a value that can be called.
fn check_func_info(_: &mut dyn Host, g: &BuiltinCall<'_>) -> Result<Value, Stop> {
    let value = g.at(0)?;
    let holds = matches!(value, Value::Closure(_) | Value::PackedFunc(_) | Value::PrimFunc(_));
    g.holds(holds, || format!("expected a function, found {}", value.category()))
}

// Values.

fn shape_of(_: &mut dyn Host, g: &BuiltinCall<'_>) -> Result<Value, Stop> {
    Ok(Value::shape(g.tensor(0)?.shape()))
}

/// BUILTIN.TENSOR_TO_SHAPE: the shape whose sizes are the elements of a vector of integers.
fn tensor_to_shape(m: &mut dyn Host, g: &BuiltinCall<'_>) -> Result<Value, Stop> {
    let wrong = || g.misused("a vector of sizes");
    let x = g.tensor(0)?;
    if x.shape().len() != 1 || !(x.dtype().is_int() || x.dtype().is_uint()) || x.dtype().is_bool() {
        return Err(wrong());
    }
    m.spend(x.len() as u64)?;
    readable(m, g.args)?;
    let size = |i: usize| match x.get(i) {
        Some(Scalar::Int(size)) => Some(size).filter(|size| *size >= 0),
        Some(Scalar::UInt(size)) => i64::try_from(size).ok(),
        Some(Scalar::Bool(_) | Scalar::Float(_) | Scalar::Ring(_)) | None => None,
    };
    let sizes: Option<Vec<i64>> = (0..x.len()).map(size).collect();
    sizes.map(|sizes| Value::shape(&sizes)).ok_or_else(wrong)
}

/// BUILTIN.RESHAPE: the same bytes in another shape with the same number of elements.
fn reshape(m: &mut dyn Host, g: &BuiltinCall<'_>) -> Result<Value, Stop> {
    let (x, sizes) = (g.tensor(0)?, g.shape(1)?);
    if count(sizes) != x.len() as u64 {
        return Err(g.misused("a shape of as many places as the tensor has"));
    }
    seen(m, x, &Out { dtype: x.dtype(), shape: sizes.to_vec() }, 0)
}

/// BUILTIN.COPY: the object itself.
fn copy(_: &mut dyn Host, g: &BuiltinCall<'_>) -> Result<Value, Stop> {
    g.at(0).cloned()
}

/// BUILTIN.TO_DEVICE: a new tensor with the same elements.
fn to_device(m: &mut dyn Host, g: &BuiltinCall<'_>) -> Result<Value, Stop> {
    readable(m, g.args)?;
    let x = g.tensor(0)?;
    in_shape(m, x, x.shape()).map(Value::Tensor)
}

/// BUILTIN.READ_IF_COND: whether the single element of a tensor, or a boxed integer, is not 0.
fn read_if_cond(m: &mut dyn Host, g: &BuiltinCall<'_>) -> Result<Value, Stop> {
    let wrong = || g.misused("one integer or Boolean");
    readable(m, g.args)?;
    let cond = g.at(0)?;
    let element = cond.as_tensor().filter(|tensor| tensor.len() == 1).and_then(|tensor| tensor.get(0));
    let value = element.or(cond.as_prim().map(|prim| prim.value));
    match value {
        Some(Scalar::Float(_) | Scalar::Ring(_)) | None => Err(wrong()),
        Some(value @ (Scalar::Bool(_) | Scalar::Int(_) | Scalar::UInt(_))) => {
            Ok(Value::Prim(Prim { dtype: DataType::BOOL, value: Scalar::Bool(value.is_true()) }))
        }
    }
}

fn null_value(_: &mut dyn Host, _: &BuiltinCall<'_>) -> Result<Value, Stop> {
    Ok(Value::unit())
}

fn make_tuple(_: &mut dyn Host, g: &BuiltinCall<'_>) -> Result<Value, Stop> {
    Ok(Value::tuple(held(g.args)))
}

/// MEM.RELEASED: what is made of values holds them, whoever releases them.
fn held(values: &[Value]) -> Vec<Value> {
    values.iter().cloned().map(Value::held_anew).collect()
}

fn tuple_getitem(_: &mut dyn Host, g: &BuiltinCall<'_>) -> Result<Value, Stop> {
    let fields = g.at(0)?.as_tuple().map(|tuple| tuple.fields());
    let field = fields.zip(usize::try_from(g.int(1)?).ok()).and_then(|(fields, at)| fields.get(at));
    field.cloned().ok_or_else(|| g.misused("a tuple and the number of one of its fields"))
}

// Functions.

/// BUILTIN.MAKE_CLOSURE: a function with its last arguments, which it holds (MEM.RELEASED).
fn make_closure(_: &mut dyn Host, g: &BuiltinCall<'_>) -> Result<Value, Stop> {
    match g.args {
        [callee @ (Value::Closure(_) | Value::PackedFunc(_) | Value::PrimFunc(_)), last @ ..] => {
            let applied = Applied { callee: callee.clone(), last: held(last) };
            Ok(Value::Closure(Closure::of_applied(applied).into()))
        }
        [] | [_, ..] => Err(g.misused("a function and what it captures")),
    }
}

/// BUILTIN.INVOKE_CLOSURE: a call of the first argument on the others.
fn invoke_closure(m: &mut dyn Host, g: &BuiltinCall<'_>) -> Result<Value, Stop> {
    let [callee, args @ ..] = g.args else { return Err(g.misused("a closure and its arguments")) };
    m.call_value(callee, args.to_vec())
}

/// BUILTIN.CALL_TIR_DYN: a call of a `PrimFunc`, which may be compiled. The last argument is a shape whose sizes are
/// passed individually.
fn call_tir_dyn(m: &mut dyn Host, g: &BuiltinCall<'_>) -> Result<Value, Stop> {
    match g.args {
        [callee @ (Value::PrimFunc(_) | Value::PackedFunc(_)), args @ ..] => run_with_sizes(m, callee, args),
        [] | [_, ..] => Err(g.misused("a PrimFunc and its arguments")),
    }
}

// Memory.

fn alloc_storage(m: &mut dyn Host, g: &BuiltinCall<'_>) -> Result<Value, Stop> {
    new_storage(m, g.shape(0)?)
}

/// BUILTIN.ALLOC_TENSOR: the storage, the offset in it, the shape and the data type.
fn alloc_tensor(m: &mut dyn Host, g: &BuiltinCall<'_>) -> Result<Value, Stop> {
    let out = Out { dtype: g.dtype(3)?, shape: g.shape(2)?.to_vec() };
    let tensor = new_tensor(m, &out)?;
    place(m, tensor, g.at(0)?, g.int(1)?)
}
