//! `PrimFunc`s as TVM prints them: they are read, written back, and run on the inputs that TVM ran them on.

use std::fs;
use std::path::{Path, PathBuf};

use relax_spec::data::{DataReader, DataResult, FromData, Node, from_json};
use relax_spec::grammar::TensorData;
use relax_spec::grammar::tir::PrimFunc;
use relax_spec::syntax::tvmscript::Dialect;
use relax_spec::syntax::tvmscript::tir_parse::parse_prim_func;
use relax_spec::syntax::tvmscript::tir_print::print_prim_func;
use relax_spec::tir::{TirArg, interpret};
use relax_spec::value::{Scalar, Tensor};
use ruff_python_ast::Stmt;

/// Inputs with TVM's results, and the allowed relative error if TVM approximates a function.
struct Sample {
    tolerance: f64,
    inputs: Vec<TensorData>,
    outputs: Vec<TensorData>,
}

impl FromData for Sample {
    fn read(r: &mut DataReader<'_>, node: &Node<'_>) -> DataResult<Sample> {
        let fields = r.fields(node, "a sample", None)?;
        Ok(Sample {
            tolerance: fields.one(r, "tolerance")?,
            inputs: fields.one(r, "inputs")?,
            outputs: fields.one(r, "outputs")?,
        })
    }
}

/// The samples: name, data, and the texts of each version of TVM; only one if both print the same.
fn samples() -> Vec<(String, Sample, Vec<PathBuf>)> {
    let dir = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../..")).join("tests/samples/tir");
    let mut samples = Vec::new();
    for entry in fs::read_dir(&dir).expect("tests/samples/tir") {
        let path = entry.expect("an entry").path();
        if path.extension().is_some_and(|e| e == "json") {
            let name = path.file_stem().expect("a name").to_string_lossy().into_owned();
            let text = fs::read_to_string(&path).expect("a file");
            let sample = from_json(&text).unwrap_or_else(|e| panic!("{name}: {e}"));
            let of_both = dir.join(format!("{name}.py"));
            let texts = if of_both.exists() {
                vec![of_both]
            } else {
                ["025", "027"].map(|version| dir.join(format!("{name}.{version}.py"))).to_vec()
            };
            samples.push((name, sample, texts));
        }
    }
    samples.sort_by(|a, b| a.0.cmp(&b.0));
    assert!(samples.len() >= 100, "only {} samples found", samples.len());
    samples
}

fn read(text: &str, name: &str) -> PrimFunc {
    let module = ruff_python_parser::parse_module(text).unwrap_or_else(|e| panic!("{name}: {e}")).into_syntax();
    let def = module.body.iter().find_map(|stmt| match stmt {
        Stmt::FunctionDef(def) => Some(def),
        _ => None,
    });
    parse_prim_func(def.expect("a function"), text).unwrap_or_else(|e| panic!("{name}: {e}\n{}", e.source_line))
}

fn read_file(path: &Path) -> PrimFunc {
    let text = fs::read_to_string(path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    read(&text, &path.display().to_string())
}

/// The first element outside of the tolerance, with both values.
fn difference(expected: &TensorData, found: &TensorData, tolerance: f64) -> Option<String> {
    if expected.dtype != found.dtype || expected.shape != found.shape {
        return Some(format!("{} {:?}, not {} {:?}", found.dtype, found.shape, expected.dtype, expected.shape));
    }
    if tolerance == 0.0 {
        return (expected != found).then(|| format!("{found:?}, not {expected:?}"));
    }
    let (a, b) = (Tensor::from_data(expected).expect("a tensor"), Tensor::from_data(found).expect("a tensor"));
    (0..a.len()).find_map(|i| match (a.get(i), b.get(i)) {
        (Some(Scalar::Float(x)), Some(Scalar::Float(y)))
            if (x - y).abs() <= tolerance * (1.0 + x.abs()) || (x.is_nan() && y.is_nan()) =>
        {
            None
        }
        (x, y) if x == y => None,
        (x, y) => Some(format!("element {i} is {y:?}, not {x:?}")),
    })
}

#[test]
fn functions_compute_what_tvm_computes() {
    let mut wrong = Vec::new();
    for (name, sample, texts) in samples() {
        for path in texts {
            let f = read_file(&path);
            let inputs = sample.inputs.iter().map(|data| Tensor::from_data(data).expect("an input"));
            let outputs: Vec<Tensor> = sample
                .outputs
                .iter()
                .map(|data| {
                    let shape: Vec<i64> = data.shape.iter().map(|d| *d as i64).collect();
                    Tensor::zeros(data.dtype, &shape).expect("an output")
                })
                .collect();
            let args: Vec<TirArg> = inputs.chain(outputs.iter().cloned()).map(TirArg::Tensor).collect();
            match interpret(&f, &args) {
                Err(error) => wrong.push(format!("{name}: {error}")),
                Ok(()) => wrong.extend(sample.outputs.iter().zip(&outputs).filter_map(|(expected, found)| {
                    difference(expected, &found.to_data(), sample.tolerance).map(|d| format!("{name}: {d}"))
                })),
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn text_reads_back_to_the_same_function() {
    for (name, _, texts) in samples() {
        for path in texts {
            let f = read_file(&path);
            for dialect in [Dialect::Tvm025, Dialect::Tvm027] {
                let text = print_prim_func(&f, "main", 0, dialect);
                assert_eq!(read(&text, &name), f, "{text}");
            }
        }
    }
}

#[test]
fn both_versions_print_the_same_function() {
    // 0.27 does not print the offset factor that 0.25 prints, and declares the offset that 0.25 implies. The ASTs may
    // differ where these occur, and for int32 indices that 0.27 casts, but the results may not.
    let is_same = |texts: &[PathBuf]| {
        texts.iter().map(|path| read_file(path)).collect::<Vec<_>>().windows(2).all(|two| two[0] == two[1])
    };
    let same = samples().iter().filter(|(_, _, texts)| is_same(texts)).count();
    assert!(same >= 95, "{same} are the same");
}
