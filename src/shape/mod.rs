//! Dimensions: evaluating `PrimExpr`s (chapter Structural Information) and proving them equal (chapter Proving
//! Shapes Equal).

pub mod alpha;
pub mod evaluate;
pub mod prove;

pub use alpha::alpha_equal;
pub use evaluate::evaluate;
pub use prove::{Reason, prove_equal, prove_equal_with_reason};
