//! Metadata in the format of TVM before 0.21: nodes with a `type_key`, whose fields are strings, and tensors in a
//! separate list.

use std::borrow::Cow;

use rustc_hash::FxHashMap;
use serde::Deserialize;

use super::graph::{GraphError, GraphResult, Id};
use super::tensor::saved_tensor;
use crate::grammar::{DataType, Name, TensorData};

#[derive(Deserialize)]
struct SavedGraph<'t> {
    root: Id,
    #[serde(borrow)]
    nodes: Vec<SavedNode<'t>>,
    #[serde(borrow, default)]
    b64ndarrays: Vec<Cow<'t, str>>,
}

#[derive(Deserialize)]
struct SavedNode<'t> {
    #[serde(borrow)]
    type_key: Cow<'t, str>,
    #[serde(borrow, default)]
    attrs: FxHashMap<Cow<'t, str>, Cow<'t, str>>,
    #[serde(borrow, default)]
    keys: Vec<Cow<'t, str>>,
    #[serde(default)]
    data: Vec<Id>,
}

/// The nodes of metadata.
pub(in crate::syntax) struct OlderGraph<'t>(SavedGraph<'t>);

/// An entry, as far as programs use it.
pub(in crate::syntax) enum Older {
    Tensor(TensorData),
    Text(Name),
    DataType(DataType),
}

impl<'t> OlderGraph<'t> {
    /// Whether a text has this format: its nodes use a different key for their type.
    pub fn is_one(text: &str) -> bool {
        let head = text.get(..text.floor_char_boundary(1_000)).unwrap_or(text);
        head.contains("\"type_key\"") && !head.contains("\"root_index\"")
    }

    /// Splits a text into nodes.
    ///
    /// # Errors
    ///
    /// It is not JSON, or has a different form.
    pub fn parse(text: &'t str) -> GraphResult<OlderGraph<'t>> {
        serde_json::from_str(text).map(OlderGraph).map_err(|error| GraphError::new(error.to_string()))
    }

    /// The entries by their types.
    pub fn lists(&self) -> GraphResult<FxHashMap<Name, Vec<Id>>> {
        let root = self.node(self.0.root)?;
        let lists = root.keys.iter().zip(&root.data);
        lists.map(|(name, list)| Ok((Name::from(&**name), self.node(*list)?.data.clone()))).collect()
    }

    fn node(&self, id: Id) -> GraphResult<&SavedNode<'t>> {
        self.0.nodes.get(id).ok_or_else(|| GraphError::new(format!("there is no node {id}")))
    }

    /// An entry.
    pub fn object(&self, id: Id) -> GraphResult<Older> {
        let node = self.node(id)?;
        let wrong = |what: &str| GraphError::new(format!("node {id} ({}): {what}", node.type_key));
        let field = |name: &str| node.attrs.get(name).ok_or_else(|| wrong("it lacks what it holds"));
        match &*node.type_key {
            "relax.expr.Constant" => {
                let number = field("data")?.parse().ok();
                let tensor = number.and_then(|number: usize| self.0.b64ndarrays.get(number));
                let tensor = tensor.ok_or_else(|| wrong("there is no such tensor"))?;
                saved_tensor(tensor).map(Older::Tensor).map_err(|message| wrong(&message))
            }
            "relax.expr.DataTypeImm" => {
                field("value")?.parse().map(Older::DataType).map_err(|_| wrong("expected a data type"))
            }
            "relax.expr.StringImm" | "tir.StringImm" => Ok(Older::Text(Name::from(&**field("value")?))),
            _ => Err(wrong("expected a tensor or a string")),
        }
    }
}
