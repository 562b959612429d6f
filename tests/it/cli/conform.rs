//! How `conform` asks implementations, and what it tells of them.

use std::fs;

use tempfile::TempDir;

use super::{fake, file, json_lines, run};

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
fn a_case_that_ends_differently_when_it_is_asked_again_is_flaky() {
    // The adapter crashes as often as files are missing.
    for (crashes, retries, expected) in [(1, "1", "flaky"), (1, "0", "crash"), (2, "1", "crash"), (2, "2", "flaky")] {
        let dir = TempDir::new().unwrap();
        let mark = dir.path().join("mark");
        let crash = |n| format!("if [ ! -e {0}{n} ]; then touch {0}{n}; kill -SEGV $$; fi\n  ", mark.display());
        let body = (0..crashes).map(crash).collect::<String>() + fake::YES;
        let verdicts = fake::verdicts(&fake::adapter(&dir, &body), &["--retries", retries]);
        assert_eq!(verdicts[0].1, expected, "{crashes} crashes, {retries} retries: {verdicts:?}");
        let answers = ["agree", "diverge"];
        assert!(verdicts[1..].iter().all(|(_, verdict)| answers.contains(&verdict.as_str())), "{verdicts:?}");
    }
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
