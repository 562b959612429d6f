//! The same work in relax-spec and in Apache TVM, in one run on one machine; only the ratios mean anything.
//!
//! `cargo bench --bench against_tvm [-- tvm@0.27]`. Exits with status 1 if a ratio falls short of what the project
//! promises. The programs and pairs are generated, so both sides see the very same.
//!
//! The growth of the time with the size of the program is measured twice. First each check runs in its own process, as
//! a user sees it. Then the checks repeat in this process, where the caches hold the small program and not the large
//! one.

use std::io::Write;
use std::process::{Command, ExitCode, Stdio};
use std::time::{Duration, Instant};

use ask::adapters::Adapter;
use campaign::infos;
use relax_spec::check::check_program;
use relax_spec::data::json::to_value;
use relax_spec::grammar::{IrModule, StructInfo};
use relax_spec::judge::Cx;
use relax_spec::question::Ask;
use relax_spec::struct_info::{check_compatibility, unify_struct_info};
use relax_spec::syntax::tvmscript::parse_module;
use serde::Deserialize;
use serde_json::json;

/// Runs of each measurement, of which the shortest counts, because other processes can only make it longer. Both sides
/// run for at least [`AT_LEAST`], so that both are warm.
const REPEATS: u32 = 5;
const AT_LEAST: Duration = Duration::from_millis(500);
/// How long a Python may take to start.
const STARTUP: Duration = Duration::from_secs(120);
const PAIRS: u64 = 2_000;

struct Request {
    texts: Vec<String>,
    pairs: Vec<(StructInfo, StructInfo)>,
    repeats: u32,
    /// Seconds.
    at_least: f64,
}

/// Seconds that TVM takes.
#[derive(Deserialize)]
struct Timing {
    read: Vec<f64>,
    check: Vec<f64>,
    base_check: f64,
    lca: f64,
}

/// A promise about a ratio, and the measurement.
struct Line {
    what: &'static str,
    ours: f64,
    theirs: f64,
    at_least: f64,
}

/// As the command has it.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    if let Some(bindings) = std::env::args().skip_while(|arg| arg != ONCE).nth(1).and_then(|n| n.parse().ok()) {
        println!("{}", once(&program(bindings)).as_secs_f64());
        return ExitCode::SUCCESS;
    }
    let adapter =
        std::env::args().skip(1).find(|arg| arg.starts_with("tvm@")).unwrap_or_else(|| "tvm@0.25".to_string());
    match measure(&adapter) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::from(1),
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::from(3)
        }
    }
}

fn measure(adapter: &str) -> Result<bool, Box<dyn std::error::Error>> {
    let text = program(1_000);
    let pairs: Vec<(StructInfo, StructInfo)> = (0..PAIRS).filter_map(pair).collect();
    let request =
        Request { texts: vec![text.clone()], pairs: pairs.clone(), repeats: REPEATS, at_least: AT_LEAST.as_secs_f64() };
    let theirs = tvm(adapter, &request)?;
    let module = parse_module(&text)?;
    let (read, check) = match (theirs.read.first(), theirs.check.first()) {
        (Some(read), Some(check)) => (*read, *check),
        (_, _) => return Err("the timing names no text".into()),
    };
    let lines = [
        Line { what: "read and check 1,000 bindings", ours: read_and_check(&text), theirs: read, at_least: 100.0 },
        Line { what: "check 1,000 bindings", ours: best(|| check_of(&module)), theirs: check, at_least: 3.0 },
        Line { what: "compatibility", ours: best(|| all_compatible(&pairs)), theirs: theirs.base_check, at_least: 5.0 },
        Line { what: "unify", ours: best(|| all_unified(&pairs)), theirs: theirs.lca, at_least: 5.0 },
    ];
    let mut kept = true;
    for line in &lines {
        let ratio = line.theirs / line.ours;
        kept &= ratio >= line.at_least;
        println!(
            "{:<32} {:>10.3} ms   {adapter} {:>10.3} ms   {ratio:>7.1} times faster (promised {})",
            line.what,
            line.ours * 1e3,
            line.theirs * 1e3,
            line.at_least
        );
    }
    let warm = read_and_check(&program(100_000)) / read_and_check(&text);
    let fresh = in_fresh_process(100_000)? / in_fresh_process(1_000)?;
    println!(
        "{:<32} {fresh:>10.1} times the time of 1,000 bindings in a fresh process, {warm:.1} times when warm",
        "read and check 100,000 bindings"
    );
    Ok(kept)
}

/// The option that asks this program to read and check one program once, and to print the seconds.
const ONCE: &str = "--once";

fn once(text: &str) -> Duration {
    let start = Instant::now();
    std::hint::black_box(parse_module(text).map(|module| check_of(&module)).is_ok());
    start.elapsed()
}

/// Seconds for a program of this size, each time in a process of its own; the shortest of several.
fn in_fresh_process(bindings: usize) -> Result<f64, Box<dyn std::error::Error>> {
    let mut shortest = f64::INFINITY;
    for _ in 0..4 * REPEATS {
        let output = Command::new(std::env::current_exe()?).args([ONCE, &bindings.to_string()]).output()?;
        shortest = shortest.min(String::from_utf8(output.stdout)?.trim().parse()?);
    }
    Ok(shortest)
}

/// The program that is timed: a chain of additions in one dataflow block.
fn program(bindings: usize) -> String {
    let mut text = String::from(
        "@I.ir_module\nclass Module:\n    @R.function\n    def main(x: R.Tensor((\"n\", 4), \"float32\")) -> R.Tensor((\"n\", 4), \"float32\"):\n        with R.dataflow():\n            lv0 = R.add(x, x)\n",
    );
    for i in 1..bindings {
        text.push_str(&format!("            lv{i} = R.add(lv{}, x)\n", i - 1));
    }
    let last = bindings - 1;
    text.push_str(&format!("            y = R.add(lv{last}, x)\n            R.output(y)\n        return y\n"));
    text
}

fn pair(number: u64) -> Option<(StructInfo, StructInfo)> {
    infos::questions(1, number).into_iter().find_map(|ask| match ask {
        Ask::Compatibility(s1, s2) => Some((s1, s2)),
        _ => None,
    })
}

fn best<T>(mut work: impl FnMut() -> T) -> f64 {
    let (mut runs, mut shortest, begin) = (0, Duration::MAX, Instant::now());
    while runs < REPEATS || begin.elapsed() < AT_LEAST {
        let start = Instant::now();
        std::hint::black_box(work());
        shortest = shortest.min(start.elapsed());
        runs += 1;
    }
    shortest.as_secs_f64()
}

fn read_and_check(text: &str) -> f64 {
    best(|| parse_module(text).map(|module| check_of(&module)))
}

fn check_of(module: &IrModule) -> bool {
    check_program(&mut Cx::new(), module).accepts()
}

fn all_compatible(pairs: &[(StructInfo, StructInfo)]) {
    let mut cx = Cx::new();
    for (s1, s2) in pairs {
        std::hint::black_box(check_compatibility(&mut cx, s1, s2));
    }
}

fn all_unified(pairs: &[(StructInfo, StructInfo)]) {
    let mut cx = Cx::new();
    for (s1, s2) in pairs {
        std::hint::black_box(unify_struct_info(&mut cx, s1, s2));
    }
}

/// Lets TVM do the work in a process of its own.
fn tvm(adapter: &str, request: &Request) -> Result<Timing, Box<dyn std::error::Error>> {
    let adapter = Adapter::named(Some(adapter), STARTUP)?.into_iter().next().ok_or("no such adapter")?;
    let command = adapter.prepare(&|text| eprintln!("{text}"), STARTUP)?;
    let script = command.args.first().ok_or("the adapter has no script")?.replace("adapter.py", "checks/timing.py");
    let mut child = Command::new(&command.program).arg(script).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
    let mut stdin = child.stdin.take().ok_or("no standard input")?;
    let request = json!({
        "texts": request.texts,
        "pairs": to_value(&request.pairs),
        "repeats": request.repeats,
        "at_least": request.at_least,
    });
    stdin.write_all(request.to_string().as_bytes())?;
    drop(stdin);
    let output = child.wait_with_output()?;
    if !output.status.success() {
        return Err(format!("TVM's timing ended with {}", output.status).into());
    }
    Ok(serde_json::from_slice(&output.stdout)?)
}
