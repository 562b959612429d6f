//! What the generator of programs makes: `cargo run --release --example programs -- 10000 [FIRST]` draws that many, checks and runs
//! each at its example sizes, and prints how often each construct and operator occurs.

use std::collections::BTreeMap;
use std::process::ExitCode;
use std::time::Instant;

use relax_spec::harness::programs::{Census, Restriction, Source};
use relax_spec::harness::trials::{Ended, at_example_sizes};
use relax_spec::suite::embedded_suite;

fn main() -> ExitCode {
    let mut args = std::env::args().skip(1).map(|arg| arg.parse::<u64>());
    let programs = args.next().and_then(Result::ok).unwrap_or(10_000);
    let first = args.next().and_then(Result::ok).unwrap_or(0);
    let suite = match embedded_suite() {
        Ok(suite) => suite,
        Err(error) => {
            eprintln!("{error:?}");
            return ExitCode::FAILURE;
        }
    };
    let start = Instant::now();
    let source = Source::of(&suite, Restriction::default());
    println!("{} operators, made ready in {:.1} s", source.operators().count(), start.elapsed().as_secs_f64());
    let start = Instant::now();
    let drawn: Vec<_> = (first..first + programs).map(|number| source.program(0, number)).collect();
    let seconds = start.elapsed().as_secs_f64();
    let mut census = Census::default();
    drawn.iter().for_each(|drawn| census.count(&drawn.module));
    println!("{programs} programs of {} bindings in {seconds:.2} s", census.bindings);
    let mut endings: BTreeMap<String, (u64, u64)> = BTreeMap::new();
    let (mut bad, mut ended) = (0, 0);
    for (number, drawn) in (first..).zip(&drawn) {
        let how = match at_example_sizes(drawn) {
            Ended::Returns => {
                ended += 1;
                "returns".to_string()
            }
            Ended::Fails(rule) => format!("fails by {rule}"),
            Ended::Open(reason) => format!("open: {reason}"),
            Ended::Rejected(findings) => {
                bad += 1;
                format!("rejected: {findings}")
            }
        };
        endings.entry(how).or_insert((0, number)).0 += 1;
    }
    for (how, (count, number)) in endings {
        println!("{count:6} {how} (first: {number})");
    }
    for (construct, count) in &census.constructs {
        println!("{count:6} {construct}");
    }
    for (operator, count) in &census.operators {
        println!("{count:6} {operator}");
    }
    println!("missing: {:?}", census.missing(&source));
    println!("{ended} of {programs} reach the end, {bad} are rejected");
    if bad == 0 && ended * 10 >= programs * 9 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
