//! Reports of a conformance run and of a campaign: for people on a terminal, and as JSON lines, JUnit, HTML and
//! Markdown.

mod badge;
pub mod campaign;
mod diff;
mod divergence;
pub mod history;
mod human;
mod junit;
mod lines;
mod markdown;
mod page;
pub mod runs;
mod template;
pub mod turns;
mod words;

use std::collections::BTreeMap;

use ::campaign::diagnosis::Diagnosis;
use ask::protocol::Identity;
use ask::runner::{CaseResult, RunResult};
use relax_spec::book::Edition;
use relax_spec::question::Outcome;
use relax_spec::suite::Case;
use relax_spec::suite::compare::CaseVerdict;
use relax_spec::suite::ledger::{DeviationClass, KnownDivergence, Ledger, Standing};

pub use badge::badge;
pub use diff::difference;
pub use divergence::{Again, DivergenceReport, command_line};
pub use human::human;
pub use junit::junit;
pub use lines::{RunHeader, jsonl, jsonl_case, jsonl_header, jsonl_sum};
pub use markdown::markdown;
pub use page::{html, summary};
pub use words::{answer, programs};

/// The reason why a report cannot be written.
#[derive(Debug, thiserror::Error)]
pub enum ReportError {
    /// An error of the template engine.
    #[error("{0}")]
    Template(#[from] minijinja::Error),
    /// An error of the XML writer.
    #[error("{0}")]
    Junit(#[from] quick_junit::SerializeError),
    /// Several runs where a report is about one.
    #[error("a badge is about one run, not about {0}")]
    Runs(usize),
    /// An error of the JSON writer.
    #[error("{0}")]
    Json(#[from] serde_json::Error),
}

/// A run in comparison with a ledger.
pub struct ConformanceReport<'a> {
    /// The first line.
    pub header: &'a RunHeader,
    /// The implementation that was asked.
    pub implementation: &'a Identity,
    /// The edition of the questions.
    pub edition: Edition,
    /// The rows, in the order of the cases.
    pub rows: Vec<CaseRow<'a>>,
    /// Entries of the ledger about cases that the suite does not have.
    pub stale: Vec<&'a KnownDivergence>,
    /// Whether the run ended before all cases were asked.
    pub stopped: bool,
    /// What the implementation does as a whole where it is unexpectedly wrong.
    pub diagnosis: Diagnosis,
}

/// A case with its result.
pub struct CaseRow<'a> {
    /// The case.
    pub case: &'a Case,
    /// The result.
    pub result: &'a CaseResult,
    /// The relation of the result to the ledger.
    pub standing: Standing,
    /// The divergence in full, if it is a finding or differs from the ledger.
    pub divergence: Option<DivergenceReport>,
}

/// The number of cases with each verdict.
pub type Counts = BTreeMap<CaseVerdict, usize>;

impl<'a> ConformanceReport<'a> {
    /// Compares a run with a ledger. `stale` are the entries of the ledger for cases that the suite does not have.
    /// `again` is the command that asks a case again.
    pub fn new(
        header: &'a RunHeader,
        cases: &[&'a Case],
        run: &'a RunResult,
        ledger: &'a Ledger,
        stale: Vec<&'a KnownDivergence>,
        again: &Again,
    ) -> ConformanceReport<'a> {
        let rows = run
            .results
            .iter()
            .filter_map(|result| {
                let case: &'a Case = cases.get(result.index).copied()?;
                Some(CaseRow::new(case, result, ledger, run.edition, again))
            })
            .collect();
        ConformanceReport {
            header,
            implementation: &run.implementation,
            edition: run.edition,
            rows,
            stale,
            stopped: run.stopped,
            diagnosis: Diagnosis::default(),
        }
    }

    /// Whether everything agrees with the ledger.
    pub fn as_expected(&self) -> bool {
        self.stale.is_empty() && self.unexpected() == 0
    }

    /// The number of findings that the ledger does not list, or lists differently.
    pub fn unexpected(&self) -> usize {
        self.rows.iter().filter(|row| row.standing.is_unexpected()).count()
    }

    /// Whether the implementation reports for every case that it cannot answer it, and there are cases.
    pub fn is_unanswered(&self) -> bool {
        !self.rows.is_empty() && self.rows.iter().all(|row| row.verdict() == CaseVerdict::Unsupported)
    }

    /// The counts by chapter, in the order of the suite.
    pub fn by_chapter(&self) -> Vec<(&'a str, Counts)> {
        let mut chapters: Vec<(&str, Counts)> = Vec::new();
        for row in &self.rows {
            let chapter = row.case.chapter();
            let at = chapters.iter().position(|(name, _)| *name == chapter).unwrap_or_else(|| {
                chapters.push((chapter, Counts::new()));
                chapters.len() - 1
            });
            *chapters[at].1.entry(row.verdict()).or_default() += 1;
        }
        chapters
    }

    /// The number of rows with each verdict.
    pub fn totals(&self) -> Counts {
        let mut totals = Counts::new();
        for row in &self.rows {
            *totals.entry(row.verdict()).or_default() += 1;
        }
        totals
    }

    /// The number of allowed answers that also state the purity of functions, about which the text says nothing.
    pub fn adding_purity(&self) -> usize {
        self.rows.iter().filter(|row| row.result.comparison.adds_purity).count()
    }

    /// The number of known divergences in each class. Those without a class come last.
    pub fn by_class(&self) -> Vec<(&'static str, usize)> {
        let count = |class: Option<DeviationClass>| {
            let is_of = |row: &&CaseRow| matches!(&row.standing, Standing::Known(known) if known.class == class);
            self.rows.iter().filter(is_of).filter(|row| row.verdict().is_finding()).count()
        };
        let classes = DeviationClass::ALL.into_iter().map(|class| (class.name(), count(Some(class))));
        classes.chain([("of no class", count(None))]).filter(|(_, count)| *count > 0).collect()
    }

    /// The reasons why cases were not asked, the most frequent first: what is missing, without what it is in a case.
    pub fn reasons(&self) -> Vec<(&'a str, usize)> {
        let mut reasons: BTreeMap<&str, usize> = BTreeMap::new();
        for row in &self.rows {
            if let Outcome::Unsupported { what } = &row.result.outcome {
                *reasons.entry(what.split(": ").next().unwrap_or(what)).or_default() += 1;
            }
        }
        let mut reasons: Vec<(&str, usize)> = reasons.into_iter().collect();
        reasons.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
        reasons
    }

    /// `12 defect, 3 licence of the text`; empty if nothing is known.
    pub fn classes_line(&self) -> String {
        let classes: Vec<String> = self.by_class().iter().map(|(class, n)| format!("{n} {class}")).collect();
        classes.join(", ")
    }

    /// `150 agree, 2 diverge`: the verdicts that occurred.
    pub fn totals_line(&self) -> String {
        let totals: Vec<String> = self.totals().iter().map(|(verdict, n)| format!("{n} {verdict}")).collect();
        if totals.is_empty() { "nothing".to_string() } else { totals.join(", ") }
    }
}

impl<'a> CaseRow<'a> {
    /// Compares a result with a ledger.
    pub fn new(
        case: &'a Case,
        result: &'a CaseResult,
        ledger: &Ledger,
        edition: Edition,
        again: &Again,
    ) -> CaseRow<'a> {
        let verdict = result.comparison.verdict;
        let standing = ledger.standing(&case.id, verdict);
        let is_told = standing.is_unexpected();
        let divergence =
            (is_told || verdict.is_finding()).then(|| DivergenceReport::of_case(case, result, edition, again, is_told));
        CaseRow { case, result, standing, divergence }
    }

    /// The verdict on the outcome.
    pub fn verdict(&self) -> CaseVerdict {
        self.result.comparison.verdict
    }

    /// The remarks about the ledger and errata.
    pub fn notes(&self) -> Vec<String> {
        let mut notes = Vec::new();
        if let Some(erratum) = self.result.comparison.literal {
            notes.push(format!("matches the literal text (erratum {erratum})"));
        }
        if self.result.comparison.adds_purity {
            notes
                .push("also says whether functions are pure, of which the text says nothing (erratum A18)".to_string());
        }
        match &self.standing {
            Standing::Expected => {}
            Standing::New => notes.push("unexpected: no ledger lists it".to_string()),
            Standing::Known(known) => notes.push(format!("known{}: {}", classed(known), known.reason)),
            Standing::Changed(known) if self.verdict() == CaseVerdict::Agree => {
                notes.push(format!("unexpected: passes, though the ledger lists it as `{}`", known.outcome));
            }
            Standing::Changed(known) => notes.push(format!("unexpected: the ledger lists it as `{}`", known.outcome)),
        }
        notes
    }
}

/// ` (defect, SUB.TENSOR.RANK)`, as far as it is known.
fn classed(known: &KnownDivergence) -> String {
    let class = known.class.map(DeviationClass::name);
    let said: Vec<&str> = class.into_iter().chain(known.clause.map(|clause| clause.id())).collect();
    if said.is_empty() { String::new() } else { format!(" ({})", said.join(", ")) }
}
