//! The locations of rules, errata, cases, code and the public texts.

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;

use super::inference::{Inference, inferences};
use super::judgements::{Judgements, judgements};
use ask::sites::RuleSites;
use ask::{checkout, conformance};
use relax_spec::book::{Erratum, Rule, ron_options};
use relax_spec::question::ProgramInput;
use relax_spec::suite::ledger::KnownDivergence;
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
    /// The inference rules that the code contains, by ids.
    pub inferences: BTreeMap<String, Vec<Inference>>,
    /// The judgements that each rule belongs to.
    pub judgements: Judgements,
    /// The golden cases.
    pub suite: Vec<Case>,
    /// The sources, by their paths from the root.
    pub sources_of_code: BTreeMap<String, String>,
    /// The reasons in the ledger of Apache TVM, by the clause that decides.
    pub known: BTreeMap<String, Vec<String>>,
    /// The folders of the findings, in order.
    pub folders: Vec<String>,
    /// The findings by the clauses that they name.
    pub findings: BTreeMap<String, Vec<String>>,
    /// The first cases of each rule, in full.
    shown: BTreeMap<Rule, Vec<ShownCase>>,
}

/// A golden case on the page of a rule.
pub struct ShownCase {
    pub id: String,
    pub why: String,
    pub question: String,
    /// Its program as text, if it has one.
    pub program: Option<String>,
}

/// The maximum length of a question on a page.
const LONGEST_QUESTION: usize = 600;
/// The number of cases of a rule to show in full.
const SHOWN: usize = 2;

impl ShownCase {
    fn of(case: &Case) -> ShownCase {
        let program = case.ask.programs().into_iter().find_map(|program| match program {
            ProgramInput::Script(text) => Some(text.trim().to_string()),
            ProgramInput::Module(_) => None,
        });
        let question = case.ask.to_string().chars().take(LONGEST_QUESTION).collect();
        ShownCase { id: case.id.clone(), why: case.why.clone(), question, program }
    }
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
        let claimed = coverage::claims(&suite).into_iter();
        let shown = claimed.map(|(rule, cases)| (rule, cases.into_iter().take(SHOWN).map(ShownCase::of).collect()));
        let shown = shown.collect();
        let sources_of_code = texts(&["src", "crates"], "rs")?;
        let (folders, findings) = findings()?;
        Ok(Links {
            inferences: inferences(&sources_of_code)?,
            sources_of_code,
            judgements: judgements(&suite),
            known: known()?,
            folders,
            findings,
            shown,
            repository: text(&own["repository"]),
            sources: addresses.filter_map(|(name, address)| Some((name.clone(), text(address)?))).collect(),
            places: places()?,
            sites: RuleSites::read(),
            claims: coverage::claims(&suite).into_iter().map(|(rule, cases)| (rule, ids(cases))).collect(),
            suite,
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

    /// The first cases of a rule, in full.
    pub fn first_cases(&self, rule: Rule) -> &[ShownCase] {
        self.shown.get(&rule).map_or(&[], Vec::as_slice)
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
pub fn root() -> PathBuf {
    checkout::root().unwrap_or_default()
}

/// The files with an extension below some folders, by their paths from the root.
fn texts(folders: &[&str], extension: &str) -> Result<BTreeMap<String, String>, String> {
    let mut pending: Vec<PathBuf> = folders.iter().map(PathBuf::from).collect();
    let mut found = BTreeMap::new();
    while let Some(path) = pending.pop() {
        let here = root().join(&path);
        let told = |error: std::io::Error| format!("{}: {error}", path.display());
        if here.is_dir() {
            for entry in fs::read_dir(&here).map_err(told)? {
                pending.push(path.join(entry.map_err(told)?.file_name()));
            }
        } else if path.extension().is_some_and(|found| found == extension) {
            found.insert(path.display().to_string(), fs::read_to_string(&here).map_err(told)?);
        }
    }
    Ok(found)
}

/// A ledger of known divergences.
///
/// # Errors
///
/// There is none of this name, or it cannot be read.
pub fn ledger(name: &str) -> Result<Vec<KnownDivergence>, String> {
    let text = conformance::ledger(name).ok_or_else(|| format!("there is no ledger of {name}"))?;
    ron_options().from_str(&text).map_err(|error| format!("the ledger of {name}: {error}"))
}

/// The reasons in the ledger of Apache TVM, by clause, each once, with the releases if they are not all.
fn known() -> Result<BTreeMap<String, Vec<String>>, String> {
    let mut known: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for entry in ledger("tvm")? {
        let Some(clause) = entry.clause else { continue };
        let of = if entry.versions.is_empty() { "every release".to_string() } else { entry.versions.join(", ") };
        let class = entry.class.map_or("", |class| class.name());
        let reason = format!("{of}, {class}: {}", entry.reason);
        let reasons = known.entry(clause.id().to_string()).or_default();
        if !reasons.contains(&reason) {
            reasons.push(reason);
        }
    }
    Ok(known)
}

/// Names by the id of a clause.
type ByClause = BTreeMap<String, Vec<String>>;

/// The folders of findings, and their names by the clauses in their tables.
fn findings() -> Result<(Vec<String>, ByClause), String> {
    let told = |error: std::io::Error| format!("conformance/findings: {error}");
    let entries = fs::read_dir(root().join("conformance/findings")).map_err(told)?;
    let names = entries.map(|entry| Ok(entry.map_err(told)?.file_name().to_string_lossy().into_owned()));
    let mut names = names.collect::<Result<Vec<String>, String>>()?;
    names.retain(|name| root().join(format!("conformance/findings/{name}/README.md")).is_file());
    names.sort();
    let mut by_clause = ByClause::new();
    for name in &names {
        let text = fs::read_to_string(root().join(format!("conformance/findings/{name}/README.md"))).map_err(told)?;
        let row = text.lines().find(|line| line.starts_with("| clauses |")).unwrap_or_default();
        for id in row.split('`').filter(|id| id.parse::<Rule>().is_ok()) {
            by_clause.entry(id.to_string()).or_default().push(name.clone());
        }
    }
    Ok((names, by_clause))
}

/// The file and line of each case, by its id.
fn places() -> Result<BTreeMap<String, String>, String> {
    let mut found = BTreeMap::new();
    for (path, text) in texts(&["conformance/suite"], "ron")? {
        let ids = text.lines().enumerate().filter_map(|(at, line)| Some((case_id(line)?.to_string(), at + 1)));
        found.extend(ids.map(|(id, line)| (id, format!("{path}:{line}"))));
    }
    Ok(found)
}

/// The id in a line `id: "chapter/name",`, possibly after the name of the form.
fn case_id(line: &str) -> Option<&str> {
    let line = line.trim_start();
    let line = line.strip_prefix("Case(").unwrap_or(line);
    line.strip_prefix("id: \"")?.split('"').next()
}
