//! Strings, numbers, tensor literals and attributes.

use std::fmt::Write as _;

use super::{Printer, Silent};
use crate::grammar::{AttrValue, Attrs, DataType, IndexMap, TensorData, TypeCode};
use crate::syntax::tvmscript::Dialect;
use crate::syntax::tvmscript::read::names_dtype;

/// A Python string literal.
pub(super) fn string(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    out.push('"');
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            c if u32::from(c) < 0x20 || u32::from(c) == 0x7f => {
                let _ = write!(out, "\\x{:02x}", u32::from(c));
            }
            c => out.push(c),
        }
    }
    out.push('"');
    out
}

pub(super) fn bool(value: bool) -> &'static str {
    if value { "True" } else { "False" }
}

/// The shortest text that reads back as the same float64.
pub(super) fn float(value: f64) -> String {
    non_finite(value).map_or_else(|| format!("{value:?}"), |word| format!("float(\"{word}\")"))
}

/// The word for a number that is not finite.
pub(in crate::syntax::tvmscript) fn non_finite(value: f64) -> Option<&'static str> {
    if value.is_nan() {
        Some("nan")
    } else if value.is_infinite() {
        Some(if value < 0.0 { "-inf" } else { "inf" })
    } else {
        None
    }
}

/// `R.const(..)`.
pub(super) fn constant(data: &TensorData, out: &mut String) {
    out.push_str("R.const(");
    let size = data.dtype.bytes().max(1);
    let mut elements = data.bytes.chunks(size);
    if data.bytes.is_empty() && data.shape.iter().rev().skip(1).any(|dim| *dim == 0) {
        // Nested lists do not show the dimensions after a zero.
        let dims: Vec<String> = data.shape.iter().map(u64::to_string).collect();
        let _ = write!(out, "[], \"{}\", shape=({},))", data.dtype, dims.join(", "));
        return;
    }
    nested(data.dtype, &data.shape, &mut elements, out);
    let _ = write!(out, ", \"{}\")", data.dtype);
}

fn nested<'a>(dtype: DataType, shape: &[u64], elements: &mut impl Iterator<Item = &'a [u8]>, out: &mut String) {
    match shape.split_first() {
        None => out.push_str(&elements.next().map(|bytes| element(dtype, bytes)).unwrap_or_default()),
        Some((len, rest)) => {
            out.push('[');
            for i in 0..*len {
                out.push_str(if i > 0 { ", " } else { "" });
                nested(dtype, rest, elements, out);
            }
            out.push(']');
        }
    }
}

fn element(dtype: DataType, bytes: &[u8]) -> String {
    let mut word = [0u8; 8];
    for (to, from) in word.iter_mut().zip(bytes) {
        *to = *from;
    }
    let bits = u64::from_le_bytes(word);
    match (dtype.code, dtype.bits) {
        (TypeCode::UInt, 1) => bool(bits != 0).into(),
        (TypeCode::UInt | TypeCode::Handle, _) => bits.to_string(),
        (TypeCode::Int, 2 | 4 | 8) => (bits as i8).to_string(),
        (TypeCode::Int, 16) => (bits as i16).to_string(),
        (TypeCode::Int, 32) => (bits as i32).to_string(),
        (TypeCode::Int, _) => (bits as i64).to_string(),
        (TypeCode::Small(format), _) => float(format.value(bits as u8)),
        (TypeCode::Float | TypeCode::BFloat, _) => {
            float(dtype.float_type().map_or(f64::from_bits(bits), |float| float.of_bits(bits)))
        }
    }
}

/// `T.index_map(lambda i, j: (i, j // 4, j % 4))`.
pub(in crate::syntax::tvmscript) fn index_map(map: &IndexMap) -> String {
    let lambda = |map: &IndexMap| {
        let params: Vec<String> = map.params.iter().map(|param| param.name.to_string()).collect();
        let silent = Silent::default();
        let mut printer = Printer::new(Dialect::default(), &silent);
        let mut results = String::new();
        // Its names are local, so none of them changes.
        printer.dim_list(&map.results, &mut results);
        let comma = if map.results.len() == 1 { "," } else { "" };
        let params = if params.is_empty() { String::new() } else { format!(" {}", params.join(", ")) };
        format!("lambda{params}: ({results}{comma})")
    };
    match &map.inverse {
        None => format!("T.index_map({})", lambda(map)),
        Some(inverse) => format!("T.index_map({}, inverse_index_map={})", lambda(map), lambda(inverse)),
    }
}

impl Printer<'_> {
    /// `{"a": 1, "b": None}`.
    pub(super) fn attr_dict(&mut self, attrs: &Attrs) -> String {
        let items: Vec<String> =
            attrs.iter().map(|(key, value)| format!("{}: {}", string(key), self.attr(key, value))).collect();
        format!("{{{}}}", items.join(", "))
    }

    /// The value of the attribute `name`.
    pub(super) fn attr(&mut self, name: &str, value: &AttrValue) -> String {
        match value {
            AttrValue::None => "None".into(),
            AttrValue::Bool(b) => bool(*b).into(),
            AttrValue::Int(i) => i.to_string(),
            AttrValue::Float(f) => float(f.get()),
            AttrValue::Str(text) if names_dtype(name) && text.parse::<DataType>().is_ok() => {
                format!("R.str({})", string(text))
            }
            AttrValue::Str(text) => string(text),
            AttrValue::DataType(dtype) if names_dtype(name) => format!("\"{dtype}\""),
            AttrValue::DataType(dtype) => format!("R.dtype(\"{dtype}\")"),
            AttrValue::Prim(crate::grammar::PrimExpr::IntImm(i)) => format!("T.int64({i})"),
            AttrValue::Prim(dim) => {
                let mut text = String::new();
                self.dim(dim, &mut text);
                text
            }
            AttrValue::List(values) => {
                let values: Vec<String> = values.iter().map(|value| self.attr("", value)).collect();
                format!("[{}]", values.join(", "))
            }
            AttrValue::Dict(attrs) => self.attr_dict(attrs),
            AttrValue::IndexMap(map) => index_map(map),
            AttrValue::Made(made) => {
                let mut parts: Vec<String> = made.args.iter().map(|arg| self.attr("", arg)).collect();
                parts.extend(made.named.iter().map(|(name, value)| format!("{name}={}", self.attr(name, value))));
                format!("{}({})", made.name, parts.join(", "))
            }
            AttrValue::StructInfo(info) => {
                let mut text = String::new();
                self.struct_info(info, &mut text);
                text
            }
        }
    }
}
