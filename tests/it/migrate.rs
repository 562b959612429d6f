//! `relax-spec migrate`, and the findings of `check` for code hosts.

use serde_json::{Value, json};

use crate::cli::{file, run};

fn migrated(text: &str, more: &[&str]) -> (i32, Value) {
    let dir = tempfile::tempdir().unwrap();
    let path = file(&dir, "old.py", text);
    let mut args = vec!["migrate", &path, "--format", "json"];
    args.extend(more);
    let (status, out, err) = run(&args);
    (status, serde_json::from_str(&out).unwrap_or_else(|_| panic!("{out}{err}")))
}

/// The first edition infers purity, the last one takes what says nothing for pure. TVM 0.25 spells `Object` and the
/// results of packed calls otherwise.
const OLD: &str = "@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((2,), \"float32\"), o: R.Object) -> R.Object:
        y = R.call_packed(\"relax_spec.log\", x, sinfo_args=(R.Object,))
        return y
";

#[test]
fn what_was_inferred_is_stated() {
    let (status, told) = migrated(OLD, &[]);
    let text = told["text"].as_str().unwrap();
    assert!(text.contains("pure=False") && text.contains("R.Any") && text.contains("ty_args="), "{text}");
    assert!(!text.contains("R.Object") && !text.contains("sinfo"), "{text}");
    assert_eq!(told["stated"].as_array().map(Vec::len), Some(1), "{told}");
    assert!(
        told["stated"][0].as_str().unwrap().starts_with("line 4: `main` does not say whether it is pure"),
        "{told}"
    );
    let spelled: Vec<&str> = told["spelled"].as_array().unwrap().iter().filter_map(|one| one["old"].as_str()).collect();
    assert_eq!(spelled, ["R.Object", "sinfo_args="]);
    assert_eq!((status, &told["changed"]), (0, &json!([])), "{told}");
    // Back again, nothing needs to be stated.
    let (status, back) = migrated(text, &["--edition", "2024-04", "--to", "2023-02", "--dialect", "tvm0.25"]);
    assert_eq!((status, &back["stated"], &back["changed"]), (0, &json!([]), &json!([])), "{back}");
    assert!(back["text"].as_str().unwrap().contains("R.Object"), "{back}");
}

/// In the last edition a `PrimFunc` may be called like any function; in the first it may not.
#[test]
fn a_verdict_that_changes_is_told_with_its_place() {
    let text = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/later.py")).unwrap();
    let (status, told) = migrated(&text, &[]);
    assert_eq!(status, 1, "{told}");
    let verdicts: Vec<&Value> =
        told["changed"].as_array().unwrap().iter().filter(|one| one["kind"] == "verdict").collect();
    assert_eq!(verdicts.len(), 1, "{told}");
    assert_eq!(verdicts[0]["rules"], json!(["TC.CALL.NOTFUNC"]));
    assert!(
        verdicts[0]["message"].as_str().unwrap().starts_with("only 2023-02 rejects this, 2024-04 does not"),
        "{told}"
    );
}

/// A program that is the same in both is not accused.
#[test]
fn what_stays_is_not_accused() {
    let text = "@I.ir_module\nclass Module:\n    @R.function\n    \
                def main(x: R.Tensor((\"n\", 4), \"float32\")) -> R.Tensor((\"n\", 4), \"float32\"):\n        \
                return R.add(x, x)\n";
    let (status, told) = migrated(text, &[]);
    assert_eq!(
        (status, &told["changed"], &told["stated"], &told["spelled"]),
        (0, &json!([]), &json!([]), &json!([])),
        "{told}"
    );
}

#[test]
fn findings_for_code_hosts() {
    let (status, out, _) = run(&["check", "examples/mistakes.py", "--format", "github"]);
    assert_eq!((status, out.lines().count()), (1, 5), "{out}");
    assert!(out.starts_with("::error file=examples/mistakes.py,line=8,col=13,"), "{out}");
    assert!(out.contains(",title=WF.6.IF::an If inside a DataflowBlock%0Ahelp: "), "{out}");
    let (status, out, _) = run(&["check", "examples/mistakes.py", "--format", "sarif"]);
    let log: Value = serde_json::from_str(&out).unwrap();
    let results = log["runs"][0]["results"].as_array().unwrap();
    assert_eq!((status, results.len(), &log["version"]), (1, 5, &json!("2.1.0")));
    let place = &results[4]["locations"][0]["physicalLocation"];
    assert_eq!(
        (&place["artifactLocation"]["uri"], &place["region"]["startLine"]),
        (&json!("examples/mistakes.py"), &json!(17))
    );
    // A clean program has a log without results, and what is no program is in the log, too.
    let (status, out, _) = run(&["check", "examples/scale.py", "--format", "github"]);
    assert_eq!((status, &*out), (0, ""));
    let (status, out, _) = run(&["check", "no-such-file.py", "--format", "github"]);
    assert!(status == 2 && out.starts_with("::error file=no-such-file.py,title=unreadable::"), "{status} {out}");
}
