//! `relax-spec fuzz`.

use std::time::Duration;

use indicatif::ProgressBar;

use super::{Exit, Failure, Outcome, print};
use crate::book::Edition;
use crate::conformance::adapters::Adapter;
use crate::conformance::campaign::{self, Campaign, Explanation, Finding, Pattern};
use crate::conformance::case::Ask;
use crate::conformance::ledger::Ledger;
use crate::conformance::outcome;
use crate::conformance::process::CommandLine;
use crate::conformance::worker::{After, Worker};

/// Ask an implementation random questions and hold its answers against what the text permits
///
/// Each run draws two structural informations and asks for their compatibility and their unification. A divergence is
/// cut down to a small question, and explained by an erratum, by a known form from the ledger
/// (conformance/ledger/tvm-judgements.ron), or not at all: that gives exit status 1.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  relax-spec fuzz --adapter tvm@0.25 --runs 20000 --seed 1
  relax-spec fuzz --adapter ./my-adapter --runs 1000")]
pub struct Args {
    /// `tvm` (both releases), `tvm@0.25`, `tvm@0.27`, or a command that speaks the protocol
    #[arg(long, value_name = "NAME|CMD")]
    adapter: Option<String>,
    /// How many pairs to ask
    #[arg(long, value_name = "N", default_value_t = 1_000)]
    runs: u64,
    #[arg(long, value_name = "S", default_value_t = 0)]
    seed: u64,
    /// Seconds that an answer may take
    #[arg(long, value_name = "S", default_value_t = 30)]
    timeout: u64,
}

/// How long an adapter may take to start.
const STARTUP: Duration = Duration::from_secs(120);

pub fn run(args: &Args) -> Outcome {
    let mut worst = Exit::AsExpected;
    if args.runs == 0 {
        return Err(Failure::new(Exit::NothingRan, "--runs 0 asks nothing"));
    }
    for adapter in Adapter::named(args.adapter.as_deref())? {
        let campaign = one(args, &adapter)?;
        worst = worst.max(if campaign.has_unexplained() { Exit::Findings } else { Exit::AsExpected });
    }
    Ok(worst)
}

fn one(args: &Args, adapter: &Adapter) -> Result<Campaign, Failure> {
    let known = known_forms(adapter)?;
    let mut implementation = Respawning::start(adapter.prepare()?, Duration::from_secs(args.timeout))?;
    let bar = ProgressBar::new(args.runs).with_message(adapter.to_string());
    let mut ask = |ask: &Ask| implementation.ask(ask);
    let campaign = campaign::judgements(args.seed, 0..args.runs, &known, &mut ask, &mut || bar.inc(1));
    bar.finish_and_clear();
    if let Some(error) = implementation.failure {
        return Err(error);
    }
    print(&report(adapter, &campaign, &known))?;
    Ok(campaign)
}

fn known_forms(adapter: &Adapter) -> Result<Vec<Pattern>, Failure> {
    // The releases of an implementation share their forms: `tvm-0.25` and `tvm-0.27` read `tvm-judgements`.
    let family = adapter.ledger_name().and_then(|name| name.split('-').next().map(str::to_string));
    let Some(name) = family.map(|family| format!("{family}-judgements")) else { return Ok(Vec::new()) };
    let Some(text) = Ledger::embedded(&name) else { return Ok(Vec::new()) };
    crate::book::ron_options().from_str(text).map_err(|error| Failure::unreadable(format!("ledger {name}: {error}")))
}

/// An adapter process that is started again when it is lost.
pub(super) struct Respawning {
    command: CommandLine,
    timeout: Duration,
    worker: Option<Worker>,
    pub(super) failure: Option<Failure>,
}

impl Respawning {
    pub(super) fn start(command: CommandLine, timeout: Duration) -> Result<Respawning, Failure> {
        let worker = Some(Worker::start(&command, STARTUP)?);
        Ok(Respawning { command, timeout, worker, failure: None })
    }

    pub(super) fn ask(&mut self, ask: &Ask) -> outcome::Outcome {
        if self.worker.is_none() && self.failure.is_none() {
            match Worker::start(&self.command, STARTUP) {
                Ok(worker) => self.worker = Some(worker),
                Err(error) => self.failure = Some(error.into()),
            }
        }
        let Some(worker) = &mut self.worker else {
            return outcome::Outcome::Unsupported { what: "the adapter cannot be started again".into() };
        };
        let (outcome, after) = worker.ask(Edition::default(), ask, self.timeout);
        match after {
            After::Usable => {}
            After::Lost => self.worker = None,
        }
        outcome
    }
}

fn report(adapter: &Adapter, campaign: &Campaign, known: &[Pattern]) -> String {
    let diverging: usize = campaign.findings.iter().map(|f| f.count).sum();
    let mut out = format!(
        "{adapter}: {} questions, {} unsupported, {diverging} divergences of {} forms\n",
        campaign.asked,
        campaign.unsupported,
        campaign.findings.len()
    );
    let mut findings: Vec<&Finding> = campaign.findings.iter().collect();
    findings.sort_by_key(|f| (f.explanation != Explanation::None, std::cmp::Reverse(f.count)));
    for finding in findings {
        out.push_str(&describe(finding, known));
    }
    out
}

fn describe(finding: &Finding, known: &[Pattern]) -> String {
    let why = match &finding.explanation {
        Explanation::Erratum(erratum) => format!("the literal text gives it ({erratum})"),
        Explanation::Known(at) => known.get(*at).map_or_else(String::new, |p| format!("known: {}", p.reason)),
        Explanation::None => "UNEXPLAINED".to_string(),
    };
    let permitted: Vec<String> = finding.permitted.iter().map(ToString::to_string).collect();
    let rules: Vec<&str> = finding.signature.rules.iter().map(|rule| rule.id()).collect();
    format!(
        "\n{} times: {why}\n  question   {}\n  permitted  {}\n  given      {}\n  rules      {}\n  number     {}\n",
        finding.count,
        finding.ask,
        permitted.join(" or "),
        finding.given,
        rules.join(", "),
        finding.number
    )
}
