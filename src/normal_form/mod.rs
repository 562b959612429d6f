//! Normal form: the criteria and a normalizer (chapter Normal Form).

mod criteria;
mod effect;
mod fresh;
mod levels;
mod normalize;
mod operand;
mod rename;
#[cfg(test)]
mod tests;

pub use criteria::check;
pub(crate) use criteria::violations;
pub(crate) use fresh::Fresh;
pub use normalize::{Normalized, normalize, normalize_reporting};
pub(crate) use normalize::{Piece, normalize_piece};

use crate::grammar::Expr;
use crate::judge::{Cx, with_stack};

/// NF.1.LEAF: whether an expression may be used as an operand.
///
/// The immediates are constants in this sense (C04).
pub fn is_leaf(cx: &mut Cx, expr: &Expr) -> bool {
    match expr {
        Expr::Var(_) | Expr::DataflowVar(_) | Expr::GlobalVar(_) => cx.conclude(rule!("NF.1.LEAF.VAR"), true),
        Expr::Constant(_) => cx.conclude(rule!("NF.1.LEAF.CONST"), true),
        Expr::PrimValue(_) | Expr::StringImm(_) | Expr::DataTypeImm(_) => {
            cx.conclude(rule!("NF.1.LEAF.CONST"), true) && cx.conclude(rule!("PR14148.NF.LEAF"), true)
        }
        Expr::ShapeExpr(_) => cx.conclude(rule!("NF.1.LEAF.SHAPE"), true),
        Expr::Tuple(tuple) => {
            with_stack(|| tuple.fields.iter().all(|field| is_leaf(cx, field)))
                && cx.conclude(rule!("NF.1.LEAF.TUPLE"), true)
        }
        Expr::SeqExpr(_)
        | Expr::Function(_)
        | Expr::If(_)
        | Expr::ExternFunc(_)
        | Expr::Call(_)
        | Expr::TupleGetItem(_)
        | Expr::Op(_) => cx.conclude(rule!("NF.1.LEAF.OTHERS"), false),
    }
}
