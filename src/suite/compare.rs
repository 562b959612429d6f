//! Whether a case allows an outcome.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::Case;
use super::accuracy::{BIT_FOR_BIT, Closeness, Within, closeness};
use super::alpha::{UnsaidPurity, same_but_for};
use super::normalized::objection;
use super::same_program::same_program;
use crate::book::{Edition, Erratum};
use crate::judge::Cx;
use crate::question::{
    About, Answer, Ask, Derived, DimAnswer, MatchAnswer, Outcome, ProgramInput, ReadAnswer, RunAnswer, Verdict,
};
use crate::value::ValueSpec;

/// The verdict on a case.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CaseVerdict {
    /// The case allows the outcome.
    Agree,
    /// The text leaves the outcome open, or a tolerance accepts everything, so that nothing could have failed.
    Vacuous,
    /// The case allows only other outcomes.
    Diverge,
    /// The implementation reports that it lacks a feature.
    Unsupported,
    /// The process ended.
    Crash,
    /// No answer came in time.
    Timeout,
    /// The implementation reports a defect of its own.
    InternalError,
    /// The line that it wrote is not a valid reply.
    ProtocolError,
    /// The same question, asked twice, had two outcomes.
    Flaky,
}

/// The verdict on a case, with the reason.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct CaseComparison {
    /// The verdict.
    pub verdict: CaseVerdict,
    /// The error, if there is one.
    pub why: Option<String>,
    /// The erratum whose literal reading gives the outcome, if the corrected reading does not.
    pub literal: Option<Erratum>,
    /// Whether the allowed answer also states the purity of functions where the text is silent (A18).
    pub adds_purity: bool,
}

impl CaseVerdict {
    /// Every verdict, as reports list them.
    pub const ALL: [CaseVerdict; 9] = [
        CaseVerdict::Agree,
        CaseVerdict::Vacuous,
        CaseVerdict::Diverge,
        CaseVerdict::Unsupported,
        CaseVerdict::Crash,
        CaseVerdict::Timeout,
        CaseVerdict::InternalError,
        CaseVerdict::ProtocolError,
        CaseVerdict::Flaky,
    ];

    /// The name in reports and ledgers.
    pub fn name(self) -> &'static str {
        match self {
            CaseVerdict::Agree => "agree",
            CaseVerdict::Vacuous => "vacuous",
            CaseVerdict::Diverge => "diverge",
            CaseVerdict::Unsupported => "unsupported",
            CaseVerdict::Crash => "crash",
            CaseVerdict::Timeout => "timeout",
            CaseVerdict::InternalError => "internal_error",
            CaseVerdict::ProtocolError => "protocol_error",
            CaseVerdict::Flaky => "flaky",
        }
    }

    /// Whether it counts against the implementation, unless a ledger lists it.
    pub fn is_finding(self) -> bool {
        match self {
            CaseVerdict::Agree | CaseVerdict::Vacuous | CaseVerdict::Unsupported => false,
            CaseVerdict::Diverge
            | CaseVerdict::Crash
            | CaseVerdict::Timeout
            | CaseVerdict::InternalError
            | CaseVerdict::ProtocolError
            | CaseVerdict::Flaky => true,
        }
    }
}

impl fmt::Display for CaseVerdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl CaseComparison {
    fn plain(verdict: CaseVerdict) -> CaseComparison {
        CaseComparison { verdict, why: None, literal: None, adds_purity: false }
    }

    fn because(verdict: CaseVerdict, why: String) -> CaseComparison {
        CaseComparison { why: Some(why), ..CaseComparison::plain(verdict) }
    }

    fn with_reason(verdict: CaseVerdict, outcome: &Outcome) -> CaseComparison {
        CaseComparison::because(verdict, outcome.to_string())
    }
}

/// Compares an outcome with the answers that a case allows. `oracle` means that the implementation knows rule ids and
/// must give the right ones.
pub fn compare(case: &Case, outcome: &Outcome, edition: Edition, oracle: bool) -> CaseComparison {
    match outcome {
        Outcome::Unsupported { .. } => CaseComparison::with_reason(CaseVerdict::Unsupported, outcome),
        Outcome::InternalError { .. } => CaseComparison::with_reason(CaseVerdict::InternalError, outcome),
        Outcome::Crash { .. } => CaseComparison::with_reason(CaseVerdict::Crash, outcome),
        Outcome::Timeout { .. } => CaseComparison::with_reason(CaseVerdict::Timeout, outcome),
        Outcome::ProtocolError { .. } => CaseComparison::with_reason(CaseVerdict::ProtocolError, outcome),
        Outcome::Flaky { .. } => CaseComparison::with_reason(CaseVerdict::Flaky, outcome),
        Outcome::Answer { .. } | Outcome::Rejected { .. } | Outcome::Trapped { .. } => {
            compare_answer(case, outcome, edition, oracle)
        }
    }
}

/// Whether the oracle's outcome is the expected answer, up to the names of bound variables.
pub fn is_answer(ask: &Ask, expected: &Answer, outcome: &Outcome) -> bool {
    if let Outcome::Answer { answer, warnings: _ } = outcome {
        Judge::new(Cx::new(), ask, true).matches_answer(expected, answer)
    } else {
        false
    }
}

/// The largest part of a tolerance that an agreeing run uses; `None` if it does not agree.
pub fn tolerance_used(case: &Case, outcome: &Outcome) -> Option<f64> {
    let Outcome::Answer { answer: Answer::Run(RunAnswer::Returns(given, _)), .. } = outcome else { return None };
    let within = case.within.unwrap_or(BIT_FOR_BIT);
    let used = |allowed: &Answer| {
        let Answer::Run(RunAnswer::Returns(expected, _)) = allowed else { return None };
        match closeness(&within, expected, given) {
            Closeness::Within { used, could_fail: _ } => Some(used),
            Closeness::Apart => None,
        }
    };
    case.allow.iter().filter_map(used).reduce(f64::min)
}

fn compare_answer(case: &Case, outcome: &Outcome, edition: Edition, oracle: bool) -> CaseComparison {
    let stated = (edition != Edition::default()).then(|| case.stated_in(edition));
    let case = stated.as_ref().unwrap_or(case);
    let within = case.within.unwrap_or(BIT_FOR_BIT);
    let mut judge = Judge { within, ..Judge::new(Cx::new().with_edition(case.basis_in(edition)), &case.ask, oracle) };
    judge.about_reading |= case.as_text;
    if !oracle && case.allow.contains(&Answer::Run(RunAnswer::Unspecified)) {
        return CaseComparison::plain(CaseVerdict::Vacuous);
    }
    if let Some(purity) = judge.allows(case, outcome) {
        return match missing_warnings(case, outcome) {
            None if !judge.could_fail => CaseComparison::plain(CaseVerdict::Vacuous),
            None => CaseComparison {
                adds_purity: purity == UnsaidPurity::Open,
                ..CaseComparison::plain(CaseVerdict::Agree)
            },
            Some(why) => CaseComparison::because(CaseVerdict::Diverge, why),
        };
    }
    let literal = case.literal.as_ref().filter(|literal| judge.matches(literal, outcome)).and(case.erratum);
    let why = judge.explain(case, outcome);
    CaseComparison { literal, ..CaseComparison::because(CaseVerdict::Diverge, why) }
}

/// Compares warnings if both the case and the implementation give them.
fn missing_warnings(case: &Case, outcome: &Outcome) -> Option<String> {
    let Outcome::Answer { warnings: Some(given), .. } = outcome else { return None };
    let expected = case.warnings.as_ref()?;
    let sorted = |rules: &[crate::book::Rule]| {
        let mut ids: Vec<&str> = rules.iter().map(|rule| rule.id()).collect();
        ids.sort_unstable();
        ids.dedup();
        ids.join(", ")
    };
    let (expected, given) = (sorted(expected), sorted(given));
    (expected != given).then(|| format!("the warnings must be [{expected}] and are [{given}]"))
}

/// The comparison of one case.
struct Judge<'a> {
    cx: Cx,
    ask: &'a Ask,
    oracle: bool,
    /// Whether the question is about reading a text.
    about_reading: bool,
    purity: UnsaidPurity,
    within: Within,
    /// Whether the agreeing comparison could have failed.
    could_fail: bool,
}

impl<'a> Judge<'a> {
    fn new(cx: Cx, ask: &'a Ask, oracle: bool) -> Judge<'a> {
        let about_reading = ask.about() == About::Text;
        Judge { cx, ask, oracle, about_reading, purity: UnsaidPurity::Unsaid, within: BIT_FOR_BIT, could_fail: true }
    }

    /// Whether the case allows the outcome, and if so, the treatment of purity that this needed. The oracle must state
    /// exactly what the text states. An implementation may state purity in its structural information.
    fn allows(&mut self, case: &Case, outcome: &Outcome) -> Option<UnsaidPurity> {
        let strictness: &[UnsaidPurity] =
            if self.oracle { &[UnsaidPurity::Unsaid] } else { &[UnsaidPurity::Unsaid, UnsaidPurity::Open] };
        strictness.iter().copied().find(|purity| {
            self.purity = *purity;
            case.allow.iter().any(|allowed| self.matches(allowed, outcome))
        })
    }

    fn matches(&mut self, allowed: &Answer, outcome: &Outcome) -> bool {
        if let Outcome::Answer { answer, warnings: _ } = outcome {
            self.matches_answer(allowed, answer)
        } else if matches!(outcome, Outcome::Rejected { .. }) {
            self.is_judged(outcome) && is_rejection(allowed)
        } else if let Outcome::Trapped { effects, .. } = outcome {
            if let Answer::Run(RunAnswer::Fails(_, expected)) = allowed {
                expected == effects
            } else {
                matches!(allowed, Answer::Dim(DimAnswer::Fails(_)) | Answer::Match(MatchAnswer::Fails(_)))
            }
        } else {
            false
        }
    }

    /// Whether a refusal of the operands is a judgement. A program that cannot be read is not rejected by a rule. The
    /// oracle rejects by naming rules in its answer.
    fn is_judged(&self, refusal: &Outcome) -> bool {
        !self.oracle && (self.about_reading || !refusal.is_unread())
    }

    /// Whether an edition has none of the rules of an expected rejection. Other rules then reject the program.
    fn names_retired_rules(&self, expected: &Verdict) -> bool {
        match expected {
            Verdict::Accepted => false,
            Verdict::Rejected(rules) => rules.iter().all(|rule| !self.cx.has(*rule)),
        }
    }

    fn matches_answer(&mut self, allowed: &Answer, given: &Answer) -> bool {
        match (allowed, given) {
            (Answer::StructInfo(a), Answer::StructInfo(b))
            | (Answer::Derived(Derived::Is(a)), Answer::Derived(Derived::Is(b))) => {
                same_but_for(&mut self.cx, self.purity, a, b)
            }
            (Answer::Program(expected), Answer::Program(given)) => match self.original() {
                Some(original) => objection(&mut self.cx, original, given).is_none(),
                None => same_program(expected, given),
            },
            (Answer::Read(ReadAnswer::Module(a)), Answer::Read(ReadAnswer::Module(b))) => same_program(a, b),
            (Answer::Read(ReadAnswer::Rejected(_)), Answer::Read(ReadAnswer::Rejected(_))) => {
                !self.oracle || allowed == given
            }
            // An implementation without rule ids is compared only by the outcome.
            (Answer::Verdict(a), Answer::Verdict(b)) if !self.oracle || self.names_retired_rules(a) => {
                matches!(a, Verdict::Accepted) == matches!(b, Verdict::Accepted)
            }
            (Answer::Run(RunAnswer::Returns(v1, e1)), Answer::Run(RunAnswer::Returns(v2, e2))) => {
                e1 == e2 && self.same_value(v1, v2)
            }
            (Answer::Run(RunAnswer::Fails(_, a)), Answer::Run(RunAnswer::Fails(_, b))) if !self.oracle => a == b,
            (Answer::Dim(DimAnswer::Fails(_)), Answer::Dim(DimAnswer::Fails(_))) => !self.oracle || allowed == given,
            (Answer::Match(MatchAnswer::Fails(_)), Answer::Match(MatchAnswer::Fails(_))) => {
                !self.oracle || allowed == given
            }
            (Answer::Derived(Derived::Rejected(_)), Answer::Derived(Derived::Rejected(_))) => {
                !self.oracle || allowed == given
            }
            (Answer::Text(a), Answer::Text(b)) => trimmed(a) == trimmed(b),
            (allowed, given) => allowed == given,
        }
    }

    fn same_value(&mut self, expected: &ValueSpec, given: &ValueSpec) -> bool {
        match closeness(&self.within, expected, given) {
            Closeness::Apart => false,
            Closeness::Within { used: _, could_fail } => {
                self.could_fail = could_fail;
                true
            }
        }
    }

    /// The program of which an implementation may give any normal form.
    fn original(&self) -> Option<&'a ProgramInput> {
        if let Ask::Normalize(original) = self.ask { Some(original).filter(|_| !self.oracle) } else { None }
    }

    fn explain(&mut self, case: &Case, outcome: &Outcome) -> String {
        if let (Some(original), Outcome::Answer { answer: Answer::Program(given), .. }) = (self.original(), outcome)
            && let Some(why) = objection(&mut self.cx, original, given)
        {
            return why;
        }
        let expected: Vec<String> = case.allow.iter().map(ToString::to_string).collect();
        format!("expected {}, given {outcome}", expected.join(" or "))
    }
}

/// The lines of a text without surrounding white space.
fn trimmed(text: &str) -> Vec<&str> {
    text.trim().lines().map(str::trim).collect()
}

/// Whether the expectation is that the operands are refused.
fn is_rejection(allowed: &Answer) -> bool {
    matches!(
        allowed,
        Answer::Verdict(Verdict::Rejected(_))
            | Answer::Read(ReadAnswer::Rejected(_))
            | Answer::Derived(Derived::Rejected(_))
            | Answer::Dim(DimAnswer::Fails(_))
            | Answer::Match(MatchAnswer::Fails(_))
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::suite::case::read_cases;

    fn verdict(ask: &str, stage: &str, oracle: bool) -> CaseVerdict {
        let text = format!(r#"[Case(id: "a", rules: ["TC.DF.FUNC"], ask: {ask}, allow: [Rejected([])], why: "")]"#);
        let case = read_cases("test", &text).unwrap().remove(0);
        let refused = Outcome::Rejected { stage: stage.into(), class: "Error".into(), message: String::new() };
        compare(&case, &refused, Edition::default(), oracle).verdict
    }

    #[test]
    fn what_cannot_be_read_is_not_rejected_by_a_rule() {
        let check = r#"Check(Script("no program"))"#;
        assert_eq!(verdict(check, "check", false), CaseVerdict::Agree);
        assert_eq!(verdict(check, "parse", false), CaseVerdict::Diverge);
        assert_eq!(verdict(check, "check", true), CaseVerdict::Diverge);
        let parse = r#"Parse("no program")"#;
        assert_eq!(verdict(parse, "parse", false), CaseVerdict::Agree);
    }
}
