//! Agreement of the observations of two runs. Floats that a program rounds are not exact: the same operations in
//! another order round in another way. Runs of the source with noise show how far the results may differ.

use std::cell::{Cell, OnceCell};
use std::mem::discriminant;

use super::{Deviation, Observed};
use crate::grammar::TensorData;
use crate::judge::{Ending, with_stack};
use crate::number::FloatType;
use crate::value::{Effect, Scalar, Tensor, ValueSpec, is_half, least_normal, spacing};

/// How much further than noise moves a float the target may be off. Noise is only a sample, and the target rounds too.
const FACTOR: f64 = 2.0;
/// The same for types of few digits, in which functions are computed with more digits.
const FACTOR_OF_HALF: f64 = 1.5;
/// An additional factor for a compiled target, whose rounding is unknown.
const COMPILED: f64 = 2.0;
/// The units in the last place that are always allowed for a function whose value is not exact.
const UNITS: f64 = 4.0;

/// The result of a run with noise.
#[derive(Clone, Copy, Debug)]
pub(super) struct Shadow<T> {
    pub(super) shown: T,
    /// Whether the target was run with noise, and not the source.
    pub(super) of_target: bool,
}

impl<T> Shadow<T> {
    fn of<U>(&self, shown: U) -> Shadow<U> {
        Shadow { shown, of_target: self.of_target }
    }

    /// The value of the program that was run with noise.
    fn own<U>(&self, before: U, after: U) -> U {
        if self.of_target { after } else { before }
    }
}

/// The same value in the runs with noise; `None` where such a run has a value of another form.
type ShadowedValues<'v> = [Shadow<Option<&'v ValueSpec>>];

/// The position of a float.
#[derive(Clone, Copy)]
struct Place {
    /// The index of the element.
    index: usize,
    /// The largest magnitude of all elements of the tensor.
    scale: f64,
}

/// Decides which values of the source and the target agree.
pub(super) struct Agreement<'a> {
    /// The runs of the source and of the target with noise.
    shadows: Vec<Shadow<&'a Observed>>,
    /// Whether floats agree only if they are equal bit for bit.
    exact: bool,
    /// Whether the source computed a number that overflows, so that the target may be better.
    overflows: bool,
    /// Whether the runs evaluate a function that an implementation may miss by some units, even where its value is
    /// exact.
    approximates: bool,
    /// Whether the programs compute floats, so that zeros of both signs are equal.
    computes: bool,
    /// The arguments. If one is infinite or NaN, the order of operations decides which of the two a result is.
    args: &'a [ValueSpec],
    /// Whether one is, once this is needed.
    boundless: OnceCell<bool>,
    /// The additional tolerance that the user allows.
    tolerance: f64,
    /// The largest deviation, in proportion to its bound.
    largest: Cell<Option<Deviation>>,
    /// Whether a float agrees in no digit, and only the rounding of the target explains it.
    blurred: Cell<bool>,
    /// Whether a float of the target is infinite or NaN where that of the source is a number.
    unbounded: Cell<bool>,
    /// Whether the target is compiled.
    compiled: bool,
}

impl<'a> Agreement<'a> {
    /// Values agree if they are equal bit for bit.
    pub(super) fn exact() -> Agreement<'a> {
        Agreement { exact: true, ..Agreement::within(Vec::new(), false, 0.0) }
    }

    /// Values agree as far as noise moves those of the source.
    pub(super) fn within(shadows: Vec<&'a Observed>, overflows: bool, tolerance: f64) -> Agreement<'a> {
        Agreement {
            shadows: shadows.into_iter().map(|shown| Shadow { shown, of_target: false }).collect(),
            exact: false,
            overflows,
            approximates: false,
            computes: true,
            args: &[],
            boundless: OnceCell::new(),
            tolerance,
            largest: Cell::new(None),
            blurred: Cell::new(false),
            unbounded: Cell::new(false),
            compiled: false,
        }
    }

    /// Values agree also as far as noise moves those of the target: it may compute the same with operations that lose
    /// more by rounding.
    pub(super) fn and_of_target(mut self, shadows: impl Iterator<Item = &'a Observed>) -> Agreement<'a> {
        self.shadows.extend(shadows.map(|shown| Shadow { shown, of_target: true }));
        self
    }

    /// The agreement of the observations of the same call of a returned closure.
    pub(super) fn of_call(&self, nth: usize) -> Agreement<'a> {
        let call = |shadow: &Shadow<&'a Observed>| {
            shadow.shown.closures.calls().nth(nth).map(|call| shadow.of(&call.observed))
        };
        let shadows = self.shadows.iter().filter_map(call).collect();
        let (largest, blurred, unbounded) = (Cell::new(None), Cell::new(false), Cell::new(false));
        Agreement { shadows, largest, blurred, unbounded, boundless: self.boundless.clone(), ..*self }
    }

    /// The same, if the runs evaluate functions that an implementation may miss by some units.
    pub(super) fn approximating(self, approximates: bool) -> Agreement<'a> {
        Agreement { approximates, ..self }
    }

    /// The same, if the target may be compiled.
    pub(super) fn of_compiled(self, compiled: bool) -> Agreement<'a> {
        Agreement { compiled, ..self }
    }

    /// The same, if the program computes nothing and only moves values.
    pub(super) fn of_moved(self) -> Agreement<'a> {
        Agreement { computes: false, ..self }
    }

    /// The same, for these arguments.
    pub(super) fn of_arguments(self, args: &'a [ValueSpec]) -> Agreement<'a> {
        Agreement { args, ..self }
    }

    fn is_boundless(&self) -> bool {
        *self.boundless.get_or_init(|| self.args.iter().any(is_boundless))
    }

    /// The largest deviation that was seen.
    pub(super) fn largest(&self) -> Option<Deviation> {
        self.largest.get()
    }

    /// Whether a float agrees in no digit, and only the rounding of the target explains it.
    pub(super) fn is_blurred(&self) -> bool {
        self.blurred.get()
    }

    /// Whether a float of the target is infinite or NaN where that of the source is a number.
    pub(super) fn is_unbounded(&self) -> bool {
        self.unbounded.get()
    }

    /// Adds the observations of a call.
    pub(super) fn note_call(&self, call: &Agreement<'_>) {
        call.largest().into_iter().for_each(|deviation| self.note(deviation));
        self.blurred.set(self.is_blurred() || call.is_blurred());
        self.unbounded.set(self.is_unbounded() || call.is_unbounded());
    }

    /// Records a deviation if none is larger.
    pub(super) fn note(&self, deviation: Deviation) {
        if self.largest.get().is_none_or(|known| deviation.part() > known.part()) {
            self.largest.set(Some(deviation));
        }
    }

    /// Whether the results agree.
    pub(super) fn results(&self, before: &ValueSpec, after: &ValueSpec) -> bool {
        let others = self.shadows.iter().map(|shadow| match &shadow.shown.outcome {
            Ending::Value(value) => shadow.of(Some(value)),
            Ending::Error(_) | Ending::OutOfFuel | Ending::Unspecified(_) | Ending::Unknown(_) => shadow.of(None),
        });
        self.values(before, after, &others.collect::<Vec<_>>())
    }

    /// Whether the final contents of an argument agree.
    pub(super) fn argument(&self, nth: usize, before: &ValueSpec, after: &ValueSpec) -> bool {
        let others = self.shadows.iter().map(|shadow| shadow.of(shadow.shown.arguments.get(nth)));
        self.values(before, after, &others.collect::<Vec<_>>())
    }

    /// Whether the effects with this number agree.
    pub(super) fn effect(&self, nth: usize, before: &Effect, after: &Effect) -> bool {
        let (x, y) = (values_of(before), values_of(after));
        let same = |i: usize, x: &ValueSpec, y: &ValueSpec| {
            let value = |shown: &'a Observed| shown.effects.get(nth).and_then(|effect| values_of(effect).get(i));
            let others = self.shadows.iter().map(|shadow| shadow.of(value(shadow.shown)));
            self.values(x, y, &others.collect::<Vec<_>>())
        };
        before == after || x.len() == y.len() && x.iter().zip(y).enumerate().all(|(i, (x, y))| same(i, x, y))
    }

    /// Whether two values agree, given the same value in the runs with noise; `None` for a run with another result.
    pub(super) fn values(&self, before: &ValueSpec, after: &ValueSpec, others: &ShadowedValues<'_>) -> bool {
        match (before, after) {
            _ if before == after => true,
            _ if self.exact => false,
            (ValueSpec::Tensor(x), ValueSpec::Tensor(y)) => {
                let others: Vec<_> = others.iter().map(|other| other.of(tensor_like(x, other.shown))).collect();
                self.tensors(x, y, &others)
            }
            (ValueSpec::Tuple(x), ValueSpec::Tuple(y)) if x.len() == y.len() => with_stack(|| {
                x.iter().zip(y).enumerate().all(|(i, (x, y))| {
                    let others: Vec<_> = others.iter().map(|other| other.of(field(other.shown, i))).collect();
                    self.values(x, y, &others)
                })
            }),
            (ValueSpec::Float(x), ValueSpec::Float(y)) => {
                let others: Option<Vec<_>> =
                    others.iter().map(|other| float(other.shown).map(|x| other.of(x))).collect();
                let place = Place { index: 0, scale: x.get().abs() };
                others.is_none_or(|others| self.floats(FloatType::Float64, x.get(), y.get(), &others, place))
            }
            (ValueSpec::Tuple(_), ValueSpec::Tuple(_)) => {
                self.decides(before, after, others, |own, other| length(own) != length(other))
            }
            // Noise in the floats of a tensor excuses no value of another kind.
            (_, _) if discriminant(before) != discriminant(after) => {
                self.decides(before, after, others, |own, other| discriminant(own) != discriminant(other))
            }
            (_, _) => self.decides(before, after, others, |own, other| own != other),
        }
    }

    /// Whether the value depends on noise, so that the two programs may differ in it: a run with noise has another
    /// result, or another value here.
    fn decides(
        &self,
        before: &ValueSpec,
        after: &ValueSpec,
        others: &ShadowedValues<'_>,
        differ: impl Fn(&ValueSpec, &ValueSpec) -> bool,
    ) -> bool {
        others.iter().any(|other| other.shown.is_none_or(|shown| differ(other.own(before, after), shown)))
    }

    fn tensors(&self, x: &TensorData, y: &TensorData, others: &[Shadow<Option<Tensor>>]) -> bool {
        if x.dtype != y.dtype || x.shape != y.shape {
            return false;
        }
        let alike = others.iter().map(|other| other.shown.as_ref().map(|tensor| other.of(tensor)));
        let Some(others) = alike.collect::<Option<Vec<Shadow<&Tensor>>>>() else { return true };
        let (Ok(a), Ok(b)) = (Tensor::from_data(x), Tensor::from_data(y)) else { return false };
        let finite = |i| as_float(a.get(i)).filter(|x| x.is_finite());
        let scale = (0..a.len()).filter_map(finite).fold(0.0, |scale, x| x.abs().max(scale));
        (0..a.len()).all(|i| match (a.get(i), b.get(i), x.dtype.float_type()) {
            (Some(Scalar::Float(s)), Some(Scalar::Float(t)), Some(kind)) => {
                let others = others.iter().filter_map(|other| as_float(other.shown.get(i)).map(|x| other.of(x)));
                self.floats(kind, s, t, &others.collect::<Vec<_>>(), Place { index: i, scale })
            }
            (s, t, _) => s == t || others.iter().any(|other| other.shown.get(i) != other.own(s, t)),
        })
    }

    /// Whether a float of the target agrees with that of the source.
    fn floats(&self, kind: FloatType, s: f64, t: f64, others: &[Shadow<f64>], place: Place) -> bool {
        if s == t {
            // No computation distinguishes zeros of both signs; a value that is only moved keeps its bits.
            return self.computes || s.to_bits() == t.to_bits();
        }
        if s.is_nan() && t.is_nan() {
            return true;
        }
        if !s.is_finite() && !t.is_finite() {
            // Infinities of opposite signs do not agree.
            let same = |other: &Shadow<f64>| {
                let own = other.own(s, t);
                other.shown == own || other.shown.is_nan() && own.is_nan()
            };
            let open = || self.overflows || self.is_boundless() || others.iter().any(|other| !same(other));
            return (s.is_nan() || t.is_nan()) && open();
        }
        if !s.is_finite() || !t.is_finite() {
            // An overflow of the target that the source does not have needs an explanation.
            let decides = |other: &Shadow<f64>| {
                (!other.of_target || t.is_finite()) && other.shown.is_finite() != other.own(s, t).is_finite()
            };
            let same = self.overflows && t.is_finite() || others.iter().any(decides);
            self.unbounded.set(self.unbounded.get() || !same && s.is_finite());
            return same;
        }
        let moved = |of_target| {
            let of = others.iter().filter(|other| other.of_target == of_target);
            of.map(|other| (other.shown - other.own(s, t)).abs()).filter(|x| x.is_finite()).fold(0.0, f64::max)
        };
        let factor = factor(kind) * if self.compiled { COMPILED } else { 1.0 };
        let (of_source, of_target) = (factor * moved(false), factor * moved(true));
        let rest = self.nothing(kind, s) + self.tolerance * (1.0 + s.abs());
        let bound = of_source + of_target + rest;
        let deviation = Deviation { error: (s - t).abs(), bound, index: place.index, before: s, after: t };
        // Digits far below the other elements do not matter.
        if place.scale > 0.0 && deviation.error > place.scale / 2.0 && deviation.error > of_source + rest {
            self.blurred.set(true);
        }
        self.note(deviation);
        deviation.error <= deviation.bound
    }

    /// The deviation that is always allowed if anything is computed: hardware may replace subnormal numbers by 0, and
    /// functions may miss exact results.
    fn nothing(&self, kind: FloatType, value: f64) -> f64 {
        let flushed = match kind {
            FloatType::Float16 => 0.0,
            FloatType::BFloat16 | FloatType::Float32 | FloatType::Float64 => least_normal(kind),
        };
        let units = if is_half(kind) { 1.0 } else { UNITS };
        match (self.computes, self.approximates) {
            (false, _) => 0.0,
            (true, false) => flushed,
            (true, true) => flushed + units * unit(kind, value),
        }
    }
}

fn factor(kind: FloatType) -> f64 {
    if is_half(kind) { FACTOR_OF_HALF } else { FACTOR }
}

/// The distance between adjacent floats around a number.
fn unit(kind: FloatType, value: f64) -> f64 {
    if value == 0.0 { 2f64.powi(kind.least_exponent().max(-1074)) } else { spacing(kind, value.abs()) }
}

fn values_of(effect: &Effect) -> &[ValueSpec] {
    match effect {
        Effect::Call(_, values) | Effect::Print(values) => values,
    }
}

/// The number of fields of a tuple.
fn length(value: &ValueSpec) -> Option<usize> {
    if let ValueSpec::Tuple(fields) = value { Some(fields.len()) } else { None }
}

fn field(value: Option<&ValueSpec>, i: usize) -> Option<&ValueSpec> {
    if let Some(ValueSpec::Tuple(fields)) = value { fields.get(i) } else { None }
}

fn float(value: Option<&ValueSpec>) -> Option<f64> {
    if let Some(ValueSpec::Float(x)) = value { Some(x.get()) } else { None }
}

fn as_float(scalar: Option<Scalar>) -> Option<f64> {
    if let Some(Scalar::Float(x)) = scalar { Some(x) } else { None }
}

fn tensor_like(data: &TensorData, value: Option<&ValueSpec>) -> Option<Tensor> {
    match value {
        Some(ValueSpec::Tensor(other)) if other.dtype == data.dtype && other.shape == data.shape => {
            Tensor::from_data(other).ok()
        }
        Some(_) | None => None,
    }
}

/// Whether some float is infinite or NaN.
fn is_boundless(value: &ValueSpec) -> bool {
    value.parts().any(|part| match float(Some(part)) {
        Some(x) => !x.is_finite(),
        None => has_float(part, |_, x| !x.is_finite()),
    })
}

/// The floating-point type with the most digits in a value.
pub(super) fn finest_in(value: &ValueSpec) -> Option<FloatType> {
    value.tensors().filter_map(|data| data.dtype.float_type()).max_by_key(|float| float.digits())
}

/// Whether the value is a tensor with a float of this kind.
fn has_float(value: &ValueSpec, is_such: impl Fn(FloatType, f64) -> bool) -> bool {
    let ValueSpec::Tensor(data) = value else { return false };
    let (Some(kind), Ok(tensor)) = (data.dtype.float_type(), Tensor::from_data(data)) else { return false };
    (0..tensor.len()).any(|i| as_float(tensor.get(i)).is_some_and(|x| is_such(kind, x)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::grammar::DataType;

    fn tensor(value: f64) -> ValueSpec {
        ValueSpec::Tensor(TensorData::from_values(DataType::FLOAT32, &[1], &[value]).unwrap())
    }

    fn same(before: &ValueSpec, after: &ValueSpec, noisy: &ValueSpec) -> bool {
        let other = Shadow { shown: Some(noisy), of_target: false };
        Agreement::within(Vec::new(), false, 0.0).values(before, after, &[other])
    }

    #[test]
    fn noise_in_a_float_makes_no_value_of_another_kind_the_same() {
        let (own, noisy) = (tensor(1.5), tensor(f64::from(1.5 + f32::EPSILON)));
        let others = [ValueSpec::Str("another".into()), ValueSpec::Int(1), ValueSpec::Tuple(vec![own.clone()])];
        for other in &others {
            assert!(!same(&own, other, &noisy) && !same(other, &own, other), "{other:?}");
        }
        let tuple = |fields: &[ValueSpec]| ValueSpec::Tuple(fields.to_vec());
        let (one, two) = (tuple(std::slice::from_ref(&own)), tuple(&[own.clone(), own.clone()]));
        assert!(!same(&one, &two, &tuple(std::slice::from_ref(&noisy))));
        assert!(!same(&two, &one, &tuple(&[noisy.clone(), noisy.clone()])));
        assert!(same(&own, &noisy, &noisy));
    }

    #[test]
    fn noise_decides_a_number_that_depends_on_a_float() {
        assert!(same(&ValueSpec::Int(1), &ValueSpec::Int(2), &ValueSpec::Int(2)));
        assert!(!same(&ValueSpec::Int(1), &ValueSpec::Int(2), &ValueSpec::Int(1)));
        // The run with noise has another kind of value.
        assert!(same(&tensor(1.5), &ValueSpec::Int(1), &ValueSpec::Int(1)));
    }
}
