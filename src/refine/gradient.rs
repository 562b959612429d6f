//! Whether a function that a pass has written computes the gradient of another one (REFINE.GRADIENT).

use std::collections::BTreeMap;

use crate::arguments::{ArgumentSource, Draw, KnownArguments, linked};
use crate::eval::{EvalOptions, evaluate};
use crate::grammar::visit::{Visitor, walk_call, walk_module, walk_struct_info};
use crate::grammar::{Call, Expr, IrModule, StructInfo, TensorData};
use crate::judge::{Cx, Ending};
use crate::value::{Prim, Scalar, Tensor, Value, ValueSpec, from_specs};

/// On how many inputs the two are compared.
const INPUTS: usize = 3;
/// The larger of the two steps of the differences. All moved numbers are exact in float32.
const STEP: f64 = 1.0 / 512.0;
/// The relative error of a value of the function, at most, by which its differences are judged.
const ROUNDING: f64 = 1e-6;
/// The distance between numbers of an input, which are all different, so that hardly one lies at a bend.
const GRID: f64 = 1.0 / 128.0;
/// The smallest of them. None is a number that programs compare with, such as 1.
const FIRST: f64 = 0.5 + 3.0 / 1024.0;
/// How many steps a run may take.
const FUEL: u64 = 2_000_000;
/// More elements would bring numbers too close to each other, or out of the range of ordinary ones.
const MOST_ELEMENTS: usize = 256;
/// The difference of the two slopes, absolute or relative, above which there is a bend in between.
const BENT: f64 = 1e-2;
/// The difference of gradients, absolute or relative, that the differences do not explain.
const WRONG: f64 = 1e-2;

/// A gradient that is not the one of the function.
#[derive(Clone, Debug)]
pub struct WrongGradient {
    /// What is wrong, for people.
    pub message: String,
    /// The arguments that show it.
    pub args: Vec<ValueSpec>,
}

/// REFINE.GRADIENT: compares what `adjoint` returns with differences of what `function` returns, in a direction of each
/// parameter of float32 or float64. Both are names by which functions of the module are linked. The function returns a
/// number, or a tuple that has one at `target`. `None`: nothing wrong was found, or nothing could be compared.
pub fn wrong_gradient(
    cx: &Cx,
    module: &IrModule,
    function: &str,
    adjoint: &str,
    target: usize,
) -> Option<WrongGradient> {
    let known = KnownArguments { ordinary: true, indices_in_range: true, ..KnownArguments::default() };
    let source = ArgumentSource::of(&[module], 0, EvalOptions::default().memory).knowing(&known);
    let func = linked(module, function)?;
    if rounds_inside(module) {
        return None;
    }
    (0..INPUTS).find_map(|index| {
        let drawn = source.for_function(func, &BTreeMap::new(), Draw { index, attempt: 1 })?;
        let input = apart(drawn, index)?;
        let run = |entry: &str, args: &[ValueSpec]| run(cx, module, entry, args);
        let (value, gradients) = parts(run(adjoint, &input)?)?;
        let number = |args: &[ValueSpec]| number(&field(&run(function, args)?, target)?);
        let fault = |message: String| Some(WrongGradient { message, args: input.clone() });
        let (own, given) = (number(&input)?, self::number(&field(&value, target)?)?);
        if differ(own, given, WRONG) {
            return fault(format!("`{adjoint}` returns {given:?} beside the gradient, `{function}` {own:?}"));
        }
        if gradients.len() != input.len() {
            return None;
        }
        func.params.iter().enumerate().find_map(|(nth, param)| {
            let (spec, gradient) = (input.get(nth)?, gradients.get(nth)?);
            let name = &param.var.name;
            let direction = direction(spec)?;
            if !is_alike(spec, gradient) {
                return fault(format!("the gradient by `{name}` in `{adjoint}` has another shape than `{name}`"));
            }
            let given = along(gradient, &direction)?;
            // The slopes to both sides.
            let slopes = |step: f64| {
                let at = |step: f64| number(&moved(&input, nth, &direction, step)?);
                Some(((own - at(-step)?) / step, (at(step)? - own) / step))
            };
            let (wide, narrow) = (slopes(STEP)?, slopes(STEP / 2.0)?);
            let middle = |(before, behind): (f64, f64)| (before + behind) / 2.0;
            // The error of the fourth power of the step is what remains.
            let slope = (4.0 * middle(narrow) - middle(wide)) / 3.0;
            let is_noise = ROUNDING * own.abs() / STEP > WRONG * slope.abs().max(1.0) || middle(wide) == 0.0;
            let is_bent = differ(narrow.0, narrow.1, WRONG) || differ(middle(wide), middle(narrow), BENT);
            if is_noise || is_bent || !differ(slope, given, WRONG) {
                return None;
            }
            fault(format!("in a direction of `{name}` the derivative is {slope:?}, by `{adjoint}` {given:?}"))
        })
    })
}

fn differ(x: f64, y: f64, by: f64) -> bool {
    (x - y).abs() > by * x.abs().max(y.abs()).max(1.0)
}

/// Whether something in the module computes with fewer digits than float32, or converts numbers: differences do not
/// show what that does to a gradient.
fn rounds_inside(module: &IrModule) -> bool {
    let mut seen = Roundings(false);
    walk_module(&mut seen, module);
    seen.0
}

struct Roundings(bool);

impl Visitor for Roundings {
    fn visit_struct_info(&mut self, info: &StructInfo) {
        if let StructInfo::Tensor(tensor) = info {
            self.0 |= tensor.dtype.is_float() && tensor.dtype.bytes() < 4;
        }
        walk_struct_info(self, info);
    }

    fn visit_call(&mut self, call: &Call) {
        self.0 |= matches!(&call.op, Expr::Op(op) if op.op_name.ends_with("astype"));
        walk_call(self, call);
    }
}

/// The input with other floats: positive and all different, others for each index. `None` if there are none, too many,
/// or of another type.
fn apart(input: Vec<ValueSpec>, index: usize) -> Option<Vec<ValueSpec>> {
    let count: usize = input.iter().filter_map(floats).map(elements).sum();
    if count == 0 || count > MOST_ELEMENTS {
        return None;
    }
    let mut place = index;
    let mut next = || {
        // A step that has no factor in common with the number of places visits each of them.
        place = (place + 97) % (MOST_ELEMENTS + 1);
        FIRST + place as f64 * GRID
    };
    let made = |spec: ValueSpec| match floats(&spec) {
        None => Some(spec),
        Some(data) => {
            let values: Vec<f64> = (0..elements(data)).map(|_| next()).collect();
            TensorData::from_values(data.dtype, &data.shape, &values).ok().map(ValueSpec::Tensor)
        }
    };
    input.into_iter().map(made).collect()
}

/// The tensor, if its numbers are of float32 or float64.
fn floats(spec: &ValueSpec) -> Option<&TensorData> {
    spec.as_tensor().filter(|data| data.dtype.is_float() && data.dtype.bytes() >= 4)
}

fn elements(data: &TensorData) -> usize {
    data.bytes.len() / data.dtype.bytes()
}

/// A direction in which each element moves, not all by the same distance. Their sum is never zero.
fn direction(spec: &ValueSpec) -> Option<Vec<f64>> {
    let distances = [1.0, 0.5, 0.75, 0.25, -0.5];
    Some(distances.into_iter().cycle().take(elements(floats(spec)?)).collect())
}

fn moved(input: &[ValueSpec], nth: usize, direction: &[f64], step: f64) -> Option<Vec<ValueSpec>> {
    let mut moved = input.to_vec();
    let spec = moved.get_mut(nth)?;
    let data = floats(spec)?;
    let own = Tensor::from_data(data).ok()?;
    let number = |(i, by): (usize, &f64)| Some(near(own.get(i)?)? + by * step);
    let values = direction.iter().enumerate().map(number).collect::<Option<Vec<f64>>>()?;
    *spec = ValueSpec::Tensor(TensorData::from_values(data.dtype, &data.shape, &values).ok()?);
    Some(moved)
}

/// Whether a gradient that is a tensor has the shape of the parameter.
fn is_alike(spec: &ValueSpec, gradient: &Value) -> bool {
    let (Some(data), Value::Tensor(tensor)) = (spec.as_tensor(), gradient) else { return true };
    data.shape.iter().map(|size| i64::try_from(*size).ok()).eq(tensor.shape().iter().map(|size| Some(*size)))
}

/// The derivative in a direction.
fn along(gradient: &Value, direction: &[f64]) -> Option<f64> {
    let Value::Tensor(tensor) = gradient else { return None };
    direction.iter().enumerate().map(|(i, by)| Some(near(tensor.get(i)?)? * by)).sum()
}

fn run(cx: &Cx, module: &IrModule, entry: &str, args: &[ValueSpec]) -> Option<Value> {
    let options = EvalOptions { fuel: FUEL, ..EvalOptions::default() };
    let args = from_specs(args, &options.registry).ok()?;
    match evaluate(&mut cx.clone(), module, entry, args, &options).outcome {
        Ending::Value(value) => Some(value),
        Ending::Error(_) | Ending::OutOfFuel | Ending::Unspecified(_) | Ending::Unknown(_) => None,
    }
}

/// What an adjoint returns: the value of the function, and the gradients.
fn parts(returned: Value) -> Option<(Value, Vec<Value>)> {
    let Value::Tuple(both) = returned else { return None };
    let [value, Value::Tuple(gradients)] = both.fields() else { return None };
    Some((value.clone(), gradients.fields().to_vec()))
}

fn field(value: &Value, at: usize) -> Option<Value> {
    match value {
        Value::Tuple(tuple) => tuple.fields().get(at).cloned(),
        _ => Some(value.clone()),
    }
}

fn number(value: &Value) -> Option<f64> {
    match value {
        Value::Tensor(tensor) if tensor.len() == 1 => near(tensor.get(0)?),
        Value::Prim(Prim { value, .. }) => near(*value),
        _ => None,
    }
}

fn near(scalar: Scalar) -> Option<f64> {
    match scalar {
        Scalar::Float(number) => Some(number).filter(|x| x.is_finite()),
        Scalar::Int(_) | Scalar::UInt(_) | Scalar::Bool(_) | Scalar::Ring(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::book::Edition;
    use crate::syntax::tvmscript::parse_module;

    fn found(gradient: &str) -> Option<WrongGradient> {
        let text = format!(
            "@I.ir_module\nclass Module:\n    @R.function\n    def main(x: R.Tensor((2, 3), \"float32\")):\n        with \
             R.dataflow():\n            b = R.tanh(x)\n            gv = R.sum(R.multiply(b, x))\n            \
             R.output(gv)\n        return gv\n\n    @R.function\n    def main_adjoint(x: R.Tensor((2, 3), \
             \"float32\")):\n        with R.dataflow():\n            b = R.tanh(x)\n            gv = \
             R.sum(R.multiply(b, x))\n            d = {gradient}\n            R.output(gv, d)\n        return (gv, \
             (d,))\n"
        );
        let cx = Cx::new().with_edition(Edition::E2024_04);
        wrong_gradient(&cx, &parse_module(&text).unwrap(), "main", "main_adjoint", 0)
    }

    /// The derivative of `x tanh(x)` is `tanh(x) + x (1 - tanh(x)^2)`.
    #[test]
    fn differences_tell_a_wrong_gradient() {
        let one = "R.const(1, \"float32\")";
        assert!(found(&format!("R.add(b, R.multiply(x, R.subtract({one}, R.multiply(b, b))))")).is_none());
        let wrong = found(&format!("R.add(b, R.multiply(x, R.subtract({one}, b)))")).unwrap();
        assert!(wrong.message.starts_with("in a direction of `x` the derivative is "), "{}", wrong.message);
        assert!(found("R.zeros_like(x)").is_some());
        let wrong = found("R.sum(x, axis=[0])").unwrap();
        assert!(wrong.message.ends_with("has another shape than `x`"), "{}", wrong.message);
    }

    /// The places before an element, and not those behind it, count in an exclusive sum.
    #[test]
    fn a_sum_of_a_part_of_the_elements_is_told_from_another_one() {
        let of = |gradient: &str| {
            let text = format!(
                "@I.ir_module\nclass Module:\n    @R.function\n    def main(x: R.Tensor((2, 3), \"float64\")):\n        b \
                 = R.cumsum(x, axis=1, exclusive=True)\n        return R.sum(b)\n\n    @R.function\n    def \
                 main_adjoint(x: R.Tensor((2, 3), \"float64\")):\n        b = R.cumsum(x, axis=1, exclusive=True)\n        \
                 gv = R.sum(b)\n        return (gv, (R.const({gradient}, \"float64\"),))\n"
            );
            let cx = Cx::new().with_edition(Edition::E2024_04);
            wrong_gradient(&cx, &parse_module(&text).unwrap(), "main", "main_adjoint", 0)
        };
        assert!(of("[[2, 1, 0], [2, 1, 0]]").is_none());
        assert!(of("[[3, 2, 1], [3, 2, 1]]").is_some());
    }

    /// `relu(1 - x)` bends at 1, and a forgotten factor shows for any number of elements.
    #[test]
    fn a_bend_is_no_mistake_and_a_factor_is_one() {
        let of = |sizes: &str, value: &str, gradient: &str| {
            let text = format!(
                "@I.ir_module\nclass Module:\n    @R.function\n    def main(x: R.Tensor(({sizes}), \"float32\")):\n        \
                 return R.sum({value})\n\n    @R.function\n    def main_adjoint(x: R.Tensor(({sizes}), \
                 \"float32\")):\n        gv = R.sum({value})\n        return (gv, ({gradient},))\n"
            );
            let cx = Cx::new().with_edition(Edition::E2024_04);
            wrong_gradient(&cx, &parse_module(&text).unwrap(), "main", "main_adjoint", 0)
        };
        let one = "R.const(1, \"float32\")";
        let hinge = format!("R.nn.relu(R.subtract({one}, x))");
        let slope = format!("R.where(R.less(x, {one}), R.full_like(x, R.const(-1, \"float32\")), R.zeros_like(x))");
        assert!(of("8, 8", &hinge, &slope).is_none());
        for sizes in ["4,", "2, 2", "3,", "9,"] {
            assert!(of(sizes, "x", "R.ones_like(x)").is_none(), "{sizes}");
            assert!(of(sizes, "x", "R.full_like(x, R.const(2, \"float32\"))").is_some(), "{sizes}");
            assert!(of(sizes, "x", "R.zeros_like(x)").is_some(), "{sizes}");
        }
        // Each step is rounded away.
        let rounded = "R.astype(R.astype(x, dtype=\"bfloat16\"), dtype=\"float32\")";
        assert!(of("2, 3", rounded, "R.ones_like(x)").is_none());
    }

    /// Another value beside the gradient is wrong as well.
    #[test]
    fn the_value_of_the_function_stands_beside_its_gradient() {
        let right = "R.add(b, R.multiply(x, R.subtract(R.const(1, \"float32\"), R.multiply(b, b))))";
        assert!(found(&format!("{right}\n            gv = R.sum(b)")).is_some());
    }
}
