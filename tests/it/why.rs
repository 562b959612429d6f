//! `relax-spec types --why`: the trace back to the place where known information is lost.

use std::process::Command;

const PROGRAM: &str = r#"
@I.ir_module
class Module:
    @R.function
    def helper(x: R.Tensor) -> R.Tensor(ndim=2):
        return x
    @R.function
    def main(x: R.Tensor(("n", 4), "float32")):
        a = R.add(x, x)
        b = Module.helper(a)
        c = R.exp(b)
        return c
"#;

fn why(line: usize) -> (Option<i32>, String, String) {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let file = dir.path().join("model.py");
    std::fs::write(&file, PROGRAM).expect("the file is written");
    let mut command = Command::new(env!("CARGO_BIN_EXE_relax-spec"));
    let out = command.args(["types", "--why", &line.to_string()]).arg(&file).output().expect("the command starts");
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (out.status.code(), text(&out.stdout), text(&out.stderr))
}

/// `c` is vague because `b` is. `b` is vague because the signature of `helper` says no more.
#[test]
fn the_chain_ends_where_it_is_lost() {
    let (status, out, err) = why(11);
    assert_eq!((status, &*err), (Some(0), ""));
    let lines: Vec<&str> = out.lines().collect();
    let heads: Vec<&str> = lines.iter().copied().filter(|line| !line.starts_with(' ')).collect();
    assert_eq!(heads, ["c: Tensor(ndim=2, void)  (line 11)", "b: Tensor(ndim=2, void)  (line 10)"], "{out}");
    assert!(out.contains("from helper: Func("), "{out}");
    assert!(lines.last().is_some_and(|line| line.contains("lost here")), "{out}");
    assert!(out.contains("by OPS.exp.infer"), "{out}");
}

#[test]
fn what_is_known_has_no_chain() {
    let (_, out, _) = why(9);
    assert!(out.starts_with("a: Tensor((n, 4), float32)  (line 9)\n") && !out.contains("lost"), "{out}");
}

#[test]
fn a_line_without_a_variable_is_told() {
    let (status, out, err) = why(2);
    assert_eq!((status, &*out), (Some(2), ""));
    assert!(err.contains("line 2 binds no variable; the nearest that does is line 5"), "{err}");
}
