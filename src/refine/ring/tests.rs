use super::RealVerdict;
use crate::grammar::IrModule;
use crate::judge::Cx;
use crate::refine::{RefinementVerdict, Settings, as_real_functions, refine};
use crate::syntax::tvmscript::parse_module;

const XY: &str = "x: R.Tensor((2, 3), \"float32\"), y: R.Tensor((2, 3), \"float32\")";

/// A function that returns an expression.
fn returning(signature: &str, expr: &str) -> IrModule {
    let text = format!(
        "@I.ir_module\nclass Module:\n    @R.function\n    def main({signature}) -> R.Object:\n        return {expr}\n"
    );
    parse_module(&text).unwrap_or_else(|error| panic!("{error}\n{text}"))
}

fn real(source: &IrModule, target: &IrModule) -> RealVerdict {
    as_real_functions(&mut Cx::new(), source, target, "main", &[], &Settings::runs(5)).unwrap()
}

fn of(source: &str, target: &str) -> RealVerdict {
    real(&returning(XY, source), &returning(XY, target))
}

/// A kernel on a matrix, and `main`, which calls it.
fn kernel(body: &str) -> IrModule {
    let body: String = body.lines().map(|line| format!("        {line}\n")).collect();
    let text = format!(
        "@I.ir_module
class Module:
    @T.prim_func
    def f(x: T.Buffer((2, 3), \"float32\"), out: T.Buffer((2, 3), \"float32\")):
{body}
    @R.function
    def main(x: R.Tensor((2, 3), \"float32\")) -> R.Tensor((2, 3), \"float32\"):
        y = R.call_tir(Module.f, (x,), out_sinfo=R.Tensor((2, 3), \"float32\"))
        return y
"
    );
    parse_module(&text).unwrap_or_else(|error| panic!("{error}\n{text}"))
}

#[test]
fn what_is_equal_by_algebra_is_equal() {
    for (source, target) in [
        ("R.add(R.add(x, y), x)", "R.add(R.multiply(x, R.const(2.0, \"float32\")), y)"),
        // A boxed integer is observed as a number.
        ("(x, R.prim_value(T.uint64(3)))", "(x, R.prim_value(T.int64(3)))"),
        ("R.divide(x, y)", "R.multiply(x, R.divide(R.const(1.0, \"float32\"), y))"),
        ("R.exp(R.add(x, y))", "R.multiply(R.exp(x), R.exp(y))"),
        ("R.nn.silu(x)", "R.multiply(x, R.sigmoid(x))"),
        ("R.nn.relu(x)", "R.maximum(R.const(0.0, \"float32\"), x)"),
        ("R.maximum(R.negative(x), R.negative(y))", "R.negative(R.minimum(y, x))"),
        ("R.matmul(x, R.permute_dims(y))", "R.permute_dims(R.matmul(y, R.permute_dims(x)))"),
        ("R.sum(x, axis=[1])", "R.multiply(R.mean(x, axis=[1]), R.const(3.0, \"float32\"))"),
        ("R.nn.softmax(x)", "R.divide(R.exp(x), R.sum(R.exp(x), axis=[1], keepdims=True))"),
        ("R.nn.log_softmax(x)", "R.subtract(x, R.log(R.sum(R.exp(x), axis=[1], keepdims=True)))"),
        ("R.log(R.exp(x))", "x"),
        ("R.rsqrt(x)", "R.divide(R.const(1.0, \"float32\"), R.sqrt(x))"),
        ("R.less(x, y)", "R.less(R.add(x, x), R.add(y, y))"),
        ("R.where(R.less(x, y), x, y)", "R.minimum(x, y)"),
        ("R.tanh(R.negative(x))", "R.negative(R.tanh(x))"),
        ("R.power(x, R.const(2.0, \"float32\"))", "R.square(x)"),
        ("R.inspect.tensor_dtype_bits(x)", "R.prim_value(T.uint8(32))"),
    ] {
        let verdict = of(source, target);
        assert_eq!(verdict, RealVerdict::Equal { draws: 5 }, "{source} {target}");
        assert_eq!(verdict.error_bits(), Some(60));
    }
}

#[test]
fn what_is_another_function_is_different() {
    for (source, target) in [
        ("R.add(x, y)", "R.subtract(x, y)"),
        ("R.nn.relu(x)", "x"),
        ("R.nn.softmax(x)", "R.nn.softmax(R.multiply(x, R.const(1.01, \"float32\")))"),
        ("x", "R.multiply(x, R.const(1.0000001192092896, \"float32\"))"),
        ("R.mean(x)", "R.divide(R.sum(x), R.const(7.0, \"float32\"))"),
        (
            "R.rsqrt(R.add(R.square(x), R.const(1e-05, \"float32\")))",
            "R.rsqrt(R.add(R.square(x), R.const(0.1, \"float32\")))",
        ),
        ("R.less(x, y)", "R.greater(x, y)"),
        ("R.less(x, y)", "R.less_equal(x, y)"),
        ("R.equal(x, y)", "R.less(R.add(x, x), R.add(x, x))"),
        ("R.tanh(x)", "R.tanh(y)"),
    ] {
        assert!(
            matches!(of(source, target), RealVerdict::Different { .. }),
            "{source} {target} {}",
            of(source, target)
        );
    }
}

/// Normalizations of `x`, with the parameters `g`, `b`, `m`, `v`, and what they are by sums, quotients and roots.
const NORMS: [(&str, &str); 6] = [
    (
        "R.nn.rms_norm(x, g, axes=[-1], epsilon=0.01)",
        "R.multiply(R.divide(x, R.sqrt(R.add(R.divide(R.sum(R.multiply(x, x), axis=[1], keepdims=True), \
         R.const(3.0, \"float32\")), R.const(0.01, \"float32\")))), g)",
    ),
    (
        "R.nn.layer_norm(x, g, b, axes=[-1], epsilon=0.01)",
        "R.add(R.multiply(R.multiply(R.subtract(x, R.mean(x, axis=[1], keepdims=True)), R.rsqrt(R.add(R.variance(x, \
         axis=[1], keepdims=True), R.const(0.01, \"float32\")))), g), b)",
    ),
    (
        "R.nn.layer_norm(x, g, b, axes=[-1], epsilon=0.01, scale=False, center=False)",
        "R.divide(R.subtract(x, R.mean(x, axis=[1], keepdims=True)), R.sqrt(R.add(R.variance(x, axis=[1], \
         keepdims=True), R.const(0.01, \"float32\"))))",
    ),
    (
        "R.nn.batch_norm(x, g, b, m, v, axis=1, epsilon=0.01, training=False)[0]",
        "R.add(R.multiply(x, R.divide(g, R.sqrt(R.add(v, R.const(0.01, \"float32\"))))), R.subtract(b, R.divide(\
         R.multiply(m, g), R.sqrt(R.add(v, R.const(0.01, \"float32\"))))))",
    ),
    (
        "R.nn.batch_norm(x, g, b, m, v, axis=1, momentum=0.25)[2]",
        "R.add(R.multiply(v, R.const(0.25, \"float32\")), R.multiply(R.variance(x, axis=[0]), R.const(0.75, \
         \"float32\")))",
    ),
    (
        "R.nn.group_norm(R.reshape(x, (1, 2, 3)), R.const([1.0, 1.0], \"float32\"), R.const([0.0, 0.0], \"float32\"), \
         num_groups=2, channel_axis=1, axes=[2])",
        "R.nn.instance_norm(R.reshape(x, (1, 2, 3)), R.const([1.0, 1.0], \"float32\"), R.const([0.0, 0.0], \
         \"float32\"), channel_axis=1, axes=[2])",
    ),
];

#[test]
fn normalizations_are_what_their_clauses_say() {
    let parameters = ["g", "b", "m", "v"].map(|name| format!(", {name}: R.Tensor((3,), \"float32\")")).concat();
    let of = |source: &str, target: &str| {
        let signature = format!("x: R.Tensor((2, 3), \"float32\"){parameters}");
        real(&returning(&signature, source), &returning(&signature, target))
    };
    for (norm, by_clause) in NORMS {
        assert_eq!(of(norm, by_clause), RealVerdict::Equal { draws: 5 }, "{norm}");
        assert_eq!(of(norm, norm), RealVerdict::Equal { draws: 5 }, "{norm}");
        for (right, wrong) in
            [("0.01", "0.02"), ("scale=False", "scale=True"), ("0.25", "0.2"), ("axes=[2]", "axes=[0]")]
        {
            let mistaken = norm.replace(right, wrong);
            if mistaken != norm {
                let verdict = of(&mistaken, norm);
                assert!(matches!(verdict, RealVerdict::Different { .. }), "{mistaken}: {verdict}");
            }
        }
    }
}

#[test]
fn a_rounded_constant_is_told_from_another_one() {
    let third = |x: &str| of("R.divide(x, R.const(3.0, \"float32\"))", x);
    let rounded = third("R.multiply(x, R.const(0.3333333432674408, \"float32\"))");
    assert_eq!(rounded, RealVerdict::RoundedConstants { draws: 5 });
    assert!(matches!(third("R.multiply(x, R.const(0.33333337306976318, \"float32\"))"), RealVerdict::Different { .. }));
}

/// REFINE.RING.FOLDED: in float16 there are simpler fractions than 0.044715 that round to the same float.
#[test]
fn a_constant_of_few_digits_says_little_beside_functions_without_algebra() {
    let lowered = |dtype: &str, third: &str, scale: &str| {
        let constant = |x: &str| format!("R.const({x}, \"{dtype}\")");
        let cube = format!("R.multiply(R.multiply(x, x), {})", constant(third));
        let inner = format!(
            "R.multiply(R.multiply(x, {}), R.add({}, {cube}))",
            constant("0.7978845608028654"),
            constant("1.0")
        );
        let gelu =
            format!("R.multiply(R.multiply(x, {}), R.add({}, R.tanh({inner})))", constant(scale), constant("1.0"));
        let signature = format!("x: R.Tensor((3,), \"{dtype}\")");
        real(&returning(&signature, "R.nn.gelu_tanh(x)"), &returning(&signature, &gelu))
    };
    assert!(matches!(lowered("float16", "0.044715", "0.5"), RealVerdict::Undecided(_)));
    assert!(matches!(lowered("float32", "0.044715", "0.5"), RealVerdict::Undecided(_)));
    // More than any rounding of constants, and what float32 tells.
    assert!(matches!(lowered("float16", "0.044715", "0.6"), RealVerdict::Different { .. }));
    assert!(matches!(lowered("float32", "0.0447", "0.5"), RealVerdict::Different { .. }));
}

#[test]
fn what_the_ring_does_not_know_it_says() {
    let undecided = |source, target| match of(source, target) {
        RealVerdict::Undecided(reason) => reason,
        other => panic!("{other}"),
    };
    let roots = undecided("R.sqrt(R.multiply(R.exp(x), R.exp(y)))", "R.multiply(R.sqrt(R.exp(x)), R.sqrt(R.exp(y)))");
    assert!(roots.contains("functions without algebra"), "{roots}");
    let [source, folded] = [
        "R.multiply(x, R.add(R.const(0.123456789, \"float32\"), R.const(0.7654321, \"float32\")))",
        "R.multiply(x, R.const(0.88888885, \"float32\"))",
    ];
    assert!(undecided(source, folded).contains("constants are computed in floats"));
}

const SOFTMAX: &str = "largest = T.alloc_buffer((1,))
total = T.alloc_buffer((1,))
for i in range(2):
    largest[0] = T.min_value(\"float32\")
    total[0] = T.float32(0)
    for j in range(3):
        largest[0] = T.max(largest[0], x[i, j])
    for j in range(3):
        total[0] = total[0] + T.exp(x[i, j] - largest[0])
    for j in range(3):
        out[i, j] = T.exp(x[i, j] - largest[0]) / total[0]";

#[test]
fn kernels_are_compared_with_operators() {
    let softmax = kernel(SOFTMAX);
    let operator = returning("x: R.Tensor((2, 3), \"float32\")", "R.nn.softmax(x)");
    assert_eq!(real(&operator, &softmax), RealVerdict::Equal { draws: 5 });
    for (place, other) in [
        ("x[i, j] - largest[0]", "x[i, j] - largest[0] * T.float32(0.5)"),
        ("/ total[0]", "/ total[0] + T.float32(0.001)"),
        ("total[0] + T.exp", "total[0] - T.exp"),
        ("largest[0])\n    for", "largest[0] + T.float32(1))\n    for"),
    ] {
        let mutant = SOFTMAX.replacen(place, other, 1);
        assert_ne!(mutant, SOFTMAX);
        assert!(matches!(real(&operator, &kernel(&mutant)), RealVerdict::Different { .. }), "{mutant}");
    }
}

/// REFINE.REAL: within rounding another function is not allowed, and another rounding of a constant is.
#[test]
fn another_function_within_rounding_is_not_allowed() {
    let scaled = |expr: &str| {
        let [source, target] = ["R.divide(x, R.const(3.0, \"float32\"))", expr].map(|expr| returning(XY, expr));
        refine(&mut Cx::new(), &source, &target, "main", &[], &Settings::runs(20)).unwrap()
    };
    let rounded = scaled("R.multiply(x, R.const(0.3333333432674408, \"float32\"))");
    assert_eq!((rounded.verdict, rounded.within_rounding), (RefinementVerdict::Allowed, Some(true)));
    let other = scaled("R.divide(x, R.const(3.0000002384185791, \"float32\"))");
    assert_eq!(other.within_rounding, Some(true));
    assert!(matches!(other.verdict, RefinementVerdict::NotAllowed { rule, .. } if rule == rule!("REFINE.REAL")));
}
