//! Activation functions.

use std::cmp::Ordering;

use crate::grammar::{PrimExpr, StructInfo};
use crate::judge::Cx;
use crate::number::{FloatType, elementary};
use crate::ops::infer::{Domain, TensorDims, arity, axis, differ, float_attr, given_int, tensor};
use crate::ops::kernel::elementwise::{compare, float, function, infer_float, infer_one, number, unary};
use crate::ops::kernel::reals::RealOp;
use crate::ops::kernel::{self, at, fresh, slices, tabulate};
use crate::ops::tensor::unary::zero_like;
use crate::ops::{Attr, EvalArgs, InferArgs, InferError, OpDef, OpParam};
use crate::value::{Host, Scalar, Stop, Value};

macro_rules! function {
    ($name:literal, $rules:tt, $accuracy:ident, $f:expr) => {
        operator!($name, $rules, [OpParam::Arg("data")], infer_float, $accuracy, |m, a| { function(m, a, $name, $f) })
    };
}

pub(in crate::ops) const OPS: &[OpDef] = &[
    operator!(
        "nn.relu",
        [rule!("OPS.nn.relu.infer"), rule!("OPS.nn.relu.value")],
        [OpParam::Arg("data")],
        |cx, a| infer_one(cx, a, Domain::Numbers),
        Exact,
        |m, a| match slices::rectified(m, kernel::tensor(a, 0)?)? {
            Some(value) => Ok(value),
            None => unary(m, a, relu),
        }
    ),
    function!("nn.gelu", [rule!("OPS.nn.gelu.infer"), rule!("OPS.nn.gelu.value")], Elementary, elementary::gelu),
    function!(
        "nn.gelu_tanh",
        [rule!("OPS.nn.gelu_tanh.infer"), rule!("OPS.nn.gelu_tanh.value")],
        Elementary,
        elementary::gelu_tanh
    ),
    function!("nn.selu", [rule!("OPS.nn.selu.infer"), rule!("OPS.nn.selu.value")], Elementary, elementary::selu),
    function!("nn.silu", [rule!("OPS.nn.silu.infer"), rule!("OPS.nn.silu.value")], Elementary, elementary::silu),
    operator!(
        "nn.leakyrelu",
        [rule!("OPS.nn.leakyrelu.infer"), rule!("OPS.nn.leakyrelu.value"), rule!("OPS.nn.leakyrelu.attrs")],
        [OpParam::Arg("data"), OpParam::Attr(Attr::float("alpha", 0.01))],
        infer_float,
        Rounded,
        leakyrelu
    ),
    operator!(
        "nn.softplus",
        [rule!("OPS.nn.softplus.infer"), rule!("OPS.nn.softplus.value"), rule!("OPS.nn.softplus.attrs")],
        [OpParam::Arg("data"), OpParam::Attr(Attr::float("beta", 1.0)), OpParam::Attr(Attr::float("threshold", 20.0))],
        infer_float,
        Elementary,
        softplus
    ),
    operator!(
        "nn.prelu",
        [rule!("OPS.nn.prelu.infer"), rule!("OPS.nn.prelu.value"), rule!("OPS.nn.prelu.attrs")],
        [OpParam::Arg("data"), OpParam::Arg("alpha"), OpParam::Attr(Attr::int("axis", 1))],
        infer_prelu,
        Rounded,
        prelu
    ),
];

fn relu(x: Scalar) -> Result<Scalar, Stop> {
    number(x, zero_like(x), i64::max, u64::max, RealOp::Larger)
}

fn leakyrelu(m: &mut dyn Host, a: &EvalArgs<'_>) -> Result<Value, Stop> {
    let float = kernel::tensor(a, 0)?.dtype().float_type().unwrap_or(FloatType::Float64);
    let alpha = kernel::number_of(m, float_attr(a.call, "alpha")?, float);
    unary(m, a, |x| sloped(x, alpha))
}

/// A number above zero, or a multiple of one below.
fn sloped(x: Scalar, alpha: Scalar) -> Result<Scalar, Stop> {
    match compare(x, zero_like(x))? {
        Some(Ordering::Greater) => Ok(x),
        Some(Ordering::Less | Ordering::Equal) | None => {
            number(alpha, x, i64::wrapping_mul, u64::wrapping_mul, RealOp::Product)
        }
    }
}

/// log(1 + exp(beta x)) / beta, and x itself above the threshold.
fn softplus(m: &mut dyn Host, a: &EvalArgs<'_>) -> Result<Value, Stop> {
    let (beta, threshold) = (float_attr(a.call, "beta")?, float_attr(a.call, "threshold")?);
    unary(m, a, |x| float(x).map(|x| Scalar::Float(elementary::softplus(x, beta, threshold))))
}

fn infer_prelu(cx: &mut Cx, a: &InferArgs<'_>) -> Result<StructInfo, InferError> {
    arity::<2>(a)?;
    let (data, alpha) = (tensor(a, 0)?, tensor(a, 1)?);
    Domain::Floats.demand(data.dtype)?;
    Domain::Floats.demand(alpha.dtype)?;
    let given = given_int(a.call, "axis")?;
    let along = TensorDims::of(data).rank().map(|rank| axis(given, rank)).transpose()?;
    let factors = TensorDims::of(alpha);
    if let Some(rank) = factors.rank().filter(|rank| *rank != 1) {
        return Err(InferError::op(format!("the factors must be a vector, they have rank {rank}")));
    }
    if let (TensorDims::Known(data), TensorDims::Known(factors), Some(along)) = (TensorDims::of(data), factors, along)
        && let (Some(size), Some(count)) = (data.get(along), factors.first())
        && differ(cx, count, size)
        && differ(cx, count, &PrimExpr::IntImm(1))
    {
        return Err(InferError::op(format!("{count} factors do not belong to an axis of {size}")));
    }
    Ok(StructInfo::Tensor(data.clone()))
}

/// Multiplies negative elements by the factor for their position along the axis. A single factor applies to all
/// positions.
fn prelu(m: &mut dyn Host, a: &EvalArgs<'_>) -> Result<Value, Stop> {
    let (data, alpha) = (kernel::tensor(a, 0)?, kernel::tensor(a, 1)?);
    let along = axis(given_int(a.call, "axis")?, data.shape().len())?;
    fresh(tabulate(m, data.dtype(), data.shape(), |i| {
        let place = if alpha.len() == 1 { 0 } else { i.get(along).copied().unwrap_or(0) };
        sloped(at(data, i)?, at(alpha, &[place])?)
    })?)
}
