//! The source of the edition and the reading, and its report.

use std::fs;
use std::path::Path;

use assert_cmd::Command;
use tempfile::TempDir;

use crate::cli::{file, json_lines, relax_spec, run, run_with};

/// A pure `PrimFunc` is called in a dataflow block: an error before the last edition.
const PURE_PRIM_FUNC: &str = r#"@I.ir_module
class M:
ATTRS    @T.prim_func(private=True)
    def noop(n: T.int64):
        T.evaluate(0)

    @R.function
    def main(k: R.Prim("int64")):
        with R.dataflow():
            r = M.noop(k)
            R.output(r)
        return k
"#;

/// The program without a stated edition.
fn plain() -> String {
    PURE_PRIM_FUNC.replace("ATTRS", "")
}

/// The program with a stated edition.
fn stating(edition: &str) -> String {
    PURE_PRIM_FUNC.replace("ATTRS", &format!("    I.module_attrs({{\"relax_spec.edition\": {edition}}})\n"))
}

fn with_variable(args: &[&str], value: &str) -> Command {
    let mut command = relax_spec(args);
    command.env("RELAX_SPEC_EDITION", value);
    command
}

/// The end of the summary: the edition with its source.
fn judged_by(out: &str) -> &str {
    let line = out.lines().find(|line| line.starts_with("1 file")).unwrap_or_default();
    line.split_once("; ").map_or("", |(_, choice)| choice)
}

#[test]
fn each_level_comes_before_the_next() {
    let dir = TempDir::new().unwrap();
    let program = file(&dir, "model.py", plain());
    let check = ["check", program.as_str()];
    assert_eq!(judged_by(&run(&check).1), "edition 2023-02, the default");

    let settings = fs::canonicalize(dir.path()).unwrap().join("relax-spec.toml");
    file(&dir, "relax-spec.toml", "edition = \"2023-12\"\n");
    let (status, out, _) = run(&check);
    assert_eq!((status, judged_by(&out)), (1, format!("edition 2023-12, from {}", settings.display()).as_str()));

    file(&dir, "model.py", stating("\"2024-04\""));
    let (status, out, _) = run(&check);
    assert_eq!((status, judged_by(&out)), (0, "edition 2024-04, as the module says"));

    let (status, out, _) = run_with(with_variable(&check, "2023-12"));
    assert_eq!((status, judged_by(&out)), (1, "edition 2023-12, from RELAX_SPEC_EDITION"));
    assert_eq!(judged_by(&run_with(with_variable(&check, "")).1), "edition 2024-04, as the module says");

    let (status, out, _) = run_with(with_variable(&[&check[..], &["--edition", "2023-02"]].concat(), "2023-12"));
    assert_eq!((status, judged_by(&out)), (1, "edition 2023-02, from --edition"));
}

#[test]
fn every_command_that_judges_is_told_who_has_chosen() {
    let dir = TempDir::new().unwrap();
    let program = file(&dir, "model.py", stating("\"2024-04\""));
    let executable = dir.path().join("model.rvm").display().to_string();
    for command in [
        &["run", &program, "--arg", "3"][..],
        &["build", &program, "--output", &executable],
        &["normalize", &program],
        &["types", &program],
        &["refine", &program, &program, "--runs", "2"],
        &["check", "--types", &program],
    ] {
        let (_, _, err) = run(command);
        assert!(err.contains("note: edition 2024-04, as the module says"), "{command:?}: {err}");
        let (_, _, err) = run(&[command, &["--edition", "2024-04"]].concat());
        assert!(!err.contains("note: edition 2024-04, "), "{command:?}: {err}");
    }
    for command in [&["vm", "run", &executable, "--arg", "3"][..], &["judge", "unify", "Object", "Object"]] {
        let (_, _, err) = run_with(with_variable(command, "2024-04"));
        assert!(err.contains("note: edition 2024-04, from RELAX_SPEC_EDITION"), "{command:?}: {err}");
    }
    assert_eq!(run(&["run", &program, "--arg", "3"]).0, 0);
    assert_eq!(run(&["run", &program, "--arg", "3", "--edition", "2023-02"]).0, 1);
    assert_eq!(run(&["run", &program, "--arg", "3", "--arg", "4", "--workers", "2"]).0, 0);
}

#[test]
fn two_programs_are_refined_in_one_edition() {
    let dir = TempDir::new().unwrap();
    let (before, after) = (file(&dir, "before.py", stating("\"2024-04\"")), file(&dir, "after.py", plain()));
    let (status, _, err) = run(&["refine", &before, &after]);
    assert_eq!(status, 2);
    assert!(err.contains("edition 2024-04, as the module says") && err.contains("--edition"), "{err}");
    assert_eq!(run(&["refine", &before, &after, "--runs", "2", "--edition", "2024-04"]).0, 0);
}

#[test]
fn an_edition_that_is_none_is_an_error() {
    let dir = TempDir::new().unwrap();
    let program = file(&dir, "model.py", plain());
    let (status, _, err) = run(&["check", &program, "--edition", "2025-01"]);
    assert!(
        status == 2 && err.contains("there is no edition `2025-01` (there are 2023-02, 2023-12, 2024-04)"),
        "{err}"
    );
    let (status, _, err) = run_with(with_variable(&["check", &program], "latest"));
    assert!(status == 2 && err.contains("RELAX_SPEC_EDITION") && err.contains("no edition `latest`"), "{err}");

    let stated = file(&dir, "stated.py", stating("\"2025-01\""));
    for command in ["check", "normalize", "convert"] {
        let (status, _, err) = run(&[command, &stated]);
        assert!(status == 2 && err.contains("stated.py:3:43") && err.contains("no edition `2025-01`"), "{err}");
    }
    let (status, _, err) = run(&["check", &file(&dir, "number.py", stating("2024"))]);
    assert!(status == 2 && err.contains("number.py:3:43") && err.contains("is the name of an edition"), "{err}");
    let json = "{\"funcs\": [],\n \"attrs\": {\"relax_spec.edition\": {\"Str\": \"2025-01\"}}}";
    let (status, _, err) = run(&["check", &file(&dir, "stated.json", json)]);
    assert!(status == 2 && err.contains("2:34: ") && err.contains("no edition `2025-01`"), "{err}");
    let ron = "(funcs: [],\n attrs: {\"relax_spec.edition\": Str(\"2025-01\")})";
    let (status, _, err) = run(&["check", &file(&dir, "stated.ron", ron)]);
    assert!(status == 2 && err.contains("2:32: ") && err.contains("no edition `2025-01`"), "{err}");
}

#[test]
fn what_a_module_states_survives_every_form() {
    let dir = TempDir::new().unwrap();
    let mut from = file(&dir, "model.py", stating("\"2024-04\""));
    for (to, name) in [("json", "one.json"), ("ron", "two.ron"), ("tvmscript", "three.py")] {
        let path = dir.path().join(name).display().to_string();
        assert_eq!(run(&["convert", &from, "--to", to, "--output", &path]).0, 0);
        let (status, out, _) = run(&["check", &path]);
        assert_eq!((status, judged_by(&out)), (0, "edition 2024-04, as the module says"), "{name}");
        from = path;
    }
}

#[test]
fn settings_are_found_upwards_and_the_nearest_holds() {
    let dir = TempDir::new().unwrap();
    file(&dir, "relax-spec.toml", "edition = \"2024-04\"\n");
    let deep = (0..60).fold(dir.path().to_path_buf(), |path, _| path.join("d"));
    fs::create_dir_all(&deep).unwrap();
    fs::write(deep.join("model.py"), plain()).unwrap();
    let program = deep.join("model.py").display().to_string();
    assert_eq!(run(&["check", &program]).0, 0);

    // Also from inside the directory, and with a path that goes up and down again.
    let mut inside = relax_spec(&["check", "../d/model.py"]);
    inside.current_dir(&deep);
    assert_eq!(run_with(inside).0, 0);
    let mut stdin = relax_spec(&["check", "-"]);
    stdin.current_dir(&deep).write_stdin(plain());
    assert_eq!(run_with(stdin).0, 0);
    let mut judge = relax_spec(&["judge", "unify", "Object", "Object"]);
    judge.current_dir(&deep);
    assert!(run_with(judge).2.contains("note: edition 2024-04, from "));

    fs::write(dir.path().join("d/relax-spec.toml"), "edition = \"2023-02\"\n").unwrap();
    assert_eq!(run(&["check", &program]).0, 1);
    // A file without choices still hides those above it.
    fs::write(deep.join("relax-spec.toml"), "").unwrap();
    assert!(run(&["check", &program]).1.contains("edition 2023-02, the default"));
}

#[test]
fn settings_that_cannot_be_followed_are_errors_with_their_place() {
    let dir = TempDir::new().unwrap();
    let program = file(&dir, "model.py", plain());
    for (text, expected) in [
        ("edition = \"2025-01\"", "relax-spec.toml:1:11: there is no edition `2025-01`"),
        ("\nedtion = \"2024-04\"", "relax-spec.toml:2:1: unknown field `edtion`"),
        ("edition = ", "relax-spec.toml:1:"),
        ("reading = \"both\"", "relax-spec.toml:1:11: there is no reading `both`"),
        ("[errata]\nZ99 = \"literal\"", "relax-spec.toml:2:1: there is no erratum `Z99`"),
        ("proposals = [\"unknown-impurity\"]", "relax-spec.toml:1:14: there is no proposal `unknown-impurity`"),
    ] {
        file(&dir, "relax-spec.toml", text);
        for command in [&["check", &program][..], &["normalize", &program], &["check", "--format", "json", &program]] {
            let (status, _, err) = run(command);
            let flat: String = err.split_whitespace().collect::<Vec<_>>().join(" ");
            let (place, message) = expected.rsplit_once(": ").unwrap_or((expected, ""));
            assert!(status == 2 && flat.contains(place) && flat.contains(message), "{command:?} {text:?}: {err}");
        }
    }
    file(&dir, "relax-spec.toml", b"edition = \"\xff\"");
    let (status, _, err) = run(&["check", &program]);
    assert!(status == 2 && err.contains("relax-spec.toml: it is not UTF-8"), "{err}");
    fs::remove_file(dir.path().join("relax-spec.toml")).unwrap();
    fs::create_dir(dir.path().join("relax-spec.toml")).unwrap();
    let (status, _, err) = run(&["check", &program]);
    assert!(status == 2 && err.contains("relax-spec.toml: it is a directory"), "{err}");
}

#[cfg(unix)]
#[test]
fn links_that_go_in_circles_end_the_search() {
    use std::os::unix::fs::symlink;

    let dir = TempDir::new().unwrap();
    let program = file(&dir, "model.py", plain());
    // A directory that contains itself. Paths through it can have any length, but the search ends.
    symlink(dir.path(), dir.path().join("again")).unwrap();
    let long = format!("{}/again/again/again/again/model.py", dir.path().display());
    assert_eq!(judged_by(&run(&["check", &long]).1), "edition 2023-02, the default");
    // Settings that are a link to themselves exist, but cannot be read.
    let settings = dir.path().join("relax-spec.toml");
    symlink(&settings, &settings).unwrap();
    let (status, _, err) = run(&["check", &program]);
    assert!(status == 2 && err.contains("relax-spec.toml"), "{err}");
    fs::remove_file(&settings).unwrap();
    symlink(Path::new("/dev/null"), &settings).unwrap();
    let (status, _, err) = run(&["check", &program]);
    assert!(status == 2 && err.contains("it is no file"), "{err}");
    // The same holds for a program.
    let circle = dir.path().join("circle.py");
    symlink(&circle, &circle).unwrap();
    assert_eq!(run(&["check", &circle.display().to_string()]).0, 2);
}

#[test]
fn the_command_line_comes_before_the_reading_of_the_settings() {
    let dir = TempDir::new().unwrap();
    file(&dir, "relax-spec.toml", "[errata]\nA01 = \"literal\"\n");
    let unify = |more: &[&str]| {
        let mut command = relax_spec(&[&["judge", "unify", "Object", "Shape((n))"], more].concat());
        command.current_dir(dir.path());
        run_with(command)
    };
    let (_, out, err) = unify(&[]);
    assert_eq!(out, "Shape((n))\n");
    assert!(err.contains("read as relax-spec.toml says"), "{err}");
    assert_eq!(unify(&["--reading", "corrected"]).1, "Object\n");
    file(&dir, "relax-spec.toml", "reading = \"literal\"\n[errata]\nA01 = \"corrected\"\n");
    assert_eq!(unify(&[]).1, "Object\n");
}

#[test]
fn a_finding_says_which_later_edition_accepts_and_by_which_rule() {
    let dir = TempDir::new().unwrap();
    let program = file(&dir, "model.py", plain());
    let (status, out, _) = run(&["check", &program]);
    assert_eq!(status, 1);
    let note = out.lines().find(|line| line.contains("accepted by 2024-04: ")).unwrap_or_default();
    assert!(note.contains("PRIMFUNC.SI.RESULT"), "{out}");
    assert!(out.ends_with("all errors vanish in edition 2024-04, which TVM claims (--edition 2024-04)\n"), "{out}");

    let (_, out, _) = run(&["check", "--format", "json", &program]);
    let lines = json_lines(&out);
    assert_eq!(lines[0]["accepted_by"]["edition"], "2024-04");
    assert!(lines[0]["accepted_by"]["rules"].as_array().is_some_and(|rules| (1..=3).contains(&rules.len())), "{out}");
    let note = lines.last().unwrap();
    assert_eq!((&note["edition"], &note["edition_from"]), (&"2023-02".into(), &"the default".into()));
    assert_eq!(note["vanish_in"], "2024-04");

    // A float is not a condition in any edition. An error in all of them is not reported as accepted anywhere.
    let float = "@R.function\ndef main(c: R.Tensor((), \"float32\"), x: R.Tensor((2,), \"float32\")):\n    if c:\n        z = R.add(x, x)\n    else:\n        z = x\n    return z\n";
    let both = format!("{}\n", plain()).replace("class M:\n", "class M:\n    @R.function\n    def other(x: R.Tensor((2,), \"float32\")):\n        y = x[0]\n        return y\n\n");
    let (_, out, _) = run(&["check", &file(&dir, "float.py", float)]);
    assert!(!out.contains("accepted by") && !out.contains("vanish"), "{out}");
    let (_, out, _) = run(&["check", &file(&dir, "both.py", both)]);
    assert!(out.matches("accepted by 2024-04").count() == 1 && !out.contains("vanish"), "{out}");
}

/// The subcommands of a command, from its help.
fn listed(command: &[&str]) -> Vec<String> {
    let (_, help, _) = run(&[command, &["--help"]].concat());
    let lines = help.lines().skip_while(|line| *line != "Commands:").skip(1).take_while(|line| !line.is_empty());
    let names = lines.filter(|line| line.starts_with("  ") && !line.starts_with("   "));
    names.filter_map(|line| line.split_whitespace().next()).filter(|name| *name != "help").map(str::to_string).collect()
}

/// All commands, including subcommands.
fn commands() -> Vec<Vec<String>> {
    let mut found: Vec<Vec<String>> = Vec::new();
    for name in listed(&[]) {
        let below = listed(&[&name]);
        found.extend(below.iter().map(|inner| vec![name.clone(), inner.clone()]));
        found.push(vec![name]);
    }
    found
}

#[test]
fn every_command_takes_an_edition_and_a_proposal_or_says_why_not() {
    let commands = commands();
    assert!(commands.len() > 20 && commands.contains(&vec!["vm".to_string(), "verify".to_string()]), "{commands:?}");
    for command in &commands {
        let words: Vec<&str> = command.iter().map(String::as_str).collect();
        for (option, name) in [("--edition", "2024-04"), ("--proposal", "unknown-purity")] {
            let (status, out, err) = run(&[&words[..], &[option, name, "--help"]].concat());
            let takes = status == 0 && out.contains(option);
            let refuses = status == 2 && err.contains(&format!("There is no {option} here: "));
            assert!(takes || refuses, "{command:?} {option}: {status} {err}");
        }
    }
}

#[test]
fn a_fragment_is_one_in_every_edition() {
    let dir = TempDir::new().unwrap();
    let text = "@R.function(private=True)\ndef f(x: R.Tensor((3,), 'float32')) -> R.Object:\n    return x\n";
    let path = file(&dir, "fragment.py", text);
    for edition in ["2023-02", "2023-12", "2024-04"] {
        assert_eq!(run(&["check", "--edition", edition, &path]).0, 0, "{edition}");
        assert_eq!(run(&["check", "--program", "--edition", edition, &path]).0, 1, "{edition}");
    }
}
