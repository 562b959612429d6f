//! Tensors as arrays, for reference implementations that compute with whole arrays.

use ndarray::{ArrayBase, ArrayD, Axis, IxDyn, RawData};
use smallvec::SmallVec;

use crate::grammar::DataType;
use crate::number::ring::RingNumber;
use crate::ops::kernel::reals::no_ring;
use crate::ops::kernel::{fail, floats as all_floats, fresh, stored, zeros};
use crate::value::{Host, MAX_ELEMENTS, Scalar, Stop, Tensor, Value};

/// The elements of a tensor.
pub(in crate::ops) fn scalars(t: &Tensor) -> Result<ArrayD<Scalar>, Stop> {
    array(t, (0..t.len()).filter_map(|i| t.get(i)).collect())
}

/// The elements of a floating-point tensor as float64, which represents those of every width exactly.
pub(in crate::ops) fn floats(t: &Tensor) -> Result<ArrayD<f64>, Stop> {
    match t.get(0) {
        Some(Scalar::Float(_)) | None => array(t, all_floats::all(t)),
        Some(Scalar::Ring(_)) => Err(no_ring()),
        Some(Scalar::Bool(_) | Scalar::Int(_) | Scalar::UInt(_)) => {
            Err(fail(format!("expects a floating-point data type, found {}", t.dtype())))
        }
    }
}

fn array<T>(t: &Tensor, elements: Vec<T>) -> Result<ArrayD<T>, Stop> {
    ArrayD::from_shape_vec(IxDyn(&sizes(t.shape())?), elements).map_err(|error| fail(error.to_string()))
}

/// A shape in the form of `ndarray`.
pub(in crate::ops) fn sizes(shape: &[i64]) -> Result<Vec<usize>, Stop> {
    let size = |size: &i64| usize::try_from(*size).map_err(|_| fail(format!("{size} is no size")));
    let sizes: Vec<usize> = shape.iter().map(size).collect::<Result<_, Stop>>()?;
    // Even an array without elements must not have larger sizes than others.
    let count = sizes.iter().fold(1u64, |count, size| count.saturating_mul((*size as u64).max(1)));
    if count > MAX_ELEMENTS { Err(Stop::OutOfFuel) } else { Ok(sizes) }
}

/// A new tensor with these elements, converted as in an assignment.
pub(in crate::ops) fn of_scalars(m: &mut dyn Host, dtype: DataType, elements: &ArrayD<Scalar>) -> Result<Value, Stop> {
    of_elements(m, dtype, elements.shape(), elements.iter().copied())
}

pub(in crate::ops) fn of_floats(m: &mut dyn Host, dtype: DataType, elements: &ArrayD<f64>) -> Result<Value, Stop> {
    let shape: Vec<i64> = elements.shape().iter().map(|size| *size as i64).collect();
    match elements.as_slice().filter(|_| dtype.is_float()) {
        Some(slice) => all_floats::tensor(m, dtype, &shape, slice, all_floats::take),
        None => of_elements(m, dtype, elements.shape(), elements.iter().copied().map(Scalar::Float)),
    }
}

/// A new tensor with these numbers, which are not rounded.
pub(in crate::ops) fn of_ring(m: &mut dyn Host, dtype: DataType, numbers: &ArrayD<RingNumber>) -> Result<Value, Stop> {
    of_elements(m, dtype, numbers.shape(), numbers.iter().copied().map(Scalar::Ring))
}

fn of_elements(
    m: &mut dyn Host,
    dtype: DataType,
    shape: &[usize],
    elements: impl Iterator<Item = Scalar>,
) -> Result<Value, Stop> {
    let shape: Vec<i64> = shape.iter().map(|size| *size as i64).collect();
    let (out, noise) = (zeros(m, dtype, &shape)?, m.noise());
    let mut elements = elements;
    out.fill(|_| match elements.next() {
        Some(element) => stored(element, dtype, noise.as_deref()),
        None => Err(fail("elements and shape do not fit")),
    })?;
    fresh(out)
}

/// The array with its axes permuted in this order.
pub(in crate::ops) fn permuted<S: RawData>(
    x: ArrayBase<S, IxDyn>,
    axes: &[usize],
) -> Result<ArrayBase<S, IxDyn>, Stop> {
    let mut sorted = axes.to_vec();
    sorted.sort_unstable();
    if !sorted.into_iter().eq(0..x.ndim()) {
        return Err(fail(format!("{axes:?} is no order of {} axes", x.ndim())));
    }
    Ok(x.permuted_axes(IxDyn(axes)))
}

/// The sums over axes, which remain with size 1.
pub(in crate::ops) fn total(x: &ArrayD<f64>, axes: &[usize]) -> ArrayD<f64> {
    axes.iter().fold(x.clone(), |x, axis| x.sum_axis(Axis(*axis)).insert_axis(Axis(*axis)))
}

/// The means over axes, which remain with size 1.
pub(in crate::ops) fn mean(x: &ArrayD<f64>, axes: &[usize]) -> ArrayD<f64> {
    let count: usize = axes.iter().filter_map(|axis| x.shape().get(*axis)).product();
    total(x, axes) / count as f64
}

/// A parameter for the given axes of an array, repeated along the other axes. Its dimensions match these axes in order.
pub(in crate::ops) fn spread(parameter: &ArrayD<f64>, like: &ArrayD<f64>, axes: &[usize]) -> ArrayD<f64> {
    ArrayD::from_shape_fn(like.raw_dim(), |index| {
        let place: SmallVec<[usize; 4]> = axes.iter().map(|axis| index[*axis]).collect();
        parameter.get(IxDyn(&place)).copied().unwrap_or(f64::NAN)
    })
}
