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
pub(in crate::syntax) fn signature(op: &str) -> Vec<PythonParam> {
    ops::lookup(op).into_iter().flat_map(|def| def.params).filter_map(|param| of_operator(*param)).collect()
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
