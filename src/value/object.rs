//! Values (chapter Values): the six categories, and the boxed scalars, strings and data types of the next revision.
//!
//! Cloning a value makes an alias: the clone is the same object (`EVAL.BYREF`).

use std::collections::BTreeMap;
use std::fmt;
use std::rc::Rc;
use std::sync::Arc;

use ndarray::{ArrayD, IxDyn};

use super::account::Held;
use super::packed::PackedFunc;
use super::storage::Storage;
use super::tensor::{Elements, Scalar, Tensor};
use crate::grammar::tir::PrimFunc;
use crate::grammar::{DataType, Function, Name, ShapeVar, StructInfo, Var, kinds};
use crate::judge::with_stack;
use crate::number::real::Real;

/// A run-time value.
#[derive(Clone, Debug)]
pub enum Value {
    /// `VAL.TENSOR`. Mutable in place, and shared by its aliases.
    Tensor(Tensor),
    /// `VAL.TUPLE`.
    Tuple(Rc<TupleObj>),
    /// `VAL.SHAPE`: the dimensions, outermost first.
    Shape(Rc<[i64]>),
    /// `VAL.CLOSURE`.
    Closure(Rc<Closure>),
    /// `VAL.PACKED`.
    PackedFunc(Rc<PackedFunc>),
    /// A `PrimFunc` of the module, which Relax cannot look into (`MOD.PRIMFUNC-OBJECT`).
    PrimFunc(Rc<PrimFuncObj>),
    /// A boxed scalar (`PR14148.EVAL.IMM`).
    Prim(Prim),
    /// A boxed string.
    Str(Name),
    /// A boxed data type.
    DataType(DataType),
    /// Any other object (`VAL.OBJECT`).
    Object(Rc<Opaque>),
}

kinds!(Value {
    as_tensor: Tensor(Tensor),
    as_tuple: Tuple(Rc<TupleObj>),
    as_shape: Shape(Rc<[i64]>),
    as_closure: Closure(Rc<Closure>),
    as_packed: PackedFunc(Rc<PackedFunc>),
    as_prim_func: PrimFunc(Rc<PrimFuncObj>),
    as_prim: Prim(Prim),
    as_str: Str(Name),
});

/// A tuple (`VAL.TUPLE`). The empty one is unit (`VAL.TUPLE.UNIT`).
#[derive(Debug)]
pub struct TupleObj {
    fields: Vec<Value>,
    /// What it takes up of the memory of the run that has made it.
    _held: Option<Held>,
}

/// A boxed scalar of a data type.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Prim {
    /// The data type, of which the value is one.
    pub dtype: DataType,
    /// The value itself.
    pub value: Scalar,
}

/// A closure (`VAL.CLOSURE`): a definition together with the values of its captured variables.
///
/// The closure's own name (`VAL.CLOSURE.SELFNAME`) is kept apart from the captured values: bound at each call, it
/// means the same as an entry that leads back to the closure, without making the closure keep itself alive.
#[derive(Debug)]
pub struct Closure {
    /// The definition; absent for a closure that came from outside and cannot be looked into.
    pub func: Option<Arc<Function>>,
    /// The name by which it can call itself.
    pub self_name: Option<Var>,
    /// The free variables of the definition, as they were where it was evaluated (`VAL.CLOSURE.FREE`).
    pub captured: BTreeMap<Var, Value>,
    /// The free shape variables (`VAL.CLOSURE.SHAPEVARS`).
    pub captured_shape_vars: BTreeMap<ShapeVar, i64>,
    /// What is known of the results of a definition without return annotation, as part of its run-time structural
    /// information (`VAL.CLOSURE.RTSI`).
    pub result: Option<StructInfo>,
    /// What is called in place of a definition, with what follows the arguments of a call.
    pub applied: Option<Applied>,
    /// What it is compiled to, on a machine that runs compiled programs.
    pub compiled: Option<CompiledClosure>,
}

/// A function of an executable, with what follows the arguments of a call.
#[derive(Clone, Debug)]
pub struct CompiledClosure {
    /// Its index in the executable that runs.
    pub function: usize,
    /// The values that the closure has captured.
    pub captured: Vec<Value>,
    /// What is known of it at run time (`VAL.CLOSURE.RTSI`).
    pub info: StructInfo,
}

/// A function with its last arguments.
#[derive(Clone, Debug)]
pub struct Applied {
    /// The function: a closure, a packed function or a `PrimFunc`.
    pub callee: Value,
    /// The arguments that follow those of a call.
    pub last: Vec<Value>,
}

impl Closure {
    /// Of which nothing is known but that it is one.
    pub fn unknown() -> Closure {
        Closure {
            func: None,
            self_name: None,
            captured: BTreeMap::new(),
            captured_shape_vars: BTreeMap::new(),
            result: None,
            applied: None,
            compiled: None,
        }
    }

    /// That runs a function of an executable.
    pub fn of_compiled(compiled: CompiledClosure) -> Closure {
        let mut closure = Closure::unknown();
        closure.compiled = Some(compiled);
        closure
    }

    /// That calls a function, whose last arguments it has.
    pub fn of_applied(applied: Applied) -> Closure {
        let mut closure = Closure::unknown();
        closure.applied = Some(applied);
        closure
    }
}

/// A `PrimFunc` of the module as an object.
#[derive(Debug)]
pub struct PrimFuncObj {
    /// The name of its `GlobalVar`.
    pub name: Name,
    /// The definition.
    pub func: Arc<PrimFunc>,
}

/// An object without visible structure.
#[derive(Debug)]
pub struct Opaque {
    /// What made it, for messages.
    pub description: &'static str,
    /// What it is to those that can use it.
    pub content: Content,
}

/// What an opaque object is to the operators that can use it.
#[derive(Debug)]
pub enum Content {
    /// Nothing more than an object.
    Nothing,
    /// A piece of memory (`MEM.STORAGE`).
    Storage(Rc<Storage>),
}

impl Value {
    /// A new tuple.
    pub fn tuple(fields: Vec<Value>) -> Value {
        Value::Tuple(Rc::new(TupleObj { fields, _held: None }))
    }

    /// The empty tuple, in place of nothing (`VAL.TUPLE.UNIT`).
    pub fn unit() -> Value {
        Value::tuple(Vec::new())
    }

    /// A new shape.
    pub fn shape(dims: &[i64]) -> Value {
        Value::Shape(dims.into())
    }

    /// A new opaque object.
    pub fn object(description: &'static str) -> Value {
        Value::Object(Rc::new(Opaque { description, content: Content::Nothing }))
    }

    /// A storage as an object.
    pub fn storage(storage: Rc<Storage>) -> Value {
        Value::Object(Rc::new(Opaque { description: "storage", content: Content::Storage(storage) }))
    }

    /// The storage, if it is one.
    pub fn as_storage(&self) -> Option<&Rc<Storage>> {
        if let Value::Object(object) = self {
            match &object.content {
                Content::Storage(storage) => Some(storage),
                Content::Nothing => None,
            }
        } else {
            None
        }
    }

    /// A boxed int64.
    pub fn int(value: i64) -> Value {
        Value::Prim(Prim { dtype: DataType::INT64, value: Scalar::Int(value) })
    }

    /// A new tensor of rank 0 that holds a Boolean.
    pub fn bool_scalar(value: bool) -> Value {
        Value::Tensor(Tensor::from_elements(Elements::Bool(ArrayD::from_elem(IxDyn(&[]), value))))
    }

    /// The category, in words.
    pub fn category(&self) -> &'static str {
        match self {
            Value::Tensor(_) => "a tensor",
            Value::Tuple(_) => "a tuple",
            Value::Shape(_) => "a shape",
            Value::Closure(_) => "a closure",
            Value::PackedFunc(_) => "a packed function",
            Value::PrimFunc(_) => "a PrimFunc",
            Value::Prim(_) => "a boxed scalar",
            Value::Str(_) => "a string",
            Value::DataType(_) => "a data type",
            Value::Object(_) => "an opaque object",
        }
    }

    /// Whether both are the same object. Boxed scalars, strings and data types, which nothing can change, are the
    /// same when they are equal.
    pub fn same_as(&self, other: &Value) -> bool {
        match (self, other) {
            (Value::Tensor(a), Value::Tensor(b)) => a.same_as(b),
            (Value::Tuple(a), Value::Tuple(b)) => Rc::ptr_eq(a, b),
            (Value::Shape(a), Value::Shape(b)) => Rc::ptr_eq(a, b),
            (Value::Closure(a), Value::Closure(b)) => Rc::ptr_eq(a, b),
            (Value::PackedFunc(a), Value::PackedFunc(b)) => a.same_as(b),
            (Value::PrimFunc(a), Value::PrimFunc(b)) => Rc::ptr_eq(a, b),
            (Value::Prim(a), Value::Prim(b)) => a == b,
            (Value::Str(a), Value::Str(b)) => a == b,
            (Value::DataType(a), Value::DataType(b)) => a == b,
            (Value::Object(a), Value::Object(b)) => Rc::ptr_eq(a, b),
            (
                Value::Tensor(_)
                | Value::Tuple(_)
                | Value::Shape(_)
                | Value::Closure(_)
                | Value::PackedFunc(_)
                | Value::PrimFunc(_)
                | Value::Prim(_)
                | Value::Str(_)
                | Value::DataType(_)
                | Value::Object(_),
                _,
            ) => false,
        }
    }
}

impl TupleObj {
    /// A tuple that takes up memory of a run.
    pub(super) fn holding(fields: Vec<Value>, held: Held) -> TupleObj {
        TupleObj { fields, _held: Some(held) }
    }

    /// The very fields, from left to right.
    pub fn fields(&self) -> &[Value] {
        &self.fields
    }

    /// How many fields there are.
    pub fn len(&self) -> usize {
        self.fields.len()
    }

    /// Whether it is unit (`VAL.TUPLE.UNIT`).
    pub fn is_empty(&self) -> bool {
        self.fields.is_empty()
    }
}

// A program may make tuples that nest deeper than there is stack for.
impl Drop for TupleObj {
    fn drop(&mut self) {
        let mut todo = std::mem::take(&mut self.fields);
        while let Some(value) = todo.pop() {
            if let Value::Tuple(tuple) = value
                && let Some(mut tuple) = Rc::into_inner(tuple)
            {
                todo.append(&mut tuple.fields);
            }
        }
    }
}

// Closures nest as deep as programs recurse, so giving them up needs stack as evaluating does.

impl Drop for Closure {
    fn drop(&mut self) {
        let held = (std::mem::take(&mut self.captured), self.applied.take(), self.compiled.take());
        with_stack(|| drop(held));
    }
}

/// How many parts of a value a line shows: a tuple that shares its parts can stand for far more than it occupies.
const SHOWN_PARTS: usize = 100;

impl fmt::Display for Value {
    /// On one line; tensors with their elements as far as they are few.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut left = SHOWN_PARTS;
        self.write(f, &mut left)
    }
}

impl Value {
    fn write(&self, f: &mut fmt::Formatter<'_>, left: &mut usize) -> fmt::Result {
        if *left == 0 {
            return f.write_str("..");
        }
        *left -= 1;
        match self {
            Value::Tensor(t) => write_tensor(f, t),
            Value::Tuple(t) => write_tuple(f, t, left),
            Value::Shape(dims) => {
                f.write_str("shape(")?;
                write_list(f, dims.iter())?;
                f.write_str(")")
            }
            Value::Closure(_) => f.write_str("<closure>"),
            Value::PackedFunc(p) => write!(f, "<packed function {}>", p.name()),
            Value::PrimFunc(p) => write!(f, "<PrimFunc {}>", p.name),
            Value::Prim(p) => write!(f, "{}", p.value),
            Value::Str(s) => write!(f, "{s:?}"),
            Value::DataType(d) => write!(f, "{d}"),
            Value::Object(o) => write!(f, "<{}>", o.description),
        }
    }
}

fn write_tuple(f: &mut fmt::Formatter<'_>, tuple: &TupleObj, left: &mut usize) -> fmt::Result {
    f.write_str("(")?;
    for (i, field) in tuple.fields().iter().enumerate() {
        f.write_str(if i == 0 { "" } else { ", " })?;
        if *left == 0 {
            f.write_str("..")?;
            break;
        }
        field.write(f, left)?;
    }
    f.write_str(if tuple.len() == 1 { ",)" } else { ")" })
}

/// How many elements of a tensor a line shows.
const SHOWN: usize = 16;

fn write_tensor(f: &mut fmt::Formatter<'_>, tensor: &Tensor) -> fmt::Result {
    write!(f, "Tensor([")?;
    write_list(f, tensor.shape().iter())?;
    write!(f, "], {}, [", tensor.dtype())?;
    write_list(f, (0..tensor.len().min(SHOWN)).filter_map(|i| tensor.get(i)))?;
    f.write_str(if tensor.len() > SHOWN { ", ..])" } else { "])" })
}

fn write_list<T: fmt::Display>(f: &mut fmt::Formatter<'_>, items: impl Iterator<Item = T>) -> fmt::Result {
    for (i, item) in items.enumerate() {
        f.write_str(if i == 0 { "" } else { ", " })?;
        item.fmt(f)?;
    }
    Ok(())
}

impl fmt::Display for Scalar {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Scalar::Bool(b) => b.fmt(f),
            Scalar::Int(i) => i.fmt(f),
            Scalar::UInt(u) => u.fmt(f),
            Scalar::Float(x) => write!(f, "{x:?}"),
            Scalar::Ring(x) => write!(f, "a number of the ring, near {:?}", x.near()),
        }
    }
}
