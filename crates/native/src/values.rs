//! The values of the rounds that run at once.

use std::collections::HashMap;

use cranelift_codegen::ir::{InstBuilder, Type, Value, types};
use relax_spec::number::FloatType;
use relax_spec::value::{LoopInstr, LoopPlace};

use super::classes::Class;
use super::emit::{Emitter, Spot};
use super::schedule::Varying;

/// The rounds that run at once.
#[derive(Clone, Copy)]
pub struct Lanes {
    /// The loop whose rounds they are.
    pub level: Option<usize>,
    /// In how many registers a value is that differs between them.
    pub registers: usize,
    /// If several rounds share a register: their class.
    pub wide: Option<Class>,
}

impl Lanes {
    /// How many rounds share a register.
    pub fn width(self) -> usize {
        match self.wide {
            None => 1,
            Some(Class::Short) => 4,
            Some(Class::Long) => 2,
        }
    }

    /// How many rounds run at once.
    pub fn rounds(self) -> i64 {
        (self.registers * self.width()) as i64
    }
}

/// The values so far. What is the same in all rounds is with the first register.
#[derive(Clone)]
pub struct Values<'v> {
    lanes: Lanes,
    varying: &'v Varying,
    ints: HashMap<(usize, usize), Value>,
    floats: HashMap<(usize, usize, Class), Value>,
    wides: HashMap<(usize, usize), Value>,
}

/// The type of a float.
pub fn type_of(class: Class) -> Type {
    match class {
        Class::Short => types::F32,
        Class::Long => types::F64,
    }
}

/// The type of a register with several floats.
pub fn wide_type(class: Class) -> Type {
    match class {
        Class::Short => types::F32X4,
        Class::Long => types::F64X2,
    }
}

impl<'v> Values<'v> {
    pub fn new(lanes: Lanes, varying: &'v Varying) -> Values<'v> {
        let (ints, floats, wides) = (HashMap::new(), HashMap::new(), HashMap::new());
        Values { lanes, varying, ints, floats, wides }
    }

    /// Computes instructions. Stores are left to [`Values::store`].
    pub fn compute(&mut self, emitter: &mut Emitter<'_, '_>, spot: &Spot, code: &[LoopInstr]) -> Option<()> {
        for instr in code {
            let varies = match *instr {
                LoopInstr::Index { to, .. }
                | LoopInstr::LoadInt { to, .. }
                | LoopInstr::Int { to, .. }
                | LoopInstr::Wrap { to, .. }
                | LoopInstr::IsZero { to, .. }
                | LoopInstr::CompareFloats { to, .. }
                | LoopInstr::SelectInt { to, .. } => self.varying.int(to),
                LoopInstr::LoadFloat { to, .. }
                | LoopInstr::Float { to, .. }
                | LoopInstr::SelectFloat { to, .. }
                | LoopInstr::FromInt { to, .. }
                | LoopInstr::Round { to, .. } => self.varying.float(to),
                LoopInstr::StoreInt { .. } | LoopInstr::StoreFloat { .. } => {
                    self.store(emitter, spot, instr)?;
                    continue;
                }
            };
            for register in 0..if varies { self.lanes.registers } else { 1 } {
                if let (true, Some(class)) = (varies, self.lanes.wide) {
                    self.wide_instr(emitter, spot, instr, (register, class))?;
                    continue;
                }
                let spot = match self.lanes.level {
                    Some(level) if register > 0 => emitter.further(spot, level, register as i64)?,
                    Some(_) | None => spot.clone(),
                };
                self.instr(emitter, &spot, instr, register)?;
            }
        }
        Some(())
    }

    fn store(&mut self, emitter: &mut Emitter<'_, '_>, spot: &Spot, instr: &LoopInstr) -> Option<()> {
        match *instr {
            LoopInstr::StoreInt { to, value } => {
                let value = self.int(emitter, value, 0)?;
                emitter.store(value, spot, to, 0)
            }
            LoopInstr::StoreFloat { to, value } => {
                let value = self.float(emitter, value, 0, Class::Long)?;
                emitter.store(value, spot, to, 0)
            }
            _ => None,
        }
    }

    fn instr(&mut self, e: &mut Emitter<'_, '_>, spot: &Spot, instr: &LoopInstr, at: usize) -> Option<()> {
        let (to, value) = match *instr {
            LoopInstr::Index { to, index } => (to, e.index(spot, index)?),
            LoopInstr::LoadInt { to, from } => (to, e.load(types::I64, spot, from, 0)?),
            LoopInstr::Int { to, op, a, b, ints } => {
                let (a, b) = (self.int(e, a, at)?, self.int(e, b, at)?);
                (to, e.int_op(op, a, b, ints))
            }
            LoopInstr::Wrap { to, a, ints } => {
                let a = self.int(e, a, at)?;
                (to, e.wrapped(a, ints))
            }
            LoopInstr::IsZero { to, a, zero } => {
                let a = self.int(e, a, at)?;
                (to, e.is_zero(a, zero))
            }
            LoopInstr::CompareFloats { to, op, a, b } => {
                let (a, b) = (self.float(e, a, at, Class::Long)?, self.float(e, b, at, Class::Long)?);
                (to, e.compare_floats(op, a, b))
            }
            LoopInstr::SelectInt { to, condition, a, b } => {
                let (condition, a, b) = (self.int(e, condition, at)?, self.int(e, a, at)?, self.int(e, b, at)?);
                (to, e.builder.ins().select(condition, a, b))
            }
            LoopInstr::LoadFloat { .. }
            | LoopInstr::Float { .. }
            | LoopInstr::SelectFloat { .. }
            | LoopInstr::FromInt { .. }
            | LoopInstr::Round { .. } => return self.float_instr(e, spot, instr, at),
            LoopInstr::StoreInt { .. } | LoopInstr::StoreFloat { .. } => return None,
        };
        self.ints.insert((to, at), value);
        Some(())
    }

    fn float_instr(&mut self, e: &mut Emitter<'_, '_>, spot: &Spot, instr: &LoopInstr, at: usize) -> Option<()> {
        let (to, value, class) = match *instr {
            LoopInstr::LoadFloat { to, from } => {
                let class = e.classes.value(to);
                (to, self.loaded(e, spot, from, class)?, class)
            }
            LoopInstr::Float { to, op, a, b, float } => {
                let (of_a, of_b) = (e.classes.value(a), e.classes.value(b));
                let (a, b) = (self.float(e, a, at, of_a)?, self.float(e, b, at, of_b)?);
                let (value, class) = e.float(op, float, (a, of_a), (b, of_b));
                (to, value, class)
            }
            LoopInstr::SelectFloat { to, condition, a, b } => {
                let class = e.classes.value(to);
                let condition = self.int(e, condition, at)?;
                let (a, b) = (self.float(e, a, at, class)?, self.float(e, b, at, class)?);
                (to, e.builder.ins().select(condition, a, b), class)
            }
            LoopInstr::FromInt { to, a, signed, float } => {
                let class = if float == FloatType::Float32 { Class::Short } else { Class::Long };
                let (a, ty) = (self.int(e, a, at)?, type_of(class));
                let ins = e.builder.ins();
                (to, if signed { ins.fcvt_from_sint(ty, a) } else { ins.fcvt_from_uint(ty, a) }, class)
            }
            LoopInstr::Round { to, a, .. } => {
                let (from, class) = (e.classes.value(a), e.classes.value(to));
                let a = self.float(e, a, at, from)?;
                (to, e.as_class(a, from, class), class)
            }
            _ => return None,
        };
        let value = e.as_class(value, class, e.classes.value(to));
        self.floats.insert((to, at, e.classes.value(to)), value);
        Some(())
    }

    /// An element of a class.
    fn loaded(&self, e: &mut Emitter<'_, '_>, spot: &Spot, from: LoopPlace, class: Class) -> Option<Value> {
        let held = if e.packed.get(from.memory) == Some(&true) { Class::Short } else { Class::Long };
        let value = e.load(type_of(held), spot, from, 0)?;
        Some(e.as_class(value, held, class))
    }

    fn wide_instr(
        &mut self,
        e: &mut Emitter<'_, '_>,
        spot: &Spot,
        instr: &LoopInstr,
        (register, class): (usize, Class),
    ) -> Option<()> {
        let (to, value) = match *instr {
            LoopInstr::LoadFloat { to, from } => (to, self.gathered(e, spot, from, (register, class))?),
            LoopInstr::Float { to, op, a, b, .. } => {
                let (a, b) = (self.wide(e, a, register, class)?, self.wide(e, b, register, class)?);
                (to, e.float_op(op, a, b))
            }
            _ => return None,
        };
        self.wides.insert((to, register), value);
        Some(())
    }

    /// The elements of the rounds that share a register.
    pub fn gathered(
        &self,
        e: &mut Emitter<'_, '_>,
        spot: &Spot,
        from: LoopPlace,
        (register, class): (usize, Class),
    ) -> Option<Value> {
        let (level, width) = (self.lanes.level?, self.lanes.width());
        let step = *e.nest.indices.get(from.index)?.steps.get(level)?;
        let begin = step.checked_mul((register * width) as i64)?;
        let held = if e.packed.get(from.memory) == Some(&true) { Class::Short } else { Class::Long };
        if step == 1 && held == class {
            return e.load(wide_type(class), spot, from, begin);
        }
        let mut all = None;
        for lane in 0..width {
            let value = e.load(type_of(held), spot, from, begin.checked_add(step.checked_mul(lane as i64)?)?)?;
            let value = e.as_class(value, held, class);
            all = Some(match all {
                None => e.builder.ins().scalar_to_vector(wide_type(class), value),
                Some(all) => e.builder.ins().insertlane(all, value, lane as u8),
            });
        }
        all
    }

    pub fn int(&self, e: &mut Emitter<'_, '_>, value: usize, register: usize) -> Option<Value> {
        if let Some(constant) = *e.nest.ints.get(value)? {
            return Some(e.builder.ins().iconst(types::I64, constant));
        }
        self.ints.get(&(value, if self.varying.int(value) { register } else { 0 })).copied()
    }

    pub fn float(&mut self, e: &mut Emitter<'_, '_>, value: usize, register: usize, class: Class) -> Option<Value> {
        if let Some(constant) = *e.nest.floats.get(value)? {
            return Some(match class {
                Class::Short => e.builder.ins().f32const(constant as f32),
                Class::Long => e.builder.ins().f64const(constant),
            });
        }
        let register = if self.varying.float(value) { register } else { 0 };
        if let Some(known) = self.floats.get(&(value, register, class)) {
            return Some(*known);
        }
        let held = e.classes.value(value);
        let known = *self.floats.get(&(value, register, held))?;
        let converted = e.as_class(known, held, class);
        self.floats.insert((value, register, class), converted);
        Some(converted)
    }

    /// A float for the rounds that share a register.
    pub fn wide(&mut self, e: &mut Emitter<'_, '_>, value: usize, register: usize, class: Class) -> Option<Value> {
        let register = if self.varying.float(value) { register } else { 0 };
        if let Some(known) = self.wides.get(&(value, register)) {
            return Some(*known);
        }
        let one = self.float(e, value, 0, class).filter(|_| !self.varying.float(value))?;
        let all = e.builder.ins().splat(wide_type(class), one);
        self.wides.insert((value, register), all);
        Some(all)
    }
}
