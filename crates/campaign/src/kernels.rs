//! Tests that both ways in which operators compute give the same result, on random calls.

use std::rc::Rc;

use relax_spec::eval::EvalOptions;
use relax_spec::grammar::DataType;
use relax_spec::number::real::{ConstantReading, Function, Real as _};
use relax_spec::number::ring::RingNumber;
use relax_spec::value::{Kernels, Noise, Scalar, Tensor, Value, to_spec};

use crate::calls::{Ended, Fill, RandomCall, run};
use crate::operator_soundness::OperatorTemplates;

impl Ended {
    /// Whether both results are equal bit for bit, with the same steps left. All NaNs count as equal: none is
    /// prescribed.
    pub fn is_as(&self, other: &Ended) -> bool {
        let same = match (&self.result, &other.result) {
            (Ok(x), Ok(y)) => is_same(x, y),
            (Err(x), Err(y)) => x == y,
            (Ok(_), Err(_)) | (Err(_), Ok(_)) => false,
        };
        same && self.fuel == other.fuel
    }
}

fn is_same(x: &Value, y: &Value) -> bool {
    match (x, y) {
        (Value::Tensor(x), Value::Tensor(y)) => {
            x.dtype() == y.dtype()
                && x.shape() == y.shape()
                && (0..x.len()).all(|i| x.get(i).zip(y.get(i)).is_some_and(|(x, y)| is_same_scalar(x, y)))
        }
        (Value::Tuple(x), Value::Tuple(y)) => {
            x.len() == y.len() && x.fields().iter().zip(y.fields()).all(|(x, y)| is_same(x, y))
        }
        (Value::Prim(x), Value::Prim(y)) => x.dtype == y.dtype && is_same_scalar(x.value, y.value),
        (x, y) => match (to_spec(x), to_spec(y)) {
            (Ok(x), Ok(y)) => x == y,
            // Values whose contents cannot be read.
            (Err(_), Err(_)) => x.category() == y.category(),
            (Ok(_), Err(_)) | (Err(_), Ok(_)) => false,
        },
    }
}

fn is_same_scalar(x: Scalar, y: Scalar) -> bool {
    match (x, y) {
        (Scalar::Float(x), Scalar::Float(y)) => x.to_bits() == y.to_bits() || (x.is_nan() && y.is_nan()),
        (Scalar::Ring(x), Scalar::Ring(y)) => x.bytes() == y.bytes(),
        (x, y) => x == y,
    }
}

/// The steps that a random call may take.
const STEPS: u64 = 10_000_000;

/// The results of the calls of some seeds.
#[derive(Default, Debug)]
pub struct KernelReport {
    /// How many gave a value.
    pub values: u64,
    /// The seeds for which the two ways differ, each with the difference.
    pub faults: Vec<(u64, String)>,
}

/// Runs the calls of these seeds in both ways.
pub fn try_all(operators: &OperatorTemplates, seeds: std::ops::Range<u64>) -> KernelReport {
    let mut report = KernelReport::default();
    for seed in seeds {
        let Some((call, _)) = operators.call(seed).filter(|(call, _)| !call.calls_function()) else { continue };
        let [Some(plain), Some(fast)] = [Kernels::Plain, Kernels::Fast].map(|kernels| run_random(&call, seed, kernels))
        else {
            continue;
        };
        report.values += u64::from(plain.result.is_ok());
        if !plain.is_as(&fast) {
            report.faults.push((seed, format!("{call}: {} and {}", told(&plain), told(&fast))));
        }
    }
    report
}

fn told(Ended { result, fuel }: &Ended) -> String {
    let result = result.as_ref().map_or_else(|stop| format!("{stop:?}"), ToString::to_string);
    format!("{result} with {fuel} steps left")
}

fn run_random(call: &RandomCall, seed: u64, kernels: Kernels) -> Option<Ended> {
    // Each run has arguments of its own, for operators that write them.
    let values = call.values(Fill::Random(seed))?;
    let mut random = fastrand::Rng::with_seed(seed);
    if seed.is_multiple_of(4) {
        values.iter().try_for_each(|value| roughen(value, &mut random))?;
    }
    let noise = seed.is_multiple_of(3).then(|| Rc::new(Noise::new(seed)));
    let ring = (seed % 3 == 1).then_some(ConstantReading::Exact);
    let values =
        if ring.is_some() { values.iter().map(|value| in_ring(value, seed)).collect::<Option<_>>()? } else { values };
    let options = EvalOptions { kernels, noise, ring, fuel: STEPS, ..EvalOptions::default() };
    Some(run(call.op, &call.literal().0, &values, &options))
}

/// The value with its floats as numbers of the ring: most are drawn, some are constants or are computed by functions.
fn in_ring(value: &Value, seed: u64) -> Option<Value> {
    let root = Function { name: "sqrt", float: f64::sqrt };
    let number = |place: u64, x: f64| match place.wrapping_mul(seed) % 64 {
        0..16 => RingNumber::of_float(x),
        16 => RingNumber::drawn(place, x).applied(root),
        _ => RingNumber::drawn(place, x),
    };
    match value {
        Value::Tensor(tensor) if tensor.dtype().is_float() => {
            let numbers = Tensor::zeros_of_ring(tensor.dtype(), tensor.shape()).ok()?;
            let element = |i| match tensor.get(i) {
                Some(Scalar::Float(x)) => Ok(Scalar::Ring(number(i as u64 + seed, x))),
                other => other.ok_or(()),
            };
            numbers.fill(element).ok()?;
            Some(Value::Tensor(numbers))
        }
        Value::Tuple(tuple) => {
            Some(Value::tuple(tuple.fields().iter().map(|field| in_ring(field, seed)).collect::<Option<_>>()?))
        }
        other => Some(other.clone()),
    }
}

/// Replaces the floats of a value by others whose sum depends on the order of addition, by a few special values, or by
/// any float32.
fn roughen(value: &Value, random: &mut fastrand::Rng) -> Option<()> {
    match value {
        Value::Tensor(tensor) if tensor.dtype().is_float() => {
            let kind = random.u8(0..4);
            let mut float = || match kind {
                0 => f32::from_bits(random.u32(..)).into(),
                kind => rough(kind == 1, random),
            };
            tensor.fill(|_| Ok::<Scalar, ()>(Scalar::Float(float()))).ok()
        }
        Value::Tuple(tuple) => tuple.fields().iter().try_for_each(|field| roughen(field, random)),
        _ => Some(()),
    }
}

fn rough(special: bool, random: &mut fastrand::Rng) -> f64 {
    const SPECIAL: [f64; 8] = [0.0, -0.0, f64::INFINITY, f64::NEG_INFINITY, f64::NAN, 1e-45, -1e-310, 1e38];
    match random.usize(0..16) {
        i if special && i < SPECIAL.len() => SPECIAL.get(i).copied().unwrap_or(0.0),
        i => (random.f64() - 0.5) * 2f64.powi(i as i32 - 8),
    }
}

/// A tensor of random floats around 0, in a data type.
pub fn random_tensor(dtype: DataType, shape: &[i64], seed: u64) -> Option<Tensor> {
    let mut random = fastrand::Rng::with_seed(seed);
    let tensor = Tensor::zeros(dtype, shape).ok()?;
    tensor.fill(|_| Ok::<Scalar, ()>(Scalar::Float(4.0 * random.f64() - 2.0))).ok()?;
    Some(tensor)
}
