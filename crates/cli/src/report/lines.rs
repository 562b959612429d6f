//! The report as JSON lines: a header, one object per case, then one with the sum. All other pages are made from them.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::{CaseRow, ConformanceReport, ReportError};
use crate::export::suite_hash;
use ask::protocol::Identity;
use relax_spec::book::Edition;
use relax_spec::data::json::to_value;
use relax_spec::grammar::visible_json;
use relax_spec::question::Outcome;
use relax_spec::suite::Case;
use relax_spec::suite::ledger::{KnownDivergence, Standing};

/// What is known of a run before it begins.
#[derive(Clone, PartialEq, Debug)]
pub struct RunHeader(Value);

/// The version of the form of the lines.
const FORMAT: u32 = 1;

impl RunHeader {
    /// The header of a run: who is asked, by which edition, and which suite, of which `asked` cases are asked.
    pub fn new(implementation: &Identity, edition: Edition, suite: &[Case], asked: usize) -> RunHeader {
        RunHeader(json!({
            "type": "header",
            "format": FORMAT,
            "relax_spec": env!("CARGO_PKG_VERSION"),
            "implementation": to_value(implementation),
            "edition": edition.name(),
            "suite": { "hash": suite_hash(suite), "cases": suite.len() },
            "asked": asked,
        }))
    }
}

/// The header, a line of JSON for each case, and one with the sum.
pub fn jsonl(report: &ConformanceReport) -> Result<String, ReportError> {
    let cases = report.rows.iter().map(jsonl_case);
    [jsonl_header(report.header)].into_iter().chain(cases).chain([jsonl_sum(report)]).collect()
}

/// The first line.
pub fn jsonl_header(header: &RunHeader) -> Result<String, ReportError> {
    line(&header.0)
}

/// The line of a case.
pub fn jsonl_case(row: &CaseRow) -> Result<String, ReportError> {
    line(&case(row))
}

/// The line with the sum, which is the last.
pub fn jsonl_sum(report: &ConformanceReport) -> Result<String, ReportError> {
    line(&sum(report))
}

fn line(value: &Value) -> Result<String, ReportError> {
    Ok(visible_json(&format!("{value}\n")).into_owned())
}

fn case(row: &CaseRow) -> Value {
    let given = match &row.result.outcome {
        Outcome::Answer { answer, .. } => to_value(answer),
        _ => Value::Null,
    };
    let expected: Vec<Value> = row.case.allow.iter().map(to_value).collect();
    json!({
        "type": "case",
        "case": row.case.id,
        "chapter": row.case.chapter(),
        "rules": row.case.rules,
        "op": row.case.ask.op(),
        "question": row.case.ask.in_full(),
        "verdict": row.verdict(),
        "outcome": row.result.outcome.class(),
        "expected": expected,
        "given": given,
        "message": row.result.outcome.to_string(),
        "why": row.result.comparison.why,
        "case_why": row.case.why,
        "notes": row.notes(),
        "link": known(row).and_then(|known| known.link.as_ref()),
        "literal": row.result.comparison.literal,
        "adds_purity": row.result.comparison.adds_purity,
        "unexpected": row.standing.is_unexpected(),
        "class": known(row).and_then(|known| known.class),
        "clause": known(row).and_then(|known| known.clause),
        "reason": known(row).map(|known| &known.reason),
        "divergence": row.divergence,
        "seconds": row.result.time.as_secs_f64(),
    })
}

fn known<'r>(row: &'r CaseRow) -> Option<&'r KnownDivergence> {
    match &row.standing {
        Standing::Known(known) | Standing::Changed(known) => Some(known),
        Standing::Expected | Standing::New => None,
    }
}

fn sum(report: &ConformanceReport) -> Value {
    let totals: BTreeMap<&str, usize> = report.totals().iter().map(|(verdict, n)| (verdict.name(), *n)).collect();
    json!({
        "type": "summary",
        "implementation": to_value(report.implementation),
        "edition": report.edition.name(),
        "cases": report.rows.len(),
        "totals": totals,
        "classes": report.by_class().into_iter().collect::<BTreeMap<&str, usize>>(),
        "adding_purity": report.adding_purity(),
        "unexpected": report.unexpected(),
        "stale": report.stale,
        "stopped": report.stopped,
        "diagnosis": report.diagnosis.to_string().lines().collect::<Vec<&str>>(),
    })
}
