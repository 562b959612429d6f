//! Operations whose time should grow in proportion to the input. Naive implementations take quadratic time or more.

use std::fmt::Write as _;
use std::thread;
use std::time::{Duration, Instant};

use campaign::adequacy::unnoticed_constants;
use relax_spec::check::{UnknownOps, all_findings, check_program, unknown_names};
use relax_spec::grammar::{BinaryOp, DataType, PrimExpr, StructInfo};
use relax_spec::judge::{Compatibility, Cx};
use relax_spec::refine::Settings;
use relax_spec::struct_info::{self as si, Nowhere};
use relax_spec::syntax::tvmscript::parse_module;

/// Eight times the input takes at most twenty-four times as long. Quadratic time would be sixty-four times as long.
fn grows_with_its_input(small: usize, work: impl Fn(usize) + Send + 'static) {
    takes(24, small, 8 * small, work);
}

/// The larger input takes at most this many times as long as the smaller one. A busy machine disturbs some
/// measurements, but not all.
fn takes(times: u32, small: usize, large: usize, work: impl Fn(usize) + Send + 'static) {
    let judged = move || {
        let time = |size: usize| {
            let start = Instant::now();
            work(size);
            start.elapsed()
        };
        let mut last = (Duration::ZERO, Duration::ZERO);
        let holds = (0..4).any(|_| {
            last = (time(small).min(time(small)), time(large));
            last.1 <= last.0.max(Duration::from_millis(20)) * times
        });
        assert!(holds, "{:?} for {large}, where {small} takes {:?}", last.1, last.0);
    };
    // Dropping deep trees needs stack.
    thread::Builder::new().stack_size(512 << 20).spawn(judged).unwrap().join().unwrap();
}

fn vector(dim: PrimExpr) -> StructInfo {
    StructInfo::tensor([dim], DataType::FLOAT32)
}

/// Functions that take functions. All use the same name for the size of their second parameter.
fn nested_functions(depth: usize, last: i64) -> StructInfo {
    nested_functions_of("n", depth, last)
}

fn nested_functions_of(size: &str, depth: usize, last: i64) -> StructInfo {
    let n = || vector(PrimExpr::var(size));
    (0..depth).fold(vector(last.into()), |inner, _| StructInfo::func([inner, n()], n()))
}

#[test]
fn variables_of_nested_function_types_are_told_apart_in_one_walk() {
    grows_with_its_input(200, |depth| {
        let s = nested_functions(depth, 3);
        assert_eq!(si::erase_to_well_defined(&mut Cx::new(), &s, &Nowhere), s);
        assert!(si::is_more_specific(&mut Cx::new(), &s, &s.clone()));
    });
}

#[test]
fn deep_function_types_are_compared_in_the_square_of_their_depth() {
    // The text maps the variables of a function again at every level. Cubic time would be five hundred times as long.
    for size in ["n", "m"] {
        takes(192, 40, 320, move |depth| {
            let (s1, s2) = (nested_functions(depth, 3), nested_functions_of(size, depth, 3));
            assert_eq!(si::check_compatibility(&mut Cx::new(), &s1, &s2), Compatibility::Compatible);
            assert_eq!(si::unify_struct_info(&mut Cx::new(), &s1, &s2), s1);
            assert_eq!(si::unify_struct_info(&mut Cx::new(), &s2, &s1), s2);
        });
    }
}

#[test]
fn a_parameter_loses_its_variables_one_by_one_in_one_pass() {
    // The last field mentions a variable that is introduced nowhere. Each field before it mentions the one that the
    // next introduces.
    grows_with_its_input(500, |fields| {
        let var = |i: usize| PrimExpr::var(&format!("n{i}"));
        let more = |i: usize| PrimExpr::binary(BinaryOp::Add, var(i), 1.into());
        let field = |i: usize| StructInfo::tensor([var(i), more(i + 1)], DataType::FLOAT32);
        let s = StructInfo::func([StructInfo::tuple((0..fields).map(field))], StructInfo::Object);
        let matrix = StructInfo::tensor_ndim(2, DataType::FLOAT32);
        let weakened = StructInfo::func([StructInfo::tuple(vec![matrix; fields])], StructInfo::Object);
        assert_eq!(si::erase_to_well_defined(&mut Cx::new(), &s, &Nowhere), weakened);
    });
}

#[test]
fn an_effect_spreads_to_its_callers_once() {
    grows_with_its_input(200, |functions| {
        let mut text = String::from(
            "@I.ir_module\nclass Module:\n    @R.function\n    def r(x: R.Object) -> R.Object:\n        y = \
             Module.r(x)\n        return y\n",
        );
        for i in 0..functions {
            let _ = writeln!(
                text,
                "    @R.function\n    def f{i}(x: R.Object) -> R.Object:\n        y = Module.f{}(x)\n        return y",
                i + 1
            );
        }
        let _ = writeln!(
            text,
            "    @R.function\n    def f{functions}(x: R.Object) -> R.Object:\n        y = R.print(x, format=\"\")\n        \
             return x"
        );
        assert_eq!(parse_module(&text).unwrap().funcs.len(), functions + 2);
    });
}

/// A function with the same mistake many times, and the number of findings that are reported.
fn told(mistakes: usize, mistake: &str) -> usize {
    let mut text = String::from(
        "@I.ir_module\nclass Module:\n    @R.function\n    def main(x: R.Tensor((3,), 'float32')) -> R.Object:\n",
    );
    for i in 0..mistakes {
        let _ = writeln!(text, "        a{i} = {mistake}");
    }
    text.push_str("        return x\n");
    let module = parse_module(&text).unwrap();
    let cx = &mut Cx::new();
    let report = check_program(cx, &module);
    all_findings(cx, &report, unknown_names(&module, UnknownOps::Errors)).len()
}

#[test]
fn findings_take_time_in_proportion_to_their_number() {
    for mistake in ["R.nn.relux(x)", "R.match_cast(x, R.Tensor((4,), 'float32'))", "x[0]", "R.add(x, nowhere)"] {
        grows_with_its_input(250, |mistakes| assert_eq!(told(mistakes, mistake), mistakes));
    }
}

#[test]
fn the_attributes_of_each_function_are_read_without_searching_the_whole_text() {
    grows_with_its_input(500, |functions| {
        let mut text = String::from("@I.ir_module\nclass Module:\n");
        for i in 0..functions {
            let _ = write!(
                text,
                "    @T.prim_func\n    def f{i}(a: T.handle):\n        T.func_attr({{\"a\": {i}}})\n        A = T.match_buffer(a, (4,), \"float32\")\n        A[0] = T.float32(1)\n"
            );
        }
        assert_eq!(parse_module(&text).unwrap().funcs.len(), functions);
    });
}

#[test]
fn shapes_in_shapes_are_searched_for_names_once() {
    // A name in a text about scalars may be one of them if it occurs in a shape.
    for shape in ["(", "shape=("] {
        takes(24, 10, 80, move |depth| {
            let nested = (0..depth).fold("x".to_string(), |inner, _| format!("R.reshape(x, {shape}{inner},))"));
            let text = format!("@R.function\ndef main(x: R.Object, n: T.int64) -> R.Object:\n    return {nested}\n");
            assert!(parse_module(&text).is_err());
        });
    }
}

/// Nested pairs of the same object, with `t` the last of them, and then this many bindings that use it.
fn wide(of: &str, pairs: usize, bindings: usize, binding: &str) -> String {
    let mut text = format!("@R.function\ndef main(t0: {of}) -> R.Object:\n");
    for i in 1..=pairs {
        let _ = writeln!(text, "    t{i} = (t{0}, t{0})", i - 1);
    }
    let _ = writeln!(text, "    t = t{pairs}");
    for i in 0..bindings {
        let _ = writeln!(text, "    y{i} = {binding}");
    }
    text.push_str("    return t0\n");
    text
}

#[test]
fn what_is_wide_is_not_gone_through_without_end() {
    // Shared parts of tuples are traversed once. The variables of function types are renamed at each occurrence, so
    // there is a limit.
    for (of, pairs, limited) in
        [("R.Object", 18, false), ("R.Callable((R.Tensor(('n',)),), R.Tensor(('n',)))", 15, true)]
    {
        for binding in ["(t,)", "t", "t[0]", "R.print(t, format=\"\")", "R.match_cast(t, R.Object)"] {
            // Each of four hundred would take as long as all pairs together.
            takes(48, 0, 400, move |bindings| {
                let module = parse_module(&wide(of, pairs, bindings, binding)).unwrap();
                let report = check_program(&mut Cx::new(), &module);
                assert_eq!(report.accepts(), bindings == 0 || !limited, "{binding} of {of}");
            });
        }
    }
}

#[test]
fn constants_that_are_not_tried_are_only_counted() {
    grows_with_its_input(500, |bindings| {
        let mut text = String::from("@R.function\ndef main(v0: R.Tensor((2,), 'float32')) -> R.Object:\n");
        for i in 1..=bindings {
            let _ = writeln!(text, "    v{i} = R.add(v{}, R.const(1.5, 'float32'))", i - 1);
        }
        let _ = writeln!(text, "    return v{bindings}");
        let (module, settings) = (parse_module(&text).unwrap(), Settings::runs(1));
        let found = unnoticed_constants(&mut Cx::new(), &module, "main", &[], &settings, 0).unwrap();
        assert_eq!(found.unasked, bindings);
    });
}

#[test]
fn fields_of_a_wide_tuple_are_taken_one_by_one() {
    grows_with_its_input(500, |fields| {
        let infos = vec!["R.Tensor((4,), 'float32')"; fields].join(", ");
        let mut text = format!("@R.function\ndef main(p: R.Tuple({infos})) -> R.Object:\n");
        for i in 0..fields {
            let _ = writeln!(text, "    y{i} = p[{i}]");
        }
        text.push_str("    return p\n");
        assert!(check_program(&mut Cx::new(), &parse_module(&text).unwrap()).accepts());
    });
}
