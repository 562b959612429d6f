//! Quantization: `quantize` and `dequantize`.

use crate::grammar::{Call, DataType, PrimExpr, StructInfo, TensorStructInfo};
use crate::judge::Cx;
use crate::number::FloatType;
use crate::ops::infer::{Dims, Domain, arity, axis, differ, dtype_attr, int_attr, tensor, with_dtype};
use crate::ops::kernel::elementwise::float;
use crate::ops::kernel::{self, at, at_flat, tabulate_out};
use crate::ops::{Attr, EvalArgs, InferArgs, InferError, OpDef, Param};
use crate::value::{Element, Host, Scalar, Stop, Tensor, Value};

macro_rules! quantization {
    ($name:literal, $rules:tt, $dtype:expr, $infer:expr, $eval:expr) => {
        operator!(
            $name,
            $rules,
            [
                Param::Arg("data"),
                Param::Arg("scale"),
                Param::Arg("zero_point"),
                Param::Attr(Attr::int("axis", -1)),
                Param::Attr(Attr::dtype("out_dtype", $dtype)),
            ],
            $infer,
            Rounded,
            $eval
        )
    };
}

pub(in crate::ops) const OPS: &[OpDef] = &[
    quantization!(
        "quantize",
        [rule!("OPS.quantize.infer"), rule!("OPS.quantize.value"), rule!("OPS.quantize.attrs")],
        DataType::INT8,
        |cx, a| infer(cx, a, Domain::Floats, Domain::Integers),
        quantize
    ),
    quantization!(
        "dequantize",
        [rule!("OPS.dequantize.infer"), rule!("OPS.dequantize.value"), rule!("OPS.dequantize.attrs")],
        DataType::FLOAT32,
        |cx, a| infer(cx, a, Domain::Integers, Domain::Floats),
        dequantize
    ),
];

fn out_dtype(call: &Call) -> Result<DataType, InferError> {
    dtype_attr(call, "out_dtype")?.ok_or_else(|| InferError::op("the attribute `out_dtype` is missing"))
}

fn infer(cx: &mut Cx, a: &InferArgs<'_>, from: Domain, to: Domain) -> Result<StructInfo, InferError> {
    arity::<3>(a)?;
    let (data, dtype) = (tensor(a, 0)?, out_dtype(a.call)?);
    from.demand(data.dtype)?;
    to.demand(dtype)?;
    Domain::Floats.demand(tensor(a, 1)?.dtype)?;
    Domain::Numbers.demand(tensor(a, 2)?.dtype)?;
    let along = Dims::of(data).rank().map(|rank| channels(a.call, rank)).transpose()?;
    for i in [1, 2] {
        parameter(cx, data, along, tensor(a, i)?)?;
    }
    Ok(with_dtype(data, dtype))
}

/// The axis of the channels; a scalar has none.
fn channels(call: &Call, rank: usize) -> Result<usize, InferError> {
    axis(int_attr(call, "axis")?.unwrap_or(-1), rank.max(1))
}

/// One for all elements, or one for each channel.
fn parameter(
    cx: &mut Cx,
    data: &TensorStructInfo,
    along: Option<usize>,
    parameter: &TensorStructInfo,
) -> Result<(), InferError> {
    let one = |cx: &mut Cx, dim: &PrimExpr| !differ(cx, dim, &PrimExpr::IntImm(1));
    let Dims::Known(own) = Dims::of(parameter) else { return Ok(()) };
    if own.iter().all(|dim| one(cx, dim)) {
        return Ok(());
    }
    let [size] = &*own else {
        return Err(InferError::op(format!("{parameter} is neither one number nor one for each channel")));
    };
    match (Dims::of(data), along) {
        (Dims::Known(dims), Some(along)) if dims.get(along).is_none_or(|channels| differ(cx, channels, size)) => {
            Err(InferError::op(format!("{size} numbers do not belong to the channels of {data}")))
        }
        (Dims::Rank(0), _) => Err(InferError::op("a scalar has no channels")),
        (Dims::Known(_) | Dims::Rank(_) | Dims::Unknown, Some(_) | None) => Ok(()),
    }
}

/// The parameter that belongs to the element at an index.
fn of_element(parameter: &Tensor, index: &[i64], along: usize) -> Result<Scalar, Stop> {
    match parameter.len() {
        1 => at_flat(parameter, 0),
        _ => at(parameter, &[index.get(along).copied().unwrap_or(0)]),
    }
}

/// The least and the greatest finite number of a data type.
fn range(dtype: DataType) -> (f64, f64) {
    let power = |bits: u16| libm::ldexp(1.0, bits.into());
    match dtype.float_type() {
        Some(float) => (-float.greatest(), float.greatest()),
        None if dtype.is_int() => (-power(dtype.bits - 1), power(dtype.bits - 1) - 1.0),
        None => (0.0, power(dtype.bits) - 1.0),
    }
}

fn number(x: Scalar) -> f64 {
    Element::from_scalar(x)
}

/// `round(x / scale) + zero_point`, brought into the range of the result.
fn quantize(m: &mut dyn Host, a: &EvalArgs<'_>) -> Result<Value, Stop> {
    let (data, scale, zero) = (kernel::tensor(a, 0)?, kernel::tensor(a, 1)?, kernel::tensor(a, 2)?);
    let along = channels(a.call, data.shape().len())?;
    let (least, greatest) = range(out_dtype(a.call)?);
    let quotient = wider(data.dtype(), scale.dtype());
    tabulate_out(m, a, |index| {
        let scaled = float(at(data, index)?)? / float(of_element(scale, index, along)?)?;
        let whole = libm::rint(quotient.round(scaled)) + number(of_element(zero, index, along)?);
        Ok(Scalar::Float(if whole.is_nan() { whole } else { whole.clamp(least, greatest) }))
    })
}

/// The floating-point type of the two that has more digits.
fn wider(a: DataType, b: DataType) -> FloatType {
    let types = [a, b].map(|dtype| dtype.float_type().unwrap_or(FloatType::Float32));
    types.into_iter().max_by_key(|float| float.digits()).unwrap_or(FloatType::Float32)
}

/// `scale * (x - zero_point)`, brought into the range of the result.
fn dequantize(m: &mut dyn Host, a: &EvalArgs<'_>) -> Result<Value, Stop> {
    let (data, scale, zero) = (kernel::tensor(a, 0)?, kernel::tensor(a, 1)?, kernel::tensor(a, 2)?);
    let along = channels(a.call, data.shape().len())?;
    let (least, greatest) = range(out_dtype(a.call)?);
    tabulate_out(m, a, |index| {
        let steps = number(at(data, index)?) - number(of_element(zero, index, along)?);
        let product = steps * float(of_element(scale, index, along)?)?;
        Ok(Scalar::Float(if product.is_nan() { product } else { product.clamp(least, greatest) }))
    })
}
