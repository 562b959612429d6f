//! Values (chapter Values): the six categories, and the boxed scalars, strings and datatypes of the next revision.
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
    /// The memory that it occupies in the run that made it.
    _held: Option<Held>,
}

/// A boxed scalar of a data type.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Prim {
    /// The datatype of the value.
    pub dtype: DataType,
    /// The value itself.
    pub value: Scalar,
}

impl Prim {
    /// An integer or Boolean of a data type, in the one form that such scalars have.
    pub fn integer(dtype: DataType, value: i64) -> Prim {
        let value = match () {
            () if dtype.is_bool() => Scalar::Bool(value != 0),
            () if dtype.is_uint() => Scalar::UInt(value as u64),
            () => Scalar::Int(value),
        };
        Prim { dtype, value }
    }
}

/// A closure (`VAL.CLOSURE`): a definition with the values of its captured variables.
///
/// The closure's own name (`VAL.CLOSURE.SELFNAME`) is separate from the captured values and is bound at each call. An
/// entry that refers back to the closure would mean the same, but would keep the closure alive forever.
#[derive(Debug)]
pub struct Closure {
    /// The definition; `None` for a closure from outside, which cannot be inspected.
    pub func: Option<Arc<Function>>,
    /// The name by which it calls itself.
    pub self_name: Option<Var>,
    /// The values of the free variables of the definition, at the place where it was evaluated (`VAL.CLOSURE.FREE`).
    pub captured: BTreeMap<Var, Value>,
    /// The free shape variables (`VAL.CLOSURE.SHAPEVARS`).
    pub captured_shape_vars: BTreeMap<ShapeVar, i64>,
    /// The known result of a definition without return annotation, as part of its run-time structural information
    /// (`VAL.CLOSURE.RTSI`).
    pub result: Option<StructInfo>,
    /// A function to call in place of a definition, with its last arguments.
    pub applied: Option<Applied>,
    /// The compiled function, on a machine that runs compiled programs.
    pub compiled: Option<CompiledClosure>,
}

/// A function of an executable, with its last arguments.
#[derive(Clone, Debug)]
pub struct CompiledClosure {
    /// Its index in the running executable.
    pub function: usize,
    /// The captured values.
    pub captured: Vec<Value>,
    /// Its structural information at run time (`VAL.CLOSURE.RTSI`).
    pub info: StructInfo,
}

/// A function with its last arguments.
#[derive(Clone, Debug)]
pub struct Applied {
    /// The function: a closure, a packed function or a `PrimFunc`.
    pub callee: Value,
    /// The arguments that follow those of the call.
    pub last: Vec<Value>,
}

impl Closure {
    /// A closure that cannot be inspected.
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

    /// A closure that runs a function of an executable.
    pub fn of_compiled(compiled: CompiledClosure) -> Closure {
        let mut closure = Closure::unknown();
        closure.compiled = Some(compiled);
        closure
    }

    /// A closure that calls a function with further last arguments.
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
    /// The origin of the object, for messages.
    pub description: &'static str,
    /// The meaning of the object to operators that use it.
    pub content: Content,
}

/// The meaning of an opaque object to the operators that can use it.
#[derive(Debug)]
pub enum Content {
    /// The object has no meaning of its own.
    Nothing,
    /// A piece of memory (`MEM.STORAGE`).
    Storage(Rc<Storage>),
}

impl Value {
    /// A new tuple.
    pub fn tuple(fields: Vec<Value>) -> Value {
        Value::Tuple(Rc::new(TupleObj { fields, _held: None }))
    }

    /// The same value as another one holds it (`MEM.RELEASED`).
    pub fn held_anew(self) -> Value {
        if let Value::Tensor(tensor) = &self { Value::Tensor(tensor.held_anew()) } else { self }
    }

    /// The empty tuple, which stands for no value (`VAL.TUPLE.UNIT`).
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

    /// The storage, if the object is one.
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
        Value::Prim(Prim::integer(DataType::INT64, value))
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

    /// Whether both are the same object. Boxed scalars, strings and datatypes are immutable, so equal ones are the
    /// same.
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
    /// A tuple whose memory counts in a run.
    pub(super) fn holding(fields: Vec<Value>, held: Held) -> TupleObj {
        TupleObj { fields, _held: Some(held) }
    }

    /// The fields themselves, from left to right.
    pub fn fields(&self) -> &[Value] {
        &self.fields
    }

    /// The number of fields.
    pub fn len(&self) -> usize {
        self.fields.len()
    }

    /// Whether it is unit (`VAL.TUPLE.UNIT`).
    pub fn is_empty(&self) -> bool {
        self.fields.is_empty()
    }
}

// A program may nest tuples deeper than the stack allows.
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

// Closures nest as deep as the recursion of programs, so dropping them needs as much stack as evaluation.

impl Drop for Closure {
    fn drop(&mut self) {
        let held = (std::mem::take(&mut self.captured), self.applied.take(), self.compiled.take());
        with_stack(|| drop(held));
    }
}

/// The maximum number of parts of a value in one line. A tuple with shared parts can be far larger than the memory it
/// occupies.
const SHOWN_PARTS: usize = 100;

impl fmt::Display for Value {
    /// On one line; the elements of a tensor are shown if there are few.
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

/// The maximum number of elements of a tensor in one line.
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
