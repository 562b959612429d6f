//! Soundness of acceptance: what is accepted without a warning does not get stuck, and what is derived of a variable is true
//! of every value that is bound to it. `examples/soundness.rs` asks it of as many programs as one likes.

use relax_spec::book::{Erratum, Reading};
use relax_spec::harness::soundness::{By, Trial, program, try_program};
use relax_spec::judge::{Cx, Mistake, RowMutant};
use relax_spec::rule;

/// How many programs a wrong rule may go unnoticed in.
const WITHIN: u64 = 2_000;

#[test]
fn what_is_accepted_is_true() {
    let mut accepted = [0, 0];
    for seed in 0..3_000 {
        match try_program(&By::default(), &program(seed)) {
            Trial::Rejected | Trial::Unheld => {}
            Trial::Sound { warned } => accepted[usize::from(warned)] += 1,
            Trial::Unsound(fault) => panic!("the program of seed {seed} (examples/soundness.rs shows it): {fault}"),
        }
    }
    assert!(accepted[0] > 1_000 && accepted[1] > 200, "{accepted:?}");
}

/// The first seed whose program shows the mistake.
fn found(by: &By) -> Option<u64> {
    (0..WITHIN).find(|seed| matches!(try_program(by, &program(*seed)), Trial::Unsound(_)))
}

fn literal(erratum: Erratum) -> Cx {
    Cx::new().with_reading(Reading::literal_only(&[erratum]))
}

fn wrong(rule: relax_spec::book::Rule, mistake: Mistake) -> Cx {
    Cx::new().with_row_mutant(RowMutant { rule, mistake })
}

#[test]
fn unsound_rules_are_found() {
    let checks = |checks| By { checks, runs: Cx::new() };
    let mistakes = [
        ("the variables of a signature are those of the name (E56)", checks(literal(Erratum::E56))),
        ("joined with an object, the other is returned (A01)", checks(literal(Erratum::A01))),
        ("a cast of a closure compares nothing (A19)", By { checks: Cx::new(), runs: literal(Erratum::A19) }),
        (
            "tensors of different shapes are joined to the first",
            checks(wrong(rule!("SI.UNIFY.TENSOR.EQ"), Mistake::Negated)),
        ),
        (
            "a function that may fit counts as one that does",
            checks(wrong(rule!("SI.COMPAT.FUNC.POSSIBLE"), Mistake::Dropped)),
        ),
    ];
    let missed: Vec<&str> = mistakes.iter().filter(|(_, by)| found(by).is_none()).map(|(name, _)| *name).collect();
    assert_eq!(missed, Vec::<&str>::new());
}
