//! The selection of cases to run: globs over case ids and rule ids, an edition, and a part of a partition.

use std::str::FromStr;

use glob::Pattern;

use super::Case;
use crate::book::{Edition, Rule, nearest};

/// One of `n` parts of the suite. A hash of the case id decides, so a new case moves no other.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Partition {
    /// From 1 to `count`.
    pub part: u64,
    /// The number of parts.
    pub count: u64,
}

/// The reason why no cases are selected.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum SelectError {
    /// The glob has invalid syntax.
    #[error("`{glob}` is not a glob: {message}")]
    Glob {
        /// The glob as given.
        glob: String,
        /// The syntax error.
        message: String,
    },
    /// The glob selects nothing.
    #[error("no case or rule id matches `{glob}`{meant}")]
    NoMatch {
        /// The glob as given.
        glob: String,
        /// A suggestion, as a question.
        meant: String,
    },
    /// No case is left.
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

/// The selected cases.
#[derive(Clone, Debug)]
pub struct Selection {
    /// A case must match one of them; all cases match if there are none.
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

/// Selects the cases that match some glob, or all cases without globs. Each glob must match something.
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

/// Splits `chapter/*` into the chapter and the rest.
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
