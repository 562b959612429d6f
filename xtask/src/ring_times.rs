//! A model in the ring beside floats. `cargo xtask ring-times FILE ENTRY` evaluates a function of a program once in
//! each arithmetic, on the same random numbers, and prints the seconds of CPU, their ratio, and the largest distance of
//! the results relative to the largest element. All parameters are tensors of known sizes.

use std::process::ExitCode;

use relax_spec::eval::{EvalOptions, evaluate};
use relax_spec::grammar::{DataType, GlobalFunc, IrModule, PrimExpr, StructInfo, TensorShape};
use relax_spec::judge::{Cx, Ending};
use relax_spec::number::real::{ConstantReading, Real as _};
use relax_spec::number::ring::RingNumber;
use relax_spec::syntax::load::{ExternalForm, parse};
use relax_spec::value::{Scalar, Tensor, Value};

use crate::kernels::computed;

/// The task, with what stands behind its name on the command line.
pub fn run(args: Vec<String>) -> ExitCode {
    let [file, entry] = args.as_slice() else {
        eprintln!("expects a file and the name of a function");
        return ExitCode::from(2);
    };
    match measured(file, entry) {
        Ok((floats, ring, far)) => {
            println!("| floats (s) | ring (s) | ratio | difference |\n| --- | --- | --- | --- |");
            println!("| {floats:.3} | {ring:.3} | {:.1} | {far:.1e} |", ring / floats);
            ExitCode::SUCCESS
        }
        Err(reason) => {
            eprintln!("{reason}");
            ExitCode::FAILURE
        }
    }
}

fn measured(file: &str, entry: &str) -> Result<(f64, f64, f64), String> {
    let text = std::fs::read_to_string(file).map_err(|error| format!("{file}: {error}"))?;
    let module = parse(ExternalForm::TvmScript, &text).map_err(|error| error.to_string())?;
    let timed = |ring: Option<ConstantReading>| {
        let args = arguments(&module, entry, ring.is_some())?;
        let options = EvalOptions { fuel: u64::MAX, memory: u64::MAX, ring, ..EvalOptions::default() };
        let start = computed();
        match evaluate(&mut Cx::new(), &module, entry, args, &options).outcome {
            Ending::Value(value) => Ok((computed() - start, value)),
            other => Err(format!("{other:?}")),
        }
    };
    let (floats, expected) = timed(None)?;
    let (ring, found) = timed(Some(ConstantReading::Exact))?;
    let (expected, found) = (numbers(&expected), numbers(&found));
    let largest = expected.iter().fold(0.0, |most: f64, x| most.max(x.abs()));
    let far = expected.iter().zip(&found).fold(0.0, |most: f64, (x, y)| most.max((x - y).abs()));
    Ok((floats, ring, far / largest))
}

/// Random numbers of magnitude 1 for each parameter, and weights that keep it; variances are positive.
fn arguments(module: &IrModule, entry: &str, in_ring: bool) -> Result<Vec<Value>, String> {
    let named = module.funcs.iter().find(|(name, _)| &*name.name == entry);
    let Some((_, GlobalFunc::Function(func))) = named else { return Err(format!("no function {entry}")) };
    let mut random = fastrand::Rng::with_seed(0);
    let argument = |param: &relax_spec::grammar::Binder| {
        let (dtype, shape) = param.annotation.as_ref().and_then(sizes).ok_or("a parameter is no tensor")?;
        let inner: i64 = shape.iter().skip(1).product();
        let scale = if shape.len() > 1 && param.var.name.ends_with("weight") { (inner as f64).sqrt() } else { 1.0 };
        let is_variance = param.var.name.ends_with("variance");
        let zeros = if in_ring { Tensor::zeros_of_ring } else { Tensor::zeros };
        let tensor = zeros(dtype, &shape).map_err(|error| error.to_string())?;
        let number = |_| {
            let (x, seed) = (3.0 * random.f64() - 1.5, random.u64(..));
            let x = f64::from(if is_variance { x.abs() + 0.5 } else { x / scale } as f32);
            let ring = || Scalar::Ring(RingNumber::drawn(seed, x));
            Ok::<Scalar, String>(if in_ring { ring() } else { Scalar::Float(x) })
        };
        tensor.fill(number)?;
        Ok(Value::Tensor(tensor))
    };
    func.params.iter().map(argument).collect()
}

fn sizes(info: &StructInfo) -> Option<(DataType, Vec<i64>)> {
    let StructInfo::Tensor(tensor) = info else { return None };
    let Some(TensorShape::Dims(dims)) = &tensor.shape else { return None };
    let size = |dim: &PrimExpr| if let PrimExpr::IntImm(size) = dim { Some(*size) } else { None };
    Some((tensor.dtype, dims.iter().map(size).collect::<Option<_>>()?))
}

/// All numbers of a value.
fn numbers(value: &Value) -> Vec<f64> {
    match value {
        Value::Tuple(tuple) => tuple.fields().iter().flat_map(numbers).collect(),
        Value::Tensor(tensor) => (0..tensor.len()).filter_map(|i| tensor.get(i)).map(near).collect(),
        _ => Vec::new(),
    }
}

fn near(x: Scalar) -> f64 {
    match x {
        Scalar::Float(x) => x,
        Scalar::Ring(x) => x.near(),
        Scalar::Int(x) => x as f64,
        Scalar::UInt(x) => x as f64,
        Scalar::Bool(x) => x.into(),
    }
}
