//! `relax-spec fuzz`.

mod infos;
mod programs;
mod records;
mod told;

pub(super) use programs::{forms_of, told_of_known, told_of_paths};

pub use records::{ProgramRecorder, ProgramTapes};

use std::ops::Range;
use std::path::PathBuf;
use std::time::Duration;

use super::asking::{AnswerLimits, STARTUP, interrupt};
use super::reports::ReportTo;
use super::{CommandResult, Exit, Failure, options};
use ask::adapters::Adapter;
use relax_spec::book::Edition;

/// What is asked about.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug, clap::ValueEnum)]
pub enum FuzzSubject {
    /// Whole programs, along several paths: checked, normalized, compiled and run, as trees and as text
    #[default]
    Programs,
    /// Pairs of structural information: their compatibility and unification
    Infos,
}

/// Ask an implementation random questions and compare its answers with those that the text permits
///
/// Programs are well-typed by construction, and call every operator. Each goes through the implementation along several
/// paths, each a separate question: compiled and run, as a tree or as text, without optimizations, after an additional
/// pass, for another target. It is also checked and normalized. `refine` compares the results with the program, by the
/// clauses and within their bounds. A difference is shrunk, identified by its signature, and saved in --out
/// immediately. Differences that the ledger lists do not cause exit status 1.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  relax-spec fuzz --adapter tvm@0.27 --time 10m --jobs 2 --out found
  relax-spec fuzz --adapter tvm@0.27 --runs 200 --operators 'relax.nn.*' --without closures,effects
  relax-spec fuzz --show 17
  relax-spec fuzz --adapter tvm@0.27 --record 0..500 > first.jsonl
  relax-spec fuzz --adapter tvm@0.27 --merge first.jsonl --merge second.jsonl --out found
  relax-spec fuzz --adapter ./my-adapter --report human --report junit=found.xml --report html=found.html
  relax-spec fuzz --kind infos --adapter tvm@0.25 --runs 20000 --seed 1

A campaign that is started again with the same --out and --seed continues where it stopped. A crash of the implementation costs one
restart. Exit status: 0 only known findings, or none; 1 new findings; 4 nothing ran, or no question was answered; 5 interrupted, with all findings kept.")]
pub struct Args {
    /// `tvm` (all releases), `tvm@0.26`, `tvm@/path/to/python`, or a command that speaks the protocol
    #[arg(long, value_name = "NAME|CMD")]
    adapter: Option<String>,
    #[arg(long, value_enum, default_value_t = FuzzSubject::default())]
    kind: FuzzSubject,
    /// How many programs or pairs to ask about [default: as many as --time allows, else 1000]
    #[arg(long, value_name = "N")]
    runs: Option<u64>,
    /// Time after which no further program is started: `90s`, `10m`, `8h`
    #[arg(long, value_name = "T", value_parser = time)]
    time: Option<Duration>,
    #[arg(long, value_name = "S", default_value_t = 0)]
    seed: u64,
    /// How many processes to ask at the same time [default: 1]
    #[arg(long, value_name = "N")]
    jobs: Option<usize>,
    /// The directory for findings, each saved as a JSON and a TVMScript file
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// The ledger of known findings [default: conformance/ledger/tvm-programs.ron for TVM]
    #[arg(long, value_name = "LEDGER.ron")]
    expect: Option<PathBuf>,
    /// Only these operators: patterns, separated by commas
    #[arg(long, value_name = "GLOB,..", value_delimiter = ',')]
    operators: Vec<String>,
    /// Only programs that apply or violate one of these rules: patterns, separated by commas
    #[arg(long, value_name = "GLOB,..", value_delimiter = ',')]
    rules: Vec<String>,
    /// Generate programs with only these features, separated by commas
    #[arg(long, value_name = "FEATURE,..", value_delimiter = ',', conflicts_with = "without")]
    only: Vec<String>,
    /// Generate programs without these features, separated by commas
    #[arg(long, value_name = "FEATURE,..", value_delimiter = ',')]
    without: Vec<String>,
    /// The most bindings of a program [default: 200]
    #[arg(long, value_name = "N")]
    bindings: Option<usize>,
    /// The paths of each program: `drawn` (checked, normalized, and run in one way drawn at random), `all`, or a list
    /// separated by commas: `llvm`, `text`, `check`, `normalize`, `plain`, `reprint`, `compiled`, `c`, `pass:NAME`;
    /// only by name: `derive`, `parse`, `well_formed`, `normal_form`, `type_check`
    #[arg(long, value_name = "drawn|all|PATH,..", value_delimiter = ',')]
    paths: Vec<String>,
    /// Make every second program a text of the suite, mostly with one or two tokens changed; also ask what is parsed
    /// from it
    #[arg(long)]
    seeds: bool,
    /// How many questions may be asked to shrink a finding [default: 80]
    #[arg(long, value_name = "N")]
    reduce: Option<usize>,
    /// human, jsonl, junit, html, md or badge; with =PATH into a file [default: human]
    #[arg(long = "report", value_name = "KIND[=PATH]")]
    reports: Vec<ReportTo>,
    /// List what the programs contained and which rules they applied, with counts
    #[arg(long)]
    coverage: bool,
    /// Ask about the programs with these numbers, and print a line for each instead of a report; nothing is reduced
    #[arg(long, value_name = "FROM..TO", value_parser = range, conflicts_with_all = ["merge", "out", "reports", "runs", "time", "jobs", "coverage"])]
    record: Option<Range<u64>>,
    /// Handle what --record printed for these programs instead of asking about them; `-` is standard input. Questions
    /// are only asked to reduce findings. The result is that of a campaign in one process
    #[arg(long, value_name = "FILE", conflicts_with_all = ["time", "jobs"])]
    merge: Vec<PathBuf>,
    /// Print the program with this number, typed by --edition [default: 2023-02], and ask no implementation
    #[arg(long, value_name = "NUMBER")]
    show: Option<u64>,
    /// Time limit of an answer in seconds
    #[arg(long, value_name = "S", default_value = "30", value_parser = options::seconds)]
    timeout: Duration,
    /// The edition by which the answers are judged [default: the one that the implementation claims]
    #[arg(long, value_name = "EDITION", value_parser = options::edition)]
    edition: Option<Edition>,
}

impl Args {
    fn limits(&self) -> AnswerLimits {
        AnswerLimits { timeout: self.timeout, edition: self.edition }
    }
}

/// `0..500`.
fn range(text: &str) -> Result<Range<u64>, String> {
    let number = |text: &str| text.parse::<u64>().ok();
    let ends = text.split_once("..").and_then(|(from, to)| Some(number(from)?..number(to)?));
    ends.filter(|range| !range.is_empty()).ok_or_else(|| "expected two numbers, as in `0..500`".to_string())
}

/// `90`, `90s`, `10m`, `8h`.
fn time(text: &str) -> Result<Duration, String> {
    let number = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let unit = match text.get(number.len()..) {
        Some("" | "s") => 1,
        Some("m") => 60,
        Some("h") => 3600,
        Some(_) | None => return Err("expected a number with `s`, `m` or `h`".to_string()),
    };
    let seconds = number.parse::<u64>().ok().and_then(|number| number.checked_mul(unit));
    seconds.map(Duration::from_secs).ok_or_else(|| "expected a number with `s`, `m` or `h`".to_string())
}

pub fn run(args: &Args) -> CommandResult {
    if args.runs == Some(0) {
        return Err(Failure::new(Exit::NothingRan, "--runs 0 asks nothing"));
    }
    if args.kind == FuzzSubject::Infos {
        infos::refuse(args)?;
    }
    if let Some(number) = args.show {
        return programs::show(args, number);
    }
    let interrupt = interrupt()?;
    let mut ended: Option<Exit> = None;
    let adapters = Adapter::named(args.adapter.as_deref(), STARTUP)?;
    if adapters.len() > 1 && (args.record.is_some() || !args.merge.is_empty()) {
        return Err(Failure::unreadable("records are of one implementation: name one release, as in `tvm@0.27`"));
    }
    for adapter in adapters {
        let exit = match args.kind {
            FuzzSubject::Programs if args.record.is_some() => records::run(args, &adapter, &interrupt)?,
            FuzzSubject::Programs => programs::run(args, &adapter, &interrupt)?,
            FuzzSubject::Infos => infos::run(args, &adapter, &interrupt)?,
        };
        ended = Some(ended.map_or(exit, |others| others.and(exit)));
        if exit == Exit::StoppedEarly {
            break;
        }
    }
    Ok(ended.unwrap_or(Exit::NothingRan))
}
