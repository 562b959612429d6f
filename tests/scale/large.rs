//! The full check of large programs: time proportional to the program, and limited memory.

use std::fmt::Write as _;
use std::thread;
use std::time::{Duration, Instant};

use relax_spec::check::check_program;
use relax_spec::grammar::IrModule;
use relax_spec::judge::Cx;
use relax_spec::syntax::load::{ExternalForm, parse};
use relax_spec::syntax::tvmscript::parse_module;
use relax_spec::vm;

const BINDINGS: usize = 100_000;

/// The memory limit for a check of [`BINDINGS`] bindings.
const MEMORY: u64 = 2 << 30;

/// A chain of additions in one dataflow block.
fn program(bindings: usize) -> String {
    let mut text = String::from(
        "@I.ir_module\nclass Module:\n    @R.function\n    def main(x: R.Tensor((\"n\", 4), \"float32\")) -> \
         R.Tensor((\"n\", 4), \"float32\"):\n        with R.dataflow():\n            v0 = R.add(x, x)\n",
    );
    for i in 1..bindings {
        let _ = writeln!(text, "            v{i} = R.add(v{}, x)", i - 1);
    }
    let _ = writeln!(text, "            y = R.add(v{}, x)\n            R.output(y)\n        return y", bindings - 1);
    text
}

/// Reads a program and checks its well-formedness, normal form, types and structural information.
fn time(bindings: usize) -> Duration {
    let text = program(bindings);
    let start = Instant::now();
    let report = check_program(&mut Cx::new(), &parse_module(&text).unwrap());
    assert!(report.accepts());
    start.elapsed()
}

/// A body of nested `If`s, which is very far from normal form.
fn nested(depth: usize) -> String {
    let open = r#"{"If": {"cond": {"Var": "c"}, "false_branch": {"Var": "x"}, "true_branch": "#.repeat(depth);
    let close = "}}".repeat(depth);
    format!(
        r#"{{"funcs": [["main", {{"Function": {{"params": [
            {{"var": "x", "annotation": {{"Tensor": {{"shape": [2], "dtype": "float32"}}}}}},
            {{"var": "c", "annotation": {{"Tensor": {{"shape": [], "dtype": "bool"}}}}}}],
            "attrs": {{"global_symbol": {{"Str": "main"}}}}, "body": {open}{{"Var": "x"}}{close}}}}}]]}}"#
    )
}

/// Checks a program that was read before.
fn time_nested(depth: usize) -> Duration {
    let module = parse(ExternalForm::Json, &nested(depth)).unwrap();
    let start = Instant::now();
    assert!(check_program(&mut Cx::new(), &module).accepts());
    start.elapsed()
}

#[test]
fn deep_programs_take_linear_time() {
    let work = || {
        let eighth = time_nested(500).min(time_nested(500)).max(Duration::from_millis(20));
        // The program is eight times as deep. With a path for each level it would take sixty-four times as long. The
        // second attempt is for a busy machine.
        let limit = eighth * 24;
        let whole = time_nested(4_000);
        let whole = if whole > limit { time_nested(4_000) } else { whole };
        assert!(whole <= limit, "{whole:?} where an eighth takes {eighth:?}");
    };
    // Dropping deep trees needs stack.
    thread::Builder::new().stack_size(512 << 20).spawn(work).unwrap().join().unwrap();
}

/// A size of this process in bytes, if the system reports it.
fn size(of: &str) -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix(of)?.strip_prefix(':'))?;
    line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok().map(|kib| kib << 10)
}

#[test]
#[ignore = "alone: it measures the memory of its process"]
fn a_binding_that_was_read_and_checked_is_held_in_700_bytes() {
    let text = program(BINDINGS);
    let checked = || {
        let module = parse_module(&text).unwrap();
        assert!(check_program(&mut Cx::new(), &module).accepts());
        (module, size("RssAnon"))
    };
    // What the first leaves behind, the others take again. So they grow by what is held.
    let (modules, sizes): (Vec<IrModule>, Vec<Option<u64>>) = (0..4).map(|_| checked()).unzip();
    if let [_, Some(second), _, Some(last)] = sizes.as_slice() {
        let held = last.saturating_sub(*second) / 2 / BINDINGS as u64;
        println!("{held} bytes a binding");
        assert!(held <= 700, "{held}");
    }
    drop(modules);
}

#[test]
fn a_hundred_thousand_bindings_take_linear_time_and_little_memory() {
    let tenth = time(BINDINGS / 10).min(time(BINDINGS / 10));
    let mut whole = time(BINDINGS);
    // The program is ten times as long. A quadratic step would take a hundred times as long. A busy machine gets a
    // second attempt.
    let limit = tenth.max(Duration::from_millis(50)) * 30;
    if whole > limit {
        whole = time(BINDINGS);
    }
    assert!(whole <= limit, "{whole:?} for {BINDINGS} bindings, {tenth:?} for a tenth of them");
    if let Some(peak) = size("VmHWM") {
        assert!(peak < MEMORY, "{} MiB", peak >> 20);
    }
}

/// Compiles a program that was read before, and verifies the result.
fn time_to_build(bindings: usize) -> Duration {
    let module = parse_module(&program(bindings)).unwrap();
    let start = Instant::now();
    let executable = vm::build(&mut Cx::new(), &module);
    assert!(vm::verify(&executable).is_empty());
    start.elapsed()
}

#[test]
fn executables_are_built_in_linear_time() {
    let tenth = time_to_build(BINDINGS / 10).min(time_to_build(BINDINGS / 10));
    let limit = tenth.max(Duration::from_millis(50)) * 30;
    let mut whole = time_to_build(BINDINGS);
    if whole > limit {
        whole = time_to_build(BINDINGS);
    }
    assert!(whole <= limit, "{whole:?} for {BINDINGS} bindings, {tenth:?} for a tenth of them");
}
