//! Array files. Of NumPy, `.npy` contains one array, `.npz` several by name; so does `.safetensors`.
//!
//! Arrays with any order of elements and of bytes are read. NumPy has no bfloat16. `ml_dtypes` writes it as raw data
//! with two bytes per element (`<V2` or `|V2`). Such data is read as bfloat16, and bfloat16 is written in this form.
//! Raw data with one byte per element, which may be float8 or int4, is rejected, because the file does not say which
//! type it is.

use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, BufReader, Cursor, Read, Seek, SeekFrom, Write};
use std::path::Path;

use ndarray_npy::npy::header::{Header, Layout, ReadHeaderError, WriteHeaderError};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use zip::result::ZipError;
use zip::write::SimpleFileOptions;
use zip::{ZipArchive, ZipWriter};

use ask::checkout::write_atomically;
use relax_spec::grammar::{DataType, TensorData, TensorDataError, TypeCode};

/// The reason why there is no array.
#[derive(Debug, thiserror::Error)]
pub enum ArrayError {
    /// Reading or writing failed.
    #[error("{0}")]
    Io(#[from] io::Error),
    /// The file begins with neither of the two magic numbers.
    #[error("it is neither an .npy nor an .npz nor a .safetensors file")]
    Magic,
    /// The header cannot be read.
    #[error("its header is not that of an .npy file: {0}")]
    Header(String),
    /// The archive cannot be read.
    #[error("the archive is unreadable: {0}")]
    Zip(#[from] ZipError),
    /// The header of a safetensors file cannot be read, or does not fit the file.
    #[error("it is no safetensors file: {0}")]
    Safe(String),
    /// The type as written, with the reason why it is not supported.
    #[error("its elements are of type {0}: {1}")]
    Elements(String, &'static str),
    /// The array is larger than any memory.
    #[error("an array of shape {0:?} has more bytes than there are")]
    Overflow(Vec<usize>),
    /// The number of bytes for the shape differs from that in the file.
    #[error("it ends too early: its header says {expected} bytes of data, and there are {found}")]
    Truncated {
        /// The number by the header.
        expected: u64,
        /// The number in the file.
        found: u64,
    },
    /// There is more data after the array.
    #[error("something follows its data, which has {0} bytes by its header")]
    Trailing(u64),
    /// It exceeds the memory limit of the run.
    #[error("out of memory: an array takes {0} bytes (--memory allows more bytes)")]
    Memory(u64),
    /// Some bytes are not a valid element.
    #[error("{0}")]
    Data(#[from] TensorDataError),
    /// The requested name, and the existing ones.
    #[error("there is no array `{0}`; there are: {1}")]
    Name(String, String),
    /// There are several arrays, and no name was given.
    #[error("which of its arrays? {0}")]
    Which(String),
}

/// The maximum length of a header. NumPy itself reads 10,000 bytes.
const LONGEST_HEADER: u64 = 1 << 16;
/// The maximum nesting of brackets in a header.
const DEEPEST_HEADER: usize = 16;
const NPY: &[u8] = b"\x93NUMPY";
const ZIP: &[u8] = b"PK";
/// A safetensors file begins with the length of its header, in so many bytes, and the brace of the header.
const SAFE_LENGTH: usize = 8;
const SAFE_START: u64 = SAFE_LENGTH as u64 + 1;
/// The maximum length of that header, as the format has it.
const LONGEST_SAFE_HEADER: u64 = 100_000_000;

/// A file with arrays.
pub enum Arrays {
    /// `.npy`: the file, from its start.
    One(BufReader<File>),
    /// `.npz`.
    Several(Box<ZipArchive<BufReader<File>>>),
    /// `.safetensors`.
    Safe(Box<SafeArrays>),
}

/// A safetensors file: the length of a header, the header in JSON, and the data.
pub struct SafeArrays {
    file: BufReader<File>,
    header: BTreeMap<String, SafeArray>,
    /// The offset of the data.
    start: u64,
}

impl Arrays {
    /// Opens a file. Its first bytes determine the kind.
    pub fn open(path: &Path) -> Result<Arrays, ArrayError> {
        // A pipe or a device may never end.
        if !fs::metadata(path)?.is_file() {
            return Err(io::Error::other("it is no file").into());
        }
        let mut file = BufReader::new(File::open(path)?);
        let mut magic = Vec::new();
        file.by_ref().take(SAFE_START).read_to_end(&mut magic)?;
        file.seek(SeekFrom::Start(0))?;
        if magic.starts_with(NPY) {
            Ok(Arrays::One(file))
        } else if magic.starts_with(ZIP) {
            Ok(Arrays::Several(Box::new(ZipArchive::new(file)?)))
        } else if magic.get(SAFE_LENGTH..) == Some(b"{".as_slice()) {
            Ok(Arrays::Safe(Box::new(SafeArrays::open(file)?)))
        } else {
            Err(ArrayError::Magic)
        }
    }

    /// The names of the arrays, in order; empty for an `.npy`.
    pub fn names(&self) -> Vec<String> {
        match self {
            Arrays::One(_) => Vec::new(),
            Arrays::Safe(arrays) => arrays.header.keys().cloned().collect(),
            Arrays::Several(archive) => {
                let mut names: Vec<String> = (0..archive.len())
                    .filter_map(|i| archive.name_for_index(i)?.ok())
                    .filter_map(|name| name.strip_suffix(".npy").map(str::to_string))
                    .collect();
                names.sort_unstable();
                names
            }
        }
    }

    /// The names for a message.
    fn known(&self) -> String {
        let names = self.names();
        if names.is_empty() { "none with a name".to_string() } else { names.join(", ") }
    }

    /// The array of a name, or the only one. `budget` is the number of bytes that are still allowed, and is reduced.
    pub fn read(&mut self, name: Option<&str>, budget: &mut u64) -> Result<TensorData, ArrayError> {
        let of_name = |name: &str| format!("{name}.npy");
        let entry = match (&*self, name) {
            (Arrays::One(_), None) => None,
            (Arrays::Safe(arrays), Some(name)) if arrays.header.contains_key(name) => Some(name.to_string()),
            (Arrays::Several(archive), Some(name)) if archive.index_for_name(&of_name(name)).is_some() => {
                Some(of_name(name))
            }
            (Arrays::One(_) | Arrays::Several(_) | Arrays::Safe(_), Some(name)) => {
                return Err(ArrayError::Name(name.into(), self.known()));
            }
            (Arrays::Several(_) | Arrays::Safe(_), None) => match self.names().as_slice() {
                [only] if matches!(self, Arrays::Safe(_)) => Some(only.clone()),
                [only] => Some(of_name(only)),
                [..] => return Err(ArrayError::Which(self.known())),
            },
        };
        match (self, entry) {
            (Arrays::One(file), _) => npy(file, budget),
            (Arrays::Several(archive), Some(entry)) => npy(&mut archive.by_name(&entry)?, budget),
            (Arrays::Safe(arrays), Some(name)) => arrays.read(&name, budget),
            (Arrays::Several(_) | Arrays::Safe(_), None) => Err(ArrayError::Which(String::new())),
        }
    }
}

/// The types of elements in safetensors files, with their names here.
const SAFE_ELEMENTS: [(&str, &str); 18] = [
    ("BOOL", "bool"),
    ("I8", "int8"),
    ("I16", "int16"),
    ("I32", "int32"),
    ("I64", "int64"),
    ("U8", "uint8"),
    ("U16", "uint16"),
    ("U32", "uint32"),
    ("U64", "uint64"),
    ("F16", "float16"),
    ("BF16", "bfloat16"),
    ("F32", "float32"),
    ("F64", "float64"),
    ("F8_E4M3", "float8_e4m3fn"),
    ("F8_E5M2", "float8_e5m2"),
    ("F8_E8M0", "float8_e8m0fnu"),
    ("F8_E4M3FNUZ", "float8_e4m3fnuz"),
    ("F8_E5M2FNUZ", "float8_e5m2fnuz"),
];

/// What the header says of an array.
#[derive(Serialize, Deserialize)]
struct SafeArray {
    dtype: String,
    shape: Vec<u64>,
    /// Where its data begins and ends, from the end of the header.
    data_offsets: (u64, u64),
}

/// The member of the header that is no array.
const SAFE_METADATA: &str = "__metadata__";

fn no_safe(error: impl ToString) -> ArrayError {
    ArrayError::Safe(error.to_string())
}

impl SafeArrays {
    fn open(mut file: BufReader<File>) -> Result<SafeArrays, ArrayError> {
        let mut length = [0; SAFE_LENGTH];
        file.read_exact(&mut length)?;
        let length = u64::from_le_bytes(length);
        if length > LONGEST_SAFE_HEADER {
            return Err(no_safe(format!("a header of {length} bytes")));
        }
        let mut text = Vec::new();
        file.by_ref().take(length).read_to_end(&mut text)?;
        let mut header: BTreeMap<String, Value> = serde_json::from_slice(&text).map_err(no_safe)?;
        header.remove(SAFE_METADATA);
        let array = |(name, value): (String, Value)| -> Result<(String, SafeArray), ArrayError> {
            Ok((name, serde_json::from_value(value).map_err(no_safe)?))
        };
        let header = header.into_iter().map(array).collect::<Result<BTreeMap<String, SafeArray>, ArrayError>>()?;
        let start = SAFE_LENGTH as u64 + length;
        let expected = header.values().map(|array| array.data_offsets.1).max().unwrap_or(0);
        let found = file.get_ref().metadata()?.len().saturating_sub(start);
        match expected.cmp(&found) {
            Ordering::Greater => Err(ArrayError::Truncated { expected, found }),
            Ordering::Less => Err(ArrayError::Trailing(expected)),
            Ordering::Equal => Ok(SafeArrays { file, header, start }),
        }
    }

    /// The array of a name. Its type and shape must fit its data.
    fn read(&mut self, name: &str, budget: &mut u64) -> Result<TensorData, ArrayError> {
        let array = self.header.get(name).ok_or_else(|| no_safe(name))?;
        let refused = || ArrayError::Elements(array.dtype.clone(), "no tensor has such elements");
        let known = SAFE_ELEMENTS.iter().find(|(dtype, _)| *dtype == array.dtype);
        let dtype: DataType = known.and_then(|(_, name)| name.parse().ok()).ok_or_else(refused)?;
        let (from, to) = array.data_offsets;
        let size = to.checked_sub(from).ok_or_else(|| no_safe(format!("`{name}` ends before it begins")))?;
        *budget = budget.checked_sub(size).ok_or(ArrayError::Memory(size))?;
        let mut bytes = Vec::new();
        self.file.seek(SeekFrom::Start(self.start.saturating_add(from)))?;
        self.file.by_ref().take(size).read_to_end(&mut bytes)?;
        Ok(TensorData::new(dtype, &array.shape, bytes)?)
    }
}

/// Writes arrays by name, in the form of the extension: `.safetensors`, else `.npz`.
pub fn write_arrays(path: &Path, arrays: &[(String, TensorData)]) -> Result<(), ArrayError> {
    if path.extension().is_some_and(|extension| extension == "safetensors") {
        return Ok(write_atomically(path, &safe(arrays)?)?);
    }
    write_npz(path, arrays)
}

/// A safetensors file. Its header is padded, so that the data is aligned.
fn safe(arrays: &[(String, TensorData)]) -> Result<Vec<u8>, ArrayError> {
    let mut header: BTreeMap<&str, SafeArray> = BTreeMap::new();
    let mut data: Vec<u8> = Vec::new();
    for (name, array) in arrays {
        let refused = || ArrayError::Elements(array.dtype.to_string(), "no safetensors file has such elements");
        let own = array.dtype.to_string();
        let (dtype, _) = SAFE_ELEMENTS.iter().find(|(_, known)| *known == own).ok_or_else(refused)?;
        let from = data.len() as u64;
        data.extend(array.bytes.iter());
        let data_offsets = (from, data.len() as u64);
        header.insert(name, SafeArray { dtype: (*dtype).to_string(), shape: array.shape.to_vec(), data_offsets });
    }
    let mut text = serde_json::to_string(&header).map_err(no_safe)?;
    while !text.len().is_multiple_of(SAFE_LENGTH) {
        text.push(' ');
    }
    let length = (text.len() as u64).to_le_bytes();
    Ok(length.into_iter().chain(text.into_bytes()).chain(data).collect())
}

/// The array of an `.npy`, which must be the whole file.
fn npy(reader: &mut impl Read, budget: &mut u64) -> Result<TensorData, ArrayError> {
    let header = header(reader)?;
    let element = ElementEncoding::of(&header)?;
    let count = match header.shape.contains(&0) {
        true => Some(0),
        false => header.shape.iter().try_fold(1u64, |count, size| count.checked_mul(*size as u64)),
    };
    let expected = count
        .and_then(|count| count.checked_mul(element.dtype.bytes() as u64))
        .filter(|bytes| i64::try_from(*bytes).is_ok())
        .ok_or_else(|| ArrayError::Overflow(header.shape.clone()))?;
    let mut bytes = Vec::new();
    // The size in a header is not trusted until the data has been read.
    let most = expected.min(*budget);
    reader.by_ref().take(most).read_to_end(&mut bytes)?;
    let found = bytes.len() as u64;
    if found < most {
        return Err(ArrayError::Truncated { expected, found });
    }
    *budget = budget.checked_sub(expected).ok_or(ArrayError::Memory(expected))?;
    if reader.read(&mut [0])? > 0 {
        return Err(ArrayError::Trailing(expected));
    }
    if element.big_endian {
        bytes.chunks_exact_mut(element.dtype.bytes()).for_each(<[u8]>::reverse);
    }
    if header.layout.is_fortran() {
        bytes = row_major(&bytes, &header.shape, element.dtype.bytes());
    }
    let shape: Vec<u64> = header.shape.iter().map(|size| *size as u64).collect();
    Ok(TensorData::new(element.dtype, &shape, bytes)?)
}

/// The header, whose length and nesting are limited.
fn header(reader: &mut impl Read) -> Result<Header, ArrayError> {
    let mut text = Vec::new();
    reader.by_ref().take(8).read_to_end(&mut text)?;
    if !text.starts_with(NPY) {
        return Err(ArrayError::Header("it does not begin as one".into()));
    }
    let width = if text.get(6) == Some(&1) { 2 } else { 4 };
    let mut length = [0; 8];
    for byte in length.iter_mut().take(width) {
        reader.read_exact(std::slice::from_mut(byte)).map_err(|_| ArrayError::Header("it ends early".into()))?;
    }
    text.extend(length.iter().take(width));
    let length = u64::from_le_bytes(length);
    if length > LONGEST_HEADER {
        return Err(ArrayError::Header(format!("it has {length} bytes")));
    }
    reader.by_ref().take(length).read_to_end(&mut text)?;
    let mut depth = 0usize;
    for byte in &text {
        match byte {
            b'(' | b'[' | b'{' => depth += 1,
            b')' | b']' | b'}' => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth > DEEPEST_HEADER {
            return Err(ArrayError::Header("its brackets nest too deep".into()));
        }
    }
    Header::from_reader(&mut Cursor::new(text)).map_err(|error| match error {
        ReadHeaderError::Io(error) if error.kind() == io::ErrorKind::UnexpectedEof => {
            ArrayError::Header("it ends early".into())
        }
        ReadHeaderError::Io(error) => ArrayError::Io(error),
        ReadHeaderError::Parse(error) => ArrayError::Header(error.to_string()),
    })
}

/// The encoding of an element.
struct ElementEncoding {
    dtype: DataType,
    big_endian: bool,
}

impl ElementEncoding {
    fn of(header: &Header) -> Result<ElementEncoding, ArrayError> {
        let written = &header.type_descriptor;
        let refused = |why| Err(ArrayError::Elements(written.to_string(), why));
        let Some(text) = written.as_string() else {
            return refused("records are no elements of a tensor");
        };
        let text = text.trim_start_matches(['<', '=', '|']);
        let (big_endian, text) = match text.strip_prefix('>') {
            Some(text) => (true, text),
            None => (false, text),
        };
        let dtype = match text {
            "b1" => DataType::BOOL,
            "i1" => DataType::INT8,
            "i2" => DataType::INT16,
            "i4" => DataType::INT32,
            "i8" => DataType::INT64,
            "u1" => DataType::UINT8,
            "u2" => DataType::UINT16,
            "u4" => DataType::UINT32,
            "u8" => DataType::UINT64,
            "f2" => DataType::FLOAT16,
            "f4" => DataType::FLOAT32,
            "f8" => DataType::FLOAT64,
            "V2" => DataType::BFLOAT16,
            "V1" | "f1" => return refused("which float8 or int4 that is, the file does not say"),
            _ if text.starts_with('O') => return refused("objects of Python are not read"),
            _ if text.starts_with(['U', 'S', 'a']) => return refused("texts are no elements of a tensor"),
            _ if text.starts_with('c') => return refused("there are no complex numbers"),
            _ if text.starts_with('V') => {
                return refused("only raw bytes that are two an element are read, as bfloat16");
            }
            _ => return refused("no tensor has such elements"),
        };
        Ok(ElementEncoding { dtype, big_endian })
    }

    /// NumPy's name for elements of a type.
    fn written(dtype: DataType) -> Option<String> {
        let code = match dtype.code {
            _ if dtype.is_bool() => "|b1".to_string(),
            TypeCode::Int if dtype.bits == 8 => "|i1".to_string(),
            TypeCode::UInt if dtype.bits == 8 => "|u1".to_string(),
            TypeCode::Int if dtype.bits > 8 => format!("<i{}", dtype.bytes()),
            TypeCode::UInt if dtype.bits > 8 => format!("<u{}", dtype.bytes()),
            TypeCode::Float => format!("<f{}", dtype.bytes()),
            TypeCode::BFloat => "<V2".to_string(),
            TypeCode::Int | TypeCode::UInt | TypeCode::Small(_) | TypeCode::Handle => return None,
        };
        Some(code)
    }
}

/// Whether arrays with such elements can be written.
pub fn is_written(dtype: DataType) -> bool {
    ElementEncoding::written(dtype).is_some()
}

/// Reorders elements from first index fastest to last index fastest.
fn row_major(bytes: &[u8], shape: &[usize], size: usize) -> Vec<u8> {
    let strides: Vec<usize> = shape
        .iter()
        .scan(1, |stride: &mut usize, size| Some(std::mem::replace(stride, stride.saturating_mul(*size))))
        .collect();
    let mut index = vec![0; shape.len()];
    let mut ordered = Vec::with_capacity(bytes.len());
    while ordered.len() < bytes.len() {
        let at: usize = index.iter().zip(&strides).map(|(i, stride)| i * stride).sum();
        ordered.extend(bytes.get(at * size..(at + 1) * size).unwrap_or_default());
        for (i, size) in index.iter_mut().zip(shape).rev() {
            *i += 1;
            if *i < *size {
                break;
            }
            *i = 0;
        }
    }
    ordered
}

/// Writes arrays by name. No reader sees half of the file.
fn write_npz(path: &Path, arrays: &[(String, TensorData)]) -> Result<(), ArrayError> {
    let mut archive = ZipWriter::new(Cursor::new(Vec::new()));
    for (name, data) in arrays {
        let large = data.bytes.len() as u64 >= u64::from(u32::MAX) / 2;
        let options = SimpleFileOptions::default().compression_method(zip::CompressionMethod::Stored).large_file(large);
        archive.start_file(format!("{name}.npy"), options)?;
        written_header(data)?.write(&mut archive).map_err(|error| match error {
            WriteHeaderError::Io(error) => ArrayError::Io(error),
            WriteHeaderError::Format(error) => ArrayError::Header(error.to_string()),
        })?;
        archive.write_all(&data.bytes)?;
    }
    Ok(write_atomically(path, &archive.finish()?.into_inner())?)
}

fn written_header(data: &TensorData) -> Result<Header, ArrayError> {
    let refused = || ArrayError::Elements(data.dtype.to_string(), "NumPy does not write such elements");
    let code = ElementEncoding::written(data.dtype).ok_or_else(refused)?;
    let type_descriptor = format!("'{code}'").parse().map_err(|_| refused())?;
    let shape =
        data.shape.iter().map(|size| usize::try_from(*size)).collect::<Result<_, _>>().map_err(|_| refused())?;
    Ok(Header { type_descriptor, layout: Layout::Standard, shape })
}
