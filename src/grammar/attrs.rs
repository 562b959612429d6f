//! Attributes of calls, functions and modules: a map from names to simple data, in the order of the names.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::{DataType, Name, PrimExpr, StructInfo};

/// Attributes by name.
pub type Attrs = BTreeMap<Name, AttrValue>;

/// The value of an attribute.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
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

/// A float64 compared by its bits; serialized as the 16 hexadecimal digits of its bits.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct FloatBits(u64);

impl FloatBits {
    pub fn new(value: f64) -> FloatBits {
        FloatBits(value.to_bits())
    }

    pub fn get(self) -> f64 {
        f64::from_bits(self.0)
    }
}

impl From<FloatBits> for String {
    fn from(bits: FloatBits) -> String {
        format!("{:016x}", bits.0)
    }
}

impl TryFrom<String> for FloatBits {
    type Error = String;

    fn try_from(text: String) -> Result<FloatBits, String> {
        match u64::from_str_radix(&text, 16) {
            Ok(bits) if text.len() == 16 => Ok(FloatBits(bits)),
            Ok(_) | Err(_) => Err(format!("`{text}` is not a float64 as 16 hexadecimal digits")),
        }
    }
}
