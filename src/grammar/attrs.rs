//! Attributes of calls, functions and modules: a map from names to simple data, in the order of the names.

use std::collections::BTreeMap;

use super::{DataType, Name, PrimExpr, StructInfo};

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
