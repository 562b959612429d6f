//! `DataType`, as in TIR (C02): a type code, a width in bits and a number of lanes.

use std::fmt;
use std::str::FromStr;

use crate::book::Rule;
use crate::number::FloatType;
pub use crate::number::SmallFloat;

/// The kinds of scalar.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub enum TypeCode {
    /// Signed integers.
    Int,
    /// Unsigned integers, including Booleans (`UInt(1, 1)`).
    UInt,
    /// IEEE floats.
    Float,
    /// `bfloat16`.
    BFloat,
    /// Floats of 8 bits or fewer.
    Small(SmallFloat),
    /// Pointers. Without lanes it is the unknown data type.
    Handle,
}

/// A scalar or vector data type. [`DataType::VOID`] is the unknown data type, [`DataType::BOOL`] is an
/// abbreviation of `UInt(1, 1)`.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct DataType {
    /// The kind of scalar.
    pub code: TypeCode,
    /// The width of a scalar in bits.
    pub bits: u16,
    /// The number of scalars in an element: 1 for scalar types, 0 for `Void`.
    pub lanes: u16,
}

/// A text that is not a data type.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("`{0}` is not a data type{meant} (expected e.g. `float32`, `int64`, `bool`, `void`, `float16x4`)", meant = crate::book::or_meant(.0, DataType::USUAL))]
pub struct DataTypeError(pub String);

impl DataType {
    /// The names of the common data types.
    pub const USUAL: [&'static str; 13] = [
        "float32", "float16", "float64", "bfloat16", "int32", "int64", "int8", "int16", "uint8", "uint16", "uint32",
        "uint64", "bool",
    ];
    /// `GRAM.DTYPE.BOOL`: an unsigned integer of one bit.
    pub const BOOL: DataType = DataType::new(TypeCode::UInt, 1);
    /// `GRAM.DTYPE.VOID`: the unknown data type, a handle without lanes.
    pub const VOID: DataType = DataType { code: TypeCode::Handle, bits: 64, lanes: 0 };
    /// A pointer.
    pub const HANDLE: DataType = DataType::new(TypeCode::Handle, 64);
    /// 8 bits, signed.
    pub const INT8: DataType = DataType::new(TypeCode::Int, 8);
    /// 16 bits, signed.
    pub const INT16: DataType = DataType::new(TypeCode::Int, 16);
    /// 32 bits, signed.
    pub const INT32: DataType = DataType::new(TypeCode::Int, 32);
    /// 64 bits, signed: the data type of dimensions.
    pub const INT64: DataType = DataType::new(TypeCode::Int, 64);
    /// 8 bits, unsigned.
    pub const UINT8: DataType = DataType::new(TypeCode::UInt, 8);
    /// 16 bits, unsigned.
    pub const UINT16: DataType = DataType::new(TypeCode::UInt, 16);
    /// 32 bits, unsigned.
    pub const UINT32: DataType = DataType::new(TypeCode::UInt, 32);
    /// 64 bits, unsigned.
    pub const UINT64: DataType = DataType::new(TypeCode::UInt, 64);
    /// IEEE half precision.
    pub const FLOAT16: DataType = DataType::new(TypeCode::Float, 16);
    /// IEEE single precision.
    pub const FLOAT32: DataType = DataType::new(TypeCode::Float, 32);
    /// IEEE double precision.
    pub const FLOAT64: DataType = DataType::new(TypeCode::Float, 64);
    /// The upper half of a single-precision float.
    pub const BFLOAT16: DataType = DataType::new(TypeCode::BFloat, 16);

    /// The scalar (one lane) type of a code and width.
    pub const fn new(code: TypeCode, bits: u16) -> DataType {
        DataType { code, bits, lanes: 1 }
    }

    /// Whether this is `Void`, the unknown data type.
    pub fn is_void(self) -> bool {
        self == DataType::VOID
    }

    /// Whether it is a scalar Boolean.
    pub fn is_bool(self) -> bool {
        self == DataType::BOOL
    }

    /// Whether it is a signed integer, of any width and number of lanes.
    pub fn is_int(self) -> bool {
        self.code == TypeCode::Int
    }

    /// Whether it is an unsigned integer, including Booleans.
    pub fn is_uint(self) -> bool {
        self.code == TypeCode::UInt
    }

    /// The scalar type of a format of small floats.
    pub const fn small(format: SmallFloat) -> DataType {
        DataType::new(TypeCode::Small(format), format.bits())
    }

    /// Whether it is a float, including `bfloat16` and small floats.
    pub fn is_float(self) -> bool {
        match self.code {
            TypeCode::Float | TypeCode::BFloat | TypeCode::Small(_) => true,
            TypeCode::Int | TypeCode::UInt | TypeCode::Handle => false,
        }
    }

    /// The floating-point type, if this is a scalar of one.
    pub fn float_type(self) -> Option<FloatType> {
        match (self.code, self.bits, self.lanes) {
            (TypeCode::Float, 16, 1) => Some(FloatType::Float16),
            (TypeCode::BFloat, 16, 1) => Some(FloatType::BFloat16),
            (TypeCode::Float, 32, 1) => Some(FloatType::Float32),
            (TypeCode::Float, 64, 1) => Some(FloatType::Float64),
            (
                TypeCode::Int
                | TypeCode::UInt
                | TypeCode::Float
                | TypeCode::BFloat
                | TypeCode::Small(_)
                | TypeCode::Handle,
                _,
                _,
            ) => None,
        }
    }

    /// PR14148.DTYPE.LANES1, PR14148.DTYPE.HANDLE-BITS64, PR14148.DTYPE.HANDLE-LANES0: the limit that a data type of
    /// TIR exceeds, if Relax does not admit it.
    pub fn inadmissible(self) -> Option<Rule> {
        match self.code {
            TypeCode::Int | TypeCode::UInt | TypeCode::Float | TypeCode::BFloat | TypeCode::Small(_) => {
                (self.lanes != 1).then_some(rule!("PR14148.DTYPE.LANES1"))
            }
            TypeCode::Handle if self.bits != 64 => Some(rule!("PR14148.DTYPE.HANDLE-BITS64")),
            TypeCode::Handle => (self.lanes != 0).then_some(rule!("PR14148.DTYPE.HANDLE-LANES0")),
        }
    }

    /// The size of an element in bytes. A Boolean takes one byte.
    pub fn bytes(self) -> usize {
        usize::from(self.bits).div_ceil(8) * usize::from(self.lanes.max(1))
    }
}

impl fmt::Display for DataType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_void() {
            return f.write_str("void");
        }
        match (self.code, self.bits) {
            (TypeCode::UInt, 1) => f.write_str("bool")?,
            (TypeCode::Handle, 64) => f.write_str("handle")?,
            (TypeCode::Handle, bits) => write!(f, "handle{bits}")?,
            (TypeCode::Int, bits) => write!(f, "int{bits}")?,
            (TypeCode::UInt, bits) => write!(f, "uint{bits}")?,
            (TypeCode::Float, bits) => write!(f, "float{bits}")?,
            (TypeCode::BFloat, bits) => write!(f, "bfloat{bits}")?,
            (TypeCode::Small(format), _) => f.write_str(format.name())?,
        }
        match self.lanes {
            1 => Ok(()),
            lanes => write!(f, "x{lanes}"),
        }
    }
}

impl FromStr for DataType {
    type Err = DataTypeError;

    /// Reads `float32`, `f32`, `int64x4`, `bool`, `handle`; the empty text and `void` are `Void`.
    fn from_str(text: &str) -> Result<DataType, DataTypeError> {
        let error = || DataTypeError(text.to_string());
        let (scalar, lanes) = match text.split_once('x') {
            None => (text, 1),
            Some((scalar, lanes)) => (scalar, lanes.parse().map_err(|_| error())?),
        };
        if let Some(format) = SmallFloat::ALL.iter().find(|format| format.name() == scalar) {
            return Ok(DataType { lanes, ..DataType::small(*format) });
        }
        let split = scalar.find(|c: char| c.is_ascii_digit()).unwrap_or(scalar.len());
        let (word, bits) = scalar.split_at(split);
        let code = match (word, bits) {
            ("" | "void", "") if lanes == 1 => return Ok(DataType::VOID),
            ("bool", "") => return Ok(DataType { lanes, ..DataType::BOOL }),
            ("handle", "") => return Ok(DataType { lanes, ..DataType::HANDLE }),
            ("int" | "i", _) => TypeCode::Int,
            ("uint" | "u", _) => TypeCode::UInt,
            ("float" | "f", _) => TypeCode::Float,
            ("bfloat" | "bf", _) => TypeCode::BFloat,
            ("handle", _) => TypeCode::Handle,
            _ => return Err(error()),
        };
        // `int07` would be a second spelling of `int7`.
        if bits.is_empty() || bits.starts_with('0') {
            return Err(error());
        }
        Ok(DataType { code, bits: bits.parse().map_err(|_| error())?, lanes })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spelling_round_trips() {
        for text in
            ["float32", "int64", "bool", "void", "handle", "bfloat16", "uint8", "float16x4", "int1", "float8_e4m3fnx2"]
        {
            assert_eq!(text.parse::<DataType>().unwrap().to_string(), text);
        }
    }

    #[test]
    fn not_data_types() {
        for text in ["float", "int064", "x4", "f 32", "complex64", "float32x", "int99999", "void3"] {
            assert!(text.parse::<DataType>().is_err(), "{text}");
        }
    }
}
