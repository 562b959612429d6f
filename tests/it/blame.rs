//! `relax-spec blame`, with a recorder of passes that says what the test wants.

use std::fs;

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::cli::{json_lines, run};

/// A program that adds a constant.
fn program(constant: &str) -> String {
    format!(
        "@I.ir_module\nclass Module:\n    @R.function(pure=True)\n    def main(x: R.Tensor((2,), \"float32\")) -> \
         R.Tensor((2,), \"float32\"):\n        y = R.add(x, R.const({constant}, \"float32\"))\n        return y\n"
    )
}

/// Blames the passes of a pipeline whose stages are these lines.
fn blamed(stages: &[Value]) -> (i32, String, String) {
    let dir = TempDir::new().unwrap();
    let file = dir.path().join("program.py");
    fs::write(&file, program("1.0")).unwrap();
    let lines: String = stages.iter().map(|stage| format!("{stage}\n")).collect();
    fs::write(dir.path().join("lines"), lines).unwrap();
    let script = dir.path().join("adapter.py");
    fs::write(dir.path().join("stages.py"), format!("read -r line\ncat '{}/lines'\n", dir.path().display())).unwrap();
    let adapter = format!("sh {}", script.display());
    run(&["blame", &file.display().to_string(), "--adapter", &adapter, "--format", "json"])
}

fn answer(output: &str) -> Value {
    json_lines(output).pop().unwrap_or_default()
}

#[test]
fn the_first_pass_that_is_not_allowed_is_to_blame() {
    let stages = [
        json!({"pass": "input", "text": program("1.0")}),
        json!({"pass": "Nothing"}),
        json!({"pass": "Same", "text": program("1.0")}),
        json!({"pass": "Wrong", "text": program("2.0")}),
        json!({"pass": "WrongAgain", "text": program("3.0")}),
        json!({"done": true}),
    ];
    let (status, output, _) = blamed(&stages);
    assert_eq!(status, 1, "{output}");
    let verdicts: Vec<String> =
        json_lines(&output).iter().filter_map(|line| line["verdict"].as_str().map(str::to_string)).collect();
    let expected = ["allowed", "unchanged", "allowed", "not allowed", "not allowed", "not allowed", "not allowed"]
        .map(String::from);
    assert_eq!(verdicts, expected, "{output}");
    assert_eq!(answer(&output)["blamed"], "Wrong", "{output}");
}

#[test]
fn what_cannot_be_read_is_judged_with_the_next_pass() {
    let stages = [
        json!({"pass": "Unreadable", "text": "class Module(:"}),
        json!({"pass": "Behind", "text": program("2.0")}),
        json!({"done": true}),
    ];
    let (status, output, _) = blamed(&stages);
    assert_eq!((status, &answer(&output)["blamed"]), (1, &json!("Unreadable, Behind")), "{output}");
    let (status, output, _) = blamed(&[stages[0].clone(), stages[2].clone()]);
    assert_eq!((status, &answer(&output)["blamed"]), (5, &Value::Null), "{output}");
}

#[test]
fn right_passes_are_not_to_blame() {
    let stages = [json!({"pass": "Same", "text": program("1.0")}), json!({"done": true})];
    let (status, output, _) = blamed(&stages);
    assert_eq!((status, &answer(&output)["answer"]), (0, &json!("no pass is to blame")), "{output}");
}

#[test]
fn a_refusal_names_its_pass_and_a_broken_recorder_is_told() {
    let (status, output, _) = blamed(&[json!({"error": "TypeError: no", "pass": "Refuses"})]);
    assert_eq!((status, &answer(&output)["refused_by"]), (1, &json!("Refuses")), "{output}");
    let (status, _, told) = blamed(&[json!("what?")]);
    assert!(status == 3 && told.contains("recorder"), "{status}: {told}");
    let (status, _, told) = run(&["blame", "missing.py", "--adapter", "relax-spec"]);
    assert!(status == 2 && !told.is_empty(), "{status}: {told}");
}
