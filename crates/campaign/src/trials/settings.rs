//! How a campaign goes, and why it may not.

use std::time::Duration;

use super::path::Paths;
use super::signature::KnownForm;
use super::store::StoreError;
use ask::worker::StartError;

/// What a campaign does, and when it ends.
#[derive(Clone, Debug)]
pub struct CampaignSettings {
    /// Which programs there are.
    pub seed: u64,
    /// How many are asked about; as many as there is time for if it is not said.
    pub programs: Option<u64>,
    /// After how long no further one is begun.
    pub time: Option<Duration>,
    /// How many workers there are.
    pub jobs: usize,
    /// The paths of each program.
    pub paths: Paths,
    /// On how many inputs each is run.
    pub runs: usize,
    /// How many questions may be asked to reduce a finding.
    pub budget: usize,
    /// What is known.
    pub known: Vec<KnownForm>,
    /// Whether every second program is a text of the suite, mostly with something changed.
    pub seeds: bool,
}

/// Why a campaign ends before its time.
#[derive(Debug, thiserror::Error)]
pub enum CampaignError {
    /// Nobody can be asked.
    #[error(transparent)]
    Start(#[from] StartError),
    /// Findings cannot be kept.
    #[error(transparent)]
    Store(#[from] StoreError),
}
