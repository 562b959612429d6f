//! The constants of programs, including those in `PrimFunc`s and the defaults of attributes: the behaviour of programs
//! often changes near them.

use std::collections::BTreeSet;

use super::random::Random;
use crate::grammar::tir::{self, PrimFunc, Stmt};
use crate::grammar::visit::{Visitor, walk_attrs, walk_call, walk_expr, walk_module};
use crate::grammar::{
    AttrValue, Attrs, BinaryOp, Call, DataType, Expr, GlobalFunc, IrModule, Name, PrimExpr, TensorData,
};
use crate::judge::with_stack;
use crate::number::FloatType;
use crate::ops::{self, AttrDefault, OpParam};
use crate::value::{Scalar, Tensor};

/// Constants below this are used as sizes in many inputs.
const MAX_SIZE: i64 = 4096;
/// Constants below this may be sizes.
const LARGEST: i64 = 1 << 24;
/// For a literal with more elements, only the shape is used.
const MAX_LITERAL: usize = 16;
/// The maximum number of constants of a kind.
const MAX_KEPT: usize = 200;
/// The maximum number of numbers computed from two constants.
const MAX_TOGETHER: usize = 24;

/// The constants found in the programs.
#[derive(Clone, Debug, Default)]
pub(super) struct Constants {
    /// Constants in dimensions.
    dims: BTreeSet<i64>,
    /// Constants in computations of sizes and indices.
    arithmetic: BTreeSet<i64>,
    /// Sizes of literals.
    literals: BTreeSet<i64>,
    integers: Vec<i64>,
    floats: Vec<f64>,
    /// Those of types with fewer digits than float32.
    of_few_digits: Vec<f64>,
    /// Numbers computed from two constants: a scale before a bound moves the place where the bound matters.
    together: Vec<f64>,
    /// The `PrimFunc`s that have a small constant.
    small_in: BTreeSet<Name>,
}

/// Whether a constant is so small that it matters only next to other small numbers.
fn is_small(x: &f64) -> bool {
    *x > 0.0 && *x < 0.1
}

/// Numbers computed from adjacent constants in the text: those for which `x * a`, `x / a`, `x + a` or `x - a` is `b`,
/// and the reverse.
fn together(floats: &[f64]) -> Vec<f64> {
    let mut found: Vec<f64> = Vec::new();
    for (a, b) in floats.iter().zip(floats.iter().skip(1)) {
        for x in [b / a, b * a, b - a, a / b, a - b, a + b] {
            let new = !floats.iter().chain(&found).any(|known| *known == x);
            if x.is_finite() && x != 0.0 && new && found.len() < MAX_TOGETHER {
                found.push(x);
            }
        }
    }
    found
}

impl Constants {
    pub(super) fn of(modules: &[&IrModule]) -> Constants {
        let mut found = Constants::default();
        for module in modules {
            walk_module(&mut found, module);
            for (name, func) in &module.funcs {
                match func {
                    GlobalFunc::PrimFunc(f) => {
                        found.prim_func(f);
                        let mut own = Constants::default();
                        own.prim_func(f);
                        if own.floats.iter().any(is_small) {
                            found.small_in.insert(name.name.clone());
                        }
                    }
                    GlobalFunc::Function(_) | GlobalFunc::ExternFunc(_) => {}
                }
            }
        }
        found.together = together(&found.floats);
        found
    }

    /// The floats in the programs.
    pub(super) fn floats(&self) -> &[f64] {
        &self.floats
    }

    /// Those of types with fewer digits than float32.
    pub(super) fn of_few_digits(&self) -> &[f64] {
        &self.of_few_digits
    }

    /// The quotients, products, differences and sums of two of them.
    pub(super) fn together(&self) -> &[f64] {
        &self.together
    }

    /// The integers in the programs.
    pub(super) fn integers(&self) -> &[i64] {
        &self.integers
    }

    /// A magnitude at which the small constants matter, or their squares, in turn.
    pub(super) fn scale(&self, nth: usize) -> f64 {
        let mut scales: Vec<f64> = self.floats.iter().copied().filter(is_small).flat_map(|x| [x, x.sqrt()]).collect();
        scales.extend([1e-3, 1e-2]);
        scales.get(nth % scales.len()).copied().unwrap_or(1e-3)
    }

    /// Whether a call has a small constant: as an attribute, as an operand, or in the `PrimFunc` that it calls.
    pub(super) fn is_small_in(&self, call: &Call) -> bool {
        let calls = |arg: &Expr| matches!(arg, Expr::GlobalVar(gv) if self.small_in.contains(&gv.name));
        let mut own = Constants::default();
        own.visit_call(call);
        own.floats.iter().any(is_small) || call.args.iter().any(calls) || calls(&call.op)
    }

    /// A size that occurs in a dimension.
    pub(super) fn size(&self, random: &mut Random) -> i64 {
        let dims: Vec<i64> = self.dims.iter().copied().filter(|size| *size <= 64).collect();
        random.pick(&dims, 3)
    }

    /// A size at or next to a constant; the constants take turns, then the offset changes.
    pub(super) fn around(&self, nth: usize, random: &mut Random) -> i64 {
        let candidates: Vec<i64> = self.sizes().filter(|size| (2..=MAX_SIZE).contains(size)).collect();
        let (side, at) = match candidates.len() {
            0 => return random.pick(&[9, 17, 33, 65], 17),
            n => (nth / n + nth % n, candidates.get(nth % n).copied().unwrap_or(4)),
        };
        match side % 5 {
            0 => at + 1,
            1 => at - 1,
            2 => at.saturating_mul(2).saturating_add(1),
            3 => at,
            _ => at + random.between(1, 7),
        }
    }

    /// The constants in dimensions, and in computations of sizes and indices.
    pub(super) fn sizes(&self) -> impl Iterator<Item = i64> {
        self.dims.union(&self.arithmetic).copied()
    }

    /// The upper bounds of indices: the sizes of the arguments and of literals, the smallest first.
    pub(super) fn limits(&self, sizes: impl Iterator<Item = i64>) -> Vec<i64> {
        let mut limits = self.literals.clone();
        limits.extend(sizes);
        limits.retain(|size| *size > 0);
        limits.into_iter().collect()
    }

    fn integer(&mut self, value: i64) {
        if self.integers.len() < MAX_KEPT && !self.integers.contains(&value) {
            self.integers.push(value);
        }
        self.float(value as f64);
    }

    fn float(&mut self, value: f64) {
        let new = || !self.floats.iter().any(|known| known.to_bits() == value.to_bits());
        if value.is_finite() && self.floats.len() < MAX_KEPT && new() {
            self.floats.push(value);
        }
    }

    fn float_of(&mut self, value: f64, dtype: DataType) {
        self.float(value);
        let has_few_digits = dtype.float_type().is_some_and(|float| float.digits() < FloatType::Float32.digits());
        if has_few_digits && self.of_few_digits.len() < MAX_KEPT && !self.of_few_digits.contains(&value) {
            self.of_few_digits.push(value);
        }
    }

    fn index(&mut self, value: i64) {
        if (2..=LARGEST).contains(&value) {
            self.arithmetic.insert(value);
        }
    }

    fn literal(&mut self, data: &TensorData) {
        self.literals.extend(data.shape.iter().filter_map(|size| i64::try_from(*size).ok()));
        let Ok(tensor) = Tensor::from_data(data) else { return };
        for i in 0..tensor.len().min(MAX_LITERAL) {
            match tensor.get(i) {
                Some(Scalar::Int(x)) => self.integer(x),
                Some(Scalar::UInt(x)) => self.integer(x as i64),
                Some(Scalar::Float(x)) => self.float_of(x, data.dtype),
                Some(Scalar::Bool(_) | Scalar::Ring(_)) | None => {}
            }
        }
    }

    fn attr(&mut self, value: &AttrValue) {
        for leaf in value.leaves() {
            if let AttrValue::Int(x) = leaf {
                self.integer(*x);
                self.index(*x);
            } else if let AttrValue::Float(x) = leaf {
                self.float(x.get());
            }
        }
    }

    /// Adds the defaults of the attributes of a call.
    fn defaults(&mut self, call: &Call) {
        let Expr::Op(op) = &call.op else { return };
        for param in ops::lookup(&op.op_name).iter().flat_map(|op| op.params) {
            if let OpParam::Attr(attr) = param
                && let AttrDefault::Float(value) = attr.default
            {
                self.float(value);
            }
        }
    }

    // `PrimFunc`s.

    fn prim_func(&mut self, func: &PrimFunc) {
        func.body.iter().for_each(|stmt| self.stmt(stmt));
        func.allocs.iter().for_each(|buffer| self.buffer(buffer));
    }

    fn buffer(&mut self, buffer: &tir::Buffer) {
        buffer.shape.iter().for_each(|size| self.expr(size));
    }

    fn stmts(&mut self, stmts: &[Stmt]) {
        stmts.iter().for_each(|stmt| self.stmt(stmt));
    }

    fn stmt(&mut self, stmt: &Stmt) {
        with_stack(|| match stmt {
            Stmt::For(f) => {
                [&f.start, &f.stop].into_iter().chain(&f.step).for_each(|e| self.expr(e));
                self.stmts(&f.body);
            }
            Stmt::While(w) => {
                self.expr(&w.condition);
                self.stmts(&w.body);
            }
            Stmt::Block(b) => {
                b.iters.iter().flat_map(|iter| [&iter.start, &iter.stop, &iter.value]).for_each(|e| self.expr(e));
                b.predicate.iter().for_each(|e| self.expr(e));
                b.allocs.iter().for_each(|buffer| self.buffer(buffer));
                b.init.iter().for_each(|init| self.stmts(init));
                self.stmts(&b.body);
            }
            Stmt::If(i) => {
                self.expr(&i.condition);
                self.stmts(&i.then);
                self.stmts(&i.otherwise);
            }
            Stmt::Store(s) => s.indices.iter().chain([&s.value]).for_each(|e| self.expr(e)),
            Stmt::Let(l) => self.expr(&l.value),
            Stmt::Alloc(buffer) => self.buffer(buffer),
            Stmt::Decl(d) => self.buffer(&d.buffer),
            Stmt::Attr(a) => self.stmts(&a.body),
            Stmt::LaunchThread(t) => {
                self.expr(&t.extent);
                self.stmts(&t.body);
            }
            Stmt::Assert(a) => self.expr(&a.condition),
            Stmt::Evaluate(e) => self.expr(e),
            Stmt::Break | Stmt::Continue => {}
        });
    }

    fn exprs(&mut self, exprs: &[tir::Expr]) {
        exprs.iter().for_each(|e| self.expr(e));
    }

    fn expr(&mut self, e: &tir::Expr) {
        use tir::Expr;
        with_stack(|| match e {
            Expr::Int(value, dtype) if *dtype != DataType::BOOL => {
                self.integer(*value);
                self.index(*value);
            }
            Expr::Float(value, dtype) => self.float_of(value.get(), *dtype),
            Expr::Var(_) | Expr::Int(..) | Expr::Str(_) | Expr::Data(_) => {}
            Expr::Binary(b) => [&b.a, &b.b].into_iter().for_each(|e| self.expr(e)),
            Expr::Not(e) | Expr::Cast(_, e) | Expr::Broadcast(e, _) => self.expr(e),
            Expr::Select(c) | Expr::IfThenElse(c) => {
                [&c.condition, &c.then, &c.otherwise].into_iter().for_each(|e| self.expr(e));
            }
            Expr::Load(l) => self.exprs(&l.indices),
            Expr::Let(l) => [&l.value, &l.body].into_iter().for_each(|e| self.expr(e)),
            Expr::Call(c) => self.exprs(&c.args),
            Expr::Extern(c) => self.exprs(&c.args),
            Expr::Ramp(r) => [&r.base, &r.stride].into_iter().for_each(|e| self.expr(e)),
            Expr::Shuffle(s) => self.exprs(&s.vectors),
        });
    }
}

impl Visitor for Constants {
    fn visit_prim_expr(&mut self, expr: &PrimExpr) {
        with_stack(|| match expr {
            PrimExpr::IntImm(size) => {
                self.integer(*size);
                if (0..=LARGEST).contains(size) {
                    self.dims.insert(*size);
                }
            }
            PrimExpr::Var(_) => {}
            PrimExpr::Binary(op, a, b) => {
                self.visit_prim_expr(a);
                self.visit_prim_expr(b);
                if let (BinaryOp::Mul | BinaryOp::FloorDiv | BinaryOp::FloorMod, PrimExpr::IntImm(by)) = (op, &**b) {
                    self.index(*by);
                }
            }
            PrimExpr::Not(a) => self.visit_prim_expr(a),
            PrimExpr::Select(c, a, b) => [c, a, b].into_iter().for_each(|e| self.visit_prim_expr(e)),
        });
    }

    fn visit_expr(&mut self, expr: &Expr) {
        if let Expr::Constant(constant) = expr {
            self.literal(&constant.data);
        } else if let Expr::PrimValue(prim) = expr {
            prim.float.iter().for_each(|x| self.float(x.get()));
        }
        walk_expr(self, expr);
    }

    fn visit_call(&mut self, call: &Call) {
        self.defaults(call);
        walk_call(self, call);
    }

    fn visit_attrs(&mut self, attrs: &Attrs) {
        attrs.values().for_each(|value| self.attr(value));
        walk_attrs(self, attrs);
    }
}
