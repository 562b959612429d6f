//! `metadata["relax.expr.Constant"][0]`, which `script(show_meta=True)` writes before the module.

use ruff_python_ast as py;
use rustc_hash::FxHashMap;

use super::read::fault::{integer, string};
use crate::grammar::{DataType, Name, TensorData};
use crate::judge::with_stack;
use crate::syntax::tvm_json::{Graph, GraphError, Id, Older, OlderGraph};

/// Advice for a text that refers to metadata without containing it.
pub(super) const ABSENT: &str = "this is in the metadata of the module, which the text does not have: print the module \
                                 with `mod.script(show_meta=True)`, or save it with `tvm.ir.save_json(mod)`";

/// The objects, by their types and numbers.
pub(super) struct Metadata<'t> {
    graph: Objects<'t>,
    lists: FxHashMap<Name, Vec<Id>>,
}

enum Objects<'t> {
    Graph(Graph<'t>),
    /// The format of releases before 0.21.
    Older(OlderGraph<'t>),
}

/// An entry, as far as programs use it.
pub(super) enum MetadataEntry {
    Tensor(TensorData),
    Text(Name),
    DataType(DataType),
}

impl<'t> Metadata<'t> {
    pub fn parse(text: &'t str) -> Result<Metadata<'t>, GraphError> {
        if OlderGraph::is_one(text) {
            let graph = OlderGraph::parse(text)?;
            return Ok(Metadata { lists: graph.lists()?, graph: Objects::Older(graph) });
        }
        let graph = Graph::parse(text)?;
        let lists = graph.dict(graph.root())?;
        let lists = lists
            .into_iter()
            .map(|(name, list)| Ok((name, graph.list(list)?.to_vec())))
            .collect::<Result<_, GraphError>>()?;
        Ok(Metadata { graph: Objects::Graph(graph), lists })
    }

    /// An entry, by its list and its number there.
    pub fn entry(&self, list: &str, number: usize) -> Result<MetadataEntry, GraphError> {
        let found = self.lists.get(list).and_then(|list| list.get(number)).copied();
        let id = found.ok_or_else(|| GraphError::new(format!("the metadata has no {list} of the number {number}")))?;
        match &self.graph {
            Objects::Graph(graph) => object(graph, id),
            Objects::Older(graph) => match graph.object(id)? {
                Older::Tensor(data) => Ok(MetadataEntry::Tensor(data)),
                Older::Text(text) => Ok(MetadataEntry::Text(text)),
                Older::DataType(dtype) => Ok(MetadataEntry::DataType(dtype)),
            },
        }
    }
}

fn object(graph: &Graph<'_>, id: Id) -> Result<MetadataEntry, GraphError> {
    with_stack(|| match graph.kind(id) {
        "ffi.Tensor" => graph.tensor(id).map(MetadataEntry::Tensor),
        "ffi.String" => graph.text(id).map(MetadataEntry::Text),
        "DataType" => {
            let word = graph.text(id)?;
            word.parse().map(MetadataEntry::DataType).map_err(|_| graph.error(id, "expected a data type"))
        }
        "relax.expr.Constant" => {
            let fields = graph.fields(id)?;
            object(graph, fields.node("data")?)
        }
        "ir.GenericConst" | "tirx.StringImm" | "tir.StringImm" | "ir.StringImm" | "relax.expr.StringImm" => {
            let fields = graph.fields(id)?;
            match fields.node("value") {
                Ok(value) => object(graph, value),
                Err(_) => fields.text("value").map(MetadataEntry::Text),
            }
        }
        _ => graph.wrong(id, "expected a tensor or a string"),
    })
}

/// The list and the number of `metadata["list"][number]`.
pub(super) fn reference(outer: &py::ExprSubscript) -> Option<(&str, usize)> {
    let py::Expr::Subscript(inner) = &*outer.value else { return None };
    match (&*inner.value, string(&inner.slice), integer(&outer.slice)) {
        (py::Expr::Name(name), Some(list), Some(number)) if name.id.as_str() == "metadata" => {
            Some((list, usize::try_from(number).ok()?))
        }
        _ => None,
    }
}

/// The text in `metadata = tvm.ir.load_json("""..""")`.
pub(super) fn definition(assign: &py::StmtAssign) -> Option<&str> {
    let [py::Expr::Name(target)] = assign.targets.as_slice() else { return None };
    let py::Expr::Call(call) = &*assign.value else { return None };
    let py::Expr::Attribute(callee) = &*call.func else { return None };
    match &*call.arguments.args {
        [text] if target.id.as_str() == "metadata" && callee.attr.as_str() == "load_json" => string(text),
        _ => None,
    }
}
