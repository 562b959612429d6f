//! Writing elements at indexed positions: `scatter_elements`, `scatter_nd`, `index_put`, `slice_scatter`.

use crate::book::Erratum;
use crate::grammar::{Call, DataType, PrimExpr, StructInfo, TensorStructInfo};
use crate::judge::Cx;
use crate::ops::infer::{
    Domain, TensorDims, arity, axis, bool_attr, boxed_int, broadcast_all, common_dtype, constant, differ, given_int,
    str_attr, tensor, tensors,
};
use crate::ops::kernel::reals::{max_float, min_float};
use crate::ops::kernel::{self, at, at_broadcast, fail, indices};
use crate::ops::tensor::indexing::gather::{coordinate, coordinates, counted, from_end, integer_indices};
use crate::ops::{Attr, EvalArgs, InferArgs, InferError, OpDef, OpParam};
use crate::value::{Host, Scalar, Stop, Tensor, Value, count};

pub(in crate::ops) const OPS: &[OpDef] = &[
    operator!(
        "scatter_elements",
        [rule!("OPS.scatter_elements.infer"), rule!("OPS.scatter_elements.value"), rule!("OPS.scatter_elements.attrs")],
        [
            OpParam::Arg("data"),
            OpParam::Arg("indices"),
            OpParam::Arg("updates"),
            OpParam::Attr(Attr::int("axis", 0)),
            OpParam::Attr(Attr::str("reduction", &["update", "add", "mul", "mean", "min", "max"], "update"))
        ],
        infer_scatter_elements,
        Accumulated,
        scatter_elements
    ),
    operator!(
        "scatter_nd",
        [rule!("OPS.scatter_nd.infer"), rule!("OPS.scatter_nd.value"), rule!("OPS.scatter_nd.attrs")],
        [
            OpParam::Arg("data"),
            OpParam::Arg("indices"),
            OpParam::Arg("updates"),
            OpParam::Attr(Attr::str("reduction", &["update", "add", "mul", "min", "max"], "update"))
        ],
        infer_scatter_nd,
        Accumulated,
        scatter_nd
    ),
    operator!(
        "index_put",
        [rule!("OPS.index_put.infer"), rule!("OPS.index_put.value"), rule!("OPS.index_put.attrs")],
        [
            OpParam::Arg("data"),
            OpParam::Arg("indices"),
            OpParam::Arg("values"),
            OpParam::Attr(Attr::bool("accumulate", false))
        ],
        infer_index_put,
        Accumulated,
        index_put
    ),
    operator!(
        "slice_scatter",
        [rule!("OPS.slice_scatter.infer"), rule!("OPS.slice_scatter.value"), rule!("OPS.slice_scatter.attrs")],
        [
            OpParam::Arg("input_tensor"),
            OpParam::Arg("src"),
            OpParam::Arg("start"),
            OpParam::Arg("end"),
            OpParam::Arg("step"),
            OpParam::Attr(Attr::int("axis", 0))
        ],
        infer_slice_scatter,
        Exact,
        slice_scatter
    ),
];

/// The new element from the old one and an update. For `mean` this is the sum, which `ScatterTarget::averaged`
/// divides.
fn combine(reduction: &str, old: Scalar, new: Scalar) -> Result<Scalar, Stop> {
    let numbers = |float: fn(f64, f64) -> f64, int: fn(i64, i64) -> i64, uint: fn(u64, u64) -> u64| match (old, new) {
        (Scalar::Float(x), Scalar::Float(y)) => Ok(Scalar::Float(float(x, y))),
        (Scalar::Int(x), Scalar::Int(y)) => Ok(Scalar::Int(int(x, y))),
        (Scalar::UInt(x), Scalar::UInt(y)) => Ok(Scalar::UInt(uint(x, y))),
        (Scalar::Bool(_) | Scalar::Int(_) | Scalar::UInt(_) | Scalar::Float(_) | Scalar::Ring(_), _) => {
            Err(fail(format!("`{reduction}` is not defined on this data type")))
        }
    };
    match reduction {
        "add" | "mean" => numbers(|x, y| x + y, i64::wrapping_add, u64::wrapping_add),
        "mul" => numbers(|x, y| x * y, i64::wrapping_mul, u64::wrapping_mul),
        "min" => numbers(min_float, i64::min, u64::min),
        "max" => numbers(max_float, i64::max, u64::max),
        _ => Ok(new),
    }
}

/// A mutable copy of a tensor in row-major order. The last of several writes to a position counts.
struct ScatterTarget {
    elements: Vec<Scalar>,
    /// The number of updates at each position.
    arrived: Vec<u32>,
    shape: Vec<i64>,
}

impl ScatterTarget {
    fn of(data: &Tensor) -> ScatterTarget {
        let elements: Vec<Scalar> = (0..data.len()).filter_map(|i| data.get(i)).collect();
        ScatterTarget { arrived: vec![0; elements.len()], elements, shape: data.shape().to_vec() }
    }

    fn write(&mut self, place: &[i64], reduction: &str, value: Scalar) -> Result<(), Stop> {
        self.change(place, |old| combine(reduction, old, value))
    }

    /// Replaces the element at a position by `becomes` of it.
    fn change(&mut self, place: &[i64], becomes: impl FnOnce(Scalar) -> Result<Scalar, Stop>) -> Result<(), Stop> {
        let flat = place.iter().zip(&self.shape).fold(0i64, |flat, (i, size)| flat * size + i);
        let flat = usize::try_from(flat).ok();
        let slots = flat.and_then(|i| self.elements.get_mut(i).zip(self.arrived.get_mut(i)));
        let (slot, arrived) = slots.ok_or_else(|| fail("a place lies outside its tensor"))?;
        *slot = becomes(*slot)?;
        *arrived += 1;
        Ok(())
    }

    /// Turns sums into means of the old element and its updates. A sum of integers has wrapped around.
    fn averaged(&mut self, dtype: DataType) -> Result<(), Stop> {
        for (slot, arrived) in self.elements.iter_mut().zip(&self.arrived) {
            *slot = kernel::quotient(kernel::wrapped(*slot, dtype)?, u64::from(*arrived) + 1)?;
        }
        Ok(())
    }

    fn finish(self, m: &mut dyn Host, like: &Tensor) -> Result<Value, Stop> {
        kernel::fresh(kernel::from_list(m, like.dtype(), &self.shape, &self.elements)?)
    }
}

fn same_rank(a: &TensorStructInfo, b: &TensorStructInfo) -> Result<(), InferError> {
    match (TensorDims::of(a).rank(), TensorDims::of(b).rank()) {
        (Some(a), Some(b)) if a != b => Err(InferError::op(format!("the ranks {a} and {b} differ"))),
        (Some(_) | None, Some(_) | None) => Ok(()),
    }
}

/// Rejects provably different dimensions.
fn same_dims(cx: &mut Cx, a: &[PrimExpr], b: &[PrimExpr]) -> Result<(), InferError> {
    if a.len() != b.len() {
        return Err(InferError::op(format!("the ranks {} and {} differ", a.len(), b.len())));
    }
    match a.iter().zip(b).find(|(x, y)| differ(cx, x, y)) {
        Some((x, y)) => Err(InferError::op(format!("the sizes {x} and {y} differ"))),
        None => Ok(()),
    }
}

// scatter_elements

fn infer_scatter_elements(cx: &mut Cx, a: &InferArgs<'_>) -> Result<StructInfo, InferError> {
    arity::<3>(a)?;
    let (data, indices, updates) = (tensor(a, 0)?, tensor(a, 1)?, tensor(a, 2)?);
    integer_indices(indices.dtype)?;
    common_dtype(data.dtype, updates.dtype)?;
    combinable(a.call, &[data, updates])?;
    same_rank(data, indices)?;
    same_rank(data, updates)?;
    same_rank(indices, updates)?;
    if let Some(rank) = TensorDims::of(data).rank() {
        axis(given_int(a.call, "axis")?, rank)?;
    }
    if let (TensorDims::Known(indices), TensorDims::Known(updates)) = (TensorDims::of(indices), TensorDims::of(updates))
    {
        same_dims(cx, &indices, &updates)?;
    }
    Ok(StructInfo::Tensor(data.clone()))
}

/// Checks that the data type can be reduced. Booleans can only be written.
fn combinable(call: &Call, tensors: &[&TensorStructInfo]) -> Result<(), InferError> {
    match str_attr(call, "reduction")? {
        "update" => Ok(()),
        _ => tensors.iter().try_for_each(|tensor| Domain::Numbers.demand(tensor.dtype)),
    }
}

fn scatter_elements(m: &mut dyn Host, a: &EvalArgs<'_>) -> Result<Value, Stop> {
    let (data, by, updates) = (kernel::tensor(a, 0)?, kernel::tensor(a, 1)?, kernel::tensor(a, 2)?);
    let along = axis(given_int(a.call, "axis")?, data.shape().len())?;
    let size = data.shape().get(along).copied().unwrap_or(0);
    let reduction = str_attr(a.call, "reduction")?;
    let _held = kernel::beside(m, data.len() as u64)?;
    m.spend(data.len() as u64 + updates.len() as u64)?;
    let added = reduction != "update" && m.cx().literal(Erratum::A66);
    let mut target = ScatterTarget::of(data);
    for index in indices(by.shape()) {
        let mut place = index.clone();
        if let Some(slot) = place.get_mut(along) {
            *slot = coordinate(from_end(at(by, &index)?, size)?, size)?;
        }
        if place.len() != data.shape().len() || place.iter().zip(data.shape()).any(|(i, size)| i >= size) {
            return Err(Stop::unspecified("the indices reach beyond the data"));
        }
        let update = at(updates, &index)?;
        match added {
            true => target.change(&place, |old| added_to(old, reduction, update))?,
            false => target.write(&place, reduction, update)?,
        }
    }
    if reduction == "mean" && !added {
        target.averaged(data.dtype())?;
    }
    target.finish(m, data)
}

/// Literal A66: adds the reduction of the old element and the update to the old element.
fn added_to(old: Scalar, reduction: &str, update: Scalar) -> Result<Scalar, Stop> {
    let reduced = combine(reduction, old, update)?;
    combine("add", old, if reduction == "mean" { kernel::quotient(reduced, 2)? } else { reduced })
}

// scatter_nd

fn infer_scatter_nd(cx: &mut Cx, a: &InferArgs<'_>) -> Result<StructInfo, InferError> {
    arity::<3>(a)?;
    let (data, indices, updates) = (tensor(a, 0)?, tensor(a, 1)?, tensor(a, 2)?);
    integer_indices(indices.dtype)?;
    common_dtype(data.dtype, updates.dtype)?;
    combinable(a.call, &[data, updates])?;
    if let (TensorDims::Known(from), TensorDims::Known(by)) = (TensorDims::of(data), TensorDims::of(indices))
        && let Some((PrimExpr::IntImm(count), outer)) = by.split_last()
    {
        let rest = usize::try_from(*count).ok().and_then(|count| from.get(count..));
        let rest = rest.ok_or_else(|| InferError::op(format!("{count} coordinates for rank {}", from.len())))?;
        if let TensorDims::Known(updates) = TensorDims::of(updates) {
            same_dims(cx, &[outer, rest].concat(), &updates)?;
        }
    }
    Ok(StructInfo::Tensor(data.clone()))
}

fn scatter_nd(m: &mut dyn Host, a: &EvalArgs<'_>) -> Result<Value, Stop> {
    let (data, by, updates) = (kernel::tensor(a, 0)?, kernel::tensor(a, 1)?, kernel::tensor(a, 2)?);
    let Some((_, outer)) = by.shape().split_last() else {
        return Err(fail("the indices need a last dimension, of coordinates"));
    };
    let reduction = str_attr(a.call, "reduction")?;
    let from_the_end = !m.cx().literal(Erratum::A62);
    let _held = kernel::beside(m, data.len() as u64)?;
    m.spend(data.len() as u64 + updates.len() as u64)?;
    let mut target = ScatterTarget::of(data);
    for index in indices(updates.shape()) {
        let (row, rest) = index.split_at(outer.len().min(index.len()));
        let place = [&coordinates(data, by, row, 0, from_the_end)?, rest].concat();
        target.write(&place, reduction, at(updates, &index)?)?;
    }
    target.finish(m, data)
}

// index_put

fn infer_index_put(cx: &mut Cx, a: &InferArgs<'_>) -> Result<StructInfo, InferError> {
    arity::<3>(a)?;
    let (data, indices, values) = (tensor(a, 0)?, tensors(a, 1)?, tensor(a, 2)?);
    common_dtype(data.dtype, values.dtype)?;
    for index in &indices {
        integer_indices(index.dtype)?;
    }
    if bool_attr(a.call, "accumulate")? {
        Domain::Numbers.demand(data.dtype)?;
        Domain::Numbers.demand(values.dtype)?;
    }
    if let Some(rank) = TensorDims::of(data).rank().filter(|rank| *rank != indices.len()) {
        return Err(InferError::op(format!("{} tensors of indices for rank {rank}", indices.len())));
    }
    let places = broadcast_all(&indices.iter().map(|index| TensorDims::of(index)).collect::<Vec<TensorDims>>())?;
    if let (TensorDims::Known(places), TensorDims::Known(values)) = (places, TensorDims::of(values)) {
        fits_places(cx, &places, &values)?;
    }
    Ok(StructInfo::Tensor(data.clone()))
}

/// Values are broadcast to the positions, but not the positions to the values.
fn fits_places(cx: &mut Cx, places: &[PrimExpr], values: &[PrimExpr]) -> Result<(), InferError> {
    let fits =
        |cx: &mut Cx, place: &PrimExpr, value: &PrimExpr| !differ(cx, place, value) || !differ(cx, value, &constant(1));
    match places.len() >= values.len()
        && places.iter().rev().zip(values.iter().rev()).all(|(place, value)| fits(cx, place, value))
    {
        true => Ok(()),
        false => Err(InferError::op("there are more values than places")),
    }
}

/// The indices and values are broadcast to a common shape. Each value is written to, or added at, the position of its
/// indices.
fn index_put(m: &mut dyn Host, a: &EvalArgs<'_>) -> Result<Value, Stop> {
    let (data, by, values) = (kernel::tensor(a, 0)?, kernel::tensors(a, 1)?, kernel::tensor(a, 2)?);
    let places = by.iter().try_fold(Vec::new(), |shape, index| kernel::broadcast(&shape, index.shape()))?;
    if kernel::broadcast(&places, values.shape())? != places {
        return Err(fail("there are more values than places"));
    }
    let reduction = if bool_attr(a.call, "accumulate")? { "add" } else { "update" };
    let _held = kernel::beside(m, data.len() as u64)?;
    m.spend((data.len() as u64).saturating_add(count(&places)))?;
    let from_the_end = !m.cx().literal(Erratum::A62);
    let mut target = ScatterTarget::of(data);
    for index in indices(&places) {
        let axes = by.iter().zip(data.shape());
        let place = axes.map(|(by, size)| counted(at_broadcast(by, &index)?, *size, from_the_end));
        target.write(&place.collect::<Result<Vec<i64>, Stop>>()?, reduction, at_broadcast(values, &index)?)?;
    }
    target.finish(m, data)
}

// slice_scatter

/// The number of positions from `start` to `end`, which is excluded.
fn places_between(start: i64, end: i64, step: i64) -> Option<i64> {
    (step > 0).then(|| end.saturating_sub(start).saturating_add(step - 1).max(0) / step)
}

fn infer_slice_scatter(cx: &mut Cx, a: &InferArgs<'_>) -> Result<StructInfo, InferError> {
    arity::<5>(a)?;
    let (data, src) = (tensor(a, 0)?, tensor(a, 1)?);
    common_dtype(data.dtype, src.dtype)?;
    same_rank(data, src)?;
    let along = TensorDims::of(data).rank().map(|rank| axis(given_int(a.call, "axis")?, rank)).transpose()?;
    let (start, end, step) = (boxed_int(a, 2)?, boxed_int(a, 3)?, boxed_int(a, 4)?);
    if let Some(PrimExpr::IntImm(..=0)) = step {
        return Err(InferError::op("the step must be positive"));
    }
    if let (TensorDims::Known(data), Some(along)) = (TensorDims::of(data), along)
        && let Some(size) = data.get(along)
    {
        [start, end].into_iter().flatten().try_for_each(|bound| inside(bound, size))?;
    }
    if let (TensorDims::Known(data), TensorDims::Known(src), Some(along)) =
        (TensorDims::of(data), TensorDims::of(src), along)
    {
        let mut expected = data.to_vec();
        let sizes = (expected.get_mut(along), src.get(along));
        if let (Some(slot), Some(own)) = sizes {
            *slot = match (start, end, step) {
                (Some(PrimExpr::IntImm(start)), Some(PrimExpr::IntImm(end)), Some(PrimExpr::IntImm(step))) => {
                    constant(places_between(*start, *end, *step).unwrap_or(0))
                }
                (Some(_) | None, Some(_) | None, Some(_) | None) => own.clone(),
            };
        }
        same_dims(cx, &expected, &src)?;
    }
    Ok(StructInfo::Tensor(data.clone()))
}

/// A bound must be on the axis or at its end. Rejects one known to be outside.
fn inside(bound: &PrimExpr, size: &PrimExpr) -> Result<(), InferError> {
    let outside = match (bound, size) {
        (PrimExpr::IntImm(bound), PrimExpr::IntImm(size)) => !(0..=*size).contains(bound),
        (PrimExpr::IntImm(bound), _) => *bound < 0,
        (PrimExpr::Var(_) | PrimExpr::Binary(..) | PrimExpr::Not(_) | PrimExpr::Select(..), _) => false,
    };
    match outside {
        true => Err(InferError::op(format!("the bound {bound} does not lie along an axis of {size}"))),
        false => Ok(()),
    }
}

fn slice_scatter(m: &mut dyn Host, a: &EvalArgs<'_>) -> Result<Value, Stop> {
    let (data, src) = (kernel::tensor(a, 0)?, kernel::tensor(a, 1)?);
    let along = axis(given_int(a.call, "axis")?, data.shape().len())?;
    let (start, end, step) = (kernel::int(a, 2)?, kernel::int(a, 3)?, kernel::int(a, 4)?);
    let size = data.shape().get(along).copied().unwrap_or(0);
    if !(0..=size).contains(&start) || !(0..=size).contains(&end) {
        return Err(fail(format!("the places from {start} to {end} do not lie along an axis of {size}")));
    }
    let _held = kernel::beside(m, data.len() as u64)?;
    m.spend((data.len() as u64).saturating_add(src.len() as u64))?;
    let mut target = ScatterTarget::of(data);
    for index in indices(src.shape()) {
        let mut place = index.clone();
        if let Some(slot) = place.get_mut(along) {
            *slot = start + *slot * step;
        }
        target.write(&place, "update", at(src, &index)?)?;
    }
    target.finish(m, data)
}
