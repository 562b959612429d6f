//! What a run may compute, hold and tell.

use std::path::Path;

use tempfile::TempDir;

use super::{file, run};

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

/// A chain of additions in one dataflow block.
fn chain(dir: &TempDir, bindings: usize) -> String {
    let lines: String = (1..bindings).map(|i| format!("            v{i} = R.add(v{}, x)\n", i - 1)).collect();
    let text = format!(
        "@I.ir_module\nclass Module:\n    @R.function\n    def main(x: R.Tensor((\"n\", 4), \"float32\")) -> \
         R.Tensor((\"n\", 4), \"float32\"):\n        with R.dataflow():\n            v0 = R.add(x, x)\n{lines}            \
         y = R.add(v{}, x)\n            R.output(y)\n        return y\n",
        bindings - 1
    );
    file(dir, "chain.py", text)
}

#[test]
#[cfg(target_os = "linux")]
fn a_binding_takes_at_most_1500_bytes() {
    const BINDINGS: usize = 100_000;
    let dir = TempDir::new().unwrap();
    let program = chain(&dir, BINDINGS);
    let memory = (1_500 * BINDINGS).to_string();
    for command in ["check", "normalize", "build"] {
        let (status, _, err) = run(&[command, &program, "--memory", &memory]);
        assert_eq!(status, 0, "{command}: {err}");
    }
    assert_eq!(run(&["check", &program, "--memory", "10M"]).0, 5);
}

#[test]
#[ignore = "long: a million bindings"]
fn a_million_bindings_are_within_the_defaults() {
    let dir = TempDir::new().unwrap();
    let program = chain(&dir, 1_000_000);
    for command in [&["check"][..], &["types"], &["normalize"], &["build"], &["convert", "--to", "json"]] {
        let (status, _, err) = run(&[command, &[&program]].concat());
        assert_eq!(status, 0, "{command:?}: {err}");
    }
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
