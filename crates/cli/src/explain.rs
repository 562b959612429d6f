//! `relax-spec explain`.

use std::fmt::Write as _;
use std::process::{Command, Stdio};

use super::cite::{self, Cited};
use super::rules::{RuleRecords, RuleRow, status_name};
use super::{CommandResult, Exit, Failure, conflicts, conform, errata, explain_case, options, print, print_json};
use ask::checkout;
use ask::standing::{CaseCount, PremiseStanding};
use relax_spec::book::{Edition, Erratum, Proposal, Rule, Statement, or_meant, search};
use relax_spec::suite::knockout::Shows;

/// Show a rule: its text, the code that applies it, its golden cases, its errata; or a golden case
#[derive(clap::Args)]
#[command(after_help = "Examples:
  relax-spec explain SUB.TENSOR.RANK
  relax-spec explain 'E[WF.5.BEFORE]'
  relax-spec explain A17
  relax-spec explain match_cast
  relax-spec explain SI.COMPAT.TENSOR.DTYPE --edition 2023-12
  relax-spec explain C05
  relax-spec explain SUB.TENSOR.RANK --format latex
  relax-spec explain relax-spec --format bibtex
  relax-spec explain types/sub-rank
  relax-spec explain conformance/suite/types/subtyping.ron")]
pub struct Args {
    /// A rule id, the code of a diagnostic such as E[WF.5.BEFORE], an erratum, a conflict between documents, the id of
    /// a golden case, a file of cases, or words to look for in ids, headings and texts
    #[arg(value_name = "ID")]
    id: String,
    /// Show a rule or a case only as this edition has it [default: as each of them has it]
    #[arg(long, value_name = "EDITION", value_parser = options::edition)]
    edition: Option<Edition>,
    /// The rule that is in force under this proposal: the given one, or the one that takes precedence over it
    #[arg(long, value_name = "NAME", value_parser = options::proposal, conflicts_with = "edition")]
    proposal: Option<Proposal>,
    /// For a rule: its record in JSON, or its statement for a paper or a page. For a rule, an edition, or `relax-spec`,
    /// which is the whole: an entry for BibTeX
    #[arg(long, value_enum, default_value_t = RuleFormat::Human, conflicts_with = "proposal")]
    format: RuleFormat,
    /// Show the page of the rule in a browser, as `cargo xtask site` has made it
    #[arg(long, conflicts_with = "format")]
    open: bool,
}

/// `--format` of a rule.
#[derive(Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum RuleFormat {
    Human,
    Json,
    Latex,
    Markdown,
    Bibtex,
}

pub fn run(args: &Args) -> CommandResult {
    let id = strip_code(&args.id);
    if args.open {
        return open(id);
    }
    if args.format != RuleFormat::Human {
        return in_form(id, args);
    }
    if let Ok(rule) = id.parse::<Rule>() {
        if let Some(proposal) = args.proposal {
            let evidence = RuleRecords::kept()?;
            let stated = under(rule, proposal)?;
            return say(&stated.iter().map(|rule| explain(&evidence.row(*rule))).collect::<String>());
        }
        if let Some(edition) = args.edition {
            return say(&in_edition(rule, edition)?);
        }
        print(&explain(&RuleRecords::kept()?.row(rule)))?;
        return Ok(Exit::AsExpected);
    }
    if let Ok(errata) = Erratum::named(id) {
        for erratum in errata {
            print(&errata::one(erratum)?)?;
        }
        return Ok(Exit::AsExpected);
    }
    if let Some(conflict) = conflicts::one(id) {
        print(&conflict)?;
        return Ok(Exit::AsExpected);
    }
    if conform::is_case_file(id) {
        return say(&explain_case::explain_file(id, args.edition)?);
    }
    if explain_case::is_like_a_case(id) {
        if args.proposal.is_some() {
            return Err(Failure::unreadable(
                "--proposal is for rules: a case says by itself under which proposal it stands",
            ));
        }
        return say(&explain_case::explain(id, args.edition)?);
    }
    match by_words(id) {
        Some(found) => say(&found),
        None => Err(Failure::unreadable(unknown(id))),
    }
}

/// A rule or what else is cited, in the requested form.
fn in_form(id: &str, args: &Args) -> CommandResult {
    let rule = id.parse::<Rule>().ok();
    let text = match (args.format, rule, Cited::named(id)) {
        (RuleFormat::Bibtex, Some(rule), _) => Cited::Rule(rule).bibtex(),
        (RuleFormat::Bibtex, None, Some(cited)) => cited.bibtex(),
        (RuleFormat::Json, Some(rule), _) => {
            print_json(&RuleRecords::kept()?.row(rule).to_json())?;
            return Ok(Exit::AsExpected);
        }
        (RuleFormat::Latex, Some(rule), _) => cite::latex(rule, args.edition),
        (RuleFormat::Markdown, Some(rule), _) => cite::markdown(rule, args.edition),
        (RuleFormat::Human, Some(_), _) | (_, None, _) => return Err(Failure::unreadable(unknown(id))),
    };
    say(&text)
}

/// Shows the page of a rule, an erratum, or anything else with a page of its own.
fn open(id: &str) -> CommandResult {
    let root = checkout::root().ok_or_else(|| Failure::unreadable("--open works inside a checkout only"))?;
    let (kind, name) = match (id.parse::<Rule>(), Erratum::named(id)) {
        (Ok(rule), _) => ("rules", rule.id().to_string()),
        (Err(_), Ok(errata)) => ("errata", errata.first().map(|erratum| erratum.id().to_string()).unwrap_or_default()),
        (Err(_), Err(_)) => return Err(Failure::unreadable(unknown(id))),
    };
    let page = root.join(format!("target/site/{kind}/{name}.html"));
    if !page.is_file() {
        let message = format!("there is no {} (`cargo xtask site` makes it)", page.display());
        return Err(Failure::unreadable(message));
    }
    let opener = if cfg!(target_os = "macos") { "open" } else { "xdg-open" };
    let failed =
        |error: std::io::Error| Failure::unreadable(format!("{opener}: {error} (the page is {})", page.display()));
    Command::new(opener).arg(&page).stdout(Stdio::null()).stderr(Stdio::null()).spawn().map_err(failed)?;
    say(&format!("{}\n", page.display()))
}

/// One line for each rule and erratum that contains all the words; those with the words in the id come first. `None`
/// for text with dots, because it has the form of an id.
pub(super) fn by_words(text: &str) -> Option<String> {
    const SHOWN: usize = 30;
    let words: Vec<&str> = text.split_whitespace().collect();
    if words.iter().any(|word| word.contains('.')) {
        return None;
    }
    let rules = search(&words).into_iter().map(|(_, rule)| format!("{}  {}", rule.id(), sentence(rule.info().text)));
    let errata = Erratum::ALL.iter().map(|erratum| erratum_line(erratum.id()));
    let has_all = |line: &String| words.iter().all(|word| line.to_lowercase().contains(&word.to_lowercase()));
    let found: Vec<String> = rules.chain(errata.filter(has_all)).collect();
    let more = found.len().saturating_sub(SHOWN);
    let mut out: String = found.iter().take(SHOWN).map(|line| format!("{line}\n")).collect();
    if more > 0 {
        let _ = writeln!(out, "and {more} more: `relax-spec rules {text}` lists all rules");
    }
    (!found.is_empty()).then_some(out)
}

/// The first sentence.
fn sentence(text: &str) -> String {
    let line = text.split("\n\n").next().unwrap_or_default().replace('\n', " ");
    match line.find(". ") {
        Some(at) => line[..=at].to_string(),
        None => line,
    }
}

fn say(text: &str) -> CommandResult {
    print(text)?;
    Ok(Exit::AsExpected)
}

/// The rules of a proposal that replace this one, or that are this one.
fn under(rule: Rule, proposal: Proposal) -> Result<Vec<Rule>, Failure> {
    if let Some(stated) = rule.in_edition(proposal) {
        return Ok(vec![stated]);
    }
    let stands_over = |other: &&Rule| other.is_stated_by(proposal) && other.info().over.contains(&rule.id());
    let over: Vec<Rule> = Rule::ALL.iter().filter(stands_over).copied().collect();
    if over.is_empty() {
        let base = proposal.base();
        return Err(Failure::unreadable(format!(
            "neither edition {base} nor the proposal {proposal} has a rule {rule}"
        )));
    }
    Ok(over)
}

/// The text of a rule in one edition.
fn in_edition(rule: Rule, edition: Edition) -> Result<String, Failure> {
    let Some(stated) = rule.in_edition(edition) else {
        let info = rule.info();
        let of = info.proposal.map_or(info.editions.join(", "), |proposal| format!("the proposal {proposal}"));
        return Err(Failure::unreadable(format!("edition {edition} has no rule {rule} (it is of {of})")));
    };
    let statement = stated.statement(edition).into_iter();
    let renamed = if stated == rule { String::new() } else { format!(", which {rule} has become") };
    Ok(statement.map(|said| format!("{stated}{renamed}\n\n{}", stated_by(said, edition.name()))).collect())
}

/// The words of an edition, with their source.
fn stated_by(said: Statement, edition: &str) -> String {
    let mut out = String::new();
    for line in said.text.lines() {
        let _ = writeln!(out, "    {line}");
    }
    let kept = if said.edition == edition { String::new() } else { format!(", as in {}", said.edition) };
    let pending = if said.pending { "; not yet judged by" } else { "" };
    let _ = writeln!(out, "\nedition   {edition}{kept} ({}, source {}){pending}", said.kind, said.source);
    out
}

/// The words of later editions for a rule that they have changed.
fn later(rule: Rule) -> String {
    let restated = rule.info().later.iter().filter_map(|later| later.edition.parse::<Edition>().ok());
    let said = restated.filter_map(|edition| Some(stated_by(rule.statement(edition)?, edition.name())));
    said.map(|text| format!("{text}\n")).collect()
}

/// `WF.5.BEFORE` out of `E[WF.5.BEFORE]` or `W[WF.5.BEFORE]`.
fn strip_code(id: &str) -> &str {
    let inner = |prefix: &str| id.strip_prefix(prefix).and_then(|rest| rest.strip_suffix(']'));
    inner("E[").or_else(|| inner("W[")).unwrap_or(id)
}

/// The message that there is no such id, with the ids that begin like it.
fn unknown(id: &str) -> String {
    const SHOWN: usize = 12;
    let upper = id.to_ascii_uppercase();
    let near: Vec<&str> = Rule::ALL.iter().map(|rule| rule.id()).filter(|rule| rule.starts_with(&upper)).collect();
    let more = if near.len() > SHOWN { format!(" and {} more", near.len() - SHOWN) } else { String::new() };
    match near.as_slice() {
        [] => {
            let known = Rule::ALL.iter().map(|rule| rule.id()).chain(Erratum::ALL.iter().map(|erratum| erratum.id()));
            let meant = or_meant(&upper, known);
            format!("there is no rule or erratum `{id}`{meant} (`relax-spec rules` lists the rules)")
        }
        [only] => format!("there is no rule `{id}`; did you mean {only}?"),
        near => {
            let shown: Vec<&str> = near.iter().take(SHOWN).copied().collect();
            format!("there is no rule `{id}`; there are {}{more}", shown.join(", "))
        }
    }
}

fn explain(row: &RuleRow) -> String {
    let info = row.rule.info();
    let mut out = String::new();
    let _ = writeln!(out, "{}\n", info.id);
    for line in info.text.lines() {
        let _ = writeln!(out, "    {line}");
    }
    out.push('\n');
    out.push_str(&later(row.rule));
    let mut field = |name: &str, text: &str| {
        if !text.is_empty() {
            let _ = writeln!(out, "{name:<9} {text}");
        }
    };
    let chevron = if info.chevron { ", marked as absent from the prototype of the day" } else { "" };
    field("kind", &format!("{}{chevron}", info.kind));
    field("editions", &info.editions.join(", "));
    field("proposal", info.proposal.unwrap_or_default());
    field("over", &info.over.join(", "));
    list(&mut field, "replaced", &replaced(row.rule).iter().map(String::as_str).collect::<Vec<&str>>());
    field("stated at", &format!("{}:{} (source {})", info.file, info.line, info.source));
    field("succeeds", &info.succeeds.join(", "));
    field("needs", &info.needs.join(", "));
    let reason = info.excluded.map(|reason| format!(": {reason}")).unwrap_or_default();
    field("status", &format!("{}{reason}", status_name(row.rule.status())));
    if let Some((since, reason)) = info.excluded_since {
        field("excluded", &format!("from {since} on: {reason}"));
    }
    list(&mut field, "code", &row.sites);
    list(&mut field, "cases", &row.cases());
    field("knock-out", &knockout_line(row));
    let premises: Vec<String> = row.standing.iter().flat_map(|standing| &standing.premises).map(premise_line).collect();
    list(&mut field, "premises", &premises.iter().map(String::as_str).collect::<Vec<&str>>());
    let errata: Vec<String> = info.errata.iter().map(|id| erratum_line(id)).collect();
    list(&mut field, "errata", &errata.iter().map(String::as_str).collect::<Vec<&str>>());
    out
}

/// The replacements of a rule, with their proposals.
fn replaced(rule: Rule) -> Vec<String> {
    let over = |other: &&Rule| other.info().over.contains(&rule.id());
    let told = |other: &Rule| format!("by {other} under the proposal {}", other.info().proposal.unwrap_or_default());
    Rule::ALL.iter().filter(over).map(told).collect()
}

/// The effect of switching the rule off.
fn knockout_line(row: &RuleRow) -> String {
    let Some(standing) = row.standing else {
        return "not measured yet: the rule is newer than the record (`cargo xtask regenerate`)".to_string();
    };
    let why = row.why.as_deref().map(|why| format!(": {why}")).unwrap_or_default();
    match standing.shows {
        Shows::Panics => format!("panics without this rule, first in {}", some(&standing.panics)),
        Shows::Flips => format!(
            "flips: without this rule {} give another answer, such as {}",
            number(standing.flips.number),
            some(&standing.flips)
        ),
        Shows::Stuck => format!(
            "stuck: without this rule {} give no answer, such as {}{why}",
            number(standing.stuck.number),
            some(&standing.stuck)
        ),
        Shows::Survives => format!("redundant: {} give the same answers without it{why}", number(standing.same.number)),
        Shows::NoCase => row.why.as_deref().map(|why| format!("redundant: {why}")).unwrap_or_default(),
    }
}

fn premise_line(premise: &PremiseStanding) -> String {
    match &premise.fails_in {
        CaseCount { number: 0, .. } => format!("{}: fails in no case", premise.n),
        cases => format!("{}: fails in {}, such as {}", premise.n, number(cases.number), some(cases)),
    }
}

fn number(cases: usize) -> String {
    if cases == 1 { "1 case".to_string() } else { format!("{cases} cases") }
}

/// The first few.
fn some(cases: &CaseCount) -> String {
    cases.such_as.join(", ")
}

/// One item per line, the first with the name.
fn list(field: &mut impl FnMut(&str, &str), name: &str, items: &[&str]) {
    for (i, item) in items.iter().enumerate() {
        field(if i == 0 { name } else { "" }, item);
    }
}

fn erratum_line(id: &str) -> String {
    match id.parse::<Erratum>().map(Erratum::info) {
        Ok(Ok(info)) => format!("{id}: {}", info.title),
        Ok(Err(_)) | Err(_) => id.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_of_diagnostics_name_their_rule() {
        assert_eq!(strip_code("E[WF.5.BEFORE]"), "WF.5.BEFORE");
        assert_eq!(strip_code("W[WF.5.BEFORE]"), "WF.5.BEFORE");
        assert_eq!(strip_code("WF.5.BEFORE"), "WF.5.BEFORE");
    }

    #[test]
    fn a_near_miss_is_told() {
        assert!(unknown("si.unify").contains("SI.UNIFY."));
        assert!(unknown("nonsense").contains("there is no rule or erratum"));
    }
}
