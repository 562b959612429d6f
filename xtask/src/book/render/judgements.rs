//! The judgements that a rule belongs to: those in whose derivations the golden cases record it. What is recorded
//! outside of all others belongs to the judgement that the question asks for. And which judgements ask which others.

use std::collections::{BTreeMap, BTreeSet};

use rayon::prelude::*;
use relax_spec::book::Rule;
use relax_spec::judge::{Cx, Derivation, DerivationStep};
use relax_spec::oracle;
use relax_spec::suite::Case;
use relax_spec::suite::knockout::{STEPS, within};

/// What the derivations of the golden cases show.
#[derive(Default)]
pub struct Judgements {
    /// The names of the judgements of each rule.
    pub of_rule: BTreeMap<Rule, BTreeSet<String>>,
    /// A judgement, and another one that it asks.
    pub asked: BTreeSet<(String, String)>,
}

/// The judgements of the golden cases.
pub fn judgements(suite: &[Case]) -> Judgements {
    suite.par_iter().map(of_case).reduce(Judgements::default, |mut all, of| {
        of.of_rule.into_iter().for_each(|(rule, names)| all.of_rule.entry(rule).or_default().extend(names));
        all.asked.extend(of.asked);
        all
    })
}

fn of_case(case: &Case) -> Judgements {
    let mut found = Judgements::default();
    for edition in &case.editions {
        let base = Cx::new().with_edition(case.basis_in(*edition)).with_trace();
        let steps = within(STEPS, &base, |cx| {
            let mut cx = cx.clone();
            let _ = oracle::outcome(&mut cx, &case.ask);
            cx.take_steps()
        });
        let mut pending = vec![(case.ask.op(), steps.unwrap_or_default())];
        while let Some((judgement, steps)) = pending.pop() {
            for step in steps {
                match step {
                    DerivationStep::Fired(rule) | DerivationStep::Premise(rule, ..) => {
                        found.of_rule.entry(rule).or_default().insert(judgement.clone());
                    }
                    DerivationStep::Tried(_) => {}
                    DerivationStep::Sub(Derivation { judgement: asked, steps, .. }) => {
                        found.asked.insert((judgement.clone(), asked.to_string()));
                        pending.push((asked.to_string(), steps));
                    }
                }
            }
        }
    }
    found
}
