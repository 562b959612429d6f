//! Dimensions: evaluating `PrimExpr`s (chapter Structural Information) and proving them equal (chapter Proving
//! Shapes Equal).

pub mod alpha;
pub mod best_effort;
mod budget;
pub mod evaluate;
pub mod exhaustive;
mod linear;
pub mod normal_form;
pub mod polynomial;
pub mod prove;
mod quick;

pub use alpha::alpha_equal;
pub use best_effort::best_effort;
pub use evaluate::{dimension, evaluate};
pub use exhaustive::{Assignment, exact_value};
pub(crate) use prove::prove_equal_briefly;
pub use prove::{Reason, permitted_proofs, prove_equal, prove_equal_with_reason};
