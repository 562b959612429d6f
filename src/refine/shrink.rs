//! Smaller counterexamples: first smaller sizes, then elements that are 0, 1 or at least short. For large tensors,
//! halves are first set to 0; this is tried without noise, and verified once at the end.

use std::collections::BTreeMap;
use std::ops::Range;

use crate::grammar::{Function, PrimExpr, ShapeVar, StructInfo, TensorData, TensorShape};
use crate::judge::{Cx, with_stack};
use crate::value::{Element, Scalar, Tensor, ValueSpec};

/// How many inputs are tried.
const TRIALS: usize = 400;
/// How many elements of a tensor are tried one by one.
const SINGLE: usize = 48;
/// A tensor with more elements is large.
const LARGE: usize = 1 << 13;

/// The result of trying an input.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum ShrinkOutcome {
    /// The target breaks the clause on it.
    Broken,
    /// It does not break the clause, or something else happens.
    Other,
    /// Not tried: it would have taken too long.
    Unasked,
}

/// Tries inputs.
pub(super) trait Look {
    /// Whether the target breaks the clause on the input.
    fn at(&mut self, input: &[ValueSpec]) -> ShrinkOutcome;

    /// Whether it seems to, by a quick try: two runs, without the runs with noise.
    fn glance_at(&mut self, input: &[ValueSpec]) -> ShrinkOutcome;

    /// The element of the result that differs on the input that was found, if known.
    fn element(&self) -> Option<usize>;
}

/// The smallest input found on which the clause is broken, as it is on `input`.
pub(super) fn smallest(input: Vec<ValueSpec>, func: Option<&Function>, look: impl Look) -> Vec<ValueSpec> {
    let mut shrinker = Shrinker { best: input, look, trials: TRIALS };
    // A smaller size may allow simpler elements, and the other way round.
    for round in 0..2 {
        func.into_iter().for_each(|func| shrinker.sizes(func));
        if round == 0 {
            shrinker.halves();
        }
        shrinker.elements();
    }
    shrinker.best
}

struct Shrinker<L> {
    best: Vec<ValueSpec>,
    look: L,
    trials: usize,
}

impl<L: Look> Shrinker<L> {
    /// Takes an input if it shows the difference too.
    fn accept(&mut self, candidate: Option<Vec<ValueSpec>>) -> bool {
        let Some(candidate) = candidate.filter(|candidate| *candidate != self.best) else { return false };
        let Some(left) = self.trials.checked_sub(1) else { return false };
        self.trials = left;
        match self.look.at(&candidate) {
            ShrinkOutcome::Broken => {
                self.best = candidate;
                true
            }
            ShrinkOutcome::Other => false,
            // The remaining candidates would not be tried either.
            ShrinkOutcome::Unasked => {
                self.trials = 0;
                false
            }
        }
    }

    // Sizes.

    fn sizes(&mut self, func: &Function) {
        let infos: Vec<StructInfo> =
            func.params.iter().map(|param| param.annotation.clone().unwrap_or(StructInfo::Object)).collect();
        let mut axes = BTreeMap::new();
        infos.iter().zip(&self.best).for_each(|(info, value)| collect(info, value, &mut axes));
        for axis in axes.keys() {
            self.size(&infos, axis);
        }
    }

    /// Minimizes the size of an axis: tries 0, 1, 2, .., then repeatedly half the size, and one less.
    fn size(&mut self, infos: &[StructInfo], axis: &ShrinkAxis) {
        while self.trials > 0 {
            let mut axes = BTreeMap::new();
            infos.iter().zip(&self.best).for_each(|(info, value)| collect(info, value, &mut axes));
            let Some(size) = axes.get(axis).copied() else { return };
            let candidates = [0, 1, 2, 3, size / 2, size - 1];
            let mut smaller = candidates.into_iter().filter(|candidate| (0..size).contains(candidate));
            if !smaller.any(|candidate| {
                let mut axes = axes.clone();
                axes.insert(axis.clone(), candidate);
                let resized: Option<Vec<ValueSpec>> =
                    infos.iter().zip(&self.best).map(|(info, value)| resized(info, value, &axes)).collect();
                self.accept(resized)
            }) {
                return;
            }
        }
    }

    // Halves of large tensors.

    /// Sets a large tensor to 0 except for the half that shows the difference, then half of that half, and so on.
    fn halves(&mut self) {
        let mut candidate = self.best.clone();
        for nth in 0..self.tensors() {
            if self.count(nth) > LARGE {
                candidate = self.narrowed(candidate, nth);
            }
        }
        self.accept(Some(candidate));
    }

    /// The input with as few non-zero elements as possible in its n-th tensor, by quick tries.
    fn narrowed(&mut self, mut input: Vec<ValueSpec>, nth: usize) -> Vec<ValueSpec> {
        let mut kept = 0..self.count(nth);
        if self.seems_broken(&without_others(&input, nth, 0..0)) {
            return without_others(&input, nth, 0..0);
        }
        // Often each element depends on the element with the same index.
        if let Some(at) = self.look.element().filter(|at| kept.contains(at)) {
            let candidate = without_others(&input, nth, at..at + 1);
            if self.seems_broken(&candidate) {
                return candidate;
            }
        }
        while kept.len() > 1 {
            let middle = kept.start + kept.len() / 2;
            let halves = [kept.start..middle, middle..kept.end];
            let smaller = halves.into_iter().find_map(|half| {
                let candidate = without_others(&input, nth, half.clone());
                self.seems_broken(&candidate).then_some((half, candidate))
            });
            let Some((half, candidate)) = smaller else { break };
            (kept, input) = (half, candidate);
        }
        input
    }

    fn seems_broken(&mut self, candidate: &[ValueSpec]) -> bool {
        self.look.glance_at(candidate) == ShrinkOutcome::Broken
    }

    // Elements.

    /// How many tensors there are.
    fn tensors(&self) -> usize {
        self.best.iter().map(|value| value.tensors().count()).sum()
    }

    fn elements(&mut self) {
        for nth in 0..self.tensors() {
            if self.count(nth) > LARGE {
                self.singles(nth);
                continue;
            }
            let all = |x: f64| move |_: usize, scalar: Scalar| simple(scalar, x);
            if !self.change(nth, all(0.0)) && !self.change(nth, all(1.0)) {
                self.blocks(nth);
                self.singles(nth);
            }
        }
    }

    /// Sets halves of a tensor to 0, then quarters, and so on.
    fn blocks(&mut self, nth: usize) {
        let count = self.count(nth);
        let mut width = count / 2;
        while width > (SINGLE / 8).max(count / 64) && self.trials > 0 {
            for start in (0..count).step_by(width) {
                let block = start..start + width;
                self.change(nth, |i, x| if block.contains(&i) { simple(x, 0.0) } else { x });
            }
            width /= 2;
        }
    }

    fn singles(&mut self, nth: usize) {
        for at in self.tried_singly(nth) {
            for x in [0.0, 1.0, -1.0] {
                if self.change(nth, |i, old| if i == at { simple(old, x) } else { old }) {
                    break;
                }
            }
            for digits in [1.0, 8.0, 1024.0] {
                if self.change(nth, |i, old| if i == at { shortened(old, digits) } else { old }) {
                    break;
                }
            }
        }
    }

    /// The indices that are tried one by one: in a large tensor, those of non-zero elements.
    fn tried_singly(&self, nth: usize) -> Vec<usize> {
        let Some(data) = self.tensor(nth) else { return Vec::new() };
        let elements = data.bytes.chunks(data.dtype.bytes().max(1)).enumerate();
        let large = self.count(nth) > LARGE;
        let tried = elements.filter(|(_, bytes)| !large || bytes.iter().any(|byte| *byte != 0));
        tried.map(|(at, _)| at).take(SINGLE).collect()
    }

    fn tensor(&self, nth: usize) -> Option<&TensorData> {
        self.best.iter().flat_map(ValueSpec::tensors).nth(nth)
    }

    fn count(&self, nth: usize) -> usize {
        self.tensor(nth).map_or(0, |data| data.bytes.len() / data.dtype.bytes().max(1))
    }

    /// Changes the elements of the n-th tensor.
    fn change(&mut self, nth: usize, element: impl Fn(usize, Scalar) -> Scalar) -> bool {
        // A candidate is a copy of the whole input.
        if self.trials == 0 {
            return false;
        }
        let candidate = map_tensors(&self.best, &mut |n, data| {
            let changed = || {
                let tensor = Tensor::from_data(data).ok()?;
                let old: Vec<Scalar> = (0..tensor.len()).filter_map(|i| tensor.get(i)).collect();
                tensor.fill(|i| old.get(i).map(|x| element(i, *x)).ok_or(())).ok()?;
                Some(tensor.to_data())
            };
            if n == nth { changed().unwrap_or_else(|| data.clone()) } else { data.clone() }
        });
        self.accept(Some(candidate))
    }
}

/// The values, with zeros in the n-th tensor outside of this range. In every data type, zero bytes are the number 0.
fn without_others(values: &[ValueSpec], nth: usize, kept: Range<usize>) -> Vec<ValueSpec> {
    map_tensors(values, &mut |n, data| {
        if n != nth {
            return data.clone();
        }
        let width = data.dtype.bytes();
        let kept = kept.start.saturating_mul(width)..kept.end.saturating_mul(width);
        let mut bytes = vec![0; data.bytes.len()];
        if let (Some(to), Some(from)) = (bytes.get_mut(kept.clone()), data.bytes.get(kept.clone())) {
            to.copy_from_slice(from);
        }
        TensorData { bytes: bytes.into(), ..data.clone() }
    })
}

/// The number `x` in the kind of another one.
fn simple(scalar: Scalar, x: f64) -> Scalar {
    match scalar {
        Scalar::Bool(_) => Scalar::Bool(bool::from_scalar(Scalar::Float(x))),
        Scalar::Int(_) => Scalar::Int(x as i64),
        Scalar::UInt(_) => Scalar::UInt(x as u64),
        Scalar::Float(_) | Scalar::Ring(_) => Scalar::Float(x),
    }
}

/// A float with fewer digits.
fn shortened(scalar: Scalar, digits: f64) -> Scalar {
    match scalar {
        Scalar::Float(x) if x.is_finite() => Scalar::Float((x * digits).round() / digits),
        other @ (Scalar::Float(_) | Scalar::Ring(_) | Scalar::Bool(_) | Scalar::Int(_) | Scalar::UInt(_)) => other,
    }
}

/// An independent size: a shape variable, or, where the signature leaves sizes open, all axes with the same size.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum ShrinkAxis {
    Var(ShapeVar),
    Open(i64),
}

/// The sizes that can be changed.
fn collect(info: &StructInfo, value: &ValueSpec, axes: &mut BTreeMap<ShrinkAxis, i64>) {
    if let (StructInfo::Tensor(t), ValueSpec::Tensor(data)) = (info, value) {
        let sizes = data.shape.iter().filter_map(|size| i64::try_from(*size).ok());
        match &t.shape {
            Some(TensorShape::Dims(dims)) => of_vars(dims, sizes, axes),
            None => axes.extend(sizes.map(|size| (ShrinkAxis::Open(size), size))),
            Some(TensorShape::Var(_) | TensorShape::DataflowVar(_) | TensorShape::Other(_)) => {}
        }
    } else if let (StructInfo::Shape(s), ValueSpec::Shape(dims)) = (info, value) {
        s.values.iter().for_each(|values| of_vars(values, dims.iter().copied(), axes));
    } else if let (StructInfo::Tuple(infos), ValueSpec::Tuple(fields)) = (info, value) {
        with_stack(|| infos.iter().zip(fields).for_each(|(info, value)| collect(info, value, axes)));
    }
}

fn of_vars(dims: &[PrimExpr], sizes: impl Iterator<Item = i64>, axes: &mut BTreeMap<ShrinkAxis, i64>) {
    for (dim, size) in dims.iter().zip(sizes) {
        match dim {
            PrimExpr::Var(var) => {
                axes.insert(ShrinkAxis::Var(var.clone()), size);
            }
            PrimExpr::IntImm(_) | PrimExpr::Binary(..) | PrimExpr::Not(_) | PrimExpr::Select(..) => {}
        }
    }
}

/// The value with other sizes; `None` if it would be larger, or has no such sizes.
fn resized(info: &StructInfo, value: &ValueSpec, axes: &BTreeMap<ShrinkAxis, i64>) -> Option<ValueSpec> {
    if let (StructInfo::Tensor(t), ValueSpec::Tensor(data)) = (info, value) {
        let sizes = match &t.shape {
            Some(TensorShape::Dims(dims)) => evaluated(dims, axes)?,
            None => {
                let size = |size: &u64| axes.get(&ShrinkAxis::Open(*size as i64)).copied();
                data.shape.iter().map(size).collect::<Option<_>>()?
            }
            Some(TensorShape::Var(_) | TensorShape::DataflowVar(_) | TensorShape::Other(_)) => return None,
        };
        cut(data, &sizes).map(ValueSpec::Tensor)
    } else if let (StructInfo::Shape(s), ValueSpec::Shape(_)) = (info, value) {
        match &s.values {
            Some(values) => evaluated(values, axes).map(ValueSpec::Shape),
            None => Some(value.clone()),
        }
    } else if let (StructInfo::Prim(p), ValueSpec::Int(_)) = (info, value) {
        match &p.value {
            Some(size) => evaluated(std::slice::from_ref(size), axes)?.first().map(|size| ValueSpec::Int(*size)),
            None => Some(value.clone()),
        }
    } else if let (StructInfo::Tuple(infos), ValueSpec::Tuple(fields)) = (info, value) {
        with_stack(|| {
            let fields: Option<Vec<ValueSpec>> =
                infos.iter().zip(fields).map(|(info, value)| resized(info, value, axes)).collect();
            fields.map(ValueSpec::Tuple)
        })
    } else {
        Some(value.clone())
    }
}

fn evaluated(dims: &[PrimExpr], axes: &BTreeMap<ShrinkAxis, i64>) -> Option<Vec<i64>> {
    let lookup = |var: &ShapeVar| axes.get(&ShrinkAxis::Var(var.clone())).copied();
    let size = |dim| crate::shape::evaluate(&mut Cx::new(), dim, &lookup).ok().filter(|size| *size >= 0);
    dims.iter().map(size).collect()
}

/// The elements whose indices are within the sizes.
fn cut(data: &TensorData, sizes: &[i64]) -> Option<TensorData> {
    let sizes: Vec<u64> = sizes.iter().map(|size| u64::try_from(*size).ok()).collect::<Option<_>>()?;
    if sizes.len() != data.shape.len() || sizes.iter().zip(data.shape.iter()).any(|(new, old)| new > old) {
        return None;
    }
    let width = data.dtype.bytes();
    let within = |mut at: u64| {
        data.shape.iter().zip(&sizes).rev().all(|(old, new)| {
            let index = at % (*old).max(1);
            at /= (*old).max(1);
            index < *new
        })
    };
    let elements = data.bytes.chunks(width.max(1)).enumerate().filter(|(at, _)| within(*at as u64));
    let bytes: Vec<u8> = elements.flat_map(|(_, bytes)| bytes.iter().copied()).collect();
    TensorData::new(data.dtype, &sizes, bytes).ok()
}

/// The values with each tensor replaced; tensors are counted from the first.
fn map_tensors(values: &[ValueSpec], f: &mut impl FnMut(usize, &TensorData) -> TensorData) -> Vec<ValueSpec> {
    fn each(value: &ValueSpec, n: &mut usize, f: &mut impl FnMut(usize, &TensorData) -> TensorData) -> ValueSpec {
        if let ValueSpec::Tensor(data) = value {
            *n += 1;
            ValueSpec::Tensor(f(*n - 1, data))
        } else if let ValueSpec::Tuple(fields) = value {
            with_stack(|| ValueSpec::Tuple(fields.iter().map(|field| each(field, n, f)).collect()))
        } else {
            value.clone()
        }
    }
    let mut n = 0;
    values.iter().map(|value| each(value, &mut n, f)).collect()
}
