//! Quantization: `quantize` and `dequantize`.

use crate::grammar::{Call, DataType, PrimExpr, StructInfo, TensorStructInfo};
use crate::judge::Cx;
use crate::number::FloatType;
use crate::ops::infer::{Domain, TensorDims, arity, axis, differ, given_int, required_dtype, tensor, with_dtype};
use crate::ops::kernel::elementwise::float;
use crate::ops::kernel::{self, at, at_flat, fail, tabulate_out};
use crate::ops::{Attr, EvalArgs, InferArgs, InferError, OpDef, OpParam};
use crate::value::{Host, Scalar, Stop, Tensor, Value};

macro_rules! quantization {
    ($name:literal, $rules:tt, $dtype:expr, $infer:expr, $eval:expr) => {
        operator!(
            $name,
            $rules,
            [
                OpParam::Arg("data"),
                OpParam::Arg("scale"),
                OpParam::Arg("zero_point"),
                OpParam::Attr(Attr::int("axis", -1)),
                OpParam::Attr(Attr::dtype("out_dtype", $dtype)),
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
    required_dtype(call, "out_dtype")
}

fn infer(cx: &mut Cx, a: &InferArgs<'_>, from: Domain, to: Domain) -> Result<StructInfo, InferError> {
    arity::<3>(a)?;
    let (data, dtype) = (tensor(a, 0)?, out_dtype(a.call)?);
    from.demand(data.dtype)?;
    to.demand(dtype)?;
    Domain::Floats.demand(tensor(a, 1)?.dtype)?;
    Domain::Numbers.demand(tensor(a, 2)?.dtype)?;
    let along = TensorDims::of(data).rank().map(|rank| channels(a.call, rank)).transpose()?;
    for i in [1, 2] {
        parameter(cx, data, along, tensor(a, i)?)?;
    }
    Ok(with_dtype(data, dtype))
}

/// The axis of the channels; a scalar does not have one.
fn channels(call: &Call, rank: usize) -> Result<usize, InferError> {
    axis(given_int(call, "axis")?, rank.max(1))
}

/// A parameter: one for all elements, or one for each channel.
fn parameter(
    cx: &mut Cx,
    data: &TensorStructInfo,
    along: Option<usize>,
    parameter: &TensorStructInfo,
) -> Result<(), InferError> {
    let one = |cx: &mut Cx, dim: &PrimExpr| !differ(cx, dim, &PrimExpr::IntImm(1));
    let TensorDims::Known(own) = TensorDims::of(parameter) else { return Ok(()) };
    if own.iter().all(|dim| one(cx, dim)) {
        return Ok(());
    }
    let [size] = &*own else {
        return Err(InferError::op(format!("{parameter} is neither one number nor one for each channel")));
    };
    match (TensorDims::of(data), along) {
        (TensorDims::Known(dims), Some(along)) if dims.get(along).is_none_or(|channels| differ(cx, channels, size)) => {
            Err(InferError::op(format!("{size} numbers do not belong to the channels of {data}")))
        }
        (TensorDims::Rank(0), _) => Err(InferError::op("a scalar has no channels")),
        (TensorDims::Known(_) | TensorDims::Rank(_) | TensorDims::Unknown, Some(_) | None) => Ok(()),
    }
}

/// The parameter for the element at an index.
fn of_element(parameter: &Tensor, index: &[i64], along: usize) -> Result<Scalar, Stop> {
    match parameter.len() {
        1 => at_flat(parameter, 0),
        _ => at(parameter, &[index.get(along).copied().unwrap_or(0)]),
    }
}

/// A number as an integer if it is one, otherwise as a float.
#[derive(Clone, Copy)]
enum ExactNumber {
    Whole(i128),
    Float(f64),
}

impl ExactNumber {
    fn of(x: Scalar) -> ExactNumber {
        match x {
            Scalar::Bool(x) => ExactNumber::Whole(x.into()),
            Scalar::Int(x) => ExactNumber::Whole(x.into()),
            Scalar::UInt(x) => ExactNumber::Whole(x.into()),
            Scalar::Float(x) => ExactNumber::Float(x),
            // Quantization is not in the ring.
            Scalar::Ring(_) => ExactNumber::Float(f64::NAN),
        }
    }

    fn as_float(self) -> f64 {
        match self {
            ExactNumber::Whole(x) => x as f64,
            ExactNumber::Float(x) => x,
        }
    }
}

/// `round(x / scale) + zero_point`, clipped to the range of the result. Integers are added as integers.
fn quantize(m: &mut dyn Host, a: &EvalArgs<'_>) -> Result<Value, Stop> {
    let (data, scale, zero) = (kernel::tensor(a, 0)?, kernel::tensor(a, 1)?, kernel::tensor(a, 2)?);
    let along = channels(a.call, data.shape().len())?;
    let dtype = out_dtype(a.call)?;
    let (least, greatest) = kernel::integers(dtype).ok_or_else(|| fail(format!("{dtype} has no whole numbers")))?;
    let quotient = wider(data.dtype(), scale.dtype());
    tabulate_out(m, a, |index| {
        let scaled = float(at(data, index)?)? / float(of_element(scale, index, along)?)?;
        let whole = libm::rint(quotient.round(scaled));
        brought(whole, ExactNumber::of(of_element(zero, index, along)?), least, greatest)
    })
}

/// The sum of an integral float and a zero point, clipped to a range of integers. A value beyond 128 bits is outside
/// any such range, whatever the zero point.
fn brought(whole: f64, zero: ExactNumber, least: i128, greatest: i128) -> Result<Scalar, Stop> {
    let sum = match zero {
        ExactNumber::Whole(_) if whole.is_nan() => whole,
        ExactNumber::Whole(zero) => {
            return Ok(integer((whole as i128).saturating_add(zero).clamp(least, greatest)));
        }
        ExactNumber::Float(zero) => whole + zero,
    };
    if sum.is_nan() {
        return Err(Stop::unspecified("what is not a number has no place in a range of integers"));
    }
    Ok(integer((sum as i128).clamp(least, greatest)))
}

/// An integer of at most 64 bits.
fn integer(x: i128) -> Scalar {
    u64::try_from(x).map_or(Scalar::Int(x as i64), Scalar::UInt)
}

/// The wider of two floating-point types. If neither contains the other, it is the smallest type that contains both.
fn wider(a: DataType, b: DataType) -> FloatType {
    let [a, b] = [a, b].map(|dtype| dtype.float_type().unwrap_or(FloatType::Float32));
    match a.width() == b.width() && a != b {
        true => FloatType::Float32,
        false => [a, b].into_iter().max_by_key(|float| float.digits()).unwrap_or(a),
    }
}

/// `scale * (x - zero_point)`, clipped to the range of the result. Integers are subtracted as integers.
fn dequantize(m: &mut dyn Host, a: &EvalArgs<'_>) -> Result<Value, Stop> {
    let (data, scale, zero) = (kernel::tensor(a, 0)?, kernel::tensor(a, 1)?, kernel::tensor(a, 2)?);
    let along = channels(a.call, data.shape().len())?;
    let dtype = out_dtype(a.call)?;
    let result = dtype.float_type().ok_or_else(|| fail(format!("{dtype} is no type of floats")))?;
    tabulate_out(m, a, |index| {
        let (x, zero) = (ExactNumber::of(at(data, index)?), ExactNumber::of(of_element(zero, index, along)?));
        let scale = float(of_element(scale, index, along)?)?;
        let product = match (x, zero) {
            (ExactNumber::Whole(x), ExactNumber::Whole(zero)) => result.multiple(x - zero, scale),
            (x, zero) => (x.as_float() - zero.as_float()) * scale,
        };
        let greatest = result.greatest();
        Ok(Scalar::Float(if product.is_nan() { product } else { product.clamp(-greatest, greatest) }))
    })
}
