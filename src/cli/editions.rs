//! `relax-spec editions`.

use std::fmt::Write as _;

use clap::Subcommand;
use serde_json::{Value, json};

use super::errata::{answer, listing, programs_of};
use super::errata_text::field;
use super::{Exit, Failure, Outcome, options, print};
use crate::book::{Change, Edition, Rule};
use crate::data::json::to_value;
use crate::harness::editions::{Difference, Flip, Shown, Why, between};
use crate::harness::protocol::Reply;
use crate::suite::embedded_suite;

/// List the editions of the specification, or show what two of them judge differently
#[derive(clap::Args)]
pub struct Args {
    #[command(subcommand)]
    command: Option<Command>,
}

#[derive(Subcommand)]
enum Command {
    Diff(Diff),
}

/// Show the rules by which the answers of two editions differ, each with the smallest question that shows it
///
/// The questions of the golden cases, the witnesses of errata and generated ones are asked in both editions. Where the answers differ,
/// each rule that they record and that is not the same in both editions is taken out of both, or knocked out, and what that shows is told behind its
/// name. "Without it" and "knocked out": the answers are the same then.
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
    /// Beginnings of rule ids; without any, all that are not the same in both
    #[arg(value_name = "PREFIX")]
    prefixes: Vec<String>,
    /// One JSON object a line
    #[arg(long)]
    json: bool,
}

pub fn run(args: &Args) -> Outcome {
    match &args.command {
        None => print(&editions())?,
        Some(Command::Diff(args)) => print(&diff(args)?)?,
    }
    Ok(Exit::AsExpected)
}

/// A line for each edition: how many rules it states, and what becomes of those of the edition before it.
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
    let mut differences = between(&embedded_suite()?, args.from, args.to)?;
    let wanted = |rule: Rule| args.prefixes.iter().any(|prefix| rule.id().starts_with(prefix.as_str()));
    differences.retain(|difference| args.prefixes.is_empty() || wanted(difference.rule));
    if args.json {
        let line = |difference: &Difference| to_json(args, difference).to_string() + "\n";
        return Ok(differences.iter().map(line).collect());
    }
    let (shown, silent): (Vec<&Difference>, Vec<&Difference>) =
        differences.iter().partition(|difference| matches!(difference.shown, Shown::By(_)));
    let mut out = String::new();
    shown.iter().for_each(|difference| show(&mut out, args, difference));
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

fn literally(difference: &Difference) -> Option<&'static str> {
    match &difference.shown {
        Shown::By(flip) => flip.literally.map(|erratum| erratum.id()),
        Shown::Not(_) => None,
    }
}

fn show(out: &mut String, args: &Diff, difference: &Difference) {
    let Shown::By(flip) = &difference.shown else { return };
    let _ = writeln!(out, "{} ({}, {})", difference.rule, difference.change.name(), flip.evidence.name());
    field(out, "reading", &reading(flip));
    field(out, "question", &format!("{} ({}; size {})", flip.ask, flip.id, flip.size));
    programs_of(&flip.ask).iter().for_each(|text| listing(out, text));
    answer(out, args.from.name(), &flip.before);
    answer(out, args.to.name(), &flip.after);
    out.push('\n');
}

fn reading(flip: &Flip) -> String {
    flip.literally.map_or_else(|| "corrected".to_string(), |erratum| format!("literal of {erratum}"))
}

/// Why nothing is shown.
fn reason(args: &Diff, shown: &Shown) -> String {
    match shown {
        Shown::By(_) => String::new(),
        Shown::Not(Why::Excluded(reason)) => format!("excluded: {reason}"),
        Shown::Not(Why::Pending) => "pending: nothing follows its words yet".to_string(),
        Shown::Not(Why::Renumbered) => "another number, the same words".to_string(),
        Shown::Not(Why::SameAnswers(count)) => {
            format!("recorded by {} that {} not differ by it", answers(*count), if *count == 1 { "does" } else { "do" })
        }
        Shown::Not(Why::OneEdition(count)) => {
            format!("recorded by {} to questions that {} and {} do not both have", answers(*count), args.from, args.to)
        }
        Shown::Not(Why::Unasked) => "no answer records it".to_string(),
    }
}

fn answers(count: usize) -> String {
    if count == 1 { "1 answer".to_string() } else { format!("{count} answers") }
}

fn to_json(args: &Diff, difference: &Difference) -> Value {
    let mut value = json!({
        "rule": difference.rule.id(),
        "change": difference.change.name(),
        "from": args.from.name(),
        "to": args.to.name(),
        "shown": Value::Null,
        "why": Value::Null,
    });
    match &difference.shown {
        Shown::By(flip) => {
            value["shown"] = json!({
                "id": flip.id,
                "question": to_value(&flip.ask),
                "size": flip.size,
                "literally": flip.literally.map(|erratum| erratum.id()),
                "evidence": flip.evidence.name(),
                "from": to_value(&Reply::of(&flip.before)),
                "to": to_value(&Reply::of(&flip.after)),
            });
        }
        Shown::Not(_) => value["why"] = json!(reason(args, &difference.shown)),
    }
    value
}
