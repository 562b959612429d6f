//! `refine`: functions that are not known, assumptions, and what stays undecided.

use tempfile::TempDir;

use super::{file, run};

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
