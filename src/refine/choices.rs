//! The choices of `PrimFunc`s, and which of their sides no run took.

use super::unreached::Unreached;
use crate::grammar::tir::{Block, Conditional, Expr, PrimFunc, Stmt, lanes};
use crate::grammar::{BinaryOp, Span};
use crate::judge::with_stack;
use crate::value::{Side, Sides, address};

/// Records the sides that were not taken in a function, if it ran at all.
pub(super) fn missed(sides: &Sides, func: &PrimFunc, unreached: &mut Vec<Unreached>) {
    if sides.took(address(func), Side::Holds) {
        ChoiceWalk { sides, unreached }.stmts(&func.body);
    }
}

/// Searches for sides that were not taken, but not inside of such a side.
struct ChoiceWalk<'w> {
    sides: &'w Sides,
    unreached: &'w mut Vec<Unreached>,
}

const CONDITION: [Side; 2] = [Side::Holds, Side::Fails];
const OPERANDS: [Side; 2] = [Side::First, Side::Second];
const ROUNDS: [Side; 3] = [Side::Never, Side::Once, Side::Often];

impl ChoiceWalk<'_> {
    fn choice<T>(&mut self, node: &T, of: &str, all: &[Side], span: Span) {
        let missed = all.iter().filter(|side| !self.sides.took(address(node), **side));
        self.unreached.extend(missed.map(|side| Unreached::Side { span, of: of.into(), side: *side }));
    }

    fn took<T>(&self, node: &T, side: Side) -> bool {
        self.sides.took(address(node), side)
    }

    fn stmts(&mut self, stmts: &[Stmt]) {
        stmts.iter().for_each(|stmt| self.stmt(stmt));
    }

    fn stmt(&mut self, stmt: &Stmt) {
        with_stack(|| match stmt {
            Stmt::For(f) => {
                self.exprs([&f.start, &f.stop].into_iter().chain(&f.step));
                let fixed = is_literal(&f.start) && is_literal(&f.stop);
                self.rounds(&**f, "for", fixed, &f.body, f.span);
            }
            Stmt::While(w) => {
                self.expr(&w.condition);
                self.rounds(w, "while", false, &w.body, w.span);
            }
            Stmt::LaunchThread(l) => {
                self.expr(&l.extent);
                self.rounds(l, "T.launch_thread", is_literal(&l.extent), &l.body, l.span);
            }
            Stmt::Block(b) => self.block(b),
            Stmt::If(i) => {
                self.expr(&i.condition);
                self.condition(i, &i.condition, "if", i.span);
                if self.took(i, Side::Holds) {
                    self.stmts(&i.then);
                }
                if self.took(i, Side::Fails) {
                    self.stmts(&i.otherwise);
                }
            }
            // Several lanes run as copies, whose sides are not recorded.
            Stmt::Store(s) if lanes(&s.indices) != 1 => {}
            Stmt::Store(s) => self.exprs(s.indices.iter().chain([&s.value])),
            Stmt::Let(l) => self.expr(&l.value),
            Stmt::Attr(a) => self.stmts(&a.body),
            Stmt::Assert(a) => self.expr(&a.condition),
            Stmt::Evaluate(e) => self.expr(e),
            Stmt::Alloc(_) | Stmt::Decl(_) | Stmt::Break | Stmt::Continue => {}
        });
    }

    fn block(&mut self, b: &Block) {
        self.exprs(b.iters.iter().map(|iter| &iter.value));
        if let Some(predicate) = &b.predicate {
            self.expr(predicate);
            self.condition(b, predicate, "T.where", b.span);
            if !self.took(b, Side::Holds) {
                return;
            }
        }
        b.init.iter().for_each(|init| self.stmts(init));
        self.stmts(&b.body);
    }

    /// A loop; `fixed` says that its number of rounds is a constant.
    fn rounds<T>(&mut self, node: &T, of: &str, fixed: bool, body: &[Stmt], span: Span) {
        if !fixed {
            self.choice(node, of, &ROUNDS, span);
        }
        if self.took(node, Side::Once) || self.took(node, Side::Often) {
            self.stmts(body);
        }
    }

    fn condition<T>(&mut self, node: &T, condition: &Expr, of: &str, span: Span) {
        if !is_literal(condition) {
            self.choice(node, of, &CONDITION, span);
        }
    }

    fn exprs<'e>(&mut self, exprs: impl IntoIterator<Item = &'e Expr>) {
        exprs.into_iter().for_each(|e| self.expr(e));
    }

    fn expr(&mut self, e: &Expr) {
        with_stack(|| match e {
            Expr::Select(c) => self.alternatives(c, "T.Select"),
            Expr::IfThenElse(c) => self.alternatives(c, "T.if_then_else"),
            Expr::Binary(b) => {
                self.exprs([&b.a, &b.b]);
                if b.op == BinaryOp::Min {
                    self.choice(&**b, "T.min", &OPERANDS, b.span);
                } else if b.op == BinaryOp::Max {
                    self.choice(&**b, "T.max", &OPERANDS, b.span);
                }
            }
            Expr::Not(e) | Expr::Cast(_, e) => self.expr(e),
            Expr::Load(l) => self.exprs(&l.indices),
            Expr::Let(l) => self.exprs([&l.value, &l.body]),
            Expr::Call(c) => self.exprs(&c.args),
            // Expressions in vectors run as copies.
            Expr::Ramp(_) | Expr::Broadcast(..) | Expr::Shuffle(_) => {}
            Expr::Var(_) | Expr::Int(..) | Expr::Float(..) | Expr::Str(_) | Expr::Extern(_) | Expr::Data(_) => {}
        });
    }

    fn alternatives(&mut self, c: &Conditional, of: &str) {
        self.expr(&c.condition);
        self.condition(c, &c.condition, of, c.condition.span());
        if self.took(c, Side::Holds) {
            self.expr(&c.then);
        }
        if self.took(c, Side::Fails) {
            self.expr(&c.otherwise);
        }
    }
}

fn is_literal(e: &Expr) -> bool {
    matches!(e, Expr::Int(..))
}
