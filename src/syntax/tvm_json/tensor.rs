//! Tensors in TVM's saved form: in base 64, a header, the type and the shape, and the elements.

use std::sync::Arc;

use crate::grammar::{DataType, SmallFloat, TensorData, TypeCode};

/// The beginning of each saved tensor.
const MAGIC: u64 = 0xDD5E_40F0_96B4_A13F;

/// The maximum number of dimensions that is accepted.
const MAX_RANK: u32 = 1_000;

/// Reads a tensor. Its elements are decoded directly to their final place, because they are most of a model.
///
/// # Errors
///
/// The error in the text.
pub fn saved_tensor(text: &str) -> Result<TensorData, String> {
    read_tensor(Encoded::of(text, Slashes::Plain))
}

/// The same for a string in JSON, between its quotes. TVM's writer escapes each slash, and a copy without these escapes
/// would be as large as the file.
pub(super) fn saved_tensor_in_json(text: &str) -> Result<TensorData, String> {
    read_tensor(Encoded::of(text, Slashes::Escaped))
}

/// Whether a JSON string has only escapes of slashes.
pub(super) fn escapes_slashes_only(text: &str) -> bool {
    text.split('\\').skip(1).all(|behind| behind.starts_with('/'))
}

/// The spelling of a slash, which is a digit of base 64.
#[derive(Clone, Copy)]
enum Slashes {
    Plain,
    /// `\/` or plain, as JSON allows.
    Escaped,
}

/// The character before an escaped slash.
const ESCAPE: u8 = b'\\';

fn read_tensor(encoded: Option<Encoded<'_>>) -> Result<TensorData, String> {
    let mut rest = encoded.ok_or("the tensor is not in base 64")?;
    let cut = || "the tensor is cut off".to_string();
    if rest.u64() != Some(MAGIC) {
        return Err("this is not how a tensor begins".to_string());
    }
    // Reserved fields, and the device.
    rest.number::<16>().ok_or_else(cut)?;
    let rank = rest.u32().ok_or_else(cut)?;
    let (code, bits, lanes) = (rest.u8(), rest.u8(), rest.u16());
    let (Some(code), Some(bits), Some(lanes)) = (code, bits, lanes) else { return Err(cut()) };
    let dtype = data_type(code, bits, lanes).ok_or("the tensor has a data type that is not known")?;
    if rank > MAX_RANK {
        return Err(format!("the tensor has {rank} dimensions"));
    }
    let shape = (0..rank).map(|_| rest.u64()).collect::<Option<Vec<u64>>>().ok_or_else(cut)?;
    let length = rest.u64().and_then(|length| usize::try_from(length).ok()).ok_or_else(cut)?;
    let data = rest.bytes(length).ok_or_else(cut)?;
    let elements = if dtype.bits < 8 && !dtype.is_bool() { unpacked(dtype, &shape, &data).into() } else { data };
    TensorData::new(dtype, &shape, elements).map_err(|error| error.to_string())
}

/// Writes a tensor in the form that [`saved_tensor`] reads.
pub fn tensor_to_save(data: &TensorData) -> String {
    let code = match data.dtype.code {
        _ if data.dtype.is_bool() => 6,
        TypeCode::Int => 0,
        TypeCode::UInt => 1,
        TypeCode::Float => 2,
        TypeCode::Handle => 3,
        TypeCode::BFloat => 4,
        TypeCode::Small(format) => {
            let place = SmallFloat::ALL.iter().position(|known| *known == format).and_then(|at| u8::try_from(at).ok());
            place.map_or(u8::MAX, |place| place.saturating_add(7))
        }
    };
    // Elements of fewer than 8 bits get one byte each, a form that can be read too.
    let bits = if data.dtype.is_bool() { 8 } else { u8::try_from(data.dtype.bits).unwrap_or(u8::MAX) };
    let mut bytes = MAGIC.to_le_bytes().to_vec();
    // Reserved fields, and the device: the first processor.
    bytes.extend([0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0]);
    bytes.extend(u32::try_from(data.shape.len()).unwrap_or(u32::MAX).to_le_bytes());
    bytes.extend([code, bits]);
    bytes.extend(1u16.to_le_bytes());
    data.shape.iter().for_each(|size| bytes.extend(size.to_le_bytes()));
    bytes.extend((data.bytes.len() as u64).to_le_bytes());
    bytes.extend(data.bytes.iter());
    to_base64(&bytes)
}

/// The datatype with a number of DLPack.
fn data_type(code: u8, bits: u8, lanes: u16) -> Option<DataType> {
    // A number needs at least one bit.
    let scalar = match code {
        0 | 1 | 2 | 4 if bits == 0 => return None,
        0 => DataType::new(TypeCode::Int, bits.into()),
        1 => DataType::new(TypeCode::UInt, bits.into()),
        2 => DataType::new(TypeCode::Float, bits.into()),
        3 => DataType::HANDLE,
        4 => DataType::new(TypeCode::BFloat, bits.into()),
        6 => DataType::BOOL,
        code => DataType::small(*SmallFloat::ALL.get(usize::from(code.checked_sub(7)?))?),
    };
    Some(DataType { lanes, ..scalar })
}

/// Elements of fewer than 8 bits are packed into bytes, the first in the low bits. Here each gets a byte, and integers
/// are sign-extended.
fn unpacked(dtype: DataType, shape: &[u64], data: &[u8]) -> Vec<u8> {
    let width = usize::from(dtype.bits);
    let whole = |low: u8| match dtype.code {
        TypeCode::Int => ((low << (8 - width)).cast_signed() >> (8 - width)).cast_unsigned(),
        TypeCode::UInt | TypeCode::Float | TypeCode::BFloat | TypeCode::Small(_) | TypeCode::Handle => low,
    };
    let count = shape.iter().try_fold(1u64, |n, dim| n.checked_mul(*dim)).and_then(|n| usize::try_from(n).ok());
    // Some releases give each element a byte.
    if count == Some(data.len()) {
        return data.iter().map(|byte| whole(byte & ((1 << width) - 1))).collect();
    }
    let count = count.unwrap_or(0).min(data.len() * 8 / width);
    let bit = |at: usize| data.get(at / 8).map_or(0, |byte| byte >> (at % 8) & 1);
    let element = |i: usize| (0..width).fold(0, |value, at| value | bit(i * width + at) << at);
    (0..count).map(|i| whole(element(i))).collect()
}

/// A text in base 64 from which bytes are read in sequence.
struct Encoded<'t> {
    digits: std::slice::Iter<'t, u8>,
    /// The bytes of the last four digits, and the number of those that were read.
    group: [u8; 3],
    used: usize,
    /// The number of remaining bytes.
    left: usize,
}

impl<'t> Encoded<'t> {
    /// The text with or without `=` at its end; `None` if it is not base 64.
    fn of(text: &'t str, slashes: Slashes) -> Option<Encoded<'t>> {
        let digits = text.trim_end_matches('=').as_bytes();
        let passed = match slashes {
            Slashes::Plain => 0,
            Slashes::Escaped => digits.iter().filter(|digit| **digit == ESCAPE).count(),
        };
        let count = digits.len() - passed;
        let last = match count % 4 {
            0 => 0,
            1 => return None,
            digits => digits - 1,
        };
        let left = count / 4 * 3 + last;
        let known = digits.iter().filter(|digit| sextet(**digit) != NO_DIGIT).count();
        (known == count).then_some(Encoded { digits: digits.iter(), group: [0; 3], used: 3, left })
    }

    /// Reads this many bytes into new memory.
    fn bytes(&mut self, count: usize) -> Option<Arc<[u8]>> {
        if count > self.left {
            return None;
        }
        let mut bytes: Arc<[u8]> = std::iter::repeat_n(0, count).collect();
        self.fill(Arc::get_mut(&mut bytes)?)?;
        Some(bytes)
    }

    fn fill(&mut self, out: &mut [u8]) -> Option<()> {
        self.left = self.left.checked_sub(out.len())?;
        let (begun, whole) = out.split_at_mut((3 - self.used).min(out.len()));
        begun.copy_from_slice(self.group.get(self.used..self.used + begun.len())?);
        self.used += begun.len();
        for three in whole.chunks_mut(3) {
            self.group = self.next_group();
            self.used = three.len();
            three.copy_from_slice(self.group.get(..self.used)?);
        }
        Some(())
    }

    /// The bytes of the next four digits. If there are fewer digits, the last bytes have no meaning.
    fn next_group(&mut self) -> [u8; 3] {
        let mut next = || self.digits.by_ref().find(|digit| **digit != ESCAPE).map_or(0, |digit| sextet(*digit).into());
        let word: u32 = next() << 18 | next() << 12 | next() << 6 | next();
        let [_, a, b, c] = word.to_be_bytes();
        [a, b, c]
    }

    fn number<const N: usize>(&mut self) -> Option<[u8; N]> {
        let mut number = [0; N];
        self.fill(&mut number)?;
        Some(number)
    }

    fn u8(&mut self) -> Option<u8> {
        self.number().map(u8::from_le_bytes)
    }

    fn u16(&mut self) -> Option<u16> {
        self.number().map(u16::from_le_bytes)
    }

    fn u32(&mut self) -> Option<u32> {
        self.number().map(u32::from_le_bytes)
    }

    fn u64(&mut self) -> Option<u64> {
        self.number().map(u64::from_le_bytes)
    }
}

fn to_base64(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for group in bytes.chunks(3) {
        let word = group.iter().fold(0u32, |word, byte| word << 8 | u32::from(*byte)) << (8 * (3 - group.len()));
        for at in 0..4 {
            let digit = DIGITS.get((word >> (18 - 6 * at) & 63) as usize).copied().unwrap_or(b'=');
            text.push(char::from(if at <= group.len() { digit } else { b'=' }));
        }
    }
    text
}

/// The entry in [`SEXTETS`] for a character that is not a digit.
const NO_DIGIT: u8 = 0xff;

const SEXTETS: [u8; 256] = {
    let digits = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut sextets = [NO_DIGIT; 256];
    let mut value = 0;
    while value < digits.len() {
        sextets[digits[value] as usize] = value as u8;
        value += 1;
    }
    sextets
};

fn sextet(digit: u8) -> u8 {
    SEXTETS[usize::from(digit)]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base_64() {
        for (text, bytes) in [("", &b""[..]), ("TQ==", b"M"), ("TWE=", b"Ma"), ("TWFu", b"Man"), ("TWFuTQ", b"ManM")] {
            let mut encoded = Encoded::of(text, Slashes::Plain).unwrap();
            assert_eq!(encoded.left, bytes.len(), "{text}");
            assert_eq!(encoded.bytes(bytes.len()).as_deref(), Some(bytes), "{text}");
            assert_eq!(encoded.bytes(1), None, "{text}");
            assert_eq!(to_base64(bytes).trim_end_matches('='), text.trim_end_matches('='));
        }
        for text in ["T", "TW-u", "T===", "é", "TW\\/u", "\\TWF"] {
            assert!(Encoded::of(text, Slashes::Plain).is_none(), "{text}");
        }
    }

    #[test]
    fn slashes_as_json_has_them() {
        for (text, bytes) in [("\\/\\/\\/\\/", &[255, 255, 255][..]), ("/\\/8=", &[255, 255]), ("a\\/==", &[107])] {
            assert!(escapes_slashes_only(text));
            let mut encoded = Encoded::of(text, Slashes::Escaped).unwrap();
            assert_eq!(encoded.bytes(bytes.len()).as_deref(), Some(bytes), "{text}");
            assert_eq!(encoded.bytes(1), None, "{text}");
        }
        for text in ["\\n", "\\u002f", "a\\", "\\\\/"] {
            assert!(!escapes_slashes_only(text), "{text}");
        }
    }

    proptest::proptest! {
        /// The result does not depend on the number of bytes read at once.
        #[test]
        fn bytes_in_pieces(bytes: Vec<u8>, pieces: Vec<u8>) {
            let mut digits = Vec::new();
            for three in bytes.chunks(3) {
                let at = |i: usize| u32::from(three.get(i).copied().unwrap_or(0));
                let word = at(0) << 16 | at(1) << 8 | at(2);
                let digit = |i: usize| SEXTETS.iter().position(|value| u32::from(*value) == word >> (18 - 6 * i) & 63);
                digits.extend((0..=three.len()).map(|i| u8::try_from(digit(i).unwrap()).unwrap()));
            }
            let text = String::from_utf8(digits).unwrap();
            let mut encoded = Encoded::of(&text, Slashes::Plain).unwrap();
            let mut found = Vec::new();
            for piece in pieces.into_iter().chain([u8::MAX]).cycle() {
                let count = usize::from(piece).min(bytes.len() - found.len());
                found.extend_from_slice(&encoded.bytes(count).unwrap());
                if found.len() == bytes.len() {
                    break;
                }
            }
            proptest::prop_assert_eq!(found, bytes);
        }
    }

    /// Saved by TVM 0.25: the tensor `[0, 2]` of int64.
    #[test]
    fn a_saved_tensor() {
        let text = "P6G0lvBAXt0AAAAAAAAAAAEAAAAAAAAAAQAAAABAAQACAAAAAAAAABAAAAAAAAAAAAAAAAAAAAACAAAAAAAAAA==";
        let data = saved_tensor(text).unwrap();
        assert_eq!(tensor_to_save(&data).len(), text.len());
        assert_eq!(saved_tensor(&tensor_to_save(&data)).unwrap(), data);
        assert_eq!((data.dtype, &*data.shape, data.bytes.len(), data.bytes[8]), (DataType::INT64, &[2][..], 16, 2));
        assert_eq!(saved_tensor(&text[..60]).unwrap_err(), "the tensor is cut off");
        assert_eq!(saved_tensor("AAAA").unwrap_err(), "this is not how a tensor begins");
    }

    #[test]
    fn narrow_elements() {
        let int4 = DataType::new(TypeCode::Int, 4);
        assert_eq!(unpacked(int4, &[3], &[0x21, 0x03]), [1, 2, 3]);
        assert_eq!(unpacked(int4, &[2], &[1, 2]), [1, 2]);
        // -1 and -8, packed and with a byte each, of which the high half is ignored.
        assert_eq!(unpacked(int4, &[2], &[0x8f]), [0xff, 0xf8]);
        assert_eq!(unpacked(int4, &[2], &[0x0f, 0xf8]), [0xff, 0xf8]);
        assert_eq!(unpacked(DataType::new(TypeCode::Int, 2), &[4], &[0b1101_1000]), [0, 0xfe, 1, 0xff]);
        assert_eq!(unpacked(DataType::new(TypeCode::UInt, 4), &[2], &[0x8f]), [15, 8]);
    }

    #[test]
    fn a_number_has_bits() {
        for code in [0, 1, 2, 4] {
            assert_eq!(data_type(code, 0, 1), None);
        }
    }
}
