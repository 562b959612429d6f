//! Asks the oracle in this process every golden case: in the corrected reading, and in the literal one if the case has
//! an answer for it.

use ask::conformance;
use libtest_mimic::{Arguments, Failed, Trial};
use relax_spec::book::{Edition, RuleSet};
use relax_spec::suite::Case;
use relax_spec::suite::compare::CaseVerdict;
use relax_spec::suite::coverage::{Execution, execute, execute_literally};

fn main() {
    let arguments = Arguments::from_args();
    let suite = match conformance::suite() {
        Ok(suite) => suite,
        Err(error) => {
            eprintln!("error: {error}");
            std::process::exit(2);
        }
    };
    let trials = suite.into_iter().flat_map(trials).collect();
    libtest_mimic::run(&arguments, trials).exit();
}

fn trials(case: Case) -> Vec<Trial> {
    case.editions.clone().into_iter().flat_map(|edition| trials_in(&case, edition)).collect()
}

/// The name includes any edition other than the default.
fn trials_in(case: &Case, edition: Edition) -> Vec<Trial> {
    let named = if edition == Edition::default() { String::new() } else { format!(" ({edition})") };
    let mut trials = Vec::new();
    if case.literal.is_some() {
        let case = case.clone();
        trials.push(Trial::test(format!("{}{named} (literal)", case.id), move || {
            execute_literally(&case, edition, RuleSet::new()).map_or(Ok(()), |execution| judge(&case, &execution))
        }));
    }
    let case = case.clone();
    let name = format!("{}{named}", case.id);
    trials.push(Trial::test(name, move || judge(&case, &execute(&case, edition, RuleSet::new()))));
    trials
}

fn judge(case: &Case, execution: &Execution) -> Result<(), Failed> {
    match execution.comparison.verdict {
        CaseVerdict::Agree => Ok(()),
        verdict => Err(Failed::from(format!(
            "{verdict}: {}\n  question  {}\n  why       {}",
            execution.comparison.why.clone().unwrap_or_default(),
            case.ask,
            case.why,
        ))),
    }
}
