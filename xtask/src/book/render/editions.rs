//! A page for each edition: its contents, and the changes to the rules of the edition before.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use relax_spec::book::{Change, Edition, Rule};
use serde_json::{Map, Value, json};

use super::Links;
use super::chapter::with_links;
use super::links::page_of;

/// The parent chapter of the pages.
pub const PATH: &str = "editions.md";

/// The pages as chapters under that chapter.
///
/// # Errors
///
/// The chapter has no name.
pub fn pages(links: &Links, parent: &Map<String, Value>) -> Result<Vec<Value>, String> {
    let parent_name = parent.get("name").and_then(Value::as_str).ok_or("a chapter has no name")?;
    let mut number: Vec<Value> = parent.get("number").and_then(Value::as_array).cloned().unwrap_or_default();
    let numbered = !number.is_empty();
    let mut before: Option<Edition> = None;
    let mut pages = Vec::new();
    for edition in Edition::ALL {
        number.push(json!(pages.len() + 1));
        pages.push(json!({ "Chapter": {
            "name": format!("Edition {edition}"),
            "content": content(links, edition, before),
            "number": if numbered { json!(number) } else { Value::Null },
            "sub_items": [],
            "path": path(edition),
            "source_path": Value::Null,
            "parent_names": [parent_name],
        } }));
        number.pop();
        before = Some(edition);
    }
    Ok(pages)
}

/// The path of the page of an edition.
pub fn path(edition: Edition) -> String {
    format!("editions/{edition}.md")
}

fn content(links: &Links, edition: Edition, before: Option<Edition>) -> String {
    let stated: Vec<Rule> = Rule::ALL.iter().copied().filter(|rule| rule.is_stated_by(edition)).collect();
    let mut out = format!("# Edition {edition}\n\n{} rules.", stated.len());
    match before {
        Some(before) => changes(&mut out, links, before, edition),
        None => by_page(&mut out, links, edition, &stated),
    }
    out
}

/// The rules of the first edition, page by page.
fn by_page(out: &mut String, links: &Links, edition: Edition, stated: &[Rule]) {
    let mut pages: BTreeMap<&str, Vec<Rule>> = BTreeMap::new();
    stated.iter().for_each(|rule| pages.entry(page_of(*rule)).or_default().push(*rule));
    for (page, rules) in pages {
        let linked: Vec<String> = rules.iter().map(|rule| link(links, edition, *rule)).collect();
        let _ = write!(out, "\n\n## {}\n\n{}", page.trim_end_matches(".md"), linked.join(", "));
    }
    out.push('\n');
}

fn changes(out: &mut String, links: &Links, before: Edition, edition: Edition) {
    let of =
        |change: Change| Rule::ALL.iter().copied().filter(move |rule| rule.change(before, edition) == Some(change));
    let counts = Change::ALL.map(|change| format!("{} {}", of(change).count(), change.name()));
    let _ = writeln!(out, " Since {before}: {}.", counts.join(", "));
    for change in Change::ALL {
        let _ = writeln!(out, "\n## {}", title(change));
        for rule in of(change) {
            let _ = write!(out, "\n{}{}\n", link(links, edition, rule), succeeds(links, edition, rule));
            said(out, links, before, edition, rule);
        }
    }
}

fn title(change: Change) -> &'static str {
    match change {
        Change::New => "New",
        Change::Changed => "Changed",
        Change::Renumbered => "Renumbered",
        Change::Removed => "Removed",
    }
}

fn link(links: &Links, edition: Edition, rule: Rule) -> String {
    format!("[{rule}]({})", links.rule(&path(edition), rule))
}

fn succeeds(links: &Links, edition: Edition, rule: Rule) -> String {
    let older = rule.info().succeeds.iter().filter_map(|id| id.parse::<Rule>().ok());
    let linked: Vec<String> = older.map(|older| link(links, edition, older)).collect();
    if linked.is_empty() { String::new() } else { format!(", which was {}", linked.join(", ")) }
}

/// The text of the two editions, as quotes.
fn said(out: &mut String, links: &Links, before: Edition, edition: Edition, rule: Rule) {
    for (name, of) in [("Before", before), ("Now", edition)] {
        if let Some(statement) = rule.statement(of) {
            let _ = write!(out, "\n{name} ({}):\n\n", links.source(statement.source));
            // Links to another place of the chapter are adapted to this page.
            let here = format!("](../{}#", page_of(rule));
            for line in statement.text.lines() {
                let _ = writeln!(out, "> {}", with_links(links, &path(edition), line).replace("](#", &here));
            }
        }
    }
}
