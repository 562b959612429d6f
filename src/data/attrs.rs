//! Attributes, floats and the data of tensors.

use super::reader::{DataReader, DataResult, FromData, Write};
use super::record::{choice, record};
use super::{DataError, Node, NodeData};
use crate::grammar::{AttrValue, Attrs, DataType, FloatBits, IndexMap, ObjectCall, Span, TensorData, TensorDataError};

choice! { AttrValue, "the value of an attribute" {
    None,
    Bool(b),
    Int(i),
    Float(f),
    Str(s),
    DataType(t),
    Prim(e),
    List(items),
    Dict(entries),
    StructInfo(s),
    IndexMap(m),
    Made(m),
} }

record! { IndexMap, "IndexMap", { params: one, results: one, inverse: unless(None) } }
record! { ObjectCall, "Made", { name: one, args: many, named: unless(Attrs::new()) } }

/// The bits of a float64 as 16 hexadecimal digits.
impl FromData for FloatBits {
    fn read(r: &mut DataReader<'_>, node: &Node<'_>) -> DataResult<FloatBits> {
        let digits = node.as_text().filter(|text| text.len() == 16 && text.bytes().all(|b| b.is_ascii_hexdigit()));
        match digits.map(|digits| u64::from_str_radix(digits, 16)) {
            Some(Ok(bits)) => Ok(FloatBits::new(f64::from_bits(bits))),
            Some(Err(_)) | None => r.unexpected(node, "a float64 as 16 hexadecimal digits"),
        }
    }
}

impl Write for FloatBits {
    fn write(&self) -> Node<'_> {
        Node::text(format!("{:016x}", self.get().to_bits()))
    }
}

/// The fields `dtype`, `shape` and `bits`: hexadecimal, two digits per byte, in memory order. Instead of `bits` there
/// may be `values`, a flat list of numbers that the data type represents exactly.
impl FromData for TensorData {
    fn read(r: &mut DataReader<'_>, node: &Node<'_>) -> DataResult<TensorData> {
        let fields = r.fields(node, "TensorData", Some(rule!("GRAM.EXPR.CONSTANT")))?;
        fields.closed(&["dtype", "shape", "bits", "values"])?;
        let dtype: DataType = fields.one(r, "dtype")?;
        storable(r, node.span, dtype)?;
        let shape: Vec<u64> = fields.or(r, "shape", Vec::new)?;
        let bits: Option<std::sync::Arc<str>> = fields.one(r, "bits")?;
        let values: Option<Vec<AttrNumeral>> = fields.one(r, "values")?;
        let data = match (bits, values) {
            (Some(bits), None) => TensorData::from_hex(dtype, &shape, &bits),
            (None, Some(values)) => TensorData::from_numerals(dtype, &shape, &values),
            (Some(_), Some(_)) | (None, None) => Err(TensorDataError::Payload),
        };
        data.map_err(|error| DataError::at(node.span, error.to_string()))
    }
}

/// A number as written.
struct AttrNumeral(String);

impl FromData for AttrNumeral {
    fn read(r: &mut DataReader<'_>, node: &Node<'_>) -> DataResult<AttrNumeral> {
        match node.as_number() {
            Some(number) => Ok(AttrNumeral(number.into())),
            None => r.unexpected(node, "a number"),
        }
    }
}

impl AsRef<str> for AttrNumeral {
    fn as_ref(&self) -> &str {
        &self.0
    }
}

/// PR14148.DTYPE.VOID.MEANING and the limits of datatypes, for the elements of a constant.
pub(super) fn storable(r: &mut DataReader<'_>, at: Span, dtype: DataType) -> DataResult<()> {
    if dtype.is_void() {
        let message = || "the elements of a constant have no datatype".to_string();
        r.premise(at, rule!("PR14148.DTYPE.VOID.MEANING"), 1, false, message)?;
    }
    match dtype.inadmissible() {
        None => Ok(()),
        Some(rule) => r.premise(at, rule, 1, false, || format!("Relax has no datatype {dtype}")),
    }
}

impl Write for TensorData {
    fn write(&self) -> Node<'_> {
        let fields = vec![
            ("dtype".into(), self.dtype.write()),
            ("shape".into(), self.shape.write()),
            ("bits".into(), Node::text(self.to_hex())),
        ];
        NodeData::Struct(fields).into()
    }
}
