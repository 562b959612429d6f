//! The findings of a campaign in the form for all reports except the one for people, with the commands that repeat
//! their questions.

use std::path::Path;

use super::Args;
use crate::report::campaign::{CampaignReport, FindingRow, ReasonCount};
use crate::report::{DivergenceReport, campaign as pages, command_line, difference};
use crate::reports::{self, ReportKind};
use crate::{Exit, Failure, asking, note};
use ask::adapters::Adapter;
use campaign::infos::{self, Explanation, Pattern};
use campaign::trials::{CampaignTally, FailureKind, Finding, KnownForm, ProgramCampaign, StoredFinding};
use relax_spec::book::Rule;
use relax_spec::grammar::visible;
use relax_spec::suite::ledger::DeviationClass;

/// Writes the requested reports. `human` is the one for people.
pub(super) fn write(
    args: &Args,
    adapter: &Adapter,
    report: &CampaignReport,
    human: &dyn Fn() -> String,
) -> Result<(), Failure> {
    let suffix = if args.adapter.as_deref() == Some("tvm") { adapter.ledger_name() } else { None };
    reports::write(&args.reports, suffix.as_deref(), &|kind| match kind {
        ReportKind::Human => Ok(visible(&human()).into_owned()),
        ReportKind::Jsonl => pages::jsonl(report),
        ReportKind::Junit => pages::junit(report),
        ReportKind::Html => pages::html(report),
        ReportKind::Markdown => pages::markdown(report),
        ReportKind::Badge => pages::badge(report),
    })
}

/// Reports that no question was answered.
pub(super) fn nothing_ran(adapter: &Adapter) -> Exit {
    note(&format!("nothing ran: {adapter} answers none of the questions\n"));
    Exit::NothingRan
}

/// The rules named in a message.
fn named(message: &str) -> impl Iterator<Item = Rule> {
    message
        .split(|c: char| c.is_whitespace() || matches!(c, ',' | ':' | '(' | ')'))
        .filter_map(|word| word.parse().ok())
}

/// The options of a command line, in pairs.
struct Words(Vec<String>);

impl Words {
    fn new(command: &[&str]) -> Words {
        Words(["relax-spec"].iter().chain(command).map(ToString::to_string).collect())
    }

    fn option(&mut self, name: &str, value: Option<String>) {
        if let Some(value) = value {
            self.0.extend([name.to_string(), value]);
        }
    }

    fn list(&mut self, name: &str, values: &[String]) {
        self.option(name, Some(values.join(",")).filter(|_| !values.is_empty()));
    }
}

/// The command that asks the same questions of the campaign up to this number.
fn campaign_again(args: &Args, adapter: &Adapter, edition: String, number: u64) -> String {
    let mut words = Words::new(&["fuzz"]);
    let number_of = |given: Option<usize>| given.map(|n| n.to_string());
    words.option("--kind", (args.kind == super::FuzzSubject::Infos).then(|| "infos".to_string()));
    words.option("--adapter", Some(asking::name_of(adapter, args.adapter.as_deref())));
    words.option("--edition", Some(edition));
    words.option("--seed", Some(args.seed.to_string()));
    words.option("--runs", Some(number.saturating_add(1).to_string()));
    words.option("--expect", args.expect.as_ref().map(|path| path.display().to_string()));
    words.list("--operators", &args.operators);
    words.list("--rules", &args.rules);
    words.list("--only", &args.only);
    words.list("--without", &args.without);
    words.option("--bindings", number_of(args.bindings));
    words.list("--paths", &args.paths);
    words.0.extend(args.seeds.then(|| "--seeds".to_string()));
    words.option("--reduce", number_of(args.reduce));
    words.option("--timeout", Some(args.timeout.as_secs_f64().to_string()));
    command_line(&words.0)
}

/// The findings of a campaign of programs. `dir` is their directory.
pub(super) fn of_programs(
    args: &Args,
    adapter: &Adapter,
    campaign: &ProgramCampaign,
    stopped: bool,
    findings: &[&Finding],
    dir: Option<&Path>,
    known: &[KnownForm],
) -> CampaignReport {
    let CampaignTally { programs, ran, rejected, violations, unheld, questions, reducing, runs, lost, .. } =
        &campaign.tally;
    let reasons = |title: &'static str, counts: &std::collections::BTreeMap<String, u64>| {
        let mut reasons: Vec<ReasonCount> =
            counts.iter().map(|(reason, count)| ReasonCount { title, reason: reason.clone(), count: *count }).collect();
        reasons.sort_by_key(|reason| std::cmp::Reverse(reason.count));
        reasons
    };
    let again = |finding: &Finding| match dir {
        Some(dir) => {
            let mut words = Words::new(&["reproduce"]);
            words.0.push(dir.join(format!("{}.json", finding.signature.slug())).display().to_string());
            words.option("--adapter", Some(asking::name_of(adapter, args.adapter.as_deref())));
            words.option("--edition", Some(finding.edition.to_string()));
            words.option("--timeout", Some(args.timeout.as_secs_f64().to_string()));
            command_line(&words.0)
        }
        None => campaign_again(args, adapter, finding.edition.to_string(), finding.number),
    };
    CampaignReport {
        implementation: adapter.to_string(),
        edition: campaign.edition,
        about: "programs",
        tally: vec![
            ("programs", *programs),
            ("compiled and run", *ran),
            ("questions", *questions),
            ("questions to reduce", *reducing),
            ("processes lost", *lost),
            ("runs", runs.0),
            ("runs that reach the end on both sides", runs.1),
            ("programs that break one rule", *violations),
            ("programs not accepted here", rejected.len() as u64),
            ("programs without inputs", *unheld),
        ],
        reasons: [reasons("refused", &campaign.tally.refused), reasons("unsupported", &campaign.tally.unsupported)]
            .concat(),
        findings: findings.iter().map(|finding| of_program(finding, again(finding), known)).collect(),
        stopped,
    }
}

fn of_program(finding: &Finding, command: String, known: &[KnownForm]) -> FindingRow {
    // A known finding has the reason of its form, followed by its folder.
    let is_of = |form: &&KnownForm, why: &str| why.strip_prefix(&form.reason).is_some_and(is_folder);
    let form = finding.known.as_deref().and_then(|why| known.iter().find(|form| is_of(form, why)));
    // The signature has no numbers, and so lacks some ids.
    let words = [&finding.signature.message, &finding.message, &finding.expected];
    let clauses = form.and_then(|form| form.clause).into_iter().chain(words.into_iter().flat_map(|text| named(text)));
    let mut rules: Vec<String> = Vec::new();
    for rule in clauses.map(|rule| rule.to_string()) {
        if !rules.contains(&rule) {
            rules.push(rule);
        }
    }
    let input = StoredFinding::of(finding).ok().and_then(|kept| kept.input);
    let args: Vec<String> = input.iter().flatten().map(ToString::to_string).collect();
    let paths: Vec<String> = finding.paths.iter().cloned().collect();
    let started = match &input {
        Some(_) => format!("{}({}) by ", finding.entry, args.join(", ")),
        None => String::new(),
    };
    let then = if finding.then.is_some() { ", and then the second program in the same process" } else { "" };
    let expected = vec![finding.expected.clone()];
    FindingRow {
        id: finding.signature.slug(),
        form: finding.signature.to_string(),
        is_lost: matches!(finding.signature.kind, FailureKind::Crash | FailureKind::Hang | FailureKind::AdapterError),
        count: finding.count,
        seed: finding.seed,
        number: finding.number,
        known: finding.known.clone(),
        class: form.and_then(|form| form.class).map(DeviationClass::name),
        alone: finding.alone,
        message: finding.message.clone(),
        divergence: DivergenceReport {
            programs: [finding.program.clone()].into_iter().chain(finding.then.clone()).collect(),
            question: format!("{started}{}{then}", paths.join(", ")),
            diff: difference(&expected, &finding.given),
            expected,
            given: finding.given.clone(),
            rules,
            command,
            derivation: String::new(),
        },
        paths,
    }
}

/// Whether the rest is empty, or the folder of a finding.
fn is_folder(rest: &str) -> bool {
    rest.is_empty() || rest.starts_with(" (conformance/findings/")
}

/// The findings of a campaign of pairs.
pub(super) fn of_infos(
    args: &Args,
    adapter: &Adapter,
    campaign: &infos::InfoCampaign,
    stopped: bool,
    known: &[Pattern],
) -> CampaignReport {
    let finding = |finding: &infos::InfoDivergence| {
        let (reason, class) = match &finding.explanation {
            Explanation::Erratum(erratum) => (Some(format!("the literal text gives it ({erratum})")), None),
            Explanation::Known(at) => {
                known.get(*at).map_or((None, None), |p| (Some(p.reason.clone()), Some(p.class.name())))
            }
            Explanation::None => (None, None),
        };
        let infos::DivergenceSignature { op, rules, expected, given } = &finding.signature;
        let rules: Vec<String> = rules.iter().map(ToString::to_string).collect();
        let permitted: Vec<String> = finding.permitted.iter().map(ToString::to_string).collect();
        FindingRow {
            id: format!("{op}-{}", finding.number),
            form: format!("{op}: {given} for {expected}"),
            is_lost: false,
            count: u64::try_from(finding.count).unwrap_or(u64::MAX),
            paths: Vec::new(),
            seed: args.seed,
            number: finding.number,
            known: reason,
            class,
            alone: true,
            message: format!("{given} for {expected}"),
            divergence: DivergenceReport {
                programs: Vec::new(),
                question: finding.ask.in_full(),
                diff: difference(&permitted, &finding.given),
                expected: permitted,
                given: finding.given.clone(),
                rules,
                command: campaign_again(args, adapter, campaign.edition.to_string(), finding.number),
                derivation: String::new(),
            },
        }
    };
    CampaignReport {
        implementation: adapter.to_string(),
        edition: campaign.edition,
        about: "infos",
        tally: vec![("questions", campaign.asked), ("unsupported", campaign.unsupported)],
        reasons: Vec::new(),
        findings: campaign.findings.iter().map(finding).collect(),
        stopped,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_names_its_rules() {
        let message = "WF.5.BEFORE, SUB.TENSOR.RANK: x is y (EQ.CONST) at relax.add";
        let ids: Vec<&str> = named(message).map(Rule::id).collect();
        assert_eq!(ids, ["WF.5.BEFORE", "SUB.TENSOR.RANK", "EQ.CONST"]);
    }

    #[test]
    fn a_known_form_is_found_by_its_reason() {
        assert!(is_folder("") && is_folder(" (conformance/findings/x)") && !is_folder(" and more"));
    }
}
