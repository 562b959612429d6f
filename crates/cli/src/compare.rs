//! `relax-spec report`: pages from kept runs, and what changed between two of them.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use clap::Subcommand;
use serde_json::{Value, json};

use super::reports::{self, ReportKind, ReportTo};
use super::{CommandResult, Exit, Failure, options, print, print_json};
use crate::report::{self, runs};
use ask::checkout::read_regular;
use relax_spec::grammar::visible_json;
use report::history::ImplementationHistory;
use report::turns::{Turn, turns};
use runs::KeptRun;

/// Make pages from kept runs of the suite, and compare two of them
#[derive(clap::Args)]
#[command(after_help = "Examples:
  relax-spec conform --adapter tvm@0.27 --report jsonl=new.jsonl
  relax-spec report merge new.jsonl --report html=new.html
  relax-spec report merge part-1.jsonl part-2.jsonl --report jsonl=whole.jsonl --report md
  relax-spec report merge tvm-0.25.jsonl tvm-0.27.jsonl --report html=both.html
  relax-spec report diff old.jsonl new.jsonl
  relax-spec report history runs --report html=history.html

Exit status: as of the runs, or 1 where something is worse; 4 if two runs have no case in common; 5 if a run was cut short.")]
pub struct Args {
    #[command(subcommand)]
    command: ReportCommand,
}

#[derive(Subcommand)]
enum ReportCommand {
    Merge(Merge),
    Diff(RunDiff),
    History(History),
}

/// One report of several runs: parts of one run become one, others stand side by side
#[derive(clap::Args)]
struct Merge {
    /// JSON lines, as `conform --report jsonl=FILE` writes them, also of a run that was killed
    #[arg(value_name = "FILE", required = true)]
    files: Vec<PathBuf>,
    /// human, jsonl, html, md or badge; with =PATH into a file [default: human]
    #[arg(long = "report", value_name = "KIND[=PATH]")]
    reports: Vec<ReportTo>,
}

/// What changed from one run to another: regressions, fixes, other answers, and cases that only one of them has
#[derive(clap::Args)]
struct RunDiff {
    #[arg(value_name = "OLD")]
    old: PathBuf,
    #[arg(value_name = "NEW")]
    new: PathBuf,
    #[arg(long, value_enum, default_value_t = options::ReportFormat::Human)]
    format: options::ReportFormat,
}

/// A line for each run of a directory: its figures, and what changed since the run before it of the same implementation
#[derive(clap::Args)]
struct History {
    /// A directory with JSON lines (*.jsonl), as `conform --report jsonl=FILE` writes them. The names give the order,
    /// such as 2026-11-29.jsonl
    #[arg(value_name = "DIR")]
    dir: PathBuf,
    /// human, html or md; with =PATH into a file [default: human]
    #[arg(long = "report", value_name = "KIND[=PATH]")]
    reports: Vec<ReportTo>,
}

pub fn run(args: &Args) -> CommandResult {
    match &args.command {
        ReportCommand::Merge(args) => merge(args),
        ReportCommand::Diff(args) => diff(args),
        ReportCommand::History(args) => history(args),
    }
}

fn read(path: &Path) -> Result<Vec<KeptRun>, Failure> {
    let place = |error: String| Failure::unreadable(format!("{}: {error}", path.display()));
    let text = read_regular(path).map_err(|error| place(error.to_string()))?;
    runs::read(&text).map_err(|error| place(error.to_string()))
}

fn merge(args: &Merge) -> CommandResult {
    let runs = args.files.iter().map(|path| read(path)).collect::<Result<Vec<Vec<KeptRun>>, Failure>>()?;
    let runs = runs::merged(runs.concat());
    refuse(&args.reports, &[ReportKind::Junit], "by `conform` alone")?;
    reports::write(&args.reports, None, &|kind| match kind {
        ReportKind::Human | ReportKind::Junit => Ok(told(&runs)),
        ReportKind::Badge => report::badge(&runs),
        ReportKind::Jsonl => Ok(lines(&runs)),
        ReportKind::Html => report::html(&runs),
        ReportKind::Markdown => Ok(report::markdown(&runs)),
    })?;
    let exit = |run: &KeptRun| match (run.is_cut(), run.unexpected()) {
        (true, _) => Exit::StoppedEarly,
        (false, 0) => Exit::AsExpected,
        (false, _) => Exit::Findings,
    };
    Ok(runs.iter().map(exit).max().unwrap_or(Exit::NothingRan))
}

/// Fails if one of these kinds is asked for.
fn refuse(reports: &[ReportTo], kinds: &[ReportKind], written: &str) -> Result<(), Failure> {
    match reports.iter().find(|report| kinds.iter().any(|kind| report.is(*kind))) {
        Some(kind) => Err(Failure::unreadable(format!("{kind} is written {written}"))),
        None => Ok(()),
    }
}

fn history(args: &History) -> CommandResult {
    refuse(&args.reports, &[ReportKind::Junit, ReportKind::Jsonl, ReportKind::Badge], "for a run, not for a history")?;
    let place = |error: &dyn std::fmt::Display| Failure::unreadable(format!("{}: {error}", args.dir.display()));
    let entries = std::fs::read_dir(&args.dir).map_err(|error| place(&error))?;
    let paths = entries.map(|entry| entry.map(|entry| entry.path())).collect::<Result<BTreeSet<PathBuf>, _>>();
    let paths = paths.map_err(|error| place(&error))?;
    let kept = paths.iter().filter(|path| path.extension().is_some_and(|extension| extension == "jsonl"));
    let files = kept.map(|path| Ok((path.file_stem().unwrap_or_default().display().to_string(), read(path)?)));
    let files = files.collect::<Result<Vec<(String, Vec<KeptRun>)>, Failure>>()?;
    if files.is_empty() {
        return Err(Failure::new(Exit::NothingRan, format!("{}: it holds no *.jsonl", args.dir.display())));
    }
    let histories = ImplementationHistory::all(&files);
    reports::write(&args.reports, None, &|kind| match kind {
        ReportKind::Html => report::history::html(&histories),
        ReportKind::Markdown => Ok(report::history::markdown(&histories)),
        ReportKind::Human | ReportKind::Jsonl | ReportKind::Junit | ReportKind::Badge => {
            Ok(report::history::human(&histories))
        }
    })?;
    Ok(Exit::AsExpected)
}

/// The sums, for people.
fn told(runs: &[KeptRun]) -> String {
    let mut out = String::new();
    for run in runs {
        let _ = writeln!(out, "{}: {}", run.title(), report::summary(run));
        for (reason, count) in run.reasons() {
            let _ = writeln!(out, "  {count} not asked: {reason}");
        }
    }
    relax_spec::grammar::visible(&out).into_owned()
}

/// The lines of all runs, each with its header and its footer.
fn lines(runs: &[KeptRun]) -> String {
    let mut out = String::new();
    for run in runs {
        let header = (!run.header.is_null()).then_some(&run.header);
        for line in header.into_iter().chain(&run.cases).chain(&run.footer) {
            let _ = writeln!(out, "{}", visible_json(&line.to_string()));
        }
    }
    out
}

/// The only run of a file.
fn only(path: &Path) -> Result<KeptRun, Failure> {
    let runs = runs::merged(read(path)?);
    match <[KeptRun; 1]>::try_from(runs) {
        Ok([run]) => Ok(run),
        Err(runs) => Err(Failure::unreadable(format!("{}: it holds {} runs, not one", path.display(), runs.len()))),
    }
}

fn diff(args: &RunDiff) -> CommandResult {
    let (old, new) = (only(&args.old)?, only(&args.new)?);
    let ids: BTreeSet<&str> = old.cases.iter().map(runs::id).collect();
    if !new.cases.iter().any(|case| ids.contains(runs::id(case))) {
        return Err(Failure::new(Exit::NothingRan, "the two runs have no case in common"));
    }
    let turns = turns(&old, &new);
    match args.format {
        options::ReportFormat::Human => print(&told_turns(&old, &new, &turns))?,
        options::ReportFormat::Json => {
            let turns: BTreeMap<&str, &Vec<&str>> = turns.iter().map(|(turn, ids)| (turn.name(), ids)).collect();
            print_json(
                &json!({"old": old.title(), "new": new.title(), "same_suite": same_suite(&old, &new), "turns": turns}),
            )?;
        }
    }
    let is_worse = [Turn::Regression, Turn::NewFinding].iter().any(|turn| turns.contains_key(turn));
    Ok(match (new.is_cut(), is_worse) {
        (_, true) => Exit::Findings,
        (true, false) => Exit::StoppedEarly,
        (false, false) => Exit::AsExpected,
    })
}

/// Whether both asked the same suite; `None` if one of them does not say.
fn same_suite(old: &KeptRun, new: &KeptRun) -> Option<bool> {
    Some(old.suite()? == new.suite()?)
}

fn told_turns(old: &KeptRun, new: &KeptRun, turns: &BTreeMap<Turn, Vec<&str>>) -> String {
    let mut out = format!("from {}\nto   {}\n", old.title(), new.title());
    if same_suite(old, new) == Some(false) {
        out.push_str("the suites differ\n");
    }
    let verdicts = |run: &KeptRun| -> BTreeMap<String, String> {
        let verdict =
            |case: &Value| (runs::id(case).to_string(), case["verdict"].as_str().unwrap_or_default().to_string());
        run.cases.iter().map(verdict).collect()
    };
    let (before, after) = (verdicts(old), verdicts(new));
    let verdict = |of: &BTreeMap<String, String>, id: &str| of.get(id).map_or("nothing", String::as_str).to_string();
    for turn in Turn::ALL {
        for id in turns.get(&turn).into_iter().flatten() {
            let _ = writeln!(out, "{}: {id}: {} -> {}", turn.name(), verdict(&before, id), verdict(&after, id));
        }
    }
    let count = |turn: &Turn| turns.get(turn).map_or(0, Vec::len);
    let sums: Vec<String> = Turn::ALL.iter().map(|turn| format!("{}: {}", turn.name(), count(turn))).collect();
    let _ = writeln!(out, "\n{}", sums.join("; "));
    out
}
