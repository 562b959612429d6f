//! The properties that a user knows about the arguments of a function. Generated arguments have them, and given
//! arguments must have them.

use std::collections::BTreeMap;

use super::constants::Constants;
use crate::grammar::{Function, Name, TensorData};
use crate::judge::with_stack;
use crate::number::FloatType;
use crate::value::{Scalar, Tensor, ValueSpec};

/// The known properties of the arguments, by the names of the parameters.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct KnownArguments {
    /// Whether all integers are non-negative, and below the largest size of an argument or a literal.
    pub indices_in_range: bool,
    /// Whether all arguments are ordinary: tensors have elements, numbers are finite, and integers are not zero.
    pub ordinary: bool,
    /// The known properties of single parameters.
    pub of: BTreeMap<Name, KnownArgument>,
}

/// The known properties of the elements of an argument.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct KnownArgument {
    /// The range of the elements.
    pub range: Option<KnownRange>,
    /// Whether none is infinite or NaN.
    pub finite: bool,
    /// Whether no two elements of a tensor are equal.
    pub distinct: bool,
    /// Whether each line along the last axis ascends.
    pub sorted: bool,
    /// Whether each tensor has elements, and no integer and no size is zero.
    pub nonzero: bool,
}

/// Whether arguments are such as most programs get: tensors with elements, finite numbers, and no zero among integers.
pub fn are_ordinary(args: &[ValueSpec]) -> bool {
    args.iter().all(|arg| ORDINARY.broken(arg, None).is_none())
}

const ORDINARY: KnownArgument =
    KnownArgument { range: None, finite: true, distinct: false, sorted: false, nonzero: true };

/// An interval of numbers.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct KnownRange {
    /// The smallest.
    pub low: f64,
    /// The largest, or an upper bound that is not included.
    pub high: f64,
    /// Whether `high` is one of them.
    pub inclusive: bool,
}

impl KnownRange {
    fn holds(self, x: f64) -> bool {
        x >= self.low && (x < self.high || self.inclusive && x == self.high)
    }

    /// A number of the range that depends on `x`; integers remain integers.
    fn folded(self, x: f64) -> f64 {
        if self.holds(x) {
            return x;
        }
        let width = self.high - self.low;
        let inside = if x.is_finite() && width > 0.0 { (x - self.low).rem_euclid(width) + self.low } else { self.low };
        if self.holds(inside) { inside } else { self.low }
    }
}

impl KnownArguments {
    /// Whether freely drawn numbers could violate these properties.
    pub fn limits_numbers(&self) -> bool {
        self.of.values().any(|known| known.range.is_some() || known.sorted)
    }

    /// The name of a parameter in this list that the function does not have.
    pub fn missing(&self, func: &Function) -> Option<&Name> {
        self.of.keys().find(|name| !func.params.iter().any(|param| param.var.name == **name))
    }

    /// The known properties of a parameter.
    fn of_parameter(&self, name: &Name) -> KnownArgument {
        let known = self.of.get(name).cloned().unwrap_or_default();
        KnownArgument { finite: known.finite || self.ordinary, nonzero: known.nonzero || self.ordinary, ..known }
    }

    /// The parameter whose argument does not have the known properties, and what is wrong with it.
    pub(super) fn broken(&self, func: &Function, args: &[ValueSpec], constants: &Constants) -> Option<(Name, String)> {
        let limit = self.indices_in_range.then(|| limit_of(args, constants));
        let params = func.params.iter().map(|param| &param.var.name);
        params
            .zip(args)
            .find_map(|(name, arg)| self.of_parameter(name).broken(arg, limit).map(|what| (name.clone(), what)))
    }

    /// The arguments, changed as little as possible to have the properties; `None` if that is impossible.
    pub(super) fn mend(
        &self,
        func: &Function,
        mut args: Vec<ValueSpec>,
        constants: &Constants,
    ) -> Option<Vec<ValueSpec>> {
        if *self == KnownArguments::default() {
            return Some(args);
        }
        let limit = self.indices_in_range.then(|| limit_of(&args, constants));
        for (param, arg) in func.params.iter().zip(&mut args) {
            self.of_parameter(&param.var.name).mend(arg, limit)?;
        }
        self.broken(func, &args, constants).is_none().then_some(args)
    }
}

/// The upper bound of all indices.
fn limit_of(args: &[ValueSpec], constants: &Constants) -> f64 {
    let sizes = args.iter().flat_map(ValueSpec::tensors).flat_map(|data| data.shape.iter().copied());
    let sizes: Vec<i64> = sizes.filter_map(|size| i64::try_from(size).ok()).collect();
    constants.limits(sizes.into_iter()).last().copied().unwrap_or(1) as f64
}

impl KnownArgument {
    /// The range of integers: that of indices, unless another one is known.
    fn range_of(&self, x: Scalar, limit: Option<f64>) -> Option<KnownRange> {
        let indices = limit.map(|high| KnownRange { low: 0.0, high, inclusive: false });
        match x {
            Scalar::Int(_) | Scalar::UInt(_) => self.range.or(indices),
            Scalar::Float(_) => self.range,
            Scalar::Bool(_) | Scalar::Ring(_) => None,
        }
    }

    fn broken(&self, arg: &ValueSpec, limit: Option<f64>) -> Option<String> {
        match arg {
            ValueSpec::Tensor(data) => self.broken_in(&elements(data), data, limit),
            ValueSpec::Tuple(fields) => with_stack(|| fields.iter().find_map(|field| self.broken(field, limit))),
            ValueSpec::Int(i) if !self.range.is_none_or(|range| range.holds(*i as f64)) => {
                Some(format!("{i} is out of the range"))
            }
            ValueSpec::Int(i) => (self.nonzero && *i == 0).then(|| "it is zero".to_string()),
            ValueSpec::Shape(sizes) => (self.nonzero && sizes.contains(&0)).then(|| "a size is zero".to_string()),
            ValueSpec::Float(x) => self.broken_element(Scalar::Float(x.get()), None),
            _ => None,
        }
    }

    fn broken_element(&self, x: Scalar, limit: Option<f64>) -> Option<String> {
        let number = as_number(x);
        let shown = || if number.fract() == 0.0 { format!("{number:.0}") } else { number.to_string() };
        if self.range_of(x, limit).is_some_and(|range| !range.holds(number)) {
            return Some(format!("{} is out of the range", shown()));
        }
        if self.finite && !number.is_finite() {
            return Some(format!("{} is not finite", shown()));
        }
        (self.nonzero && matches!(x, Scalar::Int(0) | Scalar::UInt(0))).then(|| "an integer is zero".to_string())
    }

    fn broken_in(&self, elements: &[Scalar], data: &TensorData, limit: Option<f64>) -> Option<String> {
        if self.nonzero && elements.is_empty() {
            return Some("it has no elements".to_string());
        }
        if let Some(what) = elements.iter().find_map(|x| self.broken_element(*x, limit)) {
            return Some(what);
        }
        if self.distinct && has_equal(elements) {
            return Some("two elements are equal".to_string());
        }
        let ascends = |line: &[Scalar]| line.is_sorted_by(|a, b| as_number(*a).total_cmp(&as_number(*b)).is_le());
        let is_sorted = elements.chunks(line_of(data)).all(ascends);
        (self.sorted && !is_sorted).then(|| "a line does not ascend".to_string())
    }

    fn mend(&self, arg: &mut ValueSpec, limit: Option<f64>) -> Option<()> {
        match arg {
            ValueSpec::Tensor(data) if self.broken_in(&elements(data), data, limit).is_some() => {
                *data = self.mended(data, limit)?;
            }
            ValueSpec::Tuple(fields) => {
                return with_stack(|| fields.iter_mut().try_for_each(|field| self.mend(field, limit)));
            }
            ValueSpec::Int(i) => {
                if let Some(range) = self.range {
                    *i = range.folded(*i as f64) as i64;
                }
                *i = if self.nonzero && *i == 0 { 1 } else { *i };
            }
            ValueSpec::Float(x) => {
                let Scalar::Float(mended) = self.mended_element(Scalar::Float(x.get()), None, None) else {
                    return None;
                };
                *x = crate::grammar::FloatBits::new(mended);
            }
            _ => {}
        }
        Some(())
    }

    /// The element, moved into the range.
    fn mended_element(&self, x: Scalar, float: Option<FloatType>, limit: Option<f64>) -> Scalar {
        let range = self.range_of(x, limit);
        let x = match x {
            Scalar::Int(0) if self.nonzero => Scalar::Int(1),
            Scalar::UInt(0) if self.nonzero => Scalar::UInt(1),
            Scalar::Bool(_) | Scalar::Int(_) | Scalar::UInt(_) | Scalar::Float(_) | Scalar::Ring(_) => x,
        };
        match (x, range) {
            (Scalar::Float(x), None) => Scalar::Float(if self.finite && !x.is_finite() { 1.0 } else { x }),
            (Scalar::Float(x), Some(range)) => {
                let round = |x: f64| float.map_or(x, |float| float.round(x));
                Scalar::Float(round(range.folded(round(range.folded(x)))))
            }
            (Scalar::Int(x), Some(range)) if !range.holds(x as f64) => Scalar::Int(range.folded(x as f64) as i64),
            (Scalar::UInt(x), Some(range)) if !range.holds(x as f64) => Scalar::UInt(range.folded(x as f64) as u64),
            (x, _) => x,
        }
    }

    fn mended(&self, data: &TensorData, limit: Option<f64>) -> Option<TensorData> {
        let float = data.dtype.float_type();
        let mut made: Vec<Scalar> = elements(data).iter().map(|x| self.mended_element(*x, float, limit)).collect();
        if self.distinct && has_equal(&made) {
            self.make_distinct(&mut made, float, limit)?;
        }
        if self.sorted {
            let sort = |line: &mut [Scalar]| line.sort_by(|a, b| as_number(*a).total_cmp(&as_number(*b)));
            made.chunks_mut(line_of(data)).for_each(sort);
        }
        let tensor = Tensor::from_data(data).ok()?;
        tensor.fill(|i| made.get(i).copied().ok_or(())).ok()?;
        Some(tensor.to_data())
    }

    /// Replaces repeated elements: by integers from the start of the range on, or by parts of a range of floats.
    fn make_distinct(&self, made: &mut [Scalar], float: Option<FloatType>, limit: Option<f64>) -> Option<()> {
        let count = made.len();
        let range = self.range_of(*made.first()?, limit);
        let (low, width) = match (range, float) {
            (Some(range), _) => (range.low, range.high - range.low),
            (None, Some(_)) => (-0.125 * count as f64, 0.25 * count as f64),
            (None, None) => (0.0, count as f64),
        };
        let steps = 2 * count + 2;
        let mut fresh = (0..steps).map(|k| match float {
            Some(float) => float.round(low + width * k as f64 / steps as f64),
            None => low + k as f64,
        });
        let mut seen: Vec<u64> = made.iter().map(|x| key(*x)).collect();
        seen.sort_unstable();
        let known = seen.clone();
        let mut taken = std::collections::BTreeSet::new();
        for x in made.iter_mut() {
            if taken.insert(key(*x)) {
                continue;
            }
            let is_new = |number: &f64| known.binary_search(&key(like(*x, *number))).is_err();
            let number = fresh.by_ref().filter(|number| range.is_none_or(|range| range.holds(*number))).find(is_new)?;
            *x = like(*x, number);
            taken.insert(key(*x));
        }
        (!has_equal(made)).then_some(())
    }
}

/// A number as an element of the same kind as another one.
fn like(x: Scalar, number: f64) -> Scalar {
    match x {
        Scalar::Bool(_) => Scalar::Bool(number != 0.0),
        Scalar::Int(_) => Scalar::Int(number as i64),
        Scalar::UInt(_) => Scalar::UInt(number as u64),
        Scalar::Float(_) | Scalar::Ring(_) => Scalar::Float(number),
    }
}

/// A key that is equal for equal elements: zeros of both signs count as equal, and so do all NaNs.
fn key(x: Scalar) -> u64 {
    match x {
        Scalar::Bool(x) => x.into(),
        Scalar::Int(x) => x as u64,
        Scalar::UInt(x) => x,
        Scalar::Float(x) if x.is_nan() => f64::NAN.to_bits(),
        Scalar::Float(x) => (x + 0.0).to_bits(),
        Scalar::Ring(_) => 0,
    }
}

fn has_equal(elements: &[Scalar]) -> bool {
    let mut seen = std::collections::BTreeSet::new();
    elements.iter().any(|x| !seen.insert(key(*x)))
}

fn as_number(x: Scalar) -> f64 {
    match x {
        Scalar::Bool(x) => f64::from(u8::from(x)),
        Scalar::Int(x) => x as f64,
        Scalar::UInt(x) => x as f64,
        Scalar::Float(x) => x,
        Scalar::Ring(_) => f64::NAN,
    }
}

fn elements(data: &TensorData) -> Vec<Scalar> {
    let tensor = Tensor::from_data(data).ok();
    tensor.iter().flat_map(|tensor| (0..tensor.len()).filter_map(|i| tensor.get(i))).collect()
}

/// The length of a line along the last axis.
fn line_of(data: &TensorData) -> usize {
    data.shape.last().and_then(|size| usize::try_from(*size).ok()).unwrap_or(1).max(1)
}
