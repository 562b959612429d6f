//! Compiles a nest of loops with the numbers that are known when it is entered: sizes, strides, invariant variables.
//! What this module does not know stays with the interpreter of the tree.

use super::super::arithmetic::Arithmetic;
use super::super::code::{Access, BlockCode, Float, ForCode, Int, LoweredBinding, RegionCode, TirInstr};
use super::super::memory::MemoryElements;
use super::super::run::{MAX_CHECKED_RANK, Machine};
use super::super::scalar::{Compare, IntOp, Repr};
use super::super::touched::BufferPart;
use super::affine::{Affine, Level, MOST_LEVELS, Space};
use super::fold::{Fold, FoldOp};
use super::lanes::{Field, IntFunction, LanePlace, NestIntOp, Reg, Step};
use crate::grammar::DataType;
use crate::number::FloatType;
use crate::number::real::ConstantReading;

/// The maximum depth of an expression.
const DEEPEST: usize = 64;
/// The maximum number of lanes.
pub(super) const MOST_LANES: i64 = if cfg!(test) { 10 } else { 512 };
/// A nest with fewer rounds is not worth the preparation.
const FEWEST_ROUNDS: u128 = if cfg!(test) { 2 } else { 64 };

/// Why a loop does not run as a nest.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Refusal {
    /// It has few rounds this time.
    Small,
    /// Something in it is not known here.
    Unknown,
}

/// What is known of a variable that the nest binds.
#[derive(Clone, Copy)]
enum KnownVariable {
    Affine(Affine),
    Reg(Reg),
}

/// A compiled nest.
pub(super) struct Nest<'p, N> {
    pub space: Space,
    /// The level whose rounds a strip takes some of; it takes all rounds of the levels further inside.
    pub cut: usize,
    /// The statements of the innermost loop.
    pub inner: &'p [TirInstr],
    pub block: Option<&'p BlockCode>,
    pub statements: &'p [TirInstr],
    /// The values of the iteration variables, and the predicate.
    pub prelude: Vec<Step>,
    pub predicate: Option<Reg>,
    /// What begins a reduction, and how many statements it has; `None` if there is none.
    pub init: Vec<Step>,
    pub of_init: Option<usize>,
    /// The expressions that are 0 in the rounds in which a reduction begins.
    pub starts: Vec<usize>,
    /// The choice of the statement that begins a reduction where there is no block.
    pub guard: Option<Guard>,
    pub body: Vec<Vec<Step>>,
    pub fold: Option<Fold>,
    /// Whether the rounds must run one by one.
    pub one_by_one: bool,
    pub affine: Vec<Affine>,
    pub ints: Vec<Option<i64>>,
    pub floats: Vec<Option<N>>,
    /// The variables of the body, with their registers.
    pub lets: Vec<(usize, Reg)>,
    pub float_lets: Vec<(usize, Reg)>,
}

/// A conditional statement in whose rounds a reduction begins.
#[derive(Clone, Copy)]
pub(super) struct Guard {
    /// The number of its choice, if its sides are recorded.
    pub choice: Option<usize>,
}

/// An access to memory: the affine position if it is proved to be inside.
struct Touch {
    memory: usize,
    at: Option<Affine>,
}

pub(super) struct NestCompiler<'m, 'p, N> {
    machine: &'m Machine<'p, N>,
    space: Space,
    block: Option<&'p BlockCode>,
    known: Vec<(usize, KnownVariable)>,
    known_floats: Vec<(usize, Reg)>,
    affine: Vec<Affine>,
    /// The registers, with the value of those that are the same in all lanes.
    ints: Vec<Option<i64>>,
    floats: Vec<Option<N>>,
    code: Vec<Step>,
    loads: Vec<Touch>,
    stores: Vec<Touch>,
    /// The memory that the nest writes.
    written: Vec<usize>,
    lets: Vec<(usize, Reg)>,
    float_lets: Vec<(usize, Reg)>,
    /// Whether an instruction may fail, and whether one records sides.
    fails: bool,
    notes: bool,
    depth: usize,
}

/// Where a strip is cut: the level, for a number of lanes that is not too large.
fn cut(space: &Space) -> usize {
    let counts: Vec<i64> = space.levels.iter().map(|level| level.count).collect();
    let (mut cut, mut inside) = (counts.len() - 1, 1);
    while cut > 0 && counts[cut] <= MOST_LANES / inside && MOST_LANES / (inside * counts[cut]) >= 2 {
        inside *= counts[cut];
        cut -= 1;
    }
    cut
}

/// The condition under which a reduction begins, and its statements: the only conditional statement, in front of the
/// last one.
fn guard_of(statements: &[TirInstr]) -> Option<(&Int, &[TirInstr])> {
    let (_, before) = statements.split_last()?;
    let mut found = before.iter().filter_map(|statement| match statement {
        TirInstr::If(branches) => Some(&**branches),
        _ => None,
    });
    match (found.next(), found.next()) {
        (Some((condition, then, otherwise)), None) if otherwise.is_empty() => Some((condition, then.as_slice())),
        _ => None,
    }
}

impl<'m, 'p, N: Arithmetic> NestCompiler<'m, 'p, N> {
    /// The nest that begins with a loop, unless something in it is unknown here.
    pub fn nest(machine: &'m Machine<'p, N>, f: &'p ForCode) -> Result<Nest<'p, N>, Refusal> {
        let mut compiler = NestCompiler {
            machine,
            space: Space::default(),
            block: None,
            known: Vec::new(),
            known_floats: Vec::new(),
            affine: Vec::new(),
            ints: Vec::new(),
            floats: Vec::new(),
            code: Vec::new(),
            loads: Vec::new(),
            stores: Vec::new(),
            written: Vec::new(),
            lets: Vec::new(),
            float_lets: Vec::new(),
            fails: false,
            notes: false,
            depth: 0,
        };
        let inner = compiler.levels(f).ok_or(Refusal::Unknown)?;
        if compiler.space.rounds() < FEWEST_ROUNDS {
            return Err(Refusal::Small);
        }
        compiler.compiled(inner).ok_or(Refusal::Unknown)
    }

    /// The loops around the innermost one; returns its statements.
    fn levels(&mut self, f: &'p ForCode) -> Option<&'p [TirInstr]> {
        let mut code = f;
        loop {
            if code.beside.is_some() || self.space.levels.len() == MOST_LEVELS {
                return None;
            }
            let start = self.affine(&code.start)?.as_constant()?;
            let stop = self.affine(&code.stop)?.as_constant()?;
            let step = code.step.as_ref().map_or(Some(1), |e| self.affine(e)?.as_constant())?;
            if step <= 0 || start >= stop {
                return None;
            }
            let count = (i128::from(stop) - i128::from(start) - 1) / i128::from(step) + 1;
            let count = i64::try_from(count).ok()?;
            let level = self.space.levels.len();
            self.space.levels.push(Level { slot: code.slot, start, step, count, choice: code.choice });
            let variable = Affine::variable(level, start, step);
            let (_, greatest) = self.space.range(&variable);
            i64::try_from(greatest).ok()?;
            self.known.push((code.slot, KnownVariable::Affine(variable)));
            match code.body.as_slice() {
                [TirInstr::For(inner)] => code = inner,
                inner => return Some(inner),
            }
        }
    }

    fn compiled(mut self, inner: &'p [TirInstr]) -> Option<Nest<'p, N>> {
        let statements = match inner {
            [TirInstr::Block(block)] => {
                self.block = Some(block);
                block.body.as_slice()
            }
            statements => statements,
        };
        let guard = guard_of(statements).filter(|_| self.block.is_none());
        let begins = guard.map(|(_, then)| then).or(self.block.and_then(|block| block.init.as_deref()));
        let (init, of_init) = (begins.unwrap_or_default(), begins.map(<[TirInstr]>::len));
        if statements.is_empty() || self.costs(init.len(), statements.len()) {
            return None;
        }
        for statement in statements.iter().chain(init) {
            self.writes(statement, guard.is_some())?;
        }
        let cut = cut(&self.space);
        let (predicate, mut starts) = self.prelude()?;
        let prelude = std::mem::take(&mut self.code);
        if self.varies(&prelude) {
            return None;
        }
        let (init, body, fold) = match self.folded(statements, init, cut, predicate) {
            Some((init, code, fold)) => (init, vec![code], Some(fold)),
            None if guard.is_some() => return None,
            None => {
                let (init, body) = self.plain(statements, init, predicate)?;
                (init, body, None)
            }
        };
        let guard = guard.map(|(condition, _)| self.guard(condition, &mut starts).ok_or(())).transpose().ok()?;
        if self.varies(&init) {
            return None;
        }
        Some(Nest {
            one_by_one: self.is_one_by_one(fold.is_some(), statements.len(), cut),
            space: self.space,
            cut,
            inner,
            block: self.block,
            statements,
            prelude,
            predicate,
            init,
            of_init,
            starts,
            guard,
            body,
            fold,
            affine: self.affine,
            ints: self.ints,
            floats: self.floats,
            lets: self.lets,
            float_lets: self.float_lets,
        })
    }

    /// The code of statements that are no fold, and of what begins a reduction.
    fn plain(
        &mut self,
        statements: &'p [TirInstr],
        init: &'p [TirInstr],
        predicate: Option<Reg>,
    ) -> Option<(Vec<Step>, Vec<Vec<Step>>)> {
        init.iter().try_for_each(|statement| self.statement(statement, predicate))?;
        let loads_in_init = self.loads.iter().any(|load| self.written.contains(&load.memory));
        if loads_in_init && !init.is_empty() {
            return None;
        }
        let (init, mut body) = (std::mem::take(&mut self.code), Vec::new());
        for statement in statements {
            self.statement(statement, predicate)?;
            body.push(std::mem::take(&mut self.code));
        }
        Some((init, body))
    }

    /// The condition of a guard, whose operands are equal where a reduction begins.
    fn guard(&mut self, condition: &Int, starts: &mut Vec<usize>) -> Option<Guard> {
        let (choice, condition) = match condition {
            Int::Noted(choice, condition) => (Some(*choice), &**condition),
            condition => (None, condition),
        };
        self.equal_where(condition, starts, DEEPEST)?;
        Some(Guard { choice })
    }

    fn equal_where(&mut self, condition: &Int, starts: &mut Vec<usize>, depth: usize) -> Option<()> {
        let depth = depth.checked_sub(1)?;
        match condition {
            Int::And(o) => {
                self.equal_where(&o.0, starts, depth)?;
                self.equal_where(&o.1, starts, depth)
            }
            Int::Compare(Compare::Eq, o, _) => {
                let since = self.affine(&o.0)?.minus(&self.affine(&o.1)?)?;
                starts.push(self.affine_number(since));
                Some(())
            }
            _ => None,
        }
    }

    /// Whether the rounds must run one by one.
    fn is_one_by_one(&self, folds: bool, statements: usize, cut: usize) -> bool {
        if folds {
            return self.notes && self.fails;
        }
        let several = statements > 1 || self.block.is_some_and(|block| block.init.is_some());
        self.fails && (several || self.notes) || !self.is_independent(cut)
    }

    /// Whether the nest may run out of fuel.
    fn costs(&self, init: usize, body: usize) -> bool {
        let round = 3 + (init + body) as u128;
        let mut all = 0u128;
        for level in self.space.levels.iter().rev() {
            all = all.saturating_add(round).saturating_mul(u128::from(level.count.unsigned_abs()));
        }
        all > u128::from(self.machine.fuel)
    }

    /// Records the memory that a statement writes.
    fn writes(&mut self, statement: &'p TirInstr, is_guarded: bool) -> Option<()> {
        match statement {
            // What it holds is recorded by itself.
            TirInstr::If(_) if is_guarded => Some(()),
            TirInstr::StoreInt(access, _) | TirInstr::StoreFloat(access, _) => {
                self.written.push(self.machine.views[access.buffer].memory);
                Some(())
            }
            TirInstr::LetInt(..) | TirInstr::LetFloat(..) => Some(()),
            _ => None,
        }
    }

    /// Binds the iteration variables of the block. Returns the register of the predicate, and the expressions that are
    /// 0 at the start of a reduction.
    fn prelude(&mut self) -> Option<(Option<Reg>, Vec<usize>)> {
        let Some(block) = self.block else { return Some((None, Vec::new())) };
        if !block.allocs.is_empty() || !block.matches.is_empty() {
            return None;
        }
        let mut starts = Vec::new();
        for iter in &block.iters {
            let known = match self.affine(&iter.value) {
                Some(value) => KnownVariable::Affine(value),
                None => KnownVariable::Reg(self.int(&iter.value, None)?),
            };
            self.known.push((iter.slot, known));
        }
        for iter in block.iters.iter().filter(|iter| iter.reduce && block.init.is_some()) {
            let since = self.affine(&Int::Slot(iter.slot))?.minus(&self.affine(&iter.start)?)?;
            starts.push(self.affine_number(since));
        }
        let predicate = match &block.predicate {
            Some(e) => Some(self.int(e, None)?),
            None => None,
        };
        Some((predicate, starts))
    }

    /// Whether no round depends on another one of its strip.
    fn is_independent(&self, cut: usize) -> bool {
        self.stores.iter().all(|store| {
            let others = self.stores.iter().filter(|other| other.memory == store.memory);
            let loads: Vec<&Touch> = self.loads.iter().filter(|load| load.memory == store.memory).collect();
            if loads.is_empty() && others.clone().count() == 1 {
                return true;
            }
            let Some(at) = store.at else { return false };
            let same = others.chain(loads.iter().copied()).all(|other| other.at == Some(at));
            same && (loads.is_empty() || self.space.is_injective(&at, cut))
        })
    }

    // Expressions.

    fn int_reg(&mut self) -> Reg {
        self.ints.push(None);
        self.ints.len() - 1
    }

    fn float_reg(&mut self) -> Reg {
        self.floats.push(None);
        self.floats.len() - 1
    }

    fn affine_number(&mut self, e: Affine) -> usize {
        self.affine.iter().position(|known| *known == e).unwrap_or_else(|| {
            self.affine.push(e);
            self.affine.len() - 1
        })
    }

    /// An expression that is affine, and does not wrap around.
    fn affine(&self, e: &Int) -> Option<Affine> {
        self.affine_within(e, DEEPEST)
    }

    fn affine_within(&self, e: &Int, depth: usize) -> Option<Affine> {
        let depth = depth.checked_sub(1)?;
        let part = |e: &Int| self.affine_within(e, depth);
        match e {
            Int::Const(value) => Some(Affine::constant(*value)),
            Int::Slot(slot) => match self.known.iter().rev().find(|(known, _)| known == slot) {
                Some((_, KnownVariable::Affine(value))) => Some(*value),
                Some((_, KnownVariable::Reg(_))) => None,
                None => Some(Affine::constant(self.machine.ints[*slot])),
            },
            Int::Add(o, repr) => self.space.within(part(&o.0)?.plus(&part(&o.1)?)?, *repr),
            Int::Sub(o, repr) => self.space.within(part(&o.0)?.minus(&part(&o.1)?)?, *repr),
            Int::Mul(o, repr) => {
                let (a, b) = (part(&o.0)?, part(&o.1)?);
                let product = match (a.as_constant(), b.as_constant()) {
                    (_, Some(factor)) => a.times(factor)?,
                    (Some(factor), None) => b.times(factor)?,
                    (None, None) => return None,
                };
                self.space.within(product, *repr)
            }
            Int::Wrap(e, repr) => self.space.within(part(e)?, *repr),
            Int::Binary(op, o, repr) => {
                let (a, b) = (part(&o.0)?, part(&o.1)?.as_constant().filter(|b| *b > 0)?);
                let a = self.space.within(a, *repr)?;
                let down = matches!(op, IntOp::FloorDiv | IntOp::FloorMod);
                let quotient = self.space.quotient(&a, b, down)?;
                match op {
                    IntOp::Div | IntOp::FloorDiv => Some(Affine::constant(quotient)),
                    IntOp::Mod | IntOp::FloorMod => a.minus(&Affine::constant(quotient.checked_mul(b)?)),
                    IntOp::Min | IntOp::Max | IntOp::BitAnd | IntOp::BitOr | IntOp::BitXor => None,
                }
            }
            _ => None,
        }
    }

    fn int_by(&mut self, step: impl FnOnce(Reg) -> Step) -> Option<Reg> {
        let to = self.int_reg();
        self.code.push(step(to));
        Some(to)
    }

    fn float_by(&mut self, step: impl FnOnce(Reg) -> Step) -> Option<Reg> {
        let to = self.float_reg();
        self.code.push(step(to));
        Some(to)
    }

    fn constant(&mut self, value: i64) -> Reg {
        let to = self.int_reg();
        self.ints[to] = Some(value);
        to
    }

    fn nested<T>(&mut self, part: impl FnOnce(&mut Self) -> Option<T>) -> Option<T> {
        if self.depth == DEEPEST {
            return None;
        }
        self.depth += 1;
        let result = part(self);
        self.depth -= 1;
        result
    }

    fn int(&mut self, e: &'p Int, mask: Option<Reg>) -> Option<Reg> {
        self.nested(|c| c.int_code(e, mask))
    }

    fn ints(&mut self, o: &'p (Int, Int), mask: Option<Reg>) -> Option<(Reg, Reg)> {
        Some((self.int(&o.0, mask)?, self.int(&o.1, mask)?))
    }

    fn int_code(&mut self, e: &'p Int, mask: Option<Reg>) -> Option<Reg> {
        if let Some(affine) = self.affine(e) {
            if let Some(value) = affine.as_constant() {
                return Some(self.constant(value));
            }
            let of = self.affine_number(affine);
            return self.int_by(|to| Step::Affine { to, of });
        }
        match e {
            Int::Slot(slot) => self.known.iter().rev().find_map(|(known, value)| match value {
                KnownVariable::Reg(reg) if known == slot => Some(*reg),
                KnownVariable::Reg(_) | KnownVariable::Affine(_) => None,
            }),
            Int::Load(access) => {
                let from = self.place(access, mask, false)?;
                self.int_by(|to| Step::LoadInt { to, from, mask })
            }
            Int::Add(o, repr) => self.whole(NestIntOp::Plus, o, *repr, mask),
            Int::Sub(o, repr) => self.whole(NestIntOp::Minus, o, *repr, mask),
            Int::Mul(o, repr) => self.whole(NestIntOp::Times, o, *repr, mask),
            Int::Binary(op, o, repr) => {
                let (a, b) = self.ints(o, mask)?;
                self.int_binary(*op, (a, b), *repr, mask)
            }
            Int::Shift { left, operands, repr, dtype } => {
                let (a, b) = self.ints(operands, mask)?;
                self.fails = true;
                let (left, repr, dtype) = (*left, *repr, *dtype);
                self.int_by(|to| Step::Shift { to, left, a, b, repr, dtype, mask })
            }
            Int::Compare(op, o, repr) => {
                let (a, b) = self.ints(o, mask)?;
                let (op, repr) = (*op, *repr);
                self.int_by(|to| Step::Compare { to, op, a, b, repr })
            }
            Int::CompareFloats(op, o) => {
                let (a, b, op) = (self.float(&o.0, mask)?, self.float(&o.1, mask)?, *op);
                self.fails |= self.is_ring();
                self.int_by(|to| Step::CompareFloats { to, op, a, b, mask })
            }
            Int::Not(e) => self.function_of(IntFunction::Not, e, Repr::of(DataType::BOOL)?, mask),
            Int::BitNot(e, repr) => self.function_of(IntFunction::BitNot, e, *repr, mask),
            Int::Popcount(e, repr) => self.function_of(IntFunction::Popcount, e, *repr, mask),
            Int::LeadingZeros(e, repr) => self.function_of(IntFunction::LeadingZeros, e, *repr, mask),
            Int::Wrap(e, repr) => self.function_of(IntFunction::Wrap, e, *repr, mask),
            Int::Nonzero(e) => self.function_of(IntFunction::Nonzero, e, Repr::of(DataType::BOOL)?, mask),
            Int::And(_)
            | Int::Or(_)
            | Int::Choice(_)
            | Int::Picked(..)
            | Int::Noted(..)
            | Int::Truncate(..)
            | Int::Test(..)
            | Int::Let(_) => self.branching(e, mask),
            Int::FixedPoint(_) | Int::Bits(..) | Int::Unsupported(_) | Int::Const(_) => None,
        }
    }

    /// An integer whose operands are not all evaluated, that is recorded, or that comes from floats.
    fn branching(&mut self, e: &'p Int, mask: Option<Reg>) -> Option<Reg> {
        match e {
            Int::And(o) => {
                let a = self.int(&o.0, mask)?;
                let inside = self.also(mask, a)?;
                let b = self.int(&o.1, Some(inside))?;
                self.int_by(|to| Step::And { to, a, b })
            }
            Int::Or(o) => {
                let a = self.int(&o.0, mask)?;
                let not = self.int_function(IntFunction::Not, a, Repr::of(DataType::BOOL)?)?;
                let inside = self.also(mask, not)?;
                let b = self.int(&o.1, Some(inside))?;
                self.int_by(|to| Step::Or { to, a, b })
            }
            Int::Choice(c) => {
                let (condition, then, otherwise) = self.sides(&c.0, mask)?;
                let (a, b) = (self.int(&c.1, Some(then))?, self.int(&c.2, Some(otherwise))?);
                self.int_by(|to| Step::SelectInt { to, condition, a, b })
            }
            Int::Picked(choice, op, o, repr) => {
                let (a, b) = self.ints(o, mask)?;
                let picked = self.int_binary(*op, (a, b), *repr, mask)?;
                self.notes = true;
                self.code.push(Step::NoteInts { choice: *choice, a, b, picked, mask });
                Some(picked)
            }
            Int::Noted(choice, condition) => {
                let a = self.int(condition, mask)?;
                self.notes = true;
                self.code.push(Step::NoteCondition { choice: *choice, a, mask });
                Some(a)
            }
            Int::Truncate(e, repr, dtype) if !self.is_ring() => {
                let (a, repr, dtype) = (self.float(e, mask)?, *repr, *dtype);
                self.fails = true;
                self.int_by(|to| Step::Truncate { to, a, repr, dtype, mask })
            }
            Int::Test(test, e) => {
                let (a, test) = (self.float(e, mask)?, *test);
                self.fails |= self.is_ring();
                self.int_by(|to| Step::Test { to, test, a, mask })
            }
            Int::Let(l) => {
                self.binding(&l.0, mask)?;
                self.int(&l.1, mask)
            }
            _ => None,
        }
    }

    fn is_ring(&self) -> bool {
        self.machine.account.ring().is_some()
    }

    /// Whether it may be open which of two floats is larger: in the ring, and for NaN where floats vary.
    fn may_be_open(&self) -> bool {
        self.is_ring() || self.machine.noise.is_some()
    }

    /// Whether code computes floats that vary.
    fn varies(&self, code: &[Step]) -> bool {
        self.machine.noise.is_some() && code.iter().any(Step::rounds)
    }

    fn whole(&mut self, op: NestIntOp, o: &'p (Int, Int), repr: Repr, mask: Option<Reg>) -> Option<Reg> {
        let (a, b) = self.ints(o, mask)?;
        self.int_by(|to| Step::Whole { to, op, a, b, repr })
    }

    fn int_binary(&mut self, op: IntOp, (a, b): (Reg, Reg), repr: Repr, mask: Option<Reg>) -> Option<Reg> {
        let divides = matches!(op, IntOp::Div | IntOp::Mod | IntOp::FloorDiv | IntOp::FloorMod);
        self.fails |= divides && self.ints[b].is_none_or(|divisor| divisor == 0);
        self.int_by(|to| Step::IntBinary { to, op, a, b, repr, mask })
    }

    fn int_function(&mut self, function: IntFunction, a: Reg, repr: Repr) -> Option<Reg> {
        self.int_by(|to| Step::IntFunction { to, function, a, repr })
    }

    fn function_of(&mut self, function: IntFunction, e: &'p Int, repr: Repr, mask: Option<Reg>) -> Option<Reg> {
        let a = self.int(e, mask)?;
        self.int_function(function, a, repr)
    }

    /// The lanes of a mask in which a condition holds.
    fn also(&mut self, mask: Option<Reg>, condition: Reg) -> Option<Reg> {
        match mask {
            None => Some(condition),
            Some(mask) => self.int_by(|to| Step::And { to, a: mask, b: condition }),
        }
    }

    /// The condition of a choice, and the masks of its sides.
    fn sides(&mut self, condition: &'p Int, mask: Option<Reg>) -> Option<(Reg, Reg, Reg)> {
        let condition = self.int(condition, mask)?;
        let not = self.int_function(IntFunction::Not, condition, Repr::of(DataType::BOOL)?)?;
        Some((condition, self.also(mask, condition)?, self.also(mask, not)?))
    }

    fn binding(&mut self, binding: &'p LoweredBinding, mask: Option<Reg>) -> Option<()> {
        match binding {
            LoweredBinding::Int(slot, value) => {
                let value = match self.affine(value) {
                    Some(value) => KnownVariable::Affine(value),
                    None => KnownVariable::Reg(self.int(value, mask)?),
                };
                self.known.push((*slot, value));
            }
            LoweredBinding::Float(slot, value) => {
                let value = self.float(value, mask)?;
                self.known_floats.push((*slot, value));
            }
        }
        Some(())
    }

    fn float(&mut self, e: &'p Float, mask: Option<Reg>) -> Option<Reg> {
        self.nested(|c| c.float_code(e, mask))
    }

    fn constant_float(&mut self, value: N) -> Reg {
        let to = self.float_reg();
        self.floats[to] = Some(value);
        to
    }

    fn float_code(&mut self, e: &'p Float, mask: Option<Reg>) -> Option<Reg> {
        match e {
            Float::Const(value, float) => {
                let reading = self.machine.account.ring().unwrap_or(ConstantReading::Exact);
                Some(self.constant_float(N::of_constant(*value, *float, reading)))
            }
            Float::Slot(slot) => match self.known_floats.iter().rev().find(|(known, _)| known == slot) {
                Some((_, reg)) => Some(*reg),
                None => Some(self.constant_float(self.machine.floats[*slot])),
            },
            Float::Load(access) => {
                let from = self.place(access, mask, false)?;
                self.float_by(|to| Step::LoadFloat { to, from, mask })
            }
            Float::Add(o, float) => self.field(Field::Plus, o, *float, mask),
            Float::Sub(o, float) => self.field(Field::Minus, o, *float, mask),
            Float::Mul(o, float) => self.field(Field::Times, o, *float, mask),
            Float::Div(o, float) => self.field(Field::Over, o, *float, mask),
            Float::Binary(op, o, float) => {
                let (a, b, op, float) = (self.float(&o.0, mask)?, self.float(&o.1, mask)?, *op, *float);
                self.fails |= self.may_be_open();
                self.float_by(|to| Step::FloatBinary { to, op, a, b, float, mask })
            }
            Float::Picked(choice, op, o, float) => {
                let (a, b, op, float) = (self.float(&o.0, mask)?, self.float(&o.1, mask)?, *op, *float);
                (self.fails, self.notes) = (self.fails || self.may_be_open(), true);
                let picked = self.float_by(|to| Step::FloatBinary { to, op, a, b, float, mask })?;
                self.code.push(Step::NoteFloats { choice: *choice, a, b, picked, mask });
                Some(picked)
            }
            Float::Choice(c) => {
                let (condition, then, otherwise) = self.sides(&c.0, mask)?;
                let (a, b) = (self.float(&c.1, Some(then))?, self.float(&c.2, Some(otherwise))?);
                self.float_by(|to| Step::SelectFloat { to, condition, a, b })
            }
            Float::FromInt(e, repr, float) => {
                let (a, repr, float) = (self.int(e, mask)?, *repr, *float);
                self.float_by(|to| Step::FromInt { to, a, repr, float })
            }
            Float::Round(e, from, float) => {
                let (a, from, float) = (self.float(e, mask)?, *from, *float);
                self.float_by(|to| Step::Cast { to, a, from, float, mask })
            }
            Float::Unary(function, e, float) => {
                let (a, function, float) = (self.float(e, mask)?, *function, *float);
                self.float_by(|to| Step::Function { to, function, a, float, mask })
            }
            Float::Binary2(function, o, float) => {
                let (a, b) = (self.float(&o.0, mask)?, self.float(&o.1, mask)?);
                let (function, float) = (*function, *float);
                self.float_by(|to| Step::FunctionOfTwo { to, function, a, b, float, mask })
            }
            Float::Let(l) => {
                self.binding(&l.0, mask)?;
                self.float(&l.1, mask)
            }
            Float::Fma(..) | Float::Scale(..) | Float::FromBits(..) | Float::Unsupported(_) => None,
        }
    }

    fn field(&mut self, op: Field, o: &'p (Float, Float), float: FloatType, mask: Option<Reg>) -> Option<Reg> {
        let (a, b) = (self.float(&o.0, mask)?, self.float(&o.1, mask)?);
        self.float_by(|to| Step::Field { to, op, a, b, float, mask })
    }

    // Statements and accesses.

    fn statement(&mut self, statement: &'p TirInstr, mask: Option<Reg>) -> Option<()> {
        match statement {
            TirInstr::LetInt(slot, value) => {
                let reg = self.int(value, mask)?;
                let known = self.affine(value).map_or(KnownVariable::Reg(reg), KnownVariable::Affine);
                self.known.push((*slot, known));
                self.lets.push((*slot, reg));
            }
            TirInstr::LetFloat(slot, value) => {
                let reg = self.float(value, mask)?;
                self.known_floats.push((*slot, reg));
                self.float_lets.push((*slot, reg));
            }
            TirInstr::StoreInt(access, value) => {
                let value = self.int(value, mask)?;
                let to = self.place(access, mask, true)?;
                self.code.push(Step::StoreInt { to, value, mask });
            }
            TirInstr::StoreFloat(access, value) => {
                let value = self.float(value, mask)?;
                let to = self.place(access, mask, true)?;
                self.code.push(Step::StoreFloat { to, value, mask });
            }
            _ => return None,
        }
        Some(())
    }

    /// The affine position of an access, if it is proved to be inside of the buffer and of its memory.
    fn position(&self, access: &Access, indices: &[Option<Affine>]) -> Option<Affine> {
        let view = &self.machine.views[access.buffer];
        let mut at = Affine::constant(view.offset);
        for (index, dim) in indices.iter().zip(&view.dims) {
            let index = (*index)?;
            let (least, greatest) = self.space.range(&index);
            if least < 0 || greatest >= i128::from(dim.extent) {
                return None;
            }
            at = at.plus(&index.times(dim.stride)?)?;
        }
        let (least, greatest) = self.space.range(&at);
        let count = match &self.machine.memory.get(view.memory)?.data {
            MemoryElements::Int(elements) => elements.len(),
            MemoryElements::Float(elements) => elements.len(),
        };
        (least >= 0 && greatest < count as i128).then_some(at)
    }

    fn place(&mut self, access: &'p Access, mask: Option<Reg>, write: bool) -> Option<LanePlace> {
        let machine = self.machine;
        let view = &machine.views[access.buffer];
        let memory = machine.memory.get(view.memory)?;
        let indices: Vec<Option<Affine>> = access.indices.iter().map(|index| self.affine(index)).collect();
        if !memory.touches.is_empty()
            || indices.len() != view.dims.len()
            || indices.len() > MAX_CHECKED_RANK
            || !self.admits(access, &indices, write)
        {
            return None;
        }
        let at = self.position(access, &indices);
        self.fails |= at.is_none() || !write && memory.written.is_some();
        let touch = Touch { memory: view.memory, at };
        let touches = if write { &mut self.stores } else { &mut self.loads };
        touches.push(touch);
        let (memory, offset) = (view.memory, view.offset);
        let mut place = LanePlace { memory, at: None, dims: Vec::new(), offset };
        match at {
            Some(at) => place.at = Some(self.affine_number(at)),
            None => {
                let dims = view.dims.clone();
                for (index, dim) in access.indices.iter().zip(dims) {
                    place.dims.push((self.int(index, mask)?, dim.extent, dim.stride));
                }
            }
        }
        Some(place)
    }

    /// Whether the innermost block is proved to declare an access.
    fn admits(&self, access: &Access, indices: &[Option<Affine>], write: bool) -> bool {
        let (own, reads, writes) = match (self.block, self.machine.touched.last()) {
            (Some(block), _) => {
                let declared = &block.declared;
                let within =
                    |regions: &Vec<RegionCode>| regions.iter().any(|region| self.is_in_region(region, access, indices));
                (declared.own, declared.reads.as_ref().map(within), declared.writes.as_ref().map(within))
            }
            (None, Some(touched)) => {
                let extents = self.machine.views[access.buffer].dims.iter().map(|dim| dim.extent);
                let is_in = |((from, to), (index, extent)): (&(i64, i64), (&Option<Affine>, i64))| {
                    let (least, greatest) = match index {
                        Some(index) => self.space.range(index),
                        None => (0, i128::from(extent) - 1),
                    };
                    i128::from(*from) <= least.max(0) && greatest.min(i128::from(extent) - 1) < i128::from(*to)
                };
                let within = |parts: &Vec<BufferPart>| {
                    parts.iter().any(|part| {
                        part.buffer == access.buffer
                            && part.ranges.iter().zip(indices.iter().zip(extents.clone())).all(is_in)
                    })
                };
                (touched.own, touched.reads.as_ref().map(within), touched.writes.as_ref().map(within))
            }
            (None, None) => return true,
        };
        let written = writes.unwrap_or(true);
        access.buffer >= own || if write { written } else { reads.unwrap_or(true) || written }
    }

    /// Whether an access is in a declared region in every round in which it is in the buffer.
    fn is_in_region(&self, region: &RegionCode, access: &Access, indices: &[Option<Affine>]) -> bool {
        let dims = &self.machine.views[access.buffer].dims;
        let ranges = region.ranges.iter().zip(access.indices.iter().zip(indices).zip(dims));
        region.buffer == access.buffer
            && ranges.into_iter().all(|((from, to), ((index, affine), dim))| {
                if to.is_none() && self.is_same(from, index, DEEPEST) {
                    return true;
                }
                let Some(from) = self.affine(from) else { return false };
                let to = match to {
                    Some(to) => self.affine(to),
                    None => from.plus(&Affine::constant(1)),
                };
                let Some(to) = to else { return false };
                let whole = || self.space.range(&from).1 <= 0 && self.space.range(&to).0 >= i128::from(dim.extent);
                let inside = |index: &Affine| {
                    let (since, until) = (index.minus(&from), to.minus(index));
                    since.zip(until).is_some_and(|(since, until)| {
                        self.space.range(&since).0 >= 0 && self.space.range(&until).0 >= 1
                    })
                };
                whole() || affine.as_ref().is_some_and(inside)
            })
    }

    /// Whether two expressions have the same value wherever both are evaluated in a round.
    fn is_same(&self, a: &Int, b: &Int, depth: usize) -> bool {
        let Some(depth) = depth.checked_sub(1) else { return false };
        let same = |a: &(Int, Int), b: &(Int, Int)| self.is_same(&a.0, &b.0, depth) && self.is_same(&a.1, &b.1, depth);
        match (a, b) {
            (Int::Const(a), Int::Const(b)) => a == b,
            (Int::Slot(a), Int::Slot(b)) => a == b,
            (Int::Add(a, x), Int::Add(b, y)) | (Int::Sub(a, x), Int::Sub(b, y)) | (Int::Mul(a, x), Int::Mul(b, y)) => {
                x == y && same(a, b)
            }
            (Int::Binary(a, o, x), Int::Binary(b, p, y)) => a == b && x == y && same(o, p),
            (Int::Compare(a, o, x), Int::Compare(b, p, y)) => a == b && x == y && same(o, p),
            (Int::Wrap(a, x), Int::Wrap(b, y)) => x == y && self.is_same(a, b, depth),
            (Int::Choice(a), Int::Choice(b)) => {
                let parts = self.is_same(&a.0, &b.0, depth) && self.is_same(&a.1, &b.1, depth);
                parts && self.is_same(&a.2, &b.2, depth)
            }
            (Int::Load(a), Int::Load(b)) => {
                let kept = !self.written.contains(&self.machine.views[a.buffer].memory);
                let indices = a.indices.iter().zip(&b.indices);
                kept && a.buffer == b.buffer && indices.into_iter().all(|(a, b)| self.is_same(a, b, depth))
            }
            _ => false,
        }
    }

    // Folds.

    /// A statement that combines an element with values in which it does not occur, behind variables that are affine;
    /// the code for `init`, the code for the values, and how they are combined.
    fn folded(
        &mut self,
        statements: &'p [TirInstr],
        init: &'p [TirInstr],
        cut: usize,
        mask: Option<Reg>,
    ) -> Option<(Vec<Step>, Vec<Step>, Fold)> {
        let marks = (self.loads.len(), self.stores.len(), self.code.len(), self.fails, self.notes);
        let known = self.known.len();
        let (last, before) = statements.split_last()?;
        let variables = before.iter().try_for_each(|statement| self.variable(statement));
        let fold = variables.and_then(|()| self.fold(last, init, cut, mask));
        if fold.is_none() {
            self.known.truncate(known);
            self.loads.truncate(marks.0);
            self.stores.truncate(marks.1);
            self.code.truncate(marks.2);
            (self.fails, self.notes) = (marks.3, marks.4);
        }
        fold
    }

    /// A variable whose value is affine, or the guard.
    fn variable(&mut self, statement: &'p TirInstr) -> Option<()> {
        match statement {
            TirInstr::LetInt(slot, value) if self.known.iter().all(|(known, _)| known != slot) => {
                self.known.push((*slot, KnownVariable::Affine(self.affine(value)?)));
                Some(())
            }
            // A round without a guard has no conditional statement.
            TirInstr::If(_) => Some(()),
            _ => None,
        }
    }

    fn fold(
        &mut self,
        statement: &'p TirInstr,
        init: &'p [TirInstr],
        cut: usize,
        mask: Option<Reg>,
    ) -> Option<(Vec<Step>, Vec<Step>, Fold)> {
        let access = match statement {
            TirInstr::StoreInt(access, _) | TirInstr::StoreFloat(access, _) => access,
            _ => return None,
        };
        let at = self.place(access, mask, true)?.at?;
        let position = self.affine[at];
        if self.space.is_injective(&position, cut) {
            return None;
        }
        let start = match init {
            [] => None,
            [TirInstr::StoreInt(to, value)] if self.is_at(to, access) => Some(self.int(value, mask)?),
            [TirInstr::StoreFloat(to, value)] if self.is_at(to, access) => Some(self.float(value, mask)?),
            _ => return None,
        };
        if self.fails || !self.loads.is_empty() {
            return None;
        }
        let init = std::mem::take(&mut self.code);
        let (op, left, value, choice) = match statement {
            TirInstr::StoreInt(_, value) => self.fold_of_ints(value, access, mask)?,
            TirInstr::StoreFloat(_, value) => self.fold_of_floats(value, access, mask)?,
            _ => return None,
        };
        let memory = self.machine.views[access.buffer].memory;
        if self.loads.iter().any(|load| load.memory == memory) {
            return None;
        }
        Some((init, std::mem::take(&mut self.code), Fold { memory, at, op, left, value, choice, start, mask }))
    }

    /// Whether two accesses are to the same element in every round, and both are declared.
    fn is_at(&self, a: &Access, b: &Access) -> bool {
        let indices = |access: &Access| -> Option<Vec<Affine>> {
            access.indices.iter().map(|index| self.affine(index)).collect()
        };
        let (Some(x), Some(y)) = (indices(a), indices(b)) else { return false };
        let known: Vec<Option<Affine>> = x.iter().copied().map(Some).collect();
        a.buffer == b.buffer && x == y && self.admits(a, &known, true) && self.admits(a, &known, false)
    }

    fn fold_of_ints(
        &mut self,
        value: &'p Int,
        to: &Access,
        mask: Option<Reg>,
    ) -> Option<(FoldOp, bool, Reg, Option<usize>)> {
        let (op, o, choice) = match value {
            Int::Add(o, repr) => (FoldOp::Whole(NestIntOp::Plus, *repr), o, None),
            Int::Sub(o, repr) => (FoldOp::Whole(NestIntOp::Minus, *repr), o, None),
            Int::Mul(o, repr) => (FoldOp::Whole(NestIntOp::Times, *repr), o, None),
            Int::Binary(op @ (IntOp::Min | IntOp::Max | IntOp::BitAnd | IntOp::BitOr | IntOp::BitXor), o, repr) => {
                (FoldOp::Int(*op, *repr), o, None)
            }
            Int::Picked(choice, op @ (IntOp::Min | IntOp::Max), o, repr) => (FoldOp::Int(*op, *repr), o, Some(*choice)),
            _ => return None,
        };
        let (left, other) = match &**o {
            (Int::Load(from), other) if self.is_at(from, to) => (true, other),
            (other, Int::Load(from)) if self.is_at(from, to) => (false, other),
            _ => return None,
        };
        Some((op, left, self.int(other, mask)?, choice))
    }

    fn fold_of_floats(
        &mut self,
        value: &'p Float,
        to: &Access,
        mask: Option<Reg>,
    ) -> Option<(FoldOp, bool, Reg, Option<usize>)> {
        let (op, o, choice) = match value {
            Float::Add(o, float) => (FoldOp::Field(Field::Plus, *float), o, None),
            Float::Sub(o, float) => (FoldOp::Field(Field::Minus, *float), o, None),
            Float::Mul(o, float) => (FoldOp::Field(Field::Times, *float), o, None),
            Float::Binary(op, o, float) => (FoldOp::Float(*op, *float), o, None),
            Float::Picked(choice, op, o, float) => (FoldOp::Float(*op, *float), o, Some(*choice)),
            _ => return None,
        };
        let (left, other) = match &**o {
            (Float::Load(from), other) if self.is_at(from, to) => (true, other),
            (other, Float::Load(from)) if self.is_at(from, to) => (false, other),
            _ => return None,
        };
        Some((op, left, self.float(other, mask)?, choice))
    }
}
