//! The defects in `conformance/findings/`: the oracle gives the answer that each case expects.

use std::fs;
use std::path::{Path, PathBuf};

use ask::conformance;
use relax_spec::book::{Edition, RuleSet};
use relax_spec::suite::compare::CaseVerdict;
use relax_spec::suite::coverage::execute;
use relax_spec::suite::{Case, read_cases};

/// The files `case.ron`, one for each folder.
fn files() -> Vec<PathBuf> {
    let folders = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../..")).join("conformance/findings");
    let entries = fs::read_dir(&folders).unwrap_or_else(|error| panic!("{}: {error}", folders.display()));
    let mut found: Vec<PathBuf> = entries.map(|entry| entry.expect("an entry").path().join("case.ron")).collect();
    found.sort();
    found
}

/// The fault of a case.
fn complaint(case: &Case) -> Option<String> {
    let execution = execute(case, Edition::default(), RuleSet::new());
    match execution.comparison.verdict {
        CaseVerdict::Agree => None,
        verdict => Some(format!("{verdict}: {}", execution.comparison.why.unwrap_or_default())),
    }
}

/// The fault of a file. It must name a case of the suite, or contain cases that the oracle answers as expected.
fn fault(text: &str, suite: &[Case]) -> Option<String> {
    if let Some(id) = text.trim().strip_prefix('"').and_then(|rest| rest.strip_suffix('"')) {
        return (!suite.iter().any(|case| case.id == id)).then(|| format!("the suite has no case {id}"));
    }
    match read_cases("case.ron", text) {
        Ok(cases) => cases.iter().find_map(complaint),
        Err(error) => Some(error.to_string()),
    }
}

#[test]
fn the_oracle_answers_the_case_of_each_finding() {
    let suite = conformance::suite().unwrap_or_else(|error| panic!("{error}"));
    let faults: Vec<String> = files()
        .iter()
        .filter_map(|file| {
            let text = fs::read_to_string(file).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
            fault(&text, &suite).map(|fault| format!("{}: {fault}", file.display()))
        })
        .collect();
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}
