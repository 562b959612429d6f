//! The divergences of an implementation, as `conform` and `fuzz` report them: program, question, both answers, their
//! difference, rules, and the command that asks the same again, in each report. Also the reports of a run that ends
//! early, and of a run without answers.

use std::collections::BTreeMap;
use std::fs;
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::Value;
use tempfile::TempDir;

use crate::cli::{fake, json_lines, run};

const TOOL: &str = env!("CARGO_BIN_EXE_relax-spec");
const KINDS: [&str; 5] = ["human", "jsonl", "junit", "md", "html"];

/// The built-in implementation, with `from` replaced by `to` in its answers.
fn mistaken(dir: &TempDir, from: &str, to: &str) -> String {
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/faults/mistaken.py");
    let mark = dir.path().join("mark").display().to_string();
    shlex::try_join(["python3", "-S", "-E", script, from, to, &mark, TOOL, "adapter"]).unwrap()
}

/// Runs a command with every report in a file. Returns its exit status, and the reports by kind.
fn reported(dir: &TempDir, args: &[&str]) -> (i32, Vec<String>) {
    let path = |kind: &str| dir.path().join(format!("report.{kind}")).display().to_string();
    let reports: Vec<String> = KINDS.iter().map(|kind| format!("--report={kind}={}", path(kind))).collect();
    let args: Vec<&str> = args.iter().copied().chain(reports.iter().map(String::as_str)).collect();
    let (status, _, err) = run(&args);
    (
        status,
        KINDS.iter().map(|kind| fs::read_to_string(path(kind)).unwrap_or_else(|_| panic!("{kind}: {err}"))).collect(),
    )
}

/// The visible text of a report.
fn seen(report: &str) -> String {
    let named = [
        // In the data of the HTML page.
        ("\\n", "\n"),
        ("\\\"", "\""),
        ("\\u003c", "<"),
        ("&gt;", ">"),
        ("&lt;", "<"),
        ("&quot;", "\""),
        ("&#x27;", "'"),
        ("&#39;", "'"),
        ("&apos;", "'"),
        ("&#x2f;", "/"),
        ("&#10;", "\n"),
        ("&amp;", "&"),
    ];
    named.iter().fold(report.to_string(), |text, (from, to)| text.replace(from, to))
}

/// Runs the command of a divergence.
fn again(command: &str) -> (i32, String) {
    let words = shlex::split(command).unwrap();
    assert_eq!(words[0], "relax-spec");
    let words: Vec<&str> = words[1..].iter().map(String::as_str).collect();
    let (status, out, err) = run(&words);
    (status, out + &err)
}

#[test]
fn every_report_of_a_run_carries_the_whole_divergence() {
    let (dir, case) = (TempDir::new().unwrap(), "normal_form/normalize-idempotent");
    let adapter = mistaken(&dir, "relax.exp", "relax.log");
    let (status, reports) = reported(&dir, &["conform", case, "types/sub-top-func", "--adapter", &adapter, "-j", "1"]);
    assert_eq!(status, 1);
    let command = json_lines(&reports[1])
        .iter()
        .find_map(|line| Some(line["divergence"]["command"].as_str()?.to_string()))
        .expect("a command");
    for (kind, report) in KINDS.iter().zip(&reports) {
        let report = seen(report);
        for part in [case, "NF.IDEMPOTENT", "normalize(module of main)", "def main(", "R.exp(x)", "+ ", "R.log(a)"] {
            assert!(report.contains(part), "{kind}: {part}\n{report}");
        }
        assert!(report.contains("conform --adapter") && report.contains("--edition 2023-02"), "{kind}: {report}");
    }
    let line: Value = json_lines(&reports[1]).into_iter().find(|line| line["case"] == case).unwrap();
    let told = &line["divergence"];
    assert!(told["programs"][0].as_str().unwrap().contains("def main("), "{told}");
    assert!(told["expected"][0].as_str().unwrap().contains("R.exp(a)"), "{told}");
    assert!(told["given"].as_str().unwrap().contains("R.log(a)"), "{told}");
    let marked = |mark: &str| told["diff"].as_str().unwrap().lines().filter(|line| line.starts_with(mark)).count();
    assert_eq!((marked("- "), marked("+ ")), (2, 2), "{told}");
    // A case that agrees has its question, and no divergence.
    let agreed = json_lines(&reports[1]).into_iter().find(|line| line["case"] == "types/sub-top-func").unwrap();
    assert!(agreed["divergence"].is_null() && agreed["question"].as_str().unwrap().starts_with("subtype("), "{agreed}");
    let (status, out) = again(&command);
    assert_eq!(status, 1, "{out}");
    assert!(out.contains(&format!("DIVERGE {case}")) && out.contains(&format!("again     {command}")), "{out}");
    assert!(out.contains(": 1 case: 1 diverge"), "{out}");
}

#[test]
fn what_is_long_is_cut_for_people_and_whole_for_programs() {
    let dir = TempDir::new().unwrap();
    let adapter = mistaken(&dir, "nn.softmax", &format!("nn.softmax{}", "\\n// more".repeat(60)));
    let (status, reports) = reported(&dir, &["conform", "relay/print-operators", "--adapter", &adapter, "-j", "1"]);
    assert_eq!(status, 1);
    let line = json_lines(&reports[1]).remove(1);
    assert_eq!(line["divergence"]["programs"][0], "def @main(%a) { nn.softmax(negative(%a), axis=-1) }");
    let given = line["divergence"]["given"].as_str().unwrap();
    let more = given.lines().count() - 40;
    assert!(more > 20 && reports[0].contains(&format!(".. {more} more lines")), "{}", reports[0]);
    let told = |report: &str| seen(report).lines().filter(|line| line.trim() == "// more").count();
    assert!(told(&reports[0]) <= 120 && reports[2..].iter().all(|report| told(report) > 50), "{}", reports[0]);
    assert_eq!(told(reports[0].split("  given ").nth(1).unwrap().split("  diff ").next().unwrap()), 38);
}

#[test]
fn a_run_in_which_nothing_is_answered_runs_nothing() {
    let dir = TempDir::new().unwrap();
    let nothing = fake::introduced(&dir, r#""capabilities":[]"#, "");
    let (status, out, err) = run(&["conform", "types/sub-*", "--adapter", &nothing]);
    assert_eq!(status, 4, "{err}");
    assert!(out.contains("unsupported") && err.contains("answers none of the questions"), "{out}{err}");
    for kind in ["programs", "infos"] {
        let (status, out, err) = run(&["fuzz", "--kind", kind, "--runs", "2", "--adapter", &nothing]);
        assert_eq!(status, 4, "{out}{err}");
    }
    let dir = TempDir::new().unwrap();
    let (status, ..) =
        run(&["conform", "types/sub-rank", "types/lub-eq", "--adapter", &fake::adapter(&dir, fake::YES)]);
    assert_ne!(status, 4, "one of them is answered");
}

#[test]
fn what_a_campaign_of_pairs_has_no_use_for_is_refused() {
    for option in
        [&["--time", "1s"][..], &["--jobs", "1"], &["--out", "found"], &["--expect", "ledger.ron"], &["--coverage"]]
    {
        let args = [&["fuzz", "--kind", "infos", "--runs", "1"], option].concat();
        let (status, _, err) = run(&args);
        assert_eq!(status, 2, "{args:?}: {err}");
        assert!(err.contains(&format!("{} cannot be used with --kind infos", option[0])), "{err}");
    }
}

#[test]
fn an_interrupted_campaign_of_pairs_tells_what_it_has_found() {
    let dir = TempDir::new().unwrap();
    let adapter = mistaken(&dir, "Incompatible", "Compatible");
    let report = dir.path().join("found.jsonl");
    let child = Command::new(TOOL)
        .args(["fuzz", "--kind", "infos", "--runs", "100000000", "--report", "human", "--adapter", &adapter])
        .arg(format!("--report=jsonl={}", report.display()))
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let deadline = Instant::now() + Duration::from_secs(60);
    while !dir.path().join("mark").exists() && Instant::now() < deadline {
        thread::sleep(Duration::from_millis(20));
    }
    assert!(Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap().success());
    let output = child.wait_with_output().unwrap();
    let out = String::from_utf8(output.stdout).unwrap();
    assert_eq!(output.status.code(), Some(5), "{out}{}", String::from_utf8_lossy(&output.stderr));
    assert!(out.contains("UNEXPLAINED"), "{out}");
    let lines = json_lines(&fs::read_to_string(report).unwrap());
    assert_eq!(lines.last().unwrap()["stopped"], true);
    let finding = lines.iter().find(|line| line["unexpected"] == true).unwrap();
    assert_eq!(
        (finding["type"].as_str(), finding["divergence"]["given"].as_str()),
        (Some("finding"), Some("compatible"))
    );
}

#[test]
fn records_of_two_processes_are_merged_to_the_findings_of_one() {
    let dir = TempDir::new().unwrap();
    // What it says wrong is in programs, values and texts.
    let adapter = mistaken(&dir, "float32", "float64");
    let at = |name: &str| dir.path().join(name).display().to_string();
    let asked = ["--paths", "drawn", "--seeds", "--reduce", "4", "--bindings", "6", "--adapter", &adapter];
    let (status, ..) = run(&[&["fuzz", "--runs", "20", "--out", &at("one")][..], &asked].concat());
    assert_eq!(status, 1);
    for range in ["13..20", "0..13"] {
        let (status, out, err) = run(&[&["fuzz", "--record", range][..], &asked].concat());
        assert_eq!(status, 0, "{err}");
        fs::write(at(range), out).unwrap();
    }
    // A part is missing.
    let parts = at("parts");
    let merge = [&["fuzz", "--out", &parts][..], &asked].concat();
    let (status, _, err) = run(&[&merge[..], &["--merge", &at("13..20")]].concat());
    assert!(status == 5 && err.contains("program 0 is not recorded"), "{err}");
    // In any order, and one twice.
    let (first, second) = (at("0..13"), at("13..20"));
    let (status, ..) = run(&[&merge[..], &["--merge", &second, "--merge", &first, "--merge", &second]].concat());
    assert_eq!(status, 1);
    let files = |name: &str| {
        let files = fs::read_dir(at(name)).unwrap().map(|file| file.unwrap().path());
        let files = files.filter(|path| !path.ends_with("lock"));
        files.map(|path| (path.file_name().unwrap().to_owned(), fs::read_to_string(&path).unwrap())).collect()
    };
    let found: BTreeMap<_, _> = files("one");
    assert!(found.len() > 20, "{:?}", found.keys());
    assert_eq!(found, files("parts"));
    // What was asked with other options has other programs.
    let (status, _, err) = run(&[&["fuzz", "--seed", "1", "--merge", &first][..], &asked].concat());
    assert!(status == 2 && err.contains("program 0 was asked about with other options"), "{err}");
}

#[test]
fn every_report_of_a_campaign_carries_its_findings() {
    let dir = TempDir::new().unwrap();
    let adapter = mistaken(&dir, "\"Accepted\"", "{\"Rejected\": [\"WF.5.BEFORE\"]}");
    let campaign =
        ["fuzz", "--runs", "3", "--paths", "check", "--reduce", "4", "--bindings", "8", "--adapter", &adapter];
    let (status, reports) = reported(&dir, &campaign);
    assert_eq!(status, 1);
    let lines = json_lines(&reports[1]);
    let (sum, finding) = (lines.last().unwrap(), &lines[0]);
    assert_eq!((sum["type"].as_str(), sum["tally"]["programs"].as_u64()), (Some("summary"), Some(3)), "{sum}");
    assert_eq!((&finding["type"], &finding["known"]), (&"finding".into(), &Value::Null));
    let told = &finding["divergence"];
    let text = |key: &str| told[key].as_str().unwrap_or_default().to_string();
    assert!(told["programs"][0].as_str().unwrap().contains("def "), "{told}");
    assert!(!text("given").is_empty() && !text("diff").is_empty() && text("question").contains("check"), "{told}");
    for (kind, report) in KINDS.iter().zip(&reports).skip(1) {
        let report = seen(report);
        for part in ["WF.5.BEFORE", "R.function", "relax-spec fuzz --adapter", "--seed 0 --runs"] {
            assert!(report.contains(part), "{kind}: {part}\n{report}");
        }
    }
    assert!(reports[0].contains("UNKNOWN") && reports[0].contains("expected "), "{}", reports[0]);
    let (status, out) = again(&text("command"));
    assert!(status == 1 && out.contains("UNKNOWN"), "{out}");
    // A stored finding is asked again from its file.
    let found = dir.path().join("found").display().to_string();
    let (_, reports) = reported(&dir, &[&campaign[..], &["--out", &found]].concat());
    let command = json_lines(&reports[1])[0]["divergence"]["command"].as_str().unwrap().to_string();
    assert!(command.starts_with("relax-spec reproduce "), "{command}");
    let (status, out) = again(&command);
    assert!(status == 0 && out.contains(" shows by "), "{out}");
}

#[test]
fn a_case_is_explained_and_a_misspelt_one_is_guessed() {
    let (status, out, _) = run(&["explain", "findings/constant-shared-by-runs"]);
    assert_eq!(status, 0);
    for part in [
        "conformance/findings/constant-shared-by-runs/case.ron",
        "2023-02",
        "EVAL.CONST.FRESH: ",
        "evaluate(",
        "R.function",
        "permitted",
        "why ",
    ] {
        assert!(out.contains(part), "{part}\n{out}");
    }
    let (status, out, _) = run(&["explain", "normal_form/normalize-idempotent"]);
    assert_eq!(status, 0);
    for part in [
        "file      conformance/suite/normal_form/normalize.ron",
        "R.exp(a)",
        "asked by  relax-spec conform normal_form/",
    ] {
        assert!(out.contains(part), "{part}\n{out}");
    }
    let (status, out, _) = run(&["explain", "types/sub-rank", "--edition", "2023-12"]);
    assert_eq!(status, 2, "{out}");
    for (wrong, right) in
        [("types/sub-rnk", "types/sub-rank"), ("findings/constant-shared-by-run", "findings/constant-shared-by-runs")]
    {
        let (status, _, err) = run(&["explain", wrong]);
        assert!(status == 2 && err.contains(&format!("did you mean `{right}`?")), "{err}");
    }
}
