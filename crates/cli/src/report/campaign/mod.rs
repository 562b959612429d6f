//! Reports of a campaign: its totals, and the details of each finding.

use std::collections::BTreeMap;

use quick_junit::{NonSuccessKind, TestCase, TestCaseStatus, TestSuite};
use serde::Serialize;
use serde_json::{Value, json};

use super::badge::drawn;
use super::junit::{description, properties, shown as shown_text};
use super::template::{fields, page, shown};
use super::{DivergenceReport, ReportError};
use relax_spec::book::Edition;
use relax_spec::grammar::visible_json;

const HTML: &str = include_str!("campaign.html");
const MARKDOWN: &str = include_str!("campaign.md");

/// A campaign to report.
#[derive(Clone, PartialEq, Debug)]
pub struct CampaignReport {
    /// The implementation that was asked.
    pub implementation: String,
    /// The edition of the judgement.
    pub edition: Edition,
    /// The subject of the questions: `programs` or `infos`.
    pub about: &'static str,
    /// The work that was done, in numbers.
    pub tally: Vec<(&'static str, u64)>,
    /// The reasons why questions have no answer that could be compared.
    pub reasons: Vec<ReasonCount>,
    /// The findings.
    pub findings: Vec<FindingRow>,
    /// Whether the campaign ended early.
    pub stopped: bool,
}

/// A reason why questions were refused or not supported.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct ReasonCount {
    /// `refused` or `unsupported`.
    pub title: &'static str,
    /// The reason, in the implementation's words.
    pub reason: String,
    /// The number of occurrences.
    pub count: u64,
}

/// A finding.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct FindingRow {
    /// A short name, the same for all findings of one form.
    pub id: String,
    /// The common form of such differences.
    pub form: String,
    /// Whether no answer came, so that no expectation failed.
    #[serde(skip)]
    pub is_lost: bool,
    /// The number of occurrences.
    pub count: u64,
    /// The paths on which it occurred.
    pub paths: Vec<String>,
    /// The seed of the campaign.
    pub seed: u64,
    /// The number of the question that showed it first.
    pub number: u64,
    /// The reason in the ledger, if it is known.
    pub known: Option<String>,
    /// The class of the divergence, if someone has determined it.
    pub class: Option<&'static str>,
    /// Whether it also occurs in a fresh process.
    pub alone: bool,
    /// The message, for people.
    pub message: String,
    /// The question, both answers, and the command that asks it again.
    pub divergence: DivergenceReport,
}

/// The badge of a campaign: the number of its unknown findings.
///
/// # Errors
///
/// The writer of JSON fails.
pub fn badge(report: &CampaignReport) -> Result<String, ReportError> {
    let color = if report.unknown() > 0 { "red" } else { "green" };
    drawn("Relax campaign", &format!("{} unknown findings", report.unknown()), color)
}

impl CampaignReport {
    /// The number of findings that no ledger knows.
    fn unknown(&self) -> usize {
        self.findings.iter().filter(|finding| finding.known.is_none()).count()
    }
}

/// One line of JSON for each finding, then one with the sum.
pub fn jsonl(report: &CampaignReport) -> Result<String, ReportError> {
    let mut out = String::new();
    for finding in &report.findings {
        let mut line = serde_json::to_value(finding)?;
        if let Some(fields) = line.as_object_mut() {
            fields.insert("type".to_string(), "finding".into());
            fields.insert("unexpected".to_string(), finding.known.is_none().into());
        }
        out.push_str(&format!("{line}\n"));
    }
    let tally: BTreeMap<&str, u64> = report.tally.iter().copied().collect();
    let sum = json!({
        "type": "summary",
        "implementation": report.implementation,
        "edition": report.edition.name(),
        "about": report.about,
        "tally": tally,
        "reasons": report.reasons,
        "findings": report.findings.len(),
        "unexpected": report.unknown(),
        "stopped": report.stopped,
    });
    out.push_str(&format!("{sum}\n"));
    Ok(visible_json(&out).into_owned())
}

/// As JUnit XML: a failure for each finding that no ledger knows.
pub fn junit(report: &CampaignReport) -> Result<String, ReportError> {
    let name = format!("relax-spec fuzz on {}, edition {}", report.implementation, report.edition);
    let mut out = quick_junit::Report::new(shown_text(&name));
    let mut suite = TestSuite::new(report.about);
    suite.add_property(("edition", report.edition.name()));
    suite.add_property(("stopped early", if report.stopped { "yes" } else { "no" }));
    for (name, count) in &report.tally {
        suite.add_property((*name, count.to_string().as_str()));
    }
    suite.add_test_cases(report.findings.iter().map(test_case));
    out.add_test_suite(suite);
    Ok(out.to_string()?)
}

fn test_case(finding: &FindingRow) -> TestCase {
    let kind = if finding.is_lost { NonSuccessKind::Error } else { NonSuccessKind::Failure };
    let mut status = match &finding.known {
        Some(_) => TestCaseStatus::skipped(),
        None => TestCaseStatus::non_success(kind),
    };
    status.set_message(shown_text(&finding.form));
    let told = [standing(finding), finding.message.clone(), description(&finding.divergence)];
    status.set_description(shown_text(&told.join("\n\n")));
    let mut case = TestCase::new(shown_text(&finding.id), status);
    properties(&mut case, &finding.divergence);
    case
}

/// The relation to the ledger, the number of occurrences, and the number of the first question that showed it.
fn standing(finding: &FindingRow) -> String {
    let FindingRow { count, seed, number, known, class, alone, .. } = finding;
    let class = class.map(|class| format!(" ({class})")).unwrap_or_default();
    let known = known.as_ref().map_or_else(|| "unknown".to_string(), |why| format!("known{class}: {why}"));
    let apart = if *alone { "" } else { "; it does not show alone" };
    format!("{known}; {count} times, first by number {number} of seed {seed}{apart}")
}

/// An HTML page that needs no other file.
pub fn html(report: &CampaignReport) -> Result<String, ReportError> {
    page("campaign.html", HTML, &data(report))
}

/// A Markdown page.
pub fn markdown(report: &CampaignReport) -> Result<String, ReportError> {
    page("campaign.md", MARKDOWN, &data(report))
}

fn data(report: &CampaignReport) -> Value {
    let tally: Vec<Value> = report.tally.iter().map(|(name, count)| json!({"name": name, "count": count})).collect();
    let finding = |finding: &FindingRow| {
        json!({
            "id": finding.id,
            "form": finding.form,
            "unexpected": finding.known.is_none(),
            "standing": standing(finding),
            "message": finding.message,
            "fields": fields(&finding.divergence),
        })
    };
    shown(json!({
        "implementation": report.implementation,
        "edition": report.edition.name(),
        "about": report.about,
        "tally": tally,
        "reasons": report.reasons,
        "findings": report.findings.iter().map(finding).collect::<Vec<Value>>(),
        "unexpected": report.unknown(),
        "count": report.findings.len(),
        "stopped": report.stopped,
    }))
}
