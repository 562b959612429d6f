//! Run-time values on the command line.
//!
//! Tensors are nested lists with a datatype, `[[1, 2], [3, 4]]:int64`. Without a type the elements are float32. A
//! number with a datatype, `3:int64`, is a tensor of rank 0. Floats are rounded to the nearest of their type; `inf`,
//! `nan` and `-0` are floats too. `zeros(2, 3):float32` is a tensor of zeros, and similarly `ones` of ones and `iota`
//! of 0, 1, 2, .. . `random((2, 3), float32, 7)` has numbers determined by the seed 7. `shape(2, 3)` is a shape,
//! `packed(NAME)` a packed function, `3` an integer, `true` a Boolean. All other values are read as in suite files:
//! `Tuple([Shape([2]), Int(1)])`.

use std::fmt::Write as _;

use relax_spec::data::{Document, MAX_DEPTH, Node, NodeData, from_ron, ron};
use relax_spec::grammar::{DataType, FloatBits, TensorData};
use relax_spec::judge::with_stack;
use relax_spec::value::{Scalar, Tensor, ValueSpec};

/// Reads a value.
pub fn parse(text: &str) -> Result<ValueSpec, String> {
    let text = text.trim();
    if text.starts_with('(') {
        refuse_depth(text)?;
    }
    if let Some(made) = filled(text) {
        return made.map(ValueSpec::Tensor);
    }
    if text.starts_with('[') || is_scalar(text) {
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

/// The maximum nesting of tuples, because the text of each is searched for commas again.
const MAX_TUPLES: usize = 1000;

/// Rejects tuples that nest deeper.
pub(super) fn refuse_depth(text: &str) -> Result<(), String> {
    let (mut depth, mut quoted) = (0usize, false);
    for byte in text.bytes() {
        match byte {
            b'"' => quoted = !quoted,
            b'(' if !quoted => depth += 1,
            b')' if !quoted => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth > MAX_TUPLES {
            return Err(format!("tuples nest more than {MAX_TUPLES} deep"));
        }
    }
    Ok(())
}

/// The parts between commas outside of brackets and quotes.
pub(super) fn items(text: &str) -> Vec<&str> {
    let (mut depth, mut start, mut quoted, mut found) = (0u32, 0, false, Vec::new());
    for (at, c) in text.char_indices() {
        match c {
            '"' => quoted = !quoted,
            '(' | '[' | '{' if !quoted => depth += 1,
            ')' | ']' | '}' if !quoted => depth = depth.saturating_sub(1),
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

/// Writes a value on one line, in the form that [`parse`] reads.
pub fn argument(value: &ValueSpec) -> String {
    with_stack(|| match value {
        ValueSpec::Tensor(data) if data.bytes.is_empty() => {
            let sizes: Vec<String> = data.shape.iter().map(u64::to_string).collect();
            format!("zeros({}):{}", sizes.join(", "), data.dtype)
        }
        ValueSpec::Tensor(data) => {
            format_tensor(data, PrintExtent::Whole).lines().map(str::trim_start).collect::<Vec<&str>>().join(" ")
        }
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

/// The maximum length of a value in a report.
const LONGEST: usize = 160;
/// The maximum number of elements of a tensor that is written in full.
const FEW: usize = 64;

/// A value in a report: in the form of [`argument`] if that is short, else a summary.
pub enum Brief {
    /// A form that [`parse`] reads.
    Whole(String),
    /// A form for people.
    Summary(String),
}

/// A value in its form for reports.
pub fn brief(value: &ValueSpec) -> Brief {
    if elements(value) <= FEW {
        let text = argument(value);
        if text.len() <= LONGEST {
            return Brief::Whole(text);
        }
    }
    Brief::Summary(cut(&value.to_string(), LONGEST))
}

/// The number of elements, sizes and fields of a value.
fn elements(value: &ValueSpec) -> usize {
    let count = |data: &TensorData| data.bytes.len() / data.dtype.bytes().max(1);
    let own = |part: &ValueSpec| match part {
        ValueSpec::Tensor(data) => count(data),
        other => other.as_shape().map_or(1, Vec::len),
    };
    value.parts().map(own).fold(0, usize::saturating_add)
}

/// The start of a text, up to a length.
pub fn cut(text: &str, longest: usize) -> String {
    match text.char_indices().nth(longest) {
        Some((at, _)) => format!("{}...", &text[..at]),
        None => text.to_string(),
    }
}

/// Whether a text is a number or a Boolean with a datatype.
fn is_scalar(text: &str) -> bool {
    let content = text.rsplit_once(':').map(|(content, _)| content.trim());
    let read = content.and_then(|content| nested(&*list(content).ok()?).ok());
    read.is_some_and(|(shape, _)| shape.is_empty())
}

/// Numbers in lists, each with its spelling.
fn list(text: &str) -> Result<Document<'_>, String> {
    if text.contains("...") {
        return Err("`...` stands for elements that are left out (`run --full` prints all of them)".into());
    }
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
        Some((content, dtype)) => (content.trim(), data_type(dtype)?),
        None => (text, DataType::FLOAT32),
    };
    let (shape, numerals) = nested(&*list(content)?)?;
    TensorData::nearest_to_numerals(dtype, &shape, &numerals).map_err(|error| format!("`{text}`: {error}"))
}

fn data_type(text: &str) -> Result<DataType, String> {
    text.trim().trim_matches('"').parse().map_err(|error: relax_spec::grammar::DataTypeError| error.to_string())
}

/// The rule for the elements of a tensor that is not listed in full.
#[derive(Clone, Copy, PartialEq, Eq)]
enum TensorFilling {
    Zeros,
    Ones,
    /// 0, 1, 2, .. in row-major order.
    Iota,
    /// Floats from -1 to 1, integers from 0 to 9, or truth values.
    Random,
}

impl TensorFilling {
    const ALL: [(&'static str, TensorFilling); 4] = [
        ("zeros", TensorFilling::Zeros),
        ("ones", TensorFilling::Ones),
        ("iota", TensorFilling::Iota),
        ("random", TensorFilling::Random),
    ];

    /// This many elements.
    fn elements(self, dtype: DataType, count: usize, seed: u64) -> Vec<f64> {
        let mut random = fastrand::Rng::with_seed(seed);
        let round = |x: f64| dtype.float_type().map_or(x, |float| float.round(x));
        let element = |i: usize| match self {
            TensorFilling::Zeros => 0.0,
            TensorFilling::Ones => 1.0,
            TensorFilling::Iota => round(i as f64),
            TensorFilling::Random if dtype.is_bool() => f64::from(random.u8(0..2)),
            TensorFilling::Random if dtype.float_type().is_some() => round(random.f64() * 2.0 - 1.0),
            // Narrow integers have a smaller range.
            TensorFilling::Random => f64::from(random.u8(0..if dtype.bits < 8 { 2 } else { 10 })),
        };
        (0..count).map(element).collect()
    }
}

/// `NAME(SHAPE, DTYPE, SEED)` or `NAME(SHAPE):DTYPE`. The shape is a list of sizes, with or without brackets. `None`
/// for any other text.
fn filled(text: &str) -> Option<Result<TensorData, String>> {
    let (name, rest) = text.split_once('(')?;
    let (_, filling) = TensorFilling::ALL.into_iter().find(|(known, _)| *known == name.trim())?;
    Some(fill(filling, rest).map_err(|error| format!("`{text}`: {error}")))
}

/// The tensor for a filling; `rest` is the text after the first parenthesis.
fn fill(filling: TensorFilling, rest: &str) -> Result<TensorData, String> {
    let (inside, behind) = rest.rsplit_once(')').ok_or("a parenthesis is open")?;
    let items = items(inside);
    let count = items
        .iter()
        .take_while(|item| item.trim().starts_with(|c: char| c.is_ascii_digit() || "+-".contains(c)))
        .count();
    let (sizes, more) = match items.split_first() {
        Some((shape, more)) if count == 0 && is_bracketed(shape) => {
            let shape = shape.trim().trim_start_matches("shape");
            (integers(shape.trim_matches(|c: char| "()[] ".contains(c)))?, more)
        }
        Some(_) | None => {
            (integers(&items.get(..count).unwrap_or_default().join(","))?, items.get(count..).unwrap_or_default())
        }
    };
    let behind = behind.trim().strip_prefix(':');
    let (dtype, seed) = match (more, behind) {
        ([], None) => (DataType::FLOAT32, 0),
        ([], Some(dtype)) => (data_type(dtype)?, 0),
        ([dtype], None) => (data_type(dtype)?, 0),
        ([dtype, seed], None) if filling == TensorFilling::Random => {
            (data_type(dtype)?, seed.trim().parse().map_err(|_| format!("`{}` is no seed", seed.trim()))?)
        }
        ([..], Some(_) | None) => return Err("expected a shape, a data type, and for `random` a seed".into()),
    };
    made(filling, dtype, &sizes, seed)
}

fn is_bracketed(text: &str) -> bool {
    text.trim().starts_with(['(', '[']) || arguments(text.trim(), "shape").is_some()
}

fn made(filling: TensorFilling, dtype: DataType, shape: &[u64], seed: u64) -> Result<TensorData, String> {
    let count = shape.iter().try_fold(1usize, |n, size| n.checked_mul(usize::try_from(*size).ok()?));
    let count = count.filter(|count| *count <= LARGEST).ok_or("it is too large")?;
    let made = match filling {
        // One element is repeated, because there may be very many.
        TensorFilling::Zeros | TensorFilling::Ones => {
            TensorData::from_values(dtype, &[], &filling.elements(dtype, 1, seed))
                .and_then(|one| TensorData::new(dtype, shape, one.bytes.repeat(count)))
        }
        TensorFilling::Iota | TensorFilling::Random => {
            TensorData::from_values(dtype, shape, &filling.elements(dtype, count, seed))
        }
    };
    made.map_err(|error| error.to_string())
}

/// The maximum number of elements to make.
const LARGEST: usize = 1 << 26;

/// The shape and the elements of a nested list.
fn nested(node: &Node<'_>) -> Result<(Vec<u64>, Vec<String>), String> {
    let items = match &node.data {
        NodeData::List(items) => items,
        NodeData::Number(number) => return Ok((Vec::new(), vec![number.to_string()])),
        NodeData::Bool(truth) => return Ok((Vec::new(), vec![u8::from(*truth).to_string()])),
        // The spelling of Python.
        NodeData::Variant(name, None) if python_number(name).is_some() => {
            return Ok((Vec::new(), python_number(name).into_iter().map(str::to_string).collect()));
        }
        NodeData::Null
        | NodeData::Text(_)
        | NodeData::Tuple(_)
        | NodeData::Map(_)
        | NodeData::Struct(_)
        | NodeData::Variant(..) => {
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

/// A number that Python spells as a name.
fn python_number(name: &str) -> Option<&'static str> {
    match name {
        "nan" => Some("NaN"),
        "True" => Some("1"),
        "False" => Some("0"),
        _ => None,
    }
}

/// The extent to which a tensor is written.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum PrintExtent {
    /// Every element, in a form that [`parse`] reads.
    Whole,
    /// The first and the last of each dimension if there are many elements, as NumPy prints them.
    Summary,
}

/// The maximum number of elements that a summary writes in full, and the number at either end of a dimension. Both are
/// those of NumPy.
const SUMMARIZED: usize = 1000;
const EDGE: usize = 3;

/// Writes a value. If it is complete and has such a form, [`parse`] can read it.
pub fn format(value: &ValueSpec, extent: PrintExtent) -> String {
    with_stack(|| match value {
        ValueSpec::Tensor(data) => format_tensor(data, extent),
        ValueSpec::Tuple(fields) => {
            let fields: Vec<String> = fields.iter().map(|field| format(field, extent)).collect();
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

fn format_tensor(data: &TensorData, extent: PrintExtent) -> String {
    let Ok(tensor) = Tensor::from_data(data) else { return format!("{data:?}") };
    let edge = (extent == PrintExtent::Summary && tensor.len() > SUMMARIZED).then_some(EDGE);
    let mut out = String::new();
    NestedListWriter { tensor: &tensor, edge, out: &mut out }.write(0, 0, 1);
    let _ = write!(out, ":{}", data.dtype);
    if edge.is_some() {
        let sizes: Vec<String> = data.shape.iter().map(u64::to_string).collect();
        let _ = write!(out, ", shape=({}{})", sizes.join(", "), if sizes.len() == 1 { "," } else { "" });
    }
    out
}

/// Writes a tensor as nested lists.
struct NestedListWriter<'a> {
    tensor: &'a Tensor,
    /// The number of elements at either end of a dimension; `None` to write all of them.
    edge: Option<usize>,
    out: &'a mut String,
}

impl NestedListWriter<'_> {
    /// Writes one list at this nesting; `at` is its position among the lists of that nesting.
    fn write(&mut self, depth: usize, at: usize, indent: usize) {
        let Some(size) = self.tensor.shape().get(depth).and_then(|size| usize::try_from(*size).ok()) else {
            self.out.push_str(&self.tensor.get(at).map(scalar).unwrap_or_default());
            return;
        };
        let innermost = depth + 1 == self.tensor.shape().len();
        let left_out = self.edge.filter(|edge| size > 2 * edge).map(|edge| edge..size - edge).unwrap_or(0..0);
        self.out.push('[');
        for i in (0..size).filter(|i| !left_out.contains(i) || *i == left_out.start) {
            match (i, innermost) {
                (0, _) => {}
                (_, true) => self.out.push_str(", "),
                (_, false) => {
                    let _ = write!(self.out, ",\n{}", " ".repeat(indent));
                }
            }
            match left_out.contains(&i) {
                true => self.out.push_str("..."),
                false => self.write(depth + 1, at * size + i, indent + 1),
            }
        }
        self.out.push(']');
    }
}

fn scalar(value: Scalar) -> String {
    match value {
        Scalar::Bool(b) => b.to_string(),
        Scalar::Int(i) => i.to_string(),
        Scalar::UInt(u) => u.to_string(),
        Scalar::Float(x) => format!("{x:?}"),
        Scalar::Ring(_) => value.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tensors_are_nested_lists() {
        let data = TensorData::from_values(DataType::INT64, &[2, 2], &[1.0, 2.0, 3.0, 4.0]).unwrap();
        assert_eq!(parse("[[1, 2], [3, 4]]:int64"), Ok(ValueSpec::Tensor(data.clone())));
        assert_eq!(format(&ValueSpec::Tensor(data), PrintExtent::Whole), "[[1, 2],\n [3, 4]]:int64");
        let scalar = TensorData::from_values(DataType::INT64, &[], &[-3.0]).unwrap();
        assert_eq!(parse("-3:int64"), Ok(ValueSpec::Tensor(scalar.clone())));
        assert_eq!(format(&ValueSpec::Tensor(scalar), PrintExtent::Whole), "-3:int64");
        assert_eq!(parse("-3"), Ok(ValueSpec::Int(-3)));
        assert_eq!(
            parse("zeros(0):bool"),
            Ok(ValueSpec::Tensor(TensorData::from_values(DataType::BOOL, &[0], &[]).unwrap()))
        );
    }

    /// A float of any type, and a large integer, is read back unchanged in each notation.
    fn is_read_back(dtype: DataType, bits: &[u64]) {
        let bytes = bits.iter().flat_map(|bits| bits.to_le_bytes().into_iter().take(dtype.bytes()));
        let data = TensorData::new(dtype, &[bits.len() as u64], bytes.collect::<Vec<u8>>()).unwrap();
        let written = format(&ValueSpec::Tensor(data.clone()), PrintExtent::Whole);
        assert_eq!(parse(&written), Ok(ValueSpec::Tensor(data.clone())), "{written}");
        let values = written.rsplit_once(':').unwrap().0;
        let ron = format!("(dtype: \"{dtype}\", shape: [{}], values: {values})", bits.len());
        assert_eq!(from_ron::<TensorData>(&ron).unwrap(), data);
        if !values.contains("inf") {
            let json = format!("{{\"dtype\": \"{dtype}\", \"shape\": [{}], \"values\": {values}}}", bits.len());
            assert_eq!(relax_spec::data::from_json::<TensorData>(&json).unwrap(), data);
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

    fn floats(text: &str) -> Vec<f64> {
        let ValueSpec::Tensor(data) = parse(text).unwrap() else { panic!("{text}: a tensor") };
        let tensor = Tensor::from_data(&data).unwrap();
        let number = |i| match tensor.get(i) {
            Some(Scalar::Float(x)) => x,
            Some(Scalar::Int(i)) => i as f64,
            other => panic!("{other:?}"),
        };
        (0..tensor.len()).map(number).collect()
    }

    #[test]
    fn floats_are_rounded_to_the_nearest_and_integers_are_exact() {
        assert_eq!(floats("0.1:float32"), [f64::from(0.1f32)]);
        assert_eq!(floats("[0.1, 16777217]"), [f64::from(0.1f32), 16777216.0]);
        assert_eq!(floats("[0.1]:float16"), [half::f16::from_f64(0.1).to_f64()]);
        assert_eq!(floats("-0:float32")[0].to_bits(), (-0.0f64).to_bits());
        assert_eq!(floats("[-0, -0.0]").iter().map(|x| x.to_bits()).collect::<Vec<_>>(), [(-0.0f64).to_bits(); 2]);
        assert!(floats("nan:float16")[0].is_nan() && floats("[nan, 1]")[0].is_nan());
        assert_eq!(floats("-inf:float64"), [f64::NEG_INFINITY]);
        assert_eq!(floats("65519.99999999999999999999:float16"), [65504.0]);
        for text in ["1e39:float32", "70000:float16", "65520:float16", "0.5:int32", "300:uint8"] {
            assert!(parse(text).is_err(), "{text}");
        }
    }

    #[test]
    fn tensors_are_filled() {
        assert_eq!(floats("iota(2, 3):int64"), [0.0, 1.0, 2.0, 3.0, 4.0, 5.0]);
        assert_eq!(floats("iota((2,), float16)"), [0.0, 1.0]);
        assert_eq!(floats("ones([2, 2]):bfloat16"), [1.0; 4]);
        assert_eq!(floats("ones():float32"), [1.0]);
        let random = floats("random((3, 4), float32, 7)");
        assert!(random.iter().all(|x| (-1.0..=1.0).contains(x)));
        assert!(random.iter().any(|x| *x > 0.0) && random.iter().any(|x| *x < 0.0));
        assert_eq!(random, floats("random(shape(3, 4), \"float32\", 7)"));
        assert_ne!(random, floats("random((3, 4), float32, 8)"));
        assert!(floats("random((100,), int8, 1)").iter().all(|x| (0.0..10.0).contains(x)));
        for text in [
            "iota(300):uint8",
            "iota(3):bool",
            "random((2,), float32, x)",
            "zeros((2,), float32, 1)",
            "ones((2,), float33)",
            "random((2), float32, 1):float32",
            "iota(2",
            "ones(-1)",
            "zeros(4294967296, 4294967296)",
        ] {
            assert!(parse(text).is_err(), "{text}");
        }
    }

    #[test]
    fn many_elements_are_summarized_as_numpy_does() {
        let summary = |text: &str| format(&parse(text).unwrap(), PrintExtent::Summary);
        assert_eq!(summary("iota(1001):int64"), "[0, 1, 2, ..., 998, 999, 1000]:int64, shape=(1001,)");
        assert_eq!(
            summary("iota(7, 200, 1):int32"),
            "[[[0],\n  [1],\n  [2],\n  ...,\n  [197],\n  [198],\n  [199]],\n [[200],\n  [201],\n  [202],\n  ...,\n  [397],\n  [398],\n  [399]],\n \
             [[400],\n  [401],\n  [402],\n  ...,\n  [597],\n  [598],\n  [599]],\n ...,\n [[800],\n  [801],\n  [802],\n  ...,\n  [997],\n  [998],\n  [999]],\n \
             [[1000],\n  [1001],\n  [1002],\n  ...,\n  [1197],\n  [1198],\n  [1199]],\n [[1200],\n  [1201],\n  [1202],\n  ...,\n  [1397],\n  [1398],\n  [1399]]]:int32, \
             shape=(7, 200, 1)"
        );
        assert!(!summary("iota(1000):int64").contains("..."));
        assert!(parse("[0, ..., 5]:int64").unwrap_err().contains("--full"));
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
        let module = relax_spec::syntax::tvmscript::parse_module(&text).unwrap();
        let arguments = relax_spec::arguments::ArgumentSource::of(&[&module], 0, 1 << 30);
        let main = relax_spec::arguments::linked(&module, "main").unwrap();
        for index in 0..60 {
            let draw = relax_spec::arguments::Draw { index, attempt: 0 };
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
