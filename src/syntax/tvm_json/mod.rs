//! Objects of TVM as `tvm.ir.save_json` writes them, on their own or as the metadata of TVMScript.

mod graph;
mod tensor;

pub use graph::GraphError;
pub(in crate::syntax) use graph::{Graph, Id};
