//! Normalization of numbers of the ring, by the formulas of the clauses of the operators (REFINE.RING.NUMBERS): a mean
//! is a sum and a quotient, and the root is a term.

use ndarray::{ArrayD, Axis, IxDyn, Zip};
use smallvec::SmallVec;

use crate::number::FloatType;
use crate::number::real::{Function, Real};
use crate::number::ring::{Divisor, RingNumber};
use crate::ops::EvalArgs;
use crate::ops::infer::{axes, axis, bool_attr, float_attr, given_int, given_ints};
use crate::ops::kernel::array::{of_ring, permuted, sizes};
use crate::ops::kernel::{self, fail, number_of};
use crate::value::{Host, Scalar, Stop, Value};

type Numbers = ArrayD<RingNumber>;

const ROOT: Function = Function { name: "sqrt", float: libm::sqrt };

/// Whether a run computes in the ring.
pub(super) fn are_wanted(m: &dyn Host) -> bool {
    m.account().ring().is_some()
}

/// An argument as an array.
fn numbers(a: &EvalArgs<'_>, i: usize) -> Result<Numbers, Stop> {
    let tensor = kernel::tensor(a, i)?;
    let sizes = IxDyn(&sizes(tensor.shape())?);
    ArrayD::from_shape_vec(sizes, tensor.all_as()).map_err(|error| fail(error.to_string()))
}

/// The data, whose steps are charged, with room for copies of it.
fn data(m: &mut dyn Host, a: &EvalArgs<'_>) -> Result<Numbers, Stop> {
    let count = kernel::tensor(a, 0)?.len() as u64;
    m.spend(count)?;
    drop(kernel::beside(m, count.saturating_mul(2))?);
    numbers(a, 0)
}

/// A new tensor of the type of the data.
fn result(m: &mut dyn Host, a: &EvalArgs<'_>, numbers: &Numbers) -> Result<Value, Stop> {
    let dtype = kernel::tensor(a, 0)?.dtype();
    of_ring(m, dtype, numbers)
}

/// An attribute, rounded to the type of the data.
fn attribute(m: &dyn Host, a: &EvalArgs<'_>, name: &str) -> Result<RingNumber, Stop> {
    let float = kernel::tensor(a, 0)?.dtype().float_type().unwrap_or(FloatType::Float64);
    match number_of(m, float.round(float_attr(a.call, name)?), float) {
        Scalar::Ring(x) => Ok(x),
        Scalar::Bool(_) | Scalar::Int(_) | Scalar::UInt(_) | Scalar::Float(_) => Err(fail("expects the ring")),
    }
}

/// An operation on each element of the data and the element of a parameter for its position along the axes.
fn combined<P: Clone>(
    x: &Numbers,
    parameter: &ArrayD<P>,
    along: &[usize],
    op: impl Fn(RingNumber, &P) -> RingNumber,
) -> Result<Numbers, Stop> {
    let mut order: Vec<usize> = (0..along.len()).collect();
    order.sort_by_key(|i| along.get(*i));
    let others = (0..x.ndim()).filter(|axis| !along.contains(axis));
    let spread = others.fold(permuted(parameter.view(), &order)?, |view, axis| view.insert_axis(Axis(axis)));
    let spread = spread.broadcast(x.raw_dim()).ok_or_else(|| fail("a parameter does not fit the data"))?;
    let mut out = x.clone();
    Zip::from(&mut out).and(spread).for_each(|x, parameter| *x = op(*x, parameter));
    Ok(out)
}

/// The data divided by the element of a parameter for its position along the axes.
fn divided(x: &Numbers, by: &Numbers, along: &[usize]) -> Result<Numbers, Stop> {
    combined(x, &by.mapv(Divisor::from), along, RingNumber::divided)
}

fn minus(x: RingNumber, y: &RingNumber) -> RingNumber {
    x.minus(*y)
}

fn times(x: RingNumber, y: &RingNumber) -> RingNumber {
    x.times(*y)
}

/// The mean over axes, without these axes, and the other axes.
fn mean_of_others(x: &Numbers, along: &[usize]) -> (Numbers, Vec<usize>) {
    let others: Vec<usize> = (0..x.ndim()).filter(|axis| !along.contains(axis)).collect();
    let size = |axis: &usize| x.shape().get(*axis).copied();
    let shape: Vec<usize> = others.iter().filter_map(size).collect();
    let mut sums = Numbers::default(IxDyn(&shape));
    for (index, value) in x.indexed_iter() {
        let place: SmallVec<[usize; 4]> = others.iter().map(|axis| index[*axis]).collect();
        if let Some(sum) = sums.get_mut(IxDyn(&place)) {
            *sum = sum.plus(*value);
        }
    }
    let count = along.iter().filter_map(size).product::<usize>();
    let count = RingNumber::of_int(count as i128, FloatType::Float64);
    (sums.mapv(|sum| sum.over(count)), others)
}

/// The square root of a variance plus `epsilon`.
fn deviation(m: &dyn Host, a: &EvalArgs<'_>, variance: &Numbers) -> Result<Numbers, Stop> {
    let epsilon = attribute(m, a, "epsilon")?;
    Ok(variance.mapv(|variance| variance.plus(epsilon).applied(ROOT)))
}

/// The data with mean 0 and variance 1 over the axes, apart from `epsilon`.
fn standardized(m: &dyn Host, a: &EvalArgs<'_>, x: &Numbers, along: &[usize]) -> Result<Numbers, Stop> {
    let (mean, others) = mean_of_others(x, along);
    let centered = combined(x, &mean, &others, minus)?;
    let (variance, others) = mean_of_others(&centered.mapv(|x| x.times(x)), along);
    divided(&centered, &deviation(m, a, &variance)?, &others)
}

/// `x * gamma + beta`, each part only if `scale` or `center` is set: the result.
fn transformed(m: &mut dyn Host, a: &EvalArgs<'_>, x: Numbers, along: &[usize]) -> Result<Value, Stop> {
    let scale = bool_attr(a.call, "scale")?;
    let x = if scale { combined(&x, &numbers(a, 1)?, along, times)? } else { x };
    let center = bool_attr(a.call, "center")?;
    let x = if center { combined(&x, &numbers(a, 2)?, along, |x, y| x.plus(*y))? } else { x };
    result(m, a, &x)
}

/// `momentum * old + (1 - momentum) * new`.
fn moved(m: &dyn Host, a: &EvalArgs<'_>, old: &Numbers, new: &Numbers) -> Result<Numbers, Stop> {
    let momentum = attribute(m, a, "momentum")?;
    let rest = RingNumber::of_int(1, FloatType::Float64).minus(momentum);
    let axes: Vec<usize> = (0..old.ndim()).collect();
    combined(old, new, &axes, |old, new| momentum.times(old).plus(rest.times(*new)))
}

/// The axes that are normalized.
fn normalized_axes(a: &EvalArgs<'_>, rank: usize) -> Result<Vec<usize>, Stop> {
    Ok(axes(&given_ints(a.call, "axes")?, rank)?)
}

pub(super) fn layer_norm(m: &mut dyn Host, a: &EvalArgs<'_>) -> Result<Value, Stop> {
    let x = data(m, a)?;
    let along = normalized_axes(a, x.ndim())?;
    let normal = standardized(m, a, &x, &along)?;
    transformed(m, a, normal, &along)
}

/// `x / sqrt(mean of x * x + epsilon) * weight`.
pub(super) fn rms_norm(m: &mut dyn Host, a: &EvalArgs<'_>) -> Result<Value, Stop> {
    let x = data(m, a)?;
    let along = normalized_axes(a, x.ndim())?;
    let (mean, others) = mean_of_others(&x.mapv(|x| x.times(x)), &along);
    let scaled = divided(&x, &deviation(m, a, &mean)?, &others)?;
    result(m, a, &combined(&scaled, &numbers(a, 1)?, &along, times)?)
}

pub(super) fn instance_norm(m: &mut dyn Host, a: &EvalArgs<'_>) -> Result<Value, Stop> {
    let x = data(m, a)?;
    let channel = axis(given_int(a.call, "channel_axis")?, x.ndim())?;
    let normal = standardized(m, a, &x, &normalized_axes(a, x.ndim())?)?;
    transformed(m, a, normal, &[channel])
}

/// Normalizes the data in the shape with its channels in groups, over these axes of it.
pub(super) fn group_norm(
    m: &mut dyn Host,
    a: &EvalArgs<'_>,
    grouped: &[usize],
    along: &[usize],
) -> Result<Value, Stop> {
    let reshape =
        |x: Numbers, shape: &[usize]| x.into_shape_with_order(IxDyn(shape)).map_err(|error| fail(error.to_string()));
    let x = data(m, a)?;
    let (shape, channel) = (x.shape().to_vec(), axis(given_int(a.call, "channel_axis")?, x.ndim())?);
    let groups = standardized(m, a, &reshape(x, grouped)?, along)?;
    transformed(m, a, reshape(groups, &shape)?, &[channel])
}

/// With `training` by its own statistics, towards which the moving ones are updated; otherwise by these, which stay.
pub(super) fn batch_norm(m: &mut dyn Host, a: &EvalArgs<'_>) -> Result<Value, Stop> {
    let x = data(m, a)?;
    let channel = [axis(given_int(a.call, "axis")?, x.ndim())?];
    let (old_mean, old_variance) = (numbers(a, 3)?, numbers(a, 4)?);
    let is_training = bool_attr(a.call, "training")?;
    let others: Vec<usize> = (0..x.ndim()).filter(|axis| !channel.contains(axis)).collect();
    let mean = if is_training { mean_of_others(&x, &others).0 } else { old_mean.clone() };
    let centered = combined(&x, &mean, &channel, minus)?;
    let own_variance = |centered: &Numbers| mean_of_others(&centered.mapv(|x| x.times(x)), &others).0;
    let variance = if is_training { own_variance(&centered) } else { old_variance.clone() };
    let normal = divided(&centered, &deviation(m, a, &variance)?, &channel)?;
    let normal = transformed(m, a, normal, &channel)?;
    let (mean, variance) = match is_training {
        true => (moved(m, a, &old_mean, &mean)?, moved(m, a, &old_variance, &variance)?),
        false => (old_mean, old_variance),
    };
    Ok(Value::tuple(vec![normal, result(m, a, &mean)?, result(m, a, &variance)?]))
}
