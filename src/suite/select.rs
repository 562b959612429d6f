//! Which cases to run: globs over case ids and rule ids, an edition, and a part of a partition.

use std::str::FromStr;

use glob::Pattern;

use super::Case;
use crate::book::{Edition, Rule, nearest};

/// One of `n` parts of the suite, by a hash of the case ids, so that adding a case moves no other.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Partition {
    /// From 1 to `count`.
    pub part: u64,
    /// How many parts there are.
    pub count: u64,
}

/// Why no cases are selected.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum SelectError {
    /// It cannot be compiled.
    #[error("`{glob}` is not a glob: {message}")]
    Glob {
        /// As given.
        glob: String,
        /// What is wrong with it.
        message: String,
    },
    /// The glob that selects nothing.
    #[error("no case or rule id matches `{glob}`{meant}")]
    NoMatch {
        /// As given.
        glob: String,
        /// What was probably meant, as a question.
        meant: String,
    },
    /// Every case is deselected.
    #[error("no case is left to run")]
    Empty,
}

impl FromStr for Partition {
    type Err = String;

    fn from_str(text: &str) -> Result<Partition, String> {
        let error = || format!("`{text}` is not a partition (expected `hash:PART/COUNT`, for example `hash:1/4`)");
        let (part, count) = text.strip_prefix("hash:").and_then(|rest| rest.split_once('/')).ok_or_else(error)?;
        let partition =
            Partition { part: part.parse().map_err(|_| error())?, count: count.parse().map_err(|_| error())? };
        if (1..=partition.count).contains(&partition.part) { Ok(partition) } else { Err(error()) }
    }
}

impl Partition {
    /// Whether the case with this id is in the part.
    pub fn contains(self, id: &str) -> bool {
        fnv1a(id) % self.count.max(1) == self.part - 1
    }
}

/// FNV-1a: the same on every machine and in every version.
fn fnv1a(text: &str) -> u64 {
    text.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}

/// Which cases are asked about.
#[derive(Clone, Debug)]
pub struct Selection {
    /// One must match; any case if there are none.
    patterns: Vec<Pattern>,
    partition: Option<Partition>,
}

impl Selection {
    /// The cases of an edition.
    pub fn of<'a>(&self, suite: &'a [Case], edition: Edition) -> Result<Vec<&'a Case>, SelectError> {
        let selected: Vec<&Case> = suite
            .iter()
            .filter(|case| case.is_asked_in(edition))
            .filter(|case| self.patterns.is_empty() || self.patterns.iter().any(|pattern| matches(pattern, case)))
            .filter(|case| self.partition.is_none_or(|partition| partition.contains(&case.id)))
            .collect();
        if selected.is_empty() { Err(SelectError::Empty) } else { Ok(selected) }
    }
}

/// What globs select, everything if there are none. Each must match something.
pub fn select(suite: &[Case], globs: &[String], partition: Option<Partition>) -> Result<Selection, SelectError> {
    let mut patterns = Vec::new();
    for glob in globs {
        let pattern =
            Pattern::new(glob).map_err(|error| SelectError::Glob { glob: glob.clone(), message: error.to_string() })?;
        if !suite.iter().any(|case| matches(&pattern, case)) {
            let ids = suite.iter().flat_map(|case| [&*case.id, case.chapter()]);
            let (wanted, rest) = if ids.clone().any(|id| id == glob) { (&**glob, "") } else { split_glob(glob) };
            let near = nearest(wanted, ids.chain(Rule::ALL.iter().map(|rule| rule.id())));
            let meant = near.map_or_else(String::new, |near| format!("; did you mean `{near}{rest}`?"));
            return Err(SelectError::NoMatch { glob: glob.clone(), meant });
        }
        patterns.push(pattern);
    }
    Ok(Selection { patterns, partition })
}

/// `chapter/*` as the chapter and the rest.
fn split_glob(glob: &str) -> (&str, &str) {
    glob.find("/*").and_then(|at| glob.split_at_checked(at)).unwrap_or((glob, ""))
}

fn matches(pattern: &Pattern, case: &Case) -> bool {
    pattern.matches(&case.id) || case.rules.iter().any(|rule| pattern.matches(rule.id()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_parts_of_a_partition_cover_everything_once() {
        let ids: Vec<String> = (0..100).map(|i| format!("chapter/case-{i}")).collect();
        for id in &ids {
            let parts = (1..=3).filter(|part| Partition { part: *part, count: 3 }.contains(id)).count();
            assert_eq!(parts, 1, "{id}");
        }
        assert!((1..=3).all(|part| ids.iter().any(|id| Partition { part, count: 3 }.contains(id))));
    }

    #[test]
    fn partitions_are_read_strictly() {
        assert_eq!("hash:2/4".parse(), Ok(Partition { part: 2, count: 4 }));
        for text in ["2/4", "hash:0/4", "hash:5/4", "hash:1/0", "hash:1", "hash:a/b"] {
            assert!(text.parse::<Partition>().is_err(), "{text}");
        }
    }
}
