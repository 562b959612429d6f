//! `relax-spec explain` of a golden case.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use super::Failure;
use crate::report;
use ask::checkout::{self, read_regular};
use ask::conformance::{self, DataDirectory, KeptFile};
use relax_spec::book::{Edition, Rule, or_meant};
use relax_spec::question::Answer;
use relax_spec::suite::accuracy::Within;
use relax_spec::suite::{Case, read_cases};

/// Whether an id has the form of a case id. Ids of rules have no `/`.
pub fn is_like_a_case(id: &str) -> bool {
    id.contains('/')
}

/// A case, with its file and the way to ask it.
struct CaseSource {
    case: Case,
    file: String,
    asked_by: String,
}

/// A case by its id, as an edition states it if one is requested.
pub fn explain(id: &str, edition: Option<Edition>) -> Result<String, Failure> {
    let found = match of_suite(id)? {
        Some(found) => Some(found),
        None => of_findings()?.into_iter().find(|found| found.case.id == id),
    };
    let Some(found) = found else { return Err(Failure::unreadable(unknown(id)?)) };
    told_in(found, edition)
}

/// The cases of a file, as an edition states them if one is requested.
pub fn explain_file(file: &str, edition: Option<Edition>) -> Result<String, Failure> {
    let text = read_regular(Path::new(file)).map_err(|error| Failure::unreadable(format!("{file}: {error}")))?;
    let cases = read_cases(file, &text)?.into_iter();
    let asked = cases.filter(|case| edition.is_none_or(|edition| case.is_asked_in(edition)));
    let asked_by = format!("relax-spec conform {file}");
    let told =
        asked.map(|case| told_in(CaseSource { case, file: file.to_string(), asked_by: asked_by.clone() }, edition));
    Ok(told.collect::<Result<Vec<String>, Failure>>()?.join("\n"))
}

fn told_in(mut found: CaseSource, edition: Option<Edition>) -> Result<String, Failure> {
    if let Some(edition) = edition {
        let case = &found.case;
        if !case.is_asked_in(edition) {
            let message = format!("edition {edition} has no case {} (it is of {})", case.id, editions(case));
            return Err(Failure::unreadable(message));
        }
        found.case = Case { rules: case.rules_in(edition).into_iter().collect(), ..case.stated_in(edition) };
    }
    Ok(told(&found))
}

fn of_suite(id: &str) -> Result<Option<CaseSource>, Failure> {
    for KeptFile { name, text } in conformance::files(DataDirectory::Suite) {
        if let Some(case) = read_cases(&name, &text)?.into_iter().find(|case| case.id == id) {
            let asked_by = format!("relax-spec conform {id}");
            return Ok(Some(CaseSource { case, file: format!("conformance/suite/{name}"), asked_by }));
        }
    }
    Ok(None)
}

/// The cases of the findings, which exist only in a checkout.
fn of_findings() -> Result<Vec<CaseSource>, Failure> {
    let Some(folders) = checkout::root().map(|root| root.join("conformance/findings")) else { return Ok(Vec::new()) };
    let mut found = Vec::new();
    for folder in fs::read_dir(&folders).into_iter().flatten() {
        let folder = folder?.file_name().to_string_lossy().into_owned();
        let file = format!("conformance/findings/{folder}/case.ron");
        // A folder without a case of its own names one of the suite.
        let Ok(text) = fs::read_to_string(folders.join(&folder).join("case.ron")) else { continue };
        if !text.trim_start().starts_with('"') {
            let asked_by = format!("python3 conformance/findings/{folder}/repro.py");
            let cases = read_cases(&file, &text)?.into_iter();
            found.extend(cases.map(|case| CaseSource { case, file: file.clone(), asked_by: asked_by.clone() }));
        }
    }
    Ok(found)
}

/// The message that there is no such case, with a suggestion.
fn unknown(id: &str) -> Result<String, Failure> {
    let (suite, of_findings) = (conformance::suite()?, of_findings()?);
    let ids = suite.iter().chain(of_findings.iter().map(|found| &found.case)).map(|case| case.id.as_str());
    let meant = or_meant(id, ids);
    Ok(format!("there is no case `{id}`{meant} (`relax-spec explain RULE` lists the cases of a rule)"))
}

fn told(found: &CaseSource) -> String {
    let CaseSource { case, file, asked_by } = found;
    let mut out = format!("{}\n\n", case.id);
    let mut field = |name: &str, text: &str| {
        let mut lines = text.trim_end().lines();
        let _ = writeln!(out, "{name:<9} {}", lines.next().unwrap_or_default());
        lines.for_each(|line| {
            let _ = writeln!(out, "{}", format!("{:<9} {line}", "").trim_end());
        });
    };
    field("file", file);
    field("editions", &editions(case));
    if let Some(proposal) = case.proposal {
        field("proposal", &proposal.to_string());
    }
    list(
        &mut field,
        "rules",
        &case.rules.iter().map(|rule| format!("{rule}: {}", first_line(*rule))).collect::<Vec<String>>(),
    );
    field("question", &case.ask.in_full());
    report::programs(&case.ask).iter().for_each(|program| field("program", program));
    if case.as_text {
        field("given as", "its text, because the case is about the text");
    }
    for (i, answer) in case.allow.iter().enumerate() {
        field(if i == 0 { "permitted" } else { "or" }, &report::answer(answer));
    }
    if let Some(within) = &case.within {
        field("within", &accuracy(within));
    }
    if let Some(warnings) = &case.warnings {
        field("warnings", &ids(warnings));
    }
    if let (Some(literal), Some(erratum)) = (&case.literal, case.erratum) {
        field("literal", &in_the_literal_text(literal, erratum.id()));
    }
    field("why", &case.why);
    field("asked by", asked_by);
    out
}

fn in_the_literal_text(answer: &Answer, erratum: &str) -> String {
    let answer = report::answer(answer);
    if answer.contains('\n') { format!("({erratum})\n{answer}") } else { format!("{answer} ({erratum})") }
}

fn accuracy(within: &Within) -> String {
    let Within { class, length, magnitude } = within;
    let terms = if *length > 0 { format!(", of {length} terms") } else { String::new() };
    let size = if *magnitude > 0.0 { format!(", of magnitude {magnitude}") } else { String::new() };
    format!("{class:?}{terms}{size}")
}

fn editions(case: &Case) -> String {
    let names: Vec<&str> = case.editions.iter().map(|edition| edition.name()).collect();
    let carried = if case.carried { ", and any other that has its rules" } else { "" };
    format!("{}{carried}", names.join(", "))
}

fn ids(rules: &[Rule]) -> String {
    let ids: Vec<&str> = rules.iter().map(|rule| rule.id()).collect();
    if ids.is_empty() { "none".to_string() } else { ids.join(", ") }
}

/// The first line of a rule's text.
fn first_line(rule: Rule) -> &'static str {
    rule.info().text.lines().next().unwrap_or_default()
}

/// One item per line, the first with the name.
fn list(field: &mut impl FnMut(&str, &str), name: &str, items: &[String]) {
    for (i, item) in items.iter().enumerate() {
        field(if i == 0 { name } else { "" }, item);
    }
}
