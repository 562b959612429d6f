//! The questions that are asked in both editions, and how large they are.

use crate::generate::{Tape, struct_info_pair};
use relax_spec::book::Erratum;
use relax_spec::data::{Node, NodeData};
use relax_spec::grammar::ShapeVar;
use relax_spec::question::{Ask, ProgramInput};
use relax_spec::suite::{Case, CaseError, witness};
use relax_spec::syntax::tvmscript::parse_module;

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

/// How large a question is: the parts of its data, and in a text the words. A program counts as its tree.
pub(super) fn size(ask: &Ask) -> usize {
    let read = |program: ProgramInput| match program {
        ProgramInput::Script(text) => parse_module(&text).map_or(ProgramInput::Script(text), ProgramInput::Module),
        ProgramInput::Module(_) => program,
    };
    ask.clone().map_programs(read).arguments().iter().map(parts).sum()
}

fn parts(node: &Node<'_>) -> usize {
    let mut pending = vec![node];
    let mut count = 0;
    while let Some(node) = pending.pop() {
        count += match &node.data {
            NodeData::Text(text) => text.split_whitespace().count().max(1),
            NodeData::Null | NodeData::Bool(_) | NodeData::Number(_) => 1,
            NodeData::List(items) | NodeData::Tuple(items) => {
                pending.extend(items);
                1
            }
            NodeData::Map(entries) | NodeData::Struct(entries) => {
                pending.extend(entries.iter().map(|(_, value)| value));
                1
            }
            NodeData::Variant(_, content) => {
                pending.extend(content.as_deref());
                1
            }
        };
    }
    count
}
