//! A stored finding, to be asked about again.

use super::campaign::inputs_of;
use super::path::Path;
use super::reducer::Reducer;
use super::signature::FailureSignature;
use super::spell::dialect_of;
use super::store::Finding;
use super::verdict::{ProgramQuestion, TrialDifference, TrialVerdict};
use super::witness::Witness;
use ask::implementation::Implementation;
use ask::protocol::{from_data, parse_json};
use ask::worker::StartError;
use relax_spec::book::Edition;
use relax_spec::grammar::{IrModule, Name};
use relax_spec::value::ValueSpec;

/// How many inputs it is run on in addition to its own.
const RUNS: usize = 2;

/// The program, input and paths of a finding, read from its file.
#[derive(Clone, PartialEq, Debug)]
pub struct StoredFinding {
    /// The program.
    pub module: IrModule,
    /// The function that is run.
    pub entry: Name,
    /// The input, if the program was run.
    pub input: Option<Vec<ValueSpec>>,
    /// The paths on which it was found.
    pub paths: Vec<Path>,
}

/// Why a stored finding cannot be asked about again.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum KeptError {
    /// The program or the input cannot be read.
    #[error("the {part} cannot be read: {message}")]
    Part {
        /// Which of them cannot be read.
        part: &'static str,
        /// What is wrong.
        message: String,
    },
    /// None of its paths is known here.
    #[error("it names no path that there is")]
    Paths,
}

impl StoredFinding {
    /// Reads the parts of a finding.
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

    /// The inputs of a run. Its own input comes first and also last, after the other inputs may have left state behind.
    pub fn inputs(&self, edition: Edition) -> Vec<Vec<ValueSpec>> {
        let own = || self.input.iter().cloned();
        own().chain(inputs_of(edition, &self.module, &self.entry, RUNS)).chain(own()).collect()
    }
}

/// The finding with the smallest program and the simplest input that a budget of questions gives. None if the
/// difference no longer occurs.
pub fn reduced_further(
    implementation: &mut dyn Implementation,
    finding: &Finding,
    kept: &StoredFinding,
    budget: usize,
) -> Result<Option<Finding>, StartError> {
    let Some((path, difference)) = still_shows(implementation, finding, kept)? else { return Ok(None) };
    let edition = implementation.edition();
    let mut witness = Witness::new(edition, kept.module.clone(), kept.entry.clone(), path, difference);
    Reducer::new(implementation, budget).reduce(&mut witness)?;
    let new = Finding::of(&witness, dialect_of(implementation));
    // A signature that distinguishes causes without operators lists none.
    let operators = if finding.signature.operators.is_empty() { Vec::new() } else { new.operators.clone() };
    let paths = finding.paths.union(&new.paths).cloned().collect();
    Ok(Some(Finding {
        signature: FailureSignature { operators, ..finding.signature.clone() },
        paths,
        message: new.message,
        expected: new.expected,
        given: new.given,
        program: new.program,
        module: new.module,
        input: new.input,
        bindings: new.bindings,
        operators: new.operators,
        traits: new.traits,
        attributes: new.attributes,
        ..finding.clone()
    }))
}

/// The difference, if an implementation still shows it on one of the paths.
pub fn still_shows(
    implementation: &mut dyn Implementation,
    finding: &Finding,
    kept: &StoredFinding,
) -> Result<Option<(Path, TrialDifference)>, StartError> {
    let inputs = kept.inputs(implementation.edition());
    let asked = ProgramQuestion::of(implementation, &kept.module, &kept.entry, &inputs);
    for path in &kept.paths {
        if let (_, TrialVerdict::Differs(found)) = asked.put(implementation, path)?
            && found.signature.is_like(&finding.signature)
        {
            return Ok(Some((path.clone(), *found)));
        }
    }
    Ok(None)
}
