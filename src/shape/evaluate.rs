//! Evaluating dimensions: int64 in and out, exact in between.

use num_bigint::BigInt;
use num_integer::Integer;
use num_traits::{RefNum, ToPrimitive, Zero};

use crate::book::Rule;
use crate::grammar::{BinaryOp, PrimExpr, ShapeVar};
use crate::judge::{Cx, Instead, RuntimeError, with_stack};

/// SI.DIM.EVAL: the value of a dimension, given the values of variables by `lookup`.
///
/// Everything is computed exactly, and the result must fit int64. Errors are a variable without a value
/// (SI.DIM.UNBOUND-ERR), a zero divisor (the operator's rule) and an overflow (GRAM.PRIM.TIRSEM, or GRAM.PRIM.DIV for a
/// quotient). The caller decides whether a negative value is a size ([`dimension`]). 2023-02, Expressing Shape
/// Dimensions; corrected reading of A35.
pub fn evaluate(cx: &mut Cx, e: &PrimExpr, lookup: &dyn Fn(&ShapeVar) -> Option<i64>) -> Result<i64, RuntimeError> {
    let exact = match value(cx, e, lookup) {
        Err(unbound) if unbound.rule == rule!("SI.DIM.UNBOUND-ERR") => {
            return cx.conclude(rule!("SI.DIM.UNBOUND-ERR"), Err(unbound));
        }
        exact => exact,
    };
    let size = exact.and_then(|exact| exact.to_i64().ok_or_else(|| too_large(e, &exact)));
    cx.conclude(rule!("SI.DIM.EVAL"), size)
}

fn too_large(e: &PrimExpr, exact: &BigInt) -> RuntimeError {
    let rule = match e {
        PrimExpr::Binary(BinaryOp::Div, ..) => rule!("GRAM.PRIM.DIV"),
        PrimExpr::Binary(..) | PrimExpr::Var(_) | PrimExpr::IntImm(_) | PrimExpr::Not(_) | PrimExpr::Select(..) => {
            rule!("GRAM.PRIM.TIRSEM")
        }
    };
    error(rule, format!("`{e}` is {exact}, which int64 cannot hold"))
}

/// SI.DIM.SHAPEEXPR-ERR: the value of a dimension of a `ShapeExpr`, which must exist and not be negative.
pub fn dimension(cx: &mut Cx, e: &PrimExpr, lookup: &dyn Fn(&ShapeVar) -> Option<i64>) -> Result<i64, RuntimeError> {
    match evaluate(cx, e, lookup) {
        Ok(size) if cx.premise(rule!("SI.DIM.SHAPEEXPR-ERR"), 1, size >= 0) => Ok(size),
        Ok(size) => {
            let negative = error(rule!("SI.DIM.SHAPEEXPR-ERR"), format!("the dimension `{e}` is {size}"));
            Err(RuntimeError { negative: Some(size), ..negative })
        }
        Err(unbound) if unbound.rule == rule!("SI.DIM.UNBOUND-ERR") => Err(unbound),
        Err(RuntimeError { message, .. }) => {
            cx.conclude(rule!("SI.DIM.SHAPEEXPR-ERR"), Err(error(rule!("SI.DIM.SHAPEEXPR-ERR"), message)))
        }
    }
}

fn error(rule: Rule, message: String) -> RuntimeError {
    RuntimeError { rule, message: crate::grammar::in_words(message), negative: None }
}

fn value(cx: &mut Cx, e: &PrimExpr, lookup: &dyn Fn(&ShapeVar) -> Option<i64>) -> Result<BigInt, RuntimeError> {
    with_stack(|| match e {
        PrimExpr::IntImm(i) => Ok(cx.by_kind(rule!("GRAM.PRIM.INTIMM"), BigInt::from(*i))),
        PrimExpr::Var(v) => {
            let unbound = || error(rule!("SI.DIM.UNBOUND-ERR"), format!("the shape variable `{v}` is not bound"));
            cx.by_kind(rule!("GRAM.PRIM.VAR"), lookup(v).map(BigInt::from).ok_or_else(unbound))
        }
        PrimExpr::Binary(op, a, b) => {
            let (a, b) = (value(cx, a, lookup)?, value(cx, b, lookup)?);
            let value = apply(*op, &a, &b).ok_or_else(|| error(op.rule(), format!("`{e}` divides by zero")));
            as_in_tir(cx, op.rule(), value)
        }
        PrimExpr::Not(a) => {
            let a = value(cx, a, lookup)?;
            as_in_tir(cx, rule!("GRAM.PRIM.NOT"), Ok(i64::from(a.is_zero()).into()))
        }
        // Only the chosen side is evaluated (A35).
        PrimExpr::Select(c, t, f) => {
            let condition = value(cx, c, lookup)?;
            let otherwise = as_in_tir(cx, rule!("GRAM.PRIM.SELECT"), condition.is_zero());
            value(cx, if otherwise { f } else { t }, lookup)
        }
    })
}

/// GRAM.PRIM.TIRSEM: the conclusion of a rule of the grammar has its meaning in TIR.
fn as_in_tir<T: Instead>(cx: &mut Cx, rule: Rule, conclusion: T) -> T {
    let conclusion = cx.by_kind(rule, conclusion);
    cx.conclude(rule!("GRAM.PRIM.TIRSEM"), conclusion)
}

/// The exact value of an operator, or `None` for a zero divisor. Truth values are 0 and 1; any nonzero value is true.
pub(super) fn apply<N: Integer + Clone>(op: BinaryOp, a: &N, b: &N) -> Option<N>
where
    for<'n> &'n N: RefNum<N>,
{
    let truth = |holds: bool| Some(if holds { N::one() } else { N::zero() });
    match op {
        BinaryOp::Add => Some(a + b),
        BinaryOp::Sub => Some(a - b),
        BinaryOp::Mul => Some(a * b),
        BinaryOp::Div => (!b.is_zero()).then(|| a / b),
        BinaryOp::Mod => (!b.is_zero()).then(|| a % b),
        BinaryOp::FloorDiv => (!b.is_zero()).then(|| a.div_floor(b)),
        BinaryOp::FloorMod => (!b.is_zero()).then(|| a.mod_floor(b)),
        BinaryOp::Min => Some(a.min(b).clone()),
        BinaryOp::Max => Some(a.max(b).clone()),
        BinaryOp::And => truth(!a.is_zero() && !b.is_zero()),
        BinaryOp::Or => truth(!a.is_zero() || !b.is_zero()),
        BinaryOp::Eq => truth(a == b),
        BinaryOp::Ne => truth(a != b),
        BinaryOp::Lt => truth(a < b),
        BinaryOp::Le => truth(a <= b),
        BinaryOp::Gt => truth(a > b),
        BinaryOp::Ge => truth(a >= b),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use BinaryOp::*;

    fn eval(e: &PrimExpr) -> Result<i64, Rule> {
        let n = |v: &ShapeVar| (&*v.name == "n").then_some(7);
        evaluate(&mut Cx::new(), e, &n).map_err(|error| error.rule)
    }

    fn op(op: BinaryOp, a: i64, b: i64) -> Result<i64, Rule> {
        eval(&PrimExpr::binary(op, a.into(), b.into()))
    }

    #[test]
    fn division_truncates_and_floor_division_floors() {
        assert_eq!((op(Div, -7, 2), op(Mod, -7, 2)), (Ok(-3), Ok(-1)));
        assert_eq!((op(FloorDiv, -7, 2), op(FloorMod, -7, 2)), (Ok(-4), Ok(1)));
        assert_eq!(op(FloorMod, 7, -2), Ok(-1));
    }

    #[test]
    fn failures_never_wrap() {
        assert_eq!(op(Div, 1, 0), Err(rule!("GRAM.PRIM.DIV")));
        assert_eq!(op(FloorMod, 1, 0), Err(rule!("GRAM.PRIM.EXTENSIBLE")));
        assert_eq!(op(Div, i64::MIN, -1), Err(rule!("GRAM.PRIM.DIV")));
        assert_eq!(op(Add, i64::MAX, 1), Err(rule!("GRAM.PRIM.TIRSEM")));
        assert_eq!(op(Sub, i64::MAX, -1), Err(rule!("GRAM.PRIM.TIRSEM")));
        assert_eq!(eval(&PrimExpr::var("m")), Err(rule!("SI.DIM.UNBOUND-ERR")));
    }

    #[test]
    fn what_is_in_between_is_exact() {
        let square = PrimExpr::binary(Mul, i64::MAX.into(), i64::MAX.into());
        assert_eq!(eval(&PrimExpr::binary(Div, square, i64::MAX.into())), Ok(i64::MAX));
    }

    #[test]
    fn only_the_chosen_side_is_evaluated() {
        let bad = || PrimExpr::binary(Div, 1.into(), 0.into());
        let select = |c: i64| PrimExpr::Select(PrimExpr::from(c).into(), bad().into(), PrimExpr::var("n").into());
        assert_eq!(eval(&select(0)), Ok(7));
        assert_eq!(eval(&select(-1)), Err(rule!("GRAM.PRIM.DIV")));
    }

    #[test]
    fn a_size_is_not_negative() {
        let e = PrimExpr::binary(Sub, PrimExpr::var("n"), 8.into());
        let n = |_: &ShapeVar| Some(7);
        assert_eq!(evaluate(&mut Cx::new(), &e, &n), Ok(-1));
        assert_eq!(dimension(&mut Cx::new(), &e, &n).map_err(|e| e.rule), Err(rule!("SI.DIM.SHAPEEXPR-ERR")));
    }
}
