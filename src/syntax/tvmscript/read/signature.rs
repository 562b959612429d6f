//! Which arguments of TVM's Python functions are inputs of the operator, and which are attributes. Only functions
//! whose positional arguments are not simply the inputs are listed.

/// What a parameter of a Python function is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(in crate::syntax::tvmscript) enum Param {
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
pub(in crate::syntax::tvmscript) fn signature(op: &str) -> &'static [Param] {
    match op {
        "reshape" | "broadcast_to" | "collapse_sum_to" => &[Input("x"), Shape("shape")],
        "zeros" | "ones" => &[Shape("shape"), Attr("dtype")],
        "full" => &[Shape("shape"), Input("fill_value"), Attr("dtype")],
        "zeros_like" | "ones_like" | "astype" => &[Input("x"), Attr("dtype")],
        "full_like" => &[Input("x"), Input("fill_value"), Attr("dtype")],
        "arange" => &[Input("start"), Input("end"), Input("step"), Attr("dtype")],
        "concat" => &[Input("tensors"), Attr("axis")],
        "split" => &[Input("x"), Attr("indices_or_sections"), Attr("axis")],
        "expand_dims" | "squeeze" | "flip" => &[Input("x"), Attr("axis")],
        "permute_dims" => &[Input("x"), Attr("axes")],
        "take" => &[Input("x"), Input("indices"), Attr("axis"), Attr("mode")],
        "sum" | "mean" | "max" | "min" | "prod" | "std" | "variance" | "argmax" | "argmin" => {
            &[Input("x"), Attr("axis"), Attr("keepdims")]
        }
        "cumsum" | "cumprod" => &[Input("data"), Attr("axis"), Attr("dtype"), Attr("exclusive")],
        "matmul" => &[Input("x1"), Input("x2"), Attr("out_dtype")],
        "where" => &[Input("condition"), Input("x1"), Input("x2")],
        "clip" => &[Input("x"), Input("min"), Input("max")],
        "repeat" => &[Input("data"), Attr("repeats"), Attr("axis")],
        "tile" => &[Input("data"), Attr("repeats")],
        "tril" | "triu" => &[Input("x"), Attr("k")],
        "nn.softmax" | "nn.log_softmax" => &[Input("data"), Attr("axis")],
        "strided_slice" => {
            &[Input("x"), Input("axes"), Input("begin"), Input("end"), Input("strides"), Attr("assume_inbound")]
        }
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
