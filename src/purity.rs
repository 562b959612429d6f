//! Purity as the checker sees it (chapter Purity and Dataflow Blocks): a flag of operators, calls and functions.

use crate::grammar::Expr;

/// Whether a callee is an operator that is registered as pure (PURE.REGISTER-MANUAL).
pub fn callee_is_pure_operator(callee: &Expr) -> bool {
    match callee {
        Expr::Op(op) => !matches!(&*op.op_name, "relax.print" | "relax.assert_op" | "relax.invoke_closure"),
        _ => false,
    }
}
