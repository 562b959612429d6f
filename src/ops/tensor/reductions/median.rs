//! `median`.

use super::reduce::{group, reduced, reduced_dims, something};
use crate::grammar::{Call, DataType, StructInfo};
use crate::judge::Cx;
use crate::ops::infer::{bool_attr, ints_attr, tensor};
use crate::ops::kernel::{self, beside, fail, tabulate};
use crate::ops::tensor::search::{LineOrder, Shown, sorted};
use crate::ops::{Attr, AttrKind, EvalArgs, InferArgs, InferError, OpDef, OpParam};
use crate::value::{Host, Scalar, Stop, Tensor, Value, count};

pub(in crate::ops) const OPS: &[OpDef] = &[operator!(
    "median",
    [rule!("OPS.median.infer"), rule!("OPS.median.value"), rule!("OPS.median.attrs")],
    [
        OpParam::Arg("x"),
        OpParam::Attr(Attr::optional("axis", AttrKind::Ints)),
        OpParam::Attr(Attr::bool("keepdims", false)),
    ],
    infer_median,
    Exact,
    median
)];

/// Whether the median has a position: it does if it is taken along one axis.
fn has_places(call: &Call) -> Result<bool, InferError> {
    Ok(ints_attr(call, "axis")?.is_some_and(|axes| axes.len() == 1))
}

fn infer_median(_: &mut Cx, a: &InferArgs<'_>) -> Result<StructInfo, InferError> {
    let dims = reduced_dims(a)?;
    something(a)?;
    let medians = dims.clone().tensor(tensor(a, 0)?.dtype);
    if !has_places(a.call)? {
        return Ok(medians);
    }
    Ok(StructInfo::tuple([medians, dims.tensor(DataType::INT64)]))
}

/// The median. For an even number of elements it is the lower of the two middle ones.
fn middle(items: &[Scalar], order: LineOrder, shown: Shown) -> Result<(Scalar, i64), Stop> {
    let place = sorted(items, false).get(items.len().saturating_sub(1) / 2).copied();
    let place = place.ok_or_else(|| fail("nothing has no median"))?;
    order.decides(items, place, shown)?;
    let item = *items.get(place).ok_or_else(|| fail("nothing has no median"))?;
    Ok((item, place as i64))
}

fn median(m: &mut dyn Host, a: &EvalArgs<'_>) -> Result<Value, Stop> {
    let x = kernel::tensor(a, 0)?;
    let reduced = reduced(a.call, x.shape().len())?;
    let keep = bool_attr(a.call, "keepdims")?;
    let order = LineOrder::of(m);
    let sizes = x.shape().iter().enumerate();
    let inner: Vec<i64> = sizes.clone().map(|(i, size)| if reduced.contains(&i) { *size } else { 1 }).collect();
    let outer: Vec<i64> = sizes
        .filter(|(i, _)| keep || !reduced.contains(i))
        .map(|(i, size)| if reduced.contains(&i) { 1 } else { *size })
        .collect();
    // Sorting compares each element about as many times as the binary digits of their number.
    let digits = u64::from(u64::BITS - count(&inner).leading_zeros());
    let _held = beside(m, count(&inner).saturating_mul(2))?;
    m.spend((x.len() as u64).saturating_mul(digits.saturating_mul(2)))?;
    let mut found = |dtype: DataType, shown: Shown, part: fn((Scalar, i64)) -> Scalar| -> Result<Tensor, Stop> {
        tabulate(m, dtype, &outer, |index| middle(&group(x, &reduced, &inner, index, keep)?, order, shown).map(part))
    };
    let medians = Value::Tensor(found(x.dtype(), Shown::Element, |(median, _)| median)?);
    if !has_places(a.call)? {
        return Ok(medians);
    }
    Ok(Value::tuple(vec![
        medians,
        Value::Tensor(found(DataType::INT64, Shown::Place, |(_, place)| Scalar::Int(place))?),
    ]))
}
