//! A finding that was kept, asked about again.

use std::collections::BTreeMap;

use serde_json::Value;

use super::campaign::inputs_of;
use super::judge::judge;
use super::judged::{ProgramQuestion, TrialDifference, TrialVerdict, WitnessProgram, names_rules};
use super::path::Path;
use super::reduce::Reducer;
use super::reduced::{bindings, held, operators};
use super::settings::dialect_of;
use super::signature::FailureSignature;
use super::store::Finding;
use ask::implementation::Implementation;
use ask::protocol::{from_data, parse_json};
use ask::worker::StartError;
use relax_spec::book::Edition;
use relax_spec::data::json::to_value;
use relax_spec::grammar::{IrModule, Name};
use relax_spec::syntax::tvmscript::print_module;
use relax_spec::value::ValueSpec;

/// On how many inputs it is run beside its own.
const RUNS: usize = 2;

/// What a finding is about, read.
#[derive(Clone, PartialEq, Debug)]
pub struct StoredFinding {
    /// The program.
    pub module: IrModule,
    /// The function that is started.
    pub entry: Name,
    /// What it is started on, if it was run.
    pub input: Option<Vec<ValueSpec>>,
    /// By which paths it was seen.
    pub paths: Vec<Path>,
}

/// Why a file cannot be asked about again.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum KeptError {
    /// Its program or its input cannot be read.
    #[error("the {part} cannot be read: {message}")]
    Part {
        /// Which of them.
        part: &'static str,
        /// What is wrong.
        message: String,
    },
    /// It was seen by no path that is known here.
    #[error("it names no path that there is")]
    Paths,
}

impl StoredFinding {
    /// What a finding is about.
    ///
    /// # Errors
    ///
    /// See [`KeptError`].
    pub fn of(finding: &Finding) -> Result<StoredFinding, KeptError> {
        let part = |part, message: String| KeptError::Part { part, message };
        let module = parse_json(&finding.module.to_string()).and_then(|data| from_data(&data));
        let input = match finding.input.is_null() {
            true => Ok(None),
            false => parse_json(&finding.input.to_string()).and_then(|data| from_data(&data)).map(Some),
        };
        let paths: Vec<Path> = finding.paths.iter().filter_map(|name| Path::named(name)).collect();
        if paths.is_empty() {
            return Err(KeptError::Paths);
        }
        Ok(StoredFinding {
            module: module.map_err(|error| part("program", error.to_string()))?,
            entry: finding.entry.as_str().into(),
            input: input.map_err(|error| part("input", error.to_string()))?,
            paths,
        })
    }

    /// What it is run on: its own input at the beginning, and at the end, when others have left behind what they leave.
    pub fn inputs(&self, edition: Edition) -> Vec<Vec<ValueSpec>> {
        let own = || self.input.iter().cloned();
        own().chain(inputs_of(edition, &self.module, &self.entry, RUNS)).chain(own()).collect()
    }
}

/// The finding with the smallest program that is found by so many questions, and the simplest input; none if it does not show any more.
///
/// # Errors
///
/// If nobody can be asked.
pub fn reduced_further(
    implementation: &mut dyn Implementation,
    finding: &Finding,
    kept: &StoredFinding,
    budget: usize,
) -> Result<Option<Finding>, StartError> {
    let Some((path, difference)) = still_shows(implementation, finding, kept)? else { return Ok(None) };
    let (module, entry) = (kept.module.clone(), kept.entry.clone());
    let shown = WitnessProgram { module, entry, sizes: BTreeMap::new(), difference };
    let smallest = Reducer::new(implementation, &path, budget).reduce(None, shown)?;
    let called = operators(&smallest.module);
    // Of a signature that tells causes apart by itself the operators are none.
    let named = if finding.signature.operators.is_empty() { Vec::new() } else { called.clone() };
    let of_path = finding.traits.iter().filter(|own| own.is_of_path()).copied();
    Ok(Some(Finding {
        signature: FailureSignature { operators: named, ..finding.signature.clone() },
        message: smallest.difference.message,
        expected: smallest.difference.expected,
        given: smallest.difference.given,
        program: print_module(&smallest.module, dialect_of(implementation)),
        module: to_value(&smallest.module),
        input: smallest.difference.input.as_ref().map_or(Value::Null, to_value),
        bindings: bindings(&smallest.module),
        operators: called,
        traits: held(&smallest.module, smallest.difference.input.as_deref()).into_iter().chain(of_path).collect(),
        ..finding.clone()
    }))
}

/// The difference, if an implementation shows it still by one of the paths.
///
/// # Errors
///
/// If nobody can be asked.
pub fn still_shows(
    implementation: &mut dyn Implementation,
    finding: &Finding,
    kept: &StoredFinding,
) -> Result<Option<(Path, TrialDifference)>, StartError> {
    let (dialect, edition) = (dialect_of(implementation), implementation.edition());
    let inputs = kept.inputs(edition);
    let names_rules = names_rules(implementation);
    let asked = ProgramQuestion { module: &kept.module, entry: &kept.entry, inputs: &inputs, names_rules, edition };
    for path in &kept.paths {
        let ask = path.ask(edition, &kept.module, &kept.entry, &inputs, dialect);
        let outcome = implementation.ask(edition, &ask)?;
        if let TrialVerdict::Differs(found) = judge(asked, path, &outcome)
            && found.signature.is_like(&finding.signature)
        {
            return Ok(Some((path.clone(), *found)));
        }
    }
    Ok(None)
}
