//! Which floats are known to be float32.

use relax_spec::number::FloatType;
use relax_spec::value::{LoopFloatOp, LoopFoldOp, LoopInstr, LoopMemory, LoopNest};

/// How a float is held.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Class {
    /// It is a float32, or NaN.
    Short,
    /// It is a float64, of which no more is known.
    Long,
}

/// The classes of the values and of the memory of a nest.
pub struct Classes {
    /// That of each float.
    pub values: Vec<Class>,
    /// Whether the memory has only float32, before and after the nest.
    pub memory: Vec<bool>,
}

fn is_short(x: f64) -> bool {
    x.is_nan() || f64::from(x as f32) == x
}

fn both(a: Class, b: Class) -> Class {
    if a == Class::Short && b == Class::Short { Class::Short } else { Class::Long }
}

/// The class of the result of an operation.
pub fn result(op: LoopFloatOp, float: FloatType, a: Class, b: Class) -> Class {
    match op {
        LoopFloatOp::Min | LoopFloatOp::Max => both(a, b),
        LoopFloatOp::Plus | LoopFloatOp::Minus | LoopFloatOp::Times | LoopFloatOp::Over => match float {
            FloatType::Float32 => Class::Short,
            FloatType::Float64 | FloatType::Float16 | FloatType::BFloat16 => Class::Long,
        },
    }
}

/// Whether a nest computes with float32, and not with float64.
fn is_of_float32(nest: &LoopNest) -> bool {
    let instrs = [&nest.prelude, &nest.init, &nest.body].into_iter().flatten().filter_map(|instr| match instr {
        LoopInstr::Float { float, .. } | LoopInstr::FromInt { float, .. } | LoopInstr::Round { float, .. } => {
            Some(*float)
        }
        _ => None,
    });
    let fold = nest.fold.and_then(|fold| match fold.op {
        LoopFoldOp::Float(_, float) => Some(float),
        LoopFoldOp::Int(..) => None,
    });
    let mut floats = instrs.chain(fold).peekable();
    floats.peek().is_some() && floats.all(|float| float == FloatType::Float32)
}

impl Classes {
    /// The classes, which rest on what the memory has when the nest begins.
    pub fn of(nest: &LoopNest, memory: &[LoopMemory<'_>]) -> Classes {
        let rounds = nest.counts.iter().fold(1i64, |rounds, count| rounds.saturating_mul(*count));
        let looks = is_of_float32(nest);
        let is_all_short = |(at, memory): (usize, &LoopMemory<'_>)| match memory {
            LoopMemory::Floats(elements) => {
                let used = reads(nest).any(|read| read == at);
                looks && used && elements.len() as i64 <= rounds && elements.iter().all(|x| is_short(*x))
            }
            LoopMemory::Ints(_) => false,
        };
        let memory = memory.iter().enumerate().map(is_all_short).collect();
        let mut classes = Classes { values: Vec::new(), memory };
        // What is stored may be no float32 after all.
        while !classes.settle(nest) {}
        classes
    }

    /// Finds the classes of the values for those of the memory. Returns whether the stores agree with them.
    fn settle(&mut self, nest: &LoopNest) -> bool {
        let of_constant = |value: &Option<f64>| match value {
            Some(value) if is_short(*value) => Class::Short,
            Some(_) | None => Class::Long,
        };
        self.values = nest.floats.iter().map(of_constant).collect();
        let mut agrees = true;
        for instr in [&nest.prelude, &nest.init, &nest.body].into_iter().flatten() {
            let (to, class) = match *instr {
                LoopInstr::LoadFloat { to, from } => (to, self.of_memory(from.memory)),
                LoopInstr::StoreFloat { to, value } => {
                    agrees &= self.store(to.memory, self.value(value));
                    continue;
                }
                LoopInstr::Float { to, op, a, b, float } => (to, result(op, float, self.value(a), self.value(b))),
                LoopInstr::SelectFloat { to, a, b, .. } => (to, both(self.value(a), self.value(b))),
                LoopInstr::FromInt { to, float: FloatType::Float32, .. }
                | LoopInstr::Round { to, float: FloatType::Float32, .. } => (to, Class::Short),
                LoopInstr::Round { to, a, .. } => (to, self.value(a)),
                _ => continue,
            };
            if let Some(value) = self.values.get_mut(to) {
                *value = class;
            }
        }
        if let Some(fold) = nest.fold.filter(|fold| fold.is_of_floats()) {
            agrees &= self.store(fold.place.memory, self.of_fold(nest));
        }
        agrees
    }

    /// The class of the element that a nest combines with values.
    pub fn of_fold(&self, nest: &LoopNest) -> Class {
        let Some(fold) = nest.fold else { return Class::Long };
        let LoopFoldOp::Float(_, FloatType::Float32) = fold.op else { return Class::Long };
        let start = fold.start.map_or(Class::Short, |start| self.value(start));
        both(both(start, self.value(fold.value)), self.of_memory(fold.place.memory))
    }

    pub fn value(&self, value: usize) -> Class {
        self.values.get(value).copied().unwrap_or(Class::Long)
    }

    fn of_memory(&self, memory: usize) -> Class {
        if self.memory.get(memory) == Some(&true) { Class::Short } else { Class::Long }
    }

    fn store(&mut self, memory: usize, class: Class) -> bool {
        match self.memory.get_mut(memory) {
            Some(known) if *known && class == Class::Long => {
                *known = false;
                false
            }
            Some(_) | None => true,
        }
    }

    /// The float32 of memory that is only read, where the copy costs little beside the rounds.
    pub fn packed(&self, nest: &LoopNest, memory: &[LoopMemory<'_>]) -> Vec<Option<Vec<f32>>> {
        let stored: Vec<usize> = stores(nest).collect();
        let rounds = nest.counts.iter().fold(1i64, |rounds, count| rounds.saturating_mul(*count));
        let pack = |(at, memory): (usize, &LoopMemory<'_>)| match memory {
            LoopMemory::Floats(elements)
                if self.memory.get(at) == Some(&true)
                    && !stored.contains(&at)
                    && nest.fold.is_some()
                    && elements.len() as i64 <= rounds / 4 =>
            {
                Some(elements.iter().map(|x| *x as f32).collect())
            }
            LoopMemory::Floats(_) | LoopMemory::Ints(_) => None,
        };
        memory.iter().enumerate().map(pack).collect()
    }
}

/// The memory whose elements are read.
fn reads(nest: &LoopNest) -> impl Iterator<Item = usize> {
    let loads = [&nest.prelude, &nest.init, &nest.body].into_iter().flatten().filter_map(|instr| match instr {
        LoopInstr::LoadFloat { from, .. } | LoopInstr::LoadInt { from, .. } => Some(from.memory),
        _ => None,
    });
    loads.chain(nest.fold.map(|fold| fold.place.memory))
}

/// The memory whose elements are written.
pub fn stores(nest: &LoopNest) -> impl Iterator<Item = usize> {
    let stores = [&nest.init, &nest.body].into_iter().flatten().filter_map(|instr| match instr {
        LoopInstr::StoreFloat { to, .. } | LoopInstr::StoreInt { to, .. } => Some(to.memory),
        _ => None,
    });
    stores.chain(nest.fold.map(|fold| fold.place.memory))
}
