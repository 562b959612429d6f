//! Run-time values on the command line.
//!
//! Tensors are nested lists with a data type, `[[1, 2], [3, 4]]:int64`; without a type a tensor is of float32. A number
//! with a data type, `3:int64`, is a tensor of rank 0.
//! `zeros(2, 3):float32` is a tensor of zeros, `shape(2, 3)` a shape, `packed(NAME)` a packed function, `3` an integer,
//! `true` a Boolean. Everything else is read as in suite files: `Tuple([Shape([2]), Int(1)])`.

use std::fmt::Write as _;

use crate::data::{Data, Document, MAX_DEPTH, Node, from_ron, ron};
use crate::grammar::{DataType, FloatBits, TensorData, TensorDataError};
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
    if let Ok(float) = text.parse::<f64>() {
        return Ok(ValueSpec::Float(FloatBits::new(float)));
    }
    if let Some(fields) = text.strip_prefix('(').and_then(|text| text.strip_suffix(')')) {
        return with_stack(|| items(fields).into_iter().map(parse).collect::<Result<_, _>>().map(ValueSpec::Tuple));
    }
    from_ron(text).map_err(|error| format!("`{text}` is not a value: {error}"))
}

/// What commas separate that stand in no brackets and no quotes.
fn items(text: &str) -> Vec<&str> {
    let (mut depth, mut start, mut quoted, mut found) = (0u32, 0, false, Vec::new());
    for (at, c) in text.char_indices() {
        match c {
            '"' => quoted = !quoted,
            '(' | '[' if !quoted => depth += 1,
            ')' | ']' if !quoted => depth = depth.saturating_sub(1),
            ',' if depth == 0 && !quoted => {
                found.push(&text[start..at]);
                start = at + 1;
            }
            _ => {}
        }
    }
    found.push(&text[start..]);
    found.retain(|item| !item.trim().is_empty());
    found
}

/// Writes a value on one line so that [`parse`] reads the same.
pub fn argument(value: &ValueSpec) -> String {
    with_stack(|| match value {
        ValueSpec::Tensor(data) if data.bytes.is_empty() => {
            let sizes: Vec<String> = data.shape.iter().map(u64::to_string).collect();
            format!("zeros({}):{}", sizes.join(", "), data.dtype)
        }
        ValueSpec::Tensor(data) => format_tensor(data).lines().map(str::trim_start).collect::<Vec<&str>>().join(" "),
        ValueSpec::Tuple(fields) => {
            let fields: String = fields.iter().map(|field| argument(field) + ", ").collect();
            format!("({})", fields.trim_end())
        }
        ValueSpec::PackedFunc(name) => format!("packed({name})"),
        ValueSpec::Float(x) => format!("{:?}", x.get()),
        ValueSpec::Str(text) => format!("Str({text:?})"),
        ValueSpec::DataType(dtype) => format!("DataType(\"{dtype}\")"),
        ValueSpec::Closure => "Closure".to_string(),
        ValueSpec::PrimFunc => "PrimFunc".to_string(),
        ValueSpec::Object => "Object".to_string(),
        ValueSpec::Arg(i) => format!("Arg({i})"),
        ValueSpec::Shape(_) | ValueSpec::Int(_) | ValueSpec::Bool(_) => value.to_string(),
    })
}

/// Whether a text is a number or a Boolean with a data type.
fn is_scalar(text: &str) -> bool {
    let content = text.rsplit_once(':').map(|(content, _)| content.trim());
    let read = content.and_then(|content| list(content).ok());
    read.is_some_and(|node| matches!(node.data, Data::Number(_) | Data::Bool(_)))
}

/// Numbers in lists, each as it is written.
fn list(text: &str) -> Result<Document<'_>, String> {
    ron::read(text, MAX_DEPTH).map_err(|error| format!("`{text}` is not a tensor: {error}"))
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
    let read = match arguments(content, "zeros") {
        Some(dims) => {
            let shape: Vec<u64> = integers(dims)?;
            let count = shape.iter().try_fold(1usize, |n, d| n.checked_mul(usize::try_from(*d).ok()?));
            let count = count.filter(|n| *n <= LARGEST).ok_or_else(|| format!("`{content}` is too large"))?;
            zeros(dtype, &shape, count)
        }
        None => {
            let (shape, numerals) = nested(&*list(content)?)?;
            TensorData::from_numerals(dtype, &shape, &numerals)
        }
    };
    read.map_err(|error| format!("`{text}`: {error}"))
}

/// The bytes of one zero, as often as there are elements.
fn zeros(dtype: DataType, shape: &[u64], count: usize) -> Result<TensorData, TensorDataError> {
    let zero = TensorData::from_numerals(dtype, &[], &["0"])?;
    TensorData::new(dtype, shape, zero.bytes.repeat(count))
}

/// The most elements that `zeros` makes.
const LARGEST: usize = 1 << 24;

/// Shape and elements of a nested list.
fn nested(node: &Node<'_>) -> Result<(Vec<u64>, Vec<String>), String> {
    let items = match &node.data {
        Data::List(items) => items,
        Data::Number(number) => return Ok((Vec::new(), vec![number.to_string()])),
        Data::Bool(truth) => return Ok((Vec::new(), vec![u8::from(*truth).to_string()])),
        Data::Null | Data::Text(_) | Data::Tuple(_) | Data::Map(_) | Data::Struct(_) | Data::Variant(..) => {
            return Err(format!("{} is not a number", node.describe()));
        }
    };
    let mut inner = None;
    let mut values = Vec::new();
    for item in items {
        let (shape, more) = with_stack(|| nested(item))?;
        if inner.get_or_insert_with(|| shape.clone()) != &shape {
            return Err("the rows of a list differ in shape".into());
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

    /// Every float that is written is read as the same, whatever its type, in each notation; and every large integer.
    fn is_read_back(dtype: DataType, bits: &[u64]) {
        let bytes = bits.iter().flat_map(|bits| bits.to_le_bytes().into_iter().take(dtype.bytes()));
        let data = TensorData::new(dtype, &[bits.len() as u64], bytes.collect()).unwrap();
        let written = format(&ValueSpec::Tensor(data.clone()));
        assert_eq!(parse(&written), Ok(ValueSpec::Tensor(data.clone())), "{written}");
        let values = written.rsplit_once(':').unwrap().0;
        let ron = format!("(dtype: \"{dtype}\", shape: [{}], values: {values})", bits.len());
        assert_eq!(from_ron::<TensorData>(&ron).unwrap(), data);
        if !values.contains("inf") {
            let json = format!("{{\"dtype\": \"{dtype}\", \"shape\": [{}], \"values\": {values}}}", bits.len());
            assert_eq!(crate::data::from_json::<TensorData>(&json).unwrap(), data);
        }
    }

    #[test]
    fn every_float16_is_read_back() {
        for dtype in [DataType::FLOAT16, DataType::BFLOAT16] {
            let float = dtype.float_type().unwrap();
            let all: Vec<u64> = (0..=0xffff).filter(|bits| !float.of_bits(*bits).is_nan()).collect();
            is_read_back(dtype, &all);
        }
    }

    #[test]
    fn floats_and_large_integers_are_read_back() {
        let mut random = fastrand::Rng::with_seed(1);
        let f32s: Vec<u64> = (0..50_000).map(|_| random.u32(..).into()).collect();
        let f64s: Vec<u64> = (0..50_000).map(|_| random.u64(..)).collect();
        is_read_back(DataType::INT64, &f64s);
        is_read_back(DataType::UINT64, &f64s);
        for (dtype, bits) in [(DataType::FLOAT32, f32s), (DataType::FLOAT64, f64s)] {
            let float = dtype.float_type().unwrap();
            let numbers: Vec<u64> = bits.into_iter().filter(|bits| !float.of_bits(*bits).is_nan()).collect();
            is_read_back(dtype, &numbers);
        }
    }

    #[test]
    fn what_is_no_number_and_what_is_none_are_read() {
        let ValueSpec::Tensor(data) = parse("[inf, -inf, NaN]:float32").unwrap() else { panic!("a tensor") };
        let tensor = Tensor::from_data(&data).unwrap();
        assert_eq!(tensor.get(1), Some(Scalar::Float(f64::NEG_INFINITY)));
        assert!(matches!(tensor.get(2), Some(Scalar::Float(x)) if x.is_nan()));
        assert!(parse("[9223372036854775808]:int64").is_err() && parse("[inf]:int64").is_err());
    }

    #[test]
    fn arguments_that_are_made_are_read_back() {
        let dtypes = ["float16", "bfloat16", "float32", "float64", "int8", "uint8", "int32", "int64", "uint64", "bool"];
        let tensors: Vec<String> = dtypes
            .iter()
            .enumerate()
            .map(|(i, dtype)| format!("x{i}: R.Tensor((\"n\", \"m\"), \"{dtype}\")"))
            .collect();
        let rest = "s: R.Tensor((), \"float32\"), t: R.Tuple(R.Tensor((\"n\",), \"int64\"), R.Shape([\"m\"])), \
                    u: R.Tuple(R.Prim(\"int64\")), v: R.Prim(\"float64\"), w: R.Prim(\"bool\"), y: R.Shape(ndim=2)";
        let text = format!("@R.function\ndef main({}, {rest}) -> R.Object:\n    return s\n", tensors.join(", "));
        let module = crate::syntax::tvmscript::parse_module(&text).unwrap();
        let arguments = crate::arguments::Arguments::of(&[&module], 0);
        let main = crate::arguments::linked(&module, "main").unwrap();
        for index in 0..60 {
            let draw = crate::arguments::Draw { index, attempt: 0 };
            for value in arguments.for_function(main, &Default::default(), draw).unwrap() {
                let written = argument(&value);
                let read = parse(&written).unwrap_or_else(|error| panic!("{error}: {written}"));
                assert_eq!(argument(&read), written);
                if !written.contains("NaN") {
                    assert!(read == value, "{written}");
                }
            }
        }
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
