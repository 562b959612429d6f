//! The evaluator and the virtual machine on the same programs, in turns and in one process; only the ratios mean
//! anything.
//!
//! `cargo bench --bench engines`. A program is compiled once and run often, and that both come to the same is checked.
//! Then it is measured how long `build` takes. Exits with status 1 if the machine is slower than the evaluator, or
//! building is slower than is promised or not linear.

use std::fmt::Write as _;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use relax_spec::derivation::inferred_results;
use relax_spec::eval::{self, prelude};
use relax_spec::grammar::{DataType, TensorData};
use relax_spec::judge::{Cx, Ending};
use relax_spec::syntax::tvmscript::parse_module;
use relax_spec::value::{Value, ValueSpec, from_specs, to_spec};
use relax_spec::vm;

/// Each engine runs at least this long; the shortest run counts, because other processes can only make it longer.
const AT_LEAST: Duration = Duration::from_millis(1_500);
/// How much longer the machine may take: two measurements of the same thing differ by this factor.
const NOISE: f64 = 1.05;
/// The time limit to build a program with this many bindings.
const BINDINGS: usize = 1_000;
const PROMISED: Duration = Duration::from_millis(20);
/// How many bindings there are together: many small programs, or one that is as large as all of them.
const TOGETHER: usize = 100_000;
/// How far the cost of a binding may grow from the smallest to the largest program. Each takes as many instructions,
/// and an instruction takes longer where the tables of the program leave the caches: twice as long for operators, 2.8
/// times for sizes that are computed, each of which has an entry in three tables. What grew with the square would take
/// a hundred times as long.
const LINEAR: f64 = 4.0;

/// As the command has it.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

type Failure = Box<dyn std::error::Error>;

struct Subject {
    what: &'static str,
    text: String,
    args: Vec<ValueSpec>,
}

fn main() -> ExitCode {
    match measure() {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::from(1),
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::from(3)
        }
    }
}

fn measure() -> Result<bool, Failure> {
    let mut kept = true;
    for subject in [sums(1_000, 4)?, sums(50, 1_000)?, products(8)?, loops()?, calls(400)?, sizes(300)?] {
        let (evaluator, machine) = run_both(&subject)?;
        let ratio = machine / evaluator;
        kept &= ratio <= NOISE;
        let (evaluator, machine) = (evaluator * 1e3, machine * 1e3);
        println!("{:<48} evaluator {evaluator:>8.3} ms   machine {machine:>8.3} ms   {ratio:>5.2} of it", subject.what);
    }
    let operators = |bindings| Ok(sums(bindings, 4)?.text);
    Ok(kept & builds("operators", &operators)? & builds("call_tir of a size each", &allocations)?)
}

/// How long `build` takes, by the number of bindings. All sizes have as much to read, which no cache holds: a small
/// program that is built again and again would be in one, and a large one not.
fn builds(what: &str, program: &dyn Fn(usize) -> Result<String, Failure>) -> Result<bool, Failure> {
    let mut costs = Vec::new();
    let mut kept = true;
    for bindings in [BINDINGS, 10_000, TOGETHER] {
        let text = program(bindings)?;
        let modules = (0..TOGETHER / bindings).map(|_| parse_module(&text)).collect::<Result<Vec<_>, _>>()?;
        let (start, mut shortest) = (Instant::now(), Duration::MAX);
        while shortest == Duration::MAX || start.elapsed() < AT_LEAST {
            let begin = Instant::now();
            for module in &modules {
                vm::build(&mut Cx::new(), module);
            }
            shortest = shortest.min(begin.elapsed());
        }
        let each = shortest / modules.len() as u32;
        kept &= bindings != BINDINGS || each <= PROMISED;
        println!("build of {bindings:>7} bindings of {what:<24} {:>10.3} ms", each.as_secs_f64() * 1e3);
        costs.push(shortest.as_secs_f64());
    }
    Ok(kept && costs.iter().all(|cost| costs.first().is_some_and(|first| *cost <= first * LINEAR)))
}

fn module(signature: &str, bindings: &str, result: &str) -> String {
    format!(
        "@I.ir_module\nclass Module:\n    @R.function(pure=False)\n    def main({signature}) -> R.Object:\n{bindings}        return {result}\n"
    )
}

/// Small integers, on which every operation is exact.
fn tensor(shape: &[u64]) -> Result<ValueSpec, Failure> {
    let count: u64 = shape.iter().product();
    let values: Vec<f64> = (0..count).map(|i| (i % 5) as f64).collect();
    Ok(ValueSpec::Tensor(TensorData::from_values(DataType::FLOAT32, shape, &values)?))
}

fn sums(operators: usize, elements: usize) -> Result<Subject, Failure> {
    let mut bindings = String::new();
    for i in 0..operators {
        let before = if i == 0 { "x".to_string() } else { format!("lv{}", i - 1) };
        writeln!(bindings, "        lv{i} = R.add({before}, x)")?;
    }
    let signature = format!("x: R.Tensor(({elements},), \"float32\")");
    let what = if elements > 4 { "50 sums of 1,000 elements" } else { "1,000 sums of 4 elements" };
    let text = module(&signature, &bindings, &format!("lv{}", operators - 1));
    Ok(Subject { what, text, args: vec![tensor(&[elements as u64])?] })
}

/// Calls of a `PrimFunc`, each with a result of another size, which is computed, and for which a tensor is allocated.
fn allocations(calls: usize) -> Result<String, Failure> {
    let mut text = String::from(
        "@I.ir_module\nclass Module:\n    @T.prim_func\n    def fill(y: T.handle):\n        n = T.int64()\n        \
         Y = T.match_buffer(y, (n,), \"float32\")\n        for i in range(n):\n            Y[i] = T.float32(1)\n\n    \
         @R.function\n    def main(x: R.Tensor((\"n\",), \"float32\")) -> R.Object:\n        n = T.int64()\n        cls = Module\n",
    );
    for i in 0..calls {
        writeln!(text, "        lv{i} = R.call_tir(cls.fill, (), out_sinfo=R.Tensor((n + {i},), \"float32\"))")?;
    }
    writeln!(text, "        return lv{}", calls - 1)?;
    Ok(text)
}

fn products(rounds: usize) -> Result<Subject, Failure> {
    let mut bindings = String::new();
    for i in 0..rounds {
        let a = if i == 0 { "x".to_string() } else { format!("a{}", i - 1) };
        writeln!(bindings, "        t{i} = R.permute_dims({a})")?;
        writeln!(bindings, "        m{i} = R.matmul({a}, t{i})")?;
        writeln!(bindings, "        c{i} = R.minimum(m{i}, R.const(1, \"float32\"))")?;
        writeln!(bindings, "        s{i} = R.sum(c{i}, axis=[1], keepdims=True)")?;
        writeln!(bindings, "        b{i} = R.add({a}, s{i})")?;
        writeln!(bindings, "        a{i} = R.minimum(b{i}, R.const(1, \"float32\"))")?;
    }
    let text = module("x: R.Tensor((20, 50), \"float32\")", &bindings, &format!("a{}", rounds - 1));
    Ok(Subject { what: "48 operators with products of 20 x 50 matrices", text, args: vec![tensor(&[20, 50])?] })
}

/// A `PrimFunc`, called again and again.
fn loops() -> Result<Subject, Failure> {
    let mut text = String::from(
        "@I.ir_module\nclass Module:\n    @T.prim_func\n    def double(x: T.Buffer((500,), \"float32\"), y: T.Buffer((500,), \"float32\")):\n        \
         for i in range(500):\n            y[i] = x[i] * T.float32(0.5)\n\n    @R.function\n    def main(x: R.Tensor((500,), \"float32\")) -> R.Object:\n        \
         cls = Module\n",
    );
    for i in 0..50 {
        let before = if i == 0 { "x".to_string() } else { format!("lv{}", i - 1) };
        writeln!(text, "        lv{i} = R.call_tir(cls.double, ({before},), out_sinfo=R.Tensor((500,), \"float32\"))")?;
    }
    text.push_str("        return lv49\n");
    Ok(Subject { what: "50 calls of a PrimFunc over 500 elements", text, args: vec![tensor(&[500])?] })
}

/// Calls of a function, of a closure, and branches.
fn calls(rounds: usize) -> Result<Subject, Failure> {
    let mut text = String::from(
        "@I.ir_module\nclass Module:\n    @R.function\n    def inner(x: R.Tensor((\"n\",), \"float32\"), c: R.Tensor((), \"bool\")) -> R.Tensor((\"n\",), \"float32\"):\n        \
         if c:\n            r = R.add(x, x)\n        else:\n            r = x\n        return r\n\n    \
         @R.function\n    def main(x: R.Tensor((4,), \"float32\"), c: R.Tensor((), \"bool\")) -> R.Object:\n        cls = Module\n        \
         @R.function\n        def local(z: R.Tensor((4,), \"float32\")) -> R.Tensor((4,), \"float32\"):\n            return R.minimum(z, x)\n",
    );
    for i in 0..rounds {
        let before = if i == 0 { "x".to_string() } else { format!("b{}", i - 1) };
        writeln!(text, "        a{i} = cls.inner({before}, c)\n        b{i} = local(a{i})")?;
    }
    writeln!(text, "        return b{}", rounds - 1)?;
    let condition = ValueSpec::Tensor(TensorData::from_values(DataType::BOOL, &[], &[1.0])?);
    Ok(Subject { what: "800 calls of functions and closures", text, args: vec![tensor(&[4])?, condition] })
}

/// Shapes that are computed and matched.
fn sizes(rounds: usize) -> Result<Subject, Failure> {
    let mut text = String::from(
        "@I.ir_module\nclass Module:\n    @R.function\n    def main(x: R.Tensor((\"n\", \"m\"), \"float32\")) -> R.Object:\n        n = T.int64()\n        m = T.int64()\n",
    );
    for i in 0..rounds {
        let before = if i == 0 { "x".to_string() } else { format!("c{}", i - 1) };
        writeln!(text, "        s{i} = R.reshape({before}, R.shape([n * m]))")?;
        writeln!(text, "        r{i} = R.reshape(s{i}, R.shape([n, m]))")?;
        writeln!(text, "        c{i} = R.match_cast(r{i}, R.Tensor((n, m), \"float32\"))")?;
    }
    writeln!(text, "        return c{}", rounds - 1)?;
    Ok(Subject { what: "600 reshapes with sizes, 300 match casts", text, args: vec![tensor(&[2, 3])?] })
}

/// Seconds for an evaluation and for a run on the machine, which take turns.
fn run_both(subject: &Subject) -> Result<(f64, f64), Failure> {
    let module = parse_module(&subject.text)?;
    let executable = vm::build(&mut Cx::new(), &module);
    let args = from_specs(&subject.args, &prelude())?;
    let results = inferred_results(&Cx::new(), &module);
    let evaluator = eval::EvalOptions { results, ..eval::EvalOptions::default() };
    let machine = vm::VmOptions::new(prelude());
    let mut shortest = [Duration::MAX; 2];
    let start = Instant::now();
    while shortest.contains(&Duration::MAX) || start.elapsed() < 2 * AT_LEAST {
        let begin = Instant::now();
        let by_evaluator = value(eval::evaluate(&mut Cx::new(), &module, "main", args.clone(), &evaluator).outcome)?;
        let between = Instant::now();
        let by_machine = value(vm::run(&mut Cx::new(), &executable, "main", args.clone(), &machine).outcome)?;
        let times = [between - begin, between.elapsed()];
        shortest = [shortest[0].min(times[0]), shortest[1].min(times[1])];
        if to_spec(&by_evaluator).ok() != to_spec(&by_machine).ok() {
            return Err(format!("{}: the results differ", subject.what).into());
        }
    }
    Ok((shortest[0].as_secs_f64(), shortest[1].as_secs_f64()))
}

fn value(outcome: Ending<Value>) -> Result<Value, Failure> {
    match outcome {
        Ending::Value(value) => Ok(value),
        other => Err(format!("{other:?}").into()),
    }
}
