//! `nn.softmax`.

use super::infer::{Dims, arity, axis, int_attr, tensor};
use super::kernel::{self, at, fail, fresh, tabulate};
use super::{Attr, EvalArgs, InferArgs, InferError, OpDef, Param};
use crate::cx::Cx;
use crate::eval::tensor::{Scalar, Tensor};
use crate::eval::{Machine, Stop, Value};
use crate::grammar::StructInfo;
use crate::rule::Rule;

pub(super) const OPS: &[OpDef] = &[operator!(
    "nn.softmax",
    [Rule::OpsNnSoftmaxInfer, Rule::OpsNnSoftmaxValue, Rule::OpsNnSoftmaxAttrs],
    [Param::Arg("data"), Param::Attr(Attr::int("axis", -1))],
    infer_softmax,
    Elementary,
    softmax
)];

fn infer_softmax(_: &mut Cx, a: &InferArgs<'_>) -> Result<StructInfo, InferError> {
    arity::<1>(a)?;
    let x = tensor(a, 0)?;
    if !x.dtype.is_void() && !x.dtype.is_float() {
        return Err(InferError::op(format!("expects a floating-point data type, found {}", x.dtype)));
    }
    if let Some(rank) = Dims::of(x).rank() {
        axis(int_attr(a.call, "axis")?.unwrap_or(-1), rank)?;
    }
    Ok(StructInfo::Tensor(x.clone()))
}

/// `exp(x[i] - max) / sum of exp(x[j] - max)` along the axis, the last by default.
fn softmax(m: &mut Machine<'_>, a: &EvalArgs<'_>) -> Result<Value, Stop> {
    let x = kernel::tensor(a, 0)?;
    let along = axis(int_attr(a.call, "axis")?.unwrap_or(-1), x.shape().len())?;
    let size = x.shape().get(along).copied().unwrap_or(0);
    m.spend((x.len() as u64).saturating_mul(size.unsigned_abs()))?;
    fresh(tabulate(m, x.dtype(), x.shape(), |index| {
        let line = line(x, index, along, size)?;
        let max = line.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let sum: f64 = line.iter().map(|x| (x - max).exp()).sum();
        let own = usize::try_from(index.get(along).copied().unwrap_or(0)).ok().and_then(|i| line.get(i).copied());
        own.map(|x| Scalar::Float((x - max).exp() / sum)).ok_or_else(|| fail("an index lies outside its tensor"))
    })?)
}

/// The elements along an axis through an index.
fn line(x: &Tensor, index: &[i64], along: usize, size: i64) -> Result<Vec<f64>, Stop> {
    let element = |i: i64| {
        let place: Vec<i64> = index.iter().enumerate().map(|(a, own)| if a == along { i } else { *own }).collect();
        match at(x, &place)? {
            Scalar::Float(x) => Ok(x),
            Scalar::Bool(_) | Scalar::Int(_) | Scalar::UInt(_) => Err(fail("expects a floating-point data type")),
        }
    };
    (0..size).map(element).collect()
}
