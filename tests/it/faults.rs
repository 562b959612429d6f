//! Implementations that crash, hang, flood and lie: the outcome of each fault, and the case that it is charged to.
//! Every other case has its own result, and no process is left.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Mutex;
use std::thread;
use std::time::{Duration, Instant};

use serde_json::Value;
use tempfile::TempDir;

/// The outcome of a fault.
#[derive(Clone, Copy)]
enum Comes {
    /// The case of `glb` has this verdict, with this text in its message, and all others have their own. The adapter
    /// was started this many times.
    To(&'static str, &'static str, usize),
    /// The same, but the next case is charged too, or instead.
    ToCases(&'static [(&'static str, &'static str)]),
    /// There is no fault.
    ToNothing,
    /// Nothing can be asked: exit status 3, with this text in the message.
    ToRefusal(&'static str),
    /// The implementation does not start again. The results until then are reported.
    ToAnEnd,
}

use Comes::{To, ToAnEnd, ToCases, ToNothing, ToRefusal};

const FAULTY: &str = "types/glb-eq";
/// The cases, in the order of the questions.
const CASES: [&str; 4] = ["types/erase-object", FAULTY, "types/lub-eq", "types/sub-rank"];

const FAULTS: &[(&str, Comes)] = &[
    ("none", ToNothing),
    // Faults of the greeting.
    ("greet-silence", ToRefusal("did not answer `hello` within")),
    ("greet-exit", ToRefusal("ended before it answered `hello` (exit status: 0)")),
    ("greet-exit-7", ToRefusal("(exit status: 7)")),
    ("greet-segv", ToRefusal("signal 11 (SIGSEGV)")),
    ("greet-garbage", ToRefusal("`Traceback of something`")),
    ("greet-empty-line", ToRefusal("broke the protocol on `hello`")),
    ("greet-not-utf8", ToRefusal("not UTF-8")),
    ("greet-long-line", ToRefusal("a line of more than 4096 bytes: `xxx")),
    ("greet-endless-line", ToRefusal("a line of more than 4096 bytes: `xxx")),
    ("greet-version", ToRefusal("speaks protocol 9")),
    ("greet-nobody", ToRefusal("implementation")),
    ("greet-array", ToRefusal("broke the protocol on `hello`")),
    ("greet-null", ToRefusal("broke the protocol on `hello`")),
    ("greet-text-protocol", ToRefusal("broke the protocol on `hello`")),
    ("greet-part", ToRefusal("in the middle of a line: `{\"id\":0,\"proto`")),
    ("greet-deep", ToRefusal("broke the protocol on `hello`")),
    ("greet-mark", ToRefusal("\\u{feff}")),
    ("greet-flood", ToRefusal("`noise`")),
    ("greet-closed", ToRefusal("closed its output")),
    ("greet-escape", ToRefusal("`\\u{1b}]0;title\\u{7}\\u{202e}`")),
    ("greet-stray", ToCases(&[("types/erase-object", "hello there")])),
    ("greet-twice", ToCases(&[("types/erase-object", "a line about question 0")])),
    ("no-capabilities", ToNothing),
    // The process ends.
    ("crash-exit-0", To("crash", "exit status: 0", 3)),
    ("crash-exit-7", To("crash", "exit status: 7", 3)),
    ("crash-segv", To("crash", "signal 11 (SIGSEGV)", 3)),
    ("crash-abort", To("crash", "signal 6 (SIGABRT)", 3)),
    ("crash-kill", To("crash", "signal 9 (SIGKILL)", 3)),
    ("crash-term", To("crash", "signal 15 (SIGTERM)", 3)),
    ("crash-in-stage", To("crash", "during compile", 3)),
    ("crash-with-words", To("crash", "exit status: 1", 3)),
    ("crash-in-line", To("crash", "in the middle of a line: `{\"id\":`", 3)),
    ("crash-output-held", To("crash", "exit status: 3", 3)),
    ("crash-once", To("flaky", "", 2)),
    ("crash-for-good", ToAnEnd),
    ("crash-after-stray", To("protocol_error", "`Segmentation fault`", 2)),
    ("closed-output", To("crash", "closed its output", 3)),
    // The process does not end.
    ("hang", To("timeout", "", 3)),
    ("hang-in-stage", To("timeout", "compile", 3)),
    ("hang-heartbeats", To("timeout", "compile", 3)),
    ("hang-heartbeat-flood", To("timeout", "compile", 3)),
    ("hang-grandchild", To("timeout", "", 3)),
    ("hang-unstoppable", To("timeout", "", 3)),
    ("hang-stopped", To("timeout", "", 3)),
    ("hang-after-stray", To("protocol_error", "`noise`", 2)),
    // Additional output.
    ("stray-before", To("protocol_error", "`warning: slow`", 1)),
    ("stray-long-before", To("protocol_error", "`warning: slow`", 1)),
    ("stray-after", To("protocol_error", "`bye for now`", 1)),
    ("stray-empty", To("protocol_error", "not JSON", 1)),
    ("stray-not-utf8", To("protocol_error", "not UTF-8", 1)),
    ("stray-long-line", To("protocol_error", "more than 4096 bytes", 1)),
    ("stray-flood", To("protocol_error", "`noise`", 2)),
    ("hang-in-line", To("protocol_error", "more than 4096 bytes", 2)),
    ("stray-escape", To("protocol_error", "`\\u{1b}[2J\\u{202e}`", 1)),
    // Lines that are not replies.
    ("garbage", To("protocol_error", "`garbage`", 1)),
    ("truncated", To("protocol_error", "not JSON", 1)),
    ("two-in-a-line", To("protocol_error", "not JSON", 1)),
    ("twice-a-key", To("protocol_error", "", 1)),
    ("nan", To("protocol_error", "NaN", 1)),
    ("half-a-character", To("protocol_error", "ud800", 1)),
    ("deep", To("protocol_error", "not JSON", 1)),
    ("wide", To("protocol_error", "`glb`", 1)),
    // Replies that do not belong to the question.
    ("id-other", To("protocol_error", "999999", 1)),
    ("id-negative", To("protocol_error", "an `id`", 1)),
    ("id-text", To("protocol_error", "an `id`", 1)),
    ("id-none", To("protocol_error", "an `id`", 1)),
    ("id-huge", To("protocol_error", "an `id`", 1)),
    ("id-fraction", To("protocol_error", "an `id`", 1)),
    ("id-of-greeting", To("protocol_error", "", 1)),
    ("id-next", ToCases(&[(FAULTY, "a line about question 3"), ("types/lub-eq", "before it was asked")])),
    ("stage-other", To("protocol_error", "a line about question 999", 1)),
    ("stage-number", To("protocol_error", "`stage`", 1)),
    ("stage-after", To("protocol_error", "after its answer", 1)),
    ("early", ToCases(&[("types/lub-eq", "question 3 was answered before it was asked")])),
    ("twice", To("protocol_error", "after its answer", 1)),
    ("thrice", To("protocol_error", "after its answer", 1)),
    ("twice-another", To("protocol_error", "after its answer", 1)),
    ("twice-late", To("protocol_error", "after its answer", 1)),
    ("end-twice", To("protocol_error", "after its answer", 1)),
    // Replies without a valid answer.
    ("answer-of-another-kind", To("protocol_error", "`glb`", 1)),
    ("answer-missing", To("protocol_error", "`answer`", 1)),
    ("answer-warnings", To("protocol_error", "NO.SUCH.RULE", 1)),
    ("outcome-unknown", To("protocol_error", "frobnicated", 1)),
    ("outcome-missing", To("protocol_error", "`outcome`", 1)),
    ("outcome-number", To("protocol_error", "", 1)),
    ("effects-wrong", To("protocol_error", "", 1)),
    ("internal-error", To("internal_error", "red", 1)),
    // Unusual behaviour without a fault.
    ("carriage-return", ToNothing),
    ("spaces", ToNothing),
    ("more-fields", ToNothing),
    ("words-flood", ToNothing),
    ("words-endless", ToNothing),
    ("pieces", ToNothing),
    ("end-hang", ToNothing),
    ("end-grandchild", ToNothing),
    ("end-exit-9", ToNothing),
    // Output that belongs to no question is charged to the last one.
    ("end-flood", ToCases(&[("types/sub-rank", "noise")])),
];

/// A run against the adapter with a fault.
struct Trial {
    status: Option<i32>,
    lines: Vec<Value>,
    err: String,
    starts: usize,
}

fn conform(fault: &str, dir: &TempDir, report: &str) -> Command {
    let adapter = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/faults/adapter.py");
    let adapter = format!("python3 -S -E '{adapter}' {fault} '{}'", dir.path().display());
    // With a time limit, it is reached twice.
    let (timeout, startup) = match fault {
        "hang-until-told" => ("60", "60"),
        _ if fault.starts_with("hang") => ("1", "60"),
        "greet-silence" => ("60", "1"),
        _ => ("60", "60"),
    };
    let max_reply = if ["deep", "wide"].contains(&fault) { "64M" } else { "4K" };
    let mut command = Command::new(env!("CARGO_BIN_EXE_relax-spec"));
    command.arg("conform").args(CASES).args(["--adapter", &adapter, "--report", report, "-j", "1"]);
    command.args(["--max-reply", max_reply, "--timeout", timeout, "--startup-timeout", startup]);
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

fn try_fault(fault: &str) -> Result<(), String> {
    let dir = TempDir::new().map_err(|error| error.to_string())?;
    let output = conform(fault, &dir, "jsonl").output().map_err(|error| error.to_string())?;
    let lines = String::from_utf8_lossy(&output.stdout);
    let lines = lines.lines().map(serde_json::from_str).collect::<Result<Vec<Value>, _>>();
    let err = String::from_utf8_lossy(&output.stderr).into_owned();
    let pids = nothing_left(dir.path())?;
    let starts = pids.iter().filter(|pid| pid.starts_with("start")).count();
    Trial { status: output.status.code(), lines: lines.map_err(|error| error.to_string())?, err, starts }.come(fault)
}

/// The processes that were started. All must have ended.
fn nothing_left(dir: &Path) -> Result<Vec<String>, String> {
    let pids = fs::read_to_string(dir.join("pids")).unwrap_or_default();
    let deadline = Instant::now() + Duration::from_secs(10);
    for line in pids.lines() {
        let pid = line.trim_start_matches("start ");
        while runs(pid) {
            if Instant::now() > deadline {
                return Err(format!("process {pid} is left"));
            }
            thread::sleep(Duration::from_millis(20));
        }
    }
    Ok(pids.lines().map(str::to_string).collect())
}

/// Whether a process runs. A zombie does not.
fn runs(pid: &str) -> bool {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    stat.rsplit(") ").next().is_some_and(|rest| !rest.is_empty() && !rest.starts_with(['Z', 'X']))
}

impl Trial {
    fn come(&self, fault: &str) -> Result<(), String> {
        let (_, comes) = FAULTS.iter().find(|(name, _)| *name == fault).ok_or("no such fault")?;
        match comes {
            // It answers no question, and reports this for each.
            ToNothing => self.hold(&[], 4, 1),
            To(verdict, text, starts) => self.hold(&[(FAULTY, verdict, text)], 1, *starts),
            ToCases(charged) => {
                let charged: Vec<_> = charged.iter().map(|(case, text)| (*case, "protocol_error", *text)).collect();
                self.hold(&charged, 1, 1)
            }
            ToRefusal(text) => {
                self.demand(self.status == Some(3), "exit status 3")?;
                self.demand(self.lines.is_empty(), "no report")?;
                self.demand(self.err.contains(text), text)
            }
            ToAnEnd => {
                self.demand(self.status == Some(3), "exit status 3")?;
                let verdicts = self.verdicts();
                let is = |case: &str, verdict: &str| verdicts.get(case).is_some_and(|(found, _)| found == verdict);
                self.demand(is(CASES[0], "unsupported") && is(FAULTY, "crash"), "a report")?;
                self.demand(self.summary()["stopped"] == true, "an end before its time")
            }
        }
    }

    /// Checks that exactly these cases are charged, and all others have their own results.
    fn hold(&self, charged: &[(&str, &str, &str)], status: i32, starts: usize) -> Result<(), String> {
        let verdicts = self.verdicts();
        for case in CASES {
            let (verdict, message) = verdicts.get(case).ok_or_else(|| format!("no result of {case}: {}", self.err))?;
            match charged.iter().find(|(charged, ..)| *charged == case) {
                None => self.demand(verdict == "unsupported", &format!("{case} as it is"))?,
                Some((_, expected, text)) => {
                    self.demand(verdict == expected, &format!("{case}: {expected}"))?;
                    self.demand(message.contains(text), &format!("{case}: {text}"))?;
                }
            }
        }
        self.demand(self.summary()["stopped"] == false, "a run to the end")?;
        self.demand(self.status == Some(status), &format!("exit status {status}"))?;
        self.demand(self.starts == starts, &format!("{starts} processes, not {}", self.starts))
    }

    fn demand(&self, holds: bool, what: &str) -> Result<(), String> {
        if holds { Ok(()) } else { Err(format!("not {what}: {:?} {:?} {}", self.status, self.verdicts(), self.err)) }
    }

    fn summary(&self) -> &Value {
        self.lines.last().unwrap_or(&Value::Null)
    }

    /// The verdicts by case, with the messages.
    fn verdicts(&self) -> BTreeMap<String, (String, String)> {
        let of_cases = self.lines.iter().filter(|line| line["type"] == "case");
        let text = |value: &Value| value.as_str().unwrap_or_default().to_string();
        of_cases.map(|line| (text(&line["case"]), (text(&line["verdict"]), text(&line["message"])))).collect()
    }
}

#[test]
fn every_fault_is_charged_to_its_case_and_leaves_no_process() {
    let start = Instant::now();
    let left = Mutex::new(FAULTS.iter().map(|(fault, _)| *fault).collect::<Vec<&str>>());
    let wrong = Mutex::new(Vec::new());
    // Most of them wait most of the time.
    thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| {
                loop {
                    let Some(fault) = left.lock().unwrap().pop() else { return };
                    if let Err(message) = try_fault(fault) {
                        wrong.lock().unwrap().push(format!("{fault}: {message}"));
                    }
                }
            });
        }
    });
    let wrong = wrong.into_inner().unwrap();
    assert!(wrong.is_empty(), "{} of {}:\n{}", wrong.len(), FAULTS.len(), wrong.join("\n"));
    assert!(FAULTS.len() >= 60 && start.elapsed() < Duration::from_secs(120), "{:?}", start.elapsed());
}

/// Sends a signal to a run that hangs in its second question.
fn interrupted(signals: &[&str]) -> (Option<i32>, String, TempDir) {
    let dir = TempDir::new().unwrap();
    let child = conform("hang-until-told", &dir, "jsonl").spawn().unwrap();
    let deadline = Instant::now() + Duration::from_secs(60);
    let pids = || fs::read_to_string(dir.path().join("pids")).unwrap_or_default();
    while pids().lines().count() < 2 && Instant::now() < deadline {
        thread::sleep(Duration::from_millis(20));
    }
    for signal in signals {
        let sent = Command::new("kill").args([*signal, &child.id().to_string()]).status().unwrap();
        assert!(sent.success());
    }
    let output = child.wait_with_output().unwrap();
    assert_eq!(nothing_left(dir.path()).unwrap().len(), 2, "{}", String::from_utf8_lossy(&output.stderr));
    (output.status.code(), String::from_utf8_lossy(&output.stdout).into_owned(), dir)
}

#[test]
fn a_run_that_is_told_to_end_reports_what_it_has_found() {
    for signal in ["-INT", "-TERM"] {
        let (status, out, _dir) = interrupted(&[signal]);
        assert_eq!(status, Some(5), "{signal}");
        assert!(out.contains("types/erase-object") && out.contains("\"stopped\":true"), "{out}");
    }
}

#[test]
fn a_run_that_is_killed_leaves_no_process() {
    assert_eq!(interrupted(&["-KILL"]).0, None);
    interrupted(&["-INT", "-INT"]);
}

#[test]
fn what_strangers_write_is_shown_and_not_obeyed() {
    for (fault, report) in ["internal-error", "stray-escape"]
        .iter()
        .flat_map(|fault| ["human", "md", "html", "junit"].map(|report| (fault, report)))
    {
        let dir = TempDir::new().unwrap();
        let output = conform(fault, &dir, report).output().unwrap();
        let text = String::from_utf8(output.stdout).unwrap();
        assert!(!text.contains(relax_spec::grammar::is_hidden), "{fault} {report}: {text:?}");
        assert!(text.contains("202e"), "{fault} {report}: {text}");
    }
}
