use super::*;
use crate::syntax::tvmscript::parse_module;

fn module(signature: &str, body: &str) -> IrModule {
    let text = format!("@R.function\ndef main({signature}) -> R.Object:\n    y = {body}\n    return y\n");
    parse_module(&text).unwrap_or_else(|error| panic!("{error}\n{text}"))
}

#[test]
fn sizes_beside_large_weights_are_small() {
    let sizes = |size: i64| -> Vec<u64> {
        let signature = format!("x: R.Tensor((\"n\", 2)), w: R.Tensor(({size}, {size}), \"float32\")");
        let module = module(&signature, "R.match_cast(x, R.Tensor((\"m\", 64)))");
        let (main, arguments) = (linked(&module, "main").unwrap(), ArgumentSource::of(&[&module], 0, 1 << 30));
        let args = |index| arguments.for_function(main, &BTreeMap::new(), Draw { index, attempt: 1 }).unwrap();
        (0..30).map(|index| tensor(&args(index)[0]).shape[0]).collect()
    };
    let (few, many) = (sizes(2), sizes(520));
    assert!(few.iter().any(|size| *size > 9), "{few:?}");
    assert!(many.iter().all(|size| *size <= 9), "{many:?}");
}

fn draws(module: &IrModule, seed: u64) -> Vec<Vec<ValueSpec>> {
    let arguments = ArgumentSource::of(&[module], seed, 1 << 30);
    let main = linked(module, "main").unwrap();
    (0..200).map(|index| arguments.for_function(main, &BTreeMap::new(), Draw { index, attempt: 0 }).unwrap()).collect()
}

fn tensor(value: &ValueSpec) -> &TensorData {
    let ValueSpec::Tensor(data) = value else { panic!("{value}") };
    data
}

#[test]
fn a_seed_determines_the_arguments() {
    let module = module("x: R.Tensor((\"n\", \"m\"), \"float32\")", "R.exp(x)");
    assert!(draws(&module, 1) == draws(&module, 1));
    assert!(draws(&module, 1) != draws(&module, 2));
}

/// OPS.bucketize.value
#[test]
fn boundaries_ascend_at_the_second_attempt() {
    let signature = "x: R.Tensor((4,), \"float32\"), b: R.Tensor((9,), \"float32\")";
    let module = module(signature, "R.bucketize(x, (b,)[0])");
    let (main, arguments) = (linked(&module, "main").unwrap(), ArgumentSource::of(&[&module], 0, 1 << 30));
    let ascending = |attempt: usize, nth: usize| {
        let args = |index| arguments.for_function(main, &BTreeMap::new(), Draw { index, attempt }).unwrap();
        let known = KnownArgument { sorted: true, ..KnownArgument::default() };
        (0..30).filter(|index| known.broken(&args(*index)[nth], None).is_none()).count()
    };
    assert_eq!(ascending(1, 1), 30);
    assert!(ascending(0, 1) < 15 && ascending(1, 0) < 15);
}

#[test]
fn sizes_differ_and_lie_around_constants() {
    let module = module("x: R.Tensor((\"n\", \"m\"), \"float32\")", "R.match_cast(x, R.Tensor((32, 3), \"float32\"))");
    let sizes: Vec<Vec<u64>> = draws(&module, 0).iter().map(|args| tensor(&args[0]).shape.to_vec()).collect();
    let different = sizes.iter().filter(|dims| dims[0] != dims[1]).count();
    assert!(different > 150, "{different}");
    for wanted in [0, 1, 31, 32, 33] {
        assert!(sizes.iter().any(|dims| dims.contains(&wanted)), "{wanted}");
    }
}

#[test]
fn every_class_of_floats_comes_and_constants_are_met() {
    let module = module("x: R.Tensor((7,), \"float32\")", "R.clip(x, R.prim_value(-1.25), R.prim_value(6.125))");
    let values: Vec<f64> = [draws(&module, 0), draws(&module, 1)]
        .iter()
        .flatten()
        .flat_map(|args| {
            let tensor = crate::value::Tensor::from_data(tensor(&args[0])).unwrap();
            (0..tensor.len()).filter_map(move |i| match tensor.get(i) {
                Some(crate::value::Scalar::Float(x)) => Some(x),
                _ => None,
            })
        })
        .collect();
    let any = |what: &str, is: &dyn Fn(f64) -> bool| assert!(values.iter().any(|x| is(*x)), "{what}");
    any("a tie", &|x| x.fract().abs() == 0.5);
    any("minus zero", &|x| x == 0.0 && x.is_sign_negative());
    any("NaN", &f64::is_nan);
    any("infinity", &f64::is_infinite);
    any("a subnormal number", &|x| x != 0.0 && x.abs() < f64::from(f32::MIN_POSITIVE));
    any("the largest", &|x| x == f64::from(f32::MAX));
    any("small", &|x| x != 0.0 && x.abs() < 1e-3 && x.abs() > 1e-9);
    any("large", &|x| x.is_finite() && x > 300.0);
    any("beyond int16", &|x| x.is_finite() && x.abs() > 40_000.0);
    any("many digits", &|x| x.to_bits() & 0x3fff_ffff == 0x2000_0000);
    for constant in [-1.25, 6.125] {
        any("a constant", &|x| x == constant);
        any("just below", &|x| x < constant && x > constant - 1e-5);
        any("just above", &|x| x > constant && x < constant + 1e-5);
    }
}

#[test]
fn exact_elements_are_pairwise_different() {
    let module = module("x: R.Tensor((6, 7), \"float32\")", "R.exp(x)");
    let args = &draws(&module, 0)[0];
    let elements: std::collections::BTreeSet<&[u8]> = tensor(&args[0]).bytes.chunks(4).collect();
    assert_eq!(elements.len(), 42);
}

#[test]
fn some_integers_are_indices() {
    let module = module("x: R.Tensor((5, 9), \"float32\"), i: R.Tensor((4,), \"int64\")", "R.take(x, i, axis=0)");
    let in_range = |args: &Vec<ValueSpec>| {
        let tensor = crate::value::Tensor::from_data(tensor(&args[1])).unwrap();
        (0..4).all(|i| matches!(tensor.get(i), Some(crate::value::Scalar::Int(-5..5))))
    };
    let usable = draws(&module, 0).iter().filter(|args| in_range(args)).count();
    assert!(usable > 60, "{usable}");
}

#[test]
fn what_flows_into_an_epsilon_is_small_and_what_follows_is_not() {
    let signature = "x: R.Tensor((3, 4), \"float32\"), w: R.Tensor((4,), \"float32\"), a: R.Tensor((4, 4), \"float32\"), \
                     v: R.Tensor((4,), \"float32\"), b: R.Tensor((4, 4), \"float32\")";
    let text = format!(
        "@R.function\ndef main({signature}) -> R.Object:\n    n = R.nn.rms_norm(x, w, axes=[-1])\n    y = R.matmul(n, a)\n    \
         m = R.nn.rms_norm(y, v, axes=[-1])\n    z = R.matmul(m, b)\n    return z\n"
    );
    let module = parse_module(&text).unwrap_or_else(|error| panic!("{error}\n{text}"));
    let main = linked(&module, "main").unwrap();
    let constants = Constants::of(&[&module]);
    assert_eq!(upstream(main, &constants, 0).unwrap(), [true, false, false, false, false]);
    assert_eq!(upstream(main, &constants, 1).unwrap(), [true, true, true, false, false]);
    let small = |value: &ValueSpec| {
        let tensor = crate::value::Tensor::from_data(tensor(value)).unwrap();
        (0..tensor.len()).all(|i| matches!(tensor.get(i), Some(crate::value::Scalar::Float(x)) if x.abs() < 0.1))
    };
    let wanted = [true, true, true, false, false];
    assert!(draws(&module, 0).iter().filter(|args| args.iter().map(small).eq(wanted)).count() > 3);
}

#[test]
fn without_several_small_constants_no_place_is_chosen() {
    let module = module("x: R.Tensor((7,), \"float32\"), y: R.Tensor((7,), \"float32\")", "R.add(x, y)");
    let main = linked(&module, "main").unwrap();
    assert_eq!(upstream(main, &Constants::of(&[&module]), 3), None);
}

#[test]
fn integers_come_of_the_whole_range_of_their_type() {
    let module = module("x: R.Tensor((4,), \"int32\")", "R.add(x, x)");
    for seed in 0..20 {
        let large = draws(&module, seed).iter().take(100).any(|args| {
            let tensor = crate::value::Tensor::from_data(tensor(&args[0])).unwrap();
            (0..4)
                .any(|i| matches!(tensor.get(i), Some(crate::value::Scalar::Int(x)) if (1 << 29..1 << 31).contains(&x)))
        });
        assert!(large, "{seed}");
    }
}

#[test]
fn arguments_of_one_type_coincide_and_are_opposite_and_infinite_together() {
    let module = module("x: R.Tensor((4,), \"float32\"), y: R.Tensor((4,), \"float32\")", "R.add(x, y)");
    let arguments = ArgumentSource::of(&[&module], 0, 1 << 30);
    let floats = |value: &ValueSpec| {
        let tensor = crate::value::Tensor::from_data(tensor(value)).unwrap();
        let float = |i| if let Some(crate::value::Scalar::Float(x)) = tensor.get(i) { x } else { f64::NAN };
        (0..tensor.len()).map(float).collect::<Vec<f64>>()
    };
    let lists: Vec<[Vec<f64>; 2]> =
        arguments.related(linked(&module, "main").unwrap()).map(|args| [floats(&args[0]), floats(&args[1])]).collect();
    let any = |is: &dyn Fn(f64, f64) -> bool| {
        lists.iter().any(|[x, y]| x.iter().zip(y).all(|(x, y)| x.is_nan() || is(*x, *y)) && x.iter().any(|x| *x != 0.0))
    };
    assert!(any(&|x, y| x == y) && any(&|x, y| x == -y) && any(&|x, y| x.is_infinite() || y > x));
    assert!(lists.iter().any(|[x, y]| x.iter().zip(y).any(|(x, y)| x.is_infinite() && x == y)));
    // A single element is not zero; once it is the last one.
    assert!(lists.iter().any(|[x, _]| *x == [0.0, 0.0, 0.0, 1.0]) && lists.iter().any(|[_, y]| *y == [1.0; 4]));
}

#[test]
fn arguments_are_as_they_are_known_to_be() {
    let module = module("x: R.Tensor((\"n\", 6), \"float32\"), i: R.Tensor((5,), \"int64\")", "R.take(x, i, axis=0)");
    let range = KnownRange { low: -3.0, high: 9.0, inclusive: false };
    let x = KnownArgument { range: Some(range), finite: true, distinct: true, sorted: true, nonzero: false };
    let known = KnownArguments { indices_in_range: true, ordinary: false, of: BTreeMap::from([("x".into(), x)]) };
    let arguments = ArgumentSource::of(&[&module], 0, 1 << 30).knowing(&known);
    let main = linked(&module, "main").unwrap();
    let drawn = (0..200).filter_map(|index| arguments.for_function(main, &BTreeMap::new(), Draw { index, attempt: 0 }));
    let all: Vec<Vec<ValueSpec>> = drawn.chain(arguments.related(main)).chain(arguments.directed(main)).collect();
    assert!(all.len() > 200, "{}", all.len());
    for args in &all {
        assert_eq!(arguments.broken(main, args), None, "{args:?}");
    }
    // Without known properties they are as usual.
    let other = ArgumentSource::of(&[&module], 0, 1 << 30);
    assert!((0..19).any(|index| {
        let args = other.for_function(main, &BTreeMap::new(), Draw { index, attempt: 0 }).unwrap();
        arguments.broken(main, &args).is_some()
    }));
}

#[test]
fn ordinary_arguments_have_elements_and_no_zeros_among_integers() {
    let signature = "x: R.Tensor((\"n\", \"m\"), \"float32\"), i: R.Tensor((\"n\",), \"int64\"), s: R.Shape([\"n\"])";
    let module = module(signature, "R.take(x, i, axis=1)");
    let main = linked(&module, "main").unwrap();
    let drawn = |known: &KnownArguments| {
        let arguments = ArgumentSource::of(&[&module], 0, 1 << 30).knowing(known);
        let draws = (0..200).flat_map(|index| (0..2).map(move |attempt| Draw { index, attempt }));
        draws.filter_map(|draw| arguments.for_function(main, &BTreeMap::new(), draw)).collect::<Vec<_>>()
    };
    let usual = drawn(&KnownArguments::default());
    assert!(usual.iter().any(|args| are_ordinary(args)) && usual.iter().any(|args| !are_ordinary(args)));
    let ordinary = drawn(&KnownArguments { ordinary: true, ..KnownArguments::default() });
    assert!(ordinary.len() > 200 && ordinary.iter().all(|args| are_ordinary(args)), "{}", ordinary.len());
}

#[test]
fn sizes_are_within_the_bounds_that_a_function_states() {
    let text = "@I.ir_module\nclass Module:\n    @R.function\n    def main(x: R.Tensor((\"n\", \"m\"), \"float32\")):\n        \
                R.func_attr({\"tir_var_upper_bound\": {\"n\": 5}})\n        return R.full(R.shape([64]), x, \"float32\")\n";
    let module = parse_module(text).unwrap();
    let arguments = ArgumentSource::of(&[&module], 0, 1 << 30);
    let main = linked(&module, "main").unwrap();
    let drawn = (0..100).filter_map(|index| arguments.for_function(main, &BTreeMap::new(), Draw { index, attempt: 0 }));
    let all: Vec<Vec<ValueSpec>> = drawn.chain(arguments.related(main)).chain(arguments.directed(main)).collect();
    let shapes: Vec<Vec<u64>> = all.iter().map(|args| tensor(&args[0]).shape.to_vec()).collect();
    assert!(shapes.iter().all(|shape| shape[0] <= 5) && shapes.iter().any(|shape| shape[1] > 60), "{shapes:?}");
}

#[test]
fn numbers_become_ordinary_where_others_do_not_suit() {
    let module = module("x: R.Tensor((8,), \"float32\")", "R.astype(x, \"int8\")");
    let arguments = ArgumentSource::of(&[&module], 0, 1 << 30);
    let main = linked(&module, "main").unwrap();
    let fits = |index, attempt| {
        let args = arguments.for_function(main, &BTreeMap::new(), Draw { index, attempt }).unwrap();
        let data = crate::value::Tensor::from_data(tensor(&args[0])).unwrap();
        (0..data.len()).all(|i| matches!(data.get(i), Some(crate::value::Scalar::Float(x)) if x.abs() < 128.0))
    };
    assert!((0..40).any(|index| !fits(index, 0)) && (0..40).all(|index| fits(index, 7)));
}
