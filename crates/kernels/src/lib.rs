//! The loops in which tensor operators spend their time, over slices of numbers.
//!
//! They are a separate crate, so that they are optimized in every profile and the rest need not be. Nothing here
//! depends on tensors or rules. Each loop adds in the order that it states, so that its results equal those of the
//! plain definition bit for bit: no order that depends on the machine, and fused operations only where they round like
//! separate ones. Where a result is rounded to float32, a loop may compute with fewer digits than the definition, if
//! they decide the rounding; it asks for the others, or tells which they are.

#![cfg_attr(not(test), warn(clippy::expect_used, clippy::panic, clippy::unwrap_used))]

mod approximate;
mod arithmetic;
mod convert;
mod elementary;
mod fused;
mod lines;
mod normal;
mod pairs;
mod product;
mod reduce;
mod ring;
mod softmax;

pub use approximate::MARGIN;
pub use arithmetic::{
    Arithmetic, Comparison, Predicate, Unary, arithmetic_of_f32, arithmetic_of_f64, arithmetic_of_i32,
    arithmetic_of_i64, comparison_of_f32, comparison_of_f64, comparison_of_i32, comparison_of_i64, predicate_of_f32,
    unary_of_f32,
};
pub use convert::{narrow, rectify, widened};
pub use elementary::{Elementary, elementary_of_f32};
pub use lines::arithmetic_by_line;
pub use normal::Normalization;
pub use pairs::{Pairwise, pairwise_of_f32};
pub use product::{product_of_floats, product_of_ints, product_of_uints};
pub use reduce::{Reduction, place_of_f32, reduced_f32, reduced_f64, squares_of_f32, squares_of_f64};
pub use ring::{product_of_residues, product_of_sizes};
pub use softmax::{log_softmax_of_f32, softmax_of_f32};
