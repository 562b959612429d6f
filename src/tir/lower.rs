//! Lowers the AST to the tree that is interpreted: statements and buffers.

mod axes;
mod expr;
mod packed;
mod vector;

use std::collections::BTreeSet;

use axes::{ThreadAxes, beside, is_barrier, of_axis};

use super::beside::Beside;
use super::code::{
    Access, BlockCode, BufferCode, Declared, Float, ForCode, Int, IterCode, LoweredFunction, MatchCode, ParamCode,
    RegionCode, TirInstr, TirValue,
};
use super::error::TirError;
use super::scalar::Repr;
use crate::grammar::tir::{
    Assert, Block, Buffer, BufferVar, Expr, Extern, For, Iter, IterKind, MatchRegion, Param, PrimFunc, Range, Region,
    Stmt, Store, Var, lanes,
};
use crate::grammar::{DataType, Name, TypeCode};
use crate::judge::with_stack;
use crate::number::FloatType;
use crate::scope::Context;
use crate::value::address;

type LowerResult<T> = Result<T, TirError>;

/// The maximum nesting of statements and expressions together.
const MAX_DEPTH: usize = 20_000;

/// Returns the tree and its depth; with `noting` it records which sides its choices take.
pub(super) fn lower(f: &PrimFunc, noting: bool) -> LowerResult<(LoweredFunction, usize)> {
    let mut lowering = Lowering { noting, axes: ThreadAxes::of(&f.body), ..Lowering::default() };
    let params = f.params.iter().map(|param| lowering.param(param)).collect::<LowerResult<_>>()?;
    let mut body = Vec::new();
    for buffer in &f.allocs {
        body.push(TirInstr::Alloc(Box::new(lowering.alloc(buffer)?)));
    }
    for stmt in &f.body {
        body.push(lowering.stmt(stmt)?);
    }
    let program = LoweredFunction {
        params,
        body,
        ints: lowering.ints,
        floats: lowering.floats,
        buffers: lowering.buffers,
        shape_vars: lowering.shape_vars,
        choices: lowering.choices,
    };
    Ok((program, lowering.deepest))
}

/// The meaning of a name.
#[derive(Clone)]
enum LoweredName {
    Int(usize, DataType),
    Float(usize, DataType),
    Buffer { slot: usize, dtype: DataType, rank: usize },
    Opaque,
}

#[derive(Default)]
struct Lowering {
    /// The definitions of each name, the innermost last.
    defs: Context<Name, LoweredName>,
    ints: usize,
    floats: usize,
    buffers: Vec<Name>,
    shape_vars: Vec<(usize, Name)>,
    /// Whether an unknown name is a variable that matching binds.
    binding: bool,
    /// Whether choices record their sides: not in a copy, whose addresses nobody knows.
    noting: bool,
    choices: Vec<usize>,
    axes: ThreadAxes,
    /// How many barriers there were so far.
    barriers: usize,
    /// The recently used slots, and those that they are computed from.
    used: BTreeSet<usize>,
    /// The slots from which iteration variables are computed.
    origins: Vec<(usize, BTreeSet<usize>)>,
    /// The slots from which iteration variables of reductions are computed.
    combined: BTreeSet<usize>,
    depth: usize,
    deepest: usize,
}

/// Whether the elements of one data type are truth values and those of the other the numbers by which TVM stores them.
fn are_truths(held: DataType, seen_as: DataType) -> bool {
    held.is_bool() && seen_as == DataType::INT8 || held == DataType::INT8 && seen_as.is_bool()
}

fn malformed<T>(message: impl Into<String>) -> LowerResult<T> {
    Err(TirError::Malformed(message.into()))
}

impl Lowering {
    fn define(&mut self, name: &Name, def: LoweredName) {
        self.defs.enter(name.clone(), def);
    }

    fn lookup(&self, name: &str) -> Option<&LoweredName> {
        self.defs.get(name)
    }

    fn int_slot(&mut self) -> usize {
        self.ints += 1;
        self.ints - 1
    }

    fn float_slot(&mut self) -> usize {
        self.floats += 1;
        self.floats - 1
    }

    /// The slot of a scalar variable that is an integer.
    fn int_var(&mut self, var: &Var) -> LowerResult<usize> {
        if var.dtype.code == TypeCode::Handle {
            return Err(TirError::Unsupported(format!("the pointer `{}`", var.name)));
        }
        if Repr::of(var.dtype).is_none() {
            return malformed(format!("`{}` must be an integer, not a {}", var.name, var.dtype));
        }
        let slot = self.int_slot();
        self.define(&var.name, LoweredName::Int(slot, var.dtype));
        Ok(slot)
    }

    fn scoped<T>(&mut self, body: impl FnOnce(&mut Self) -> LowerResult<T>) -> LowerResult<T> {
        let mark = self.defs.mark();
        let result = self.nested(body);
        self.defs.leave(mark);
        result
    }

    fn nested<T>(&mut self, body: impl FnOnce(&mut Self) -> LowerResult<T>) -> LowerResult<T> {
        if self.depth >= MAX_DEPTH {
            return Err(TirError::Unsupported(format!("nesting more than {MAX_DEPTH} deep")));
        }
        self.depth += 1;
        self.deepest = self.deepest.max(self.depth);
        let result = with_stack(|| body(self));
        self.depth -= 1;
        result
    }

    /// Statements with a scope of their own.
    fn body(&mut self, stmts: &[Stmt]) -> LowerResult<Vec<TirInstr>> {
        self.scoped(|l| stmts.iter().map(|stmt| l.stmt(stmt)).collect())
    }

    fn param(&mut self, param: &Param) -> LowerResult<ParamCode> {
        match param {
            Param::Scalar(var) => self.scalar_param(var),
            Param::Handle(var) => {
                self.define(&var.name, LoweredName::Opaque);
                Ok(ParamCode::Handle)
            }
            Param::Buffer(buffer) => {
                self.binding = true;
                let code = self.buffer(buffer);
                self.binding = false;
                code.map(ParamCode::Buffer)
            }
        }
    }

    fn scalar_param(&mut self, var: &Var) -> LowerResult<ParamCode> {
        let (name, dtype) = (var.name.clone(), var.dtype);
        match (Repr::of(dtype), dtype.float_type()) {
            (Some(repr), _) => {
                // A buffer further left may use it in its shape.
                let slot = match self.shape_vars.iter().position(|(_, shape_var)| *shape_var == name) {
                    Some(known) => self.shape_vars.swap_remove(known).0,
                    None => self.int_var(var)?,
                };
                Ok(ParamCode::Int { slot, name, dtype, repr })
            }
            (None, Some(round)) => {
                let slot = self.float_slot();
                self.define(&name, LoweredName::Float(slot, dtype));
                Ok(ParamCode::Float { slot, name, round })
            }
            (None, None) => {
                self.define(&name, LoweredName::Opaque);
                Ok(ParamCode::Handle)
            }
        }
    }

    /// The description of a buffer that is defined here.
    fn buffer(&mut self, buffer: &Buffer) -> LowerResult<BufferCode> {
        if Repr::of(buffer.dtype).is_none() && buffer.dtype.float_type().is_none() {
            return Err(TirError::Unsupported(format!("buffers of {}", buffer.dtype)));
        }
        if !buffer.strides.is_empty() && buffer.strides.len() != buffer.shape.len() {
            return malformed(format!("`{}` has not as many strides as dimensions", buffer.name));
        }
        let slot = self.buffers.len();
        self.buffers.push(buffer.name.clone());
        let code = BufferCode {
            slot,
            name: buffer.name.clone(),
            dtype: buffer.dtype,
            shape: buffer.shape.iter().map(|e| self.int(e)).collect::<LowerResult<_>>()?,
            strides: buffer.strides.iter().map(|e| self.int(e)).collect::<LowerResult<_>>()?,
            offset: buffer.elem_offset.as_ref().map(|e| self.int(e)).transpose()?,
            scope: self.axes.scope(&buffer.scope),
        };
        self.define(&buffer.name, LoweredName::Buffer { slot, dtype: buffer.dtype, rank: buffer.shape.len() });
        Ok(code)
    }

    /// A compact buffer with its own memory.
    fn alloc(&mut self, buffer: &Buffer) -> LowerResult<BufferCode> {
        let mut compact = buffer.clone();
        compact.elem_offset = None;
        self.buffer(&compact)
    }

    fn buffer_use(&self, buffer: &BufferVar) -> LowerResult<(usize, usize)> {
        match self.lookup(&buffer.name) {
            Some(LoweredName::Buffer { slot, dtype, rank }) if *dtype == buffer.dtype => Ok((*slot, *rank)),
            Some(LoweredName::Buffer { dtype, .. }) => {
                malformed(format!("`{}` is a buffer of {dtype}, used as one of {}", buffer.name, buffer.dtype))
            }
            Some(LoweredName::Int(..) | LoweredName::Float(..) | LoweredName::Opaque) | None => {
                malformed(format!("no buffer `{}` is in scope", buffer.name))
            }
        }
    }

    fn access(&mut self, buffer: &BufferVar, indices: &[Expr]) -> LowerResult<Access> {
        let (slot, rank) = self.buffer_use(buffer)?;
        if rank != indices.len() {
            let found = indices.len();
            return malformed(format!("`{}` has {rank} dimensions, {found} indices are given", buffer.name));
        }
        let indices = indices.iter().map(|e| self.int(e)).collect::<LowerResult<_>>()?;
        Ok(Access { buffer: slot, indices })
    }

    fn stmt(&mut self, stmt: &Stmt) -> LowerResult<TirInstr> {
        let before = self.barriers;
        let code = self.stmt_code(stmt)?;
        let waits = self.barriers > before && !matches!(code, TirInstr::Barrier);
        Ok(if waits { TirInstr::Waiting(Box::new(code)) } else { code })
    }

    fn stmt_code(&mut self, stmt: &Stmt) -> LowerResult<TirInstr> {
        match stmt {
            Stmt::For(f) => self.for_stmt(f),
            Stmt::While(w) => {
                let choice = self.choice_at(w);
                Ok(TirInstr::While(self.condition(&w.condition)?, self.body(&w.body)?, choice))
            }
            Stmt::Block(b) => self.block(b),
            Stmt::If(i) => {
                let condition = self.condition(&i.condition)?;
                let condition = self.noted(i, condition);
                Ok(TirInstr::If(Box::new((condition, self.body(&i.then)?, self.body(&i.otherwise)?))))
            }
            Stmt::Store(s) => self.store(s),
            Stmt::Let(l) => match self.value_of(&l.value, l.var.dtype)? {
                TirValue::Int(value, _) => Ok(TirInstr::LetInt(self.int_var(&l.var)?, value)),
                TirValue::Float(value, _) => {
                    let slot = self.float_slot();
                    self.define(&l.var.name, LoweredName::Float(slot, l.var.dtype));
                    Ok(TirInstr::LetFloat(slot, value))
                }
            },
            Stmt::Alloc(buffer) => self.alloc(buffer).map(|code| TirInstr::Alloc(Box::new(code))),
            Stmt::Decl(d) => {
                // Memory holds elements of one data type here; in TVM it holds bytes, which may be seen as any.
                let held = match self.lookup(&d.data.name) {
                    Some(LoweredName::Buffer { dtype, .. }) => *dtype,
                    Some(LoweredName::Int(..) | LoweredName::Float(..) | LoweredName::Opaque) | None => d.buffer.dtype,
                };
                if held != d.buffer.dtype && !are_truths(held, d.buffer.dtype) {
                    let (name, seen_as) = (&d.data.name, d.buffer.dtype);
                    let what = format!("the memory of `{name}`, of {held}, seen as {seen_as}");
                    return Err(TirError::Unsupported(what));
                }
                let data = BufferVar { dtype: held, ..d.data.clone() };
                let (source, _) = self.buffer_use(&data)?;
                Ok(TirInstr::Decl(Box::new(self.buffer(&d.buffer)?), source))
            }
            Stmt::Attr(a) => self.body(&a.body).map(TirInstr::Scope),
            Stmt::LaunchThread(l) => {
                let (stop, choice) = (self.int(&l.extent)?, self.choice_at(l));
                self.scoped(|lowering| {
                    let slot = lowering.int_var(&l.var)?;
                    let body = lowering.body(&l.body)?;
                    let (start, step, beside) = (Int::Const(0), None, lowering.apart(slot, of_axis(&l.thread)));
                    Ok(TirInstr::For(Box::new(ForCode { slot, start, stop, step, body, choice, beside })))
                })
            }
            Stmt::Assert(a) => self.assert(a),
            Stmt::Evaluate(Expr::Extern(e)) if &*e.op == "ret" && !e.of_module => {
                Ok(TirInstr::Return(e.args.first().map(|value| self.value(value)).transpose()?))
            }
            Stmt::Evaluate(e) if is_barrier(e) => {
                self.barriers += 1;
                Ok(TirInstr::Barrier)
            }
            Stmt::Evaluate(Expr::Extern(e)) => self.evaluated(e),
            Stmt::Evaluate(e) => match self.value(e)? {
                TirValue::Int(e, _) => Ok(TirInstr::EvaluateInt(e)),
                TirValue::Float(e, _) => Ok(TirInstr::EvaluateFloat(e)),
            },
            Stmt::Break => Ok(TirInstr::Break),
            Stmt::Continue => Ok(TirInstr::Continue),
        }
    }

    /// A call that is evaluated for its side effect.
    fn evaluated(&mut self, call: &Extern) -> LowerResult<TirInstr> {
        if let ("assume", [condition]) = (&*call.op, call.args.as_slice()) {
            return Ok(TirInstr::Assume(self.condition(condition)?));
        }
        Ok(match self.packed(call)? {
            Some(code) => code,
            None => TirInstr::Unsupported(called(call).into()),
        })
    }

    fn store(&mut self, s: &Store) -> LowerResult<TirInstr> {
        let lanes = lanes(&s.indices);
        if lanes != 1 {
            return self.store_lanes(s, lanes);
        }
        let access = self.access(&s.buffer, &s.indices)?;
        Ok(match self.value_of(&s.value, s.buffer.dtype)? {
            TirValue::Int(value, _) => TirInstr::StoreInt(access, value),
            TirValue::Float(value, _) => TirInstr::StoreFloat(access, value),
        })
    }

    fn assert(&mut self, a: &Assert) -> LowerResult<TirInstr> {
        let message: Vec<&str> = a.message.iter().map(|m| &**m).collect();
        Ok(TirInstr::Assert(Box::new((self.condition(&a.condition)?, a.kind.clone(), message.concat()))))
    }

    fn for_stmt(&mut self, f: &For) -> LowerResult<TirInstr> {
        let (start, stop) = (self.int(&f.start)?, self.int(&f.stop)?);
        let step = f.step.as_ref().map(|e| self.int(e)).transpose()?;
        let choice = self.choice_at(f);
        self.scoped(|l| {
            let slot = l.int_var(&f.var)?;
            let body = l.body(&f.body)?;
            let beside = l.apart(slot, beside(&f.kind));
            Ok(TirInstr::For(Box::new(ForCode { slot, start, stop, step, body, choice, beside })))
        })
    }

    /// The same, except for threads that accumulate one result, which compilers combine.
    fn apart(&self, slot: usize, beside: Option<Beside>) -> Option<Beside> {
        beside.filter(|of| matches!(of, Beside::Tasks | Beside::Lanes) || !self.combined.contains(&slot))
    }

    /// The value of an iteration variable, and the slots that it is computed from.
    fn iter_value(&mut self, iter: &Iter) -> LowerResult<(Int, BTreeSet<usize>)> {
        self.used.clear();
        let value = self.int(&iter.value)?;
        let from = std::mem::take(&mut self.used);
        if iter.kind == IterKind::Reduce {
            self.combined.extend(&from);
        }
        Ok((value, from))
    }

    /// Records that a slot is used.
    fn uses(&mut self, slot: usize) {
        self.used.insert(slot);
        if let Some((_, from)) = self.origins.iter().rev().find(|(known, _)| *known == slot) {
            self.used.extend(from);
        }
    }

    fn block(&mut self, b: &Block) -> LowerResult<TirInstr> {
        let mut bounds = Vec::new();
        for iter in &b.iters {
            bounds.push((self.int(&iter.start)?, self.iter_value(iter)?));
        }
        self.scoped(|l| {
            let mut iters = Vec::new();
            for (iter, (start, (value, from))) in b.iters.iter().zip(bounds) {
                let (slot, reduce) = (l.int_var(&iter.var)?, iter.kind == IterKind::Reduce);
                l.origins.push((slot, from));
                iters.push(IterCode { slot, reduce, start, value });
            }
            // TVM describes a block that it cannot analyse as one without accesses.
            let said = |regions: &Option<Vec<Region>>| regions.as_ref().is_some_and(|regions| !regions.is_empty());
            let known = said(&b.reads) || said(&b.writes);
            let declared = Declared {
                reads: b.reads.as_ref().filter(|_| known).map(|regions| l.regions(regions)).transpose()?,
                writes: b.writes.as_ref().filter(|_| known).map(|regions| l.regions(regions)).transpose()?,
                own: l.buffers.len(),
            };
            Ok(TirInstr::Block(Box::new(BlockCode {
                iters,
                predicate: b.predicate.as_ref().map(|e| l.predicate(b, e)).transpose()?,
                declared,
                allocs: b.allocs.iter().map(|buffer| l.alloc(buffer)).collect::<LowerResult<_>>()?,
                matches: b.matches.iter().map(|m| l.match_region(m)).collect::<LowerResult<_>>()?,
                init: b.init.as_ref().map(|init| l.body(init)).transpose()?,
                body: l.body(&b.body)?,
            })))
        })
    }

    fn predicate(&mut self, block: &Block, predicate: &Expr) -> LowerResult<Int> {
        let condition = self.condition(predicate)?;
        Ok(self.noted(block, condition))
    }

    /// The number of a choice, if its sides are recorded.
    fn choice_at<T>(&mut self, node: &T) -> Option<usize> {
        if !self.noting {
            return None;
        }
        self.choices.push(address(node));
        Some(self.choices.len() - 1)
    }

    /// The condition of a choice.
    fn noted<T>(&mut self, node: &T, condition: Int) -> Int {
        match self.choice_at(node) {
            Some(choice) => Int::Noted(choice, Box::new(condition)),
            None => condition,
        }
    }

    fn regions(&mut self, regions: &[Region]) -> LowerResult<Vec<RegionCode>> {
        regions
            .iter()
            .map(|r| Ok(RegionCode { buffer: self.buffer_use(&r.buffer)?.0, ranges: self.ranges(&r.ranges)? }))
            .collect()
    }

    fn ranges(&mut self, ranges: &[Range]) -> LowerResult<Vec<(Int, Option<Int>)>> {
        ranges.iter().map(|r| Ok((self.int(&r.start)?, r.stop.as_ref().map(|e| self.int(e)).transpose()?))).collect()
    }

    fn match_region(&mut self, m: &MatchRegion) -> LowerResult<MatchCode> {
        let (source, rank) = self.buffer_use(&m.source.buffer)?;
        if m.source.ranges.len() != rank || m.source.buffer.dtype != m.buffer.dtype {
            return malformed(format!("`{}` does not fit the buffer it is a part of", m.buffer.name));
        }
        let ranges = self.ranges(&m.source.ranges)?;
        let outer = std::mem::take(&mut self.shape_vars);
        self.binding = true;
        let buffer = self.buffer(&m.buffer);
        self.binding = false;
        let bound = std::mem::replace(&mut self.shape_vars, outer);
        Ok(MatchCode { buffer: buffer?, source, ranges, unbound: bound.into_iter().map(|(slot, _)| slot).collect() })
    }
}

/// A call of a function without a known meaning, in words.
fn called(call: &Extern) -> String {
    match call.args.first() {
        Some(Expr::Str(name)) => format!("T.{} of `{name}`", call.op),
        Some(_) | None if call.of_module => format!("a call of @{}", call.op),
        Some(_) | None => format!("T.{}", call.op),
    }
}

/// A pair of integers or of floats.
enum Pair {
    Int(Box<(Int, Int)>, Repr),
    Float(Box<(Float, Float)>, FloatType),
}
