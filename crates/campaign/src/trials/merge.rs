//! A campaign of several processes: each records what programs show, and one merges the records.

use std::collections::BTreeMap;
use std::io;
use std::sync::{Mutex, PoisonError};

use super::bisect::Remembering;
use super::campaign::ProgramCampaign;
use super::choice::ProgramChoice;
use super::record::{TrialRecord, options_of};
use super::settings::CampaignError;
use super::store::FindingStore;
use super::worker::{CampaignPlan, CampaignWorker};
use ask::process::Interrupt;
use ask::runner::ImplementationFactory;
use ask::worker::StartError;

/// Asks about the programs with these numbers, and tells a line for each. Nothing is reduced or stored.
///
/// # Errors
///
/// The implementation cannot be asked, the interrupt was raised, or `tell` fails.
pub fn record(
    plan: CampaignPlan<'_>,
    start: ImplementationFactory<'_>,
    interrupt: &Interrupt,
    numbers: impl IntoIterator<Item = u64>,
    mut tell: impl FnMut(String) -> io::Result<()>,
) -> Result<(), CampaignError> {
    let (store, choice) = (Mutex::new(FindingStore::in_memory()), ProgramChoice::new());
    let mut worker = CampaignWorker::new(plan, &choice, &store, Remembering::new(start()?));
    let options = options_of(&worker.source, plan.2);
    for (at, number) in numbers.into_iter().enumerate() {
        if interrupt.is_raised() {
            return Err(StartError::Interrupted.into());
        }
        let line = worker.record(number, &options)?.line();
        tell(line).map_err(|error| CampaignError::Record { at: at + 1, message: error.to_string() })?;
    }
    Ok(())
}

/// Handles the differences in the records of programs, in the order of the programs, as the campaign of one process
/// does. The lines come in any order; the first of each number counts. The campaign ends before the first number that
/// has none.
///
/// # Errors
///
/// A line is no record or was asked with other options, the implementation cannot be asked, or a finding cannot be
/// stored. What was found until then is in the store.
pub fn merge(
    plan: CampaignPlan<'_>,
    start: ImplementationFactory<'_>,
    store: &Mutex<FindingStore>,
    interrupt: &Interrupt,
    lines: impl IntoIterator<Item = io::Result<String>>,
    progress: &dyn Fn(),
) -> Result<ProgramCampaign, CampaignError> {
    let settings = plan.2;
    let first = store.lock().unwrap_or_else(PoisonError::into_inner).next();
    let end = settings.programs.map(|programs| first.saturating_add(programs));
    let choice = ProgramChoice::new();
    let mut worker = CampaignWorker::new(plan, &choice, store, Remembering::new(start()?));
    let options = options_of(&worker.source, settings);
    let (mut waiting, mut next) = (BTreeMap::new(), first);
    for (at, line) in lines.into_iter().enumerate() {
        if interrupt.is_raised() {
            break;
        }
        let wrong = |message: String| CampaignError::Record { at: at + 1, message };
        let record = line.map_err(|error| error.to_string()).and_then(|line| TrialRecord::parse(&line));
        let record = record.map_err(wrong)?;
        if record.options != options {
            return Err(wrong(format!("program {} was asked about with other options", record.number)));
        }
        let is_wanted = record.number >= next && end.is_none_or(|end| record.number < end);
        if is_wanted {
            waiting.entry(record.number).or_insert(record);
        }
        while let Some(mut record) = waiting.remove(&next) {
            for queued in record.differences(settings.seed, &worker.source).map_err(wrong)? {
                worker.keep(queued, interrupt.is_raised())?;
            }
            worker.tally.add(record.tally);
            next += 1;
            store.lock().unwrap_or_else(PoisonError::into_inner).done(settings.seed, next)?;
            progress();
        }
    }
    let is_short = !waiting.is_empty() || end.is_some_and(|end| next < end);
    Ok(ProgramCampaign {
        interrupted: interrupt.is_raised(),
        edition: worker.source.edition(),
        missing: is_short.then_some(next),
        tally: worker.tally,
    })
}
