//! The values of dimensions during a run.

use super::machine::{Machine, Stop};
use crate::cx::with_stack;
use crate::grammar::{BinaryOp, PrimExpr};
use crate::rule::Rule;

impl Machine<'_> {
    /// SI.DIM.EVAL: the value of a dimension with the present values of the shape variables.
    ///
    /// A zero divisor and an overflow are errors. A variable without a value is what the static checks exclude
    /// (`SI.DIM.UNBOUND-ERR`), so the text has no answer for it.
    pub fn eval_dim(&mut self, e: &PrimExpr) -> Result<i64, Stop> {
        with_stack(|| match e {
            PrimExpr::IntImm(i) => Ok(*i),
            PrimExpr::Var(v) => self
                .activation
                .shape_var(v)
                .ok_or_else(|| Stop::unspecified(format!("shape variable {v} has no value"))),
            PrimExpr::Binary(BinaryOp::And, a, b) => Ok(i64::from(self.eval_dim(a)? != 0 && self.eval_dim(b)? != 0)),
            PrimExpr::Binary(BinaryOp::Or, a, b) => Ok(i64::from(self.eval_dim(a)? != 0 || self.eval_dim(b)? != 0)),
            PrimExpr::Binary(op, a, b) => {
                let (a, b) = (self.eval_dim(a)?, self.eval_dim(b)?);
                let failed = || Stop::error(Rule::SiDimEval, format!("{e} has no int64 value for {a} and {b}"));
                binary(*op, a, b).ok_or_else(failed)
            }
            PrimExpr::Not(a) => Ok(i64::from(self.eval_dim(a)? == 0)),
            PrimExpr::Select(c, t, f) => {
                if self.eval_dim(c)? != 0 {
                    self.eval_dim(t)
                } else {
                    self.eval_dim(f)
                }
            }
        })
    }
}

fn binary(op: BinaryOp, a: i64, b: i64) -> Option<i64> {
    match op {
        BinaryOp::Add => a.checked_add(b),
        BinaryOp::Sub => a.checked_sub(b),
        BinaryOp::Mul => a.checked_mul(b),
        BinaryOp::Div => a.checked_div(b),
        BinaryOp::Mod => a.checked_rem(b),
        BinaryOp::FloorDiv => {
            a.checked_div(b).map(|q| if a.checked_rem(b) != Some(0) && (a < 0) != (b < 0) { q - 1 } else { q })
        }
        BinaryOp::FloorMod => a.checked_rem(b).map(|r| if r != 0 && (r < 0) != (b < 0) { r + b } else { r }),
        BinaryOp::Min => Some(a.min(b)),
        BinaryOp::Max => Some(a.max(b)),
        BinaryOp::And => Some(i64::from(a != 0 && b != 0)),
        BinaryOp::Or => Some(i64::from(a != 0 || b != 0)),
        BinaryOp::Eq => Some(i64::from(a == b)),
        BinaryOp::Ne => Some(i64::from(a != b)),
        BinaryOp::Lt => Some(i64::from(a < b)),
        BinaryOp::Le => Some(i64::from(a <= b)),
        BinaryOp::Gt => Some(i64::from(a > b)),
        BinaryOp::Ge => Some(i64::from(a >= b)),
    }
}
