//! What an expression may do besides giving a value, as far as hoisting is concerned (NF.PRESERVES).

use rustc_hash::FxHashMap;

use crate::grammar::{BinaryOp, Binding, Expr, PrimExpr};
use crate::judge::with_stack;

/// Which expressions may have a visible effect. Remembers its answers, so that asking at every level of a deep
/// program stays linear.
#[derive(Default)]
pub(super) struct Effects {
    known: FxHashMap<usize, bool>,
}

impl Effects {
    /// Whether evaluating the expression may have a visible effect: it calls something that is not marked pure.
    pub(super) fn possible(&mut self, expr: &Expr) -> bool {
        with_stack(|| match expr {
            Expr::Call(call) => self.remember(address(call), |e| {
                !crate::purity::callee_is_pure_operator(&call.op) || call.args.iter().any(|arg| e.possible(arg))
            }),
            Expr::Tuple(tuple) => self.remember(address(tuple), |e| tuple.fields.iter().any(|f| e.possible(f))),
            Expr::TupleGetItem(get) => self.remember(address(get), |e| e.possible(&get.tuple_value)),
            Expr::If(branch) => self.remember(address(branch), |e| {
                [&branch.cond, &branch.true_branch, &branch.false_branch].into_iter().any(|b| e.possible(b))
            }),
            Expr::SeqExpr(seq) => self.remember(address(seq), |e| {
                let mut values = seq.blocks.iter().flat_map(|block| block.bindings.iter().map(Binding::value));
                values.any(|value| e.possible(value)) || e.possible(&seq.body)
            }),
            Expr::Constant(_)
            | Expr::Var(_)
            | Expr::DataflowVar(_)
            | Expr::GlobalVar(_)
            | Expr::PrimValue(_)
            | Expr::StringImm(_)
            | Expr::DataTypeImm(_)
            | Expr::Function(_)
            | Expr::ExternFunc(_)
            | Expr::ShapeExpr(_)
            | Expr::Op(_) => false,
        })
    }

    fn remember(&mut self, key: usize, find: impl FnOnce(&mut Self) -> bool) -> bool {
        if let Some(known) = self.known.get(&key) {
            return *known;
        }
        let found = find(self);
        self.known.insert(key, found);
        found
    }
}

/// The identity of a shared node. The program outlives the answers, so an address names one node.
fn address<T>(node: &std::sync::Arc<T>) -> usize {
    std::sync::Arc::as_ptr(node) as usize
}

/// Whether evaluating an expression that is left in place may fail.
pub(super) fn may_fail(expr: &Expr) -> bool {
    match expr {
        Expr::ShapeExpr(shape) => shape.values.iter().any(|dim| dim_may_fail(dim, true)),
        Expr::PrimValue(prim) => dim_may_fail(&prim.value, false),
        Expr::ExternFunc(_) => true,
        Expr::Constant(_)
        | Expr::Var(_)
        | Expr::DataflowVar(_)
        | Expr::GlobalVar(_)
        | Expr::StringImm(_)
        | Expr::DataTypeImm(_)
        | Expr::Tuple(_)
        | Expr::SeqExpr(_)
        | Expr::Function(_)
        | Expr::If(_)
        | Expr::Call(_)
        | Expr::TupleGetItem(_)
        | Expr::Op(_) => false,
    }
}

/// A dimension fails when it divides by zero, overflows, or is negative; a variable alone stands for a size.
fn dim_may_fail(dim: &PrimExpr, is_size: bool) -> bool {
    match dim {
        PrimExpr::Var(_) => false,
        PrimExpr::IntImm(value) => is_size && *value < 0,
        PrimExpr::Binary(op, a, b) => match op {
            BinaryOp::Min | BinaryOp::Max => with_stack(|| dim_may_fail(a, is_size) || dim_may_fail(b, is_size)),
            BinaryOp::Add
            | BinaryOp::Sub
            | BinaryOp::Mul
            | BinaryOp::Div
            | BinaryOp::Mod
            | BinaryOp::FloorDiv
            | BinaryOp::FloorMod
            | BinaryOp::And
            | BinaryOp::Or
            | BinaryOp::Eq
            | BinaryOp::Ne
            | BinaryOp::Lt
            | BinaryOp::Le
            | BinaryOp::Gt
            | BinaryOp::Ge => true,
        },
        PrimExpr::Not(_) | PrimExpr::Select(..) => true,
    }
}
