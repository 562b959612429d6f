//! Differential campaigns of whole programs: each goes through an implementation along several paths, and what comes out of each
//! is held against the program itself.

mod again;
mod asking;
mod before;
mod campaign;
mod carried;
mod fewer;
mod inputs;
mod judge;
mod judged;
mod keeping;
mod left_out;
mod path;
mod promoted;
mod reduce;
mod reduced;
mod settings;
mod signature;
mod sizes;
mod spelt;
mod steering;
mod store;
mod tally;
mod told;
mod turns;

pub use again::{Kept, KeptError, reduced_further, still_shows};
pub use campaign::{Campaign, campaign, diff, inputs_of};
pub use inputs::{Ended, at_example_sizes, at_example_sizes_by};
pub use judge::judge;
pub use judged::{Asked, Difference, Judged, Shown, names_rules};
pub use path::{Path, Paths};
pub use promoted::{PromoteError, UNDERIVED, promoted};
pub use reduce::Reducer;
pub use reduced::{bindings, candidates, operators};
pub use settings::{CampaignError, Settings};
pub use signature::{Kind, KnownForm, Seen, Signature, Trait};
pub use steering::RulePairs;
pub use store::{Finding, Store, StoreError, read_findings, write_finding};
pub use tally::{Coverage, Tally};
