//! Objects of TVM as `tvm.ir.save_json` writes them: whole modules, or the metadata of TVMScript.
//!
//! A module gives the tree that its text gives, up to the names of variables, which TVM makes unique while it prints.

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

/// Whether a text is such a graph: the first of its fields tells.
pub fn is_graph(text: &str) -> bool {
    let first = text.trim_start().strip_prefix('{').map(str::trim_start);
    first.is_some_and(|first| ["\"root_index\"", "\"nodes\""].iter().any(|name| first.starts_with(name)))
}
