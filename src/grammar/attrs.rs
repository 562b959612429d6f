//! Attributes of calls, functions and modules: a map from names to simple data, in the order of the names.

use std::collections::BTreeMap;

use super::{DataType, Name, PrimExpr, StructInfo};

/// Attributes by name.
pub type Attrs = BTreeMap<Name, AttrValue>;

/// The value of an attribute.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum AttrValue {
    None,
    Bool(bool),
    Int(i64),
    /// A float64, kept as its bits so that equality is exact.
    Float(FloatBits),
    Str(Name),
    DataType(DataType),
    /// An expression over shape variables.
    Prim(PrimExpr),
    List(Vec<AttrValue>),
    Dict(BTreeMap<Name, AttrValue>),
    StructInfo(StructInfo),
}

/// A float64 compared by its bits.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct FloatBits(u64);

impl FloatBits {
    pub fn new(value: f64) -> FloatBits {
        FloatBits(value.to_bits())
    }

    pub fn get(self) -> f64 {
        f64::from_bits(self.0)
    }
}
