//! A campaign: programs one after the other, by several workers, each with an implementation of its own.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

use super::asking::Worker;
use super::before::Remembering;
use super::inputs::{Domain, inputs};
use super::judge::judge;
use super::judged::{Asked, Judged};
use super::path::Path;
use super::settings::{CampaignError, Settings, dialect_of, says_values};
use super::steering::Steering;
use super::store::Store;
use super::tally::Tally;
use super::turns::Turns;
use crate::programs::{Restriction, Seeds, Source};
use ask::implementation::Implementation;
use ask::process::Interrupt;
use ask::worker::StartError;
use relax_spec::book::Edition;
use relax_spec::grammar::{IrModule, Name};
use relax_spec::judge::Cx;
use relax_spec::suite::Case;
use relax_spec::value::ValueSpec;

/// How a campaign went.
#[derive(Clone, Debug, Default)]
pub struct Campaign {
    /// What was done.
    pub tally: Tally,
    /// Whether it was interrupted.
    pub interrupted: bool,
    /// The edition by which programs were typed and answers judged.
    pub edition: Edition,
}

/// One process more, for a worker.
pub type Start<'a> = &'a (dyn Fn() -> Result<Box<dyn Implementation + Send>, StartError> + Sync);

/// Asks about programs until the time is up; each finding is in the store as soon as it is reduced. `progress` is told of each program.
///
/// # Errors
///
/// See [`CampaignError`]. What was found until then is in the store.
pub fn campaign(
    suite: &[Case],
    restriction: &Restriction,
    settings: &Settings,
    start: Start<'_>,
    store: &Mutex<Store>,
    interrupt: &Interrupt,
    progress: &(dyn Fn() + Sync),
) -> Result<Campaign, CampaignError> {
    let first = store.lock().unwrap_or_else(PoisonError::into_inner).next();
    let end = settings.programs.map(|programs| first.saturating_add(programs));
    let deadline = settings.time.map(|time| Instant::now() + time);
    let (turns, steering) = (Turns::new(first, end), Steering::new(first));
    let work = || -> Result<(Tally, Edition), CampaignError> {
        let begun = Instant::now();
        let implementation = Remembering::new(start()?);
        // Programs are typed by the edition that judges. Their calls hold values, which stay with one thread.
        let values = restriction.values && says_values(&implementation);
        let edition = implementation.edition();
        let source = Source::of(suite, Restriction { values, edition, ..restriction.clone() });
        let seeds = settings.seeds.then(|| Seeds::of(suite));
        let (tally, found) = (Tally::default(), Vec::new());
        let mut worker =
            Worker { source: &source, steering: &steering, seeds, settings, implementation, store, tally, found };
        let outcome = worker.work(&turns, deadline, interrupt, progress);
        worker.tally.time = (begun.elapsed(), worker.implementation.waited);
        outcome.map(|()| (worker.tally, source.edition()))
    };
    let outcomes: Vec<Result<(Tally, Edition), CampaignError>> = std::thread::scope(|scope| {
        let workers: Vec<_> = (0..settings.jobs.max(1)).map(|_| scope.spawn(work)).collect();
        workers.into_iter().filter_map(|worker| worker.join().ok()).collect()
    });
    let mut campaign = Campaign { interrupted: interrupt.is_raised(), ..Campaign::default() };
    for outcome in outcomes {
        let (tally, edition) = outcome?;
        campaign.tally.add(tally);
        campaign.edition = edition;
    }
    Ok(campaign)
}

/// All questions about one program, each with what becomes of it.
///
/// # Errors
///
/// If nobody can be asked.
pub fn diff(
    implementation: &mut dyn Implementation,
    asked: Asked<'_>,
    paths: &[Path],
) -> Result<Vec<(Path, Judged)>, StartError> {
    let dialect = dialect_of(implementation);
    let mut told = Vec::new();
    for path in paths {
        let ask = path.ask(asked.edition, asked.module, asked.entry, asked.inputs, dialect);
        let outcome = implementation.ask(asked.edition, &ask)?;
        told.push((path.clone(), judge(asked, path, &outcome)));
    }
    Ok(told)
}

/// The inputs on which a given program is compared.
pub fn inputs_of(edition: Edition, module: &IrModule, entry: &Name, runs: usize) -> Vec<Vec<ValueSpec>> {
    inputs(&mut Cx::new().with_edition(edition), module, entry, &BTreeMap::new(), runs, Domain::Wide)
}
