//! The order of the loops of a nest.

use relax_spec::number::FloatType;
use relax_spec::value::{LoopFold, LoopFoldOp, LoopInstr, LoopNest, LoopPlace};

use super::classes::{Class, Classes};

/// How the loops of a nest run.
pub enum Schedule {
    /// In order, the outermost first.
    InOrder(Vec<usize>),
    /// The element that a round combines with a value stays in a register.
    InRegisters(Registers),
}

/// The loops of a nest whose elements stay in registers.
pub struct Registers {
    /// The loops in which the element is another one, the outermost first, without the one below.
    pub outer: Vec<usize>,
    /// The loop of which several rounds run at once.
    pub across: Option<usize>,
    /// The loops in which the element stays the same.
    pub inner: Vec<usize>,
    /// Whether a reduction starts with these loops; otherwise the element is read before them.
    pub starts: bool,
    /// How the elements are held.
    pub class: Class,
    /// Whether several of them are in one register.
    pub wide: bool,
}

impl Schedule {
    pub fn of(nest: &LoopNest, classes: &Classes, packed: &[Option<Vec<f32>>]) -> Schedule {
        let registers = nest.fold.and_then(|fold| Registers::of(nest, &fold, classes, packed));
        registers.map_or_else(|| Schedule::InOrder((0..nest.counts.len()).collect()), Schedule::InRegisters)
    }
}

fn step(nest: &LoopNest, index: usize, level: usize) -> i64 {
    nest.indices.get(index).and_then(|index| index.steps.get(level)).copied().unwrap_or(0)
}

/// What the rounds of a loop differ in.
pub struct Varying {
    ints: Vec<bool>,
    floats: Vec<bool>,
}

impl Varying {
    /// What differs between the rounds of a loop; nothing without one.
    pub fn of(nest: &LoopNest, level: Option<usize>) -> Varying {
        let mut varying = Varying { ints: vec![false; nest.ints.len()], floats: vec![false; nest.floats.len()] };
        let moves = |index: usize| level.is_some_and(|level| step(nest, index, level) != 0);
        for instr in [&nest.prelude, &nest.init, &nest.body].into_iter().flatten() {
            match *instr {
                LoopInstr::Index { to, index } => varying.set_int(to, moves(index)),
                LoopInstr::LoadInt { to, from } => varying.set_int(to, moves(from.index)),
                LoopInstr::LoadFloat { to, from } => varying.set_float(to, moves(from.index)),
                LoopInstr::Int { to, a, b, .. } => varying.set_int(to, varying.int(a) || varying.int(b)),
                LoopInstr::Wrap { to, a, .. } | LoopInstr::IsZero { to, a, .. } => varying.set_int(to, varying.int(a)),
                LoopInstr::CompareFloats { to, a, b, .. } => {
                    varying.set_int(to, varying.float(a) || varying.float(b));
                }
                LoopInstr::SelectInt { to, condition, a, b } => {
                    varying.set_int(to, varying.int(condition) || varying.int(a) || varying.int(b));
                }
                LoopInstr::Float { to, a, b, .. } => varying.set_float(to, varying.float(a) || varying.float(b)),
                LoopInstr::SelectFloat { to, condition, a, b } => {
                    varying.set_float(to, varying.int(condition) || varying.float(a) || varying.float(b));
                }
                LoopInstr::FromInt { to, a, .. } => varying.set_float(to, varying.int(a)),
                LoopInstr::Round { to, a, .. } => varying.set_float(to, varying.float(a)),
                LoopInstr::StoreInt { .. } | LoopInstr::StoreFloat { .. } => {}
            }
        }
        varying
    }

    pub fn int(&self, value: usize) -> bool {
        self.ints.get(value) == Some(&true)
    }

    pub fn float(&self, value: usize) -> bool {
        self.floats.get(value) == Some(&true)
    }

    fn set_int(&mut self, value: usize, varies: bool) {
        if let Some(known) = self.ints.get_mut(value) {
            *known = varies;
        }
    }

    fn set_float(&mut self, value: usize, varies: bool) {
        if let Some(known) = self.floats.get_mut(value) {
            *known = varies;
        }
    }
}

impl Registers {
    fn of(nest: &LoopNest, fold: &LoopFold, classes: &Classes, packed: &[Option<Vec<f32>>]) -> Option<Registers> {
        let moves = |level: &usize| step(nest, fold.place.index, *level) != 0;
        let count = |level: usize| nest.counts.get(level).copied().unwrap_or(1);
        let (mut outer, inner): (Vec<usize>, Vec<usize>) = (0..nest.counts.len()).partition(moves);
        // It stays in the register for all rounds that combine it with something.
        let is_alone = is_injective(nest, fold.place, &outer);
        // A reduction starts in the first round of these loops, or never.
        let repeated = |level: &&usize| count(**level) > 1;
        let first = nest.first.as_ref().filter(|_| fold.start.is_some());
        let starts = first.is_some_and(|first| inner.iter().filter(repeated).all(|level| first.contains(level)));
        let fits = first.is_none() || starts && nest.first.iter().flatten().all(|level| inner.contains(level));
        // Values do not depend on what the nest stores: a fold is its only store.
        let stores = |instr: &LoopInstr| matches!(instr, LoopInstr::StoreInt { .. } | LoopInstr::StoreFloat { .. });
        let is_only_store = !nest.init.iter().chain(&nest.body).any(stores);
        let reads = [&nest.prelude, &nest.init, &nest.body].into_iter().flatten().any(|instr| match instr {
            LoopInstr::LoadInt { from, .. } | LoopInstr::LoadFloat { from, .. } => from.memory == fold.place.memory,
            _ => false,
        });
        if !is_alone || !fits || !is_only_store || reads {
            return None;
        }
        let across = across(nest, &outer);
        outer.retain(|level| Some(*level) != across);
        let class = classes.of_fold(nest);
        let wide = across.is_some_and(|level| is_wide(nest, fold, level, (classes, class), packed));
        Some(Registers { outer, across, inner, starts, class, wide })
    }
}

/// The loop of which several rounds are to run at once: the one along which most accesses are next to each other.
fn across(nest: &LoopNest, outer: &[usize]) -> Option<usize> {
    let next = |level: usize| {
        let loads = nest.body.iter().filter_map(|instr| match instr {
            LoopInstr::LoadInt { from, .. } | LoopInstr::LoadFloat { from, .. } => Some(step(nest, from.index, level)),
            _ => None,
        });
        loads.map(|step| if step.abs() == 1 { 2 } else { i32::from(step == 0) }).sum::<i32>()
    };
    let repeated = outer.iter().copied().filter(|level| nest.counts.get(*level).is_some_and(|count| *count >= 4));
    repeated.max_by_key(|level| (next(*level), *level))
}

/// Whether different rounds of some loops have different elements: each step is larger than all that the smaller ones
/// can do together.
fn is_injective(nest: &LoopNest, place: LoopPlace, levels: &[usize]) -> bool {
    let count = |level: usize| nest.counts.get(level).copied().unwrap_or(1);
    let mut steps: Vec<(i128, i128)> = levels
        .iter()
        .filter(|level| count(**level) > 1)
        .map(|level| (i128::from(step(nest, place.index, *level)).abs(), i128::from(count(*level) - 1)))
        .collect();
    steps.sort_unstable();
    let mut reach = 0i128;
    steps.into_iter().all(|(step, far)| {
        let apart = step > reach;
        reach = reach.saturating_add(step.saturating_mul(far));
        apart
    })
}

/// Whether all that differs between the rounds of a loop is floats of one class, which come from copies as float32 or
/// are float64.
fn is_wide(
    nest: &LoopNest,
    fold: &LoopFold,
    level: usize,
    (classes, class): (&Classes, Class),
    packed: &[Option<Vec<f32>>],
) -> bool {
    let varying = Varying::of(nest, Some(level));
    let wanted = if class == Class::Short { FloatType::Float32 } else { FloatType::Float64 };
    let fits = |value: usize| class == Class::Long || classes.value(value) == class;
    let of_nest = |instr: &LoopInstr| match *instr {
        LoopInstr::LoadFloat { to, from } => {
            let is_packed = packed.get(from.memory).is_some_and(Option::is_some);
            !varying.float(to) || classes.value(to) == class && is_packed == (class == Class::Short)
        }
        LoopInstr::Float { to, a, b, float, .. } => {
            !varying.float(to) || float == wanted && classes.value(to) == class && fits(a) && fits(b)
        }
        LoopInstr::SelectFloat { to, .. } | LoopInstr::FromInt { to, .. } | LoopInstr::Round { to, .. } => {
            !varying.float(to)
        }
        LoopInstr::Index { to, .. }
        | LoopInstr::LoadInt { to, .. }
        | LoopInstr::Int { to, .. }
        | LoopInstr::Wrap { to, .. }
        | LoopInstr::IsZero { to, .. }
        | LoopInstr::CompareFloats { to, .. }
        | LoopInstr::SelectInt { to, .. } => !varying.int(to),
        LoopInstr::StoreInt { .. } | LoopInstr::StoreFloat { .. } => false,
    };
    let codes = [&nest.prelude, &nest.init, &nest.body];
    let of_fold = match fold.op {
        LoopFoldOp::Float(_, float) => float == wanted && fits(fold.value),
        LoopFoldOp::Int(..) => false,
    };
    of_fold && codes.into_iter().flatten().all(of_nest)
}
