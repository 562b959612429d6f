//! The pages of the implementations under test: a matrix of chapters by releases, and a page for each release.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use ask::adapters::TvmVersion;
use relax_spec::book::{Edition, Rule};
use relax_spec::suite::ledger::{DeviationClass, KnownDivergence};

use super::super::Links;
use super::super::chapter::{escaped, with_links};
use super::super::links::ledger;
use super::{Entry, of};

/// The ledgers, with the name of the implementation and of its pages.
const LEDGERS: [(&str, &str, &str); 2] = [
    ("tvm", "Apache TVM", "apache-tvm"),
    ("tvm-executables", "Executables of Apache TVM, run on the machine of the RFC", "apache-tvm-executables"),
];
/// The edition that all releases claim.
const EDITION: Edition = Edition::E2024_04;
/// The note on what is counted.
const NOTE: &str = "*cases*: those of the suite in edition";

/// A page for each implementation, and one for each of its releases.
///
/// # Errors
///
/// A ledger cannot be read.
pub fn implementations(links: &Links) -> Result<Vec<Entry>, String> {
    let mut cases: BTreeMap<&str, usize> = BTreeMap::new();
    for case in links.suite.iter().filter(|case| case.editions.contains(&EDITION) && case.proposal.is_none()) {
        *cases.entry(case.chapter()).or_default() += 1;
    }
    let mut pages = Vec::new();
    for (name, title, page) in LEDGERS {
        let known = ledger(name)?;
        pages.push(matrix(&cases, &known, title, page));
        for version in TvmVersion::ALL {
            let known: Vec<&KnownDivergence> = known.iter().filter(|known| known.is_of(version.name())).collect();
            pages.push(release(
                links,
                &cases,
                &known,
                &format!("{title}, {}", version.name()),
                &path_of(page, version),
            ));
        }
    }
    Ok(pages)
}

fn path_of(page: &str, version: TvmVersion) -> String {
    format!("implementations/{page}-{}.md", version.name())
}

fn chapter_of(known: &KnownDivergence) -> &str {
    known.case.split('/').next().unwrap_or_default()
}

fn matrix(cases: &BTreeMap<&str, usize>, known: &[KnownDivergence], title: &str, page: &str) -> Entry {
    let mut out = format!(
        "# {title}\n\n{NOTE} {EDITION}; a release: those that it answers otherwise, or not at all.\n\n| chapter | cases |"
    );
    for version in TvmVersion::ALL {
        let _ = write!(out, " [{}]({page}-{}.md) |", version.name(), version.name());
    }
    out.push_str("\n| --- | ---: |");
    TvmVersion::ALL.iter().for_each(|_| out.push_str(" ---: |"));
    for (chapter, count) in cases {
        let _ = write!(out, "\n| {chapter} | {count} |");
        for version in TvmVersion::ALL {
            let here = known.iter().filter(|known| known.is_of(version.name()) && chapter_of(known) == *chapter);
            let _ = write!(out, " {} |", here.count());
        }
    }
    out.push('\n');
    Entry { path: format!("implementations/{page}.md"), title: title.to_string(), content: out }
}

fn release(links: &Links, cases: &BTreeMap<&str, usize>, known: &[&KnownDivergence], title: &str, path: &str) -> Entry {
    let classes = DeviationClass::ALL;
    let mut out = format!(
        "# {title}\n\n{NOTE} {EDITION}; the other columns: known divergences, by their class.\n\n| chapter | cases |"
    );
    classes.iter().for_each(|class| {
        let _ = write!(out, " {class} |");
    });
    out.push_str("\n| --- | ---: |");
    classes.iter().for_each(|_| out.push_str(" ---: |"));
    for (chapter, count) in cases {
        let _ = write!(out, "\n| {chapter} | {count} |");
        for class in classes {
            let here = known.iter().filter(|known| chapter_of(known) == *chapter && known.class == Some(class));
            let _ = write!(out, " {} |", here.count());
        }
    }
    out.push_str("\n\n## Clauses\n\nThe clauses that decide, with what the release does otherwise.\n\n");
    let mut clauses: BTreeMap<Rule, Vec<&KnownDivergence>> = BTreeMap::new();
    for known in known {
        known.clause.into_iter().for_each(|clause| clauses.entry(clause).or_default().push(known));
    }
    for (clause, known) in clauses {
        let reason = known.first().map_or("", |known| known.reason.as_str());
        let _ = writeln!(
            out,
            "* {} ({}): {}",
            of(path, clause),
            known.len(),
            with_links(links, path, &escaped(reason.lines().next().unwrap_or_default()))
        );
    }
    Entry { path: path.to_string(), title: title.to_string(), content: out }
}
