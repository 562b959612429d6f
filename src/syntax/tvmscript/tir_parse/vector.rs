//! Vectors: `T.Ramp`, `T.Broadcast`, `T.Shuffle`, and slices as indices.

use ruff_python_ast as py;
use ruff_text_size::Ranged;

use super::expr::TirOperand;
use super::{ParseResult, Parser};
use crate::grammar::BinaryOp;
use crate::grammar::tir::{Binary, Expr, Ramp, Shuffle};

impl Parser<'_> {
    /// `T.Ramp(base, stride, lanes)`.
    pub(super) fn ramp(&mut self, base: &py::Expr, stride: &py::Expr, lanes: &py::Expr) -> ParseResult<TirOperand> {
        let (base, stride) = self.pair(base, stride)?;
        let lanes = self.lanes(lanes)?;
        Ok(TirOperand::Typed(Expr::Ramp(Box::new(Ramp { base, stride, lanes }))))
    }

    /// `T.Broadcast(value, lanes)`.
    pub(super) fn broadcast(&mut self, value: &py::Expr, lanes: &py::Expr) -> ParseResult<TirOperand> {
        let value = self.expr(value)?;
        let lanes = self.lanes(lanes)?;
        Ok(TirOperand::Typed(Expr::Broadcast(Box::new(value), lanes)))
    }

    /// `T.Shuffle([vectors], [indices])`.
    pub(super) fn shuffle(
        &mut self,
        call: &py::ExprCall,
        vectors: &py::Expr,
        indices: &py::Expr,
    ) -> ParseResult<TirOperand> {
        let (py::Expr::List(vectors), py::Expr::List(indices)) = (vectors, indices) else {
            return self.error(call, "expected `T.Shuffle([vectors], [indices])`");
        };
        let vectors = vectors.iter().map(|e| self.expr(e)).collect::<ParseResult<Vec<Expr>>>()?;
        let indices = indices.iter().map(|e| self.expr(e)).collect::<ParseResult<Vec<Expr>>>()?;
        if vectors.is_empty() || indices.is_empty() {
            return self.error(call, "a shuffle needs vectors and indices");
        }
        Ok(TirOperand::Typed(Expr::Shuffle(Shuffle { vectors, indices, span: self.span(call.range()) })))
    }

    fn lanes(&self, e: &py::Expr) -> ParseResult<u16> {
        let lanes = self.integer(e)?;
        match u16::try_from(lanes) {
            Ok(lanes) if lanes > 0 => Ok(lanes),
            Ok(_) | Err(_) => self.error(e, format!("{lanes} is not a number of lanes")),
        }
    }

    /// `start:stop:step` as an index: the ramp of the positions. Their number must be visible in the text.
    pub(super) fn slice_index(&mut self, slice: &py::ExprSlice) -> ParseResult<Expr> {
        let (Some(start), Some(stop)) = (&slice.lower, &slice.upper) else {
            return self.error(slice, "expected `start:stop` or `start:stop:step`");
        };
        let step = slice.step.as_deref().map_or(Ok(1), |e| self.integer(e))?;
        let (base, stop) = self.pair(start, stop)?;
        let lanes = distance(&base, &stop).filter(|_| step != 0).and_then(|length| {
            let lanes = length.checked_add(step - step.signum())?.checked_div(step)?;
            u16::try_from(lanes).ok().filter(|lanes| *lanes > 0)
        });
        let Some(lanes) = lanes else { return self.error(slice, "expected a slice of constant length") };
        if lanes == 1 {
            return Ok(base);
        }
        let stride = self.int(slice, step.into(), base.dtype())?;
        Ok(Expr::Ramp(Box::new(Ramp { base, stride, lanes })))
    }
}

/// The constant `b - a`, if it is visible in the text.
fn distance(a: &Expr, b: &Expr) -> Option<i64> {
    match (a, b) {
        (Expr::Int(a, _), Expr::Int(b, _)) => b.checked_sub(*a),
        (a, Expr::Binary(sum)) => match &**sum {
            Binary { op: BinaryOp::Add, a: base, b: Expr::Int(length, _), .. } if base == a => Some(*length),
            Binary { op: BinaryOp::Sub, a: base, b: Expr::Int(length, _), .. } if base == a => length.checked_neg(),
            // `x + 1` and `x + 5`.
            Binary { op: BinaryOp::Add, a: base, b: Expr::Int(to, _), .. } => match a {
                Expr::Binary(start) => match &**start {
                    Binary { op: BinaryOp::Add, a: other, b: Expr::Int(from, _), .. } if other == base => {
                        to.checked_sub(*from)
                    }
                    Binary { .. } => None,
                },
                _ => None,
            },
            Binary { .. } => None,
        },
        (_, _) => None,
    }
}
