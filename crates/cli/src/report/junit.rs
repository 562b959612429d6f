//! The report as JUnit XML: one test suite per chapter, and a failure for each unexpected finding.

use quick_junit::{NonSuccessKind, TestCase, TestCaseStatus, TestSuite};

use super::{CaseRow, ConformanceReport, DivergenceReport, ReportError};
use relax_spec::grammar::visible;
use relax_spec::suite::compare::CaseVerdict;

/// As JUnit XML: a suite for each chapter, a failure for each unexpected finding.
pub fn junit(report: &ConformanceReport) -> Result<String, ReportError> {
    let who = report.implementation;
    let mut out = quick_junit::Report::new(shown(&format!(
        "relax-spec on {} {}, edition {}",
        who.name, who.version, report.edition
    )));
    let classes = report.classes_line();
    for (chapter, _) in report.by_chapter() {
        let mut suite = TestSuite::new(chapter);
        suite.add_property(("edition", report.edition.name()));
        // Properties of the whole run, because JUnit has none above its suites.
        suite.add_property(("known divergences of the run", classes.as_str()));
        for row in report.rows.iter().filter(|row| row.case.chapter() == chapter) {
            suite.add_test_case(test_case(row));
        }
        out.add_test_suite(suite);
    }
    Ok(out.to_string()?)
}

/// The one-line parts of a divergence, as properties of its test case. Readers of XML turn newlines in them into
/// spaces.
pub(super) fn properties(case: &mut TestCase, divergence: &DivergenceReport) {
    let fields = divergence.fields().into_iter().chain([("again", divergence.command.clone())]);
    for (name, text) in fields.filter(|(_, text)| !text.contains('\n')) {
        case.add_property((name, shown(&text).as_str()));
    }
}

/// A divergence in full, as text.
pub(super) fn description(divergence: &DivergenceReport) -> String {
    let fields = divergence.fields().into_iter().chain([("again", divergence.command.clone())]);
    let told = fields.map(|(name, text)| match text.contains('\n') {
        true => format!("{name}:\n{text}"),
        false => format!("{name}: {text}"),
    });
    told.collect::<Vec<String>>().join("\n")
}

/// Escapes characters that XML cannot contain.
pub(super) fn shown(text: &str) -> String {
    visible(text).into_owned()
}

fn test_case(row: &CaseRow) -> TestCase {
    let mut status = match row.verdict() {
        _ if row.standing.is_unexpected() => TestCaseStatus::non_success(kind(row.verdict())),
        CaseVerdict::Agree => TestCaseStatus::success(),
        CaseVerdict::Vacuous
        | CaseVerdict::Unsupported
        | CaseVerdict::Diverge
        | CaseVerdict::Crash
        | CaseVerdict::Timeout
        | CaseVerdict::InternalError
        | CaseVerdict::ProtocolError
        | CaseVerdict::Flaky => TestCaseStatus::skipped(),
    };
    if row.verdict() != CaseVerdict::Agree || row.standing.is_unexpected() {
        let why = row.result.comparison.why.clone().unwrap_or_default();
        status.set_message(shown(&format!("{}: {why}", row.verdict())));
        let told = row.divergence.as_ref().map(description);
        let told: Vec<String> = row.notes().into_iter().chain(told).collect();
        status.set_description(shown(&told.join("\n\n")));
    }
    let mut case = TestCase::new(row.case.id.clone(), status);
    match &row.divergence {
        Some(divergence) => properties(&mut case, divergence),
        None => {
            let rules: Vec<&str> = row.case.rules.iter().map(|rule| rule.id()).collect();
            case.add_property(("rules", shown(&rules.join(", ")).as_str()));
            case.add_property(("question", shown(&row.case.ask.in_full()).as_str()));
        }
    }
    case.set_time(row.result.time);
    case
}

/// A divergence is a failed expectation. Every other finding is an error during the run.
fn kind(verdict: CaseVerdict) -> NonSuccessKind {
    match verdict {
        CaseVerdict::Agree | CaseVerdict::Vacuous | CaseVerdict::Unsupported | CaseVerdict::Diverge => {
            NonSuccessKind::Failure
        }
        CaseVerdict::Crash
        | CaseVerdict::Timeout
        | CaseVerdict::InternalError
        | CaseVerdict::ProtocolError
        | CaseVerdict::Flaky => NonSuccessKind::Error,
    }
}
