//! The graph of nodes that `tvm.ir.save_json` writes: a list in which nodes refer to each other by number.

use std::borrow::Cow;

use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

use super::tensor::tensor;
use crate::grammar::{DataType, Name, TensorData};

/// Why such a graph cannot be read, and at which node.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{message}")]
pub struct GraphError {
    /// What is wrong, with the number and type of the node.
    pub message: String,
}

/// Reading either gives something or says why not.
pub(super) type Reading<T> = Result<T, GraphError>;

/// The number of a node.
pub(in crate::syntax) type Id = usize;

#[derive(Deserialize)]
struct Whole<'t> {
    root_index: usize,
    #[serde(borrow)]
    nodes: Vec<RawNode<'t>>,
    #[serde(borrow, default)]
    metadata: Option<&'t RawValue>,
}

#[derive(Deserialize)]
struct RawNode<'t> {
    #[serde(rename = "type", borrow)]
    kind: Cow<'t, str>,
    #[serde(borrow, default)]
    data: Option<&'t RawValue>,
}

/// A graph. What nodes hold is looked at when it is asked for.
pub(in crate::syntax) struct Graph<'t> {
    root: Id,
    nodes: Vec<RawNode<'t>>,
    /// Whether integer constants have types, and hold their values themselves: so it is in 0.26 alone.
    pub plain_constants: bool,
}

impl GraphError {
    pub fn new(message: impl Into<String>) -> GraphError {
        GraphError { message: message.into() }
    }
}

impl<'t> Graph<'t> {
    /// Splits a text into nodes.
    ///
    /// # Errors
    ///
    /// It is no JSON, or not of this form.
    pub fn parse(text: &'t str) -> Reading<Graph<'t>> {
        let whole: Whole<'t> = serde_json::from_str(text).map_err(|error| GraphError::new(error.to_string()))?;
        let plain_constants = whole.metadata.is_some_and(|said| said.get().contains("\"0.26."));
        Ok(Graph { root: whole.root_index, nodes: whole.nodes, plain_constants })
    }

    pub fn root(&self) -> Id {
        self.root
    }

    /// The type of a node; `None` for what is no node and for the node that says that there is nothing.
    pub fn kind(&self, id: Id) -> &str {
        self.nodes.get(id).map_or("None", |node| &node.kind)
    }

    /// The type without the names of the rooms that it stands in, which the releases move.
    pub fn short(&self, id: Id) -> &str {
        let kind = self.kind(id);
        kind.rsplit('.').next().unwrap_or(kind)
    }

    pub fn is_none(&self, id: Id) -> bool {
        self.kind(id) == "None"
    }

    /// An error at a node.
    pub fn wrong<T>(&self, id: Id, what: &str) -> Reading<T> {
        Err(self.error(id, what))
    }

    pub fn error(&self, id: Id, what: &str) -> GraphError {
        GraphError::new(format!("node {id} ({}): {what}", self.kind(id)))
    }

    fn data(&self, id: Id) -> Option<&'t str> {
        self.nodes.get(id).and_then(|node| node.data).map(RawValue::get)
    }

    fn value<T: Deserialize<'t>>(&self, id: Id, what: &str) -> Reading<T> {
        let data = self.data(id).ok_or_else(|| self.error(id, what))?;
        serde_json::from_str(data).map_err(|_| self.error(id, what))
    }

    /// The fields of an object.
    pub fn fields(&self, id: Id) -> Reading<Fields<'_, 't>> {
        Ok(Fields { graph: self, id, fields: self.value(id, "expected an object with fields")? })
    }

    /// The members of an array.
    pub fn list(&self, id: Id) -> Reading<Vec<Id>> {
        if self.is_none(id) { Ok(Vec::new()) } else { self.value(id, "expected an array") }
    }

    /// The entries of a map.
    pub fn map(&self, id: Id) -> Reading<Vec<(Id, Id)>> {
        let flat = self.list(id)?;
        if !flat.len().is_multiple_of(2) {
            return self.wrong(id, "expected keys with values");
        }
        Ok(flat.chunks(2).filter_map(|pair| Some((*pair.first()?, *pair.get(1)?))).collect())
    }

    /// The entries of a map whose keys are strings.
    pub fn dict(&self, id: Id) -> Reading<Vec<(Name, Id)>> {
        self.map(id)?.into_iter().map(|(key, value)| Ok((self.text(key)?, value))).collect()
    }

    /// A string.
    pub fn text(&self, id: Id) -> Reading<Name> {
        let text: Cow<'t, str> = self.value::<Text<'t>>(id, "expected a string")?.0;
        Ok(text.as_ref().into())
    }

    /// An integer of its own.
    pub fn int(&self, id: Id) -> Reading<i64> {
        self.value(id, "expected an integer")
    }

    /// A truth value of its own.
    pub fn bool(&self, id: Id) -> Reading<bool> {
        self.value(id, "expected a truth value")
    }

    /// A number of its own.
    pub fn float(&self, id: Id) -> Reading<f64> {
        let number: Value = self.value(id, "expected a number")?;
        float_of(&number).ok_or_else(|| self.error(id, "expected a number"))
    }

    /// The data of a tensor.
    pub fn tensor(&self, id: Id) -> Reading<TensorData> {
        let text: Cow<'t, str> = self.value::<Text<'t>>(id, "expected a tensor")?.0;
        tensor(&text).map_err(|message| self.error(id, &message))
    }
}

/// A string that is taken over as it stands where it has no escapes.
#[derive(Deserialize)]
struct Text<'t>(#[serde(borrow)] Cow<'t, str>);

/// A number; the writer has words for what JSON has no numbers for.
pub(super) fn float_of(value: &Value) -> Option<f64> {
    match value {
        Value::Number(number) => number.as_f64(),
        Value::String(word) => match word.trim_start_matches('+').to_ascii_lowercase().as_str() {
            "inf" | "infinity" => Some(f64::INFINITY),
            "-inf" | "-infinity" => Some(f64::NEG_INFINITY),
            "nan" | "-nan" => Some(f64::NAN),
            _ => None,
        },
        Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => None,
    }
}

/// The fields of a node.
pub(in crate::syntax) struct Fields<'g, 't> {
    graph: &'g Graph<'t>,
    pub id: Id,
    fields: serde_json::Map<String, Value>,
}

impl Fields<'_, '_> {
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.fields.keys().map(String::as_str)
    }

    pub fn has(&self, name: &str) -> bool {
        self.fields.contains_key(name)
    }

    pub fn get(&self, name: &str) -> Option<&Value> {
        self.fields.get(name)
    }

    /// The node that a field refers to.
    pub fn node(&self, name: &str) -> Reading<Id> {
        let id = self.get(name).and_then(Value::as_u64).and_then(|id| usize::try_from(id).ok());
        id.ok_or_else(|| self.missing(name))
    }

    /// The node of the first of these names that there is.
    pub fn either(&self, names: &[&str]) -> Reading<Id> {
        let found = names.iter().find(|name| self.has(name)).copied();
        self.node(found.unwrap_or(names.first().copied().unwrap_or_default()))
    }

    /// The node that a field refers to, unless it refers to nothing.
    pub fn optional(&self, name: &str) -> Option<Id> {
        self.node(name).ok().filter(|id| !self.graph.is_none(*id))
    }

    /// The members of the array that a field refers to.
    pub fn list(&self, name: &str) -> Reading<Vec<Id>> {
        self.graph.list(self.node(name)?)
    }

    /// An integer in the field itself.
    pub fn int(&self, name: &str) -> Reading<i64> {
        self.get(name).and_then(Value::as_i64).ok_or_else(|| self.missing(name))
    }

    /// A truth value, in the field itself or as a node.
    pub fn bool(&self, name: &str) -> Reading<bool> {
        match self.get(name) {
            Some(Value::Bool(value)) => Ok(*value),
            Some(_) | None => self.graph.bool(self.node(name)?),
        }
    }

    /// The text of a node that a field refers to, or that stands in it.
    pub fn text(&self, name: &str) -> Reading<Name> {
        match self.get(name) {
            Some(Value::String(text)) => Ok(text.as_str().into()),
            Some(_) | None => self.graph.text(self.node(name)?),
        }
    }

    /// A data type as a word.
    pub fn dtype(&self, name: &str) -> Reading<DataType> {
        let word = self.text(name)?;
        word.parse().map_err(|_| self.graph.error(self.id, &format!("`{word}` is not a data type")))
    }

    fn missing(&self, name: &str) -> GraphError {
        self.graph.error(self.id, &format!("expected a field `{name}`"))
    }
}
