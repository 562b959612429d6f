//! What a command starts and gives to it: the only entry point, parameters by name, weights as exporters write them,
//! notebooks, and directories with other Python in them.

use std::fs;

use serde_json::json;
use tempfile::TempDir;

use crate::cli::{file, run};

const PREDICT: &str = r#"
@I.ir_module
class Module:
    @R.function
    def predict(x: R.Tensor((2,), "float32"), fc1_weight: R.Tensor((2,), "float32")) -> R.Tensor((2,), "float32"):
        return R.add(x, fc1_weight)
"#;

/// A file of safetensors with float32 arrays of two elements.
fn safetensors(arrays: &[(&str, [f32; 2])]) -> Vec<u8> {
    let entry = |(at, (name, _)): (usize, &(&str, [f32; 2]))| {
        (name.to_string(), json!({"dtype": "F32", "shape": [2], "data_offsets": [8 * at, 8 * at + 8]}))
    };
    let header: serde_json::Map<String, serde_json::Value> = arrays.iter().enumerate().map(entry).collect();
    let header = serde_json::Value::Object(header).to_string();
    let data = arrays.iter().flat_map(|(_, values)| values.iter().flat_map(|value| value.to_le_bytes()));
    (header.len() as u64).to_le_bytes().into_iter().chain(header.bytes()).chain(data).collect()
}

#[test]
fn the_only_function_is_started_and_missing_arguments_are_named() {
    let dir = TempDir::new().unwrap();
    let predict = file(&dir, "predict.py", PREDICT);
    let (x, weight) = ("[1, 2]:float32", "[10, 20]:float32");
    let (status, out, err) = run(&["run", &predict, "--arg", x, "--arg", weight]);
    assert_eq!((status, out.as_str()), (0, "[11.0, 22.0]:float32\n"), "{err}");
    assert!(err.contains("`predict` is the only entry point"), "{err}");
    assert_eq!(run(&["run", &predict, "--arg", x, "--arg", weight, "--quiet"]).2, "");
    let (status, _, err) = run(&["run", &predict, "--arg", x]);
    assert_eq!(status, 2);
    assert!(err.contains("`predict` takes 2 arguments, and 1 given; without a value: fc1_weight: Tensor("), "{err}");
    assert!(!err.contains("x: Tensor"), "{err}");
    assert_eq!(run(&["run", &predict, "--arg", x, "--arg", x, "--arg", x]).0, 2);
    let (status, out, _) = run(&["refine", &predict, &predict, "--runs", "3"]);
    assert!(status == 0 && out.starts_with("allowed"), "{out}");
    assert_eq!(run(&["refine", &predict, &predict, "--runs", "0", "--arg", x]).0, 2);
    let two =
        file(&dir, "two.py", PREDICT.to_string() + PREDICT.replace("predict", "other").split_once(":\n").unwrap().1);
    let (status, _, err) = run(&["run", &two]);
    assert!(status == 2 && err.contains("possible entry points: predict, other"), "{err}");
}

#[test]
fn weights_are_given_by_the_names_of_the_model() {
    let dir = TempDir::new().unwrap();
    let predict = file(&dir, "predict.py", PREDICT);
    let sum = |arrays: &[(&str, [f32; 2])]| {
        let weights = file(&dir, "weights.safetensors", safetensors(arrays));
        run(&["run", &predict, "--args", &weights, "--arg", "[1, 2]:float32", "--quiet"])
    };
    for name in ["fc1.weight", "fc1_weight", "fc1/weight"] {
        assert_eq!(sum(&[(name, [10.0, 20.0])]).1, "[11.0, 22.0]:float32\n", "{name}");
    }
    let (status, _, err) = sum(&[("fc1.weight", [1.0, 2.0]), ("fc1_weight", [1.0, 2.0])]);
    assert!(status == 2 && err.contains("given twice"), "{err}");
    let (status, _, err) = sum(&[("fc1.weight", [1.0, 2.0]), ("fc2.weight", [1.0, 2.0])]);
    assert!(status == 2 && err.contains("`fc2.weight` is no parameter"), "{err}");
    // A result is written in the same form, and a file that is cut off is told.
    let weights = file(&dir, "weights.safetensors", safetensors(&[("fc1.weight", [10.0, 20.0])]));
    let (saved, given) = (dir.path().join("saved.safetensors").display().to_string(), format!("@{weights}:fc1.weight"));
    assert_eq!(run(&["run", &predict, "--arg", &given, "--arg", &given, "--save", &saved]).0, 0);
    let (status, out, err) = run(&["run", &predict, "--arg", &format!("@{saved}"), "--arg", &given, "-q"]);
    assert_eq!((status, out.as_str()), (0, "[30.0, 60.0]:float32\n"), "{err}");
    let whole = fs::read(&saved).unwrap();
    for cut in [3, 8, 9, 20, whole.len() - 1] {
        fs::write(&saved, &whole[..cut]).unwrap();
        let (status, _, err) = run(&["run", &predict, "--arg", &format!("@{saved}"), "--arg", &given]);
        assert_eq!(status, 2, "{cut}: {err}");
    }
}

#[test]
fn the_modules_of_a_notebook_are_checked() {
    let dir = TempDir::new().unwrap();
    let cells = [
        json!({"cell_type": "markdown", "source": "# A model"}),
        json!({"cell_type": "code", "source": ["%matplotlib inline\n", "N = 2\n"]}),
        json!({"cell_type": "code", "source": PREDICT.replace("(2,)", "(N,)")}),
    ];
    let notebook = file(&dir, "model.ipynb", json!({"cells": cells, "nbformat": 4}).to_string());
    let (status, out, err) = run(&["check", &notebook]);
    assert_eq!(status, 0, "{out}{err}");
    assert!(out.contains("1 file: 0 errors"), "{out}");
}

#[test]
fn other_python_in_a_directory_is_skipped_and_named_python_is_not() {
    let dir = TempDir::new().unwrap();
    file(&dir, "predict.py", PREDICT);
    let other = file(&dir, "setup.py", "def main():\n    print(1)\n");
    file(&dir, "__init__.py", "");
    let path = dir.path().display().to_string();
    let (status, out, err) = run(&["check", &path]);
    assert_eq!(status, 0, "{out}{err}");
    assert!(out.contains("1 file: 0 errors") && err.contains("2 Python files hold no module"), "{out}{err}");
    assert_eq!(run(&["check", &path, "--quiet"]).2, "");
    assert_eq!(run(&["check", &other]).0, 2);
    // What should be a module, and is not readable, is an error.
    file(&dir, "broken.py", PREDICT.replace("return", "return return"));
    assert_eq!(run(&["check", &path]).0, 2);
    fs::remove_file(dir.path().join("broken.py")).unwrap();
    fs::remove_file(dir.path().join("predict.py")).unwrap();
    assert_eq!(run(&["check", &path]).0, 4);
}

#[test]
fn colours_are_chosen() {
    let coloured = |when: &str| run(&["check", "examples/mistakes.py", "--color", when]).1.contains('\u{1b}');
    assert_eq!(["always", "auto", "never"].map(coloured), [true, false, false]);
}

#[test]
fn what_is_undecided_is_no_success() {
    for question in [&["equal", "n * m", "k"][..], &["equal", "n // 2", "m"]] {
        let (status, out, _) = run(&[&["judge"], question].concat());
        assert_eq!((status, out.as_str()), (5, "unknown\n"));
    }
    assert_eq!(run(&["judge", "equal", "n + 1", "n + 2"]).0, 0);
}

#[test]
fn rules_are_cited_searched_and_listed() {
    let (status, out, _) = run(&["explain", "SUB.TENSOR.RANK", "--format", "bibtex"]);
    assert!(status == 0 && out.starts_with("@misc{relax-spec:SUB.TENSOR.RANK,"), "{out}");
    for id in ["relax-spec", "2024-04"] {
        assert!(run(&["explain", id, "--format", "bibtex"]).1.starts_with("@misc{relax-spec"), "{id}");
    }
    let (_, json, _) = run(&["explain", "SUB.TENSOR.RANK", "--format", "json"]);
    assert_eq!(serde_json::from_str::<serde_json::Value>(&json).unwrap()["id"], "SUB.TENSOR.RANK");
    assert!(run(&["explain", "SUB.TENSOR.RANK", "--format", "latex"]).1.contains("\\label{rule:SUB.TENSOR.RANK}"));
    assert!(run(&["explain", "SUB.TENSOR.RANK", "--format", "markdown"]).1.starts_with("### `SUB.TENSOR.RANK`"));
    assert_eq!(run(&["explain", "A01", "--format", "latex"]).0, 2);
    assert!(run(&["rules", "search", "fixed", "rank"]).1.contains("SUB.TENSOR.RANK  "));
    assert_eq!(run(&["rules", "search", "no-such-word"]).0, 4);
    let listed = run(&["conform", "types/sub-*", "--list", "-k", "TENSOR.RANK"]).1;
    assert!(listed.contains("types/sub-rank\n") && !listed.contains("types/sub-top"), "{listed}");
}

#[test]
fn pages_for_man_are_written() {
    let dir = TempDir::new().unwrap();
    assert_eq!(run(&["export", "--man", &dir.path().display().to_string()]).0, 0);
    let page = fs::read_to_string(dir.path().join("relax-spec-check.1")).unwrap();
    assert!(page.contains("max") && page.contains(".TH"), "{page}");
}
