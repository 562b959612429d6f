//! The report for people.

use std::fmt::{self, Write as _};

use super::{CaseRow, ConformanceReport, DivergenceReport, words};
use relax_spec::grammar::visible;
use relax_spec::question::Outcome;
use relax_spec::suite::compare::CaseVerdict;
use relax_spec::suite::ledger::Standing;

/// Findings first, one paragraph each, then a table by chapter and the sum. With `all`, known findings are described in
/// full too.
pub fn human(report: &ConformanceReport, all: bool) -> String {
    let mut out = String::new();
    // Writing to a String cannot fail.
    let _ = write(&mut out, report, all);
    visible(&out).into_owned()
}

fn write(out: &mut String, report: &ConformanceReport, all: bool) -> fmt::Result {
    for row in report.rows.iter().filter(|row| is_told(row, all)) {
        finding(out, row)?;
    }
    for known in &report.stale {
        writeln!(out, "stale: the ledger lists the case {}, which the suite does not have\n", known.case)?;
    }
    table(out, report)?;
    summary(out, report)
}

/// The maximum number of reasons why cases were not asked.
const REASONS: usize = 5;
/// The maximum number of lines of a program or an answer.
const LINES: usize = 40;

fn is_told(row: &CaseRow, all: bool) -> bool {
    row.standing.is_unexpected() || (all && row.verdict().is_finding())
}

fn finding(out: &mut String, row: &CaseRow) -> fmt::Result {
    writeln!(out, "{} {}", row.verdict().name().to_uppercase(), row.case.id)?;
    for (name, text) in row.divergence.iter().flat_map(DivergenceReport::fields) {
        field(out, name, &words::cut(&text, LINES))?;
    }
    if let Some(why) = row.result.comparison.why.as_ref().filter(|_| row.verdict() == CaseVerdict::Diverge) {
        field(out, "verdict", &words::cut(why, LINES))?;
    }
    field(out, "why", &row.case.why)?;
    if let Outcome::Crash { stderr, .. } = &row.result.outcome
        && !stderr.is_empty()
    {
        field(out, "stderr", stderr)?;
    }
    for note in row.notes() {
        field(out, "note", &note)?;
    }
    if let Standing::Known(known) | Standing::Changed(known) = &row.standing
        && let Some(link) = &known.link
    {
        field(out, "link", link)?;
    }
    if let Some(divergence) = &row.divergence {
        field(out, "again", &divergence.command)?;
    }
    out.write_char('\n')
}

/// A name with a text; further lines of the text have the same indent.
fn field(out: &mut String, name: &str, text: &str) -> fmt::Result {
    let mut lines = text.trim_end().lines();
    writeln!(out, "  {name:<9} {}", lines.next().unwrap_or_default())?;
    lines.try_for_each(|line| writeln!(out, "{}", format!("  {:<9} {line}", "").trim_end()))
}

/// One line per chapter, with one column for each verdict that occurred.
fn table(out: &mut String, report: &ConformanceReport) -> fmt::Result {
    let totals = report.totals();
    let columns: Vec<CaseVerdict> =
        CaseVerdict::ALL.into_iter().filter(|verdict| totals.contains_key(verdict)).collect();
    let chapters = report.by_chapter();
    let width = chapters.iter().map(|(name, _)| name.len()).chain(["chapter".len()]).max().unwrap_or_default();
    let header: Vec<String> = columns.iter().map(|verdict| format!("{:>14}", verdict.name())).collect();
    writeln!(out, "{:<width$}{}", "chapter", header.concat())?;
    for (name, counts) in chapters.iter().chain([&("total", totals.clone())]) {
        let cells: Vec<String> =
            columns.iter().map(|verdict| format!("{:>14}", counts.get(verdict).copied().unwrap_or(0))).collect();
        writeln!(out, "{name:<width$}{}", cells.concat())?;
    }
    Ok(())
}

fn summary(out: &mut String, report: &ConformanceReport) -> fmt::Result {
    let who = report.implementation;
    if let adding @ 1.. = report.adding_purity() {
        writeln!(
            out,
            "\n{adding} of the answers that agree add whether functions are pure, which the text leaves unsaid"
        )?;
    }
    for (reason, count) in report.reasons().iter().take(REASONS) {
        writeln!(out, "\nnot asked, {count}: {reason}")?;
    }
    if report.diagnosis.wrong > 0 {
        write!(out, "\n{}", report.diagnosis)?;
    }
    let classes = report.classes_line();
    if !classes.is_empty() {
        writeln!(out, "\nknown divergences: {classes}")?;
    }
    writeln!(
        out,
        "\n{} {}, edition {}: {} {}: {}; {} unexpected{}",
        who.name,
        who.version,
        report.edition,
        report.rows.len(),
        if report.rows.len() == 1 { "case" } else { "cases" },
        report.totals_line(),
        report.unexpected() + report.stale.len(),
        if report.stopped { "; stopped early" } else { "" },
    )
}
