//! `relax-spec fuzz`.

use std::time::Duration;

use indicatif::ProgressBar;

use super::asking::{interrupt, kept_to_the_protocol, start};
use super::{Exit, Failure, Outcome, options, print};
use crate::harness::adapters::Adapter;
use crate::harness::campaign::{self, Campaign, Divergence, Explanation, Pattern};
use crate::harness::process::Interrupt;
use crate::suite::ledger::Ledger;

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
    /// `tvm` (all releases), `tvm@0.26`, `tvm@/path/to/python`, or a command that speaks the protocol
    #[arg(long, value_name = "NAME|CMD")]
    adapter: Option<String>,
    /// How many pairs to ask
    #[arg(long, value_name = "N", default_value_t = 1_000)]
    runs: u64,
    #[arg(long, value_name = "S", default_value_t = 0)]
    seed: u64,
    /// Seconds that an answer may take
    #[arg(long, value_name = "S", default_value = "30", value_parser = options::seconds)]
    timeout: Duration,
}

pub fn run(args: &Args) -> Outcome {
    let mut worst = Exit::AsExpected;
    if args.runs == 0 {
        return Err(Failure::new(Exit::NothingRan, "--runs 0 asks nothing"));
    }
    let interrupt = interrupt()?;
    for adapter in Adapter::named(args.adapter.as_deref())? {
        let campaign = one(args, &adapter, &interrupt)?;
        worst = worst.max(if campaign.has_unexplained() { Exit::Findings } else { Exit::AsExpected });
    }
    Ok(worst)
}

fn one(args: &Args, adapter: &Adapter, interrupt: &Interrupt) -> Result<Campaign, Failure> {
    let known = known_forms(adapter)?;
    let mut implementation = start(adapter, args.timeout, interrupt)?;
    let bar = ProgressBar::new(args.runs).with_message(adapter.to_string());
    let campaign = campaign::judgements(args.seed, 0..args.runs, &known, &mut implementation, &mut || bar.inc(1));
    bar.finish_and_clear();
    let campaign = campaign?;
    kept_to_the_protocol(&mut implementation)?;
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

fn report(adapter: &Adapter, campaign: &Campaign, known: &[Pattern]) -> String {
    let diverging: usize = campaign.findings.iter().map(|f| f.count).sum();
    let mut out = format!(
        "{adapter}: {} questions, {} unsupported, {diverging} divergences of {} forms\n",
        campaign.asked,
        campaign.unsupported,
        campaign.findings.len()
    );
    let mut findings: Vec<&Divergence> = campaign.findings.iter().collect();
    findings.sort_by_key(|f| (f.explanation != Explanation::None, std::cmp::Reverse(f.count)));
    for finding in findings {
        out.push_str(&describe(finding, known));
    }
    out
}

fn describe(finding: &Divergence, known: &[Pattern]) -> String {
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
