//! Literals: `R.const([[1, 2], [3, 4]], "int64")`.

use ruff_python_ast as py;

use super::ModuleReader;
use super::annotation::ArgumentCursor;
use super::fault::{ReadFault, ReadResult, dotted, float, integer, members, non_finite, string};
use crate::grammar::{Constant, DataType, Expr, Span, TensorData, TypeCode};
use crate::judge::with_stack;

/// A number with its spelling.
#[derive(Clone, Copy, PartialEq, Debug)]
enum NumberLiteral {
    Bool(bool),
    Int(i128),
    Float(f64),
}

impl ModuleReader<'_> {
    /// The arguments of `R.const`: a number or nested lists of numbers, and a datatype. Without a datatype, integers
    /// are int32 and other numbers float32, as in TVM.
    pub(super) fn constant(&mut self, mut args: ArgumentCursor<'_>, e: &py::Expr, span: Span) -> ReadResult<Expr> {
        let value = args.take(&["value"]).ok_or_else(|| ReadFault::new(e, "expected a number or a list of numbers"))?;
        let dtype = args.take(&["dtype"]).map(|dtype| self.dtype(dtype)).transpose()?;
        let (value, dtype) = match numpy_array(value) {
            Some((list, own)) => (list, dtype.or(Some(own))),
            None => (value, dtype),
        };
        // A tensor without elements may have a shape that lists cannot express.
        let empty_shape = args.keyword(&["shape"]).map(|dims| self.literal_shape(dims)).transpose()?;
        args.finish()?;
        let data = match (empty_shape, value) {
            (Some(shape), _) => (shape, Vec::new()),
            (None, value) => self.array(value)?,
        };
        self.tensor_literal(data.0, &data.1, dtype, value, span)
    }

    /// A bare number where an expression is assigned.
    pub(super) fn scalar(&mut self, e: &py::Expr, span: Span) -> ReadResult<Option<Expr>> {
        match self.number(e) {
            Some(number) => self.tensor_literal(Vec::new(), &[number], None, e, span).map(Some),
            None => Ok(None),
        }
    }

    fn tensor_literal(
        &self,
        shape: Vec<u64>,
        numbers: &[NumberLiteral],
        dtype: Option<DataType>,
        e: &py::Expr,
        span: Span,
    ) -> ReadResult<Expr> {
        let dtype = dtype.unwrap_or_else(|| default_dtype(numbers));
        let mut bytes = Vec::with_capacity(numbers.len() * dtype.bytes());
        for number in numbers {
            if encode(dtype, *number, &mut bytes).is_none() {
                return Err(ReadFault::expected(self.text, e, &format!("numbers that {dtype} can hold")));
            }
        }
        let data = TensorData::new(dtype, &shape, bytes).map_err(|error| ReadFault::new(e, error.to_string()))?;
        Ok(Expr::Constant(Constant { data, span }))
    }

    fn number(&self, e: &py::Expr) -> Option<NumberLiteral> {
        match e {
            py::Expr::BooleanLiteral(b) => Some(NumberLiteral::Bool(b.value)),
            py::Expr::StringLiteral(s) => non_finite(s.value.to_str()).map(NumberLiteral::Float),
            _ => integer(e).map(NumberLiteral::Int).or_else(|| float(e).map(NumberLiteral::Float)),
        }
    }

    /// Nested lists as a shape, and the numbers in row-major order.
    fn array(&self, e: &py::Expr) -> ReadResult<(Vec<u64>, Vec<NumberLiteral>)> {
        let Some(rows) = members(e) else {
            let number =
                self.number(e).ok_or_else(|| ReadFault::expected(self.text, e, "a number or a list of numbers"))?;
            return Ok((Vec::new(), vec![number]));
        };
        let mut inner: Option<Vec<u64>> = None;
        let mut numbers = Vec::new();
        for row in rows {
            let (shape, more) = with_stack(|| self.array(row))?;
            match &inner {
                Some(inner) if *inner != shape => return Err(ReadFault::new(row, "the rows differ in shape")),
                Some(_) => {}
                None => inner = Some(shape),
            }
            numbers.extend(more);
        }
        let mut shape = vec![rows.len() as u64];
        shape.extend(inner.unwrap_or_default());
        Ok((shape, numbers))
    }

    fn literal_shape(&self, e: &py::Expr) -> ReadResult<Vec<u64>> {
        let not_sizes = || ReadFault::expected(self.text, e, "a tuple of sizes");
        let dims = members(e).ok_or_else(not_sizes)?;
        dims.iter().map(|dim| integer(dim).and_then(|i| u64::try_from(i).ok()).ok_or_else(not_sizes)).collect()
    }

    /// The text of a string argument.
    pub(super) fn string_arg(&self, e: &py::Expr) -> ReadResult<String> {
        string(e).map(str::to_string).ok_or_else(|| ReadFault::expected(self.text, e, "a string"))
    }
}

/// An array of NumPy in its known form, with the data type of the constant that it becomes without another: TVM narrows
/// the types that NumPy takes by default.
pub(super) fn numpy_array(e: &py::Expr) -> Option<(&py::Expr, DataType)> {
    let call =
        e.as_call_expr().filter(|call| dotted(&call.func).is_some_and(|words| words.as_slice() == ["np", "array"]))?;
    let [list, dtype] = &*call.arguments.args else { return None };
    let dtype = match string(dtype)?.parse().ok()? {
        DataType::INT64 => DataType::INT32,
        DataType::FLOAT64 => DataType::FLOAT32,
        dtype => dtype,
    };
    Some((list, dtype))
}

fn default_dtype(numbers: &[NumberLiteral]) -> DataType {
    let is_bool = |number: &NumberLiteral| matches!(number, NumberLiteral::Bool(_));
    let is_float = |number: &NumberLiteral| matches!(number, NumberLiteral::Float(_));
    if numbers.iter().any(is_float) || numbers.is_empty() {
        DataType::FLOAT32
    } else if numbers.iter().all(is_bool) {
        DataType::BOOL
    } else {
        DataType::INT32
    }
}

/// Appends a number in the encoding of a datatype, rounded for a floating-point type. `None` if it does not fit.
fn encode(dtype: DataType, number: NumberLiteral, bytes: &mut Vec<u8>) -> Option<()> {
    match dtype.code {
        TypeCode::Float | TypeCode::BFloat | TypeCode::Small(_) => encode_float(dtype, number, bytes),
        TypeCode::Int | TypeCode::UInt => encode_int(dtype, as_int(number)?, bytes),
        TypeCode::Handle => None,
    }
}

fn as_int(number: NumberLiteral) -> Option<i128> {
    match number {
        NumberLiteral::Bool(b) => Some(i128::from(b)),
        NumberLiteral::Int(i) => Some(i),
        NumberLiteral::Float(_) => None,
    }
}

fn encode_float(dtype: DataType, number: NumberLiteral, bytes: &mut Vec<u8>) -> Option<()> {
    if let TypeCode::Small(format) = dtype.code {
        let value = match number {
            NumberLiteral::Bool(b) => f64::from(u8::from(b)),
            NumberLiteral::Int(i) => i as f64,
            NumberLiteral::Float(f) => f,
        };
        bytes.push(format.code(value));
        return Some(());
    }
    let float = dtype.float_type()?;
    let bits = match number {
        NumberLiteral::Bool(b) => float.int_to_bits(b.into()),
        NumberLiteral::Int(i) => float.int_to_bits(i),
        NumberLiteral::Float(f) => float.to_bits(f),
    };
    bytes.extend(bits.to_le_bytes().iter().take(dtype.bytes()));
    Some(())
}

fn encode_int(dtype: DataType, value: i128, bytes: &mut Vec<u8>) -> Option<()> {
    let (low, high) = match (dtype.code, dtype.bits) {
        (TypeCode::Int, bits @ (2 | 4 | 8 | 16 | 32 | 64)) => (-(1i128 << (bits - 1)), (1i128 << (bits - 1)) - 1),
        (TypeCode::UInt, bits @ (1 | 2 | 4 | 8 | 16 | 32 | 64)) => (0, (1i128 << bits) - 1),
        _ => return None,
    };
    if value < low || value > high {
        return None;
    }
    bytes.extend(value.to_le_bytes().get(..dtype.bytes())?);
    Some(())
}
