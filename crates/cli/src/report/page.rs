//! Runs as one HTML page: a matrix, filters, a search, and every case with its question, answers and derivation. The
//! page needs no other file and no network.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};
use sha2::{Digest as _, Sha256};

use super::ReportError;
use super::runs::{KeptRun, id};
use super::template::{page, shown};
use relax_spec::book::Rule;
use relax_spec::suite::compare::CaseVerdict;

const HTML: &str = include_str!("report.html");
const SCRIPT: &str = include_str!("report.js");

/// The maximum length of the question of a case on which all agree. In full, those would be most of the page.
const LONGEST_QUESTION: usize = 120;

/// The page of some runs.
pub fn html(runs: &[KeptRun]) -> Result<String, ReportError> {
    let title = runs.iter().map(|run| format!("{} {}", run.name(), run.version())).collect::<Vec<String>>().join(", ");
    let data = serde_json::to_string(&shown(data(runs)))?;
    let whole = page(
        "report.html",
        HTML,
        &json!({
            "title": shown(Value::String(title)),
            "script_hash": format!("sha256-{}", base64(&Sha256::digest(SCRIPT))),
            // Put in below, because they are no text of HTML.
            "data": "",
            "script": "",
        }),
    )?;
    // No part of the data can end its element.
    let data = data.replace('<', "\\u003c");
    let whole = whole.replacen("id=\"data\"></script>", &format!("id=\"data\">{data}</script>"), 1);
    Ok(whole.replacen("<script></script>", &format!("<script>{SCRIPT}</script>"), 1))
}

fn data(runs: &[KeptRun]) -> Value {
    let mut rules = RuleTable::default();
    let mut rows: Vec<(&str, Vec<Option<&Value>>)> = Vec::new();
    let mut place: BTreeMap<&str, usize> = BTreeMap::new();
    for (at, run) in runs.iter().enumerate() {
        for case in &run.cases {
            let row = *place.entry(id(case)).or_insert_with(|| {
                rows.push((id(case), vec![None; runs.len()]));
                rows.len() - 1
            });
            if let Some(cell) = rows.get_mut(row).and_then(|(_, cells)| cells.get_mut(at)) {
                *cell = Some(case);
            }
        }
    }
    let cases: Vec<Value> = rows.iter().map(|(_, cells)| row(&mut rules, cells)).collect();
    // The first that there is of what a reader looks for.
    let unexpected = runs.iter().any(|run| run.unexpected() > 0);
    let found = runs.iter().flat_map(|run| &run.cases).any(|case| !case["divergence"].is_null());
    json!({
        "runs": runs.iter().map(told_run).collect::<Vec<Value>>(),
        "rules": rules.told(),
        "cases": cases,
        "start": if unexpected { "unexpected" } else if found { "findings" } else { "" },
    })
}

fn told_run(run: &KeptRun) -> Value {
    json!({ "title": run.title(), "summary": summary(run), "diagnosis": run.diagnosis() })
}

/// `81 cases: 42 agree, 33 diverge; 33 unexpected.`
pub fn summary(run: &KeptRun) -> String {
    let unasked = |name: &str| name == CaseVerdict::Unsupported.name();
    let total = |(name, count): &(&str, usize)| format!("{count} {}", if unasked(name) { "not asked" } else { *name });
    let totals: Vec<String> = run.totals().iter().map(total).collect();
    let classes: Vec<String> = run.classes().iter().map(|(class, count)| format!("{count} {class}")).collect();
    let known = if classes.is_empty() { String::new() } else { format!("; known: {}", classes.join(", ")) };
    let cut = if run.is_cut() { "; stopped early" } else { "" };
    let suite = run.suite().map(|hash| format!(" Suite {hash}.")).unwrap_or_default();
    let (cases, unexpected) = (run.cases.len(), run.unexpected());
    format!("{cases} cases: {}; {unexpected} unexpected{known}{cut}.{suite}", totals.join(", "))
}

/// The rules that occur, so that a case names them by number.
#[derive(Default)]
struct RuleTable {
    numbers: BTreeMap<String, usize>,
    ids: Vec<String>,
}

impl RuleTable {
    fn number(&mut self, rule: &str) -> usize {
        if let Some(known) = self.numbers.get(rule) {
            return *known;
        }
        self.numbers.insert(rule.to_string(), self.ids.len());
        self.ids.push(rule.to_string());
        self.ids.len() - 1
    }

    /// The id, the statement, and the place of each.
    fn told(&self) -> Vec<Value> {
        let told = |id: &String| match id.parse::<Rule>() {
            Ok(rule) => {
                let info = rule.info();
                json!([id, info.text, format!("{}:{}, source {}", info.file, info.line, info.source)])
            }
            Err(_) => json!([id, "a rule of another version", "unknown"]),
        };
        self.ids.iter().map(told).collect()
    }
}

/// A case with its lines, one per run.
fn row(rules: &mut RuleTable, cells: &[Option<&Value>]) -> Value {
    let lines: Vec<&Value> = cells.iter().copied().flatten().collect();
    let first = lines.first().copied().unwrap_or(&Value::Null);
    let told = lines.iter().copied().find(|line| !line["divergence"].is_null());
    let ids = first["rules"].as_array().into_iter().flatten().filter_map(Value::as_str);
    let mut case = Map::new();
    case.insert("id".to_string(), json!(id(first)));
    case.insert("chapter".to_string(), first["chapter"].clone());
    case.insert("rules".to_string(), ids.map(|id| rules.number(id)).collect::<Vec<usize>>().into());
    match told {
        Some(line) => {
            let divergence = &line["divergence"];
            case.insert("question".to_string(), divergence["question"].clone());
            case.insert("why".to_string(), line["case_why"].clone());
            for part in ["programs", "expected", "derivation"] {
                case.insert(part.to_string(), divergence[part].clone());
            }
        }
        None => {
            let question = first["question"].as_str().unwrap_or_default();
            case.insert("question".to_string(), question.chars().take(LONGEST_QUESTION).collect::<String>().into());
        }
    }
    let runs: Vec<Value> = cells.iter().map(|cell| cell.map_or(Value::Null, run_line)).collect();
    case.insert("runs".to_string(), Value::Array(runs));
    Value::Object(case)
}

/// The line of a case in a run, without what does not distinguish it from an agreement.
fn run_line(line: &Value) -> Value {
    let mut told = Map::new();
    told.insert("verdict".to_string(), line["verdict"].clone());
    let divergence = &line["divergence"];
    if line["verdict"] == CaseVerdict::Unsupported.name() {
        told.insert("message".to_string(), line["message"].clone());
    }
    if !divergence.is_null() {
        told.insert("class".to_string(), line["class"].clone());
        told.insert("notes".to_string(), line["notes"].clone());
        for part in ["given", "diff", "command"] {
            told.insert(part.to_string(), divergence[part].clone());
        }
    }
    if line["unexpected"] == true {
        told.insert("unexpected".to_string(), true.into());
    }
    told.retain(|_, value| !value.is_null());
    Value::Object(told)
}

/// Bytes in base64, as a content security policy has hashes.
fn base64(bytes: &[u8]) -> String {
    const DIGITS: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut out = String::new();
    for chunk in bytes.chunks(3) {
        let word = chunk.iter().fold(0u32, |word, byte| word << 8 | u32::from(*byte)) << (8 * (3 - chunk.len()));
        for at in 0..4 {
            let digit = DIGITS.get((word >> (18 - 6 * at) & 63) as usize).copied().unwrap_or(b'=');
            out.push(if at > chunk.len() { '=' } else { char::from(digit) });
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::runs::read;

    #[test]
    fn base64_is_that_of_rfc_4648() {
        for (bytes, expected) in [("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foobar", "Zm9vYmFy")] {
            assert_eq!(base64(bytes.as_bytes()), expected);
        }
    }

    #[test]
    fn no_answer_ends_the_element_of_the_data() {
        let line = r#"{"type":"case","case":"x/1","chapter":"x","rules":["SUB.TOP"],"question":"q","verdict":"diverge",
            "unexpected":true,"divergence":{"given":"</script><script>alert(1)</script><!--"}}"#;
        let page = html(&read(&line.replace('\n', "")).unwrap()).unwrap();
        assert_eq!(page.matches("</script>").count(), 2);
        assert!(!page.contains("<!--") && page.contains("\\u003c/script>"));
    }

    #[test]
    fn a_whole_suite_of_agreements_is_small() {
        let question = "evaluate(script of 6 lines, main, [..]) ".repeat(20);
        let line = |n| {
            json!({"type": "case", "case": format!("ops/some-operator-{n}"), "chapter": "ops", "rules": ["SUB.TOP"],
            "question": question, "verdict": "agree", "unexpected": false, "divergence": null})
        };
        let text: String = (0..15_000).map(|n| format!("{}\n", line(n))).collect();
        assert!(html(&read(&text).unwrap()).unwrap().len() < 5_000_000);
    }
}
