//! Common parts of reference implementations: reading values, and building tensors element by element from a formula
//! over the index.

pub(in crate::ops) mod array;
pub(in crate::ops) mod casts;
pub(in crate::ops) mod elementwise;
pub(in crate::ops) mod floats;
pub(in crate::ops) mod lanes;
pub(in crate::ops) mod reals;
pub(in crate::ops) mod slices;
pub(in crate::ops) mod window;

use std::borrow::Cow;

use crate::grammar::{DataType, PrimExpr, StructInfo, TensorShape};
use crate::judge::Cx;
use crate::number::FloatType;
use crate::number::real::{Function, Real};
use crate::number::ring::RingNumber;
use crate::ops::kernel::reals::as_ring;
use crate::ops::{EvalArgs, InferError};
use crate::value::{Element, Held, Host, Noise, Prim, Scalar, Stop, Tensor, Value, count};

/// REFINE.RING.CONSTANTS: a float in a call, as a number of the run.
pub(in crate::ops) fn number_of(m: &dyn Host, x: f64, float: FloatType) -> Scalar {
    match m.account().ring() {
        Some(reading) => Scalar::Ring(RingNumber::of_constant(x, float, reading)),
        None => Scalar::Float(x),
    }
}

/// The error of an operator for values outside its domain (`PURE.ERR.OP`).
pub(in crate::ops) fn fail(message: impl Into<String>) -> Stop {
    Stop::error(rule!("PURE.ERR.OP"), message)
}

impl From<InferError> for Stop {
    /// A rejection by inference becomes an error in a program that runs unchecked. A limit of inference ends the run.
    fn from(error: InferError) -> Stop {
        match error.negative {
            _ if error.limit => Stop::OutOfFuel,
            Some(size) => Stop::of_size(rule!("PURE.ERR.OP"), size, error.message),
            None => fail(error.message),
        }
    }
}

/// The i-th argument, a tensor.
pub(in crate::ops) fn tensor<'a>(a: &EvalArgs<'a>, i: usize) -> Result<&'a Tensor, Stop> {
    match a.values.get(i) {
        Some(Value::Tensor(t)) => Ok(t),
        Some(other) => Err(fail(format!("argument {i} must be a tensor, it is {}", other.category()))),
        None => Err(fail(format!("argument {i} is missing"))),
    }
}

/// The i-th argument, a tuple of tensors.
pub(in crate::ops) fn tensors<'a>(a: &EvalArgs<'a>, i: usize) -> Result<Vec<&'a Tensor>, Stop> {
    let fields = a.values.get(i).and_then(Value::as_tuple).map(|t| t.fields());
    let tensors = fields.and_then(|fields| fields.iter().map(Value::as_tensor).collect());
    tensors.ok_or_else(|| fail(format!("argument {i} must be a tuple of tensors")))
}

/// The i-th argument, a shape.
pub(in crate::ops) fn shape<'a>(a: &EvalArgs<'a>, i: usize) -> Result<&'a [i64], Stop> {
    match a.values.get(i) {
        Some(Value::Shape(dims)) => Ok(dims),
        Some(other) => Err(fail(format!("argument {i} must be a shape, it is {}", other.category()))),
        None => Err(fail(format!("argument {i} is missing"))),
    }
}

/// The result as inference describes it for the values: its data type and its shape.
pub(in crate::ops) struct Out {
    pub(in crate::ops) dtype: DataType,
    pub(in crate::ops) shape: Vec<i64>,
}

/// The result of an operator with a single tensor as result. The sizes depend only on those of the arguments.
pub(in crate::ops) fn out(a: &EvalArgs<'_>) -> Result<Out, Stop> {
    let tensor = if let Some(StructInfo::Tensor(tensor)) = a.result { Some(tensor) } else { None };
    let out = tensor.and_then(|tensor| {
        let dims = if let Some(TensorShape::Dims(dims)) = &tensor.shape { Some(dims) } else { None };
        let shape = dims?.iter().map(constant_size).collect::<Option<Vec<i64>>>()?;
        Some(Out { dtype: tensor.dtype, shape })
    });
    out.ok_or_else(|| Stop::unspecified("inference does not tell the sizes of the result"))
}

fn constant_size(dim: &PrimExpr) -> Option<i64> {
    match dim {
        PrimExpr::IntImm(size) => Some(*size),
        PrimExpr::Var(_) | PrimExpr::Binary(..) | PrimExpr::Not(_) | PrimExpr::Select(..) => {
            crate::shape::evaluate(&mut Cx::new(), dim, &|_| None).ok()
        }
    }
}

/// The result, with each element computed by a formula from its index.
pub(in crate::ops) fn tabulate_out(
    m: &mut dyn Host,
    a: &EvalArgs<'_>,
    element: impl FnMut(&[i64]) -> Result<Scalar, Stop>,
) -> Result<Value, Stop> {
    let out = out(a)?;
    fresh(tabulate(m, out.dtype, &out.shape, element)?)
}

/// The result, with the elements of a tensor taken in row-major order.
pub(in crate::ops) fn in_shape_of_out(m: &mut dyn Host, a: &EvalArgs<'_>, x: &Tensor) -> Result<Value, Stop> {
    fresh(in_shape(m, x, &out(a)?.shape)?)
}

/// The result if it has no elements. Then there is nothing to compute, and nothing is unspecified.
pub(in crate::ops) fn empty_out(m: &mut dyn Host, a: &EvalArgs<'_>) -> Result<Option<Value>, Stop> {
    let out = out(a)?;
    if count(&out.shape) > 0 {
        return Ok(None);
    }
    fresh(zeros(m, out.dtype, &out.shape)?).map(Some)
}

/// A new tensor of zeros. Its cost is charged before it is allocated.
pub(in crate::ops) fn zeros(m: &mut dyn Host, dtype: DataType, shape: &[i64]) -> Result<Tensor, Stop> {
    // The memory limit is checked before any step is charged.
    drop(m.account().hold(count(shape).saturating_mul(dtype.bytes() as u64))?);
    m.spend(count(shape))?;
    m.account().zeros(dtype, shape)?.map_err(|error| fail(error.to_string()))
}

/// The product of all sizes, in which 0 counts as 1. It bounds the steps of a loop over any of the axes.
pub(in crate::ops) fn places(shape: &[i64]) -> u64 {
    shape.iter().fold(1, |places, size| places.saturating_mul(count(&[*size]).max(1)))
}

/// Memory for temporary elements of an operator, besides its arguments and its result. It is released when the returned
/// value is dropped.
pub(in crate::ops) fn beside(m: &mut dyn Host, elements: u64) -> Result<Held, Stop> {
    m.account().hold(elements.saturating_mul(BESIDE))
}

/// The temporary memory for one element: a scalar, one or two copies, and its index.
const BESIDE: u64 = 64;

/// A new tensor, with each element computed by a formula from its index.
pub(in crate::ops) fn tabulate(
    m: &mut dyn Host,
    dtype: DataType,
    shape: &[i64],
    mut element: impl FnMut(&[i64]) -> Result<Scalar, Stop>,
) -> Result<Tensor, Stop> {
    let (out, noise) = (zeros(m, dtype, shape)?, m.noise());
    let mut index = vec![0; shape.len()];
    out.fill(|_| {
        let value = element(&index)?;
        advance(&mut index, shape);
        stored(value, dtype, noise.as_deref())
    })?;
    Ok(out)
}

/// A new tensor, with each element computed by a formula from its row-major position.
pub(in crate::ops) fn tabulate_flat(
    m: &mut dyn Host,
    dtype: DataType,
    shape: &[i64],
    mut element: impl FnMut(usize) -> Result<Scalar, Stop>,
) -> Result<Tensor, Stop> {
    let (out, noise) = (zeros(m, dtype, shape)?, m.noise());
    out.fill(|flat| stored(element(flat)?, dtype, noise.as_deref()))?;
    Ok(out)
}

/// An element as it is stored in a tensor; with noise, as another rounding of the operator might give it.
pub(in crate::ops) fn stored(x: Scalar, dtype: DataType, noise: Option<&Noise>) -> Result<Scalar, Stop> {
    match (storable(x, dtype)?, noise, dtype.float_type()) {
        (Scalar::Float(x), Some(noise), Some(float)) => Ok(Scalar::Float(noise.stored(float, x))),
        (x, _, _) => Ok(x),
    }
}

/// A float that an integer data type cannot represent is unspecified.
fn storable(x: Scalar, dtype: DataType) -> Result<Scalar, Stop> {
    let value = match x {
        Scalar::Float(_) | Scalar::Ring(_) if dtype.is_float() || dtype.is_bool() => return Ok(x),
        Scalar::Float(value) => value,
        Scalar::Ring(value) => match value.missing() {
            Some(reason) => return Err(Stop::unspecified(format!("in the ring: {reason}"))),
            None => value.applied(TRUNCATION).near(),
        },
        Scalar::Bool(_) | Scalar::Int(_) | Scalar::UInt(_) => return Ok(x),
    };
    let power = |bits: u16| libm::ldexp(1.0, bits.into());
    // A data type of fewer than 8 bits keeps the lowest bits.
    let wide = if dtype.bits < 8 { DataType::INT64 } else { dtype };
    let (low, high) =
        if wide.is_int() { (-power(wide.bits - 1), power(wide.bits - 1)) } else { (0.0, power(wide.bits)) };
    let whole = value.trunc();
    if whole >= low && whole < high { Ok(x) } else { Err(Stop::unspecified(format!("{value} as {dtype}"))) }
}

/// Rounds towards zero to an integer.
const TRUNCATION: Function = Function { name: "trunc", float: libm::trunc };

/// The element of a tensor at a row-major position.
pub(in crate::ops) fn at_flat(t: &Tensor, flat: usize) -> Result<Scalar, Stop> {
    t.get(flat).ok_or_else(|| fail(format!("a tensor of shape {:?} has no element {flat}", t.shape())))
}

/// A new tensor with the same elements in row-major order and another shape.
pub(in crate::ops) fn in_shape(m: &mut dyn Host, x: &Tensor, shape: &[i64]) -> Result<Tensor, Stop> {
    let mut flat = 0;
    let out = tabulate(m, x.dtype(), shape, |_| {
        let element = x.get(flat).ok_or_else(|| fail(format!("{:?} has fewer elements than {shape:?}", x.shape())));
        flat += 1;
        element
    })?;
    if out.len() != x.len() {
        return Err(fail(format!("{:?} has more elements than {shape:?}", x.shape())));
    }
    Ok(out)
}

/// An element converted to a data type for storing.
pub(in crate::ops) fn convert(x: Scalar, dtype: DataType) -> Result<Scalar, Stop> {
    if let Scalar::Ring(_) = x
        && dtype.is_float()
    {
        return Ok(x);
    }
    let cell = Tensor::zeros(dtype, &[]).map_err(|error| fail(error.to_string()))?;
    if !cell.set(0, storable(x, dtype)?) {
        return Err(fail("an element lies outside its tensor"));
    }
    cell.get(0).ok_or_else(|| fail("a tensor of rank 0 is empty"))
}

/// An integer in a data type. A value that it cannot represent is unspecified.
pub(in crate::ops) fn held(i: i64, dtype: DataType) -> Result<Scalar, Stop> {
    let (least, greatest) = integers(dtype).unwrap_or((i128::MIN, i128::MAX));
    if !(least..=greatest).contains(&i.into()) {
        return Err(Stop::unspecified(format!("{i} as {dtype}")));
    }
    convert(Scalar::Int(i), dtype)
}

/// The smallest and the largest element of an integer data type.
pub(in crate::ops) fn integers(dtype: DataType) -> Option<(i128, i128)> {
    let power = |bits: u16| 1i128.checked_shl(bits.into()).unwrap_or(i128::MAX);
    match (dtype.is_bool() || dtype.is_float() || dtype.is_void(), dtype.is_int()) {
        (true, _) => None,
        (false, true) => Some((-power(dtype.bits - 1), power(dtype.bits - 1) - 1)),
        (false, false) => Some((0, power(dtype.bits) - 1)),
    }
}

/// An integer wrapped to a data type. A float is not changed.
pub(in crate::ops) fn wrapped(x: Scalar, dtype: DataType) -> Result<Scalar, Stop> {
    if let Scalar::Float(_) | Scalar::Ring(_) = x { Ok(x) } else { convert(x, dtype) }
}

/// A number divided by a count. Integers are truncated towards zero, and dividing them by zero is an error.
pub(in crate::ops) fn quotient(x: Scalar, count: u64) -> Result<Scalar, Stop> {
    let by_none = || fail("an integer is divided by zero");
    match x {
        Scalar::Float(x) => Ok(Scalar::Float(x / count as f64)),
        Scalar::Ring(x) => Ok(Scalar::Ring(x.over(RingNumber::of_int(count.into(), FloatType::Float64)))),
        // A count of elements always fits in an int64.
        Scalar::Int(x) => x.checked_div(count as i64).map(Scalar::Int).ok_or_else(by_none),
        Scalar::UInt(x) => x.checked_div(count).map(Scalar::UInt).ok_or_else(by_none),
        Scalar::Bool(_) => Err(fail("a mean is not defined on Booleans")),
    }
}

/// A boxed integer.
pub(in crate::ops) fn int(a: &EvalArgs<'_>, i: usize) -> Result<i64, Stop> {
    match a.values.get(i) {
        Some(Value::Prim(Prim { value: Scalar::Int(i), .. })) => Ok(*i),
        Some(other) => Err(fail(format!("argument {i} must be an integer, it is {}", other.category()))),
        None => Err(fail(format!("argument {i} is missing"))),
    }
}

/// The elements of a line in order: along an axis through an index.
pub(in crate::ops) fn line(x: &Tensor, index: &[i64], along: usize) -> Result<Vec<Scalar>, Stop> {
    let size = x.shape().get(along).copied().unwrap_or(0);
    let element = |i: i64| {
        let place: Vec<i64> = index.iter().enumerate().map(|(a, own)| if a == along { i } else { *own }).collect();
        at(x, &place)
    };
    (0..size).map(element).collect()
}

/// A new tensor with these elements in row-major order.
pub(in crate::ops) fn from_list(
    m: &mut dyn Host,
    dtype: DataType,
    shape: &[i64],
    elements: &[Scalar],
) -> Result<Tensor, Stop> {
    let (out, noise) = (zeros(m, dtype, shape)?, m.noise());
    let mut written = true;
    for (i, element) in elements.iter().enumerate() {
        written &= out.set(i, stored(*element, dtype, noise.as_deref())?);
    }
    if written && elements.len() == out.len() { Ok(out) } else { Err(fail("elements and shape do not fit")) }
}

/// All indices of a shape, in row-major order.
pub(in crate::ops) fn indices(shape: &[i64]) -> impl Iterator<Item = Vec<i64>> {
    let count: i64 = shape.iter().fold(1, |n, size| n.saturating_mul(*size));
    let mut index = vec![0; shape.len()];
    (0..count).map(move |_| {
        let this = index.clone();
        advance(&mut index, shape);
        this
    })
}

/// The part of a tensor from `begin` to `end` along an axis, as a new tensor.
pub(in crate::ops) fn slice(m: &mut dyn Host, x: &Tensor, along: usize, begin: i64, end: i64) -> Result<Value, Stop> {
    let mut shape = x.shape().to_vec();
    if let Some(size) = shape.get_mut(along) {
        *size = end - begin;
    }
    fresh(tabulate(m, x.dtype(), &shape, |index| {
        let place: Vec<i64> = index.iter().enumerate().map(|(a, i)| if a == along { i + begin } else { *i }).collect();
        at(x, &place)
    })?)
}

/// The list in a shape, or in a tuple of boxed integers.
pub(in crate::ops) fn ints(value: &Value) -> Result<Vec<i64>, Stop> {
    if let Some(dims) = value.as_shape() {
        return Ok(dims.to_vec());
    }
    let int = |field: &Value| match field.as_prim()?.value {
        Scalar::Int(i) => Some(i),
        Scalar::UInt(_) | Scalar::Float(_) | Scalar::Ring(_) | Scalar::Bool(_) => None,
    };
    let list = value.as_tuple().and_then(|tuple| tuple.fields().iter().map(int).collect());
    list.ok_or_else(|| fail("expects a tuple of integers"))
}

/// The next index in row-major order.
fn advance(index: &mut [i64], shape: &[i64]) {
    for (i, size) in index.iter_mut().zip(shape).rev() {
        *i += 1;
        if *i < *size {
            return;
        }
        *i = 0;
    }
}

/// The element of a tensor at an index.
pub(in crate::ops) fn at(t: &Tensor, index: &[i64]) -> Result<Scalar, Stop> {
    let mut flat: i64 = 0;
    for (i, size) in index.iter().zip(t.shape()) {
        if !(0..*size).contains(i) {
            return Err(fail(format!("the index {index:?} lies outside a tensor of shape {:?}", t.shape())));
        }
        flat = flat * size + i;
    }
    let flat = usize::try_from(flat).ok().filter(|_| index.len() == t.shape().len());
    flat.and_then(|flat| t.get(flat)).ok_or_else(|| fail(format!("a tensor has no element at {index:?}")))
}

/// The element at an index of a larger shape, for a tensor that is broadcast to that shape.
pub(in crate::ops) fn at_broadcast(t: &Tensor, index: &[i64]) -> Result<Scalar, Stop> {
    let skipped = index.len().saturating_sub(t.shape().len());
    let own = || index.iter().skip(skipped).zip(t.shape()).map(|(i, size)| if *size == 1 { 0 } else { *i });
    let inside = index.len() >= t.shape().len() && own().zip(t.shape()).all(|(i, size)| (0..*size).contains(&i));
    let flat = own().zip(t.shape()).fold(0i64, |flat, (i, size)| flat.wrapping_mul(*size).wrapping_add(i));
    match usize::try_from(flat).ok().filter(|_| inside).and_then(|flat| t.get(flat)) {
        Some(element) => Ok(element),
        None => at(t, &own().collect::<Vec<i64>>()),
    }
}

/// The result shape of broadcasting two shapes.
pub(in crate::ops) fn broadcast(a: &[i64], b: &[i64]) -> Result<Vec<i64>, Stop> {
    let rank = a.len().max(b.len());
    let at = |dims: &[i64], i: usize| (i + dims.len()).checked_sub(rank).and_then(|i| dims.get(i)).copied();
    (0..rank)
        .map(|i| match (at(a, i).unwrap_or(1), at(b, i).unwrap_or(1)) {
            (x, y) if x == y => Ok(x),
            (1, y) => Ok(y),
            (x, 1) => Ok(x),
            (x, y) => Err(fail(format!("the dimensions {x} and {y} cannot be broadcast"))),
        })
        .collect()
}

/// The zero of a data type.
pub(in crate::ops) fn zero(dtype: DataType) -> Scalar {
    match (dtype.is_bool(), dtype.is_float(), dtype.is_int()) {
        (true, _, _) => Scalar::Bool(false),
        (false, true, _) => Scalar::Float(0.0),
        (false, false, true) => Scalar::Int(0),
        (false, false, false) => Scalar::UInt(0),
    }
}

/// The number one, of the same kind as an element.
pub(in crate::ops) fn constant_one(like: Scalar) -> Scalar {
    match like {
        Scalar::Bool(_) => Scalar::Bool(true),
        Scalar::Int(_) => Scalar::Int(1),
        Scalar::UInt(_) => Scalar::UInt(1),
        Scalar::Float(_) => Scalar::Float(1.0),
        Scalar::Ring(_) => Scalar::Ring(RingNumber::of_float(1.0)),
    }
}

/// An operand of sums of products in the data type of the result: floats are converted first if that is an integer
/// data type, which cannot hold all of them. Where there is no sum, nothing is converted.
pub(in crate::ops) fn summands<'t>(m: &mut dyn Host, x: &'t Tensor, out: &Out) -> Result<Cow<'t, Tensor>, Stop> {
    if !x.dtype().is_float() || out.dtype.is_float() || count(&out.shape) == 0 {
        return Ok(Cow::Borrowed(x));
    }
    tabulate_flat(m, out.dtype, x.shape(), |flat| at_flat(x, flat)).map(Cow::Owned)
}

/// `sum + x * y`; integers wrap around.
pub(in crate::ops) fn multiply_add(sum: Scalar, x: Scalar, y: Scalar) -> Result<Scalar, Stop> {
    match (sum, x, y) {
        (Scalar::Float(sum), Scalar::Float(x), Scalar::Float(y)) => Ok(Scalar::Float(sum + x * y)),
        (Scalar::Int(sum), Scalar::Int(x), Scalar::Int(y)) => Ok(Scalar::Int(sum.wrapping_add(x.wrapping_mul(y)))),
        (Scalar::UInt(sum), Scalar::UInt(x), Scalar::UInt(y)) => Ok(Scalar::UInt(sum.wrapping_add(x.wrapping_mul(y)))),
        (sum @ (Scalar::Ring(_) | Scalar::Float(_)), x, y)
            if matches!((sum, x, y), (Scalar::Ring(_), _, _) | (_, Scalar::Ring(_), _) | (_, _, Scalar::Ring(_))) =>
        {
            Ok(Scalar::Ring(as_ring(sum).plus(as_ring(x).times(as_ring(y)))))
        }
        // A sum in another data type: the summands are converted first.
        (Scalar::Float(sum), x, y) => Ok(Scalar::Float(sum + as_float(x) * as_float(y))),
        (Scalar::Int(sum), x, y) => Ok(Scalar::Int(sum.wrapping_add(as_int(x).wrapping_mul(as_int(y))))),
        (Scalar::UInt(sum), x, y) => {
            let (x, y): (u64, u64) = (Element::from_scalar(x), Element::from_scalar(y));
            Ok(Scalar::UInt(sum.wrapping_add(x.wrapping_mul(y))))
        }
        (Scalar::Bool(_) | Scalar::Ring(_), _, _) => Err(fail("a product is not defined on this data type")),
    }
}

fn as_float(x: Scalar) -> f64 {
    Element::from_scalar(x)
}

fn as_int(x: Scalar) -> i64 {
    Element::from_scalar(x)
}

/// A new value from a new tensor.
pub(in crate::ops) fn fresh(t: Tensor) -> Result<Value, Stop> {
    Ok(Value::Tensor(t))
}
