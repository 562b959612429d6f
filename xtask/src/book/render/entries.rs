//! The pages of single things, each with an address of its own: a page for every rule, erratum, operator, finding and
//! pass, below an index of their kind.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;

use relax_spec::book::{Edition, Erratum, Rule, Status};
use serde_json::{Map, Value, json};

use super::Links;
use super::chapter::{badges, errata_of, with_links};
use super::inference::escaped;
use super::links::{page_of, root};

/// A kind of things: the path of its index, and its pages by their paths, with titles and contents.
pub struct Kind {
    pub name: &'static str,
    pub pages: Vec<Entry>,
}

/// A page.
pub struct Entry {
    pub path: String,
    pub title: String,
    pub content: String,
}

/// The path of the chapter that the kinds are under.
pub const PATH: &str = "indexes.md";

/// All kinds.
///
/// # Errors
///
/// A file of the checkout cannot be read.
pub fn kinds(links: &Links) -> Result<Vec<Kind>, String> {
    Ok(vec![
        Kind { name: "rules", pages: Rule::ALL.iter().map(|rule| of_rule(links, *rule)).collect() },
        Kind {
            name: "errata",
            pages: Erratum::ALL.iter().map(|erratum| of_erratum(links, *erratum)).collect::<Result<_, _>>()?,
        },
        Kind { name: "operators", pages: operators(links) },
        Kind { name: "findings", pages: findings(links)? },
        Kind { name: "passes", pages: passes()? },
    ])
}

/// The kinds as chapters under that chapter, each with its pages below it.
///
/// # Errors
///
/// As for [`kinds`].
pub fn pages(links: &Links, parent: &Map<String, Value>) -> Result<Vec<Value>, String> {
    let parent_name = parent.get("name").and_then(Value::as_str).ok_or("a chapter has no name")?;
    let chapter = |name: &str, content: String, path: String, parents: &[&str], below: Vec<Value>| {
        json!({ "Chapter": {
            "name": name, "content": content, "number": Value::Null, "sub_items": below,
            "path": path, "source_path": Value::Null, "parent_names": parents,
        } })
    };
    let kind = |kind: Kind| {
        let mut index = format!("# All {}\n\n{} pages.\n\n", kind.name, kind.pages.len());
        for page in &kind.pages {
            let _ = writeln!(index, "* [{}]({})", page.title, page.path.rsplit('/').next().unwrap_or(&page.path));
        }
        let parents = [parent_name, kind.name];
        let below = kind.pages.into_iter();
        let below = below.map(|page| chapter(&page.title, page.content, page.path, &parents, Vec::new())).collect();
        chapter(&format!("All {}", kind.name), index, format!("{}/index.md", kind.name), &[parent_name], below)
    };
    Ok(kinds(links)?.into_iter().map(kind).collect())
}

/// The path of a rule's own page.
pub fn path_of_rule(rule: Rule) -> String {
    format!("rules/{rule}.md")
}

/// The path of an erratum's own page.
pub fn path_of_erratum(erratum: Erratum) -> String {
    format!("errata/{erratum}.md")
}

/// The maximum number of forms of an inference rule on a page.
const FORMS: usize = 6;
/// The number of lines of code before and after the place of a rule.
const AROUND: (usize, usize) = (3, 6);
/// The maximum number of programs of golden cases on a page.
const PROGRAMS: usize = 2;

fn of_rule(links: &Links, rule: Rule) -> Entry {
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
    inference(&mut out, links, rule);
    code(&mut out, links, &path, rule);
    cases(&mut out, links, &path, rule);
    for erratum in errata_of(rule) {
        if let Ok(info) = erratum.info() {
            let _ = write!(
                out,
                "\n## Erratum [{erratum}](../{})\n\n{}\n\n* literal: {}\n* corrected: {}\n",
                path_of_erratum(erratum),
                with_links(links, &path, &info.title),
                with_links(links, &path, &info.literal),
                with_links(links, &path, &info.corrected),
            );
        }
    }
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

/// A link to the page of a rule, from a page one level down.
fn of(from: &str, rule: Rule) -> String {
    format!("[`{rule}`]({}{})", "../".repeat(from.matches('/').count()), path_of_rule(rule))
}

/// The forms that the code gives the rule.
fn inference(out: &mut String, links: &Links, rule: Rule) {
    let ids = std::iter::once(rule.id()).chain(rule.info().succeeds.iter().copied());
    let forms: Vec<_> = ids.filter_map(|id| links.inferences.get(id)).flatten().collect();
    if forms.is_empty() {
        return;
    }
    out.push_str("\n## Inference rule\n\nMade from the rows and premises of the code.\n");
    for form in forms.iter().take(FORMS) {
        let _ = write!(out, "\n{}\n", form.html(rule.id()));
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

fn of_erratum(links: &Links, erratum: Erratum) -> Result<Entry, String> {
    let info = erratum.info().map_err(|error| format!("spec/errata/{erratum}.ron: {error}"))?;
    let path = path_of_erratum(erratum);
    let rules: Vec<String> = info.rules.iter().map(|rule| of(&path, *rule)).collect();
    let mut out = format!("# {erratum}\n\n{}\n\n", with_links(links, &path, &info.title));
    let _ = write!(
        out,
        "Rules: {}\n\n* literal: {}\n* corrected: {}\n",
        rules.join(", "),
        with_links(links, &path, &info.literal),
        with_links(links, &path, &info.corrected)
    );
    for alternative in &info.alternatives {
        let _ = writeln!(out, "* or: {}", with_links(links, &path, alternative));
    }
    if let Ok(text) = fs::read_to_string(root().join(format!("spec/errata/{erratum}.ron")))
        && let Some((_, witness)) = text.split_once("    witness: ")
    {
        let _ = write!(out, "\n## Witness\n\n```text\n{}\n```\n", witness.trim_end().trim_end_matches(')').trim_end());
    }
    let all: Vec<String> =
        Edition::ALL.iter().filter(|edition| erratum.stands_in(**edition)).map(ToString::to_string).collect();
    let _ = write!(
        out,
        "\nIt stands in {}. {}\n",
        all.join(", "),
        links.place(&path, &format!("spec/errata/{erratum}.ron:1"), "its file")
    );
    Ok(Entry { path, title: format!("{erratum}: {}", info.title.replace(['[', ']', '<', '>'], "")), content: out })
}

/// A page for each operator: its clauses.
fn operators(links: &Links) -> Vec<Entry> {
    let mut clauses: BTreeMap<&str, Vec<Rule>> = BTreeMap::new();
    for rule in Rule::ALL {
        let name = rule.id().strip_prefix("OPS.").and_then(|rest| rest.rsplit_once('.')).map(|(name, _)| name);
        let named = name.filter(|name| name.starts_with(char::is_lowercase));
        named.into_iter().for_each(|name| clauses.entry(name).or_default().push(*rule));
    }
    let entry = |(name, rules): (&str, Vec<Rule>)| {
        let path = format!("operators/{name}.md");
        let mut out = format!(
            "# relax.{name}\n\n`relax-spec ops relax.{name}` shows its data types, cases, agreement and headroom.\n"
        );
        for rule in rules {
            let _ = write!(out, "\n## {}\n\n", of(&path, rule));
            rule.info().text.lines().for_each(|line| {
                let _ = writeln!(out, "{}", with_links(links, &path, &moved(line, page_of(rule))));
            });
        }
        Entry { path, title: format!("relax.{name}"), content: out }
    };
    clauses.into_iter().map(entry).collect()
}

/// A page for each finding: its README, with links that lead from here.
fn findings(links: &Links) -> Result<Vec<Entry>, String> {
    let mut pages = Vec::new();
    for name in &links.folders {
        let text = fs::read_to_string(root().join(format!("conformance/findings/{name}/README.md")));
        let text = text.map_err(|error| format!("conformance/findings/{name}: {error}"))?;
        let path = format!("findings/{name}.md");
        let mut out = String::new();
        for line in text.lines() {
            let _ = writeln!(out, "{}", relinked(links, &path, name, line));
        }
        let script = links.place(&path, &format!("conformance/findings/{name}/repro.py:1"), "repro.py");
        let _ = write!(out, "\n{script} shows it with the wheel alone.\n");
        pages.push(Entry { title: name.clone(), path, content: out });
    }
    Ok(pages)
}

/// A line of a README with links to rules' pages and to files.
fn relinked(links: &Links, path: &str, name: &str, line: &str) -> String {
    let mut out = String::new();
    let mut rest = line;
    while let Some(at) = rest.find('[') {
        let (before, link) = rest.split_at(at);
        out.push_str(before);
        let Some((text, target, after)) = link_at(link) else {
            out.push('[');
            rest = &link[1..];
            continue;
        };
        let rule = text.trim_matches('`').parse::<Rule>();
        let _ = match (rule, target) {
            (Ok(rule), _) => write!(out, "{}", of(path, rule)),
            (Err(_), target) if target.contains("://") => write!(out, "[{text}]({target})"),
            (Err(_), target) => {
                let (folder, target) =
                    (format!("conformance/findings/{name}"), target.split('#').next().unwrap_or(target));
                write!(out, "{}", links.place(path, &format!("{}:1", joined(&folder, target)), text))
            }
        };
        rest = after;
    }
    out + rest
}

/// A line of a chapter with its links as they lead from a page one level down.
fn moved(line: &str, page: &str) -> String {
    let folder = page.rsplit_once('/').map_or("", |(folder, _)| folder);
    let mut parts = line.split("](");
    let mut out = parts.next().unwrap_or_default().to_string();
    for part in parts {
        let target = part.split(')').next().unwrap_or_default();
        out.push_str("](");
        match target {
            _ if target.contains("://") => {}
            _ if target.starts_with('#') => out.push_str(&format!("../{page}")),
            _ if folder.is_empty() => out.push_str("../"),
            _ => out.push_str(&format!("../{folder}/")),
        }
        out.push_str(part);
    }
    out
}

/// The text and the target of a link at the beginning, and what follows it.
fn link_at(text: &str) -> Option<(&str, &str, &str)> {
    let (label, rest) = text.strip_prefix('[')?.split_once("](")?;
    let (target, after) = rest.split_once(')')?;
    (!label.contains('[')).then_some((label, target, after))
}

/// A path from a folder, without its `..`.
fn joined(folder: &str, target: &str) -> String {
    let mut parts: Vec<&str> = folder.split('/').collect();
    for part in target.split('/') {
        match part {
            ".." => drop(parts.pop()),
            "." => {}
            other => parts.push(other),
        }
    }
    parts.join("/")
}

/// The page of a pass: its row of the table.
fn passes() -> Result<Vec<Entry>, String> {
    let text = fs::read_to_string(root().join("spec/src/passes.md")).map_err(|error| format!("passes.md: {error}"))?;
    let mut head: Vec<&str> = Vec::new();
    let mut pages = Vec::new();
    for line in text.lines().filter(|line| line.starts_with('|')) {
        let cells: Vec<&str> = line.trim_matches('|').split('|').map(str::trim).collect();
        match cells.first() {
            Some(&"pass") => head = cells,
            Some(first) if first.starts_with('`') && !head.is_empty() => {
                let name = first.trim_matches('`');
                let mut out = format!("# {name}\n\n| | |\n| --- | ---: |\n");
                for (column, cell) in head.iter().zip(&cells).skip(1) {
                    let _ = writeln!(out, "| {column} | {cell} |");
                }
                out.push_str("\n[All passes](../passes.md), and what the columns mean.\n");
                pages.push(Entry { path: format!("passes/{name}.md"), title: name.to_string(), content: out });
            }
            Some(_) | None => {}
        }
    }
    Ok(pages)
}
