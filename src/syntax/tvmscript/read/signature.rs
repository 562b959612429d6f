//! Which arguments of TVM's Python functions are inputs of the operator, and which are attributes. Only functions
//! whose positional arguments are not simply the inputs are listed.

use crate::ops;

/// What a parameter of a Python function is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(in crate::syntax) enum PythonParam {
    /// An input of the operator.
    Input(&'static str),
    /// An input that is a boxed Boolean, with what it is where it is left out and another one follows.
    Flag(&'static str, bool),
    /// An input that is a shape, so that a tuple of dimensions means a `ShapeExpr`.
    Shape(&'static str),
    /// An input that is a data type, so that a string means a `DataTypeImm`.
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
