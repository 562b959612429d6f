//! The commands of README.md, word for word: their output, and the files that they name.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

use tempfile::TempDir;

use crate::cli::{relax_spec, run_with};

/// A command of the tour, with the lines below it.
struct Step {
    /// The words before `relax-spec`: environment variables.
    variables: Vec<(String, String)>,
    words: Vec<String>,
    shown: Vec<String>,
}

fn root() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))
}

/// The commands in blocks of `console`.
fn steps() -> Vec<Step> {
    let text = fs::read_to_string(root().join("README.md")).unwrap();
    let mut steps: Vec<Step> = Vec::new();
    let mut inside = false;
    for line in text.lines() {
        match line.strip_prefix("$ ") {
            _ if line.starts_with("```") => inside = line == "```console",
            Some(command) if inside => steps.push(step(command)),
            None if inside => steps.last_mut().expect("a command comes first").shown.push(line.to_string()),
            Some(_) | None => {}
        }
    }
    steps
}

fn step(command: &str) -> Step {
    // shlex leaves out what follows `#`.
    let words = shlex::split(command).unwrap_or_else(|| panic!("{command}: no command line"));
    let at = words.iter().position(|word| word == "relax-spec").unwrap_or_else(|| panic!("{command}: another program"));
    let variables = words[..at].iter().map(|word| word.split_once('=').unwrap());
    Step {
        variables: variables.map(|(name, value)| (name.to_string(), value.to_string())).collect(),
        words: words[at + 1..].to_vec(),
        shown: Vec::new(),
    }
}

/// Whether lines are those shown, where `...` stands for any lines.
fn is_shown(lines: &[&str], shown: &[String]) -> bool {
    match shown.split_first() {
        None => lines.is_empty(),
        Some((dots, rest)) if dots == "..." => (0..=lines.len()).any(|skipped| is_shown(&lines[skipped..], rest)),
        Some((first, rest)) => lines.split_first().is_some_and(|(line, lines)| line == first && is_shown(lines, rest)),
    }
}

#[test]
fn the_commands_of_the_readme_do_what_it_shows() {
    let dir = TempDir::new().unwrap();
    for name in ["examples", "conformance", "spec"] {
        symlink(root().canonicalize().unwrap().join(name), dir.path().join(name)).unwrap();
    }
    let steps = steps();
    assert!(steps.len() > 20, "{}", steps.len());
    for Step { variables, mut words, shown } in steps {
        let told = words.join(" ");
        // Without the whole suite, which takes minutes; and an implementation that does not start for TVM, which shows
        // that all else is accepted.
        if words.contains(&"--knockout".to_string()) {
            words.push("SUB.TENSOR.RANK".to_string());
        }
        let named = words.iter().position(|word| word == "--adapter").map(|at| at + 1);
        named.into_iter().for_each(|at| words[at] = "false".to_string());
        let kept = ["reproduce", "reduce"].contains(&words[0].as_str());
        let mut command = relax_spec(&words.iter().map(String::as_str).collect::<Vec<&str>>());
        command.envs(variables).current_dir(dir.path());
        let (status, out, err) = run_with(command);
        match (named, shown.as_slice()) {
            // A campaign that did not start has kept nothing.
            (Some(_), _) if kept => assert!([3, 4].contains(&status) || err.contains("found"), "{told}: {err}"),
            // It asks releases of TVM alone.
            (Some(_), _) if words[0] == "blame" => assert_eq!(status, 2, "{told}: {out}{err}"),
            (Some(_), _) => assert_eq!(status, 3, "{told}: {out}{err}"),
            (None, []) => assert!(status <= 1, "{told}: {status} {out}{err}"),
            (None, shown) => {
                let all = [err.clone() + &out, out + &err];
                let is_shown = |text: &String| is_shown(&text.lines().collect::<Vec<&str>>(), shown);
                assert!(all.iter().any(is_shown), "{told}: found\n{}", all[0]);
            }
        }
    }
}
