//! The rules of the specification as data. The build script generates the table from `spec/`. Code that cites a rule
//! which the text does not state therefore does not compile.

use std::cmp::Ordering;
use std::fmt;
use std::str::FromStr;

use super::{Basis, Edition};

include!(concat!(env!("OUT_DIR"), "/rules.rs"));

/// A rule of the specification, identified by its number in `spec/numbers.txt`.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Rule(u16);

/// The rule with this id. An id that the text does not state is a compile error.
#[macro_export]
macro_rules! rule {
    ($id:literal) => {
        const { $crate::book::Rule::stated($id) }
    };
}

/// A rule as the text states it.
#[derive(Debug)]
pub struct RuleInfo {
    /// The anchor in the text: `r[ID]`.
    pub id: &'static str,
    /// The chapter file and line of the anchor.
    pub file: &'static str,
    /// The line of the anchor, counted from 1.
    pub line: usize,
    /// The heading under which the rule stands.
    pub heading: &'static str,
    /// The kind in the catalogue: `judgement`, `algorithm-branch`, `error`, and so on.
    pub kind: &'static str,
    /// The names of the editions that state the rule.
    pub editions: &'static [&'static str],
    /// Where the source documents state the rule, as `document:lines`.
    pub source: &'static str,
    /// The ids of the rules and parts of the language on which this rule depends.
    pub needs: &'static [&'static str],
    /// The ids of the errata that touch the rule.
    pub errata: &'static [&'static str],
    /// Whether the source marks the rule as absent from the prototype of its time.
    pub chevron: bool,
    /// Whether the code does not implement the rule yet.
    pub pending: bool,
    /// The ids of the rules of earlier editions with the same content. Where the code cites one of them, it applies
    /// this rule in this rule's editions.
    pub succeeds: &'static [&'static str],
    /// The name of the proposal that states the rule, if no edition states it.
    pub proposal: Option<&'static str>,
    /// The ids of the rules that this rule replaces where its proposal is on.
    pub over: &'static [&'static str],
    /// The statement in Markdown, as the first edition that has it words it.
    pub text: &'static str,
    /// The statements of later editions, in the order of the editions.
    pub later: &'static [Statement],
    /// Why no run can fire the rule, if that is so.
    pub excluded: Option<&'static str>,
    /// The edition from which on no run can fire the rule, and the reason.
    pub excluded_since: Option<(&'static str, &'static str)>,
}

/// A rule as one edition states it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Statement {
    /// The edition that has these words: the one asked for, or the last one before it with its own wording.
    pub edition: &'static str,
    /// As [`RuleInfo::kind`].
    pub kind: &'static str,
    /// As [`RuleInfo::source`].
    pub source: &'static str,
    /// As [`RuleInfo::needs`].
    pub needs: &'static [&'static str],
    /// As [`RuleInfo::errata`].
    pub errata: &'static [&'static str],
    /// As [`RuleInfo::chevron`].
    pub chevron: bool,
    /// Whether the code does not implement this statement yet.
    pub pending: bool,
    /// The statement, in Markdown.
    pub text: &'static str,
}

/// Whether the code implements a rule.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Status {
    /// The code cites it by `rule!`.
    Implemented,
    /// No run can fire the rule; the reason is in [`RuleInfo::excluded`].
    Excluded,
    /// The text states the rule, and the code does not implement it yet.
    Pending,
}

impl Rule {
    /// The rule with this id, at compile time. It serves `rule!`; at run time use [`FromStr`].
    pub const fn stated(id: &str) -> Rule {
        let (mut low, mut high) = (0, IDS.len());
        while low < high {
            let middle = low + (high - low) / 2;
            if is_before(IDS[middle].0.as_bytes(), id.as_bytes()) {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        assert!(
            low < IDS.len() && !is_before(id.as_bytes(), IDS[low].0.as_bytes()),
            "the text states no rule of this id"
        );
        Rule(IDS[low].1)
    }

    /// The rule's entry in the table.
    pub fn info(self) -> &'static RuleInfo {
        &INFO[self.rank()]
    }

    /// The rule's position in the order of the ids.
    fn rank(self) -> usize {
        usize::from(RANK[self.number()])
    }

    fn number(self) -> usize {
        usize::from(self.0)
    }

    /// The id, as in the anchor `r[ID]`.
    pub fn id(self) -> &'static str {
        self.info().id
    }

    /// The rule under which an edition states this content: this rule, or the one that [succeeds](RuleInfo::succeeds)
    /// it there. `None` if the edition has no such rule. A proposal counts together with its edition.
    #[inline]
    pub fn in_edition(self, basis: impl Into<Basis>) -> Option<Rule> {
        let basis = basis.into();
        if self.is_stated_by(basis) { Some(self) } else { self.successor_in(basis) }
    }

    /// Whether an edition, or an edition with a proposal, states the rule under its own id.
    #[inline]
    pub fn is_stated_by(self, basis: impl Into<Basis>) -> bool {
        STATED_BY[self.number()] & (1 << basis.into().index()) != 0
    }

    #[cold]
    fn successor_in(self, basis: Basis) -> Option<Rule> {
        IN_TEXT[basis.index()][self.number()]
    }

    /// The rule as an edition states it; `None` if the edition does not have it.
    pub fn statement(self, edition: Edition) -> Option<Statement> {
        let info = self.info();
        if !info.editions.contains(&edition.name()) {
            return None;
        }
        let first = Statement {
            edition: info.editions[0],
            kind: info.kind,
            source: info.source,
            needs: info.needs,
            errata: info.errata,
            chevron: info.chevron,
            pending: info.pending,
            text: info.text,
        };
        let last = info.later.iter().rfind(|later| later.edition <= edition.name());
        Some(last.copied().unwrap_or(first))
    }

    /// Whether an edition states the rule and the code does not implement that statement yet.
    pub fn is_pending_in(self, edition: Edition) -> bool {
        self.statement(edition).is_some_and(|statement| statement.pending)
    }

    /// Why no run of an edition can fire the rule, if that is so.
    pub fn excluded_in(self, edition: Edition) -> Option<&'static str> {
        let info = self.info();
        let later = info.excluded_since.filter(|(since, _)| *since <= edition.name());
        info.excluded.or(later.map(|(_, reason)| reason))
    }

    /// The chapter: the file name without its extension.
    pub fn chapter(self) -> &'static str {
        let file = self.info().file;
        let name = file.rsplit('/').next().unwrap_or(file);
        name.strip_suffix(".md").unwrap_or(name)
    }

    /// `Excluded` if there is a reason; otherwise `Implemented`, unless the text marks the rule as pending.
    pub fn status(self) -> Status {
        match (self.info().excluded, self.info().pending) {
            (Some(_), _) => Status::Excluded,
            (None, true) => Status::Pending,
            (None, false) => Status::Implemented,
        }
    }
}

/// Whether one id comes before another in byte order, at compile time.
const fn is_before(id: &[u8], other: &[u8]) -> bool {
    let mut at = 0;
    while at < id.len() && at < other.len() {
        if id[at] != other[at] {
            return id[at] < other[at];
        }
        at += 1;
    }
    id.len() < other.len()
}

impl Ord for Rule {
    fn cmp(&self, other: &Rule) -> Ordering {
        self.rank().cmp(&other.rank())
    }
}

impl PartialOrd for Rule {
    fn partial_cmp(&self, other: &Rule) -> Option<Ordering> {
        Some(self.cmp(other))
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

/// An id that belongs to no rule.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("there is no rule `{0}`{meant}", meant = super::or_meant(.0, Rule::ALL.iter().map(|rule| rule.id())))]
pub struct UnknownRule(pub String);

impl FromStr for Rule {
    type Err = UnknownRule;

    fn from_str(id: &str) -> Result<Rule, UnknownRule> {
        // The table is sorted by id, as `ALL` is.
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

/// The number of words that hold one bit for each rule.
const WORDS: usize = RANK.len().div_ceil(64);

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

    /// Adds a rule. Nothing changes if it is already in the set.
    #[inline]
    pub fn insert(&mut self, rule: Rule) {
        let (word, bit) = (rule.number() / 64, rule.number() % 64);
        self.bits[word] |= 1 << bit;
    }

    /// Whether the rule is in the set.
    #[inline]
    pub fn contains(&self, rule: Rule) -> bool {
        let (word, bit) = (rule.number() / 64, rule.number() % 64);
        self.bits.get(word).is_some_and(|bits| bits & (1 << bit) != 0)
    }

    /// Adds the rules of another set.
    pub fn add(&mut self, other: &RuleSet) {
        self.bits.iter_mut().zip(other.bits).for_each(|(own, bits)| *own |= bits);
    }

    /// The number of rules in the set.
    pub fn len(&self) -> usize {
        self.bits.iter().map(|bits| bits.count_ones() as usize).sum()
    }

    /// The number of this set's rules that are not in another set.
    pub fn lacking_in(&self, other: &RuleSet) -> usize {
        self.bits.iter().zip(other.bits).map(|(own, bits)| (own & !bits).count_ones() as usize).sum()
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
            assert_eq!(Rule::stated(rule.id()), *rule);
        }
    }

    #[test]
    fn a_set_holds_what_was_put_in() {
        let all: RuleSet = Rule::ALL.iter().copied().collect();
        assert_eq!(all.iter().count(), Rule::ALL.len());
        assert!(!RuleSet::new().contains(Rule::ALL[0]));
    }
}
