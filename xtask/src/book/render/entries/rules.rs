//! The page of a rule: its statements, its inference rules, its code, cases, errata, and what TVM does.

use std::fmt::Write as _;

use relax_spec::book::{Rule, Status};

use super::super::Links;
use super::super::chapter::{badges, errata_of, escaped, with_links};
use super::super::links::page_of;
use super::{Entry, moved, of, path_of_erratum, path_of_rule};

/// The maximum number of forms of an inference rule on a page.
const FORMS: usize = 6;
/// The number of lines of code before and after the place of a rule.
const AROUND: (usize, usize) = (3, 6);
/// The maximum number of programs of golden cases on a page.
const PROGRAMS: usize = 2;

/// The page of a rule.
pub fn of_rule(links: &Links, rule: Rule) -> Entry {
    let (info, path) = (rule.info(), path_of_rule(rule));
    let mut out = format!("# {rule}\n\n{}\n\n", badges(rule));
    let said = |text: &str| -> String {
        text.lines().map(|line| format!("> {}\n", with_links(links, &path, &moved(line, page_of(rule))))).collect()
    };
    out.push_str(&said(info.text));
    for later in info.later {
        let _ = write!(out, "\nIn edition {}:\n\n{}", later.edition, said(later.text));
    }
    let chapter = format!("[{}]({})", info.heading, links.rule(&path, rule));
    let _ = writeln!(out, "\n{} · source {} · in the chapter {chapter}", info.kind, links.source(info.source));
    let status = match (rule.status(), info.excluded) {
        (Status::Excluded, Some(reason)) => format!("It is not implemented: {}", with_links(links, &path, reason)),
        (Status::Pending, _) => "It is not implemented yet.".to_string(),
        (Status::Implemented | Status::Excluded, _) => String::new(),
    };
    let _ = writeln!(out, "\n{status}");
    inference(&mut out, links, &path, rule);
    code(&mut out, links, &path, rule);
    cases(&mut out, links, &path, rule);
    errata(&mut out, links, &path, rule);
    divergences(&mut out, links, &path, rule);
    let needing: Vec<String> = Rule::ALL
        .iter()
        .filter(|other| other.info().needs.contains(&rule.id()))
        .map(|other| of(&path, *other))
        .collect();
    let needed: Vec<String> =
        info.needs.iter().filter_map(|id| id.parse().ok()).map(|other| of(&path, other)).collect();
    for (title, rules) in [("Needs", needed), ("Needed by", needing)] {
        if !rules.is_empty() {
            let _ = write!(out, "\n## {title}\n\n{}\n", rules.join(", "));
        }
    }
    let _ =
        write!(out, "\n## Cite\n\n`relax-spec explain {rule} --format bibtex`, or `--format latex` for its words.\n");
    Entry { path, title: rule.to_string(), content: out }
}

/// The forms that the code gives the rule, and the judgements in whose derivations it occurs.
fn inference(out: &mut String, links: &Links, path: &str, rule: Rule) {
    let ids = std::iter::once(rule.id()).chain(rule.info().succeeds.iter().copied());
    let forms: Vec<_> = ids.filter_map(|id| links.inferences.get(id)).flatten().collect();
    if forms.is_empty() {
        return;
    }
    out.push_str("\n## Inference rule\n\nMade from the rows, the premises and the branches of the code.");
    if let Some(judgements) = links.judgements.of_rule.get(&rule) {
        let names: Vec<String> = judgements.iter().map(|name| format!("`{name}`")).collect();
        let _ = write!(out, " <span class=\"judgement\">A rule of the judgement</span> {}.", names.join(", "));
    }
    out.push('\n');
    for form in forms.iter().take(FORMS) {
        let _ = write!(out, "\n{}\n", form.html(rule.id(), &links.place(path, &form.place, &form.place)));
    }
    if let more @ 1.. = forms.len().saturating_sub(FORMS) {
        let _ = write!(out, "\nand {more} more of the same kind.\n");
    }
}

/// The lines of code that apply the rule.
fn code(out: &mut String, links: &Links, path: &str, rule: Rule) {
    let sites = links.sites.of(rule);
    if sites.is_empty() {
        return;
    }
    out.push_str("\n## Code\n");
    for site in sites.iter().take(FORMS) {
        let _ = write!(out, "\n{}\n", links.place(path, site, site));
        let (file, line) = site.rsplit_once(':').unwrap_or((site, "1"));
        let line: usize = line.parse().unwrap_or(1);
        if let Some(text) = links.sources_of_code.get(file) {
            let from = line.saturating_sub(1 + AROUND.0);
            let lines: Vec<&str> = text.lines().skip(from).take(AROUND.0 + AROUND.1).collect();
            let _ = write!(out, "\n`````rust,ignore\n{}\n`````\n", lines.join("\n"));
        }
    }
}

/// Its errata, with both readings.
fn errata(out: &mut String, links: &Links, path: &str, rule: Rule) {
    for erratum in errata_of(rule) {
        if let Ok(info) = erratum.info() {
            let _ = write!(
                out,
                "\n## Erratum [{erratum}](../{})\n\n{}\n\n* literal: {}\n* corrected: {}\n",
                path_of_erratum(erratum),
                with_links(links, path, &info.title),
                with_links(links, path, &info.literal),
                with_links(links, path, &info.corrected),
            );
        }
    }
}

/// The golden cases that claim it, the first as programs.
fn cases(out: &mut String, links: &Links, path: &str, rule: Rule) {
    let (shown, count) = links.cases(path, rule);
    if count == 0 {
        return;
    }
    let more = if count > shown.len() { format!(" and {} more", count - shown.len()) } else { String::new() };
    let _ = write!(out, "\n## Golden cases\n\n{}{more}\n", shown.join(", "));
    for case in links.first_cases(rule).iter().take(PROGRAMS) {
        let _ = write!(out, "\n`{}`: {}\n\n```text\n{}\n```\n", case.id, escaped(&case.why), case.question);
        if let Some(program) = &case.program {
            let _ = write!(out, "\n```python\n{program}\n```\n");
        }
    }
}

/// What releases of TVM do otherwise: the entries of its ledger for the cases of the rule, and the findings.
fn divergences(out: &mut String, links: &Links, path: &str, rule: Rule) {
    let known: Vec<&String> = links.known.get(rule.id()).into_iter().flatten().collect();
    if !known.is_empty() {
        out.push_str("\n## What Apache TVM answers otherwise\n\n");
        known.iter().for_each(|reason| {
            let _ = writeln!(out, "* {}", with_links(links, path, &escaped(reason)));
        });
    }
    let found: Vec<String> = links
        .findings
        .get(rule.id())
        .into_iter()
        .flatten()
        .map(|name| format!("[{name}](../findings/{name}.md)"))
        .collect();
    if !found.is_empty() {
        let _ = write!(out, "\n## Findings\n\n{}\n", found.join(", "));
    }
}
