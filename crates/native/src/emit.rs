//! Loops, addresses and single operations as instructions of Cranelift.

use cranelift_codegen::ir::condcodes::{FloatCC, IntCC};
use cranelift_codegen::ir::{BlockArg, Endianness, InstBuilder, MemFlagsData, Type, Value, types};
use cranelift_frontend::FunctionBuilder;
use relax_spec::number::FloatType;
use relax_spec::value::{LoopCompare, LoopFloatOp, LoopIntOp, LoopInts, LoopNest, LoopPlace};

use super::classes::{Class, Classes, result, stores};

/// Code is repeated rather than looped over for at most so many rounds.
const MOST_REPEATED: i64 = 9;

/// A number that advances with the loops: a value of the code and a constant to be added.
#[derive(Clone, Copy)]
pub struct At {
    value: Value,
    offset: i64,
}

/// Whether all loops in whose first rounds a reduction starts are in their first rounds.
#[derive(Clone, Copy)]
pub enum First {
    Yes,
    No,
    If(Value),
}

/// A place in the loops.
#[derive(Clone)]
pub struct Spot {
    /// The numbers that advance, as [`Emitter::cursors`] lists them.
    at: Vec<At>,
    pub first: First,
}

/// What advances: an index in the elements of a memory, as an address, or by itself.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Cursor {
    memory: Option<usize>,
    index: usize,
}

pub struct Emitter<'a, 'b> {
    pub nest: &'a LoopNest,
    pub classes: &'a Classes,
    /// Whether the memory is a copy as float32.
    pub packed: Vec<bool>,
    pub builder: FunctionBuilder<'b>,
    cursors: Vec<Cursor>,
    /// The memory that the code writes.
    stored: Vec<usize>,
}

/// The body of a loop: gets the place and the values that the rounds hand on, and returns those for the next round.
pub type Body<'f, 'a, 'b> = dyn FnMut(&mut Emitter<'a, 'b>, &Spot, &[Value]) -> Option<Vec<Value>> + 'f;

fn args(values: impl IntoIterator<Item = Value>) -> Vec<BlockArg> {
    values.into_iter().map(BlockArg::Value).collect()
}

impl<'a, 'b> Emitter<'a, 'b> {
    pub fn new(nest: &'a LoopNest, classes: &'a Classes, packed: Vec<bool>, builder: FunctionBuilder<'b>) -> Self {
        Emitter { nest, classes, packed, builder, cursors: Vec::new(), stored: stores(nest).collect() }
    }

    /// The place before all loops. `table` is the address of the addresses of all memory.
    pub fn begin(&mut self, table: Value, places: &[LoopPlace], indices: &[usize]) -> Option<Spot> {
        let places = places.iter().map(|place| Cursor { memory: Some(place.memory), index: place.index });
        let indices = indices.iter().map(|index| Cursor { memory: None, index: *index });
        let mut at = Vec::new();
        for cursor in places.chain(indices) {
            if self.cursors.contains(&cursor) {
                continue;
            }
            let base = self.nest.indices.get(cursor.index)?.base.checked_mul(self.size(cursor))?;
            let value = match cursor.memory {
                None => self.builder.ins().iconst(types::I64, base),
                Some(memory) => {
                    let entry = i32::try_from(memory.checked_mul(8)?).ok()?;
                    let flags = MemFlagsData::trusted().with_readonly();
                    let start = self.builder.ins().load(types::I64, flags, table, entry);
                    let base = self.builder.ins().iconst(types::I64, base);
                    self.builder.ins().iadd(start, base)
                }
            };
            self.cursors.push(cursor);
            at.push(At { value, offset: 0 });
        }
        Some(Spot { at, first: if self.nest.first.is_some() { First::Yes } else { First::No } })
    }

    /// How many bytes an index advances by.
    fn size(&self, cursor: Cursor) -> i64 {
        match cursor.memory {
            None => 1,
            Some(memory) if self.packed.get(memory) == Some(&true) => 4,
            Some(_) => 8,
        }
    }

    fn step(&self, cursor: Cursor, level: usize) -> Option<i64> {
        self.nest.indices.get(cursor.index)?.steps.get(level)?.checked_mul(self.size(cursor))
    }

    pub fn count(&self, level: usize) -> i64 {
        self.nest.counts.get(level).copied().unwrap_or(1)
    }

    /// A place some rounds of a loop further on.
    pub fn further(&self, spot: &Spot, level: usize, rounds: i64) -> Option<Spot> {
        let mut spot = spot.clone();
        for (at, cursor) in spot.at.iter_mut().zip(&self.cursors) {
            at.offset = at.offset.checked_add(self.step(*cursor, level)?.checked_mul(rounds)?)?;
        }
        if rounds != 0 && self.decides(level) {
            spot.first = First::No;
        }
        Some(spot)
    }

    fn decides(&self, level: usize) -> bool {
        self.nest.first.iter().flatten().any(|first| *first == level)
    }

    /// Loops inside each other, the outermost first.
    pub fn nested(
        &mut self,
        levels: &[usize],
        spot: &Spot,
        values: &[Value],
        body: &mut Body<'_, 'a, 'b>,
    ) -> Option<Vec<Value>> {
        let Some((level, inside)) = levels.split_first() else { return body(self, spot, values) };
        let rounds = levels.iter().fold(1i64, |rounds, level| rounds.saturating_mul(self.count(*level)));
        let whole = rounds <= MOST_REPEATED;
        self.rounds(*level, (self.count(*level), 1), whole, spot, values, &mut |emitter, spot, values| {
            emitter.nested(inside, spot, values, body)
        })
    }

    /// Some rounds of a loop, from a place on; `step` rounds are one of the code. The last values are returned.
    pub fn rounds(
        &mut self,
        level: usize,
        (count, step): (i64, i64),
        repeats: bool,
        spot: &Spot,
        values: &[Value],
        body: &mut Body<'_, 'a, 'b>,
    ) -> Option<Vec<Value>> {
        if repeats || count == 1 {
            let mut values = values.to_vec();
            for round in 0..count {
                let spot = self.further(spot, level, round.checked_mul(step)?)?;
                values = body(self, &spot, &values)?;
            }
            return Some(values);
        }
        let (header, after) = (self.builder.create_block(), self.builder.create_block());
        let moving: Vec<bool> =
            self.cursors.iter().map(|cursor| self.step(*cursor, level).map(|step| step != 0)).collect::<Option<_>>()?;
        let zero = self.builder.ins().iconst(types::I64, 0);
        let entering: Vec<Value> =
            spot.at.iter().zip(&moving).filter(|(_, moves)| **moves).map(|(at, _)| at.value).collect();
        self.builder.ins().jump(header, &args([zero].into_iter().chain(entering).chain(values.iter().copied())));
        let number = self.builder.append_block_param(header, types::I64);
        let mut inside = spot.clone();
        for (at, moves) in inside.at.iter_mut().zip(&moving) {
            if *moves {
                at.value = self.builder.append_block_param(header, types::I64);
            }
        }
        let mut params = Vec::new();
        let mut results = Vec::new();
        for value in values {
            let ty = self.builder.func.dfg.value_type(*value);
            params.push(self.builder.append_block_param(header, ty));
            results.push(self.builder.append_block_param(after, ty));
        }
        self.builder.switch_to_block(header);
        if self.decides(level) {
            inside.first = self.first_round(number, inside.first);
        }
        let last = body(self, &inside, &params)?;
        let next = self.builder.ins().iadd_imm_s(number, 1);
        let mut leaving = vec![next];
        for ((at, cursor), moves) in inside.at.iter().zip(self.cursors.clone()).zip(&moving) {
            if *moves {
                let step = self.step(cursor, level)?.checked_mul(step)?;
                leaving.push(self.builder.ins().iadd_imm_s(at.value, step));
            }
        }
        let goes_on = self.builder.ins().icmp_imm_s(IntCC::SignedLessThan, next, count);
        let again = args(leaving.into_iter().chain(last.iter().copied()));
        self.builder.ins().brif(goes_on, header, &again, after, &args(last));
        self.builder.switch_to_block(after);
        Some(results)
    }

    fn first_round(&mut self, number: Value, around: First) -> First {
        let here = self.builder.ins().icmp_imm_s(IntCC::Equal, number, 0);
        match around {
            First::Yes => First::If(here),
            First::No => First::No,
            First::If(around) => First::If(self.builder.ins().band(around, here)),
        }
    }

    // Accesses.

    /// The index as an integer.
    pub fn index(&mut self, spot: &Spot, index: usize) -> Option<Value> {
        let at = self.at(spot, Cursor { memory: None, index })?;
        Some(self.builder.ins().iadd_imm_s(at.value, at.offset))
    }

    fn at(&self, spot: &Spot, cursor: Cursor) -> Option<At> {
        let number = self.cursors.iter().position(|known| *known == cursor)?;
        spot.at.get(number).copied()
    }

    fn address(&mut self, spot: &Spot, place: LoopPlace, elements: i64) -> Option<(Value, i32)> {
        let cursor = Cursor { memory: Some(place.memory), index: place.index };
        let at = self.at(spot, cursor)?;
        let offset = at.offset.checked_add(elements.checked_mul(self.size(cursor))?)?;
        Some(match i32::try_from(offset) {
            Ok(offset) => (at.value, offset),
            Err(_) => (self.builder.ins().iadd_imm_s(at.value, offset), 0),
        })
    }

    /// The element some elements further on.
    pub fn load(&mut self, ty: Type, spot: &Spot, place: LoopPlace, elements: i64) -> Option<Value> {
        let (address, offset) = self.address(spot, place, elements)?;
        let mut flags = MemFlagsData::new().with_notrap();
        if !self.stored.contains(&place.memory) {
            flags = flags.with_readonly().with_can_move();
        }
        Some(self.builder.ins().load(ty, flags, address, offset))
    }

    pub fn store(&mut self, value: Value, spot: &Spot, place: LoopPlace, elements: i64) -> Option<()> {
        let (address, offset) = self.address(spot, place, elements)?;
        self.builder.ins().store(MemFlagsData::new().with_notrap(), value, address, offset);
        Some(())
    }

    // Operations.

    /// A float of one class as one of the other. What is said to be a float32 is one.
    pub fn as_class(&mut self, value: Value, class: Class, wanted: Class) -> Value {
        match (class, wanted) {
            (Class::Short, Class::Long) => self.builder.ins().fpromote(types::F64, value),
            (Class::Long, Class::Short) => self.builder.ins().fdemote(types::F32, value),
            (Class::Short, Class::Short) | (Class::Long, Class::Long) => value,
        }
    }

    /// An operation on floats, rounded as in float64.
    pub fn float(
        &mut self,
        op: LoopFloatOp,
        float: FloatType,
        (a, of_a): (Value, Class),
        (b, of_b): (Value, Class),
    ) -> (Value, Class) {
        let class = result(op, float, of_a, of_b);
        let direct = of_a == Class::Short && of_b == Class::Short && class == Class::Short;
        if direct {
            return (self.float_op(op, a, b), class);
        }
        let (a, b) = (self.as_class(a, of_a, Class::Long), self.as_class(b, of_b, Class::Long));
        let value = self.float_op(op, a, b);
        (self.as_class(value, Class::Long, class), class)
    }

    /// The operation on registers with one float or several.
    pub fn float_op(&mut self, op: LoopFloatOp, a: Value, b: Value) -> Value {
        let ty = self.builder.func.dfg.value_type(a);
        let ins = self.builder.ins();
        let comparison = match op {
            LoopFloatOp::Plus => return ins.fadd(a, b),
            LoopFloatOp::Minus => return ins.fsub(a, b),
            LoopFloatOp::Times => return ins.fmul(a, b),
            LoopFloatOp::Over => return ins.fdiv(a, b),
            LoopFloatOp::Min => FloatCC::LessThan,
            LoopFloatOp::Max => FloatCC::GreaterThan,
        };
        let holds = ins.fcmp(comparison, a, b);
        if ty.is_vector() {
            let mask = self.builder.ins().bitcast(ty, MemFlagsData::new().with_endianness(Endianness::Little), holds);
            return self.builder.ins().bitselect(mask, a, b);
        }
        self.builder.ins().select(holds, a, b)
    }

    pub fn compare_floats(&mut self, op: LoopCompare, a: Value, b: Value) -> Value {
        let comparison = match op {
            LoopCompare::Eq => FloatCC::Equal,
            LoopCompare::Ne => FloatCC::NotEqual,
            LoopCompare::Lt => FloatCC::LessThan,
            LoopCompare::Le => FloatCC::LessThanOrEqual,
            LoopCompare::Gt => FloatCC::GreaterThan,
            LoopCompare::Ge => FloatCC::GreaterThanOrEqual,
        };
        let holds = self.builder.ins().fcmp(comparison, a, b);
        self.builder.ins().uextend(types::I64, holds)
    }

    pub fn is_zero(&mut self, a: Value, zero: bool) -> Value {
        let holds = self.builder.ins().icmp_imm_s(if zero { IntCC::Equal } else { IntCC::NotEqual }, a, 0);
        self.builder.ins().uextend(types::I64, holds)
    }

    pub fn int_op(&mut self, op: LoopIntOp, a: Value, b: Value, ints: LoopInts) -> Value {
        let value = match op {
            LoopIntOp::Plus => self.builder.ins().iadd(a, b),
            LoopIntOp::Minus => self.builder.ins().isub(a, b),
            LoopIntOp::Times => self.builder.ins().imul(a, b),
            LoopIntOp::BitAnd => self.builder.ins().band(a, b),
            LoopIntOp::BitOr => self.builder.ins().bor(a, b),
            LoopIntOp::BitXor => self.builder.ins().bxor(a, b),
            LoopIntOp::Min | LoopIntOp::Max => {
                let first = if op == LoopIntOp::Min { LoopCompare::Lt } else { LoopCompare::Gt };
                let holds = self.builder.ins().icmp(int_comparison(first, ints.signed), a, b);
                return self.builder.ins().select(holds, a, b);
            }
            LoopIntOp::Compare(op) => {
                let holds = self.builder.ins().icmp(int_comparison(op, ints.signed), a, b);
                return self.builder.ins().uextend(types::I64, holds);
            }
            LoopIntOp::Both => {
                let (a, b) = (self.is_zero(a, false), self.is_zero(b, false));
                return self.builder.ins().band(a, b);
            }
            LoopIntOp::Either => {
                let either = self.builder.ins().bor(a, b);
                return self.is_zero(either, false);
            }
        };
        self.wrapped(value, ints)
    }

    /// The integer of a data type with the low bits of a value.
    pub fn wrapped(&mut self, value: Value, ints: LoopInts) -> Value {
        let shift = 64 - i64::from(ints.bits);
        if shift == 0 {
            return value;
        }
        let high = self.builder.ins().ishl_imm_u(value, shift);
        if ints.signed {
            self.builder.ins().sshr_imm_u(high, shift)
        } else {
            self.builder.ins().ushr_imm_u(high, shift)
        }
    }
}

fn int_comparison(op: LoopCompare, signed: bool) -> IntCC {
    match (op, signed) {
        (LoopCompare::Eq, _) => IntCC::Equal,
        (LoopCompare::Ne, _) => IntCC::NotEqual,
        (LoopCompare::Lt, true) => IntCC::SignedLessThan,
        (LoopCompare::Lt, false) => IntCC::UnsignedLessThan,
        (LoopCompare::Le, true) => IntCC::SignedLessThanOrEqual,
        (LoopCompare::Le, false) => IntCC::UnsignedLessThanOrEqual,
        (LoopCompare::Gt, true) => IntCC::SignedGreaterThan,
        (LoopCompare::Gt, false) => IntCC::UnsignedGreaterThan,
        (LoopCompare::Ge, true) => IntCC::SignedGreaterThanOrEqual,
        (LoopCompare::Ge, false) => IntCC::UnsignedGreaterThanOrEqual,
    }
}
