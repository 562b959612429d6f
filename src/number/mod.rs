//! The numbers of the machine: rounding to a floating-point type, and the elementary functions.
//!
//! Both are the same on every machine. Nothing here calls the mathematical library of the system, or depends on the
//! conversions of the processor.

pub mod elementary;
mod float_type;
mod long;
pub mod numeral;
pub mod quick;
pub mod real;
pub mod ring;
mod small_float;

pub use float_type::FloatType;
pub use small_float::SmallFloat;
