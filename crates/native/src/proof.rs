//! The proof that a nest accesses only elements that exist.

use relax_spec::value::{LoopIndex, LoopInstr, LoopMemory, LoopNest, LoopPlace};

/// Evidence that all positions of a nest are inside of a list of memory, and that their elements are of the kind that
/// the nest takes them for.
pub struct Proof<'n> {
    pub nest: &'n LoopNest,
    /// The kind and the number of the elements that were looked at.
    of: Vec<(bool, usize)>,
}

/// Whether elements are floats, and how many there are.
fn kind(memory: &LoopMemory<'_>) -> (bool, usize) {
    match memory {
        LoopMemory::Ints(elements) => (false, elements.len()),
        LoopMemory::Floats(elements) => (true, elements.len()),
    }
}

impl<'n> Proof<'n> {
    /// `None` if a position may be outside, or if the nest is malformed.
    pub fn of(nest: &'n LoopNest, memory: &[LoopMemory<'_>]) -> Option<Proof<'n>> {
        let levels = nest.counts.len();
        let is_level = |level: &usize| *level < levels;
        let shape = !nest.counts.is_empty()
            && nest.counts.iter().all(|count| *count > 0)
            && nest.indices.iter().all(|index| index.steps.len() == levels)
            && nest.first.iter().flatten().all(is_level);
        let proof = Proof { nest, of: memory.iter().map(kind).collect() };
        let codes = [&nest.prelude, &nest.init, &nest.body];
        let holds = |place: &LoopPlace, floats: bool| proof.holds(*place, floats);
        let instrs = codes.into_iter().flatten().all(|instr| match instr {
            LoopInstr::LoadInt { from: place, .. } | LoopInstr::StoreInt { to: place, .. } => holds(place, false),
            LoopInstr::LoadFloat { from: place, .. } | LoopInstr::StoreFloat { to: place, .. } => holds(place, true),
            LoopInstr::Index { index, .. } => nest.indices.get(*index).is_some(),
            LoopInstr::Int { .. }
            | LoopInstr::Wrap { .. }
            | LoopInstr::IsZero { .. }
            | LoopInstr::Float { .. }
            | LoopInstr::CompareFloats { .. }
            | LoopInstr::SelectInt { .. }
            | LoopInstr::SelectFloat { .. }
            | LoopInstr::FromInt { .. }
            | LoopInstr::Round { .. } => true,
        });
        let fold = nest.fold.is_none_or(|fold| holds(&fold.place, fold.is_of_floats()));
        (shape && instrs && fold).then_some(proof)
    }

    fn holds(&self, place: LoopPlace, floats: bool) -> bool {
        let (Some(index), Some((kind, count))) = (self.nest.indices.get(place.index), self.of.get(place.memory)) else {
            return false;
        };
        let inside = range(self.nest, index).is_some_and(|(least, greatest)| least >= 0 && greatest < *count as i128);
        *kind == floats && inside
    }

    /// Whether it is about this memory.
    pub fn is_of(&self, memory: &[LoopMemory<'_>]) -> bool {
        self.of.iter().copied().eq(memory.iter().map(kind))
    }
}

/// The least and the greatest value of an index.
fn range(nest: &LoopNest, index: &LoopIndex) -> Option<(i128, i128)> {
    let base = i128::from(index.base);
    nest.counts.iter().zip(&index.steps).try_fold((base, base), |(least, greatest), (count, step)| {
        let far = i128::from(*step).checked_mul(i128::from(*count) - 1)?;
        Some((least.checked_add(far.min(0))?, greatest.checked_add(far.max(0))?))
    })
}
