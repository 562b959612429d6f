//! The command line, from outside: its output and its exit status.

mod book;
mod check;
mod conform;
mod externs;
mod judgements;
mod limits;
mod mistakes;
mod programs;
mod refine;

use std::fs;

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

/// `main(x) = x`.
const GOOD: &str = r#"{"funcs":[["main",{"Function":{"params":[{"var":"x","annotation":"Object"}],
    "body":{"SeqExpr":{"blocks":[],"body":{"Var":"x"}}},"ret_struct_info":"Object",
    "attrs":{"global_symbol":{"Str":"main"}}}}]]}"#;

/// `main(x) = y`.
const BAD: &str = r#"{"funcs":[["main",{"Function":{"params":[{"var":"x","annotation":"Object"}],
    "body":{"SeqExpr":{"blocks":[],"body":{"Var":"y"}}},"ret_struct_info":"Object",
    "attrs":{"global_symbol":{"Str":"main"}}}}]]}"#;
