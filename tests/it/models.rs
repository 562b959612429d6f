//! The models of conformance/models, built with TVM. They are read in both formats, checked, and run before and after
//! `LegalizeOps` on the inputs of `NAME.run.json`, which has the results of TVM's virtual machine. On these inputs
//! nothing is rounded in any order (`tools/run_models.py` gives the reason), so all results are compared bit for bit.

use std::fs;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use relax_spec::check::check_program;
use relax_spec::data::{DataReader, DataResult, FromData, Node, from_json, from_ron};
use relax_spec::grammar::{IrModule, TensorData};
use relax_spec::judge::Cx;
use relax_spec::ops::Accuracy;
use relax_spec::oracle;
use relax_spec::question::{Answer, Ask, ProgramInput, RunAnswer};
use relax_spec::refine::{RefinementVerdict, Settings, refine};
use relax_spec::suite::accuracy::{Closeness, Within, closeness};
use relax_spec::suite::same_program::same_program;
use relax_spec::syntax::tvmscript::parse_module;
use relax_spec::value::ValueSpec;

const MODELS: [&str; 4] = ["mlp", "conv_block", "decoder_block", "mixture_of_experts"];
const ENTRY: &str = "forward";

fn text(file: &str) -> String {
    let path = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../..")).join("conformance/models").join(file);
    fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
}

fn model(name: &str) -> IrModule {
    parse_module(&text(&format!("{name}.py"))).unwrap_or_else(|e| panic!("{name}: {e}"))
}

/// The model before and after legalization.
fn forms(name: &str) -> [(String, IrModule); 2] {
    [name.to_owned(), format!("{name}.legalized")].map(|name| (name.clone(), model(&name)))
}

struct RunFile {
    inputs: Vec<Packed>,
    outputs: Vec<TensorData>,
}

/// An element is a digit, minus 9, times the scale.
struct Packed {
    shape: Vec<u64>,
    scale: f64,
    digits: String,
}

impl FromData for RunFile {
    fn read(r: &mut DataReader<'_>, node: &Node<'_>) -> DataResult<RunFile> {
        let fields = r.fields(node, "a file of runs", None)?;
        Ok(RunFile { inputs: fields.one(r, "inputs")?, outputs: fields.one(r, "outputs")? })
    }
}

impl FromData for Packed {
    fn read(r: &mut DataReader<'_>, node: &Node<'_>) -> DataResult<Packed> {
        let fields = r.fields(node, "packed elements", None)?;
        Ok(Packed { shape: fields.one(r, "shape")?, scale: fields.one(r, "scale")?, digits: fields.one(r, "digits")? })
    }
}

impl Packed {
    fn unpack(&self) -> ValueSpec {
        let digit = |c: char| f64::from(c.to_digit(19).expect("a digit below 19")) - 9.0;
        self.tensor(self.digits.chars().map(|c| digit(c) * self.scale).collect())
    }

    fn tensor(&self, values: Vec<f64>) -> ValueSpec {
        let dtype = "float32".parse().expect("a data type");
        let data = TensorData::from_values(dtype, &self.shape, &values);
        ValueSpec::Tensor(data.unwrap_or_else(|e| panic!("{:?}: {e}", self.shape)))
    }
}

fn run_file(name: &str) -> RunFile {
    from_json(&text(&format!("{name}.run.json"))).unwrap_or_else(|e| panic!("{name}: {e}"))
}

fn inputs(name: &str) -> Vec<ValueSpec> {
    run_file(name).inputs.iter().map(Packed::unpack).collect()
}

/// Numbers in (-1, 1) with the shapes of the inputs, from a fixed sequence.
fn other_inputs(name: &str) -> Vec<ValueSpec> {
    let mut state = 1u64;
    let mut next = move || {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        f64::from((state >> 40) as f32 / 8388608.0 - 1.0)
    };
    let values = |packed: &Packed| (0..packed.shape.iter().product()).map(|_| f64::from(next() as f32)).collect();
    run_file(name).inputs.iter().map(values).zip(&run_file(name).inputs).map(|(v, packed)| packed.tensor(v)).collect()
}

fn run(name: &str, module: &IrModule, inputs: Vec<ValueSpec>) -> Vec<ValueSpec> {
    let ask = Ask::Evaluate(ProgramInput::Module(module.clone()), ENTRY.into(), inputs);
    match oracle::answer(&mut Cx::new(), &ask) {
        Ok(Answer::Run(RunAnswer::Returns(ValueSpec::Tuple(fields), _))) => fields,
        Ok(Answer::Run(RunAnswer::Returns(value, _))) => vec![value],
        other => panic!("{name}: {other:?}"),
    }
}

#[test]
fn both_formats_hold_the_same_program() {
    for name in MODELS {
        for (name, module) in forms(name) {
            let ron: IrModule = from_ron(&text(&format!("{name}.ron"))).unwrap_or_else(|e| panic!("{name}.ron: {e}"));
            assert!(same_program(&ron, &module), "{name}");
        }
    }
}

#[test]
fn there_is_nothing_to_complain_of() {
    for name in MODELS {
        for (name, module) in forms(name) {
            assert_eq!(check_program(&mut Cx::new(), &module).diagnostics, Vec::new(), "{name}");
        }
    }
}

#[test]
fn both_forms_compute_what_tvm_computes_bit_for_bit() {
    for name in MODELS {
        let expected: Vec<ValueSpec> = run_file(name).outputs.into_iter().map(ValueSpec::Tensor).collect();
        for (name, module) in forms(name) {
            assert!(run(&name, &module, inputs(&name.replace(".legalized", ""))) == expected, "{name}");
        }
    }
}

#[test]
fn legalization_refines() {
    for name in MODELS {
        let [(_, before), (_, after)] = forms(name);
        let refinement =
            refine(&mut Cx::new(), &before, &after, ENTRY, &[inputs(name)], &Settings::runs(0)).expect("a comparison");
        assert_eq!((refinement.verdict, refinement.compared), (RefinementVerdict::Allowed, 1), "{name}");
    }
}

#[test]
fn a_wrong_legalization_does_not_refine() {
    let before = model("mlp");
    let text = text("mlp.legalized.py").replacen("T.max(", "T.min(", 1);
    let after = parse_module(&text).expect("a program");
    let refinement =
        refine(&mut Cx::new(), &before, &after, ENTRY, &[inputs("mlp")], &Settings::runs(0)).expect("a comparison");
    assert!(matches!(refinement.verdict, RefinementVerdict::NotAllowed { .. }), "{:?}", refinement.verdict);
}

/// Elementary functions and rounding make bits differ. The number of terms of the sums and the sum of their magnitudes
/// limit the difference (`spec/accuracy.ron`).
#[test]
fn both_forms_agree_on_other_data_within_the_table() {
    let bounds = [
        ("mlp", 48, 200.0),
        ("conv_block", 256, 20_000.0),
        ("decoder_block", 256, 20_000.0),
        ("mixture_of_experts", 64, 2_000.0),
    ];
    for (name, length, magnitude) in bounds {
        let within = Within { class: Accuracy::Accumulated, length, magnitude };
        let [(_, before), (_, after)] = forms(name);
        let (before, after) = (run(name, &before, other_inputs(name)), run(name, &after, other_inputs(name)));
        for (x, y) in before.iter().zip(&after) {
            match closeness(&within, x, y) {
                Closeness::Within { used, could_fail } => assert!(could_fail && used < 1.0, "{name}: {used}"),
                Closeness::Apart => panic!("{name}: {x}, not {y}"),
            }
        }
    }
}

#[test]
#[cfg_attr(debug_assertions, ignore = "the time of an optimized build counts")]
fn the_decoder_block_takes_less_than_a_second() {
    let (module, inputs) = (model("decoder_block"), inputs("decoder_block"));
    let start = Instant::now();
    run("decoder_block", &module, inputs);
    assert!(start.elapsed() < Duration::from_secs(1), "{:?}", start.elapsed());
}
