//! The project's data: the suite, the ledgers, the questions to implementations, the adapters, and the places where
//! rules are applied.
//!
//! Inside a checkout the files are read directly, so a changed case needs no build. A published program (profile
//! `dist`) is usually outside of a checkout, and contains a copy.

use std::path::{Path, PathBuf};
use std::{fs, io};

use relax_spec::suite::{Case, CaseError, read_suite};

use crate::checkout;

include!(concat!(env!("OUT_DIR"), "/kept.rs"));

/// A directory under `conformance/`, whose files have the same form.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum DataDirectory {
    /// The golden cases.
    Suite,
    /// The known divergences.
    Ledgers,
    /// The answers of implementations, operator by operator.
    Agreement,
    /// The adapters' sources.
    Adapters,
}

/// A file, with its name relative to the directory of its part.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct KeptFile {
    /// The name, with `/` as separator.
    pub name: String,
    /// The contents.
    pub text: String,
}

impl DataDirectory {
    /// The directory, relative to the root of the checkout.
    pub fn directory(self) -> &'static str {
        match self {
            DataDirectory::Suite => "conformance/suite",
            DataDirectory::Ledgers => "conformance/ledger",
            DataDirectory::Agreement => "conformance/agreement",
            DataDirectory::Adapters => "conformance/adapters",
        }
    }

    fn extension(self) -> &'static str {
        match self {
            DataDirectory::Suite | DataDirectory::Ledgers | DataDirectory::Agreement => "ron",
            DataDirectory::Adapters => "py",
        }
    }
}

/// The files of a part, in the order of their names.
pub fn files(part: DataDirectory) -> Vec<KeptFile> {
    let below = format!("{}/", part.directory());
    let kept = |(path, text): &(&str, &str)| {
        let name = path.strip_prefix(&below)?.to_string();
        Some(KeptFile { name, text: text.to_string() })
    };
    match root() {
        Some(root) => files_in(&root.join(part.directory()), part.extension()),
        None => KEPT.iter().filter_map(kept).collect(),
    }
}

/// One file, by its path from the root of the checkout.
pub fn file(path: &str) -> Option<String> {
    match root() {
        Some(root) => fs::read_to_string(root.join(path)).ok(),
        None => KEPT.iter().find(|(kept, _)| *kept == path).map(|(_, text)| text.to_string()),
    }
}

/// The golden suite, in the order of the files.
///
/// # Errors
///
/// A file is not a list of cases, two cases have the same id, or there is no suite.
pub fn suite() -> Result<Vec<Case>, CaseError> {
    read_files(DataDirectory::Suite.directory(), &files(DataDirectory::Suite))
}

/// The suite in a directory of the user.
///
/// # Errors
///
/// As for [`suite`].
pub fn suite_in(dir: &Path) -> Result<Vec<Case>, CaseError> {
    let files = texts_in(dir, DataDirectory::Suite.extension()).into_iter().map(|(name, text)| match text {
        Ok(text) => Ok(KeptFile { name, text }),
        Err(error) => Err(CaseError { file: name, message: error.to_string() }),
    });
    read_files(&dir.display().to_string(), &files.collect::<Result<Vec<KeptFile>, CaseError>>()?)
}

fn read_files(of: &str, files: &[KeptFile]) -> Result<Vec<Case>, CaseError> {
    if files.is_empty() {
        return Err(CaseError { file: of.to_string(), message: "there is no file with cases".to_string() });
    }
    read_suite(files.iter().map(|file| (file.name.as_str(), file.text.as_str())))
}

/// The text of the ledger of this name.
pub fn ledger(name: &str) -> Option<String> {
    file(&format!("{}/{name}.ron", DataDirectory::Ledgers.directory()))
}

/// The checkout with the data: the one that contains the program. A program without a copy also looks around the
/// working directory, and last where it was built, because its target directory may be elsewhere.
pub(crate) fn root() -> Option<PathBuf> {
    if !KEPT.is_empty() {
        return checkout::of_the_program();
    }
    let built_from = || Some(Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")).filter(|dir| dir.is_dir());
    checkout::root().or_else(built_from)
}

/// A directory with checks of the files around it, which belongs to no part.
const CHECKS: &str = "checks";

/// Every file with the extension in a directory tree, in the order of the names. Unreadable files are left out.
fn files_in(dir: &Path, extension: &str) -> Vec<KeptFile> {
    let texts = texts_in(dir, extension).into_iter();
    texts.filter_map(|(name, text)| Some(KeptFile { name, text: text.ok()? })).collect()
}

/// The names and texts of these files, or the error of reading one.
fn texts_in(dir: &Path, extension: &str) -> Vec<(String, io::Result<String>)> {
    let mut found = Vec::new();
    let mut pending = vec![dir.to_path_buf()];
    while let Some(at) = pending.pop() {
        for path in fs::read_dir(&at).into_iter().flatten().flatten().map(|entry| entry.path()) {
            if path.is_dir() {
                if !path.ends_with(CHECKS) {
                    pending.push(path);
                }
            } else if path.extension().is_some_and(|e| e == extension) {
                let name = path.strip_prefix(dir).unwrap_or(&path).display().to_string();
                found.push((name, checkout::read_regular(&path)));
            }
        }
    }
    found.sort_by(|a, b| Path::new(&a.0).cmp(Path::new(&b.0)));
    found
}
