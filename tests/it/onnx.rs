//! A sample of the corpus that `tools/onnx_corpus.sh` makes from ONNX's test models, in conformance/onnx/sample. The
//! modules that TVM's importer prints and saves give the results that ONNX expects. The same tool checks that the list
//! of differences is exact.

use std::fs;
use std::path::{Path, PathBuf};

use relax_spec::data::{Node, from_node, json};
use relax_spec::syntax::load;
use relax_spec::value::{Scalar, Tensor};
use relax_spec::{RunAnswer, ValueSpec};

fn directory() -> PathBuf {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../..")).join("conformance/onnx")
}

fn read(path: &Path) -> Node<'static> {
    let text = fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    json::read(&text, 100)
        .unwrap_or_else(|error| panic!("{}: {}", path.display(), error.located(&text)))
        .into_root()
        .into_owned()
}

fn items<'n>(node: &'n Node<'static>, field: &str) -> &'n [Node<'static>] {
    node.get(field).and_then(Node::as_items).unwrap_or_else(|| panic!("there are no {field}"))
}

fn values(node: &Node<'static>, field: &str) -> Vec<ValueSpec> {
    items(node, field).iter().map(|value| from_node(value).unwrap()).collect()
}

fn number(node: &Node<'static>, field: &str) -> f64 {
    node.get(field).and_then(Node::as_number).and_then(|number| number.parse().ok()).unwrap()
}

fn as_float(scalar: Scalar) -> f64 {
    match scalar {
        Scalar::Bool(b) => f64::from(u8::from(b)),
        Scalar::Int(i) => i as f64,
        Scalar::UInt(u) => u as f64,
        Scalar::Float(x) => x,
        Scalar::Ring(_) => f64::NAN,
    }
}

/// Whether a value is the expected one within a relative and an absolute tolerance.
fn close(expected: &ValueSpec, found: &ValueSpec, tolerance: (f64, f64)) -> bool {
    match (expected, found) {
        (ValueSpec::Tuple(expected), ValueSpec::Tuple(found)) => {
            expected.len() == found.len() && expected.iter().zip(found).all(|(x, y)| close(x, y, tolerance))
        }
        (ValueSpec::Tensor(expected), ValueSpec::Tensor(found)) => {
            let (x, y) = (Tensor::from_data(expected).unwrap(), Tensor::from_data(found).unwrap());
            let equal = |i: usize| {
                let (x, y) = (as_float(x.get(i).unwrap()), as_float(y.get(i).unwrap()));
                x == y || (x.is_nan() && y.is_nan()) || (x - y).abs() <= tolerance.1 + tolerance.0 * x.abs()
            };
            (expected.dtype, &expected.shape) == (found.dtype, &found.shape) && (0..x.len()).all(equal)
        }
        _ => false,
    }
}

#[test]
fn the_sample_gives_what_onnx_expects() {
    let mut names: Vec<String> = fs::read_dir(directory().join("sample"))
        .unwrap()
        .filter_map(|entry| entry.unwrap().file_name().to_str()?.strip_suffix(".case.json").map(str::to_owned))
        .collect();
    names.sort();
    assert!(names.len() >= 18, "{names:?}");
    for name in names {
        let file = |ending: &str| directory().join("sample").join(format!("{name}.{ending}"));
        let case = read(&file("case.json"));
        let (args, mut expected) = (values(&case, "args"), values(&case, "expected"));
        let expected = if expected.len() == 1 { expected.remove(0) } else { ValueSpec::Tuple(expected) };
        let answers = ["py", "tvm.json"].map(|form| {
            let module = load::load(&file(form)).unwrap_or_else(|error| panic!("{name}.{form}: {error}"));
            let report = relax_spec::check(&module);
            assert!(report.accepts(), "{name}.{form}: {:?}", report.diagnostics);
            relax_spec::run(&module, "main", &args).unwrap()
        });
        assert_eq!(answers[0], answers[1], "{name}: text and file");
        let RunAnswer::Returns(found, effects) = &answers[0] else { panic!("{name}: {:?}", answers[0]) };
        assert!(effects.is_empty());
        assert!(close(&expected, found, (number(&case, "rtol"), number(&case, "atol"))), "{name}: {found:?}");
    }
}

/// Each difference names its cause. For a fault of the importer, a repaired module proves it.
#[test]
fn every_difference_has_its_reason() {
    let list = read(&directory().join("differences.json"));
    let entries = list.as_items().unwrap();
    assert!(!entries.is_empty());
    for entry in entries {
        let text = |field: &str| entry.get(field).and_then(Node::as_text).unwrap_or_default();
        let cases: Vec<&str> = items(entry, "cases").iter().filter_map(Node::as_text).collect();
        assert!(!cases.is_empty() && !text("node").is_empty() && text("why").len() > 20, "{cases:?}");
        match text("reason") {
            "importer" => assert!(entry.get("mend").is_some(), "{cases:?}: no mended module"),
            "ONNX" => assert!(!text("onnx").is_empty(), "{cases:?}: which release"),
            "open" => assert!(text("why").contains("`OPS."), "{cases:?}: which clause"),
            other => panic!("{cases:?}: {other} is no reason"),
        }
    }
}
