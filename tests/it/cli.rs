//! The command line, from outside: its output and its exit status.

use std::fs;
use std::path::{Path, PathBuf};

use assert_cmd::Command;
use serde_json::Value;
use tempfile::TempDir;

pub fn relax_spec(args: &[&str]) -> Command {
    let mut command = Command::cargo_bin("relax-spec").unwrap();
    // The user who runs the tests may have chosen an edition.
    command.args(args).env_remove("RELAX_SPEC_EDITION").current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."));
    command
}

/// Runs a command: its exit status, standard output, standard error.
pub fn run(args: &[&str]) -> (i32, String, String) {
    run_with(relax_spec(args))
}

pub fn run_with(mut command: Command) -> (i32, String, String) {
    let output = command.output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    (output.status.code().unwrap_or(-1), text(output.stdout), text(output.stderr))
}

pub fn file(dir: &TempDir, name: &str, content: impl AsRef<[u8]>) -> String {
    let path = dir.path().join(name);
    fs::write(&path, content).unwrap();
    path.display().to_string()
}

pub fn json_lines(text: &str) -> Vec<Value> {
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// Implementations that misbehave, as shell scripts.
pub mod fake {
    use super::*;

    /// An adapter that knows `subtype` and does `on_question` (with `$id` set) at each.
    pub fn adapter(dir: &TempDir, on_question: &str) -> String {
        introduced(dir, r#""capabilities":["subtype"]"#, on_question)
    }

    /// An adapter with this identity.
    pub fn introduced(dir: &TempDir, says: &str, on_question: &str) -> String {
        let script = format!(
            r#"read -r hello
echo '{{"id":0,"protocol":1,"implementation":{{"name":"fake","version":"1"}},{says},"new":1}}'
while read -r line; do
  id=$(printf '%s' "$line" | sed 's/.*"id":\([0-9]*\).*/\1/')
  case "$line" in *'"bye"'*) exit 0;; esac
  {on_question}
done
"#
        );
        format!("sh {}", file(dir, "adapter.sh", script))
    }

    pub const YES: &str = r#"printf '{"id":%s,"outcome":"answer","answer":true,"new":1}\n' "$id""#;

    /// Runs the cases of subtyping on it. Returns the verdicts by case.
    pub fn verdicts(adapter: &str, more: &[&str]) -> Vec<(String, String)> {
        let mut args = vec!["conform", "types/sub-*", "--adapter", adapter, "--report", "jsonl", "-j", "1"];
        args.extend(more);
        let (_, out, err) = run(&args);
        let verdicts = json_lines(&out).into_iter().filter(|line| line["type"] == "case").map(|line| {
            let text = |key: &str| line[key].as_str().unwrap_or_default().to_string();
            (text("case"), text("verdict"))
        });
        let verdicts: Vec<(String, String)> = verdicts.collect();
        assert!(!verdicts.is_empty(), "{err}");
        verdicts
    }

    /// The common verdict on all cases.
    pub fn only_verdict(adapter: &str, more: &[&str]) -> String {
        let verdicts = verdicts(adapter, more);
        assert!(verdicts.iter().all(|(_, verdict)| *verdict == verdicts[0].1), "{verdicts:?}");
        verdicts[0].1.clone()
    }
}

#[test]
fn the_oracle_passes_its_own_subtyping_cases_in_worker_processes() {
    let (status, out, err) = run(&["conform", "types/sub-*", "-j", "2"]);
    assert_eq!(status, 0, "{out}{err}");
    assert!(out.contains("0 unexpected"), "{out}");
}

#[test]
fn a_glob_that_matches_nothing_runs_nothing() {
    assert_eq!(run(&["conform", "types/sub-*", "no-such-case/*"]).0, 4);
    assert_eq!(run(&["conform", "["]).0, 2);
}

#[test]
fn the_parts_of_a_partition_make_up_the_whole() {
    let cases = |part: &str| {
        let (_, out, _) = run(&["conform", "types/*", "--report", "jsonl", "--partition", part]);
        json_lines(&out).last().unwrap()["cases"].as_u64().unwrap()
    };
    let whole = cases("hash:1/1");
    assert_eq!(cases("hash:1/3") + cases("hash:2/3") + cases("hash:3/3"), whole);
}

#[test]
fn an_adapter_that_does_not_start_is_told_apart_from_findings() {
    for adapter in ["no-such-program-anywhere", "false", "tvm@9.9", "unbalanced 'quote"] {
        let (status, _, err) = run(&["conform", "types/sub-*", "--adapter", adapter]);
        let expected = if adapter.contains('@') || adapter.contains('\'') { 2 } else { 3 };
        assert_eq!(status, expected, "{adapter}: {err}");
    }
}

#[cfg(unix)]
#[test]
fn an_adapter_that_never_greets_does_not_hang_the_runner() {
    let (status, _, err) = run(&["conform", "types/sub-*", "--adapter", "sleep 60", "--startup-timeout", "0.3"]);
    assert_eq!(status, 3, "{err}");
    assert!(err.contains("did not answer `hello`"), "{err}");
}

#[cfg(unix)]
#[test]
fn a_greeting_that_is_not_one_breaks_the_protocol() {
    let dir = TempDir::new().unwrap();
    for greeting in ["nonsense", r#"{"id":0,"protocol":9,"implementation":{"name":"x"}}"#] {
        let script = file(&dir, "greet.sh", format!("read -r hello\necho '{greeting}'\nread -r more\n"));
        assert_eq!(run(&["conform", "types/sub-*", "--adapter", &format!("sh {script}")]).0, 3, "{greeting}");
    }
}

#[cfg(unix)]
#[test]
fn answers_are_compared() {
    let dir = TempDir::new().unwrap();
    let verdicts = fake::verdicts(&fake::adapter(&dir, fake::YES), &[]);
    assert!(verdicts.contains(&("types/sub-rank".into(), "agree".into())), "{verdicts:?}");
    assert!(verdicts.iter().any(|(_, verdict)| verdict == "diverge"), "{verdicts:?}");
}

#[cfg(unix)]
#[test]
fn a_crash_costs_its_case_and_no_other() {
    let dir = TempDir::new().unwrap();
    let die = format!("case \"$line\" in *'\"ndim\":2'*) kill -SEGV $$;; esac\n  {}", fake::YES);
    let verdicts = fake::verdicts(&fake::adapter(&dir, &die), &[]);
    assert!(verdicts.contains(&("types/sub-rank".into(), "crash".into())), "{verdicts:?}");
    assert!(verdicts.iter().any(|(_, verdict)| verdict == "agree"), "{verdicts:?}");
}

#[cfg(unix)]
#[test]
fn the_last_stage_and_the_signal_of_a_crash_are_told() {
    let dir = TempDir::new().unwrap();
    let die = r#"printf '{"id":%s,"stage":"compile"}\n' "$id"; echo last words >&2; kill -SEGV $$"#;
    let (status, out, _) = run(&["conform", "types/sub-rank", "--adapter", &fake::adapter(&dir, die)]);
    assert_eq!(status, 1);
    assert!(out.contains("crashed during compile: signal 11 (SIGSEGV)"), "{out}");
    assert!(out.contains("last words"), "{out}");
}

#[cfg(unix)]
#[test]
fn a_case_that_ends_differently_the_second_time_is_flaky() {
    let dir = TempDir::new().unwrap();
    let mark = dir.path().join("mark");
    let once = format!("if [ ! -e {0} ]; then touch {0}; kill -SEGV $$; fi\n  {1}", mark.display(), fake::YES);
    let verdicts = fake::verdicts(&fake::adapter(&dir, &once), &[]);
    assert_eq!(verdicts.iter().filter(|(_, verdict)| verdict == "flaky").count(), 1, "{verdicts:?}");
    assert_eq!(verdicts[0].1, "flaky");
}

#[cfg(unix)]
#[test]
fn time_is_limited() {
    let dir = TempDir::new().unwrap();
    let adapter = fake::adapter(&dir, "sleep 60");
    let (status, out, _) = run(&["conform", "types/sub-rank", "--adapter", &adapter, "--timeout", "0.2"]);
    assert_eq!(status, 1);
    assert!(out.contains("TIMEOUT types/sub-rank"), "{out}");
}

#[cfg(unix)]
#[test]
fn what_is_not_of_the_protocol_is_a_protocol_error_of_the_case() {
    let dir = TempDir::new().unwrap();
    for reply in [
        "echo nonsense",
        r#"echo '{"id":999999,"outcome":"answer","answer":true}'"#,
        r#"printf '{"id":%s,"outcome":"answer","answer":"Object"}\n' "$id""#,
        r#"printf '{"id":%s,"outcome":"frobnicated"}\n' "$id""#,
        r#"printf '{"id":%s}\n' "$id""#,
        r#"printf '\377\n'"#,
    ] {
        assert_eq!(fake::only_verdict(&fake::adapter(&dir, reply), &[]), "protocol_error", "{reply}");
    }
}

#[cfg(unix)]
#[test]
fn an_adapter_may_not_know_and_may_fail() {
    let dir = TempDir::new().unwrap();
    for (reply, verdict) in [
        (r#"printf '{"id":%s,"outcome":"unsupported","what":"x"}\n' "$id""#, "unsupported"),
        (r#"printf '{"id":%s,"outcome":"internal_error","message":"x"}\n' "$id""#, "internal_error"),
        (r#"printf '{"id":%s,"outcome":"rejected","class":"x"}\n' "$id""#, "diverge"),
    ] {
        assert_eq!(fake::only_verdict(&fake::adapter(&dir, reply), &[]), verdict, "{reply}");
    }
}

#[cfg(unix)]
#[test]
fn a_ledger_makes_findings_expected_until_they_change() {
    let dir = TempDir::new().unwrap();
    let adapter = fake::adapter(&dir, fake::YES);
    let ledger = dir.path().join("ledger.ron").display().to_string();
    let conform = |more: &[&str]| {
        let mut args = vec!["conform", "types/sub-*", "--adapter", &adapter, "--expect", &ledger];
        args.extend(more);
        run(&args)
    };
    assert_eq!(conform(&[]).0, 2, "the ledger does not exist yet");
    assert_eq!(conform(&["--update-expect"]).0, 0);
    let (status, out, _) = conform(&[]);
    assert_eq!(status, 0, "{out}");
    let text = fs::read_to_string(&ledger).unwrap();
    assert!(text.contains("diverge"), "{text}");

    fs::write(&ledger, text.replacen("[", "[(case: \"types/sub-rank\", outcome: diverge, reason: \"was so\"),", 1))
        .unwrap();
    let (status, out, _) = conform(&[]);
    assert_eq!(status, 1, "an unexpected pass");
    assert!(out.contains("passes, though the ledger lists it"), "{out}");

    fs::write(&ledger, text.replacen("[", "[(case: \"types/gone\", outcome: crash, reason: \"was so\"),", 1)).unwrap();
    let (status, out, _) = conform(&[]);
    assert_eq!(status, 1, "a stale entry");
    assert!(out.contains("types/gone"), "{out}");
}

#[cfg(unix)]
#[test]
fn an_implementation_is_judged_by_the_edition_that_it_claims() {
    let dir = TempDir::new().unwrap();
    let adapter = |edition: &str| {
        let says = format!(r#""edition":"{edition}","capabilities":["more_specific"]"#);
        fake::introduced(&dir, &says, fake::YES)
    };
    let conform = |adapter: &str, more: &[&str]| {
        let mut args = vec!["conform", "subtyping/*", "--adapter", adapter, "--report", "jsonl", "-j", "1"];
        args.extend(more);
        let (status, out, err) = run(&args);
        let sum = json_lines(&out).pop().unwrap_or_default();
        (status, sum["edition"].as_str().unwrap_or_default().to_string(), err)
    };
    // The chapter only has cases of the later editions.
    assert_eq!(conform(&adapter("2024-04"), &[]).1, "2024-04");
    assert_eq!(conform(&adapter("2024-04"), &["--edition", "2023-12"]).1, "2023-12");
    assert_eq!(conform(&adapter("2023-02"), &[]).0, 4, "nothing is left to ask");
    let (status, _, err) = conform(&adapter("2099-01"), &[]);
    assert_eq!(status, 3);
    assert!(err.contains("broke the protocol on `hello`"), "{err}");
}

#[cfg(unix)]
#[test]
fn fail_fast_stops_early() {
    let dir = TempDir::new().unwrap();
    let adapter = fake::adapter(&dir, fake::YES);
    let (status, out, _) = run(&["conform", "types/sub-*", "--adapter", &adapter, "--fail-fast", "-j", "1"]);
    assert_eq!(status, 5);
    assert!(out.contains("stopped early"), "{out}");
}

#[test]
fn every_report_is_written() {
    let dir = TempDir::new().unwrap();
    let path = |name: &str| dir.path().join(name);
    let report = |kind: &str, name: &str| format!("{kind}={}", path(name).display());
    let (html, junit, md, jsonl) =
        (report("html", "r.html"), report("junit", "r.xml"), report("md", "r.md"), report("jsonl", "r.jsonl"));
    let mut args = vec!["conform", "types/*"];
    [&html, &junit, &md, &jsonl].into_iter().for_each(|report| args.extend(["--report", report]));
    assert_eq!(run(&args).0, 0);
    let read = |name: &str| fs::read_to_string(path(name)).unwrap();
    assert!(read("r.html").contains("\"chapter\":\"types\""));
    assert!(read("r.xml").contains("<testsuite name=\"types\""));
    assert!(read("r.md").contains("| types |"));
    let lines = json_lines(&read("r.jsonl"));
    assert_eq!((&lines[0]["type"], &lines.last().unwrap()["type"]), (&"header".into(), &"summary".into()));
    assert!(lines[0]["suite"]["hash"].as_str().unwrap().starts_with("sha256:"));
}

#[test]
fn what_is_no_program_is_unreadable() {
    let dir = TempDir::new().unwrap();
    let garbage: Vec<u8> = (0u32..1_000_000).map(|i| (i.wrapping_mul(2_654_435_761) >> 13) as u8).collect();
    let ascii: Vec<u8> = garbage.iter().map(|byte| b' ' + byte % 95).collect();
    let inputs = [
        file(&dir, "empty.py", ""),
        file(&dir, "blank.py", "  \n\n"),
        file(&dir, "garbage.py", &garbage),
        file(&dir, "ascii.py", &ascii),
        file(&dir, "invalid.py", b"x = '\xff'\n"),
        file(&dir, "deep.py", format!("x = {}{}\n", "(".repeat(10_000), ")".repeat(10_000))),
        file(&dir, "deep.json", "[".repeat(1_000_000)),
        file(&dir, "deep.ron", "(".repeat(1_000_000)),
        file(&dir, "version.json", "{\"version\": 99}"),
        file(&dir, "text.ron", "(funcs: 3)"),
        dir.path().join("no-such-file.py").display().to_string(),
    ];
    for input in &inputs {
        for command in ["check", "run"] {
            let (status, out, err) = run(&[command, input]);
            assert_eq!(status, 2, "{command} {input}: {out}{err}");
            assert!(err.contains("error"), "{command} {input}: {err}");
        }
    }
}

#[test]
fn a_directory_is_a_program_only_where_it_holds_some() {
    let dir = TempDir::new().unwrap();
    let path = dir.path().display().to_string();
    assert_eq!(run(&["check", &path]).0, 2);
    assert_eq!(run(&["run", &path]).0, 2);
    fs::create_dir(dir.path().join("sub")).unwrap();
    file(&dir, "sub/one.json", GOOD);
    file(&dir, "two.json", BAD);
    let (status, out, _) = run(&["check", &path]);
    assert_eq!(status, 1);
    assert!(out.contains("2 files: "), "{out}");
}

#[test]
fn a_directory_is_summed_up() {
    let dir = TempDir::new().unwrap();
    let path = dir.path().display().to_string();
    for i in 0..20 {
        file(&dir, &format!("good{i}.json"), GOOD);
    }
    let (status, out, err) = run(&["check", &path]);
    assert_eq!(
        (status, out.as_str(), err.as_str()),
        (0, "20 files: 0 errors, 0 warnings; edition 2023-02, the default\n", "")
    );
    for i in 0..3 {
        file(&dir, &format!("bad{i}.json"), BAD);
    }
    let (status, out, _) = run(&["check", &path]);
    assert_eq!(status, 1);
    assert!(out.ends_with("23 files: 3 errors, 0 warnings; edition 2023-02, the default\n"), "{out}");
    // The order is that of the names, whichever check ends first.
    let at = |name: &str| out.find(name).unwrap();
    assert!(at("bad0.json") < at("bad1.json") && at("bad1.json") < at("bad2.json"), "{out}");
    file(&dir, "unreadable.json", "{");
    let (status, out, err) = run(&["check", &path]);
    assert_eq!(status, 2);
    assert!(
        out.ends_with("24 files: 3 errors, 0 warnings, 1 unreadable; edition 2023-02, the default\n")
            && err.contains("unreadable.json"),
        "{out}{err}"
    );
}

#[test]
fn what_is_wrong_elsewhere_is_told_too() {
    let dir = TempDir::new().unwrap();
    let text = "@I.ir_module\nclass Module:\n    @R.function\n    def f(x: R.Tensor((3,), \"float32\")):\n        return nowhere\n\n    @R.function\n    def g(x: R.Tensor((3,), \"float32\")):\n        y = x[0]\n        return y\n";
    let (status, out, _) = run(&["check", &file(&dir, "two.py", text)]);
    assert_eq!(status, 1);
    assert!(out.contains("error[WF.2.BOUND]") && out.contains("error[TC.TGI.NOTTUPLE]"), "{out}");
    assert!(out.contains("1 file: 2 errors"), "{out}");
}

#[test]
fn programs_of_2022_are_read_by_their_mark() {
    let dir = TempDir::new().unwrap();
    let ron = r#"(ast: "2022-06", funcs: [("main", Function(params: [(vid: "s", type_annotation: Shape(ndim: 1))],
        body: SeqExpr(blocks: [(bindings: [MatchShape(value: Var("s"), pattern: ["n"], var: (vid: "t"))])], body: Var("t")),
        ret_type: Shape(ndim: 1), attrs: {"global_symbol": Str("main")}))])"#;
    let (status, out, err) = run(&["convert", &file(&dir, "old.ron", ron), "--to", "tvmscript"]);
    assert_eq!(status, 0, "{err}");
    assert!(out.contains("R.match_cast(s, R.Shape([n]))"), "{out}");
}

#[test]
fn data_that_breaks_the_grammar_is_told_with_its_rule() {
    let dir = TempDir::new().unwrap();
    let body = r#"{"If": {"cond": {"Var": "x"}, "true_branch": {"Var": "x"}}}"#;
    let text = format!(r#"{{"funcs": [["f", {{"Function": {{"params": [{{"var": "x"}}], "body": {body}}}}}]]}}"#);
    let (status, _, err) = run(&["check", &file(&dir, "if.json", text)]);
    assert_eq!(status, 2);
    assert!(err.contains("GRAM.EXPR.IF") && err.contains("false_branch"), "{err}");
}

/// `main(x) = x`.
const GOOD: &str = r#"{"funcs":[["main",{"Function":{"params":[{"var":"x","annotation":"Object"}],
    "body":{"SeqExpr":{"blocks":[],"body":{"Var":"x"}}},"ret_struct_info":"Object",
    "attrs":{"global_symbol":{"Str":"main"}}}}]]}"#;

/// `main(x) = y`.
const BAD: &str = r#"{"funcs":[["main",{"Function":{"params":[{"var":"x","annotation":"Object"}],
    "body":{"SeqExpr":{"blocks":[],"body":{"Var":"y"}}},"ret_struct_info":"Object",
    "attrs":{"global_symbol":{"Str":"main"}}}}]]}"#;

#[test]
fn findings_name_place_rule_and_reason() {
    let dir = TempDir::new().unwrap();
    let text = "@R.function\ndef main(x: R.Tensor((3,), \"float32\")) -> R.Tensor((3,), \"float32\"):\n    y = R.add(x, nowhere)\n    return y\n";
    let path = file(&dir, "bad.py", text);
    let (status, out, _) = run(&["check", &path]);
    assert_eq!(status, 1);
    assert!(out.contains("error[WF.2.BOUND]") && out.contains("bad.py:3:18"), "{out}");

    let (status, out, _) = run(&["check", "--format", "json", &path]);
    assert_eq!(status, 1);
    let findings = json_lines(&out);
    let found = findings.iter().find(|finding| finding["rule"] == "WF.2.BOUND").unwrap();
    assert_eq!((&found["start"]["line"], &found["start"]["column"]), (&3.into(), &18.into()));
    assert_eq!(found["code"], "E[WF.2.BOUND]");
}

#[test]
fn a_program_comes_from_standard_input_too() {
    let mut command = relax_spec(&["check", "-"]);
    command.write_stdin(GOOD);
    let (status, out, err) = run_with(command);
    assert_eq!(status, 0, "{out}{err}");
}

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

#[cfg(unix)]
#[test]
fn a_reader_that_goes_away_is_no_error() {
    let program = assert_cmd::cargo::cargo_bin("relax-spec");
    let line = format!(
        "{} rules --json 2>&1 >/dev/full | head -c 300; {} rules | head -1",
        quoted(&program),
        quoted(&program)
    );
    let output = std::process::Command::new("sh").args(["-c", &line]).output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(!text.contains("panicked"), "{text}");
}

#[cfg(unix)]
fn quoted(path: &Path) -> String {
    format!("'{}'", path.display())
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

/// Packed functions from another process.
mod externs {
    use super::*;

    const PROCESS: &str = r#"
import json, sys, time

FUNCTIONS = [{"name": "mine.double_all", "pure": True}, {"name": "mine.clear"}, {"name": "mine.refuse"},
             {"name": "mine.crash"}, {"name": "mine.hang"}, {"name": "mine.babble"}]


def call(function, args):
    if function == "mine.double_all":
        data = args[0]["Tensor"]
        size = len(data["bits"]) // 16
        ints = [int.from_bytes(bytes.fromhex(data["bits"][16 * i:16 * i + 16]), "little", signed=True) for i in range(size)]
        return {"outcome": "returns", "value": {"Tensor": {"dtype": "int64", "shape": data["shape"], "values": [2 * i for i in ints]}}}
    if function == "mine.clear":
        data = args[0]["Tensor"]
        zeros = {"Tensor": {**data, "bits": "0" * len(data["bits"])}}
        return {"outcome": "returns", "value": {"Arg": 0}, "mutated": [[0, zeros]]}
    if function == "mine.refuse":
        return {"outcome": "raises", "message": "not today"}
    if function == "mine.crash":
        sys.exit("out of order")
    if function == "mine.hang":
        time.sleep(600)
    return {"no": "outcome"}


for line in sys.stdin:
    request = json.loads(line)
    if request["op"] == "hello":
        reply = {"id": 0, "protocol": 1, "functions": FUNCTIONS}
    else:
        reply = {"id": request["id"], **call(request["function"], request["args"])}
    print(json.dumps(reply), flush=True)
"#;

    const PROGRAM: &str = r#"
@I.ir_module
class Module:
    @R.function(pure=False)
    def double(x: R.Tensor((2,), "int64")) -> R.Object:
        y = R.call_packed("mine.double_all", x, sinfo_args=R.Tensor((2,), "int64"))
        z = R.call_packed("relax_spec.add", y, x, sinfo_args=R.Tensor((2,), "int64"))
        return z

    @R.function(pure=False)
    def clear(x: R.Tensor((2,), "int64")) -> R.Object:
        y = R.call_packed("mine.clear", x, sinfo_args=R.Object)
        same = R.call_packed("relax_spec.same_object", x, y, sinfo_args=R.Object)
        return (x, same)

    @R.function(pure=False)
    def refuse(x: R.Tensor((2,), "int64")) -> R.Object:
        y = R.call_packed("mine.refuse", x, sinfo_args=R.Object)
        return y

    @R.function(pure=False)
    def crash(x: R.Tensor((2,), "int64")) -> R.Object:
        y = R.call_packed("mine.crash", x, sinfo_args=R.Object)
        return y

    @R.function(pure=False)
    def hang(x: R.Tensor((2,), "int64")) -> R.Object:
        y = R.call_packed("mine.hang", x, sinfo_args=R.Object)
        return y

    @R.function(pure=False)
    def babble(x: R.Tensor((2,), "int64")) -> R.Object:
        y = R.call_packed("mine.babble", x, sinfo_args=R.Object)
        return y
"#;

    fn call(entry: &str) -> (i32, String, String) {
        let dir = TempDir::new().unwrap();
        let (process, program) = (file(&dir, "mine.py", PROCESS), file(&dir, "program.py", PROGRAM));
        let process = format!("python3 '{process}'");
        let args = ["run", &program, "--entry", entry, "--arg", "[3, 4]:int64", "--extern", &process];
        run(&[&args[..], &["--extern-timeout", "2"]].concat())
    }

    #[test]
    fn a_function_of_a_process_is_called_with_values_and_returns_one() {
        // 2 * [3, 4] + [3, 4]. Both functions are pure, so there is no effect.
        assert_eq!(call("double"), (0, "[9, 12]:int64\n".into(), String::new()));
    }

    #[test]
    fn what_it_mutates_is_seen_through_the_aliases_and_its_argument_returns_as_itself() {
        let (status, out, err) = call("clear");
        assert_eq!((status, err.as_str()), (0, ""));
        assert_eq!(out.lines().last(), Some("([0, 0]:int64, true:bool)"));
        assert!(out.starts_with("effect: "), "{out}");
    }

    #[test]
    fn an_error_that_it_raises_is_one_of_the_program() {
        let (status, _, err) = call("refuse");
        assert_eq!(status, 1);
        assert!(err.contains("PURE.EFFECT.ABORT") && err.contains("mine.refuse raised an error: not today"), "{err}");
    }

    #[test]
    fn a_process_that_fails_is_told_apart_from_the_program() {
        for (entry, said) in [("crash", "out of order"), ("hang", "within 2 s"), ("babble", "broke the protocol")] {
            let (status, _, err) = call(entry);
            assert_eq!(status, 3, "{entry}: {err}");
            assert!(err.contains(&format!("mine.{entry}")) && err.contains(said), "{entry}: {err}");
        }
        let dir = TempDir::new().unwrap();
        let program = file(&dir, "program.py", PROGRAM);
        for command in ["no-such-program-anywhere", "false", "echo {}"] {
            let args = ["run", &program, "--entry", "double", "--arg", "[3, 4]:int64", "--extern", command];
            assert_eq!(run(&args).0, 3, "{command}");
        }
    }
}

/// Counts up to its argument by recursion.
const COUNT: &str = r#"
@I.ir_module
class Module:
    @R.function
    def count(i: R.Tensor((), "int64"), n: R.Tensor((), "int64")) -> R.Tensor((), "int64"):
        more = R.less(i, n)
        if more:
            next = R.add(i, R.const(1, "int64"))
            r = Module.count(next, n)
        else:
            r = i
        return r

    @R.function
    def main(n: R.Tensor((), "int64")) -> R.Tensor((), "int64"):
        r = Module.count(R.const(0, "int64"), n)
        return r
"#;

#[test]
fn a_million_calls_within_each_other_end_as_out_of_fuel_and_fewer_run() {
    let dir = TempDir::new().unwrap();
    let program = file(&dir, "count.py", COUNT);
    let count = |n: &str, more: &[&str]| run(&[&["run", &program, "--arg", n][..], more].concat());
    assert_eq!(count("10000:int64", &[]), (0, "10000:int64\n".into(), String::new()));
    let (status, _, err) = count("1000000:int64", &[]);
    assert_eq!(status, 5, "{err}");
    assert!(err.contains("--depth"), "{err}");
    // The two limits are independent of each other.
    assert_eq!(count("10000:int64", &["--depth", "1000"]).0, 5);
    assert_eq!(count("10000:int64", &["--fuel", "10000"]).0, 5);
}

/// A layer of 67 million rounds of three steps each: more than the steps of a program that may not end.
const LAYER: &str = r#"
@I.ir_module
class Module:
    @T.prim_func
    def layer(X: T.Buffer((1024, 64), "float32"), W: T.Buffer((64, 1024), "float32"), Y: T.Buffer((1024, 1024), "float32")):
        for i, j, k in T.grid(1024, 1024, 64):
            with T.sblock("b"):
                vi, vj, vk = T.axis.remap("SSR", [i, j, k])
                with T.init():
                    Y[vi, vj] = T.float32(0)
                Y[vi, vj] = Y[vi, vj] + X[vi, vk] * W[vk, vj]

    @R.function
    def main(x: R.Tensor((1024, 64), "float32"), w: R.Tensor((64, 1024), "float32")) -> R.Tensor((1024, 1024), "float32"):
        y = R.call_tir(Module.layer, (x, w), out_sinfo=R.Tensor((1024, 1024), "float32"))
        return y
"#;

#[test]
fn a_real_layer_runs_within_the_defaults_and_machine_code_needs_a_build_that_has_it() {
    let dir = TempDir::new().unwrap();
    let program = file(&dir, "layer.py", LAYER);
    let layer = |more: &[&str]| {
        run(&[&["run", &program, "--arg", "ones(1024, 64)", "--arg", "ones(64, 1024)"][..], more].concat())
    };
    let (status, _, err) = layer(&[]);
    assert_eq!(status, 0, "{err}");
    assert_eq!(layer(&["--fuel", "200000000"]).0, 5);
    if cfg!(not(feature = "native")) {
        let (status, out, err) = layer(&["--kernels", "native"]);
        assert_eq!((status, out.as_str()), (2, ""));
        assert!(err.contains("this build has no `--kernels native`"), "{err}");
    }
}

/// A program that makes a large tensor from a small one.
const REGIONS: &str = r#"
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((1, 1, 6, 8, 9), "float32")) -> R.Tensor((1, 1, 256, 256, 256), "float32"):
        y = R.nn.adaptive_avg_pool3d(x, output_size=[256, 256, 256])
        return y
"#;

#[test]
fn what_a_run_may_compute_and_hold_is_limited() {
    let dir = TempDir::new().unwrap();
    let program = file(&dir, "regions.py", REGIONS);
    let regions = |more: &[&str]| run(&[&["run", &program, "--arg", "zeros(1, 1, 6, 8, 9)"][..], more].concat());
    let (status, _, err) = regions(&["--fuel", "50000000", "--memory", "64G"]);
    assert!(status == 5 && err.contains("--fuel"), "{err}");
    for more in [&[][..], &["--fuel", "1000000000000"]] {
        let (status, _, err) = regions(more);
        assert!(status == 5 && err.contains("--memory"), "{err}");
    }
    // A tensor without references returns its memory.
    let program = file(&dir, "count.py", COUNT);
    let count = |memory: &str| run(&["run", &program, "--arg", "1000:int64", "--memory", memory]);
    assert_eq!(count("64K").0, 0);
    assert_eq!(count("1K").0, 5);
    assert_eq!(run(&["run", &program, "--memory", "1X"]).0, 2);
}

/// Arguments count as memory like the program's own values. The sizes of a shape argument are checked.
#[test]
fn arguments_count_and_are_values() {
    let dir = TempDir::new().unwrap();
    let text = "@R.function\ndef main(x: R.Object) -> R.Object:\n    return R.tuple()\n";
    let program = file(&dir, "unit.py", text);
    let held = |memory: &str| run(&["run", &program, "--arg", "zeros(1000, 1000):float64", "--memory", memory]);
    assert_eq!(held("8M").0, 0);
    let (status, _, err) = held("7M");
    assert!(status == 5 && err.contains("--memory"), "{err}");
    let (status, _, err) = run(&["run", &program, "--arg", "shape(2, -1)"]);
    assert!(status == 2 && err.contains("negative size -1"), "{err}");
}

/// Pairs of pairs are short to write, but have too many parts to traverse one by one. Shared parts of tuples are
/// traversed once. The variables of function types are renamed at each occurrence. For these the oracle reports its
/// limit, and no verdict.
#[test]
fn what_shares_its_parts_ends_in_time() {
    let dir = TempDir::new().unwrap();
    let pairs: String = (1..=60).map(|i| format!("    t{i} = (t{0}, t{0})\n", i - 1)).collect();
    let check = |of: &str| {
        let text =
            format!("@R.function\ndef main(t0: {of}) -> R.Object:\n{pairs}    s: R.Object = t60\n    return t0\n");
        run(&["check", &file(&dir, "pairs.py", text)])
    };
    let (status, out, _) = check("R.Object");
    assert!(status == 0 && out.contains("1 file: 0 errors, 0 warnings"), "{out}");
    let (status, out, _) = check("R.Callable((R.Tensor(('n',)),), R.Tensor(('n',)))");
    assert!(status == 5 && out.contains("more than a million parts"), "{out}");
    assert!(out.contains("0 errors") && !out.contains("error["), "{out}");
}

/// The same for values: a returned value of nested pairs is traversed once in a search for closures, floats or tensors.
#[test]
fn values_that_share_their_parts_are_refined_in_time() {
    let pairs: String = (1..=60).map(|i| format!("    t{i} = (t{0}, t{0})\n", i - 1)).collect();
    let dir = TempDir::new().unwrap();
    for (name, last) in [("all.py", "t60"), ("part.py", "t60[0][1][0][1]")] {
        let text = format!("@R.function\ndef main(t0: R.Tensor((2,), \"float32\")):\n{pairs}    return {last}\n");
        let path = file(&dir, name, text);
        let (status, out, err) = run(&["refine", &path, &path, "--runs", "2", "--timeout", "60"]);
        assert!(status == 5 && out.contains("too large"), "{name}: {status} {out} {err}");
    }
}

/// A derivation repeats lower parts at each level. Its output has a limit that prevents quadratic growth.
#[test]
fn a_derivation_is_told_within_a_limit() {
    let deep = |depth: usize| format!("{}Object{}", "Tuple(Object, ".repeat(depth), ")".repeat(depth));
    let (small, large) = (deep(100), deep(900));
    let (status, out, err) = run(&["judge", "unify", "--explain", &small, &small]);
    assert!(status == 0 && out.contains("by SI.UNIFY") && !out.contains("unify ..,"), "{err}");
    let (status, out, err) = run(&["judge", "unify", "--explain", &large, &large]);
    assert!(status == 0 && out.contains(".."), "{err}");
    assert!(out.len() < 16 << 20, "{}", out.len());
}

/// Errors about a command line are escaped too, because file names may come from untrusted sources.
#[test]
fn a_command_line_is_shown_and_not_obeyed() {
    for args in [&["\u{202e}evil\u{1b}[2J"][..], &["check", "--timeout", "\u{1b}[2J\u{202e}"], &["check", "--\u{202e}"]]
    {
        let (status, out, err) = run(args);
        assert!(status == 2 && out.is_empty() && err.contains("202e"), "{err}");
        assert!(!err.contains(relax_spec::grammar::is_hidden), "{err:?}");
    }
}

/// The limit is a number of steps, not a time. So the result is always the same, and no partial result is shown.
#[test]
fn steps_that_judging_takes_are_limited() {
    let dir = TempDir::new().unwrap();
    let text = "@R.function\ndef main(x: R.Tensor((\"n\", 4), \"float32\")):\n    y = R.add(x, x)\n    return y\n";
    let path = file(&dir, "program.py", text);
    let commands: [&[&str]; 7] = [
        &["check", &path],
        &["check", &path, "--types"],
        &["types", &path],
        &["normalize", &path],
        &["build", &path],
        &["refine", &path, &path, "--runs", "2"],
        &["judge", "unify", "Tensor((n, 4), float32)", "Tensor((m, 4), float32)"],
    ];
    for command in commands {
        let within = |steps: u64| {
            let steps = steps.to_string();
            let (status, out, err) = run(&[command, &["--fuel", &steps]].concat());
            let spent = status == 5;
            assert_eq!(spent, err.contains("undecided, budget") && out.is_empty(), "{command:?} {steps}: {out}{err}");
            !spent
        };
        let (mut few, mut enough) = (0, 1 << 20);
        assert!(!within(few) && within(enough), "{command:?}");
        while few + 1 < enough {
            let middle = (few + enough) / 2;
            if within(middle) { enough = middle } else { few = middle }
        }
        assert!((0..3).all(|_| within(enough) && !within(few)), "{command:?} {enough}");
    }
    assert_eq!(run(&["check", &path, "--fuel", "many"]).0, 2);
}

/// An unknown packed function is a function of its arguments, with effects. A counterexample can be read back.
#[test]
fn refine_judges_around_functions_that_are_not_known() {
    let dir = TempDir::new().unwrap();
    let program = |name: &str, body: &str| {
        let text = format!(
            "@R.function(pure=False)\ndef main(x: R.Tensor((3,), 'float32')) -> R.Object:\n{body}    return z\n"
        );
        file(&dir, name, text)
    };
    let call = |of: &str| format!("    y = R.call_packed('vendor.f', {of}, sinfo_args=(R.Tensor((3,), 'float32'),))\n");
    let used = program("used.py", &(call("x") + "    z = R.nn.relu(y)\n"));
    let unused = program("unused.py", &(call("x") + "    z = R.nn.relu(x)\n"));
    let dropped = program("dropped.py", "    z = R.nn.relu(x)\n");
    let (status, out, _) = run(&["refine", &used, &used]);
    assert!(status == 0 && out.contains("not known: vendor.f"), "{out}");
    for (name, body) in [
        ("before.py", call("R.negative(x)") + "    z = R.nn.relu(y)\n"),
        ("after.py", call("x") + "    z = R.abs(y)\n"),
        ("itself.py", "    z = R.nn.relu(x)\n".to_string()),
    ] {
        let other = program(name, &body);
        let (status, out, _) = run(&["refine", &used, &other]);
        assert!(status == 1, "{name}: {out}");
        let mut again = vec!["refine", &used, &other, "--runs", "0"];
        let args: Vec<&str> =
            out.lines().filter_map(|line| line.strip_prefix("  with --arg '")?.strip_suffix('\'')).collect();
        args.iter().for_each(|arg| again.extend(["--arg", arg]));
        let (status, repeated, _) = run(&again);
        assert!(status == 1 && repeated.lines().next() == out.lines().next(), "{name}: {out}{repeated}");
    }
    let (status, out, _) = run(&["refine", &used, &program("abs.py", &(call("x") + "    z = R.abs(y)\n"))]);
    assert!(status == 1 && out.contains("  first at `z`: "), "{out}");
    assert_eq!(run(&["refine", &unused, &dropped]).0, 1);
    assert_eq!(run(&["refine", &unused, &dropped, "--assume", "vendor.f=pure"]).0, 0);
    assert_eq!(run(&["refine", &used, &used, "--assume", "vendor.g=pure"]).0, 2);
    assert_eq!(run(&["refine", &used, &used, "--assume", "vendor.f=quick"]).0, 2);
}

#[test]
fn what_is_known_of_arguments_limits_them() {
    let dir = TempDir::new().unwrap();
    let program = |name: &str, params: &str, body: &str| {
        file(&dir, name, format!("@R.function\ndef main({params}) -> R.Object:\n    y = {body}\n    return y\n"))
    };
    let x = "x: R.Tensor((4,), 'float32')";
    let (abs, same) = (program("abs.py", x, "R.abs(x)"), program("same.py", x, "x"));
    assert_eq!(run(&["refine", &abs, &same]).0, 1);
    let known = ["--assume", "x:finite,range=0..=8"];
    let (status, out, err) = run(&[&["refine", &abs, &same], &known[..]].concat());
    assert!(status == 0, "{out}{err}");
    let given = ["--arg", "[1.0, 2.0, 3.0, 9.0]:float32"];
    let (status, _, err) = run(&[&["refine", &abs, &same], &known[..], &given].concat());
    assert!(status == 2 && err.contains("`x`"), "{err}");
    let sort = program("sort.py", x, "R.sort(x)");
    assert_eq!(run(&["refine", &sort, &same]).0, 1);
    assert_eq!(run(&["refine", &sort, &same, "--assume", "x:sorted,distinct,finite"]).0, 0);
    let (min, max) = (program("min.py", x, "R.argmin(x)"), program("flip.py", x, "R.argmin(R.minimum(x, x))"));
    assert_eq!(run(&["refine", &min, &max, "--assume", "x:distinct,finite"]).0, 0);
    let i = "x: R.Tensor((4,), 'int64')";
    let (abs, same) = (program("iabs.py", i, "R.abs(x)"), program("isame.py", i, "x"));
    assert_eq!(run(&["refine", &abs, &same]).0, 1);
    assert_eq!(run(&["refine", &abs, &same, "--assume", "indices in range"]).0, 0);
    for wrong in ["x:wide", "z:finite", "x:range=3..1", "x:range=1", "indices"] {
        assert_eq!(run(&["refine", &abs, &same, "--assume", wrong]).0, 2, "{wrong}");
    }
}

#[test]
fn prim_funcs_without_a_relax_function_are_compared_by_name() {
    let dir = TempDir::new().unwrap();
    let module = |name: &str, factors: &[(&str, f64)]| {
        let mut text = "@I.ir_module\nclass Module:\n".to_string();
        for (func, factor) in factors {
            let params = "X: T.Buffer((4,), 'float32'), O: T.Buffer((4,), 'float32')";
            text += &format!("    @T.prim_func\n    def {func}({params}):\n        for i in range(4):\n");
            text += &format!("            O[i] = X[i] * T.float32({factor})\n");
        }
        file(&dir, name, text)
    };
    let (one, other) = (module("one.py", &[("f", 2.0)]), module("other.py", &[("f", 3.0)]));
    let (status, out, err) = run(&["refine", &one, &one]);
    assert!(status == 0 && out.starts_with("allowed"), "{out}{err}");
    let (status, out, err) = run(&["refine", &one, &other]);
    assert!(status == 1 && out.contains("OPT.VISIBLE.MUTATION"), "{out}{err}");
    let (two, changed) = (module("two.py", &[("f", 2.0), ("g", 2.0)]), module("changed.py", &[("g", 5.0), ("f", 2.0)]));
    let (status, out, err) = run(&["refine", &two, &changed]);
    assert!(status == 1 && out.contains("f: allowed") && out.contains("g: not allowed"), "{out}{err}");
    assert_eq!(run(&["refine", &two, &changed, "--entry", "f"]).0, 0);
    assert_eq!(run(&["refine", &two, &changed, "--entry", "h"]).0, 2);
    assert_eq!(run(&["refine", &two, &one]).0, 2);
}

#[test]
fn an_allowed_names_the_constants_that_could_be_others() {
    let dir = TempDir::new().unwrap();
    let program = |name: &str, bound: &str| {
        let text = format!(
            "@R.function\ndef main(x: R.Tensor((4,), 'float32')) -> R.Object:\n    y = R.minimum(x, R.const({bound}, 'float32'))\n    z = R.floor(R.exp(R.negative(R.abs(y))))\n    return z\n"
        );
        file(&dir, name, text)
    };
    // Of a number below -3 nothing is left, so no bound between 3 and the largest number shows.
    let far = program("far.py", "1000.0");
    let (status, out, err) = run(&["refine", &far, &far]);
    assert!(status == 0 && out.contains("would not notice: 2000.0 for 1000.0"), "{out}{err}");
    assert!(out.starts_with("allowed") && out.contains("not told apart from a change of 1 constant"), "{out}{err}");
}

#[test]
fn refine_tells_apart_what_is_undecided_and_what_takes_too_long() {
    let dir = TempDir::new().unwrap();
    let program = |name: &str, function: &str, result: &str| {
        let text = format!(
            "@I.ir_module\nclass Module:\n    @R.function\n    def main(x: R.Tensor((2,), 'float32')) -> R.Object:\n{function}        return {result}\n"
        );
        file(&dir, name, text)
    };
    let endless = "        @R.function\n        def f(a: R.Object) -> R.Object:\n            b = f(a)\n            return b\n        y = f(x)\n";
    let endless = program("endless.py", endless, "y");
    let (status, out, _) = run(&["refine", &endless, &endless, "--runs", "1"]);
    assert!(status == 5 && out.starts_with("out of budget: the source ran out of fuel\n"), "{status}: {out}");
    let takes_function =
        "        @R.function\n        def f(a: R.Callable((R.Object,), R.Object)) -> R.Object:\n            return a\n";
    let closed = program("closed.py", takes_function, "f");
    let (status, out, _) = run(&["refine", &closed, &closed, "--runs", "2"]);
    assert_eq!(status, 5, "{out}");
    assert!(out.starts_with("undecided: "), "{out}");
}

/// The output for a function with these statements.
fn told_of(dir: &TempDir, statements: &[&str]) -> Vec<String> {
    let body: String = statements.iter().map(|statement| format!("        {statement}\n")).collect();
    let text = format!(
        "@I.ir_module\nclass Module:\n    @R.function\n    def main(x: R.Tensor((3,), 'float32')) -> R.Object:\n{body}        return x\n"
    );
    let (_, out, _) = run(&["check", "--format", "json", &file(dir, "statements.py", text)]);
    let mut rules: Vec<String> =
        json_lines(&out).iter().filter_map(|line| Some(line["rule"].as_str()?.to_string())).collect();
    rules.sort();
    rules
}

/// Mistakes of all stages, one per statement.
const MISTAKES: [&str; 8] = [
    "a = R.add(x, nowhere)",
    "b = R.nn.relux(x)",
    "c = R.sum(x, axs=[0])",
    "d = x[0]",
    "e: R.Tensor((4,), 'float32') = R.add(x, x)",
    "f = R.add(x, R.zeros(R.shape([4]), 'float32'))",
    "g: R.Tensor((3,), 'float33') = R.add(x, x)",
    "h = R.match_cast(x, R.Tensor((4,), 'float32'))",
];

#[test]
fn one_run_tells_all_mistakes() {
    let dir = TempDir::new().unwrap();
    let alone: Vec<Vec<String>> = MISTAKES.iter().map(|mistake| told_of(&dir, &[mistake])).collect();
    for (i, told) in alone.iter().enumerate() {
        assert_eq!(told.len(), 1, "{}: {told:?}", MISTAKES[i]);
        for (k, other) in alone.iter().enumerate().filter(|(k, _)| *k != i) {
            let mut both = [told.clone(), other.clone()].concat();
            both.sort();
            assert_eq!(told_of(&dir, &[MISTAKES[i], MISTAKES[k]]), both, "{} and {}", MISTAKES[i], MISTAKES[k]);
        }
    }
    let mut all = alone.concat();
    all.sort();
    assert_eq!(told_of(&dir, &MISTAKES), all);
}

#[test]
fn what_depends_on_a_mistake_is_silent() {
    let dir = TempDir::new().unwrap();
    // Size mistakes are left out: a value with other sizes than its annotation is only found after all its uses are
    // typed.
    let named = MISTAKES.iter().filter_map(|mistake| Some((mistake, mistake.split([':', ' ']).next()?)));
    for (mistake, name) in named.filter(|(_, name)| ["a", "b", "c", "d", "g"].contains(name)) {
        let alone = told_of(&dir, &[mistake]);
        let uses = [format!("u = {name}[7]"), format!("v = R.add({name}, {name})"), format!("w = {name}(x)")];
        let uses: Vec<&str> = uses.iter().map(String::as_str).collect();
        assert_eq!(told_of(&dir, &[&[*mistake][..], &uses].concat()), alone, "{mistake}");
    }
}

/// Functions with an unknown datatype in their signature, and code that depends on it.
const SIGNATURES: [&str; 4] = [
    "    @R.function
    def f(x: R.Tensor((3,), 'float32')) -> R.Tensor((3,), 'float33'):
        return x
    @R.function
    def main(x: R.Tensor((3,), 'float32')) -> R.Tensor((3,), 'float32'):
        cls = Module
        y: R.Tensor((3,), 'float32') = cls.f(x)
        z = R.add(y, cls.f(y, y))
        return z
",
    "    @R.function
    def f(x: R.Tensor((3,), 'float33')) -> R.Tensor((3,), 'float32'):
        y: R.Tensor((3,), 'float32') = R.add(x, x)
        return y
    @R.function
    def main(x: R.Tensor((3,), 'float32')) -> R.Tensor((3,), 'float32'):
        cls = Module
        y: R.Tensor((3,), 'float32') = cls.f(x)
        return y
",
    "    @R.function
    def main(x: R.Tensor((3,), 'float32')) -> R.Tensor((3,), 'float32'):
        @R.function
        def f(z: R.Tensor((3,), 'float32')) -> R.Tensor((3,), 'float33'):
            return z
        y: R.Tensor((3,), 'float32') = f(x)
        return y
",
    "    @R.function
    def main(x: R.Tensor((3,), 'float32')) -> R.Tensor((3,), 'float32'):
        @R.function
        def f(z: R.Tuple(R.Object, R.Tensor((3,), 'float33'))) -> R.Tensor((3,), 'float32'):
            y: R.Tensor((3,), 'float32') = z[1]
            return y
        y: R.Tensor((3,), 'float32') = f((x, x))
        return y
",
];

#[test]
fn what_depends_on_a_mistake_in_a_signature_is_silent() {
    let dir = TempDir::new().unwrap();
    let told = |functions: &str| {
        let text = format!("@I.ir_module\nclass Module:\n{functions}");
        let (_, out, _) = run(&["check", "--format", "json", &file(&dir, "signature.py", text)]);
        json_lines(&out)
    };
    for functions in SIGNATURES {
        let found = told(functions);
        let rules: Vec<&str> = found.iter().filter_map(|line| line["rule"].as_str()).collect();
        assert_eq!(rules, ["GRAM.DTYPE.FLOAT"], "{functions}");
        let found = told(&functions.replace("\n        y: ", "\n        w = x[0]\n        y: "));
        assert!(found.iter().any(|line| line["rule"] == "TC.TGI.NOTTUPLE"), "{functions}");
    }
}

#[test]
fn a_typo_is_told_with_the_nearest_name() {
    let dir = TempDir::new().unwrap();
    let text = "@R.function\ndef main(x: R.Tensor((3,), 'float32')):\n    y = R.nn.relux(x)\n    return y\n";
    let path = file(&dir, "typo.py", text);
    let (status, out, _) = run(&["check", &path]);
    assert_eq!(status, 1);
    assert!(
        out.contains("there is no operator `relax.nn.relux`") && out.contains("did you mean `relax.nn.relu`?"),
        "{out}"
    );
    assert!(out.contains("typo.py:3:9"), "{out}");
    let (status, out, _) = run(&["check", "--allow-unknown-ops", &path]);
    assert!(status == 0 && out.contains("warning[SI.DERIVE.CALL.OP-DEFAULT]"), "{out}");
    let (status, _, err) = run(&["run", &path, "--arg", "[1, 2, 3]:float32"]);
    assert!(status == 1 && err.contains("did you mean `relax.nn.relu`?"), "{err}");
    let wrong: [(&[&str], &str); 6] = [
        (&["explain", "SUB.TENSOR.RNK"], "`SUB.TENSOR.RANK`"),
        (&["errata", "AO1"], "`A01`"),
        (&["ops", "relax.nn.relux"], "`relax.nn.relu`"),
        (&["conform", "typechecking/*"], "`type_checking/*`"),
        (&["conform", "purity/local-literal-pur"], "`purity/local-literal-pure`"),
        (&["rules", "SI.UNFY."], "`SI.UNIFY.`"),
    ];
    for (args, meant) in wrong {
        let (status, _, err) = run(args);
        assert!(status != 0 && err.contains(&format!("did you mean {meant}?")), "{args:?}: {err}");
    }
    let text = "@R.function\ndef main(x: R.Tensor((3,), 'flaot32')):\n    return x\n";
    let (_, _, err) = run(&["check", &file(&dir, "dtype.py", text)]);
    assert!(err.contains("did you mean `float32`?"), "{err}");
}

#[test]
fn a_boxed_scalar_is_no_object_in_messages() {
    let dir = TempDir::new().unwrap();
    let text = "@R.function
def main(x: R.Tensor((3,), 'float32')) -> R.Object:
    a = R.prim_value(3)
    b = R.add(x, a)
    c = a[0]
    d = a(x)
    return x
";
    let (_, out, _) = run(&["check", &file(&dir, "prim.py", text)]);
    assert_eq!(out.matches("error[").count(), 3, "{out}");
    assert!(!out.contains("Object") && out.contains("Prim(int64, value=3)"), "{out}");
}

#[test]
fn a_file_that_cannot_be_started_is_a_fragment_unless_it_claims_to_be_a_program() {
    let dir = TempDir::new().unwrap();
    let text = "@R.function(private=True)\ndef f(x: R.Tensor((3,), 'float32')) -> R.Object:\n    return x\n";
    let path = file(&dir, "fragment.py", text);
    let (status, out, _) = run(&["check", &path]);
    assert!(status == 0 && out.contains("note:") && out.contains("WF.11"), "{out}");
    let (status, out, _) = run(&["check", "--program", &path]);
    assert!(status == 1 && out.contains("error[WF.11]"), "{out}");
    let text = text.replace("return x", "return x[0]");
    let (_, out, _) = run(&["check", &file(&dir, "wrong.py", text)]);
    assert!(out.contains("error[TC.TGI.NOTTUPLE]"), "{out}");
}

#[test]
fn functions_may_share_the_names_of_parameters() {
    let dir = TempDir::new().unwrap();
    let function =
        |name: &str| format!("@R.function\ndef {name}(x: R.Tensor(('n',), 'float32')) -> R.Object:\n    return x\n");
    let path = file(&dir, "shared.py", function("f") + &function("g"));
    let (status, out, _) = run(&["check", &path]);
    assert!(status == 0 && !out.contains("note:"), "{out}");
    let again = "@R.function\ndef f(x: R.Tensor((3,), 'float32')):\n    x = R.add(x, x)\n    return x\n";
    let (_, out, _) = run(&["check", &file(&dir, "again.py", again)]);
    assert!(out.matches("in the literal reading").count() == 1 && out.contains("WF.2.ONCE"), "{out}");
}

#[test]
fn a_function_type_needs_no_purity() {
    let (status, out, err) = run(&["judge", "lub", "Func((Object) -> Object)", "Func((Object) -> Object, impure)"]);
    assert_eq!((status, out.as_str()), (0, "Func((Object) -> Object, impure)\n"), "{err}");
}

#[test]
fn all_inputs_of_call_tir_may_be_in_a_variable() {
    let dir = TempDir::new().unwrap();
    let text = "@I.ir_module
class Module:
    @T.prim_func(private=True, s_tir=True)
    def minus(a: T.handle, b: T.handle, c: T.handle):
        A = T.match_buffer(a, (2,), 'float32')
        B = T.match_buffer(b, (2,), 'float32')
        C = T.match_buffer(c, (2,), 'float32')
        for i in range(2):
            with T.sblock('C'):
                v = T.axis.spatial(2, i)
                C[v] = A[v] - B[v]
    @R.function
    def main(x: R.Tensor((2,), 'float32'), y: R.Tensor((2,), 'float32')) -> R.Object:
        cls = Module
        t = TUPLE
        z = R.call_tir(cls.minus, t, out_sinfo=R.Tensor((2,), 'float32'))
        return z
    @R.function(private=True)
    def pair(x: R.Tensor((2,), 'float32'), y: R.Tensor((2,), 'float32')) -> R.Tuple(R.Tensor((2,), 'float32'), R.Tensor((2,), 'float32')):
        return (x, y)
";
    // The call gives a tuple, although this is not visible at that place.
    for tuple in ["(x, y)", "cls.pair(x, y)"] {
        let path = file(&dir, "tuple.py", text.replace("TUPLE", tuple));
        let (_, json, _) = run(&["convert", &path, "--to", "json"]);
        for path in [path, file(&dir, "tuple.json", json)] {
            let (status, out, err) = run(&["run", &path, "--arg", "[5, 7]:float32", "--arg", "[1, 2]:float32"]);
            assert_eq!((status, out.trim()), (0, "[4.0, 5.0]:float32"), "{err}");
        }
    }
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
