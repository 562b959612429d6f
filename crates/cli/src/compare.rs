//! `relax-spec report`: pages from kept runs, and what changed between two of them.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use clap::Subcommand;
use serde_json::{Value, json};

use super::reports::{self, ReportKind, ReportTo};
use super::{CommandResult, Exit, Failure, options, print, print_json};
use crate::report::{self, runs};
use ask::checkout::read_regular;
use relax_spec::grammar::visible_json;
use relax_spec::suite::compare::CaseVerdict;
use runs::KeptRun;

/// Make pages from kept runs of the suite, and compare two of them
#[derive(clap::Args)]
#[command(after_help = "Examples:
  relax-spec conform --adapter tvm@0.27 --report jsonl=new.jsonl
  relax-spec report merge new.jsonl --report html=new.html
  relax-spec report merge part-1.jsonl part-2.jsonl --report jsonl=whole.jsonl --report md
  relax-spec report merge tvm-0.25.jsonl tvm-0.27.jsonl --report html=both.html
  relax-spec report diff old.jsonl new.jsonl

Exit status: as of the runs, or 1 where something is worse; 4 if two runs have no case in common; 5 if a run was cut short.")]
pub struct Args {
    #[command(subcommand)]
    command: ReportCommand,
}

#[derive(Subcommand)]
enum ReportCommand {
    Merge(Merge),
    Diff(RunDiff),
}

/// One report of several runs: parts of one run become one, others stand side by side
#[derive(clap::Args)]
struct Merge {
    /// JSON lines, as `conform --report jsonl=FILE` writes them, also of a run that was killed
    #[arg(value_name = "FILE", required = true)]
    files: Vec<PathBuf>,
    /// human, jsonl, html or md; with =PATH into a file [default: human]
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

pub fn run(args: &Args) -> CommandResult {
    match &args.command {
        ReportCommand::Merge(args) => merge(args),
        ReportCommand::Diff(args) => diff(args),
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
    if let Some(kind) = args.reports.iter().find(|report| report.is(ReportKind::Junit)) {
        return Err(Failure::unreadable(format!("{kind} is written by `conform` alone")));
    }
    reports::write(&args.reports, None, &|kind| match kind {
        ReportKind::Human | ReportKind::Junit => Ok(told(&runs)),
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

/// The relation of a case in two runs.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Turn {
    Regression,
    NewFinding,
    Fix,
    OtherVerdict,
    OtherAnswer,
    New,
    Gone,
}

impl Turn {
    const ALL: [Turn; 7] =
        [Turn::Regression, Turn::NewFinding, Turn::Fix, Turn::OtherVerdict, Turn::OtherAnswer, Turn::New, Turn::Gone];

    fn name(self) -> &'static str {
        match self {
            Turn::Regression => "regression",
            Turn::NewFinding => "finding in a new case",
            Turn::Fix => "fix",
            Turn::OtherVerdict => "other verdict",
            Turn::OtherAnswer => "other wrong answer",
            Turn::New => "new case",
            Turn::Gone => "case that is gone",
        }
    }

    /// The relation of two lines; `None` if nothing changed.
    fn of(old: Option<&Value>, new: Option<&Value>) -> Option<Turn> {
        let (old, new) = match (old, new) {
            (Some(old), Some(new)) => (old, new),
            (None, Some(new)) => return Some(if is_finding(new) { Turn::NewFinding } else { Turn::New }),
            (Some(_), None) => return Some(Turn::Gone),
            (None, None) => return None,
        };
        match (is_finding(old), is_finding(new)) {
            (false, true) => Some(Turn::Regression),
            (true, false) if new["verdict"] == CaseVerdict::Agree.name() => Some(Turn::Fix),
            _ if old["verdict"] != new["verdict"] => Some(Turn::OtherVerdict),
            (true, true) if old["divergence"]["given"] != new["divergence"]["given"] => Some(Turn::OtherAnswer),
            (true | false, true | false) => None,
        }
    }
}

fn is_finding(line: &Value) -> bool {
    CaseVerdict::ALL.iter().any(|verdict| line["verdict"] == verdict.name() && verdict.is_finding())
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
    let by_id = |run: &'_ KeptRun| -> BTreeMap<String, Value> {
        run.cases.iter().map(|case| (runs::id(case).to_string(), case.clone())).collect()
    };
    let (before, after) = (by_id(&old), by_id(&new));
    if !before.keys().any(|id| after.contains_key(id)) {
        return Err(Failure::new(Exit::NothingRan, "the two runs have no case in common"));
    }
    let mut turns: BTreeMap<Turn, Vec<&str>> = BTreeMap::new();
    for id in before.keys().chain(after.keys().filter(|id| !before.contains_key(*id))) {
        if let Some(turn) = Turn::of(before.get(id), after.get(id)) {
            turns.entry(turn).or_default().push(id);
        }
    }
    match args.format {
        options::ReportFormat::Human => print(&told_turns(&old, &new, &turns, &before, &after))?,
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

fn told_turns(
    old: &KeptRun,
    new: &KeptRun,
    turns: &BTreeMap<Turn, Vec<&str>>,
    before: &BTreeMap<String, Value>,
    after: &BTreeMap<String, Value>,
) -> String {
    let mut out = format!("from {}\nto   {}\n", old.title(), new.title());
    if same_suite(old, new) == Some(false) {
        out.push_str("the suites differ\n");
    }
    let verdict = |of: &BTreeMap<String, Value>, id: &str| {
        of.get(id).and_then(|line| line["verdict"].as_str()).unwrap_or("nothing").to_string()
    };
    for turn in Turn::ALL {
        for id in turns.get(&turn).into_iter().flatten() {
            let _ = writeln!(out, "{}: {id}: {} -> {}", turn.name(), verdict(before, id), verdict(after, id));
        }
    }
    let count = |turn: &Turn| turns.get(turn).map_or(0, Vec::len);
    let sums: Vec<String> = Turn::ALL.iter().map(|turn| format!("{}: {}", turn.name(), count(turn))).collect();
    let _ = writeln!(out, "\n{}", sums.join("; "));
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_finding_that_is_new_is_worse_and_one_that_is_gone_a_fix() {
        let line = |verdict: &str, given: &str| json!({"verdict": verdict, "divergence": {"given": given}});
        let of = |old: &Value, new: &Value| Turn::of(Some(old), Some(new)).map(Turn::name);
        let (agree, wrong, other) = (line("agree", ""), line("diverge", "1"), line("diverge", "2"));
        assert_eq!(of(&agree, &wrong), Some("regression"));
        assert_eq!(of(&line("unsupported", ""), &wrong), Some("regression"));
        assert_eq!(of(&wrong, &agree), Some("fix"));
        assert_eq!(of(&wrong, &other), Some("other wrong answer"));
        assert_eq!(of(&wrong, &line("unsupported", "")), Some("other verdict"));
        assert_eq!((of(&wrong, &wrong), of(&agree, &agree)), (None, None));
        assert_eq!(Turn::of(None, Some(&wrong)).map(Turn::name), Some("finding in a new case"));
    }
}
