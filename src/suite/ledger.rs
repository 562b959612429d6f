//! Ledgers: the divergences of an implementation that are known, each with its reason.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use super::compare::CaseVerdict;

include!(concat!(env!("OUT_DIR"), "/ledgers.rs"));

/// A known divergence.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct KnownDivergence {
    /// The id of the case.
    pub case: String,
    /// What becomes of it, always a finding.
    pub outcome: CaseVerdict,
    /// Whether it agrees at times, by what happens to be in memory that is never written.
    #[serde(default, skip_serializing_if = "is_false")]
    pub sometimes: bool,
    /// Why it is known, for people; never empty.
    pub reason: String,
    /// Where it is reported or discussed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub link: Option<String>,
}

fn is_false(value: &bool) -> bool {
    !value
}

/// `conformance/ledger/NAME.ron`: a list of [`KnownDivergence`], in the order of the case ids.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Ledger {
    known: BTreeMap<String, KnownDivergence>,
}

/// Why a ledger cannot be read.
#[derive(Clone, PartialEq, Debug, thiserror::Error)]
pub enum LedgerError {
    /// It is not RON, or not of this form.
    #[error("{0}")]
    Syntax(#[from] ron::error::SpannedError),
    /// Two entries have this id.
    #[error("case {0} is listed twice")]
    Twice(String),
    /// This verdict does not stand against an implementation, so that no entry can know it.
    #[error("case {0} is listed as `{1}`, which is not a finding")]
    NoFinding(String, CaseVerdict),
    /// The reason of this entry is empty.
    #[error("the entry of case {0} gives no reason")]
    NoReason(String),
}

/// How an observation stands to the ledger.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Standing {
    /// Not listed, and nothing to list.
    Expected,
    /// Listed, and observed as listed.
    Known(KnownDivergence),
    /// A finding that is not listed.
    New,
    /// Listed, but observed otherwise: the entry is out of date.
    Changed(KnownDivergence),
}

/// What was observed of a case.
pub struct ObservedCase<'a> {
    /// The id of the case.
    pub case: &'a str,
    /// What became of it.
    pub verdict: CaseVerdict,
    /// What is written as the reason of a new entry.
    pub reason: String,
}

impl Standing {
    /// Whether the ledger does not account for it.
    pub fn is_unexpected(&self) -> bool {
        match self {
            Standing::Expected | Standing::Known(_) => false,
            Standing::New | Standing::Changed(_) => true,
        }
    }
}

impl Ledger {
    /// Reads a ledger. An error if an entry is no finding, has no reason, or is there twice.
    pub fn parse(text: &str) -> Result<Ledger, LedgerError> {
        let entries: Vec<KnownDivergence> = crate::book::ron_options().from_str(text)?;
        let mut known = BTreeMap::new();
        for entry in entries {
            if !entry.outcome.is_finding() {
                return Err(LedgerError::NoFinding(entry.case, entry.outcome));
            }
            if entry.reason.trim().is_empty() {
                return Err(LedgerError::NoReason(entry.case));
            }
            if let Some(first) = known.insert(entry.case.clone(), entry) {
                return Err(LedgerError::Twice(first.case));
            }
        }
        Ok(Ledger { known })
    }

    /// The ledger of this name that is built in.
    pub fn embedded(name: &str) -> Option<&'static str> {
        LEDGERS.iter().find(|(file, _)| file.strip_suffix(".ron") == Some(name)).map(|(_, text)| *text)
    }

    /// How the verdict on a case stands to its entry.
    pub fn standing(&self, case: &str, verdict: CaseVerdict) -> Standing {
        match self.known.get(case) {
            Some(known) if known.outcome == verdict => Standing::Known(known.clone()),
            Some(known) if known.sometimes && verdict == CaseVerdict::Agree => Standing::Known(known.clone()),
            Some(known) => Standing::Changed(known.clone()),
            None if verdict.is_finding() => Standing::New,
            None => Standing::Expected,
        }
    }

    /// The entries about cases that the suite does not have.
    pub fn stale<'a>(&'a self, suite: &BTreeSet<&str>) -> Vec<&'a KnownDivergence> {
        self.known.values().filter(|known| !suite.contains(known.case.as_str())).collect()
    }

    /// The ledger that expects just what was observed. Reasons and links are kept where the outcome is the same;
    /// so are entries of cases that were not asked but exist.
    pub fn updated(&self, observed: &[ObservedCase], suite: &BTreeSet<&str>) -> Ledger {
        let mut known: BTreeMap<String, KnownDivergence> = self
            .known
            .iter()
            .filter(|(case, _)| suite.contains(case.as_str()))
            .map(|(k, v)| (k.clone(), v.clone()))
            .collect();
        for ObservedCase { case, verdict, reason } in observed {
            if !verdict.is_finding() {
                known.remove(*case).filter(|entry| entry.sometimes).map(|entry| known.insert(case.to_string(), entry));
            } else if known.get(*case).is_none_or(|entry| entry.outcome != *verdict) {
                let (case, reason) = (case.to_string(), reason.clone());
                let entry =
                    KnownDivergence { case: case.clone(), outcome: *verdict, sometimes: false, reason, link: None };
                known.insert(case, entry);
            }
        }
        Ledger { known }
    }

    /// The ledger as it is kept in a file, in the order of the case ids.
    pub fn to_ron(&self) -> Result<String, ron::Error> {
        let entries: Vec<&KnownDivergence> = self.known.values().collect();
        let pretty = ron::ser::PrettyConfig::new().depth_limit(1).separate_tuple_members(false);
        crate::book::ron_options().to_string_pretty(&entries, pretty).map(|text| text + "\n")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(case: &str, outcome: CaseVerdict) -> String {
        let outcome = outcome.name();
        format!("(case: \"{case}\", outcome: {outcome}, reason: \"because\")")
    }

    #[test]
    fn an_entry_covers_the_outcome_that_it_names_and_no_other() {
        let ledger = Ledger::parse(&format!("[{}]", entry("a/b", CaseVerdict::Diverge))).unwrap();
        assert!(!ledger.standing("a/b", CaseVerdict::Diverge).is_unexpected());
        assert!(ledger.standing("a/b", CaseVerdict::Agree).is_unexpected());
        assert!(ledger.standing("a/b", CaseVerdict::Crash).is_unexpected());
        assert!(ledger.standing("a/c", CaseVerdict::Diverge).is_unexpected());
        assert!(!ledger.standing("a/c", CaseVerdict::Unsupported).is_unexpected());
    }

    #[test]
    fn what_agrees_by_chance_is_no_surprise_and_stays_listed() {
        let text = r#"[(case: "a/b", outcome: diverge, sometimes: true, reason: "memory that is never written")]"#;
        let ledger = Ledger::parse(text).unwrap();
        assert!(!ledger.standing("a/b", CaseVerdict::Agree).is_unexpected());
        assert!(!ledger.standing("a/b", CaseVerdict::Diverge).is_unexpected());
        assert!(ledger.standing("a/b", CaseVerdict::Crash).is_unexpected());
        let observed = ObservedCase { case: "a/b", verdict: CaseVerdict::Agree, reason: String::new() };
        assert_eq!(ledger.updated(&[observed], &BTreeSet::from(["a/b"])), ledger);
    }

    #[test]
    fn an_update_keeps_reasons_and_drops_what_is_mended_or_gone() {
        let text = [
            entry("a/kept", CaseVerdict::Diverge),
            entry("a/mended", CaseVerdict::Crash),
            entry("a/gone", CaseVerdict::Crash),
        ];
        let ledger = Ledger::parse(&format!("[{}]", text.join(","))).unwrap();
        let suite = BTreeSet::from(["a/kept", "a/mended", "a/new"]);
        let observed =
            [("a/kept", CaseVerdict::Diverge), ("a/mended", CaseVerdict::Agree), ("a/new", CaseVerdict::Timeout)]
                .map(|(case, verdict)| ObservedCase { case, verdict, reason: "new".to_string() });
        let updated = Ledger::parse(&ledger.updated(&observed, &suite).to_ron().unwrap()).unwrap();
        let reasons: Vec<(&str, &str)> =
            updated.known.values().map(|known| (known.case.as_str(), known.reason.as_str())).collect();
        assert_eq!(reasons, [("a/kept", "because"), ("a/new", "new")]);
    }

    #[test]
    fn entries_that_make_no_sense_are_refused() {
        assert!(Ledger::parse(&format!("[{}]", entry("a/b", CaseVerdict::Agree))).is_err());
        assert!(Ledger::parse(&format!("[{0},{0}]", entry("a/b", CaseVerdict::Crash))).is_err());
        assert!(Ledger::parse("[(case: \"a\", outcome: crash, reason: \" \")]").is_err());
    }
}
