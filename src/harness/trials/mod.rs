//! Differential campaigns of whole programs: each goes through an implementation along several paths, and what comes out of each
//! is held against the program itself.

mod again;
mod campaign;
mod inputs;
mod judge;
mod judged;
mod path;
mod promoted;
mod reduce;
mod reduced;
mod signature;
mod store;
mod tally;
mod told;

pub use again::{Kept, KeptError, still_shows};
pub use campaign::{Campaign, CampaignError, Settings, campaign, diff, inputs_of};
pub use inputs::{Ended, at_example_sizes};
pub use judge::judge;
pub use judged::{Asked, Difference, Judged, names_rules};
pub use path::{Path, Paths};
pub use promoted::{PromoteError, UNDERIVED, promoted};
pub use reduce::{Reducer, Shown};
pub use reduced::{bindings, candidates, operators};
pub use signature::{Kind, KnownForm, Signature};
pub use store::{Finding, Store, StoreError, read_findings};
pub use tally::{Coverage, Tally};
