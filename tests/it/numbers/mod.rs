//! Compares the numbers of the oracle with exact arithmetic: conversions, and elementary functions.
//!
//! Each law has a short form, which always runs, and a long one, which is ignored by default: `cargo test --release
//! --test it numbers -- --ignored --nocapture`.

mod elementary;
mod points;
mod precise;
mod rounding;

use relax_spec::grammar::{DataType, TensorData};
use relax_spec::question::RunAnswer;
use relax_spec::value::{Scalar, Tensor, ValueSpec};

const FLOATS: [DataType; 4] = [DataType::FLOAT16, DataType::BFLOAT16, DataType::FLOAT32, DataType::FLOAT64];

/// A tensor of one dimension.
fn line(dtype: DataType, elements: &[Scalar]) -> TensorData {
    shaped(dtype, &[elements.len() as i64], elements)
}

/// A tensor without dimensions.
fn scalar(dtype: DataType, element: Scalar) -> TensorData {
    shaped(dtype, &[], &[element])
}

fn shaped(dtype: DataType, shape: &[i64], elements: &[Scalar]) -> TensorData {
    let tensor = Tensor::zeros(dtype, shape).expect("a tensor");
    for (i, element) in elements.iter().enumerate() {
        assert!(tensor.set(i, *element));
        assert!(tensor.get(i) == Some(*element) || is_nan(*element), "{element:?} is no element of {dtype}");
    }
    tensor.to_data()
}

fn is_nan(x: Scalar) -> bool {
    matches!(x, Scalar::Float(x) if x.is_nan())
}

fn elements(data: &TensorData) -> Vec<Scalar> {
    let tensor = Tensor::from_data(data).expect("a tensor");
    (0..tensor.len()).map(|i| tensor.get(i).expect("an element")).collect()
}

/// The result of `main` of a program for these tensors.
fn run(program: &str, arguments: &[TensorData]) -> Vec<Scalar> {
    let module = relax_spec::parse(program).unwrap_or_else(|e| panic!("{e}\n{program}"));
    let arguments: Vec<ValueSpec> = arguments.iter().cloned().map(ValueSpec::Tensor).collect();
    match relax_spec::run(&module, "main", &arguments) {
        Ok(RunAnswer::Returns(ValueSpec::Tensor(data), _)) => elements(&data),
        other => panic!("{other:?}\n{program}"),
    }
}
