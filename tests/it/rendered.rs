//! The command line's output for people, stored in full in `snapshots/`: help, diagnostics, derivations, rules and
//! reports.
//!
//! `INSTA_UPDATE=always cargo test --release --test it rendered` writes the current output. Read the difference before
//! you keep it.

use regex_lite::Regex;
use tempfile::TempDir;

use crate::cli::{fake, run};

const COMMANDS: [&str; 29] = [
    "check",
    "run",
    "build",
    "vm",
    "judge",
    "normalize",
    "convert",
    "migrate",
    "types",
    "refine",
    "rules",
    "explain",
    "errata",
    "editions",
    "conform",
    "report",
    "fuzz",
    "blame",
    "diff",
    "reduce",
    "reproduce",
    "promote",
    "ops",
    "adapter",
    "export",
    "server",
    "mcp",
    "completions",
    "help",
];

/// A command line, with its exit status and output.
fn session(args: &[&str]) -> String {
    let (status, out, err) = run(args);
    let err = if err.is_empty() { err } else { format!("-- standard error\n{err}") };
    format!("$ relax-spec {}\n{out}{err}-- exit status {status}\n", args.join(" "))
}

fn kept(name: &str, printed: &str) {
    let mut settings = insta::Settings::clone_current();
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    settings.bind(|| insta::assert_snapshot!(name, printed));
}

#[test]
fn help() {
    let (_, listed, _) = run(&["help"]);
    let names = listed
        .lines()
        .filter_map(|line| line.strip_prefix("  ")?.split_whitespace().next().filter(|_| !line.starts_with("   ")));
    let missing: Vec<&str> = names.filter(|name| !name.starts_with('-') && !COMMANDS.contains(name)).collect();
    assert!(missing.is_empty(), "commands whose help is not kept: {missing:?}");
    for command in COMMANDS {
        kept(&format!("help_{command}"), &session(&["help", command]));
    }
}

#[test]
fn diagnostics() {
    kept("check_mistakes", &session(&["check", "examples/mistakes.py"]));
    kept("check_mistakes_literally", &session(&["check", "--reading", "literal", "examples/mistakes.py"]));
    kept("check_later", &session(&["check", "examples/later.py"]));
    kept("check_no_file", &session(&["check", "examples/nowhere.py"]));
    kept("run_without_arguments", &session(&["run", "examples/add.py"]));
}

#[test]
fn derivations() {
    let (narrow, wide) = ("Tuple(Tensor((n, 4), float32), Shape((n)))", "Tuple(Tensor(ndim=2, float32), Object)");
    kept("judge_compat", &session(&["judge", "compat", "--explain", wide, narrow]));
    kept(
        "judge_both_readings",
        &session(&["judge", "lub", "Func((Tensor(2, float32)) -> Object)", "Func((Shape(2)) -> Object)"]),
    );
    kept("judge_misspelt", &session(&["judge", "subtype", "Tensor(2, float33)", "Object"]));
}

#[test]
fn rules_and_errata() {
    kept("errata_e57", &session(&["errata", "E57"]));
    kept("rules_sub", &session(&["rules", "SUB.TENSOR"]));
}

#[test]
fn reports() {
    let dir = TempDir::new().unwrap();
    let adapter = fake::adapter(&dir, fake::YES);
    let hash = Regex::new("sha256:[0-9a-f]{64}").unwrap();
    for format in ["human", "md"] {
        let (status, out, _) = run(&["conform", "types/sub-*", "--adapter", &adapter, "-j", "1", "--report", format]);
        let printed = format!("{out}-- exit status {status}\n");
        let printed = printed.replace(&dir.path().display().to_string(), "DIR");
        let printed = hash.replace_all(&printed, "sha256:HASH").into_owned();
        kept(&format!("report_{format}"), &without_times(&printed));
    }
}

/// Times differ from run to run.
fn without_times(text: &str) -> String {
    let number = |word: &str| word.trim_end_matches(['.', ',']).parse::<f64>().is_ok();
    let line = |line: &str| {
        let words: Vec<&str> = line.split(' ').collect();
        let timed = |i: usize| {
            number(words[i]) && words.get(i + 1).is_some_and(|unit| unit.starts_with(['s', 'm']) && unit.len() <= 3)
        };
        (0..words.len()).map(|i| if timed(i) { "N" } else { words[i] }).collect::<Vec<_>>().join(" ")
    };
    text.lines().map(line).map(|line| line + "\n").collect()
}
