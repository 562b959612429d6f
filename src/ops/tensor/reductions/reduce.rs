//! Reductions: sums and products, statistics, extremes and their positions.

use std::cmp::Ordering;

use crate::grammar::{Call, DataType, PrimExpr, StructInfo};
use crate::judge::Cx;
use crate::number::real::Real;
use crate::ops::infer::{Domain, TensorDims, arity, at_least, axes, bool_attr, ints_attr, tensor};
use crate::ops::kernel::lanes;
use crate::ops::kernel::reals::{applied, max_float, min_float};
use crate::ops::kernel::slices::{row_major, runs_of};
use crate::ops::kernel::{self, at, fail, tabulate_out};
use crate::ops::tensor::reductions::statistic::{Statistic, places_in_lines};
use crate::ops::tensor::search::{LineOrder, Shown, order};
use crate::ops::{Attr, AttrKind, EvalArgs, InferArgs, InferError, OpDef, OpParam};
use crate::value::{Host, Scalar, Stop, Tensor, Value};

macro_rules! reduction {
    ($infer:expr, $name:literal, $rules:tt, $accuracy:ident, $statistic:ident, $f:expr) => {
        operator!(
            $name,
            $rules,
            [
                OpParam::Arg("x"),
                OpParam::Attr(Attr::optional("axis", AttrKind::Ints)),
                OpParam::Attr(Attr::bool("keepdims", false)),
            ],
            $infer,
            $accuracy,
            |m, a| reduce_numbers(m, a, Statistic::$statistic, $f),
        )
    };
}

macro_rules! place {
    ($name:literal, $rules:tt, $wanted:expr) => {
        operator!(
            $name,
            $rules,
            [
                OpParam::Arg("x"),
                OpParam::Attr(Attr::optional("axis", AttrKind::Int)),
                OpParam::Attr(Attr::bool("keepdims", false)),
            ],
            infer_place,
            Exact,
            |m, a| {
                let order = LineOrder::of(m);
                let axes = reduced(a.call, kernel::tensor(a, 0)?.shape().len())?;
                match places_in_lines(m, a, &axes, $wanted == Ordering::Greater, order)? {
                    Some(value) => Ok(value),
                    None => reduce(m, a, |items| place_of(items, $wanted, order)),
                }
            },
        )
    };
}

pub(in crate::ops) const OPS: &[OpDef] = &[
    reduction!(
        infer_number,
        "sum",
        [rule!("OPS.sum.infer"), rule!("OPS.sum.value"), rule!("OPS.sum.attrs")],
        Accumulated,
        Sum,
        sum
    ),
    reduction!(
        infer_mean,
        "mean",
        [rule!("OPS.mean.infer"), rule!("OPS.mean.value"), rule!("OPS.mean.attrs")],
        Accumulated,
        Mean,
        mean
    ),
    reduction!(
        infer_extreme,
        "max",
        [rule!("OPS.max.infer"), rule!("OPS.max.value"), rule!("OPS.max.attrs")],
        Exact,
        Largest,
        |x, _| extreme(x, max_float, i64::max, u64::max)
    ),
    reduction!(
        infer_extreme,
        "min",
        [rule!("OPS.min.infer"), rule!("OPS.min.value"), rule!("OPS.min.attrs")],
        Exact,
        Smallest,
        |x, _| extreme(x, min_float, i64::min, u64::min)
    ),
    reduction!(
        infer_number,
        "prod",
        [rule!("OPS.prod.infer"), rule!("OPS.prod.value"), rule!("OPS.prod.attrs")],
        Accumulated,
        Product,
        product
    ),
    reduction!(
        infer_float,
        "variance",
        [rule!("OPS.variance.infer"), rule!("OPS.variance.value"), rule!("OPS.variance.attrs")],
        Accumulated,
        Variance,
        variance
    ),
    reduction!(
        infer_float,
        "std",
        [rule!("OPS.std.infer"), rule!("OPS.std.value"), rule!("OPS.std.attrs")],
        Accumulated,
        Deviation,
        deviation
    ),
    place!(
        "argmax",
        [rule!("OPS.argmax.infer"), rule!("OPS.argmax.value"), rule!("OPS.argmax.attrs")],
        Ordering::Greater
    ),
    place!("argmin", [rule!("OPS.argmin.infer"), rule!("OPS.argmin.value"), rule!("OPS.argmin.attrs")], Ordering::Less),
];

/// The axes that a call reduces; all axes if it names none.
pub(super) fn reduced(call: &Call, rank: usize) -> Result<Vec<usize>, InferError> {
    match ints_attr(call, "axis")? {
        Some(given) => axes(&given, rank),
        None => Ok((0..rank).collect()),
    }
}

/// A reduced dimension is removed, or becomes 1 with `keepdims`.
fn infer_reduction(a: &InferArgs<'_>, domain: Domain) -> Result<StructInfo, InferError> {
    let dtype = tensor(a, 0)?.dtype;
    domain.demand(dtype)?;
    reduced_dims(a).map(|dims| dims.tensor(dtype))
}

fn infer_number(_: &mut Cx, a: &InferArgs<'_>) -> Result<StructInfo, InferError> {
    infer_reduction(a, Domain::Numbers)
}

fn infer_float(_: &mut Cx, a: &InferArgs<'_>) -> Result<StructInfo, InferError> {
    infer_reduction(a, Domain::Floats)
}

/// Rejects the mean of no integers.
fn infer_mean(_: &mut Cx, a: &InferArgs<'_>) -> Result<StructInfo, InferError> {
    let dtype = tensor(a, 0)?.dtype;
    if !dtype.is_void() && !dtype.is_float() {
        something(a)?;
    }
    infer_reduction(a, Domain::Numbers)
}

fn infer_extreme(_: &mut Cx, a: &InferArgs<'_>) -> Result<StructInfo, InferError> {
    something(a)?;
    infer_reduction(a, Domain::Numbers)
}

/// Positions are int64.
fn infer_place(_: &mut Cx, a: &InferArgs<'_>) -> Result<StructInfo, InferError> {
    something(a)?;
    Ok(reduced_dims(a)?.tensor(DataType::INT64))
}

/// An empty list has no extreme. Rejects a reduction over no elements whose result is known to have an element.
pub(super) fn something(a: &InferArgs<'_>) -> Result<(), InferError> {
    let TensorDims::Known(dims) = TensorDims::of(tensor(a, 0)?) else { return Ok(()) };
    let reduced = reduced(a.call, dims.len())?;
    let is_none = |dim: &PrimExpr| *dim == PrimExpr::IntImm(0);
    let (gone, left): (Vec<_>, Vec<_>) = dims.iter().enumerate().partition(|(i, _)| reduced.contains(i));
    if gone.iter().any(|(_, dim)| is_none(dim)) && left.iter().all(|(_, dim)| at_least(dim, 1)) {
        return Err(InferError::op("nothing is reduced to each element of the result"));
    }
    Ok(())
}

pub(super) fn reduced_dims(a: &InferArgs<'_>) -> Result<TensorDims, InferError> {
    arity::<1>(a)?;
    let x = tensor(a, 0)?;
    let keep = bool_attr(a.call, "keepdims")?;
    let given = ints_attr(a.call, "axis")?;
    Ok(match (TensorDims::of(x), given) {
        (TensorDims::Known(dims), _) => {
            let reduced = reduced(a.call, dims.len())?;
            let left = dims.iter().enumerate().filter_map(|(i, dim)| match (reduced.contains(&i), keep) {
                (false, _) => Some(dim.clone()),
                (true, true) => Some(PrimExpr::IntImm(1)),
                (true, false) => None,
            });
            left.collect::<Vec<_>>().into()
        }
        (TensorDims::Rank(_), None) if !keep => Vec::new().into(),
        (TensorDims::Rank(rank), _) => {
            let gone = reduced(a.call, rank as usize)?.len();
            match (keep, gone == rank as usize) {
                (true, true) => vec![PrimExpr::IntImm(1); gone].into(),
                (true, false) => TensorDims::Rank(rank),
                (false, true) => Vec::new().into(),
                (false, false) => TensorDims::of_rank(rank as usize - gone),
            }
        }
        (TensorDims::Unknown, None) if !keep => Vec::new().into(),
        (TensorDims::Unknown, Some(_) | None) => TensorDims::Unknown,
    })
}

fn reduce(m: &mut dyn Host, a: &EvalArgs<'_>, f: impl Fn(&[Scalar]) -> Result<Scalar, Stop>) -> Result<Value, Stop> {
    let x = kernel::tensor(a, 0)?;
    let reduced = reduced(a.call, x.shape().len())?;
    let keep = bool_attr(a.call, "keepdims")?;
    let sizes = || x.shape().iter().copied().enumerate();
    m.spend(x.len() as u64)?;
    let inner: Vec<i64> = sizes().map(|(i, size)| if reduced.contains(&i) { size } else { 1 }).collect();
    if lanes::are_wanted(m) {
        let (strides, mut items) = (row_major(x.shape()), Vec::new());
        return tabulate_out(m, a, |index| {
            items.clear();
            let base = base_of(&reduced, index, inner.len(), keep);
            let start = base.iter().zip(&strides).map(|(i, stride)| i.unsigned_abs() as usize * stride).sum();
            match x.read_runs(runs_of(&inner, &strides, start), &mut items) {
                true => f(&items),
                false => Err(fail("an index lies outside its tensor")),
            }
        });
    }
    tabulate_out(m, a, |index| f(&group(x, &reduced, &inner, index, keep)?))
}

fn reduce_numbers(
    m: &mut dyn Host,
    a: &EvalArgs<'_>,
    statistic: Statistic,
    f: impl Fn(&[Scalar], DataType) -> Result<Scalar, Stop>,
) -> Result<Value, Stop> {
    let dtype = kernel::tensor(a, 0)?.dtype();
    let axes = reduced(a.call, kernel::tensor(a, 0)?.shape().len())?;
    if let Some(value) = statistic.in_lines(m, a, &axes)? {
        return Ok(value);
    }
    reduce(m, a, |items| f(items, dtype))
}

/// The elements that are reduced to one position of the result, in row-major order.
pub(super) fn group(
    x: &Tensor,
    reduced: &[usize],
    inner: &[i64],
    index: &[i64],
    keep: bool,
) -> Result<Vec<Scalar>, Stop> {
    within(x, &base_of(reduced, index, inner.len(), keep), inner)
}

/// The first index of the elements that are reduced to one position of the result.
fn base_of(reduced: &[usize], index: &[i64], rank: usize, keep: bool) -> Vec<i64> {
    let mut outer = index.iter();
    (0..rank)
        .map(|i| match (reduced.contains(&i), keep) {
            (true, false) => 0,
            (true, true) => outer.next().map_or(0, |_| 0),
            (false, _) => outer.next().copied().unwrap_or(0),
        })
        .collect()
}

/// The elements of a box of these sizes that starts at a position, in row-major order.
pub(super) fn within(x: &Tensor, base: &[i64], sizes: &[i64]) -> Result<Vec<Scalar>, Stop> {
    kernel::indices(sizes)
        .map(|offset| at(x, &base.iter().zip(&offset).map(|(b, o)| b + o).collect::<Vec<i64>>()))
        .collect()
}

/// The sum. For integers it may still have to be wrapped.
pub(super) fn sum(items: &[Scalar], dtype: DataType) -> Result<Scalar, Stop> {
    items
        .iter()
        .try_fold(None, |sum, item| match (sum, *item) {
            (None, Scalar::Bool(_)) => Err(fail("a sum is not defined on Booleans")),
            (None, first) => Ok(Some(first)),
            (Some(Scalar::Float(sum)), Scalar::Float(x)) => Ok(Some(Scalar::Float(sum + x))),
            (Some(Scalar::Ring(sum)), Scalar::Ring(x)) => Ok(Some(Scalar::Ring(sum.plus(x)))),
            (Some(Scalar::Int(sum)), Scalar::Int(x)) => Ok(Some(Scalar::Int(sum.wrapping_add(x)))),
            (Some(Scalar::UInt(sum)), Scalar::UInt(x)) => Ok(Some(Scalar::UInt(sum.wrapping_add(x)))),
            (Some(_), _) => Err(fail("elements of different kinds are added")),
        })
        // The sum of no elements is zero.
        .map(|sum| sum.unwrap_or(kernel::zero(dtype)))
}

/// The mean. A sum of integers wraps around before the division.
fn mean(items: &[Scalar], dtype: DataType) -> Result<Scalar, Stop> {
    kernel::quotient(kernel::wrapped(sum(items, dtype)?, dtype)?, items.len() as u64)
}

fn extreme(
    items: &[Scalar],
    float: impl Fn(f64, f64) -> f64,
    int: impl Fn(i64, i64) -> i64,
    uint: impl Fn(u64, u64) -> u64,
) -> Result<Scalar, Stop> {
    let pick = |a: Scalar, b: &Scalar| match (a, *b) {
        (Scalar::Float(x), Scalar::Float(y)) => Ok(Scalar::Float(float(x, y))),
        (Scalar::Ring(x), Scalar::Ring(y)) => {
            let (near_x, near_y) = (x.near(), y.near());
            let is_first = float(near_x, near_y) == near_x;
            x.order(y)?;
            Ok(Scalar::Ring(if is_first { x } else { y }))
        }
        (Scalar::Int(x), Scalar::Int(y)) => Ok(Scalar::Int(int(x, y))),
        (Scalar::UInt(x), Scalar::UInt(y)) => Ok(Scalar::UInt(uint(x, y))),
        (Scalar::Bool(_) | Scalar::Int(_) | Scalar::UInt(_) | Scalar::Float(_) | Scalar::Ring(_), _) => {
            Err(fail("an extreme is not defined on this data type"))
        }
    };
    match items {
        [] => Err(fail("nothing has no extreme")),
        [first, rest @ ..] => rest.iter().try_fold(*first, pick),
    }
}

fn product(items: &[Scalar], _: DataType) -> Result<Scalar, Stop> {
    let times = |product: Option<Scalar>, item: &Scalar| match (product, *item) {
        (_, Scalar::Bool(_)) => Err(fail("a product is not defined on Booleans")),
        (None, first) => Ok(Some(first)),
        (Some(Scalar::Float(product)), Scalar::Float(x)) => Ok(Some(Scalar::Float(product * x))),
        (Some(Scalar::Ring(product)), Scalar::Ring(x)) => Ok(Some(Scalar::Ring(product.times(x)))),
        (Some(Scalar::Int(product)), Scalar::Int(x)) => Ok(Some(Scalar::Int(product.wrapping_mul(x)))),
        (Some(Scalar::UInt(product)), Scalar::UInt(x)) => Ok(Some(Scalar::UInt(product.wrapping_mul(x)))),
        (Some(_), _) => Err(fail("elements of different kinds are multiplied")),
    };
    // The product of no elements is one.
    items.iter().try_fold(None, times).map(|product| product.unwrap_or(Scalar::Int(1)))
}

/// The mean of the squared distances from the mean.
fn variance(items: &[Scalar], dtype: DataType) -> Result<Scalar, Stop> {
    let middle = mean(items, dtype)?;
    let square = |item: &Scalar| match (*item, middle) {
        (Scalar::Float(x), Scalar::Float(mean)) => Ok(Scalar::Float((x - mean) * (x - mean))),
        (Scalar::Ring(x), Scalar::Ring(mean)) => Ok(Scalar::Ring(x.minus(mean).times(x.minus(mean)))),
        (Scalar::Bool(_) | Scalar::Int(_) | Scalar::UInt(_) | Scalar::Float(_) | Scalar::Ring(_), _) => {
            Err(fail("a variance is defined on floats"))
        }
    };
    mean(&items.iter().map(square).collect::<Result<Vec<_>, _>>()?, dtype)
}

fn deviation(items: &[Scalar], dtype: DataType) -> Result<Scalar, Stop> {
    match variance(items, dtype)? {
        x @ (Scalar::Float(_) | Scalar::Ring(_)) => applied(x, "sqrt", f64::sqrt),
        Scalar::Bool(_) | Scalar::Int(_) | Scalar::UInt(_) => Err(fail("a deviation is defined on floats")),
    }
}

/// The position of the first element that compares in this way with all others.
fn place_of(items: &[Scalar], wanted: Ordering, line: LineOrder) -> Result<Scalar, Stop> {
    let better = |best: usize, i: usize| match (items.get(i), items.get(best)) {
        (Some(x), Some(y)) if order(*x, *y) == wanted => i,
        (_, _) => best,
    };
    if items.is_empty() {
        return Err(fail("nothing has no extreme"));
    }
    let place = (1..items.len()).fold(0, better);
    line.decides(items, place, Shown::Place)?;
    Ok(Scalar::Int(place as i64))
}
