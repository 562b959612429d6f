//! A campaign: several workers, each with its own implementation, go through programs one after the other.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

use super::bisect::Remembering;
use super::choice::ProgramChoice;
use super::inputs::{ArgumentDomain, inputs};
use super::path::Path;
use super::settings::{CampaignError, CampaignSettings};
use super::store::FindingStore;
use super::tally::CampaignTally;
use super::turns::Turns;
use super::verdict::{ProgramQuestion, TrialVerdict};
use super::worker::CampaignWorker;
use crate::programs::Restriction;
use ask::implementation::Implementation;
use ask::process::Interrupt;
use ask::runner::ImplementationFactory;
use ask::worker::StartError;
use relax_spec::book::Edition;
use relax_spec::grammar::{IrModule, Name};
use relax_spec::judge::Cx;
use relax_spec::suite::Case;
use relax_spec::value::ValueSpec;

/// How a campaign went.
#[derive(Clone, Debug, Default)]
pub struct ProgramCampaign {
    /// How much was done.
    pub tally: CampaignTally,
    /// Whether it was interrupted.
    pub interrupted: bool,
    /// The edition by which programs were typed and answers judged.
    pub edition: Edition,
    /// The first program that is not merged, although a later one is, or more were expected.
    pub missing: Option<u64>,
}

/// Asks about programs until the time is up; each finding is in the store as soon as it is reduced.
/// `progress` is told of each program.
/// What was found until an error is in the store.
pub fn campaign(
    suite: &[Case],
    restriction: &Restriction,
    settings: &CampaignSettings,
    start: ImplementationFactory<'_>,
    store: &Mutex<FindingStore>,
    interrupt: &Interrupt,
    progress: &(dyn Fn() + Sync),
) -> Result<ProgramCampaign, CampaignError> {
    let first = store.lock().unwrap_or_else(PoisonError::into_inner).next();
    let end = settings.programs.map(|programs| first.saturating_add(programs));
    let deadline = settings.time.map(|time| Instant::now() + time);
    let (turns, choice) = (Turns::new(first, end), ProgramChoice::new());
    let work = || -> Result<(CampaignTally, Edition), CampaignError> {
        let begun = Instant::now();
        // Its source holds values, which cannot leave their thread.
        let implementation = Remembering::new(start()?);
        let mut worker = CampaignWorker::new((suite, restriction, settings), &choice, store, implementation);
        let outcome = worker.work(&turns, deadline, interrupt, progress);
        worker.tally.time = (begun.elapsed(), worker.implementation.waited);
        outcome.map(|()| (worker.tally, worker.source.edition()))
    };
    let outcomes: Vec<Result<(CampaignTally, Edition), CampaignError>> = std::thread::scope(|scope| {
        let workers: Vec<_> = (0..settings.jobs.max(1)).map(|_| scope.spawn(work)).collect();
        workers.into_iter().filter_map(|worker| worker.join().ok()).collect()
    });
    let mut campaign = ProgramCampaign { interrupted: interrupt.is_raised(), ..ProgramCampaign::default() };
    for outcome in outcomes {
        let (tally, edition) = outcome?;
        campaign.tally.add(tally);
        campaign.edition = edition;
    }
    Ok(campaign)
}

/// All questions about one program, each with its verdict.
pub fn diff(
    implementation: &mut dyn Implementation,
    asked: ProgramQuestion<'_>,
    paths: &[Path],
) -> Result<Vec<(Path, TrialVerdict)>, StartError> {
    let by = |path: &Path| Ok((path.clone(), asked.put(implementation, path)?.1));
    paths.iter().map(by).collect()
}

/// The inputs on which a given program is compared.
pub fn inputs_of(edition: Edition, module: &IrModule, entry: &Name, runs: usize) -> Vec<Vec<ValueSpec>> {
    inputs(&mut Cx::new().with_edition(edition), module, entry, &BTreeMap::new(), runs, ArgumentDomain::Wide)
}
