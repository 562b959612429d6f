//! The fast implementation of elementwise operators and of operators that move elements: loops over slices.
//!
//! Each gives the result of the definition, bit for bit, and costs as many steps. `None` means that there is no fast
//! implementation for these arguments, and the definition is used.

use kernels::{
    Arithmetic, Comparison, Elementary, Pairwise, Predicate, Unary, arithmetic_of_f32, arithmetic_of_f64,
    arithmetic_of_i32, arithmetic_of_i64, comparison_of_f32, comparison_of_f64, comparison_of_i32, comparison_of_i64,
};

use crate::grammar::DataType;
use crate::number::ring::RingNumber;
use crate::number::{FloatType, quick};
use crate::ops::EvalArgs;
use crate::ops::kernel::lanes::{are_moved, are_wanted, is_of_run};
use crate::ops::kernel::reals::{OfReals as _, RealOp};
use crate::ops::kernel::{self, Out, zeros};
use crate::value::{Element, Elements, Host, Scalar, Stop, Tensor, Value};

/// The data types for which there are loops on two operands.
const HAVE_LOOPS: [DataType; 4] = [DataType::FLOAT32, DataType::FLOAT64, DataType::INT32, DataType::INT64];

/// Arithmetic on two tensors, which are broadcast to the result.
pub(in crate::ops) fn arithmetic(
    m: &mut dyn Host,
    x: &Tensor,
    y: &Tensor,
    out: &Out,
    op: RealOp,
) -> Result<Option<Value>, Stop> {
    if m.account().ring().is_some() {
        return in_ring(m, x, y, out, op);
    }
    let op = match op {
        RealOp::Sum => Arithmetic::Sum,
        RealOp::Difference => Arithmetic::Difference,
        RealOp::Product => Arithmetic::Product,
        RealOp::Quotient if out.dtype.is_float() => Arithmetic::Quotient,
        RealOp::Larger => Arithmetic::Larger,
        RealOp::Smaller => Arithmetic::Smaller,
        RealOp::Quotient | RealOp::Magnitude | RealOp::Negation | RealOp::Sign | RealOp::Named(_) => return Ok(None),
    };
    let known = HAVE_LOOPS.contains(&out.dtype);
    let alike = x.dtype() == out.dtype && y.dtype() == out.dtype;
    let Some(lines) = OperandLines::of(x.shape(), y.shape(), &out.shape).filter(|_| known && alike && are_wanted(m))
    else {
        return Ok(None);
    };
    let result = zeros(m, out.dtype, &out.shape)?;
    let (x, y) = (x.elements(), y.elements());
    macro_rules! calculate {
        ($x:expr, $y:expr, $out:expr, $f:expr) => {
            if let (Some(x), Some(y), Some(out)) = ($x.as_slice(), $y.as_slice(), $out.as_slice_mut()) {
                lines.each(x, y, out, |x, y, out| $f(op, x, y, out));
            }
        };
    }
    result.rewrite(None, |out| match (&*x, &*y, out) {
        (Elements::Float32(x), Elements::Float32(y), Elements::Float32(out)) => {
            calculate!(x, y, out, arithmetic_of_f32)
        }
        (Elements::Float64(x), Elements::Float64(y), Elements::Float64(out)) => {
            calculate!(x, y, out, arithmetic_of_f64)
        }
        (Elements::Int32(x), Elements::Int32(y), Elements::Int32(out)) => calculate!(x, y, out, arithmetic_of_i32),
        (Elements::Int64(x), Elements::Int64(y), Elements::Int64(out)) => calculate!(x, y, out, arithmetic_of_i64),
        _ => {}
    });
    Ok(Some(Value::Tensor(result)))
}

/// Arithmetic on two tensors in the ring, which are broadcast to the result.
fn in_ring(m: &mut dyn Host, x: &Tensor, y: &Tensor, out: &Out, op: RealOp) -> Result<Option<Value>, Stop> {
    let (x, y) = (x.elements(), y.elements());
    let (Elements::Ring(_, own), Elements::Ring(_, other)) = (&*x, &*y) else { return Ok(None) };
    let lines = OperandLines::of(&sizes(own.shape()), &sizes(other.shape()), &out.shape).filter(|_| are_moved(m));
    let (Some(lines), Some(x), Some(y)) = (lines, own.as_slice(), other.as_slice()) else { return Ok(None) };
    let (result, mut ended) = (zeros(m, out.dtype, &out.shape)?, Ok(()));
    result.rewrite(None, |out| {
        if let Elements::Ring(_, out) = out
            && let Some(out) = out.as_slice_mut()
        {
            lines.each(x, y, out, |x, y, out| {
                let mut operands = x.iter().cycle().zip(y.iter().cycle()).zip(out);
                let each = |((x, y), out): ((&RingNumber, &RingNumber), &mut RingNumber)| {
                    *out = op.of_ring(*x, *y)?;
                    Ok(())
                };
                if ended.is_ok() {
                    ended = operands.try_for_each(each);
                }
            });
        }
    });
    ended.map(|()| Some(Value::Tensor(result)))
}

fn sizes(shape: &[usize]) -> Vec<i64> {
    shape.iter().map(|size| *size as i64).collect()
}

/// A comparison of two tensors, which are broadcast to the result.
pub(in crate::ops) fn compared(
    m: &mut dyn Host,
    x: &Tensor,
    y: &Tensor,
    out: &Out,
    comparison: Comparison,
) -> Result<Option<Value>, Stop> {
    let known = HAVE_LOOPS.contains(&x.dtype()) && x.dtype() == y.dtype() && out.dtype.is_bool();
    let Some(lines) = OperandLines::of(x.shape(), y.shape(), &out.shape).filter(|_| known && are_wanted(m)) else {
        return Ok(None);
    };
    let result = zeros(m, out.dtype, &out.shape)?;
    let (x, y) = (x.elements(), y.elements());
    macro_rules! compare {
        ($x:expr, $y:expr, $out:expr, $f:expr) => {
            if let (Some(x), Some(y), Some(out)) = ($x.as_slice(), $y.as_slice(), $out.as_slice_mut()) {
                lines.each(x, y, out, |x, y, out| $f(comparison, x, y, out));
            }
        };
    }
    result.rewrite(None, |out| match (&*x, &*y, out) {
        (Elements::Float32(x), Elements::Float32(y), Elements::Bool(out)) => compare!(x, y, out, comparison_of_f32),
        (Elements::Float64(x), Elements::Float64(y), Elements::Bool(out)) => compare!(x, y, out, comparison_of_f64),
        (Elements::Int32(x), Elements::Int32(y), Elements::Bool(out)) => compare!(x, y, out, comparison_of_i32),
        (Elements::Int64(x), Elements::Int64(y), Elements::Bool(out)) => compare!(x, y, out, comparison_of_i64),
        _ => {}
    });
    Ok(Some(Value::Tensor(result)))
}

/// A function of two tensors of float32, which are broadcast to the result.
pub(in crate::ops) fn pairwise(
    m: &mut dyn Host,
    a: &EvalArgs<'_>,
    function: Pairwise,
    exact: &dyn Fn(f64, f64) -> f64,
) -> Result<Option<Value>, Stop> {
    let [Value::Tensor(x), Value::Tensor(y)] = a.values else { return Ok(None) };
    let out = kernel::out(a)?;
    let fits = are_wanted(m) && [x.dtype(), y.dtype(), out.dtype] == [DataType::FLOAT32; 3];
    let Some(lines) = OperandLines::of(x.shape(), y.shape(), &out.shape).filter(|_| fits) else { return Ok(None) };
    let result = zeros(m, out.dtype, &out.shape)?;
    let (x, y) = (x.elements(), y.elements());
    result.rewrite(None, |out| {
        if let (Elements::Float32(x), Elements::Float32(y), Elements::Float32(out)) = (&*x, &*y, out)
            && let (Some(x), Some(y), Some(out)) = (x.as_slice(), y.as_slice(), out.as_slice_mut())
        {
            lines.each(x, y, out, |x, y, out| kernels::pairwise_of_f32(function, x, y, out, exact));
        }
    });
    Ok(Some(Value::Tensor(result)))
}

/// For each element of a tensor of float32, whether it is of a kind.
pub(in crate::ops) fn asked(m: &mut dyn Host, x: &Tensor, predicate: Predicate) -> Result<Option<Value>, Stop> {
    if x.dtype() != DataType::FLOAT32 || !are_wanted(m) {
        return Ok(None);
    }
    let result = zeros(m, DataType::BOOL, x.shape())?;
    let x = x.elements();
    result.rewrite(None, |out| {
        if let (Elements::Float32(x), Elements::Bool(out)) = (&*x, out)
            && let (Some(x), Some(out)) = (x.as_slice(), out.as_slice_mut())
        {
            kernels::predicate_of_f32(predicate, x, out);
        }
    });
    Ok(Some(Value::Tensor(result)))
}

/// The layout of two operands relative to the result: in lines along the last axes, within which each operand has
/// either all elements, or one for all.
struct OperandLines {
    length: usize,
    /// The outer axes: their size, and the distance that each operand advances along them.
    outer: Vec<(usize, usize, usize)>,
    /// The elements of each operand in a line.
    own: (usize, usize),
}

impl OperandLines {
    /// `None` if a size of an operand does not fit the result.
    fn of(x: &[i64], y: &[i64], out: &[i64]) -> Option<OperandLines> {
        let (x, y) = (strides(x, out)?, strides(y, out)?);
        let mut axes = out.iter().zip(x.iter().zip(y)).rev().map(|(n, (x, y))| (*n as usize, *x, y)).peekable();
        let (mut length, mut own) = (1usize, (1usize, 1usize));
        // The first axis with more than one element determines which operand advances.
        let mut moves = None;
        while let Some((size, x, y)) =
            axes.next_if(|(size, x, y)| *size == 1 || moves.is_none_or(|(a, b)| (a, b) == (*x > 0, *y > 0)))
        {
            if size != 1 {
                moves = Some((x > 0, y > 0));
                let along = |own: usize, step: usize| if step > 0 { own.saturating_mul(size) } else { own };
                own = (along(own.0, x), along(own.1, y));
                length = length.saturating_mul(size);
            }
        }
        let mut outer: Vec<(usize, usize, usize)> = axes.collect();
        outer.reverse();
        Some(OperandLines { length, outer, own })
    }

    /// Calls a function with each line of the operands and of the result.
    fn each<T, U>(&self, x: &[T], y: &[T], out: &mut [U], mut f: impl FnMut(&[T], &[T], &mut [U])) {
        let (mut index, mut at) = (vec![0; self.outer.len()], (0, 0));
        for line in out.chunks_exact_mut(self.length.max(1)) {
            if let (Some(x), Some(y)) = (x.get(at.0..at.0 + self.own.0), y.get(at.1..at.1 + self.own.1)) {
                f(x, y, line);
            }
            for (i, (size, x, y)) in index.iter_mut().zip(&self.outer).rev() {
                *i += 1;
                at = (at.0 + x, at.1 + y);
                if *i < *size {
                    break;
                }
                at = (at.0 - x * size, at.1 - y * size);
                *i = 0;
            }
        }
    }
}

/// The distance that an operand advances along each axis of the result: 0 where it is broadcast.
fn strides(own: &[i64], out: &[i64]) -> Option<Vec<usize>> {
    let skipped = out.len().checked_sub(own.len())?;
    let mut strides = vec![0; out.len()];
    let mut stride = 1usize;
    for (axis, size) in own.iter().enumerate().rev() {
        let (wanted, slot) = (out.get(skipped + axis)?, strides.get_mut(skipped + axis)?);
        match size {
            1 => {}
            size if size == wanted => *slot = stride,
            _ => return None,
        }
        stride = stride.saturating_mul(usize::try_from(*size).ok()?);
    }
    Some(strides)
}

/// A function of each element of a floating-point tensor, given by the name of its operator.
pub(in crate::ops) fn mapped(
    m: &mut dyn Host,
    x: &Tensor,
    name: &str,
    exact: fn(f64) -> f64,
) -> Result<Option<Value>, Stop> {
    let Some(float) = x.dtype().float_type().filter(|_| are_wanted(m)) else { return Ok(None) };
    let function = elementary_of(name).filter(|_| float != FloatType::Float64);
    if let Some(function) = function
        && let Some(value) = of_f32(m, x, |x, out| kernels::elementary_of_f32(function, x, out, exact))?
    {
        return Ok(Some(value));
    }
    let quick = |x| quick::value(float, function?, x);
    let f = |x: f64| quick(x).unwrap_or_else(|| exact(x));
    let result = zeros(m, x.dtype(), x.shape())?;
    let x = x.elements();
    result.rewrite(None, |out| match (&*x, out) {
        (Elements::Float16(x), Elements::Float16(out)) => map(x.as_slice(), out.as_slice_mut(), f),
        (Elements::BFloat16(x), Elements::BFloat16(out)) => map(x.as_slice(), out.as_slice_mut(), f),
        (Elements::Float32(x), Elements::Float32(out)) => map(x.as_slice(), out.as_slice_mut(), f),
        (Elements::Float64(x), Elements::Float64(out)) => map(x.as_slice(), out.as_slice_mut(), f),
        _ => {}
    });
    Ok(Some(Value::Tensor(result)))
}

fn map<T: Element + Into<f64>>(x: Option<&[T]>, out: Option<&mut [T]>, f: impl Fn(f64) -> f64) {
    let both = x.into_iter().flatten().zip(out.into_iter().flatten());
    both.for_each(|(x, out)| *out = T::from_scalar(Scalar::Float(f((*x).into()))));
}

/// The elements of a tensor of float32 or of the ring, and zero for those below zero.
pub(in crate::ops) fn rectified(m: &mut dyn Host, x: &Tensor) -> Result<Option<Value>, Stop> {
    if let Elements::Ring(dtype, _) = &*x.elements() {
        let zero = Tensor::zeros_of_ring(*dtype, &[]).map_err(|error| kernel::fail(error.to_string()))?;
        return in_ring(m, x, &zero, &Out { dtype: *dtype, shape: x.shape().to_vec() }, RealOp::Larger);
    }
    of_f32(m, x, kernels::rectify)
}

/// A function of each element of a tensor of float32.
pub(in crate::ops) fn simple(m: &mut dyn Host, x: &Tensor, function: Unary) -> Result<Option<Value>, Stop> {
    of_f32(m, x, |x, out| kernels::unary_of_f32(function, x, out))
}

fn of_f32(m: &mut dyn Host, x: &Tensor, f: impl Fn(&[f32], &mut [f32])) -> Result<Option<Value>, Stop> {
    if x.dtype() != DataType::FLOAT32 || !are_wanted(m) {
        return Ok(None);
    }
    let result = zeros(m, x.dtype(), x.shape())?;
    let x = x.elements();
    result.rewrite(None, |out| {
        if let (Elements::Float32(x), Elements::Float32(out)) = (&*x, out)
            && let (Some(x), Some(out)) = (x.as_slice(), out.as_slice_mut())
        {
            f(x, out);
        }
    });
    Ok(Some(Value::Tensor(result)))
}

/// The function that an operator computes, where it has an approximation.
fn elementary_of(name: &str) -> Option<Elementary> {
    Some(match name {
        "acos" => Elementary::Arccosine,
        "asin" => Elementary::Arcsine,
        "atan" => Elementary::Arctangent,
        "cos" => Elementary::Cosine,
        "cosh" => Elementary::HyperbolicCosine,
        "erf" => Elementary::Error,
        "exp" => Elementary::Exponential,
        "log" => Elementary::Logarithm,
        "nn.gelu" => Elementary::Gelu,
        "nn.gelu_tanh" => Elementary::GeluTanh,
        "nn.silu" => Elementary::Silu,
        "rsqrt" => Elementary::ReciprocalRoot,
        "sigmoid" => Elementary::Sigmoid,
        "sin" => Elementary::Sine,
        "sinh" => Elementary::HyperbolicSine,
        "tan" => Elementary::Tangent,
        "tanh" => Elementary::HyperbolicTangent,
        _ => return None,
    })
}

/// A new tensor with elements of other tensors of the same data type. These are in runs: the tensor, the first
/// row-major position, the distance, and the number of elements.
pub(in crate::ops) fn moved(
    m: &mut dyn Host,
    from: &[&Tensor],
    out: &Out,
    runs: impl Iterator<Item = Run>,
) -> Result<Option<Value>, Stop> {
    if !are_moved(m) || from.iter().any(|x| x.dtype() != out.dtype || !is_of_run(m, x)) {
        return Ok(None);
    }
    let result = zeros(m, out.dtype, &out.shape)?;
    Ok(result.take_runs(from, runs).then_some(Value::Tensor(result)))
}

pub(in crate::ops) use crate::value::Run;

/// The runs of the elements of one tensor, for a result of this shape; the strides are those of the tensor along its
/// axes.
pub(in crate::ops) fn runs_of(shape: &[i64], strides: &[usize], start: usize) -> impl Iterator<Item = Run> {
    let sizes: Vec<usize> = shape.iter().map(|size| usize::try_from(*size).unwrap_or(0)).collect();
    let mut axes: Vec<(usize, usize)> = sizes.into_iter().zip(strides.iter().copied()).collect();
    let (count, step) = axes.pop().unwrap_or((1, 0));
    // A result that is too large is rejected before the first run is taken.
    let many = axes.iter().fold(1usize, |lines, (size, _)| lines.saturating_mul(*size));
    let is_empty = count == 0 || axes.iter().any(|(size, _)| *size == 0);
    let lines = if is_empty { 0 } else { many };
    let (mut index, mut at) = (vec![0; axes.len()], start);
    (0..lines).map(move |_| {
        let run = Run { tensor: 0, start: at, step, count };
        for (i, (size, stride)) in index.iter_mut().zip(&axes).rev() {
            *i += 1;
            at += stride;
            if *i < *size {
                break;
            }
            at -= stride * size;
            *i = 0;
        }
        run
    })
}

/// The distance of adjacent elements of a row-major tensor along each axis.
pub(in crate::ops) fn row_major(shape: &[i64]) -> Vec<usize> {
    let mut strides = vec![1; shape.len()];
    let mut stride = 1usize;
    for (slot, size) in strides.iter_mut().zip(shape).rev() {
        *slot = stride;
        stride = stride.saturating_mul(usize::try_from(*size).unwrap_or(0));
    }
    strides
}

/// As [`row_major`], with 0 along the axes of `out` to which it is broadcast. `None` if it cannot be.
pub(in crate::ops) fn broadcast_strides(own: &[i64], out: &[i64]) -> Option<Vec<usize>> {
    strides(own, out)
}
