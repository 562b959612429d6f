//! The report as JSON lines: one object per case, then one with the sum.

use std::collections::BTreeMap;

use serde_json::json;

use super::{CaseRow, ConformanceReport, ReportError};
use relax_spec::data::json::to_value;
use relax_spec::grammar::visible_json;
use relax_spec::question::Outcome;
use relax_spec::suite::ledger::{KnownDivergence, Standing};

/// A line of JSON for each case, and one with the sum.
pub fn jsonl(report: &ConformanceReport) -> Result<String, ReportError> {
    let cases = report.rows.iter().map(jsonl_case);
    cases.chain([jsonl_sum(report)]).collect()
}

/// The line of a case.
pub fn jsonl_case(row: &CaseRow) -> Result<String, ReportError> {
    line(&case(row))
}

/// The line with the sum, which is the last.
pub fn jsonl_sum(report: &ConformanceReport) -> Result<String, ReportError> {
    line(&sum(report))
}

fn line(value: &serde_json::Value) -> Result<String, ReportError> {
    Ok(visible_json(&format!("{value}\n")).into_owned())
}

fn case(row: &CaseRow) -> serde_json::Value {
    let given = match &row.result.outcome {
        Outcome::Answer { answer, .. } => to_value(answer),
        _ => serde_json::Value::Null,
    };
    let expected: Vec<serde_json::Value> = row.case.allow.iter().map(to_value).collect();
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

fn sum(report: &ConformanceReport) -> serde_json::Value {
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
    })
}
