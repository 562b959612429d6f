//! The data of a tensor literal: data type, shape, and the elements as little-endian bytes.

use std::sync::Arc;

use super::{DataType, TypeCode};
use crate::number::numeral::nearest;

/// An n-dimensional array in row-major order. Its elements are little-endian bytes; a Boolean is one byte, 0 or 1.
///
/// It is serialized as `dtype`, `shape` and `bits`: hexadecimal, two digits per byte, in memory order. Input may have
/// `values` instead of `bits`: a flat list of numbers that the data type represents exactly.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct TensorData {
    /// The data type of the elements.
    pub dtype: DataType,
    /// The dimensions, outermost first; empty for a scalar.
    pub shape: Arc<[u64]>,
    /// The elements in order.
    pub bytes: Arc<[u8]>,
}

/// The reason why a description of tensor data is rejected.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum TensorDataError {
    /// The data type has no elements.
    #[error("a tensor literal cannot have the data type {0}")]
    DataType(DataType),
    /// The number of elements does not match the shape.
    #[error("the shape asks for {expected} elements, {found} are given")]
    Count {
        /// The product of the dimensions.
        expected: u128,
        /// The number of elements.
        found: u128,
    },
    /// The text has an odd length or a character that is not a hexadecimal digit.
    #[error("`bits` must be pairs of hexadecimal digits")]
    Bits,
    /// A Boolean is neither 0 nor 1.
    #[error("the byte {0:#04x} is not a Boolean")]
    Boolean(u8),
    /// An integer of fewer than 8 bits is not sign-extended to its byte.
    #[error("the byte {byte:#04x} is no element of {dtype}")]
    Narrow {
        /// The byte.
        byte: u8,
        /// The data type.
        dtype: DataType,
    },
    /// The data type would round the number.
    #[error("{value} is not exactly representable as {dtype}")]
    Inexact {
        /// The number as written.
        value: String,
        /// The data type.
        dtype: DataType,
    },
    /// The number would round to infinity.
    #[error("{value} is beyond what {dtype} holds")]
    Beyond {
        /// The number as written.
        value: String,
        /// The data type.
        dtype: DataType,
    },
    /// Both fields are present, or neither is.
    #[error("give exactly one of `bits` and `values`")]
    Payload,
}

impl TensorData {
    /// Checks that the number of bytes matches the shape, that the data type has elements, and that Booleans are 0 or
    /// 1.
    pub fn new(dtype: DataType, shape: &[u64], bytes: impl Into<Arc<[u8]>>) -> Result<TensorData, TensorDataError> {
        let bytes = bytes.into();
        if !is_element_type(dtype) {
            return Err(TensorDataError::DataType(dtype));
        }
        let size = dtype.bytes() as u128;
        let expected = shape.iter().try_fold(1u128, |n, d| n.checked_mul(u128::from(*d))).unwrap_or(u128::MAX);
        let found = bytes.len() as u128 / size;
        if !(bytes.len() as u128).is_multiple_of(size) || found != expected {
            return Err(TensorDataError::Count { expected, found });
        }
        if let (true, Some(byte)) = (dtype.is_bool(), bytes.iter().find(|b| **b > 1)) {
            return Err(TensorDataError::Boolean(*byte));
        }
        if let (Some((low, high)), false) = (narrow_range(dtype), dtype.is_bool()) {
            let fits = |byte: &u8| match dtype.code {
                TypeCode::Int => (low..=high).contains(&byte.cast_signed().into()),
                TypeCode::UInt | TypeCode::Float | TypeCode::BFloat | TypeCode::Small(_) | TypeCode::Handle => {
                    (low..=high).contains(&(*byte).into())
                }
            };
            if let Some(byte) = bytes.iter().find(|byte| !fits(byte)) {
                return Err(TensorDataError::Narrow { byte: *byte, dtype });
            }
        }
        Ok(TensorData { dtype, shape: shape.into(), bytes })
    }

    /// A tensor from numbers that its data type represents exactly.
    pub fn from_values(dtype: DataType, shape: &[u64], values: &[f64]) -> Result<TensorData, TensorDataError> {
        let mut bytes = Vec::with_capacity(values.len() * dtype.bytes());
        for value in values {
            encode_exactly(dtype, *value, &mut bytes)?;
        }
        TensorData::new(dtype, shape, bytes)
    }

    /// A tensor from decimal numbers that its data type represents exactly. A float is first rounded to the nearest
    /// float64.
    pub fn from_numerals<T: AsRef<str>>(
        dtype: DataType,
        shape: &[u64],
        numerals: &[T],
    ) -> Result<TensorData, TensorDataError> {
        let mut bytes = Vec::with_capacity(numerals.len() * dtype.bytes());
        for numeral in numerals {
            encode_numeral(dtype, numeral.as_ref(), &mut bytes)?;
        }
        TensorData::new(dtype, shape, bytes)
    }

    /// A tensor from decimal numbers. A float is rounded once, to the nearest value; an integer must be exact.
    pub fn nearest_to_numerals<T: AsRef<str>>(
        dtype: DataType,
        shape: &[u64],
        numerals: &[T],
    ) -> Result<TensorData, TensorDataError> {
        let Some(float) = dtype.float_type() else { return TensorData::from_numerals(dtype, shape, numerals) };
        let mut bytes = Vec::with_capacity(numerals.len() * dtype.bytes());
        for numeral in numerals.iter().map(AsRef::as_ref) {
            let inexact = || TensorDataError::Inexact { value: numeral.into(), dtype };
            let bits = nearest(float, numeral).ok_or_else(inexact)?;
            if float.of_bits(bits).is_infinite() && !numeral.contains("inf") {
                return Err(TensorDataError::Beyond { value: numeral.into(), dtype });
            }
            bytes.extend(bits.to_le_bytes().iter().take(dtype.bytes()));
        }
        TensorData::new(dtype, shape, bytes)
    }

    /// A tensor from the hexadecimal digits of its bytes, two per byte, in memory order.
    pub fn from_hex(dtype: DataType, shape: &[u64], digits: &str) -> Result<TensorData, TensorDataError> {
        TensorData::new(dtype, shape, from_hex(digits)?)
    }

    /// The hexadecimal digits of the bytes.
    pub fn to_hex(&self) -> String {
        let mut digits = vec![0; self.bytes.len() * 2];
        // Each half of a byte is less than 16. Without branches, many are converted at once.
        let digit = |half: u8| half.wrapping_add(if half < 10 { b'0' } else { b'a' - 10 });
        for (pair, byte) in digits.as_chunks_mut::<2>().0.iter_mut().zip(self.bytes.iter()) {
            *pair = [digit(byte >> 4), digit(byte & 15)];
        }
        // They are ASCII.
        String::from_utf8(digits).unwrap_or_default()
    }
}

/// Whether a data type can be the type of tensor elements. Types of fewer than 8 bits take a byte per element.
fn is_element_type(dtype: DataType) -> bool {
    let widths: &[u16] = match dtype.code {
        TypeCode::Int => &[2, 4, 8, 16, 32, 64],
        TypeCode::UInt => &[1, 2, 4, 8, 16, 32, 64],
        TypeCode::Float => &[16, 32, 64],
        TypeCode::BFloat => &[16],
        TypeCode::Small(_) => return dtype.lanes == 1,
        TypeCode::Handle => &[],
    };
    dtype.lanes == 1 && widths.contains(&dtype.bits)
}

/// The smallest and the largest integer of a data type of fewer than 8 bits.
fn narrow_range(dtype: DataType) -> Option<(i16, i16)> {
    match (dtype.code, dtype.bits) {
        (TypeCode::Int, bits @ (2 | 4)) => Some((-(1 << (bits - 1)), (1 << (bits - 1)) - 1)),
        (TypeCode::UInt, bits @ (1 | 2 | 4)) => Some((0, (1 << bits) - 1)),
        (
            TypeCode::Int | TypeCode::UInt | TypeCode::Float | TypeCode::BFloat | TypeCode::Small(_) | TypeCode::Handle,
            _,
        ) => None,
    }
}

/// Appends the encoding of a number as written. An integer may have more digits than a float64 keeps.
fn encode_numeral(dtype: DataType, numeral: &str, bytes: &mut Vec<u8>) -> Result<(), TensorDataError> {
    let inexact = || TensorDataError::Inexact { value: numeral.into(), dtype };
    let integer = dtype.bits == 64 && matches!(dtype.code, TypeCode::Int | TypeCode::UInt);
    match numeral.parse::<i128>() {
        Ok(int) if integer && dtype.code == TypeCode::Int => {
            bytes.extend(i64::try_from(int).map_err(|_| inexact())?.to_le_bytes());
        }
        Ok(int) if integer => bytes.extend(u64::try_from(int).map_err(|_| inexact())?.to_le_bytes()),
        Ok(_) | Err(_) => encode_exactly(dtype, numeral.parse().map_err(|_| inexact())?, bytes)?,
    }
    Ok(())
}

/// Appends the encoding of `value`, if it is exact.
fn encode_exactly(dtype: DataType, value: f64, bytes: &mut Vec<u8>) -> Result<(), TensorDataError> {
    let inexact = || TensorDataError::Inexact { value: value.to_string(), dtype };
    macro_rules! int {
        ($t:ty) => {{
            let int = value as $t;
            // `as` saturates, so a value just beyond the maximum would compare equal to the rounded maximum.
            if int as f64 != value || value >= (<$t>::MAX as f64) + 1.0 {
                return Err(inexact());
            }
            bytes.extend(int.to_le_bytes());
        }};
    }
    if let Some(float) = dtype.float_type() {
        if float.round(value) != value && !value.is_nan() {
            return Err(inexact());
        }
        bytes.extend(float.to_bits(value).to_le_bytes().iter().take(dtype.bytes()));
        return Ok(());
    }
    if let Some((low, high)) = narrow_range(dtype) {
        let int = value as i16;
        if f64::from(int) != value || !(low..=high).contains(&int) {
            return Err(inexact());
        }
        // The low byte, which is sign-extended.
        bytes.extend(int.to_le_bytes().iter().take(1));
        return Ok(());
    }
    match (dtype.code, dtype.bits) {
        (TypeCode::Int, 8) => int!(i8),
        (TypeCode::Int, 16) => int!(i16),
        (TypeCode::Int, 32) => int!(i32),
        (TypeCode::Int, 64) => int!(i64),
        (TypeCode::UInt, 8) => int!(u8),
        (TypeCode::UInt, 16) => int!(u16),
        (TypeCode::UInt, 32) => int!(u32),
        (TypeCode::UInt, 64) => int!(u64),
        (
            TypeCode::Int | TypeCode::UInt | TypeCode::Float | TypeCode::BFloat | TypeCode::Small(_) | TypeCode::Handle,
            _,
        ) => {
            return Err(TensorDataError::DataType(dtype));
        }
    }
    Ok(())
}

fn from_hex(text: &str) -> Result<Vec<u8>, TensorDataError> {
    // Without branches, many are converted at once. What is no digit is more than 15.
    let digit = |c: u8| match (c.wrapping_sub(b'0'), (c | 0x20).wrapping_sub(b'a')) {
        (number, _) if number < 10 => number,
        (_, letter) if letter < 6 => letter.wrapping_add(10),
        _ => u8::MAX,
    };
    let (pairs, rest) = text.as_bytes().as_chunks::<2>();
    let (mut bytes, mut all) = (vec![0; pairs.len()], 0);
    for (byte, [high, low]) in bytes.iter_mut().zip(pairs) {
        let (high, low) = (digit(*high), digit(*low));
        all |= high | low;
        *byte = high << 4 | low & 15;
    }
    if all > 15 || !rest.is_empty() {
        return Err(TensorDataError::Bits);
    }
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_are_pairs_of_hexadecimal_digits() {
        let bytes: Vec<u8> = (0..=255).collect();
        let data = TensorData::new(DataType::UINT8, &[256], bytes.clone()).unwrap();
        let digits = data.to_hex();
        assert!(digits.starts_with("000102") && digits.ends_with("fdfeff"), "{digits}");
        assert_eq!(from_hex(&digits), Ok(bytes.clone()));
        assert_eq!(from_hex(&digits.to_uppercase()), Ok(bytes));
        for no_digits in ["0", "000", "0/", "0:", "@0", "g0", "G0", "0`", "[0", "\u{e9}", "0\u{10}", "a "] {
            assert_eq!(from_hex(no_digits), Err(TensorDataError::Bits), "{no_digits}");
        }
    }

    #[test]
    fn integers_of_fewer_than_eight_bits() {
        for (code, bits, low, high) in [
            (TypeCode::Int, 2, -2i16, 1),
            (TypeCode::Int, 4, -8, 7),
            (TypeCode::UInt, 2, 0, 3),
            (TypeCode::UInt, 4, 0, 15),
        ] {
            let dtype = DataType::new(code, bits);
            for value in -20..20 {
                let data = TensorData::from_values(dtype, &[1], &[value.into()]);
                assert_eq!(data.is_ok(), (low..=high).contains(&value), "{value} as {dtype}");
                let byte = value.to_le_bytes()[0];
                assert_eq!(data.is_ok(), TensorData::new(dtype, &[1], vec![byte]).is_ok(), "{byte} as {dtype}");
            }
            assert!(TensorData::from_values(dtype, &[1], &[0.5]).is_err());
        }
        assert!(TensorData::from_values(DataType::BOOL, &[1], &[1.0]).is_ok());
        assert!(TensorData::from_values(DataType::BOOL, &[1], &[2.0]).is_err());
    }
}
