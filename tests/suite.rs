//! Every golden case, asked of the oracle in this process: in the corrected reading, and in the literal one where the
//! case says what the text gives.

use libtest_mimic::{Arguments, Failed, Trial};
use relax_spec::book::RuleSet;
use relax_spec::suite::compare::CaseVerdict;
use relax_spec::suite::coverage::{Execution, execute, execute_literally};
use relax_spec::suite::{Case, embedded_suite};

fn main() {
    let arguments = Arguments::from_args();
    let suite = match embedded_suite() {
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
    let mut trials = Vec::new();
    if case.literal.is_some() {
        let case = case.clone();
        trials.push(Trial::test(format!("{} (literal)", case.id), move || {
            execute_literally(&case, RuleSet::new()).map_or(Ok(()), |execution| judge(&case, &execution))
        }));
    }
    trials.push(Trial::test(case.id.clone(), move || judge(&case, &execute(&case, RuleSet::new()))));
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
