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
pub(crate) use fresh::Fresh;
pub use normalize::{Normalized, normalize, normalize_reporting};
pub(crate) use normalize::{Piece, normalize_piece};

use crate::cx::{Cx, with_stack};
use crate::grammar::Expr;
use crate::rule::Rule;

/// NF.1.LEAF: whether an expression may be used as an operand.
///
/// The immediates are constants in this sense (C04).
pub fn is_leaf(cx: &mut Cx, expr: &Expr) -> bool {
    match expr {
        Expr::Var(_) | Expr::DataflowVar(_) | Expr::GlobalVar(_) => cx.fire(Rule::Nf1LeafVar),
        Expr::Constant(_) => cx.fire(Rule::Nf1LeafConst),
        Expr::PrimValue(_) | Expr::StringImm(_) | Expr::DataTypeImm(_) => {
            cx.fire(Rule::Nf1LeafConst) && cx.fire(Rule::Pr14148NfLeaf)
        }
        Expr::ShapeExpr(_) => cx.fire(Rule::Nf1LeafShape),
        Expr::Tuple(tuple) => {
            with_stack(|| tuple.fields.iter().all(|field| is_leaf(cx, field))) && cx.fire(Rule::Nf1LeafTuple)
        }
        Expr::SeqExpr(_)
        | Expr::Function(_)
        | Expr::If(_)
        | Expr::ExternFunc(_)
        | Expr::Call(_)
        | Expr::TupleGetItem(_)
        | Expr::Op(_) => !cx.fire(Rule::Nf1LeafOthers),
    }
}
