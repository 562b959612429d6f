//! What the commands tell of rules, errata, editions and the suite.

use std::fs;
use std::path::PathBuf;

use serde_json::Value;
use tempfile::TempDir;

use super::{json_lines, run};

#[test]
fn rules_are_objects_with_the_promised_fields() {
    let (status, out, _) = run(&["rules", "--json"]);
    assert_eq!(status, 0);
    let rules = json_lines(&out);
    let keys = [
        "id",
        "chapter",
        "editions",
        "kind",
        "chevron",
        "statement",
        "status",
        "reason",
        "sites",
        "cases",
        "knockout",
        "flips",
        "stuck",
        "premises",
        "errata",
    ];
    for rule in &rules {
        assert!(keys.iter().all(|key| rule.get(key).is_some()), "{rule}");
        let excluded_without_reason = rule["status"] == "excluded" && rule["reason"].is_null();
        assert!(!excluded_without_reason, "{rule}");
    }
    assert!(rules.iter().any(|rule| rule["knockout"] == "flips"));
    assert!(rules.iter().any(|rule| rule["premises"][0]["fails_in"][0].is_string()));
    assert_eq!(run(&["rules", "NO.SUCH.PREFIX"]).0, 4);
}

#[test]
fn that_nothing_is_left_to_list_is_no_error() {
    let (status, out, err) = run(&["rules", "--pending", "2023-02"]);
    assert_eq!((status, &*out, &*err), (0, "", "nothing is pending in edition 2023-02\n"));
    let (status, out, err) = run(&["rules", "--edition", "2024-04", "TC."]);
    assert_eq!((status, &*out, &*err), (0, "", "edition 2024-04 states no rule under TC.\n"));
    assert_eq!(run(&["rules", "--pending", "2023-02", "NO.SUCH.PREFIX"]).0, 4);
}

#[test]
fn editions_are_listed_and_compared() {
    let (status, out, _) = run(&["editions"]);
    assert_eq!((status, out.lines().count()), (0, 3), "{out}");
    assert!(
        out.contains("2024-04  ") && out.contains("since 2023-12: 13 new, 19 changed, 0 renumbered, 0 removed"),
        "{out}"
    );
    let (status, out, _) = run(&["editions", "diff", "2023-12", "2024-04", "NF.UNIT.INLINE", "MOD.PRIVATE"]);
    assert_eq!(status, 0);
    assert!(out.starts_with("NF.UNIT.INLINE (new, without it)\nreading    corrected\n"), "{out}");
    assert!(out.contains("\n2023-12    ") && out.contains("\n2024-04    "), "{out}");
    assert!(out.contains("no difference found:\nMOD.PRIVATE  changed  "), "{out}");
    let (status, json, _) = run(&["editions", "diff", "2023-12", "2024-04", "NF.UNIT.INLINE", "MOD.PRIVATE", "--json"]);
    let rows = json_lines(&json);
    assert_eq!((status, rows.len()), (0, 2), "{json}");
    assert!(rows[0]["shown"].is_null() && rows[0]["why"].is_string(), "{json}");
    assert!(rows[1]["shown"]["question"].is_object() && rows[1]["shown"]["literally"].is_null(), "{json}");
    let (status, _, err) = run(&["editions", "diff", "2023-12", "2024-05"]);
    assert!(status == 2 && err.contains("there is no edition `2024-05`"), "{err}");
}

#[test]
fn what_switching_rules_off_shows_is_told_by_chapter() {
    let (status, out, _) = run(&["rules", "--knockout", "SCOPE.SEQ.", "NF.4."]);
    assert_eq!(status, 0);
    let heading = out.lines().next().unwrap_or_default();
    assert!(["with cases", "flips", "stuck", "panics", "survives"].iter().all(|word| heading.contains(word)), "{out}");
    assert!(["scoping", "normal_form", "all"].iter().all(|chapter| out.contains(&format!("\n{chapter} "))), "{out}");
    assert!(out.contains("survives: NF.4.ALL-EMPTY  NF.4.DROP-EMPTY drops"), "{out}");
    assert!(out.contains(" mistakes, ") && out.contains("swapped: SCOPE.SEQ.BODY  The two conditions"), "{out}");
    let explained = run(&["explain", "SCOPE.SEQ.EXIT"]).1;
    assert!(explained.contains("knock-out flips: without this rule "), "{explained}");
    assert!(run(&["explain", "WF.12"]).1.contains("premises  1: fails in "), "{explained}");
}

#[test]
fn rules_and_errata_are_explained() {
    for id in ["SUB.TENSOR.RANK", "E[SUB.TENSOR.RANK]", "W[SUB.TENSOR.RANK]"] {
        let (status, out, _) = run(&["explain", id]);
        assert_eq!(status, 0);
        assert!(out.starts_with("SUB.TENSOR.RANK\n") && out.contains("src/types/"), "{out}");
    }
    assert_eq!(run(&["explain", "A01"]).0, 0);
    let (status, _, err) = run(&["explain", "SUB.TENSOR"]);
    assert_eq!(status, 2);
    assert!(err.contains("SUB.TENSOR.RANK"), "{err}");
    assert!(run(&["errata", "A01"]).1.starts_with("A01 "));
    for id in ["errata", "explain"].map(|command| run(&[command, "E33"])) {
        assert!(id.1.starts_with("A06 ") && id.1.contains("E33"), "{}", id.1);
    }
    let both = run(&["errata", "E27"]).1;
    assert!(both.starts_with("A33 ") && both.contains("\nA34 "), "{both}");
    assert_eq!(run(&["errata", "E99"]).0, 2);
    assert!(run(&["explain", "C05"]).1.contains("GRAM.BIND.MATCHCAST"));
    assert_eq!(json_lines(&run(&["errata", "--json"]).1).len(), run(&["errata"]).1.lines().count());
}

#[test]
fn the_suite_is_exported_as_json() {
    let dir = TempDir::new().unwrap();
    let (status, _, err) = run(&["export", "--json", &dir.path().display().to_string()]);
    assert_eq!(status, 0, "{err}");
    let read = |path: PathBuf| -> Value { serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap() };
    let cases = read(dir.path().join("types.json"));
    let case = cases.as_array().unwrap().iter().find(|case| case["id"] == "types/sub-rank").unwrap();
    assert_eq!((&case["op"], &case["allow"]), (&"subtype".into(), &serde_json::json!([true])));
    let schema = read(dir.path().join("suite.schema.json"));
    let known = &schema["$defs"]["case"]["properties"];
    assert!(case.as_object().unwrap().keys().all(|key| known.get(key).is_some()));
}

#[test]
fn completions_are_printed() {
    for shell in ["bash", "zsh", "fish"] {
        assert!(run(&["completions", shell]).1.contains("conform"), "{shell}");
    }
}

#[test]
fn help_reads_well() {
    let (status, out, _) = run(&["--help"]);
    assert_eq!(status, 0);
    assert!(out.contains("Exit status") && out.contains("conform"));
    for command in
        ["check", "run", "judge", "rules", "explain", "errata", "conform", "adapter", "export", "completions"]
    {
        let (status, out, _) = run(&[command, "--help"]);
        assert_eq!(status, 0);
        assert!(out.contains("Example"), "{command}: {out}");
    }
    assert_eq!(run(&["frobnicate"]).0, 2);
}
