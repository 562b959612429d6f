//! Arguments that are related to each other: two arguments with equal, opposite or adjacent elements, or with
//! infinities in the same places. Also arguments with few non-zero elements, so that a long sum is exact and a missing
//! term is visible.

use std::collections::{BTreeMap, BTreeSet};

use super::{ArgumentSource, Draw};
use crate::grammar::{Function, TensorData};
use crate::number::FloatType;
use crate::value::{Scalar, Tensor, ValueSpec, spacing};

/// The draws whose arguments are related: infinities among ordinary numbers; integers of the whole range of their type,
/// and floats outside of narrow types; numbers with few digits.
const PAIRED: [Draw; 3] =
    [Draw { index: 18, attempt: 0 }, Draw { index: 6, attempt: 0 }, Draw { index: 0, attempt: 0 }];
/// The draw whose arguments are made sparse.
const SPARSE: Draw = Draw { index: 0, attempt: 0 };
/// How many pairs of arguments are related, and how many arguments are made sparse.
const PAIRS: usize = 2;
const ARGUMENTS: usize = 4;
/// In how many regions of an argument the elements are 1, one region at a time.
const REGIONS: usize = 8;
/// The number of constants whose multiples are used.
const MULTIPLES: usize = 4;

/// How the elements of one argument are computed from those of another.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Relation {
    Same,
    Opposite,
    Next,
    Previous,
}

impl ArgumentSource {
    /// Related arguments for the function, one list after the other.
    pub fn related<'a>(&'a self, func: &'a Function) -> impl Iterator<Item = Vec<ValueSpec>> + 'a {
        let made = move |draw: Draw| self.for_function(func, &BTreeMap::new(), draw);
        let paired = PAIRED.into_iter().filter_map(made).flat_map(|args| related_in(&args));
        let sparse = std::iter::once(SPARSE).filter_map(made).flat_map(|args| sparse_in(&args, &self.multiples()));
        paired.chain(sparse).filter_map(|args| self.mended(func, args))
    }

    /// Numbers whose quotients by constants of the programs are exact, so that a division by another number is visible.
    fn multiples(&self) -> Vec<f64> {
        let constants = self.constants.floats().iter().copied();
        let large = constants.filter(|x| x.is_finite() && x.abs() >= 3.0 && !x.abs().log2().fract().eq(&0.0));
        large.take(MULTIPLES).map(|x| x * 1.75).collect()
    }
}

/// Lists of arguments: each pair of the same type and shape, related in each way.
fn related_in(args: &[ValueSpec]) -> Vec<Vec<ValueSpec>> {
    let relations = [Relation::Same, Relation::Opposite, Relation::Next, Relation::Previous];
    let pairs = (0..args.len()).flat_map(|i| (i + 1..args.len()).map(move |j| (i, j)));
    pairs
        .filter(|(i, j)| args.get(*i).zip(args.get(*j)).is_some_and(|(x, y)| are_alike(x, y)))
        .take(PAIRS)
        .flat_map(|(i, j)| relations.into_iter().filter_map(move |relation| with_related(args, i, j, relation)))
        .collect()
}

/// Whether one of the two can be computed from the other.
fn are_alike(x: &ValueSpec, y: &ValueSpec) -> bool {
    match (x, y) {
        (ValueSpec::Tensor(x), ValueSpec::Tensor(y)) => x.dtype == y.dtype && x.shape == y.shape,
        _ => false,
    }
}

/// The arguments with the j-th computed from the i-th.
fn with_related(args: &[ValueSpec], i: usize, j: usize, relation: Relation) -> Option<Vec<ValueSpec>> {
    let ValueSpec::Tensor(data) = args.get(i)? else { return None };
    let float = data.dtype.float_type();
    let made = of_elements(data, |_, x| of_relation(relation, float, x))?;
    let mut args = args.to_vec();
    *args.get_mut(j)? = ValueSpec::Tensor(made);
    Some(args)
}

fn of_relation(relation: Relation, float: Option<FloatType>, x: Scalar) -> Scalar {
    match (relation, x) {
        (Relation::Same, x) => x,
        (Relation::Opposite, Scalar::Float(x)) => Scalar::Float(-x),
        (Relation::Opposite, Scalar::Int(x)) => Scalar::Int(x.wrapping_neg()),
        (Relation::Opposite, Scalar::UInt(x)) => Scalar::UInt(!x),
        (Relation::Opposite | Relation::Next | Relation::Previous, Scalar::Bool(x)) => Scalar::Bool(!x),
        (Relation::Next, Scalar::Float(x)) => Scalar::Float(x + step(float, x)),
        (Relation::Previous, Scalar::Float(x)) => Scalar::Float(x - step(float, x)),
        (Relation::Next, Scalar::Int(x)) => Scalar::Int(x.wrapping_add(1)),
        (Relation::Previous, Scalar::Int(x)) => Scalar::Int(x.wrapping_sub(1)),
        // Before a run, no argument is a number of the ring.
        (Relation::Opposite | Relation::Next | Relation::Previous, x @ Scalar::Ring(_)) => x,
        (Relation::Next, Scalar::UInt(x)) => Scalar::UInt(x.wrapping_add(1)),
        (Relation::Previous, Scalar::UInt(x)) => Scalar::UInt(x.wrapping_sub(1)),
    }
}

/// The distance to the next float.
fn step(float: Option<FloatType>, x: f64) -> f64 {
    let finite = float.filter(|_| x.is_finite());
    finite.map_or(0.0, |float| spacing(float, x.abs().max(f64::MIN_POSITIVE)))
}

/// Lists of arguments in which one after the other is zero except for an element or a region.
fn sparse_in(args: &[ValueSpec], multiples: &[f64]) -> Vec<Vec<ValueSpec>> {
    let floats = args.iter().enumerate().filter_map(|(nth, arg)| match arg {
        ValueSpec::Tensor(data) => data.dtype.float_type().map(|float| (nth, data, float)),
        _ => None,
    });
    let mut made = Vec::new();
    for (nth, data, float) in floats.take(ARGUMENTS) {
        let ones = regions(data, float).into_iter().map(|region| (region, 1.0));
        for (region, value) in ones.chain(multiples.iter().map(|x| (0..1, *x))) {
            let one = |i: usize, _| Scalar::Float(if region.contains(&i) { value } else { 0.0 });
            let Some(sparse) = of_elements(data, one) else { continue };
            let mut args = args.to_vec();
            if let Some(arg) = args.get_mut(nth) {
                *arg = ValueSpec::Tensor(sparse);
                made.push(args);
            }
        }
    }
    made
}

/// The first, the last and some other elements, and regions whose sum needs no more digits than the type has.
fn regions(data: &TensorData, float: FloatType) -> Vec<std::ops::Range<usize>> {
    let count = data.bytes.len().checked_div(data.dtype.bytes()).unwrap_or(0);
    let along = data.shape.last().and_then(|size| usize::try_from(*size).ok()).unwrap_or(1);
    let singles: BTreeSet<usize> =
        if count > 1 { [0, count - 1, count / 2, along.saturating_sub(1), 1].into() } else { BTreeSet::new() };
    let length = count.div_ceil(REGIONS).clamp(1, 1 << float.digits().min(24));
    let parts = (0..count).step_by(count.div_ceil(REGIONS).max(1)).map(|at| at..(at + length).min(count));
    let all = (count > 1 && count <= 1 << float.digits().min(24)).then_some(0..count);
    let parts: Vec<_> = if all.is_some() { all.into_iter().collect() } else { parts.collect() };
    singles.into_iter().map(|at| at..at + 1).chain(parts).collect()
}

/// A tensor of the same type and shape, with other elements.
fn of_elements(data: &TensorData, element: impl Fn(usize, Scalar) -> Scalar) -> Option<TensorData> {
    let tensor = Tensor::from_data(data).ok()?;
    let made = Tensor::zeros(tensor.dtype(), tensor.shape()).ok()?;
    made.fill(|i| tensor.get(i).map(|x| element(i, x)).ok_or(())).ok()?;
    (!made.is_empty()).then(|| made.to_data())
}
