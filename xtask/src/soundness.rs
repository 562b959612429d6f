//! Soundness of acceptance in a long run: `cargo xtask soundness 100000 [FIRST-SEED] [--edition 2024-04]` generates
//! programs about functions until that many are accepted without a warning and run. It reports the programs that
//! violate the result of their check.

use std::collections::BTreeMap;
use std::process::ExitCode;
use std::time::Instant;

use crate::arguments::RunArguments;
use campaign::generate::{Tape, module_of_functions};
use campaign::soundness::{SoundnessContexts, SoundnessTrial, program, try_program};
use relax_spec::book::{Edition, Rule};
use relax_spec::syntax::tvmscript::{Dialect, print_module};

/// Runs the task with the arguments after its name.
pub fn run(args: Vec<String>) -> ExitCode {
    let RunArguments { edition, numbers } = match RunArguments::read(args) {
        Ok(arguments) => arguments,
        Err(message) => {
            eprintln!("{message}");
            return ExitCode::from(2);
        }
    };
    let mut numbers = numbers.into_iter();
    let (wanted, first) = (numbers.next().unwrap_or(1_000), numbers.next().unwrap_or(0));
    let (show, by) = (numbers.next().unwrap_or(3), SoundnessContexts::of(edition));
    let (start, mut drawn, mut silent, mut warned, mut unheld, mut faults) =
        (Instant::now(), 0_u64, 0_u64, 0_u64, 0_u64, Vec::new());
    let mut rejected: BTreeMap<Rule, u64> = BTreeMap::new();
    while silent < wanted {
        let seed = first + drawn;
        drawn += 1;
        match try_program(&by, &program(edition, seed)) {
            SoundnessTrial::Rejected(rules) => {
                rules.first().into_iter().for_each(|rule| *rejected.entry(*rule).or_default() += 1)
            }
            SoundnessTrial::Unheld => unheld += 1,
            SoundnessTrial::Sound { warned: false } => silent += 1,
            SoundnessTrial::Sound { warned: true } => warned += 1,
            SoundnessTrial::Unsound(_) => {
                silent += 1;
                faults.push(seed);
            }
        }
    }
    for seed in faults.iter().take(usize::try_from(show).unwrap_or(3)) {
        tell(edition, *seed);
    }
    let seconds = start.elapsed().as_secs_f64();
    println!(
        "{drawn} programs of {edition}, accepted and run: {silent} without and {warned} with warnings, {} unsound",
        faults.len()
    );
    println!("{unheld} more are accepted with warnings of what no check looks at, and not held to anything");
    let mut reasons: Vec<(Rule, u64)> = rejected.into_iter().collect();
    reasons.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    let reasons: Vec<String> = reasons.iter().take(6).map(|(rule, count)| format!("{rule} {count}")).collect();
    println!("most of the others are rejected by {}", reasons.join(", "));
    println!("{:.0} programs run per second", (silent + warned) as f64 / seconds);
    if faults.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// Reports the smallest unsound program, with the reason.
fn tell(edition: Edition, seed: u64) {
    let by = SoundnessContexts::of(edition);
    let mut choices = Tape::from_seed(seed, 600).choices().to_vec();
    let unsound = |choices: &[u32]| {
        let module = module_of_functions(edition, &mut Tape::from_choices(choices.to_vec()));
        matches!(try_program(&by, &module), SoundnessTrial::Unsound(_))
    };
    let mut length = choices.len();
    while length > 0 {
        let mut at = 0;
        while at < choices.len() {
            let end = (at + length).min(choices.len());
            let mut fewer = choices.clone();
            fewer.drain(at..end);
            let mut simpler = choices.clone();
            simpler[at..end].fill(0);
            if unsound(&fewer) {
                choices = fewer;
            } else {
                if simpler != choices && unsound(&simpler) {
                    choices = simpler;
                }
                at = end;
            }
        }
        length /= 2;
    }
    let module = module_of_functions(edition, &mut Tape::from_choices(choices));
    println!("seed {seed}: {}", print_module(&module, Dialect::default()));
    if let SoundnessTrial::Unsound(fault) = try_program(&by, &module) {
        println!("{fault}\n");
    }
}
