//! A smaller question that shows the same.

use std::collections::BTreeMap;

use super::evidence::EditionProbe;
use super::{EditionPair, Flip, questions};
use crate::{infos, trials};
use relax_spec::book::Rule;
use relax_spec::grammar::{GlobalFunc, IrModule};
use relax_spec::question::{Ask, ProgramInput};
use relax_spec::syntax::tvmscript::parse_module;

/// How often a question is made smaller.
const STEPS: usize = 40;

/// The flip, of the smallest of its parts that shows it as well.
pub(super) fn reduced(pair: &EditionPair, rule: Rule, flip: &Flip) -> Flip {
    let mut best = flip.clone();
    for _ in 0..STEPS {
        let mut smaller: Vec<(usize, Ask)> =
            parts(pair, &best.ask).into_iter().map(|ask| (questions::size(&ask), ask)).collect();
        smaller.retain(|(size, _)| *size < best.size);
        smaller.sort_by_key(|(size, _)| *size);
        let Some(next) = smaller.into_iter().find_map(|(size, ask)| shown(pair, rule, &best, size, ask)) else { break };
        best = next;
    }
    best
}

/// The flip with another question, if that shows the rule no less.
fn shown(pair: &EditionPair, rule: Rule, flip: &Flip, size: usize, ask: Ask) -> Option<Flip> {
    let asked = EditionProbe::of(pair, &ask, flip.literally);
    let evidence = asked.responsible().into_iter().find(|(responsible, _)| *responsible == rule)?.1;
    let (before, after) = (asked.before().clone(), asked.after().clone());
    let id = if flip.id.ends_with(REDUCED) { flip.id.clone() } else { format!("{}{REDUCED}", flip.id) };
    (evidence <= flip.evidence).then_some(Flip { id, ask, size, before, after, evidence, literally: flip.literally })
}

/// What stands behind the id of a question of which only a part is left.
const REDUCED: &str = ", reduced";

/// Smaller questions of the kind.
fn parts(pair: &EditionPair, ask: &Ask) -> Vec<Ask> {
    let Some(module) = ask.program().and_then(module_of) else { return infos::parts(ask) };
    let names = module.funcs.iter().filter(|(_, func)| matches!(func, GlobalFunc::Function(_))).map(|(gv, _)| &gv.name);
    let smaller = names.flat_map(|entry| trials::candidates(pair.from.max(pair.to), &module, entry, &BTreeMap::new()));
    smaller.map(|module| ask.clone().with_program(ProgramInput::Module(module))).collect()
}

fn module_of(program: &ProgramInput) -> Option<IrModule> {
    match program {
        ProgramInput::Script(text) => parse_module(text).ok(),
        ProgramInput::Module(module) => Some(module.clone()),
    }
}
