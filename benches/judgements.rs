//! How long single judgements take.

use campaign::infos;
use divan::{Bencher, black_box};
use relax_spec::grammar::{BinaryOp, DataType, PrimExpr, StructInfo, Type};
use relax_spec::judge::{Cx, Prover};
use relax_spec::question::Ask;
use relax_spec::{shape, struct_info, types};

/// As the command has it.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() {
    divan::main();
}

const PROVERS: [Prover; 3] = [Prover::Alpha, Prover::Algebraic, Prover::Exhaustive];

fn tensor(dims: &[PrimExpr]) -> StructInfo {
    StructInfo::tensor(dims.to_vec(), DataType::FLOAT32)
}

/// `name * (name + k)`.
fn product(name: &str, k: i64) -> PrimExpr {
    let sum = PrimExpr::binary(BinaryOp::Add, PrimExpr::var(name), k.into());
    PrimExpr::binary(BinaryOp::Mul, PrimExpr::var(name), sum)
}

#[divan::bench(args = PROVERS)]
fn prove_equal(bencher: Bencher, prover: Prover) {
    let square = PrimExpr::binary(BinaryOp::Mul, PrimExpr::var("n"), PrimExpr::var("n"));
    let e2 = PrimExpr::binary(BinaryOp::Add, square, PrimExpr::var("n"));
    let e1 = product("n", 1);
    bencher.bench(|| shape::prove_equal(&mut Cx::new().with_prover(prover), black_box(&e1), black_box(&e2)));
}

#[divan::bench]
fn compatibility_of_tensors(bencher: Bencher) {
    let (s1, s2) = (tensor(&[PrimExpr::var("n"), 4.into()]), tensor(&[3.into(), 4.into()]));
    bencher.bench(|| struct_info::check_compatibility(&mut Cx::new(), black_box(&s1), black_box(&s2)));
}

/// The pairs that the campaigns against implementations ask of.
fn random_pairs() -> Vec<(StructInfo, StructInfo)> {
    let pair = |number| match infos::questions(1, number) {
        [Ask::Compatibility(s1, s2), _] => Some((s1, s2)),
        [_, _] => None,
    };
    (0..2_000).filter_map(pair).collect()
}

#[divan::bench]
fn compatibility_of_2_000_random_pairs(bencher: Bencher) {
    let pairs = random_pairs();
    bencher.bench(|| {
        let mut cx = Cx::new();
        pairs.iter().map(|(s1, s2)| struct_info::check_compatibility(&mut cx, s1, s2)).max()
    });
}

#[divan::bench]
fn unify_2_000_random_pairs(bencher: Bencher) {
    let pairs = random_pairs();
    bencher.bench(|| {
        let mut cx = Cx::new();
        pairs.iter().for_each(|(s1, s2)| drop(black_box(struct_info::unify_struct_info(&mut cx, s1, s2))));
    });
}

#[divan::bench(args = [1, 8, 64])]
fn unify_tuples(bencher: Bencher, fields: i64) {
    let tuple = |name: &str| StructInfo::tuple((0..fields).map(|k| tensor(&[product(name, k), 4.into()])));
    let (s1, s2) = (tuple("n"), tuple("m"));
    bencher.bench(|| struct_info::unify_struct_info(&mut Cx::new(), black_box(&s1), black_box(&s2)));
}

/// The time must grow in proportion to the number of fields.
#[divan::bench(args = [10, 1_000, 100_000])]
fn compatibility_of_tuples(bencher: Bencher, fields: i64) {
    let tuple = |name: &str| StructInfo::tuple((0..fields).map(|_| tensor(&[PrimExpr::var(name), 4.into()])));
    let (s1, s2) = (tuple("n"), tuple("m"));
    bencher.bench(|| struct_info::check_compatibility(&mut Cx::new(), black_box(&s1), black_box(&s2)));
}

/// The time must grow in proportion to the depth.
#[divan::bench(args = [10, 1_000, 10_000])]
fn unify_nested_tuples(bencher: Bencher, depth: i64) {
    let nested = |name: &str| (0..depth).fold(tensor(&[PrimExpr::var(name)]), |inside, _| StructInfo::tuple([inside]));
    let (s1, s2) = (nested("n"), nested("m"));
    bencher.bench(|| struct_info::unify_struct_info(&mut Cx::new(), black_box(&s1), black_box(&s2)));
}

#[divan::bench(args = [1, 8, 64])]
fn least_upper_bound_of_functions(bencher: Bencher, params: i64) {
    let func = |ndim| Type::func((0..params).map(|_| Type::tensor(ndim, DataType::FLOAT32)), Type::Object, true);
    let (t1, t2) = (func(2), func(3));
    bencher.bench(|| types::find_lub(&mut Cx::new(), black_box(&t1), black_box(&t2)));
}
