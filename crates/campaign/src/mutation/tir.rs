//! Changes of `PrimFunc`s.

use super::relax::{narrower, other_float};
use super::{MutationKind, MutationSites};
use relax_spec::grammar::tir::{Binary, Conditional, Expr, ForKind, Stmt};
use relax_spec::grammar::{BinaryOp, DataType, FloatBits, Span};
use relax_spec::judge::with_stack;

impl MutationSites {
    pub(super) fn stmts(&mut self, stmts: &mut [Stmt]) {
        stmts.iter_mut().for_each(|stmt| self.stmt(stmt));
    }

    fn stmt(&mut self, stmt: &mut Stmt) {
        with_stack(|| match stmt {
            Stmt::For(f) => {
                let span = f.span;
                self.scalar(&mut f.start, span);
                self.scalar(&mut f.stop, span);
                if f.kind == ForKind::Serial {
                    let what = || "a parallel loop for a serial one".to_string();
                    self.change_of(MutationKind::Order, &mut f.kind, what, span, ForKind::Parallel);
                }
                self.stmts(&mut f.body);
            }
            Stmt::While(w) => {
                self.scalar(&mut w.condition, w.span);
                self.stmts(&mut w.body);
            }
            Stmt::Block(b) => {
                let span = b.span;
                b.iters.iter_mut().for_each(|iter| self.scalar(&mut iter.value, iter.span));
                b.predicate.iter_mut().for_each(|e| self.scalar(e, span));
                b.init.iter_mut().for_each(|init| self.stmts(init));
                self.stmts(&mut b.body);
            }
            Stmt::If(i) => {
                self.scalar(&mut i.condition, i.span);
                self.stmts(&mut i.then);
                self.stmts(&mut i.otherwise);
            }
            Stmt::Store(s) => {
                let span = s.span;
                self.indices(&mut s.indices, span);
                self.scalar(&mut s.value, span);
                let is_literal = matches!(s.value, Expr::Float(..) | Expr::Int(..));
                if let Some(lower) = narrower(s.buffer.dtype).filter(|_| !is_literal) {
                    let rounded = Expr::Cast(lower, Box::new(s.value.clone()));
                    let rounded = Expr::Cast(s.buffer.dtype, Box::new(rounded));
                    self.change(&mut s.value, || format!("the element in {lower} between"), span, rounded);
                }
            }
            Stmt::Let(l) => self.scalar(&mut l.value, l.span),
            Stmt::Attr(a) => self.stmts(&mut a.body),
            Stmt::LaunchThread(t) => self.stmts(&mut t.body),
            Stmt::Assert(_) | Stmt::Evaluate(_) | Stmt::Alloc(_) | Stmt::Decl(_) | Stmt::Break | Stmt::Continue => {}
        });
    }

    /// The indices of an element: each of them may be one larger.
    fn indices(&mut self, indices: &mut [Expr], span: Span) {
        for index in indices {
            self.scalar(index, span);
            let dtype = index.dtype();
            if !matches!(index, Expr::Int(..)) && (dtype.is_int() || dtype.is_uint()) {
                let next = Binary { op: BinaryOp::Add, a: index.clone(), b: Expr::Int(1, dtype), span };
                self.change(index, || "an index that is 1 more".to_string(), span, Expr::Binary(Box::new(next)));
            }
        }
    }

    fn scalars(&mut self, exprs: &mut [Expr], span: Span) {
        exprs.iter_mut().for_each(|e| self.scalar(e, span));
    }

    fn scalar(&mut self, e: &mut Expr, span: Span) {
        with_stack(|| {
            match e {
                Expr::Binary(b) => {
                    [&mut b.a, &mut b.b].into_iter().for_each(|e| self.scalar(e, span));
                    let op = b.op;
                    if let Some(other) = other_operator(op) {
                        self.change(&mut b.op, || format!("{other:?} for {op:?}"), span, other);
                    }
                }
                Expr::Not(a) | Expr::Cast(_, a) | Expr::Broadcast(a, _) => self.scalar(a, span),
                Expr::Select(c) | Expr::IfThenElse(c) => self.choice(c, span),
                Expr::Load(l) => self.indices(&mut l.indices, span),
                Expr::Let(l) => [&mut l.value, &mut l.body].into_iter().for_each(|e| self.scalar(e, span)),
                Expr::Call(c) => self.scalars(&mut c.args, span),
                Expr::Ramp(r) => [&mut r.base, &mut r.stride].into_iter().for_each(|e| self.scalar(e, span)),
                Expr::Shuffle(s) => self.scalars(&mut s.vectors, span),
                Expr::Var(_) | Expr::Int(..) | Expr::Float(..) | Expr::Str(_) | Expr::Extern(_) | Expr::Data(_) => {}
            }
            self.literal(e, span);
        });
    }

    fn choice(&mut self, c: &mut Conditional, span: Span) {
        [&mut c.condition, &mut c.then, &mut c.otherwise].into_iter().for_each(|e| self.scalar(e, span));
        for value in [true, false] {
            self.change(&mut c.condition, || format!("always {value}"), span, Expr::bool(value));
        }
    }

    fn literal(&mut self, e: &mut Expr, span: Span) {
        match *e {
            Expr::Int(x, dtype) if dtype != DataType::BOOL => {
                let other = x.wrapping_add(1);
                self.change(e, || format!("{other} for {x}"), span, Expr::Int(other, dtype));
            }
            Expr::Float(x, dtype) => {
                self.constant(e, x.get(), span, |x| Expr::Float(FloatBits::new(x), dtype));
                let other = other_float(x.get());
                let changed = Expr::Float(FloatBits::new(other), dtype);
                self.change(e, || format!("{other} for {}", x.get()), span, changed);
            }
            _ => {}
        }
    }
}

/// The operator that is used instead by mistake.
fn other_operator(op: BinaryOp) -> Option<BinaryOp> {
    match op {
        BinaryOp::Add => Some(BinaryOp::Sub),
        BinaryOp::Sub => Some(BinaryOp::Add),
        BinaryOp::Mul => Some(BinaryOp::Add),
        BinaryOp::Div => Some(BinaryOp::Mul),
        BinaryOp::FloorDiv => Some(BinaryOp::FloorMod),
        BinaryOp::FloorMod => Some(BinaryOp::FloorDiv),
        BinaryOp::Min => Some(BinaryOp::Max),
        BinaryOp::Max => Some(BinaryOp::Min),
        BinaryOp::And => Some(BinaryOp::Or),
        BinaryOp::Or => Some(BinaryOp::And),
        BinaryOp::Eq => Some(BinaryOp::Ne),
        BinaryOp::Ne => Some(BinaryOp::Eq),
        BinaryOp::Lt => Some(BinaryOp::Le),
        BinaryOp::Le => Some(BinaryOp::Lt),
        BinaryOp::Gt => Some(BinaryOp::Ge),
        BinaryOp::Ge => Some(BinaryOp::Gt),
        BinaryOp::Mod => None,
    }
}
