//! What every judgement takes and gives: the context that records the use of rules, derivation trees, and verdicts.

mod cx;
mod derivation;
mod forms;
mod instead;
mod memo;
mod once;
mod stack;
mod verdict;
mod watch;

pub use cx::{Cx, GlbPurity, Prover, Stuck};
pub use derivation::{Conclusion, Derivation, Step};
pub use forms::{Check, Condition, Conditions, Every, Instead, Plain, Premise, Row, Rows};
pub use memo::{Asked, Fields, Inputs, Memo, State, address};
pub use once::{Once, Places, Seen, is_new, is_shared, place};
pub use stack::with_stack;
pub use verdict::{BestEffort, Compatibility, Ending, Proof, RuntimeError};
pub use watch::{Fuel, Made, Mistake, RowMutant, RowsLookedAt};
