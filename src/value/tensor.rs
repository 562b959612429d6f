//! Tensor values: shared, mutable, n-dimensional arrays of scalars. Cloning a [`Tensor`] makes an alias.

use std::cell::{OnceCell, Ref, RefCell, RefMut};
use std::cmp::Ordering;
use std::hash::{BuildHasher, Hasher};
use std::rc::Rc;
use std::sync::Arc;

use half::{bf16, f16};
use ndarray::{ArrayD, IxDyn};
use rustc_hash::FxBuildHasher;

use super::account::{Account, Held};
use super::stop::Stop;
use super::storage::{Lodging, Poison, ProgramPoint, Storage};
use crate::grammar::{DataType, SmallFloat, TensorData, TensorDataError, TypeCode};
use crate::number::FloatType;
use crate::number::real::{ConstantReading, Real};
use crate::number::ring::{NoResidue, RingNumber};

/// A tensor value. Two clones are the same tensor: a write through one is visible through the other.
#[derive(Clone, Debug)]
pub struct Tensor(Rc<TensorObj>, Rc<Holder>);

/// The place where the holders of a tensor by one name released it, if they did.
type Holder = OnceCell<ProgramPoint>;

#[derive(Debug)]
struct TensorObj {
    dtype: DataType,
    shape: Vec<i64>,
    contents: RefCell<Rc<TensorContents>>,
    /// The elements that have a value. For a tensor in a storage, the storage records this instead.
    values: RefCell<Values>,
    /// Its position in a storage, if it is in one. The elements are then a copy of the bytes from the last access.
    lodging: OnceCell<Lodging>,
    /// The reserved bytes of the run that made it; `None` for a tensor from outside.
    _held: Option<Held>,
}

/// The elements of tensors, which share them until one is written, and what was computed from them meanwhile.
#[derive(Clone, Debug)]
pub struct TensorContents {
    elements: Elements,
    hash: OnceCell<u64>,
    bytes: OnceCell<Arc<[u8]>>,
}

impl TensorContents {
    fn new(elements: Elements) -> Rc<TensorContents> {
        Rc::new(TensorContents { elements, hash: OnceCell::new(), bytes: OnceCell::new() })
    }

    /// The elements, to write. Others that share them keep what they have.
    fn to_write(contents: &mut Rc<TensorContents>) -> &mut Elements {
        let own = Rc::make_mut(contents);
        (own.hash, own.bytes) = (OnceCell::new(), OnceCell::new());
        &mut own.elements
    }

    /// How many bytes the elements take.
    pub fn size(&self) -> usize {
        self.elements.size()
    }
}

/// The elements that have a value.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
enum Values {
    /// All elements.
    #[default]
    All,
    /// No element yet.
    None,
    /// The elements marked true.
    Of(Vec<bool>),
}

impl Values {
    /// A list with one entry for each of `count` elements; `None` if all have a value.
    fn listed(&self, count: usize) -> Option<Vec<bool>> {
        match self {
            Values::All => None,
            Values::None => Some(vec![false; count]),
            Values::Of(values) => Some(values.clone()),
        }
    }

    /// Whether all elements have a value.
    fn is_all(&self) -> bool {
        match self {
            Values::All => true,
            Values::None => false,
            Values::Of(values) => values.iter().all(|value| *value),
        }
    }

    /// Records that one of `count` elements has a value now.
    fn give(&mut self, at: usize, count: usize) {
        if *self == Values::None {
            *self = Values::Of(vec![false; count]);
        }
        if let Values::Of(values) = self {
            values.get_mut(at).into_iter().for_each(|value| *value = true);
        }
    }
}

/// The elements, row-major, by datatype.
#[derive(Clone, PartialEq, Debug)]
pub enum Elements {
    /// `bool`.
    Bool(ArrayD<bool>),
    /// `int8`.
    Int8(ArrayD<i8>),
    /// `int16`.
    Int16(ArrayD<i16>),
    /// `int32`.
    Int32(ArrayD<i32>),
    /// `int64`.
    Int64(ArrayD<i64>),
    /// `uint8`.
    UInt8(ArrayD<u8>),
    /// `uint16`.
    UInt16(ArrayD<u16>),
    /// `uint32`.
    UInt32(ArrayD<u32>),
    /// `uint64`.
    UInt64(ArrayD<u64>),
    /// `float16`.
    Float16(ArrayD<f16>),
    /// `bfloat16`.
    BFloat16(ArrayD<bf16>),
    /// `float32`.
    Float32(ArrayD<f32>),
    /// `float64`.
    Float64(ArrayD<f64>),
    /// Floats of at most 8 bits, by their codes.
    Small(SmallFloat, ArrayD<u8>),
    /// Integers of fewer than 8 bits, one in each byte, sign-extended.
    Narrow(Narrow, ArrayD<u8>),
    /// Numbers of the ring, in the place of floats of a type (`REFINE.RING.NUMBERS`).
    Ring(DataType, ArrayD<RingNumber>),
}

/// A type of integers of fewer than 8 bits.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Narrow {
    /// Whether the type has negative values.
    pub signed: bool,
    /// The width, from 1 to 7.
    pub bits: u8,
}

/// One element. Floating-point elements of every width are exact as float64.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Scalar {
    /// An element of `bool`.
    Bool(bool),
    /// An element of a signed integer type.
    Int(i64),
    /// An element of an unsigned integer type.
    UInt(u64),
    /// An element of a floating-point type, widened.
    Float(f64),
    /// An element of a floating-point type, in a run that computes in the ring.
    Ring(RingNumber),
}

/// Runs an expression for elements that are stored as their own values.
macro_rules! plainly {
    ($encoding:ident => $body:expr) => {{
        let $encoding = ValueEncoding;
        $body
    }};
}

/// Runs an expression for the array of elements, and if wanted for their encoding.
macro_rules! for_elements {
    ($elements:expr, $array:ident => $body:expr) => {
        for_elements!($elements, $array, _encoding => $body)
    };
    ($elements:expr, $array:ident, $encoding:ident => $body:expr) => {
        match $elements {
            Elements::Bool($array) => plainly!($encoding => $body),
            Elements::Int8($array) => plainly!($encoding => $body),
            Elements::Int16($array) => plainly!($encoding => $body),
            Elements::Int32($array) => plainly!($encoding => $body),
            Elements::Int64($array) => plainly!($encoding => $body),
            Elements::UInt8($array) => plainly!($encoding => $body),
            Elements::UInt16($array) => plainly!($encoding => $body),
            Elements::UInt32($array) => plainly!($encoding => $body),
            Elements::UInt64($array) => plainly!($encoding => $body),
            Elements::Float16($array) => plainly!($encoding => $body),
            Elements::BFloat16($array) => plainly!($encoding => $body),
            Elements::Float32($array) => plainly!($encoding => $body),
            Elements::Float64($array) => plainly!($encoding => $body),
            Elements::Ring(_, $array) => plainly!($encoding => $body),
            Elements::Small(format, $array) => {
                let $encoding = *format;
                $body
            }
            Elements::Narrow(narrow, $array) => {
                let $encoding = *narrow;
                $body
            }
        }
    };
}

/// A Rust type of the elements of tensors.
pub trait Element: Copy {
    /// The element, widened without loss.
    fn to_scalar(self) -> Scalar;
    /// The conversion of assignment: wraps integers, rounds once to the nearest float, truncates floats towards zero.
    fn from_scalar(scalar: Scalar) -> Self;
    /// Appends the bytes of the element, least significant first.
    fn to_bytes(self, out: &mut Vec<u8>);
    /// Reads the element from exactly as many bytes as its size.
    fn from_bytes(bytes: &[u8]) -> Self;
    /// The bytes of adjacent elements, where memory holds them in that order.
    fn bytes_of(_: &[Self]) -> Option<&[u8]> {
        None
    }
    /// As [`Element::bytes_of`], to write.
    fn bytes_of_mut(_: &mut [Self]) -> Option<&mut [u8]> {
        None
    }
}

/// The bytes of numbers that memory holds as they are, least significant first.
macro_rules! plain_bytes {
    ($t:ty) => {
        fn bytes_of(elements: &[$t]) -> Option<&[u8]> {
            cfg!(target_endian = "little").then(|| bytemuck::cast_slice(elements))
        }
        fn bytes_of_mut(elements: &mut [$t]) -> Option<&mut [u8]> {
            cfg!(target_endian = "little").then(|| bytemuck::cast_slice_mut(elements))
        }
    };
}

macro_rules! int_element {
    ($t:ty, $variant:ident, $wide:ty) => {
        impl Element for $t {
            fn to_scalar(self) -> Scalar {
                Scalar::$variant(<$wide>::from(self))
            }
            fn from_scalar(scalar: Scalar) -> $t {
                match scalar {
                    Scalar::Bool(b) => b.into(),
                    Scalar::Int(i) => i as $t,
                    Scalar::UInt(u) => u as $t,
                    Scalar::Float(f) => f as $t,
                    Scalar::Ring(x) => x.near() as $t,
                }
            }
            fn to_bytes(self, out: &mut Vec<u8>) {
                out.extend_from_slice(&self.to_le_bytes());
            }
            fn from_bytes(bytes: &[u8]) -> $t {
                let mut array = [0; size_of::<$t>()];
                array.copy_from_slice(bytes);
                <$t>::from_le_bytes(array)
            }
            plain_bytes!($t);
        }
    };
}
int_element!(i8, Int, i64);
int_element!(i16, Int, i64);
int_element!(i32, Int, i64);
int_element!(i64, Int, i64);
int_element!(u8, UInt, u64);
int_element!(u16, UInt, u64);
int_element!(u32, UInt, u64);
int_element!(u64, UInt, u64);

macro_rules! float_element {
    ($t:ty, $bits:ty, $float_type:expr $(, $plain:ident)?) => {
        impl Element for $t {
            fn to_scalar(self) -> Scalar {
                Scalar::Float($float_type.of_bits(self.to_bits().into()))
            }
            fn from_scalar(scalar: Scalar) -> $t {
                let bits = match scalar {
                    Scalar::Bool(b) => $float_type.int_to_bits(b.into()),
                    Scalar::Int(i) => $float_type.int_to_bits(i.into()),
                    Scalar::UInt(u) => $float_type.int_to_bits(u.into()),
                    Scalar::Float(f) => $float_type.to_bits(f),
                    // A number of the ring is not a float.
                    Scalar::Ring(_) => $float_type.to_bits(f64::NAN),
                };
                <$t>::from_bits(bits as $bits)
            }
            fn to_bytes(self, out: &mut Vec<u8>) {
                out.extend_from_slice(&self.to_le_bytes());
            }
            fn from_bytes(bytes: &[u8]) -> $t {
                let mut array = [0; size_of::<$t>()];
                array.copy_from_slice(bytes);
                <$t>::from_le_bytes(array)
            }
            $($plain!($t);)?
        }
    };
}
float_element!(f16, u16, FloatType::Float16);
float_element!(bf16, u16, FloatType::BFloat16);
float_element!(f32, u32, FloatType::Float32, plain_bytes);
float_element!(f64, u64, FloatType::Float64, plain_bytes);

impl Element for bool {
    fn to_scalar(self) -> Scalar {
        Scalar::Bool(self)
    }
    fn from_scalar(scalar: Scalar) -> bool {
        scalar.is_true()
    }
    fn to_bytes(self, out: &mut Vec<u8>) {
        out.push(u8::from(self));
    }
    fn from_bytes(bytes: &[u8]) -> bool {
        bytes.iter().any(|b| *b != 0)
    }
}

impl Element for RingNumber {
    fn to_scalar(self) -> Scalar {
        Scalar::Ring(self)
    }
    fn from_scalar(scalar: Scalar) -> RingNumber {
        let int = |value: i128| RingNumber::of_int(value, FloatType::Float64);
        match scalar {
            Scalar::Bool(b) => int(b.into()),
            Scalar::Int(i) => int(i.into()),
            Scalar::UInt(u) => int(u.into()),
            Scalar::Float(x) if x.is_nan() => RingNumber::without(NoResidue::Float),
            Scalar::Float(x) => RingNumber::of_float(x),
            Scalar::Ring(x) => x,
        }
    }
    fn to_bytes(self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.bytes());
    }
    fn from_bytes(bytes: &[u8]) -> RingNumber {
        let whole = <[u8; 16]>::try_from(bytes);
        whole.map_or_else(|_| RingNumber::without(NoResidue::Float), RingNumber::of_bytes)
    }
}

/// The encoding of the elements of an array.
trait Encoding<T> {
    /// The element, widened without loss.
    fn scalar(self, element: T) -> Scalar;
    /// The conversion of assignment.
    fn element(self, scalar: Scalar) -> T;
}

/// The encoding in which each element is its own value.
#[derive(Clone, Copy)]
struct ValueEncoding;

impl<T: Element> Encoding<T> for ValueEncoding {
    fn scalar(self, element: T) -> Scalar {
        element.to_scalar()
    }
    fn element(self, scalar: Scalar) -> T {
        T::from_scalar(scalar)
    }
}

impl Encoding<u8> for SmallFloat {
    fn scalar(self, code: u8) -> Scalar {
        Scalar::Float(self.value(code))
    }
    /// Rounds once, ties to even. Values that are too large are not clamped to the maximum.
    fn element(self, scalar: Scalar) -> u8 {
        self.code(match scalar {
            Scalar::Bool(b) => f64::from(u8::from(b)),
            Scalar::Int(i) => rounded_to_odd(i.into()),
            Scalar::UInt(u) => rounded_to_odd(u.into()),
            Scalar::Float(x) => x,
            Scalar::Ring(_) => f64::NAN,
        })
    }
}

/// An integer as a float64 that rounds to the same float of fewer bits.
fn rounded_to_odd(i: i128) -> f64 {
    let (near, magnitude) = (i as f64, i.unsigned_abs());
    let bits = near.abs().to_bits();
    // The float may be larger or smaller than the integer, or equal.
    let below = match (near.abs() as u128).cmp(&magnitude) {
        Ordering::Equal => return near,
        Ordering::Greater => bits - 1,
        Ordering::Less => bits,
    };
    f64::from_bits(below | 1).copysign(near)
}

impl Narrow {
    /// The integer in a byte.
    pub fn value(self, byte: u8) -> i64 {
        if self.signed { byte.cast_signed().into() } else { byte.into() }
    }

    /// The byte of an integer, with wrap-around.
    pub fn byte(self, value: i64) -> u8 {
        let unused = 8u32.saturating_sub(self.bits.into());
        let low = (value as u8) << unused;
        if self.signed { (low.cast_signed() >> unused).cast_unsigned() } else { low >> unused }
    }
}

impl Encoding<u8> for Narrow {
    fn scalar(self, element: u8) -> Scalar {
        let value = self.value(element);
        if self.signed { Scalar::Int(value) } else { Scalar::UInt(value.cast_unsigned()) }
    }
    fn element(self, scalar: Scalar) -> u8 {
        self.byte(match scalar {
            Scalar::Bool(b) => b.into(),
            Scalar::Int(i) => i,
            Scalar::UInt(u) => u.cast_signed(),
            Scalar::Float(x) => x as i64,
            Scalar::Ring(x) => x.near() as i64,
        })
    }
}

impl Scalar {
    /// The integer value, if it can be a dimension. Truth values are 0 and 1.
    pub fn to_dim(self) -> Option<i64> {
        match self {
            Scalar::Int(i) => Some(i),
            Scalar::UInt(i) => i64::try_from(i).ok(),
            Scalar::Bool(b) => Some(i64::from(b)),
            Scalar::Float(_) | Scalar::Ring(_) => None,
        }
    }

    /// Whether the value is nonzero.
    pub fn is_true(self) -> bool {
        match self {
            Scalar::Bool(b) => b,
            Scalar::Int(i) => i != 0,
            Scalar::UInt(u) => u != 0,
            Scalar::Float(f) => f != 0.0,
            Scalar::Ring(x) => x.is(RingNumber::default()) != Some(true),
        }
    }
}

impl Elements {
    /// How many bytes the elements take.
    pub fn size(&self) -> usize {
        for_elements!(self, array => array.iter().next().map_or(0, size_of_val).saturating_mul(array.len()))
    }

    /// Zeros of a datatype. An error if tensors cannot have elements of it.
    fn zeros(dtype: DataType, shape: &[usize]) -> Result<Elements, TensorDataError> {
        let shape = IxDyn(shape);
        macro_rules! zeros {
            ($variant:ident, $zero:expr) => {
                Elements::$variant(ArrayD::from_elem(shape, $zero))
            };
        }
        let unknown = Err(TensorDataError::DataType(dtype));
        if dtype.lanes != 1 {
            return unknown;
        }
        Ok(match (dtype.code, dtype.bits) {
            (TypeCode::UInt, 1) => zeros!(Bool, false),
            (TypeCode::Int, 8) => zeros!(Int8, 0),
            (TypeCode::Int, 16) => zeros!(Int16, 0),
            (TypeCode::Int, 32) => zeros!(Int32, 0),
            (TypeCode::Int, 64) => zeros!(Int64, 0),
            (TypeCode::UInt, 8) => zeros!(UInt8, 0),
            (TypeCode::UInt, 16) => zeros!(UInt16, 0),
            (TypeCode::UInt, 32) => zeros!(UInt32, 0),
            (TypeCode::UInt, 64) => zeros!(UInt64, 0),
            (TypeCode::Float, 16) => zeros!(Float16, f16::ZERO),
            (TypeCode::BFloat, 16) => zeros!(BFloat16, bf16::ZERO),
            (TypeCode::Float, 32) => zeros!(Float32, 0.0),
            (TypeCode::Float, 64) => zeros!(Float64, 0.0),
            (TypeCode::Small(format), _) => Elements::Small(format, ArrayD::from_elem(shape, format.code(0.0))),
            (TypeCode::Int | TypeCode::UInt, bits @ (2 | 4)) => {
                let narrow = Narrow { signed: dtype.is_int(), bits: bits as u8 };
                Elements::Narrow(narrow, ArrayD::from_elem(shape, 0))
            }
            (TypeCode::Int | TypeCode::UInt | TypeCode::Float | TypeCode::BFloat | TypeCode::Handle, _) => {
                return unknown;
            }
        })
    }

    fn dtype(&self) -> DataType {
        match self {
            Elements::Bool(_) => DataType::BOOL,
            Elements::Int8(_) => DataType::INT8,
            Elements::Int16(_) => DataType::INT16,
            Elements::Int32(_) => DataType::INT32,
            Elements::Int64(_) => DataType::INT64,
            Elements::UInt8(_) => DataType::UINT8,
            Elements::UInt16(_) => DataType::UINT16,
            Elements::UInt32(_) => DataType::UINT32,
            Elements::UInt64(_) => DataType::UINT64,
            Elements::Float16(_) => DataType::FLOAT16,
            Elements::BFloat16(_) => DataType::BFLOAT16,
            Elements::Float32(_) => DataType::FLOAT32,
            Elements::Float64(_) => DataType::FLOAT64,
            Elements::Small(format, _) => DataType::small(*format),
            Elements::Ring(dtype, _) => *dtype,
            Elements::Narrow(narrow, _) => {
                DataType::new(if narrow.signed { TypeCode::Int } else { TypeCode::UInt }, narrow.bits.into())
            }
        }
    }
}

/// Elements of a tensor at equal distances.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Run {
    /// The index of the tensor among several.
    pub tensor: usize,
    /// The row-major position of the first one.
    pub start: usize,
    /// The distance between adjacent ones.
    pub step: usize,
    /// The number of elements.
    pub count: usize,
}

impl Run {
    /// The elements of a slice from the first one to the last.
    fn within<T>(self, elements: &[T]) -> Option<&[T]> {
        let reach = self.count.checked_sub(1).map_or(Some(0), |last| last.checked_mul(self.step)?.checked_add(1))?;
        elements.get(self.start..self.start.checked_add(reach)?)
    }

    /// The elements of a slice.
    fn of<T>(self, elements: &[T]) -> Option<impl Iterator<Item = &T>> {
        let elements = self.within(elements)?;
        // With the step 0, a single element is repeated.
        let again = if self.step == 0 { self.count } else { 0 };
        let repeated = std::iter::repeat_n(elements.first(), again).flatten();
        Some(repeated.chain(elements.iter().step_by(self.step.max(1)).take(self.count - again)))
    }
}

impl Elements {
    /// Replaces all elements by those in the runs; `None` if their number differs, or one does not exist.
    fn take_runs(&mut self, from: &[&Elements], runs: impl Iterator<Item = Run>) -> Option<()> {
        macro_rules! taken {
            ($own:expr, $pattern:pat => $array:expr) => {{
                let slices = from.iter().map(|elements| if let $pattern = elements { $array.as_slice() } else { None });
                taken($own.as_slice_mut()?, &slices.collect::<Option<Vec<_>>>()?, runs)
            }};
        }
        match self {
            Elements::Bool(own) => taken!(own, Elements::Bool(x) => x),
            Elements::Int8(own) => taken!(own, Elements::Int8(x) => x),
            Elements::Int16(own) => taken!(own, Elements::Int16(x) => x),
            Elements::Int32(own) => taken!(own, Elements::Int32(x) => x),
            Elements::Int64(own) => taken!(own, Elements::Int64(x) => x),
            Elements::UInt8(own) => taken!(own, Elements::UInt8(x) => x),
            Elements::UInt16(own) => taken!(own, Elements::UInt16(x) => x),
            Elements::UInt32(own) => taken!(own, Elements::UInt32(x) => x),
            Elements::UInt64(own) => taken!(own, Elements::UInt64(x) => x),
            Elements::Float16(own) => taken!(own, Elements::Float16(x) => x),
            Elements::BFloat16(own) => taken!(own, Elements::BFloat16(x) => x),
            Elements::Float32(own) => taken!(own, Elements::Float32(x) => x),
            Elements::Float64(own) => taken!(own, Elements::Float64(x) => x),
            Elements::Small(_, own) => taken!(own, Elements::Small(_, x) => x),
            Elements::Narrow(_, own) => taken!(own, Elements::Narrow(_, x) => x),
            Elements::Ring(_, own) => taken!(own, Elements::Ring(_, x) => x),
        }
    }
}

fn taken<T: Copy>(mut own: &mut [T], from: &[&[T]], runs: impl Iterator<Item = Run>) -> Option<()> {
    for run in runs {
        let (slots, rest) = std::mem::take(&mut own).split_at_mut_checked(run.count)?;
        let elements = run.within(from.get(run.tensor)?)?;
        match run.step {
            0 => elements.iter().for_each(|x| slots.fill(*x)),
            1 => slots.copy_from_slice(elements),
            step => slots.iter_mut().zip(elements.iter().step_by(step)).for_each(|(slot, x)| *slot = *x),
        }
        own = rest;
    }
    own.is_empty().then_some(())
}

/// The maximum number of elements that the oracle allocates. Larger tensors are reported without an attempt.
pub const MAX_ELEMENTS: u64 = 1 << 28;

/// The reason why a tensor cannot be made.
#[derive(Clone, PartialEq, Debug, thiserror::Error)]
pub enum AllocError {
    /// There are no elements of this type: it is `void`, or has a width that the oracle does not know.
    #[error("no tensor has elements of type {0}")]
    DataType(DataType),
    /// A dimension is negative.
    #[error("dimension {index} is {size}, which is negative")]
    Negative {
        /// The dimension, counted from 0.
        index: usize,
        /// Its size.
        size: i64,
    },
    /// The shape has more elements than the limit.
    #[error("a tensor of shape {0:?} is larger than the oracle allocates")]
    TooLarge(Vec<i64>),
}

impl Tensor {
    /// A new tensor of zeros.
    pub fn zeros(dtype: DataType, shape: &[i64]) -> Result<Tensor, AllocError> {
        let mut count: u64 = 1;
        let mut sizes = Vec::with_capacity(shape.len());
        for (index, size) in shape.iter().enumerate() {
            let unsigned = u64::try_from(*size).map_err(|_| AllocError::Negative { index, size: *size })?;
            // The sizes other than 0 must not overflow, even if the tensor has no elements.
            count = count.saturating_mul(unsigned.max(1));
            sizes.push(usize::try_from(unsigned).map_err(|_| AllocError::TooLarge(shape.to_vec()))?);
        }
        if count > MAX_ELEMENTS {
            return Err(AllocError::TooLarge(shape.to_vec()));
        }
        let elements = Elements::zeros(dtype, &sizes).map_err(|_| AllocError::DataType(dtype))?;
        Ok(Tensor::from_elements(elements))
    }

    /// A new tensor that owns these elements. They are kept in row-major order, in which operators read them.
    pub fn from_elements(mut elements: Elements) -> Tensor {
        for_elements!(&mut elements, array => {
            if !array.is_standard_layout() {
                *array = array.as_standard_layout().into_owned();
            }
        });
        let shape = for_elements!(&elements, array => array.shape().iter().map(|d| *d as i64).collect());
        Tensor::holding_contents(shape, TensorContents::new(elements))
    }

    fn holding_contents(shape: Vec<i64>, contents: Rc<TensorContents>) -> Tensor {
        let (dtype, contents) = (contents.elements.dtype(), RefCell::new(contents));
        let (values, lodging) = (RefCell::default(), OnceCell::new());
        Tensor(Rc::new(TensorObj { dtype, shape, contents, values, lodging, _held: None }), Rc::default())
    }

    /// A new tensor of zeros of the ring, for a floating-point data type.
    pub fn zeros_of_ring(dtype: DataType, shape: &[i64]) -> Result<Tensor, AllocError> {
        let zeros = Tensor::zeros(dtype, shape)?;
        if !dtype.is_float() {
            return Ok(zeros);
        }
        let sizes: Vec<usize> = shape.iter().filter_map(|size| usize::try_from(*size).ok()).collect();
        Ok(Tensor::from_elements(Elements::Ring(dtype, ArrayD::from_elem(IxDyn(&sizes), RingNumber::default()))))
    }

    /// REFINE.RING.CONSTANTS: a new tensor with the contents of a literal, whose floats are read as numbers of the
    /// ring.
    pub fn of_ring(data: &TensorData, reading: ConstantReading) -> Result<Tensor, AllocError> {
        let shape: Option<Vec<i64>> = data.shape.iter().map(|d| i64::try_from(*d).ok()).collect();
        let shape = shape.ok_or_else(|| AllocError::TooLarge(vec![i64::MAX]))?;
        let tensor = Tensor::zeros_of_ring(data.dtype, &shape)?;
        if !data.dtype.is_float() || data.bytes.len() == tensor.len() * size_of::<RingNumber>() {
            tensor.take_bytes(&data.bytes);
            return Ok(tensor);
        }
        let (plain, float) = (Tensor::from_data(data)?, data.dtype.float_type().unwrap_or(FloatType::Float64));
        let read = |i: usize| match plain.get(i) {
            Some(Scalar::Float(x)) => Ok(Scalar::Ring(RingNumber::of_constant(x, float, reading))),
            Some(other) => Ok(other),
            None => Err(AllocError::DataType(data.dtype)),
        };
        tensor.fill(read).map(|()| tensor)
    }

    /// OP.CALLTIR.ALLOC: marks the contents of this new tensor as unspecified until they are written.
    pub fn without_values(self) -> Tensor {
        if !self.is_empty() {
            *self.0.values.borrow_mut() = Values::None;
        }
        self
    }

    /// Keeps reserved bytes with a new tensor, for as long as it lives.
    pub(super) fn holding(self, held: Held) -> Tensor {
        match Rc::try_unwrap(self.0) {
            Ok(tensor) => Tensor(Rc::new(TensorObj { _held: Some(held), ..tensor }), self.1),
            Err(shared) => Tensor(shared, self.1),
        }
    }

    /// A new tensor with the contents of a literal.
    pub fn from_data(data: &TensorData) -> Result<Tensor, AllocError> {
        let shape: Option<Vec<i64>> = data.shape.iter().map(|d| i64::try_from(*d).ok()).collect();
        let shape = shape.ok_or_else(|| AllocError::TooLarge(vec![i64::MAX]))?;
        let tensor = Tensor::zeros(data.dtype, &shape)?;
        tensor.take_bytes(&data.bytes);
        // Bytes that are no Boolean, for instance, are another one afterwards.
        let bytes = Some(&*data.bytes);
        if for_elements!(&*tensor.elements(), array => array.as_slice().and_then(Element::bytes_of) == bytes) {
            let _ = tensor.contents().bytes.set(data.bytes.clone());
        }
        Ok(tensor)
    }

    fn take_bytes(&self, bytes: &[u8]) {
        for_elements!(TensorContents::to_write(&mut self.0.contents.borrow_mut()), array => {
            let own = array.as_slice_mut().and_then(Element::bytes_of_mut);
            if let Some(own) = own.filter(|own| own.len() == bytes.len()) {
                own.copy_from_slice(bytes);
                return;
            }
            let size = bytes.len().checked_div(array.len()).unwrap_or(0).max(self.dtype().bytes());
            for (slot, bytes) in array.iter_mut().zip(bytes.chunks_exact(size)) {
                *slot = Element::from_bytes(bytes);
            }
        });
    }

    /// The current contents.
    pub fn to_data(&self) -> TensorData {
        TensorData {
            dtype: self.dtype(),
            shape: self.shape().iter().map(|d| u64::try_from(*d).unwrap_or(0)).collect(),
            bytes: self.contents().bytes.get_or_init(|| self.to_bytes().into()).clone(),
        }
    }

    /// A tensor with the same elements, which all have a value. A write to one of the two does not change the other.
    pub fn copied(&self) -> Tensor {
        Tensor::holding_contents(self.shape().to_vec(), self.contents())
    }

    /// The current contents, as other tensors can have them.
    pub(crate) fn contents(&self) -> Rc<TensorContents> {
        self.see_storage();
        self.0.contents.borrow().clone()
    }

    /// Replaces all elements by others of the same shape.
    pub(crate) fn take_contents(&self, contents: Rc<TensorContents>) {
        self.see_storage();
        *self.0.contents.borrow_mut() = contents;
        self.tell_storage(None);
    }

    /// A hash of the current contents.
    pub(super) fn hash(&self) -> u64 {
        *self.contents().hash.get_or_init(|| {
            let mut hasher = FxBuildHasher.build_hasher();
            self.for_each_bytes(|bytes| hasher.write(bytes));
            hasher.finish()
        })
    }

    /// The bytes of the elements, in pieces.
    fn for_each_bytes(&self, mut each: impl FnMut(&[u8])) {
        /// How many elements a piece has.
        const PIECE: usize = 1024;
        for_elements!(&*self.elements(), array => {
            let elements = array.as_slice().unwrap_or_default();
            if let Some(bytes) = Element::bytes_of(elements) {
                return each(bytes);
            }
            let mut bytes = Vec::with_capacity(PIECE * size_of::<RingNumber>());
            for piece in elements.chunks(PIECE) {
                piece.iter().for_each(|x| x.to_bytes(&mut bytes));
                each(&bytes);
                bytes.clear();
            }
        });
    }

    fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(self.elements().size());
        self.for_each_bytes(|piece| bytes.extend_from_slice(piece));
        bytes
    }

    /// The datatype of the elements.
    pub fn dtype(&self) -> DataType {
        self.0.dtype
    }

    /// The size of each dimension, outermost first; empty for a scalar (`VAL.TENSOR.SCALAR`).
    pub fn shape(&self) -> &[i64] {
        &self.0.shape
    }

    /// The number of elements.
    pub fn len(&self) -> usize {
        for_elements!(&*self.elements(), array => array.len())
    }

    /// Whether there are no elements because some dimension is zero (`VAL.TENSOR.ZERO-DIM`).
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Its address, which distinguishes it from all other live tensors.
    pub(super) fn address(&self) -> *const () {
        Rc::as_ptr(&self.0).cast()
    }

    /// Whether both are the same tensor, not merely equal ones.
    pub fn same_as(&self, other: &Tensor) -> bool {
        Rc::ptr_eq(&self.0, &other.0)
    }

    /// The elements, to read. Drop the guard before anything can write to an alias.
    pub fn elements(&self) -> Ref<'_, Elements> {
        self.see_storage();
        Ref::map(self.0.contents.borrow(), |contents| &contents.elements)
    }

    /// The elements, to write in place. The caller must then update the storage ([`Tensor::tell_storage`]).
    fn elements_mut(&self) -> RefMut<'_, Elements> {
        self.see_storage();
        RefMut::map(self.0.contents.borrow_mut(), TensorContents::to_write)
    }

    /// Writes elements in place, visible to every alias (`EVAL.BYREF`). `written` marks the elements that have a value
    /// afterwards; `None` means all.
    pub fn rewrite(&self, written: Option<&[bool]>, write: impl FnOnce(&mut Elements)) {
        write(&mut self.elements_mut());
        self.tell_storage(written);
    }

    /// MEM.VIEW: loads the elements that other tensors of the storage have written.
    fn see_storage(&self) {
        if let Some(bytes) = self.0.lodging.get().and_then(Lodging::changed) {
            self.take_bytes(&bytes);
        }
    }

    /// Updates the storage with the current elements. Without a storage, the tensor records which elements have a
    /// value.
    fn tell_storage(&self, written: Option<&[bool]>) {
        let Some(lodging) = self.0.lodging.get() else {
            *self.0.values.borrow_mut() = match written {
                Some(written) if written.contains(&false) => Values::Of(written.to_vec()),
                Some(_) | None => Values::All,
            };
            return;
        };
        self.write_through(lodging, written);
    }

    /// Writes the elements that have a value to the storage.
    fn write_through(&self, lodging: &Lodging, written: Option<&[bool]>) {
        let (bytes, size) = (self.to_bytes(), self.dtype().bytes());
        let Some(written) = written else { return lodging.write(0, &bytes) };
        let mut from = 0;
        for part in written.chunk_by(|a, b| a == b) {
            let to = from + part.len();
            if let (Some(true), Some(bytes)) = (part.first(), bytes.get(from * size..to * size)) {
                lodging.write((from * size) as u64, bytes);
            }
            from = to;
        }
    }

    /// MEM.TENSOR: puts this new tensor into a storage, from a byte on. `None` if the storage is too small
    /// (`MEM.BOUNDS`).
    pub fn in_storage(self, storage: &Rc<Storage>, offset: u64) -> Option<Tensor> {
        let lodging = Lodging::of_its_own(storage, offset, self.to_bytes().len() as u64)?;
        let new = self.0.lodging.set(lodging).is_ok();
        new.then_some(self)
    }

    /// MEM.VIEW: puts the new tensor `other` on the bytes of this one, from a byte on. `None` if this one is too small.
    ///
    /// # Errors
    ///
    /// A tensor without a storage gets one first, and there is not enough memory left for it.
    pub fn seen_as(&self, other: Tensor, offset: u64, account: &Rc<Account>) -> Result<Option<Tensor>, Stop> {
        let view = self.lodged(account)?.and_then(|lodging| lodging.view(offset, other.to_bytes().len() as u64));
        Ok(view.and_then(|view| other.0.lodging.set(view).is_ok().then_some(other)))
    }

    fn lodged(&self, account: &Rc<Account>) -> Result<Option<&Lodging>, Stop> {
        if self.0.lodging.get().is_none() {
            let bytes = self.to_bytes();
            let storage = Storage::allocate(account, bytes.len() as u64)?;
            if let Some(lodging) = Lodging::of_its_own(&storage, 0, bytes.len() as u64) {
                self.write_through(&lodging, self.readable_elements().as_deref());
                // No other code can have set it meanwhile.
                let _ = self.0.lodging.set(lodging);
            }
        }
        Ok(self.0.lodging.get())
    }

    /// The offset of its first byte in its storage; 0 without a storage.
    pub fn offset(&self) -> u64 {
        self.0.lodging.get().map_or(0, |lodging| lodging.offset)
    }

    /// MEM.RELEASED: it may not be read any more by this name and by the names that were bound to it. Other holders of
    /// the tensor may read it, and other tensors on the same bytes too.
    pub fn release(&self, at: ProgramPoint) {
        // A second release has no effect.
        let _ = self.1.set(at);
    }

    /// The same tensor, held by another holder: if one holder releases it, the other still has it.
    pub fn held_anew(&self) -> Tensor {
        Tensor(self.0.clone(), Rc::new((*self.1).clone()))
    }

    /// The reasons why it cannot be read, if any; `now` is the current point of the run. `None` for a tensor that is
    /// not in a storage and was not released, which can be read.
    pub fn poison(&self, now: impl Fn() -> ProgramPoint) -> Option<Poison> {
        let lodging = self.0.lodging.get();
        let released = self.1.get().map(|at| {
            let told = lodging.map_or_else(|| "a tensor".to_string(), Lodging::told);
            format!("{told} is used at {}, and was released at {at}", now())
        });
        let open = lodging.is_none() && !self.0.values.borrow().is_all();
        match (lodging, released) {
            (None, None) if !open => None,
            (None, released) => {
                let told = || format!("at {} a tensor is read that was not written in every element", now());
                Some(Poison { released, open: open.then(told), ..Poison::default() })
            }
            (Some(lodging), released) => Some(Poison { released, ..lodging.poison(0..lodging.size) }),
        }
    }

    /// The reasons why an element cannot be read, if any.
    pub fn poison_of(&self, flat: usize) -> Option<Poison> {
        let size = self.dtype().bytes() as u64;
        self.0.lodging.get().map(|lodging| lodging.poison(flat as u64 * size..(flat as u64 + 1) * size))
    }

    /// For each element, whether it can be read. `None` if all can, because the tensor is fully written and not in a
    /// storage.
    pub fn readable_elements(&self) -> Option<Vec<bool>> {
        match self.0.lodging.get() {
            // MEM.RELEASED: none by this name, whatever was written since.
            Some(_) if self.1.get().is_some() => Some(vec![false; self.len()]),
            Some(lodging) => Some(lodging.readable(self.dtype().bytes() as u64)),
            None => self.0.values.borrow().listed(self.len()),
        }
    }

    /// Whether it is in no storage, and no element has a value yet.
    pub(super) fn has_no_values(&self) -> bool {
        self.0.lodging.get().is_none() && *self.0.values.borrow() == Values::None
    }

    /// Whether it is a different tensor that shares bytes with this one.
    pub fn overlaps(&self, other: &Tensor) -> bool {
        match (self.0.lodging.get(), other.0.lodging.get()) {
            (Some(own), Some(others)) => !self.same_as(other) && own.overlaps(others),
            (None, _) | (_, None) => false,
        }
    }

    /// The element at a row-major position; `None` outside the tensor.
    pub fn get(&self, flat: usize) -> Option<Scalar> {
        for_elements!(&*self.elements(), array, encoding => {
            array.as_slice().and_then(|s| s.get(flat)).map(|x| encoding.scalar(*x))
        })
    }

    /// Writes every element in row-major order, converted as in assignment. `element` gets the position, and must not
    /// access this tensor. Stops at the first error.
    pub fn fill<E>(&self, mut element: impl FnMut(usize) -> Result<Scalar, E>) -> Result<(), E> {
        let filled = for_elements!(&mut *self.elements_mut(), array, encoding => {
            array.iter_mut().enumerate().try_for_each(|(flat, slot)| {
                *slot = encoding.element(element(flat)?);
                Ok(())
            })
        });
        self.tell_storage(None);
        filled
    }

    /// All elements in row-major order, converted as in assignment.
    pub fn all_as<T: Element>(&self) -> Vec<T> {
        for_elements!(&*self.elements(), array, encoding => {
            array.iter().map(|x| T::from_scalar(encoding.scalar(*x))).collect()
        })
    }

    /// Writes the elements in row-major order, converted as in assignment. Returns false if there are not as many.
    #[must_use = "elements that are too few or too many are not written"]
    pub fn take_all<T: Element>(&self, elements: &[T]) -> bool {
        let fits = elements.len() == self.len();
        if fits {
            self.rewrite(None, |own| {
                for_elements!(own, array, encoding => {
                    let slots = array.iter_mut().zip(elements);
                    slots.for_each(|(slot, x)| *slot = encoding.element(x.to_scalar()));
                });
            });
        }
        fits
    }

    /// Writes all elements of this new tensor: those of other tensors of its data type, in runs. Returns false and
    /// changes nothing if their number differs, or one does not exist.
    #[must_use = "elements that are not there are not written"]
    pub fn take_runs(&self, from: &[&Tensor], runs: impl Iterator<Item = Run>) -> bool {
        let from: Vec<Ref<'_, Elements>> = from.iter().map(|tensor| tensor.elements()).collect();
        let from: Vec<&Elements> = from.iter().map(|elements| &**elements).collect();
        let mut taken = false;
        self.rewrite(None, |own| taken = own.take_runs(&from, runs).is_some());
        taken
    }

    /// Appends elements in runs. Returns false if one does not exist.
    #[must_use = "elements that are not there are not read"]
    pub fn read_runs(&self, runs: impl Iterator<Item = Run>, to: &mut Vec<Scalar>) -> bool {
        for_elements!(&*self.elements(), array, encoding => {
            let Some(elements) = array.as_slice() else { return false };
            runs.into_iter().all(|run| run.of(elements).map(|run| to.extend(run.map(|x| encoding.scalar(*x)))).is_some())
        })
    }

    /// Writes the element at a row-major position, converted as in assignment. Returns false outside the tensor.
    #[must_use = "a write outside the tensor did not happen"]
    pub fn set(&self, flat: usize, value: Scalar) -> bool {
        let mut bytes = Vec::new();
        let lodging = self.0.lodging.get();
        let is_set = for_elements!(&mut *self.elements_mut(), array, encoding => match array.as_slice_mut().and_then(|s| s.get_mut(flat)) {
            Some(slot) => {
                *slot = encoding.element(value);
                if lodging.is_some() {
                    slot.to_bytes(&mut bytes);
                }
                true
            }
            None => false,
        });
        match lodging.filter(|_| is_set) {
            Some(lodging) => lodging.write((flat * self.dtype().bytes()) as u64, &bytes),
            None if is_set => self.0.values.borrow_mut().give(flat, self.len()),
            None => {}
        }
        is_set
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tensor_without_values_has_those_that_are_written() {
        let tensor = Tensor::zeros(DataType::FLOAT32, &[3]).unwrap().without_values();
        let is_open =
            |tensor: &Tensor| tensor.poison(ProgramPoint::default).is_some_and(|poison| poison.open.is_some());
        assert!(is_open(&tensor) && tensor.readable_elements() == Some(vec![false; 3]));
        assert!(tensor.set(1, Scalar::Int(5)) && !tensor.set(3, Scalar::Int(5)));
        assert!(is_open(&tensor) && tensor.readable_elements() == Some(vec![false, true, false]));
        tensor.rewrite(Some(&[true, true, false]), |_| {});
        assert!(is_open(&tensor));
        assert_eq!(tensor.fill(|_| Ok::<Scalar, ()>(Scalar::Int(1))), Ok(()));
        assert!(tensor.poison(ProgramPoint::default).is_none());
        // A tensor without elements has nothing to write.
        assert!(!is_open(&Tensor::zeros(DataType::FLOAT32, &[0]).unwrap().without_values()));
    }

    #[test]
    fn a_clone_is_an_alias() {
        let a = Tensor::zeros(DataType::FLOAT32, &[2, 2]).unwrap();
        let b = a.clone();
        assert!(b.set(3, Scalar::Float(1.5)));
        assert_eq!(a.get(3), Some(Scalar::Float(1.5)));
        assert!(!a.set(4, Scalar::Float(0.0)));
        assert!(a.same_as(&b) && !a.same_as(&Tensor::zeros(DataType::FLOAT32, &[2, 2]).unwrap()));
    }

    #[test]
    fn a_copy_has_the_contents_until_one_of_the_two_is_written() {
        let data = TensorData::from_values(DataType::FLOAT32, &[2], &[1.5, 2.5]).unwrap();
        let a = Tensor::from_data(&data).unwrap();
        let (b, hash) = (a.copied(), a.hash());
        assert!(!a.same_as(&b) && b.hash() == hash);
        assert!(Arc::ptr_eq(&a.to_data().bytes, &data.bytes) && Arc::ptr_eq(&b.to_data().bytes, &data.bytes));
        assert!(b.set(0, Scalar::Float(3.5)));
        assert_eq!((a.to_data(), a.hash()), (data.clone(), hash));
        assert_ne!((b.to_data(), b.hash()), (data.clone(), hash));
        b.take_contents(a.contents());
        assert_eq!(b.to_data(), data);
        // A Boolean is 0 or 1, whatever byte it was.
        let data = TensorData { dtype: DataType::BOOL, shape: [1].into(), bytes: [2].into() };
        assert_eq!(*Tensor::from_data(&data).unwrap().to_data().bytes, [1]);
    }

    #[test]
    fn data_round_trips() {
        let data = TensorData::from_values(DataType::INT16, &[3], &[-1.0, 0.0, 300.0]).unwrap();
        assert_eq!(Tensor::from_data(&data).unwrap().to_data(), data);
    }

    #[test]
    fn narrow_elements_wrap_and_round() {
        let stored = |dtype: DataType, value: Scalar| {
            let cell = Tensor::zeros(dtype, &[]).unwrap();
            assert!(cell.set(0, value));
            cell.get(0).unwrap()
        };
        let int4 = DataType::new(TypeCode::Int, 4);
        assert_eq!(stored(int4, Scalar::Int(9)), Scalar::Int(-7));
        assert_eq!(stored(int4, Scalar::Float(-3.9)), Scalar::Int(-3));
        assert_eq!(stored(DataType::new(TypeCode::UInt, 2), Scalar::Int(-1)), Scalar::UInt(3));
        let e4m3 = DataType::small(SmallFloat::E4M3Fn);
        assert_eq!(stored(e4m3, Scalar::Float(-0.3)), Scalar::Float(-0.3125));
        assert!(matches!(stored(e4m3, Scalar::Int(1000)), Scalar::Float(x) if x.is_nan()));
        // Slightly more than half way between two powers of two; a float64 cannot represent the excess.
        let half_way = (3i64 << 59) + 1;
        let powers = DataType::small(SmallFloat::E8M0Fnu);
        assert_eq!(stored(powers, Scalar::Int(half_way)), Scalar::Float(libm::ldexp(1.0, 61)));
        assert_eq!(rounded_to_odd(half_way.into()), ((3i64 << 59) as f64).next_up());
        for value in [0, 1, -5, 1 << 53, i128::from(u64::MAX)] {
            assert_eq!(rounded_to_odd(value) < 0.0, value < 0, "{value}");
        }
    }

    #[test]
    fn what_cannot_be_allocated_is_reported() {
        assert!(matches!(Tensor::zeros(DataType::INT8, &[2, -1]), Err(AllocError::Negative { index: 1, size: -1 })));
        assert!(matches!(Tensor::zeros(DataType::INT8, &[i64::MAX, 4]), Err(AllocError::TooLarge(_))));
        assert!(matches!(Tensor::zeros(DataType::VOID, &[]), Err(AllocError::DataType(_))));
    }
}
