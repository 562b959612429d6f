//! Compares the elementary operators of Relax and of TIR with their formulas.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use rayon::prelude::*;
use relax_spec::grammar::DataType;
use relax_spec::number::FloatType;
use relax_spec::value::Scalar;

use super::points::{Random, draw, finite};
use super::precise::{Precise, distance};
use super::{FLOATS, line, run, shaped};

/// The maximum distance of the reference from the formula, in units in the last place.
const ALLOWED: f64 = 2.0;

/// The form of a call of an operator.
#[derive(Clone, Copy)]
enum Form {
    /// With this many tensors.
    Relax(usize),
    /// With this many elements.
    Tir(usize),
    /// With one tensor and these attributes.
    Attributes(f64, f64),
    /// With lines of four elements.
    Lines,
}

/// The operators of the class `Elementary`, and the functions of TIR, each with its notation and its formula.
const OPERATORS: &[(&str, &str, Form)] = &[
    ("R.acos", "acos", Form::Relax(1)),
    ("R.acosh", "acosh", Form::Relax(1)),
    ("R.asin", "asin", Form::Relax(1)),
    ("R.asinh", "asinh", Form::Relax(1)),
    ("R.atan", "atan", Form::Relax(1)),
    ("R.atan2", "atan2", Form::Relax(2)),
    ("R.atanh", "atanh", Form::Relax(1)),
    ("R.cos", "cos", Form::Relax(1)),
    ("R.cosh", "cosh", Form::Relax(1)),
    ("R.erf", "erf", Form::Relax(1)),
    ("R.exp", "exp", Form::Relax(1)),
    ("R.log", "log", Form::Relax(1)),
    ("R.log_add_exp", "log_add_exp", Form::Relax(2)),
    ("R.power", "power", Form::Relax(2)),
    ("R.rsqrt", "rsqrt", Form::Relax(1)),
    ("R.sigmoid", "sigmoid", Form::Relax(1)),
    ("R.sin", "sin", Form::Relax(1)),
    ("R.sinh", "sinh", Form::Relax(1)),
    ("R.sqrt", "sqrt", Form::Relax(1)),
    ("R.tan", "tan", Form::Relax(1)),
    ("R.tanh", "tanh", Form::Relax(1)),
    ("R.nn.gelu", "gelu", Form::Relax(1)),
    ("R.nn.gelu_tanh", "gelu_tanh", Form::Relax(1)),
    ("R.nn.log_softmax", "log_softmax", Form::Lines),
    ("R.nn.selu", "selu", Form::Relax(1)),
    ("R.nn.silu", "silu", Form::Relax(1)),
    ("R.nn.softmax", "softmax", Form::Lines),
    ("R.nn.softplus", "softplus", Form::Attributes(1.0, 20.0)),
    ("R.nn.softplus", "softplus", Form::Attributes(0.3, 50.0)),
    ("T.acos", "acos", Form::Tir(1)),
    ("T.acosh", "acosh", Form::Tir(1)),
    ("T.asin", "asin", Form::Tir(1)),
    ("T.asinh", "asinh", Form::Tir(1)),
    ("T.atan", "atan", Form::Tir(1)),
    ("T.atan2", "atan2", Form::Tir(2)),
    ("T.atanh", "atanh", Form::Tir(1)),
    ("T.cos", "cos", Form::Tir(1)),
    ("T.cosh", "cosh", Form::Tir(1)),
    ("T.erf", "erf", Form::Tir(1)),
    ("T.exp", "exp", Form::Tir(1)),
    ("T.exp10", "exp10", Form::Tir(1)),
    ("T.exp2", "exp2", Form::Tir(1)),
    ("T.hypot", "hypot", Form::Tir(2)),
    ("T.log", "log", Form::Tir(1)),
    ("T.log10", "log10", Form::Tir(1)),
    ("T.log1p", "log1p", Form::Tir(1)),
    ("T.log2", "log2", Form::Tir(1)),
    ("T.pow", "power", Form::Tir(2)),
    ("T.rsqrt", "rsqrt", Form::Tir(1)),
    ("T.sigmoid", "sigmoid", Form::Tir(1)),
    ("T.sin", "sin", Form::Tir(1)),
    ("T.sinh", "sinh", Form::Tir(1)),
    ("T.sqrt", "sqrt", Form::Tir(1)),
    ("T.tan", "tan", Form::Tir(1)),
    ("T.tanh", "tanh", Form::Tir(1)),
];

/// Argument tuples of a function for this many results. A line has a result for each of its elements.
fn arguments(form: Form, formula: &str, float: FloatType, random: &mut Random, count: usize) -> Vec<Vec<f64>> {
    let tuple = |random: &mut Random| {
        let x = draw(random, float);
        let other = match random.below(4) {
            0 => -x,
            1 => float.round(x * (1.0 + random.unit() / 1000.0)),
            _ => draw(random, float),
        };
        match form {
            Form::Relax(1) | Form::Tir(1) | Form::Attributes(..) => vec![x],
            Form::Relax(_) | Form::Tir(_) if formula == "power" && random.below(3) > 0 => vec![x.abs(), other],
            Form::Relax(_) | Form::Tir(_) => vec![x, other],
            Form::Lines => vec![x, other, draw(random, float), draw(random, float)],
        }
    };
    let tuples = std::iter::repeat_with(|| tuple(random)).filter(|tuple| tuple.iter().all(|x| x.is_finite()));
    tuples.take(if matches!(form, Form::Lines) { count.div_ceil(4) } else { count }).collect()
}

/// The results of an operator for tuples of arguments; for a line, all elements of its result.
fn computed(name: &str, form: Form, dtype: DataType, tuples: &[Vec<f64>]) -> Vec<f64> {
    let count = tuples.len();
    let column = |i: usize| line(dtype, &tuples.iter().map(|tuple| Scalar::Float(tuple[i])).collect::<Vec<_>>());
    let found = match form {
        Form::Relax(1) => run(
            &format!("@R.function\ndef main(x: R.Tensor(({count},), '{dtype}')):\n    return {name}(x)\n"),
            &[column(0)],
        ),
        Form::Relax(_) => run(
            &format!(
                "@R.function\ndef main(x: R.Tensor(({count},), '{dtype}'), y: R.Tensor(({count},), '{dtype}')):\n    \
                 return {name}(x, y)\n"
            ),
            &[column(0), column(1)],
        ),
        Form::Attributes(beta, threshold) => run(
            &format!(
                "@R.function\ndef main(x: R.Tensor(({count},), '{dtype}')):\n    \
                 return {name}(x, beta={beta:?}, threshold={threshold:?})\n"
            ),
            &[column(0)],
        ),
        Form::Lines => {
            let elements: Vec<Scalar> = tuples.iter().flatten().copied().map(Scalar::Float).collect();
            run(
                &format!(
                    "@R.function\ndef main(x: R.Tensor(({count}, 4), '{dtype}')):\n    return {name}(x, axis=-1)\n"
                ),
                &[shaped(dtype, &[count as i64, 4], &elements)],
            )
        }
        Form::Tir(arity) => {
            let other = if arity == 1 { column(0) } else { column(1) };
            let call = if arity == 1 { "x[vi]" } else { "x[vi], y[vi]" };
            let program = format!(
                "@I.ir_module
class Module:
    @T.prim_func
    def f(x: T.Buffer(({count},), '{dtype}'), y: T.Buffer(({count},), '{dtype}'), z: T.Buffer(({count},), '{dtype}')):
        for i in range({count}):
            with T.block('b'):
                vi = T.axis.spatial({count}, i)
                z[vi] = {name}({call})

    @R.function
    def main(x: R.Tensor(({count},), '{dtype}'), y: R.Tensor(({count},), '{dtype}')):
        cls = Module
        return R.call_tir(cls.f, (x, y), out_sinfo=R.Tensor(({count},), '{dtype}'))
"
            );
            run(&program, &[column(0), other])
        }
    };
    let float = |x| if let Scalar::Float(x) = x { x } else { panic!("{x:?} is no float") };
    found.into_iter().map(float).collect()
}

/// The maximum distance of the results from the formula, with the arguments.
fn worst(formula: &str, form: Form, float: FloatType, tuples: &[Vec<f64>], found: &[f64]) -> (f64, Vec<f64>) {
    let mut precise = Precise::new();
    let mut worst = (0.0, vec![]);
    let mut see = |found: f64, arguments: &[f64]| {
        let distance = distance(float, found, &precise.of(formula, arguments));
        if distance > worst.0 || distance.is_nan() {
            worst = (distance, arguments.to_vec());
        }
    };
    match form {
        Form::Relax(_) | Form::Tir(_) => tuples.iter().zip(found).for_each(|(tuple, y)| see(*y, tuple)),
        Form::Attributes(beta, threshold) => {
            tuples.iter().zip(found).for_each(|(tuple, y)| see(*y, &[tuple[0], beta, threshold]));
        }
        Form::Lines => {
            for (tuple, results) in tuples.iter().zip(found.chunks(4)) {
                for (i, y) in results.iter().enumerate() {
                    let mut own_first = tuple.clone();
                    own_first.swap(0, i);
                    see(*y, &own_first);
                }
            }
        }
    }
    worst
}

/// The maximum distance over this many points, in each datatype.
fn measured(seed: u64, name: &str, formula: &str, form: Form, count: usize, whole: bool) -> [f64; 4] {
    FLOATS.map(|dtype| {
        let float = dtype.float_type().expect("a float");
        let tuples = if whole && float.width() == 16 && matches!(form, Form::Relax(1) | Form::Tir(1)) {
            let sizes = (0..finite(float)).map(|bits| float.of_bits(bits));
            sizes.flat_map(|x| [vec![x], vec![-x]]).collect()
        } else {
            arguments(form, formula, float, &mut Random(seed), count)
        };
        let parts: Vec<(f64, Vec<f64>)> = tuples
            .par_chunks(2000)
            .map(|tuples| worst(formula, form, float, tuples, &computed(name, form, dtype, tuples)))
            .collect();
        let (distance, at) = parts.into_iter().max_by(|a, b| a.0.total_cmp(&b.0)).expect("points");
        assert!(distance <= ALLOWED, "{name} of {dtype} is {distance} units off at {at:?}");
        distance
    })
}

#[test]
fn every_elementary_operator_is_within_two_units_of_its_formula() {
    OPERATORS.par_iter().for_each(|(name, formula, form)| {
        measured(23, name, formula, *form, 300, false);
    });
}

/// Whether a function of TIR has the formula of an operator of Relax. The table lists it once.
fn repeats(name: &str, formula: &str) -> bool {
    name.starts_with("T.") && OPERATORS.iter().any(|(other, same, _)| other.starts_with("R.") && *same == formula)
}

/// The page of the book with the table.
fn page() -> String {
    let path = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../..")).join("spec/src/ops/numbers.md");
    fs::read_to_string(path).expect("the page on numbers")
}

#[test]
fn the_table_in_the_book_has_every_elementary_operator() {
    let page = page();
    let elementary = relax_spec::ops::all().filter(|op| op.accuracy == relax_spec::ops::Accuracy::Elementary);
    for op in elementary {
        let written = op.name.replacen("relax.", "R.", 1);
        assert!(OPERATORS.iter().any(|(name, ..)| *name == written), "{written} is not measured");
    }
    for (name, ..) in OPERATORS.iter().filter(|(name, formula, _)| !repeats(name, formula)) {
        let row = page.lines().find(|row| row.starts_with(&format!("| `{name}` |")));
        let row = row.unwrap_or_else(|| panic!("{name} has no row in the table of the book"));
        let cells: Vec<f64> = row.split('|').filter_map(|cell| cell.trim().parse().ok()).collect();
        assert!(cells.len() == 4 && cells.iter().all(|cell| *cell <= ALLOWED), "{row}");
    }
}

/// Prints the rows of the table. `POINTS` sets the number of points for each function and datatype (default: a
/// million). `FROM` and `TO` select rows.
#[test]
#[ignore = "long: a million points for each function and datatype, and all of 16 bits"]
fn a_million_points_of_every_elementary_operator() {
    let number = |name: &str, otherwise| std::env::var(name).map_or(otherwise, |text| text.parse().expect("a number"));
    let (count, from, to) = (number("POINTS", 1_000_000), number("FROM", 0), number("TO", usize::MAX));
    let tabulated = OPERATORS.iter().filter(|(name, formula, _)| !repeats(name, formula));
    for (name, formula, form) in tabulated.take(to).skip(from) {
        let worst = measured(1, name, formula, *form, count, true);
        let cells = worst.iter().fold(String::new(), |mut cells, x| {
            write!(cells, " {x:.3} |").expect("a string");
            cells
        });
        println!("| `{name}` |{cells}");
    }
}
