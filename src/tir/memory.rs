//! Memory, and the buffers that are views of it.

use super::arithmetic::Arithmetic;
use super::beside::{Beside, Touches};
use super::code::BufferCode;
use super::error::{TirError, TirResult};
use crate::number::FloatType;
use crate::number::real::ConstantReading;
use crate::value::{AllocError, Element, Elements, Held, MAX_ELEMENTS, Scalar, Tensor};

/// The elements of a tensor or of an allocation.
pub(super) struct Memory<N> {
    pub data: MemoryElements<N>,
    /// Which elements have a value; `None` if all have.
    pub written: Option<Vec<bool>>,
    /// How many have none.
    missing: usize,
    /// Whether anything was stored in it.
    pub stored: bool,
    /// Who shares it.
    pub scope: MemoryScope,
    /// The rounds that accessed each element last, once this is needed.
    pub touches: Vec<Touches>,
    /// The account of its bytes.
    _held: Held,
}

/// Who shares a piece of memory.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum MemoryScope {
    /// Everybody.
    Global,
    /// Allocated by the function. The compiler moves it into a loop of tasks if only one of the tasks uses it.
    Allocated,
    /// All threads of a block.
    Block,
    /// Each thread has its own.
    Thread,
    /// All threads of a block; the compiler will insert the barriers.
    Unguarded,
}

impl MemoryScope {
    /// Whether each round of such a loop has its own memory.
    pub fn is_own(self, of: Beside) -> bool {
        match (self, of) {
            (MemoryScope::Allocated | MemoryScope::Thread, Beside::Tasks)
            | (MemoryScope::Thread, Beside::Blocks(_) | Beside::Threads(_))
            | (MemoryScope::Block, Beside::Blocks(_)) => true,
            (MemoryScope::Global | MemoryScope::Unguarded, _)
            | (MemoryScope::Allocated, Beside::Blocks(_) | Beside::Threads(_))
            | (MemoryScope::Block, Beside::Tasks | Beside::Threads(_))
            | (_, Beside::Lanes) => false,
        }
    }
}

pub(super) enum MemoryElements<N> {
    Int(Vec<i64>),
    Float(Vec<N>),
}

/// The buffer in a slot.
#[derive(Clone, Default)]
pub(super) struct BufferView {
    pub memory: usize,
    pub offset: i64,
    pub dims: Vec<StridedDim>,
}

#[derive(Clone, Copy)]
pub(super) struct StridedDim {
    pub extent: i64,
    pub stride: i64,
}

impl BufferView {
    pub fn shape(&self) -> Vec<i64> {
        self.dims.iter().map(|dim| dim.extent).collect()
    }
}

/// The strides of a compact row-major buffer.
pub(super) fn compact_strides(shape: &[i64]) -> Vec<i64> {
    let mut strides = Vec::with_capacity(shape.len());
    let mut stride = 1i64;
    for extent in shape.iter().rev() {
        strides.push(stride);
        stride = stride.saturating_mul(*extent);
    }
    strides.reverse();
    strides
}

impl<N: Arithmetic> Memory<N> {
    /// The last accesses to an element.
    pub fn touches(&mut self, at: usize) -> Option<&mut Touches> {
        if self.touches.is_empty() {
            let count = match &self.data {
                MemoryElements::Int(elements) => elements.len(),
                MemoryElements::Float(elements) => elements.len(),
            };
            self.touches = vec![Touches::default(); count];
        }
        self.touches.get_mut(at)
    }

    /// Memory for a number of elements, without values.
    pub fn allocate(buffer: &BufferCode, shape: &[i64], count: u128, held: Held) -> TirResult<Memory<N>> {
        if count > u128::from(MAX_ELEMENTS) {
            return Err(Box::new(TirError::Alloc(AllocError::TooLarge(shape.to_vec()))));
        }
        let count = usize::try_from(count).unwrap_or_default();
        let data = if buffer.dtype.is_float() {
            MemoryElements::Float(vec![N::default(); count])
        } else {
            MemoryElements::Int(vec![0; count])
        };
        let (written, scope) = (Some(vec![false; count]), buffer.scope);
        Ok(Memory { data, written, missing: count, stored: false, scope, touches: Vec::new(), _held: held })
    }

    /// Records that an element has a value.
    #[inline]
    pub fn mark(&mut self, at: usize) {
        self.stored = true;
        if let Some(element) = self.written.as_mut().and_then(|written| written.get_mut(at))
            && !std::mem::replace(element, true)
        {
            self.missing -= 1;
            if self.missing == 0 {
                self.written = None;
            }
        }
    }

    /// A copy of the elements of a tensor.
    pub fn of(tensor: &Tensor, held: Held) -> Memory<N> {
        // Floats in a tensor come from outside; nothing was computed.
        let float = |x: f64| N::of_constant(x, FloatType::Float64, ConstantReading::Exact);
        let data = match &*tensor.elements() {
            Elements::Bool(a) => MemoryElements::Int(a.iter().map(|x| i64::from(*x)).collect()),
            Elements::Int8(a) => MemoryElements::Int(a.iter().map(|x| i64::from(*x)).collect()),
            Elements::Int16(a) => MemoryElements::Int(a.iter().map(|x| i64::from(*x)).collect()),
            Elements::Int32(a) => MemoryElements::Int(a.iter().map(|x| i64::from(*x)).collect()),
            Elements::Int64(a) => MemoryElements::Int(a.iter().copied().collect()),
            Elements::UInt8(a) => MemoryElements::Int(a.iter().map(|x| i64::from(*x)).collect()),
            Elements::UInt16(a) => MemoryElements::Int(a.iter().map(|x| i64::from(*x)).collect()),
            Elements::UInt32(a) => MemoryElements::Int(a.iter().map(|x| i64::from(*x)).collect()),
            Elements::UInt64(a) => MemoryElements::Int(a.iter().map(|x| *x as i64).collect()),
            Elements::Float16(a) => MemoryElements::Float(a.iter().map(|x| float(x.to_f64())).collect()),
            Elements::BFloat16(a) => MemoryElements::Float(a.iter().map(|x| float(x.to_f64())).collect()),
            Elements::Float32(a) => MemoryElements::Float(a.iter().map(|x| float(f64::from(*x))).collect()),
            Elements::Float64(a) => MemoryElements::Float(a.iter().map(|x| float(*x)).collect()),
            Elements::Small(format, a) => MemoryElements::Float(a.iter().map(|x| float(format.value(*x))).collect()),
            Elements::Narrow(narrow, a) => MemoryElements::Int(a.iter().map(|x| narrow.value(*x)).collect()),
            Elements::Ring(dtype, a) => {
                let float = dtype.float_type().unwrap_or(FloatType::Float64);
                MemoryElements::Float(a.iter().map(|x| N::of_scalar(Scalar::Ring(*x), float)).collect())
            }
        };
        // In a tensor inside of a storage, only elements that were written have a value.
        let (scope, touches) = (MemoryScope::Global, Vec::new());
        let written = tensor.readable_elements();
        let missing = written.iter().flatten().filter(|written| !**written).count();
        let written = written.filter(|_| missing > 0);
        Memory { data, written, missing, stored: false, scope, touches, _held: held }
    }

    /// Copies the elements back into the tensor that they came from, if any was stored.
    pub fn write_back(&self, tensor: &Tensor) {
        /// Writes the values over the elements.
        fn copy<S: Copy, T>(from: &[S], to: &mut ndarray::ArrayD<T>, convert: impl Fn(S) -> T) {
            for (to, from) in to.iter_mut().zip(from) {
                *to = convert(*from);
            }
        }
        if !self.stored {
            return;
        }
        tensor.rewrite(self.written.as_deref(), |elements| match (elements, &self.data) {
            (Elements::Bool(a), MemoryElements::Int(v)) => copy(v, a, |x| x != 0),
            (Elements::Int8(a), MemoryElements::Int(v)) => copy(v, a, |x| x as i8),
            (Elements::Int16(a), MemoryElements::Int(v)) => copy(v, a, |x| x as i16),
            (Elements::Int32(a), MemoryElements::Int(v)) => copy(v, a, |x| x as i32),
            (Elements::Int64(a), MemoryElements::Int(v)) => copy(v, a, |x| x),
            (Elements::UInt8(a), MemoryElements::Int(v)) => copy(v, a, |x| x as u8),
            (Elements::UInt16(a), MemoryElements::Int(v)) => copy(v, a, |x| x as u16),
            (Elements::UInt32(a), MemoryElements::Int(v)) => copy(v, a, |x| x as u32),
            (Elements::UInt64(a), MemoryElements::Int(v)) => copy(v, a, |x| x as u64),
            (Elements::Float16(a), MemoryElements::Float(v)) => copy(v, a, |x: N| Element::from_scalar(x.scalar())),
            (Elements::BFloat16(a), MemoryElements::Float(v)) => copy(v, a, |x: N| Element::from_scalar(x.scalar())),
            (Elements::Float32(a), MemoryElements::Float(v)) => copy(v, a, |x: N| Element::from_scalar(x.scalar())),
            (Elements::Float64(a), MemoryElements::Float(v)) => copy(v, a, |x: N| Element::from_scalar(x.scalar())),
            (Elements::Ring(_, a), MemoryElements::Float(v)) => copy(v, a, |x: N| Element::from_scalar(x.scalar())),
            (Elements::Small(format, a), MemoryElements::Float(v)) => copy(v, a, |x: N| format.code(x.near())),
            (Elements::Narrow(narrow, a), MemoryElements::Int(v)) => copy(v, a, |x| narrow.byte(x)),
            // The elements came from this tensor, so they are of its kind.
            (
                Elements::Bool(_)
                | Elements::Int8(_)
                | Elements::Int16(_)
                | Elements::Int32(_)
                | Elements::Int64(_)
                | Elements::UInt8(_)
                | Elements::UInt16(_)
                | Elements::UInt32(_)
                | Elements::UInt64(_)
                | Elements::Narrow(..),
                MemoryElements::Float(_),
            )
            | (
                Elements::Float16(_)
                | Elements::BFloat16(_)
                | Elements::Float32(_)
                | Elements::Float64(_)
                | Elements::Small(..)
                | Elements::Ring(..),
                MemoryElements::Int(_),
            ) => {}
        });
    }
}
