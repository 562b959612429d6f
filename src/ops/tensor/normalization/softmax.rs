//! `nn.softmax` and `nn.log_softmax`.

use ndarray::{ArrayD, Axis};

use crate::grammar::StructInfo;
use crate::judge::Cx;
use crate::number::real::{Function, Real};
use crate::number::ring::RingNumber;
use crate::number::{FloatType, elementary, quick};
use crate::ops::infer::{Domain, TensorDims, arity, axis, given_int, tensor};
use crate::ops::kernel::array::{floats, of_floats, of_scalars};
use crate::ops::kernel::lanes;
use crate::ops::{Attr, EvalArgs, InferArgs, InferError, OpDef, OpParam, kernel};
use crate::value::{Elements, Host, Scalar, Stop, Value};

pub(in crate::ops) const OPS: &[OpDef] = &[
    operator!(
        "nn.softmax",
        [rule!("OPS.nn.softmax.infer"), rule!("OPS.nn.softmax.value"), rule!("OPS.nn.softmax.attrs")],
        [OpParam::Arg("data"), OpParam::Attr(Attr::int("axis", -1))],
        infer_softmax,
        Elementary,
        |m, a| along_axis(m, a, elementary::softmax, quick::softmax, |x, total, exp| exp(x).over(total))
    ),
    operator!(
        "nn.log_softmax",
        [rule!("OPS.nn.log_softmax.infer"), rule!("OPS.nn.log_softmax.value"), rule!("OPS.nn.log_softmax.attrs")],
        [OpParam::Arg("data"), OpParam::Attr(Attr::int("axis", -1))],
        infer_softmax,
        Elementary,
        |m, a| along_axis(m, a, elementary::log_softmax, quick::log_softmax, |x, total, _| {
            x.minus(total.applied(LOGARITHM))
        })
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

/// Computes a result from an element, the sum of all exponentials, and the exponential function.
type OfTotal = fn(RingNumber, RingNumber, fn(RingNumber) -> RingNumber) -> RingNumber;

/// Floats are subtracted from the largest first, which the ring need not do.
fn along_axis(
    m: &mut dyn Host,
    a: &EvalArgs<'_>,
    f: fn(&[f64]) -> Vec<f64>,
    quick: fn(FloatType, &[f64]) -> Option<Vec<f64>>,
    of_total: OfTotal,
) -> Result<Value, Stop> {
    let x = kernel::tensor(a, 0)?;
    let along = axis(given_int(a.call, "axis")?, x.shape().len())?;
    let _held = kernel::beside(m, x.len() as u64)?;
    m.spend(x.len() as u64)?;
    if let Elements::Ring(_, elements) = &*x.elements() {
        let mut out = elements.clone();
        for mut line in out.lanes_mut(Axis(along)) {
            let exp = |x: RingNumber| x.applied(EXPONENTIAL);
            let total = line.iter().fold(RingNumber::default(), |sum, x| sum.plus(exp(*x)));
            line.iter_mut().for_each(|x| *x = of_total(*x, total, exp));
        }
        return of_scalars(m, x.dtype(), &out.mapv(Scalar::Ring));
    }
    let float = x.dtype().float_type().filter(|float| *float != FloatType::Float64 && lanes::are_wanted(m));
    match float {
        Some(float) => {
            let out = line_by_line(&floats(x)?, along, |line| quick(float, line).unwrap_or_else(|| f(line)));
            of_floats(m, x.dtype(), &out)
        }
        None => of_floats(m, x.dtype(), &line_by_line(&floats(x)?, along, f)),
    }
}

/// `exp(x)` divided by its sum along the axis.
pub(in crate::ops) fn softmax(x: &ArrayD<f64>, along: usize) -> ArrayD<f64> {
    line_by_line(x, along, elementary::softmax)
}

/// Applies a function to all elements along the axis.
fn line_by_line(x: &ArrayD<f64>, along: usize, f: impl Fn(&[f64]) -> Vec<f64>) -> ArrayD<f64> {
    let mut out = x.clone();
    for mut line in out.lanes_mut(Axis(along)) {
        let results = f(&line.to_vec());
        line.iter_mut().zip(results).for_each(|(element, result)| *element = result);
    }
    out
}
