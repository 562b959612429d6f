//! `nn.softmax` and `nn.log_softmax`.

use ndarray::{ArrayD, Axis};

use crate::grammar::{DataType, StructInfo};
use crate::judge::Cx;
use crate::number::real::{Function, Real};
use crate::number::ring::{Divisor, RingNumber};
use crate::number::{FloatType, elementary, quick};
use crate::ops::infer::{Domain, TensorDims, arity, axis, given_int, tensor};
use crate::ops::kernel::array::{floats, of_floats, of_ring};
use crate::ops::kernel::lanes;
use crate::ops::{Attr, EvalArgs, InferArgs, InferError, OpDef, OpParam, kernel};
use crate::value::{Elements, Host, Stop, Tensor, Value};

pub(in crate::ops) const OPS: &[OpDef] = &[
    operator!(
        "nn.softmax",
        [rule!("OPS.nn.softmax.infer"), rule!("OPS.nn.softmax.value"), rule!("OPS.nn.softmax.attrs")],
        [OpParam::Arg("data"), OpParam::Attr(Attr::int("axis", -1))],
        infer_softmax,
        Elementary,
        |m, a| along_axis(m, a, &SOFTMAX)
    ),
    operator!(
        "nn.log_softmax",
        [rule!("OPS.nn.log_softmax.infer"), rule!("OPS.nn.log_softmax.value"), rule!("OPS.nn.log_softmax.attrs")],
        [OpParam::Arg("data"), OpParam::Attr(Attr::int("axis", -1))],
        infer_softmax,
        Elementary,
        |m, a| along_axis(m, a, &LOG_SOFTMAX)
    ),
];

fn infer_softmax(_: &mut Cx, a: &InferArgs<'_>) -> Result<StructInfo, InferError> {
    arity::<1>(a)?;
    let x = tensor(a, 0)?;
    Domain::Floats.demand(x.dtype)?;
    if let Some(rank) = TensorDims::of(x).rank() {
        axis(given_int(a.call, "axis")?, rank)?;
    }
    Ok(StructInfo::Tensor(x.clone()))
}

const EXPONENTIAL: Function = Function { name: "exp", float: elementary::exp };
const LOGARITHM: Function = Function { name: "log", float: elementary::log };

/// The exponentials of numbers, divided by their sum.
fn softmax_of_ring(line: &[RingNumber]) -> Vec<RingNumber> {
    let powers: Vec<RingNumber> = line.iter().map(|x| x.applied(EXPONENTIAL)).collect();
    let total = Divisor::from(sum(&powers));
    powers.into_iter().map(|power| power.divided(&total)).collect()
}

/// The numbers minus the logarithm of the sum of their exponentials.
fn log_softmax_of_ring(line: &[RingNumber]) -> Vec<RingNumber> {
    let powers: Vec<RingNumber> = line.iter().map(|x| x.applied(EXPONENTIAL)).collect();
    let logarithm = sum(&powers).applied(LOGARITHM);
    line.iter().map(|x| x.minus(logarithm)).collect()
}

fn sum(numbers: &[RingNumber]) -> RingNumber {
    numbers.iter().fold(RingNumber::default(), |sum, x| sum.plus(*x))
}

/// Computes a line of float32: the elements, the result, room for numbers, the places of what is not certain.
type OfLineOfFloat32 = fn(&[f32], &mut [f32], &mut Vec<f64>, &mut Vec<usize>);

/// A function of the elements of a line.
struct OfLine {
    exact: fn(&[f64]) -> Vec<f64>,
    /// The rounded elements; `None` if one is not certain.
    quick: fn(FloatType, &[f64]) -> Option<Vec<f64>>,
    /// Writes the certain elements, and notes the others.
    of_f32: OfLineOfFloat32,
    /// Floats are subtracted from the largest first, which the ring need not do.
    of_ring: fn(&[RingNumber]) -> Vec<RingNumber>,
}

const SOFTMAX: OfLine = OfLine {
    exact: elementary::softmax,
    quick: quick::softmax,
    of_f32: kernels::softmax_of_f32,
    of_ring: softmax_of_ring,
};
const LOG_SOFTMAX: OfLine = OfLine {
    exact: elementary::log_softmax,
    quick: quick::log_softmax,
    of_f32: kernels::log_softmax_of_f32,
    of_ring: log_softmax_of_ring,
};

fn along_axis(m: &mut dyn Host, a: &EvalArgs<'_>, f: &OfLine) -> Result<Value, Stop> {
    let x = kernel::tensor(a, 0)?;
    let along = axis(given_int(a.call, "axis")?, x.shape().len())?;
    if x.dtype() == DataType::FLOAT32 && lanes::are_wanted(m) {
        return in_float32(m, x, along, f);
    }
    let _held = kernel::beside(m, x.len() as u64)?;
    m.spend(x.len() as u64)?;
    if let Elements::Ring(_, elements) = &*x.elements() {
        return of_ring(m, x.dtype(), &line_by_line(elements, along, f.of_ring));
    }
    let float = x.dtype().float_type().filter(|float| *float != FloatType::Float64 && lanes::are_wanted(m));
    match float {
        Some(float) => {
            let quick = |line: &[f64]| (f.quick)(float, line).unwrap_or_else(|| (f.exact)(line));
            of_floats(m, x.dtype(), &line_by_line(&floats(x)?, along, quick))
        }
        None => of_floats(m, x.dtype(), &line_by_line(&floats(x)?, along, f.exact)),
    }
}

/// The same result for the same steps, in float64 where that is sufficient.
fn in_float32(m: &mut dyn Host, x: &Tensor, along: usize, f: &OfLine) -> Result<Value, Stop> {
    m.spend(x.len() as u64)?;
    let sizes: Vec<usize> = x.shape().iter().map(|size| usize::try_from(*size).unwrap_or(0)).collect();
    let length = sizes.get(along).copied().unwrap_or(1).max(1);
    let distance = sizes.iter().skip(along + 1).product::<usize>().max(1);
    // A line, its result and its powers, and the exact result.
    let _held = m.account().hold((length as u64).saturating_mul(48))?;
    let result = kernel::zeros(m, x.dtype(), x.shape())?;
    let x = x.elements();
    result.rewrite(None, |out| {
        if let (Elements::Float32(x), Elements::Float32(out)) = (&*x, out)
            && let (Some(x), Some(out)) = (x.as_slice(), out.as_slice_mut())
        {
            lines_of_float32(x, out, length, distance, f);
        }
    });
    Ok(Value::Tensor(result))
}

/// Each line has elements at the same distance.
fn lines_of_float32(x: &[f32], out: &mut [f32], length: usize, distance: usize, f: &OfLine) {
    let (mut powers, mut unknown) = (Vec::new(), Vec::new());
    let mut compute = |x: &[f32], out: &mut [f32]| {
        (f.of_f32)(x, out, &mut powers, &mut unknown);
        if unknown.is_empty() {
            return;
        }
        let exact = (f.exact)(&kernels::widened(x));
        for i in unknown.drain(..) {
            if let (Some(out), Some(exact)) = (out.get_mut(i), exact.get(i)) {
                *out = *exact as f32;
            }
        }
    };
    if distance == 1 {
        x.chunks_exact(length).zip(out.chunks_exact_mut(length)).for_each(|(x, out)| compute(x, out));
        return;
    }
    let (mut line, mut result) = (Vec::with_capacity(length), vec![0.0; length]);
    for (x, out) in x.chunks_exact(length * distance).zip(out.chunks_exact_mut(length * distance)) {
        for first in 0..distance {
            line.clear();
            line.extend(x.iter().skip(first).step_by(distance));
            compute(&line, &mut result);
            out.iter_mut().skip(first).step_by(distance).zip(&result).for_each(|(out, x)| *out = *x);
        }
    }
}

/// `exp(x)` divided by its sum along the axis.
pub(in crate::ops) fn softmax(x: &ArrayD<f64>, along: usize) -> ArrayD<f64> {
    line_by_line(x, along, elementary::softmax)
}

/// Applies a function to all elements along the axis.
fn line_by_line<T: Copy>(x: &ArrayD<T>, along: usize, f: impl Fn(&[T]) -> Vec<T>) -> ArrayD<T> {
    let mut out = x.clone();
    for mut line in out.lanes_mut(Axis(along)) {
        let results = f(&line.to_vec());
        line.iter_mut().zip(results).for_each(|(element, result)| *element = result);
    }
    out
}
