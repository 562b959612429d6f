//! Which arguments of TVM's Python functions are inputs of the operator, and which are attributes. Only functions
//! whose positional arguments are not simply the inputs are listed.

use crate::ops;

/// What a parameter of a Python function is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(in crate::syntax) enum Param {
    /// An input of the operator.
    Input(&'static str),
    /// An input that is a shape, so that a tuple of dimensions means a `ShapeExpr`.
    Shape(&'static str),
    /// An input that is a data type, so that a string means a `DataTypeImm`.
    Dtype(&'static str),
    Attr(&'static str),
}

use Param::{Attr, Dtype, Input, Shape};

/// The parameters of an operator's Python function, in order; empty if all of them are inputs.
pub(in crate::syntax) fn signature(op: &str) -> Vec<Param> {
    match ops::lookup(op) {
        Some(def) if def.params.iter().any(|param| !matches!(param, ops::Param::Rest(_))) => {
            def.params.iter().filter_map(|param| of_operator(*param)).collect()
        }
        Some(_) | None => unregistered(op).to_vec(),
    }
}

fn of_operator(param: ops::Param) -> Option<Param> {
    match param {
        ops::Param::Arg(name) | ops::Param::OptionalArg(name) => Some(Input(name)),
        ops::Param::ShapeArg(name) => Some(Shape(name)),
        ops::Param::Attr(attr) => Some(Attr(attr.name)),
        ops::Param::Rest(_) => None,
    }
}

/// Operators without a definition here, which programs may call all the same.
fn unregistered(op: &str) -> &'static [Param] {
    match op {
        "memory.alloc_storage" => {
            &[Shape("size"), Input("virtual_device_index"), Input("storage_scope"), Dtype("dtype")]
        }
        "memory.alloc_tensor" => &[Input("storage"), Input("offset"), Shape("shape"), Dtype("dtype")],
        "builtin.alloc_tensor" => {
            &[Shape("shape"), Dtype("dtype"), Input("runtime_device_index"), Input("storage_scope")]
        }
        "vm.alloc_storage" => &[Shape("shape"), Input("runtime_device_index"), Dtype("dtype"), Input("storage_scope")],
        "vm.alloc_tensor" => &[Input("storage"), Input("offset"), Shape("shape"), Dtype("dtype")],
        _ => &[],
    }
}
