use super::*;
use crate::grammar::BinaryOp;

#[test]
fn precedence_is_that_of_python() {
    let n = || PrimExpr::var("n");
    let two = || PrimExpr::IntImm(2);
    let sum = PrimExpr::binary(BinaryOp::Add, n(), PrimExpr::binary(BinaryOp::Mul, two(), n()));
    assert_eq!(parse_prim_expr("n + 2 * n"), Ok(sum));
    let left = PrimExpr::binary(BinaryOp::Sub, PrimExpr::binary(BinaryOp::Sub, n(), two()), two());
    assert_eq!(parse_prim_expr("n - 2 - 2"), Ok(left));
    let right = PrimExpr::binary(BinaryOp::Sub, n(), PrimExpr::binary(BinaryOp::Sub, n(), two()));
    assert_eq!(parse_prim_expr("n - (n - 2)"), Ok(right));
}
