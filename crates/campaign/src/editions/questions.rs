//! The questions that are asked in both editions.

use crate::generate::{Tape, struct_info_pair};
use relax_spec::book::Erratum;
use relax_spec::grammar::ShapeVar;
use relax_spec::question::Ask;
use relax_spec::suite::{Case, CaseError, witness};

/// How many pairs of structural information are generated, how deep they are nested, and how long their tapes are.
const PAIRS: u64 = 1500;
const DEPTH: usize = 2;
const TAPE: usize = 24;

/// A question, and where it is from.
pub(super) struct EditionQuestion {
    pub(super) id: String,
    pub(super) ask: Ask,
}

/// Every question that there is.
pub(super) fn all(suite: &[Case]) -> Result<Vec<EditionQuestion>, CaseError> {
    let mut questions: Vec<EditionQuestion> =
        suite.iter().map(|case| EditionQuestion { id: case.id.clone(), ask: case.ask.clone() }).collect();
    for erratum in Erratum::ALL {
        let unreadable = |message: String| CaseError { file: format!("spec/errata/{erratum}.ron"), message };
        let info = erratum.info().map_err(|error| unreadable(error.to_string()))?;
        let witness = witness(&info).map_err(|error| unreadable(error.to_string()))?;
        questions.extend(witness.map(|witness| EditionQuestion { id: format!("erratum {erratum}"), ask: witness.ask }));
    }
    questions.extend((0..PAIRS).flat_map(generated));
    Ok(questions)
}

/// The questions on a generated pair.
fn generated(number: u64) -> [EditionQuestion; 4] {
    let mut tape = Tape::from_seed(number, TAPE);
    let (s, t) = struct_info_pair(&mut tape, DEPTH, &[ShapeVar::new("n"), ShapeVar::new("m")]);
    let asks = [
        Ask::Compatibility(s.clone(), t.clone()),
        Ask::MoreSpecific(s.clone(), t.clone()),
        Ask::PossiblyMoreSpecific(s.clone(), t.clone()),
        Ask::Unify(s, t),
    ];
    asks.map(|ask| EditionQuestion { id: format!("generated {}", number), ask })
}
