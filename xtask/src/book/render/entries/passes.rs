//! The page of a pass of TVM: its row of the table, which `conformance/adapters/tvm/checks/pass_table.py` measures.

use std::fmt::Write as _;
use std::fs;

use serde_json::Value;

use super::super::links::root;
use super::Entry;

/// The measurements: a line with the names of the columns, and one for each pass.
const FILE: &str = "conformance/passes.jsonl";

/// A page for each pass.
///
/// # Errors
///
/// The measurements cannot be read.
pub fn passes() -> Result<Vec<Entry>, String> {
    let text = fs::read_to_string(root().join(FILE)).map_err(|error| format!("{FILE}: {error}"))?;
    let lines = text.lines().map(|line| serde_json::from_str(line).map_err(|error| format!("{FILE}: {error}")));
    let lines = lines.collect::<Result<Vec<Value>, String>>()?;
    let (head, rows) = lines.split_first().ok_or_else(|| format!("{FILE} is empty"))?;
    Ok(rows.iter().map(|row| pass(&texts(&head["columns"]), row)).collect())
}

fn texts(list: &Value) -> Vec<&str> {
    list.as_array().into_iter().flatten().filter_map(Value::as_str).collect()
}

fn pass(columns: &[&str], row: &Value) -> Entry {
    let name = row["pass"].as_str().unwrap_or_default();
    let mut out = format!("# {name}\n\n| | |\n| --- | ---: |\n");
    for (column, cell) in columns.iter().zip(texts(&row["cells"])) {
        let _ = writeln!(out, "| {column} | {cell} |");
    }
    out.push_str("\n[All passes](../passes.md), and what the columns mean.\n");
    Entry { path: format!("passes/{name}.md"), title: name.to_string(), content: out }
}
