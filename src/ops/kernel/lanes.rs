//! The fast implementation of operators that add products: all elements are converted to the type in which sums are
//! computed, and the loops of the crate `kernels` run over them as slices.
//!
//! The plain implementation is the definition. The fast one gives the same result bit for bit: it converts elements
//! like [`multiply_add`](super::multiply_add), and adds the same terms in the same order.

use ndarray::{ArrayD, IxDyn};

use crate::grammar::DataType;
use crate::number::real::Real as _;
use crate::number::ring::RingNumber;
use crate::ops::kernel::array::sizes;
use crate::ops::kernel::{fail, floats};
use crate::value::{Element, Elements, Host, Stop, Tensor, Value};

/// The arithmetic in which the fast implementation adds products.
#[derive(Clone, Copy)]
pub(in crate::ops) enum Sums {
    Floats,
    Ints,
    UInts,
    Ring,
}

/// The arithmetic for sums of products of these factors in a data type; `None` if the run uses the definition. Noise
/// changes the stored elements, and not the sum.
pub(in crate::ops) fn sums(m: &dyn Host, dtype: DataType, factors: [&Tensor; 2]) -> Option<Sums> {
    let are_known = are_moved(m) && factors.iter().all(|x| is_of_run(m, x));
    match (dtype.is_float(), dtype.is_int(), m.account().ring()) {
        (true, _, None) => Some(Sums::Floats),
        // Integers are added in floats, and only the sum becomes a number of the ring.
        (true, _, Some(_)) if factors.iter().all(|x| x.dtype().is_float()) => Some(Sums::Ring),
        (true, _, Some(_)) => None,
        (false, true, _) => Some(Sums::Ints),
        (false, false, _) => Some(Sums::UInts),
    }
    .filter(|_| are_known)
}

/// Whether a run moves elements in slices. Noise and the ring change none that keeps its data type.
pub(in crate::ops) fn are_moved(m: &dyn Host) -> bool {
    m.kernels().is_fast()
}

/// Whether the elements of a tensor are numbers in which the run computes.
pub(in crate::ops) fn is_of_run(m: &dyn Host, x: &Tensor) -> bool {
    !x.dtype().is_float() || m.account().ring().is_some() == matches!(&*x.elements(), Elements::Ring(..))
}

/// Charges the cost of this many multiplications with additions. They are cheap, even in the ring: many of them take no
/// longer than one other step.
pub(in crate::ops) fn spend_on_sums(m: &mut dyn Host, terms: u64) -> Result<(), Stop> {
    let at_once = if m.account().ring().is_none() { 64 } else { 16 };
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

impl Lane for RingNumber {
    fn product(x: &[RingNumber], y: &[RingNumber], out: &mut [RingNumber], k: usize, columns: usize) {
        RingNumber::product(x, y, out, k, columns);
    }
    fn is_finite(self) -> bool {
        // Zero times a size that is not finite is none, and a product has the functions of its factors.
        self.missing().is_none() && self.near().is_finite() && self.is_algebraic()
    }
}

/// Runs an expression with the type of an arithmetic.
macro_rules! in_lanes {
    ($sums:expr, $lane:ident => $body:expr) => {
        match $sums {
            lanes::Sums::Floats => {
                type $lane = f64;
                $body
            }
            lanes::Sums::Ints => {
                type $lane = i64;
                $body
            }
            lanes::Sums::UInts => {
                type $lane = u64;
                $body
            }
            lanes::Sums::Ring => {
                type $lane = RingNumber;
                $body
            }
        }
    };
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
