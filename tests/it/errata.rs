//! Every witness of an erratum has the answers of its file in either reading, and the two answers differ.

use campaign::infos;
use relax_spec::book::erratum::ErratumFate;
use relax_spec::book::{Basis, Edition, Erratum, Reading, Rule};
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

/// The fault of an outcome, if there is one.
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

/// The outcomes of a witness in an edition, literal and then corrected. The proposal of the witness is active if it
/// belongs to that edition.
fn both_in(edition: Edition, erratum: Erratum, witness: &Witness) -> [Outcome; 2] {
    let basis = if witness.basis.edition() == edition { witness.basis } else { edition.into() };
    [Reading::literal_only(&[erratum]), Reading::corrected()]
        .map(|reading| oracle::outcome(&mut Cx::new().with_edition(basis).with_reading(reading), &witness.ask))
}

/// Witnesses that an edition cannot answer, or whose program it judges differently before the words in question matter.
const ASKED_OTHERWISE: &[(Erratum, Edition)] = &[
    // These are questions about types.
    (Erratum::A14, Edition::E2023_12),
    (Erratum::A14, Edition::E2024_04),
    (Erratum::A30, Edition::E2023_12),
    (Erratum::A30, Edition::E2024_04),
    (Erratum::A38, Edition::E2023_12),
    (Erratum::A38, Edition::E2024_04),
    // That edition states that a value binds. Its own witness covers the missing part, that a `PrimValue` has a value
    // (N08).
    (Erratum::A74, Edition::E2023_12),
    (Erratum::A74, Edition::E2024_04),
    // The program calls a packed function, which a function without a purity must not do.
    (Erratum::E57, Edition::E2023_12),
    (Erratum::E57, Edition::E2024_04),
    // The witness is about the repaired part.
    (Erratum::N62, Edition::E2024_04),
];

#[test]
fn a_witness_flips_in_the_editions_that_have_the_words_and_in_no_other() {
    let mut found = Vec::new();
    for (erratum, witness) in witnesses() {
        for edition in Edition::ALL {
            let [literal, corrected] = both_in(edition, erratum, &witness);
            let otherwise = ASKED_OTHERWISE.contains(&(erratum, edition));
            if (literal != corrected) != (erratum.stands_in(edition) && !otherwise) {
                found.push(format!("{erratum} in {edition}: literal {literal}, corrected {corrected}"));
            }
        }
    }
    assert_none("the edition has the words and the witness does not flip, or the other way round", found);
}

/// The first edition with the text, by the letter of the erratum's id.
fn first_edition(erratum: Erratum) -> Edition {
    match erratum.id().chars().next() {
        Some('N') => Edition::E2023_12,
        // A proposal belongs to the last edition.
        Some('M' | 'U') => Edition::E2024_04,
        _ => Edition::E2023_02,
    }
}

#[test]
fn of_every_erratum_it_is_said_what_became_of_it() {
    let mut found = Vec::new();
    for erratum in Erratum::ALL.iter().copied() {
        let (info, first) = (erratum.info().unwrap(), first_edition(erratum));
        let mut stands = erratum.stands_in(first);
        for edition in Edition::ALL.into_iter().filter(|edition| *edition > first) {
            let fate = info.later.get(&edition);
            if stands != fate.is_some() {
                found.push(format!("{erratum}: of {edition} is said {fate:?}"));
            }
            stands = match fate {
                Some(ErratumFate::Fixed | ErratumFate::Moot) | None => false,
                Some(ErratumFate::Part) => info.heirs.is_empty(),
                Some(ErratumFate::Still | ErratumFate::Worse | ErratumFate::Apart) => true,
            };
            if stands != erratum.stands_in(edition) {
                found.push(format!("{erratum}: the build script reads another fate in {edition}"));
            }
        }
        if info.later.keys().any(|edition| *edition <= first)
            || Edition::ALL.iter().any(|e| *e < first && erratum.stands_in(*e))
        {
            found.push(format!("{erratum} is older than it is"));
        }
        let early = info.heirs.iter().filter(|heir| first_edition(**heir) <= first);
        found.extend(early.map(|heir| format!("{erratum}: its heir {heir} is not later")));
    }
    assert_none("fates", found);
}

fn fate_name(fate: Option<ErratumFate>) -> &'static str {
    match fate {
        None => "",
        Some(ErratumFate::Still) => "still",
        Some(ErratumFate::Worse) => "worse",
        Some(ErratumFate::Part) => "in part",
        Some(ErratumFate::Fixed) => "repaired",
        Some(ErratumFate::Moot) => "gone",
        Some(ErratumFate::Apart) => "apart",
    }
}

#[test]
fn the_book_has_the_fate_of_every_erratum() {
    let chapter = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../../spec/src/errata.md")).unwrap();
    let rows = Erratum::ALL.iter().map(|erratum| {
        let info = erratum.info().unwrap();
        let fate = |edition| fate_name(info.later.get(&edition).copied());
        let heirs: Vec<&str> = info.heirs.iter().map(|heir| heir.id()).collect();
        let ids: Vec<&str> = std::iter::once(erratum.id()).chain(erratum.also().iter().copied()).collect();
        let (ids, heirs) = (ids.join(", "), heirs.join(", "));
        format!("| {ids} | {} | {} | {heirs} |", fate(Edition::E2023_12), fate(Edition::E2024_04))
    });
    assert_none("not in the table", rows.filter(|row| !chapter.lines().any(|line| line == row)).collect());
}

#[test]
fn every_erratum_that_the_code_takes_literally_has_a_witness() {
    let code = sources(std::path::Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../src")));
    let silent = Erratum::ALL.iter().filter(|erratum| {
        let asked = code.contains(&format!("literal(Erratum::{erratum})"));
        asked && witness(&erratum.info().unwrap()).unwrap().is_none() && **erratum != Erratum::A25
    });
    // A25 only changes the wording of a warning.
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
    let suite = ask::conformance::suite().unwrap();
    // Golden cases have the answer of the literal reading, without its warnings.
    let differ = witnesses().into_iter().filter(|(_, witness)| witness.literal.answer != witness.corrected.answer);
    let without = differ.filter(|(erratum, _)| !suite.iter().any(|case| case.erratum == Some(*erratum)));
    assert_none("no case tells the readings apart", without.map(|(erratum, _)| erratum.to_string()).collect());
}

#[test]
fn all_errata_taken_literally_at_once_answer_every_case() {
    let suite = ask::conformance::suite().unwrap();
    let everything = Reading::literal_only(Erratum::ALL);
    let unanswered = suite.iter().flat_map(|case| case.editions.iter().map(move |edition| (case, *edition)));
    let unanswered = unanswered.filter_map(|(case, edition)| {
        let cx = || Cx::new().with_edition(case.basis_in(edition));
        let outcome = oracle::outcome(&mut cx().with_reading(everything.clone()), &case.ask);
        let corrected = oracle::outcome(&mut cx(), &case.ask);
        // A refusal before the judgement is the same in any reading. A run may fail earlier, but it ends.
        let lost = matches!(corrected, Outcome::Answer { .. })
            && matches!(outcome, Outcome::Unsupported { .. } | Outcome::InternalError { .. });
        lost.then(|| format!("{}: {outcome}", case.id))
    });
    assert_none("no answer", unanswered.collect());
}

/// The answers under each single erratum that the corrected run did not consult.
fn answers_unasked(ask: &Ask, basis: Basis) -> Vec<(Erratum, Outcome, Outcome)> {
    let mut cx = Cx::new().with_edition(basis);
    let corrected = oracle::outcome(&mut cx, ask);
    let asked_after = cx.errata_asked_after();
    let unasked = Erratum::ALL.iter().copied().filter(|erratum| !asked_after.contains(*erratum));
    let alone = |erratum| {
        oracle::outcome(&mut Cx::new().with_edition(basis).with_reading(Reading::literal_only(&[erratum])), ask)
    };
    unasked.map(|erratum| (erratum, alone(erratum), corrected.clone())).filter(|(_, a, b)| a != b).collect()
}

#[test]
fn an_erratum_that_is_not_asked_after_changes_no_answer() {
    let generated = (0..150).flat_map(|number| infos::questions(25, number)).map(|ask| (ask, Basis::default()));
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
