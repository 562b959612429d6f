//! Files from users. The first lines of each file in `tests/it/reported` state the expectation.
//!
//! * `# check EDITION: N RULE@LINE ..`: the number of errors in that edition, with their rules and lines.
//! * `# run ARG; ARG: RESULT`: the result of the program.
//! * `# error LINE: TEXT`: a syntax error at this line, with a part of the message.
//! * `# modules: NAME ..`: the programs in the file.

use std::fs;
use std::path::{Path, PathBuf};

use relax_spec::syntax::tvmscript::{Which, parse_file};
use serde_json::Value;

use crate::cli::{json_lines, run};

fn directory() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/it/reported")
}

#[test]
fn each_file_is_as_it_says() {
    let (mut wrong, mut held) = (Vec::new(), 0);
    for entry in fs::read_dir(directory()).unwrap() {
        let path = entry.unwrap().path();
        let text = fs::read_to_string(&path).unwrap();
        let path = path.display().to_string();
        for line in text.lines().take_while(|line| line.starts_with("# ")) {
            let Some((word, rest)) = line.trim_start_matches("# ").split_once(' ') else { continue };
            let outcome = match word {
                "check" => check(&path, rest),
                "run" => evaluate(&path, rest),
                "error" => unreadable(&path, rest),
                "modules:" => modules(&text, rest),
                _ => continue,
            };
            held += 1;
            wrong.extend(outcome.err().map(|found| format!("{path}: {line}\n    {found}")));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(held > 30, "{held}");
}

/// The errors in the output.
fn errors(output: &str) -> Vec<Value> {
    json_lines(output).into_iter().filter(|finding| finding["severity"] == "error").collect()
}

fn check(path: &str, expected: &str) -> Result<(), String> {
    let (edition, findings) = expected.split_once(':').ok_or("no edition")?;
    let (_, output, _) = run(&["check", "--format", "json", "--edition", edition, path]);
    let errors = errors(&output);
    let mut words = findings.split_whitespace();
    let places: Vec<String> = errors
        .iter()
        .map(|error| format!("{}@{}", error["rule"].as_str().unwrap_or("unreadable"), error["start"]["line"]))
        .collect();
    let count = words.next().and_then(|count| count.parse().ok());
    if count == Some(errors.len()) && words.all(|word| places.iter().any(|place| place == word)) {
        return Ok(());
    }
    Err(output)
}

fn evaluate(path: &str, expected: &str) -> Result<(), String> {
    let (args, result) = expected.split_once(": ").ok_or("no result")?;
    let mut command = vec!["run", "--edition", "2024-04", path];
    for arg in args.split(';').map(str::trim).filter(|arg| *arg != "nothing") {
        command.extend(["--arg", arg]);
    }
    let (_, output, told) = run(&command);
    if output.split_whitespace().eq(result.split_whitespace()) { Ok(()) } else { Err(format!("{output}{told}")) }
}

fn unreadable(path: &str, expected: &str) -> Result<(), String> {
    let (line, part) = expected.split_once(": ").ok_or("no message")?;
    let (status, output, _) = run(&["check", "--format", "json", path]);
    let errors = errors(&output);
    let is_told = |error: &Value| {
        error["start"]["line"].as_u64() == line.parse().ok()
            && error["message"].as_str().is_some_and(|m| m.contains(part))
    };
    if status == 2 && errors.len() == 1 && errors.iter().all(is_told) { Ok(()) } else { Err(output) }
}

fn modules(text: &str, expected: &str) -> Result<(), String> {
    let file = parse_file(text, Which::All).map_err(|errors| format!("{errors:?}"))?;
    let names: Vec<&str> = file.modules.iter().map(|(name, _)| name.as_str()).collect();
    if names.join(" ") == expected { Ok(()) } else { Err(names.join(" ")) }
}
