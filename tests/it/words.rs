//! Gates on names and comments, so that a stranger can read them: widths, lengths of sentences, names of types and
//! files.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// The widest line of a comment, in characters, as `rustfmt` allows it of code.
const WIDTH: usize = 120;

/// The longest sentence of a doc comment, in words.
const LONGEST: usize = 40;

/// Names that two types of one crate may have, each with the reason.
const SHARED_NAMES: [(&str, &[&str]); 3] = [
    ("each command has its own", &["Args", "Error"]),
    (
        "the terms of the grammars of Relax, of TIR and of Relay, and the objects that they evaluate to",
        &[
            "Binding", "Call", "Closure", "Constant", "Expr", "Function", "If", "Param", "Parser", "Printer", "Token",
            "TupleObj", "Type", "Value",
        ],
    ),
    ("the evaluators of Relax, of TIR, of Relay and of executables", &["Machine"]),
];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The Rust files of the checkout with their texts, by their paths from its root.
fn sources() -> BTreeMap<String, String> {
    let (mut found, mut open) = (BTreeMap::new(), Vec::new());
    open.extend(["src", "crates", "xtask", "tests", "benches", "fuzz"].map(|name| root().join(name)));
    while let Some(path) = open.pop() {
        if path.is_dir() && path.file_name().is_none_or(|name| name != "target") {
            open.extend(fs::read_dir(&path).unwrap().map(|entry| entry.unwrap().path()));
        } else if path.extension().is_some_and(|ending| ending == "rs") {
            let name = path.strip_prefix(root()).unwrap().display().to_string();
            found.insert(name, fs::read_to_string(&path).unwrap());
        }
    }
    found
}

#[test]
fn no_comment_is_wider_than_code() {
    let wide = |line: &str| line.trim_start().starts_with("//") && line.chars().count() > WIDTH;
    let found: Vec<String> = sources()
        .iter()
        .flat_map(|(path, text)| (1..).zip(text.lines()).map(move |(number, line)| (path, number, line)))
        .filter(|(_, _, line)| wide(line))
        .map(|(path, number, _)| format!("{path}:{number}"))
        .collect();
    assert!(found.is_empty(), "{} comments: {found:#?}", found.len());
}

/// The sentences of the doc comments of a text, each with the line of the comment. Code and tables are none.
fn sentences(text: &str) -> Vec<(usize, String)> {
    let (mut found, mut comment, mut begins, mut in_code) = (Vec::new(), String::new(), 0, false);
    for (number, line) in (1..).zip(text.lines().chain([""])) {
        let words = ["///", "//!"].iter().find_map(|mark| line.trim_start().strip_prefix(mark)).map(str::trim);
        in_code ^= words.is_some_and(|words| words.starts_with("```"));
        let prose = words.filter(|words| !in_code && !words.starts_with(['|', '`', '#', '*', '-', '<']));
        match prose {
            Some(words) if !words.is_empty() => {
                begins = if comment.is_empty() { number } else { begins };
                comment += words;
                comment.push(' ');
            }
            Some(_) | None => {
                let is_end = |word: &str| word.trim_end_matches([')', '"', '`', '*']).ends_with(['.', '?', '!']);
                let words: Vec<&str> = comment.split_whitespace().collect();
                found.extend(words.split_inclusive(|word| is_end(word)).map(|words| (begins, words.join(" "))));
                comment.clear();
            }
        }
    }
    found
}

#[test]
fn a_sentence_has_forty_words_at_most() {
    let mut found = Vec::new();
    for (path, text) in sources() {
        let long = sentences(&text).into_iter().filter(|(_, sentence)| sentence.split_whitespace().count() > LONGEST);
        found.extend(long.map(|(line, sentence)| format!("{path}:{line}: {sentence}")));
    }
    assert!(found.is_empty(), "{} sentences: {found:#?}", found.len());
}

/// The types that a text defines outside of its tests.
fn types(text: &str) -> Vec<&str> {
    let code = text.split("#[cfg(test)]\nmod tests {").next().unwrap_or(text);
    code.lines()
        .filter_map(|line| {
            let line = line.strip_prefix("pub(super) ").or(line.strip_prefix("pub(crate) ")).unwrap_or(line);
            let line = line.strip_prefix("pub ").unwrap_or(line);
            let keyword = ["struct ", "enum ", "trait "].into_iter().find(|keyword| line.starts_with(keyword))?;
            line[keyword.len()..].split(|c: char| !c.is_alphanumeric() && c != '_').next()
        })
        .collect()
}

#[test]
fn a_crate_defines_the_name_of_a_type_once() {
    let sources = sources();
    let mut homes: BTreeMap<(&str, &str), Vec<&str>> = BTreeMap::new();
    let is_of_tests = |path: &str| path.contains("tests") || path.ends_with("testing.rs");
    for (path, text) in sources.iter().filter(|(path, _)| !is_of_tests(path)) {
        // Each file of benches is a crate.
        let house = match path.split_once("/src/") {
            Some((house, _)) => house,
            None if path.starts_with("src/") => "src",
            None => path,
        };
        types(text).into_iter().for_each(|name| homes.entry((house, name)).or_default().push(path));
    }
    assert!(homes.len() > 1_000, "{}", homes.len());
    let shared: BTreeSet<&str> = SHARED_NAMES.iter().flat_map(|(_, names)| names.iter().copied()).collect();
    let twice: Vec<_> = homes.iter().filter(|(_, paths)| paths.len() > 1).collect();
    let wrong: Vec<_> = twice.iter().filter(|((_, name), _)| !shared.contains(name)).collect();
    assert!(wrong.is_empty(), "{} names: {wrong:#?}", wrong.len());
    let idle: Vec<_> = shared.iter().filter(|name| !twice.iter().any(|((_, twice), _)| twice == *name)).collect();
    assert!(idle == [&"Error"], "{idle:?}");
}

#[test]
fn no_file_of_campaigns_is_named_by_a_participle() {
    let word = |path: &str| Path::new(path).file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let ends = |stem: &str| ["ed", "ing", "pt", "ld"].iter().any(|end| stem.ends_with(end));
    let terms = ["seed", "field", "build"];
    let found: Vec<String> = sources()
        .into_keys()
        .filter(|path| path.starts_with("crates/campaign/"))
        .filter(|path| ends(&word(path)) && !terms.contains(&word(path).as_str()))
        .collect();
    assert!(found.is_empty(), "{found:#?}");
}

#[test]
fn the_gates_can_fail() {
    let text = format!("/// {}\nfn f() {{}}\n", "word ".repeat(41));
    assert_eq!(sentences(&text).iter().filter(|(_, s)| s.split_whitespace().count() > LONGEST).count(), 1);
    assert_eq!(types("pub(super) struct One;\nenum Two {}\npub trait Three {}\n"), ["One", "Two", "Three"]);
}
