//! `relax-spec editions`.

use std::fmt::Write as _;

use clap::Subcommand;
use serde_json::{Value, json};

use super::errata::{answer, listing, programs_of};
use super::errata_text::field;
use super::{CommandResult, Exit, Failure, options, print};
use ask::conformance;
use ask::protocol::AdapterReply;
use campaign::editions::releases::{self, Confirmed, Unconfirmed};
use campaign::editions::{Flip, FlipEvidence, RuleDifference, Why, between};
use relax_spec::book::{Change, Edition, Rule};
use relax_spec::data::json::to_value;

/// List the editions of the specification, or show what two of them judge differently
#[derive(clap::Args)]
pub struct Args {
    #[command(subcommand)]
    command: Option<EditionsCommand>,
}

#[derive(Subcommand)]
enum EditionsCommand {
    Diff(Diff),
}

/// Show the rules by which the answers of two editions differ, each with the smallest question that shows it
///
/// The questions of the golden cases, the witnesses of errata and generated questions are asked in both editions. If
/// the answers differ, each rule that they record and that is not the same in both editions is removed from both, or
/// knocked out. The effect is printed after the name of the rule: "without it" and "knocked out" mean that the answers
/// then agree. `TVM` is a golden case that shows the rule too, with the result for each release.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  relax-spec editions diff 2023-02 2023-12
  relax-spec editions diff 2023-12 2024-04 NF.UNIT. PRIMFUNC.
  relax-spec editions diff 2023-12 2024-04 --json | jq -r 'select(.shown) | .rule'")]
struct Diff {
    #[arg(value_parser = options::edition)]
    from: Edition,
    #[arg(value_parser = options::edition)]
    to: Edition,
    /// Prefixes of rule ids; by default, all rules that are not the same in both
    #[arg(value_name = "PREFIX")]
    prefixes: Vec<String>,
    /// One JSON object per line
    #[arg(long)]
    json: bool,
}

pub fn run(args: &Args) -> CommandResult {
    match &args.command {
        None => print(&editions())?,
        Some(EditionsCommand::Diff(args)) => print(&diff(args)?)?,
    }
    Ok(Exit::AsExpected)
}

/// One line for each edition: the number of its rules, and the changes to those of the edition before.
fn editions() -> String {
    let mut out = String::new();
    let mut before: Option<Edition> = None;
    for edition in Edition::ALL {
        let stated = Rule::ALL.iter().filter(|rule| rule.is_stated_by(edition)).count();
        let _ = write!(out, "{edition}  {stated:>4} rules");
        if let Some(before) = before {
            let counts = Change::ALL.map(|change| {
                let count = Rule::ALL.iter().filter(|rule| rule.change(before, edition) == Some(change)).count();
                format!("{count} {}", change.name())
            });
            let _ = write!(out, "; since {before}: {}", counts.join(", "));
        }
        let pending = Rule::ALL.iter().filter(|rule| rule.is_pending_in(edition)).count();
        let _ = writeln!(out, "; {pending} pending{}", if edition == Edition::default() { " (default)" } else { "" });
        before = Some(edition);
    }
    out
}

fn diff(args: &Diff) -> Result<String, Failure> {
    let mut differences = between(&conformance::suite()?, args.from, args.to)?;
    let wanted = |rule: Rule| args.prefixes.iter().any(|prefix| rule.id().starts_with(prefix.as_str()));
    differences.retain(|difference| args.prefixes.is_empty() || wanted(difference.rule));
    if args.json {
        let asked = ConfirmationRecord::kept()?;
        let line = |difference: &RuleDifference| {
            to_json(args, difference, asked.case(args, difference.rule)).to_string() + "\n"
        };
        return Ok(differences.iter().map(line).collect());
    }
    let (shown, silent): (Vec<&RuleDifference>, Vec<&RuleDifference>) =
        differences.iter().partition(|difference| matches!(difference.shown, FlipEvidence::By(_)));
    let (mut out, asked) = (String::new(), ConfirmationRecord::kept()?);
    shown.iter().for_each(|difference| show(&mut out, args, difference, asked.told(args, difference.rule).as_deref()));
    let _ = writeln!(out, "no difference found:");
    silent.iter().for_each(|difference| {
        let _ = writeln!(out, "{}  {}  {}", difference.rule, difference.change.name(), reason(args, &difference.shown));
    });
    let literal = shown.iter().filter(|difference| literally(difference).is_some()).count();
    let _ = writeln!(
        out,
        "\n{} rules are not the same in {} and {}: {} are shown, {literal} of them in a literal reading only; {} are not",
        differences.len(),
        args.from,
        args.to,
        shown.len(),
        silent.len()
    );
    Ok(out)
}

fn literally(difference: &RuleDifference) -> Option<&'static str> {
    match &difference.shown {
        FlipEvidence::By(flip) => flip.literally.map(|erratum| erratum.id()),
        FlipEvidence::Not(_) => None,
    }
}

fn show(out: &mut String, args: &Diff, difference: &RuleDifference, tvm: Option<&str>) {
    let FlipEvidence::By(flip) = &difference.shown else { return };
    let _ = writeln!(out, "{} ({}, {})", difference.rule, difference.change.name(), flip.evidence.name());
    field(out, "reading", &reading(flip));
    field(out, "question", &format!("{} ({}; size {})", flip.ask, flip.id, flip.size));
    programs_of(&flip.ask).iter().for_each(|text| listing(out, text));
    answer(out, args.from.name(), &flip.before);
    answer(out, args.to.name(), &flip.after);
    if let Some(tvm) = tvm {
        field(out, "TVM", tvm);
    }
    out.push('\n');
}

/// The stored record of the cases that TVM was asked, and of the rules about which it cannot be asked.
struct ConfirmationRecord {
    confirmed: Vec<Confirmed>,
    unasked: Vec<Unconfirmed>,
}

impl ConfirmationRecord {
    fn kept() -> Result<ConfirmationRecord, Failure> {
        let confirmed = releases::kept().map_err(Failure::unreadable)?;
        Ok(ConfirmationRecord { confirmed, unasked: releases::unasked().map_err(Failure::unreadable)? })
    }

    /// The case of a rule.
    fn case(&self, args: &Diff, rule: Rule) -> Option<&Confirmed> {
        self.confirmed.iter().find(|one| one.rule == rule && one.is_between(args.from, args.to))
    }

    /// The text about a rule: the case with its answers, or the reason why there are none.
    fn told(&self, args: &Diff, rule: Rule) -> Option<String> {
        let case = self.case(args, rule).map(|one| {
            let answers = one.answers.iter().map(|(release, verdict)| format!("{release} {verdict}"));
            format!("{}: {}", one.case, answers.collect::<Vec<String>>().join(", "))
        });
        let about = |one: &&Unconfirmed| one.rule == rule && one.is_between(args.from, args.to);
        let reason = self.unasked.iter().find(about).map(|one| one.reason.clone());
        let said: Vec<String> = case.into_iter().chain(reason).collect();
        (!said.is_empty()).then(|| said.join("; "))
    }
}

fn reading(flip: &Flip) -> String {
    flip.literally.map_or_else(|| "corrected".to_string(), |erratum| format!("literal of {erratum}"))
}

/// The reason why nothing is shown.
fn reason(args: &Diff, shown: &FlipEvidence) -> String {
    match shown {
        FlipEvidence::By(_) => String::new(),
        FlipEvidence::Not(Why::Excluded(reason)) => format!("excluded: {reason}"),
        FlipEvidence::Not(Why::Pending) => "pending: nothing follows its words yet".to_string(),
        FlipEvidence::Not(Why::Renumbered) => "another number, the same words".to_string(),
        FlipEvidence::Not(Why::SameAnswers(count)) => {
            format!("recorded by {} that {} not differ by it", answers(*count), if *count == 1 { "does" } else { "do" })
        }
        FlipEvidence::Not(Why::OneEdition(count)) => {
            format!("recorded by {} to questions that {} and {} do not both have", answers(*count), args.from, args.to)
        }
        FlipEvidence::Not(Why::Unasked) => "no answer records it".to_string(),
    }
}

fn answers(count: usize) -> String {
    if count == 1 { "1 answer".to_string() } else { format!("{count} answers") }
}

fn to_json(args: &Diff, difference: &RuleDifference, confirmed: Option<&Confirmed>) -> Value {
    let mut value = json!({
        "rule": difference.rule.id(),
        "change": difference.change.name(),
        "from": args.from.name(),
        "to": args.to.name(),
        "shown": Value::Null,
        "tvm": confirmed.map(|one| json!({ "case": one.case, "answers": one.answers })),
        "why": Value::Null,
    });
    match &difference.shown {
        FlipEvidence::By(flip) => {
            value["shown"] = json!({
                "id": flip.id,
                "question": to_value(&flip.ask),
                "size": flip.size,
                "literally": flip.literally.map(|erratum| erratum.id()),
                "evidence": flip.evidence.name(),
                "from": to_value(&AdapterReply::of(&flip.before)),
                "to": to_value(&AdapterReply::of(&flip.after)),
            });
        }
        FlipEvidence::Not(_) => value["why"] = json!(reason(args, &difference.shown)),
    }
    value
}
