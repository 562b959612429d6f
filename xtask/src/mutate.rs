//! Mutated inputs in one process, for a given time: `cargo xtask mutate 1800 [SEED]`, with a profile that checks for
//! arithmetic overflow. Files of `conformance/` are changed in a few places and read, checked, compiled, run or
//! answered. A panic is reported with its seed and input.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};
use std::{fs, io, thread};

use ask::serve::serve;
use relax_spec::book::Reading;
use relax_spec::oracle::Engine;
use relax_spec::syntax::load::{ExternalForm, parse};
use relax_spec::{judge::Cx, vm};

/// The stack of a thread that handles inputs, which may nest deeply.
const STACK: usize = 1 << 30;

/// Inputs that take longer are reported.
const SLOW: Duration = Duration::from_secs(10);

/// Runs the task with the arguments after its name.
pub fn run(args: Vec<String>) -> ExitCode {
    let mut args = args.into_iter().map(|arg| arg.parse::<u64>());
    let seconds = args.next().and_then(Result::ok).unwrap_or(60);
    let first = args.next().and_then(Result::ok).unwrap_or(0);
    let Ok(texts) = texts() else { return ExitCode::from(2) };
    let jobs = thread::available_parallelism().map_or(1, usize::from);
    let (next, panics, slow) = (AtomicU64::new(first), AtomicU64::new(0), AtomicU64::new(0));
    let until = Instant::now() + Duration::from_secs(seconds);
    thread::scope(|scope| {
        for _ in 0..jobs {
            let work = || {
                while Instant::now() < until {
                    let seed = next.fetch_add(1, Ordering::Relaxed);
                    let (form, input) = mutated(&texts, seed);
                    let start = Instant::now();
                    if catch_unwind(AssertUnwindSafe(|| handle(form, &input))).is_err() {
                        panics.fetch_add(1, Ordering::Relaxed);
                        println!("seed {seed} panics:\n{input}\n");
                    }
                    if start.elapsed() > SLOW {
                        slow.fetch_add(1, Ordering::Relaxed);
                        println!("seed {seed} takes {:?}:\n{input}\n", start.elapsed());
                    }
                }
            };
            // If a thread does not start, it does nothing.
            let _ = thread::Builder::new().stack_size(STACK).spawn_scoped(scope, work);
        }
    });
    let (panics, slow) = (panics.into_inner(), slow.into_inner());
    println!("{} inputs: {panics} panics, {slow} over {} s", next.into_inner() - first, SLOW.as_secs());
    if panics + slow == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// The treatment of a text.
#[derive(Clone, Copy)]
enum MutationSubject {
    Program(ExternalForm),
    Executable,
    Question,
}

fn handle(kind: MutationSubject, input: &str) {
    match kind {
        MutationSubject::Program(form) => {
            if let Ok(module) = parse(form, input) {
                let accepted = relax_spec::check(&module).accepts();
                let executable = vm::build(&mut Cx::new(), &module);
                let _ = vm::verify(&executable);
                if accepted {
                    // Functions without parameters run. For all others the arguments are rejected.
                    let _ = relax_spec::run(&module, "main", &[]);
                }
            }
        }
        MutationSubject::Executable => {
            if let Ok(executable) = vm::read(input)
                && vm::verify(&executable).is_empty()
            {
                let options = vm::VmOptions { fuel: 100_000, ..vm::VmOptions::new(relax_spec::eval::prelude()) };
                let _ = vm::run(&mut Cx::new(), &executable, "main", Vec::new(), &options);
            }
        }
        MutationSubject::Question => {
            let _ = serve(Engine::default(), &Reading::corrected(), input.as_bytes(), io::sink());
        }
    }
}

/// The texts to mutate: programs of the corpus, their compiled executables, and the questions of the suite.
fn texts() -> io::Result<Vec<(MutationSubject, String)>> {
    let mut texts = Vec::new();
    collect(Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../conformance/corpus")), &mut texts)?;
    collect(Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../examples")), &mut texts)?;
    let compiled: Vec<(MutationSubject, String)> = texts
        .iter()
        .filter_map(|(kind, text)| match kind {
            MutationSubject::Program(form) => parse(*form, text).ok(),
            MutationSubject::Executable | MutationSubject::Question => None,
        })
        .map(|module| (MutationSubject::Executable, vm::print(&vm::build(&mut Cx::new(), &module))))
        .collect();
    texts.extend(compiled);
    for case in ask::conformance::suite().unwrap_or_default() {
        let question =
            ask::protocol::WireQuestion { id: 1, basis: Default::default(), ask: ask::protocol::with_module(case.ask) };
        texts.push((MutationSubject::Question, question.to_line()));
    }
    Ok(texts)
}

fn collect(dir: &Path, texts: &mut Vec<(MutationSubject, String)>) -> io::Result<()> {
    let mut paths: Vec<PathBuf> =
        fs::read_dir(dir)?.map(|entry| entry.map(|entry| entry.path())).collect::<Result<_, _>>()?;
    paths.sort();
    for path in paths {
        if path.is_dir() {
            collect(&path, texts)?;
        } else if let Some(form) = form_of(&path) {
            texts.push((MutationSubject::Program(form), fs::read_to_string(&path)?));
        }
    }
    Ok(())
}

fn form_of(path: &Path) -> Option<ExternalForm> {
    match path.extension()?.to_str()? {
        "py" => Some(ExternalForm::TvmScript),
        "ron" => Some(ExternalForm::Ron),
        "json" => Some(ExternalForm::Json),
        _ => None,
    }
}

/// Inputs that are likely to be misread.
const EXTREMES: [&str; 16] = [
    "-1",
    "0",
    "9223372036854775807",
    "-9223372036854775808",
    "18446744073709551616",
    "4294967296",
    "1e308",
    "nan",
    "\"\"",
    "None",
    "()",
    "[]",
    "\u{202e}",
    "\0",
    "((((((((",
    "#9999999999",
];

/// A text with one to four changes.
fn mutated(texts: &[(MutationSubject, String)], seed: u64) -> (MutationSubject, String) {
    let mut random = fastrand::Rng::with_seed(seed);
    let (kind, text) = &texts[random.usize(..texts.len())];
    let mut bytes = text.clone().into_bytes();
    for _ in 0..random.usize(1..=4) {
        let at = random.usize(..=bytes.len());
        let end = (at + random.usize(..20)).min(bytes.len());
        match random.u8(..6) {
            0 => drop(bytes.drain(at..end)),
            1 => drop(bytes.splice(at..at, bytes[at..end].to_vec())),
            2 => drop(bytes.splice(at..end, EXTREMES[random.usize(..EXTREMES.len())].bytes())),
            3 => swap_numbers(&mut bytes, &mut random),
            4 => bytes.truncate(at),
            _ => drop(bytes.splice(
                at..end,
                random.choice(texts).map(|other| &other.1).map_or(&b""[..], |other| piece(other, at)).to_vec(),
            )),
        }
    }
    (*kind, String::from_utf8_lossy(&bytes).into_owned())
}

/// A slice of the bytes of another text.
fn piece(text: &str, at: usize) -> &[u8] {
    let start = at % (text.len() + 1);
    &text.as_bytes()[start..(start + 30).min(text.len())]
}

/// Replaces a number in the text by an extreme one.
fn swap_numbers(bytes: &mut Vec<u8>, random: &mut fastrand::Rng) {
    let digits: Vec<usize> = (0..bytes.len()).filter(|at| bytes[*at].is_ascii_digit()).collect();
    if let Some(at) = random.choice(digits) {
        let end = (at..bytes.len()).find(|at| !bytes[*at].is_ascii_digit()).unwrap_or(bytes.len());
        bytes.splice(at..end, EXTREMES[random.usize(..7)].bytes());
    }
}
