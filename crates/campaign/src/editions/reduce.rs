//! Smaller questions that show the same rule.

use std::collections::BTreeMap;
use std::convert::Infallible;

use super::evidence::EditionProbe;
use super::{EditionPair, Flip};
use crate::infos;
use crate::questions::module_of;
use crate::shrink::{self, Candidates, Pass, Program, Shows, shrink};
use relax_spec::book::Rule;
use relax_spec::grammar::GlobalFunc;
use relax_spec::question::{Ask, ProgramInput};

/// Follows the id of a question that was reduced.
const REDUCED: &str = ", reduced";

/// The flip with the smallest part of its question that still shows the rule.
pub(super) fn reduced(pair: &EditionPair, rule: Rule, flip: &Flip) -> Flip {
    let mut best = flip.clone();
    let smaller = Pass::new("part", |flip: &Flip, from| smaller(pair, flip, from));
    let Ok(()) = shrink(&mut best, &[smaller], &mut SameRule { pair, rule });
    best
}

/// Smaller questions of the same kind, the smallest first.
fn smaller<'f>(pair: &EditionPair, flip: &'f Flip, from: usize) -> Candidates<'f, Flip> {
    let mut parts: Vec<(usize, Ask)> = parts(pair, &flip.ask).into_iter().map(|ask| (infos::size(&ask), ask)).collect();
    parts.sort_by_key(|(size, _)| *size);
    Box::new(parts.into_iter().skip(from).map(|(size, ask)| Some(Flip { size, ask, ..flip.clone() })))
}

fn parts(pair: &EditionPair, ask: &Ask) -> Vec<Ask> {
    let Some(module) = ask.program().and_then(module_of) else { return infos::parts(ask) };
    let names = module.funcs.iter().filter(|(_, func)| matches!(func, GlobalFunc::Function(_))).map(|(gv, _)| &gv.name);
    let (edition, sizes) = (pair.from.max(pair.to), BTreeMap::new());
    let program = |entry: &relax_spec::grammar::Name| Program {
        edition,
        module: module.clone(),
        entry: entry.clone(),
        sizes: sizes.clone(),
    };
    let smaller =
        names.map(program).flat_map(|program| shrink::passes().into_iter().flat_map(move |pass| pass.all(&program)));
    smaller.map(|smaller| ask.clone().with_program(ProgramInput::Module(smaller.module))).collect()
}

/// Shows a smaller question if its answers differ by the same rule, and the evidence is no weaker.
struct SameRule<'a> {
    pair: &'a EditionPair,
    rule: Rule,
}

impl Shows<Flip> for SameRule<'_> {
    type Error = Infallible;
    type Size = usize;

    fn size(&self, of: &Flip) -> usize {
        of.size
    }

    fn shows(&mut self, best: &Flip, candidate: Flip) -> Result<Option<Flip>, Infallible> {
        let asked = EditionProbe::of(self.pair, &candidate.ask, candidate.literally);
        let by_rule = asked.responsible().into_iter().find(|(responsible, _)| *responsible == self.rule);
        let (before, after) = (asked.before().clone(), asked.after().clone());
        let id = if best.id.ends_with(REDUCED) { best.id.clone() } else { format!("{}{REDUCED}", best.id) };
        let evidence = by_rule.map(|(_, evidence)| evidence).filter(|evidence| *evidence <= best.evidence);
        Ok(evidence.map(|evidence| Flip { id, before, after, evidence, ..candidate.clone() }))
    }
}
