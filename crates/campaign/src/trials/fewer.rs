//! Programs with a binding less, wherever it stands: in the bodies of local functions and of functions that are called, and in
//! branches. What used its variable uses one of the operands of its value, if that makes a program.

use serde_json::Value;

use ask::protocol::{from_data, parse_json};
use relax_spec::data::json::to_value;
use relax_spec::grammar::IrModule;
use relax_spec::judge::with_stack;

/// How many operands are tried in the place of a variable.
const OPERANDS: usize = 3;
/// The forms of the use of a variable.
const USES: [&str; 2] = ["Var", "DataflowVar"];

/// The programs, without the last bindings first; whether they are well-formed is seen when they are checked.
pub(super) fn fewer(module: &IrModule) -> Vec<IrModule> {
    let data = to_value(module);
    let mut lists = Vec::new();
    lists_of_bindings(&data, String::new(), &mut lists);
    let of_list = |(at, count): &(String, usize)| -> Vec<Value> {
        (0..*count).rev().flat_map(|index| without(&data, at, index)).collect()
    };
    let read = |data: Value| parse_json(&data.to_string()).and_then(|data| from_data(&data)).ok();
    lists.iter().flat_map(of_list).filter_map(read).collect()
}

/// Where lists of bindings stand, and how long they are.
fn lists_of_bindings(data: &Value, at: String, lists: &mut Vec<(String, usize)>) {
    with_stack(|| match data {
        Value::Array(items) => {
            items.iter().enumerate().for_each(|(i, item)| lists_of_bindings(item, format!("{at}/{i}"), lists));
        }
        Value::Object(fields) => {
            for (name, field) in fields {
                let at = format!("{at}/{}", name.replace('~', "~0").replace('/', "~1"));
                if let ("bindings", Value::Array(bindings)) = (name.as_str(), field) {
                    lists.push((at.clone(), bindings.len()));
                }
                lists_of_bindings(field, at, lists);
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    });
}

fn list<'d>(data: &'d mut Value, at: &str) -> Option<&'d mut Vec<Value>> {
    data.pointer_mut(at)?.as_array_mut()
}

/// Without a binding, and with operands of its value in the place of its variable.
fn without(data: &Value, at: &str, index: usize) -> Vec<Value> {
    let mut less = data.clone();
    let Some(bindings) = list(&mut less, at).filter(|bindings| index < bindings.len()) else { return Vec::new() };
    let binding = bindings.remove(index);
    let mut found = vec![less.clone()];
    let parts = ["/VarBinding", "/MatchCast"].into_iter().find_map(|kind| {
        let var = binding.pointer(&format!("{kind}/var/var"))?.as_str()?;
        Some((var, binding.pointer(&format!("{kind}/value"))?))
    });
    if let Some((var, value)) = parts {
        let mut operands = Vec::new();
        uses(value, &mut operands);
        found.extend(operands.into_iter().take(OPERANDS).map(|operand| {
            let mut other = less.clone();
            // Around the expression that holds the list the variable is another one, if there is one of its name.
            let holder = at.rsplit_once("/blocks/").map_or("", |(holder, _)| holder);
            if let Some(holder) = other.pointer_mut(holder) {
                exchange(holder, var, &operand);
            }
            other
        }));
    }
    found
}

/// The variables that a value uses, each once.
fn uses(value: &Value, found: &mut Vec<Value>) {
    with_stack(|| {
        if used(value).is_some() && !found.contains(value) {
            found.push(value.clone());
        }
        match value {
            Value::Array(items) => items.iter().for_each(|item| uses(item, found)),
            Value::Object(fields) => fields.values().for_each(|field| uses(field, found)),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
        }
    });
}

/// The name of the variable that is used, if it is the use of one.
fn used(value: &Value) -> Option<&str> {
    let fields = value.as_object().filter(|fields| fields.len() == 1)?;
    USES.iter().find_map(|form| fields.get(*form)?.as_str())
}

fn exchange(data: &mut Value, var: &str, operand: &Value) {
    with_stack(|| {
        if used(data) == Some(var) {
            *data = operand.clone();
            return;
        }
        match data {
            Value::Array(items) => items.iter_mut().for_each(|item| exchange(item, var, operand)),
            Value::Object(fields) => fields.values_mut().for_each(|field| exchange(field, var, operand)),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
        }
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trials::bindings;
    use relax_spec::check::check_program;
    use relax_spec::judge::Cx;
    use relax_spec::syntax::tvmscript::{Dialect, parse_module, print_module};

    #[test]
    fn inner_bindings_are_left_out_one_by_one() {
        let text = "@R.function\ndef main(x: R.Tensor((2,), \"float32\"), c: R.Tensor((), \"bool\")) -> R.Object:\n    if c:\n        a = R.exp(x)\n        b = R.sin(a)\n        w = R.cos(b)\n    else:\n        w = R.cos(x)\n    return w\n";
        let module = parse_module(text).unwrap();
        let smaller: Vec<IrModule> =
            fewer(&module).into_iter().filter(|module| check_program(&mut Cx::new(), module).accepts()).collect();
        assert!(smaller.iter().all(|smaller| bindings(smaller) < bindings(&module)));
        let texts: Vec<String> = smaller.iter().map(|module| print_module(module, Dialect::default())).collect();
        assert!(texts.iter().any(|text| !text.contains("exp") && text.contains("sin(x)")), "{texts:?}");
        assert!(texts.iter().any(|text| !text.contains("sin") && text.contains("exp")), "{texts:?}");
    }
}
