//! The rules of the specification as data. The enumeration and its table are generated from `spec/` by the build
//! script, so code that cites a rule which the text does not state does not compile.

use std::fmt;
use std::str::FromStr;

include!(concat!(env!("OUT_DIR"), "/rules.rs"));

/// A changed line moves the places below it: in a module of their own they alone are compiled again.
mod sites {
    include!(concat!(env!("OUT_DIR"), "/sites.rs"));

    /// By the position of the rule, not inlined, so that nothing else depends on the table.
    #[inline(never)]
    pub fn of(rule: super::Rule) -> &'static [&'static str] {
        SITES[rule as usize]
    }
}

/// What the text says of a rule, and where the code applies it.
#[derive(Debug)]
pub struct RuleInfo {
    /// The anchor in the text: `r[ID]`.
    pub id: &'static str,
    /// The chapter file and line of the anchor.
    pub file: &'static str,
    /// The line of the anchor, counted from 1.
    pub line: usize,
    /// `judgement`, `algorithm-branch`, `error`, ... as the catalogue classifies it.
    pub kind: &'static str,
    /// The editions that state it, by name.
    pub editions: &'static [&'static str],
    /// Where the source documents state it, as `document:lines`.
    pub source: &'static str,
    /// The rules and parts of the language that it rests on, by id.
    pub needs: &'static [&'static str],
    /// The errata that touch it, by id.
    pub errata: &'static [&'static str],
    /// Whether the source marks it as absent from the prototype of the day.
    pub chevron: bool,
    /// The statement itself, in Markdown.
    pub text: &'static str,
    /// Why no run can fire it, if so.
    pub excluded: Option<&'static str>,
}

/// Where a rule stands.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Status {
    /// The code cites it by `rule!`.
    Implemented,
    /// It cannot fire; the reason is in [`RuleInfo::excluded`].
    Excluded,
    /// In the text, not yet in the code.
    Pending,
}

impl Rule {
    /// What the text says of it.
    pub fn info(self) -> &'static RuleInfo {
        &INFO[self as usize]
    }

    /// The id, as in the anchor `r[ID]`.
    pub fn id(self) -> &'static str {
        self.info().id
    }

    /// `file:line` of each place in `src/` that names it.
    pub fn sites(self) -> &'static [&'static str] {
        sites::of(self)
    }

    /// The chapter, as the stem of its file.
    pub fn chapter(self) -> &'static str {
        let file = self.info().file;
        let name = file.rsplit('/').next().unwrap_or(file);
        name.strip_suffix(".md").unwrap_or(name)
    }

    /// Excluded if a reason is given; else implemented if some place of the code names it.
    pub fn status(self) -> Status {
        match (self.info().excluded, self.sites()) {
            (Some(_), _) => Status::Excluded,
            (None, []) => Status::Pending,
            (None, [_, ..]) => Status::Implemented,
        }
    }
}

impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.id())
    }
}

impl fmt::Debug for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.id())
    }
}

/// An id that no rule has.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("there is no rule `{0}`{meant}", meant = super::or_meant(.0, Rule::ALL.iter().map(|rule| rule.id())))]
pub struct UnknownRule(pub String);

impl FromStr for Rule {
    type Err = UnknownRule;

    fn from_str(id: &str) -> Result<Rule, UnknownRule> {
        // The table is sorted by id, as the enumeration is.
        match INFO.binary_search_by(|info| info.id.cmp(id)) {
            Ok(at) => Ok(Rule::ALL[at]),
            Err(_) => Err(UnknownRule(id.to_string())),
        }
    }
}

impl serde::Serialize for Rule {
    fn serialize<S: serde::Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        s.serialize_str(self.id())
    }
}

impl<'de> serde::Deserialize<'de> for Rule {
    fn deserialize<D: serde::Deserializer<'de>>(d: D) -> Result<Rule, D::Error> {
        String::deserialize(d)?.parse().map_err(serde::de::Error::custom)
    }
}

/// The words that hold one bit for each rule.
const WORDS: usize = Rule::ALL.len().div_ceil(64);

/// A set of rules.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct RuleSet {
    bits: [u64; WORDS],
}

impl Default for RuleSet {
    fn default() -> RuleSet {
        RuleSet { bits: [0; WORDS] }
    }
}

impl RuleSet {
    /// The empty set.
    pub fn new() -> RuleSet {
        RuleSet::default()
    }

    /// Adds a rule; one that is in already stays.
    #[inline]
    pub fn insert(&mut self, rule: Rule) {
        let (word, bit) = (rule as usize / 64, rule as usize % 64);
        self.bits[word] |= 1 << bit;
    }

    /// Whether the rule is in the set.
    #[inline]
    pub fn contains(&self, rule: Rule) -> bool {
        let (word, bit) = (rule as usize / 64, rule as usize % 64);
        self.bits.get(word).is_some_and(|bits| bits & (1 << bit) != 0)
    }

    /// Whether no rule is in the set.
    pub fn is_empty(&self) -> bool {
        self.bits.iter().all(|bits| *bits == 0)
    }

    /// The rules, in the order of the ids.
    pub fn iter(&self) -> impl Iterator<Item = Rule> + '_ {
        Rule::ALL.iter().copied().filter(|rule| self.contains(*rule))
    }
}

impl FromIterator<Rule> for RuleSet {
    fn from_iter<I: IntoIterator<Item = Rule>>(rules: I) -> RuleSet {
        let mut set = RuleSet::new();
        rules.into_iter().for_each(|rule| set.insert(rule));
        set
    }
}

impl Extend<Rule> for RuleSet {
    fn extend<I: IntoIterator<Item = Rule>>(&mut self, rules: I) {
        rules.into_iter().for_each(|rule| self.insert(rule));
    }
}

impl fmt::Debug for RuleSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.iter()).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_id_reads_back() {
        for rule in Rule::ALL {
            assert_eq!(rule.id().parse::<Rule>(), Ok(*rule));
        }
    }

    #[test]
    fn a_set_holds_what_was_put_in() {
        let all: RuleSet = Rule::ALL.iter().copied().collect();
        assert_eq!(all.iter().count(), Rule::ALL.len());
        assert!(!RuleSet::new().contains(Rule::ALL[0]));
    }
}
