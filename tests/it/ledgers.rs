//! The ledgers of Apache TVM. Each divergence has a class and the clause that decides, from the edition of the
//! judgement.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use ask::conformance;
use campaign::classes::{CLAIMED, FORMS, LEDGERS, RELEASES, page};
use campaign::operators;
use campaign::programs::ConstructCensus;
use campaign::trials::{FailureKind, FailureSignature, FindingContext, KnownForm, Trait};
use relax_spec::book::{Edition, Erratum, Rule, ron_options};
use relax_spec::suite::Case;
use relax_spec::suite::ledger::{DeviationClass, KnownDivergence};

fn root() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))
}

fn entries(file: &str) -> Vec<KnownDivergence> {
    ron_options()
        .from_str(&conformance::ledger(file).unwrap_or_else(|| "[]".to_string()))
        .unwrap_or_else(|error| panic!("{file}: {error}"))
}

/// The files of each ledger, with their edition: the claimed one, and any other.
fn files() -> Vec<(String, Edition)> {
    LEDGERS
        .iter()
        .flat_map(|(family, _)| {
            let others = Edition::ALL.into_iter().filter(|edition| *edition != CLAIMED);
            let beside = others.map(move |edition| (format!("{family}-{edition}"), edition));
            beside.chain([((*family).to_string(), CLAIMED)])
        })
        .filter(|(file, _)| conformance::ledger(file).is_some())
        .collect()
}

fn assert_none(what: &str, found: &[String]) {
    assert!(found.is_empty(), "{what}:\n  {}", found.join("\n  "));
}

/// The fault of an entry of a file about an edition.
fn wrong_with(entry: &KnownDivergence, edition: Edition, suite: &BTreeMap<String, Case>) -> Option<String> {
    let (Some(class), Some(clause)) = (entry.class, entry.clause) else {
        return Some("it has no class, or no clause".to_string());
    };
    let Some(case) = suite.get(&entry.case) else { return Some("there is no such case".to_string()) };
    if !case.is_asked_in(edition) {
        return Some(format!("edition {edition} does not ask it"));
    }
    if !clause.is_stated_by(edition) {
        return Some(format!("{clause} is no clause of {edition}"));
    }
    if edition == CLAIMED && class == DeviationClass::LaterText {
        return Some("no text is later than the one that is claimed".to_string());
    }
    if class == DeviationClass::Erratum && !names_an_erratum(&entry.reason) {
        return Some("no erratum is named".to_string());
    }
    let unknown = entry.versions.iter().find(|version| !RELEASES.contains(&version.as_str()));
    unknown.map(|version| format!("there is no release {version}"))
}

#[test]
fn every_divergence_has_a_class_and_the_clause_that_decides() {
    let suite: BTreeMap<String, Case> =
        conformance::suite().unwrap().into_iter().map(|case| (case.id.clone(), case)).collect();
    let files = files();
    assert!(files.iter().any(|(_, edition)| *edition == CLAIMED));
    let wrong = files.iter().flat_map(|(file, edition)| {
        let faults = entries(file).into_iter().filter_map(|entry| {
            let fault = wrong_with(&entry, *edition, &suite)?;
            Some(format!("{file}: {}: {fault}", entry.case))
        });
        faults.collect::<Vec<String>>()
    });
    assert_none("entries of ledgers", &wrong.collect::<Vec<String>>());
}

/// Whether a reason names an erratum. It must if an erratum is read differently.
fn names_an_erratum(reason: &str) -> bool {
    let mut words = reason.split(|c: char| !c.is_ascii_alphanumeric());
    words.any(|word| Erratum::ALL.iter().any(|erratum| erratum.id() == word))
}

/// The fault of a form of findings of campaigns.
fn wrong_with_form(form: &KnownForm) -> Option<&'static str> {
    let (Some(class), Some(clause)) = (form.class, form.clause) else { return Some("it has no class, or no clause") };
    if !clause.is_stated_by(CLAIMED) {
        return Some("its clause is none of the edition that is claimed");
    }
    if class == DeviationClass::LaterText {
        return Some("no text is later than the one that is claimed");
    }
    if class == DeviationClass::Erratum && !names_an_erratum(&form.reason) {
        return Some("no erratum is named");
    }
    let is_broken = || Rule::ALL.iter().any(|rule| rule.id() == form.message && rule.is_stated_by(CLAIMED));
    (form.kind == Some(FailureKind::Accepted) && !is_broken())
        .then_some("it names no rule of the edition that is claimed")
}

#[test]
fn every_form_of_findings_has_a_class_and_the_clause_that_decides() {
    let forms = KnownForm::parse(&conformance::ledger(FORMS).expect("the ledger")).unwrap();
    assert!(forms.iter().any(|form| form.kind == Some(FailureKind::Accepted)));
    let wrong = forms.iter().filter_map(|form| Some(format!("{}: {}", form.reason, wrong_with_form(form)?)));
    assert_none("forms of findings", &wrong.collect::<Vec<String>>());
}

/// Operators whose findings no condition on the reduced program tells from others, with the reason.
const WITHOUT_CONDITION: [(&str, &str); 3] = [
    ("relax.nn.adaptive_avg_pool2d", "it shows with constant sizes too that are no multiples of the output's"),
    ("relax.nn.adaptive_avg_pool3d", "it shows with constant sizes too that are no multiples of the output's"),
    ("relax.vision.all_class_non_max_suppression", "an overlap that is exactly the threshold is in the values"),
];

/// A wrong value of an operator does not count as known: the form for it has a condition.
#[test]
fn a_wrong_value_of_an_operator_is_unknown_where_no_condition_holds() {
    let forms = KnownForm::parse(&conformance::ledger(FORMS).expect("the ledger")).unwrap();
    let contexts = [BTreeSet::new(), BTreeSet::from([Trait::Integers, Trait::Constant, Trait::Scalar])];
    let mut swallowed = Vec::new();
    for op in relax_spec::ops::all().map(|op| format!("relax.{}", op.name)) {
        let operators = vec![op.clone()];
        let (kind, stage) = (FailureKind::Value, "run".to_string());
        let signature = FailureSignature { kind, stage, message: "OPT.GENERAL".to_string(), operators };
        let is_unknown = |traits: &BTreeSet<Trait>| {
            let (operators, attributes) = (&signature.operators, &BTreeSet::new());
            let seen = FindingContext { operators, traits, attributes, path: "llvm", version: "0.27.0" };
            !forms.iter().any(|form| form.knows(&signature, &seen))
        };
        let is_listed = WITHOUT_CONDITION.iter().any(|(name, _)| *name == op);
        if contexts.iter().any(is_unknown) == is_listed {
            swallowed.push(op);
        }
    }
    assert_none("operators of which any wrong value is known, or that are listed so and are not", &swallowed);
}

/// A difference that the claimed text resolves is no longer a divergence.
#[test]
fn what_the_later_text_resolves_is_gone() {
    let resolved = ["global-primfunc", "primfunc-called", "call-dps-impure", "sig-order"];
    let listed = LEDGERS.iter().flat_map(|(family, _)| entries(family));
    let listed = listed.map(|entry| entry.case).filter(|case| resolved.iter().any(|word| case.contains(word)));
    assert_none("resolved by the text", &listed.collect::<Vec<String>>());
}

/// Releases with the same difference share an entry.
#[test]
fn nothing_is_written_once_for_each_release() {
    for (file, _) in files() {
        let mut seen = BTreeMap::new();
        for entry in entries(&file) {
            let key = (entry.case.clone(), entry.outcome, entry.reason.clone());
            assert!(seen.insert(key, ()).is_none(), "{file}: {} stands there twice", entry.case);
        }
    }
}

#[test]
fn the_adapter_claims_the_edition_by_which_the_ledgers_judge() {
    let names = fs::read_to_string(root().join("conformance/adapters/tvm/names.py")).unwrap();
    assert!(names.contains(&format!("EDITION = \"{CLAIMED}\"")));
}

#[test]
fn the_page_of_classes_is_what_the_ledgers_say() {
    let kept = fs::read_to_string(root().join("spec/src/implementations.md")).unwrap();
    assert!(kept == page().unwrap(), "run `cargo xtask regenerate`");
    assert!(DeviationClass::ALL.iter().all(|class| kept.contains(class.name())));
}

#[test]
fn the_record_of_operators_is_what_the_suite_has() {
    let measured = operators::measured(&conformance::suite().unwrap());
    let kept = operators::kept().unwrap();
    assert!(kept.is_current() && kept == measured, "run `cargo xtask regenerate`");
}

#[test]
fn the_book_counts_what_is_drawn() {
    let page = fs::read_to_string(root().join("spec/src/generator.md")).unwrap();
    assert!(page == ConstructCensus::page(), "run `cargo xtask regenerate`");
    for construct in ConstructCensus::FURTHER {
        let row = page.lines().find(|line| line.starts_with(&format!("| {construct} |"))).expect(construct);
        let counts: Vec<&str> = row.split('|').map(str::trim).collect();
        let (of_campaigns, of_laws) = (&counts[2..5], &counts[5..8]);
        assert!(of_campaigns.iter().all(|count| *count == "–"), "{row}");
        assert!(of_laws.iter().any(|count| *count != "–"), "{row}");
    }
}
