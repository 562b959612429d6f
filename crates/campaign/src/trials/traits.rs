//! Properties of a reduced program that distinguish it from others with the same operators.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use relax_spec::check::check_program;
use relax_spec::findings::Diagnostic;
use relax_spec::grammar::visit::{
    Visitor, walk_call, walk_expr, walk_match_cast, walk_module, walk_prim_expr, walk_struct_info,
};
use relax_spec::grammar::{Call, Expr, Function, IrModule, MatchCast, PrimExpr, ShapeVar, StructInfo, TensorData};
use relax_spec::judge::Cx;
use relax_spec::refine::EDITION_OF_PRIM_FUNCS;
use relax_spec::rule;
use relax_spec::value::{Scalar, Tensor, ValueSpec};

named! {
/// A property of a reduced program.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Trait {
    /// It holds a constant.
    Constant = "constant",
    /// It was run on a tensor without elements.
    Empty = "empty",
    /// It was run on a NaN.
    Nan = "nan",
    /// It has a tensor of integers among its arguments and constants.
    Integers = "integers",
    /// One of its integers is negative.
    Negative = "negative",
    /// It was run on a float below zero.
    BelowZero = "below_zero",
    /// It was run on a vector whose elements are not in ascending order.
    Unsorted = "unsorted",
    /// The magnitude of one of its integers is over 2^53.
    Wide = "wide",
    /// A dimension is a variable.
    Symbolic = "symbolic",
    /// The expected and the returned tensors differ in data type or shape.
    Form = "form",
    /// The expected and the returned numbers differ by at most a hundredth.
    Slight = "slight",
    /// It holds a boxed scalar.
    Scalar = "scalar",
    /// An annotation says the value of a boxed scalar.
    ScalarType = "scalar_type",
    /// An annotation says more than is derived of what it annotates, of which `check` warns.
    Warned = "warned",
    /// It holds a sequence that is neither a body nor a branch.
    Nested = "nested",
    /// The difference occurs on the usual path, and not without optimizations: passes of the usual pipeline are to
    /// blame.
    Planned = "planned",
    /// The difference occurs on neither of these two paths: something that only its own path does is to blame.
    OfPath = "of_path",
}
}

/// Names listed among the operators of a program that are not operators.
pub(super) const CONSTRUCTS: [&str; 2] = [IF, CAST];
const IF: &str = "if";
const CAST: &str = "match_cast";

/// The operators and packed functions that a program calls. The list includes `if` and `match_cast` where the program
/// has one, because errors in planning memory for these do not depend on the calls.
pub fn operators(module: &IrModule) -> Vec<String> {
    struct OperatorNames(BTreeSet<String>);
    impl Visitor for OperatorNames {
        fn visit_expr(&mut self, expr: &Expr) {
            if let Expr::Op(op) = expr {
                self.0.insert(op.op_name.to_string());
            }
            if let Expr::ExternFunc(packed) = expr {
                self.0.insert(packed.global_symbol.to_string());
            }
            if let Expr::If(_) = expr {
                self.0.insert(IF.to_string());
            }
            walk_expr(self, expr);
        }

        fn visit_match_cast(&mut self, cast: &MatchCast) {
            self.0.insert(CAST.to_string());
            walk_match_cast(self, cast);
        }
    }
    let mut operators = OperatorNames(BTreeSet::new());
    walk_module(&mut operators, module);
    operators.0.into_iter().collect()
}

/// The traits that the program and its input show.
pub(super) fn visible(module: &IrModule, input: Option<&[ValueSpec]>) -> BTreeSet<Trait> {
    let mut traits = written(module);
    traits.extend(is_warned_of(module).then_some(Trait::Warned));
    for part in input.unwrap_or_default().iter().flat_map(ValueSpec::parts) {
        if let ValueSpec::Tensor(data) = part {
            traits.extend(of_input(data));
        } else if let ValueSpec::Int(value) = part {
            traits.extend(of_integer(i128::from(*value)));
        }
    }
    traits
}

/// SI.DERIVE.VB.ANNOT.WARN: whether an annotation says more than is derived.
fn is_warned_of(module: &IrModule) -> bool {
    let mut cx = Cx::new().with_edition(EDITION_OF_PRIM_FUNCS);
    let warns = |found: &Diagnostic| found.rule == rule!("SI.DERIVE.VB.ANNOT.WARN");
    check_program(&mut cx, module).diagnostics.iter().any(warns)
}

/// The attributes of the calls of a program, each as `name=value`.
pub(super) fn attributes(module: &IrModule) -> BTreeSet<String> {
    struct Attributes(BTreeSet<String>);
    impl Visitor for Attributes {
        fn visit_call(&mut self, call: &Call) {
            self.0.extend(call.attrs.iter().map(|(name, value)| format!("{name}={value}")));
            walk_call(self, call);
        }
    }
    let mut attributes = Attributes(BTreeSet::new());
    walk_module(&mut attributes, module);
    attributes.0
}

/// The text of the returned value alone: the arguments and the effects of a run follow it.
fn returned(text: &str) -> &str {
    [", arguments [", ", effects ["].iter().filter_map(|word| text.find(word)).min().map_or(text, |end| &text[..end])
}

/// The trait that the texts of two returned values show.
pub(super) fn of_difference(expected: &str, given: &str) -> Option<Trait> {
    let (expected, given) = (returned(expected), returned(given));
    let form = |text: &str| text.split('[').next().unwrap_or_default().trim().to_string();
    if form(expected) != form(given) {
        // A failure has no data type or shape.
        return (expected.contains('[') && given.contains('[')).then_some(Trait::Form);
    }
    let numbers = |text: &str| {
        let words = text.split(|c: char| !(c.is_ascii_alphanumeric() || "+-.".contains(c)));
        words.filter_map(|word| word.parse().ok()).collect::<Vec<f64>>()
    };
    let (expected, given) = (numbers(expected), numbers(given));
    let near = |(a, b): (&f64, &f64)| a == b || (a - b).abs() <= (1.0 + a.abs()) / 100.0;
    let is_slight = !expected.is_empty() && expected.len() == given.len() && expected.iter().zip(&given).all(near);
    is_slight.then_some(Trait::Slight)
}

fn scalars(data: &TensorData) -> Vec<Scalar> {
    let Ok(tensor) = Tensor::from_data(data) else { return Vec::new() };
    (0..tensor.len()).filter_map(|i| tensor.get(i)).collect()
}

/// What the elements of a tensor tell that is an input.
fn of_input(data: &TensorData) -> BTreeSet<Trait> {
    let scalars = scalars(data);
    let number = |scalar: &Scalar| match scalar {
        Scalar::Float(value) => Some(*value),
        Scalar::Int(value) => Some(*value as f64),
        Scalar::UInt(value) => Some(*value as f64),
        Scalar::Bool(_) | Scalar::Ring(_) => None,
    };
    let numbers: Vec<f64> = scalars.iter().filter_map(number).collect();
    let is_unsorted = data.shape.len() == 1 && numbers.windows(2).any(|pair| pair.first() > pair.last());
    let seen = [
        (data.shape.contains(&0), Trait::Empty),
        (numbers.iter().any(|x| x.is_nan()), Trait::Nan),
        (is_unsorted, Trait::Unsorted),
        (data.dtype.is_float() && numbers.iter().any(|x| *x < 0.0), Trait::BelowZero),
    ];
    of_integers(&scalars).chain(seen.into_iter().filter(|(is_so, _)| *is_so).map(|(_, own)| own)).collect()
}

fn of_integers(scalars: &[Scalar]) -> impl Iterator<Item = Trait> {
    let integer = |scalar: &Scalar| match scalar {
        Scalar::Int(value) => Some(i128::from(*value)),
        Scalar::UInt(value) => Some(i128::from(*value)),
        Scalar::Bool(_) | Scalar::Float(_) | Scalar::Ring(_) => None,
    };
    scalars.iter().filter_map(integer).flat_map(|value| of_integer(value).chain([Trait::Integers]))
}

fn of_integer(value: i128) -> impl Iterator<Item = Trait> {
    let wide = (value.unsigned_abs() > 1 << 53).then_some(Trait::Wide);
    (value < 0).then_some(Trait::Negative).into_iter().chain(wide)
}

fn written(module: &IrModule) -> BTreeSet<Trait> {
    struct ProgramTraits(BTreeSet<Trait>);
    impl ProgramTraits {
        /// A body or a branch, which may be a sequence.
        fn whole(&mut self, body: &Expr) {
            if let Expr::SeqExpr(seq) = body { self.visit_seq_expr(seq) } else { self.visit_expr(body) }
        }
    }
    impl Visitor for ProgramTraits {
        fn visit_function(&mut self, function: &Function) {
            self.whole(&function.body);
        }

        fn visit_expr(&mut self, expr: &Expr) {
            if let Expr::If(branch) = expr {
                self.visit_expr(&branch.cond);
                self.whole(&branch.true_branch);
                self.whole(&branch.false_branch);
                return;
            }
            if let Expr::Constant(constant) = expr {
                self.0.insert(Trait::Constant);
                self.0.extend(of_integers(&scalars(&constant.data)));
            }
            self.0.extend(matches!(expr, Expr::PrimValue(_)).then_some(Trait::Scalar));
            self.0.extend(matches!(expr, Expr::SeqExpr(_)).then_some(Trait::Nested));
            walk_expr(self, expr);
        }

        fn visit_prim_expr(&mut self, expr: &PrimExpr) {
            if let PrimExpr::IntImm(value) = expr {
                self.0.extend(of_integer(i128::from(*value)));
            }
            walk_prim_expr(self, expr);
        }

        fn visit_shape_var(&mut self, _: &ShapeVar) {
            self.0.insert(Trait::Symbolic);
        }
    }
    /// Also visits the annotations of parameters and results.
    struct ScalarTypes(bool);
    impl Visitor for ScalarTypes {
        fn visit_struct_info(&mut self, info: &StructInfo) {
            self.0 |= matches!(info, StructInfo::Prim(prim) if prim.value.is_some());
            walk_struct_info(self, info);
        }
    }
    let (mut parts, mut types) = (ProgramTraits(BTreeSet::new()), ScalarTypes(false));
    walk_module(&mut parts, module);
    walk_module(&mut types, module);
    parts.0.extend(types.0.then_some(Trait::ScalarType));
    parts.0
}

#[cfg(test)]
mod tests {
    use super::*;
    use relax_spec::grammar::DataType;
    use relax_spec::syntax::tvmscript::parse_module;

    fn traits(body: &str) -> BTreeSet<Trait> {
        let text = format!("@R.function\ndef main(x: R.Tensor((2,), \"float32\"), c: R.Tensor((), \"bool\")):\n{body}");
        visible(&parse_module(&text).unwrap(), None)
    }

    #[test]
    fn bodies_and_branches_are_not_nested() {
        let choice =
            "    if c:\n        a = R.add(x, x)\n        y = R.add(a, a)\n    else:\n        y = x\n    return y\n";
        assert_eq!(traits(choice), BTreeSet::new());
        let local = "    @R.function\n    def f(z: R.Tensor((2,), \"float32\")):\n        \
            w = R.add(z, z)\n        return w\n    y = f(x)\n    return y\n";
        assert_eq!(traits(local), BTreeSet::new());
        let operand = "    with R.SeqExpr():\n        a = R.add(x, R.const(1.0, \"float32\"))\n        \
            b = a\n    y = R.add(b, R.prim_value(T.float32(1)))\n    return y\n";
        assert_eq!(traits(operand), BTreeSet::from([Trait::Constant, Trait::Scalar, Trait::Nested]));
    }

    #[test]
    fn a_difference_is_of_the_form_or_slight_or_neither() {
        assert_eq!(of_difference("float32(2)[1, 1]", "float32(3)[1, 1, 1]"), Some(Trait::Form));
        assert_eq!(of_difference("float32(2)[1, 1]", "float32(2)[1, 0.99999]"), Some(Trait::Slight));
        assert_eq!(of_difference("float32(2)[1, 1]", "float32(2)[1, 2]"), None);
        assert_eq!(of_difference("float32(1)[nan]", "float32(1)[1]"), None);
        assert_eq!(of_difference("an error", "float32(2)[1, 2]"), None);
        let (expected, given) = ("returns float64(1)[0.5], effects []", "returns float64(1)[0.501], arguments [1]");
        assert_eq!(of_difference(expected, given), Some(Trait::Slight));
    }

    #[test]
    fn an_input_may_hold_what_is_no_number() {
        let text = "@R.function\ndef main(x: R.Tensor((2,), \"float32\")):\n    return x\n";
        let module = parse_module(text).unwrap();
        let on = |value: f64| {
            let data = TensorData::from_values(DataType::FLOAT32, &[2], &[1.0, value]).unwrap();
            visible(&module, Some(&[ValueSpec::Tensor(data)]))
        };
        assert_eq!((on(2.0), on(f64::NAN)), (BTreeSet::new(), BTreeSet::from([Trait::Nan])));
    }
}
