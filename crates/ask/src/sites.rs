//! The places where the code applies each rule, that is, the occurrences of `rule!("ID")` in `src/`.

#[path = "scan.rs"]
mod scan;

use std::collections::BTreeMap;

use relax_spec::Rule;

use crate::conformance;

/// The places of every rule, as `file:line`.
#[derive(Clone, Debug, Default)]
pub struct RuleSites(BTreeMap<String, Vec<String>>);

impl RuleSites {
    /// The places in the checkout, or those stored in a published program.
    pub fn read() -> RuleSites {
        let mut sites = RuleSites::default();
        let lines = match conformance::root() {
            Some(root) => scan::sites(&root),
            None => conformance::file(scan::KEPT).unwrap_or_default(),
        };
        for (id, place) in lines.lines().filter_map(|line| line.split_once(' ')) {
            sites.0.entry(id.to_string()).or_default().push(place.to_string());
        }
        sites
    }

    /// The places of a rule. Where the code cites a rule that this one succeeds, it applies this one in its editions.
    pub fn of(&self, rule: Rule) -> Vec<&str> {
        let ids = std::iter::once(rule.id()).chain(rule.info().succeeds.iter().copied());
        ids.filter_map(|id| self.0.get(id)).flatten().map(String::as_str).collect()
    }
}
