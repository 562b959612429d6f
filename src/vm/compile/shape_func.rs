//! `PrimFunc`s that compute dimensions (`R89.VM.SHAPEFUNC`).
//!
//! Each reads slots of the heap, computes in int64, and writes slots. It also writes a flag that int64 was sufficient:
//! no operation overflowed or divided by zero. If the flag is false, the written values have no meaning.

use std::sync::Arc;

use rustc_hash::FxHashMap;

use super::Compiler;
use super::emit::{Emitter, PendingDims};
use crate::grammar::tir::{Buffer, Conditional, Expr, Let, Load, Param, PrimFunc, Stmt, Store, Var};
use crate::grammar::{BinaryOp, DataType, Name, PrimExpr, Span};
use crate::judge::with_stack;
use crate::vm::executable::Builtin;
use crate::vm::slots::slot_of;

impl Compiler<'_> {
    /// A name that differs from those of all functions of the program.
    pub(super) fn fresh_shape_func(&mut self) -> Name {
        loop {
            let name: Name = format!("shape_func_{}", self.shape_funcs).into();
            self.shape_funcs += 1;
            if !self.globals.contains_key(&name) {
                return name;
            }
        }
    }

    /// The index of a function of the library in the function table.
    pub(super) fn callee_index(&mut self, builtin: Builtin) -> u32 {
        self.callees.index_of(crate::vm::executable::Callee::Builtin(builtin))
    }
}

impl Emitter<'_, '_> {
    /// Writes the functions, once the size of the heap is known.
    pub(super) fn write_shape_funcs(&mut self) {
        let slots = self.slots;
        for pending in std::mem::take(&mut self.pending) {
            let func = Arc::new(shape_func(slots, &pending));
            if let Some(place) = self.prim_funcs.get_mut(pending.index as usize) {
                place.func = func;
            }
        }
    }
}

/// The function that computes some dimensions.
fn shape_func(slots: u32, pending: &PendingDims) -> PrimFunc {
    let heap = Buffer::new("H", vec![int(slots.into())], DataType::INT64);
    let mut writer = Writer { heap: heap.clone(), body: Vec::new(), known: FxHashMap::default(), fits: None };
    for (slot, dim) in &pending.dims {
        let value = writer.dim(dim);
        writer.store(*slot, value);
    }
    let fits = writer.fits.take().unwrap_or_else(|| Expr::bool(true));
    writer.store(pending.flag, Expr::Cast(DataType::INT64, Box::new(fits)));
    PrimFunc { params: vec![Param::Buffer(heap)], private: true, body: writer.body, ..PrimFunc::default() }
}

struct Writer {
    heap: Buffer,
    body: Vec<Stmt>,
    /// Variables for the parts computed so far, by their addresses.
    known: FxHashMap<usize, Expr>,
    /// Whether everything so far fits int64.
    fits: Option<Expr>,
}

fn int(value: i64) -> Expr {
    Expr::Int(value, DataType::INT64)
}

fn binary(op: BinaryOp, a: &Expr, b: &Expr) -> Expr {
    Expr::binary(op, a.clone(), b.clone(), Span::NONE)
}

fn either(condition: Expr, then: Expr, otherwise: Expr) -> Expr {
    Expr::IfThenElse(Box::new(Conditional { condition, then, otherwise }))
}

fn number(truth: Expr) -> Expr {
    Expr::Cast(DataType::INT64, Box::new(truth))
}

impl Writer {
    fn store(&mut self, slot: u32, value: Expr) {
        let (buffer, indices) = (self.heap.var(Span::NONE), vec![int(slot.into())]);
        self.body.push(Stmt::Store(Store { buffer, indices, value, span: Span::NONE }));
    }

    /// Binds a value to a variable.
    fn bind(&mut self, value: Expr) -> Expr {
        let var = Var::new(&format!("v{}", self.body.len()), value.dtype());
        self.body.push(Stmt::Let(Let { var: var.clone(), value, span: Span::NONE }));
        Expr::Var(var)
    }

    fn demand(&mut self, condition: Expr) {
        let all = match self.fits.take() {
            Some(fits) => binary(BinaryOp::And, &fits, &condition),
            None => condition,
        };
        self.fits = Some(self.bind(all));
    }

    fn dim(&mut self, dim: &PrimExpr) -> Expr {
        with_stack(|| match dim {
            PrimExpr::IntImm(i) => int(*i),
            PrimExpr::Var(v) => {
                let indices = vec![int(slot_of(v).unwrap_or_default().into())];
                Expr::Load(Load { buffer: self.heap.var(Span::NONE), indices, span: Span::NONE })
            }
            PrimExpr::Binary(op, a, b) => {
                let (a, b) = (self.part(a), self.part(b));
                self.operator(*op, &a, &b)
            }
            PrimExpr::Not(a) => {
                let a = self.part(a);
                number(binary(BinaryOp::Eq, &a, &int(0)))
            }
            PrimExpr::Select(c, t, f) => {
                let (c, t, f) = (self.part(c), self.part(t), self.part(f));
                either(binary(BinaryOp::Ne, &c, &int(0)), t, f)
            }
        })
    }

    /// Computes a part of a dimension once.
    fn part(&mut self, dim: &Arc<PrimExpr>) -> Expr {
        let address = Arc::as_ptr(dim) as usize;
        if let Some(known) = self.known.get(&address) {
            return known.clone();
        }
        let value = self.dim(dim);
        let value = match value {
            Expr::Int(..) => value,
            computed => self.bind(computed),
        };
        self.known.insert(address, value.clone());
        value
    }

    fn operator(&mut self, op: BinaryOp, a: &Expr, b: &Expr) -> Expr {
        let truth = |e: &Expr| binary(BinaryOp::Ne, e, &int(0));
        match op {
            BinaryOp::Add => self.sum(op, a, b, BinaryOp::Ge, BinaryOp::Lt),
            BinaryOp::Sub => self.sum(op, a, b, BinaryOp::Le, BinaryOp::Gt),
            BinaryOp::Mul => self.product(a, b),
            BinaryOp::Div | BinaryOp::Mod | BinaryOp::FloorDiv | BinaryOp::FloorMod => self.quotient(op, a, b),
            BinaryOp::Min | BinaryOp::Max => binary(op, a, b),
            BinaryOp::And | BinaryOp::Or => number(binary(op, &truth(a), &truth(b))),
            BinaryOp::Eq | BinaryOp::Ne | BinaryOp::Lt | BinaryOp::Le | BinaryOp::Gt | BinaryOp::Ge => {
                number(binary(op, a, b))
            }
        }
    }

    /// A sum fits if adding a number that is not negative does not decrease it, and adding a negative number does. For
    /// a difference the directions are reversed.
    fn sum(&mut self, op: BinaryOp, a: &Expr, b: &Expr, if_positive: BinaryOp, if_negative: BinaryOp) -> Expr {
        let sum = self.bind(binary(op, a, b));
        let positive = binary(BinaryOp::Ge, b, &int(0));
        let fits = either(positive, binary(if_positive, &sum, a), binary(if_negative, &sum, a));
        self.demand(fits);
        sum
    }

    /// A product fits if it can be divided again.
    fn product(&mut self, a: &Expr, b: &Expr) -> Expr {
        let product = self.bind(binary(BinaryOp::Mul, a, b));
        let again = binary(BinaryOp::Eq, &binary(BinaryOp::Div, &product, a), b);
        let lowest =
            binary(BinaryOp::And, &binary(BinaryOp::Eq, a, &int(-1)), &binary(BinaryOp::Eq, b, &int(i64::MIN)));
        let not_lowest = Expr::Not(Box::new(lowest));
        let zero = binary(BinaryOp::Eq, a, &int(0));
        self.demand(either(zero, Expr::bool(true), binary(BinaryOp::And, &not_lowest, &again)));
        product
    }

    /// A quotient fits unless the divisor is zero, or the dividend is the lowest number and the result overflows.
    fn quotient(&mut self, op: BinaryOp, a: &Expr, b: &Expr) -> Expr {
        let zero = binary(BinaryOp::Eq, b, &int(0));
        let quotient = self.bind(either(zero, int(0), binary(op, a, b)));
        let some = binary(BinaryOp::Ne, b, &int(0));
        let lowest =
            binary(BinaryOp::And, &binary(BinaryOp::Eq, a, &int(i64::MIN)), &binary(BinaryOp::Eq, b, &int(-1)));
        self.demand(binary(BinaryOp::And, &some, &Expr::Not(Box::new(lowest))));
        quotient
    }
}
