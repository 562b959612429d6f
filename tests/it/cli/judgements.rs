//! `judge`: one question, or many.

use std::fs;

use tempfile::TempDir;

use super::{json_lines, relax_spec, run, run_with};

#[test]
fn judgements_answer_and_explain() {
    let (status, out, _) = run(&["judge", "lub", "Object", "Object", "--explain"]);
    assert_eq!(status, 0);
    assert!(out.starts_with("Object\n"), "{out}");
    assert!(out.contains("find_lub(Object, Object) = Object"), "{out}");
    assert_eq!(run(&["judge", "lub", "Object"]).0, 2);
    assert_eq!(run(&["judge", "lub", "Object", "Nonsense"]).0, 2);
    assert_eq!(run(&["judge", "eval", "n", "--let", "n=3"]).1, "3\n");
}

#[test]
fn operands_are_read_in_every_notation() {
    for operand in [
        "Tensor((n, 4), \"float32\")",
        "R.Tensor((\"n\", 4), \"float32\")",
        "Tensor(shape: [\"n\", 4], dtype: \"float32\")",
        r#"{"Tensor": {"shape": ["n", 4], "dtype": "float32"}}"#,
    ] {
        let (status, out, err) = run(&["judge", "unify", operand, "Tensor((n, 4), float32)"]);
        assert_eq!((status, out.as_str()), (0, "Tensor((n, 4), float32)\n"), "{operand}: {err}");
    }
}

#[test]
fn both_answers_are_shown_where_an_erratum_changes_one() {
    let operands = ["judge", "erase", "Object"];
    assert!(!run(&operands).1.contains("literal text"));
    let changed = ["judge", "unify", "Tensor(ndim=2, float32)", "Object"];
    let (_, out, _) = run(&changed);
    assert!(out.starts_with("Object\n") && out.contains("literal text (A01"), "{out}");
}

#[test]
fn choices_that_the_text_leaves_are_options() {
    let glb = |options: &[&str]| {
        let (f, g) = ("Func((Object) -> Object, pure)", "Func((Object) -> Object, impure)");
        run(&[&["judge", "glb", f, g], options].concat())
    };
    let (none, pure) = (glb(&[]), glb(&["--glb-purity", "min"]));
    assert_eq!((none.0, pure.0), (0, 0), "{none:?} {pure:?}");
    assert_eq!((none.1.as_str(), pure.1.as_str()), ("none\n", "Func((Object) -> Object, pure)\n"));
    let dir = TempDir::new().unwrap();
    let file = dir.path().join("late.py");
    let program = r#"
@R.function
def main(x: R.Tensor(("n * 2",), "int64"), y: R.Tensor(("n",), "int64")):
    return y
"#;
    fs::write(&file, program).unwrap();
    let file = file.display().to_string();
    let arguments = ["run", &file, "--unchecked", "--arg", "[1, 2]:int64", "--arg", "[3]:int64"];
    assert_ne!(run(&arguments).0, 0);
    let (status, out, err) = run(&[&arguments[..], &["--signature-order", "any"]].concat());
    assert_eq!(status, 0, "{out}{err}");
}

#[test]
fn judge_answers_a_stream_of_json_questions() {
    let mut command = relax_spec(&["judge", "--stdin"]);
    command.write_stdin(
        "{\"id\": 7, \"op\": \"unify\", \"args\": [\"Object\", {\"Shape\": {\"ndim\": 2}}]}\n{\"op\": \"subtype\", \"args\": [\"Object\", \"PackedFunc\"]}\n",
    );
    let (status, out, _) = run_with(command);
    let lines = json_lines(&out);
    assert_eq!(status, 0);
    // The join with an object is an object. Literally (A01) it is the other operand.
    assert_eq!(lines[0]["id"], 7);
    assert_eq!(lines[0]["answer"], "Object");
    assert_eq!(lines[0]["literal"]["A01"]["answer"]["Shape"]["ndim"], 2);
    assert_eq!(lines[1]["answer"], false);

    let mut command = relax_spec(&["judge", "--stdin"]);
    command.write_stdin("{\"op\": \"unify\"\n");
    let (status, out, error) = run_with(command);
    assert_eq!((status, out.as_str()), (2, ""));
    assert!(error.contains("line 1"), "{error}");
}

#[test]
fn many_judgements_come_from_standard_input() {
    let mut command = relax_spec(&["judge", "lub", "--stdin"]);
    command.write_stdin("Object; Object\n\nObject; PackedFunc\n");
    let (status, out, _) = run_with(command);
    assert_eq!((status, out.lines().count()), (0, 2), "{out}");
}
