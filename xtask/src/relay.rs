//! Compares Relay programs with their translations in a long run: `cargo xtask relay 10000 [FIRST-SEED]` generates
//! programs, runs each directly and translated, and reports those with two different values. With `--questions` after
//! the numbers it prints each translation as a question of the protocol with the expected answer, one per line, for
//! `conformance/adapters/tvm/checks/relay.py`.

use std::process::ExitCode;

use campaign::generate::Tape;
use campaign::relay::{TranslationTrial, question, try_program};

/// The number of choices for a program.
const TAPE: usize = 400;

/// Runs the task with the arguments after its name.
pub fn run(args: Vec<String>) -> ExitCode {
    let args: Vec<String> = args.into_iter().collect();
    let number = |i: usize, otherwise| args.get(i).and_then(|arg| arg.parse().ok()).unwrap_or(otherwise);
    let (count, first): (u64, u64) = (number(0, 1_000), number(1, 0));
    let questions = args.iter().any(|arg| arg == "--questions");
    let (mut values, mut stopped, mut faults) = (0, 0, 0);
    for seed in first..first + count {
        let (program, arguments) = campaign::relay::generate(&mut Tape::from_seed(seed, TAPE));
        match try_program(&program, &arguments) {
            TranslationTrial::Same => values += 1,
            TranslationTrial::Stopped => stopped += 1,
            TranslationTrial::Different(why) => {
                faults += 1;
                eprintln!("seed {seed}: {why}");
            }
        }
        if questions && let Some(line) = question(seed, &program, &arguments) {
            println!("{line}");
        }
    }
    eprintln!("{count} programs: {values} give the same value, {stopped} stop at a limit, {faults} differ");
    if faults == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
