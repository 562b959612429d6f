//! The fast implementation of operators that add products: all elements are converted to the type in which sums are
//! computed, and the loops of the crate `kernels` run over them as slices.
//!
//! The plain implementation is the definition. The fast one gives the same result bit for bit: it converts elements
//! like [`multiply_add`](super::multiply_add), and adds the same terms in the same order.

use ndarray::{ArrayD, IxDyn};

use crate::grammar::DataType;
use crate::ops::kernel::array::sizes;
use crate::ops::kernel::{fail, floats};
use crate::value::{Element, Host, Stop, Tensor, Value};

/// Whether a run uses the fast implementation of sums of products. It cannot in the ring, where elements are more than
/// floats. Noise changes the stored elements, and not the sum.
pub(in crate::ops) fn are_wanted_for_sums(m: &dyn Host) -> bool {
    m.kernels().is_fast() && m.account().ring().is_none()
}

/// Charges the cost of this many multiplications with additions. Outside of the ring they are cheap: many of them take
/// no longer than one other step.
pub(in crate::ops) fn spend_on_sums(m: &mut dyn Host, terms: u64) -> Result<(), Stop> {
    let at_once = if m.account().ring().is_none() { 64 } else { 1 };
    m.spend(terms.div_ceil(at_once))
}

/// Whether a run uses the fast implementation. It cannot with noise or in the ring, where elements are more than
/// floats.
pub(in crate::ops) fn are_wanted(m: &dyn Host) -> bool {
    m.kernels().is_fast() && m.noise().is_none() && m.account().ring().is_none()
}

/// A type in which sums of products are computed.
pub(in crate::ops) trait Lane: Element + Default {
    /// The product of two row-major matrices, the first with `k` columns and the second with `k` rows.
    fn product(x: &[Self], y: &[Self], out: &mut [Self], k: usize, columns: usize);
    /// Whether its product with zero is zero.
    fn is_finite(self) -> bool;
    /// All elements of a tensor in row-major order, converted as in assignment.
    fn all(t: &Tensor) -> Vec<Self> {
        t.all_as()
    }
    /// Writes the elements of a tensor in row-major order. Returns false if there are not as many.
    fn take(t: &Tensor, elements: &[Self]) -> bool {
        t.take_all(elements)
    }
}

impl Lane for f64 {
    fn product(x: &[f64], y: &[f64], out: &mut [f64], k: usize, columns: usize) {
        kernels::product_of_floats(x, y, out, k, columns);
    }
    fn is_finite(self) -> bool {
        f64::is_finite(self)
    }
    fn all(t: &Tensor) -> Vec<f64> {
        floats::all(t)
    }
    fn take(t: &Tensor, elements: &[f64]) -> bool {
        floats::take(t, elements)
    }
}

impl Lane for i64 {
    fn product(x: &[i64], y: &[i64], out: &mut [i64], k: usize, columns: usize) {
        kernels::product_of_ints(x, y, out, k, columns);
    }
    fn is_finite(self) -> bool {
        true
    }
}

impl Lane for u64 {
    fn product(x: &[u64], y: &[u64], out: &mut [u64], k: usize, columns: usize) {
        kernels::product_of_uints(x, y, out, k, columns);
    }
    fn is_finite(self) -> bool {
        true
    }
}

/// Runs an expression with the type in which sums of a data type are computed. Booleans have no such type.
macro_rules! in_lanes {
    ($dtype:expr, $lane:ident => $body:expr) => {{
        let dtype: DataType = $dtype;
        match (dtype.is_float(), dtype.is_int()) {
            (true, _) => {
                type $lane = f64;
                $body
            }
            (false, true) => {
                type $lane = i64;
                $body
            }
            (false, false) => {
                type $lane = u64;
                $body
            }
        }
    }};
}
pub(in crate::ops) use in_lanes;

/// The elements of a tensor as an array.
pub(in crate::ops) fn array<T: Lane>(t: &Tensor) -> Result<ArrayD<T>, Stop> {
    ArrayD::from_shape_vec(IxDyn(&sizes(t.shape())?), T::all(t)).map_err(|error| fail(error.to_string()))
}

/// A new tensor with these elements in row-major order.
pub(in crate::ops) fn tensor<T: Lane>(
    m: &mut dyn Host,
    dtype: DataType,
    shape: &[i64],
    elements: &[T],
) -> Result<Value, Stop> {
    floats::tensor(m, dtype, shape, elements, T::take)
}
