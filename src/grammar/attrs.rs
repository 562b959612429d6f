//! Attributes of calls, functions and modules: a map from names to simple data, in the order of the names.

use std::collections::BTreeMap;

use std::sync::Arc;

use super::{DataType, Name, PrimExpr, ShapeVar, StructInfo};
use crate::judge::with_stack;

/// Attributes by name.
pub type Attrs = BTreeMap<Name, AttrValue>;

/// The value of an attribute.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum AttrValue {
    /// No value: TVM's `None`.
    None,
    /// A truth value.
    Bool(bool),
    /// An integer.
    Int(i64),
    /// A float64, kept as its bits so that equality is exact.
    Float(FloatBits),
    /// A string.
    Str(Name),
    /// A data type.
    DataType(DataType),
    /// An expression over shape variables.
    Prim(PrimExpr),
    /// A list of values, of any kinds.
    List(Vec<AttrValue>),
    /// Values by name.
    Dict(BTreeMap<Name, AttrValue>),
    /// Structural information.
    StructInfo(StructInfo),
    /// A mapping of indices, `T.index_map(..)`.
    IndexMap(Arc<IndexMap>),
    /// An object without a meaning here, such as `T.target({..})`. It is kept as written.
    Made(Arc<ObjectCall>),
}

impl AttrValue {
    /// The values in it that are neither lists nor dictionaries, in order.
    pub fn leaves(&self) -> impl Iterator<Item = &AttrValue> {
        let mut todo = vec![self];
        std::iter::from_fn(move || {
            loop {
                let next = todo.pop()?;
                if let AttrValue::List(items) = next {
                    todo.extend(items.iter().rev());
                } else if let AttrValue::Dict(items) = next {
                    todo.extend(items.values().rev());
                } else {
                    return Some(next);
                }
            }
        })
    }

    /// A copy with some of its leaves replaced.
    pub fn with_leaves(&self, other: &dyn Fn(&AttrValue) -> Option<AttrValue>) -> AttrValue {
        with_stack(|| {
            if let AttrValue::List(items) = self {
                AttrValue::List(items.iter().map(|item| item.with_leaves(other)).collect())
            } else if let AttrValue::Dict(items) = self {
                AttrValue::Dict(items.iter().map(|(name, item)| (name.clone(), item.with_leaves(other))).collect())
            } else {
                other(self).unwrap_or_else(|| self.clone())
            }
        })
    }
}

/// A mapping of indices. Each result is computed from the parameters, which are bound only here.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct IndexMap {
    /// The indices that it maps.
    pub params: Vec<ShapeVar>,
    /// The resulting indices.
    pub results: Vec<PrimExpr>,
    /// The inverse mapping, if it is given.
    pub inverse: Option<Arc<IndexMap>>,
}

/// An object of TVM, represented by the call that makes it: `name(args, named)`.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct ObjectCall {
    /// The name of the function with its prefix, for example `T.target`.
    pub name: Name,
    /// The positional arguments.
    pub args: Vec<AttrValue>,
    /// The named arguments.
    pub named: Attrs,
}

/// A float64 that is compared by its bits.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct FloatBits(u64);

impl FloatBits {
    /// Stores the bits of a float.
    pub fn new(value: f64) -> FloatBits {
        FloatBits(value.to_bits())
    }

    /// The float.
    pub fn get(self) -> f64 {
        f64::from_bits(self.0)
    }
}
