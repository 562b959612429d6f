//! Turns the text of the specification into data: the table of rules from the `r[ID]` anchors under `spec/`,
//! and `enum Erratum` from `spec/errata/`.
//!
//! A duplicate id, a rule without its metadata line, an unknown `needs`, or an exclusion of an unknown rule fail the
//! build, so that text and code cannot drift apart.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::{env, fs, process};

/// One rule, as its anchor, metadata line and prose state it.
struct RuleText {
    id: String,
    file: String,
    line: usize,
    heading: String,
    kind: String,
    editions: Vec<String>,
    source: String,
    needs: Vec<String>,
    errata: Vec<String>,
    chevron: bool,
    pending: bool,
    succeeds: Vec<String>,
    proposal: Option<String>,
    over: Vec<String>,
    text: String,
    later: Vec<Restated>,
}

/// What a later edition makes of a rule.
struct Restated {
    edition: String,
    kind: String,
    source: String,
    needs: Vec<String>,
    errata: Vec<String>,
    chevron: bool,
    pending: bool,
    text: String,
}

/// The editions, the oldest first; `src/book/edition.rs` has them in the same order.
const EDITIONS: [&str; 3] = ["2023-02", "2023-12", "2024-04"];

/// The proposals, each with the edition that it is made to; `src/book/proposal.rs` has them in the same order.
const PROPOSALS: [(&str, &str); 1] = [("unknown-purity", "2024-04")];

fn main() {
    let root = PathBuf::from(env::var("CARGO_MANIFEST_DIR").expect("cargo sets CARGO_MANIFEST_DIR"));
    for path in ["spec", "build.rs"] {
        println!("cargo:rerun-if-changed={path}");
    }
    if let Err(problem) = generate(&root) {
        println!("cargo:error={problem}");
        process::exit(1);
    }
}

fn generate(root: &Path) -> Result<(), String> {
    let rules = read_rules(root)?;
    let excluded = read_exclusions(root, &rules)?;
    let errata = read_errata(root)?;
    let out = PathBuf::from(env::var("OUT_DIR").map_err(|e| e.to_string())?);
    let numbered = Numbered { rules: &rules, numbers: read_numbers(root, &rules)? };
    write(&out.join("rules.rs"), &rules_source(&numbered, &excluded)?)?;
    write(&out.join("errata.rs"), &errata_source(&errata)?)
}

fn write(path: &Path, text: &str) -> Result<(), String> {
    fs::write(path, text).map_err(|e| format!("{}: {e}", path.display()))
}

/// Every file with the extension below a directory, in the order of the paths.
fn files(dir: &Path, extension: &str) -> Result<Vec<PathBuf>, String> {
    let mut found = Vec::new();
    if !dir.is_dir() {
        return Ok(found);
    }
    for entry in fs::read_dir(dir).map_err(|e| format!("{}: {e}", dir.display()))? {
        let path = entry.map_err(|e| e.to_string())?.path();
        if path.is_dir() {
            found.extend(files(&path, extension)?);
        } else if path.extension().is_some_and(|e| e == extension) {
            found.push(path);
        }
    }
    found.sort();
    Ok(found)
}

fn relative(root: &Path, path: &Path) -> String {
    path.strip_prefix(root).unwrap_or(path).display().to_string()
}

fn read_rules(root: &Path) -> Result<BTreeMap<String, RuleText>, String> {
    let mut rules: BTreeMap<String, RuleText> = BTreeMap::new();
    for path in files(&root.join("spec"), "md")? {
        let text = fs::read_to_string(&path).map_err(|e| format!("{}: {e}", path.display()))?;
        let lines: Vec<&str> = text.lines().collect();
        let mut heading = "";
        for (i, line) in lines.iter().enumerate() {
            if let Some(words) = line.strip_prefix('#') {
                heading = words.trim_start_matches('#').trim();
            }
            let Some(id) = line.strip_prefix("r[").and_then(|rest| rest.strip_suffix(']')) else { continue };
            let place = format!("{}:{}", relative(root, &path), i + 1);
            let rule = parse_rule(id, &lines[i + 1..], relative(root, &path), i + 1);
            let rule = RuleText { heading: heading.to_string(), ..rule.map_err(|e| format!("{place}: {e}"))? };
            if let Some(first) = rules.get(id) {
                return Err(format!("{place}: rule {id} is already stated at {}:{}", first.file, first.line));
            }
            rules.insert(id.to_string(), rule);
        }
    }
    for rule in rules.values() {
        let needs = rule.needs.iter().chain(rule.later.iter().flat_map(|later| &later.needs));
        if let Some(unknown) = needs.chain(&rule.succeeds).chain(&rule.over).find(|id| !rules.contains_key(*id)) {
            return Err(format!("{}:{}: rule {} names the unknown rule {unknown}", rule.file, rule.line, rule.id));
        }
    }
    Ok(rules)
}

/// The metadata line is the first that is not empty; the prose runs to the next anchor or heading.
fn parse_rule(id: &str, after: &[&str], file: String, line: usize) -> Result<RuleText, String> {
    let skipped = after.iter().take_while(|l| l.trim().is_empty()).count();
    let meta = after
        .get(skipped)
        .and_then(|l| l.strip_prefix('*'))
        .and_then(|l| l.strip_suffix('*'))
        .ok_or_else(|| format!("rule {id} has no metadata line (`*kind · editions .. · source ..*`)"))?;
    let body: Vec<&str> =
        after[skipped + 1..].iter().take_while(|l| !l.starts_with("r[") && !l.starts_with('#')).copied().collect();
    let first_block = body.iter().position(|l| restated_meta(l).is_some()).unwrap_or(body.len());
    let text = body[..first_block].join("\n").trim().to_string();
    if text.is_empty() {
        return Err(format!("rule {id} has no text"));
    }
    let fields = parse_fields(id, meta.split(" · "))?;
    if fields.editions.is_empty() == fields.proposal.is_none() {
        return Err(format!("rule {id} names no edition and no proposal, or both"));
    }
    if fields.proposal.is_none() && !fields.over.is_empty() {
        return Err(format!("rule {id} stands over others and is of no proposal"));
    }
    let mut rule = RuleText {
        id: id.to_string(),
        file,
        line,
        heading: String::new(),
        kind: fields.kind,
        editions: fields.editions,
        source: fields.source,
        needs: fields.needs,
        errata: fields.errata,
        chevron: fields.chevron,
        pending: fields.pending,
        succeeds: fields.succeeds,
        proposal: fields.proposal,
        over: fields.over,
        text,
        later: Vec::new(),
    };
    rule.later = parse_restated(&rule, &body[first_block..])?;
    Ok(rule)
}

/// What a metadata line says.
#[derive(Default)]
struct Fields {
    kind: String,
    editions: Vec<String>,
    source: String,
    needs: Vec<String>,
    errata: Vec<String>,
    chevron: bool,
    pending: bool,
    succeeds: Vec<String>,
    proposal: Option<String>,
    over: Vec<String>,
}

fn parse_fields<'l>(id: &str, mut line: impl Iterator<Item = &'l str>) -> Result<Fields, String> {
    let mut fields = Fields { kind: line.next().unwrap_or_default().to_string(), ..Fields::default() };
    for field in line {
        let (key, value) = field.split_once(' ').unwrap_or((field, ""));
        let list = || value.split(", ").map(str::to_string).collect::<Vec<String>>();
        match key {
            "editions" => fields.editions = list(),
            "source" => fields.source = value.to_string(),
            "needs" => fields.needs = list(),
            "errata" => fields.errata = list(),
            "succeeds" => fields.succeeds = list(),
            "proposal" => fields.proposal = Some(value.to_string()),
            "over" => fields.over = list(),
            "chevron" => fields.chevron = true,
            "pending" => fields.pending = true,
            _ => return Err(format!("rule {id}: unknown metadata field `{field}`")),
        }
    }
    if let Some(unknown) = fields.editions.iter().find(|edition| !EDITIONS.contains(&edition.as_str())) {
        return Err(format!("rule {id}: there is no edition `{unknown}`"));
    }
    let is_known = |name: &String| PROPOSALS.iter().any(|(proposal, _)| proposal == name);
    if let Some(unknown) = fields.proposal.as_ref().filter(|name| !is_known(name)) {
        return Err(format!("rule {id}: there is no proposal `{unknown}`"));
    }
    Ok(fields)
}

/// The metadata line of what a later edition says, `> *2023-12 · kind · source ..*`: the edition, and the rest.
fn restated_meta(line: &str) -> Option<(&str, &str)> {
    let (edition, rest) = line.strip_prefix("> *")?.strip_suffix('*')?.split_once(" · ")?;
    EDITIONS.contains(&edition).then_some((edition, rest))
}

/// The quotes below a rule, one for each later edition that words it otherwise.
fn parse_restated(rule: &RuleText, body: &[&str]) -> Result<Vec<Restated>, String> {
    let id = &rule.id;
    let mut later: Vec<Restated> = Vec::new();
    for line in body {
        if let Some((edition, rest)) = restated_meta(line) {
            let fields = parse_fields(id, rest.split(" · "))?;
            let follows = later
                .last()
                .map(|before| &before.edition)
                .or(rule.editions.first())
                .is_some_and(|before| before.as_str() < edition);
            if !rule.editions.iter().any(|known| known == edition) || !follows {
                return Err(format!("rule {id} is restated for {edition}, which it does not name, or out of order"));
            }
            let Fields { kind, source, needs, errata, chevron, pending, .. } = fields;
            let edition = edition.to_string();
            later.push(Restated { edition, kind, source, needs, errata, chevron, pending, text: String::new() });
        } else if let Some(last) = later.last_mut() {
            match line.strip_prefix('>') {
                Some(quoted) => last.text.push_str(&format!("{}\n", quoted.strip_prefix(' ').unwrap_or(quoted))),
                None if line.trim().is_empty() => {}
                None => return Err(format!("rule {id}: text behind what a later edition says: `{line}`")),
            }
        }
    }
    for restated in &mut later {
        restated.text = restated.text.trim().to_string();
        if restated.text.is_empty() || restated.source.is_empty() {
            return Err(format!("rule {id}: {} says nothing, or has no source", restated.edition));
        }
    }
    Ok(later)
}

/// Why no run can fire a rule.
struct Exclusion {
    /// From which edition on, if earlier ones use it.
    since: Option<String>,
    reason: String,
}

/// `spec/exclusions.md`: a list item `* ID: reason` for each rule that no run can fire, `* ID from EDITION on: reason`
/// if earlier editions use it.
fn read_exclusions(root: &Path, rules: &BTreeMap<String, RuleText>) -> Result<BTreeMap<String, Exclusion>, String> {
    let path = root.join("spec/src/exclusions.md");
    let text = fs::read_to_string(&path).map_err(|e| format!("{}: {e}", path.display()))?;
    let mut excluded = BTreeMap::new();
    for (i, line) in text.lines().enumerate() {
        let Some(item) = line.strip_prefix("* `") else { continue };
        let place = format!("{}:{}", relative(root, &path), i + 1);
        let (head, reason) = item.split_once(": ").ok_or_else(|| format!("{place}: expected `* `ID`: reason`"))?;
        let (id, since) = match head.strip_suffix('`') {
            Some(id) => (id, None),
            None => {
                let since = head.strip_suffix(" on").and_then(|head| head.split_once("` from "));
                let (id, since) = since.ok_or_else(|| format!("{place}: expected `* `ID` from EDITION on: reason`"))?;
                (id, Some(since.to_string()))
            }
        };
        if !rules.contains_key(id) {
            return Err(format!("{place}: exclusion of the unknown rule {id}"));
        }
        if since.as_ref().is_some_and(|since| !rules[id].editions.contains(since)) {
            return Err(format!("{place}: rule {id} is not in that edition"));
        }
        if excluded.insert(id.to_string(), Exclusion { since, reason: reason.to_string() }).is_some() {
            return Err(format!("{place}: rule {id} is excluded twice"));
        }
    }
    Ok(excluded)
}

/// The id of an erratum is its file name; the content is read at run time.
fn read_errata(root: &Path) -> Result<Vec<(String, PathBuf)>, String> {
    let stem = |p: &PathBuf| p.file_stem().map(|s| s.to_string_lossy().into_owned());
    Ok(files(&root.join("spec/errata"), "ron")?.into_iter().filter_map(|p| stem(&p).map(|s| (s, p))).collect())
}

/// `spec/numbers.txt`: the ids of rules, a line each; the line is the number. Ids are never reused, so a line that is
/// there stays, and a new rule changes no number of another: nothing but what names it is compiled anew. `cargo xtask
/// regenerate` adds the rules that are not in the list; until then they come behind it.
fn read_numbers(root: &Path, rules: &BTreeMap<String, RuleText>) -> Result<Vec<String>, String> {
    let path = root.join("spec/numbers.txt");
    let text = fs::read_to_string(&path).map_err(|e| format!("{}: {e}", path.display()))?;
    let mut numbers: Vec<String> = text.lines().map(str::to_string).collect();
    let listed: BTreeSet<&str> = text.lines().collect();
    if listed.len() != numbers.len() {
        return Err(format!("{}: an id stands there twice", path.display()));
    }
    numbers.extend(rules.keys().filter(|id| !listed.contains(id.as_str())).cloned());
    Ok(numbers)
}

/// The rules as data, and what finds one by its id or its number.
struct Numbered<'r> {
    rules: &'r BTreeMap<String, RuleText>,
    numbers: Vec<String>,
}

impl Numbered<'_> {
    fn number(&self, id: &str) -> usize {
        self.numbers.iter().position(|listed| listed == id).expect("every rule has a number")
    }

    /// A table by number; a number whose rule is gone has the last entry.
    fn table<T: std::fmt::Debug>(&self, of: impl Fn(&RuleText) -> T, gone: T) -> String {
        let entry =
            |id: &String| self.rules.get(id).map_or_else(|| format!("{gone:?}, "), |rule| format!("{:?}, ", of(rule)));
        self.numbers.iter().map(entry).collect()
    }
}

fn rules_source(of: &Numbered, excluded: &BTreeMap<String, Exclusion>) -> Result<String, String> {
    let rules = of.rules;
    let mut out =
        String::from("impl Rule {\n    /// Every rule, in the order of the ids.\n    pub const ALL: &[Rule] = &[\n");
    for id in rules.keys() {
        let _ = writeln!(out, "        Rule({}),", of.number(id));
    }
    let ranks: BTreeMap<&str, usize> = rules.keys().enumerate().map(|(rank, id)| (id.as_str(), rank)).collect();
    let _ = writeln!(out, "    ];\n}}\n/// By number, the place in the order of the ids.");
    let _ = writeln!(out, "static RANK: &[u16] = &[{}];", of.table(|rule| ranks[rule.id.as_str()], 0));
    let _ = writeln!(out, "/// In the order of the ids.\nstatic INFO: &[RuleInfo] = &[");
    for rule in rules.values() {
        let _ = writeln!(
            out,
            "    RuleInfo {{ id: {:?}, file: {:?}, line: {}, heading: {:?}, kind: {:?}, editions: &{:?}, source: {:?}, needs: &{:?}, errata: &{:?}, chevron: {}, pending: {}, succeeds: &{:?}, proposal: {:?}, over: &{:?}, text: {:?}, later: &[{}], excluded: {:?}, excluded_since: {:?} }},",
            rule.id,
            rule.file,
            rule.line,
            rule.heading,
            rule.kind,
            rule.editions,
            rule.source,
            rule.needs,
            rule.errata,
            rule.chevron,
            rule.pending,
            rule.succeeds,
            rule.proposal,
            rule.over,
            rule.text,
            rule.later.iter().map(restated_source).collect::<String>(),
            excluded.get(&rule.id).filter(|of| of.since.is_none()).map(|of| &of.reason),
            excluded.get(&rule.id).and_then(|of| Some((of.since.as_ref()?, &of.reason))),
        );
    }
    out.push_str("];\n");
    let _ = writeln!(out, "/// The ids with their numbers, in the order of the ids.\nconst IDS: &[(&str, u16)] = &[");
    for id in rules.keys() {
        let _ = writeln!(out, "    ({id:?}, {}),", of.number(id));
    }
    out.push_str("];\n");
    out.push_str(&in_editions_source(of)?);
    Ok(out)
}

fn restated_source(later: &Restated) -> String {
    format!(
        "Statement {{ edition: {:?}, kind: {:?}, source: {:?}, needs: &{:?}, errata: &{:?}, chevron: {}, pending: {}, text: {:?} }}, ",
        later.edition, later.kind, later.source, later.needs, later.errata, later.chevron, later.pending, later.text,
    )
}

/// What is judged by: an edition, or a proposal with the edition that it is made to. Editions come first, as in
/// `Basis::index`.
fn texts() -> Vec<(&'static str, Option<&'static str>)> {
    let editions = EDITIONS.iter().map(|edition| (*edition, None));
    editions.chain(PROPOSALS.iter().map(|(proposal, base)| (*base, Some(*proposal)))).collect()
}

/// Whether a text has a rule: its edition states it, and the proposal puts nothing in its place, or the proposal states
/// it.
fn states(rules: &BTreeMap<String, RuleText>, rule: &RuleText, text: (&str, Option<&str>)) -> bool {
    let (edition, proposal) = text;
    let of_proposal = |rule: &RuleText| proposal.is_some() && rule.proposal.as_deref() == proposal;
    let replaced = rules.values().any(|other| of_proposal(other) && other.over.contains(&rule.id));
    of_proposal(rule) || rule.editions.iter().any(|known| known == edition) && !replaced
}

/// By number, a bit for each text that states the rule; by text and number, the rule under which the text states it:
/// itself, or the one that succeeds it there.
fn in_editions_source(of: &Numbered) -> Result<String, String> {
    let rules = of.rules;
    let texts = texts();
    let stated = |rule: &RuleText| -> u8 {
        texts.iter().enumerate().filter(|(_, text)| states(rules, rule, **text)).map(|(at, _)| 1 << at).sum()
    };
    let mut out = format!("static STATED_BY: &[u8] = &[{}];\n", of.table(stated, 0));
    let _ = writeln!(out, "static IN_TEXT: [&[Option<Rule>]; {}] = [", texts.len());
    for text in texts {
        out.push_str("    &[\n");
        for id in &of.numbers {
            let named = rules.get(id).map(|rule| name_in(rules, rule, text)).transpose()?.flatten();
            let number = named.map_or("None".to_string(), |id| format!("Some(Rule({}))", of.number(id)));
            let _ = writeln!(out, "        {number},");
        }
        out.push_str("    ],\n");
    }
    out.push_str("];\n");
    Ok(out)
}

/// The rule under which a text states one.
fn name_in<'r>(
    rules: &'r BTreeMap<String, RuleText>,
    rule: &'r RuleText,
    text: (&str, Option<&str>),
) -> Result<Option<&'r str>, String> {
    let succeeds = |other: &&RuleText| other.succeeds.contains(&rule.id) && states(rules, other, text);
    let successors: Vec<&str> = rules.values().filter(succeeds).map(|other| other.id.as_str()).collect();
    match (states(rules, rule, text), successors.as_slice()) {
        (true, _) => Ok(Some(&rule.id)),
        (false, []) => Ok(None),
        (false, [successor]) => Ok(Some(successor)),
        (false, [_, _, ..]) => Err(format!("{} has several successors in {}", rule.id, text.0)),
    }
}

/// The line `also: ["E33", "E34"],` of an erratum: other ids of the same matter.
fn other_ids(path: &Path) -> Result<Vec<String>, String> {
    let text = fs::read_to_string(path).map_err(|e| format!("{}: {e}", path.display()))?;
    let Some(list) = text.lines().find_map(|line| line.strip_prefix("    also: [")) else { return Ok(Vec::new()) };
    let list = list.strip_suffix("],").ok_or_else(|| format!("{}: `also` must stand on one line", path.display()))?;
    Ok(list.split(',').map(|id| id.trim().trim_matches('"').to_string()).collect())
}

/// A bit for each edition whose text has the words of an erratum: from the one in which it was found, by its letter,
/// until `later: {"EDITION": FATE, ..},` says that they are gone.
fn editions_of_erratum(id: &str, path: &Path) -> Result<u8, String> {
    let text = fs::read_to_string(path).map_err(|e| format!("{}: {e}", path.display()))?;
    let first = match id.chars().next() {
        Some('N') => 1,
        // A proposal is made to the last one.
        Some('M' | 'U') => 2,
        Some(_) | None => 0,
    };
    let fates = text.lines().find_map(|line| line.strip_prefix("    later: {")).unwrap_or_default();
    let has_heirs = text.lines().any(|line| line.starts_with("    heirs: ["));
    let mut bits = 1_u8 << first;
    for (at, edition) in EDITIONS.iter().enumerate().skip(first + 1) {
        let fate = fates.split(',').find_map(|fate| fate.trim().strip_prefix(&format!("\"{edition}\": ")));
        let gone = match fate.map(|fate| fate.trim_end_matches('}')) {
            Some("Fixed" | "Moot") => true,
            Some("Part") => has_heirs,
            Some(_) | None => false,
        };
        if gone {
            break;
        }
        bits |= 1 << at;
    }
    Ok(bits)
}

fn errata_source(errata: &[(String, PathBuf)]) -> Result<String, String> {
    let mut out = String::from(
        "/// An erratum or ambiguity of the text.\n#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]\n#[repr(u16)]\npub enum Erratum {\n",
    );
    for (id, _) in errata {
        let _ = writeln!(out, "    /// See `spec/errata/{id}.ron`.\n    {id},");
    }
    let _ = writeln!(
        out,
        "}}\nimpl Erratum {{\n    /// Every erratum, in the order of the ids.\n    pub const ALL: &[Erratum] = &["
    );
    for (id, _) in errata {
        let _ = writeln!(out, "        Erratum::{id},");
    }
    let _ = writeln!(out, "    ];\n}}\nstatic SOURCES: &[ErratumFile] = &[");
    for (id, path) in errata {
        let text = path.display().to_string();
        let (also, stands) = (other_ids(path)?, editions_of_erratum(id, path)?);
        let _ = writeln!(
            out,
            "    ErratumFile {{ id: {id:?}, text: include_str!({text:?}), also: &{also:?}, stands: {stands} }},"
        );
    }
    out.push_str("];\n");
    Ok(out)
}
