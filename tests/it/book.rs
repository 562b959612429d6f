//! The programs and the notation of the book are read, checked and run as written.
//!
//! A comment that the book hides follows each program and states its expected outcomes:
//!
//! * `accepted`, or `accepted with RULE RULE` if there are warnings.
//! * `rejected by RULE`.
//! * `run ARGUMENTS gives VALUE`, `run ARGUMENTS ends in RULE`, with the arguments of `relax-spec run`.
//! * `derives FUNCTION: INFORMATION`.
//! * `fragment: REASON` for text that is not a program.

use std::fs;
use std::path::{Path, PathBuf};

use relax_spec::IrModule;
use relax_spec::grammar::notation::{parse_struct_info, parse_type};
use tempfile::TempDir;

/// The pages of the book.
fn pages() -> Vec<(PathBuf, String)> {
    let mut pending = vec![Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../..")).join("spec/src")];
    let mut found = Vec::new();
    while let Some(dir) = pending.pop() {
        for entry in fs::read_dir(dir).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                pending.push(path);
            } else if path.extension().is_some_and(|e| e == "md") {
                let text = fs::read_to_string(&path).unwrap();
                found.push((path, text));
            }
        }
    }
    found.sort();
    found
}

/// A program of the book, with its expected outcomes.
struct Program {
    at: String,
    text: String,
    outcomes: Vec<String>,
}

fn programs() -> Vec<Program> {
    let mut found = Vec::new();
    for (path, text) in pages() {
        let lines: Vec<&str> = text.lines().collect();
        let mut number = 0;
        while number < lines.len() {
            let start = number;
            number += 1;
            if !lines[start].starts_with("```python") {
                continue;
            }
            let body: Vec<&str> = lines[number..].iter().take_while(|line| !line.starts_with("```")).copied().collect();
            number += body.len() + 1;
            let outcomes = lines[number.min(lines.len())..].iter().map_while(|line| outcome(line)).collect();
            let at = format!("{}:{}", path.file_name().unwrap().to_string_lossy(), start + 1);
            found.push(Program { at, text: body.join("\n"), outcomes });
        }
    }
    found
}

fn outcome(line: &str) -> Option<String> {
    Some(line.strip_prefix("<!-- relax-spec: ")?.strip_suffix(" -->")?.to_string())
}

/// Checks an outcome that the book states.
fn holds(program: &Program, outcome: &str) -> Result<(), String> {
    if outcome.starts_with("fragment: ") {
        return Ok(());
    }
    let module = relax_spec::parse(&program.text).map_err(|error| error.to_string())?;
    let (verb, rest) = outcome.split_once(' ').unwrap_or((outcome, ""));
    match verb {
        "accepted" => same(told(&module), (true, rest.trim_start_matches("with ").to_string())),
        "rejected" => same(told(&module), (false, rest.trim_start_matches("by ").to_string())),
        "run" => ran(program, rest),
        "derives" => {
            let (function, info) = rest.split_once(": ").ok_or("no information is stated")?;
            let info = parse_struct_info(info).map_err(|error| error.to_string())?;
            same(
                relax_spec::derive(&module).info_of_function(function).map(ToString::to_string),
                Some(info.to_string()),
            )
        }
        unknown => Err(format!("`{unknown}` is no outcome")),
    }
}

fn same<T: PartialEq + std::fmt::Debug>(found: T, stated: T) -> Result<(), String> {
    if found == stated { Ok(()) } else { Err(format!("the book says {stated:?}, but it is {found:?}")) }
}

/// The verdict of `check`, and the rules that it names.
fn told(module: &IrModule) -> (bool, String) {
    let report = relax_spec::check(module);
    let rules: Vec<&str> = report.diagnostics.iter().map(|diagnostic| diagnostic.rule.id()).collect();
    (report.accepts(), rules.join(" "))
}

fn ran(program: &Program, stated: &str) -> Result<(), String> {
    let dir = TempDir::new().map_err(|error| error.to_string())?;
    let file = dir.path().join("book.py");
    fs::write(&file, &program.text).map_err(|error| error.to_string())?;
    let run = |arguments: &str| {
        let words = shell_words(arguments);
        let file = file.display().to_string();
        let line: Vec<&str> = ["run", &file].into_iter().chain(words.iter().map(String::as_str)).collect();
        crate::cli::run(&line)
    };
    if let Some((arguments, value)) = stated.split_once(" gives ") {
        let (status, out, err) = run(arguments);
        same((status, out, err), (0, format!("{value}\n"), String::new()))
    } else if let Some((arguments, rule)) = stated.split_once(" ends in ") {
        let (status, _, err) = run(arguments);
        same((status, err.contains(&format!("[{rule}]"))), (1, true))
    } else {
        Err("no result is stated".to_string())
    }
}

/// Splits words at blanks, except within single quotes.
fn shell_words(text: &str) -> Vec<String> {
    text.split('\'')
        .enumerate()
        .flat_map(|(at, part)| if at % 2 == 1 { vec![part] } else { part.split_whitespace().collect() })
        .map(str::to_string)
        .collect()
}

#[test]
fn every_program_comes_out_as_the_book_says() {
    let programs = programs();
    assert!(programs.len() >= 15, "{} programs", programs.len());
    let mut wrong = Vec::new();
    for program in &programs {
        if program.outcomes.is_empty() {
            wrong.push(format!("{}: the book does not say what comes of it", program.at));
        }
        for outcome in &program.outcomes {
            if let Err(reason) = holds(program, outcome) {
                wrong.push(format!("{}: {outcome}: {reason}", program.at));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// The code spans that are structural information or a type, and nothing else.
fn notation(text: &str) -> Vec<&str> {
    let kinds = ["Tensor(", "Tensor[", "Shape(", "Shape[", "Tuple(", "Tuple[", "Func(", "Func["];
    text.split('`')
        .skip(1)
        .step_by(2)
        .flat_map(|span| span.split(" <<: ").flat_map(|side| side.split(" <: ")))
        .filter(|span| kinds.iter().any(|kind| span.starts_with(kind)) && !span.contains(".."))
        .collect()
}

/// Replaces letters for any information or type by Object, and those for datatypes and ranks by one of these.
fn without_letters(span: &str) -> String {
    let mut out = String::new();
    for word in span.split_inclusive(|c: char| !c.is_alphanumeric()) {
        let name = word.trim_end_matches(|c: char| !c.is_alphanumeric());
        let stands_for = match name {
            "S" | "T" | "R" | "A" | "B" | "r" => "Object",
            "d" => "float32",
            other => other,
        };
        out.push_str(stands_for);
        out.push_str(&word[name.len()..]);
    }
    out
}

/// Forms of the grammar whose parts are letters, and an expression.
const FORMS: [&str; 5] = ["Tensor(n1, d1, s1)", "Tensor(n2, d2, s2)", "Shape(n)", "Tuple(fields)", "Tuple([f(x)])"];

#[test]
fn the_notation_of_the_book_is_that_of_judge() {
    let mut wrong = Vec::new();
    let mut count = 0;
    // The pages on Relay have their own notation.
    let is_relay = |path: &Path| path.file_name().is_some_and(|name| name.to_string_lossy().starts_with("relay"));
    for (path, text) in pages().into_iter().filter(|(path, _)| !is_relay(path)) {
        let prose: String = text.split("\n```").step_by(2).collect();
        for span in prose.split("\n\n").flat_map(notation).filter(|span| !FORMS.contains(span)) {
            count += 1;
            let plain = without_letters(&span.replace('\n', " "));
            if parse_struct_info(&plain).is_err() && parse_type(&plain).is_err() {
                wrong.push(format!("{}: `{span}`", path.file_name().unwrap().to_string_lossy()));
            }
        }
    }
    assert!(count >= 100, "{count} spans");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
