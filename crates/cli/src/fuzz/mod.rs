//! `relax-spec fuzz`.

mod infos;
mod programs;
mod told;

pub(super) use programs::{forms_of, told_of_known, told_of_paths};

use std::path::PathBuf;
use std::time::Duration;

use super::asking::{AnswerLimits, interrupt};
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

/// Ask an implementation random questions and hold its answers against what the text permits
///
/// Programs are well-typed by construction, and call every operator. Each goes through the implementation along several paths, each a
/// question of its own: compiled and run, as a tree and as text, without optimizations, after one pass more, to another target; what it
/// says of the program, and the normal form that it gives. What comes out is held against the program by the clauses and the bounds of
/// `refine`. A difference is reduced, told apart from others by its signature, and kept in --out at once. What the ledger knows gives no
/// exit status 1.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  relax-spec fuzz --adapter tvm@0.27 --time 10m --jobs 2 --out found
  relax-spec fuzz --adapter tvm@0.27 --runs 200 --operators 'relax.nn.*' --without closures,effects
  relax-spec fuzz --show 17
  relax-spec fuzz --adapter ./my-adapter --report human --report junit=found.xml --report html=found.html
  relax-spec fuzz --kind infos --adapter tvm@0.25 --runs 20000 --seed 1

A campaign that is started again with the same --out and --seed goes on where it stopped. A crash of the implementation costs one
restart. Exit status: 0 nothing that the ledger does not know; 1 findings; 4 nothing ran, or no question was answered; 5 interrupted, with all findings kept.")]
pub struct Args {
    /// `tvm` (all releases), `tvm@0.26`, `tvm@/path/to/python`, or a command that speaks the protocol
    #[arg(long, value_name = "NAME|CMD")]
    adapter: Option<String>,
    #[arg(long, value_enum, default_value_t = FuzzSubject::default())]
    kind: FuzzSubject,
    /// How many programs or pairs to ask about [default: as many as --time allows, else 1000]
    #[arg(long, value_name = "N")]
    runs: Option<u64>,
    /// After how long no further program is begun: `90s`, `10m`, `8h`
    #[arg(long, value_name = "T", value_parser = time)]
    time: Option<Duration>,
    #[arg(long, value_name = "S", default_value_t = 0)]
    seed: u64,
    /// How many processes are asked at once [default: 1]
    #[arg(long, value_name = "N")]
    jobs: Option<usize>,
    /// Where findings are kept, a file of JSON and one of TVMScript for each
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Which forms of findings are known [default: conformance/ledger/tvm-programs.ron for TVM]
    #[arg(long, value_name = "LEDGER.ron")]
    expect: Option<PathBuf>,
    /// Only these operators, by patterns with commas
    #[arg(long, value_name = "GLOB,..", value_delimiter = ',')]
    operators: Vec<String>,
    /// Only programs to which one of these rules is applied, or in which one is broken, by patterns with commas
    #[arg(long, value_name = "GLOB,..", value_delimiter = ',')]
    rules: Vec<String>,
    /// Only with these features of programs, with commas
    #[arg(long, value_name = "FEATURE,..", value_delimiter = ',', conflicts_with = "without")]
    only: Vec<String>,
    /// Without these features of programs, with commas
    #[arg(long, value_name = "FEATURE,..", value_delimiter = ',')]
    without: Vec<String>,
    /// The most bindings of a program [default: 200]
    #[arg(long, value_name = "N")]
    bindings: Option<usize>,
    /// By which paths each program goes: `drawn` (checked, normalized, and run in one way that is drawn for it), `all` of them, or
    /// these, with commas: `llvm`, `text`, `check`, `normalize`, `plain`, `reprint`, `compiled`, `c`, `pass:NAME`; only by name:
    /// `derive`, `parse`, `well_formed`, `normal_form`, `type_check`
    #[arg(long, value_name = "drawn|all|PATH,..", value_delimiter = ',')]
    paths: Vec<String>,
    /// Every second program is a text of the suite, mostly with one or two tokens changed; besides what is asked of a program, what is
    /// read from it
    #[arg(long)]
    seeds: bool,
    /// How many questions may be asked to reduce a finding [default: 80]
    #[arg(long, value_name = "N")]
    reduce: Option<usize>,
    /// human, jsonl, junit, html or md; with =PATH into a file [default: human]
    #[arg(long = "report", value_name = "KIND[=PATH]")]
    reports: Vec<ReportTo>,
    /// List what the programs had in them and which rules were applied to them, with counts
    #[arg(long)]
    coverage: bool,
    /// Print the program with this number, typed by --edition [default: 2023-02], and ask nobody
    #[arg(long, value_name = "NUMBER")]
    show: Option<u64>,
    /// Seconds that an answer may take
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
    for adapter in Adapter::named(args.adapter.as_deref())? {
        let exit = match args.kind {
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
