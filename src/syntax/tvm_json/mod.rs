//! Objects of TVM in the format of `tvm.ir.save_json`: whole modules, or the metadata of TVMScript.
//!
//! A module gives the same tree as its text, up to the names of variables, which TVM makes unique while it prints.

mod graph;
mod older;
mod relax;
mod schema;
mod tensor;
mod tir;

pub use graph::GraphError;
pub(in crate::syntax) use graph::{Graph, Id};
pub(in crate::syntax) use older::{Older, OlderGraph};
pub use relax::read_module;
pub use tensor::{saved_tensor, tensor_to_save};

/// Whether a text is such a graph. The first of its fields decides.
pub fn is_graph(text: &str) -> bool {
    let first = text.trim_start().strip_prefix('{').map(str::trim_start);
    first.is_some_and(|first| ["\"root_index\"", "\"nodes\""].iter().any(|name| first.starts_with(name)))
}
