//! The functions, methods and constants of Python, of `math` and of NumPy whose values are known.

use super::numpy_array::NumpyArray;
use super::static_value::{LONGEST, StaticValue, binary, compared};
use crate::grammar::DataType;
use ruff_python_ast as py;

/// The arguments of a call.
pub(super) struct Given {
    pub placed: Vec<StaticValue>,
    pub named: Vec<(String, StaticValue)>,
}

impl Given {
    /// The argument with this place and name.
    fn get(&self, at: usize, name: &str) -> Option<&StaticValue> {
        let named = || self.named.iter().find(|(given, _)| given == name).map(|(_, value)| value);
        self.placed.get(at).or_else(named)
    }

    /// Whether there are arguments of these names alone.
    fn are(&self, names: &[&str]) -> bool {
        self.placed.len() <= names.len() && self.named.iter().all(|(name, _)| names.contains(&name.as_str()))
    }

    /// The arguments, if all are given by place.
    fn by_place(&self) -> Option<&[StaticValue]> {
        self.named.is_empty().then_some(self.placed.as_slice())
    }
}

/// `math.pi`, `np.float32`.
pub(super) fn constant(path: &str) -> Option<StaticValue> {
    match path {
        "math.pi" | "numpy.pi" => Some(StaticValue::Float(std::f64::consts::PI)),
        "math.e" | "numpy.e" => Some(StaticValue::Float(std::f64::consts::E)),
        "math.inf" | "numpy.inf" => Some(StaticValue::Float(f64::INFINITY)),
        "math.nan" | "numpy.nan" => Some(StaticValue::Float(f64::NAN)),
        path => numpy_type(path).map(|dtype| StaticValue::Text(dtype.to_string())),
    }
}

/// The data type of this name in NumPy.
fn numpy_type(path: &str) -> Option<DataType> {
    const TYPES: [&str; 12] = [
        "bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float16", "float32",
        "float64",
    ];
    let name = path.strip_prefix("numpy.")?.trim_end_matches('_');
    TYPES.contains(&name).then(|| name.parse().ok()).flatten()
}

/// The attribute of an object, or of an array.
pub(super) fn attribute(of: &StaticValue, name: &str) -> Option<StaticValue> {
    match of {
        StaticValue::Record(fields) => fields.iter().find(|(field, _)| field == name).map(|(_, value)| value.clone()),
        StaticValue::Array(array) => array.attribute(name),
        _ => None,
    }
}

/// An object of a class whose attributes are known.
pub(super) fn object(class: StaticValue, given: &Given) -> Option<StaticValue> {
    let StaticValue::Record(mut fields) = class else { return None };
    if !given.placed.is_empty() {
        return None;
    }
    for (name, value) in &given.named {
        fields.retain(|(field, _)| field != name);
        fields.push((name.clone(), value.clone()));
    }
    Some(StaticValue::Record(fields))
}

/// The result of a function by its full name.
pub(super) fn called(path: &str, given: &Given) -> Option<StaticValue> {
    match path {
        "dict" => {
            let entries = given.named.iter().map(|(name, value)| (StaticValue::Text(name.clone()), value.clone()));
            given.placed.is_empty().then(|| StaticValue::Dict(entries.collect()))
        }
        "types.SimpleNamespace" => given.placed.is_empty().then(|| StaticValue::Record(given.named.clone())),
        path if path.starts_with("numpy.") => of_numpy(path, given),
        path => simple(path, given.by_place()?),
    }
}

/// A function of arguments by place.
fn simple(path: &str, args: &[StaticValue]) -> Option<StaticValue> {
    match (path, args) {
        ("len", [StaticValue::Text(text)]) => Some(StaticValue::Int(i128::try_from(text.chars().count()).ok()?)),
        ("len", [of]) => Some(StaticValue::Int(i128::try_from(of.items()?.len()).ok()?)),
        ("min" | "max", [of]) => extreme(path == "max", of.members()?),
        ("min" | "max", of) => extreme(path == "max", of),
        ("sum", [of]) => folded(py::Operator::Add, StaticValue::Int(0), of.members()?),
        ("math.prod", [of]) => folded(py::Operator::Mult, StaticValue::Int(1), of.members()?),
        ("abs", [StaticValue::Int(i)]) => i.checked_abs().map(StaticValue::Int),
        ("abs" | "math.fabs", [StaticValue::Float(x)]) => Some(StaticValue::Float(x.abs())),
        ("pow", [base, exponent]) => binary(py::Operator::Pow, base.clone(), exponent.clone()),
        ("round", [StaticValue::Int(i)]) => Some(StaticValue::Int(*i)),
        ("round", [StaticValue::Float(x)]) => whole(x.round_ties_even()),
        ("int" | "math.trunc", [StaticValue::Float(x)]) => whole(x.trunc()),
        ("int", [StaticValue::Text(text)]) => text.trim().parse().ok().map(StaticValue::Int),
        ("int", [value]) => value.integer().map(StaticValue::Int),
        ("float", [value]) => value.number().map(StaticValue::Float),
        ("str", [value]) => value.shown().map(StaticValue::Text),
        ("bool", [value]) => value.truth().map(StaticValue::Bool),
        ("math.sqrt", [value]) => value.number().filter(|x| *x >= 0.0).map(|x| StaticValue::Float(x.sqrt())),
        ("math.ceil", [value]) => whole(value.number()?.ceil()),
        ("math.floor", [value]) => whole(value.number()?.floor()),
        ("math.gcd", [StaticValue::Int(a), StaticValue::Int(b)]) => {
            Some(StaticValue::Int(num_integer::Integer::gcd(a, b)))
        }
        ("math.log2", [StaticValue::Int(i)]) if *i > 0 && i.count_ones() == 1 => {
            Some(StaticValue::Float(f64::from(i.trailing_zeros())))
        }
        ("range", bounds) => range(bounds),
        (path, args) => collection(path, args),
    }
}

/// A function of collections.
fn collection(path: &str, args: &[StaticValue]) -> Option<StaticValue> {
    match (path, args) {
        ("tuple", []) => Some(StaticValue::Tuple(Vec::new())),
        ("list", []) => Some(StaticValue::List(Vec::new())),
        ("tuple", [of]) => of.items().map(StaticValue::Tuple),
        ("list", [of]) => of.items().map(StaticValue::List),
        ("reversed", [of]) => Some(StaticValue::List(of.members()?.iter().rev().cloned().collect())),
        ("sorted", [of]) => sorted(of.members()?),
        ("all" | "any", [of]) => {
            let truths = of.members()?.iter().map(StaticValue::truth).collect::<Option<Vec<bool>>>()?;
            let holds = if path == "all" { truths.iter().all(|t| *t) } else { truths.iter().any(|t| *t) };
            Some(StaticValue::Bool(holds))
        }
        ("enumerate", [of]) => {
            let numbered = of.items()?.into_iter().zip(0..);
            Some(StaticValue::List(
                numbered.map(|(value, i)| StaticValue::Tuple(vec![StaticValue::Int(i), value])).collect(),
            ))
        }
        ("zip", [first, others @ ..]) => {
            let mut rows: Vec<Vec<StaticValue>> = first.items()?.into_iter().map(|value| vec![value]).collect();
            for other in others {
                let other = other.items()?;
                rows.truncate(other.len());
                rows.iter_mut().zip(other).for_each(|(row, value)| row.push(value));
            }
            Some(StaticValue::List(rows.into_iter().map(StaticValue::Tuple).collect()))
        }
        _ => None,
    }
}

fn whole(x: f64) -> Option<StaticValue> {
    (x.abs() < 9e15).then_some(StaticValue::Int(x as i128))
}

fn extreme(greatest: bool, of: &[StaticValue]) -> Option<StaticValue> {
    let (first, others) = of.split_first()?;
    let op = if greatest { py::CmpOp::Gt } else { py::CmpOp::Lt };
    others
        .iter()
        .try_fold(first.clone(), |found, value| Some(if compared(op, value, &found)? { value.clone() } else { found }))
}

fn folded(op: py::Operator, first: StaticValue, of: &[StaticValue]) -> Option<StaticValue> {
    of.iter().try_fold(first, |sum, value| binary(op, sum, value.clone()))
}

fn sorted(of: &[StaticValue]) -> Option<StaticValue> {
    let mut sorted: Vec<StaticValue> = Vec::new();
    for value in of {
        let mut at = 0;
        for (i, other) in sorted.iter().enumerate() {
            if !compared(py::CmpOp::Lt, value, other)? {
                at = i + 1;
            }
        }
        sorted.insert(at, value.clone());
    }
    Some(StaticValue::List(sorted))
}

fn range(bounds: &[StaticValue]) -> Option<StaticValue> {
    let bounds = bounds.iter().map(StaticValue::integer).collect::<Option<Vec<i128>>>()?;
    let (start, stop, step) = match bounds.as_slice() {
        [stop] => (0, *stop, 1),
        [start, stop] => (*start, *stop, 1),
        [start, stop, step] => (*start, *stop, *step),
        _ => return None,
    };
    let mut values = Vec::new();
    let mut i = start;
    while step != 0 && if step > 0 { i < stop } else { i > stop } {
        values.push(StaticValue::Int(i));
        if values.len() > LONGEST {
            return None;
        }
        i = i.checked_add(step)?;
    }
    (step != 0).then_some(StaticValue::Range(values))
}

/// A function of NumPy.
fn of_numpy(path: &str, given: &Given) -> Option<StaticValue> {
    let dtype = |at| match given.get(at, "dtype") {
        None | Some(StaticValue::None) => Some(None),
        Some(StaticValue::Text(name)) => name.parse::<DataType>().ok().map(Some),
        Some(_) => None,
    };
    let filled = |at, value: &StaticValue| {
        let otherwise = DataType::FLOAT64;
        NumpyArray::filled(given.get(0, "shape")?, value, dtype(at)?.unwrap_or(otherwise))
    };
    let array = match path {
        "numpy.array" | "numpy.asarray" if given.are(&["object", "dtype"]) => {
            NumpyArray::of(given.get(0, "object")?, dtype(1)?)
        }
        "numpy.zeros" if given.are(&["shape", "dtype"]) => filled(1, &StaticValue::Int(0)),
        "numpy.ones" if given.are(&["shape", "dtype"]) => filled(1, &StaticValue::Int(1)),
        "numpy.full" if given.are(&["shape", "fill_value", "dtype"]) => {
            let value = given.get(1, "fill_value")?;
            let own = NumpyArray::of(value, dtype(2)?)?.dtype;
            NumpyArray::filled(given.get(0, "shape")?, value, own)
        }
        "numpy.eye" | "numpy.identity" if given.placed.len() == 1 && given.are(&["N", "dtype"]) => {
            NumpyArray::eye(given.get(0, "N")?.integer()?, dtype(1)?.unwrap_or(DataType::FLOAT64))
        }
        "numpy.arange" if given.named.iter().all(|(name, _)| name == "dtype") => {
            NumpyArray::of(&StaticValue::List(range(&given.placed)?.items()?), dtype(3)?)
        }
        "numpy.prod" => return simple("math.prod", given.by_place()?),
        "numpy.sqrt" => return simple("math.sqrt", given.by_place()?),
        "numpy.ceil" | "numpy.floor" => {
            return match simple(&path.replace("numpy", "math"), given.by_place()?)? {
                StaticValue::Int(i) => Some(StaticValue::Float(i as f64)),
                other => Some(other),
            };
        }
        path => match (numpy_type(path), given.by_place()?) {
            (Some(dtype), [value]) => NumpyArray::of(value, Some(dtype)),
            (_, _) => None,
        },
    };
    array.map(StaticValue::Array)
}

/// The result of a method.
pub(super) fn method(of: StaticValue, name: &str, given: &Given) -> Option<StaticValue> {
    match of {
        StaticValue::Text(text) => of_text(&text, name, given),
        StaticValue::Dict(entries) => of_dictionary(&entries, name, given.by_place()?),
        StaticValue::Array(array) => array.method(name, &given.placed).filter(|_| given.named.is_empty()),
        _ => None,
    }
}

fn of_text(text: &str, name: &str, given: &Given) -> Option<StaticValue> {
    let value = match (name, given.placed.as_slice()) {
        ("format", _) => return filled_in(text, given).map(StaticValue::Text),
        ("lower", []) => text.to_lowercase(),
        ("upper", []) => text.to_uppercase(),
        ("strip", []) => text.trim().to_string(),
        ("replace", [StaticValue::Text(from), StaticValue::Text(to)]) => text.replace(from, to),
        ("startswith", [StaticValue::Text(start)]) => return Some(StaticValue::Bool(text.starts_with(start))),
        ("endswith", [StaticValue::Text(end)]) => return Some(StaticValue::Bool(text.ends_with(end))),
        ("join", [of]) => {
            let words = of.members()?.iter().map(|word| match word {
                StaticValue::Text(word) => Some(word.as_str()),
                _ => None,
            });
            words.collect::<Option<Vec<&str>>>()?.join(text)
        }
        _ => return None,
    };
    (given.named.is_empty() && value.len() <= LONGEST).then_some(StaticValue::Text(value))
}

/// `"conv_{}_{n}".format(3, n=4)`.
fn filled_in(text: &str, given: &Given) -> Option<String> {
    let (mut out, mut rest, mut next) = (String::new(), text, 0);
    while let Some((before, after)) = rest.split_once('{') {
        let (hole, others) = after.split_once('}')?;
        // Doubled braces, conversions and formats.
        if before.contains('}') || hole.contains(['{', ':', '!', '.', '[']) {
            return None;
        }
        let value = match (hole, hole.parse::<usize>()) {
            ("", _) => {
                next += 1;
                given.placed.get(next - 1)?
            }
            (_, Ok(at)) => given.placed.get(at)?,
            (name, Err(_)) => given.named.iter().find(|(given, _)| given == name).map(|(_, value)| value)?,
        };
        out.push_str(before);
        out.push_str(&value.shown()?);
        rest = others;
    }
    out.push_str(rest);
    (!rest.contains('}') && out.len() <= LONGEST).then_some(out)
}

fn of_dictionary(entries: &[(StaticValue, StaticValue)], name: &str, args: &[StaticValue]) -> Option<StaticValue> {
    let found =
        |key: &StaticValue| entries.iter().rev().find(|(other, _)| other == key).map(|(_, value)| value.clone());
    match (name, args) {
        ("get", [key]) => Some(found(key).unwrap_or(StaticValue::None)),
        ("get", [key, otherwise]) => Some(found(key).unwrap_or_else(|| otherwise.clone())),
        ("keys", []) => Some(StaticValue::List(entries.iter().map(|(key, _)| key.clone()).collect())),
        ("values", []) => Some(StaticValue::List(entries.iter().map(|(_, value)| value.clone()).collect())),
        ("items", []) => {
            let pairs = entries.iter().map(|(key, value)| StaticValue::Tuple(vec![key.clone(), value.clone()]));
            Some(StaticValue::List(pairs.collect()))
        }
        _ => None,
    }
}
