//! Citations in documents, help texts and comments exist in the text of the specification.

use std::fs;
use std::path::{Path, PathBuf};

use relax_spec::book::{Erratum, Rule, ron_options};
use relax_spec::suite::ledger::KnownDivergence;

/// The command line, with its help texts in comments and strings.
const CLI: &str = "crates/cli/src";

fn root() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))
}

/// The files in a directory tree with these extensions.
fn below(dir: &Path, endings: &[&str], found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            below(&path, endings, found);
        } else if path.extension().is_some_and(|e| endings.iter().any(|ending| e == *ending)) {
            found.push(path);
        }
    }
}

/// All texts for people: pages, help texts and comments.
fn read_by_people() -> Vec<PathBuf> {
    let mut found: Vec<PathBuf> = ["README.md", "CONTRIBUTING.md", "CHANGELOG.md", "ARCHITECTURE.md"]
        .into_iter()
        .map(|name| root().join(name))
        .filter(|path| path.exists())
        .collect();
    below(&root().join("docs"), &["md"], &mut found);
    below(&root().join("spec"), &["md", "ron"], &mut found);
    below(&root().join("conformance"), &["md"], &mut found);
    below(&root().join("conformance/ledger"), &["ron"], &mut found);
    for sources in ["src", "crates", "xtask"] {
        below(&root().join(sources), &["rs"], &mut found);
    }
    found
}

/// Words that look like an id, a prefix of ids (`SI.UNIFY.`) or a glob over ids (`SUB.*`).
fn words(line: &str) -> impl Iterator<Item = &str> {
    let part_of_word = |c: char| c.is_ascii_alphanumeric() || ['.', '-', '_', '*'].contains(&c);
    line.split(move |c| !part_of_word(c)).map(|word| word.trim_matches('-')).filter(|word| word.contains('.'))
}

/// Whether a word is not an id, is a known one, or is a prefix of some.
fn is_known(word: &str) -> bool {
    let head = word.split('.').next().unwrap_or_default();
    let is_family = Rule::ALL.iter().any(|rule| rule.id().split('.').next() == Some(head));
    let (stem, open) = match word.strip_suffix('*') {
        Some(stem) => (stem, true),
        None => (word, false),
    };
    let stem = if open { stem } else { stem.trim_end_matches('.') };
    let begins = |id: &str| id.strip_prefix(stem).is_some_and(|rest| open || rest.is_empty() || rest.starts_with('.'));
    !is_family || Rule::ALL.iter().any(|rule| begins(rule.id()))
}

#[test]
fn every_rule_that_is_cited_exists() {
    let mut unknown = Vec::new();
    for path in read_by_people() {
        let text = fs::read_to_string(&path).unwrap();
        let is_code = path.extension().is_some_and(|e| e == "rs");
        // In code, the compiler checks the rest. The texts of the command line are in attributes and comments.
        let is_read =
            |line: &str| !is_code || line.trim_start().starts_with("//") || path.starts_with(root().join(CLI));
        for (i, line) in text.lines().enumerate().filter(|(_, line)| is_read(line)) {
            let place = path.strip_prefix(root()).unwrap_or(&path).display();
            unknown.extend(words(line).filter(|word| !is_known(word)).map(|word| format!("{place}:{}: {word}", i + 1)));
        }
    }
    assert!(unknown.is_empty(), "cited, but not stated by the text:\n  {}", unknown.join("\n  "));
}

#[test]
fn every_erratum_that_a_help_text_cites_exists() {
    let mut files = vec![root().join("README.md"), root().join("CONTRIBUTING.md")];
    below(&root().join("docs"), &["md"], &mut files);
    below(&root().join(CLI), &["rs"], &mut files);
    let is_id =
        |word: &&str| word.len() == 3 && word.starts_with(['A', 'E']) && word[1..].bytes().all(|b| b.is_ascii_digit());
    let mut unknown = Vec::new();
    for path in files {
        let text = fs::read_to_string(&path).unwrap();
        let ids = text.split(|c: char| !c.is_ascii_alphanumeric()).filter(is_id);
        unknown.extend(ids.filter(|id| Erratum::named(id).is_err()).map(|id| format!("{}: {id}", path.display())));
    }
    assert!(unknown.is_empty(), "no such errata:\n  {}", unknown.join("\n  "));
}

/// Whether a reason names a clause, by a complete id.
fn names_a_clause(reason: &str) -> bool {
    words(reason).any(|word| Rule::ALL.iter().any(|rule| rule.id() == word.trim_end_matches('.')))
}

/// The difference between an executable and its program is explained by the clause that the program follows. A time-out
/// of TVM that depends on the machine has no clause.
#[test]
fn every_difference_of_an_executable_is_explained_by_a_clause() {
    let text = ask::conformance::ledger("tvm-executables").expect("the ledger");
    let entries: Vec<KnownDivergence> = ron_options().from_str(&text).expect("entries");
    assert!(entries.len() > 100, "{} entries", entries.len());
    let bare = entries.iter().filter(|known| !known.sometimes && !names_a_clause(&known.reason));
    let bare: Vec<&str> = bare.map(|known| known.case.as_str()).collect();
    assert!(bare.is_empty(), "no clause is named for\n  {}", bare.join("\n  "));
}

#[test]
fn the_gate_can_fail() {
    assert!(names_a_clause("MEM.UNWRITTEN: nothing was written") && !names_a_clause("it is not read. MEM.NONSENSE"));
    assert!(is_known("SUB.TENSOR.RANK") && is_known("SI.UNIFY.") && is_known("SUB.*") && is_known("file.rs"));
    assert!(!is_known("SUB.TENSOR.NONSENSE") && !is_known("SI.NONSENSE.*") && !is_known("WF.5.USE"));
}
