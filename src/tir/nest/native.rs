//! Nests as data for a compiler that makes machine code of them. What can fail, what records sides, and what needs more
//! than the arithmetic of the processor stays with the lanes.

use super::super::arithmetic::Arithmetic;
use super::super::memory::{Memory, MemoryElements};
use super::super::run::Machine;
use super::super::scalar::{Compare, FloatOp, IntOp, Repr};
use super::affine::Affine;
use super::compile::Nest;
use super::fold::{Fold, FoldOp};
use super::lanes::{Field, IntFunction, LanePlace, NestIntOp, Reg, Step};
use crate::number::FloatType;
use crate::value::{
    Kernels, LoopCompare, LoopFloatOp, LoopFold, LoopFoldOp, LoopIndex, LoopInstr, LoopIntOp, LoopInts, LoopMemory,
    LoopNest, LoopPlace,
};

impl<'p, N: Arithmetic> Machine<'p, N> {
    /// Runs a nest as machine code. Returns whether it ran; otherwise nothing has changed.
    pub(super) fn natively(&mut self, nest: &Nest<'p, N>) -> bool {
        let Kernels::Native(code) = self.kernels else { return false };
        let varies = self.account.ring().is_some() || self.noise.is_some();
        if varies || nest.space.rounds() < code.fewest_rounds() {
            return false;
        }
        let Some(loops) = LoopsOfNest { nest, memory: &self.memory }.loops() else { return false };
        let Some(mut memory) = self.memory.iter_mut().map(elements).collect::<Option<Vec<_>>>() else { return false };
        if !code.run(&loops, &mut memory) {
            return false;
        }
        let (init, body) = (loops.init.iter().map(|step| (true, step)), loops.body.iter().map(|step| (false, step)));
        for (is_init, step) in init.chain(body) {
            if let LoopInstr::StoreInt { to, .. } | LoopInstr::StoreFloat { to, .. } = step {
                self.mark_all(&loops, *to, is_init);
            }
        }
        if let Some(fold) = loops.fold {
            self.mark_all(&loops, fold.place, false);
        }
        self.fuel = self.fuel.saturating_sub(cost(nest, &loops));
        true
    }

    /// Records that the elements which a store reaches have a value.
    fn mark_all(&mut self, loops: &LoopNest, place: LoopPlace, at_start: bool) {
        let Some(memory) = self.memory.get_mut(place.memory) else { return };
        memory.stored = true;
        let Some(index) = loops.indices.get(place.index) else { return };
        let mut positions = vec![index.base];
        for (level, (count, step)) in loops.counts.iter().zip(&index.steps).enumerate() {
            let is_first = at_start && loops.first.iter().flatten().any(|first| *first == level);
            if memory.written.is_none() {
                return;
            }
            if *step != 0 && !is_first {
                let further = |at: i64| (0..*count).map(move |n| at.wrapping_add(step.wrapping_mul(n)));
                positions = positions.into_iter().flat_map(further).collect();
            }
        }
        positions.into_iter().for_each(|at| memory.mark(at as usize));
    }
}

fn elements<N: Arithmetic>(memory: &mut Memory<N>) -> Option<LoopMemory<'_>> {
    match &mut memory.data {
        MemoryElements::Int(elements) => Some(LoopMemory::Ints(elements)),
        MemoryElements::Float(elements) => N::floats(elements).map(LoopMemory::Floats),
    }
}

/// The steps of the loops inside of the outermost one, and of their statements.
fn cost<N>(nest: &Nest<'_, N>, loops: &LoopNest) -> u64 {
    let (mut rounds, mut cost) = (1u64, 0u64);
    for (level, count) in loops.counts.iter().enumerate() {
        rounds = rounds.saturating_mul(count.unsigned_abs());
        // A round of an outer loop and the loop in it are a step each.
        let steps = if level + 1 < loops.counts.len() { 2 } else { 1 };
        cost = cost.saturating_add(rounds.saturating_mul(steps));
    }
    let round = nest.statements.len() as u64 + u64::from(nest.block.is_some());
    let of_init = nest.of_init.unwrap_or_default() as u64;
    let begun = loops.first.as_ref().map_or(0, |first| {
        first
            .iter()
            .filter_map(|level| loops.counts.get(*level))
            .fold(rounds, |rounds, count| rounds / count.unsigned_abs())
    });
    cost.saturating_add(rounds.saturating_mul(round)).saturating_add(begun.saturating_mul(of_init))
}

struct LoopsOfNest<'n, 'p, N> {
    nest: &'n Nest<'p, N>,
    memory: &'n [Memory<N>],
}

impl<N: Arithmetic> LoopsOfNest<'_, '_, N> {
    /// The nest as data, if it is of this kind.
    fn loops(&self) -> Option<LoopNest> {
        let nest = self.nest;
        if nest.predicate.is_some() || nest.guard.is_some_and(|guard| guard.choice.is_some()) {
            return None;
        }
        let levels = nest.space.levels.len();
        let index = |e: &Affine| Some(LoopIndex { base: e.base, steps: e.steps.get(..levels)?.to_vec() });
        let first = self.first()?;
        let mut loops = LoopNest {
            counts: nest.space.levels.iter().map(|level| level.count).collect(),
            indices: nest.affine.iter().map(index).collect::<Option<_>>()?,
            ints: nest.ints.clone(),
            floats: nest.floats.iter().map(|value| value.map(N::near)).collect(),
            prelude: self.code(&nest.prelude)?,
            init: if first.is_some() { self.code(&nest.init)? } else { Vec::new() },
            body: nest.body.iter().flatten().map(|step| self.instr(step)).collect::<Option<_>>()?,
            first,
            fold: None,
        };
        if let Some(fold) = &nest.fold {
            loops.fold = Some(self.fold(fold, &loops)?);
        }
        Some(loops)
    }

    /// The loops that are in their first rounds when a reduction starts.
    fn first(&self) -> Option<Option<Vec<usize>>> {
        let nest = self.nest;
        if nest.of_init.is_none() {
            return Some(None);
        }
        let mut first = Vec::new();
        for affine in &nest.starts {
            let affine = nest.affine.get(*affine)?;
            let (least, greatest) = nest.space.range(affine);
            if least > 0 || greatest < 0 {
                return Some(None);
            }
            let moving = nest.space.levels.iter().zip(&affine.steps).enumerate();
            let moving: Vec<(usize, i64)> = moving
                .filter(|(_, (level, step))| level.count > 1 && **step != 0)
                .map(|(level, (_, step))| (level, *step))
                .collect();
            // It grows from 0, so it is 0 only in the first rounds.
            if affine.base != 0 || moving.iter().any(|(_, step)| *step < 0) {
                return None;
            }
            first.extend(moving.into_iter().map(|(level, _)| level));
        }
        first.sort_unstable();
        first.dedup();
        Some(Some(first))
    }

    fn fold(&self, fold: &Fold, loops: &LoopNest) -> Option<LoopFold> {
        if fold.choice.is_some() || fold.mask.is_some() {
            return None;
        }
        let steps = &loops.indices.get(fold.at)?.steps;
        let kept = |level: &usize| steps.get(*level) == Some(&0);
        // Each element gets a value before it is read.
        let starts = fold.start.is_some() && loops.first.as_ref().is_some_and(|first| first.iter().all(kept));
        if !starts && self.memory.get(fold.memory)?.written.is_some() {
            return None;
        }
        let op = match fold.op {
            FoldOp::Whole(op, repr) => LoopFoldOp::Int(whole(op), ints(repr)),
            FoldOp::Int(op, repr) => LoopFoldOp::Int(int_op(op)?, ints(repr)),
            FoldOp::Field(op, float) => LoopFoldOp::Float(field(op), known(float)?),
            FoldOp::Float(op, float) => LoopFoldOp::Float(float_op(op)?, known(float)?),
        };
        let place = LoopPlace { memory: fold.memory, index: fold.at };
        Some(LoopFold { place, start: fold.start, op, value: fold.value, left: fold.left })
    }

    fn code(&self, code: &[Step]) -> Option<Vec<LoopInstr>> {
        code.iter().map(|step| self.instr(step)).collect()
    }

    /// An element, which has a value if it is read.
    fn place(&self, place: &LanePlace, is_read: bool) -> Option<LoopPlace> {
        let memory = self.memory.get(place.memory)?;
        let index = place.at.filter(|_| !is_read || memory.written.is_none())?;
        Some(LoopPlace { memory: place.memory, index })
    }

    fn instr(&self, step: &Step) -> Option<LoopInstr> {
        Some(match step {
            Step::Affine { to, of } => LoopInstr::Index { to: *to, index: *of },
            Step::LoadInt { to, from, .. } => LoopInstr::LoadInt { to: *to, from: self.place(from, true)? },
            Step::LoadFloat { to, from, .. } => LoopInstr::LoadFloat { to: *to, from: self.place(from, true)? },
            Step::StoreInt { to, value, mask: None } => {
                LoopInstr::StoreInt { to: self.place(to, false)?, value: *value }
            }
            Step::StoreFloat { to, value, mask: None } => {
                LoopInstr::StoreFloat { to: self.place(to, false)?, value: *value }
            }
            Step::Whole { .. }
            | Step::IntBinary { .. }
            | Step::Compare { .. }
            | Step::And { .. }
            | Step::Or { .. }
            | Step::IntFunction { .. } => self.int_instr(step)?,
            Step::CompareFloats { to, op, a, b, .. } => {
                LoopInstr::CompareFloats { to: *to, op: comparison(*op), a: *a, b: *b }
            }
            Step::SelectInt { to, condition, a, b } => {
                LoopInstr::SelectInt { to: *to, condition: *condition, a: *a, b: *b }
            }
            Step::SelectFloat { to, condition, a, b } => {
                LoopInstr::SelectFloat { to: *to, condition: *condition, a: *a, b: *b }
            }
            Step::Field { to, op, a, b, float, mask: _ } => float_instr(*to, field(*op), (*a, *b), *float)?,
            Step::FloatBinary { to, op, a, b, float, .. } => float_instr(*to, float_op(*op)?, (*a, *b), *float)?,
            Step::FromInt { to, a, repr, float } => {
                LoopInstr::FromInt { to: *to, a: *a, signed: repr.is_signed(), float: known(*float)? }
            }
            Step::Cast { to, a, float, .. } => LoopInstr::Round { to: *to, a: *a, float: known(*float)? },
            Step::StoreInt { mask: Some(_), .. }
            | Step::StoreFloat { mask: Some(_), .. }
            | Step::Shift { .. }
            | Step::Truncate { .. }
            | Step::Test { .. }
            | Step::Function { .. }
            | Step::FunctionOfTwo { .. }
            | Step::NoteCondition { .. }
            | Step::NoteInts { .. }
            | Step::NoteFloats { .. } => return None,
        })
    }

    fn int_instr(&self, step: &Step) -> Option<LoopInstr> {
        let wide = LoopInts { bits: 64, signed: true };
        let two = |to: Reg, op, (a, b), ints| LoopInstr::Int { to, op, a, b, ints };
        Some(match *step {
            Step::Whole { to, op, a, b, repr } => two(to, whole(op), (a, b), ints(repr)),
            Step::IntBinary { to, op, a, b, repr, .. } => two(to, int_op(op)?, (a, b), ints(repr)),
            Step::Compare { to, op, a, b, repr } => two(to, LoopIntOp::Compare(comparison(op)), (a, b), ints(repr)),
            Step::And { to, a, b } => two(to, LoopIntOp::Both, (a, b), wide),
            Step::Or { to, a, b } => two(to, LoopIntOp::Either, (a, b), wide),
            Step::IntFunction { to, function: IntFunction::Wrap, a, repr } => {
                LoopInstr::Wrap { to, a, ints: ints(repr) }
            }
            Step::IntFunction { to, function: IntFunction::Not, a, .. } => LoopInstr::IsZero { to, a, zero: true },
            Step::IntFunction { to, function: IntFunction::Nonzero, a, .. } => LoopInstr::IsZero { to, a, zero: false },
            _ => return None,
        })
    }
}

fn float_instr(to: Reg, op: LoopFloatOp, (a, b): (Reg, Reg), float: FloatType) -> Option<LoopInstr> {
    Some(LoopInstr::Float { to, op, a, b, float: known(float)? })
}

/// The types whose arithmetic processors have.
fn known(float: FloatType) -> Option<FloatType> {
    match float {
        FloatType::Float32 | FloatType::Float64 => Some(float),
        FloatType::Float16 | FloatType::BFloat16 => None,
    }
}

fn ints(repr: Repr) -> LoopInts {
    LoopInts { bits: repr.bits() as u8, signed: repr.is_signed() }
}

fn whole(op: NestIntOp) -> LoopIntOp {
    match op {
        NestIntOp::Plus => LoopIntOp::Plus,
        NestIntOp::Minus => LoopIntOp::Minus,
        NestIntOp::Times => LoopIntOp::Times,
    }
}

fn int_op(op: IntOp) -> Option<LoopIntOp> {
    match op {
        IntOp::Min => Some(LoopIntOp::Min),
        IntOp::Max => Some(LoopIntOp::Max),
        IntOp::BitAnd => Some(LoopIntOp::BitAnd),
        IntOp::BitOr => Some(LoopIntOp::BitOr),
        IntOp::BitXor => Some(LoopIntOp::BitXor),
        IntOp::Div | IntOp::Mod | IntOp::FloorDiv | IntOp::FloorMod => None,
    }
}

fn comparison(op: Compare) -> LoopCompare {
    match op {
        Compare::Eq => LoopCompare::Eq,
        Compare::Ne => LoopCompare::Ne,
        Compare::Lt => LoopCompare::Lt,
        Compare::Le => LoopCompare::Le,
        Compare::Gt => LoopCompare::Gt,
        Compare::Ge => LoopCompare::Ge,
    }
}

fn field(op: Field) -> LoopFloatOp {
    match op {
        Field::Plus => LoopFloatOp::Plus,
        Field::Minus => LoopFloatOp::Minus,
        Field::Times => LoopFloatOp::Times,
        Field::Over => LoopFloatOp::Over,
    }
}

fn float_op(op: FloatOp) -> Option<LoopFloatOp> {
    match op {
        FloatOp::Min => Some(LoopFloatOp::Min),
        FloatOp::Max => Some(LoopFloatOp::Max),
        FloatOp::Mod | FloatOp::FloorDiv | FloatOp::FloorMod => None,
    }
}
