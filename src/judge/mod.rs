//! What every judgement takes and gives: the context that records the use of rules, derivation trees, and verdicts.

mod cx;
mod derivation;
mod stack;
mod verdict;

pub use cx::{
    Check, Condition, Cx, Every, GlbPurity, Instead, LazyRow, Mistake, Open, Prover, Row, RowMutant, RowsLookedAt,
    Stuck,
};
pub use derivation::{Conclusion, Derivation, Step};
pub use stack::with_stack;
pub use verdict::{BestEffort, Compatibility, Ending, Proof, RuntimeError};
