//! `relax-spec conform`.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};

use super::reports::{ReportKind, ReportStreams, ReportTo};
use super::terminal::progress;
use super::{CommandResult, Exit, Failure, asking, note, options, print};
use crate::report::{self, Again, CaseRow, ConformanceReport, ReportError, RunHeader, runs};
use ask::adapters::Adapter;
use ask::checkout::{self, read_regular, write_atomically};
use ask::conformance;
use ask::implementation::{BoxedImplementation, Launch};
use ask::process::{Interrupt, MAX_REPLY};
use ask::runner::{self, CaseResult, ImplementationPool, RunResult, Seen, SuiteSchedule};
use ask::worker::StartError;
use campaign::diagnosis::diagnosis;
use relax_spec::book::{Basis, Edition, Proposal};
use relax_spec::oracle::Engine;
use relax_spec::question::Ask;
use relax_spec::suite::ledger::{Ledger, ObservedCase};
use relax_spec::suite::select::{Partition, SelectError, Selection, select};
use relax_spec::suite::{Case, coverage, read_suite};

/// The default of `--timeout`.
const TIMEOUT: Duration = Duration::from_secs(180);

/// Run the conformance suite against an implementation
///
/// Without --adapter the built-in oracle is asked, in worker processes of its own: once with the evaluator, once with
/// the virtual machine for programs that are run (builtin:evaluator and builtin:vm by name). Known divergences are kept
/// in ledgers (conformance/ledger); any other result, an unexpected pass included, gives exit status 1.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  relax-spec conform
  relax-spec conform 'unification/*' 'SI.UNIFY.*'
  relax-spec conform conformance/suite/types/subtyping.ron
  relax-spec conform --adapter tvm@0.25 --report human --report html=tvm.html
  relax-spec conform --adapter './my-adapter --fast' --expect my-ledger.ron -j 4")]
pub struct Args {
    /// Globs over case ids and rule ids, and files of cases (`.ron`); without any, the whole suite
    #[arg(value_name = "GLOB|FILE")]
    globs: Vec<String>,
    /// The directory with the suite [default: conformance/suite of the checkout, or the copy in the program]
    #[arg(long, value_name = "DIR")]
    suite: Option<PathBuf>,
    /// `builtin:evaluator`, `builtin:vm`, `tvm` (all releases), `tvm@0.26`, `tvm@/path/to/python`,
    /// `tvm-executables@0.26` (its executables, run on the machine of relax-spec), or a command that speaks the
    /// protocol
    #[arg(long, value_name = "NAME|CMD")]
    adapter: Option<String>,
    /// Worker processes [default: one per processor]
    #[arg(short, long, value_name = "N", value_parser = options::jobs)]
    jobs: Option<usize>,
    /// Run one part of the suite only, for example hash:1/4
    #[arg(long, value_name = "hash:I/N")]
    partition: Option<Partition>,
    /// The ledger of known divergences [default: the one of the adapter's name, if there is one]
    #[arg(long, value_name = "LEDGER")]
    expect: Option<PathBuf>,
    /// Rewrite the ledger so that it expects what was observed
    #[arg(long)]
    update_expect: bool,
    /// human, jsonl, junit, html, md or badge; with =PATH into a file [default: human]
    #[arg(long = "report", value_name = "KIND[=PATH]")]
    reports: Vec<ReportTo>,
    /// Time limit of an answer in seconds
    #[arg(long, value_name = "S", default_value = "180", value_parser = options::seconds)]
    timeout: Duration,
    /// How often a case is asked again after a crash or a time-out; a case whose outcome changes is flaky
    #[arg(long, value_name = "N", default_value_t = runner::RETRIES)]
    retries: usize,
    /// Time limit for starting the adapter in seconds
    #[arg(long, value_name = "S", default_value = "120", value_parser = options::seconds)]
    startup_timeout: Duration,
    /// Longest line that the adapter may write, in bytes, with K, M or G for powers of 1024; a longer one breaks the
    /// protocol
    #[arg(long, value_name = "BYTES", default_value = "64M", value_parser = options::bytes)]
    max_reply: u64,
    /// The edition by which the answers are judged [default: the one that the implementation claims]
    #[arg(long, value_name = "EDITION", value_parser = options::edition)]
    edition: Option<Edition>,
    /// Only the cases of a proposal, judged by it and the edition that it is made to: `unknown-purity`
    #[arg(long, value_name = "NAME", value_parser = options::proposal)]
    proposal: Option<Proposal>,
    /// Stop at the first finding that no ledger lists
    #[arg(long)]
    fail_fast: bool,
    /// Rewrite conformance/lock, which keeps the rules that each question about a program uses, and run nothing
    #[arg(long)]
    update_lock: bool,
    /// Only the cases with this word in their ids, rules, questions or reasons; given several times, with all of them
    #[arg(short = 'k', value_name = "WORD")]
    words: Vec<String>,
    /// Print the ids of the cases, and run nothing
    #[arg(long)]
    list: bool,
    /// Report known divergences in full, too
    #[arg(long)]
    all: bool,
}

impl From<SelectError> for Failure {
    fn from(error: SelectError) -> Failure {
        let exit = match &error {
            SelectError::Glob { .. } => Exit::Unreadable,
            SelectError::NoMatch { .. } | SelectError::Empty => Exit::NothingRan,
        };
        Failure::new(exit, error)
    }
}

pub fn run(args: &Args) -> CommandResult {
    let (suite, globs) = asked_of(args)?;
    if args.update_lock {
        return update_lock(&suite);
    }
    let selection = select(&suite, &globs, args.partition)?;
    let edition = by_edition(args)?;
    if let Some(edition) = edition {
        options::tell_of_preparation(edition);
        selection.of(&suite, edition)?;
    }
    if args.list {
        return list(args, &selection, &suite, edition.unwrap_or_default());
    }
    let adapters = asked(args)?;
    if adapters.len() > 1 && args.expect.is_some() {
        return Err(Failure::unreadable("--expect needs one implementation: name a version, for example tvm@0.25"));
    }
    let (mut ended, interrupt) = (None, asking::interrupt()?);
    for adapter in &adapters {
        // Without --adapter the main reports are those of the evaluator; those of the machine are beside them.
        let own = adapters.len() > 1 && *adapter != Adapter::Oracle(Engine::Evaluator);
        let suffix = if own { adapter.ledger_name() } else { None };
        let run = ConformanceRun {
            args,
            edition,
            suite: &suite,
            adapter,
            only_running: own && args.adapter.is_none() || adapter.only_runs(),
        };
        let exit = run.one(&selection, &interrupt, suffix.as_deref())?;
        ended = Some(ended.map_or(exit, |others: Exit| others.and(exit)));
    }
    Ok(ended.unwrap_or(Exit::NothingRan))
}

impl Args {
    /// Whether a selected case is of the proposal and has the words.
    fn is_wanted(&self, case: &Case) -> bool {
        let ids = |case: &Case| case.rules.iter().map(|rule| rule.id()).collect::<Vec<&str>>().join(" ");
        let text = || format!("{} {} {} {}", case.id, case.ask, case.why, ids(case)).to_lowercase();
        self.proposal.is_none_or(|proposal| case.proposal == Some(proposal))
            && (self.words.is_empty() || self.words.iter().all(|word| text().contains(&word.to_lowercase())))
    }
}

/// Prints the ids of the selected cases.
fn list(args: &Args, selection: &Selection, suite: &[Case], edition: Edition) -> CommandResult {
    let cases = selection.of(suite, edition)?;
    let ids: Vec<String> =
        cases.iter().filter(|case| args.is_wanted(case)).map(|case| format!("{}\n", case.id)).collect();
    print(&ids.concat())?;
    Ok(if ids.is_empty() { Exit::NothingRan } else { Exit::AsExpected })
}

/// The suite, with the globs over it. Files among the arguments replace the suite.
fn asked_of(args: &Args) -> Result<(Vec<Case>, Vec<String>), Failure> {
    let (files, globs): (Vec<&String>, Vec<&String>) = args.globs.iter().partition(|glob| is_case_file(glob));
    let suite = match (&args.suite, files.as_slice()) {
        (None, []) => conformance::suite()?,
        (Some(dir), []) => conformance::suite_in(dir)?,
        (None, files) => {
            let texts = files.iter().map(|file| Ok((file.as_str(), read_file(Path::new(file))?)));
            let texts = texts.collect::<Result<Vec<(&str, String)>, Failure>>()?;
            read_suite(texts.iter().map(|(file, text)| (*file, text.as_str())))?
        }
        (Some(_), [_, ..]) => {
            return Err(Failure::unreadable("--suite and a file of cases both say what the suite is"));
        }
    };
    Ok((suite, globs.into_iter().cloned().collect()))
}

/// Whether an argument is a file of cases. Ids of cases and rules have no such extension.
pub fn is_case_file(argument: &str) -> bool {
    Path::new(argument).extension().is_some_and(|extension| extension == "ron")
}

/// The requested edition, if any. A proposal determines its own.
fn by_edition(args: &Args) -> Result<Option<Edition>, Failure> {
    let Some(proposal) = args.proposal else { return Ok(args.edition) };
    let edition = args.edition.unwrap_or(proposal.base());
    Basis::new(edition, Some(proposal)).map_err(Failure::unreadable)?;
    Ok(Some(edition))
}

/// The cases that run a program. For all others both engines of the oracle are the same, and executables are not asked.
fn running<'c>(cases: &[&'c Case]) -> Vec<&'c Case> {
    let runs = |case: &&&Case| matches!(case.ask, Ask::Evaluate(..) | Ask::EvaluateIdentity(..));
    cases.iter().filter(runs).copied().collect()
}

/// The implementations to ask; without --adapter both engines of the oracle.
fn asked(args: &Args) -> Result<Vec<Adapter>, Failure> {
    let mut adapters = Adapter::named(args.adapter.as_deref(), args.startup_timeout)?;
    if args.adapter.is_none() && args.expect.is_none() && !args.update_expect {
        adapters.push(Adapter::Oracle(Engine::Machine));
    }
    Ok(adapters)
}

/// One implementation with the suite.
struct ConformanceRun<'a> {
    args: &'a Args,
    /// The requested edition of the judgement.
    edition: Option<Edition>,
    suite: &'a [Case],
    adapter: &'a Adapter,
    /// Whether only questions about running programs are asked.
    only_running: bool,
}

impl ConformanceRun<'_> {
    fn one(&self, selection: &Selection, interrupt: &Interrupt, suffix: Option<&str>) -> CommandResult {
        let args = self.args;
        let launch = self.launch(interrupt)?;
        let first = launch.start()?;
        let claimed = first.edition();
        let edition = self.edition.unwrap_or(claimed);
        let mut cases = selection.of(self.suite, edition)?;
        cases.retain(|case| args.is_wanted(case));
        let cases = if self.only_running { running(&cases) } else { cases };
        if cases.is_empty() {
            return Ok(Exit::NothingRan);
        }
        let version =
            self.adapter.ledger().map_or_else(|| first.identity().version.clone(), |name| name.version.into());
        let kept = ImplementationLedgers::read(
            args,
            self.adapter,
            &version,
            Some(edition).filter(|edition| *edition != claimed),
        )?;
        let ledger = kept.ledger();
        let again = self.again(edition);
        let streamed = if args.update_expect { &[][..] } else { &args.reports };
        let streams = ReportStreams::of(streamed, suffix)?;
        let header = RunHeader::new(first.identity(), edition, self.suite, cases.len());
        streams.line(&|| report::jsonl_header(&header));
        let see = |result: &CaseResult| {
            let Some(case) = cases.get(result.index) else { return true };
            streams.line(&|| report::jsonl_case(&CaseRow::new(case, result, &ledger, edition, &again)))
        };
        let result = self.ask_all(&cases, edition, first, &launch, &ledger, &see);
        let ids: BTreeSet<&str> = self.suite.iter().map(|case| case.id.as_str()).collect();
        if args.update_expect {
            return kept.update(&cases, &result, &ids, &version);
        }
        let mut report = ConformanceReport::new(&header, &cases, &result, &ledger, ledger.stale(&ids), &again);
        let is_known = |result: &CaseResult| {
            let id = cases.get(result.index).map_or("", |case| case.id.as_str());
            result.comparison.verdict.is_finding() && !ledger.standing(id, result.comparison.verdict).is_unexpected()
        };
        report.diagnosis = diagnosis(&cases, &result.results, edition, &is_known);
        streams.finish(&args.reports, suffix, &|| report::jsonl_sum(&report), &|kind| {
            report_as(kind, &report, args.all)
        })?;
        let exit = self.exit(&report);
        match result.failure {
            None | Some(StartError::Interrupted) => Ok(exit),
            Some(error) => Err(error.into()),
        }
    }

    fn launch(&self, interrupt: &Interrupt) -> Result<Launch, Failure> {
        Ok(Launch {
            command: asking::prepare(self.adapter, self.args.startup_timeout)?,
            timeout: self.args.timeout,
            startup: self.args.startup_timeout,
            max_reply: self.args.max_reply,
            edition: None,
            spare: false,
            interrupt: interrupt.clone(),
        })
    }

    fn exit(&self, report: &ConformanceReport) -> Exit {
        if !report.stopped && report.is_unanswered() {
            note(&format!("nothing ran: {} answers none of the questions\n", self.adapter));
            return Exit::NothingRan;
        }
        match (report.stopped, report.as_expected()) {
            (true, _) => Exit::StoppedEarly,
            (false, true) => Exit::AsExpected,
            (false, false) => Exit::Findings,
        }
    }

    /// The command that asks a single case again, with the same implementation, edition, ledger and limits.
    fn again(&self, edition: Edition) -> Again {
        let args = self.args;
        let mut words = vec!["relax-spec".to_string(), "conform".to_string()];
        let mut option = |name: &str, value: String| words.extend([name.to_string(), value]);
        option("--adapter", asking::name_of(self.adapter, args.adapter.as_deref()));
        option("--edition", edition.to_string());
        if let Some(path) = &args.expect {
            option("--expect", path.display().to_string());
        }
        for (name, given, usual) in
            [("--timeout", args.timeout, TIMEOUT), ("--startup-timeout", args.startup_timeout, asking::STARTUP)]
        {
            if given != usual {
                option(name, given.as_secs_f64().to_string());
            }
        }
        if args.retries != runner::RETRIES {
            option("--retries", args.retries.to_string());
        }
        if args.max_reply != MAX_REPLY {
            option("--max-reply", args.max_reply.to_string());
        }
        Again(words)
    }

    fn ask_all(
        &self,
        cases: &[&Case],
        edition: Edition,
        first: BoxedImplementation,
        launch: &Launch,
        ledger: &Ledger,
        see: &(dyn Fn(&CaseResult) -> bool + Sync),
    ) -> RunResult {
        let jobs = self.args.jobs.unwrap_or_else(|| std::thread::available_parallelism().map_or(1, usize::from));
        let bar = progress(ProgressBar::new(cases.len() as u64).with_message(self.adapter.to_string()));
        if let Ok(style) = ProgressStyle::with_template("{msg} [{bar:30}] {pos}/{len} {elapsed}") {
            bar.set_style(style);
        }
        let go_on = |result: &CaseResult, seen: Seen| {
            bar.inc(u64::from(seen == Seen::First));
            let id = cases.get(result.index).map_or("", |case| case.id.as_str());
            see(result) && !(self.args.fail_fast && ledger.standing(id, result.comparison.verdict).is_unexpected())
        };
        let pool = ImplementationPool { first, start: &|| launch.start() };
        let result = runner::run(cases, SuiteSchedule { edition, jobs, retries: self.args.retries }, pool, &go_on);
        bar.finish_and_clear();
        result
    }
}

/// The text of a report.
fn report_as(kind: ReportKind, report: &ConformanceReport, all: bool) -> Result<String, ReportError> {
    match kind {
        ReportKind::Human => Ok(report::human(report, all)),
        ReportKind::Jsonl => report::jsonl(report),
        ReportKind::Junit => report::junit(report),
        ReportKind::Html => report::html(&kept_run(report)?),
        ReportKind::Markdown => Ok(report::markdown(&kept_run(report)?)),
        ReportKind::Badge => report::badge(&kept_run(report)?),
    }
}

/// The run as its lines tell it, from which pages are made.
fn kept_run(report: &ConformanceReport) -> Result<Vec<runs::KeptRun>, ReportError> {
    Ok(runs::read(&report::jsonl(report)?).unwrap_or_default())
}

fn update_lock(suite: &[Case]) -> CommandResult {
    let root = checkout::root().ok_or_else(|| Failure::unreadable("--update-lock works inside a checkout only"))?;
    let dir = root.join("conformance/lock");
    let locks = coverage::locks(suite);
    for (chapter, text) in &locks {
        write_atomically(&dir.join(format!("{chapter}.lock")), text.as_bytes())?;
    }
    note(&format!("wrote the locks of {} chapters to {}\n", locks.len(), dir.display()));
    Ok(Exit::AsExpected)
}

/// The known divergences of an implementation.
struct ImplementationLedgers {
    /// The ledger of the edition that it claims.
    own: Ledger,
    /// The ledger of cases that only another edition has, if it is judged by that edition.
    other: Option<Ledger>,
    /// The path of the last ledger, even if it does not exist yet.
    path: Option<PathBuf>,
    /// The versions that share it.
    siblings: Vec<&'static str>,
}

impl ImplementationLedgers {
    /// Reads the ledgers. `other` is the edition of the judgement, if the implementation does not claim it.
    fn read(
        args: &Args,
        adapter: &Adapter,
        version: &str,
        other: Option<Edition>,
    ) -> Result<ImplementationLedgers, Failure> {
        if let Some(path) = &args.expect {
            let own = match path.exists() || !args.update_expect {
                true => parse(&read_file(path)?, version, &path.display().to_string())?,
                false => Ledger::default(),
            };
            return Ok(ImplementationLedgers { own, other: None, path: Some(path.clone()), siblings: Vec::new() });
        }
        let Some(name) = adapter.ledger() else {
            return Ok(ImplementationLedgers { own: Ledger::default(), other: None, path: None, siblings: Vec::new() });
        };
        let read = |edition| -> Result<Ledger, Failure> {
            let file = name.file(edition);
            let path = path_of(&file).filter(|path| path.exists());
            let text = match &path {
                Some(path) => read_file(path)?,
                None => conformance::ledger(&file).unwrap_or_else(|| "[]".to_string()),
            };
            parse(&text, version, &path.map_or(file, |path| path.display().to_string()))
        };
        let own = read(None)?;
        let beside = other.map(|edition| read(Some(edition))).transpose()?;
        Ok(ImplementationLedgers { own, other: beside, path: path_of(&name.file(other)), siblings: name.siblings })
    }

    fn ledger(&self) -> Ledger {
        match &self.other {
            Some(other) => self.own.clone().and(other),
            None => self.own.clone(),
        }
    }

    /// Entries for the claimed edition stay unchanged if another one is asked about.
    fn update(&self, cases: &[&Case], result: &RunResult, ids: &BTreeSet<&str>, version: &str) -> CommandResult {
        let path = self.path.as_ref().ok_or_else(|| {
            Failure::unreadable("--update-expect needs --expect LEDGER, or a named adapter inside a checkout")
        })?;
        let is_new = |case: &Case| self.other.is_none() || !self.own.lists(&case.id);
        let observed: Vec<ObservedCase> = result
            .results
            .iter()
            .filter_map(|result| Some((*cases.get(result.index)?, result)))
            .filter(|(case, _)| is_new(case))
            .map(|(case, result)| observed(case, result))
            .collect();
        let updated = self.other.as_ref().unwrap_or(&self.own).updated(&observed, ids, version, &self.siblings);
        write_atomically(path, updated.to_ron().map_err(Failure::unreadable)?.as_bytes())?;
        note(&format!("wrote {}\n", path.display()));
        Ok(Exit::AsExpected)
    }
}

/// The path of a ledger in a checkout.
fn path_of(file: &str) -> Option<PathBuf> {
    checkout::root().map(|root| root.join(format!("conformance/ledger/{file}.ron")))
}

fn read_file(path: &Path) -> Result<String, Failure> {
    read_regular(path).map_err(|error| Failure::unreadable(format!("{}: {error}", path.display())))
}

fn parse(text: &str, version: &str, place: &str) -> Result<Ledger, Failure> {
    Ledger::parse(text, version).map_err(|error| Failure::unreadable(format!("{place}: {error}")))
}

/// The reason of a new entry states the given and the expected answers, until someone writes a better one.
fn observed<'a>(case: &'a Case, result: &CaseResult) -> ObservedCase<'a> {
    let literal =
        result.comparison.literal.map(|erratum| format!("the literal text ({erratum}): ")).unwrap_or_default();
    let given = result.outcome.to_string().split_whitespace().collect::<Vec<&str>>().join(" ");
    let given: String = given.chars().take(LONGEST_GIVEN).collect();
    let reason = format!("{literal}{given}; the case: {}", case.why);
    ObservedCase { case: &case.id, verdict: result.comparison.verdict, reason }
}

/// The maximum length of an outcome in a ledger.
const LONGEST_GIVEN: usize = 160;
