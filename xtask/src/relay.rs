//! Relay against its translation in the long run: `cargo xtask relay 10000 [FIRST-SEED]` draws programs, runs
//! each as it is and translated, and tells which give two values. With `--questions` after the numbers it prints each translation
//! as a question of the protocol with the answer that is expected, a line each, for
//! `conformance/adapters/tvm/checks/relay.py`.

use std::process::ExitCode;

use campaign::generate::Tape;
use campaign::relay::{TranslationTrial, question, try_program};

/// How many choices make a program.
const TAPE: usize = 400;

/// The task, with what stands behind its name on the command line.
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
