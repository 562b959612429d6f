//! `relax-spec fuzz --kind programs`.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use glob::Pattern;
use indicatif::ProgressBar;

use super::{Args, records, told};
use crate::asking::launch;
use crate::terminal::progress;
use crate::{CommandResult, Exit, Failure, note, print_program};
use ask::adapters::Adapter;
use ask::checkout::read_regular;
use ask::conformance;
use ask::implementation::Launch;
use ask::process::Interrupt;
use campaign::programs::{ConstructCensus, Features, ProgramSource, Restriction};
use campaign::trials::{
    CampaignError, CampaignSettings, CampaignTally, Coverage, FailureKind, Finding, FindingStore, KnownForm, Path,
    Paths, ProgramCampaign, TrialVerdict, campaign, merge,
};
use relax_spec::book::Rule;
use relax_spec::syntax::tvmscript::{Dialect, print_module};

/// The default number of programs, if neither a number nor a time is given.
const RUNS: u64 = 1_000;
/// The defaults for the maximum number of bindings of a program, the number of processes, and the number of questions
/// to reduce a finding.
const BINDINGS: usize = 200;
const JOBS: usize = 1;
const REDUCE: usize = 80;
/// The number of inputs for each program, in addition to those at its example sizes.
const INPUTS: usize = 2;
/// The number of counts on one line.
const COLUMNS: usize = 6;
/// The maximum number of refusals to list.
const LISTED: usize = 12;

impl From<CampaignError> for Failure {
    fn from(error: CampaignError) -> Failure {
        match error {
            CampaignError::Start(error) => error.into(),
            CampaignError::Store(error) => Failure::unreadable(error),
            error @ CampaignError::Record { .. } => Failure::unreadable(error),
        }
    }
}

pub(super) fn show(args: &Args, number: u64) -> CommandResult {
    let source = ProgramSource::of(&conformance::suite()?, restriction(args, &[])?);
    let drawn = source.program(args.seed, number);
    print_program(&print_module(&drawn.module, Dialect::default()))?;
    Ok(Exit::AsExpected)
}

pub(super) fn restriction(args: &Args, known: &[KnownForm]) -> Result<Restriction, Failure> {
    let pattern = |text: &String| Pattern::new(text).map_err(|error| Failure::unreadable(format!("{text}: {error}")));
    let features = features(args)?;
    for pattern in &args.rules {
        let is_one = |pattern: &Pattern| Rule::ALL.iter().any(|rule| pattern.matches(rule.id()));
        if !Pattern::new(pattern).is_ok_and(|pattern| is_one(&pattern)) {
            return Err(Failure::unreadable(format!(
                "no rule is called `{pattern}` (patterns are as in `SI.DERIVE.*`)"
            )));
        }
    }
    // Operators named on the command line are used, even if they have known divergences.
    let troubled: Vec<&String> = match args.operators.is_empty() {
        true => known.iter().flat_map(|form| &form.operators).collect(),
        false => Vec::new(),
    };
    Ok(Restriction {
        operators: args.operators.iter().map(pattern).collect::<Result<_, _>>()?,
        seldom: troubled.into_iter().map(pattern).collect::<Result<_, _>>()?,
        features,
        rules: args.rules.iter().map(pattern).collect::<Result<_, _>>()?,
        bindings: args.bindings.unwrap_or(BINDINGS),
        // A campaign generates programs by the edition of the judgement.
        edition: args.edition.unwrap_or_default(),
        ..Restriction::default()
    })
}

/// The features of programs: all except those excluded, or only those named.
fn features(args: &Args) -> Result<Features, Failure> {
    let mut left_out = Features::ALL;
    for name in args.without.iter().chain(&args.only) {
        if !left_out.without(name) {
            let all = Features::NAMES.join(", ");
            return Err(Failure::unreadable(format!("there is no feature `{name}` (there are {all})")));
        }
    }
    if args.only.is_empty() {
        return Ok(left_out);
    }
    let mut only = Features::ALL;
    for name in left_out.names() {
        // The name is known to be valid.
        only.without(name);
    }
    Ok(only)
}

/// The forms of known findings of an implementation.
fn known_forms(args: &Args, adapter: &Adapter) -> Result<Vec<KnownForm>, Failure> {
    let text = match &args.expect {
        Some(path) => {
            read_regular(path).map_err(|error| Failure::unreadable(format!("{}: {error}", path.display())))?
        }
        None => return forms_of(adapter),
    };
    read_forms(&text)
}

fn read_forms(text: &str) -> Result<Vec<KnownForm>, Failure> {
    KnownForm::parse(text).map_err(|error| Failure::unreadable(format!("the ledger of programs: {error}")))
}

/// The forms of the ledger of an implementation; its releases share them.
pub(crate) fn forms_of(adapter: &Adapter) -> Result<Vec<KnownForm>, Failure> {
    let family = adapter.ledger_name().and_then(|name| name.split('-').next().map(str::to_string));
    let name = family.map(|family| format!("{family}-programs"));
    read_forms(&name.and_then(|name| conformance::ledger(&name)).unwrap_or_else(|| "[]".to_string()))
}

/// A path on which a program differs as the ledger says.
pub(crate) fn told_of_known(path: &Path, form: &KnownForm) -> String {
    let folder = form.finding.as_ref().map(|folder| format!(" (conformance/findings/{folder})")).unwrap_or_default();
    format!("{path}: differs as known: {}{folder}\n", form.reason)
}

/// How the programs of a campaign are restricted, and what is done with them.
pub(super) fn plan(args: &Args, adapter: &Adapter) -> Result<(Restriction, CampaignSettings), Failure> {
    let known = known_forms(args, adapter)?;
    let restriction = restriction(args, &known)?;
    let paths = Paths::named(&args.paths).map_err(|name| {
        let all: Vec<String> = Path::all().iter().map(ToString::to_string).collect();
        Failure::unreadable(format!("there is no path `{name}` (there are {})", all.join(", ")))
    })?;
    let settings = CampaignSettings {
        seed: args.seed,
        programs: args.runs.or(if args.time.is_none() && args.merge.is_empty() { Some(RUNS) } else { None }),
        time: args.time,
        jobs: args.jobs.unwrap_or(JOBS),
        paths,
        runs: INPUTS,
        budget: args.reduce.unwrap_or(REDUCE),
        known,
        seeds: args.seeds,
    };
    Ok((restriction, settings))
}

/// Asks about the programs of a campaign, or takes what is recorded of them.
fn asked(
    args: &Args,
    (restriction, settings): (&Restriction, &CampaignSettings),
    launch: &Launch,
    store: &Mutex<FindingStore>,
    progress: &(dyn Fn() + Sync),
) -> Result<Result<ProgramCampaign, CampaignError>, Failure> {
    let suite = conformance::suite()?;
    let (start, interrupt) = (|| launch.start(), &launch.interrupt);
    if args.merge.is_empty() {
        return Ok(campaign(&suite, restriction, settings, &start, store, interrupt, progress));
    }
    let lines = records::lines(&args.merge)?;
    Ok(merge((&suite, restriction, settings), &start, store, interrupt, lines, progress))
}

pub(super) fn run(args: &Args, adapter: &Adapter, interrupt: &Interrupt) -> CommandResult {
    let (restriction, settings) = plan(args, adapter)?;
    // Each release has its own findings.
    let dir = args.out.as_ref().map(|dir| match adapter.ledger_name() {
        Some(name) if args.adapter.as_deref() == Some("tvm") => dir.join(name),
        Some(_) | None => dir.clone(),
    });
    let store = match &dir {
        Some(dir) => FindingStore::open(dir, args.seed).map_err(Failure::unreadable)?,
        None => FindingStore::in_memory(),
    };
    // Crashes are the aim of the search, and each costs a process.
    let launch = Launch { spare: true, ..launch(adapter, args.limits(), interrupt)? };
    let store = Mutex::new(store);
    let bar = progress(settings.programs.map_or_else(ProgressBar::new_spinner, ProgressBar::new))
        .with_message(adapter.to_string());
    let outcome = asked(args, (&restriction, &settings), &launch, &store, &|| bar.inc(1))?;
    bar.finish_and_clear();
    let store = store.into_inner().unwrap_or_else(PoisonError::into_inner);
    let findings = store.ranked();
    let told = |campaign: &ProgramCampaign, stopped| {
        told::of_programs(args, adapter, campaign, stopped, &findings, dir.as_deref(), &settings.known)
    };
    let campaign = match outcome {
        Ok(campaign) => campaign,
        Err(error) => {
            let found = || findings.iter().map(|finding| describe(finding)).collect::<String>();
            told::write(args, adapter, &told(&ProgramCampaign::default(), true), &found)?;
            return Err(error.into());
        }
    };
    let stopped = campaign.interrupted || campaign.missing.is_some();
    if let Some(number) = campaign.missing {
        note(&format!("program {number} is not recorded; what follows it is left for the next --merge\n"));
    }
    told::write(args, adapter, &told(&campaign, stopped), &|| {
        report(&adapter.to_string(), &campaign, &findings, args.coverage)
    })?;
    let is_unanswered = |tally: &CampaignTally| tally.questions == tally.unsupported.values().sum::<u64>();
    Ok(match &campaign {
        ProgramCampaign { .. } if stopped => Exit::StoppedEarly,
        ProgramCampaign { tally, .. } if is_unanswered(tally) => told::nothing_ran(adapter),
        ProgramCampaign { .. } if findings.iter().any(|finding| finding.known.is_none()) => Exit::Findings,
        ProgramCampaign { .. } => Exit::AsExpected,
    })
}

fn percent(part: u64, whole: u64) -> u64 {
    (part * 100).checked_div(whole).unwrap_or(0)
}

fn report(adapter: &str, campaign: &ProgramCampaign, findings: &[&Finding], whole: bool) -> String {
    let CampaignTally {
        programs,
        ran,
        rejected,
        violations,
        unheld,
        questions,
        reducing,
        passes,
        runs,
        lost,
        unsupported,
        refused,
        coverage,
        time,
    } = &campaign.tally;
    let millis = |time: Duration| u64::try_from(time.as_millis()).unwrap_or(u64::MAX);
    // A difference that does not occur in a fresh process is not a finding yet.
    let (findings, apart): (Vec<&Finding>, Vec<&Finding>) = findings.iter().partition(|finding| finding.alone);
    let unknown = findings.iter().filter(|finding| finding.known.is_none()).count();
    let bindings: usize = findings.iter().map(|finding| finding.bindings).sum();
    let accepted: u64 = findings.iter().filter(|f| f.signature.kind == FailureKind::Accepted).map(|f| f.count).sum();
    let mut out = format!(
        "{adapter}, edition {}: {programs} programs, {ran} compiled and run, {questions} questions and {reducing} to reduce, {lost} processes lost\n\
         {} runs, {}% reach the end on both sides; {}% of the time inside the implementation\n\
         {violations} programs that break one rule, {accepted} of them accepted\n\
         {} findings, {unknown} of them unknown, of {} bindings on average\n",
        campaign.edition,
        runs.0,
        percent(runs.1, runs.0),
        percent(millis(time.1), millis(time.0)),
        findings.len(),
        format_args!("{:.1}", bindings as f64 / findings.len().max(1) as f64),
    );
    if !apart.is_empty() {
        let _ = writeln!(out, "{} crashes that do not show alone, apart", apart.len());
    }
    if !rejected.is_empty() || *unheld > 0 {
        let _ = writeln!(out, "{} programs not accepted here, {unheld} without inputs", rejected.len());
    }
    // A mistake of the generator, for the developers of `relax-spec`.
    if let Some(first) = rejected.first() {
        let _ = writeln!(out, "  the first of them, {first}");
    }
    out.push_str(&covered(coverage, whole));
    if whole {
        listed(&mut out, "passes of the reducer, by what they made smaller", passes.iter());
    }
    out.push_str(&reasons("refused", refused));
    out.push_str(&reasons("unsupported", unsupported));
    findings.iter().chain(&apart).for_each(|finding| out.push_str(&describe(finding)));
    out
}

/// The reasons why programs or questions were set aside, the most frequent first.
fn reasons(title: &str, reasons: &BTreeMap<String, u64>) -> String {
    let mut out = String::new();
    let mut reasons: Vec<(&String, &u64)> = reasons.iter().collect();
    reasons.sort_by_key(|(_, count)| std::cmp::Reverse(**count));
    for (reason, count) in reasons.iter().take(LISTED) {
        let _ = writeln!(out, "  {title} {count} times: {reason}");
    }
    let rest: u64 = reasons.iter().skip(LISTED).map(|(_, count)| **count).sum();
    if rest > 0 {
        let _ = writeln!(out, "  {title} {rest} times for other reasons");
    }
    out
}

/// The constructs that occurred, with all counts if `whole`.
fn covered(coverage: &Coverage, whole: bool) -> String {
    let ConstructCensus { constructs, operators, bindings, programs } = &coverage.census;
    let all_constructs = ConstructCensus::CONSTRUCTS.len();
    let mut out = format!(
        "covered: {} of {all_constructs} constructs, {} operators, {} rules and {} pairs of them, {} bindings on average\n",
        constructs.len(),
        operators.len(),
        coverage.rules.len(),
        coverage.pairs.len(),
        format_args!("{:.1}", *bindings as f64 / (*programs).max(1) as f64),
    );
    if whole {
        listed(&mut out, "constructs, by the number of programs", constructs.iter());
        listed(&mut out, "operators, by the number of programs", operators.iter());
        listed(
            &mut out,
            "rules, by the number of programs",
            coverage.rules.iter().map(|(rule, count)| (rule.id(), count)),
        );
    }
    out
}

fn listed<'a, T: std::fmt::Display>(out: &mut String, title: &str, counts: impl Iterator<Item = (T, &'a u64)>) {
    let mut counts: Vec<(T, &u64)> = counts.collect();
    counts.sort_by_key(|(_, count)| **count);
    let _ = writeln!(out, "  {title}:");
    for line in counts.chunks(COLUMNS) {
        let line: Vec<String> = line.iter().map(|(name, count)| format!("{name} {count}")).collect();
        let _ = writeln!(out, "    {}", line.join(", "));
    }
}

fn describe(finding: &Finding) -> String {
    let why = finding.known.as_ref().map_or_else(|| "UNKNOWN".to_string(), |known| format!("known: {known}"));
    let paths: Vec<&str> = finding.paths.iter().map(String::as_str).collect();
    let mut out = format!(
        "\n{} times by {}: {}\n  {why}\n  number {} of seed {}\n",
        finding.count,
        paths.join(", "),
        finding.signature,
        finding.number,
        finding.seed
    );
    if finding.known.is_some() {
        return out;
    }
    let _ = writeln!(out, "  {}", finding.message.lines().next().unwrap_or_default());
    let _ = writeln!(out, "  expected {}\n  given    {}", brief(&finding.expected), brief(&finding.given));
    for line in finding.program.lines() {
        let _ = writeln!(out, "    {line}");
    }
    if let Some(then) = &finding.then {
        let _ = writeln!(out, "  when the same process is asked this next:");
        for line in then.lines() {
            let _ = writeln!(out, "    {line}");
        }
    }
    out
}

fn brief(text: &str) -> String {
    const MOST: usize = 400;
    let line = text.replace('\n', " ");
    match line.char_indices().nth(MOST) {
        Some((at, _)) => format!("{} ..", line.get(..at).unwrap_or_default()),
        None => line,
    }
}

/// The results of all questions about one program.
pub(crate) fn told_of_paths(told: &[(Path, TrialVerdict)]) -> String {
    let mut out = String::new();
    for (path, judged) in told {
        let _ = match judged {
            TrialVerdict::Agrees { runs: 0, .. } => writeln!(out, "{path}: agrees"),
            TrialVerdict::Agrees { ended, runs } => {
                writeln!(out, "{path}: agrees, {ended} of {runs} runs reach the end")
            }
            TrialVerdict::Unsupported(what) => writeln!(out, "{path}: unsupported: {what}"),
            TrialVerdict::Differs(difference) => writeln!(
                out,
                "{path}: DIFFERS: {}\n  {}\n  expected {}\n  given    {}",
                difference.signature,
                brief(&difference.message),
                brief(&difference.expected),
                brief(&difference.given)
            ),
        };
    }
    out
}
