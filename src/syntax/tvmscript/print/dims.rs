//! Dimensions. TVM folds constants while it reads operators. Where it would, the node is written as a function.

use std::fmt::Write as _;

use super::Printer;
use crate::grammar::{BinaryOp, DataType, Precedence, PrimExpr};
use crate::judge::with_stack;

impl Printer<'_> {
    /// A dimension as a Python expression.
    pub(super) fn dim(&mut self, dim: &PrimExpr, out: &mut String) {
        self.dim_at(dim, Precedence::Comparison, out);
    }

    /// `n, 4`, with a trailing comma for a single one.
    pub(super) fn dim_list(&mut self, dims: &[PrimExpr], out: &mut String) {
        for (i, dim) in dims.iter().enumerate() {
            out.push_str(if i > 0 { ", " } else { "" });
            self.top_dim(dim, out);
        }
    }

    /// The value of a boxed scalar. In a Boolean one, a truth value is written without a cast.
    pub(super) fn value_in_box(&mut self, dtype: DataType, value: &PrimExpr, out: &mut String) {
        if dtype != DataType::BOOL || !value.is_truth_value() {
            self.top_dim(value, out);
        } else if self.is_quoted(value) {
            out.push('"');
            self.dim(value, out);
            out.push('"');
        } else {
            self.dim(value, out);
        }
    }

    /// A dimension where TVM expects an int64. A truth value needs a cast there.
    fn top_dim(&mut self, dim: &PrimExpr, out: &mut String) {
        if self.is_quoted(dim) {
            out.push('"');
            self.cast_dim(dim, '\'', out);
            out.push('"');
        } else {
            self.cast_dim(dim, '"', out);
        }
    }

    /// Whether it mentions variables that its signature has not bound yet.
    fn is_quoted(&self, dim: &PrimExpr) -> bool {
        self.in_signature && !self.names.is_of_scalars(dim)
    }

    fn cast_dim(&mut self, dim: &PrimExpr, quote: char, out: &mut String) {
        if dim.is_truth_value() {
            let _ = write!(out, "T.Cast({quote}int64{quote}, ");
            self.dim(dim, out);
            out.push(')');
        } else {
            self.dim(dim, out);
        }
    }

    fn dim_at(&mut self, dim: &PrimExpr, at: Precedence, out: &mut String) {
        with_stack(|| match dim {
            PrimExpr::Var(v) => out.push_str(&self.names.dim(v)),
            PrimExpr::IntImm(i) => {
                let _ = write!(out, "{i}");
            }
            PrimExpr::Not(a) => self.node("T.Not", &[a], out),
            PrimExpr::Select(c, t, f) => self.node("T.Select", &[c, t, f], out),
            PrimExpr::Binary(op, a, b) => match infix(*op) {
                Some((symbol, precedence)) if !folds(*op, a, b) => {
                    let parenthesized = precedence < at;
                    out.push_str(if parenthesized { "(" } else { "" });
                    let left = if precedence == Precedence::Comparison { Precedence::Sum } else { precedence };
                    self.dim_at(a, left, out);
                    let _ = write!(out, " {symbol} ");
                    self.dim_at(b, precedence.tighter(), out);
                    out.push_str(if parenthesized { ")" } else { "" });
                }
                Some(_) | None => self.node(&format!("T.{}", op.name()), &[a, b], out),
            },
        })
    }

    /// A node written with its constructor, which takes only numbers with a datatype.
    fn node(&mut self, name: &str, operands: &[&PrimExpr], out: &mut String) {
        out.push_str(name);
        for (i, operand) in operands.iter().enumerate() {
            out.push_str(if i > 0 { ", " } else { "(" });
            match operand {
                PrimExpr::IntImm(i) => {
                    let _ = write!(out, "T.int64({i})");
                }
                operand => self.dim(operand, out),
            }
        }
        out.push(')');
    }
}

/// The infix symbol. Logical operators are written as functions.
fn infix(op: BinaryOp) -> Option<(&'static str, Precedence)> {
    op.infix().filter(|(_, precedence)| *precedence >= Precedence::Comparison)
}

/// Whether TVM, or Python itself, computes the result instead of building the node: with two constants, or with a
/// neutral or absorbing one.
fn folds(op: BinaryOp, a: &PrimExpr, b: &PrimExpr) -> bool {
    use BinaryOp::{Add, FloorDiv, FloorMod, Mul, Sub};
    let is = |e: &PrimExpr, value: i64, ops: &[BinaryOp]| *e == PrimExpr::IntImm(value) && ops.contains(&op);
    let is_literal = |e: &PrimExpr| matches!(e, PrimExpr::IntImm(_));
    is(a, 0, &[Add, Mul, FloorDiv, FloorMod])
        || is(b, 0, &[Add, Sub, Mul, FloorDiv, FloorMod])
        || is(a, 1, &[Mul])
        || is(b, 1, &[Mul, FloorDiv, FloorMod])
        || (is_literal(a) && is_literal(b))
}
