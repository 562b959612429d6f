//! The fast conversion of tensors to other data types: loops over the elements, with the bits of the definition.

use half::{bf16, f16, slice::HalfFloatSliceExt as _};

use crate::grammar::DataType;
use crate::ops::kernel::lanes::are_wanted;
use crate::ops::kernel::{fail, stored, zeros};
use crate::value::{Elements, Host, Stop, Tensor, Value};

/// A tensor in another data type. `None` if the run does not use fast implementations.
pub(in crate::ops) fn converted(m: &mut dyn Host, x: &Tensor, dtype: DataType) -> Result<Option<Value>, Stop> {
    if !are_wanted(m) {
        return Ok(None);
    }
    let result = zeros(m, dtype, x.shape())?;
    let mut is_done = false;
    result.rewrite(None, |out| is_done = cast(&x.elements(), out).is_some());
    if !is_done {
        let missing = |i| fail(format!("a tensor has no element {i}"));
        result.fill(|i| stored(x.get(i).ok_or_else(|| missing(i))?, dtype, None))?;
    }
    Ok(Some(Value::Tensor(result)))
}

/// Converts elements as Rust does, which rounds and wraps as the definition does, between these data types.
macro_rules! cast_into {
    ($from:expr, $out:expr, $($variant:ident: $t:ty),*) => {
        match $out {
            $(Elements::$variant(out) => out.iter_mut().zip($from).for_each(|(out, x)| *out = x as $t),)*
            _ => return None,
        }
    };
}

macro_rules! of_integers {
    ($from:expr, $out:expr) => {
        cast_into!(
            $from, $out, Int8: i8, Int16: i16, Int32: i32, Int64: i64, UInt8: u8, UInt16: u16, UInt32: u32,
            UInt64: u64, Float32: f32, Float64: f64
        )
    };
}

/// Not into integers, which may not represent a float: that is unspecified.
macro_rules! of_floats {
    ($from:expr, $out:expr) => {
        cast_into!($from, $out, Float32: f32, Float64: f64)
    };
}

/// `None` if there is no loop for these data types.
fn cast(from: &Elements, out: &mut Elements) -> Option<()> {
    match (from, out) {
        (Elements::Float32(x), Elements::Float16(out)) => out.as_slice_mut()?.convert_from_f32_slice(x.as_slice()?),
        (Elements::Float32(x), Elements::BFloat16(out)) => out.as_slice_mut()?.convert_from_f32_slice(x.as_slice()?),
        (Elements::Float16(x), Elements::Float32(out)) => x.as_slice()?.convert_to_f32_slice(out.as_slice_mut()?),
        (Elements::BFloat16(x), Elements::Float32(out)) => x.as_slice()?.convert_to_f32_slice(out.as_slice_mut()?),
        // A truth value is 0 or 1.
        (Elements::Bool(x), out) => of_integers!(x.iter().map(|x| u8::from(*x)), out),
        (Elements::Int8(x), out) => of_integers!(x.iter().copied(), out),
        (Elements::Int16(x), out) => of_integers!(x.iter().copied(), out),
        (Elements::Int32(x), out) => of_integers!(x.iter().copied(), out),
        (Elements::Int64(x), out) => of_integers!(x.iter().copied(), out),
        (Elements::UInt8(x), out) => of_integers!(x.iter().copied(), out),
        (Elements::UInt16(x), out) => of_integers!(x.iter().copied(), out),
        (Elements::UInt32(x), out) => of_integers!(x.iter().copied(), out),
        (Elements::UInt64(x), out) => of_integers!(x.iter().copied(), out),
        // Float32 represents each number of 16 bits.
        (Elements::Float16(x), out) => of_floats!(x.iter().copied().map(f16::to_f32), out),
        (Elements::BFloat16(x), out) => of_floats!(x.iter().copied().map(bf16::to_f32), out),
        (Elements::Float32(x), out) => of_floats!(x.iter().copied(), out),
        (Elements::Float64(x), out) => of_floats!(x.iter().copied(), out),
        (Elements::Small(..) | Elements::Narrow(..) | Elements::Ring(..), _) => return None,
    }
    Some(())
}
