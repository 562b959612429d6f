//! A divergence of an implementation from the permitted answers, in one form for all reports.

use serde::Serialize;

use super::{diff, words};
use ask::runner::CaseResult;
use relax_spec::book::Edition;
use relax_spec::judge::Cx;
use relax_spec::oracle;
use relax_spec::question::{Ask, Outcome};
use relax_spec::suite::Case;
use relax_spec::suite::compare::CaseVerdict;

/// A divergence: the question, both answers, and the command that asks it again.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize)]
pub struct DivergenceReport {
    /// The programs of the question, as text.
    pub programs: Vec<String>,
    /// The question with its other arguments, in one line.
    pub question: String,
    /// Every permitted answer.
    pub expected: Vec<String>,
    /// The given answer.
    pub given: String,
    /// The lines in which the given answer differs from the nearest permitted one. Empty if no answer was given, or a
    /// permitted one.
    pub diff: String,
    /// The rules that decide.
    pub rules: Vec<String>,
    /// The command that asks the same again.
    pub command: String,
    /// How the oracle comes to its answer: its derivations, cut after some lines. Empty if it was not asked.
    pub derivation: String,
}

/// The maximum number of lines of a derivation.
const DERIVED: usize = 40;

/// The derivations of the oracle's own answer to a question.
fn derivation(case: &Case, edition: Edition) -> String {
    // A run is told by its trace, which is long.
    if matches!(case.ask, Ask::Evaluate(..) | Ask::EvaluateIdentity(..)) {
        return String::new();
    }
    let mut cx = Cx::new().with_edition(case.basis_in(edition)).with_trace();
    let _ = oracle::outcome(&mut cx, &case.ask);
    let mut text = String::new();
    for derivation in cx.take_derivations() {
        text.push_str(&derivation.to_string());
        if text.lines().count() > DERIVED {
            break;
        }
    }
    words::cut(&text, DERIVED)
}

/// The command that asks cases again, without the words that name the case.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Again(pub Vec<String>);

impl Again {
    /// The command for one case. `told` is true if its divergence is described in full by default.
    fn command(&self, case: &str, told: bool) -> String {
        let all = (!told).then(|| "--all".to_string());
        let words: Vec<String> = self.0.iter().cloned().chain(all).chain([glob::Pattern::escape(case)]).collect();
        command_line(&words)
    }
}

/// Words in the syntax of a shell.
pub fn command_line(words: &[String]) -> String {
    shlex::try_join(words.iter().map(String::as_str)).unwrap_or_default()
}

impl DivergenceReport {
    /// The divergence of a case, as an edition states it. `told` is true if `conform` describes it without `--all`.
    pub(super) fn of_case(
        case: &Case,
        result: &CaseResult,
        edition: Edition,
        again: &Again,
        told: bool,
    ) -> DivergenceReport {
        let stated = case.stated_in(edition);
        let warned = stated.warnings.is_some();
        let expected: Vec<String> =
            stated.allow.iter().map(|answer| words::with_warnings(answer, stated.warnings.as_deref())).collect();
        let given = words::outcome(&result.outcome, warned);
        let is_answer = match &result.outcome {
            Outcome::Answer { .. } | Outcome::Rejected { .. } | Outcome::Trapped { .. } => true,
            Outcome::Unsupported { .. }
            | Outcome::InternalError { .. }
            | Outcome::Crash { .. }
            | Outcome::Timeout { .. }
            | Outcome::ProtocolError { .. }
            | Outcome::Flaky { .. } => false,
        };
        let differs = is_answer && result.comparison.verdict == CaseVerdict::Diverge;
        DivergenceReport {
            programs: words::programs(&case.ask),
            question: case.ask.in_full(),
            diff: if differs { diff::difference(&expected, &given) } else { String::new() },
            expected,
            given,
            rules: case.rules.iter().map(ToString::to_string).collect(),
            command: again.command(&case.id, told),
            derivation: derivation(case, edition),
        }
    }

    /// The permitted answers as one text; on one line if each has one line.
    pub fn expected_text(&self) -> String {
        let is_line = self.expected.iter().all(|answer| !answer.contains('\n'));
        self.expected.join(if is_line { " or " } else { "\nor\n" })
    }

    /// The contents by name, in the order of reports. `diff` is left out if both answers have one line and can be
    /// compared directly.
    pub fn fields(&self) -> Vec<(&'static str, String)> {
        let rules = (!self.rules.is_empty()).then(|| ("rules", self.rules.join(", ")));
        let mut fields: Vec<(&'static str, String)> = rules.into_iter().collect();
        fields.push(("question", self.question.clone()));
        fields.extend(self.programs.iter().map(|program| ("program", program.clone())));
        fields.push(("expected", self.expected_text()));
        fields.push(("given", self.given.clone()));
        if self.diff.lines().count() > 2 {
            fields.push(("diff", self.diff.clone()));
        }
        fields
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_asks_again_is_one_command_for_a_shell() {
        let again = Again(["relax-spec", "conform", "--adapter", "sh my adapter.sh"].map(str::to_string).to_vec());
        assert_eq!(again.command("types/a", true), "relax-spec conform --adapter 'sh my adapter.sh' types/a");
        assert_eq!(again.command("types/a[0]", false).split(" --all ").count(), 2);
        let words = shlex::split(&again.command("types/a[0]", false)).unwrap();
        assert!(glob::Pattern::new(words.last().unwrap()).unwrap().matches("types/a[0]"));
    }
}
