//! Compares the two engines of the oracle in a long run: `cargo xtask engines 100000 [FIRST-SEED] [--edition 2024-04]`
//! generates programs, runs each with the evaluator and with the virtual machine, and reports different outcomes
//! (`R89.VM.EQUIV`).

use std::process::ExitCode;
use std::time::Instant;

use crate::arguments::RunArguments;
use campaign::engines::{End, EngineTrial, program, try_all};
use relax_spec::syntax::tvmscript::{Dialect, print_module};

/// The number of programs with a difference to show.
const SHOWN: usize = 3;

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
    let (start, mut counts, mut different) = (Instant::now(), [0u64; 4], 0);
    for seed in first..first.saturating_add(wanted) {
        let program = program(edition, seed);
        for trial in try_all(edition, &program, 2) {
            match trial {
                EngineTrial::Same(End::Returns(_)) => counts[0] += 1,
                EngineTrial::Same(End::Fails(_)) => counts[1] += 1,
                EngineTrial::Same(End::Unspecified) => counts[2] += 1,
                EngineTrial::Limited => counts[3] += 1,
                EngineTrial::Different(difference) => {
                    different += 1;
                    if different <= SHOWN {
                        println!("seed {seed}: {}\n{difference}\n", print_module(&program, Dialect::default()));
                    }
                }
            }
        }
    }
    let [values, errors, unspecified, limited] = counts;
    println!(
        "{wanted} programs of {edition}: {values} runs with a value, {errors} with an error, {unspecified} of which nothing is said,"
    );
    println!("{limited} that came to a limit, {different} different; {:.0} s", start.elapsed().as_secs_f64());
    if different == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
