//! Values as they are written in cases and sent over the protocol ([`ValueSpec`]), and their conversion.

use std::fmt;
use std::rc::Rc;

use rustc_hash::FxHashMap;

use super::object::{Closure, Prim, TupleObj, Value};
use super::packed::{PackedFunc, Registry};
use super::stop::Stop;
use super::tensor::{AllocError, Scalar, Tensor};
use crate::grammar::{DataType, FloatBits, Name, TensorData, kinds};
use crate::judge::with_stack;

/// A run-time value as it is written in cases and sent over the protocol.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum ValueSpec {
    /// A tensor with its data.
    Tensor(TensorData),
    /// A tuple of these fields.
    Tuple(Vec<ValueSpec>),
    /// A shape of these dimensions.
    Shape(Vec<i64>),
    /// A packed function, by its name.
    PackedFunc(Name),
    /// A closure. Its contents cannot be inspected.
    Closure,
    /// A TIR function.
    PrimFunc,
    /// A boxed integer, as `int64`.
    Int(i64),
    /// A boxed truth value.
    Bool(bool),
    /// A boxed float, by its bits.
    Float(FloatBits),
    /// A boxed string.
    Str(Name),
    /// A boxed data type.
    DataType(DataType),
    /// Any other object.
    Object,
    /// Argument `i` itself (an alias, not a copy), so that a case can ask about identity.
    Arg(usize),
}

kinds!(ValueSpec { as_tensor: Tensor(TensorData), as_shape: Shape(Vec<i64>) });

impl ValueSpec {
    /// The value itself, followed by the parts of the fields if it is a tuple.
    pub fn parts(&self) -> impl Iterator<Item = &ValueSpec> {
        let mut todo = vec![self];
        std::iter::from_fn(move || {
            let part = todo.pop()?;
            if let ValueSpec::Tuple(fields) = part {
                todo.extend(fields.iter().rev());
            }
            Some(part)
        })
    }

    /// The tensors in the value, in order.
    pub fn tensors(&self) -> impl Iterator<Item = &TensorData> {
        self.parts().filter_map(ValueSpec::as_tensor)
    }
}

/// The reason why a written value is not valid as an argument.
#[derive(Clone, PartialEq, Debug, thiserror::Error)]
pub enum ConvertError {
    /// A tensor cannot be made.
    #[error("{0}")]
    Alloc(#[from] AllocError),
    /// A size of a shape is negative (`GRAM.PRIM.SUB`).
    #[error("no shape has the negative size {0}")]
    Size(i64),
    /// `Arg(i)` refers to an argument that does not come before it.
    #[error("there is no argument {0} to refer to")]
    Arg(usize),
}

/// The values of a list of arguments. `Arg(i)` is the i-th value itself, which must come before it.
pub fn from_specs(specs: &[ValueSpec], registry: &Registry) -> Result<Vec<Value>, ConvertError> {
    let mut values = Vec::with_capacity(specs.len());
    for spec in specs {
        let value = from_spec(spec, &values, registry)?;
        values.push(value);
    }
    Ok(values)
}

/// The value of a description, given the arguments before it.
pub fn from_spec(spec: &ValueSpec, args: &[Value], registry: &Registry) -> Result<Value, ConvertError> {
    Ok(match spec {
        ValueSpec::Tensor(data) => Value::Tensor(Tensor::from_data(data)?),
        ValueSpec::Tuple(fields) => {
            let fields: Result<Vec<Value>, ConvertError> =
                fields.iter().map(|field| with_stack(|| from_spec(field, args, registry))).collect();
            Value::tuple(fields?)
        }
        ValueSpec::Shape(dims) => match dims.iter().find(|size| **size < 0) {
            Some(size) => return Err(ConvertError::Size(*size)),
            None => Value::shape(dims),
        },
        ValueSpec::PackedFunc(name) => Value::PackedFunc(Rc::new(match registry.get(name) {
            Some(def) => PackedFunc::Native(def.clone()),
            None => PackedFunc::Unknown(name.clone()),
        })),
        ValueSpec::Closure => Value::Closure(Rc::new(Closure::unknown())),
        ValueSpec::PrimFunc => Value::object("PrimFunc from outside"),
        ValueSpec::Int(i) => Value::int(*i),
        ValueSpec::Bool(b) => Value::Prim(Prim { dtype: DataType::BOOL, value: Scalar::Bool(*b) }),
        ValueSpec::Float(bits) => Value::Prim(Prim { dtype: DataType::FLOAT64, value: Scalar::Float(bits.get()) }),
        ValueSpec::Str(s) => Value::Str(s.clone()),
        ValueSpec::DataType(d) => Value::DataType(*d),
        ValueSpec::Object => Value::object("object from outside"),
        ValueSpec::Arg(i) => args.get(*i).cloned().ok_or(ConvertError::Arg(*i))?,
    })
}

/// The maximum size of a description. A tuple with shared parts can be far larger than the memory it occupies.
const MAX_NODES: usize = 100_000;
/// The maximum nesting of a description, so that every reader can handle it.
const MAX_NESTING: usize = 1_000;

/// The description of a value in its current state. It says nothing about identity, which `relax_spec.same_object`
/// tests.
pub fn to_spec(value: &Value) -> Result<ValueSpec, Stop> {
    Describe::of(&[]).whole(value)
}

/// The description of a value. A tensor or opaque object, also as a field of a tuple, that is one of the `arguments` is
/// described as [`ValueSpec::Arg`]. If several arguments are that object, the first counts.
pub fn to_spec_with_identity(value: &Value, arguments: &[Value]) -> Result<ValueSpec, Stop> {
    Describe::of(arguments).whole(value)
}

/// The descriptions of several values.
pub fn snapshot(values: &[Value]) -> Result<Vec<ValueSpec>, Stop> {
    let mut describe = Describe::of(&[]);
    values.iter().map(|value| describe.whole(value)).collect()
}

struct Describe<'a> {
    nodes: usize,
    /// The objects that are described by their identity.
    known: &'a [Value],
    /// The number of nodes in the description of each tuple, by its address.
    widths: FxHashMap<*const TupleObj, usize>,
    /// The contents of the tensors described so far, by their addresses.
    tensors: FxHashMap<*const (), TensorData>,
}

impl<'a> Describe<'a> {
    fn of(known: &'a [Value]) -> Describe<'a> {
        Describe { nodes: 0, known, widths: FxHashMap::default(), tensors: FxHashMap::default() }
    }

    /// Describes a value, after a check that it is not too large.
    fn whole(&mut self, value: &Value) -> Result<ValueSpec, Stop> {
        self.nodes = self.nodes.saturating_add(self.width(value, 0));
        if self.nodes > MAX_NODES {
            return Err(Stop::unknown("a value is too large to be written down"));
        }
        self.value(value, 0)
    }

    /// The number of nodes in the description of a value. A value that nests too deep counts as too large.
    fn width(&mut self, value: &Value, nesting: usize) -> usize {
        let Value::Tuple(tuple) = value else { return 1 };
        if nesting > MAX_NESTING {
            return usize::MAX;
        }
        if let Some(width) = self.widths.get(&Rc::as_ptr(tuple)) {
            return *width;
        }
        let of = |sum: usize, field: &Value| sum.saturating_add(with_stack(|| self.width(field, nesting + 1)));
        let width = tuple.fields().iter().fold(1, of);
        self.widths.insert(Rc::as_ptr(tuple), width);
        width
    }

    fn value(&mut self, value: &Value, nesting: usize) -> Result<ValueSpec, Stop> {
        if nesting > MAX_NESTING {
            return Err(Stop::unknown("a value is too large to be written down"));
        }
        if let Some(argument) = self.known(value) {
            return Ok(ValueSpec::Arg(argument));
        }
        Ok(match value {
            // Shared contents are copied once.
            Value::Tensor(t) => {
                ValueSpec::Tensor(self.tensors.entry(t.address()).or_insert_with(|| t.to_data()).clone())
            }
            Value::Tuple(t) => {
                let fields: Result<Vec<ValueSpec>, Stop> =
                    t.fields().iter().map(|field| with_stack(|| self.value(field, nesting + 1))).collect();
                ValueSpec::Tuple(fields?)
            }
            Value::Shape(dims) => ValueSpec::Shape(dims.to_vec()),
            Value::Closure(_) => ValueSpec::Closure,
            Value::PackedFunc(p) => ValueSpec::PackedFunc(p.name().clone()),
            Value::PrimFunc(_) => ValueSpec::PrimFunc,
            Value::Prim(p) => match p.value {
                Scalar::Bool(b) => ValueSpec::Bool(b),
                Scalar::Int(i) => ValueSpec::Int(i),
                Scalar::UInt(u) => ValueSpec::Int(u as i64),
                Scalar::Float(x) => ValueSpec::Float(FloatBits::new(x)),
                Scalar::Ring(x) => ValueSpec::Str(format!("{:?}", x.bytes()).into()),
            },
            Value::Str(s) => ValueSpec::Str(s.clone()),
            Value::DataType(d) => ValueSpec::DataType(*d),
            Value::Object(_) => ValueSpec::Object,
        })
    }

    /// The index of the known object that this is. Values of other categories have no identity, because implementations
    /// may copy them.
    fn known(&self, value: &Value) -> Option<usize> {
        if matches!(value, Value::Tensor(_) | Value::Object(_)) {
            self.known.iter().position(|known| known.same_as(value))
        } else {
            None
        }
    }
}

/// Items separated by `, `.
#[derive(Clone, Copy, Debug)]
pub struct List<'a, T>(pub &'a [T]);

impl<T: fmt::Display> fmt::Display for List<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, item) in self.0.iter().enumerate() {
            if i > 0 {
                f.write_str(", ")?;
            }
            write!(f, "{item}")?;
        }
        Ok(())
    }
}

impl fmt::Display for ValueSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ValueSpec::Tensor(data) => write_tensor(f, data),
            ValueSpec::Tuple(fields) => with_stack(|| write!(f, "({})", List(fields))),
            ValueSpec::Shape(dims) => write!(f, "shape({})", List(dims)),
            ValueSpec::PackedFunc(name) => write!(f, "packed {name}"),
            ValueSpec::Closure => f.write_str("closure"),
            ValueSpec::PrimFunc => f.write_str("PrimFunc"),
            ValueSpec::Int(i) => write!(f, "{i}"),
            ValueSpec::Bool(b) => write!(f, "{b}"),
            ValueSpec::Float(x) => write!(f, "{:?}", x.get()),
            ValueSpec::Str(text) => write!(f, "{text:?}"),
            ValueSpec::DataType(dtype) => write!(f, "{dtype}"),
            ValueSpec::Object => f.write_str("object"),
            ValueSpec::Arg(i) => write!(f, "argument {i} itself"),
        }
    }
}

/// The maximum number of elements of a tensor to show.
pub(crate) const SHOWN: usize = 16;

fn write_tensor(f: &mut fmt::Formatter<'_>, data: &TensorData) -> fmt::Result {
    write!(f, "{}({})", data.dtype, List(&data.shape))?;
    let Ok(tensor) = Tensor::from_data(data) else { return Ok(()) };
    let shown: Vec<String> = (0..tensor.len().min(SHOWN)).filter_map(|i| tensor.get(i)).map(scalar).collect();
    let more = if tensor.len() > SHOWN { ", .." } else { "" };
    write!(f, "[{}{more}]", List(&shown))
}

fn scalar(value: Scalar) -> String {
    match value {
        Scalar::Bool(b) => b.to_string(),
        Scalar::Int(i) => i.to_string(),
        Scalar::UInt(u) => u.to_string(),
        Scalar::Float(x) => x.to_string(),
        Scalar::Ring(_) => value.to_string(),
    }
}
