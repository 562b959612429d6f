//! Checks that inference about operators agrees with their results: `cargo xtask operator-soundness 100000
//! [FIRST-SEED]`. It generates that many calls, each of the operator with the fewest results so far, and reports the
//! calls whose result contradicts the inferred information.

use std::collections::BTreeSet;
use std::process::ExitCode;
use std::time::Instant;

use crate::arguments::SuiteSample;
use campaign::operator_soundness::OperatorTemplates;
use relax_spec::ops;

/// In a run of 100,000 calls, each operator gives at least this many results.
const ENOUGH: u64 = 200;

/// Runs the task with the arguments after its name.
pub fn run(args: Vec<String>) -> ExitCode {
    let Some(SuiteSample { suite, seeds }) = SuiteSample::read(args) else { return ExitCode::FAILURE };
    let calls = seeds.end - seeds.start;
    let start = Instant::now();
    let operators = OperatorTemplates::of(&suite);
    let report = operators.try_all(seeds);
    let mut told = BTreeSet::new();
    for (seed, call, fault) in &report.faults {
        // The first of each operator.
        if told.insert(call.split(' ').next()) {
            println!("seed {seed}: {call}: {fault}");
        }
    }
    let excluded: Vec<&str> = ops::all().filter(|op| op.excluded.is_some()).map(|op| op.name).collect();
    let values: u64 = report.tallies.values().map(|tally| tally.values).sum();
    let few: Vec<String> = report
        .tallies
        .iter()
        .filter(|(_, tally)| tally.values < ENOUGH.min(calls / 500))
        .map(|(name, tally)| format!("{name} {}/{}", tally.values, tally.calls))
        .collect();
    println!(
        "{calls} calls of {} operators, {values} with a value, of each at least {}, {} at fault",
        report.tallies.len(),
        report.tallies.values().map(|tally| tally.values).min().unwrap_or(0),
        report.faults.len()
    );
    println!("too few with a value: {few:?}");
    println!("not evaluated here, and so not asked: {excluded:?}");
    println!("{:.0} calls per second", calls as f64 / start.elapsed().as_secs_f64());
    if report.faults.is_empty() && few.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
