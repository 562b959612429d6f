//! Soundness of acceptance: a program accepted without a warning does not get stuck, and the derived information of a
//! variable holds for every value bound to it. `cargo xtask soundness` tests as many programs as desired.

use campaign::soundness::{SoundnessContexts, SoundnessTrial, program, try_program};
use relax_spec::book::{Edition, Erratum, Reading};
use relax_spec::judge::{Cx, Mistake, RowMutant};
use relax_spec::rule;

/// The number of programs within which a wrong rule must be noticed.
const WITHIN: u64 = 2_000;
/// The same for later editions, whose programs show two of the mistakes less often.
const WITHIN_LATER: u64 = 16_000;

fn what_is_accepted_is_true(edition: Edition) {
    let mut accepted = [0, 0];
    for seed in 0..3_000 {
        match try_program(&SoundnessContexts::of(edition), &program(edition, seed)) {
            SoundnessTrial::Rejected(_) | SoundnessTrial::Unheld => {}
            SoundnessTrial::Sound { warned } => accepted[usize::from(warned)] += 1,
            SoundnessTrial::Unsound(fault) => {
                panic!("seed {seed}, shown by `cargo xtask soundness 1 {seed} --edition {edition}`: {fault}")
            }
        }
    }
    // In later editions unknown information about an argument gives a warning. In the first edition it is an error.
    let enough = if edition == Edition::E2023_02 { [1_000, 200] } else { [300, 800] };
    assert!(accepted[0] > enough[0] && accepted[1] > enough[1], "{accepted:?}");
}

#[test]
fn what_is_accepted_is_true_2023_02() {
    what_is_accepted_is_true(Edition::E2023_02);
}

#[test]
fn what_is_accepted_is_true_2023_12() {
    what_is_accepted_is_true(Edition::E2023_12);
}

#[test]
fn what_is_accepted_is_true_2024_04() {
    what_is_accepted_is_true(Edition::E2024_04);
}

/// The first seed whose program shows the mistake.
fn found(by: &SoundnessContexts) -> Option<u64> {
    let edition = by.checks.edition();
    let within = if edition == Edition::E2023_02 { WITHIN } else { WITHIN_LATER };
    (0..within).find(|seed| matches!(try_program(by, &program(edition, *seed)), SoundnessTrial::Unsound(_)))
}

fn literal(edition: Edition, erratum: Erratum) -> Cx {
    Cx::new().with_edition(edition).with_reading(Reading::literal_only(&[erratum]))
}

fn wrong(edition: Edition, rule: relax_spec::book::Rule, mistake: Mistake) -> Cx {
    Cx::new().with_edition(edition).with_row_mutant(RowMutant { rule, mistake })
}

#[test]
fn unsound_rules_are_found() {
    let mut missed = Vec::new();
    for edition in Edition::ALL {
        let right = || SoundnessContexts::of(edition);
        let checks = |checks| SoundnessContexts { checks, ..right() };
        let mistakes = [
            ("the variables of a signature are those of the name (E56)", checks(literal(edition, Erratum::E56))),
            ("joined with an object, the other is returned (A01)", checks(literal(edition, Erratum::A01))),
            (
                "a cast of a closure compares nothing (A19)",
                SoundnessContexts { runs: literal(edition, Erratum::A19), ..right() },
            ),
            (
                "tensors of different shapes are joined to the first",
                checks(wrong(edition, rule!("SI.UNIFY.TENSOR.EQ"), Mistake::Negated)),
            ),
            (
                "a function that may fit counts as one that does",
                checks(wrong(edition, rule!("SI.COMPAT.FUNC.POSSIBLE"), Mistake::Dropped)),
            ),
        ];
        missed.extend(
            mistakes.iter().filter(|(_, by)| found(by).is_none()).map(|(name, _)| format!("{edition}: {name}")),
        );
    }
    assert_eq!(missed, Vec::<String>::new());
}
