//! Conformance runs as they are kept: JSON lines, from which all pages are made. A run is a header, a line for each
//! case, and a footer with the sum. A file holds one run or several.

use std::collections::BTreeMap;

use serde_json::Value;

use relax_spec::suite::compare::CaseVerdict;

/// A run, as it was written.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct KeptRun {
    /// Who was asked, by which edition, with which suite. Empty if the file is older than headers.
    pub header: Value,
    /// The lines of the cases.
    pub cases: Vec<Value>,
    /// The sum; `None` if the run was killed.
    pub footer: Option<Value>,
}

/// The reason why a file holds no runs.
#[derive(Debug, thiserror::Error)]
pub enum RunsError {
    /// A line before the last is no JSON.
    #[error("line {0}: {1}")]
    Line(usize, serde_json::Error),
    /// There is no line of a case.
    #[error("it holds no results of `conform`")]
    Empty,
}

/// The runs of a file. Half a line at its end, which a killed run may leave, is dropped.
pub fn read(text: &str) -> Result<Vec<KeptRun>, RunsError> {
    let lines: Vec<&str> = text.lines().collect();
    let mut runs: Vec<KeptRun> = Vec::new();
    for (at, line) in lines.iter().enumerate().filter(|(_, line)| !line.is_empty()) {
        let value: Value = match serde_json::from_str(line) {
            Ok(value) => value,
            Err(_) if at + 1 == lines.len() && !text.ends_with('\n') => break,
            Err(error) => return Err(RunsError::Line(at + 1, error)),
        };
        let is_begun = runs.last().is_some_and(|run| run.footer.is_none());
        match value["type"].as_str() {
            Some("header") => runs.push(KeptRun { header: value, ..KeptRun::default() }),
            Some("case") if is_begun => runs.iter_mut().rev().take(1).for_each(|run| run.cases.push(value.clone())),
            Some("case") => runs.push(KeptRun { cases: vec![value], ..KeptRun::default() }),
            Some("summary") => runs.iter_mut().rev().take(1).for_each(|run| run.footer = Some(value.clone())),
            Some(_) | None => {}
        }
    }
    runs.retain(|run| run.footer.is_some() || !run.cases.is_empty());
    if runs.is_empty() { Err(RunsError::Empty) } else { Ok(runs) }
}

/// Runs of the same implementation, version and edition on the same suite, such as the parts of a partition, as one. Of
/// several lines for a case the last one counts.
pub fn merged(runs: Vec<KeptRun>) -> Vec<KeptRun> {
    let mut merged: Vec<KeptRun> = Vec::new();
    for run in runs {
        match merged.iter_mut().find(|other| other.title() == run.title() && other.suite() == run.suite()) {
            Some(other) => other.take_in(run),
            None => merged.push(run),
        }
    }
    merged
}

impl KeptRun {
    /// A member of the header, or of the footer of an older file.
    fn said(&self, name: &str) -> &Value {
        let footer = self.footer.as_ref().unwrap_or(&Value::Null);
        if self.header[name].is_null() { &footer[name] } else { &self.header[name] }
    }

    /// The name of the implementation, without its version.
    pub fn name(&self) -> &str {
        self.said("implementation")["name"].as_str().unwrap_or("an implementation")
    }

    /// The version of the implementation.
    pub fn version(&self) -> &str {
        self.said("implementation")["version"].as_str().unwrap_or_default()
    }

    /// The edition of the judgement.
    pub fn edition(&self) -> &str {
        self.said("edition").as_str().unwrap_or("unknown")
    }

    /// The hash of the suite.
    pub fn suite(&self) -> Option<&str> {
        self.said("suite")["hash"].as_str()
    }

    /// `apache-tvm 0.27.0, edition 2024-04`.
    pub fn title(&self) -> String {
        format!("{} {}, edition {}", self.name(), self.version(), self.edition())
    }

    /// Whether it did not come to its end.
    pub fn is_cut(&self) -> bool {
        self.footer.as_ref().is_none_or(|footer| footer["stopped"] == true)
    }

    /// The ids in the ledger that the suite does not have.
    pub fn stale(&self) -> Vec<&str> {
        let stale = self.footer.iter().filter_map(|footer| footer["stale"].as_array()).flatten();
        stale.filter_map(|known| known["case"].as_str()).collect()
    }

    /// What the implementation does as a whole where it is unexpectedly wrong, in sentences.
    pub fn diagnosis(&self) -> Vec<&str> {
        let said = self.footer.iter().filter_map(|footer| footer["diagnosis"].as_array()).flatten();
        said.filter_map(Value::as_str).collect()
    }

    /// The number of cases of each verdict, in the usual order.
    pub fn totals(&self) -> Vec<(&'static str, usize)> {
        counts(&self.cases)
    }

    /// The number of lines that are unexpected.
    pub fn unexpected(&self) -> usize {
        self.cases.iter().filter(|case| case["unexpected"] == true).count() + self.stale().len()
    }

    /// The reasons why cases were not asked, the most frequent first.
    pub fn reasons(&self) -> Vec<(&str, usize)> {
        let unsupported = self.cases.iter().filter(|case| case["verdict"] == CaseVerdict::Unsupported.name());
        let mut reasons: BTreeMap<&str, usize> = BTreeMap::new();
        unsupported.for_each(|case| *reasons.entry(reason(case)).or_default() += 1);
        let mut reasons: Vec<(&str, usize)> = reasons.into_iter().collect();
        reasons.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
        reasons
    }

    /// The number of known divergences of each class.
    pub fn classes(&self) -> BTreeMap<&str, usize> {
        let mut classes: BTreeMap<&str, usize> = BTreeMap::new();
        let known = self.cases.iter().filter(|case| case["unexpected"] == false && !case["divergence"].is_null());
        known.for_each(|case| *classes.entry(case["class"].as_str().unwrap_or("of no class")).or_default() += 1);
        classes
    }

    fn take_in(&mut self, run: KeptRun) {
        let place: BTreeMap<String, usize> =
            self.cases.iter().enumerate().map(|(at, case)| (id(case).to_string(), at)).collect();
        for case in run.cases {
            match place.get(id(&case)).and_then(|at| self.cases.get_mut(*at)) {
                Some(known) => *known = case,
                None => self.cases.push(case),
            }
        }
        // Cut off where one of the two is.
        if self.footer.is_none() || run.footer.as_ref().is_none_or(|footer| footer["stopped"] == true) {
            self.footer = run.footer;
        }
    }
}

/// The id of a case.
pub fn id(case: &Value) -> &str {
    case["case"].as_str().unwrap_or_default()
}

/// The number of lines of each verdict, in the usual order.
pub fn counts(cases: &[Value]) -> Vec<(&'static str, usize)> {
    let of = |verdict: &CaseVerdict| cases.iter().filter(|case| case["verdict"] == verdict.name()).count();
    CaseVerdict::ALL.iter().map(|verdict| (verdict.name(), of(verdict))).filter(|(_, count)| *count > 0).collect()
}

/// Why a case was not asked: the kind of thing that is missing, without what it is in this case.
fn reason(case: &Value) -> &str {
    let text = case["message"].as_str().unwrap_or_default().trim_start_matches("unsupported: ");
    text.split(": ").next().unwrap_or(text).lines().next().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEADER: &str = r#"{"type":"header","implementation":{"name":"a","version":"1"},"edition":"2024-04"}"#;

    fn case(id: &str, verdict: &str) -> String {
        format!(
            r#"{{"type":"case","case":"{id}","verdict":"{verdict}","unexpected":false,"message":"unsupported: b: c"}}"#
        )
    }

    #[test]
    fn a_killed_run_is_read_to_its_last_line() {
        let whole = format!("{HEADER}\n{}\n{}\n", case("x/1", "agree"), case("x/2", "unsupported"));
        for cut in 0..whole.len() {
            let lines = whole[..cut].matches('\n').count();
            match read(&whole[..cut]) {
                Ok(runs) => assert!(runs[0].cases.len() >= lines.saturating_sub(1) && runs[0].is_cut(), "{cut}"),
                Err(RunsError::Empty) => assert!(lines <= 1, "{cut}"),
                Err(error) => panic!("{cut}: {error}"),
            }
        }
        let run = &read(&whole).unwrap()[0];
        assert_eq!((run.title().as_str(), run.reasons()), ("a 1, edition 2024-04", vec![("b", 1)]));
        assert!(matches!(read(&format!("{HEADER}\n{{\n{HEADER}\n")), Err(RunsError::Line(2, _))));
    }

    #[test]
    fn the_parts_of_a_run_are_one_run() {
        let part =
            |cases: &[String]| format!("{HEADER}\n{}\n{{\"type\":\"summary\",\"stopped\":false}}\n", cases.join("\n"));
        let (first, second) = (part(&[case("x/1", "agree")]), part(&[case("x/2", "agree"), case("x/1", "diverge")]));
        let runs = merged(read(&(first + &second)).unwrap());
        assert_eq!(runs.len(), 1);
        assert_eq!(runs[0].totals(), [("agree", 1), ("diverge", 1)]);
        assert!(!runs[0].is_cut());
    }
}
