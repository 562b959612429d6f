//! Run-time values on the command line.
//!
//! Tensors are nested lists with a data type, `[[1, 2], [3, 4]]:int64`; without a type a tensor is of float32. A number
//! with a data type, `3:int64`, is a tensor of rank 0.
//! `zeros(2, 3):float32` is a tensor of zeros, `shape(2, 3)` a shape, `packed(NAME)` a packed function, `3` an integer,
//! `true` a Boolean. Everything else is read as in suite files: `Tuple([Shape([2]), Int(1)])`.

use std::fmt::Write as _;

use serde_json::Value as Json;

use crate::data::from_ron;
use crate::grammar::{DataType, TensorData};
use crate::judge::with_stack;
use crate::value::{Scalar, Tensor, ValueSpec};

/// Reads a value.
pub fn parse(text: &str) -> Result<ValueSpec, String> {
    let text = text.trim();
    if text.starts_with('[') || text.starts_with("zeros(") || is_scalar(text) {
        return tensor(text).map(ValueSpec::Tensor);
    }
    if let Some(dims) = arguments(text, "shape") {
        return integers(dims).map(ValueSpec::Shape);
    }
    if let Some(name) = arguments(text, "packed") {
        return Ok(ValueSpec::PackedFunc(name.trim().into()));
    }
    if let Ok(integer) = text.parse::<i64>() {
        return Ok(ValueSpec::Int(integer));
    }
    if let Ok(truth) = text.parse::<bool>() {
        return Ok(ValueSpec::Bool(truth));
    }
    from_ron(text).map_err(|error| format!("`{text}` is not a value: {error}"))
}

/// Whether a text is a number or a Boolean with a data type.
fn is_scalar(text: &str) -> bool {
    let content = text.rsplit_once(':').map(|(content, _)| content.trim());
    content.is_some_and(|content| matches!(serde_json::from_str(content), Ok(Json::Number(_) | Json::Bool(_))))
}

/// The text between the parentheses of `name(..)`.
fn arguments<'a>(text: &'a str, name: &str) -> Option<&'a str> {
    text.strip_prefix(name)?.strip_prefix('(')?.strip_suffix(')')
}

fn integers<T: std::str::FromStr>(text: &str) -> Result<Vec<T>, String> {
    let items = text.split(',').map(str::trim).filter(|item| !item.is_empty());
    items.map(|item| item.parse().map_err(|_| format!("`{item}` is not a size"))).collect()
}

fn tensor(text: &str) -> Result<TensorData, String> {
    let (content, dtype) = match text.rsplit_once(':') {
        Some((content, dtype)) => (content.trim(), dtype.trim().parse::<DataType>().map_err(|e| e.to_string())?),
        None => (text, DataType::FLOAT32),
    };
    let (shape, values) = match arguments(content, "zeros") {
        Some(dims) => {
            let shape: Vec<u64> = integers(dims)?;
            let count = shape.iter().try_fold(1usize, |n, d| n.checked_mul(usize::try_from(*d).ok()?));
            let count = count.filter(|n| *n <= LARGEST).ok_or_else(|| format!("`{content}` is too large"))?;
            (shape, vec![0.0; count])
        }
        None => {
            nested(&serde_json::from_str(content).map_err(|error| format!("`{content}` is not a tensor: {error}"))?)?
        }
    };
    TensorData::from_values(dtype, &shape, &values).map_err(|error| format!("`{text}`: {error}"))
}

/// The most elements that `zeros` makes.
const LARGEST: usize = 1 << 24;

/// Shape and elements of a nested list.
fn nested(list: &Json) -> Result<(Vec<u64>, Vec<f64>), String> {
    let Json::Array(items) = list else {
        let number = list.as_f64().or_else(|| list.as_bool().map(|b| f64::from(u8::from(b))));
        return number.map(|x| (Vec::new(), vec![x])).ok_or_else(|| format!("`{list}` is not a number"));
    };
    let mut inner = None;
    let mut values = Vec::new();
    for item in items {
        let (shape, more) = nested(item)?;
        if inner.get_or_insert_with(|| shape.clone()) != &shape {
            return Err(format!("the rows of `{list}` differ in shape"));
        }
        values.extend(more);
    }
    let mut shape = vec![items.len() as u64];
    shape.extend(inner.unwrap_or_default());
    Ok((shape, values))
}

/// Writes a value so that [`parse`] reads it back, where that is possible.
pub fn format(value: &ValueSpec) -> String {
    with_stack(|| match value {
        ValueSpec::Tensor(data) => format_tensor(data),
        ValueSpec::Tuple(fields) => {
            let fields: Vec<String> = fields.iter().map(format).collect();
            format!("({})", fields.join(", "))
        }
        ValueSpec::Shape(_)
        | ValueSpec::PackedFunc(_)
        | ValueSpec::Closure
        | ValueSpec::PrimFunc
        | ValueSpec::Int(_)
        | ValueSpec::Bool(_)
        | ValueSpec::Float(_)
        | ValueSpec::Str(_)
        | ValueSpec::DataType(_)
        | ValueSpec::Object
        | ValueSpec::Arg(_) => value.to_string(),
    })
}

fn format_tensor(data: &TensorData) -> String {
    let Ok(tensor) = Tensor::from_data(data) else { return format!("{data:?}") };
    let mut out = String::new();
    write_nested(&mut out, &tensor, 0, 0, 1);
    let _ = write!(out, ":{}", data.dtype);
    out
}

/// Writes one list of the given nesting; `at` is its position among the lists of that nesting.
fn write_nested(out: &mut String, tensor: &Tensor, depth: usize, at: usize, indent: usize) {
    let Some(size) = tensor.shape().get(depth).and_then(|size| usize::try_from(*size).ok()) else {
        out.push_str(&tensor.get(at).map(scalar).unwrap_or_default());
        return;
    };
    let innermost = depth + 1 == tensor.shape().len();
    out.push('[');
    for i in 0..size {
        match (i, innermost) {
            (0, _) => {}
            (_, true) => out.push_str(", "),
            (_, false) => {
                let _ = write!(out, ",\n{}", " ".repeat(indent));
            }
        }
        write_nested(out, tensor, depth + 1, at * size + i, indent + 1);
    }
    out.push(']');
}

fn scalar(value: Scalar) -> String {
    match value {
        Scalar::Bool(b) => b.to_string(),
        Scalar::Int(i) => i.to_string(),
        Scalar::UInt(u) => u.to_string(),
        Scalar::Float(x) => format!("{x:?}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tensors_are_nested_lists() {
        let data = TensorData::from_values(DataType::INT64, &[2, 2], &[1.0, 2.0, 3.0, 4.0]).unwrap();
        assert_eq!(parse("[[1, 2], [3, 4]]:int64"), Ok(ValueSpec::Tensor(data.clone())));
        assert_eq!(format(&ValueSpec::Tensor(data)), "[[1, 2],\n [3, 4]]:int64");
        let scalar = TensorData::from_values(DataType::INT64, &[], &[-3.0]).unwrap();
        assert_eq!(parse("-3:int64"), Ok(ValueSpec::Tensor(scalar.clone())));
        assert_eq!(format(&ValueSpec::Tensor(scalar)), "-3:int64");
        assert_eq!(parse("-3"), Ok(ValueSpec::Int(-3)));
        assert_eq!(
            parse("zeros(0):bool"),
            Ok(ValueSpec::Tensor(TensorData::from_values(DataType::BOOL, &[0], &[]).unwrap()))
        );
    }

    #[test]
    fn what_is_not_a_value_is_refused() {
        for text in
            ["[[1], [2, 3]]", "[1.5]:int8", "[1]:float33", "zeros(-1)", "shape(x)", "nonsense", "zeros(99999999999)"]
        {
            assert!(parse(text).is_err(), "{text}");
        }
    }

    #[test]
    fn the_forms_of_suite_files_are_read() {
        assert_eq!(parse("shape(2, 3)"), Ok(ValueSpec::Shape(vec![2, 3])));
        assert_eq!(
            parse("Tuple([Shape([2]), Int(1)])"),
            Ok(ValueSpec::Tuple(vec![ValueSpec::Shape(vec![2]), ValueSpec::Int(1)]))
        );
    }
}
