//! Interprets the lowered tree.

use std::rc::Rc;

use super::arithmetic::Arithmetic;
use super::beside::{RoundClash, Rounds};
use super::code::{
    Access, BlockCode, BufferCode, Float, ForCode, Int, LoweredBinding, LoweredFunction, MatchCode, TirInstr, TirValue,
};
use super::error::{TirError, TirResult};
use super::memory::{BufferView, Memory, MemoryElements, MemoryScope, StridedDim, compact_strides};
use super::scalar::{FloatOp, compare_floats, fixed_point, float_binary, fused, of_int, test};
use super::touched::Touched;
use crate::number::FloatType;
use crate::number::real::{BinaryFunction, ConstantReading, Function, Real, Unordered};
use crate::value::{Account, AllocError, Held, Kernels, Noise, Scalar, Side, Taken};

/// The maximum rank of accesses that are compared with the declarations of a block.
pub(super) const MAX_CHECKED_RANK: usize = 8;

/// The memory for an element: the element itself, and whether it has a value.
const BYTES: u64 = 9;

/// Rounds towards zero to an integer.
const TRUNCATION: Function = Function { name: "trunc", float: libm::trunc };

/// How a statement ends.
pub(super) enum Flow {
    Next,
    Break,
    Continue,
    /// The function ends.
    Return,
}

pub(super) struct Machine<'p, N> {
    pub program: &'p LoweredFunction,
    pub ints: Vec<i64>,
    pub floats: Vec<N>,
    pub views: Vec<BufferView>,
    pub memory: Vec<Memory<N>>,
    pub fuel: u64,
    pub account: Rc<Account>,
    pub noise: Option<Rc<Noise>>,
    /// How many stores and variables have begun: each begins its own sequence of noise.
    pub begun: u64,
    /// Whether nests of loops may run in the fast way.
    pub kernels: Kernels,
    /// How often the loop of a slot was no nest.
    pub refused: Vec<u8>,
    /// The regions that the open blocks may access, the innermost block last.
    pub touched: Vec<Touched>,
    /// The sides that the choices of the program took.
    pub taken: Vec<Taken>,
    /// The scalar that the function returns.
    pub returned: Option<Scalar>,
    /// The rounds of loops that may run at once.
    pub rounds: Rounds,
}

impl<'p, N: Arithmetic> Machine<'p, N> {
    pub fn new(
        program: &'p LoweredFunction,
        fuel: u64,
        account: Rc<Account>,
        noise: Option<Rc<Noise>>,
        kernels: Kernels,
    ) -> Machine<'p, N> {
        Machine {
            program,
            ints: vec![0; program.ints],
            floats: vec![N::default(); program.floats],
            views: vec![BufferView::default(); program.buffers.len()],
            memory: Vec::new(),
            fuel,
            account,
            noise,
            begun: 0,
            kernels,
            refused: vec![0; program.ints],
            touched: Vec::new(),
            taken: vec![Taken::default(); program.choices.len()],
            returned: None,
            rounds: Rounds::default(),
        }
    }

    pub fn run(&mut self) -> TirResult<()> {
        let program = self.program;
        self.sequence(&program.body).map(|_| ())
    }

    pub fn burn(&mut self) -> TirResult<()> {
        match self.fuel.checked_sub(1) {
            Some(left) => {
                self.fuel = left;
                Ok(())
            }
            None => Err(Box::new(TirError::OutOfFuel)),
        }
    }

    /// Pays for elements that are read or allocated, and reserves their memory.
    pub fn pay(&mut self, count: u128) -> TirResult<Held> {
        let count = u64::try_from(count).unwrap_or(u64::MAX);
        let left = self.fuel.checked_sub(count).ok_or(TirError::OutOfFuel)?;
        self.fuel = left;
        Ok(self.account.hold(count.saturating_mul(BYTES)).map_err(|_| TirError::OutOfFuel)?)
    }

    /// Runs statements with a scope: their allocations are freed afterwards.
    pub fn sequence(&mut self, ops: &'p [TirInstr]) -> TirResult<Flow> {
        let mark = self.memory.len();
        let mut result = Ok(Flow::Next);
        for op in ops {
            result = self.op(op);
            if !matches!(result, Ok(Flow::Next)) {
                break;
            }
        }
        self.memory.truncate(mark);
        result
    }

    pub fn op(&mut self, op: &'p TirInstr) -> TirResult<Flow> {
        self.burn()?;
        match op {
            TirInstr::For(f) => return self.for_loop(f),
            TirInstr::While(condition, body, choice) => return self.while_loop(condition, body, *choice),
            TirInstr::Block(b) => return self.block(b),
            TirInstr::If(branches) => {
                let (condition, then, otherwise) = &**branches;
                let taken = if self.int(condition)? != 0 { then } else { otherwise };
                return self.sequence(taken);
            }
            TirInstr::StoreInt(..) | TirInstr::StoreFloat(..) | TirInstr::LetInt(..) | TirInstr::LetFloat(..) => {
                self.begin_statement();
                self.statement(op)?;
            }
            TirInstr::Alloc(buffer) => self.alloc(buffer)?,
            TirInstr::Decl(buffer, source) => self.decl(buffer, *source)?,
            TirInstr::Scope(body) => return self.sequence(body),
            TirInstr::Waiting(inner) => match &**inner {
                TirInstr::For(f) if f.is_threads() => return self.threads(f),
                inner => return self.op(inner),
            },
            TirInstr::Assume(condition) => {
                if self.int(condition)? == 0 {
                    return Err(Box::new(TirError::Assumption));
                }
            }
            TirInstr::Sort(code) => self.sort(code)?,
            TirInstr::Scan(code) => self.scan(code)?,
            // A single thread need not wait.
            TirInstr::Barrier => {}
            TirInstr::Assert(assert) => {
                let (condition, kind, message) = &**assert;
                if self.int(condition)? == 0 {
                    return Err(Box::new(TirError::Assert { kind: kind.clone(), message: message.clone() }));
                }
            }
            TirInstr::EvaluateInt(e) => {
                self.int(e)?;
            }
            TirInstr::EvaluateFloat(e) => {
                self.float(e)?;
            }
            TirInstr::Unsupported(what) => return Err(unsupported(what)),
            TirInstr::Break => return Ok(Flow::Break),
            TirInstr::Continue => return Ok(Flow::Continue),
            TirInstr::Return(value) => {
                self.returned = value.as_ref().map(|value| self.scalar(value)).transpose()?;
                return Ok(Flow::Return);
            }
        }
        Ok(Flow::Next)
    }

    /// A store, or the value of a variable.
    fn statement(&mut self, op: &'p TirInstr) -> TirResult<()> {
        match op {
            TirInstr::StoreInt(access, value) => {
                let value = self.int(value)?;
                self.store_int(access, value)?;
            }
            TirInstr::StoreFloat(access, value) => {
                let value = self.float(value)?;
                self.store_float(access, value)?;
            }
            TirInstr::LetInt(slot, value) => self.ints[*slot] = self.int(value)?,
            TirInstr::LetFloat(slot, value) => self.floats[*slot] = self.float(value)?,
            _ => {}
        }
        Ok(())
    }

    /// Noise in a statement depends on its number alone, so that nests may compute several at once.
    #[inline]
    fn begin_statement(&mut self) {
        self.begun = self.begun.wrapping_add(1);
        if let Some(noise) = &self.noise {
            noise.begin_at(self.begun);
        }
    }

    /// Noise behind a loop depends on how many statements have begun.
    fn end_loop(&self) {
        if let Some(noise) = &self.noise {
            noise.begin_at(!self.begun);
        }
    }

    fn store_int(&mut self, access: &'p Access, value: i64) -> TirResult<()> {
        self.store(access, |data, at| match data {
            MemoryElements::Int(elements) => elements.get_mut(at).map(|element| *element = value),
            MemoryElements::Float(_) => None,
        })
    }

    fn store_float(&mut self, access: &'p Access, value: N) -> TirResult<()> {
        self.store(access, |data, at| match data {
            MemoryElements::Float(elements) => elements.get_mut(at).map(|element| *element = value),
            MemoryElements::Int(_) => None,
        })
    }

    fn scalar(&mut self, value: &'p TirValue) -> TirResult<Scalar> {
        Ok(match value {
            TirValue::Int(e, repr) => repr.scalar(self.int(e)?),
            TirValue::Float(e, _) => self.float(e)?.scalar(),
        })
    }

    /// The start, the end and the step of a loop.
    pub fn bounds(&mut self, f: &'p ForCode) -> TirResult<(i64, i64, i64)> {
        let (start, stop) = (self.int(&f.start)?, self.int(&f.stop)?);
        let step = f.step.as_ref().map_or(Ok(1), |e| self.int(e))?;
        if step > 0 { Ok((start, stop, step)) } else { Err(Box::new(TirError::Step(step))) }
    }

    fn for_loop(&mut self, f: &'p ForCode) -> TirResult<Flow> {
        if self.kernels.is_fast() && self.nest(f)? {
            self.end_loop();
            return Ok(Flow::Next);
        }
        let (start, stop, step) = self.bounds(f)?;
        let run = f.beside.map(|of| (of, self.rounds.begin()));
        let (mut i, mut rounds) = (start, 0);
        while i < stop {
            self.burn()?;
            rounds += 1;
            self.ints[f.slot] = i;
            let around = run.map(|(of, run)| self.rounds.enter(run, i, of));
            let flow = self.sequence(&f.body);
            if let Some(around) = around {
                self.rounds.leave(around);
            }
            match flow? {
                Flow::Next | Flow::Continue => {}
                Flow::Break => break,
                Flow::Return => return Ok(Flow::Return),
            }
            i = i.saturating_add(step);
        }
        self.note(f.choice, Side::of_rounds(rounds));
        self.end_loop();
        Ok(Flow::Next)
    }

    fn while_loop(&mut self, condition: &'p Int, body: &'p [TirInstr], choice: Option<usize>) -> TirResult<Flow> {
        let mut rounds = 0;
        while self.int(condition)? != 0 {
            self.burn()?;
            rounds += 1;
            match self.sequence(body)? {
                Flow::Next | Flow::Continue => {}
                Flow::Break => break,
                Flow::Return => return Ok(Flow::Return),
            }
        }
        self.note(choice, Side::of_rounds(rounds));
        Ok(Flow::Next)
    }

    /// Records the side that a choice took, if its sides are recorded.
    pub fn note(&mut self, choice: Option<usize>, side: Side) {
        if let Some(taken) = choice.and_then(|choice| self.taken.get_mut(choice)) {
            taken.insert(side);
        }
    }

    fn block(&mut self, b: &'p BlockCode) -> TirResult<Flow> {
        let mark = self.memory.len();
        if !self.open_block(b)? {
            return Ok(Flow::Next);
        }
        let flow = self.sequence(&b.body);
        self.memory.truncate(mark);
        self.touched.pop();
        flow
    }

    /// Everything before the body of a block. Returns whether its predicate holds.
    pub fn open_block(&mut self, b: &'p BlockCode) -> TirResult<bool> {
        for iter in &b.iters {
            self.ints[iter.slot] = self.int(&iter.value)?;
        }
        if let Some(predicate) = &b.predicate
            && self.int(predicate)? == 0
        {
            return Ok(false);
        }
        self.enter(&b.declared);
        for buffer in &b.allocs {
            self.alloc(buffer)?;
        }
        for m in &b.matches {
            self.match_region(m)?;
        }
        if let Some(init) = &b.init
            && self.is_first(b)?
        {
            self.sequence(init)?;
        }
        Ok(true)
    }

    /// Whether all reduction variables are at the start of their domains. A value outside of its domain is not an
    /// error: domains are hints for schedules, and TVM generates blocks that leave theirs.
    fn is_first(&mut self, b: &'p BlockCode) -> TirResult<bool> {
        for iter in b.iters.iter().filter(|iter| iter.reduce) {
            if self.int(&iter.start)? != self.ints[iter.slot] {
                return Ok(false);
            }
        }
        Ok(true)
    }

    pub fn values(&mut self, es: &'p [Int]) -> TirResult<Vec<i64>> {
        es.iter().map(|e| self.int(e)).collect()
    }

    fn alloc(&mut self, buffer: &'p BufferCode) -> TirResult<()> {
        let shape = self.values(&buffer.shape)?;
        if let Some((index, size)) = shape.iter().copied().enumerate().find(|(_, size)| *size < 0) {
            return Err(Box::new(TirError::Alloc(AllocError::Negative { index, size })));
        }
        let strides = self.strides(buffer, &shape)?;
        // One more than the largest position.
        let mut count = u128::from(shape.iter().all(|size| *size > 0));
        for (size, stride) in shape.iter().zip(&strides) {
            if *stride < 0 {
                let name = &buffer.name;
                return Err(Box::new(TirError::Unsupported(format!("the stride {stride} of `{name}`"))));
            }
            if *size > 0 && count > 0 {
                count = count.saturating_add((*size as u128 - 1).saturating_mul(*stride as u128));
            }
        }
        let held = self.pay(count)?;
        let memory = Memory::allocate(buffer, &shape, count, held)?;
        self.memory.push(memory);
        self.views[buffer.slot] = BufferView { memory: self.memory.len() - 1, offset: 0, dims: dims(&shape, &strides) };
        Ok(())
    }

    fn strides(&mut self, buffer: &'p BufferCode, shape: &[i64]) -> TirResult<Vec<i64>> {
        if buffer.strides.is_empty() { Ok(compact_strides(shape)) } else { self.values(&buffer.strides) }
    }

    fn decl(&mut self, buffer: &'p BufferCode, source: usize) -> TirResult<()> {
        let shape = self.values(&buffer.shape)?;
        let strides = self.strides(buffer, &shape)?;
        let offset = buffer.offset.as_ref().map_or(Ok(0), |e| self.int(e))?;
        self.views[buffer.slot] =
            BufferView { memory: self.views[source].memory, offset, dims: dims(&shape, &strides) };
        Ok(())
    }

    /// Makes a buffer a part of another one, and binds the variables in its strides and offset.
    fn match_region(&mut self, m: &'p MatchCode) -> TirResult<()> {
        let source = self.views[m.source].clone();
        let (mut offset, mut parts) = (source.offset, Vec::new());
        let mut starts = Vec::new();
        for ((start, stop), dim) in m.ranges.iter().zip(&source.dims) {
            let start = self.int(start)?;
            let stop = stop.as_ref().map_or(Ok(start.saturating_add(1)), |e| self.int(e))?;
            let inside = start >= 0 && stop <= dim.extent;
            starts.push(start);
            if !inside {
                let buffer = self.program.buffers[m.source].clone();
                return Err(Box::new(TirError::OutOfBounds { buffer, indices: starts, shape: source.shape() }));
            }
            offset = offset.wrapping_add(start.wrapping_mul(dim.stride));
            parts.push(StridedDim { extent: stop.saturating_sub(start), stride: dim.stride });
        }
        // The matched buffer may leave out leading dimensions of one element.
        let extra = parts.len().saturating_sub(m.buffer.shape.len());
        let units = parts.iter().take(extra).all(|dim| dim.extent == 1);
        let found: Vec<i64> = parts.iter().map(|dim| dim.extent).collect();
        let parts = parts.split_off(extra);
        for (stride, dim) in m.buffer.strides.iter().zip(&parts) {
            self.bind(stride, dim.stride, &m.unbound);
        }
        if let Some(e) = &m.buffer.offset {
            self.bind(e, offset, &m.unbound);
        }
        let expected = self.values(&m.buffer.shape)?;
        if !units || !expected.iter().eq(parts.iter().map(|dim| &dim.extent)) {
            let buffer = self.program.buffers[m.source].clone();
            return Err(Box::new(TirError::Region { buffer, expected, found }));
        }
        self.views[m.buffer.slot] = BufferView { memory: source.memory, offset, dims: parts };
        Ok(())
    }

    fn bind(&mut self, e: &Int, value: i64, unbound: &[usize]) {
        if let Int::Slot(slot) = e
            && unbound.contains(slot)
        {
            self.ints[*slot] = value;
        }
    }

    /// The position of an element in its memory.
    #[inline]
    fn position(&mut self, access: &'p Access, write: bool) -> TirResult<(usize, usize)> {
        let mut at = self.views[access.buffer].offset;
        let mut indices = [0; MAX_CHECKED_RANK];
        for (n, index) in access.indices.iter().enumerate() {
            let index = self.int(index)?;
            let dim = self.views[access.buffer].dims[n];
            if index < 0 || index >= dim.extent {
                return Err(self.out_of_bounds(access));
            }
            at = at.wrapping_add(index.wrapping_mul(dim.stride));
            if let Some(place) = indices.get_mut(n) {
                *place = index;
            }
        }
        if let Some(indices) = indices.get(..access.indices.len())
            && !self.touched.last().is_none_or(|touched| touched.admits(access.buffer, indices, write))
        {
            return Err(self.undeclared(access));
        }
        match usize::try_from(at) {
            Ok(at) => Ok((self.views[access.buffer].memory, at)),
            Err(_) => Err(self.outside_memory(access)),
        }
    }

    #[inline]
    fn store(
        &mut self,
        access: &'p Access,
        write: impl FnOnce(&mut MemoryElements<N>, usize) -> Option<()>,
    ) -> TirResult<()> {
        let (memory, at) = self.position(access, true)?;
        self.touch(access, (memory, at), true)?;
        let Some(target) = self.memory.get_mut(memory) else { return Err(self.outside_memory(access)) };
        if write(&mut target.data, at).is_none() {
            return Err(self.outside_memory(access));
        }
        target.mark(at);
        Ok(())
    }

    #[inline]
    fn load<T>(
        &mut self,
        access: &'p Access,
        read: impl FnOnce(&MemoryElements<N>, usize) -> Option<T>,
    ) -> TirResult<T> {
        let (memory, at) = self.position(access, false)?;
        self.touch(access, (memory, at), false)?;
        let Some(source) = self.memory.get(memory) else { return Err(self.outside_memory(access)) };
        let Some(value) = read(&source.data, at) else { return Err(self.outside_memory(access)) };
        match &source.written {
            Some(written) if written.get(at) != Some(&true) => Err(self.uninitialized(access)),
            Some(_) | None => Ok(value),
        }
    }

    /// PRIMFUNC.LOOP.INDEPENDENT: rounds that may run at once access no element that one of them writes.
    #[inline]
    fn touch(&mut self, access: &'p Access, (memory, at): (usize, usize), write: bool) -> TirResult<()> {
        let inside = self.rounds.inside();
        let Some(memory) = self.memory.get_mut(memory) else { return Ok(()) };
        if !inside && memory.touches.is_empty() {
            return Ok(());
        }
        let scope = memory.scope;
        let clash = if scope == MemoryScope::Unguarded { None } else { memory.touches(at) }
            .and_then(|touches| self.rounds.touch(touches, scope, write));
        match clash {
            None => Ok(()),
            Some(RoundClash::Race) => Err(self.race(access)),
            Some(RoundClash::Foreign) => Err(unsupported("memory of a thread or a block that another one has written")),
        }
    }

    /// The name of a buffer and the indices of an access that failed, for the report.
    #[cold]
    fn report(&mut self, access: &'p Access) -> (crate::grammar::Name, Vec<i64>) {
        let indices = access.indices.iter().map_while(|e| self.int(e).ok()).collect();
        (self.program.buffers[access.buffer].clone(), indices)
    }

    #[cold]
    fn out_of_bounds(&mut self, access: &'p Access) -> Box<TirError> {
        let (buffer, indices) = self.report(access);
        Box::new(TirError::OutOfBounds { buffer, indices, shape: self.views[access.buffer].shape() })
    }

    #[cold]
    fn race(&mut self, access: &'p Access) -> Box<TirError> {
        let (buffer, indices) = self.report(access);
        Box::new(TirError::Race { buffer, indices })
    }

    #[cold]
    fn undeclared(&mut self, access: &'p Access) -> Box<TirError> {
        let (buffer, indices) = self.report(access);
        Box::new(TirError::Undeclared { buffer, indices })
    }

    #[cold]
    fn outside_memory(&mut self, access: &'p Access) -> Box<TirError> {
        let (buffer, indices) = self.report(access);
        Box::new(TirError::OutsideMemory { buffer, indices })
    }

    #[cold]
    fn uninitialized(&mut self, access: &'p Access) -> Box<TirError> {
        let (buffer, indices) = self.report(access);
        Box::new(TirError::Uninitialized { buffer, indices })
    }

    fn binding(&mut self, binding: &'p LoweredBinding) -> TirResult<()> {
        match binding {
            LoweredBinding::Int(slot, value) => self.ints[*slot] = self.int(value)?,
            LoweredBinding::Float(slot, value) => self.floats[*slot] = self.float(value)?,
        }
        Ok(())
    }

    pub fn int(&mut self, e: &'p Int) -> TirResult<i64> {
        Ok(match e {
            Int::Const(value) => *value,
            Int::Slot(slot) => self.ints[*slot],
            Int::Load(access) => self.load_int(access)?,
            Int::Add(o, repr) => repr.wrap(self.int(&o.0)?.wrapping_add(self.int(&o.1)?)),
            Int::Sub(o, repr) => repr.wrap(self.int(&o.0)?.wrapping_sub(self.int(&o.1)?)),
            Int::Mul(o, repr) => repr.wrap(self.int(&o.0)?.wrapping_mul(self.int(&o.1)?)),
            Int::Binary(op, o, repr) => repr.binary(*op, self.int(&o.0)?, self.int(&o.1)?)?,
            Int::Shift { left, operands, repr, dtype } => {
                repr.shift(*left, self.int(&operands.0)?, self.int(&operands.1)?, *dtype)?
            }
            Int::Compare(op, o, repr) => i64::from(repr.compare(*op, self.int(&o.0)?, self.int(&o.1)?)),
            Int::CompareFloats(op, o) => i64::from(compare_floats(*op, self.float(&o.0)?, self.float(&o.1)?)?),
            Int::And(o) => i64::from(self.int(&o.0)? != 0 && self.int(&o.1)? != 0),
            Int::Or(o) => i64::from(self.int(&o.0)? != 0 || self.int(&o.1)? != 0),
            Int::Not(e) => i64::from(self.int(e)? == 0),
            Int::BitNot(e, repr) => repr.wrap(!self.int(e)?),
            Int::Popcount(e, repr) => repr.popcount(self.int(e)?),
            Int::LeadingZeros(e, repr) => repr.leading_zeros(self.int(e)?),
            Int::Choice(c) => {
                let taken = if self.int(&c.0)? != 0 { &c.1 } else { &c.2 };
                self.int(taken)?
            }
            Int::FixedPoint(o) => {
                let [x, y, places, shift] = &**o;
                fixed_point(self.int(x)?, self.int(y)?, self.int(places)?, self.int(shift)?)?
            }
            Int::Picked(choice, op, o, repr) => {
                let (a, b) = (self.int(&o.0)?, self.int(&o.1)?);
                let picked = repr.binary(*op, a, b)?;
                self.note_picked(*choice, a != b, picked == a);
                picked
            }
            Int::Noted(choice, condition) => {
                let holds = self.int(condition)?;
                self.note(Some(*choice), Side::of_condition(holds != 0));
                holds
            }
            Int::Wrap(e, repr) => repr.wrap(self.int(e)?),
            Int::Nonzero(e) => i64::from(self.int(e)? != 0),
            Int::Truncate(e, repr, dtype) => {
                let float = self.float(e)?;
                repr.truncate(self.before_truncation(float)?, *dtype)?
            }
            Int::Test(t, e) => i64::from(test(*t, self.float(e)?)?),
            Int::Bits(e, round, repr) => {
                let float = self.float(e)?;
                repr.wrap(round.to_bits(self.of_floats(float, "T.reinterpret")?) as i64)
            }
            Int::Let(l) => {
                self.binding(&l.0)?;
                self.int(&l.1)?
            }
            Int::Unsupported(what) => return Err(unsupported(what)),
        })
    }

    /// Records which of two operands was chosen, if they differ.
    #[inline]
    fn note_picked(&mut self, choice: usize, differ: bool, first: bool) {
        if differ {
            self.note(Some(choice), if first { Side::First } else { Side::Second });
        }
    }

    #[inline]
    fn load_int(&mut self, access: &'p Access) -> TirResult<i64> {
        self.load(access, |data, at| match data {
            MemoryElements::Int(elements) => elements.get(at).copied(),
            MemoryElements::Float(_) => None,
        })
    }

    #[inline]
    fn load_float(&mut self, access: &'p Access) -> TirResult<N> {
        self.load(access, |data, at| match data {
            MemoryElements::Float(elements) => elements.get(at).copied(),
            MemoryElements::Int(_) => None,
        })
    }

    /// The value as a float, for an operation that the ring does not have.
    pub(super) fn of_floats(&self, value: N, what: &str) -> TirResult<f64> {
        match self.account.ring() {
            None => Ok(value.near()),
            Some(_) => Err(Box::new(TirError::Unsupported(format!("in the ring: {what}")))),
        }
    }

    /// The value before truncation to an integer. For a number of the ring it is the integer, determined by its size.
    fn before_truncation(&self, value: N) -> TirResult<f64> {
        match value.scalar() {
            Scalar::Ring(x) => {
                let whole = x.applied(TRUNCATION);
                let reason = |reason| Box::new(TirError::Unsupported(format!("in the ring: {reason}")));
                whole.missing().map_or_else(|| Ok(whole.near()), |missing| Err(reason(missing)))
            }
            Scalar::Float(_) | Scalar::Bool(_) | Scalar::Int(_) | Scalar::UInt(_) => Ok(value.near()),
        }
    }

    /// The result of an operation, rounded; with noise, a result that another rounding might give.
    #[inline]
    fn rounded(&self, float: FloatType, value: N) -> N {
        value.rounded(|value| match &self.noise {
            None => float.round(value),
            Some(noise) => noise.rounded(float, value),
        })
    }

    /// The result of a conversion.
    #[inline]
    fn converted(&self, from: FloatType, to: FloatType, value: N) -> N {
        match &self.noise {
            None => value.cast(from, to),
            Some(noise) => value.rounded(|value| noise.converted(to, value)),
        }
    }

    /// The result of a function of one number.
    #[inline]
    fn function(&self, float: FloatType, x: N, function: Function) -> N {
        x.applied(function).rounded(|value| match &self.noise {
            None => float.round(value),
            Some(noise) => noise.function(float, x.near(), function.float),
        })
    }

    /// The result of a function of two numbers.
    #[inline]
    fn function_of_two(&self, float: FloatType, x: N, y: N, function: BinaryFunction) -> N {
        x.applied_to(y, function).rounded(|value| match &self.noise {
            None => float.round(value),
            Some(noise) => noise.function(float, x.near(), |x| (function.float)(x, y.near())),
        })
    }

    /// With noise, it is open which of two operands is larger if one is NaN.
    #[inline]
    fn float_binary(&self, float: FloatType, op: FloatOp, a: N, b: N) -> Result<N, Unordered> {
        if let Some(noise) = &self.noise {
            noise.compute();
        }
        match (&self.noise, op) {
            (Some(noise), FloatOp::Min | FloatOp::Max) if a.near().is_nan() || b.near().is_nan() => {
                Ok(a.rounded(|a| noise.either(a, b.near())))
            }
            (Some(_) | None, _) => float_binary(float, op, a, b),
        }
    }

    #[inline]
    pub(super) fn sum(&self, float: FloatType, a: N, b: N) -> N {
        a.plus(b).rounded(|sum| match &self.noise {
            None => float.round(sum),
            Some(noise) => noise.sum(float, a.near(), b.near()),
        })
    }

    pub fn float(&mut self, e: &'p Float) -> TirResult<N> {
        Ok(match e {
            Float::Const(value, float) => {
                N::of_constant(*value, *float, self.account.ring().unwrap_or(ConstantReading::Exact))
            }
            Float::Slot(slot) => self.floats[*slot],
            Float::Load(access) => self.load_float(access)?,
            Float::Add(o, round) => {
                let (a, b) = (self.float(&o.0)?, self.float(&o.1)?);
                self.sum(*round, a, b)
            }
            Float::Sub(o, round) => {
                let (a, b) = (self.float(&o.0)?, self.float(&o.1)?);
                self.sum(*round, a, b.negated())
            }
            Float::Mul(o, round) => {
                let product = self.float(&o.0)?.times(self.float(&o.1)?);
                self.rounded(*round, product)
            }
            Float::Div(o, round) => {
                let quotient = self.float(&o.0)?.over(self.float(&o.1)?);
                self.rounded(*round, quotient)
            }
            Float::Fma(o, round) => self.fused(o, *round)?,
            Float::Binary(op, o, round) => {
                let (a, b) = (self.float(&o.0)?, self.float(&o.1)?);
                self.float_binary(*round, *op, a, b)?
            }
            Float::Choice(c) => {
                let taken = if self.int(&c.0)? != 0 { &c.1 } else { &c.2 };
                self.float(taken)?
            }
            Float::Picked(choice, op, o, round) => {
                let (a, b) = (self.float(&o.0)?, self.float(&o.1)?);
                let picked = self.float_binary(*round, *op, a, b)?;
                self.note_picked(*choice, a != b, picked == a);
                picked
            }
            Float::FromInt(e, repr, round) => of_int(*round, self.int(e)?, *repr),
            Float::Round(e, from, to) => {
                let value = self.float(e)?;
                self.converted(*from, *to, value)
            }
            Float::Unary(function, e, round) => {
                let x = self.float(e)?;
                self.function(*round, x, *function)
            }
            Float::Binary2(function, o, round) => {
                let (x, y) = (self.float(&o.0)?, self.float(&o.1)?);
                self.function_of_two(*round, x, y, *function)
            }
            Float::Scale(o, round) => self.scaled(o, *round)?,
            Float::FromBits(e, round) => self.reinterpreted(e, *round)?,
            Float::Let(l) => {
                self.binding(&l.0)?;
                self.float(&l.1)?
            }
            Float::Unsupported(what) => return Err(unsupported(what)),
        })
    }

    /// `T.fma`: rounded once.
    fn fused(&mut self, o: &'p (Float, Float, Float), round: FloatType) -> TirResult<N> {
        let (a, b, c) = (self.float(&o.0)?, self.float(&o.1)?, self.float(&o.2)?);
        let sum = a.times(b).plus(c);
        Ok(self.rounded(round, sum.rounded(|_| fused(round, a.near(), b.near(), c.near()))))
    }

    /// `T.ldexp`: times a power of two.
    fn scaled(&mut self, o: &'p (Float, Int), round: FloatType) -> TirResult<N> {
        let exponent = self.int(&o.1)?.clamp(-100_000, 100_000);
        let float = self.float(&o.0)?;
        let scaled = libm::ldexp(self.of_floats(float, "T.ldexp")?, exponent as i32);
        Ok(float.rounded(|_| round.round(scaled)))
    }

    /// `T.reinterpret`: the float with these bits.
    fn reinterpreted(&mut self, bits: &'p Int, round: FloatType) -> TirResult<N> {
        let float = round.of_bits(self.int(bits)? as u64);
        self.of_floats(N::default(), "T.reinterpret")?;
        Ok(N::of_constant(float, round, ConstantReading::Exact))
    }
}

fn dims(shape: &[i64], strides: &[i64]) -> Vec<StridedDim> {
    shape.iter().zip(strides).map(|(extent, stride)| StridedDim { extent: *extent, stride: *stride }).collect()
}

#[cold]
fn unsupported(what: &str) -> Box<TirError> {
    Box::new(TirError::Unsupported(what.into()))
}
