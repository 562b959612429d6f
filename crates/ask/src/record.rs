//! Records that are measured from the suite and stored as lines: one with a hash of the inputs, then a JSON value for
//! each row. `cargo xtask regenerate` writes them, so no command needs to measure, or to read the cases.

use std::hash::Hasher as _;

use relax_spec::Rule;
use rustc_hash::FxHasher;
use serde::{Deserialize, Serialize};

use crate::conformance::{self, DataDirectory};

/// Measured rows.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SuiteRecord<T> {
    of: Measured,
    /// The rows.
    pub rows: Vec<T>,
}

/// The first line of a record.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
struct Measured {
    /// The hash of the suite and of the rules' text.
    of: String,
}

/// The reason why a record cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum RecordError {
    /// There is no record.
    #[error("there is no {0} (`cargo xtask regenerate` writes it)")]
    Missing(&'static str),
    /// A line has the wrong form.
    #[error("{file}:{line}: {message}")]
    Line {
        /// The file, from the root of the checkout.
        file: &'static str,
        /// The line number, counted from 1.
        line: usize,
        /// The error.
        message: String,
    },
}

impl<T: Serialize + for<'l> Deserialize<'l>> SuiteRecord<T> {
    /// The record of rows that were measured with the present suite and rules.
    pub fn of(rows: Vec<T>) -> SuiteRecord<T> {
        SuiteRecord { of: Measured { of: hash() }, rows }
    }

    /// The stored record.
    ///
    /// # Errors
    ///
    /// There is no record, or it has the wrong form.
    pub fn read(file: &'static str) -> Result<SuiteRecord<T>, RecordError> {
        let text = conformance::file(file).ok_or(RecordError::Missing(file))?;
        let mut lines = text.lines().enumerate();
        let (at, first) = lines.next().ok_or(RecordError::Missing(file))?;
        let of = read_line(file, at, first)?;
        let rows = lines.map(|(at, line)| read_line(file, at, line));
        Ok(SuiteRecord { of, rows: rows.collect::<Result<_, RecordError>>()? })
    }

    /// The text of the file.
    pub fn to_text(&self) -> String {
        std::iter::once(to_line(&self.of)).chain(self.rows.iter().map(to_line)).collect()
    }

    /// Whether it was measured with the present suite and rules.
    pub fn is_current(&self) -> bool {
        self.of.of == hash()
    }
}

fn read_line<T: for<'l> Deserialize<'l>>(file: &'static str, at: usize, line: &str) -> Result<T, RecordError> {
    let wrong = |error: serde_json::Error| RecordError::Line { file, line: at + 1, message: error.to_string() };
    serde_json::from_str(line).map_err(wrong)
}

fn to_line(value: &impl Serialize) -> String {
    // All values of these types have a JSON form.
    serde_json::to_string(value).unwrap_or_default() + "\n"
}

/// A hash of the suite's files and of the rules' text.
fn hash() -> String {
    let mut hasher = FxHasher::default();
    for file in conformance::files(DataDirectory::Suite) {
        hasher.write(file.name.as_bytes());
        hasher.write(file.text.as_bytes());
    }
    for rule in Rule::ALL {
        hasher.write(rule.id().as_bytes());
        hasher.write(rule.info().text.as_bytes());
    }
    format!("{:016x}", hasher.finish())
}
