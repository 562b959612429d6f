//! Reports of a campaign: its tally, and each finding with all that is known of it.

use std::collections::BTreeMap;

use quick_junit::{NonSuccessKind, TestCase, TestCaseStatus, TestSuite};
use serde::Serialize;
use serde_json::{Value, json};

use super::junit::{description, properties, shown as shown_text};
use super::template::{fields, page, shown};
use super::{DivergenceReport, ReportError};
use relax_spec::book::Edition;
use relax_spec::grammar::visible_json;

const HTML: &str = include_str!("campaign.html");
const MARKDOWN: &str = include_str!("campaign.md");

/// A campaign that is told.
#[derive(Clone, PartialEq, Debug)]
pub struct CampaignReport {
    /// Who was asked.
    pub implementation: String,
    /// The edition by which the answers are judged.
    pub edition: Edition,
    /// What was asked about: `programs` or `infos`.
    pub about: &'static str,
    /// What was done, in numbers.
    pub tally: Vec<(&'static str, u64)>,
    /// Why questions have no answer that could be held against anything.
    pub reasons: Vec<ReasonCount>,
    /// What was found.
    pub findings: Vec<FindingRow>,
    /// Whether it ended before its end.
    pub stopped: bool,
}

/// Why questions were refused or not supported.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct ReasonCount {
    /// `refused` or `unsupported`.
    pub title: &'static str,
    /// In the implementation's words.
    pub reason: String,
    /// How often.
    pub count: u64,
}

/// A finding.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct FindingRow {
    /// A short name, the same for the same form.
    pub id: String,
    /// What differences of its form have in common.
    pub form: String,
    /// Whether no answer came, so that no expectation failed.
    #[serde(skip)]
    pub is_lost: bool,
    /// How often it was seen.
    pub count: u64,
    /// On which paths.
    pub paths: Vec<String>,
    /// The seed, and the number of what showed it first.
    pub seed: u64,
    /// That number.
    pub number: u64,
    /// Why it is known, if it is.
    pub known: Option<String>,
    /// Why the implementation does so, where somebody has said it.
    pub class: Option<&'static str>,
    /// Whether it shows in a process of its own.
    pub alone: bool,
    /// What is wrong, for people.
    pub message: String,
    /// The question, both answers, and how it is asked again.
    pub divergence: DivergenceReport,
}

impl CampaignReport {
    /// How many findings no ledger knows.
    fn unknown(&self) -> usize {
        self.findings.iter().filter(|finding| finding.known.is_none()).count()
    }
}

/// A line of JSON for each finding, then one with the sum.
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

/// How it stands to the ledger, how often it was seen, and which number showed it.
fn standing(finding: &FindingRow) -> String {
    let FindingRow { count, seed, number, known, class, alone, .. } = finding;
    let class = class.map(|class| format!(" ({class})")).unwrap_or_default();
    let known = known.as_ref().map_or_else(|| "unknown".to_string(), |why| format!("known{class}: {why}"));
    let apart = if *alone { "" } else { "; it does not show alone" };
    format!("{known}; {count} times, first by number {number} of seed {seed}{apart}")
}

/// A page of HTML that needs no other file.
pub fn html(report: &CampaignReport) -> Result<String, ReportError> {
    page("campaign.html", HTML, &data(report))
}

/// A page of Markdown.
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
