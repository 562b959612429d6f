//! Ledgers: the known divergences of an implementation, each with its reason.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use serde::{Deserialize, Serialize};

use super::compare::CaseVerdict;
use crate::book::Rule;

/// The reason why the answer of an implementation differs from the text of an edition.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DeviationClass {
    /// The clause is clear, and the implementation deviates from it.
    Defect,
    /// The clause has an erratum, and the implementation reads it differently from the correction.
    Erratum,
    /// The implementation follows an earlier edition.
    EarlierText,
    /// The implementation follows a later edition.
    LaterText,
    /// The adapter cannot ask the question as intended.
    Adapter,
    /// The clause allows the behaviour of the implementation, and the case asks for more.
    Licence,
}

impl DeviationClass {
    /// Every class, as reports list them.
    pub const ALL: [DeviationClass; 6] = [
        DeviationClass::Defect,
        DeviationClass::Erratum,
        DeviationClass::EarlierText,
        DeviationClass::LaterText,
        DeviationClass::Adapter,
        DeviationClass::Licence,
    ];

    /// The name in reports.
    pub fn name(self) -> &'static str {
        match self {
            DeviationClass::Defect => "defect",
            DeviationClass::Erratum => "erratum read otherwise",
            DeviationClass::EarlierText => "text earlier than the claimed edition",
            DeviationClass::LaterText => "text later than this edition",
            DeviationClass::Adapter => "limit of the adapter",
            DeviationClass::Licence => "licence of the text",
        }
    }

    /// The meaning, for people.
    pub fn meaning(self) -> &'static str {
        match self {
            DeviationClass::Defect => "the clause is clear, and the implementation violates it",
            DeviationClass::Erratum => {
                "the clause has an erratum, and the implementation does not follow the corrected reading"
            }
            DeviationClass::EarlierText => "the implementation follows an edition before the one that it claims",
            DeviationClass::LaterText => "the implementation follows an edition after the one by which it is judged",
            DeviationClass::Adapter => "the adapter cannot ask the question, or read the answer, as it is meant",
            DeviationClass::Licence => "the text permits the behaviour, and the case asks for more",
        }
    }
}

impl fmt::Display for DeviationClass {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// A known divergence.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct KnownDivergence {
    /// The id of the case.
    pub case: String,
    /// The prefixes of the versions that differ in this way; empty for all versions.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub versions: Vec<String>,
    /// The verdict, which is always a finding.
    pub outcome: CaseVerdict,
    /// Whether it agrees at times, because the result depends on uninitialized memory.
    #[serde(default, skip_serializing_if = "is_false")]
    pub sometimes: bool,
    /// The class of the divergence; `None` if it has not been examined yet.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub class: Option<DeviationClass>,
    /// The clause that decides; `None` if the divergence has not been examined yet.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub clause: Option<Rule>,
    /// The reason, for people; never empty.
    pub reason: String,
    /// A link to a report or discussion.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub link: Option<String>,
}

fn is_false(value: &bool) -> bool {
    !value
}

impl KnownDivergence {
    /// Whether a version differs in this way.
    pub fn is_of(&self, version: &str) -> bool {
        self.versions.is_empty() || self.versions.iter().any(|one| version.starts_with(one.as_str()))
    }

    /// Removes a version; `siblings` are the versions that share the ledger. `None` if it was the only version.
    fn without(self, version: &str, siblings: &[&str]) -> Option<KnownDivergence> {
        let all = || siblings.iter().map(|one| (*one).to_string()).collect();
        let versions: Vec<String> = if self.versions.is_empty() { all() } else { self.versions.clone() };
        let versions: Vec<String> = versions.into_iter().filter(|one| !version.starts_with(one.as_str())).collect();
        (!versions.is_empty()).then_some(KnownDivergence { versions, ..self })
    }
}

/// `conformance/ledger/NAME.ron`: a list of [`KnownDivergence`], in the order of the case ids, as it applies to one
/// version of the implementation.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Ledger {
    /// The entries of this version.
    known: BTreeMap<String, KnownDivergence>,
    /// The entries of other versions.
    others: Vec<KnownDivergence>,
}

/// The reason why a ledger cannot be read.
#[derive(Clone, PartialEq, Debug, thiserror::Error)]
pub enum LedgerError {
    /// It is not RON, or does not have this form.
    #[error("{0}")]
    Syntax(#[from] ron::error::SpannedError),
    /// Two entries have the same id.
    #[error("case {0} is listed twice")]
    Twice(String),
    /// The verdict of this entry is not a finding, so there is nothing to know.
    #[error("case {0} is listed as `{1}`, which is not a finding")]
    NoFinding(String, CaseVerdict),
    /// The reason of this entry is empty.
    #[error("the entry of case {0} gives no reason")]
    NoReason(String),
}

/// The relation of an observation to the ledger.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Standing {
    /// Not listed, and no finding.
    Expected,
    /// Listed and observed as listed.
    Known(KnownDivergence),
    /// A finding that is not listed.
    New,
    /// Listed, but observed differently: the entry is out of date.
    Changed(KnownDivergence),
}

/// An observation of a case.
pub struct ObservedCase<'a> {
    /// The id of the case.
    pub case: &'a str,
    /// The verdict on the case.
    pub verdict: CaseVerdict,
    /// The reason to write if there is a new entry.
    pub reason: String,
}

impl Standing {
    /// Whether the ledger does not explain the observation.
    pub fn is_unexpected(&self) -> bool {
        match self {
            Standing::Expected | Standing::Known(_) => false,
            Standing::New | Standing::Changed(_) => true,
        }
    }
}

impl Ledger {
    /// Reads a ledger for a version. Fails if an entry is not a finding, has no reason, or occurs twice.
    pub fn parse(text: &str, version: &str) -> Result<Ledger, LedgerError> {
        let entries: Vec<KnownDivergence> = crate::book::ron_options().from_str(text)?;
        let mut ledger = Ledger::default();
        for entry in entries {
            if !entry.outcome.is_finding() {
                return Err(LedgerError::NoFinding(entry.case, entry.outcome));
            }
            if entry.reason.trim().is_empty() {
                return Err(LedgerError::NoReason(entry.case));
            }
            if !entry.is_of(version) {
                ledger.others.push(entry);
            } else if let Some(first) = ledger.known.insert(entry.case.clone(), entry) {
                return Err(LedgerError::Twice(first.case));
            }
        }
        Ok(ledger)
    }

    /// This ledger, extended by the entries of another one for cases that this one does not list.
    #[must_use]
    pub fn and(mut self, other: &Ledger) -> Ledger {
        for (case, entry) in &other.known {
            self.known.entry(case.clone()).or_insert_with(|| entry.clone());
        }
        self
    }

    /// The known divergences of the version, in the order of the case ids.
    pub fn entries(&self) -> impl Iterator<Item = &KnownDivergence> {
        self.known.values()
    }

    /// Whether there is an entry of a case.
    pub fn lists(&self, case: &str) -> bool {
        self.known.contains_key(case)
    }

    /// The relation of the verdict on a case to its entry.
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

    /// The ledger that expects exactly the observations of one of the versions that share it. An entry keeps its
    /// reason, class and link if the outcome is the same. Entries of existing cases that were not asked stay too. A new
    /// entry has no class yet.
    pub fn updated(
        &self,
        observed: &[ObservedCase],
        suite: &BTreeSet<&str>,
        version: &str,
        siblings: &[&str],
    ) -> Ledger {
        let exists = |entry: &KnownDivergence| suite.contains(entry.case.as_str());
        let mut others: Vec<KnownDivergence> = self.others.iter().filter(|e| exists(e)).cloned().collect();
        let mut known: BTreeMap<String, KnownDivergence> =
            self.known.iter().filter(|(_, e)| exists(e)).map(|(k, v)| (k.clone(), v.clone())).collect();
        let versions: Vec<String> = if siblings.is_empty() { Vec::new() } else { vec![version.to_string()] };
        for ObservedCase { case, verdict, reason } in observed {
            let listed = known.get(*case);
            if listed.is_some_and(|e| e.outcome == *verdict || (e.sometimes && !verdict.is_finding())) {
                continue;
            }
            others.extend(known.remove(*case).and_then(|entry| entry.without(version, siblings)));
            if verdict.is_finding() {
                let entry = KnownDivergence {
                    case: case.to_string(),
                    versions: versions.clone(),
                    outcome: *verdict,
                    sometimes: false,
                    class: None,
                    clause: None,
                    reason: reason.clone(),
                    link: None,
                };
                known.insert(case.to_string(), entry);
            }
        }
        Ledger { known, others }
    }

    /// The text of the ledger as a file, in the order of the case ids.
    pub fn to_ron(&self) -> Result<String, ron::Error> {
        let mut entries: Vec<&KnownDivergence> = self.known.values().chain(&self.others).collect();
        entries.sort_by(|a, b| (&a.case, &a.versions).cmp(&(&b.case, &b.versions)));
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
        let ledger = Ledger::parse(&format!("[{}]", entry("a/b", CaseVerdict::Diverge)), "1").unwrap();
        assert!(!ledger.standing("a/b", CaseVerdict::Diverge).is_unexpected());
        assert!(ledger.standing("a/b", CaseVerdict::Agree).is_unexpected());
        assert!(ledger.standing("a/b", CaseVerdict::Crash).is_unexpected());
        assert!(ledger.standing("a/c", CaseVerdict::Diverge).is_unexpected());
        assert!(!ledger.standing("a/c", CaseVerdict::Unsupported).is_unexpected());
    }

    #[test]
    fn what_agrees_by_chance_is_no_surprise_and_stays_listed() {
        let text = r#"[(case: "a/b", outcome: diverge, sometimes: true, reason: "memory that is never written")]"#;
        let ledger = Ledger::parse(text, "1").unwrap();
        assert!(!ledger.standing("a/b", CaseVerdict::Agree).is_unexpected());
        assert!(!ledger.standing("a/b", CaseVerdict::Diverge).is_unexpected());
        assert!(ledger.standing("a/b", CaseVerdict::Crash).is_unexpected());
        let observed = ObservedCase { case: "a/b", verdict: CaseVerdict::Agree, reason: String::new() };
        assert_eq!(ledger.updated(&[observed], &BTreeSet::from(["a/b"]), "1", &[]), ledger);
    }

    #[test]
    fn an_update_keeps_reasons_and_drops_what_is_mended_or_gone() {
        let text = [
            entry("a/kept", CaseVerdict::Diverge),
            entry("a/mended", CaseVerdict::Crash),
            entry("a/gone", CaseVerdict::Crash),
        ];
        let ledger = Ledger::parse(&format!("[{}]", text.join(",")), "1").unwrap();
        let suite = BTreeSet::from(["a/kept", "a/mended", "a/new"]);
        let observed =
            [("a/kept", CaseVerdict::Diverge), ("a/mended", CaseVerdict::Agree), ("a/new", CaseVerdict::Timeout)]
                .map(|(case, verdict)| ObservedCase { case, verdict, reason: "new".to_string() });
        let updated = Ledger::parse(&ledger.updated(&observed, &suite, "1", &[]).to_ron().unwrap(), "1").unwrap();
        let reasons: Vec<(&str, &str)> =
            updated.known.values().map(|known| (known.case.as_str(), known.reason.as_str())).collect();
        assert_eq!(reasons, [("a/kept", "because"), ("a/new", "new")]);
    }

    #[test]
    fn entries_that_make_no_sense_are_refused() {
        assert!(Ledger::parse(&format!("[{}]", entry("a/b", CaseVerdict::Agree)), "1").is_err());
        assert!(Ledger::parse(&format!("[{0},{0}]", entry("a/b", CaseVerdict::Crash)), "1").is_err());
        assert!(Ledger::parse("[(case: \"a\", outcome: crash, reason: \" \")]", "1").is_err());
    }

    #[test]
    fn versions_share_a_ledger_and_are_told_apart_where_they_differ() {
        let text = format!("[{}]", entry("a/b", CaseVerdict::Diverge));
        let ledger = Ledger::parse(&text, "0.2").unwrap();
        let (siblings, suite) = (["0.1", "0.2", "0.3"], BTreeSet::from(["a/b"]));
        let observed = ObservedCase { case: "a/b", verdict: CaseVerdict::Crash, reason: "new".into() };
        let updated = ledger.updated(&[observed], &suite, "0.2", &siblings).to_ron().unwrap();
        let standing = |version| Ledger::parse(&updated, version).unwrap().standing("a/b", CaseVerdict::Crash);
        assert!(!standing("0.2").is_unexpected());
        assert!(standing("0.1.9").is_unexpected() && standing("0.3").is_unexpected());
    }

    #[test]
    fn a_clause_that_does_not_exist_is_refused() {
        let entry = |clause: &str| {
            let text =
                format!("[(case: \"a\", outcome: crash, class: defect, clause: \"{clause}\", reason: \"because\")]");
            Ledger::parse(&text, "1")
        };
        assert!(entry("SUB.NONSENSE").is_err() && entry("SUB.TENSOR.RANK").is_ok());
    }
}
