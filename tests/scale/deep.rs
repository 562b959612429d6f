//! Deep and wide structural information: no judgement overflows the stack or takes more than linear time.

use std::thread;
use std::time::{Duration, Instant};

use relax_spec::grammar::{BinaryOp, DataType, PrimExpr, StructInfo, Type};
use relax_spec::judge::{Compatibility, Cx, Proof};
use relax_spec::shape::prove_equal;
use relax_spec::struct_info::{self as si, Nowhere};
use relax_spec::types;

const DEPTH: usize = 10_000;

/// Runs a test that builds deep values. Dropping these needs stack, which is not part of the test.
fn with_room(test: impl FnOnce() + Send + 'static) {
    thread::Builder::new().stack_size(512 << 20).spawn(test).unwrap().join().unwrap();
}

/// Runs a judgement on a thread with little stack. Its result is dropped on a thread with enough.
fn in_little_room<T: Send>(judgement: impl FnOnce() -> T + Send) -> T {
    thread::scope(|scope| {
        thread::Builder::new().stack_size(512 << 10).spawn_scoped(scope, judgement).unwrap().join().unwrap()
    })
}

fn nested(depth: usize, inner: StructInfo, wrap: impl Fn(StructInfo) -> StructInfo) -> StructInfo {
    (0..depth).fold(inner, |s, _| wrap(s))
}

fn vector(dim: PrimExpr) -> StructInfo {
    StructInfo::tensor([dim], DataType::FLOAT32)
}

fn judge_all(s1: &StructInfo, s2: &StructInfo) -> Compatibility {
    in_little_room(|| {
        let cx = &mut Cx::new();
        let compatibility = si::check_compatibility(cx, s1, s2);
        let results = [si::unify_struct_info(cx, s1, s2), si::erase_to_well_defined(cx, s1, &Nowhere)];
        let order = (si::is_more_specific(cx, s1, s2), si::is_possibly_more_specific(cx, s1, s2));
        let mapping = si::get_shape_var_mapping(cx, s1, s2, &Nowhere);
        let (t1, t2) = (types::erase_struct_info(cx, s1), types::erase_struct_info(cx, s2));
        let bounds = (types::find_lub(cx, &t1, &t2), types::find_glb(cx, &t1, &t2));
        let below = types::is_subtype(cx, &t1, &t2);
        let wrapped = si::wrap_type(cx, &t1);
        (compatibility, (results, order, mapping, t1, t2, bounds, below, wrapped))
    })
    .0
}

#[test]
fn deep_tuples() {
    with_room(|| {
        let pair = |s: StructInfo| StructInfo::tuple([StructInfo::Object, s]);
        let (s1, s2) = (nested(DEPTH, vector(3.into()), pair), nested(DEPTH, vector(4.into()), pair));
        assert_eq!(judge_all(&s1, &s2), Compatibility::Incompatible);
        assert_eq!(judge_all(&s1, &s1.clone()), Compatibility::Compatible);
    });
}

#[test]
fn deep_results_of_functions() {
    with_room(|| {
        let returning = |s: StructInfo| StructInfo::func([StructInfo::Object], s);
        let (s1, s2) =
            (nested(DEPTH, vector(3.into()), returning), nested(DEPTH, vector(PrimExpr::var("n")), returning));
        assert_eq!(judge_all(&s1, &s2), Compatibility::Possibly);
    });
}

#[test]
fn deep_parameters_of_functions() {
    with_room(|| {
        let taking = |s: StructInfo| StructInfo::func([s], StructInfo::Object);
        // The text maps the variables of nested parameters again at every level, so this takes quadratic time.
        let depth = DEPTH / 20;
        let (s1, s2) =
            (nested(depth, StructInfo::shape_ndim(1), taking), nested(depth, StructInfo::shape_ndim(2), taking));
        assert_eq!(judge_all(&s1, &s2), Compatibility::Incompatible);
    });
}

#[test]
fn deep_dimensions() {
    with_room(|| {
        let chain = |op| (0..DEPTH).fold(PrimExpr::var("n"), |e, _| PrimExpr::binary(op, e, 1.into()));
        for op in BinaryOp::ALL {
            let (a, b) = (chain(op), chain(op));
            let sum = PrimExpr::binary(BinaryOp::Add, b.clone(), 1.into());
            let equal = in_little_room(|| prove_equal(&mut Cx::new(), &a, &b));
            let other = in_little_room(|| prove_equal(&mut Cx::new(), &a, &sum));
            assert_eq!(equal, Proof::Equal, "{op:?}");
            assert_ne!(other, Proof::Equal, "{op:?}");
        }
    });
}

/// The time of a judgement on tuples with this many fields, the fastest of three.
fn time(fields: usize) -> Duration {
    let tuple = |dim: i64| StructInfo::tuple((0..fields).map(|_| StructInfo::tensor([dim.into()], DataType::FLOAT32)));
    let (s1, s2) = (tuple(3), tuple(3));
    (0..3)
        .map(|_| {
            let start = Instant::now();
            let cx = &mut Cx::new();
            assert_eq!(si::check_compatibility(cx, &s1, &s2), Compatibility::Compatible);
            assert_eq!(si::unify_struct_info(cx, &s1, &s2), s1);
            assert!(si::is_more_specific(cx, &s1, &s2));
            start.elapsed()
        })
        .min()
        .unwrap()
}

#[test]
fn wide_tuples_take_linear_time() {
    let (small, large) = (time(1_000), time(100_000));
    // There are a hundred times as many fields. The factor of ten more allows for noise, and is far below that of
    // quadratic time.
    assert!(large < small * 1_000, "{small:?} and {large:?}");
}

#[test]
fn deep_types_that_differ_at_the_bottom_take_linear_time() {
    with_room(|| {
        let deep = |depth: usize, ndim| (0..depth).fold(Type::shape(ndim), |t, _| Type::tuple([t]));
        let time = |depth: usize| {
            let (t1, t2) = (deep(depth, 1), deep(depth, 2));
            let once = || {
                let start = Instant::now();
                let bound = types::find_lub(&mut Cx::new(), &t1, &t2);
                let elapsed = start.elapsed();
                assert!(types::is_subtype(&mut Cx::new(), &t1, &bound));
                elapsed
            };
            (0..5).map(|_| once()).min().unwrap()
        };
        // Quadratic time would always be a factor of 256. A busy machine disturbs some measurements, but not all.
        assert!((0..5).any(|_| time(16_000) < time(1_000) * 100));
    });
}
