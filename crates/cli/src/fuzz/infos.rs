//! `relax-spec fuzz --kind infos`.

use ask::conformance;
use indicatif::ProgressBar;

use super::{Args, told};
use crate::asking::{kept_to_the_protocol, start};
use crate::terminal::progress;
use crate::{CommandResult, Exit, Failure};
use ask::adapters::Adapter;
use ask::process::Interrupt;
use ask::worker::StartError;
use campaign::infos::{self, Explanation, InfoCampaign, InfoDivergence, Pattern};

/// The default number of pairs.
const RUNS: u64 = 1_000;

/// Rejects options that have no meaning here.
pub(super) fn refuse(args: &Args) -> Result<(), Failure> {
    let given = [
        ("--time", args.time.is_some()),
        ("--jobs", args.jobs.is_some()),
        ("--out", args.out.is_some()),
        ("--expect", args.expect.is_some()),
        ("--operators", !args.operators.is_empty()),
        ("--rules", !args.rules.is_empty()),
        ("--only", !args.only.is_empty()),
        ("--without", !args.without.is_empty()),
        ("--bindings", args.bindings.is_some()),
        ("--paths", !args.paths.is_empty()),
        ("--seeds", args.seeds),
        ("--reduce", args.reduce.is_some()),
        ("--coverage", args.coverage),
        ("--show", args.show.is_some()),
        ("--record", args.record.is_some()),
        ("--merge", !args.merge.is_empty()),
    ];
    let given: Vec<&str> = given.into_iter().filter(|(_, is_given)| *is_given).map(|(name, _)| name).collect();
    if given.is_empty() {
        return Ok(());
    }
    let few = "pairs are as many as --runs says, asked about one after the other, and what is found is printed";
    Err(Failure::unreadable(format!("{} cannot be used with --kind infos: {few}", given.join(", "))))
}

pub(super) fn run(args: &Args, adapter: &Adapter, interrupt: &Interrupt) -> CommandResult {
    let known = known_forms(adapter)?;
    let mut implementation = start(adapter, args.limits(), interrupt)?;
    let runs = args.runs.unwrap_or(RUNS);
    let bar = progress(ProgressBar::new(runs).with_message(adapter.to_string()));
    let (campaign, ended) = infos::judgements(args.seed, 0..runs, &known, &mut implementation, &mut || bar.inc(1));
    bar.finish_and_clear();
    let stopped = matches!(ended, Some(StartError::Interrupted));
    told::write(args, adapter, &told::of_infos(args, adapter, &campaign, ended.is_some(), &known), &|| {
        report(adapter, &campaign, &known)
    })?;
    match ended {
        None | Some(StartError::Interrupted) => kept_to_the_protocol(&mut implementation)?,
        Some(error) => return Err(error.into()),
    }
    Ok(match (stopped, campaign.asked == campaign.unsupported) {
        (true, _) => Exit::StoppedEarly,
        (false, true) => told::nothing_ran(adapter),
        (false, false) if campaign.has_unexplained() => Exit::Findings,
        (false, false) => Exit::AsExpected,
    })
}

fn known_forms(adapter: &Adapter) -> Result<Vec<Pattern>, Failure> {
    // The releases of an implementation share their forms: `tvm-0.25` and `tvm-0.27` read `tvm-judgements`.
    let family = adapter.ledger_name().and_then(|name| name.split('-').next().map(str::to_string));
    let Some(name) = family.map(|family| format!("{family}-judgements")) else { return Ok(Vec::new()) };
    let Some(text) = conformance::ledger(&name) else { return Ok(Vec::new()) };
    relax_spec::book::ron_options()
        .from_str(&text)
        .map_err(|error| Failure::unreadable(format!("ledger {name}: {error}")))
}

fn report(adapter: &Adapter, campaign: &InfoCampaign, known: &[Pattern]) -> String {
    let diverging: usize = campaign.findings.iter().map(|f| f.count).sum();
    let mut out = format!(
        "{adapter}, edition {}: {} questions, {} unsupported, {diverging} divergences of {} forms\n",
        campaign.edition,
        campaign.asked,
        campaign.unsupported,
        campaign.findings.len()
    );
    let mut findings: Vec<&InfoDivergence> = campaign.findings.iter().collect();
    findings.sort_by_key(|f| (f.explanation != Explanation::None, std::cmp::Reverse(f.count)));
    for finding in findings {
        out.push_str(&describe(finding, known));
    }
    out
}

fn describe(finding: &InfoDivergence, known: &[Pattern]) -> String {
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
