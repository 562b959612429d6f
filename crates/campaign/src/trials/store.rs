//! Findings as files, one each, written whole or not at all, so that a campaign that is cut short loses nothing.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::signature::{FailureSignature, Trait};
use ask::checkout::{read_regular, write_atomically};
use relax_spec::book::Edition;

/// A finding: differences of one signature.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Finding {
    /// What they have in common.
    pub signature: FailureSignature,
    /// Further signatures that the same line of the ledger knows. One program, the smallest, stands for all of them.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub also: BTreeSet<FailureSignature>,
    /// The paths on which they were seen.
    pub paths: BTreeSet<String>,
    /// How often.
    pub count: u64,
    /// Whether it shows in a process of its own; where it does not, something that ran before has a part in it.
    #[serde(default = "yes", skip_serializing_if = "is_yes")]
    pub alone: bool,
    /// What the same process was asked next, where it shows only then.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub then: Option<String>,
    /// Why it is known, if a ledger knows it.
    pub known: Option<String>,
    /// The seed, and the number of the program that showed it first.
    pub seed: u64,
    /// The number of that program.
    pub number: u64,
    /// Who was asked.
    pub implementation: String,
    /// By which edition it was judged.
    #[serde(default)]
    pub edition: Edition,
    /// What is wrong, for people.
    pub message: String,
    /// What the program gives.
    pub expected: String,
    /// What the implementation gives.
    pub given: String,
    /// The reduced program, as TVMScript.
    pub program: String,
    /// The reduced program, as data.
    pub module: Value,
    /// The function that is started.
    pub entry: String,
    /// What it is started on, as data; null if nothing was run.
    pub input: Value,
    /// How many bindings the reduced program has.
    pub bindings: usize,
    /// The operators in it.
    pub operators: Vec<String>,
    /// What tells it from programs with the same operators.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub traits: BTreeSet<Trait>,
}

fn yes() -> bool {
    true
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_yes(alone: &bool) -> bool {
    *alone
}

/// How far a campaign has come.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
struct CampaignProgress {
    seed: u64,
    next: u64,
}

/// The findings of a campaign, and where they are kept.
#[derive(Clone, Debug, Default)]
pub struct FindingStore {
    dir: Option<PathBuf>,
    findings: BTreeMap<FailureSignature, Finding>,
    next: u64,
}

/// Why findings cannot be kept.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// A file cannot be read or written.
    #[error("{}: {error}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// What the system says.
        error: io::Error,
    },
    /// A file is no finding.
    #[error("{}: {message}", path.display())]
    Form {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        message: String,
    },
}

const STATE: &str = "state.json";

impl FindingStore {
    /// Findings that are kept nowhere.
    pub fn in_memory() -> FindingStore {
        FindingStore::default()
    }

    /// The findings of a directory, which is made if there is none. What an interrupted campaign of this seed has found is there
    /// already, and goes on.
    ///
    /// # Errors
    ///
    /// See [`StoreError`].
    pub fn open(dir: &Path, seed: u64) -> Result<FindingStore, StoreError> {
        fs::create_dir_all(dir).map_err(|error| StoreError::Io { path: dir.to_path_buf(), error })?;
        let mut store = FindingStore { dir: Some(dir.to_path_buf()), ..FindingStore::default() };
        let state = dir.join(STATE);
        if state.exists() {
            let state: CampaignProgress = read(&state)?;
            store.next = if state.seed == seed { state.next } else { 0 };
        }
        for (_, finding) in read_findings(dir)? {
            store.findings.insert(finding.signature.clone(), finding);
        }
        Ok(store)
    }

    /// The number of the program that comes next.
    pub fn next(&self) -> u64 {
        self.next
    }

    /// All findings: those that no ledger knows first, and rare ones before frequent ones.
    pub fn ranked(&self) -> Vec<&Finding> {
        let mut findings: Vec<&Finding> = self.findings.values().collect();
        findings.sort_by_key(|finding| (finding.known.is_some(), finding.count));
        findings
    }

    /// Whether a finding of this signature is there, which is counted again then. What a ledger knows is looked at again if the
    /// program has fewer bindings than the one that stands for it.
    ///
    /// # Errors
    ///
    /// If it cannot be written.
    pub(super) fn again(
        &mut self,
        signature: &FailureSignature,
        operators: &[String],
        path: &str,
        bindings: usize,
    ) -> Result<bool, StoreError> {
        let alike = |own: &FailureSignature| {
            let same = own.kind == signature.kind && own.stage == signature.stage && own.message == signature.message;
            // What calls no operator says nothing of a program that calls some.
            let calls = !own.operators.is_empty() || operators.is_empty();
            same && (signature.tells() || calls && own.operators.iter().all(|operator| operators.contains(operator)))
        };
        let is_of = |finding: &&mut Finding| alike(&finding.signature) || finding.also.iter().any(alike);
        let Some(finding) = self.findings.values_mut().find(is_of) else { return Ok(false) };
        if finding.known.is_some() && finding.alone && bindings < finding.bindings {
            return Ok(false);
        }
        finding.count += 1;
        finding.paths.insert(path.to_string());
        let finding = finding.clone();
        self.write(&finding).map(|()| true)
    }

    /// Keeps a finding; one of the same signature, or that the same line of the ledger knows, is counted again, and the smaller
    /// program stands for both.
    ///
    /// # Errors
    ///
    /// If it cannot be written.
    pub(super) fn put(&mut self, finding: Finding) -> Result<(), StoreError> {
        let is_same_line =
            |own: &Finding| own.known.is_some() && own.known == finding.known && own.alone == finding.alone;
        let there = self.findings.values().find(|own| own.signature == finding.signature || is_same_line(own));
        let Some(there) = there.map(|own| own.signature.clone()).and_then(|there| self.findings.remove(&there)) else {
            return self.keep(finding);
        };
        let is_smaller = finding.known.is_some() && finding.bindings < there.bindings;
        let (mut kept, other) = if is_smaller { (finding, there) } else { (there, finding) };
        let gone = (kept.signature != other.signature).then(|| other.signature.clone());
        kept.count += other.count;
        kept.paths.extend(other.paths);
        kept.also.extend(other.also);
        kept.also.extend(gone.clone());
        kept.also.remove(&kept.signature);
        self.keep(kept)?;
        // Only now, so that nothing is lost in between.
        gone.map_or(Ok(()), |gone| self.discard(&gone))
    }

    fn keep(&mut self, finding: Finding) -> Result<(), StoreError> {
        self.write(&finding)?;
        self.findings.insert(finding.signature.clone(), finding);
        Ok(())
    }

    /// Takes the files of a signature away, if there are any.
    fn discard(&self, signature: &FailureSignature) -> Result<(), StoreError> {
        let Some(dir) = &self.dir else { return Ok(()) };
        let path = dir.join(format!("{}.json", signature.slug()));
        [path.with_extension("py"), path].into_iter().try_for_each(|path| match fs::remove_file(&path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(StoreError::Io { path, error }),
            Ok(()) | Err(_) => Ok(()),
        })
    }

    /// Notes that all programs before this one are done.
    ///
    /// # Errors
    ///
    /// If it cannot be written.
    pub(super) fn done(&mut self, seed: u64, next: u64) -> Result<(), StoreError> {
        self.next = self.next.max(next);
        let state = CampaignProgress { seed, next: self.next };
        let Some(dir) = &self.dir else { return Ok(()) };
        write(&dir.join(STATE), &text_of(&state))
    }

    fn write(&self, finding: &Finding) -> Result<(), StoreError> {
        let Some(dir) = &self.dir else { return Ok(()) };
        write_finding(&dir.join(format!("{}.json", finding.signature.slug())), finding)
    }
}

/// Writes a finding to its file, and its program beside it.
///
/// # Errors
///
/// If one of them cannot be written.
pub fn write_finding(path: &Path, finding: &Finding) -> Result<(), StoreError> {
    write(path, &text_of(finding))?;
    write(&path.with_extension("py"), &finding.program)
}

/// The findings of a file, or of a directory, in the order of their names, each with its file.
///
/// # Errors
///
/// See [`StoreError`].
pub fn read_findings(path: &Path) -> Result<Vec<(PathBuf, Finding)>, StoreError> {
    if !path.is_dir() {
        return Ok(vec![(path.to_path_buf(), read(path)?)]);
    }
    let io = |error| StoreError::Io { path: path.to_path_buf(), error };
    let entries: Result<Vec<_>, _> = fs::read_dir(path).map_err(io)?.collect();
    let mut files: Vec<PathBuf> = entries.map_err(io)?.into_iter().map(|entry| entry.path()).collect();
    files.retain(|file| {
        file.extension().is_some_and(|extension| extension == "json")
            && file.file_name().is_some_and(|name| name != STATE)
    });
    files.sort();
    files.into_iter().map(|file| read(&file).map(|finding| (file, finding))).collect()
}

fn read<T: serde::de::DeserializeOwned>(path: &Path) -> Result<T, StoreError> {
    let text = read_regular(path).map_err(|error| StoreError::Io { path: path.to_path_buf(), error })?;
    serde_json::from_str(&text)
        .map_err(|error| StoreError::Form { path: path.to_path_buf(), message: error.to_string() })
}

fn text_of(value: &impl Serialize) -> String {
    serde_json::to_string_pretty(value).unwrap_or_default()
}

/// Writes a file whole, or leaves it as it was.
fn write(path: &Path, text: &str) -> Result<(), StoreError> {
    write_atomically(path, text.as_bytes()).map_err(|error| StoreError::Io { path: path.to_path_buf(), error })
}

#[cfg(test)]
mod tests {
    use super::super::signature::FailureKind;
    use super::*;

    fn finding() -> Finding {
        Finding {
            signature: FailureSignature {
                kind: FailureKind::Crash,
                stage: "run".into(),
                message: "SIGSEGV".into(),
                operators: vec!["relax.add".into()],
            },
            also: BTreeSet::new(),
            paths: BTreeSet::from(["llvm".to_string()]),
            count: 1,
            alone: true,
            then: None,
            known: None,
            seed: 0,
            number: 7,
            implementation: "tvm".into(),
            edition: Edition::E2024_04,
            message: "it crashes".into(),
            expected: "returns".into(),
            given: "SIGSEGV".into(),
            program: "def main(): pass".into(),
            module: Value::Null,
            entry: "main".into(),
            input: Value::Null,
            bindings: 1,
            operators: vec!["relax.add".into()],
            traits: BTreeSet::new(),
        }
    }

    #[test]
    fn what_was_found_is_there_when_the_campaign_goes_on() {
        let dir = tempfile::tempdir().unwrap();
        let mut store = FindingStore::open(dir.path(), 3).unwrap();
        store.put(finding()).unwrap();
        store.put(finding()).unwrap();
        store.done(3, 12).unwrap();
        // What was being written when the process was killed is not read.
        fs::write(dir.path().join("crash-0.tmp"), "{").unwrap();
        let again = FindingStore::open(dir.path(), 3).unwrap();
        assert_eq!(again.next(), 12);
        assert_eq!(again.ranked(), [&Finding { count: 2, ..finding() }]);
        assert_eq!(FindingStore::open(dir.path(), 4).unwrap().next(), 0);
    }

    #[test]
    fn a_program_with_all_operators_of_a_crash_shows_that_crash() {
        let mut store = FindingStore::in_memory();
        store.put(finding()).unwrap();
        let like = FailureSignature { operators: Vec::new(), ..finding().signature };
        assert!(store.again(&like, &["relax.add".to_string(), "relax.sum".to_string()], "text", 9).unwrap());
        assert!(!store.again(&like, &["relax.sum".to_string()], "text", 9).unwrap());
        assert_eq!(store.ranked()[0].count, 2);
        let mut store = FindingStore::in_memory();
        store.put(Finding { signature: like.clone(), operators: Vec::new(), ..finding() }).unwrap();
        assert!(store.again(&like, &[], "text", 9).unwrap());
        assert!(!store.again(&like, &["relax.add".to_string()], "text", 9).unwrap(), "it has another cause");
    }

    #[test]
    fn one_program_stands_for_all_that_one_line_of_the_ledger_knows() {
        let dir = tempfile::tempdir().unwrap();
        let known = |message: &str, bindings| {
            let signature = FailureSignature {
                message: message.into(),
                operators: Vec::new(),
                kind: FailureKind::Refused,
                ..finding().signature
            };
            Finding { signature, bindings, known: Some("not lowered".into()), ..finding() }
        };
        let mut store = FindingStore::open(dir.path(), 3).unwrap();
        for (message, bindings) in [("sum: no rule", 5), ("mean: no rule", 9), ("max: no rule", 2)] {
            store.put(known(message, bindings)).unwrap();
        }
        store.put(Finding { known: None, ..known("no memory", 3) }).unwrap();
        let mut store = FindingStore::open(dir.path(), 3).unwrap();
        let also = [known("sum: no rule", 5), known("mean: no rule", 9)].map(|finding| finding.signature).into();
        let one = Finding { also, count: 3, ..known("max: no rule", 2) };
        assert_eq!(store.ranked(), [&Finding { known: None, ..known("no memory", 3) }, &one]);
        let mean = known("mean: no rule", 9).signature;
        assert!(store.again(&mean, &[], "llvm", 2).unwrap());
        assert!(!store.again(&mean, &[], "llvm", 1).unwrap(), "smaller than what stands for it");
        assert_eq!(store.ranked()[1].count, 4);
    }
}
