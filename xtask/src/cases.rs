//! The answers of the oracle about modules with given arguments, many in one process. `cargo xtask cases STEM ..` reads
//! the module `STEM.py` and the same module in `STEM.tvm.json`. It checks each, runs its `main` on the arguments in
//! `STEM.case.json`, and prints a line of JSON with the case, the form, the outcome and its details. The stems may also
//! come from standard input, one per line. `tools/check_onnx_corpus.py` compares the values with the expected ones.

use std::panic::catch_unwind;
use std::path::Path;
use std::time::Instant;

use relax_spec::check::{UnknownOps, all_findings, check_program, unknown_names};
use relax_spec::derivation::inferred_results;
use relax_spec::eval::{EvalOptions, evaluate};
use relax_spec::findings::Severity;
use relax_spec::judge::{Cx, Ending};
use relax_spec::syntax::load;
use relax_spec::value::{from_specs, to_spec};
use relax_spec::{ValueSpec, data};
use serde_json::{Value, json};

/// The entry point of modules imported from ONNX.
const ENTRY: &str = "main";
/// Enough fuel for a convolution over an image.
const FUEL: u64 = 1_000_000_000;
/// The maximum nesting of brackets in the file of a case.
const NESTING: usize = 100;

/// Runs the task with the arguments after its name.
pub fn run(args: Vec<String>) {
    let named: Vec<String> = args.into_iter().collect();
    let piped = std::io::stdin().lines().map_while(Result::ok);
    let stems: Vec<String> = if named.is_empty() { piped.collect() } else { named };
    for stem in &stems {
        for form in ["py", "tvm.json"] {
            let start = Instant::now();
            let mut line = catch_unwind(|| answer(stem, form)).unwrap_or_else(|_| ended("panics", "a panic"));
            if let Value::Object(fields) = &mut line {
                fields.insert("case".into(), Path::new(stem).file_name().map(|name| name.to_string_lossy()).into());
                fields.insert("form".into(), form.into());
                fields.insert("seconds".into(), start.elapsed().as_secs_f64().into());
            }
            println!("{line}");
        }
    }
}

fn ended(outcome: &str, message: impl ToString) -> Value {
    json!({ "outcome": outcome, "message": message.to_string() })
}

fn answer(stem: &str, form: &str) -> Value {
    let module = match load::load(Path::new(&format!("{stem}.{form}"))) {
        Ok(module) => module,
        Err(error) => return ended("refused", error),
    };
    let args = match arguments(Path::new(&format!("{stem}.case.json"))) {
        Ok(args) => args,
        Err(error) => return ended("no arguments", error),
    };
    let findings = all_findings(
        &mut Cx::new(),
        &check_program(&mut Cx::new(), &module),
        unknown_names(&module, UnknownOps::Errors),
    );
    let mut errors = findings.iter().filter(|finding| finding.severity == Severity::Error);
    if let Some(error) = errors.next() {
        return ended("complaint", format!("{}: {}", error.rule, error.message));
    }
    let options = EvalOptions { results: inferred_results(&Cx::new(), &module), fuel: FUEL, ..EvalOptions::default() };
    let values = match from_specs(&args, &options.registry) {
        Ok(values) => values,
        Err(error) => return ended("no arguments", error),
    };
    let run = evaluate(&mut Cx::new(), &module, ENTRY, values, &options);
    match run.outcome {
        Ending::Value(value) => match to_spec(&value) {
            Ok(spec) => json!({ "outcome": "returns", "value": data::json::to_value(&spec) }),
            Err(stop) => ended("fails", format!("{stop:?}")),
        },
        Ending::Error(error) => ended("fails", error),
        Ending::OutOfFuel if run.out_of_memory => ended("fails", "out of memory"),
        Ending::OutOfFuel => ended("fails", "out of fuel"),
        Ending::Unspecified(reason) => ended("unspecified", reason),
        Ending::Unknown(what) => ended("unknown", what),
    }
}

/// The arguments in the file of a case.
fn arguments(path: &Path) -> Result<Vec<ValueSpec>, String> {
    let text = load::read_text(path).map_err(|error| error.to_string())?;
    let document = data::json::read(&text, NESTING).map_err(|error| error.located(&text))?;
    let root = document.into_root();
    let args = root.get("args").and_then(|args| args.as_items()).ok_or("there are no `args`")?;
    args.iter().map(|arg| data::from_node(arg).map_err(|error| error.located(&text))).collect()
}
