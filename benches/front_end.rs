//! How long it takes to read and to check a program, by its number of bindings. The time must grow in proportion.

use divan::{Bencher, counter::ItemsCount};
use relax_spec::judge::Cx;
use relax_spec::syntax::tvmscript::parse_module;
use relax_spec::well_formed;

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
