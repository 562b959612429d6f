//! The elements of floating-point tensors as float64, which represents those of every type exactly.

use crate::grammar::DataType;
use crate::ops::kernel::{fail, fresh, stored, zeros};
use crate::value::{Element, Elements, Host, Stop, Tensor, Value};

/// All elements in row-major order.
pub(in crate::ops) fn all(t: &Tensor) -> Vec<f64> {
    if let Elements::Float32(x) = &*t.elements()
        && let Some(x) = x.as_slice()
    {
        return kernels::widened(x);
    }
    t.all_as()
}

/// Writes all elements in row-major order, each rounded to the data type. Returns false if there are not as many.
#[must_use = "elements that are too few or too many are not written"]
pub(in crate::ops) fn take(t: &Tensor, elements: &[f64]) -> bool {
    if t.dtype() != DataType::FLOAT32 || t.len() != elements.len() {
        return t.take_all(elements);
    }
    let mut is_narrow = false;
    t.rewrite(None, |own| {
        if let Elements::Float32(own) = own
            && let Some(own) = own.as_slice_mut()
        {
            kernels::narrow(elements, own);
            is_narrow = true;
        }
    });
    is_narrow || t.take_all(elements)
}

/// A new tensor with these elements in row-major order, which `take` writes.
pub(in crate::ops) fn tensor<T: Element>(
    m: &mut dyn Host,
    dtype: DataType,
    shape: &[i64],
    elements: &[T],
    take: fn(&Tensor, &[T]) -> bool,
) -> Result<Value, Stop> {
    let out = zeros(m, dtype, shape)?;
    if let Some(noise) = m.noise() {
        out.fill(|i| match elements.get(i) {
            Some(x) => stored(x.to_scalar(), dtype, Some(&noise)),
            None => Err(fail("elements and shape do not fit")),
        })?;
        return fresh(out);
    }
    if take(&out, elements) { fresh(out) } else { Err(fail("elements and shape do not fit")) }
}
