//! Writes the files that are generated from data, or compares them with the stored ones.

use std::collections::BTreeSet;
use std::fs;
use std::process::{Command, ExitCode};

use ask::checkout::write_atomically;
use ask::{conformance, standing};
use campaign::operators;
use campaign::programs::ConstructCensus;
use relax_spec::book::Rule;
use relax_spec::suite::coverage;

use crate::root;

/// A generated file: its path from the root of the checkout, and its contents.
struct GeneratedFile {
    path: String,
    text: String,
}

/// Writes the generated files. With `--check` nothing is written, and a stale file is an error.
pub fn run(args: Vec<String>) -> ExitCode {
    let check = match args.iter().map(String::as_str).collect::<Vec<&str>>().as_slice() {
        [] => false,
        ["--check"] => true,
        _ => {
            eprintln!("usage: cargo xtask regenerate [--check]");
            return ExitCode::from(2);
        }
    };
    let made = match made(check) {
        Ok(made) => made,
        Err(error) => {
            eprintln!("error: {error}");
            return ExitCode::from(2);
        }
    };
    let stale: Vec<GeneratedFile> = made.into_iter().filter(|made| !is_kept(made)).collect();
    for GeneratedFile { path, text } in &stale {
        if check {
            eprintln!("stale: {path} (run `cargo xtask regenerate`)");
        } else if let Err(error) = write_atomically(&root().join(path), text.as_bytes()) {
            eprintln!("error: {path}: {error}");
            return ExitCode::from(2);
        } else {
            println!("wrote {path}");
        }
    }
    let findings = findings(check);
    if findings && (stale.is_empty() || !check) { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn is_kept(made: &GeneratedFile) -> bool {
    fs::read_to_string(root().join(&made.path)).is_ok_and(|kept| kept == made.text)
}

/// The generated files. The record behind `rules` takes a minute, and a test of `cargo test --test it gates` compares
/// it: it is made only to be written.
fn made(check: bool) -> Result<Vec<GeneratedFile>, Box<dyn std::error::Error>> {
    let suite = conformance::suite()?;
    let mut made = vec![
        GeneratedFile { path: "spec/src/implementations.md".to_string(), text: campaign::classes::page()? },
        GeneratedFile { path: "spec/src/generator.md".to_string(), text: ConstructCensus::page() },
        GeneratedFile { path: operators::FILE.to_string(), text: operators::measured(&suite).to_text() },
        numbers()?,
    ];
    if !check {
        made.push(GeneratedFile { path: standing::FILE.to_string(), text: standing::measured()?.to_text() });
    }
    let locks = coverage::locks(&suite).into_iter();
    made.extend(locks.map(|(chapter, text)| GeneratedFile { path: format!("conformance/lock/{chapter}.lock"), text }));
    Ok(made)
}

/// The ids in the order of their numbers. Existing ids stay, and new ones are appended.
fn numbers() -> std::io::Result<GeneratedFile> {
    let path = "spec/numbers.txt".to_string();
    let mut text = fs::read_to_string(root().join(&path))?;
    let listed: BTreeSet<String> = text.lines().map(str::to_string).collect();
    for id in Rule::ALL.iter().map(|rule| rule.id()).filter(|id| !listed.contains(*id)) {
        text.push_str(id);
        text.push('\n');
    }
    Ok(GeneratedFile { path, text })
}

/// A script makes the list of the findings from their folders, and compares it itself.
fn findings(check: bool) -> bool {
    let mut command = Command::new("python3");
    command.arg(root().join("tools/make_findings.py")).current_dir(root());
    if check {
        command.arg("--check");
    }
    command.status().is_ok_and(|status| status.success())
}
