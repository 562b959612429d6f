//! Running the same programs in relax-spec and in Apache TVM, in one run on one machine; only the ratios mean anything.
//!
//! `cargo bench --bench run_against_tvm [-- tvm@0.27]`. The programs have the size of those that fuzzers use. TVM
//! compiles a program and runs it, relax-spec evaluates it; both must give the same result. Exits with status 1 if a
//! ratio is worse than the project promises, or the cost is not linear.

use std::fmt::Write as _;
use std::io::Write as _;
use std::process::{Command, ExitCode, Stdio};
use std::time::{Duration, Instant};

use ask::adapters::Adapter;
use relax_spec::data::json::to_value;
use relax_spec::data::{DataReader, DataResult, FromData, Node, from_json};
use relax_spec::eval::{EvalOptions, evaluate};
use relax_spec::grammar::{DataType, IrModule, TensorData};
use relax_spec::judge::{Cx, Ending};
use relax_spec::syntax::tvmscript::parse_module;
use relax_spec::value::{ValueSpec, from_specs, to_spec};
use serde_json::json;

/// A measurement is repeated at least this often, and at least this long; the shortest repetition counts, because other
/// processes can only make it longer.
const REPEATS: usize = 5;
const AT_LEAST: Duration = Duration::from_millis(500);
/// How long a Python may take to start.
const STARTUP: Duration = Duration::from_secs(120);
/// How much faster an evaluation must be than compiling and running.
const PROMISED: f64 = 20.0;
/// How far the cost of one operator or element may grow from the smallest to the largest program.
const LINEAR: f64 = 2.0;

/// As the command has it.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

type Failure = Box<dyn std::error::Error>;

/// A program with its arguments.
struct Subject {
    what: &'static str,
    text: String,
    args: Vec<ValueSpec>,
}

struct Timing {
    seconds: f64,
    result: ValueSpec,
}

impl FromData for Timing {
    fn read(r: &mut DataReader<'_>, node: &Node<'_>) -> DataResult<Timing> {
        let fields = r.fields(node, "a timing", None)?;
        Ok(Timing { seconds: fields.one(r, "seconds")?, result: fields.one(r, "result")? })
    }
}

fn main() -> ExitCode {
    let adapter = std::env::args().find(|arg| arg.starts_with("tvm@")).unwrap_or_else(|| "tvm@0.25".to_string());
    match measure(&adapter) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::from(1),
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::from(3)
        }
    }
}

fn measure(adapter: &str) -> Result<bool, Failure> {
    let mut kept = true;
    for subject in [sums(50, 1_000)?, elementwise(50, 1_000)?, products(8)?] {
        let (ours, result) = run_here(&subject)?;
        let theirs = run_there(adapter, &subject)?;
        if theirs.result != result {
            return Err(format!("{}: the results differ", subject.what).into());
        }
        let ratio = theirs.seconds / ours;
        kept &= ratio >= PROMISED;
        let (ours, theirs) = (ours * 1e3, theirs.seconds * 1e3);
        println!(
            "{:<48} {ours:>9.3} ms   {adapter} {theirs:>9.1} ms   {ratio:>7.0} times faster (promised {PROMISED})",
            subject.what
        );
    }
    kept &= linear("operator", &[50, 500, 5_000], |operators| sums(operators, 100))?;
    kept &= linear("element", &[1_000, 10_000, 100_000], |elements| sums(10, elements))?;
    Ok(kept)
}

/// What one unit of size costs, from small to large.
fn linear(unit: &str, sizes: &[usize], subject: impl Fn(usize) -> Result<Subject, Failure>) -> Result<bool, Failure> {
    let mut costs = Vec::new();
    for size in sizes {
        let (seconds, _) = run_here(&subject(*size)?)?;
        costs.push(seconds * 1e9 / *size as f64);
    }
    let shown: Vec<String> = costs.iter().map(|cost| format!("{cost:.1}")).collect();
    println!("nanoseconds for an {unit}, of {sizes:?}: {}", shown.join(", "));
    Ok(costs.iter().all(|cost| costs.first().is_some_and(|first| *cost <= first * LINEAR)))
}

fn module(signature: &str, bindings: &str, result: &str) -> String {
    format!(
        "@I.ir_module\nclass Module:\n    @R.function\n    def main({signature}) -> R.Object:\n{bindings}        return {result}\n"
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
    let text = module(&signature, &bindings, &format!("lv{}", operators - 1));
    Ok(Subject { what: "50 sums of 1,000 elements", text, args: vec![tensor(&[elements as u64])?] })
}

fn elementwise(operators: usize, elements: usize) -> Result<Subject, Failure> {
    const OPERATORS: [&str; 5] = ["add", "subtract", "maximum", "minimum", "multiply"];
    let mut bindings = String::new();
    for i in 0..operators {
        let operator = OPERATORS[i % OPERATORS.len()];
        let before = if i == 0 { "x".to_string() } else { format!("lv{}", i - 1) };
        // A product with 1 stays small.
        let other = if operator == "multiply" { "R.const(1, \"float32\")" } else { "y" };
        writeln!(bindings, "        lv{i} = R.{operator}({before}, {other})")?;
    }
    let signature = format!("x: R.Tensor(({elements},), \"float32\"), y: R.Tensor(({elements},), \"float32\")");
    let text = module(&signature, &bindings, &format!("lv{}", operators - 1));
    let args = vec![tensor(&[elements as u64])?, tensor(&[elements as u64])?];
    Ok(Subject { what: "50 elementwise operators on 1,000 elements", text, args })
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

/// Seconds for an evaluation, and its result.
fn run_here(subject: &Subject) -> Result<(f64, ValueSpec), Failure> {
    let module = parse_module(&subject.text)?;
    let (start, mut shortest, mut runs, mut result) = (Instant::now(), Duration::MAX, 0, None);
    while runs < REPEATS || start.elapsed() < AT_LEAST {
        let begin = Instant::now();
        result = Some(run_once(&module, &subject.args)?);
        shortest = shortest.min(begin.elapsed());
        runs += 1;
    }
    Ok((shortest.as_secs_f64(), result.ok_or("nothing ran")?))
}

fn run_once(module: &IrModule, args: &[ValueSpec]) -> Result<ValueSpec, Failure> {
    let options = EvalOptions { fuel: u64::MAX, ..EvalOptions::default() };
    let args = from_specs(args, &options.registry)?;
    match evaluate(&mut Cx::new(), module, "main", args, &options).outcome {
        Ending::Value(value) => to_spec(&value).map_err(|stop| format!("{stop:?}").into()),
        other => Err(format!("{other:?}").into()),
    }
}

/// Lets TVM do the work in a process of its own.
fn run_there(adapter: &str, subject: &Subject) -> Result<Timing, Failure> {
    let adapter = Adapter::named(Some(adapter), STARTUP)?.into_iter().next().ok_or("no such adapter")?;
    let command = adapter.prepare(&|text| eprintln!("{text}"), STARTUP)?;
    let script = command.args.first().ok_or("the adapter has no script")?.replace("adapter.py", "checks/timing_run.py");
    let mut child = Command::new(&command.program).arg(script).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
    let mut stdin = child.stdin.take().ok_or("no standard input")?;
    let at_least = AT_LEAST.as_secs_f64();
    let args = to_value(&subject.args);
    let request = json!({"text": subject.text, "args": args, "repeats": REPEATS, "at_least": at_least});
    stdin.write_all(request.to_string().as_bytes())?;
    drop(stdin);
    let output = child.wait_with_output()?;
    if !output.status.success() {
        return Err(format!("TVM's timing ended with {}", output.status).into());
    }
    Ok(from_json(&String::from_utf8(output.stdout)?)?)
}
