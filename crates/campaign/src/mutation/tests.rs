use std::collections::BTreeSet;

use super::*;
use relax_spec::syntax::tvmscript::{Dialect, parse_module, print_module};

fn text_of(module: &IrModule) -> String {
    print_module(module, Dialect::default())
}

fn changes(text: &str) -> Vec<String> {
    let module = parse_module(text).unwrap();
    mutants(&module).map(|mutant| mutant.what).collect()
}

#[test]
fn every_mutant_differs_in_one_place() {
    let text = "@R.function
def main(x: R.Tensor((2, 3), \"float32\"), c: R.Tensor((), \"bool\")) -> R.Object:
    y = R.subtract(x, R.const(1.0, \"float32\"))
    if c:
        z = R.sum(y, axis=[1])
    else:
        z = R.nn.relu(y)
    u = R.clip(z, R.prim_value(0), R.prim_value(6))
    return u
";
    let module = parse_module(text).unwrap();
    let found: Vec<Mutant> = mutants(&module).collect();
    let texts: BTreeSet<String> = found.iter().map(|mutant| text_of(&mutant.module())).collect();
    assert_eq!(texts.len(), found.len());
    assert!(!texts.contains(&text_of(&module)));
}

#[test]
fn the_mistakes_of_compilers_are_among_them() {
    let found = changes(
        "@R.function
def main(x: R.Tensor((2, 3), \"float32\"), c: R.Tensor((), \"bool\")) -> R.Object:
    if c:
        y = R.subtract(x, R.const(1.0, \"float32\"))
    else:
        y = R.sum(x, axis=[1], keepdims=True)
    return y
",
    );
    for wanted in [
        "without relax.subtract",
        "the arguments of relax.subtract exchanged",
        "another constant of the shape []",
        "`axis` of relax.sum is [2] for [1]",
        "`keepdims` of relax.sum is False for True",
        "the true branch always",
        "the false branch always",
    ] {
        assert!(found.iter().any(|what| what == wanted), "{wanted}: {found:?}");
    }
}

#[test]
fn prim_funcs_are_changed_too() {
    let found = changes(
        "@I.ir_module
class Module:
    @T.prim_func
    def f(A: T.Buffer((T.int64(4),), \"float32\"), B: T.Buffer((T.int64(4),), \"float32\")):
        for i in range(T.int64(4)):
            B[i] = T.max(A[i] + T.float32(1.5), T.float32(0))
",
    );
    for wanted in ["5 for 4", "Sub for Add", "Min for Max", "2.5 for 1.5"] {
        assert!(found.iter().any(|what| what == wanted), "{wanted}: {found:?}");
    }
}
