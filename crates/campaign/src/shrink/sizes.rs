//! The sizes of shape variables on an input, and programs with fixed sizes.

use std::collections::BTreeMap;

use serde_json::Value;

use ask::protocol::{from_data, parse_json};
use relax_spec::data::json::to_value;
use relax_spec::grammar::{Binder, IrModule, PrimExpr, ShapeVar, StructInfo, TensorShape};
use relax_spec::judge::with_stack;
use relax_spec::value::ValueSpec;

/// The sizes of the shape variables of the parameters on an input.
pub(crate) fn sizes_on(params: &[Binder], input: &[ValueSpec]) -> BTreeMap<ShapeVar, i64> {
    let mut sizes = BTreeMap::new();
    for (param, value) in params.iter().zip(input) {
        let (dims, given): (&[PrimExpr], Vec<i64>) = match (&param.annotation, value) {
            (Some(StructInfo::Tensor(tensor)), ValueSpec::Tensor(data)) => {
                let dims = if let Some(TensorShape::Dims(dims)) = &tensor.shape { dims } else { [].as_slice() };
                (dims, data.shape.iter().filter_map(|size| i64::try_from(*size).ok()).collect())
            }
            (Some(StructInfo::Shape(shape)), ValueSpec::Shape(given)) => {
                (shape.values.as_deref().unwrap_or_default(), given.clone())
            }
            (_, _) => continue,
        };
        for (dim, size) in dims.iter().zip(given) {
            if let PrimExpr::Var(var) = dim {
                sizes.insert(var.clone(), size);
            }
        }
    }
    sizes
}

/// The program with fixed sizes.
pub(crate) fn fixed(module: &IrModule, sizes: &BTreeMap<ShapeVar, i64>) -> IrModule {
    remade(module, |data| {
        let functions = data.get_mut("funcs").and_then(Value::as_array_mut).into_iter().flatten();
        functions.filter(|func| func.pointer("/1/Function").is_some()).for_each(|func| put(func, sizes));
        true
    })
}

/// The module that its data are after a change, if there is one.
pub(crate) fn remade(module: &IrModule, change: impl FnOnce(&mut Value) -> bool) -> IrModule {
    let mut data = to_value(module);
    let read = |data: &Value| parse_json(&data.to_string()).and_then(|data| from_data(&data)).ok();
    change(&mut data).then(|| read(&data)).flatten().unwrap_or_else(|| module.clone())
}

/// In the data, a shape variable is its name; generated programs have no other name of that form.
fn put(data: &mut Value, sizes: &BTreeMap<ShapeVar, i64>) {
    with_stack(|| match data {
        Value::String(name) => {
            if let Some(size) = sizes.get(&ShapeVar::new(name)) {
                *data = (*size).into();
            }
        }
        Value::Array(items) => items.iter_mut().for_each(|item| put(item, sizes)),
        Value::Object(fields) => fields.values_mut().for_each(|field| put(field, sizes)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    });
}
