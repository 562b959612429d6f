//! The pages of single things, each with an address of its own: a page for every rule, erratum, operator, finding,
//! implementation and pass, below an index of their kind.

mod errata;
mod findings;
mod implementations;
mod operators;
mod passes;
mod rules;

use std::fmt::Write as _;

use relax_spec::book::{Erratum, Rule};
use serde_json::{Map, Value, json};

use super::Links;

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
        Kind { name: "rules", pages: Rule::ALL.iter().map(|rule| rules::of_rule(links, *rule)).collect() },
        Kind {
            name: "errata",
            pages: Erratum::ALL.iter().map(|erratum| errata::of_erratum(links, *erratum)).collect::<Result<_, _>>()?,
        },
        Kind { name: "operators", pages: operators::operators(links)? },
        Kind { name: "findings", pages: findings::findings(links)? },
        Kind { name: "passes", pages: passes::passes()? },
        Kind { name: "implementations", pages: implementations::implementations(links)? },
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

/// A link to the page of a rule, from a page one level down.
fn of(from: &str, rule: Rule) -> String {
    format!("[`{rule}`]({}{})", "../".repeat(from.matches('/').count()), path_of_rule(rule))
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
