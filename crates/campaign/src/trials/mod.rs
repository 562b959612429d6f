//! Differential campaigns of whole programs. Each program goes through an implementation along several paths, and the
//! result of each path is compared with the program itself.

mod bisect;
mod campaign;
mod carry;
mod choice;
mod compare;
mod inputs;
mod judge;
mod merge;
mod path;
mod promote;
mod record;
mod reducer;
mod replay;
mod settings;
mod signature;
mod spell;
mod store;
mod tally;
mod traits;
mod triage;
mod turns;
mod verdict;
mod witness;
mod worker;

pub use crate::shrink::bindings;
pub use campaign::{ProgramCampaign, campaign, diff, inputs_of};
pub use choice::RulePairs;
pub use inputs::{ExampleRun, at_example_sizes};
pub use judge::judge;
pub use merge::{merge, record};
pub use path::{Path, Paths};
pub use promote::{PromoteError, UNDERIVED, promoted};
pub use reducer::Reducer;
pub use replay::{KeptError, StoredFinding, reduced_further, still_shows};
pub use settings::{CampaignError, CampaignSettings};
pub use signature::{FailureKind, FailureSignature, FindingContext, KnownForm};
pub use store::{Finding, FindingStore, StoreError, read_findings, write_finding};
pub use tally::{CampaignTally, Coverage};
pub use traits::{Trait, operators};
pub use triage::known_form;
pub use verdict::{ProgramQuestion, TrialDifference, TrialVerdict};
pub use witness::Witness;
