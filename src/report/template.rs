//! The reports that are documents: HTML and Markdown, from templates.

use minijinja::{Environment, context};
use serde_json::{Value, json};

use super::{CaseRow, Report, ReportError};
use crate::data::json::to_value;
use crate::suite::compare::CaseVerdict;
use crate::suite::ledger::Standing;

const HTML: &str = include_str!("report.html");
const MARKDOWN: &str = include_str!("report.md");

/// A page of HTML that needs no other file.
pub fn html(report: &Report) -> Result<String, ReportError> {
    render("report.html", HTML, report)
}

/// A page of Markdown.
pub fn markdown(report: &Report) -> Result<String, ReportError> {
    render("report.md", MARKDOWN, report)
}

/// The name's ending decides on escaping.
fn render(name: &'static str, template: &'static str, report: &Report) -> Result<String, ReportError> {
    let mut environment = Environment::new();
    environment.set_trim_blocks(true);
    environment.set_lstrip_blocks(true);
    environment.add_filter("cell", |text: String| text.replace('|', "\\|").replace('\n', " "));
    environment.add_template(name, template)?;
    let totals = report.totals();
    let columns: Vec<CaseVerdict> =
        CaseVerdict::ALL.into_iter().filter(|verdict| totals.contains_key(verdict)).collect();
    let counts = |counts: &super::Counts| -> Vec<usize> {
        columns.iter().map(|verdict| counts.get(verdict).copied().unwrap_or(0)).collect()
    };
    let chapters: Vec<Value> =
        report.by_chapter().iter().map(|(name, n)| json!({"name": name, "counts": counts(n)})).collect();
    let text = environment.get_template(name)?.render(context! {
        implementation => to_value(report.implementation),
        edition => report.edition.name(),
        columns => columns,
        chapters => chapters,
        totals => counts(&totals),
        cases => report.rows.len(),
        summary => report.totals_line(),
        unexpected => report.unexpected() + report.stale.len(),
        stale => report.stale,
        stopped => report.stopped,
        findings => report.rows.iter().filter(|row| row.verdict() != CaseVerdict::Agree).map(finding).collect::<Vec<Value>>(),
    })?;
    Ok(text + "\n")
}

fn finding(row: &CaseRow) -> Value {
    let link = match &row.standing {
        Standing::Known(known) | Standing::Changed(known) => known.link.clone(),
        Standing::Expected | Standing::New => None,
    };
    json!({
        "case": row.case.id,
        "verdict": row.verdict(),
        "unexpected": row.standing.is_unexpected(),
        "rules": row.rules(),
        "question": row.case.ask.to_string(),
        "expected": row.expected(),
        "given": row.result.outcome.to_string(),
        "why": row.case.why,
        "notes": row.notes(),
        "link": link,
    })
}
