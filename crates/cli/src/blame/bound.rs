//! The program as some passes are asked to take it: with parameters or sizes of its entry bound (`BindParams`,
//! `BindSymbolicVars`), or in the mode of training or of inference (`DecomposeOpsForTraining`,
//! `DecomposeOpsForInference`).

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use ask::stages::PassStep;
use relax_spec::arguments::linked;
use relax_spec::data::json::write;
use relax_spec::data::{Write as _, from_json};
use relax_spec::grammar::{Binder, Expr, Function, GlobalFunc, IrModule, Name, PrimExpr, Replacement};
use relax_spec::judge::with_stack;
use relax_spec::value::ValueSpec;

use super::params::entered;
use crate::value;

/// The program as a step is asked to take it; `None` if that is how it is.
pub(super) fn bound(program: &IrModule, entry: &str, step: &PassStep) -> Option<IrModule> {
    let old = linked(program, entry)?;
    let (signature, args) = match step.name.as_str() {
        "DecomposeOpsForInference" => return in_mode(program, false),
        "DecomposeOpsForTraining" => return in_mode(program, true),
        "BindParams" => {
            let function = argument(step, 0, "func_name")?.as_str()?;
            (function == entry).then_some(())?;
            with_params(old, argument(step, 1, "params")?.as_object()?)?
        }
        "BindSymbolicVars" => {
            let function = argument(step, 1, "func_name").and_then(Value::as_str);
            function.is_none_or(|function| function == entry).then_some(())?;
            with_sizes(old, argument(step, 0, "binding_map")?.as_object()?)
        }
        _ => return None,
    };
    Some(entered(program, &signature, entry, args))
}

/// The program with all normalizations by batches in the mode of training or of inference.
fn in_mode(program: &IrModule, training: bool) -> Option<IrModule> {
    let is_function = |func: &GlobalFunc| matches!(func, GlobalFunc::Function(_));
    let (functions, others) = program.funcs.iter().cloned().partition(|(_, func)| is_function(func));
    let functions = IrModule { funcs: functions, ..program.clone() };
    let mut data = serde_json::from_str(&write(&functions.write())).ok()?;
    if !set_mode(&mut data, training) {
        return None;
    }
    let mut made: IrModule = from_json(&data.to_string()).ok()?;
    made.funcs.extend::<Vec<_>>(others);
    Some(made)
}

/// Sets the mode in the JSON form of a program. The result is whether there is an operator that has one.
fn set_mode(data: &mut Value, training: bool) -> bool {
    let is_normalized = data.pointer("/op/Op/op_name").is_some_and(|name| name == "relax.nn.batch_norm");
    if is_normalized {
        data["attrs"]["training"] = json!({ "Bool": training });
    }
    let parts: Vec<&mut Value> = match data {
        Value::Array(items) => items.iter_mut().collect(),
        Value::Object(fields) => fields.values_mut().collect(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => Vec::new(),
    };
    with_stack(|| parts.into_iter().fold(is_normalized, |any, part| set_mode(part, training) || any))
}

/// An argument of a pass, by its place or by its name.
fn argument<'a>(step: &'a PassStep, place: usize, name: &str) -> Option<&'a Value> {
    match step.arguments.as_ref()? {
        Value::Array(given) => given.get(place),
        Value::Object(given) => given.get(name),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => None,
    }
}

/// The function without the parameters that have a value, and the arguments of the whole one.
fn with_params(old: &Function, given: &Map<String, Value>) -> Option<(Function, Vec<Expr>)> {
    let arg = |param: &Binder| match given.get(&*param.var.name) {
        None => Some(param.to_expr()),
        Some(given) => {
            let text = format!("{}:{}", given.get("values")?, given.get("dtype")?.as_str()?);
            let Ok(ValueSpec::Tensor(data)) = value::parse(&text) else { return None };
            Some(Expr::constant(data))
        }
    };
    let args = old.params.iter().map(arg).collect::<Option<Vec<Expr>>>()?;
    let mut signature = old.clone();
    signature.params.retain(|param| !given.contains_key(&*param.var.name));
    Some((signature, args))
}

/// Numbers in place of shape variables.
struct Sizes(BTreeMap<Name, i64>);

impl Replacement for Sizes {
    fn dim(&self, dim: &PrimExpr) -> PrimExpr {
        dim.with_vars(&|var| match self.0.get(&var.name) {
            Some(size) => PrimExpr::IntImm(*size),
            None => PrimExpr::Var(var.clone()),
        })
    }
}

/// The function with these sizes, and its arguments.
fn with_sizes(old: &Function, given: &Map<String, Value>) -> (Function, Vec<Expr>) {
    let sizes = given.iter().filter_map(|(name, size)| Some((name.as_str().into(), size.as_i64()?)));
    let sizes = Sizes(sizes.collect());
    let mut signature = old.clone();
    for param in &mut signature.params {
        param.annotation = param.annotation.as_ref().map(|info| info.replaced(&sizes));
    }
    (signature, old.params.iter().map(Binder::to_expr).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use relax_spec::syntax::tvmscript::{Dialect, parse_module, print_module};

    fn params(step: &str, arguments: Value) -> Option<Vec<String>> {
        let text = "@I.ir_module\nclass Module:\n    @R.function\n    def main(x: R.Tensor((\"n\",), \"float32\"), \
                    w: R.Tensor((2,), \"float32\")):\n        return x\n";
        let step = PassStep { name: step.to_string(), arguments: Some(arguments) };
        let made = bound(&parse_module(text).unwrap(), "main", &step)?;
        let told = |param: &Binder| param.annotation.as_ref().map(ToString::to_string).unwrap_or_default();
        linked(&made, "main").map(|func| func.params.iter().map(told).collect())
    }

    #[test]
    fn normalizations_are_in_the_mode_that_is_asked_for() {
        let text = |training: &str| {
            format!(
                "@I.ir_module\nclass Module:\n    @R.function\n    def main(x: R.Tensor((2, 4), \"float32\"), \
                 g: R.Tensor((4,), \"float32\")):\n        y = R.nn.batch_norm(x, g, g, g, g, axis=1{training})\n        \
                 return y\n    @T.prim_func\n    def f(a: T.handle):\n        pass\n"
            )
        };
        let step = |name: &str| PassStep { name: name.to_string(), arguments: None };
        let made = |training: &str, name: &str| {
            bound(&parse_module(&text(training)).unwrap(), "main", &step(name))
                .map(|made| print_module(&made, Dialect::default()))
        };
        let printed = |training: &str| Some(print_module(&parse_module(&text(training)).unwrap(), Dialect::default()));
        assert_eq!(made("", "DecomposeOpsForInference"), printed(", training=False"));
        assert_eq!(made(", training=False", "DecomposeOpsForTraining"), printed(", training=True"));
        assert_eq!(made("", "LegalizeOps"), None);
    }

    #[test]
    fn parameters_and_sizes_are_bound() {
        let weights = json!({"w": {"dtype": "float32", "values": [1.0, 2.0]}});
        assert_eq!(params("BindParams", json!(["main", weights])).map(|left| left.len()), Some(1));
        assert_eq!(params("BindParams", json!(["other", weights])), None);
        let sized = params("BindSymbolicVars", json!({"binding_map": {"n": 3}})).unwrap_or_default();
        assert_eq!(sized.first().map(String::as_str), Some("Tensor((3), float32)"));
        assert_eq!(params("Normalize", json!([])), None);
    }
}
