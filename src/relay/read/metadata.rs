//! The section of constants of later Relay: tensors after the program, which refers to them by number.

use std::collections::BTreeMap;

use serde::Deserialize;

use crate::grammar::{Span, TensorData};
use crate::syntax::saved_tensor;

/// The first line of the section.
const BEGINS: &str = "#[metadata]";
/// The name of constants, in the section and in references to it.
pub(in crate::relay) const CONSTANT: &str = "relay.Constant";

/// A graph of nodes that refer to each other by number, as saved by releases before 0.20.
#[derive(Deserialize)]
struct Section {
    root: usize,
    nodes: Vec<MetadataNode>,
    #[serde(default)]
    b64ndarrays: Vec<String>,
}

#[derive(Deserialize, Default)]
struct MetadataNode {
    type_key: String,
    #[serde(default)]
    keys: Vec<String>,
    #[serde(default)]
    data: Vec<usize>,
    #[serde(default)]
    attrs: BTreeMap<String, String>,
}

/// Splits a text into the program and the section after it.
pub(super) fn split(text: &str) -> (&str, Option<&str>) {
    let begins = |at: usize| at == 0 || text.as_bytes().get(at - 1) == Some(&b'\n');
    let found = text.match_indices(BEGINS).map(|(at, _)| at).find(|at| begins(*at));
    match found.and_then(|at| text.split_at_checked(at)) {
        Some((program, section)) => (program, section.strip_prefix(BEGINS)),
        None => (text, None),
    }
}

/// The position of the section in a text that has one.
pub(super) fn place(program: &str) -> Span {
    let start = u32::try_from(program.len()).unwrap_or(u32::MAX);
    Span::new(start, start.saturating_add(BEGINS.len() as u32))
}

/// The constants, in the order of their numbers. Each may be unreadable by itself.
///
/// # Errors
///
/// The section as a whole is invalid.
pub(super) fn constants(section: &str) -> Result<Vec<Result<TensorData, String>>, String> {
    let section: Section = serde_json::from_str(section).map_err(|error| error.to_string())?;
    let node = |id: usize| section.nodes.get(id).ok_or_else(|| format!("there is no node {id}"));
    let root = node(section.root)?;
    let Some(list) = root.keys.iter().position(|key| key == CONSTANT) else { return Ok(Vec::new()) };
    let list = root.data.get(list).copied().ok_or("the list of constants is missing")?;
    let constant = |id: &usize| {
        let node = node(*id)?;
        let number = node.attrs.get("data").filter(|_| node.type_key == CONSTANT);
        let number: Option<usize> = number.and_then(|number| number.parse().ok());
        let saved = number.and_then(|number| section.b64ndarrays.get(number));
        saved_tensor(saved.ok_or_else(|| format!("node {id} is no constant with a tensor"))?)
    };
    Ok(node(list)?.data.iter().map(constant).collect())
}
