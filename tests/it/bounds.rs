//! Endless inputs: devices and pipes in place of a file or a line, and processes that never stop. Each ends with an
//! error message.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use tempfile::TempDir;

/// Runs the command on an endless input, with limits of memory and time.
fn ended(args: &[&str], input: &str, seconds: u64) -> (Option<i32>, String) {
    let dir = TempDir::new().unwrap();
    let (out, err) = (dir.path().join("out"), dir.path().join("err"));
    let mut command = Command::new(env!("CARGO_BIN_EXE_relax-spec"));
    command.args(args).stdin(fs::File::open(input).unwrap());
    command.stdout(fs::File::create(&out).unwrap()).stderr(fs::File::create(&err).unwrap());
    let mut child = command.spawn().unwrap();
    let start = Instant::now();
    loop {
        if let Some(status) = child.try_wait().unwrap() {
            return (status.code(), fs::read_to_string(&err).unwrap_or_default());
        }
        let status = fs::read_to_string(format!("/proc/{}/status", child.id())).unwrap_or_default();
        let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
        let most: u64 = line.and_then(|line| line.trim().strip_suffix("kB")?.trim().parse().ok()).unwrap_or(0);
        if most > 300 << 10 || start.elapsed() > Duration::from_secs(seconds) {
            child.kill().unwrap();
            child.wait().unwrap();
            panic!("{args:?}: after {:?} it takes up {most} kB", start.elapsed());
        }
        thread::sleep(Duration::from_millis(5));
    }
}

#[test]
fn lines_without_end_are_refused() {
    for (args, status) in [
        (&["adapter"][..], 3),
        (&["adapter", "--engine", "vm"], 3),
        (&["judge", "lub", "--stdin"], 2),
        (&["vm", "answer"], 2),
    ] {
        let (found, err) = ended(args, "/dev/zero", 60);
        assert!(found == Some(status) && err.contains("a line of more than"), "{args:?}: {found:?} {err}");
    }
}

fn pipe(at: &Path) {
    assert!(Command::new("mkfifo").arg(at).status().unwrap().success());
}

#[test]
fn where_a_file_is_meant_nothing_else_is_opened() {
    let dir = TempDir::new().unwrap();
    let at = |name: &str| dir.path().join(name).display().to_string();
    pipe(&dir.path().join("pipe.py"));
    pipe(&dir.path().join("pipe.json"));
    fs::write(dir.path().join("good.py"), "@R.function\ndef main(x: R.Tensor((3,), \"float32\")):\n    return x\n")
        .unwrap();
    let dir_name = dir.path().display().to_string();
    let (found, err) = ended(&["check", &dir_name], "/dev/null", 30);
    assert_eq!(found, Some(0), "{err}");
    let suite = dir.path().join("suite");
    fs::create_dir(&suite).unwrap();
    pipe(&suite.join("pipe.ron"));
    fs::create_dir(dir.path().join("out")).unwrap();
    pipe(&dir.path().join("out/lock"));
    for args in [
        &["check", &at("pipe.py")][..],
        &["check", "/dev/zero"],
        &["run", &at("good.py"), "--arg", &format!("@{}", at("pipe.json"))],
        &["run", &at("pipe.json")],
        &["vm", "run", &at("pipe.json")],
        &["explain", &at("suite/pipe.ron")],
        &["conform", "--suite", &suite.display().to_string()],
        &["conform", &at("suite/pipe.ron")],
        &["fuzz", "--adapter", "builtin:evaluator", "--expect", &at("pipe.json")],
        &["fuzz", "--adapter", "builtin:evaluator", "--runs", "1", "--out", &at("out")],
        &["conform", "types/sub-rank", "--expect", "/dev/zero"],
        &["conform", "types/sub-rank", "--expect", &at("pipe.json")],
        &["promote", &at("pipe.json"), "--id", "a/b"],
        &["reproduce", &at("pipe.json")],
    ] {
        let (found, err) = ended(args, "/dev/null", 30);
        assert!(found == Some(2) && err.contains("it is no file"), "{args:?}: {found:?} {err}");
    }
}

#[test]
fn what_is_no_id_is_no_case() {
    for id in ["name", "", "a/", "/b", "a b/c", "../x", "a/\u{202e}b"] {
        let (found, err) = ended(&["promote", "nowhere.json", "--id", id], "/dev/null", 30);
        assert!(found == Some(2) && err.contains("is no id of a case"), "{id}: {err}");
    }
}

/// An adapter in Python.
fn conform(script: &str) -> (Option<i32>, String, String) {
    let dir = TempDir::new().unwrap();
    let path = dir.path().join("adapter.py");
    fs::write(&path, script).unwrap();
    let adapter = format!("python3 -S -E {}", path.display());
    let output = Command::new(env!("CARGO_BIN_EXE_relax-spec"))
        .args(["conform", "types/glb-eq", "types/lub-eq", "--report", "jsonl", "-j", "1", "--timeout", "1"])
        .args(["--adapter", &adapter])
        .stdin(Stdio::null())
        .output()
        .unwrap();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (output.status.code(), text(&output.stdout), text(&output.stderr))
}

const GREETING: &str = r#"
import json, sys
def say(**what): print(json.dumps(what), flush=True)
sys.stdin.readline()
def hello(id): say(id=id, protocol=1, implementation={"name": "x"}, capabilities=["glb", "lub"])
"#;

#[test]
fn a_greeting_answers_the_first_line() {
    let (status, _, err) = conform(&format!("{GREETING}\nhello(7)\nsys.stdin.read()\n"));
    assert!(status == Some(3) && err.contains("a greeting answers question 0, this one 7"), "{status:?} {err}");
}

#[test]
fn an_answer_to_the_question_before_is_no_answer_and_not_flaky() {
    let script = format!(
        "{GREETING}\nhello(0)\nfor line in sys.stdin:\n    q = json.loads(line)\n    if 'id' in q: say(id=max(1, q['id'] - 1), outcome='unsupported', what='x')\n"
    );
    let (_, out, _) = conform(&script);
    assert!(out.contains("protocol_error") && !out.contains("flaky"), "{out}");
}

/// A program that stands for a Python.
fn python(dir: &TempDir, does: &str) -> PathBuf {
    use std::os::unix::fs::PermissionsExt as _;

    let python = dir.path().join("python");
    fs::write(&python, format!("#!/bin/sh\nexec {does}\n")).unwrap();
    fs::set_permissions(&python, fs::Permissions::from_mode(0o755)).unwrap();
    python
}

#[test]
fn a_python_that_never_stops_is_ended() {
    let dir = TempDir::new().unwrap();
    let adapter = format!("tvm@{}", python(&dir, "yes").display());
    let (found, err) = ended(&["conform", "types/glb-eq", "--adapter", &adapter], "/dev/null", 30);
    assert!(found == Some(3), "{found:?} {err}");
}

/// A Python has the time to start that an adapter has, by whichever way it is named.
#[test]
fn a_python_that_sleeps_has_the_time_to_start() {
    let dir = TempDir::new().unwrap();
    let python = python(&dir, "sleep 600");
    for adapter in [format!("tvm@{}", python.display()), "tvm@0.25".to_string()] {
        let mut command = Command::new(env!("CARGO_BIN_EXE_relax-spec"));
        command.args(["conform", "types/glb-eq", "--adapter", &adapter, "--startup-timeout", "0.5"]);
        command.env("RELAX_SPEC_PYTHON", &python).env("RELAX_SPEC_CACHE", dir.path().join("cache"));
        let started = Instant::now();
        let output = command.output().unwrap();
        let err = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.code() == Some(3) && err.contains("within 0.5 s"), "{adapter}: {err}");
        assert!(started.elapsed() < Duration::from_secs(20), "{adapter}: {:?}", started.elapsed());
    }
}

/// An adapter with this answer, and the questions that it answers.
fn adapter(dir: &TempDir, ops: &str, answer: &str) -> String {
    let greeting = GREETING.replace(r#"["glb", "lub"]"#, ops);
    let lines = "for line in sys.stdin:\n    q = json.loads(line)\n    if 'id' in q: ";
    let path = dir.path().join("adapter.py");
    fs::write(&path, format!("{greeting}\nhello(0)\n{lines}{answer}\n")).unwrap();
    format!("python3 -S -E {}", path.display())
}

fn json_lines(text: &str) -> Vec<serde_json::Value> {
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// A report of long answers is complete and needs little memory.
#[test]
fn what_is_kept_of_answers_is_bounded() {
    let types = r#"["glb", "lub", "subtype", "erase"]"#;
    let effect = r#"{'Print': [{'Tensor': {'bits': '00000040', 'dtype': 'float32', 'shape': []}}]}"#;
    for (cases, ops, said) in [
        ("types/*", types, "say(id=q['id'], outcome='internal_error', message='x' * 500000)"),
        (
            "types/*",
            types,
            "say(id=q['id'], outcome='rejected', stage='s' * 500000, **{'class': 'c'}, message='(' * 500000)",
        ),
        (
            "evaluation/*",
            r#"["evaluate"]"#,
            &format!("say(id=q['id'], outcome='answer', answer={{'Returns': [{{'Tuple': []}}, [{effect}] * 2000]}})"),
        ),
    ] {
        let dir = TempDir::new().unwrap();
        let adapter = adapter(&dir, ops, said);
        let report = dir.path().join("report.jsonl");
        let to = format!("jsonl={}", report.display());
        let (status, err) =
            ended(&["conform", cases, "--adapter", &adapter, "-j", "1", "--report", &to], "/dev/null", 120);
        assert_eq!(status, Some(1), "{said}: {err}");
        let lines = json_lines(&fs::read_to_string(report).unwrap());
        // The header and the footer are lines too.
        assert_eq!(lines.last().unwrap()["cases"], lines.len() - 2, "{said}");
        let asked = lines.iter().filter(|line| line["type"] == "case" && line["verdict"] != "unsupported");
        assert!(asked.clone().count() > 10, "{said}");
        for line in asked {
            let line = line.to_string();
            assert!(
                line.len() < 30_000 && (line.contains("more bytes") || line.contains("not kept")),
                "{said}: {line}"
            );
        }
    }
}

/// The test of a report that is written line by line.
#[test]
fn a_run_that_is_killed_leaves_what_it_had() {
    for to_file in [true, false] {
        let dir = TempDir::new().unwrap();
        let adapter = adapter(
            &dir,
            r#"["glb", "lub"]"#,
            "say(id=q['id'], outcome='internal_error', message='no') if q['id'] < 4 else sys.stdin.read()",
        );
        let (report, out) = (dir.path().join("report.jsonl"), dir.path().join("out"));
        fs::write(&report, "old").unwrap();
        let to = if to_file { format!("jsonl={}", report.display()) } else { "jsonl".to_string() };
        let mut command = Command::new(env!("CARGO_BIN_EXE_relax-spec"));
        command.args(["conform", "types/glb-*", "--adapter", &adapter, "-j", "1", "--report", &to]);
        let mut child = command.stdin(Stdio::null()).stdout(fs::File::create(&out).unwrap()).spawn().unwrap();
        let written = if to_file { &report } else { &out };
        let start = Instant::now();
        while fs::read_to_string(written).unwrap().lines().count() < 4 && start.elapsed() < Duration::from_secs(60) {
            thread::sleep(Duration::from_millis(10));
        }
        child.kill().unwrap();
        child.wait().unwrap();
        let lines = json_lines(&fs::read_to_string(written).unwrap());
        let (header, cases) = lines.split_first().unwrap();
        assert_eq!(header["type"], "header");
        assert!(cases.len() == 3 && cases.iter().all(|line| line["verdict"] == "internal_error"), "{lines:?}");
        // Pages are made of it all the same.
        let kept = dir.path().join("kept.jsonl");
        fs::copy(written, &kept).unwrap();
        let page = dir.path().join("page.html");
        let to = format!("html={}", page.display());
        let mut command = Command::new(env!("CARGO_BIN_EXE_relax-spec"));
        let status = command.args(["report", "merge"]).arg(&kept).args(["--report", &to]).status().unwrap();
        assert_eq!(status.code(), Some(5));
        assert!(fs::read_to_string(&page).unwrap().contains("stopped early"));
    }
}

/// Whether the process whose number is in the file ends soon.
fn ends(pids: &Path) -> bool {
    let pids = fs::read_to_string(pids).unwrap_or_default();
    let runs = |pid: &str| {
        let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
        stat.rsplit(") ").next().is_some_and(|rest| !rest.is_empty() && !rest.starts_with(['Z', 'X']))
    };
    let start = Instant::now();
    while pids.lines().any(runs) && start.elapsed() < Duration::from_secs(10) {
        thread::sleep(Duration::from_millis(20));
    }
    pids.lines().count() > 0 && !pids.lines().any(runs)
}

#[test]
fn what_an_adapter_starts_in_a_session_of_its_own_ends_with_it() {
    for is_killed in [false, true] {
        let dir = TempDir::new().unwrap();
        let pids = dir.path().join("pids");
        let script = format!(
            "read -r line\necho '{}'\nread -r line\nsetsid sleep 1000 &\necho $! >> {pids}\n\
             setsid sh -c 'setsid sleep 1000 & echo $! >> {pids}'\nsleep 1000\n",
            r#"{"id":0,"protocol":1,"implementation":{"name":"x"},"capabilities":["glb"]}"#,
            pids = pids.display()
        );
        fs::write(dir.path().join("adapter.sh"), script).unwrap();
        let adapter = format!("sh {}", dir.path().join("adapter.sh").display());
        let mut command = Command::new(env!("CARGO_BIN_EXE_relax-spec"));
        command.args(["conform", "types/glb-eq", "--adapter", &adapter, "-j", "1"]);
        command.args(["--timeout", if is_killed { "600" } else { "2" }]).stdin(Stdio::null()).stdout(Stdio::null());
        let mut child = command.spawn().unwrap();
        let (start, two) = (Instant::now(), || fs::read_to_string(&pids).is_ok_and(|pids| pids.lines().count() >= 2));
        while !two() && start.elapsed() < Duration::from_secs(60) {
            thread::sleep(Duration::from_millis(20));
        }
        if is_killed {
            child.kill().unwrap();
        }
        child.wait().unwrap();
        assert!(ends(&pids), "killed: {is_killed}");
    }
}

#[test]
fn what_there_is_no_memory_for_is_not_a_matter_of_steps() {
    let dir = TempDir::new().unwrap();
    let path = dir.path().join("large.py");
    for value in [
        "R.ones(R.shape([1000000000000]), dtype=\"float32\")",
        "R.zeros(R.shape([1000000, 1000000]), dtype=\"int8\")",
        "R.full(R.shape([1000000000000]), R.const(1, \"float32\"))",
        "R.broadcast_to(R.const(1, \"float32\"), R.shape([1000000000000]))",
        "R.tile(R.const([1], \"float32\"), [1000000000000])",
        "R.arange(0, 1000000000000, 1, dtype=\"int64\")",
        "R.eye(1000000, 1000000, 0, dtype=\"float32\")",
        "R.matmul(R.ones((1000000, 1), \"float32\"), R.ones((1, 1000000), \"float32\"))",
    ] {
        fs::write(&path, format!("@R.function\ndef main():\n    y = {value}\n    return y\n")).unwrap();
        for engine in ["evaluator", "vm"] {
            let (found, err) = ended(&["run", &path.display().to_string(), "--engine", engine], "/dev/null", 30);
            assert!(found == Some(5) && err.contains("out of memory"), "{value} {engine}: {found:?} {err}");
        }
    }
}

#[test]
fn two_campaigns_into_one_directory_are_told() {
    let dir = TempDir::new().unwrap();
    let out = dir.path().join("out").display().to_string();
    let fuzz = |more: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_relax-spec"));
        command.args(["fuzz", "--adapter", "builtin:evaluator", "--out", &out]).args(more);
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
        command
    };
    let mut first = fuzz(&["--time", "10m"]).spawn().unwrap();
    let (start, lock) = (Instant::now(), dir.path().join("out/lock"));
    while fs::read_to_string(&lock).unwrap_or_default().is_empty() && start.elapsed() < Duration::from_secs(60) {
        thread::sleep(Duration::from_millis(20));
    }
    let second = fuzz(&["--runs", "1"]).output().unwrap();
    let err = String::from_utf8_lossy(&second.stderr).into_owned();
    let told = format!("another campaign (process {}) keeps its findings there", first.id());
    first.kill().unwrap();
    first.wait().unwrap();
    assert!(second.status.code() == Some(2) && err.contains(&told), "{err}");
    let third = fuzz(&["--runs", "1"]).output().unwrap();
    assert!(third.status.success(), "{}", String::from_utf8_lossy(&third.stderr));
}
