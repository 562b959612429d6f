//! How long it takes to read and to check a program, by its number of bindings. The time must grow in proportion.

use divan::{Bencher, counter::ItemsCount};
use relax_spec::grammar::{DataType, TensorData};
use relax_spec::judge::Cx;
use relax_spec::oracle::{Engine, answer_evaluate_by};
use relax_spec::syntax::tvmscript::parse_module;
use relax_spec::value::ValueSpec;
use relax_spec::{vm, well_formed};

/// As the command has it.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() {
    divan::main();
}

const BINDINGS: [usize; 3] = [1_000, 10_000, 100_000];

/// A chain of additions in one dataflow block.
fn program(bindings: usize) -> String {
    let mut text = String::from(
        "@R.function\ndef main(x: R.Tensor((\"n\", 4), \"float32\")) -> R.Tensor((\"n\", 4), \"float32\"):\n    with R.dataflow():\n        lv0 = R.add(x, x)\n",
    );
    for i in 1..bindings {
        text.push_str(&format!("        lv{i} = R.add(lv{}, x)\n", i - 1));
    }
    let last = bindings - 1;
    text.push_str(&format!("        y = R.add(lv{last}, x)\n        R.output(y)\n    return y\n"));
    text
}

#[divan::bench(args = BINDINGS, sample_count = 5)]
fn parse(bencher: Bencher, bindings: usize) {
    let text = program(bindings);
    bencher.counter(ItemsCount::new(bindings)).bench(|| parse_module(&text));
}

/// R89.API.BUILD.
#[divan::bench(args = BINDINGS, sample_count = 5)]
fn build(bencher: Bencher, bindings: usize) {
    let module = parse_module(&program(bindings)).unwrap_or_default();
    bencher.counter(ItemsCount::new(bindings)).bench(|| vm::build(&mut Cx::new(), &module));
}

/// The program with this many bindings on a small argument, run by each engine.
fn run(bencher: Bencher, engine: Engine) {
    let module = parse_module(&program(1_000)).unwrap_or_default();
    let argument = TensorData::from_values(DataType::FLOAT32, &[2, 4], &[1.0; 8]).map(ValueSpec::Tensor);
    let arguments: Vec<ValueSpec> = argument.into_iter().collect();
    bencher.bench(|| answer_evaluate_by(&mut Cx::new(), engine, &module, "main", &arguments));
}

#[divan::bench(sample_count = 20)]
fn evaluate(bencher: Bencher) {
    run(bencher, Engine::Evaluator);
}

#[divan::bench(sample_count = 20)]
fn build_and_run(bencher: Bencher) {
    run(bencher, Engine::Machine);
}

#[divan::bench(args = BINDINGS, sample_count = 5)]
fn well_formed(bencher: Bencher, bindings: usize) {
    let module = parse_module(&program(bindings)).unwrap_or_default();
    bencher.counter(ItemsCount::new(bindings)).bench(|| well_formed::check(&mut Cx::new(), &module));
}

#[divan::bench(args = BINDINGS, sample_count = 5)]
fn parse_and_check(bencher: Bencher, bindings: usize) {
    let text = program(bindings);
    bencher
        .counter(ItemsCount::new(bindings))
        .bench(|| parse_module(&text).map(|module| well_formed::check(&mut Cx::new(), &module)));
}
