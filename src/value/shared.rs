//! Calls of `PrimFunc`s that several runs share: what programs that are compared have in common is computed once.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use rustc_hash::FxHashMap;

use super::noise::NoiseMarks;
use super::sides::Taken;
use super::tensor::{Scalar, Tensor, TensorContents};
use crate::grammar::DataType;
use crate::grammar::tir::PrimFunc;

/// How many bytes the results hold at most.
const MOST_BYTES: usize = 1 << 28;

/// The results of calls, by all that they depend on.
#[derive(Debug, Default)]
pub struct SharedCalls {
    known: RefCell<FxHashMap<PrimFunc, FxHashMap<SharedKey, SharedCall>>>,
    bytes: Cell<usize>,
}

/// What the result of a call of a function depends on.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct SharedKey {
    /// The arguments.
    pub args: Vec<SharedArg>,
    /// Where the noise is in its sequence, if there is any.
    pub noise: Option<[u64; 6]>,
    /// Whether the run computes in the ring, and reads constants as simple fractions there.
    pub ring: Option<bool>,
    /// Whether the sides that choices take are recorded.
    pub notes: bool,
}

/// An argument.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum SharedArg {
    /// A number, by its kind and bits.
    Scalar(u8, u64),
    /// A tensor, by a hash of its elements; without one if none of them has a value.
    Tensor(DataType, Vec<i64>, Option<u64>),
}

/// The result of a call.
#[derive(Clone, Debug)]
pub struct SharedCall {
    /// The contents of the arguments that were written, by the numbers of the arguments.
    pub written: Vec<(usize, Rc<TensorContents>)>,
    /// The number that is returned.
    pub returned: Option<Scalar>,
    /// The steps that it took.
    pub steps: u64,
    /// The sides that its choices took, in the order of the choices.
    pub taken: Vec<Taken>,
    /// What the noise recorded, and where it was in its sequence afterwards.
    pub noise: Option<(NoiseMarks, [u64; 2])>,
}

impl SharedArg {
    /// A number.
    pub fn of_scalar(scalar: Scalar) -> Option<SharedArg> {
        match scalar {
            Scalar::Bool(b) => Some(SharedArg::Scalar(0, b.into())),
            Scalar::Int(i) => Some(SharedArg::Scalar(1, i as u64)),
            Scalar::UInt(u) => Some(SharedArg::Scalar(2, u)),
            Scalar::Float(x) => Some(SharedArg::Scalar(3, x.to_bits())),
            Scalar::Ring(_) => None,
        }
    }

    /// The current contents of a tensor; `None` if only some elements have a value.
    pub fn of_tensor(tensor: &Tensor) -> Option<SharedArg> {
        if tensor.has_no_values() {
            return Some(SharedArg::Tensor(tensor.dtype(), tensor.shape().to_vec(), None));
        }
        let readable = tensor.readable_elements();
        let contents = match readable.as_deref() {
            None => Some(tensor.hash()),
            Some(readable) if !readable.contains(&false) => Some(tensor.hash()),
            Some(readable) if !readable.contains(&true) => None,
            Some(_) => return None,
        };
        Some(SharedArg::Tensor(tensor.dtype(), tensor.shape().to_vec(), contents))
    }
}

impl SharedCalls {
    /// The result of a call, if it is known and took at most so many steps.
    pub fn get(&self, func: &PrimFunc, key: &SharedKey, fuel: u64) -> Option<SharedCall> {
        let known = self.known.borrow();
        known.get(func)?.get(key).filter(|call| call.steps <= fuel).cloned()
    }

    /// Keeps the result of a call. When all together are too large, they are forgotten.
    pub fn insert(&self, func: &PrimFunc, key: SharedKey, call: SharedCall) {
        let size = call.written.iter().map(|(_, contents)| contents.size()).sum::<usize>();
        let mut known = self.known.borrow_mut();
        if self.bytes.get().saturating_add(size) > MOST_BYTES {
            known.clear();
            self.bytes.set(0);
        }
        self.bytes.set(self.bytes.get().saturating_add(size));
        known.entry(func.clone()).or_default().insert(key, call);
    }
}

/// A function without what does not determine its calls.
pub fn to_share(func: &PrimFunc) -> PrimFunc {
    PrimFunc { attrs: Default::default(), private: false, ..func.clone() }
}
