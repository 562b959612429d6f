//! The fast way of operators. `cargo xtask kernels 1000000 [FIRST-SEED]` compares that many random calls with the
//! plain way. `cargo xtask kernel-times [--fast] [OPERATOR..]` measures both ways, or only the fast one, on large and
//! on small arguments; `tools/time_kernels.py` compares the times with NumPy.

use std::process::ExitCode;
use std::sync::LazyLock;
use std::time::{Duration, Instant};

use crate::arguments::SuiteSample;
use campaign::calls::run as run_call;
use campaign::kernels::{random_tensor, try_all};
use campaign::operator_soundness::OperatorTemplates;
use relax_spec::eval::EvalOptions;
use relax_spec::grammar::{AttrValue, Attrs, Call, DataType, Expr, Span};
use relax_spec::ops::lookup;
use relax_spec::value::{Kernels, Value};

/// Runs the task with the arguments after its name.
pub fn run(args: Vec<String>) -> ExitCode {
    let Some(SuiteSample { suite, seeds }) = SuiteSample::read(args) else { return ExitCode::FAILURE };
    let calls = seeds.end - seeds.start;
    let start = Instant::now();
    let report = try_all(&OperatorTemplates::of(&suite), seeds);
    report.faults.iter().take(20).for_each(|(seed, told)| println!("seed {seed}: {told}"));
    println!("{calls} calls, {} with a value, {} at fault", report.values, report.faults.len());
    println!("{:.0} calls per second", calls as f64 / start.elapsed().as_secs_f64());
    if report.faults.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// A call to measure: the operator, the shapes of its arguments, and its integer attributes.
type Measured = (&'static str, &'static [&'static [i64]], &'static [(&'static str, &'static [i64])]);

const MEASURED: &[Measured] = &[
    ("matmul", &[&[512, 512], &[512, 512]], &[]),
    ("matmul", &[&[1024, 1024], &[1024, 1024]], &[]),
    ("nn.conv2d", &[&[1, 64, 56, 56], &[64, 64, 3, 3]], &[("padding", &[1, 1])]),
    ("nn.conv2d", &[&[1, 64, 56, 56], &[64, 1, 3, 3]], &[("padding", &[1, 1]), ("groups", &[64])]),
    ("nn.conv2d_transpose", &[&[1, 32, 28, 28], &[32, 32, 3, 3]], &[("strides", &[2, 2])]),
    ("nn.conv2d", &[&[1, 256, 14, 14], &[256, 256, 3, 3]], &[("padding", &[1, 1])]),
    ("add", &[&[1000, 10_000], &[1000, 10_000]], &[]),
    ("add", &[&[1000, 10_000], &[10_000]], &[]),
    ("multiply", &[&[1000, 10_000], &[1000, 10_000]], &[]),
    ("less", &[&[1000, 10_000], &[1000, 10_000]], &[]),
    ("nn.relu", &[&[1000, 10_000]], &[]),
    ("exp", &[&[1000, 10_000]], &[]),
    ("log", &[&[1000, 10_000]], &[]),
    ("sin", &[&[1000, 10_000]], &[]),
    ("erf", &[&[1000, 10_000]], &[]),
    ("tanh", &[&[1000, 10_000]], &[]),
    ("sigmoid", &[&[1000, 10_000]], &[]),
    ("nn.silu", &[&[1000, 10_000]], &[]),
    ("nn.gelu", &[&[1000, 10_000]], &[]),
    ("nn.gelu_tanh", &[&[1000, 10_000]], &[]),
    ("nn.softmax", &[&[1000, 10_000]], &[]),
    ("nn.log_softmax", &[&[1000, 10_000]], &[]),
    ("nn.layer_norm", &[&[1000, 10_000], &[10_000], &[10_000]], &[("axes", &[-1])]),
    ("nn.rms_norm", &[&[1000, 10_000], &[10_000]], &[("axes", &[-1])]),
    ("sum", &[&[10_000_000]], &[]),
    ("sum", &[&[1000, 10_000]], &[("axis", &[1])]),
    ("mean", &[&[1000, 10_000]], &[("axis", &[0])]),
    ("max", &[&[1000, 10_000]], &[("axis", &[1])]),
    ("variance", &[&[1000, 10_000]], &[("axis", &[1])]),
    ("nn.max_pool2d", &[&[1, 64, 112, 112]], &[("pool_size", &[3, 3]), ("strides", &[2, 2]), ("padding", &[1, 1])]),
    ("nn.avg_pool2d", &[&[1, 64, 112, 112]], &[("pool_size", &[3, 3]), ("strides", &[2, 2]), ("padding", &[1, 1])]),
    ("permute_dims", &[&[1000, 1000]], &[]),
    ("astype", &[&[1000, 1000]], &[]),
];

/// Operators on one argument and on two, and the shapes on which they are measured too.
const SMALL: [(&str, &[&[i64]]); 2] = [
    (
        "abs acos asin atan ceil cos cosh exp floor isfinite isinf isnan log negative round rsqrt sigmoid sign sin \
         sinh square sqrt tan tanh nn.relu nn.silu nn.gelu_tanh nn.softmax nn.log_softmax sum mean max min prod \
         variance std argmax permute_dims",
        &[&[10, 100]],
    ),
    (
        "add divide floor_divide maximum minimum multiply power subtract equal greater greater_equal less less_equal \
         not_equal",
        &[&[10, 100], &[10, 100]],
    ),
];

/// Measures the operators of that name, or all.
pub fn times(args: Vec<String>) -> ExitCode {
    let (flags, names): (Vec<String>, Vec<String>) = args.into_iter().partition(|arg| arg.starts_with("--"));
    let is_fast = flags.iter().any(|flag| flag == "--fast");
    let on_small = |name, shapes| -> Measured { (name, shapes, &[]) };
    let small = SMALL.into_iter();
    let small = small.flat_map(|(names, shapes)| names.split_whitespace().map(move |name| on_small(name, shapes)));
    println!("| operator | arguments | plain (s) | fast (s) | ratio |\n| --- | --- | --- | --- | --- |");
    for (name, shapes, attrs) in MEASURED.iter().copied().chain(small) {
        if !names.is_empty() && !names.iter().any(|wanted| wanted == name) {
            continue;
        }
        let Some((plain, fast)) = measured(name, shapes, attrs, is_fast) else {
            eprintln!("{name}: no such call");
            return ExitCode::FAILURE;
        };
        let (plain, ratio) = match plain {
            Some(plain) => (format!("{plain:.9}"), format!("{:.0}", plain / fast)),
            None => (String::from("-"), String::from("-")),
        };
        println!("| {name} | {shapes:?} | {plain} | {fast:.9} | {ratio} |");
    }
    ExitCode::SUCCESS
}

/// The seconds that a call takes the plain way, unless only the fast one is wanted, and the fast one.
fn measured(name: &str, shapes: &[&[i64]], attrs: &[(&str, &[i64])], is_fast: bool) -> Option<(Option<f64>, f64)> {
    let op = lookup(name)?;
    let attr = |(name, ints): &(&str, &[i64])| {
        let value = match ints {
            [single] if *name == "groups" => AttrValue::Int(*single),
            list => AttrValue::List(list.iter().map(|i| AttrValue::Int(*i)).collect()),
        };
        ((*name).into(), value)
    };
    let mut attrs: Attrs = attrs.iter().map(attr).collect();
    if name == "astype" {
        attrs.insert("dtype".into(), AttrValue::DataType(DataType::FLOAT16));
    }
    let call = Call {
        op: Expr::op(op.name),
        args: (0..shapes.len()).map(|i| Expr::var(&format!("x{i}"))).collect(),
        sinfo_args: Vec::new(),
        attrs,
        span: Span::NONE,
    };
    let tensors = shapes.iter().enumerate().map(|(i, shape)| random_tensor(DataType::FLOAT32, shape, i as u64));
    let values: Vec<Value> = tensors.map(|tensor| tensor.map(Value::Tensor)).collect::<Option<_>>()?;
    let timed = |kernels, times: u32| {
        let options = EvalOptions { kernels, fuel: u64::MAX, memory: u64::MAX, ..EvalOptions::default() };
        let start = computed();
        let ended = (0..times).fold(None, |_, _| Some(run_call(op, &call, &values, &options)));
        (ended, (computed() - start) / f64::from(times))
    };
    let least = |kernels| {
        // Several at once if they are short, since it takes a while to look at the clock.
        let several = (2e-3 / timed(kernels, 1).1).clamp(1.0, 1000.0) as u32;
        let (start, mut least) = (Instant::now(), f64::INFINITY);
        while least.is_infinite() || start.elapsed() < Duration::from_millis(300) {
            least = timed(kernels, several).1.min(least);
        }
        least
    };
    let fast = timed(Kernels::Fast, 1).0?;
    let plain = if is_fast { None } else { timed(Kernels::Plain, 1).0 };
    if fast.result.is_err() || plain.is_some_and(|plain| !fast.is_as(&plain)) {
        eprintln!("{name}: {:?}", fast.result.err());
        return None;
    }
    Some(((!is_fast).then(|| least(Kernels::Plain)), least(Kernels::Fast)))
}

/// The seconds for which this thread has computed, where the system tells them: other programs on the machine do not
/// count. Elsewhere, any growing number of seconds.
pub(crate) fn computed() -> f64 {
    static START: LazyLock<Instant> = LazyLock::new(Instant::now);
    // The system accounts for a thread when it gives way.
    std::thread::yield_now();
    let told = std::fs::read_to_string("/proc/thread-self/schedstat").ok();
    let nanoseconds = told.and_then(|told| told.split_whitespace().next()?.parse::<f64>().ok());
    nanoseconds.map_or_else(|| START.elapsed().as_secs_f64(), |nanoseconds| nanoseconds / 1e9)
}
