//! The history of a directory of runs: for each implementation and edition a line for each run, with what changed since
//! the run before it.

use std::fmt::Write as _;

use serde_json::json;

use super::ReportError;
use super::runs::{self, KeptRun};
use super::template::{as_text, page, shown};
use super::turns::{Turn, turns};
use relax_spec::grammar::visible;
use relax_spec::suite::compare::CaseVerdict;

const HTML: &str = include_str!("history.html");

/// The cases that are named in a cell.
const NAMED: usize = 5;

/// The runs of an implementation by an edition, the oldest first.
#[derive(Clone, PartialEq, Debug)]
pub struct ImplementationHistory {
    /// The name of the implementation, and the edition.
    title: String,
    runs: Vec<RunFigures>,
}

/// The figures of a run.
#[derive(Clone, PartialEq, Debug)]
struct RunFigures {
    /// The name of its file.
    file: String,
    version: String,
    /// The first digits of the suite's hash.
    suite: String,
    cases: usize,
    agree: usize,
    unexpected: usize,
    is_cut: bool,
    /// Cases that are worse than in the run before, and cases that are mended; `None` for the first run.
    since: Option<RunChanges>,
}

#[derive(Clone, PartialEq, Debug)]
struct RunChanges {
    /// Regressions, and findings in new cases.
    worse: Vec<String>,
    fixed: Vec<String>,
    /// Whether both asked the same suite.
    same_suite: bool,
}

impl ImplementationHistory {
    /// The histories of the implementations in files, whose order is that of time. The parts of a run in one file are
    /// one run.
    pub fn all(files: &[(String, Vec<KeptRun>)]) -> Vec<ImplementationHistory> {
        let mut all: Vec<(ImplementationHistory, KeptRun)> = Vec::new();
        for (file, kept) in files {
            for run in runs::merged(kept.clone()) {
                let title = format!("{}, edition {}", run.name(), run.edition());
                match all.iter_mut().find(|(history, _)| history.title == title) {
                    Some((history, last)) => {
                        history.runs.push(RunFigures::of(file, &run, Some(last)));
                        *last = run;
                    }
                    None => {
                        let runs = vec![RunFigures::of(file, &run, None)];
                        all.push((ImplementationHistory { title, runs }, run));
                    }
                }
            }
        }
        all.into_iter().map(|(history, _)| history).collect()
    }
}

impl RunFigures {
    fn of(file: &str, run: &KeptRun, before: Option<&KeptRun>) -> RunFigures {
        let agree = run.totals().iter().find(|(name, _)| *name == CaseVerdict::Agree.name()).map_or(0, |(_, n)| *n);
        RunFigures {
            file: file.to_string(),
            version: run.version().to_string(),
            suite: run.suite().unwrap_or_default().trim_start_matches("sha256:").chars().take(12).collect(),
            cases: run.cases.len(),
            agree,
            unexpected: run.unexpected(),
            is_cut: run.is_cut(),
            since: before.map(|before| RunChanges::of(before, run)),
        }
    }
}

impl RunChanges {
    fn of(before: &KeptRun, run: &KeptRun) -> RunChanges {
        let turns = turns(before, run);
        let of = |kinds: &[Turn]| {
            kinds.iter().filter_map(|turn| turns.get(turn)).flatten().map(ToString::to_string).collect()
        };
        RunChanges {
            worse: of(&[Turn::Regression, Turn::NewFinding]),
            fixed: of(&[Turn::Fix]),
            same_suite: before.suite() == run.suite(),
        }
    }

    /// The changes in words, with the first few cases.
    fn told(&self) -> String {
        let cases = |title: &str, ids: &[String]| {
            let more = if ids.len() > NAMED { ", .." } else { "" };
            let named = ids.iter().take(NAMED).map(String::as_str).collect::<Vec<&str>>().join(", ");
            (!ids.is_empty()).then(|| format!("{} {title}: {named}{more}", ids.len()))
        };
        let suite = (!self.same_suite).then(|| "another suite".to_string());
        let told: Vec<String> =
            [suite, cases("worse", &self.worse), cases("fixed", &self.fixed)].into_iter().flatten().collect();
        if told.is_empty() { "no change".to_string() } else { told.join("; ") }
    }
}

/// The cells of a run, in the order of [`COLUMNS`].
fn cells(run: &RunFigures) -> [String; 7] {
    let cut = if run.is_cut { " (stopped early)" } else { "" };
    [
        format!("{}{cut}", run.file),
        run.version.clone(),
        run.suite.clone(),
        run.cases.to_string(),
        run.agree.to_string(),
        run.unexpected.to_string(),
        run.since.as_ref().map(RunChanges::told).unwrap_or_default(),
    ]
}

/// The titles of the columns.
const COLUMNS: [&str; 7] = ["run", "version", "suite", "cases", "agree", "unexpected", "since the run before"];

/// The histories for people.
pub fn human(histories: &[ImplementationHistory]) -> String {
    let mut out = String::new();
    for history in histories {
        let rows: Vec<[String; 7]> =
            std::iter::once(COLUMNS.map(str::to_string)).chain(history.runs.iter().map(cells)).collect();
        let width = |at: usize| rows.iter().filter_map(|row| row.get(at)).map(|cell| cell.chars().count()).max();
        let widths: Vec<usize> = (0..COLUMNS.len()).map(|at| width(at).unwrap_or_default()).collect();
        let _ = writeln!(out, "{}", history.title);
        for row in &rows {
            let line: String = row.iter().zip(&widths).map(|(cell, width)| format!("  {cell:<width$}")).collect();
            let _ = writeln!(out, "{}", line.trim_end());
        }
    }
    visible(&out).into_owned()
}

/// The histories as tables in Markdown.
pub fn markdown(histories: &[ImplementationHistory]) -> String {
    let mut out = String::new();
    for history in histories {
        let _ = writeln!(out, "# {}\n", as_text(&visible(&history.title)));
        let _ = writeln!(out, "| {} |\n|{}", COLUMNS.join(" | "), " --- |".repeat(COLUMNS.len()));
        for run in &history.runs {
            let cells = cells(run).map(|cell| as_text(&visible(&cell)));
            let _ = writeln!(out, "| {} |", cells.join(" | "));
        }
        out.push('\n');
    }
    out
}

/// The histories as a page.
///
/// # Errors
///
/// The template engine fails.
pub fn html(histories: &[ImplementationHistory]) -> Result<String, ReportError> {
    let told: Vec<_> = histories
        .iter()
        .map(|history| json!({"title": history.title, "rows": history.runs.iter().map(cells).collect::<Vec<_>>()}))
        .collect();
    page("history.html", HTML, &shown(json!({"columns": COLUMNS, "histories": told})))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::runs::read;

    fn run(version: &str, verdicts: &[(&str, &str)]) -> Vec<KeptRun> {
        let header = format!(
            "{{\"type\":\"header\",\"implementation\":{{\"name\":\"a\",\"version\":\"{version}\"}},\"edition\":\"2024-04\"}}\n"
        );
        let case = |(id, verdict): &(&str, &str)| {
            format!("{{\"type\":\"case\",\"case\":\"{id}\",\"verdict\":\"{verdict}\",\"unexpected\":false}}\n")
        };
        let cases: String = verdicts.iter().map(case).collect();
        read(&(header + &cases + "{\"type\":\"summary\",\"stopped\":false}\n")).unwrap()
    }

    #[test]
    fn a_history_tells_what_each_run_changed() {
        let files = [
            ("1".to_string(), run("1", &[("x/1", "agree"), ("x/2", "diverge")])),
            ("2".to_string(), run("2", &[("x/1", "diverge"), ("x/2", "agree"), ("x/<b>", "diverge")])),
            ("3".to_string(), run("2", &[("x/1", "diverge"), ("x/2", "agree"), ("x/<b>", "diverge")])),
        ];
        let histories = ImplementationHistory::all(&files);
        assert_eq!((histories.len(), histories[0].title.as_str()), (1, "a, edition 2024-04"));
        let told: Vec<String> = histories[0].runs.iter().map(|run| cells(run)[6].clone()).collect();
        assert_eq!(told, ["", "2 worse: x/1, x/<b>; 1 fixed: x/2", "no change"]);
        let (page, text) = (html(&histories).unwrap(), markdown(&histories));
        assert!(page.contains("&lt;b&gt;") && text.contains("x/\\<b\\>"), "{page}{text}");
    }
}
