//! The output of commands for people and for programs: JSON by its schema, reports that fit on a screen, and
//! counterexamples that can be passed again.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use ask::conformance;
use relax_spec::derivation::{annotated, derive_module};
use relax_spec::grammar::{IrModule, Var};
use relax_spec::judge::Cx;
use relax_spec::normal_form::normalize;
use relax_spec::suite::Case;
use relax_spec::syntax::load::{self, ExternalForm};
use relax_spec::syntax::tvmscript::{Dialect, parse_module, print_module, print_module_with};
use serde_json::{Map, Value};
use tempfile::TempDir;

use crate::cli::{file, json_lines, run};

/// The schema of the output of a command.
struct Schema {
    whole: Value,
}

/// Keywords of the schemas that [`Schema::errors`] ignores: they are for people.
const SILENT: [&str; 5] = ["$schema", "$defs", "title", "description", "pattern"];

impl Schema {
    fn of(command: &str) -> Schema {
        let path = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))
            .join(format!("crates/cli/src/{command}.schema.json"));
        Schema { whole: serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap() }
    }

    /// The violations of a part of the schema by a value, with the meaning that JSON Schema gives to the keywords in
    /// use.
    fn errors(&self, schema: &Value, value: &Value, at: &str) -> Vec<String> {
        let schema = schema.as_object().unwrap_or_else(|| panic!("{at}: a schema is an object"));
        schema.iter().flat_map(|(word, says)| self.word(schema, word, says, value, at)).collect()
    }

    fn word(&self, all: &Map<String, Value>, word: &str, says: &Value, value: &Value, at: &str) -> Vec<String> {
        let list = || says.as_array().unwrap().iter();
        let fits = |schema: &Value| self.errors(schema, value, at).is_empty();
        let met = match word {
            "const" => says == value,
            "enum" => list().any(|one| one == value),
            "type" => match says {
                Value::Array(types) => types.iter().any(|one| is_of_type(one.as_str().unwrap(), value)),
                one => is_of_type(one.as_str().unwrap(), value),
            },
            "minimum" => value.as_f64().is_none_or(|number| number >= says.as_f64().unwrap()),
            "required" => {
                value.as_object().is_none_or(|object| list().all(|key| object.contains_key(key.as_str().unwrap())))
            }
            "minItems" => value.as_array().is_none_or(|items| items.len() as u64 >= says.as_u64().unwrap()),
            "anyOf" => list().any(fits),
            "oneOf" => list().filter(|one| fits(one)).count() == 1,
            "$ref" => {
                let place = says.as_str().unwrap().strip_prefix('#').unwrap();
                return self.errors(self.whole.pointer(place).unwrap(), value, at);
            }
            "items" => {
                let items = value.as_array().into_iter().flatten().enumerate();
                return items.flat_map(|(i, item)| self.errors(says, item, &format!("{at}/{i}"))).collect();
            }
            "properties" => {
                let known = says.as_object().unwrap().iter();
                let parts = known.filter_map(|(key, schema)| Some((key, schema, value.get(key)?)));
                return parts
                    .flat_map(|(key, schema, part)| self.errors(schema, part, &format!("{at}/{key}")))
                    .collect();
            }
            "additionalProperties" => {
                let known = all.get("properties").and_then(Value::as_object);
                let others = value
                    .as_object()
                    .into_iter()
                    .flatten()
                    .filter(|(key, _)| known.is_none_or(|known| !known.contains_key(*key)));
                return others
                    .flat_map(|(key, part)| match says {
                        Value::Bool(allowed) => {
                            (!allowed).then(|| format!("{at}/{key} is not known")).into_iter().collect()
                        }
                        schema => self.errors(schema, part, &format!("{at}/{key}")),
                    })
                    .collect();
            }
            silent => {
                assert!(SILENT.contains(&silent), "{silent} has no meaning here");
                true
            }
        };
        if met { Vec::new() } else { vec![format!("{at}: {word} {says}, found {value}")] }
    }

    fn admits(&self, value: &Value) -> Result<(), Vec<String>> {
        let errors = self.errors(&self.whole, value, "");
        if errors.is_empty() { Ok(()) } else { Err(errors) }
    }
}

fn is_of_type(name: &str, value: &Value) -> bool {
    match name {
        "null" => value.is_null(),
        "boolean" => value.is_boolean(),
        "string" => value.is_string(),
        "array" => value.is_array(),
        "object" => value.is_object(),
        "number" => value.is_number(),
        "integer" => value.is_i64() || value.is_u64(),
        other => panic!("{other} is no type"),
    }
}

/// Runs a command. Returns its exit status and its output, after a check of each line against the schema.
fn written(command: &str, args: &[&str]) -> (i32, Vec<Value>) {
    let (exit, out, err) = run(&[&[command], args].concat());
    let lines = json_lines(&out);
    assert!(!lines.is_empty(), "{command} {args:?}: {err}");
    let schema = Schema::of(command);
    for line in &lines {
        assert_eq!(schema.admits(line), Ok(()), "{command} {args:?}: {line}");
    }
    (exit, lines)
}

/// Like [`written`], for a command that writes one object.
fn report(command: &str, args: &[&str]) -> (i32, Value) {
    let (exit, mut lines) = written(command, &[args, &["--format", "json"]].concat());
    assert_eq!(lines.len(), 1, "{lines:?}");
    (exit, lines.remove(0))
}

const IDENTITY: &str = "@R.function
def main(x: R.Tensor((\"n\",), \"float32\")) -> R.Tensor((\"n\",), \"float32\"):
    return x
";

#[test]
fn what_is_written_as_json_is_as_its_schema_says() {
    let dir = TempDir::new().unwrap();
    let identity = file(&dir, "identity.py", IDENTITY);
    let relu = file(&dir, "relu.py", IDENTITY.replace("return x", "return R.nn.relu(x)"));
    let wrong = file(&dir, "wrong.py", IDENTITY.replace("return x", "return R.nn.relu(x, x)"));
    let effect = "@R.function(pure=False)
def main(x: R.Tensor((2,), \"float32\")):
    _ = R.print(x, format=\"{}\")
    y = R.call_packed(\"unknown\", x, sinfo_args=R.Tensor((2,), \"float32\"))
    return y
";
    let effect = file(&dir, "effect.py", effect);
    let unreadable = file(&dir, "unreadable.py", "@R.function\ndef main(x: R.Tensor(\n");

    let (exit, ran) = report("run", &[&relu, "--arg", "[-1, nan, inf]", "--trace"]);
    assert_eq!((exit, &ran["outcome"], &ran["text"]), (0, &"value".into(), &"[0.0, NaN, inf]:float32".into()));
    assert_eq!(ran["arguments"][0], "[-1.0, NaN, inf]:float32");
    let (exit, ran) = report("run", &[&effect, "--arg", "[1, 2]"]);
    assert_eq!((exit, &ran["outcome"], &ran["rule"]), (1, &"error".into(), &"EVAL.EXTERNFUNC.MISSING".into()));
    assert_eq!(ran["effects"].as_array().map(Vec::len), Some(1));
    assert_eq!(report("run", &[&relu, "--arg", "[1, 2]", "--fuel", "1"]).1["outcome"], "out_of_fuel");
    let (exit, ran) = report("run", &[&wrong, "--arg", "[1]"]);
    assert_eq!((exit, &ran["outcome"]), (1, &"ill_formed".into()));
    assert!(!ran["findings"][0]["start"]["line"].is_null());

    let (exit, refined) = report("refine", &[&relu, &identity, "--adequacy"]);
    assert_eq!((exit, &refined["verdict"]), (1, &"not_allowed".into()));
    assert_eq!(refined["counterexample"][0]["parameter"], "x");
    assert!(refined["adequacy"]["told"].as_u64().is_some());
    assert_eq!(report("refine", &[&relu, &relu, "--runs", "3"]).1["verdict"], "allowed");
    assert_eq!(report("refine", &[&relu, &wrong, "--runs", "3"]).1["verdict"], "ill_formed");
    assert_eq!(report("refine", &[&effect, &effect, "--runs", "3"]).1["unknown"][0], "unknown");

    let (exit, normalized) = report("normalize", &[&relu]);
    assert_eq!(exit, 0);
    assert_eq!(normalized["text"], run(&["normalize", &relu]).1);
    let program: Value = serde_json::from_str(&run(&["normalize", &relu, "--to", "json"]).1).unwrap();
    assert_eq!(normalized["program"], program);

    let (exit, migrated) = report("migrate", &[&effect]);
    assert_eq!((exit, &migrated["spelled"][0]["old"]), (0, &"sinfo_args=".into()), "{migrated}");

    let (exit, types) = report("types", &[&effect]);
    let purity = |types: &Value| -> Vec<(String, Option<bool>)> {
        let variables = types["variables"].as_array().unwrap().iter();
        variables.map(|var| (var["name"].as_str().unwrap().to_string(), var["pure"].as_bool())).collect()
    };
    assert_eq!(exit, 0);
    let expected = [("x", None), ("_", Some(false)), ("y", Some(false))];
    assert_eq!(purity(&types), expected.map(|(name, pure)| (name.to_string(), pure)));
    assert_eq!(types["variables"][2]["start"], serde_json::json!({"line": 4, "column": 5, "offset": 100}));
    assert_eq!(types["functions"][0]["pure"], false);
    let (_, checked) = written("types", &["--format", "json", &effect]);
    assert_eq!(json_lines(&run(&["check", "--types", "--format", "json", &effect]).1), checked);
    let (exit, types) = report("types", &[&wrong]);
    assert_eq!((exit, types["findings"].as_array().map(Vec::len)), (1, Some(1)));

    assert_eq!(written("check", &["--format", "json", &wrong]).0, 1);
    assert_eq!(written("check", &["--format", "json", &unreadable]).0, 2);
    for question in [
        &["lub", "Object", "Shape(2)"][..],
        &["unify", "Tensor((n, 4), float32)", "Tensor((m, 4), float32)"],
        &["equal", "n + 1", "1 + n"],
        &["eval", "n // 0", "--let", "n=3"],
        &["glb", "Func((Object) -> Object, pure)", "Func((Object) -> Object, impure)"],
    ] {
        let (_, answer) = written("judge", &[question, &["--format", "json"]].concat());
        assert_eq!(answer, json_lines(&run(&[&["judge"], question, &["--json"]].concat()).1));
    }
    let (status, _, err) = run(&["export", "--schemas", &dir.path().join("schemas").display().to_string()]);
    assert_eq!(status, 0, "{err}");
    assert_eq!(fs::read_dir(dir.path().join("schemas")).unwrap().count(), 7);
}

#[test]
fn every_exported_case_is_as_its_schema_says() {
    let dir = TempDir::new().unwrap();
    let (status, _, err) = run(&["export", "--json", &dir.path().display().to_string()]);
    assert_eq!(status, 0, "{err}");
    let written = |name: &str| -> Value {
        serde_json::from_str(&fs::read_to_string(dir.path().join(format!("{name}.json"))).unwrap()).unwrap()
    };
    let schema = Schema { whole: written("suite.schema") };
    let suite = conformance::suite().unwrap();
    let chapters: BTreeSet<&str> = suite.iter().map(Case::chapter).collect();
    let mut cases = 0;
    for chapter in chapters {
        let chapter = written(chapter);
        assert_eq!(schema.admits(&chapter), Ok(()));
        cases += chapter.as_array().unwrap().len();
    }
    assert_eq!(cases, suite.len());
    let kinds = schema.whole.pointer("/$defs/case/properties/op/enum").unwrap().as_array().unwrap();
    let kinds: BTreeSet<&str> = kinds.iter().map(|kind| kind.as_str().unwrap()).collect();
    let asked: Vec<String> = suite.iter().map(|case| case.ask.op()).collect();
    assert_eq!(kinds, asked.iter().map(String::as_str).collect());
    let wild = written("ops").as_array().unwrap().iter().find(|case| case["id"] == "ops/exp-3-wild").cloned().unwrap();
    assert_eq!(wild["within"], serde_json::json!({"class": "Elementary", "length": 0, "magnitude": 0.0}));
    for (field, wrong) in [
        ("op", "guess".into()),
        ("within", serde_json::json!({"class": "Elementary"})),
        ("rules", Value::Array(vec![])),
    ] {
        let mut case = wild.clone();
        case[field] = wrong;
        assert!(schema.admits(&Value::Array(vec![case])).is_err(), "{field}");
    }
}

#[test]
fn a_schema_refuses_what_is_otherwise() {
    let allowed = serde_json::json!({"verdict": "ill_formed", "findings": []});
    assert_eq!(Schema::of("refine").admits(&allowed), Ok(()));
    for (command, wrong) in [
        ("refine", serde_json::json!({"verdict": "ill_formed", "findings": [{}]})),
        ("refine", serde_json::json!({"verdict": "allowed"})),
        ("run", serde_json::json!({"outcome": "value"})),
        ("run", serde_json::json!([])),
        ("judge", serde_json::json!({"outcome": "answer"})),
        ("types", serde_json::json!({"file": "x"})),
        ("normalize", serde_json::json!({"file": "x", "program": [], "text": "", "findings": []})),
        ("check", serde_json::json!({"file": "x", "severity": "fatal", "rule": null, "message": ""})),
    ] {
        assert!(Schema::of(command).admits(&wrong).is_err(), "{command} {wrong}");
    }
}

/// A function with these parameters and this body, and one with a different body.
fn two(dir: &TempDir, params: &str, before: &str, after: &str) -> [String; 2] {
    [("before.py", before), ("after.py", after)]
        .map(|(name, body)| file(dir, name, format!("@R.function\ndef main({params}):\n{body}")))
}

#[test]
fn the_arguments_of_a_counterexample_are_given_again_by_a_file() {
    for (params, before, after, rest) in [
        ("x: R.Tensor((3,), \"float32\")", "    return R.nn.relu(x)\n", "    return x\n", Some(0)),
        ("x: R.Tensor((2, \"n\"), \"bfloat16\")", "    return R.abs(x)\n", "    return x\n", Some(0)),
        ("x: R.Tensor((\"n\",), \"int8\"), s: R.Shape([\"n\"])", "    return x\n", "    return R.add(x, x)\n", Some(0)),
        (
            "t: R.Tuple(R.Tensor((2,), \"float32\"), R.Tuple(R.Tensor((), \"bool\"))), p: R.Prim(\"int64\")",
            "    return t[0]\n",
            "    return R.negative(t[0])\n",
            Some(0),
        ),
        (
            "o: R.Object, t: R.Tuple, x: R.Tensor((2,), \"float16\")",
            "    return x\n",
            "    return R.add(x, R.ones(R.shape([2]), \"float16\"))\n",
            None,
        ),
    ] {
        let dir = TempDir::new().unwrap();
        let [before, after] = two(&dir, params, before, after);
        let found = dir.path().join("found.npz").display().to_string();
        let (exit, out, err) = run(&["refine", &before, &after, "--save", &found]);
        assert_eq!(exit, 1, "{params}: {out}{err}");
        let again = out.lines().find_map(|line| line.trim().strip_prefix("the same: ")).unwrap();
        assert!(rest.is_none_or(|rest| again.matches("--arg '").count() == rest), "{out}");
        let args = shlex::split(again).unwrap();
        let mut command = vec!["refine", &before, &after, "--runs", "0"];
        command.extend(args.iter().map(String::as_str));
        let (exit, second, err) = run(&command);
        assert_eq!(exit, 1, "{params}: {second}{err}");
        assert_eq!(second.lines().next(), out.lines().next(), "{params}");
    }
}

#[test]
fn a_report_fits_a_screen() {
    let dir = TempDir::new().unwrap();
    let many: Vec<String> = (0..200).map(|i| format!("w{i}: R.Tensor((40, 40), \"float32\")")).collect();
    let [before, after] = two(
        &dir,
        &format!("{}, x: R.Tensor((3, 64, 64), \"float32\")", many.join(", ")),
        "    return R.nn.relu(x)\n",
        "    return x\n",
    );
    let values: Vec<String> = (0..200).flat_map(|_| ["--arg".to_string(), "iota(40, 40)".to_string()]).collect();
    let mut command = vec!["refine", &before, &after, "--runs", "0", "--arg", "random((3, 64, 64), float32, 1)"];
    command.splice(5..5, values.iter().map(String::as_str));
    let (exit, out, err) = run(&command);
    assert_eq!(exit, 1, "{err}");
    assert!(out.lines().count() <= 20 && out.lines().all(|line| line.chars().count() <= 500), "{out}");
    assert!(out.contains("--save OUT.npz") && out.contains("--verbose") && out.contains("more arguments"), "{out}");
    command.push("--verbose");
    let (_, whole, _) = run(&command);
    assert!(whole.len() > 1_000_000, "{}", whole.len());
    let argument = whole.lines().filter_map(|line| line.strip_prefix("  with --arg '")).next_back().unwrap();
    assert!(argument.ends_with("]]]:float32'"), "{}", &argument[argument.len() - 40..]);
}

#[test]
fn the_purity_of_bindings_is_told_and_reads_back() {
    let text = "@I.ir_module
class Module:
    @R.function(pure=False)
    def main(x: R.Tensor((2,), \"float32\"), f: R.Callable((R.Object,), R.Object, purity=False)):
        with R.dataflow():
            a = R.add(x, x)
            b = R.call_pure_packed(\"unknown\", a, sinfo_args=R.Object)
            R.output(a, b)
        c = R.call_dps_packed(\"dps\", (x,), out_sinfo=R.Tensor((2,), \"float32\"))
        d = f(c)
        if R.const(True, \"bool\"):
            e1 = R.print(x, format=\"{}\")
            e = x
        else:
            e = x
        g = e
        h = R.match_cast(d, R.Tensor((2,), \"float32\"))
        return h
";
    let dir = TempDir::new().unwrap();
    let path = file(&dir, "purity.py", text);
    let (exit, types, err) = run(&["types", &path]);
    assert_eq!(exit, 0, "{err}");
    let said = |name: &str| {
        let line = types.lines().find(|line| {
            let bound = line.trim_start();
            bound.starts_with(&format!("{name}: ")) || bound.starts_with(&format!("{name} = "))
        });
        line.and_then(|line| line.rsplit_once("  # ")).map(|(_, purity)| purity)
    };
    for (name, purity) in [
        ("a", Some("pure")),
        ("b", Some("pure")),
        ("c", Some("impure")),
        ("d", Some("impure")),
        ("e1", Some("impure")),
        ("g", Some("pure")),
        ("h", Some("pure")),
    ] {
        assert_eq!(said(name), purity, "{name}: {types}");
    }
    assert!(types.lines().any(|line| line.trim_start().starts_with("if ") && line.ends_with(":  # impure")), "{types}");
    let again = file(&dir, "again.py", &types);
    assert_eq!(run(&["types", &again]).1, types);
    let (exit, checked, findings) = run(&["check", "--types", &path]);
    assert_eq!((exit, checked), (0, types), "{findings}");
}

/// The program with all its structural information.
fn typed(module: &IrModule) -> IrModule {
    let normalized = normalize(&mut Cx::new(), module);
    let report = derive_module(&mut Cx::new(), &normalized);
    annotated(&normalized, &report)
}

#[test]
fn what_is_known_of_the_programs_of_the_corpus_reads_back() {
    let corpus = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../..")).join("conformance/corpus");
    let mut read = 0;
    for release in fs::read_dir(corpus).unwrap().map(|entry| entry.unwrap().path()).filter(|path| path.is_dir()) {
        for path in fs::read_dir(release).unwrap().map(|entry| entry.unwrap().path()) {
            let Ok(module) = fs::read_to_string(&path)
                .map_err(drop)
                .and_then(|text| load::parse(ExternalForm::of(&path, &text), &text).map_err(drop))
            else {
                continue;
            };
            let known = typed(&module);
            let remarked = print_module_with(&known, Dialect::default(), &|var: &Var| {
                Some(if var.id.is_multiple_of(2) { "pure" } else { "impure" })
            });
            let again =
                parse_module(&remarked).unwrap_or_else(|error| panic!("{}: {error}\n{remarked}", path.display()));
            assert_eq!(again, parse_module(&print_module(&known, Dialect::default())).unwrap(), "{}", path.display());
            let print = |module: &IrModule| print_module(module, Dialect::default());
            assert_eq!(print(&typed(&again)), print(&known), "{}", path.display());
            read += 1;
        }
    }
    assert!(read > 100, "{read}");
}

/// The output without the times and resources of a run.
fn timeless(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some(at) = ["\"seconds\":", " time=\"", " timestamp=\"", " uuid=\""]
        .iter()
        .filter_map(|key| Some((rest.find(key)?, key.len())))
        .min()
    {
        let (start, length) = at;
        out.push_str(&rest[..start]);
        let value = &rest[start + length..];
        rest = &value[value.find(['"', ',', '}']).unwrap_or(value.len())..];
    }
    out + rest
}

#[test]
fn kept_runs_have_a_history_and_a_badge() {
    let dir = TempDir::new().unwrap();
    let path = |name: &str| dir.path().join(name).display().to_string();
    let (first, second, badge) = (path("1.jsonl"), path("2.jsonl"), path("badge.json"));
    let (jsonl, drawn) = (format!("--report=jsonl={first}"), format!("--report=badge={badge}"));
    assert_eq!(run(&["conform", "types/sub-rank*", &jsonl, &drawn]).0, 0);
    let badge: Value = serde_json::from_str(&fs::read_to_string(badge).unwrap()).unwrap();
    assert_eq!(badge["color"], "green", "{badge}");
    let kept = fs::read_to_string(&first).unwrap();
    fs::write(&second, kept.replacen("\"verdict\":\"agree\"", "\"verdict\":\"diverge\"", 1)).unwrap();
    let dir = dir.path().display().to_string();
    let (status, out, err) = run(&["report", "history", &dir]);
    assert_eq!((status, out.contains("1 worse: types/sub-rank")), (0, true), "{out}{err}");
    assert_eq!(run(&["report", "history", &dir, "--report", "jsonl"]).0, 2);
    fs::write(second, "{").unwrap();
    assert_eq!(run(&["report", "history", &dir]).0, 2);
}

#[test]
fn reports_are_the_same_however_many_are_asked_at_a_time() {
    let dir = TempDir::new().unwrap();
    let kinds = ["human", "jsonl", "junit", "html", "md"];
    let written = |jobs: &str| -> Vec<String> {
        let path = |kind: &str| dir.path().join(format!("{kind}-{jobs}"));
        let reports: Vec<String> =
            kinds.iter().map(|kind| format!("--report={kind}={}", path(kind).display())).collect();
        let mut args = vec!["conform", "types/*", "--all", "--adapter", "builtin:evaluator", "-j", jobs];
        args.extend(reports.iter().map(String::as_str));
        let (status, _, err) = run(&args);
        assert_eq!(status, 0, "{err}");
        kinds.iter().map(|kind| timeless(&fs::read_to_string(path(kind)).unwrap())).collect()
    };
    let one = written("1");
    assert!(one.iter().all(|report| report.len() > 100));
    for jobs in ["2", "5"] {
        assert_eq!(written(jobs), one, "{jobs}");
    }
}
