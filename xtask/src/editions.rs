//! Which golden cases hold in another edition, too? `cargo xtask editions 2023-12 PREFIX..`
//!
//! For each case that does not name the edition, a line: its id, `agree` or `diverge`, whether everything that it records there is
//! worded by that edition or by the case's own, and how what it records differs from what it claims. Whoever adds an edition to a case
//! sees to it that the expectation follows from the text of that edition.

use std::collections::BTreeSet;

use ask::conformance;
use rayon::prelude::*;
use relax_spec::book::{Edition, Rule, RuleSet};
use relax_spec::suite::compare::CaseVerdict;
use relax_spec::suite::{Case, coverage};

/// The task, with what stands behind its name on the command line.
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
