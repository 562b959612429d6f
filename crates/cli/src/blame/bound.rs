//! The program whose entry has some of its parameters or its sizes bound, as `BindParams` and `BindSymbolicVars` are
//! asked to bind them.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use ask::stages::PassStep;
use relax_spec::arguments::linked;
use relax_spec::grammar::{Binder, Expr, Function, IrModule, Name, PrimExpr, Replacement};
use relax_spec::value::ValueSpec;

use super::params::entered;
use crate::value;

/// The program with what a step binds; `None` if it binds nothing.
pub(super) fn bound(program: &IrModule, entry: &str, step: &PassStep) -> Option<IrModule> {
    let old = linked(program, entry)?;
    let (signature, args) = match step.name.as_str() {
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
    use serde_json::json;

    use super::*;
    use relax_spec::syntax::tvmscript::parse_module;

    fn params(step: &str, arguments: Value) -> Option<Vec<String>> {
        let text = "@I.ir_module\nclass Module:\n    @R.function\n    def main(x: R.Tensor((\"n\",), \"float32\"), \
                    w: R.Tensor((2,), \"float32\")):\n        return x\n";
        let step = PassStep { name: step.to_string(), arguments: Some(arguments) };
        let made = bound(&parse_module(text).unwrap(), "main", &step)?;
        let told = |param: &Binder| param.annotation.as_ref().map(ToString::to_string).unwrap_or_default();
        linked(&made, "main").map(|func| func.params.iter().map(told).collect())
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
