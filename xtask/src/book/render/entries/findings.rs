//! The page of a finding.

use std::fmt::Write as _;
use std::fs;

use relax_spec::book::Rule;

use super::super::Links;
use super::super::links::root;
use super::{Entry, of};

/// A page for each finding: its README, with links that lead from here.
///
/// # Errors
///
/// A README cannot be read.
pub fn findings(links: &Links) -> Result<Vec<Entry>, String> {
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
