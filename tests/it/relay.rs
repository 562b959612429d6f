//! Relay: the examples of the book, malformed text, laws, and generated programs compared with their translations.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use campaign::generate::Tape;
use campaign::relay::{TranslationTrial, try_program};
use relax_spec::data;
use relax_spec::judge::{Cx, Ending};
use relax_spec::relay::{self, Expr, ExprKind, Program, RelayNotation};
use relax_spec::value::{Registry, ValueSpec, from_specs, to_spec};

struct Example {
    name: String,
    text: String,
    args: Vec<ValueSpec>,
    gives: ValueSpec,
}

fn directory() -> PathBuf {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../..")).join("examples/relay")
}

/// The examples: `// with:` precedes an argument, and `// gives:` the value.
fn examples() -> Vec<Example> {
    let mut paths: Vec<PathBuf> = fs::read_dir(directory()).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    paths.iter().map(|path| example(path)).collect()
}

fn example(path: &Path) -> Example {
    let text = fs::read_to_string(path).unwrap();
    let value = |written: &str| data::from_ron::<ValueSpec>(written).unwrap_or_else(|e| panic!("{written}: {e}"));
    let behind = |label: &str| -> Vec<ValueSpec> {
        text.lines().filter_map(|line| line.strip_prefix(label)).map(value).collect()
    };
    let (args, mut gives) = (behind("// with: "), behind("// gives: "));
    let name = path.file_stem().unwrap().to_string_lossy().to_string();
    Example { name, args, gives: gives.pop().expect("what it gives"), text }
}

fn read(text: &str) -> Program {
    let (program, faults) = relay::resolved(&mut Cx::new(), text);
    assert!(!faults.iter().any(relay::RelayFault::is_error), "{}", relay::located(&faults, text));
    program
}

fn run(program: &Program, args: &[ValueSpec]) -> ValueSpec {
    let args = from_specs(args, &Registry::default()).unwrap();
    match relay::evaluate(&mut Cx::new(), program, "main", &args) {
        Ending::Value(value) => to_spec(&value).unwrap(),
        other => panic!("{other:?}"),
    }
}

#[test]
fn each_example_gives_what_it_says() {
    let examples = examples();
    assert!(examples.len() >= 30, "{} examples", examples.len());
    for example in &examples {
        let program = read(&example.text);
        assert_eq!(run(&program, &example.args), example.gives, "{}", example.name);
        assert_eq!(try_program(&program, &example.args), TranslationTrial::Same, "{}", example.name);
    }
}

#[test]
fn the_book_shows_the_examples() {
    let page =
        fs::read_to_string(Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../..")).join("spec/src/relay_examples.md"))
            .unwrap();
    let shown: BTreeSet<&str> = page.split("```relay\n").skip(1).filter_map(|rest| rest.split("```").next()).collect();
    let kept: Vec<Example> = examples();
    let texts: BTreeSet<&str> = kept.iter().map(|example| example.text.as_str()).collect();
    assert_eq!(shown, texts);
}

/// RELAY.OP.PRINT and the grammar: text printed in either notation reads back as the same tree.
#[test]
fn examples_survive_both_notations() {
    for example in examples() {
        let program = read(&example.text);
        for notation in [RelayNotation::Introduced, RelayNotation::Printed] {
            let text = relay::print(&mut Cx::new(), &program, notation);
            let again = read(&text);
            assert_eq!(again.definitions, program.definitions, "{}: {text}", example.name);
            assert_eq!(relay::print(&mut Cx::new(), &again, notation), text, "{}", example.name);
        }
    }
}

/// RELAY.ATTR.NOSEM: every run has the same result without metadata.
#[test]
fn metadata_changes_no_value() {
    for example in examples() {
        let mut program = read(&example.text);
        program.definitions.iter_mut().for_each(|definition| definition.attributes = None);
        assert_eq!(run(&program, &example.args), example.gives, "{}", example.name);
    }
}

/// RELAY.NOAMBIG: a new definition with any name changes nothing.
#[test]
fn new_names_change_no_value() {
    for example in examples() {
        let program = read(&example.text);
        let mut names: BTreeSet<String> = ["add", "x", "fresh"].into_iter().map(str::to_string).collect();
        names.extend(program.definitions.iter().flat_map(|d| &d.function.params).map(|param| param.name.to_string()));
        let new: Vec<String> = names
            .iter()
            .filter(|name| program.get(name).is_none() && !name.starts_with(|c: char| c.is_ascii_digit()))
            .map(|name| format!("def @{name}() {{ 0 }}\n"))
            .collect();
        // The additions come before the section of constants.
        let (own, section) = example.text.split_at(example.text.find("#[metadata]").unwrap_or(example.text.len()));
        let text = format!("{own}\n{}\n{section}", new.concat());
        assert_eq!(run(&read(&text), &example.args), example.gives, "{}", example.name);
    }
}

/// RELAY.INLINE: a use can be replaced by its definition without analysis.
#[test]
fn inlining_changes_no_value() {
    for example in examples() {
        let program = read(&example.text);
        let mut inlined = program.clone();
        for definition in &mut inlined.definitions {
            inline(&program, &mut std::sync::Arc::make_mut(&mut definition.function).body);
        }
        assert_eq!(run(&inlined, &example.args), example.gives, "{}", example.name);
    }
}

/// Every global identifier is replaced by the function literal of its definition.
fn inline(program: &Program, expr: &mut Expr) {
    match &mut expr.kind {
        ExprKind::Global(name) => {
            let function = program.get(name).unwrap().function.clone();
            expr.kind = ExprKind::Function(function);
        }
        ExprKind::Tuple(fields) => fields.iter_mut().for_each(|field| inline(program, field)),
        ExprKind::Project(tuple, _) => inline(program, tuple),
        ExprKind::Let(bindings, result) => {
            bindings.iter_mut().for_each(|binding| inline(program, &mut binding.value));
            inline(program, result);
        }
        ExprKind::If(e) => {
            inline(program, &mut e.condition);
            inline(program, &mut e.then);
            inline(program, &mut e.otherwise);
        }
        ExprKind::Function(function) => inline(program, &mut std::sync::Arc::make_mut(function).body),
        ExprKind::Call(call) => {
            inline(program, &mut call.callee);
            call.args.iter_mut().for_each(|arg| inline(program, arg));
        }
        ExprKind::Local(_) | ExprKind::Operator(_) | ExprKind::Constant(_) => {}
    }
}

/// The number of mutations of the examples to read.
const MUTATIONS: u64 = 1_000;

/// Malformed text gives an error with a position, or a program. Nothing panics.
#[test]
fn malformed_text_is_told_with_its_place() {
    let examples = examples();
    let (mut refused, mut taken) = (0, 0);
    for seed in 0..MUTATIONS {
        let mut tape = Tape::from_seed(seed, 64);
        let text = mutated(&examples[tape.choose(examples.len())].text, &mut tape);
        let reading = relay::understand(&mut Cx::new(), &text);
        if reading.accepts() {
            taken += 1;
            let _ = relay::import(&mut Cx::new(), &text);
            continue;
        }
        refused += 1;
        for fault in &reading.faults {
            assert!(fault.span.start <= fault.span.end && fault.span.end as usize <= text.len(), "{text}\n{fault:?}");
            assert!(!fault.message.is_empty());
        }
    }
    assert!(refused > MUTATIONS / 4 && taken > 0, "{refused} refused, {taken} taken");
}

/// Removes or doubles a piece, or replaces it by another piece or a character.
fn mutated(text: &str, tape: &mut Tape) -> String {
    let mut chars: Vec<char> = text.chars().collect();
    for _ in 0..1 + tape.choose(3) {
        let at = tape.choose(chars.len());
        let end = (at + 1 + tape.choose(6)).min(chars.len());
        let piece: Vec<char> = chars[at..end].to_vec();
        match tape.choose(4) {
            0 => drop(chars.drain(at..end)),
            1 => drop(chars.splice(at..at, piece)),
            2 => {
                let to = tape.choose(chars.len());
                drop(chars.splice(to..to, piece));
            }
            _ => {
                let odd = ['{', '}', '(', ')', '%', '@', '$', '"', ';', ',', '<', '.', '0', 'é', '\u{0}'];
                drop(chars.splice(at..end, [odd[tape.choose(odd.len())]]));
            }
        }
        if chars.is_empty() {
            break;
        }
    }
    chars.into_iter().collect()
}

#[test]
fn deep_nesting_is_an_error_and_long_programs_are_none() {
    let deep =
        |open: &str, close: &str, n: usize| format!("def @main(%x) {{ {}%x{} }}", open.repeat(n), close.repeat(n));
    for (open, close) in [("(", ")"), ("negative(", ")"), ("if (True) { ", " } else { %x }"), ("fn () { ", " }")] {
        for n in [5_000, 100_000] {
            let reading = relay::understand(&mut Cx::new(), &deep(open, close, n));
            assert!(reading.faults.iter().any(|fault| fault.message.contains("nests deeper")), "{open}");
        }
    }
    let sums = format!("def @main(%x) {{ %x{} }}", " + %x".repeat(100_000));
    assert!(!relay::understand(&mut Cx::new(), &sums).accepts());
    let long: String = (0..3_000).map(|i| format!("let %x{} = %x{i} + 1;", i + 1)).collect();
    let text = format!("def @main(%x0: Tensor<Int>) {{ {long} %x3000 }}");
    let program = read(&text);
    let zero = ValueSpec::Tensor(
        "int32".parse().map(|d| relax_spec::grammar::TensorData::from_values(d, &[], &[0.0]).unwrap()).unwrap(),
    );
    let ValueSpec::Tensor(value) = run(&program, &[zero]) else { panic!("a tensor") };
    assert_eq!(value.bytes.to_vec(), 3_000_i32.to_le_bytes());
}

/// The number of generated programs to compare; `cargo xtask relay 10000` compares more.
const PROGRAMS: u64 = 400;

#[test]
fn a_program_gives_what_its_translation_gives() {
    let mut same = 0;
    for seed in 0..PROGRAMS {
        let (program, args) = campaign::relay::generate(&mut Tape::from_seed(seed, 400));
        match try_program(&program, &args) {
            TranslationTrial::Same => same += 1,
            TranslationTrial::Stopped => {}
            TranslationTrial::Different(why) => panic!("seed {seed}: {why}"),
        }
    }
    assert!(same * 10 > PROGRAMS * 9, "{same} of {PROGRAMS}");
}

/// Recursive definitions without types, which call themselves or each other. They run, and so do their translations.
#[test]
fn recursion_without_types_is_translated() {
    let count = "def @f(%n) { if (%n == 0) { 0 } else { 1 + @f(%n - 1) } }\ndef @main(%n: Tensor<Int>) { @f(%n) }";
    let turns = "def @even(%n) { if (%n == 0) { 0 } else { 1 + @odd(%n - 1) } }\n\
                 def @odd(%n) { if (%n == 0) { 10 } else { 1 + @even(%n - 1) } }\n\
                 def @main(%n: Tensor<Int>) { @even(%n) }";
    let number =
        |n| data::from_ron::<ValueSpec>(&format!("Tensor(dtype: \"int32\", shape: [], values: [{n}])")).unwrap();
    for (text, given, expected) in [(count, 4, 4), (turns, 3, 13), (turns, 4, 4)] {
        let program = read(text);
        assert_eq!(run(&program, &[number(given)]), number(expected), "{text}");
        let same = try_program(&program, &[number(given)]);
        assert!(matches!(same, TranslationTrial::Same), "{text}: {same:?}");
    }
}

/// Errors name the rule and, if there are two positions, both.
#[test]
fn both_places_are_told() {
    let text = "def @norm(%v: Tensor<Float, 3>) { %v }\ndef @main(%w: Tensor<Float, 4>) { @norm(%w) }\n";
    let reading = relay::understand(&mut Cx::new(), text);
    let told = relay::located(&reading.faults, text);
    let expected = "2:41: argument 0 is Tensor<Float, 4>, the parameter is Tensor<Float, 3>; which stands at 1:15 [RELAY.DEF.RESTRICT]";
    assert_eq!(told, expected);
}

/// The command line with `.relay` files. Errors have positions, and correct programs run.
mod commands {
    use tempfile::TempDir;

    use crate::cli::{file, run};

    fn example(name: &str) -> String {
        super::directory().join(name).display().to_string()
    }

    #[test]
    fn a_file_is_checked_run_and_converted() {
        let path = example("section.relay");
        let (status, out, err) = run(&["check", &path]);
        assert_eq!(
            (status, out.lines().last()),
            (0, Some("1 file: 0 errors, 0 warnings; edition 2023-02, the default")),
            "{err}"
        );
        let (status, out, err) = run(&["run", &path, "--arg", "[[1, 2, 4]]:float32"]);
        assert_eq!((status, out.trim()), (0, "[[6.5, -27.5]]:float32"), "{err}");
        let (status, out, err) = run(&["convert", &path, "--to", "tvmscript"]);
        assert!(status == 0 && out.contains("R.matmul"), "{out}{err}");
        let dir = TempDir::new().unwrap();
        let converted = file(&dir, "converted.py", &out);
        let (status, out, err) = run(&["run", &converted, "--arg", "[[1, 2, 4]]:float32"]);
        assert_eq!((status, out.trim()), (0, "[[6.5, -27.5]]:float32"), "{err}");
    }

    #[test]
    fn what_is_wrong_in_a_file_is_told_with_its_place() {
        let dir = TempDir::new().unwrap();
        let main = "def @main(%x: Tensor[(3), float32]) {\n  add(%x, meta[relay.Constant][0])\n}\n";
        let node = "{\"type_key\": \"relay.Constant\", \"attrs\": {\"data\": \"0\"}}";
        let section = |tensors: &str| {
            format!(
                "#[metadata]\n{{\"root\": 1, \"nodes\": [{{\"type_key\": \"\"}}, {{\"type_key\": \"Map\", \"keys\": [\"relay.Constant\"], \
                 \"data\": [2]}}, {{\"type_key\": \"Array\", \"data\": [3]}}, {node}], \"b64ndarrays\": [{tensors}]}}"
            )
        };
        for (text, place, message) in [
            (main.to_string(), "2:11", "no such constant"),
            (format!("{main}#[metadata]\n{{\"root\": }}"), "4:1", "the section of constants cannot be read"),
            (format!("{main}{}", section("")), "2:11", "node 3 is no constant with a tensor"),
            (format!("{main}{}", section("\"AAAA\"")), "2:11", "this is not how a tensor begins"),
            (main.replace("[0]", "[x]"), "2:32", "the number of a constant is expected"),
            (main.replace("relay.Constant", "VirtualDevice"), "2:16", "only relay.Constant is read"),
            (main.replace("add(%x, meta[relay.Constant][0])", "ad(%x, %x)"), "2:3", "no operator `ad` is registered"),
        ] {
            let path = file(&dir, "wrong.relay", &text);
            let (status, out, err) = run(&["check", &path]);
            let told = format!("{out}{err}");
            assert!(status == 1 || status == 2, "{status}: {told}\n{text}");
            assert!(told.contains(&format!("wrong.relay:{place}")) && told.contains(message), "{told}\n{text}");
            assert_ne!(run(&["run", &path]).0, 0, "{text}");
        }
    }
}
