//! The golden cases that also hold in another edition: `cargo xtask editions 2023-12 PREFIX..`
//!
//! Prints a line for each case that does not name the edition. It has the id, `agree` or `diverge`, whether all
//! recorded rules have the same text in that edition, and the difference between recorded and claimed rules. If you add
//! an edition to a case, make sure that the expectation follows from the text of that edition.

use std::collections::BTreeSet;

use ask::conformance;
use rayon::prelude::*;
use relax_spec::book::{Edition, Rule, RuleSet};
use relax_spec::suite::compare::CaseVerdict;
use relax_spec::suite::{Case, coverage};

/// Runs the task with the arguments after its name.
pub fn run(args: Vec<String>) -> Result<(), Box<dyn std::error::Error>> {
    let mut args = args.into_iter();
    let edition: Edition = args.next().unwrap_or_default().parse()?;
    let prefixes: Vec<String> = args.collect();
    let suite = conformance::suite()?;
    let wanted = |case: &&Case| {
        !case.editions.contains(&edition) && prefixes.iter().any(|prefix| case.id.starts_with(prefix.as_str()))
    };
    let cases: Vec<&Case> = suite.iter().filter(wanted).collect();
    let lines: Vec<String> = cases.par_iter().map(|case| line(case, edition)).collect();
    lines.iter().for_each(|line| println!("{line}"));
    Ok(())
}

fn line(case: &Case, edition: Edition) -> String {
    let execution = coverage::execute(case, edition, RuleSet::new());
    let literally = coverage::execute_literally(case, edition, RuleSet::new());
    let verdicts = [Some(execution.comparison.verdict), literally.map(|execution| execution.comparison.verdict)];
    let agrees = verdicts.into_iter().flatten().all(|verdict| verdict == CaseVerdict::Agree);
    let recorded: BTreeSet<Rule> = execution.recorded.iter().collect();
    let claimed = case.rules_in(edition);
    let pending = recorded.iter().filter(|rule| rule.is_pending_in(edition));
    let ids = |rules: Vec<&Rule>| rules.iter().map(|rule| rule.id()).collect::<Vec<&str>>().join(" ");
    format!(
        "{}\t{}\tpending: {}\textra: {}\tmissing: {}",
        case.id,
        if agrees { "agree" } else { "diverge" },
        ids(pending.collect()),
        if case.ask.claims_exactly() { ids(recorded.difference(&claimed).collect()) } else { String::new() },
        ids(claimed.difference(&recorded).collect()),
    )
}
