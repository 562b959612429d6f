//! Agreement of what two runs show. Floats that a program rounds are no exact data: another order of the same operations
//! rounds otherwise. How far it may be off is seen by running the source again with noise.

use std::cell::Cell;
use std::mem::discriminant;

use super::{Deviation, Observed};
use crate::grammar::TensorData;
use crate::judge::{Ending, with_stack};
use crate::number::FloatType;
use crate::value::{Effect, Scalar, Tensor, ValueSpec, spacing};

/// How much further than noise moves a float the target may be off: noise is a sample, and each operation of the target may
/// err by some units.
const FACTOR: f64 = 16.0;
/// Units in the last place that are nothing, where anything is rounded.
const UNITS: f64 = 4.0;

/// Which values of the source and the target are the same.
pub(super) struct Agreement<'a> {
    /// The source, run with noise; none if values must be the same bit for bit.
    shadows: Vec<&'a Observed>,
    /// Whether it is the target that was run with noise.
    of_target: bool,
    /// Whether nothing but the same bits is the same.
    exact: bool,
    /// Whether the source computed what overflows, so that the target may be better.
    overflows: bool,
    /// Whether an argument is infinite or no number, so that it depends on the order of operations which of the two comes of it.
    boundless: bool,
    /// What the user allows beside.
    tolerance: f64,
    /// The largest deviation, in proportion to its bound.
    largest: Cell<Option<Deviation>>,
}

impl<'a> Agreement<'a> {
    /// Bit for bit.
    pub(super) fn exact() -> Agreement<'a> {
        Agreement { exact: true, ..Agreement::within(Vec::new(), false, 0.0) }
    }

    /// As far as noise moves what the source gives.
    pub(super) fn within(shadows: Vec<&'a Observed>, overflows: bool, tolerance: f64) -> Agreement<'a> {
        Agreement {
            shadows,
            of_target: false,
            exact: false,
            overflows,
            boundless: false,
            tolerance,
            largest: Cell::new(None),
        }
    }

    /// As far as noise moves what the target gives: it may do what the source does by operations that rounding hurts more.
    pub(super) fn within_of_target(shadows: Vec<&'a Observed>, tolerance: f64) -> Agreement<'a> {
        Agreement { of_target: true, ..Agreement::within(shadows, false, tolerance) }
    }

    /// That of what the same call of a returned closure shows.
    pub(super) fn of_call(&self, nth: usize) -> Agreement<'a> {
        let call = |shadow: &&'a Observed| shadow.closures.calls().nth(nth).map(|call| &call.observed);
        let shadows = self.shadows.iter().filter_map(call).collect();
        let (exact, of_target, boundless) = (self.exact, self.of_target, self.boundless);
        Agreement { exact, of_target, boundless, ..Agreement::within(shadows, self.overflows, self.tolerance) }
    }

    /// The same, for arguments that are these.
    pub(super) fn of_arguments(self, args: &[ValueSpec]) -> Agreement<'a> {
        Agreement { boundless: args.iter().any(is_boundless), ..self }
    }

    /// That of the two which was run with noise.
    fn shadowed<T>(&self, before: T, after: T) -> T {
        if self.of_target { after } else { before }
    }

    /// The largest deviation that was seen.
    pub(super) fn largest(&self) -> Option<Deviation> {
        self.largest.get()
    }

    /// Remembers a deviation if none is larger.
    pub(super) fn note(&self, deviation: Deviation) {
        if self.largest.get().is_none_or(|known| deviation.part() > known.part()) {
            self.largest.set(Some(deviation));
        }
    }

    /// Whether the results are the same.
    pub(super) fn results(&self, before: &ValueSpec, after: &ValueSpec) -> bool {
        let others = self.shadows.iter().map(|shadow| match &shadow.outcome {
            Ending::Value(value) => Some(value),
            Ending::Error(_) | Ending::OutOfFuel | Ending::Unspecified(_) | Ending::Unknown(_) => None,
        });
        self.values(before, after, &others.collect::<Vec<_>>())
    }

    /// Whether the arguments end the same.
    pub(super) fn argument(&self, nth: usize, before: &ValueSpec, after: &ValueSpec) -> bool {
        let others = self.shadows.iter().map(|shadow| shadow.arguments.get(nth));
        self.values(before, after, &others.collect::<Vec<_>>())
    }

    /// Whether the effects of a number are the same.
    pub(super) fn effect(&self, nth: usize, before: &Effect, after: &Effect) -> bool {
        let (x, y) = (values_of(before), values_of(after));
        let same = |i: usize, x: &ValueSpec, y: &ValueSpec| {
            let others = self.shadows.iter().map(|shadow| shadow.effects.get(nth).and_then(|e| values_of(e).get(i)));
            self.values(x, y, &others.collect::<Vec<_>>())
        };
        before == after || x.len() == y.len() && x.iter().zip(y).enumerate().all(|(i, (x, y))| same(i, x, y))
    }

    /// Whether two values are the same, given what noise makes of the first; `None` where it makes something else of the run.
    pub(super) fn values(&self, before: &ValueSpec, after: &ValueSpec, others: &[Option<&ValueSpec>]) -> bool {
        match (before, after) {
            _ if before == after => true,
            _ if self.exact => false,
            (ValueSpec::Tensor(x), ValueSpec::Tensor(y)) => {
                let others: Vec<Option<Tensor>> = others.iter().map(|other| tensor_like(x, *other)).collect();
                self.tensors(x, y, &others)
            }
            (ValueSpec::Tuple(x), ValueSpec::Tuple(y)) if x.len() == y.len() => with_stack(|| {
                x.iter().zip(y).enumerate().all(|(i, (x, y))| {
                    let others: Vec<Option<&ValueSpec>> = others.iter().map(|other| field(*other, i)).collect();
                    self.values(x, y, &others)
                })
            }),
            (ValueSpec::Float(x), ValueSpec::Float(y)) => {
                let others: Option<Vec<f64>> = others.iter().map(|other| float(*other)).collect();
                others.is_none_or(|others| self.floats(FloatType::Float64, x.get(), y.get(), &others, 0))
            }
            (ValueSpec::Tuple(_), ValueSpec::Tuple(_)) => {
                self.decides(before, after, others, |own, other| length(own) != length(other))
            }
            // That noise moves the floats of a tensor is no reason to take anything for it.
            (_, _) if discriminant(before) != discriminant(after) => {
                self.decides(before, after, others, |own, other| discriminant(own) != discriminant(other))
            }
            (_, _) => self.decides(before, after, others, |own, other| own != other),
        }
    }

    /// Whether noise decides what it is, so that the two may differ in it: it makes something else of the run, or another value in this.
    fn decides(
        &self,
        before: &ValueSpec,
        after: &ValueSpec,
        others: &[Option<&ValueSpec>],
        differ: impl Fn(&ValueSpec, &ValueSpec) -> bool,
    ) -> bool {
        let own = self.shadowed(before, after);
        others.iter().any(|other| other.is_none_or(|other| differ(own, other)))
    }

    fn tensors(&self, x: &TensorData, y: &TensorData, others: &[Option<Tensor>]) -> bool {
        if x.dtype != y.dtype || x.shape != y.shape {
            return false;
        }
        let Some(others) = others.iter().map(Option::as_ref).collect::<Option<Vec<&Tensor>>>() else { return true };
        let (Ok(a), Ok(b)) = (Tensor::from_data(x), Tensor::from_data(y)) else { return false };
        (0..a.len()).all(|i| match (a.get(i), b.get(i), x.dtype.float_type()) {
            (Some(Scalar::Float(s)), Some(Scalar::Float(t)), Some(kind)) => {
                let others: Vec<f64> = others.iter().filter_map(|other| as_float(other.get(i))).collect();
                self.floats(kind, s, t, &others, i)
            }
            (s, t, _) => s == t || others.iter().any(|other| other.get(i) != self.shadowed(s, t)),
        })
    }

    /// Whether a float may be another one.
    fn floats(&self, kind: FloatType, s: f64, t: f64, others: &[f64], index: usize) -> bool {
        if s == t || s.is_nan() && t.is_nan() {
            return true;
        }
        let own = self.shadowed(s, t);
        if !s.is_finite() && !t.is_finite() {
            // Of infinities of both signs neither is the other.
            let same = |other: &f64| *other == own || other.is_nan() && own.is_nan();
            let open = self.overflows || self.boundless || others.iter().any(|other| !same(other));
            return (s.is_nan() || t.is_nan()) && open;
        }
        if !s.is_finite() || !t.is_finite() {
            return self.overflows && t.is_finite() || others.iter().any(|other| other.is_finite() != own.is_finite());
        }
        let moved = others.iter().map(|other| (other - own).abs()).filter(|x| x.is_finite()).fold(0.0, f64::max);
        let units = if others.is_empty() { 0.0 } else { UNITS * (unit(kind, s) + least_normal(kind)) };
        let deviation = Deviation {
            error: (s - t).abs(),
            bound: FACTOR * moved + units + self.tolerance * (1.0 + s.abs()),
            index,
            before: s,
            after: t,
        };
        self.note(deviation);
        deviation.error <= deviation.bound
    }
}

/// The distance between the floats around a number.
fn unit(kind: FloatType, value: f64) -> f64 {
    if value == 0.0 { 2f64.powi(kind.least_exponent().max(-1074)) } else { spacing(kind, value.abs()) }
}

/// Below it there are numbers that hardware may take for 0.
fn least_normal(kind: FloatType) -> f64 {
    2f64.powi((kind.least_exponent() + kind.digits() as i32 - 1).max(-1022))
}

fn values_of(effect: &Effect) -> &[ValueSpec] {
    match effect {
        Effect::Call(_, values) | Effect::Print(values) => values,
    }
}

/// How many fields a tuple has.
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

/// Whether some float is infinite or no number.
fn is_boundless(value: &ValueSpec) -> bool {
    value.parts().any(|part| match float(Some(part)) {
        Some(x) => !x.is_finite(),
        None => has_float(part, |_, x| !x.is_finite()),
    })
}

/// Whether the square of some float overflows, or is nothing: the order of operations decides what comes of it.
pub(super) fn is_extreme(value: &ValueSpec) -> bool {
    let extreme = |kind: FloatType, x: f64| {
        // The reach of exponents is about the same to both sides.
        let reach = (kind.least_exponent() + kind.digits() as i32) / 2;
        x.is_finite() && (x.abs() > 2f64.powi(-reach - 3) || x != 0.0 && x.abs() < 2f64.powi(reach + 3))
    };
    value.parts().any(|part| has_float(part, extreme))
}

/// Whether it is a tensor with such a float.
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
        Agreement::within(Vec::new(), false, 0.0).values(before, after, &[Some(noisy)])
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
        // It makes another kind of value of it.
        assert!(same(&tensor(1.5), &ValueSpec::Int(1), &ValueSpec::Int(1)));
    }
}
