//! The observable part of an answer, without the rules that it names: editions number their rules differently.

use relax_spec::book::Rule;
use relax_spec::question::{
    Answer, Derived, DimAnswer, MatchAnswer, Outcome, ReadAnswer, RunAnswer, TrialAnswer, Verdict,
};
use relax_spec::suite::knockout::is_answer_without;
use relax_spec::value::Effect;

/// An outcome without the rules that it names.
#[derive(Clone, PartialEq, Debug)]
pub(super) enum ObservableOutcome<'a> {
    /// An answer, and whether there is a warning.
    Says(&'a Answer, bool),
    /// An error of the program, after these effects of a run.
    Fails(&'a [Effect]),
    /// One entry for each input: none for an error, else the observable answer.
    Trials(Vec<Option<&'a TrialAnswer>>),
    /// The question cannot be read, or refers to something that does not exist.
    Refused(&'a str),
}

/// The observable part of an outcome; none if it is not an answer, as for a question that the edition does not have.
pub(super) fn seen(outcome: &Outcome) -> Option<ObservableOutcome<'_>> {
    if let Outcome::Answer { answer, warnings } = outcome {
        let warned = warnings.as_ref().is_some_and(|rules| !rules.is_empty());
        return Some(of_answer(answer, warned));
    }
    if let Outcome::Rejected { stage, .. } = outcome { Some(ObservableOutcome::Refused(stage)) } else { None }
}

fn of_answer(answer: &Answer, warned: bool) -> ObservableOutcome<'_> {
    match answer {
        Answer::Verdict(Verdict::Rejected(_))
        | Answer::Read(ReadAnswer::Rejected(_))
        | Answer::Derived(Derived::Rejected(_))
        | Answer::Dim(DimAnswer::Fails(_))
        | Answer::Match(MatchAnswer::Fails(_)) => ObservableOutcome::Fails(&[]),
        Answer::Run(RunAnswer::Fails(_, effects)) => ObservableOutcome::Fails(effects),
        Answer::Trials(trials) => ObservableOutcome::Trials(trials.iter().map(of_trial).collect()),
        Answer::Verdict(Verdict::Accepted)
        | Answer::Read(ReadAnswer::Module(_))
        | Answer::Derived(Derived::Is(_))
        | Answer::Dim(DimAnswer::Is(_))
        | Answer::Match(MatchAnswer::Matches(_))
        | Answer::Run(RunAnswer::Returns(..) | RunAnswer::OutOfFuel | RunAnswer::Unspecified)
        | Answer::Bool(_)
        | Answer::Type(_)
        | Answer::OptionType(_)
        | Answer::StructInfo(_)
        | Answer::Mapping(_)
        | Answer::Compatibility(_)
        | Answer::Proof(_)
        | Answer::Program(_)
        | Answer::Text(_) => ObservableOutcome::Says(answer, warned),
    }
}

fn of_trial(trial: &TrialAnswer) -> Option<&TrialAnswer> {
    Some(trial).filter(|trial| !matches!(trial, TrialAnswer::Fails(..)))
}

/// Whether two outcomes are answers, and differ in more than the rules that they name.
pub(super) fn differ(a: &Outcome, b: &Outcome) -> bool {
    seen(a).zip(seen(b)).is_some_and(|(a, b)| a != b)
}

/// Whether two outcomes are answers, and equal except for the rules that they name.
pub(super) fn agree(a: &Outcome, b: &Outcome) -> bool {
    seen(a).is_some() && seen(a) == seen(b)
}

/// Whether an outcome is an answer, and not a failure.
pub(super) fn says_something(outcome: &Outcome) -> bool {
    matches!(seen(outcome), Some(ObservableOutcome::Says(..) | ObservableOutcome::Trials(_)))
}

/// Whether an outcome names a rule as broken, in an error or in a warning.
pub(super) fn blames(outcome: &Outcome, rule: Rule) -> bool {
    let Outcome::Answer { answer, warnings } = outcome else { return false };
    let fails = matches!(seen(outcome), Some(ObservableOutcome::Fails(_)));
    (fails && !is_answer_without(answer, rule)) || warnings.as_ref().is_some_and(|rules| rules.contains(&rule))
}

/// Whether an outcome without a rule says more than that the rule is missing.
pub(super) fn says_something_without(outcome: &Outcome, rule: Rule) -> bool {
    let Outcome::Answer { answer, .. } = outcome else { return false };
    is_answer_without(answer, rule)
}
