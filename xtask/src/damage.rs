//! Damaged executables in a long run: `cargo xtask damage SECONDS [FIRST-SEED]` damages the executables of the corpus,
//! those of TVM among the samples, and random bytes, for this time. Readable ones are verified and run. They must
//! neither panic nor hang.

use std::process::ExitCode;
use std::time::{Duration, Instant};

use campaign::damage::{Damaged, try_bytes, try_text, try_tvm};
use relax_spec::judge::Cx;
use relax_spec::syntax::load;
use relax_spec::vm;

/// Anything that takes longer counts as hanging.
const LONG: Duration = Duration::from_secs(5);

/// Runs the task with the arguments after its name.
pub fn run(args: Vec<String>) -> ExitCode {
    let mut args = args.into_iter().map(|arg| arg.parse::<u64>());
    let seconds = args.next().and_then(Result::ok).unwrap_or(60);
    let first = args.next().and_then(Result::ok).unwrap_or(0);
    let programs = files("conformance/corpus", "py").into_iter().filter_map(|path| load::load(&path).ok());
    let own: Vec<String> = programs.map(|module| vm::print(&vm::build(&mut Cx::new(), &module))).collect();
    let of_tvm: Vec<String> = files("tests/samples/executables/tvm", "json")
        .iter()
        .filter_map(|path| std::fs::read_to_string(path).ok())
        .collect();
    let (start, mut counts, mut slowest) = (Instant::now(), [0u64; 3], Duration::ZERO);
    for seed in first.. {
        if start.elapsed() >= Duration::from_secs(seconds) {
            break;
        }
        let pick = |texts: &[String]| texts.get(seed as usize / 3 % texts.len().max(1)).cloned().unwrap_or_default();
        let begin = Instant::now();
        let found = match seed % 3 {
            0 => try_text(&pick(&own), seed),
            1 => try_tvm(&pick(&of_tvm), seed),
            _ => try_bytes(seed),
        };
        slowest = slowest.max(begin.elapsed());
        match found {
            Damaged::Refused => counts[0] += 1,
            Damaged::Faulty => counts[1] += 1,
            Damaged::Whole => counts[2] += 1,
        }
    }
    let [refused, faulty, whole] = counts;
    println!("{refused} could not be read, {faulty} were refused by the verifier and run, {whole} were whole and run;");
    println!("the slowest took {:.0} ms, all {:.0} s", slowest.as_secs_f64() * 1e3, start.elapsed().as_secs_f64());
    if slowest < LONG { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn files(directory: &str, extension: &str) -> Vec<std::path::PathBuf> {
    let entries = std::fs::read_dir(directory).into_iter().flatten().flatten().map(|entry| entry.path());
    let mut files: Vec<std::path::PathBuf> =
        entries.filter(|path| path.extension().is_some_and(|found| found == extension)).collect();
    files.sort();
    files
}
