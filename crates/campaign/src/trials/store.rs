//! Findings as files, one per file. A file is written completely or not at all, so an interrupted campaign loses
//! nothing.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File, TryLockError};
use std::io::{self, Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::signature::{FailureSignature, FindingContext};
use super::traits::{Trait, attributes, operators};
use super::witness::Witness;
use crate::shrink::bindings;
use ask::checkout::{read_regular, write_atomically};
use relax_spec::book::Edition;
use relax_spec::data::json::to_value;
use relax_spec::syntax::tvmscript::{Dialect, print_module};

/// A finding: the differences with one signature.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Finding {
    /// What they have in common.
    pub signature: FailureSignature,
    /// Other signatures that the same entry of the ledger covers. The smallest of their programs represents all of
    /// them.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub also: BTreeSet<FailureSignature>,
    /// The paths on which the differences were seen.
    pub paths: BTreeSet<String>,
    /// How often they were seen.
    pub count: u64,
    /// The differences counted that an interrupted campaign might ask about again: seed, number of the program, and
    /// path.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub counted: BTreeSet<CountedPlace>,
    /// Whether the finding occurs in a new process; if not, an earlier program has a part in it.
    #[serde(default = "yes", skip_serializing_if = "is_yes")]
    pub alone: bool,
    /// The next question to the same process, if the finding occurs only with it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub then: Option<String>,
    /// The reason given in the ledger, if the finding is known.
    pub known: Option<String>,
    /// The seed of the program that showed it first.
    pub seed: u64,
    /// The number of that program.
    pub number: u64,
    /// The implementation under test.
    pub implementation: String,
    /// The edition by which it was judged.
    #[serde(default)]
    pub edition: Edition,
    /// What is wrong, for people.
    pub message: String,
    /// The result that the program should give.
    pub expected: String,
    /// The result of the implementation.
    pub given: String,
    /// The reduced program, as TVMScript.
    pub program: String,
    /// The reduced program, as data.
    pub module: Value,
    /// The function that is run.
    pub entry: String,
    /// The input of the run, as data; null if nothing was run.
    pub input: Value,
    /// How many bindings the reduced program has.
    pub bindings: usize,
    /// The operators in it.
    pub operators: Vec<String>,
    /// Traits that distinguish it from programs with the same operators.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub traits: BTreeSet<Trait>,
    /// The attributes of its calls, as `name=value`.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub attributes: BTreeSet<String>,
}

impl Finding {
    /// The finding that a witness shows; the caller fills in who was asked.
    pub(super) fn of(witness: &Witness, dialect: Dialect) -> Finding {
        let (program, difference) = (&witness.program, witness.difference.clone());
        Finding {
            signature: difference.signature,
            also: BTreeSet::new(),
            paths: BTreeSet::from([witness.path.to_string()]),
            count: 1,
            counted: BTreeSet::new(),
            alone: true,
            then: None,
            known: None,
            seed: 0,
            number: 0,
            implementation: String::new(),
            edition: program.edition,
            message: difference.message,
            expected: difference.expected,
            given: difference.given,
            program: print_module(&program.module, dialect),
            module: to_value(&program.module),
            entry: program.entry.to_string(),
            input: difference.input.as_ref().map_or(Value::Null, to_value),
            bindings: bindings(&program.module),
            operators: operators(&program.module),
            traits: witness.traits(),
            attributes: attributes(&program.module),
        }
    }

    /// What forms of the ledger go by beside its signature.
    pub(super) fn context<'a>(&'a self, path: &'a str, version: &'a str) -> FindingContext<'a> {
        let Finding { operators, traits, attributes, .. } = self;
        FindingContext { operators, traits, attributes, path, version }
    }
}

/// A seed, the number of a program, and a path.
pub type CountedPlace = (u64, u64, String);

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
    /// The progress of campaigns with other seeds.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    others: BTreeMap<u64, u64>,
}

/// The findings of a campaign, and the directory where they are stored.
#[derive(Clone, Debug, Default)]
pub struct FindingStore {
    dir: Option<PathBuf>,
    findings: BTreeMap<FailureSignature, Finding>,
    progress: CampaignProgress,
    /// Held as long as the store exists.
    _lock: Option<Arc<File>>,
}

/// Why findings cannot be stored.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// A file cannot be read or written.
    #[error("{}: {error}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// The error of the operating system.
        error: io::Error,
    },
    /// Another campaign uses the directory.
    #[error("{}: another campaign{by} keeps its findings there", path.display())]
    Taken {
        /// The directory.
        path: PathBuf,
        /// Its process, if that is known.
        by: String,
    },
    /// A file is not a finding.
    #[error("{}: {message}", path.display())]
    Form {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        message: String,
    },
}

const STATE: &str = "state.json";
/// The file that a campaign locks, with the number of its process. The operating system releases the lock when the
/// process ends in any way.
const LOCK: &str = "lock";

impl FindingStore {
    /// A store without a directory.
    pub fn in_memory() -> FindingStore {
        FindingStore::default()
    }

    /// The findings of a directory, which is created if needed. An interrupted campaign with this seed is continued,
    /// and its findings are kept.
    pub fn open(dir: &Path, seed: u64) -> Result<FindingStore, StoreError> {
        fs::create_dir_all(dir).map_err(|error| StoreError::Io { path: dir.to_path_buf(), error })?;
        let _lock = Some(Arc::new(locked(dir)?));
        let state = dir.join(STATE);
        let CampaignProgress { seed: last, next, mut others } =
            if state.exists() { read(&state)? } else { CampaignProgress { seed, ..CampaignProgress::default() } };
        others.insert(last, next);
        let progress = CampaignProgress { seed, next: others.remove(&seed).unwrap_or(0), others };
        let mut store = FindingStore { dir: Some(dir.to_path_buf()), progress, _lock, ..FindingStore::default() };
        for (_, mut finding) in read_findings(dir)? {
            finding.counted.retain(|place| store.may_come_again(place));
            store.findings.insert(finding.signature.clone(), finding);
        }
        Ok(store)
    }

    /// The number of the program that comes next.
    pub fn next(&self) -> u64 {
        self.progress.next
    }

    /// All findings: unknown ones before known ones, and rare ones before frequent ones.
    pub fn ranked(&self) -> Vec<&Finding> {
        let mut findings: Vec<&Finding> = self.findings.values().collect();
        findings.sort_by_key(|finding| (finding.known.is_some(), finding.count));
        findings
    }

    fn may_come_again(&self, (seed, number, _): &CountedPlace) -> bool {
        *seed != self.progress.seed || *number >= self.progress.next
    }

    /// Counts the difference again if a finding with this signature exists, unless this place was counted before the
    /// campaign was interrupted. False also if the finding is known and this program has fewer bindings than the one
    /// stored: then it is worth another look.
    pub(super) fn again(
        &mut self,
        signature: &FailureSignature,
        operators: &[String],
        place: &CountedPlace,
        bindings: usize,
    ) -> Result<bool, StoreError> {
        let alike = |own: &FailureSignature| {
            let same = own.kind == signature.kind && own.stage == signature.stage && own.message == signature.message;
            // A program without calls of operators cannot represent one with calls.
            let calls = !own.operators.is_empty() || operators.is_empty();
            same && (signature.tells() || calls && own.operators.iter().all(|operator| operators.contains(operator)))
        };
        let is_of = |finding: &&mut Finding| alike(&finding.signature) || finding.also.iter().any(alike);
        let Some(finding) = self.findings.values_mut().find(is_of) else { return Ok(false) };
        if finding.counted.contains(place) {
            return Ok(true);
        }
        if finding.known.is_some() && finding.alone && bindings < finding.bindings {
            return Ok(false);
        }
        finding.count += 1;
        finding.counted.insert(place.clone());
        finding.paths.insert(place.2.clone());
        let finding = finding.clone();
        self.write(&finding).map(|()| true)
    }

    /// Stores a finding. If one with the same signature, or of the same entry of the ledger, exists already, it is
    /// counted again, and the smaller program represents both.
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
        let is_new = kept.counted.is_disjoint(&other.counted);
        kept.count = if is_new { kept.count + other.count } else { kept.count.max(other.count) };
        kept.counted.extend(other.counted);
        kept.paths.extend(other.paths);
        kept.also.extend(other.also);
        kept.also.extend(gone.clone());
        kept.also.remove(&kept.signature);
        self.keep(kept)?;
        // The old file is removed last, so that nothing is lost in between.
        gone.map_or(Ok(()), |gone| self.discard(&gone))
    }

    fn keep(&mut self, finding: Finding) -> Result<(), StoreError> {
        self.write(&finding)?;
        self.findings.insert(finding.signature.clone(), finding);
        Ok(())
    }

    /// Removes the files of a signature, if there are any.
    fn discard(&self, signature: &FailureSignature) -> Result<(), StoreError> {
        let Some(dir) = &self.dir else { return Ok(()) };
        let path = dir.join(format!("{}.json", signature.slug()));
        [path.with_extension("py"), path].into_iter().try_for_each(|path| match fs::remove_file(&path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(StoreError::Io { path, error }),
            Ok(()) | Err(_) => Ok(()),
        })
    }

    /// Records that all programs before this one are done.
    pub(super) fn done(&mut self, seed: u64, next: u64) -> Result<(), StoreError> {
        self.progress.next = self.progress.next.max(next);
        self.progress.seed = seed;
        let Some(dir) = &self.dir else { return Ok(()) };
        write(&dir.join(STATE), &text_of(&self.progress))?;
        self.forget_done()
    }

    /// Forgets which differences of finished programs were counted: nobody asks about these programs again.
    fn forget_done(&mut self) -> Result<(), StoreError> {
        let done = |store: &FindingStore, finding: &Finding| finding.counted.iter().any(|p| !store.may_come_again(p));
        let of_done: Vec<FailureSignature> =
            self.findings.values().filter(|finding| done(self, finding)).map(|f| f.signature.clone()).collect();
        for signature in of_done {
            let Some(mut finding) = self.findings.remove(&signature) else { continue };
            finding.counted.retain(|place| self.may_come_again(place));
            self.keep(finding)?;
        }
        Ok(())
    }

    fn write(&self, finding: &Finding) -> Result<(), StoreError> {
        let Some(dir) = &self.dir else { return Ok(()) };
        write_finding(&dir.join(format!("{}.json", finding.signature.slug())), finding)
    }
}

/// Takes the lock of a directory.
fn locked(dir: &Path) -> Result<File, StoreError> {
    let path = dir.join(LOCK);
    let io = |error| StoreError::Io { path: path.clone(), error };
    if path.exists() && !path.is_file() {
        return Err(io(io::Error::other("it is no file")));
    }
    let mut file = File::options().read(true).write(true).create(true).truncate(false).open(&path).map_err(io)?;
    match file.try_lock() {
        Ok(()) => {}
        Err(TryLockError::WouldBlock) => {
            let mut process = String::new();
            // The process that holds the lock may not have written its number yet.
            let by = file.take(20).read_to_string(&mut process).ok().and_then(|_| process.parse::<u32>().ok());
            let by = by.map(|process| format!(" (process {process})")).unwrap_or_default();
            return Err(StoreError::Taken { path: dir.to_path_buf(), by });
        }
        Err(TryLockError::Error(error)) => return Err(io(error)),
    }
    let written = file.set_len(0).and_then(|()| file.write_all(std::process::id().to_string().as_bytes()));
    written.map_err(io)?;
    Ok(file)
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

/// The findings of a file or of a directory, each with its file, in the order of the file names.
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

/// Writes the whole file, or leaves it as it was.
fn write(path: &Path, text: &str) -> Result<(), StoreError> {
    write_atomically(path, text.as_bytes()).map_err(|error| StoreError::Io { path: path.to_path_buf(), error })
}

#[cfg(test)]
mod tests {
    use super::super::signature::FailureKind;
    use super::super::verdict::TrialDifference;
    use super::*;
    use relax_spec::grammar::IrModule;

    fn finding() -> Finding {
        let operators = vec!["relax.add".to_string()];
        let signature = FailureSignature::of(FailureKind::Crash, "run", "SIGSEGV");
        let signature = FailureSignature { operators: operators.clone(), ..signature };
        let (message, expected, given) = ("it crashes".into(), "returns".into(), "SIGSEGV".into());
        let difference = TrialDifference { signature, message, input: None, expected, given };
        let (module, way) = (IrModule::default(), super::super::path::Path::Run("llvm"));
        let witness = Witness::new(Edition::E2024_04, module, "main".into(), way, difference);
        Finding { operators, bindings: 1, ..Finding::of(&witness, Dialect::default()) }
    }

    #[test]
    fn what_was_found_is_there_when_the_campaign_goes_on() {
        let dir = tempfile::tempdir().unwrap();
        let mut store = FindingStore::open(dir.path(), 3).unwrap();
        store.put(finding()).unwrap();
        store.put(finding()).unwrap();
        store.done(3, 12).unwrap();
        // A file that was being written when the process was killed is ignored.
        fs::write(dir.path().join("crash-0.tmp"), "{").unwrap();
        drop(store);
        let again = FindingStore::open(dir.path(), 3).unwrap();
        assert_eq!(again.next(), 12);
        assert_eq!(again.ranked(), [&Finding { count: 2, ..finding() }]);
        drop(again);
        let mut other = FindingStore::open(dir.path(), 4).unwrap();
        assert_eq!(other.next(), 0);
        other.done(4, 2).unwrap();
        drop(other);
        assert_eq!(FindingStore::open(dir.path(), 3).unwrap().next(), 12, "each seed goes on where it was");
    }

    fn at(number: u64, path: &str) -> CountedPlace {
        (3, number, path.to_string())
    }

    #[test]
    fn no_place_is_counted_twice() {
        let dir = tempfile::tempdir().unwrap();
        let found = |number| Finding { number, counted: [at(number, "llvm")].into(), ..finding() };
        let signature = finding().signature;
        let operators = signature.operators.clone();
        let mut store = FindingStore::open(dir.path(), 3).unwrap();
        store.put(found(7)).unwrap();
        assert!(store.again(&signature, &operators, &at(9, "llvm"), 9).unwrap());
        // Another worker has not finished program 8 when the campaign is killed.
        store.done(3, 8).unwrap();
        drop(store);
        let mut store = FindingStore::open(dir.path(), 3).unwrap();
        assert_eq!(store.ranked()[0].counted, [at(9, "llvm")].into());
        for path in ["llvm", "text"] {
            assert!(store.again(&signature, &operators, &at(9, path), 9).unwrap());
        }
        store.put(found(9)).unwrap();
        assert_eq!(store.ranked()[0].count, 3);
        store.done(3, 10).unwrap();
        assert_eq!(
            store.ranked(),
            [&Finding {
                count: 3,
                paths: ["llvm", "text"].map(String::from).into(),
                ..Finding { counted: BTreeSet::new(), ..found(7) }
            }]
        );
    }

    #[test]
    fn a_directory_has_one_campaign_at_a_time() {
        let dir = tempfile::tempdir().unwrap();
        // The lock file of a process that no longer exists.
        fs::write(dir.path().join(LOCK), "99999999").unwrap();
        let store = FindingStore::open(dir.path(), 3).unwrap();
        let second = FindingStore::open(dir.path(), 4).unwrap_err().to_string();
        assert!(second.contains(&format!("another campaign (process {})", std::process::id())), "{second}");
        drop(store);
        FindingStore::open(dir.path(), 4).unwrap();
    }

    #[test]
    fn a_program_with_all_operators_of_a_crash_shows_that_crash() {
        let mut store = FindingStore::in_memory();
        store.put(finding()).unwrap();
        let like = FailureSignature { operators: Vec::new(), ..finding().signature };
        assert!(store.again(&like, &["relax.add".to_string(), "relax.sum".to_string()], &at(9, "text"), 9).unwrap());
        assert!(!store.again(&like, &["relax.sum".to_string()], &at(9, "text"), 9).unwrap());
        assert_eq!(store.ranked()[0].count, 2);
        let mut store = FindingStore::in_memory();
        store.put(Finding { signature: like.clone(), operators: Vec::new(), ..finding() }).unwrap();
        assert!(store.again(&like, &[], &at(9, "text"), 9).unwrap());
        assert!(!store.again(&like, &["relax.add".to_string()], &at(9, "text"), 9).unwrap(), "it has another cause");
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
        drop(store);
        let mut store = FindingStore::open(dir.path(), 3).unwrap();
        let also = [known("sum: no rule", 5), known("mean: no rule", 9)].map(|finding| finding.signature).into();
        let one = Finding { also, count: 3, ..known("max: no rule", 2) };
        assert_eq!(store.ranked(), [&Finding { known: None, ..known("no memory", 3) }, &one]);
        let mean = known("mean: no rule", 9).signature;
        assert!(store.again(&mean, &[], &at(1, "llvm"), 2).unwrap());
        assert!(!store.again(&mean, &[], &at(2, "llvm"), 1).unwrap(), "smaller than what stands for it");
        assert_eq!(store.ranked()[1].count, 4);
    }
}
