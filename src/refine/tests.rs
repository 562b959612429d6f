//! Allowed optimizations and miscompilations of small programs; the changes of the chapter's worked example are the
//! first.

use std::cell::Cell;
use std::rc::Rc;
use std::sync::Arc;

use super::refine;
use super::{Refinement, RefinementVerdict, Settings, Unreached};
use crate::book::{Erratum, Reading, Rule};
use crate::grammar::{DataType, IrModule, TensorData};
use crate::judge::Cx;
use crate::syntax::tvmscript::parse_module;
use crate::value::{Returned, Value, ValueSpec};

fn main_of(signature: &str, body: &str) -> IrModule {
    let body: String =
        body.lines().map(|line| format!("    {}\n", line.strip_prefix("    ").unwrap_or(line))).collect();
    let text = format!("@I.ir_module\nclass Module:\n    @R.function\n    def main({signature}) -> R.Object:\n{body}");
    parse_module(&text).unwrap_or_else(|error| panic!("{error}\n{text}"))
}

fn compare_in(cx: &mut Cx, signature: &str, source: &str, target: &str) -> Refinement {
    let (source, target) = (main_of(signature, source), main_of(signature, target));
    refine(cx, &source, &target, "main", &[], &Settings::runs(60)).unwrap()
}

fn compare(signature: &str, source: &str, target: &str) -> Refinement {
    compare_in(&mut Cx::new(), signature, source, target)
}

fn allowed(signature: &str, source: &str, target: &str) {
    let refinement = compare(signature, source, target);
    assert!(matches!(refinement.verdict, RefinementVerdict::Allowed | RefinementVerdict::Vacuous(_)), "{refinement:?}");
    assert!(refinement.compared > 0);
}

fn broken(signature: &str, source: &str, target: &str) -> Rule {
    match compare(signature, source, target) {
        Refinement { verdict: RefinementVerdict::NotAllowed { rule, .. }, input: Some(_), .. } => rule,
        other => panic!("{other:?}"),
    }
}

const XY: &str = "x: R.Tensor(\"float32\", ndim=1), y: R.Tensor(\"float32\", ndim=1)";
const BLOCK: &str = "        m = T.int64()
        with R.dataflow():
            a = R.match_cast(x, R.Tensor((4,), \"float32\"))
            b = R.add(x, x)
            R.output(b)
";
const BLOCK_WITHOUT_CAST: &str = "        m = T.int64()
        with R.dataflow():
            b = R.add(x, x)
            R.output(b)
";
const BLOCK_REORDERED: &str = "        m = T.int64()
        with R.dataflow():
            b = R.add(x, x)
            a = R.match_cast(x, R.Tensor((4,), \"float32\"))
            R.output(b)
";
const CAST_B: &str = "        c = R.match_cast(b, R.Tensor((m,), \"float32\"))\n";
const CAST_X: &str = "        c0 = R.match_cast(x, R.Tensor((m,), \"float32\"))\n        c = b\n";
const LOG: &str = "        u = R.call_packed(\"relax_spec.log\", c)\n";
const CAST_Y: &str = "        d = R.match_cast(y, R.Tensor((4,), \"float32\"))\n";
const RETURN: &str = "        return R.shape([m])\n";

fn source() -> String {
    [BLOCK, CAST_B, LOG, CAST_Y, RETURN].concat()
}

#[test]
fn the_allowed_changes_of_the_worked_example() {
    allowed(XY, &source(), &source());
    allowed(XY, &source(), &[BLOCK_WITHOUT_CAST, CAST_B, LOG, CAST_Y, RETURN].concat());
    allowed(XY, &source(), &[BLOCK_REORDERED, CAST_B, LOG, CAST_Y, RETURN].concat());
    allowed(XY, &source(), &[BLOCK, CAST_X, LOG, CAST_Y, RETURN].concat());
}

#[test]
fn the_forbidden_changes_of_the_worked_example() {
    assert_eq!(broken(XY, &source(), &[BLOCK, CAST_B, CAST_Y, LOG, RETURN].concat()), rule!("OPT.VISIBLE.IO"));
    assert_eq!(broken(XY, &source(), &[BLOCK, CAST_B, CAST_Y, RETURN].concat()), rule!("OPT.VISIBLE.IO"));
    assert_eq!(broken(XY, &source(), &[BLOCK, CAST_B, LOG, RETURN].concat()), rule!("OPT.OUTSIDE-DF"));
}

#[test]
fn by_the_literal_survey_errors_outside_of_dataflow_blocks_may_go_too() {
    let target = [BLOCK, CAST_B, LOG, RETURN].concat();
    let mut lenient = Cx::new().with_reading(Reading::literal_only(&[Erratum::A13]));
    assert_eq!(compare_in(&mut lenient, XY, &source(), &target).verdict, RefinementVerdict::Allowed);
}

const X: &str = "x: R.Tensor((\"n\", 2), \"float32\")";

#[test]
fn miscompilations_of_values() {
    let of = |value: &str| format!("        y = {value}\n        return y\n");
    let source = of("R.subtract(x, R.sum(x, axis=[0]))");
    allowed(X, &source, &of("R.subtract(x, R.sum(x, axis=0))"));
    allowed(X, &source, &of("R.add(x, R.negative(R.sum(x, axis=[0])))"));
    // Swapped operands, a wrong axis, a wrong value.
    for target in ["R.subtract(R.sum(x, axis=[0]), x)", "R.subtract(x, R.sum(x, axis=[1], keepdims=True))", "x"] {
        assert_eq!(broken(X, &source, &of(target)), rule!("OPT.GENERAL"), "{target}");
    }
}

#[test]
fn miscompilations_of_effects() {
    let log = "        a = R.call_packed(\"relax_spec.log\", x)\n";
    let print = "        b = R.print(x)\n";
    let end = "        return x\n";
    let source = [log, print, end].concat();
    let twice = "        c = R.call_packed(\"relax_spec.log\", x)\n";
    // Dropped, added, duplicated, reordered.
    for target in
        [[log, end].concat(), [print, end].concat(), [log, print, twice, end].concat(), [print, log, end].concat()]
    {
        assert_eq!(broken(X, &source, &target), rule!("OPT.VISIBLE.IO"), "{target}");
    }
    let other = "        a = R.call_packed(\"relax_spec.log\", R.add(x, x))\n";
    assert_eq!(broken(X, &source, &[other, print, end].concat()), rule!("OPT.GENERAL"));
}

#[test]
fn miscompilations_of_mutations() {
    let bump = "        a = R.call_packed(\"relax_spec.add_inplace\", x, x)\n";
    let bump_copy = "        z = R.call_packed(\"relax_spec.identity\", x, pure=True)
        a = R.call_packed(\"relax_spec.add_inplace\", z, x)\n";
    let end = "        return R.tuple()\n";
    assert_eq!(broken(X, &[bump, end].concat(), &[bump_copy, end].concat()), rule!("OPT.VISIBLE.MUTATION"));
    let log = "        b = R.call_packed(\"relax_spec.log\", x)\n";
    assert_eq!(broken(X, &[bump, log, end].concat(), &[bump_copy, log, end].concat()), rule!("OPT.MEM.MUTVISIBLE"));
}

#[test]
fn a_constant_that_is_mutated_may_not_be_shared() {
    let source = "        a = R.const(1, \"float32\")
        b = R.const(1, \"float32\")
        c = R.call_packed(\"relax_spec.add_inplace\", a, a)
        return b\n";
    let shared = "        a = R.const(1, \"float32\")
        b = a
        c = R.call_packed(\"relax_spec.add_inplace\", a, a)
        return b\n";
    assert_eq!(broken(X, source, shared), rule!("OPT.MEM.COPY"));
    // Without the mutation the difference is invisible.
    let drop = |text: &str| text.replace("        c = R.call_packed(\"relax_spec.add_inplace\", a, a)\n", "");
    allowed(X, &drop(source), &drop(shared));
}

#[test]
fn a_program_never_becomes_less_defined() {
    let source = "        return x\n";
    let outside = "        a = R.match_cast(x, R.Tensor((2, 2), \"float32\"))\n        return x\n";
    let inside = "        with R.dataflow():
            a = R.match_cast(x, R.Tensor((2, 2), \"float32\"))
            b = x
            R.output(b)
        return b\n";
    assert_eq!(broken(X, source, outside), rule!("PURE.DIVERGE.NEVER-LESS"));
    assert_eq!(broken(X, source, inside), rule!("OPT.DF.NEVER-LESS"));
    allowed(X, inside, source);
    assert_eq!(broken(X, outside, source), rule!("OPT.OUTSIDE-DF"));
}

#[test]
fn the_error_stays_the_same() {
    let cast = |info: &str| format!("        a = R.match_cast(x, {info})\n        return x\n");
    let (rank, size) = (cast("R.Tensor(ndim=1, dtype=\"float32\")"), cast("R.Tensor((7, 3), \"float32\")"));
    assert_eq!(broken(X, &rank, &size), rule!("OPT.ERROR-IDENTITY"));
    allowed(X, &rank, &rank);
    // An operator fails by a size of its result, or by the shape to which it is lowered.
    let signature = "x: R.Tensor((1, 1, \"n\"), \"float32\"), w: R.Tensor((1, 1, 5), \"float32\")";
    let of_operator = "        n = T.int64()\n        y = R.nn.conv1d(x, w)\n        return R.shape_of(y)\n";
    let of_shape = "        n = T.int64()\n        return R.shape([1, 1, n - 4])\n";
    allowed(signature, of_operator, of_shape);
    assert_eq!(broken(signature, of_shape, of_operator), rule!("OPT.ERROR-IDENTITY"));
    // Another size, and an operator that fails in another way, are other checks.
    let of_other_size = "        n = T.int64()\n        return R.shape([1, 1, n - 5])\n";
    assert_eq!(broken(signature, of_operator, of_other_size), rule!("OPT.ERROR-IDENTITY"));
    let of_elements = "        y = R.reshape(x, R.shape([7]))\n        return y\n";
    let negative = "        y = R.zeros(R.shape([-1]), \"float32\")\n        return y\n";
    assert_eq!(broken(X, of_elements, negative), rule!("OPT.ERROR-IDENTITY"));
}

#[test]
fn the_smallest_input_is_shown() {
    let of = |value: &str| format!("        y = {value}\n        return y\n");
    let refinement = compare(X, &of("R.add(x, x)"), &of("x"));
    // An empty tensor shows no difference, so one row is the minimum.
    let Some([ValueSpec::Tensor(data)]) = refinement.input.as_deref() else { panic!("{refinement:?}") };
    assert_eq!(*data.shape, [1, 2]);
    // A given input is used as it is.
    let given = ValueSpec::Tensor(TensorData::from_values(DataType::FLOAT32, &[0, 2], &[]).unwrap());
    let (source, target) = (main_of(X, &of("R.add(x, x)")), main_of(X, &of("x")));
    let refinement = refine(&mut Cx::new(), &source, &target, "main", &[vec![given]], &Settings::runs(0)).unwrap();
    assert_eq!((refinement.verdict, refinement.compared), (RefinementVerdict::Allowed, 1));
}

#[test]
fn nothing_is_said_of_unspecified_programs() {
    let source = "        y = R.call_packed(\"relax_spec.raw_int\", pure=True)\n        return y\n";
    let refinement = compare(X, source, "        return x\n");
    assert!(matches!(refinement.verdict, RefinementVerdict::Undecided(_)));
    assert_eq!(refinement.compared, 0);
    // The target does not run: compiled code may do anything there.
    let (mut settings, runs) = (Settings::runs(5), Rc::new(Cell::new(0)));
    let counted = runs.clone();
    settings.registry.register("count", true, move |_, _| {
        counted.set(counted.get() + 1);
        Ok(Returned::Value(Value::int(1)))
    });
    let counting = source.replace("relax_spec.raw_int", "count");
    let run =
        |source: &str| refine(&mut Cx::new(), &main_of(X, source), &main_of(X, &counting), "main", &[], &settings);
    assert!(matches!(run(source).unwrap().verdict, RefinementVerdict::Undecided(_)));
    assert_eq!(runs.get(), 0);
    assert_eq!(run(&counting).unwrap().verdict, RefinementVerdict::Allowed);
    assert!(runs.get() > 0);
}

/// MEM.UNWRITTEN: what makes the mistake is to blame, and no later step.
#[test]
fn nothing_is_said_of_what_reads_memory_that_was_not_written() {
    let of = |value: &str| {
        format!(
            "        s = R.memory.alloc_storage(R.shape([64]), 0, \"global\", \"uint8\")
        t = R.memory.alloc_tensor(s, 0, R.shape([2]), \"float32\")
        return {value}\n"
        )
    };
    let (source, value) = (of("R.add(t, t)"), of("R.const([1, 2], \"float32\")"));
    assert!(matches!(compare(X, &source, &value).verdict, RefinementVerdict::Undecided(_)));
    // The same mistake again is none of the step.
    assert!(matches!(compare(X, &source, &of("t")).verdict, RefinementVerdict::Vacuous(_)));
    broken(X, &value, &source);
}

/// The printed beginnings of long tensors may be equal.
#[test]
fn a_difference_behind_the_printed_elements_is_told() {
    let ones =
        |last: &str| format!("        y = R.const([{} {last}], \"int32\")\n        return (x, y)\n", "1,".repeat(19));
    let RefinementVerdict::NotAllowed { message, .. } = compare(X, &ones("1"), &ones("3")).verdict else { panic!() };
    assert!(message.ends_with("; element 19 is 1 and 3"), "{message}");
    let first = |number: &str| format!("        y = R.const([{number}], \"int32\")\n        return (x, y)\n");
    let RefinementVerdict::NotAllowed { message, .. } = compare(X, &first("1"), &first("3")).verdict else { panic!() };
    assert!(!message.contains("element"), "{message}");
}

/// TVM lowers `R.inspect.tensor_byte_offset`, which gives a uint64, to a function that gives an int64.
#[test]
fn a_boxed_integer_is_a_number_of_any_data_type() {
    let boxed = |dtype: &str| format!("        y = R.prim_value(T.{dtype}(3))\n        return (x, y)\n");
    allowed(X, &boxed("uint64"), &boxed("int64"));
    broken(X, &boxed("uint64"), &boxed("int64").replace('3', "4"));
}

/// A function that calls itself for ever.
const ENDLESS: &str = "        @R.function
        def f(a: R.Tensor((\"n\", 2), \"float32\")) -> R.Object:
            b = f(a)
            return b\n";

#[test]
fn a_run_without_end_is_out_of_budget() {
    let endless = [ENDLESS, "        y = f(x)\n        return y\n"].concat();
    let of = |source: &str, target: &str| {
        let (source, target) = (main_of(X, source), main_of(X, target));
        refine(&mut Cx::new(), &source, &target, "main", &[], &Settings::runs(1)).unwrap().verdict
    };
    assert!(matches!(of(&endless, "        return x\n"), RefinementVerdict::OutOfBudget(_)));
    assert!(matches!(of("        return x\n", &endless), RefinementVerdict::OutOfBudget(_)));
    // The same in a call of a returned closure.
    let returned = [ENDLESS, "        return f\n"].concat();
    assert!(matches!(of(&returned, &returned), RefinementVerdict::OutOfBudget(_)));
}

fn returning(param: &str, body: &str) -> String {
    format!("        @R.function\n        def f({param}) -> R.Object:\n            return {body}\n        return f\n")
}

#[test]
fn closures_are_called() {
    let vector = "a: R.Tensor((\"k\",), \"float32\")";
    allowed(X, &returning(vector, "R.add(a, a)"), &returning(vector, "R.multiply(a, R.const(2, \"float32\"))"));
    let rule = broken(X, &returning(vector, "R.add(a, a)"), &returning(vector, "R.multiply(a, a)"));
    assert_eq!(rule, rule!("OPT.GENERAL"));
    // A shape variable of the outer function keeps its value.
    let captured = "a: R.Tensor((\"n\",), \"float32\")";
    allowed(X, &returning(captured, "a"), &returning(captured, "a"));
    assert_eq!(broken(X, &returning(vector, "R.shape_of(a)"), &returning(captured, "R.shape_of(a)")), {
        rule!("PURE.DIVERGE.NEVER-LESS")
    });
}

#[test]
fn a_mutation_is_that_of_the_call_that_does_it() {
    let nullary = |body: &str| returning("", body);
    let (in_place, copied) = (nullary("R.call_packed(\"relax_spec.add_inplace\", x, x)"), nullary("R.add(x, x)"));
    allowed(X, &in_place, &in_place);
    // The run of the program itself has mutated nothing, its argument is the same in both when it ends.
    assert_eq!(broken(X, &in_place, &copied), rule!("OPT.VISIBLE.IO"));
}

#[test]
fn nothing_is_said_of_closures_that_cannot_be_called() {
    let takes_function = "a: R.Callable((R.Object,), R.Object)";
    let refinement = compare(X, &returning(takes_function, "x"), &returning(takes_function, "x"));
    assert!(matches!(refinement.verdict, RefinementVerdict::Undecided(_)), "{refinement:?}");
    let again = "        @R.function\n        def f() -> R.Object:\n            return f\n        return f\n";
    assert!(matches!(compare(X, again, again).verdict, RefinementVerdict::Undecided(_)));
}

const NESTED: &str = "        a = R.equal(n, R.const(37, \"int64\"))
        if a:
            b = R.less(x, R.const(-100.0, \"float32\"))
            if b:
                c = R.abs(x)
            else:
                c = x
            d = c
        else:
            d = x
        return d
";
const NX: &str = "n: R.Tensor((), \"int64\"), x: R.Tensor((), \"float32\")";

#[test]
fn inputs_are_looked_for_that_reach_every_branch() {
    let refinement = compare(NX, NESTED, NESTED);
    assert_eq!(refinement.verdict, RefinementVerdict::Allowed);
    assert_eq!(refinement.unreached, (Vec::new(), Vec::new()));
    // Only in the innermost branch, which one input in hundreds reaches.
    assert_eq!(broken(NX, NESTED, &NESTED.replace("R.abs(x)", "x")), rule!("OPT.GENERAL"));
}

#[test]
fn what_no_run_reaches_is_told() {
    // For a data type that wraps around, the sum of a number and 1 is not larger than the number.
    let dead = "        m = R.add(n, R.const(1, \"int64\"))
        a = R.equal(n, m)
        if a:
            b = R.abs(x)
        else:
            b = x
        return b
";
    let refinement = compare(NX, dead, dead);
    assert_eq!(refinement.verdict, RefinementVerdict::Allowed);
    let (before, after) = &refinement.unreached;
    assert!(matches!(before.as_slice(), [Unreached::Branch { holds: true, .. }]), "{before:?}");
    assert!(matches!(after.as_slice(), [Unreached::Branch { holds: true, .. }]), "{after:?}");
}

#[test]
fn calls_behind_an_error_are_told_as_never_reached() {
    let failing = "        a = R.match_cast(x, R.Tensor((3, 3), \"float32\"))
        b = R.abs(x)
        return b
";
    let refinement = compare("x: R.Tensor((), \"float32\")", failing, failing);
    let operators = |part: &Unreached| matches!(part, Unreached::Operator { name, .. } if **name == *"relax.abs");
    assert!(refinement.unreached.0.iter().any(operators), "{refinement:?}");
}

#[test]
fn a_target_that_loses_all_digits_is_not_allowed_on_its_own_word() {
    let lost = "        a = R.add(x, R.const(1e+08, \"float32\"))\n        b = R.subtract(a, R.const(1e+08, \"float32\"))\n        return b\n";
    let refinement = compare("x: R.Tensor((3,), \"float32\")", "        return x\n", lost);
    assert!(!matches!(refinement.verdict, RefinementVerdict::Allowed), "{refinement:?}");
}

#[test]
fn a_factor_too_small_for_its_type_may_be_one_that_is_not() {
    let two = "a: R.Tensor((1,), \"float32\"), b: R.Tensor((1,), \"float32\")";
    let (apart, together) = (
        "        x = R.exp(a)\n        y = R.exp(b)\n        z = R.multiply(x, y)\n        return z\n",
        "        x = R.add(a, b)\n        z = R.exp(x)\n        return z\n",
    );
    let (source, target) = (main_of(two, apart), main_of(two, together));
    let tensor =
        |x: f32| ValueSpec::Tensor(TensorData::new(DataType::FLOAT32, &[1], x.to_le_bytes().to_vec()).unwrap());
    let given = [vec![tensor(-120.3), tensor(60.7)]];
    let refinement = refine(&mut Cx::new(), &source, &target, "main", &given, &Settings::runs(0)).unwrap();
    assert_eq!(refinement.verdict, RefinementVerdict::Allowed);
}

/// The parts of the source that no run reached, in words.
fn untaken(refinement: &Refinement) -> Vec<String> {
    let side = |part: &Unreached| match part {
        Unreached::Side { of, side, .. } => format!("{of} {}", side.word()),
        Unreached::Branch { holds, .. } => format!("branch {holds}"),
        Unreached::Operator { name, .. } => name.to_string(),
    };
    refinement.unreached.0.iter().map(side).collect()
}

#[test]
fn sides_of_elementwise_choices_are_looked_for_and_told() {
    let behind = "        a = R.multiply(x, R.const(1e-7, \"float32\"))
        b = R.clip(a, R.prim_value(-3), R.prim_value(5))
        return b
";
    let vector = "x: R.Tensor((\"n\",), \"float32\")";
    assert_eq!(untaken(&compare(vector, behind, behind)), Vec::<String>::new());
    assert_eq!(broken(vector, behind, &behind.replace("prim_value(5)", "prim_value(50)")), rule!("OPT.GENERAL"));
    // No element is above the bound to which it was clipped, and no square is below 0.
    let never = "        a = R.clip(x, R.prim_value(-1), R.prim_value(2))
        b = R.minimum(a, R.const(3.0, \"float32\"))
        c = R.nn.relu(R.multiply(b, b))
        return c
";
    assert_eq!(untaken(&compare(vector, never, never)), ["relax.minimum second", "relax.nn.relu below"]);
}

fn prim_func(body: &str) -> IrModule {
    let body: String = body.lines().map(|line| format!("        {line}\n")).collect();
    let text = format!(
        "@I.ir_module
class Module:
    @T.prim_func
    def f(px: T.handle, po: T.handle):
        n = T.int64()
        x = T.match_buffer(px, (n,), \"float32\")
        out = T.match_buffer(po, (n,), \"float32\")
{body}
    @R.function
    def main(x: R.Tensor((\"n\",), \"float32\")) -> R.Object:
        n = T.int64()
        y = R.call_tir(Module.f, (x,), out_sinfo=R.Tensor((n,), \"float32\"))
        return y
"
    );
    parse_module(&text).unwrap_or_else(|error| panic!("{error}\n{text}"))
}

fn compare_prim_funcs(source: &str, target: &str) -> Refinement {
    let (source, target) = (prim_func(source), prim_func(target));
    refine(&mut Cx::new(), &source, &target, "main", &[], &Settings::runs(40)).unwrap()
}

#[test]
fn sides_in_prim_funcs_are_looked_for_and_told() {
    let far = "for i in range(n):
    if i < T.int64(3000):
        out[i] = T.max(x[i], T.float32(1.0))
    else:
        out[i] = T.Select(x[i] > T.float32(0.0), x[i], T.float32(0.0))";
    assert_eq!(untaken(&compare_prim_funcs(far, far)), Vec::<String>::new());
    let refinement = compare_prim_funcs(far, &far.replace("x[i] > T.float32(0.0)", "x[i] > T.float32(1.0)"));
    assert!(matches!(refinement.verdict, RefinementVerdict::NotAllowed { .. }), "{refinement:?}");
    let never = "for i in range(n):
    out[i] = x[i]
    for j in range(T.min(i, T.int64(-1))):
        out[i] = T.float32(0.0)
    if i < T.int64(0):
        out[i] = T.if_then_else(x[i] > T.float32(0.0), x[i], T.float32(0.0))";
    let told = untaken(&compare_prim_funcs(never, never));
    assert_eq!(told, ["T.min first", "for once", "for often", "if holds"]);
}

#[test]
fn tensors_of_fixed_sizes_may_be_as_large_as_the_memory_of_a_run() {
    let large = main_of(
        "x: R.Tensor((3, 500000), \"float32\")",
        "        s = R.strided_slice(x, axes=[1], begin=[0], end=[2])\n        return s\n",
    );
    let refinement = refine(&mut Cx::new(), &large, &large, "main", &[], &Settings::runs(1)).unwrap();
    assert_eq!((&refinement.verdict, refinement.ended), (&RefinementVerdict::Allowed, 1), "{refinement:?}");
    let beyond = "x: R.Tensor((30000, 30000), \"float32\")";
    let same = main_of(beyond, "        return x\n");
    let error = refine(&mut Cx::new(), &same, &same, "main", &[], &Settings::runs(2)).unwrap_err();
    assert!(error.to_string().contains("within the memory"), "{error}");
}

/// A program that calls a `PrimFunc` of `X` and `O`, both of 6 elements.
fn kernel(lines: &str) -> IrModule {
    let body: String = lines.lines().map(|line| format!("        {line}\n")).collect();
    let text = format!(
        "@I.ir_module
class Module:
    @T.prim_func(private=True)
    def k(X: T.Buffer((6,), \"float32\"), O: T.Buffer((6,), \"float32\")):
{body}
    @R.function
    def main(x: R.Tensor((6,), \"float32\")) -> R.Object:
        cls = Module
        with R.dataflow():
            y = R.call_tir(cls.k, (x,), out_sinfo=R.Tensor((6,), \"float32\"))
            R.output(y)
        return y
"
    );
    parse_module(&text).unwrap_or_else(|error| panic!("{error}\n{text}"))
}

fn verdict(source: &IrModule, target: &IrModule) -> RefinementVerdict {
    refine(&mut Cx::new(), source, target, "main", &[], &Settings::runs(20)).unwrap().verdict
}

fn is_broken(verdict: &RefinementVerdict) -> bool {
    matches!(verdict, RefinementVerdict::NotAllowed { rule, .. } if *rule == rule!("OPT.DF.NEVER-LESS"))
}

#[test]
fn loops_may_be_run_at_once_where_their_rounds_are_independent() {
    let scan = "for i in range(6):\n    O[i] = X[i]\nfor i in range(5):\n    O[i + 1] = O[i] + O[i + 1]";
    let double = "for i in range(6):\n    O[i] = X[i] * T.float32(2)";
    for kind in ["T.parallel", "T.vectorized"] {
        let at_once = |text: &str| {
            kernel(&text.replace("range(5)", &format!("{kind}(5)")).replace("range(6)", &format!("{kind}(6)")))
        };
        assert!(is_broken(&verdict(&kernel(scan), &at_once(scan))), "{kind}");
        assert_eq!(verdict(&kernel(double), &at_once(double)), RefinementVerdict::Allowed, "{kind}");
    }
}

#[test]
fn what_nothing_here_knows_is_undecided() {
    let double = kernel("for i in range(6):\n    O[i] = X[i] * T.float32(2)");
    let library = kernel("T.evaluate(T.call_extern(\"int32\", \"double_all\", X.data, O.data))");
    for (source, target) in [(&double, &library), (&library, &double)] {
        let RefinementVerdict::Undecided(reason) = verdict(source, target) else { panic!() };
        assert!(reason.contains("does not know") && reason.contains("double_all"), "{reason}");
    }
    // An undefined run is a different case.
    let outside = kernel("for i in range(6):\n    O[i] = X[i + 1] * T.float32(2)");
    assert!(is_broken(&verdict(&double, &outside)));
}

#[test]
fn a_fused_product_and_sum_is_one() {
    let source = kernel("for i in range(6):\n    O[i] = X[i] * X[i] + T.float32(1)");
    let fused = |c: &str| kernel(&format!("for i in range(6):\n    O[i] = T.fma(X[i], X[i], T.float32({c}))"));
    assert_eq!(verdict(&source, &fused("1")), RefinementVerdict::Allowed);
    assert!(matches!(verdict(&source, &fused("2")), RefinementVerdict::NotAllowed { .. }));
}

#[test]
fn assumptions_are_no_more_than_what_holds() {
    let source = kernel("for i in range(6):\n    O[i] = X[i]");
    let assumes = |what: &str| kernel(&format!("T.evaluate(T.assume({what}))\nfor i in range(6):\n    O[i] = X[i]"));
    assert_eq!(verdict(&source, &assumes("X[0] >= X[0] or T.isnan(X[0])")), RefinementVerdict::Allowed);
    assert!(is_broken(&verdict(&source, &assumes("X[0] > X[1]"))));
}

/// `LegalizeOps` turns `take` into an access at the index; the result for a negative index is left open.
#[test]
fn what_the_documentation_leaves_open_is_no_fault() {
    let program = |kernel: &str, value: &str| {
        let text = format!(
            "@I.ir_module
class Module:
    @T.prim_func(private=True)
    def k(X: T.Buffer((6,), \"float32\"), I: T.Buffer((3,), \"int64\"), O: T.Buffer((3,), \"float32\")):
        for i in range(3):
            O[i] = X[{kernel}]

    @R.function
    def main(x: R.Tensor((6,), \"float32\"), i: R.Tensor((3,), \"int64\")) -> R.Object:
        cls = Module
        with R.dataflow():
            y = {value}
            R.output(y)
        return y
"
        );
        parse_module(&text).unwrap_or_else(|error| panic!("{error}\n{text}"))
    };
    let called = "R.call_tir(cls.k, (x, i), out_sinfo=R.Tensor((3,), \"float32\"))";
    let source = program("I[i]", "R.take(x, i, axis=0)");
    assert_eq!(verdict(&source, &program("I[i]", called)), RefinementVerdict::Allowed);
    assert!(matches!(
        verdict(&source, &program("(I[i] + T.int64(1)) % T.int64(6)", called)),
        RefinementVerdict::NotAllowed { .. }
    ));
}

#[test]
fn what_a_session_keeps_changes_no_verdict() {
    let body = |text: &str| format!("        a = {text}\n        return a\n");
    let programs = ["R.add(x, x)", "R.multiply(x, R.const(2, \"float32\"))", "R.add(x, R.abs(x))", "R.add(x, x)"];
    let programs = programs.map(|text| Rc::new(main_of(X, &body(text))));
    let settings = Settings::runs(20);
    let alone = |source: &IrModule, target: &IrModule| {
        refine(&mut Cx::new(), source, target, "main", &[], &Settings::runs(20)).unwrap()
    };
    for pair in programs.windows(2) {
        let [source, target] = pair else { continue };
        pair.iter().for_each(|program| settings.kept.keep(program));
        for _ in 0..2 {
            let kept = refine(&mut Cx::new(), source, target, "main", &[], &settings).unwrap();
            assert_eq!(kept, alone(source, target));
        }
    }
    // The first program and the last three are left at most, and an equal one elsewhere is another one.
    let known = programs.each_ref().map(|program| settings.kept.keeps(program));
    assert_eq!(known, [true, false, true, true]);
    assert!(!settings.kept.keeps(&(*programs[0]).clone()));
}

#[test]
fn what_rounding_in_the_first_program_explains_needs_no_noise_in_a_later_one() {
    let signature = ["x", "y", "z"].map(|name| format!("{name}: R.Tensor((4,), \"float32\")")).join(", ");
    let body = |text: &str| format!("        a = {text}\n        return a\n");
    let sums = ["R.add(R.add(x, y), z)", "R.add(x, R.add(y, z))", "R.add(R.add(x, z), y)"];
    let wrong = "R.add(R.add(x, z), R.multiply(y, R.const(1.001, \"float32\")))";
    let [first, second, third] = sums.map(|text| Rc::new(main_of(&signature, &body(text))));
    let wrong = Rc::new(main_of(&signature, &body(wrong)));
    let found = |settings: &Settings, source: &IrModule, target: &IrModule| {
        refine(&mut Cx::new(), source, target, "main", &[], settings).unwrap()
    };
    let settings = Settings::runs(10);
    [&first, &second, &third].into_iter().for_each(|program| settings.kept.keep(program));
    assert_eq!(found(&settings, &first, &second).verdict, RefinementVerdict::Allowed);
    let (kept, alone) = (found(&settings, &second, &third), found(&Settings::runs(10), &second, &third));
    assert_eq!((&kept.verdict, &alone.verdict), (&RefinementVerdict::Allowed, &RefinementVerdict::Allowed));
    assert!(kept.deviation.is_some() && kept.steps < alone.steps, "{} and {}", kept.steps, alone.steps);
    let verdict = found(&settings, &second, &wrong).verdict;
    assert!(matches!(verdict, RefinementVerdict::NotAllowed { .. }), "{verdict:?}");
}

#[test]
fn what_a_run_writes_into_an_argument_is_not_there_in_the_next_one() {
    let body =
        |text: &str| format!("        a = R.call_packed(\"relax_spec.add_inplace\", x, {text})\n        return a\n");
    let signature = "x: R.Tensor((3,), \"float32\"), y: R.Tensor((3,), \"float32\")";
    let programs = ["y", "R.add(y, R.const(0, \"float32\"))", "x"].map(|text| Rc::new(main_of(signature, &body(text))));
    let settings = Settings::runs(6);
    programs.iter().for_each(|program| settings.kept.keep(program));
    let [source, same, other] = &programs;
    let kept = |target: &IrModule| refine(&mut Cx::new(), source, target, "main", &[], &settings).unwrap().verdict;
    assert_eq!(kept(same), RefinementVerdict::Allowed);
    assert!(matches!(kept(other), RefinementVerdict::NotAllowed { .. }));
    assert_eq!(kept(source), RefinementVerdict::Allowed);
}

#[test]
fn beside_large_weights_the_next_pass_takes_the_same_inputs() {
    let signature = "x: R.Tensor((\"n\", 512), \"float32\"), w: R.Tensor((512, 512), \"float32\")";
    let body = |text: &str| format!("        n = T.int64()\n        a = {text}\n        return a\n");
    let programs = ["R.matmul(x, w)", "R.matmul(x, R.add(w, R.const(0, \"float32\")))", "R.matmul(x, R.abs(w))"];
    let [first, second, wrong] = programs.map(|text| Rc::new(main_of(signature, &body(text))));
    let settings = Settings { steps: 2_500_000, keep: true, ..Settings::runs(20) };
    [&first, &second, &wrong].into_iter().for_each(|program| settings.kept.keep(program));
    let compared = |target: &IrModule| refine(&mut Cx::new(), &first, target, "main", &[], &settings).unwrap();
    let (one, other) = (compared(&second), compared(&wrong));
    assert_eq!(one.verdict, RefinementVerdict::Allowed);
    // They are the same ones, not merely equal.
    let weights =
        |refinement: &Refinement| refinement.inputs.first().and_then(|input| input.last()?.as_tensor().cloned());
    assert!(Arc::ptr_eq(&weights(&one).unwrap().bytes, &weights(&other).unwrap().bytes));
    assert!(matches!(other.verdict, RefinementVerdict::NotAllowed { .. }), "{:?}", other.verdict);
}
