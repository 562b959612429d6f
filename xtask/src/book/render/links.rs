//! The locations of rules, errata, cases, code and the public texts.

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;

use ask::sites::RuleSites;
use ask::{checkout, conformance};
use relax_spec::book::{Erratum, Rule};
use relax_spec::suite::{Case, coverage};
use serde_json::Value;

/// The number of cases of a rule to link. For the others only the number is given.
const CASES: usize = 5;

/// The data for links.
pub struct Links {
    /// The address of the files of the project, with `{path}` and `{line}`. Without it, links go to the checkout.
    repository: Option<String>,
    /// The addresses of the public texts, by the names in `source`, with `{line}`.
    sources: BTreeMap<String, String>,
    /// The file and line of each golden case.
    places: BTreeMap<String, String>,
    /// The golden cases that claim a rule.
    claims: BTreeMap<Rule, Vec<String>>,
    /// The places where the code applies each rule.
    pub sites: RuleSites,
}

impl Links {
    /// The data from `[preprocessor.relax-spec]` of the book's configuration, and from the suite.
    ///
    /// # Errors
    ///
    /// The suite or one of its files cannot be read.
    pub fn read(config: &Value) -> Result<Links, String> {
        let own = &config["preprocessor"]["relax-spec"];
        let addresses = own["sources"].as_object().into_iter().flatten();
        let text = |value: &Value| value.as_str().map(str::to_string);
        let suite = conformance::suite().map_err(|error| error.to_string())?;
        let ids = |cases: Vec<&Case>| cases.into_iter().map(|case| case.id.clone()).collect();
        Ok(Links {
            repository: text(&own["repository"]),
            sources: addresses.filter_map(|(name, address)| Some((name.clone(), text(address)?))).collect(),
            places: places()?,
            sites: RuleSites::read(),
            claims: coverage::claims(&suite).into_iter().map(|(rule, cases)| (rule, ids(cases))).collect(),
        })
    }

    /// A rule's anchor, from a page.
    pub fn rule(&self, from: &str, rule: Rule) -> String {
        format!("{}#r-{rule}", page_link(from, page_of(rule)))
    }

    /// An erratum's anchor, from a page.
    pub fn erratum(&self, from: &str, erratum: Erratum) -> String {
        format!("{}#e-{erratum}", page_link(from, super::errata::PATH))
    }

    /// A link to `file:line` of the project, in HTML.
    pub fn place(&self, from: &str, place: &str, shown: &str) -> String {
        let (path, line) = place.rsplit_once(':').unwrap_or((place, "1"));
        let address = match &self.repository {
            Some(address) => address.replace("{path}", path).replace("{line}", line),
            // The book is built into a directory two levels below the root of the checkout.
            None => format!("{}../../{path}", "../".repeat(depth(from))),
        };
        format!("<a href=\"{address}\">{shown}</a>")
    }

    /// The lines of a source, with a link if its address is known: `2024-04:754,929`.
    pub fn source(&self, source: &str) -> String {
        let Some((name, lines)) = source.split_once(':') else { return source.to_string() };
        let Some(address) = self.sources.get(name) else { return source.to_string() };
        let link = |lines: &str| {
            let first = lines.split('-').next().unwrap_or(lines);
            format!("[{lines}]({})", address.replace("{line}", first))
        };
        format!("{name}:{}", lines.split(',').map(link).collect::<Vec<String>>().join(","))
    }

    /// The first cases of a rule, and their total number.
    pub fn cases(&self, from: &str, rule: Rule) -> (Vec<String>, usize) {
        let ids = self.claims.get(&rule).map_or(&[][..], Vec::as_slice);
        let link = |id: &String| match self.places.get(id) {
            Some(place) => self.place(from, place, id),
            None => id.clone(),
        };
        (ids.iter().take(CASES).map(link).collect(), ids.len())
    }
}

/// The page that states a rule, relative to the directory of the pages.
pub fn page_of(rule: Rule) -> &'static str {
    let file = rule.info().file;
    file.strip_prefix("spec/src/").unwrap_or(file)
}

fn depth(page: &str) -> usize {
    page.matches('/').count()
}

/// The link from one page to another; empty within a page.
fn page_link(from: &str, to: &str) -> String {
    if from == to { String::new() } else { format!("{}{to}", "../".repeat(depth(from))) }
}

/// The root of the checkout.
fn root() -> PathBuf {
    checkout::root().unwrap_or_default()
}

/// The file and line of each case, by its id.
fn places() -> Result<BTreeMap<String, String>, String> {
    let mut pending = vec![PathBuf::from("conformance/suite")];
    let mut found = BTreeMap::new();
    while let Some(path) = pending.pop() {
        let here = root().join(&path);
        let told = |error: std::io::Error| format!("{}: {error}", path.display());
        if here.is_dir() {
            for entry in fs::read_dir(&here).map_err(told)? {
                pending.push(path.join(entry.map_err(told)?.file_name()));
            }
        } else if path.extension().is_some_and(|extension| extension == "ron") {
            let text = fs::read_to_string(&here).map_err(told)?;
            let ids = text.lines().enumerate().filter_map(|(at, line)| Some((case_id(line)?.to_string(), at + 1)));
            found.extend(ids.map(|(id, line)| (id, format!("{}:{line}", path.display()))));
        }
    }
    Ok(found)
}

/// The id in a line `id: "chapter/name",`, possibly after the name of the form.
fn case_id(line: &str) -> Option<&str> {
    let line = line.trim_start();
    let line = line.strip_prefix("Case(").unwrap_or(line);
    line.strip_prefix("id: \"")?.split('"').next()
}
