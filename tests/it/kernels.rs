//! Operators that have a fast way give the same by it as by their plain definition (`cargo xtask kernels` tests as many
//! calls as desired).

use ask::conformance;
use campaign::calls::{Ended, run};
use campaign::kernels::{random_tensor, try_all};
use campaign::operator_soundness::OperatorTemplates;
use ndarray::ArrayD;
use relax_spec::eval::EvalOptions;
use relax_spec::grammar::{AttrValue, Attrs, Call, DataType, Expr, Span, TensorData};
use relax_spec::number::SmallFloat;
use relax_spec::number::real::ConstantReading;
use relax_spec::number::ring::RingNumber;
use relax_spec::ops::lookup;
use relax_spec::value::{Account, Elements, Kernels, Scalar, Storage, Tensor, Value};

#[test]
fn both_ways_agree_bit_for_bit() {
    let operators = OperatorTemplates::of(&conformance::suite().expect("the suite"));
    let report = try_all(&operators, 0..10_000);
    assert!(report.faults.is_empty(), "{:#?}", report.faults.iter().take(5).collect::<Vec<_>>());
    assert!(report.values > 5_000, "{} calls with a value", report.values);
}

/// All data types that a tensor can have.
fn data_types() -> Vec<DataType> {
    let usual = DataType::USUAL.into_iter().chain(["int4", "uint4", "int2"]).map(|name| name.parse().unwrap());
    usual.chain(SmallFloat::ALL.iter().copied().map(DataType::small)).collect()
}

/// A matrix with random bits.
fn random(dtype: DataType, seed: u64) -> Tensor {
    let mut random = fastrand::Rng::with_seed(seed);
    let size = Tensor::zeros(dtype, &[7, 9]).unwrap().to_data().bytes.len();
    let bytes = (0..size).map(|_| random.u8(..) & if dtype.is_bool() { 1 } else { 255 }).collect();
    Tensor::from_data(&TensorData { dtype, shape: vec![7, 9].into(), bytes }).unwrap()
}

/// Calls an operator in both ways, and gives what both say.
fn by_both(name: &str, attrs: Attrs, x: &Tensor, ring: Option<ConstantReading>) -> Ended {
    let op = lookup(name).unwrap();
    let call =
        Call { op: Expr::op(op.name), args: vec![Expr::var("x")], sinfo_args: Vec::new(), attrs, span: Span::NONE };
    let by = |kernels| {
        let options = EvalOptions { kernels, ring, ..EvalOptions::default() };
        run(op, &call, &[Value::Tensor(x.clone())], &options)
    };
    let (plain, fast) = (by(Kernels::Plain), by(Kernels::Fast));
    assert!(plain.is_as(&fast), "{name} of {} with {:?}: {plain:?} and {fast:?}", x.dtype(), call.attrs);
    plain
}

fn cast(x: &Tensor, dtype: DataType) {
    by_both("astype", Attrs::from([("dtype".into(), AttrValue::DataType(dtype))]), x, None);
}

/// The first window of the second channel has no maximum in the ring, and the second one of the first lies in the
/// padding, which comes first.
#[test]
fn of_several_windows_that_fail_the_first_is_told() {
    let ints = |values: &[i64]| AttrValue::List(values.iter().map(|value| AttrValue::Int(*value)).collect());
    let attrs = [("pool_size", [1, 2].as_slice()), ("strides", &[1, 2]), ("padding", &[0, 0, 0, 2])];
    let attrs = attrs.into_iter().map(|(name, values)| (name.into(), ints(values))).collect();
    let x = Tensor::zeros_of_ring(DataType::FLOAT32, &[1, 2, 1, 2]).unwrap();
    let element = |i| Ok::<_, ()>(Scalar::Ring(RingNumber::of_float([1.0, 2.0, f64::NAN, 1.0][i])));
    x.fill(element).unwrap();
    let told = format!("{:?}", by_both("nn.max_pool2d", attrs, &x, Some(ConstantReading::Exact)));
    assert!(told.contains("a window lies in the padding alone"), "{told}");
}

#[test]
fn conversions_agree_on_any_bits_and_on_views() {
    for (nth, from) in data_types().into_iter().enumerate() {
        let x = random(from, nth as u64);
        // An integer represents a small float, and not just any.
        let small = random_tensor(from, &[7, 9], nth as u64).unwrap();
        let account = Account::new(1 << 20);
        let storage = Storage::allocate(&account, 1 << 10).unwrap();
        let placed = random(from, 99).in_storage(&storage, 64).unwrap();
        let flat = Tensor::zeros(from, &[63]).unwrap();
        let view = placed.seen_as(flat, 0, &account).unwrap().unwrap();
        for to in data_types() {
            [&x, &small, &placed, &view].into_iter().for_each(|x| cast(x, to));
        }
    }
}

#[test]
fn elements_in_another_order_are_those_of_the_tensor() {
    let rows = ArrayD::from_shape_fn(vec![3, 5], |index| (10 * index[0] + index[1]) as f32);
    let turned = Tensor::from_elements(Elements::Float32(rows.clone().reversed_axes()));
    assert_eq!(turned.shape(), [5, 3]);
    assert_eq!(turned.all_as::<f32>(), rows.t().iter().copied().collect::<Vec<f32>>());
    data_types().into_iter().for_each(|to| cast(&turned, to));
}
