//! The arguments of TVM's Python functions that are inputs of the operator, and those that are attributes. A function
//! is listed only if its positional arguments are not simply the inputs.

use crate::ops;

/// A parameter of a Python function.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(in crate::syntax) enum PythonParam {
    /// An input of the operator.
    Input(&'static str),
    /// An input that is a boxed Boolean, with the default to write if it is left out and another input follows.
    Flag(&'static str, bool),
    /// An input that is a shape, so a tuple of dimensions means a `ShapeExpr`.
    Shape(&'static str),
    /// An input that is a datatype, so a string means a `DataTypeImm`.
    Dtype(&'static str),
    Attr(&'static str),
}

use PythonParam::{Attr, Dtype, Flag, Input, Shape};

/// The parameters of an operator's Python function, in order; empty if all of them are inputs.
pub(in crate::syntax) fn signature(op: &str) -> impl Iterator<Item = PythonParam> + Clone + use<> {
    let params = ops::lookup(op).map_or(&[][..], |def| def.params);
    params.iter().filter_map(|param| of_operator(*param))
}

/// The other name of an input: that of the function in `R.dist` if it differs from that of the function in
/// `tvm.relax.op.distributed`, or else the name in the table of operators again.
pub(super) fn other_name(op: &str, input: &'static str) -> &'static str {
    match (op, input) {
        ("dist.annotate_sharding" | "dist.redistribute", "input") => "value",
        _ => input,
    }
}

/// The value of an omitted input.
pub(super) enum LeftOut {
    /// The first input again.
    First,
    Zero,
    Text(&'static str),
    EmptyTuple,
}

/// The value that TVM's Python function inserts for an omitted input; `None` if it inserts nothing.
pub(super) fn left_out(op: &str, input: &str) -> Option<LeftOut> {
    match (op, input) {
        ("eye", "m") => Some(LeftOut::First),
        ("eye" | "eye_like", "k") | ("vm.alloc_tensor", "runtime_device_ind") => Some(LeftOut::Zero),
        ("builtin.alloc_tensor" | "vm.alloc_storage", "storage_scope") => Some(LeftOut::Text("global")),
        ("memory.view", "shape" | "dtype" | "relative_byte_offset") => Some(LeftOut::EmptyTuple),
        (_, _) => None,
    }
}

/// Whether readers write an input that is left out.
pub(in crate::syntax) fn is_filled_in(op: &str, input: &str) -> bool {
    left_out(op, input).is_some()
}

fn of_operator(param: ops::OpParam) -> Option<PythonParam> {
    match param {
        ops::OpParam::Arg(name) | ops::OpParam::OptionalArg(name) => Some(Input(name)),
        ops::OpParam::Flag(name, otherwise) => Some(Flag(name, otherwise)),
        ops::OpParam::ShapeArg(name) => Some(Shape(name)),
        ops::OpParam::DtypeArg(name) => Some(Dtype(name)),
        ops::OpParam::Attr(attr) => Some(Attr(attr.name)),
        ops::OpParam::Rest(_) => None,
    }
}
