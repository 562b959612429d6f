//! Runs a program of a file in three ways on random floats, and tells the seconds of each: `measure FILE [plain]`.

use std::time::Instant;

use relax_spec::eval::{EvalOptions, evaluate};
use relax_spec::grammar::{GlobalFunc, StructInfo, TensorShape};
use relax_spec::judge::{Cx, Ending};
use relax_spec::value::{Kernels, Scalar, Tensor, Value};

fn arguments(text: &str) -> Option<Vec<Value>> {
    let module = relax_spec::parse(text).ok()?;
    let Some(GlobalFunc::Function(main)) = module.get("main") else { return None };
    let mut rng = fastrand::Rng::with_seed(1);
    let mut of_param = |info: &StructInfo| match info {
        StructInfo::Tensor(info) => {
            let Some(TensorShape::Dims(dims)) = &info.shape else { return None };
            let shape: Vec<i64> = dims.iter().filter_map(|dim| dim.to_string().parse().ok()).collect();
            let tensor = Tensor::zeros(info.dtype, &shape).ok()?;
            tensor.fill(|_| Ok::<_, ()>(Scalar::Float(f64::from(rng.f32() - 0.5)))).ok()?;
            Some(Value::Tensor(tensor))
        }
        _ => None,
    };
    main.params.iter().map(|param| of_param(param.annotation.as_ref()?)).collect()
}

fn main() {
    let args: Vec<String> = std::env::args().collect();
    let text = std::fs::read_to_string(&args[1]).unwrap();
    let module = relax_spec::parse(&text).unwrap();
    let mut first: Option<(u64, Vec<u8>)> = None;
    let mut ways = vec![("native", Kernels::Native(&native::JIT)), ("fast", Kernels::Fast)];
    if args.get(2).is_some() {
        ways.push(("plain", Kernels::Plain));
    }
    for (name, kernels) in ways {
        let options = EvalOptions { fuel: 1 << 40, memory: 1 << 33, kernels, ..EvalOptions::default() };
        let begun = Instant::now();
        let run = evaluate(&mut Cx::new(), &module, "main", arguments(&text).unwrap(), &options);
        let seconds = begun.elapsed().as_secs_f64();
        let Ending::Value(Value::Tensor(tensor)) = run.outcome else { panic!("{:?}", run.outcome) };
        let bits: Vec<u8> = (0..tensor.len()).flat_map(|i| format!("{:?}", tensor.get(i)).into_bytes()).collect();
        let result = (0, bits);
        let same = first.get_or_insert_with(|| result.clone()) == &result;
        println!("{name}: {seconds:.3} s, the same bits: {same}");
    }
}
