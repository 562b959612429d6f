//! Findings in the forms of code hosts: SARIF, and the commands of GitHub's workflows. Both are made from the findings
//! in JSON, so that they say the same.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use serde_json::{Value, json};

use relax_spec::book::Rule;

/// A log in the Static Analysis Results Interchange Format 2.1.0.
pub fn sarif(findings: &[Value]) -> Value {
    let results: Vec<&Value> = findings.iter().filter(|finding| is_told(finding)).collect();
    let mut indices: BTreeMap<&str, usize> = results.iter().map(|finding| (rule_of(finding), 0)).collect();
    indices.values_mut().enumerate().for_each(|(i, index)| *index = i);
    let rules: Vec<Value> = indices.keys().map(|id| described(id)).collect();
    let results: Vec<Value> = results.iter().map(|finding| result(finding, indices[rule_of(finding)])).collect();
    json!({
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [{
            "tool": {"driver": {"name": "relax-spec", "version": env!("CARGO_PKG_VERSION"), "rules": rules}},
            "columnKind": "unicodeCodePoints",
            "results": results,
        }],
    })
}

/// A line for each finding, which a workflow of GitHub shows beside the line of the file.
pub fn github(findings: &[Value]) -> String {
    let mut out = String::new();
    for finding in findings.iter().filter(|finding| is_told(finding)) {
        let command = match text(finding, "severity") {
            "error" => "error",
            "warning" => "warning",
            _ => "notice",
        };
        let mut properties = format!("file={}", property(text(finding, "file")));
        for (end, line, column) in [("start", "line", "col"), ("end", "endLine", "endColumn")] {
            if let (Some(at), Some(in_line)) = (number(finding, end, "line"), number(finding, end, "column")) {
                let _ = write!(properties, ",{line}={at},{column}={in_line}");
            }
        }
        let _ = write!(properties, ",title={}", property(rule_of(finding)));
        let _ = writeln!(out, "::{command} {properties}::{}", data(&message(finding)));
    }
    out
}

/// Notes, such as on the edition, are not about a place.
fn is_told(finding: &Value) -> bool {
    text(finding, "severity") != "note"
}

/// The id of what is broken. What is no program at all breaks no rule of the text.
fn rule_of(finding: &Value) -> &str {
    match text(finding, "rule") {
        "" => "unreadable",
        rule => rule,
    }
}

fn described(id: &str) -> Value {
    let words = match id.parse::<Rule>() {
        Ok(rule) => rule.info().text.split("\n\n").next().unwrap_or_default().replace('\n', " "),
        Err(_) => "The text is no program.".to_string(),
    };
    json!({"id": id, "shortDescription": {"text": words}})
}

fn result(finding: &Value, index: usize) -> Value {
    let level = match text(finding, "severity") {
        "error" => "error",
        "warning" => "warning",
        _ => "note",
    };
    let mut place = json!({"artifactLocation": {"uri": address(text(finding, "file"))}});
    let region: serde_json::Map<String, Value> = [
        ("startLine", number(finding, "start", "line")),
        ("startColumn", number(finding, "start", "column")),
        ("endLine", number(finding, "end", "line")),
        ("endColumn", number(finding, "end", "column")),
    ]
    .into_iter()
    .filter_map(|(name, value)| Some((name.to_string(), value?.into())))
    .collect();
    if !region.is_empty() {
        place["region"] = Value::Object(region);
    }
    json!({
        "ruleId": rule_of(finding),
        "ruleIndex": index,
        "level": level,
        "message": {"text": message(finding)},
        "locations": [{"physicalLocation": place}],
    })
}

fn message(finding: &Value) -> String {
    let hint = match text(finding, "hint") {
        "" => String::new(),
        hint => format!("\nhelp: {hint}"),
    };
    format!("{}{hint}", text(finding, "message"))
}

fn text<'v>(finding: &'v Value, field: &str) -> &'v str {
    finding.get(field).and_then(Value::as_str).unwrap_or_default()
}

fn number(finding: &Value, end: &str, field: &str) -> Option<u64> {
    finding.get(end)?.get(field)?.as_u64()
}

/// A path as a relative reference.
fn address(path: &str) -> String {
    let mut out = String::new();
    for byte in path.replace('\\', "/").bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'/' | b'-' | b'_' | b'.' | b'~' => out.push(byte.into()),
            other => {
                let _ = write!(out, "%{other:02X}");
            }
        }
    }
    out
}

/// The text of a workflow's command.
fn data(text: &str) -> String {
    text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")
}

/// A property of a workflow's command.
fn property(text: &str) -> String {
    data(text).replace(':', "%3A").replace(',', "%2C")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn findings() -> Vec<Value> {
        vec![
            json!({"file": "a b,c.py", "severity": "error", "rule": "WF.13.NDIM", "message": "100 %\nx",
                   "hint": "set ndim to 2", "start": {"line": 3, "column": 5}, "end": {"line": 3, "column": 6}}),
            json!({"file": "a b,c.py", "severity": "note", "rule": null, "message": "edition 2023-02"}),
            json!({"file": "d.py", "severity": "error", "rule": null, "message": "it is empty"}),
            json!({"file": "d.py", "severity": "limit", "rule": "WF.13.NDIM", "message": "too deep"}),
        ]
    }

    #[test]
    fn a_workflow_is_told() {
        let expected = "::error file=a b%2Cc.py,line=3,col=5,endLine=3,endColumn=6,title=WF.13.NDIM::100 %25%0Ax%0A\
                        help: set ndim to 2\n\
                        ::error file=d.py,title=unreadable::it is empty\n\
                        ::notice file=d.py,title=WF.13.NDIM::too deep\n";
        assert_eq!(github(&findings()), expected);
    }

    #[test]
    fn each_result_names_its_rule_by_number() {
        let log = sarif(&findings());
        let run = &log["runs"][0];
        let results = run["results"].as_array().unwrap();
        assert_eq!(results.len(), 3);
        for result in results {
            let index = usize::try_from(result["ruleIndex"].as_u64().unwrap()).unwrap();
            assert_eq!(run["tool"]["driver"]["rules"][index]["id"], result["ruleId"]);
        }
        let place = &results[0]["locations"][0]["physicalLocation"];
        assert_eq!(place["artifactLocation"]["uri"], "a%20b%2Cc.py");
        assert_eq!(place["region"], json!({"startLine": 3, "startColumn": 5, "endLine": 3, "endColumn": 6}));
        assert_eq!(results[2]["level"], "note");
        assert!(results[1]["locations"][0]["physicalLocation"].get("region").is_none());
    }
}
