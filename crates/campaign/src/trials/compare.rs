//! Compares the answers of an implementation about a program or a text with the answers that the specification permits.

use std::fmt::Display;

use super::signature::{FailureKind, FailureSignature};
use super::verdict::{TrialDifference, TrialVerdict};
use crate::infos::{is_permitted, kind_of_answer, permitted};
use crate::soundness::is_true_of;
use relax_spec::book::Edition;
use relax_spec::grammar::IrModule;
use relax_spec::judge::Cx;
use relax_spec::normal_form::normalize;
use relax_spec::oracle;
use relax_spec::question::{Answer, Ask, Outcome, ProgramInput, ReadAnswer, Verdict};
use relax_spec::struct_info::is_more_specific;
use relax_spec::suite::same_program::same_as_read;
use relax_spec::syntax::tvmscript::{Dialect, print_module};

pub(super) const AGREES: TrialVerdict = TrialVerdict::Agrees { ended: 0, runs: 0 };

/// A difference that does not depend on an input.
pub(super) fn differs(
    kind: FailureKind,
    stage: &str,
    message: &str,
    expected: String,
    given: impl Display,
) -> TrialVerdict {
    let (signature, message) = (FailureSignature::of(kind, stage, message), message.to_string());
    let (input, given) = (None, given.to_string());
    TrialVerdict::Differs(Box::new(TrialDifference { signature, message, input, expected, given }))
}

/// The structural information of a variable: it must be that of one of the provers, or say more and be true. None if
/// there is no answer.
pub(super) fn derived(edition: Edition, ask: &Ask, outcome: &Outcome) -> Option<TrialVerdict> {
    let (kind, message) = if let Outcome::Answer { answer, .. } = outcome {
        (FailureKind::Value, kind_of_answer(answer))
    } else if let Outcome::Rejected { message, .. } | Outcome::Trapped { message, .. } = outcome {
        (FailureKind::Refused, message.clone())
    } else {
        return None;
    };
    if is_permitted(edition, ask, outcome) {
        return Some(AGREES);
    }
    let allowed = permitted(edition, ask);
    let Some(expected) = allowed.first() else {
        return Some(TrialVerdict::Unsupported("nothing is derived of it".to_string()));
    };
    if says_more_and_is_true(edition, ask, expected, outcome) {
        return Some(AGREES);
    }
    let is_value = kind == FailureKind::Value;
    let message = if is_value { format!("{message} for {}", kind_of_answer(expected)) } else { message };
    Some(differs(kind, "derive", &message, expected.to_string(), outcome))
}

/// SI.BESTEFFORT: an implementation may derive more than the rules do, as long as it is true.
fn says_more_and_is_true(edition: Edition, ask: &Ask, expected: &Answer, outcome: &Outcome) -> bool {
    let (Ask::DeriveVar(ProgramInput::Module(module), entry, var), Answer::StructInfo(expected)) = (ask, expected)
    else {
        return false;
    };
    let Outcome::Answer { answer: Answer::StructInfo(given), .. } = outcome else { return false };
    let cx = &mut Cx::new().with_edition(edition);
    is_more_specific(cx, given, expected) && is_true_of(edition, module, entry, var, given)
}

/// The program read from a text: permitted is the same program up to the names of variables, as it is written or in
/// normal form, or a rejection if the text is not a program. An implementation that names rules must reject it by the
/// same productions. None if there is no answer.
pub(super) fn read(edition: Edition, text: &str, outcome: &Outcome, names_rules: bool) -> Option<TrialVerdict> {
    let given = if let Outcome::Answer { answer: Answer::Read(given), .. } = outcome {
        given.clone()
    } else if outcome.is_unread() {
        ReadAnswer::Rejected(Vec::new())
    } else {
        return matches!(outcome, Outcome::Answer { .. } | Outcome::Rejected { .. }).then_some(AGREES);
    };
    let expected = match oracle::answer(&mut Cx::new().with_edition(edition), &Ask::Parse(text.to_string())) {
        Ok(Answer::Read(expected)) => expected,
        Ok(_) | Err(_) => return Some(TrialVerdict::Unsupported("the text is not read here".to_string())),
    };
    let whole = || Answer::Read(expected.clone()).to_string();
    let (kind, message, expected) = match (&expected, &given) {
        (ReadAnswer::Module(m1), ReadAnswer::Module(m2)) => return Some(read_program(edition, m1, m2)),
        (ReadAnswer::Rejected(broken), ReadAnswer::Rejected(named)) if names_rules && broken != named => {
            (FailureKind::Refused, "for another reason", whole())
        }
        (ReadAnswer::Rejected(_), ReadAnswer::Rejected(_)) => return Some(AGREES),
        (ReadAnswer::Module(_), ReadAnswer::Rejected(_)) => (FailureKind::Refused, refusal(outcome), whole()),
        (ReadAnswer::Rejected(_), ReadAnswer::Module(_)) => {
            (FailureKind::Accepted, "no program", "rejected".to_string())
        }
    };
    Some(differs(kind, "parse", message, expected, outcome))
}

/// What an implementation says where it does not read a text.
fn refusal(outcome: &Outcome) -> &str {
    match outcome {
        Outcome::Rejected { message, .. } => message,
        Outcome::Answer { .. }
        | Outcome::Trapped { .. }
        | Outcome::Unsupported { .. }
        | Outcome::InternalError { .. }
        | Outcome::Crash { .. }
        | Outcome::Timeout { .. }
        | Outcome::ProtocolError { .. }
        | Outcome::Flaky { .. } => "a program",
    }
}

/// What is read is the program, or has its normal form: what is parsed is to be normalized (NF.REQUIRED), which an
/// implementation may do as it reads. Else both normal forms are shown, as they differ in less.
fn read_program(edition: Edition, expected: &IrModule, given: &IrModule) -> TrialVerdict {
    if same_as_read(expected, given) {
        return AGREES;
    }
    let normal = |module: &IrModule| normalize(&mut Cx::new().with_edition(edition), module);
    let (expected, given) = (normal(expected), normal(given));
    if same_as_read(&expected, &given) { AGREES } else { another_program(&expected, &given) }
}

/// Two programs, by the first lines in which they differ.
fn another_program(expected: &IrModule, given: &IrModule) -> TrialVerdict {
    let (expected, given) = (print_module(expected, Dialect::default()), print_module(given, Dialect::default()));
    let (expected, given) = first_differing_lines(&expected, &given);
    differs(FailureKind::Value, "parse", "another program", expected, given)
}

/// The first differing line of two texts, from each; one that differs in more than an annotation, if there is any.
fn first_differing_lines(a: &str, b: &str) -> (String, String) {
    let plain = |line: &str| match line.split_once(" = ") {
        Some((_, value)) => value.to_string(),
        None => line.split(") ->").next().unwrap_or_default().trim_end_matches("):").to_string(),
    };
    let as_long = a.lines().count() == b.lines().count();
    let differing = a.lines().zip(b.lines()).position(|(x, y)| plain(x) != plain(y)).filter(|_| as_long);
    let same = || a.lines().zip(b.lines()).take_while(|(x, y)| x == y).count();
    let at = differing.unwrap_or_else(same);
    let line = |text: &str| text.lines().nth(at).unwrap_or("nothing more").trim().to_string();
    (line(a), line(b))
}

/// The module that this library reads from a text.
pub(super) fn module_of(edition: Edition, text: &str) -> Option<IrModule> {
    match oracle::answer(&mut Cx::new().with_edition(edition), &Ask::Parse(text.to_string())) {
        Ok(Answer::Read(ReadAnswer::Module(module))) => Some(module),
        Ok(_) | Err(_) => None,
    }
}

/// The verdict of one stage, with its rules if the implementation names them. A rejection by that stage is a verdict
/// without rules, and has a message of its own if nothing is to be rejected. None if there is no verdict.
pub(super) fn of_stage(edition: Edition, ask: &Ask, outcome: &Outcome, names_rules: bool) -> Option<TrialVerdict> {
    let refused = matches!(outcome, Outcome::Rejected { stage, .. } if *stage == ask.op());
    let nameless = Verdict::Rejected(Vec::new());
    let given = match outcome {
        Outcome::Answer { answer: Answer::Verdict(given), .. } => given,
        Outcome::Rejected { .. } if refused => &nameless,
        Outcome::Answer { .. }
        | Outcome::Rejected { .. }
        | Outcome::Trapped { .. }
        | Outcome::Unsupported { .. }
        | Outcome::InternalError { .. }
        | Outcome::Crash { .. }
        | Outcome::Timeout { .. }
        | Outcome::ProtocolError { .. }
        | Outcome::Flaky { .. } => return None,
    };
    let expected = match oracle::answer(&mut Cx::new().with_edition(edition), ask) {
        Ok(Answer::Verdict(expected)) => expected,
        Ok(_) | Err(_) => return Some(TrialVerdict::Unsupported("there is no verdict here".to_string())),
    };
    let kind = match (&expected, given) {
        (Verdict::Accepted, Verdict::Accepted) => return Some(AGREES),
        (Verdict::Rejected(broken), Verdict::Rejected(named)) if refused || !names_rules || broken == named => {
            return Some(AGREES);
        }
        (Verdict::Accepted, Verdict::Rejected(_)) if refused => return None,
        (Verdict::Rejected(_), Verdict::Accepted) => FailureKind::Accepted,
        (Verdict::Accepted | Verdict::Rejected(_), Verdict::Rejected(_)) => FailureKind::Refused,
    };
    let expected = Answer::Verdict(expected).to_string();
    let message = format!("{} for {expected}", Answer::Verdict(given.clone()));
    Some(differs(kind, &ask.op(), &message, expected, outcome))
}

/// The judgements on types and structural information about a pair of terms of the suite. None if there is no answer.
pub(super) fn of_terms(edition: Edition, ask: &Ask, outcome: &Outcome) -> Option<TrialVerdict> {
    let Outcome::Answer { answer, .. } = outcome else { return None };
    if is_permitted(edition, ask, outcome) {
        return Some(AGREES);
    }
    let expected = permitted(edition, ask).first().map(ToString::to_string).unwrap_or_default();
    Some(differs(FailureKind::Value, &ask.op(), &kind_of_answer(answer), expected, outcome))
}

/// An implementation that names rules must name the right ones, as in the suite: the verdict with its rules, and the
/// warnings.
pub(super) fn named(edition: Edition, ask: &Ask, outcome: &Outcome) -> Option<TrialVerdict> {
    let Outcome::Answer { answer: given, warnings: Some(warned) } = outcome else { return None };
    let (expected, warnings) = oracle::answer_with_warnings(&mut Cx::new().with_edition(edition), ask).ok()?;
    let warnings = warnings.unwrap_or_default();
    if (&expected, &warnings) == (given, warned) {
        return Some(AGREES);
    }
    let said = |answer: &Answer, warnings: &[relax_spec::book::Rule]| {
        let warnings = warnings.iter().map(|rule| rule.id()).collect::<Vec<&str>>().join(", ");
        if warnings.is_empty() { answer.to_string() } else { format!("{answer}, with the warnings {warnings}") }
    };
    let message = format!("{} for {}", said(given, warned), said(&expected, &warnings));
    Some(differs(FailureKind::Refused, "check", &message, said(&expected, &warnings), outcome))
}
