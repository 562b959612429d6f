//! Expressions.

use std::fmt::Write as _;

use super::Printer;
use super::literal::{constant, float, string};
use crate::grammar::{DataType, Expr, If, PrimExpr, PrimValue};
use crate::judge::with_stack;

impl Printer<'_> {
    /// An expression on one line. If it needs several lines, like a function, it is bound to a variable first.
    pub(super) fn expr(&mut self, e: &Expr, out: &mut String) {
        if let Expr::Var(v) | Expr::DataflowVar(v) = e {
            out.push_str(&self.names.var(v));
            return;
        }
        with_stack(|| match e {
            Expr::Constant(c) => constant(&c.data, out),
            // The case above, without a look at the stack.
            Expr::Var(v) | Expr::DataflowVar(v) => out.push_str(&self.names.var(v)),
            Expr::GlobalVar(gv) => {
                self.uses_module = true;
                let _ = write!(out, "cls.{}", super::names::identifier(&gv.name));
            }
            Expr::Tuple(tuple) => self.tuple(&tuple.fields, out),
            Expr::PrimValue(p) => self.prim_value(p, out),
            Expr::StringImm(s) => {
                let _ = write!(out, "R.str({})", string(&s.value));
            }
            Expr::DataTypeImm(d) => {
                let _ = write!(out, "R.dtype(\"{}\")", d.value);
            }
            Expr::If(conditional) if is_inline(conditional) => {
                out.push('(');
                self.expr(&conditional.true_branch, out);
                out.push_str(" if ");
                self.expr(&conditional.cond, out);
                out.push_str(" else ");
                self.expr(&conditional.false_branch, out);
                out.push(')');
            }
            Expr::SeqExpr(_) | Expr::Function(_) | Expr::If(_) => {
                let name = self.names.unique(&"gv".into());
                self.named(&name, None, e);
                out.push_str(&name);
            }
            Expr::ExternFunc(f) => {
                let _ = write!(out, "R.ExternFunc({})", string(&f.global_symbol));
            }
            Expr::Call(call) => self.call(call, out),
            Expr::ShapeExpr(shape) => {
                out.push_str("R.shape([");
                self.dim_list(&shape.values, out);
                out.push_str("])");
            }
            Expr::TupleGetItem(item) => {
                self.expr(&item.tuple_value, out);
                let _ = write!(out, "[{}]", item.index);
            }
            Expr::Op(op) => {
                let _ = write!(out, "R.Op({})", string(&op.op_name));
            }
        })
    }

    /// `a, b`.
    pub(super) fn expr_list(&mut self, exprs: &[Expr], out: &mut String) {
        for (i, e) in exprs.iter().enumerate() {
            out.push_str(if i > 0 { ", " } else { "" });
            self.expr(e, out);
        }
    }

    /// `(a, b)`, `(a,)`, `R.tuple()`.
    pub(super) fn tuple(&mut self, fields: &[Expr], out: &mut String) {
        if fields.is_empty() {
            out.push_str("R.tuple()");
            return;
        }
        out.push('(');
        self.expr_list(fields, out);
        out.push_str(if fields.len() == 1 { ",)" } else { ")" });
    }

    fn prim_value(&mut self, p: &PrimValue, out: &mut String) {
        out.push_str("R.prim_value(");
        match (p.float, p.dtype, &p.value) {
            (Some(f), dtype, _) => {
                let _ = write!(out, "T.{dtype}({})", float(f.get()));
            }
            (None, DataType::INT64, value) => self.dim(value, out),
            (None, DataType::BOOL, PrimExpr::IntImm(b @ (0 | 1))) => {
                let _ = write!(out, "T.bool({})", super::literal::bool(*b == 1));
            }
            (None, dtype, value) => {
                let _ = write!(out, "T.{dtype}(");
                self.dim(value, out);
                out.push(')');
            }
        }
        out.push(')');
    }
}

/// Whether an `If` can be written as `a if c else b`, because its branches are not sequences.
pub(super) fn is_inline(conditional: &If) -> bool {
    !matches!(conditional.true_branch, Expr::SeqExpr(_)) && !matches!(conditional.false_branch, Expr::SeqExpr(_))
}
