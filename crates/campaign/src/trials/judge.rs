//! Compares the answer of an implementation with the program itself.

use relax_spec::rule;
use std::rc::Rc;

use super::compare::{self, AGREES, differs};
use super::inputs::{FUEL, STEPS, is_outside, room};
use super::path::Path;
use super::signature::{FailureKind, FailureSignature};
use super::spell::dialect_of;
use super::verdict::{ProgramQuestion, TrialDifference, TrialVerdict};
use crate::shrink::rules_of;
use ask::extern_process::overwrite;
use ask::implementation::Implementation;
use ask::worker::StartError;
use relax_spec::book::Rule;
use relax_spec::check::check_program;
use relax_spec::grammar::IrModule;
use relax_spec::judge::{Cx, Ending, RuntimeError};
use relax_spec::oracle::{UNSEEN, answer_evaluate};
use relax_spec::question::{Answer, Ask, Outcome, ProgramInput, RunAnswer, TrialAnswer, Verdict};
use relax_spec::refine::{self, CompiledProgram, Ran, Settings, refine_compiled};
use relax_spec::suite::normalized::objection_within;
use relax_spec::syntax::tvmscript::{Dialect, print_module};
use relax_spec::value::{Noise, Registry, Value, ValueSpec, from_spec};

/// On how many inputs a program is compared with its normal form, and how many steps that may take. Programs that do
/// not end, as some texts of the suite, use all of these steps each time.
const NORMALIZED: usize = 4;
const NORMALIZED_FUEL: u64 = FUEL / 5;
const NORMALIZED_STEPS: u64 = STEPS / 5;

impl ProgramQuestion<'_> {
    /// Asks the question along a path, and judges the answer.
    pub fn put(self, to: &mut dyn Implementation, path: &Path) -> Result<(Outcome, TrialVerdict), StartError> {
        let ask = path.ask(self.edition, self.module, self.entry, self.inputs, dialect_of(to));
        let outcome = to.ask(self.edition, &ask)?;
        let verdict = judge(self, path, &outcome);
        Ok((outcome, verdict))
    }
}

/// Compares an outcome with the program. A difference on arguments outside of a documented domain is marked as such.
pub fn judge(asked: ProgramQuestion<'_>, path: &Path, outcome: &Outcome) -> TrialVerdict {
    let ask = || path.ask(asked.edition, asked.module, asked.entry, asked.inputs, Dialect::default());
    let of_path = match path {
        Path::Check => of_check(asked, &ask(), outcome),
        Path::Derive => compare::derived(asked.edition, &ask(), outcome),
        Path::Parse => {
            let text = print_module(asked.module, Dialect::default());
            compare::read(asked.edition, &text, outcome, asked.names_rules)
        }
        Path::WellFormed | Path::NormalForm | Path::TypeCheck => {
            compare::of_stage(asked.edition, &ask(), outcome, asked.names_rules)
        }
        Path::Run(_) | Path::Text | Path::Static | Path::Normalize => None,
    };
    match of_path.unwrap_or_else(|| of_outcome(asked, path, outcome)) {
        TrialVerdict::Differs(mut difference) if path.runs() && shows_outside(asked, &difference) => {
            difference.signature = difference.signature.outside();
            TrialVerdict::Differs(difference)
        }
        other => other,
    }
}

/// Whether the input is outside of a documented domain; if the input is unknown, whether any of the inputs is.
fn shows_outside(asked: ProgramQuestion<'_>, difference: &TrialDifference) -> bool {
    let outside = |input: &Vec<ValueSpec>| is_outside(asked.edition, asked.module, asked.entry, input);
    let ends = matches!(difference.signature.kind, FailureKind::Crash | FailureKind::Hang | FailureKind::Fails);
    match &difference.input {
        Some(input) => outside(input),
        None => ends && asked.inputs.iter().any(outside),
    }
}

/// The verdict on an outcome of any path.
fn of_outcome(asked: ProgramQuestion<'_>, path: &Path, outcome: &Outcome) -> TrialVerdict {
    let differs = |kind, stage: &str, message: &str| differs(kind, stage, message, expected(path).to_string(), outcome);
    match outcome {
        Outcome::Answer { answer: Answer::Trials(answers), .. } => runs(asked, answers),
        Outcome::Answer { answer: Answer::Verdict(Verdict::Accepted), .. } => AGREES,
        Outcome::Answer { answer: Answer::Program(given), .. } => match objection(asked, given) {
            Some(why) => differs(FailureKind::NotNormal, "normalize", &why),
            None => AGREES,
        },
        Outcome::Answer { answer, .. } => differs(FailureKind::Refused, "answer", &answer.to_string()),
        Outcome::Rejected { stage, message, class } => {
            differs(FailureKind::Refused, stage, &format!("{class}: {message}"))
        }
        Outcome::Trapped { message, class, .. } => {
            differs(FailureKind::Refused, "load", &format!("{class}: {message}"))
        }
        Outcome::Crash { stage: Some(stage), .. } | Outcome::Timeout { stage: Some(stage) }
            if is_open(asked, stage) =>
        {
            AGREES
        }
        Outcome::Crash { cause, stage, stderr } => {
            let stage = stage.clone().unwrap_or_default();
            differs(FailureKind::Crash, without_number(&stage), &format!("{cause}{}", crash_site(stderr)))
        }
        Outcome::Timeout { stage } => {
            differs(FailureKind::Hang, without_number(stage.as_deref().unwrap_or_default()), "")
        }
        Outcome::Unsupported { what } => TrialVerdict::Unsupported(what.clone()),
        Outcome::InternalError { message } => differs(FailureKind::AdapterError, "adapter", message),
        Outcome::ProtocolError { message } => differs(FailureKind::AdapterError, "protocol", message),
        Outcome::Flaky { first, .. } => differs(FailureKind::AdapterError, "flaky", &first.to_string()),
    }
}

/// Why a program is not a normal form of the program in question; none if it is one.
fn objection(asked: ProgramQuestion<'_>, given: &IrModule) -> Option<String> {
    let (memory, steps, fuel) = (room(asked.inputs), NORMALIZED_STEPS, NORMALIZED_FUEL);
    let settings = Settings { memory, steps, fuel, ..Settings::runs(NORMALIZED) };
    objection_within(&mut asked.cx(), &ProgramInput::Module(asked.module.clone()), given, &settings)
}

/// What a path should give if nothing goes wrong.
fn expected(path: &Path) -> &'static str {
    match path {
        Path::Run(_) | Path::Text | Path::Static => "the program is run",
        Path::Check => "accepted",
        Path::Normalize => "a normal form",
        Path::Derive => "what is derived of a variable",
        Path::Parse => "the program of the text",
        Path::WellFormed | Path::NormalForm | Path::TypeCheck => "a verdict",
    }
}

/// The verdict on a check: first whether a program that breaks a rule is accepted, then which rules are named.
fn of_check(asked: ProgramQuestion<'_>, ask: &Ask, outcome: &Outcome) -> Option<TrialVerdict> {
    let broken = of_broken(asked, outcome);
    if let Some(TrialVerdict::Differs(_)) = broken {
        return broken;
    }
    let named = if asked.names_rules { compare::named(asked.edition, ask, outcome) } else { None };
    named.or(broken)
}

/// The verdict on a program that breaks rules: the implementation may complain about anything, but must not accept it.
/// None for a program that breaks no rule, and for an outcome that is not a verdict. As in the suite, an exception
/// (`Outcome::Trapped`) is not one.
fn of_broken(asked: ProgramQuestion<'_>, outcome: &Outcome) -> Option<TrialVerdict> {
    let report = check_program(&mut asked.cx(), asked.module);
    let first = report.diagnostics.iter().find(|finding| finding.is_fatal())?;
    if let Outcome::Answer { answer: Answer::Verdict(Verdict::Accepted), .. } = outcome {
        let signature = FailureSignature::of_accepted(&rules_of(&report));
        let expected = format!("rejected by {}", signature.message);
        let (message, given) = (first.message.clone(), outcome.to_string());
        let difference = TrialDifference { signature, message, input: None, expected, given };
        return Some(TrialVerdict::Differs(Box::new(difference)));
    }
    // An unreadable program is not judged.
    if let Outcome::Rejected { message, .. } = outcome
        && outcome.is_unread()
    {
        return Some(TrialVerdict::Unsupported(message.clone()));
    }
    let is_verdict = matches!(outcome, Outcome::Answer { answer: Answer::Verdict(_), .. } | Outcome::Rejected { .. });
    is_verdict.then_some(AGREES)
}

/// Whether a run was in progress whose result the semantics leaves open.
fn is_open(asked: ProgramQuestion<'_>, stage: &str) -> bool {
    let number = stage.strip_prefix("run ").and_then(|number| number.parse::<usize>().ok());
    let Some(input) = number.and_then(|number| asked.inputs.get(number)) else { return false };
    matches!(
        answer_evaluate(&mut asked.cx(), asked.module, asked.entry, input),
        Ok(RunAnswer::OutOfFuel | RunAnswer::Unspecified) | Err(_)
    )
}

/// `run 3` is `run`.
fn without_number(stage: &str) -> &str {
    stage.trim_end_matches(|c: char| c.is_ascii_digit()).trim_end()
}

/// The innermost stack frame of the implementation's own code, if the process has printed one.
fn crash_site(stderr: &str) -> String {
    let is_frame = |line: &&str| line.contains("tvm::") && !line.contains("Traceback");
    let site = stderr.lines().find(is_frame).map(str::trim);
    site.map_or_else(String::new, |site| format!(": {site}"))
}

/// Judges the runs in order; the first one that is not allowed decides.
fn runs(asked: ProgramQuestion<'_>, answers: &[TrialAnswer]) -> TrialVerdict {
    let mut ended = 0;
    for (input, answer) in asked.inputs.iter().zip(answers) {
        match run(asked, input, answer) {
            Some(difference) => return TrialVerdict::Differs(Box::new(difference)),
            None => ended += u64::from(matches!(answer, TrialAnswer::Returns(..))),
        }
    }
    TrialVerdict::Agrees { ended, runs: answers.len() as u64 }
}

fn run(asked: ProgramQuestion<'_>, input: &[ValueSpec], answer: &TrialAnswer) -> Option<TrialDifference> {
    let ProgramQuestion { module, entry, .. } = asked;
    let expected = answer_evaluate(&mut asked.cx(), module, entry, input).ok()?;
    let missed = if let RunAnswer::Fails(rule, _) = &expected { Some(*rule) } else { None };
    let differs = |kind, detail: &str, message: String| TrialDifference {
        signature: FailureSignature::of(kind, "run", detail),
        message,
        input: Some(input.to_vec()),
        expected: expected.to_string(),
        given: answer.to_string(),
    };
    if let (RunAnswer::Returns(value, _), TrialAnswer::Returns(told, ..)) = (&expected, answer)
        && value == told
        && value.parts().any(|part| *part == ValueSpec::PrimFunc)
    {
        // The TIR function in question is not known.
        return None;
    }
    if let (true, RunAnswer::Returns(..), TrialAnswer::Open(reason)) = (asked.names_rules, &expected, answer)
        && reason != UNSEEN
    {
        let message = format!("nothing is said of a run that comes to a value: {reason}");
        return Some(differs(FailureKind::Value, "open", message));
    }
    let seen = match (&expected, answer) {
        (RunAnswer::Returns(value, _), TrialAnswer::Returns(told, after, effects)) => {
            TrialAnswer::Returns(with_objects(value, told), after.clone(), effects.clone())
        }
        (
            RunAnswer::Returns(..) | RunAnswer::Fails(..) | RunAnswer::OutOfFuel | RunAnswer::Unspecified,
            TrialAnswer::Returns(..) | TrialAnswer::Fails(..) | TrialAnswer::Open(_),
        ) => answer.clone(),
    };
    let told = ReportedRun { answer: seen, rule: missed.unwrap_or(rule!("PURE.ERR.OP")) };
    let given = [input.to_vec()];
    let refinement = refine_compiled(&mut asked.cx(), module, &told, entry, &given, &Settings::runs(0)).ok()?;
    let refine::RefinementVerdict::NotAllowed { rule, message } = refinement.verdict else { return None };
    let (kind, detail) = match answer {
        TrialAnswer::Fails(said, _) => (FailureKind::Fails, said.clone()),
        TrialAnswer::Returns(..) | TrialAnswer::Open(_) => {
            let missed = missed.map(|missed| format!(", {missed} missed")).unwrap_or_default();
            (FailureKind::Value, format!("{}{missed}", rule.id()))
        }
    };
    let by = refinement.deviation.map_or_else(String::new, |deviation| {
        format!(
            " (element {}: {} for {}, off by {}, of which rounding explains {})",
            deviation.index, deviation.after, deviation.before, deviation.error, deviation.bound
        )
    });
    Some(differs(kind, &detail, format!("{message} [{rule}]{by}")))
}

/// OPS.null_value.value: the null object is not distinguishable from the empty tuple, which TVM returns as null too.
fn with_objects(expected: &ValueSpec, told: &ValueSpec) -> ValueSpec {
    let ValueSpec::Tuple(fields) = told else { return told.clone() };
    if *expected == ValueSpec::Object && fields.is_empty() {
        return ValueSpec::Object;
    }
    let ValueSpec::Tuple(expected) = expected else { return told.clone() };
    if expected.len() != fields.len() {
        return told.clone();
    }
    ValueSpec::Tuple(expected.iter().zip(fields).map(|(expected, told)| with_objects(expected, told)).collect())
}

/// A run as the implementation reported it.
#[derive(Debug)]
struct ReportedRun {
    answer: TrialAnswer,
    /// The rule of the expected failure.
    rule: Rule,
}

impl CompiledProgram for ReportedRun {
    fn run(&self, _: &mut Cx, _: &str, args: Vec<Value>, registry: Registry, _: Option<Rc<Noise>>) -> Ran {
        let (outcome, effects) = match &self.answer {
            TrialAnswer::Returns(value, after, effects) => {
                for (arg, after) in args.iter().zip(after) {
                    // An argument that cannot be written could not have been mutated.
                    let _unwritten = overwrite(arg, after);
                }
                let value = match from_spec(value, &args, &registry) {
                    Ok(value) => Ending::Value(value),
                    Err(error) => Ending::Unknown(error.to_string()),
                };
                (value, effects.clone())
            }
            TrialAnswer::Fails(message, effects) => {
                let error = RuntimeError { rule: self.rule, message: message.clone(), negative: None };
                (Ending::Error(error), effects.clone())
            }
            TrialAnswer::Open(reason) => (Ending::Unknown(reason.clone()), Vec::new()),
        };
        Ran { outcome, effects, steps: 0 }
    }
}
