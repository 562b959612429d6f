//! Relay against its translation in the long run: `cargo run --release --example relay -- 10000 [FIRST-SEED]` draws programs, runs
//! each as it is and translated, and tells which give two values. With `--questions` after the numbers it prints each translation
//! as a question of the protocol with the answer that is expected, a line each, for
//! `conformance/adapters/tvm/checks/relay.py`.

use std::process::ExitCode;

use relax_spec::generate::Tape;
use relax_spec::harness::relay::{Trial, question, try_program};

/// How many choices make a program.
const TAPE: usize = 400;

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let number = |i: usize, otherwise| args.get(i).and_then(|arg| arg.parse().ok()).unwrap_or(otherwise);
    let (count, first): (u64, u64) = (number(0, 1_000), number(1, 0));
    let questions = args.iter().any(|arg| arg == "--questions");
    let (mut values, mut stopped, mut faults) = (0, 0, 0);
    for seed in first..first + count {
        let (program, arguments) = relax_spec::relay::generate(&mut Tape::from_seed(seed, TAPE));
        match try_program(&program, &arguments) {
            Trial::Same => values += 1,
            Trial::Stopped => stopped += 1,
            Trial::Different(why) => {
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
