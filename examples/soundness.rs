//! Soundness of acceptance in the long run: `cargo run --release --example soundness -- 100000 [FIRST-SEED]` draws programs
//! about functions until so many are accepted without a warning and run, and tells which betray their checks.

use std::process::ExitCode;
use std::time::Instant;

use relax_spec::generate::{Tape, module_of_functions};
use relax_spec::harness::soundness::{By, Trial, program, try_program};
use relax_spec::syntax::tvmscript::{Dialect, print_module};

fn main() -> ExitCode {
    let mut args = std::env::args().skip(1).map(|arg| arg.parse::<u64>());
    let wanted = args.next().and_then(Result::ok).unwrap_or(1_000);
    let first = args.next().and_then(Result::ok).unwrap_or(0);
    let show = args.next().and_then(Result::ok).unwrap_or(3);
    let (start, mut drawn, mut silent, mut warned, mut unheld, mut faults) =
        (Instant::now(), 0_u64, 0_u64, 0_u64, 0_u64, Vec::new());
    while silent < wanted {
        let seed = first + drawn;
        drawn += 1;
        match try_program(&By::default(), &program(seed)) {
            Trial::Rejected => {}
            Trial::Unheld => unheld += 1,
            Trial::Sound { warned: false } => silent += 1,
            Trial::Sound { warned: true } => warned += 1,
            Trial::Unsound(_) => {
                silent += 1;
                faults.push(seed);
            }
        }
    }
    for seed in faults.iter().take(usize::try_from(show).unwrap_or(3)) {
        tell(*seed);
    }
    let seconds = start.elapsed().as_secs_f64();
    println!(
        "{drawn} programs, accepted and run: {silent} without and {warned} with warnings, {} unsound",
        faults.len()
    );
    println!("{unheld} more are accepted with warnings of what no check looks at, and not held to anything");
    println!("{:.0} programs run per second", (silent + warned) as f64 / seconds);
    if faults.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// The smallest program found that is unsound, and why.
fn tell(seed: u64) {
    let mut choices = Tape::from_seed(seed, 600).choices().to_vec();
    let unsound = |choices: &[u32]| {
        let module = module_of_functions(&mut Tape::from_choices(choices.to_vec()));
        matches!(try_program(&By::default(), &module), Trial::Unsound(_))
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
    let module = module_of_functions(&mut Tape::from_choices(choices));
    println!("seed {seed}: {}", print_module(&module, Dialect::default()));
    if let Trial::Unsound(fault) = try_program(&By::default(), &module) {
        println!("{fault}\n");
    }
}
