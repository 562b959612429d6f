//! Operators whose result shape depends on values: `unique`, `nonzero`.

use std::cmp::Ordering;

use crate::grammar::{DataType, Expr, PrimExpr, PrimValue, StructInfo};
use crate::judge::Cx;
use crate::ops::infer::{TensorDims, arity, axis, prim, tensor};
use crate::ops::kernel::{self, at, fail, fresh, indices, tabulate};
use crate::ops::tensor::search::order;
use crate::ops::{EvalArgs, InferArgs, InferError, OpDef, OpParam};
use crate::value::{Host, Prim, Scalar, Stop, Tensor, Value};

pub(in crate::ops) const OPS: &[OpDef] = &[
    operator!(
        "unique",
        [rule!("OPS.unique.infer"), rule!("OPS.unique.value")],
        [
            OpParam::Arg("x"),
            OpParam::Flag("sorted", true),
            OpParam::Flag("return_index", false),
            OpParam::Flag("return_inverse", false),
            OpParam::Flag("return_counts", false),
            OpParam::OptionalArg("axis"),
        ],
        infer_unique,
        Exact,
        unique,
    ),
    operator!(
        "nonzero",
        [rule!("OPS.nonzero.infer"), rule!("OPS.nonzero.value")],
        [OpParam::Arg("x")],
        infer_nonzero,
        Exact,
        nonzero
    ),
];

// unique

/// A Boolean option, given as a boxed scalar.
fn flag(a: &InferArgs<'_>, i: usize) -> Result<bool, InferError> {
    if a.args.len() <= i {
        return Ok(false);
    }
    match prim(a, i)? {
        Some(PrimExpr::IntImm(b)) => Ok(*b != 0),
        Some(_) | None => Err(InferError::op(format!("argument {i} must be a constant"))),
    }
}

fn axis_of(a: &InferArgs<'_>) -> Result<Option<i64>, InferError> {
    match a.call.args.get(5) {
        Some(Expr::PrimValue(PrimValue { value: PrimExpr::IntImm(given), .. })) => Ok(Some(*given)),
        None => Ok(None),
        Some(_) => Err(InferError::op("the axis must be a constant")),
    }
}

/// The number of distinct elements depends on the values, so only the rank is known.
fn infer_unique(_: &mut Cx, a: &InferArgs<'_>) -> Result<StructInfo, InferError> {
    let x = tensor(a, 0)?;
    let values = match (axis_of(a)?, TensorDims::of(x).rank()) {
        (None, _) => TensorDims::of_rank(1),
        (Some(given), Some(rank)) => {
            axis(given, rank)?;
            TensorDims::of_rank(rank)
        }
        (Some(_), None) => TensorDims::Unknown,
    };
    let mut fields = vec![values.tensor(x.dtype)];
    for i in 2..=4 {
        if flag(a, i)? {
            fields.push(TensorDims::of_rank(1).tensor(DataType::INT64));
        }
    }
    Ok(match fields.as_slice() {
        [only] => only.clone(),
        [] | [_, ..] => StructInfo::tuple(fields),
    })
}

/// The compared objects: elements, or slices along an axis.
struct Slices {
    /// The elements of each slice, in row-major order.
    slices: Vec<Vec<Scalar>>,
}

impl Slices {
    fn of(x: &Tensor, along: Option<usize>) -> Result<Slices, Stop> {
        let Some(along) = along else {
            return Ok(Slices { slices: (0..x.len()).filter_map(|i| x.get(i)).map(|e| vec![e]).collect() });
        };
        let size = x.shape().get(along).copied().unwrap_or(0);
        let slice = |i: i64| indices(&without(x.shape(), along)).map(|rest| at(x, &with(&rest, along, i))).collect();
        Ok(Slices { slices: (0..size).map(slice).collect::<Result<_, Stop>>()? })
    }

    fn compare(&self, i: usize, j: usize) -> Ordering {
        let (Some(a), Some(b)) = (self.slices.get(i), self.slices.get(j)) else { return Ordering::Equal };
        a.iter().zip(b).map(|(a, b)| order(*a, *b)).find(|o| o.is_ne()).unwrap_or(Ordering::Equal)
    }
}

fn without(shape: &[i64], along: usize) -> Vec<i64> {
    shape.iter().enumerate().filter(|(i, _)| *i != along).map(|(_, size)| *size).collect()
}

fn with(rest: &[i64], along: usize, i: i64) -> Vec<i64> {
    let mut index = rest.to_vec();
    index.insert(along.min(rest.len()), i);
    index
}

fn asked(a: &EvalArgs<'_>, i: usize) -> Result<bool, Stop> {
    match a.values.get(i) {
        None => Ok(false),
        Some(Value::Prim(Prim { value, .. })) => Ok(value.is_true()),
        Some(other) => Err(fail(format!("argument {i} must be a boxed scalar, it is {}", other.category()))),
    }
}

fn unique(m: &mut dyn Host, a: &EvalArgs<'_>) -> Result<Value, Stop> {
    let x = kernel::tensor(a, 0)?;
    let along = match a.values.get(5) {
        Some(_) => Some(axis(kernel::int(a, 5)?, x.shape().len())?),
        None => None,
    };
    let comparisons = u64::from((x.len() as u64).max(1).ilog2()) + 1;
    let _held = kernel::beside(m, (x.len() as u64).saturating_mul(2))?;
    m.spend((x.len() as u64).saturating_mul(comparisons))?;
    let slices = Slices::of(x, along)?;
    let mut places: Vec<usize> = (0..slices.slices.len()).collect();
    places.sort_by(|i, j| slices.compare(*i, *j));
    // The groups of equal slices, in order. The first member of a group is the one with the lowest index.
    let mut groups: Vec<Vec<usize>> = Vec::new();
    for place in places {
        match groups.last_mut() {
            Some(group) if group.first().is_some_and(|first| slices.compare(*first, place).is_eq()) => {
                group.push(place)
            }
            Some(_) | None => groups.push(vec![place]),
        }
    }
    if a.values.len() > 1 && !asked(a, 1)? {
        groups.sort_by_key(|group| group.first().copied());
    }
    let mut fields = vec![Value::Tensor(distinct(m, x, along, &groups)?)];
    if asked(a, 2)? {
        fields.push(vector(m, groups.iter().map(|group| group.first().copied().unwrap_or(0) as i64).collect())?);
    }
    if asked(a, 3)? {
        fields.push(vector(m, group_of_each(&groups, slices.slices.len()))?);
    }
    if asked(a, 4)? {
        fields.push(vector(m, groups.iter().map(|group| group.len() as i64).collect())?);
    }
    Ok(match fields.as_slice() {
        [only] => only.clone(),
        [] | [_, ..] => Value::tuple(fields),
    })
}

/// For each of `count` positions, the number of its group.
fn group_of_each(groups: &[Vec<usize>], count: usize) -> Vec<i64> {
    let mut numbers = vec![0; count];
    for (number, group) in groups.iter().enumerate() {
        for place in group {
            if let Some(slot) = numbers.get_mut(*place) {
                *slot = number as i64;
            }
        }
    }
    numbers
}

/// The first member of each group.
fn distinct(m: &mut dyn Host, x: &Tensor, along: Option<usize>, groups: &[Vec<usize>]) -> Result<Tensor, Stop> {
    let first = |i: &i64| {
        let group = usize::try_from(*i).ok().and_then(|i| groups.get(i));
        group.and_then(|group| group.first()).copied().ok_or_else(|| fail("an index lies outside its tensor"))
    };
    let count = groups.len() as i64;
    let Some(along) = along else {
        return tabulate(m, x.dtype(), &[count], |index| {
            let place = first(index.first().unwrap_or(&0))?;
            x.get(place).ok_or_else(|| fail("an index lies outside its tensor"))
        });
    };
    let shape: Vec<i64> =
        x.shape().iter().enumerate().map(|(i, size)| if i == along { count } else { *size }).collect();
    tabulate(m, x.dtype(), &shape, |index| {
        let place = first(index.get(along).unwrap_or(&0))? as i64;
        at(x, &with(&without(index, along), along, place))
    })
}

fn vector(m: &mut dyn Host, items: Vec<i64>) -> Result<Value, Stop> {
    let mut rest = items.iter();
    let next = |_: &[i64]| rest.next().map(|i| Scalar::Int(*i)).ok_or_else(|| fail("an element is missing"));
    fresh(tabulate(m, DataType::INT64, &[items.len() as i64], next)?)
}

// nonzero

/// One row for each dimension, and one column for each element found. The number of columns depends on the values.
fn infer_nonzero(_: &mut Cx, a: &InferArgs<'_>) -> Result<StructInfo, InferError> {
    arity::<1>(a)?;
    tensor(a, 0)?;
    Ok(TensorDims::of_rank(2).tensor(DataType::INT64))
}

fn nonzero(m: &mut dyn Host, a: &EvalArgs<'_>) -> Result<Value, Stop> {
    let x = kernel::tensor(a, 0)?;
    let rank = x.shape().len() as u64 + 1;
    let _held = kernel::beside(m, (x.len() as u64).saturating_mul(rank))?;
    m.spend((x.len() as u64).saturating_mul(rank))?;
    let mut found = Vec::new();
    for index in indices(x.shape()) {
        if at(x, &index)?.is_true() {
            found.push(if index.is_empty() { vec![0] } else { index });
        }
    }
    let rows = x.shape().len().max(1) as i64;
    fresh(tabulate(m, DataType::INT64, &[rows, found.len() as i64], |place| match place {
        [row, column] => {
            let index = usize::try_from(*column).ok().and_then(|i| found.get(i));
            let coordinate = index.and_then(|index| usize::try_from(*row).ok().and_then(|row| index.get(row)));
            coordinate.map(|i| Scalar::Int(*i)).ok_or_else(|| fail("an index lies outside its tensor"))
        }
        [] | [_] | [_, _, _, ..] => Err(fail("a place of a matrix has two coordinates")),
    })?)
}
