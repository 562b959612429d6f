//! What changed from one run of the suite to another.

use std::collections::BTreeMap;

use serde_json::Value;

use super::runs::{self, KeptRun};
use relax_spec::suite::compare::CaseVerdict;

/// The relation of a case in two runs.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Turn {
    /// A finding in a case that was none.
    Regression,
    /// A finding in a case that only the later run has.
    NewFinding,
    /// Agreement where there was a finding.
    Fix,
    /// Another verdict, and neither of those above.
    OtherVerdict,
    /// A finding as before, with another answer.
    OtherAnswer,
    /// A case that only the later run has.
    New,
    /// A case that only the earlier run has.
    Gone,
}

impl Turn {
    /// Every relation, the worst first.
    pub const ALL: [Turn; 7] =
        [Turn::Regression, Turn::NewFinding, Turn::Fix, Turn::OtherVerdict, Turn::OtherAnswer, Turn::New, Turn::Gone];

    /// Its name in reports.
    pub fn name(self) -> &'static str {
        match self {
            Turn::Regression => "regression",
            Turn::NewFinding => "finding in a new case",
            Turn::Fix => "fix",
            Turn::OtherVerdict => "other verdict",
            Turn::OtherAnswer => "other wrong answer",
            Turn::New => "new case",
            Turn::Gone => "case that is gone",
        }
    }

    /// The relation of two lines; `None` if nothing changed.
    fn of(old: Option<&Value>, new: Option<&Value>) -> Option<Turn> {
        let (old, new) = match (old, new) {
            (Some(old), Some(new)) => (old, new),
            (None, Some(new)) => return Some(if is_finding(new) { Turn::NewFinding } else { Turn::New }),
            (Some(_), None) => return Some(Turn::Gone),
            (None, None) => return None,
        };
        match (is_finding(old), is_finding(new)) {
            (false, true) => Some(Turn::Regression),
            (true, false) if new["verdict"] == CaseVerdict::Agree.name() => Some(Turn::Fix),
            _ if old["verdict"] != new["verdict"] => Some(Turn::OtherVerdict),
            (true, true) if old["divergence"]["given"] != new["divergence"]["given"] => Some(Turn::OtherAnswer),
            (true | false, true | false) => None,
        }
    }
}

fn is_finding(line: &Value) -> bool {
    CaseVerdict::ALL.iter().any(|verdict| line["verdict"] == verdict.name() && verdict.is_finding())
}

/// The ids of the cases that changed.
pub fn turns<'r>(old: &'r KeptRun, new: &'r KeptRun) -> BTreeMap<Turn, Vec<&'r str>> {
    let by_id = |run: &'r KeptRun| -> BTreeMap<&'r str, &'r Value> {
        run.cases.iter().map(|case| (runs::id(case), case)).collect()
    };
    let (before, after) = (by_id(old), by_id(new));
    let mut turns: BTreeMap<Turn, Vec<&str>> = BTreeMap::new();
    for id in before.keys().chain(after.keys().filter(|id| !before.contains_key(*id))) {
        if let Some(turn) = Turn::of(before.get(id).copied(), after.get(id).copied()) {
            turns.entry(turn).or_default().push(id);
        }
    }
    turns
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_finding_that_is_new_is_worse_and_one_that_is_gone_a_fix() {
        let line = |verdict: &str, given: &str| json!({"verdict": verdict, "divergence": {"given": given}});
        let of = |old: &Value, new: &Value| Turn::of(Some(old), Some(new)).map(Turn::name);
        let (agree, wrong, other) = (line("agree", ""), line("diverge", "1"), line("diverge", "2"));
        assert_eq!(of(&agree, &wrong), Some("regression"));
        assert_eq!(of(&line("unsupported", ""), &wrong), Some("regression"));
        assert_eq!(of(&wrong, &agree), Some("fix"));
        assert_eq!(of(&wrong, &other), Some("other wrong answer"));
        assert_eq!(of(&wrong, &line("unsupported", "")), Some("other verdict"));
        assert_eq!((of(&wrong, &wrong), of(&agree, &agree)), (None, None));
        assert_eq!(Turn::of(None, Some(&wrong)).map(Turn::name), Some("finding in a new case"));
    }
}
