//! What an implementation says of a program and of a text, held against what the text of the specification permits.

use super::judged::{TrialDifference, TrialVerdict};
use super::signature::{FailureKind, FailureSignature};
use crate::infos::{is_permitted, kind_of_answer, permitted};
use relax_spec::book::Edition;
use relax_spec::grammar::IrModule;
use relax_spec::judge::Cx;
use relax_spec::oracle;
use relax_spec::question::{Answer, Ask, Outcome, ReadAnswer, Verdict};
use relax_spec::suite::same_program::same_as_read;
use relax_spec::syntax::tvmscript::{Dialect, print_module};

const AGREES: TrialVerdict = TrialVerdict::Agrees { ended: 0, runs: 0 };

fn differs(kind: FailureKind, stage: &str, message: &str, expected: String, outcome: &Outcome) -> TrialVerdict {
    let (signature, message) = (FailureSignature::of(kind, stage, message), message.to_string());
    TrialVerdict::Differs(Box::new(TrialDifference {
        signature,
        message,
        input: None,
        expected,
        given: outcome.to_string(),
    }))
}

/// The structural information of a variable: one that some prover comes to.
pub(super) fn derived(edition: Edition, ask: &Ask, outcome: &Outcome) -> TrialVerdict {
    if is_permitted(edition, ask, outcome) {
        return AGREES;
    }
    let allowed = permitted(edition, ask);
    let Some(expected) = allowed.first() else {
        return TrialVerdict::Unsupported("nothing is derived of it".to_string());
    };
    match outcome {
        Outcome::Answer { answer, .. } => {
            let message = format!("{} for {}", kind_of_answer(answer), kind_of_answer(expected));
            differs(FailureKind::Value, "derive", &message, expected.to_string(), outcome)
        }
        Outcome::Rejected { message, .. } | Outcome::Trapped { message, .. } => {
            differs(FailureKind::Refused, "derive", message, expected.to_string(), outcome)
        }
        // What is no answer is judged as everywhere.
        Outcome::Unsupported { .. }
        | Outcome::InternalError { .. }
        | Outcome::Crash { .. }
        | Outcome::Timeout { .. }
        | Outcome::ProtocolError { .. }
        | Outcome::Flaky { .. } => AGREES,
    }
}

/// What is read from a text: the same program up to the names of variables, or no program where it is none, and then by the
/// same productions if the implementation names them.
pub(super) fn read(edition: Edition, text: &str, outcome: &Outcome, names_rules: bool) -> TrialVerdict {
    let expected = match oracle::answer(&mut Cx::new().with_edition(edition), &Ask::Parse(text.to_string())) {
        Ok(Answer::Read(expected)) => expected,
        Ok(_) | Err(_) => return TrialVerdict::Unsupported("the text is not read here".to_string()),
    };
    let given = match outcome {
        Outcome::Answer { answer: Answer::Read(given), .. } => given.clone(),
        _ if outcome.is_unread() => ReadAnswer::Rejected(Vec::new()),
        Outcome::Answer { .. }
        | Outcome::Rejected { .. }
        | Outcome::Trapped { .. }
        | Outcome::Unsupported { .. }
        | Outcome::InternalError { .. }
        | Outcome::Crash { .. }
        | Outcome::Timeout { .. }
        | Outcome::ProtocolError { .. }
        | Outcome::Flaky { .. } => return AGREES,
    };
    match (&expected, &given) {
        (ReadAnswer::Module(m1), ReadAnswer::Module(m2)) if same_as_read(m1, m2) => AGREES,
        (ReadAnswer::Module(m1), ReadAnswer::Module(m2)) => another_program(m1, m2),
        (ReadAnswer::Rejected(broken), ReadAnswer::Rejected(named)) if names_rules && broken != named => differs(
            FailureKind::Refused,
            "parse",
            "for another reason",
            Answer::Read(expected.clone()).to_string(),
            outcome,
        ),
        (ReadAnswer::Rejected(_), ReadAnswer::Rejected(_)) => AGREES,
        (ReadAnswer::Module(_), ReadAnswer::Rejected(_)) => {
            differs(FailureKind::Refused, "parse", "a program", "a program".to_string(), outcome)
        }
        (ReadAnswer::Rejected(_), ReadAnswer::Module(_)) => {
            differs(FailureKind::Accepted, "parse", "no program", "rejected".to_string(), outcome)
        }
    }
}

/// Two programs, by the first lines in which they differ.
fn another_program(expected: &IrModule, given: &IrModule) -> TrialVerdict {
    let (expected, given) = (print_module(expected, Dialect::default()), print_module(given, Dialect::default()));
    let (expected, given) = first_differing_lines(&expected, &given);
    let signature = FailureSignature::of(FailureKind::Value, "parse", "another program");
    let message = "another program".to_string();
    TrialVerdict::Differs(Box::new(TrialDifference { signature, message, input: None, expected, given }))
}

/// The first line in which two texts differ, of each.
fn first_differing_lines(a: &str, b: &str) -> (String, String) {
    let (mut of_a, mut of_b) = (a.lines(), b.lines());
    let nothing = || "nothing more".to_string();
    loop {
        match (of_a.next(), of_b.next()) {
            (Some(x), Some(y)) if x == y => {}
            (None, None) => return ("the same text".to_string(), "the same text".to_string()),
            (x, y) => {
                let line = |line: Option<&str>| line.map_or_else(nothing, |line| line.trim().to_string());
                return (line(x), line(y));
            }
        }
    }
}

/// What is read from a text here.
pub(super) fn module_of(edition: Edition, text: &str) -> Option<IrModule> {
    match oracle::answer(&mut Cx::new().with_edition(edition), &Ask::Parse(text.to_string())) {
        Ok(Answer::Read(ReadAnswer::Module(module))) => Some(module),
        Ok(_) | Err(_) => None,
    }
}

/// The verdict of one stage; with its rules if the implementation names them.
pub(super) fn of_stage(
    edition: Edition,
    ask: &Ask,
    given: &Verdict,
    outcome: &Outcome,
    names_rules: bool,
) -> TrialVerdict {
    let expected = match oracle::answer(&mut Cx::new().with_edition(edition), ask) {
        Ok(Answer::Verdict(expected)) => expected,
        Ok(_) | Err(_) => return TrialVerdict::Unsupported("there is no verdict here".to_string()),
    };
    let kind = match (&expected, given) {
        (Verdict::Accepted, Verdict::Accepted) => return AGREES,
        (Verdict::Rejected(broken), Verdict::Rejected(named)) if !names_rules || broken == named => return AGREES,
        (Verdict::Rejected(_), Verdict::Accepted) => FailureKind::Accepted,
        (Verdict::Accepted | Verdict::Rejected(_), Verdict::Rejected(_)) => FailureKind::Refused,
    };
    let expected = Answer::Verdict(expected).to_string();
    let message = format!("{} for {expected}", Answer::Verdict(given.clone()));
    differs(kind, &ask.op(), &message, expected, outcome)
}

/// A term of the suite against another: what the judgements on types and structural information say of the pair.
pub(super) fn of_terms(edition: Edition, ask: &Ask, outcome: &Outcome) -> TrialVerdict {
    match outcome {
        Outcome::Answer { answer, .. } if !is_permitted(edition, ask, outcome) => {
            let expected = permitted(edition, ask).first().map(ToString::to_string).unwrap_or_default();
            let message = kind_of_answer(answer);
            differs(FailureKind::Value, &ask.op(), &message, expected, outcome)
        }
        Outcome::Unsupported { what } => TrialVerdict::Unsupported(what.clone()),
        Outcome::Answer { .. }
        | Outcome::Rejected { .. }
        | Outcome::Trapped { .. }
        | Outcome::InternalError { .. }
        | Outcome::Crash { .. }
        | Outcome::Timeout { .. }
        | Outcome::ProtocolError { .. }
        | Outcome::Flaky { .. } => AGREES,
    }
}

/// An implementation that names rules is held to them, as by the suite: the verdict with its rules, and the warnings.
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
