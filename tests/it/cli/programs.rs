//! Programs are run, converted, normalized and built.

use std::fs;

use tempfile::TempDir;

use super::{BAD, GOOD, file, run};

#[test]
fn a_program_runs() {
    let dir = TempDir::new().unwrap();
    let path = file(&dir, "good.json", GOOD);
    assert_eq!(run(&["run", &path, "--arg", "[1, 2]:int64"]).1, "[1, 2]:int64\n");
    let (status, out, _) = run(&["run", &path, "--arg", "shape(2, 3)", "--trace"]);
    assert_eq!(status, 0);
    assert!(out.contains("call @main") && out.contains("x = "), "{out}");
    assert_eq!(run(&["run", &path, "--arg", "nonsense"]).0, 2);
    let bad = file(&dir, "bad.json", BAD);
    assert_eq!(run(&["run", &bad, "--arg", "1"]).0, 1);
}

#[test]
fn programs_are_converted_without_loss() {
    let dir = TempDir::new().unwrap();
    let json = file(&dir, "good.json", GOOD);
    let path = |name: &str| dir.path().join(name).display().to_string();
    let steps = [("json", "one.json"), ("ron", "two.ron"), ("tvmscript", "three.py"), ("json", "four.json")];
    let mut from = json;
    for (to, name) in steps {
        assert_eq!(run(&["convert", &from, "--to", to, "--output", &path(name)]).0, 0, "{name}");
        from = path(name);
    }
    assert_eq!(fs::read(path("one.json")).unwrap(), fs::read(path("four.json")).unwrap());
}

#[test]
fn programs_are_normalized() {
    let dir = TempDir::new().unwrap();
    let text = "@R.function\ndef main(x: R.Object) -> R.Object:\n    y = (x, (x[0], x[1]))[1]\n    return y\n";
    let (status, out, err) = run(&["normalize", &file(&dir, "nested.py", text)]);
    assert_eq!(status, 0, "{err}");
    let (status, again, _) = run(&["normalize", &file(&dir, "normal.py", &out)]);
    assert_eq!((status, &again), (0, &out));
    assert!(out.lines().count() > text.lines().count() + 2, "{out}");
}

/// R89.API.BUILD, R89.API.ASTEXT, R89.API.RUN: `vm run` runs the output of `build`, with the result of `run`.
#[test]
fn a_program_is_built_and_its_executable_is_run() {
    let dir = tempfile::tempdir().unwrap();
    let path = |name: &str| dir.path().join(name).display().to_string();
    let arguments = ["--arg", "[1, 2, 3]:float32", "--arg", "[4, 5]:float32"];
    let with = |command: &[&str]| run(&[command, &arguments].concat());
    let (status, expected, _) = with(&["run", "examples/scale.py"]);
    assert_eq!(status, 0);
    assert_eq!(with(&["run", "examples/scale.py", "--engine", "vm"]).1, expected);
    for (name, format) in [("scale.rvm", "human"), ("scale.json", "json")] {
        let file = path(name);
        assert_eq!(run(&["build", "examples/scale.py", "--output", &file, "--format", format]).0, 0);
        assert_eq!(run(&["vm", "verify", &file]).0, 0);
        let (status, out, err) = with(&["vm", "run", &file]);
        assert_eq!((status, out.as_str()), (0, expected.as_str()), "{err}");
    }
    let (status, out, err) = run(&["refine", "examples/scale.py", &path("scale.rvm"), "--runs", "5"]);
    assert!(status == 0 && out.starts_with("allowed"), "{status} {out} {err}");
    let (_, trace, _) = with(&["vm", "run", &path("scale.rvm"), "--trace"]);
    assert!(
        trace.contains("vm.builtin.match_shape(") && trace.contains("heap [") && trace.contains("effect: "),
        "{trace}"
    );
    assert_eq!(with(&["vm", "run", &path("scale.rvm"), "--entry", "nothing"]).0, 1);
    assert_eq!(with(&["vm", "run", &path("scale.rvm"), "--fuel", "3"]).0, 5);
    assert_eq!(run(&["build", "examples/mistakes.py"]).0, 1);
    fs::write(
        path("wrong.rvm"),
        "relax-spec executable 1\nfunction \"main\" params 0 captured 0 registers 1\n0: ret %0\n",
    )
    .unwrap();
    let (status, _, err) = run(&["vm", "verify", &path("wrong.rvm")]);
    assert!(status == 1 && err.contains("main: instruction 0: %0 is read"), "{status} {err}");
    fs::write(path("broken.rvm"), "relax-spec executable 1\nfunction main\n").unwrap();
    let (status, _, err) = run(&["vm", "run", &path("broken.rvm")]);
    assert!(status == 2 && err.contains("line 2"), "{status} {err}");
}
