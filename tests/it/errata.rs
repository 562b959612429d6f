//! Every witness of an erratum is answered as its file says, in either reading, and the two answers differ.

use relax_spec::book::{Basis, Erratum, Reading, Rule};
use relax_spec::harness::campaign;
use relax_spec::judge::Cx;
use relax_spec::oracle;
use relax_spec::question::{Ask, Outcome};
use relax_spec::suite::compare::is_answer;
use relax_spec::suite::{Expected, Witness, witness};

fn witnesses() -> Vec<(Erratum, Witness)> {
    let of = |erratum: Erratum| witness(&erratum.info().unwrap()).unwrap().map(|witness| (erratum, witness));
    Erratum::ALL.iter().copied().filter_map(of).collect()
}

fn outcome(witness: &Witness, reading: Reading) -> Outcome {
    oracle::outcome(&mut Cx::new().with_edition(witness.basis).with_reading(reading), &witness.ask)
}

fn warnings(outcome: &Outcome) -> Vec<Rule> {
    match outcome {
        Outcome::Answer { warnings: Some(warnings), .. } => warnings.clone(),
        _ => Vec::new(),
    }
}

/// What is wrong with an outcome, if something is.
fn fault(witness: &Witness, expected: &Expected, given: &Outcome) -> Option<String> {
    if !is_answer(&witness.ask, &expected.answer, given) {
        return Some(format!("expected {}, given {given}", expected.answer));
    }
    let wrong = expected.warnings.as_ref().is_some_and(|expected| *expected != warnings(given));
    wrong.then(|| format!("expected the warnings {:?}, given {:?}", expected.warnings, warnings(given)))
}

fn assert_none(what: &str, found: Vec<String>) {
    assert!(found.is_empty(), "{what}:\n  {}", found.join("\n  "));
}

#[test]
fn every_witness_is_answered_as_its_erratum_says() {
    let mut found = Vec::new();
    for (erratum, witness) in witnesses() {
        let literal = outcome(&witness, Reading::literal_only(&[erratum]));
        let corrected = outcome(&witness, Reading::corrected());
        found.extend(fault(&witness, &witness.literal, &literal).map(|fault| format!("{erratum}, literal: {fault}")));
        let wrong = fault(&witness, &witness.corrected, &corrected);
        found.extend(wrong.map(|fault| format!("{erratum}, corrected: {fault}")));
    }
    assert_none("witnesses", found);
    assert!(witnesses().len() >= 40, "{} witnesses", witnesses().len());
}

#[test]
fn every_witness_tells_the_readings_apart() {
    let same = witnesses().into_iter().filter(|(erratum, witness)| {
        let literal = outcome(witness, Reading::literal_only(&[*erratum]));
        is_answer(&witness.ask, &witness.corrected.answer, &literal)
            && warnings(&literal) == warnings(&outcome(witness, Reading::corrected()))
    });
    assert_none("the readings agree", same.map(|(erratum, _)| erratum.to_string()).collect());
}

#[test]
fn every_erratum_that_the_code_takes_literally_has_a_witness() {
    let code = sources(std::path::Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/src")));
    let silent = Erratum::ALL.iter().filter(|erratum| {
        let asked = code.contains(&format!("literal(Erratum::{erratum})"));
        asked && witness(&erratum.info().unwrap()).unwrap().is_none() && **erratum != Erratum::A25
    });
    // A25 changes the wording of a warning and nothing else.
    assert_none("literal code without a witness", silent.map(ToString::to_string).collect());
    let idle = witnesses().into_iter().filter(|(erratum, _)| !code.contains(&format!("literal(Erratum::{erratum})")));
    assert_none("a witness without literal code", idle.map(|(erratum, _)| erratum.to_string()).collect());
}

fn sources(dir: &std::path::Path) -> String {
    let mut text = String::new();
    for entry in std::fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            text.push_str(&sources(&path));
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            text.push_str(&std::fs::read_to_string(&path).unwrap());
        }
    }
    text
}

#[test]
fn every_witness_whose_answers_differ_has_a_golden_case_beside_it() {
    let suite = relax_spec::suite::embedded_suite().unwrap();
    // Golden cases have the answer of the literal reading, and not its warnings.
    let differ = witnesses().into_iter().filter(|(_, witness)| witness.literal.answer != witness.corrected.answer);
    let without = differ.filter(|(erratum, _)| !suite.iter().any(|case| case.erratum == Some(*erratum)));
    assert_none("no case tells the readings apart", without.map(|(erratum, _)| erratum.to_string()).collect());
}

#[test]
fn all_errata_taken_literally_at_once_answer_every_case() {
    let suite = relax_spec::suite::embedded_suite().unwrap();
    let everything = Reading::literal_only(Erratum::ALL);
    let unanswered = suite.iter().flat_map(|case| case.editions.iter().map(move |edition| (case, *edition)));
    let unanswered = unanswered.filter_map(|(case, edition)| {
        let cx = || Cx::new().with_edition(case.basis_in(edition));
        let outcome = oracle::outcome(&mut cx().with_reading(everything.clone()), &case.ask);
        let corrected = oracle::outcome(&mut cx(), &case.ask);
        // What is refused before it is judged is refused in any reading; a run may fail earlier, but it ends.
        let lost = matches!(corrected, Outcome::Answer { .. })
            && matches!(outcome, Outcome::Unsupported { .. } | Outcome::InternalError { .. });
        lost.then(|| format!("{}: {outcome}", case.id))
    });
    assert_none("no answer", unanswered.collect());
}

/// The answers to a question by each erratum alone that a run in the corrected reading did not ask after.
fn answers_unasked(ask: &Ask, basis: Basis) -> Vec<(Erratum, Outcome, Outcome)> {
    let mut cx = Cx::new().with_edition(basis).with_errata_noted();
    let corrected = oracle::outcome(&mut cx, ask);
    let asked_after = cx.errata_asked_after();
    let unasked = Erratum::ALL.iter().copied().filter(|erratum| !asked_after.contains(erratum));
    let alone = |erratum| {
        oracle::outcome(&mut Cx::new().with_edition(basis).with_reading(Reading::literal_only(&[erratum])), ask)
    };
    unasked.map(|erratum| (erratum, alone(erratum), corrected.clone())).filter(|(_, a, b)| a != b).collect()
}

#[test]
fn an_erratum_that_is_not_asked_after_changes_no_answer() {
    let generated = (0..150).flat_map(|number| campaign::questions(25, number)).map(|ask| (ask, Basis::default()));
    let witnessed = witnesses().into_iter().map(|(_, witness)| (witness.ask, witness.basis));
    let mut changed = Vec::new();
    for (ask, basis) in generated.chain(witnessed) {
        let of_ask = answers_unasked(&ask, basis).into_iter();
        changed.extend(
            of_ask.map(|(erratum, literal, corrected)| format!("{erratum}, {ask}: {literal}, not {corrected}")),
        );
    }
    assert_none("answers that an erratum changes though nothing asks after it", changed);
}
