//! The graph of nodes in the format of `tvm.ir.save_json`: a list in which nodes refer to each other by number.

use std::borrow::Cow;
use std::cell::{Cell, RefCell};
use std::ops::Deref;

use rustc_hash::FxHashMap;
use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

use super::tensor::{escapes_slashes_only, saved_tensor, saved_tensor_in_json};
use crate::grammar::{AttrValue, DataType, FloatBits, Name, TensorData};

/// The reason why such a graph cannot be read, with the node.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{message}")]
pub struct GraphError {
    /// The error, with the number and type of the node.
    pub message: String,
}

/// The result of reading, or an error.
pub(super) type GraphResult<T> = Result<T, GraphError>;

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

/// The limit on visits of nodes: this many per node on average, plus a constant. The tree of a program repeats shared
/// nodes. No file of TVM comes near the limit. But nested sharing of nodes could make an unlimited tree.
const LOOKS_AT_A_NODE: usize = 64;
const LOOKS: usize = 10_000;

/// The maximum number of times that a node may be open within itself. A reader may open it again for another field, but
/// not without limit.
const OPEN_WITHIN_ITSELF: usize = 8;

/// The maximum number of nested open nodes.
const OPEN_AT_ONCE: usize = 100_000;

/// A graph. The contents of nodes are parsed on demand.
pub(in crate::syntax) struct Graph<'t> {
    root: Id,
    nodes: Vec<RawNode<'t>>,
    /// The remaining number of visits of nodes.
    looks: Cell<usize>,
    /// For each node, how many times it is open; and the number of open nodes.
    open: RefCell<FxHashMap<Id, usize>>,
    depth: Cell<usize>,
    /// Whether integer constants have types, and contain their values directly. This is so only in 0.26.
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
    /// It is not JSON, or has a different form.
    pub fn parse(text: &'t str) -> GraphResult<Graph<'t>> {
        let whole: Whole<'t> = serde_json::from_str(text).map_err(|error| GraphError::new(error.to_string()))?;
        let plain_constants = whole.metadata.is_some_and(|said| said.get().contains("\"0.26."));
        let (root, count) = (whole.root_index, whole.nodes.len());
        if root >= count {
            return Err(GraphError::new(format!("the root is node {root}, and there are {count} nodes")));
        }
        let looks = Cell::new(count.saturating_mul(LOOKS_AT_A_NODE).saturating_add(LOOKS));
        let (open, depth) = (RefCell::default(), Cell::new(0));
        Ok(Graph { root, nodes: whole.nodes, looks, open, depth, plain_constants })
    }

    pub fn root(&self) -> Id {
        self.root
    }

    /// The type of a node; `None` for the node that stands for no object.
    pub fn kind(&self, id: Id) -> &str {
        self.nodes.get(id).map_or("no node", |node| &node.kind)
    }

    /// The type without its namespaces, which differ between releases.
    pub fn short(&self, id: Id) -> &str {
        let kind = self.kind(id);
        kind.rsplit('.').next().unwrap_or(kind)
    }

    pub fn is_none(&self, id: Id) -> bool {
        self.kind(id) == "None"
    }

    /// An error at a node.
    pub fn wrong<T>(&self, id: Id, what: &str) -> GraphResult<T> {
        Err(self.error(id, what))
    }

    pub fn error(&self, id: Id, what: &str) -> GraphError {
        GraphError::new(format!("node {id} ({}): {what}", self.kind(id)))
    }

    fn data(&self, id: Id) -> Option<&'t str> {
        self.nodes.get(id).and_then(|node| node.data).map(RawValue::get)
    }

    fn value<T: Deserialize<'t>>(&self, id: Id, what: &str) -> GraphResult<T> {
        serde_json::from_str(self.looked_at(id, what)?).map_err(|_| self.error(id, what))
    }

    /// The JSON of a node. This counts as a visit.
    fn looked_at(&self, id: Id, what: &str) -> GraphResult<&'t str> {
        let Some(looks) = self.looks.get().checked_sub(1) else {
            return self.wrong(id, "the nodes refer to each other so often that the program would be too large");
        };
        self.looks.set(looks);
        self.data(id).ok_or_else(|| self.error(id, what))
    }

    /// Opens a node while its parts are being read.
    fn enter(&self, id: Id) -> GraphResult<NodeGuard<'_, 't>> {
        if self.depth.get() == OPEN_AT_ONCE {
            return self.wrong(id, "the nodes stand in each other too deep");
        }
        let mut open = self.open.borrow_mut();
        let times = open.entry(id).or_insert(0);
        if *times == OPEN_WITHIN_ITSELF {
            return self.wrong(id, "it is a part of itself");
        }
        *times += 1;
        self.depth.update(|depth| depth + 1);
        Ok(NodeGuard { graph: self, id })
    }

    /// The fields of an object.
    pub fn fields(&self, id: Id) -> GraphResult<NodeFields<'_, 't>> {
        let fields = self.value(id, "expected an object with fields")?;
        Ok(NodeFields { graph: self, id, fields, _open: self.enter(id)? })
    }

    /// The members of an array.
    pub fn list(&self, id: Id) -> GraphResult<Members<'_, 't, Id>> {
        let members: Vec<Id> = if self.is_none(id) { Vec::new() } else { self.value(id, "expected an array")? };
        // Nothing is read in an empty array, and one such array may be shared by many nodes.
        let open = if members.is_empty() { None } else { Some(self.enter(id)?) };
        Ok(Members { members, open })
    }

    /// The entries of a map.
    pub fn map(&self, id: Id) -> GraphResult<Members<'_, 't, (Id, Id)>> {
        let Members { members: flat, open } = self.list(id)?;
        if !flat.len().is_multiple_of(2) {
            return self.wrong(id, "expected keys with values");
        }
        let members = flat.chunks(2).filter_map(|pair| Some((*pair.first()?, *pair.get(1)?))).collect();
        Ok(Members { members, open })
    }

    /// The entries of a map whose keys are strings.
    pub fn dict(&self, id: Id) -> GraphResult<Members<'_, 't, (Name, Id)>> {
        let Members { members: entries, open } = self.map(id)?;
        let members =
            entries.into_iter().map(|(key, value)| Ok((self.text(key)?, value))).collect::<GraphResult<_>>()?;
        Ok(Members { members, open })
    }

    /// A string.
    pub fn text(&self, id: Id) -> GraphResult<Name> {
        let text: Cow<'t, str> = self.value::<JsonText<'t>>(id, "expected a string")?.0;
        Ok(text.as_ref().into())
    }

    /// A boxed integer.
    pub fn int(&self, id: Id) -> GraphResult<i64> {
        self.value(id, "expected an integer")
    }

    /// The value of an attribute that is plain data, boxed or not; `None` for strings and for objects with other nodes.
    pub fn plain_attr(&self, id: Id) -> GraphResult<Option<AttrValue>> {
        let float = |value| AttrValue::Float(FloatBits::new(value));
        let plain = match (self.kind(id), self.short(id)) {
            ("None", _) => AttrValue::None,
            ("bool", _) => AttrValue::Bool(self.bool(id)?),
            ("int", _) => AttrValue::Int(self.int(id)?),
            ("float", _) => float(self.float(id)?),
            ("DataType", _) => AttrValue::DataType(self.data_type(id)?),
            (_, "IntImm") => {
                let fields = self.fields(id)?;
                let is_bool = self.dtype_of(&fields)?.is_bool();
                let value = self.int_imm(&fields)?;
                if is_bool { AttrValue::Bool(value != 0) } else { AttrValue::Int(value) }
            }
            (_, "FloatImm") => {
                let value = self.fields(id)?.get("value").and_then(float_of);
                float(value.ok_or_else(|| self.error(id, "expected a number"))?)
            }
            (_, "PrimType") => AttrValue::DataType(self.fields(id)?.dtype("dtype")?),
            _ => return Ok(None),
        };
        Ok(Some(plain))
    }

    /// A boxed truth value.
    pub fn bool(&self, id: Id) -> GraphResult<bool> {
        self.value(id, "expected a truth value")
    }

    /// A boxed number.
    pub fn float(&self, id: Id) -> GraphResult<f64> {
        let number: Value = self.value(id, "expected a number")?;
        float_of(&number).ok_or_else(|| self.error(id, "expected a number"))
    }

    /// The data of a tensor.
    pub fn tensor(&self, id: Id) -> GraphResult<TensorData> {
        let data = self.looked_at(id, "expected a tensor")?;
        let quoted = data.strip_prefix('"').and_then(|data| data.strip_suffix('"'));
        let read = match quoted.filter(|text| escapes_slashes_only(text)) {
            Some(text) => saved_tensor_in_json(text),
            None => {
                let text: JsonText<'t> = serde_json::from_str(data).map_err(|_| self.error(id, "expected a tensor"))?;
                saved_tensor(&text.0)
            }
        };
        read.map_err(|message| self.error(id, &message))
    }
}

/// A string that is borrowed if it has no escapes.
#[derive(Deserialize)]
struct JsonText<'t>(#[serde(borrow)] Cow<'t, str>);

/// A number. The writer has words for numbers that JSON does not have.
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

/// A node that is being read, until this is dropped.
struct NodeGuard<'g, 't> {
    graph: &'g Graph<'t>,
    id: Id,
}

impl Drop for NodeGuard<'_, '_> {
    fn drop(&mut self) {
        self.graph.depth.update(|depth| depth.saturating_sub(1));
        let mut open = self.graph.open.borrow_mut();
        if let Some(times) = open.get_mut(&self.id) {
            *times -= 1;
            if *times == 0 {
                open.remove(&self.id);
            }
        }
    }
}

/// The members of an array, or the entries of a map, which is open while they are being read.
pub(in crate::syntax) struct Members<'g, 't, T> {
    members: Vec<T>,
    open: Option<NodeGuard<'g, 't>>,
}

/// The same as [`Members`], one by one.
pub(in crate::syntax) struct OneByOne<'g, 't, T> {
    members: std::vec::IntoIter<T>,
    _open: Option<NodeGuard<'g, 't>>,
}

impl<T> Deref for Members<'_, '_, T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        &self.members
    }
}

impl<'g, 't, T> IntoIterator for Members<'g, 't, T> {
    type Item = T;
    type IntoIter = OneByOne<'g, 't, T>;

    fn into_iter(self) -> OneByOne<'g, 't, T> {
        OneByOne { members: self.members.into_iter(), _open: self.open }
    }
}

impl<T> Iterator for OneByOne<'_, '_, T> {
    type Item = T;

    fn next(&mut self) -> Option<T> {
        self.members.next()
    }
}

/// The fields of a node.
pub(in crate::syntax) struct NodeFields<'g, 't> {
    graph: &'g Graph<'t>,
    pub id: Id,
    fields: serde_json::Map<String, Value>,
    _open: NodeGuard<'g, 't>,
}

impl<'g, 't> NodeFields<'g, 't> {
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
    pub fn node(&self, name: &str) -> GraphResult<Id> {
        let id = self.get(name).and_then(Value::as_u64).and_then(|id| usize::try_from(id).ok());
        id.ok_or_else(|| self.missing(name))
    }

    /// The node of the first of these names that exists.
    pub fn either(&self, names: &[&str]) -> GraphResult<Id> {
        let found = names.iter().find(|name| self.has(name)).copied();
        self.node(found.unwrap_or(names.first().copied().unwrap_or_default()))
    }

    /// The node that a field refers to, unless there is no object.
    pub fn optional(&self, name: &str) -> Option<Id> {
        self.node(name).ok().filter(|id| !self.graph.is_none(*id))
    }

    /// The members of the array that a field refers to.
    pub fn list(&self, name: &str) -> GraphResult<Members<'g, 't, Id>> {
        self.graph.list(self.node(name)?)
    }

    /// An integer in the field itself.
    pub fn int(&self, name: &str) -> GraphResult<i64> {
        self.get(name).and_then(Value::as_i64).ok_or_else(|| self.missing(name))
    }

    /// A truth value, in the field itself or as a node.
    pub fn bool(&self, name: &str) -> GraphResult<bool> {
        match self.get(name) {
            Some(Value::Bool(value)) => Ok(*value),
            Some(_) | None => self.graph.bool(self.node(name)?),
        }
    }

    /// The text of a node that a field refers to, or in the field itself.
    pub fn text(&self, name: &str) -> GraphResult<Name> {
        match self.get(name) {
            Some(Value::String(text)) => Ok(text.as_str().into()),
            Some(_) | None => self.graph.text(self.node(name)?),
        }
    }

    /// A datatype as a word.
    pub fn dtype(&self, name: &str) -> GraphResult<DataType> {
        let word = self.text(name)?;
        word.parse().map_err(|_| self.graph.error(self.id, &format!("`{word}` is not a data type")))
    }

    fn missing(&self, name: &str) -> GraphError {
        self.graph.error(self.id, &format!("expected a field `{name}`"))
    }
}

#[cfg(test)]
mod tests {
    use crate::syntax::load::{self, ExternalForm};

    /// The result for a module with one function. Its body is the last of these nodes, which are the fifth and later
    /// ones.
    fn of_body(nodes: &str, body: usize) -> String {
        let text = format!(
            r#"{{"root_index": 0, "nodes": [
                {{"type": "ir.IRModule", "data": {{"functions": 1, "global_infos": 4, "attrs": 4, "source_map": 4}}}},
                {{"type": "ffi.Map", "data": [2, 3]}},
                {{"type": "ir.GlobalVar", "data": {{"name_hint": "main"}}}},
                {{"type": "relax.expr.Function", "data": {{"params": 4, "body": {body}, "ret_struct_info": 4, "is_pure": true,
                    "attrs": 4}}}},
                {{"type": "None"}},
                {nodes}]}}"#
        );
        load::parse(ExternalForm::Json, &text)
            .map_or_else(|error| error.to_string(), |module| format!("{} functions", module.funcs.len()))
    }

    fn tuple(fields: usize) -> String {
        format!(r#"{{"type": "relax.expr.Tuple", "data": {{"fields": {fields}, "struct_info_": 4}}}}"#)
    }

    fn array(members: &str) -> String {
        format!(r#"{{"type": "ffi.Array", "data": [{members}]}}"#)
    }

    #[test]
    fn a_tuple_of_tuples() {
        let nodes = [array("7, 7"), tuple(5), tuple(8), array("")].join(",");
        assert_eq!(of_body(&nodes, 6), "1 functions");
    }

    #[test]
    fn a_part_of_itself() {
        let nodes = [tuple(6), array("5")].join(",");
        let said = of_body(&nodes, 5);
        assert!(said.contains("it is a part of itself"), "{said}");
    }

    /// The result for a module whose attribute `a` is the first of these nodes.
    fn of_attribute(nodes: &str) -> String {
        let text = format!(
            r#"{{"root_index": 0, "nodes": [
                {{"type": "ir.IRModule", "data": {{"functions": 2, "global_infos": 1, "attrs": 3, "source_map": 1}}}},
                {{"type": "None"}},
                {{"type": "ffi.Map", "data": []}},
                {{"type": "ffi.Map", "data": [4, 5]}},
                {{"type": "ffi.String", "data": "a"}},
                {nodes}]}}"#
        );
        load::parse(ExternalForm::Json, &text)
            .map_or_else(|error| error.to_string(), |module| format!("{} attributes", module.attrs.len()))
    }

    #[test]
    fn containers_that_are_parts_of_themselves() {
        let map = |entries: &str| format!(r#"{{"type": "ffi.Map", "data": [{entries}]}}"#);
        assert_eq!(of_attribute(&[array("6, 6"), map("4, 7"), array("")].join(",")), "1 attributes");
        for nodes in [
            vec![array("5")],
            vec![array("5, 5")],
            vec![map("4, 5")],
            vec![array("6"), map("4, 7"), array("4, 5")],
            vec![array("6, 6"), array("5, 5")],
        ] {
            let said = of_attribute(&nodes.join(","));
            assert!(said.contains("it is a part of itself"), "{nodes:?}: {said}");
        }
    }

    #[test]
    fn nodes_in_nodes_up_to_a_depth() {
        let chain = |depth: usize| {
            let arrays = (0..depth).map(|i| array(&(6 + i).to_string())).collect::<Vec<_>>();
            of_attribute(&(arrays.join(",") + "," + &array("")))
        };
        assert_eq!(chain(1_000), "1 attributes");
        let said = chain(super::OPEN_AT_ONCE);
        assert!(said.contains("too deep"), "{said}");
    }

    #[test]
    fn shared_without_end() {
        let pairs = (0..60).map(|i| [array(&format!("{0}, {0}", 8 + 2 * i)), tuple(5 + 2 * i)].join(","));
        let nodes = pairs.collect::<Vec<_>>().join(",") + "," + &[array(""), tuple(125)].join(",");
        let said = of_body(&nodes, 6);
        assert!(said.contains("so often that the program would be too large"), "{said}");
    }

    #[test]
    fn numbers_of_no_node() {
        let said = of_body(&tuple(1_000_000_000_000_000_000), 5);
        assert!(said.contains("(no node): expected an array"), "{said}");
        let said = load::parse(ExternalForm::Json, r#"{"root_index": 3, "nodes": []}"#).unwrap_err().to_string();
        assert!(said.contains("the root is node 3, and there are 0 nodes"), "{said}");
    }
}
