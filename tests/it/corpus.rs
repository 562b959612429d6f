//! Modules that TVM printed and saved. All can be read, and their printed form is the same module again.
//!
//! `conformance/corpus/tvm-VERSION` has small ones of each release. `tools/make_corpus.py` makes these and thousands
//! more. `RELAX_SPEC_CORPUS` names their directory for the test that is otherwise ignored.

use std::collections::HashMap;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use relax_spec::grammar::{GlobalFunc, IrModule};
use relax_spec::syntax::load::{self, ExternalForm};
use relax_spec::syntax::tvmscript::{Dialect, print_module};

/// A module with variables numbered by their first appearance in each function, and with functions sorted by name.
/// Neither numbers nor order are part of its meaning.
fn canonical(module: &IrModule) -> String {
    let mut funcs: Vec<_> = module.funcs.iter().collect();
    funcs.sort_by(|(a, _), (b, _)| a.name.cmp(&b.name));
    let mut out = format!("{:?} {:?}\n", module.attrs, module.global_infos);
    for (gv, func) in funcs {
        let _ = writeln!(out, "{}", gv.name);
        canonical_function(func, &mut out);
    }
    out
}

fn canonical_function(func: &GlobalFunc, out: &mut String) {
    let is_prim_func = matches!(func, GlobalFunc::PrimFunc(_));
    let mut numbers: HashMap<String, usize> = HashMap::new();
    // A name before a number identifies a variable. Any other name is meaningful by itself.
    let mut name: Option<String> = None;
    let mut kind = String::new();
    for line in format!("{func:#?}").lines().map(str::trim) {
        let mut number = |key: String| {
            let next = numbers.len();
            *numbers.entry(key).or_insert(next)
        };
        if ["start: ", "end: ", "hash: "].iter().any(|place| line.starts_with(place)) {
            continue;
        }
        if line.ends_with("Var {") {
            kind = line.trim_end_matches(" {").rsplit(' ').next().unwrap_or_default().to_string();
        }
        match (name.take(), line.strip_prefix("id: ")) {
            (Some(name), Some(id)) => {
                let _ = writeln!(out, "variable {}", number(format!("{kind} {name}{id}")));
                continue;
            }
            (Some(name), None) => {
                let _ = writeln!(out, "name {name}");
            }
            (None, _) => {}
        }
        match line.strip_prefix("name: ") {
            // A variable of a PrimFunc has only its name.
            Some(found) if is_prim_func => {
                let _ = writeln!(out, "name {}", number(found.to_string()));
            }
            Some(found) => name = Some(found.to_string()),
            None => {
                let _ = writeln!(out, "{line}");
            }
        }
    }
}

/// The first difference between two modules.
fn difference(a: &IrModule, b: &IrModule) -> Option<String> {
    let (a, b) = (canonical(a), canonical(b));
    let pair = a.lines().zip(b.lines()).find(|(a, b)| a != b);
    match pair {
        Some((a, b)) => Some(format!("{a} / {b}")),
        None => (a.len() != b.len()).then(|| "one of them is longer".to_string()),
    }
}

fn files(directory: &Path, extension: &str) -> Vec<PathBuf> {
    let entries = fs::read_dir(directory).unwrap_or_else(|error| panic!("{}: {error}", directory.display()));
    let paths = entries.map(|entry| entry.unwrap().path());
    let mut found: Vec<_> = paths.filter(|path| path.extension().is_some_and(|e| e == extension)).collect();
    found.sort();
    found
}

fn read(path: &Path) -> Result<IrModule, String> {
    let text = fs::read_to_string(path).map_err(|error| error.to_string())?;
    load::parse(ExternalForm::of(path, &text), &text).map_err(|error| error.to_string())
}

/// The faults in reading a directory of modules, by file, and the number of files.
fn complaints(directory: &Path, dialect: Dialect) -> (usize, Vec<String>) {
    let mut wrong = Vec::new();
    let mut count = 0;
    for path in files(directory, "py").into_iter().chain(files(directory, "json")) {
        count += 1;
        let mut complain = |what: String| wrong.push(format!("{}: {what}", path.display()));
        let module = match read(&path) {
            Ok(module) => module,
            Err(error) => {
                complain(error);
                continue;
            }
        };
        match load::parse(ExternalForm::TvmScript, &print_module(&module, dialect)) {
            Ok(again) => {
                if let Some(difference) = difference(&module, &again) {
                    complain(format!("printed and read again: {difference}"));
                }
            }
            Err(error) => complain(format!("printed and not read again: {error}")),
        }
        for form in [ExternalForm::Ron, ExternalForm::Json] {
            if load::parse(form, &load::write(form, &module)).ok().as_ref() != Some(&module) {
                complain(format!("{form:?} is another module"));
            }
        }
        let text = path.with_extension("py");
        if path.extension().is_some_and(|e| e == "json") && text.exists() {
            // A text that cannot be read has been reported already.
            if let Some(difference) = read(&text).ok().and_then(|printed| difference(&printed, &module)) {
                complain(format!("text and JSON: {difference}"));
            }
        }
    }
    (count, wrong)
}

#[test]
fn what_tvm_prints_and_saves() {
    let corpus = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../..")).join("conformance/corpus");
    for (version, dialect) in [("0.25", Dialect::Tvm025), ("0.26", Dialect::Tvm027), ("0.27", Dialect::Tvm027)] {
        let (count, wrong) = complaints(&corpus.join(format!("tvm-{version}")), dialect);
        assert!(count > 25, "{version}: only {count} files");
        assert!(wrong.is_empty(), "{version}:\n{}", wrong.join("\n"));
    }
}

/// The same test on a directory from `tools/make_corpus.py`.
#[test]
#[ignore = "needs RELAX_SPEC_CORPUS, the directory of a corpus"]
fn a_whole_corpus() {
    let directory = std::env::var("RELAX_SPEC_CORPUS").expect("RELAX_SPEC_CORPUS names a directory");
    let dialect = if directory.contains("0.25") { Dialect::Tvm025 } else { Dialect::Tvm027 };
    let (count, wrong) = complaints(Path::new(&directory), dialect);
    println!("{count} files, {} complaints", wrong.len());
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn two_modules_differ_by_what_they_call() {
    let calling = |name: &str, target: &str| {
        let text = format!(
            "@I.ir_module\nclass Module:\n    @R.function\n    def f(x: R.Object) -> R.Object:\n        return x\n\n    \
             @R.function\n    def g(x: R.Object) -> R.Object:\n        return x\n\n    @R.function\n    def main(x: R.Object) -> \
             R.Object:\n        R.func_attr({{\"target\": {target}(\"llvm\")}})\n        return Module.{name}(x)\n"
        );
        load::parse(ExternalForm::TvmScript, &text).unwrap()
    };
    assert_eq!(difference(&calling("f", "T.target"), &calling("f", "T.target")), None);
    assert!(difference(&calling("f", "T.target"), &calling("g", "T.target")).is_some());
}

#[test]
fn text_without_its_metadata() {
    let text = "@R.function\ndef f() -> R.Tensor((2,), 'float32'):\n    return metadata['relax.expr.Constant'][0]\n";
    let error = load::parse(ExternalForm::TvmScript, text).unwrap_err().to_string();
    assert!(error.contains("mod.script(show_meta=True)"), "{error}");
}

#[test]
fn a_name_is_one_variable() {
    let of = |body: &str| load::parse(ExternalForm::TvmScript, &format!("@R.function\n{body}"));
    let size = of(
        "def f(n: T.int64, x: R.Tensor((n,), 'float32')):\n    a: T.int64 = n + 1\n    return (a, R.shape([n, a]))\n",
    )
    .unwrap();
    let again = load::parse(ExternalForm::TvmScript, &print_module(&size, Dialect::Tvm027)).unwrap();
    assert_eq!(difference(&size, &again), None);
    let other = of("def f(n: T.int32, x: R.Tensor((n,), 'float32')):\n    return x\n").unwrap_err().to_string();
    assert!(other.contains("`n` is a variable here"), "{other}");
}

#[test]
fn a_tuple_among_the_arguments_is_no_information() {
    let of = |call: &str| {
        let text =
            format!("@R.function(pure=False)\ndef f(x: R.Tensor((2,), 'float32')):\n    y = {call}\n    return y\n");
        load::parse(ExternalForm::TvmScript, &text).unwrap_or_else(|error| panic!("{call}: {error}"))
    };
    let values = of("R.call_packed('f', x, R.Tuple(x, x))");
    assert_eq!(difference(&values, &of("R.call_packed('f', x, R.tuple(x, x))")), None);
    let infos = of("R.call_packed('f', x, R.Tuple(R.Tensor((2,), 'float32'), R.Object))");
    let named = of("R.call_packed('f', x, sinfo_args=R.Tuple(R.Tensor((2,), 'float32'), R.Object))");
    assert_eq!(difference(&infos, &named), None);
}

#[test]
fn what_is_a_dimension_does_not_depend_on_blanks_or_literals() {
    for body in
        ["R.reshape(x, (n,))", "R.reshape(x, (n, 1))", "R.zeros((n, 2), 'float32')", "R.broadcast_to(x, shape=(3, n))"]
    {
        for parameter in ["n: T.int64", "n:T.int64"] {
            let text =
                format!("@R.function\ndef f({parameter}, x: R.Tensor(ndim=1, dtype='float32')):\n    return {body}\n");
            let read = load::parse(ExternalForm::TvmScript, &text);
            assert!(read.is_ok(), "{text}{}", read.unwrap_err());
        }
    }
}
