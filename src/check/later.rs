//! Whether a later edition accepts a program that an earlier one rejects.

use rustc_hash::FxHashSet;

use super::{Claim, all_findings, check_as};
use crate::book::{Edition, Rule, RuleSet};
use crate::findings::{Diagnostic, Severity};
use crate::grammar::visit::{Visitor, walk_block, walk_module};
use crate::grammar::{BindingBlock, IrModule};
use crate::judge::Cx;
use crate::scope::unaffected;

/// The later edition that has no objection where an earlier one finds an error.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Accepted {
    /// The first edition without an objection.
    pub edition: Edition,
    /// The rules of that edition that decide. Each is new or reworded since the earlier edition, and without it there
    /// is an error again. If no rule decides, it is the rule of the finding itself, provided that it is reworded. The
    /// list has at most three rules.
    pub rules: Vec<Rule>,
}

/// The largest number of rules in the list.
pub const MOST_RULES: usize = 3;

/// The largest number of rules that are tried. Each trial checks the program once. A large program gets fewer trials,
/// so that all trials together check a limited number of bindings.
const MOST_TRIED: usize = 64;
const MOST_CHECKED: usize = 100_000;

/// A program that one edition rejects, to be judged by later editions.
pub struct RejectedProgram<'a> {
    /// The program.
    pub module: &'a IrModule,
    /// Whether the module claims to be a whole program.
    pub claim: Claim,
    /// The findings about unknown names, which are the same in every edition.
    pub unknown: &'a [Diagnostic],
    /// The context of the edition that rejects the program.
    pub cx: &'a Cx,
}

/// The findings of one edition, and the rules that it used.
struct EditionFindings {
    findings: Vec<Diagnostic>,
    recorded: RuleSet,
}

impl RejectedProgram<'_> {
    /// For each finding, the first later edition that accepts the place, if there is one.
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
                    // If no single rule decides, the broken rule itself was dropped or reworded.
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

    /// The functions without errors whose references, direct or indirect, also have no errors. Elsewhere an error may
    /// hide others.
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

    /// Whether a rule of a later edition is new or reworded since the earlier edition.
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

    /// For each finding, the rules of a later edition without which there would be an error at the same place.
    fn deciding(&self, edition: Edition, found: &EditionFindings, findings: &[&Diagnostic]) -> Vec<Vec<Rule>> {
        let mut candidates: Vec<Rule> = found.recorded.iter().filter(|rule| self.is_new(*rule, edition)).collect();
        // The edition's own statements come first: they explain its difference better than those that it kept.
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

/// Counts the bindings of a program.
struct BindingCount(usize);

impl Visitor for BindingCount {
    fn visit_binding_block(&mut self, block: &BindingBlock) {
        self.0 += block.bindings.len();
        walk_block(self, block);
    }
}

/// The functions that have no errors.
struct Clean {
    whole: bool,
    functions: FxHashSet<String>,
}

impl Clean {
    fn holds(&self, finding: &Diagnostic) -> bool {
        self.whole || self.functions.contains(finding.path.function())
    }
}

/// Whether the places of two findings overlap.
fn is_about(finding: &Diagnostic, other: &Diagnostic) -> bool {
    let (here, there) = (finding.span, other.span);
    if here.is_none() || there.is_none() {
        return finding.path.function() == other.path.function();
    }
    here.start < there.end && there.start < here.end
}
