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

pub use again::{KeptError, StoredFinding, reduced_further, still_shows};
pub use campaign::{ProgramCampaign, campaign, diff, inputs_of};
pub use inputs::{ExampleRun, at_example_sizes, at_example_sizes_by};
pub use judge::judge;
pub use judged::{ProgramQuestion, TrialDifference, TrialVerdict, WitnessProgram, names_rules};
pub use keeping::known_form;
pub use path::{Path, Paths};
pub use promoted::{PromoteError, UNDERIVED, promoted};
pub use reduce::Reducer;
pub use reduced::{bindings, candidates, operators};
pub use settings::{CampaignError, CampaignSettings};
pub use signature::{FailureKind, FailureSignature, FindingContext, KnownForm, Trait};
pub use steering::RulePairs;
pub use store::{Finding, FindingStore, StoreError, read_findings, write_finding};
pub use tally::{CampaignTally, Coverage};
