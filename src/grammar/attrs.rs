//! Attributes of calls, functions and modules: a map from names to simple data, in the order of the names.

use std::collections::BTreeMap;

use std::sync::Arc;

use super::{DataType, Name, PrimExpr, ShapeVar, StructInfo};

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
    /// A function from indices to indices, `T.index_map(..)`.
    IndexMap(Arc<IndexMap>),
    /// An object that means nothing here, such as `T.target({..})`: it is kept as it is written.
    Made(Arc<Made>),
}

/// A function from indices to indices: each of them computed from the parameters, which are bound in it alone.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct IndexMap {
    /// The indices that it takes.
    pub params: Vec<ShapeVar>,
    /// The indices that it gives.
    pub results: Vec<PrimExpr>,
    /// The function back, where it is given.
    pub inverse: Option<Arc<IndexMap>>,
}

/// An object of TVM, by the call that makes it: `name(args, named)`.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Made {
    /// What is called, with its prefix, for example `T.target`.
    pub name: Name,
    /// By position.
    pub args: Vec<AttrValue>,
    /// By name.
    pub named: Attrs,
}

/// A float64 compared by its bits.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct FloatBits(u64);

impl FloatBits {
    /// The bits of this float.
    pub fn new(value: f64) -> FloatBits {
        FloatBits(value.to_bits())
    }

    /// The float.
    pub fn get(self) -> f64 {
        f64::from_bits(self.0)
    }
}
