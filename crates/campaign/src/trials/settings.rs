//! The settings of a campaign, and why it may fail.

use std::time::Duration;

use super::path::Paths;
use super::signature::KnownForm;
use super::store::StoreError;
use ask::worker::StartError;

/// What a campaign does, and when it ends.
#[derive(Clone, Debug)]
pub struct CampaignSettings {
    /// Determines the programs.
    pub seed: u64,
    /// How many programs are asked about; without it, as many as the time allows.
    pub programs: Option<u64>,
    /// The time after which no further program is begun.
    pub time: Option<Duration>,
    /// The number of workers.
    pub jobs: usize,
    /// The paths of each program.
    pub paths: Paths,
    /// The number of inputs on which each program is run.
    pub runs: usize,
    /// How many questions may be asked to reduce a finding.
    pub budget: usize,
    /// The known forms of findings.
    pub known: Vec<KnownForm>,
    /// Whether every second program is a text of the suite, mostly with something changed.
    pub seeds: bool,
}

/// Why a campaign ends early.
#[derive(Debug, thiserror::Error)]
pub enum CampaignError {
    /// The implementation cannot be asked.
    #[error(transparent)]
    Start(#[from] StartError),
    /// The findings cannot be stored.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// What other processes have recorded cannot be merged.
    #[error("line {at} of the records: {message}")]
    Record {
        /// The number of the line.
        at: usize,
        /// What is wrong.
        message: String,
    },
}
