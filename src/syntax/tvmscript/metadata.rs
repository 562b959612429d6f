//! `metadata["relax.expr.Constant"][0]`: what `script(show_meta=True)` writes in front of the module.

use ruff_python_ast as py;
use rustc_hash::FxHashMap;

use super::read::fault::{integer, string};
use crate::grammar::{DataType, Name, TensorData};
use crate::judge::with_stack;
use crate::syntax::tvm_json::{Graph, GraphError, Id};

/// What to do about a text that refers to metadata and has none.
pub(super) const ABSENT: &str = "this is in the metadata of the module, which the text does not have: print the module \
                                 with `mod.script(show_meta=True)`, or save it with `tvm.ir.save_json(mod)`";

/// The objects, by their types and numbers.
pub(super) struct Metadata<'t> {
    graph: Graph<'t>,
    lists: FxHashMap<Name, Vec<Id>>,
}

/// What an entry is, as far as programs have a use for it.
pub(super) enum MetadataEntry {
    Tensor(TensorData),
    Text(Name),
    DataType(DataType),
}

impl<'t> Metadata<'t> {
    pub fn parse(text: &'t str) -> Result<Metadata<'t>, GraphError> {
        let graph = Graph::parse(text)?;
        let lists = graph.dict(graph.root())?;
        let lists = lists
            .into_iter()
            .map(|(name, list)| Ok((name, graph.list(list)?.to_vec())))
            .collect::<Result<_, GraphError>>()?;
        Ok(Metadata { graph, lists })
    }

    /// An entry, by the list that it is in and its number there.
    pub fn entry(&self, list: &str, number: usize) -> Result<MetadataEntry, GraphError> {
        let found = self.lists.get(list).and_then(|list| list.get(number)).copied();
        let id = found.ok_or_else(|| GraphError::new(format!("the metadata has no {list} of the number {number}")))?;
        self.object(id)
    }

    fn object(&self, id: Id) -> Result<MetadataEntry, GraphError> {
        with_stack(|| self.object_at(id))
    }

    fn object_at(&self, id: Id) -> Result<MetadataEntry, GraphError> {
        match self.graph.kind(id) {
            "ffi.Tensor" => self.graph.tensor(id).map(MetadataEntry::Tensor),
            "ffi.String" => self.graph.text(id).map(MetadataEntry::Text),
            "DataType" => {
                let word = self.graph.text(id)?;
                word.parse().map(MetadataEntry::DataType).map_err(|_| self.graph.error(id, "expected a data type"))
            }
            "relax.expr.Constant" => {
                let fields = self.graph.fields(id)?;
                self.object(fields.node("data")?)
            }
            "ir.GenericConst" | "tirx.StringImm" | "tir.StringImm" | "ir.StringImm" | "relax.expr.StringImm" => {
                let fields = self.graph.fields(id)?;
                match fields.node("value") {
                    Ok(value) => self.object(value),
                    Err(_) => fields.text("value").map(MetadataEntry::Text),
                }
            }
            _ => self.graph.wrong(id, "expected a tensor or a string"),
        }
    }
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
