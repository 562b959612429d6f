//! Structural comparison of dimensions, the minimum that every implementation provides.

use crate::grammar::PrimExpr;

/// Whether two dimensions have the same tree of operators, constants and variables. Iterative, so depth does not
/// matter.
pub fn alpha_equal(a: &PrimExpr, b: &PrimExpr) -> bool {
    // Most dimensions are leaves. For these nothing is allocated.
    let mut pairs = Vec::new();
    let mut next = Some((a, b));
    while let Some((a, b)) = next.take().or_else(|| pairs.pop()) {
        if std::ptr::eq(a, b) {
            continue;
        }
        match (a, b) {
            (PrimExpr::Var(v), PrimExpr::Var(w)) if v == w => {}
            (PrimExpr::IntImm(i), PrimExpr::IntImm(k)) if i == k => {}
            (PrimExpr::Binary(op1, a1, b1), PrimExpr::Binary(op2, a2, b2)) if op1 == op2 => {
                pairs.extend([(&**b1, &**b2), (&**a1, &**a2)]);
            }
            (PrimExpr::Not(a), PrimExpr::Not(b)) => pairs.push((a, b)),
            (PrimExpr::Select(c1, t1, f1), PrimExpr::Select(c2, t2, f2)) => {
                pairs.extend([(&**f1, &**f2), (&**t1, &**t2), (&**c1, &**c2)]);
            }
            (
                PrimExpr::Var(_) | PrimExpr::IntImm(_) | PrimExpr::Binary(..) | PrimExpr::Not(_) | PrimExpr::Select(..),
                _,
            ) => return false,
        }
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::grammar::BinaryOp;

    #[test]
    fn equal_means_built_alike() {
        let n = || PrimExpr::var("n");
        let sum = |a, b| PrimExpr::binary(BinaryOp::Add, a, b);
        assert!(alpha_equal(&sum(n(), 1.into()), &sum(n(), 1.into())));
        assert!(!alpha_equal(&sum(n(), 1.into()), &sum(1.into(), n())));
        assert!(!alpha_equal(&n(), &PrimExpr::var("m")));
    }
}
