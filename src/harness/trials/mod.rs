//! Differential campaigns of whole programs: each goes through an implementation along several paths, and what comes out of each
//! is held against the program itself.

mod campaign;
mod inputs;
mod judge;
mod path;
mod reduce;
mod reduced;
mod signature;
mod store;
mod tally;

pub use campaign::{Campaign, CampaignError, Settings, campaign, diff, inputs_of};
pub use inputs::{Ended, at_example_sizes};
pub use judge::{Asked, Difference, Judged, judge};
pub use path::{Path, Paths};
pub use reduce::{Reducer, Shown};
pub use reduced::{bindings, operators};
pub use signature::{Kind, KnownForm, Signature};
pub use store::{Finding, Store, StoreError};
pub use tally::{Coverage, Tally};
