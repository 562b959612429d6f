//! What a later edition makes of a program that an earlier one rejects.

use rustc_hash::FxHashSet;

use super::{Claim, all_findings, check_as};
use crate::book::{Edition, Rule, RuleSet};
use crate::findings::{Diagnostic, Severity};
use crate::grammar::visit::{Visitor, walk_block, walk_module};
use crate::grammar::{BindingBlock, IrModule};
use crate::judge::Cx;
use crate::scope::unaffected;

/// A later edition finds nothing wrong where an earlier one does.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Accepted {
    /// The first that does so.
    pub edition: Edition,
    /// The rules of it that decide: each is not in the earlier edition or in other words, and without it something is wrong there
    /// again; the rule of the finding itself, if there is no such rule and it has other words. At most three.
    pub rules: Vec<Rule>,
}

/// How many rules are named.
pub const MOST_RULES: usize = 3;

/// How many rules are tried at most: for each the program is checked once. Of a large program fewer, so that no more than so many bindings are
/// checked in all.
const MOST_TRIED: usize = 64;
const MOST_CHECKED: usize = 100_000;

/// A program that an edition rejects, for a later one to judge.
pub struct RejectedProgram<'a> {
    /// The program.
    pub module: &'a IrModule,
    /// What it is said to be.
    pub claim: Claim,
    /// The names in it that nobody knows, whatever the edition.
    pub unknown: &'a [Diagnostic],
    /// A context of the edition that rejects it.
    pub cx: &'a Cx,
}

/// What an edition finds.
struct EditionFindings {
    findings: Vec<Diagnostic>,
    recorded: RuleSet,
}

impl RejectedProgram<'_> {
    /// For each finding the first later edition that accepts what is wrong, if one does.
    pub fn accepting(&self, findings: &[Diagnostic]) -> Vec<Option<Accepted>> {
        let mut accepted: Vec<Option<Accepted>> = vec![None; findings.len()];
        for edition in Edition::ALL.into_iter().filter(|edition| *edition > self.cx.edition()) {
            let found = self.found_in(edition, RuleSet::new());
            let clean = self.without_errors(&found.findings);
            let is_open = |i: usize| accepted[i].is_none() && findings[i].severity == Severity::Error;
            let freed: Vec<usize> = (0..findings.len()).filter(|i| is_open(*i) && clean.holds(&findings[*i])).collect();
            if freed.is_empty() {
                continue;
            }
            let there: Vec<&Diagnostic> = freed.iter().map(|i| &findings[*i]).collect();
            let deciding = self.deciding(edition, &found, &there);
            for (i, mut rules) in freed.into_iter().zip(deciding) {
                if rules.is_empty() {
                    // Where no rule decides alone, what is broken is none any more, or has other words.
                    rules.extend(findings[i].rule.in_edition(edition).filter(|own| self.is_new(*own, edition)));
                }
                accepted[i] = Some(Accepted { edition, rules });
            }
        }
        accepted
    }

    /// Whether an edition finds no error in the program.
    pub fn is_accepted_by(&self, edition: Edition) -> bool {
        !self.found_in(edition, RuleSet::new()).findings.iter().any(Diagnostic::is_fatal)
    }

    fn found_in(&self, edition: Edition, mask: RuleSet) -> EditionFindings {
        let fresh = || self.cx.unobserved().with_edition(edition);
        let mut cx = if mask.is_empty() { fresh() } else { fresh().with_mask(mask) };
        let report = check_as(&mut cx, self.module, self.claim);
        let findings = all_findings(&mut fresh(), &report, self.unknown.to_vec());
        EditionFindings { findings, recorded: *cx.recorded() }
    }

    /// The functions in which, and in all that they refer to, nothing is wrong: what is silent elsewhere may only hang on what is.
    fn without_errors(&self, findings: &[Diagnostic]) -> Clean {
        let wrong: FxHashSet<&str> =
            findings.iter().filter(|finding| finding.is_fatal()).map(|finding| finding.path.function()).collect();
        let functions = match wrong.contains("") {
            true => Vec::new(),
            false => unaffected(self.module, &wrong),
        };
        let name = |index: usize| self.module.funcs.get(index).map(|(gv, _)| gv.name.to_string());
        Clean { whole: wrong.is_empty(), functions: functions.into_iter().filter_map(name).collect() }
    }

    /// Whether a later edition has a rule that the earlier one does not have, or has in other words.
    fn is_new(&self, rule: Rule, after: Edition) -> bool {
        let before = self.cx.edition();
        let is_of_before = |old: &&str| old.parse::<Rule>().is_ok_and(|old| old.is_stated_by(before));
        let words = |edition| rule.statement(edition).map(|statement| statement.text);
        words(before) != words(after) && !rule.info().succeeds.iter().any(is_of_before)
    }

    fn most_tried(&self) -> usize {
        let mut bindings = BindingCount(1);
        walk_module(&mut bindings, self.module);
        MOST_TRIED.min(MOST_CHECKED / bindings.0)
    }

    /// For each of the findings the rules of a later edition without which something would be wrong at its place there.
    fn deciding(&self, edition: Edition, found: &EditionFindings, findings: &[&Diagnostic]) -> Vec<Vec<Rule>> {
        let mut candidates: Vec<Rule> = found.recorded.iter().filter(|rule| self.is_new(*rule, edition)).collect();
        // What the edition has of itself is nearer to its difference than what it has kept of another.
        candidates.sort_by_key(|rule| rule.statement(edition).is_none_or(|said| said.edition != edition.name()));
        let mut deciding = vec![Vec::new(); findings.len()];
        for rule in candidates.into_iter().take(self.most_tried()) {
            if deciding.iter().all(|rules: &Vec<Rule>| rules.len() >= MOST_RULES) {
                break;
            }
            let without = self.found_in(edition, RuleSet::from_iter([rule]));
            for (finding, rules) in findings.iter().zip(&mut deciding) {
                let again = without.findings.iter().any(|other| other.is_fatal() && is_about(finding, other));
                if again && rules.len() < MOST_RULES {
                    rules.push(rule);
                }
            }
        }
        deciding
    }
}

/// How many bindings a program has.
struct BindingCount(usize);

impl Visitor for BindingCount {
    fn visit_binding_block(&mut self, block: &BindingBlock) {
        self.0 += block.bindings.len();
        walk_block(self, block);
    }
}

/// Where nothing is wrong.
struct Clean {
    whole: bool,
    functions: FxHashSet<String>,
}

impl Clean {
    fn holds(&self, finding: &Diagnostic) -> bool {
        self.whole || self.functions.contains(finding.path.function())
    }
}

/// Whether two findings are about the same place, in part at least.
fn is_about(finding: &Diagnostic, other: &Diagnostic) -> bool {
    let (here, there) = (finding.span, other.span);
    if here.is_none() || there.is_none() {
        return finding.path.function() == other.path.function();
    }
    here.start < there.end && there.start < here.end
}
