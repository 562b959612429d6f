//! The input and output of every judgement: the context that records the use of rules, derivation trees, and verdicts.

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
pub use derivation::{Conclusion, Derivation, DerivationStep};
pub use forms::{
    Condition, Conditions, DefinitionRow, Every, Instead, PlainCondition, Premise, ReportedCondition, Rows,
};
pub use memo::{JudgementInputs, Memo, MemoQuery, ScopeVersion, TreeFields, address};
pub use once::{Once, SmallSet, VisitedTuples, is_new, is_shared, place};
pub use stack::with_stack;
pub use verdict::{BestEffort, Compatibility, Ending, Proof, RuntimeError};
pub use watch::{Fuel, MaskedFreshness, Mistake, RowMutant, RowsLookedAt};
