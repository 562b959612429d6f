//! Small arrays of NumPy, as people put them into constants.

use ruff_python_ast as py;
use ruff_text_size::TextRange;

use super::static_value::{LONGEST, StaticValue, binary, called_by_name, string};
use crate::grammar::{DataType, TypeCode};
use crate::judge::with_stack;

/// An array with its elements in row-major order, each as the data type holds it.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct NumpyArray {
    dims: Vec<usize>,
    pub dtype: DataType,
    numbers: Vec<StaticValue>,
}

impl NumpyArray {
    /// `np.array(value, dtype)`.
    pub fn of(value: &StaticValue, dtype: Option<DataType>) -> Option<NumpyArray> {
        if let StaticValue::Array(array) = value {
            return array.cast(dtype.unwrap_or(array.dtype));
        }
        let mut numbers = Vec::new();
        let dims = flattened(value, &mut numbers)?;
        let is_float = |number: &StaticValue| matches!(number, StaticValue::Float(_));
        let is_bool = |number: &StaticValue| matches!(number, StaticValue::Bool(_));
        let own = if numbers.iter().any(is_float) || numbers.is_empty() {
            DataType::FLOAT64
        } else if numbers.iter().all(is_bool) {
            DataType::BOOL
        } else {
            DataType::INT64
        };
        NumpyArray { dims, dtype: own, numbers }.cast(dtype.unwrap_or(own))
    }

    /// An array of one value.
    pub fn filled(shape: &StaticValue, value: &StaticValue, dtype: DataType) -> Option<NumpyArray> {
        let dims = sizes(shape)?;
        let numbers = vec![
            value.clone();
            dims.iter().try_fold(1, |n: usize, size| n.checked_mul(*size)).filter(|n| *n <= LONGEST)?
        ];
        NumpyArray { dims, dtype, numbers }.cast(dtype)
    }

    /// The identity matrix.
    pub fn eye(size: i128, dtype: DataType) -> Option<NumpyArray> {
        let size = usize::try_from(size).ok().filter(|size| size.saturating_mul(*size) <= LONGEST)?;
        let numbers = (0..size * size).map(|at| StaticValue::Int(i128::from(at / size == at % size)));
        NumpyArray { dims: vec![size, size], dtype, numbers: numbers.collect() }.cast(dtype)
    }

    /// The number of elements.
    pub fn size(&self) -> usize {
        self.numbers.len().max(1)
    }

    fn cast(&self, dtype: DataType) -> Option<NumpyArray> {
        let numbers = self.numbers.iter().map(|number| held(number, dtype)).collect::<Option<Vec<_>>>()?;
        Some(NumpyArray { dims: self.dims.clone(), dtype, numbers })
    }

    /// Element by element with another array of these sizes or with a number, where arithmetic is that of Python.
    pub fn with(op: py::Operator, left: &StaticValue, right: &StaticValue) -> Option<NumpyArray> {
        let is_plain = |array: &NumpyArray| matches!(array.dtype, DataType::INT64 | DataType::FLOAT64);
        let like = match (left, right) {
            (StaticValue::Array(a), StaticValue::Array(b)) if a.dims == b.dims && is_plain(a) && is_plain(b) => a,
            (StaticValue::Array(a), StaticValue::Int(_) | StaticValue::Float(_))
            | (StaticValue::Int(_) | StaticValue::Float(_), StaticValue::Array(a))
                if is_plain(a) =>
            {
                a
            }
            _ => return None,
        };
        let at = |of: &StaticValue, i: usize| match of {
            StaticValue::Array(array) => array.numbers.get(i).cloned(),
            number => Some(number.clone()),
        };
        let numbers = (0..like.numbers.len()).map(|i| binary(op, at(left, i)?, at(right, i)?));
        let numbers = numbers.collect::<Option<Vec<_>>>()?;
        let dtype =
            if numbers.iter().any(|n| matches!(n, StaticValue::Float(_))) { DataType::FLOAT64 } else { like.dtype };
        NumpyArray { dims: like.dims.clone(), dtype, numbers }.cast(dtype)
    }

    /// The array with the sign of each element changed.
    pub fn negated(&self) -> Option<NumpyArray> {
        let numbers = self.numbers.iter().map(|number| super::static_value::unary(py::UnaryOp::USub, number.clone()));
        NumpyArray { numbers: numbers.collect::<Option<Vec<_>>>()?, ..self.clone() }.cast(self.dtype)
    }

    pub fn attribute(&self, name: &str) -> Option<StaticValue> {
        let int = |n: usize| i128::try_from(n).ok().map(StaticValue::Int);
        match name {
            "shape" => self.dims.iter().map(|size| int(*size)).collect::<Option<Vec<_>>>().map(StaticValue::Tuple),
            "ndim" => int(self.dims.len()),
            "size" => int(self.numbers.len()),
            "dtype" => Some(StaticValue::Text(self.dtype.to_string())),
            _ => None,
        }
    }

    pub fn method(&self, name: &str, args: &[StaticValue]) -> Option<StaticValue> {
        match (name, args) {
            ("astype", [StaticValue::Text(dtype)]) => self.cast(dtype.parse().ok()?).map(StaticValue::Array),
            ("reshape", [shape @ (StaticValue::Tuple(_) | StaticValue::List(_))]) => self.reshaped(shape.members()?),
            ("reshape", dims) => self.reshaped(dims),
            ("flatten" | "ravel", []) => self.reshaped(&[StaticValue::Int(-1)]),
            ("item", []) => match self.numbers.as_slice() {
                [number] => Some(number.clone()),
                _ => None,
            },
            ("tolist", []) => Some(nested(&self.dims, &mut self.numbers.iter().cloned())),
            _ => None,
        }
    }

    fn reshaped(&self, dims: &[StaticValue]) -> Option<StaticValue> {
        let dims = dims.iter().map(StaticValue::integer).collect::<Option<Vec<i128>>>()?;
        let known = dims.iter().filter(|size| **size >= 0).try_fold(1, |n: i128, size| n.checked_mul(*size))?;
        let count = i128::try_from(self.numbers.len()).ok()?;
        let dims = dims.into_iter().map(|size| match size {
            -1 if known > 0 => usize::try_from(count / known).ok(),
            size => usize::try_from(size).ok(),
        });
        let dims = dims.collect::<Option<Vec<usize>>>()?;
        let number = dims.iter().try_fold(1, |n: usize, size| n.checked_mul(*size))?;
        (number == self.numbers.len()).then(|| StaticValue::Array(NumpyArray { dims, ..self.clone() }))
    }

    /// `np.array([[1, 2]], "int64")`, which readers of constants know.
    pub fn literal(&self, range: TextRange) -> Option<py::Expr> {
        // Lists without elements do not say their sizes.
        if self.numbers.is_empty() {
            return None;
        }
        let list = nested(&self.dims, &mut self.numbers.iter().cloned()).literal(range)?;
        Some(called_by_name("np.array", vec![list, string(&self.dtype.to_string(), range)], range))
    }
}

/// The elements as nested lists.
fn nested(dims: &[usize], numbers: &mut impl Iterator<Item = StaticValue>) -> StaticValue {
    match dims.split_first() {
        None => numbers.next().unwrap_or(StaticValue::None),
        Some((size, others)) => StaticValue::List((0..*size).map(|_| nested(others, numbers)).collect()),
    }
}

/// The sizes of nested lists, whose numbers are appended.
fn flattened(value: &StaticValue, numbers: &mut Vec<StaticValue>) -> Option<Vec<usize>> {
    let Some(rows) = value.members() else {
        numbers.push(value.clone());
        return matches!(value, StaticValue::Int(_) | StaticValue::Float(_) | StaticValue::Bool(_)).then(Vec::new);
    };
    let mut inner: Option<Vec<usize>> = None;
    for row in rows {
        let dims = with_stack(|| flattened(row, numbers))?;
        if inner.as_ref().is_some_and(|inner| *inner != dims) || numbers.len() > LONGEST {
            return None;
        }
        inner = Some(dims);
    }
    let mut dims = vec![rows.len()];
    dims.extend(inner.unwrap_or_default());
    Some(dims)
}

fn sizes(shape: &StaticValue) -> Option<Vec<usize>> {
    let size = |value: &StaticValue| value.integer().and_then(|size| usize::try_from(size).ok());
    match shape.members() {
        Some(dims) => dims.iter().map(size).collect(),
        None => Some(vec![size(shape)?]),
    }
}

/// A number as a data type holds it.
fn held(number: &StaticValue, dtype: DataType) -> Option<StaticValue> {
    if dtype == DataType::BOOL {
        return number.truth().map(StaticValue::Bool);
    }
    if let Some(float) = dtype.float_type() {
        return Some(StaticValue::Float(float.round(number.number()?)));
    }
    let value = match number {
        StaticValue::Float(x) if x.abs() < 9e15 => x.trunc() as i128,
        number => number.integer()?,
    };
    let bits = u32::from(dtype.bits);
    let (least, greatest) = match dtype.code {
        TypeCode::Int => (-(1i128 << (bits - 1)), (1i128 << (bits - 1)) - 1),
        TypeCode::UInt => (0, (1i128 << bits) - 1),
        TypeCode::Float | TypeCode::BFloat | TypeCode::Small(_) | TypeCode::Handle => return None,
    };
    (least..=greatest).contains(&value).then_some(StaticValue::Int(value))
}
