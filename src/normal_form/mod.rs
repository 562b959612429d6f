//! Normal form: the criteria and a normalizer (chapter Normal Form).

mod criteria;
mod effect;
mod fresh;
mod levels;
mod normalize;
mod op_norm;
mod operand;
mod rename;
#[cfg(test)]
mod tests;
mod units;

pub use criteria::check;
pub(crate) use criteria::violations;
pub(crate) use normalize::normalize_in_order;
pub use normalize::{Normalized, normalize, normalize_reporting};

use crate::grammar::Expr;
use crate::judge::{Cx, with_stack};

/// NF.1.LEAF: whether an expression may be used as an operand.
///
/// The immediates are constants in this sense (C04); later editions name them (NF.1.LEAF.IMM).
pub fn is_leaf(cx: &mut Cx, expr: &Expr) -> bool {
    let (rule, conclusion) = match expr {
        Expr::Var(_) | Expr::DataflowVar(_) | Expr::GlobalVar(_) => (rule!("NF.1.LEAF.VAR"), true),
        Expr::Constant(_) => (rule!("NF.1.LEAF.CONST"), true),
        Expr::PrimValue(_) | Expr::StringImm(_) | Expr::DataTypeImm(_) if cx.has(rule!("NF.1.LEAF.IMM")) => {
            (rule!("NF.1.LEAF.IMM"), cx.by_kind(rule!("PR14148.NF.LEAF"), true))
        }
        Expr::PrimValue(_) | Expr::StringImm(_) | Expr::DataTypeImm(_) => {
            (rule!("PR14148.NF.LEAF"), cx.by_kind(rule!("NF.1.LEAF.CONST"), true))
        }
        Expr::ShapeExpr(_) => (rule!("NF.1.LEAF.SHAPE"), true),
        Expr::Tuple(tuple) => {
            (rule!("NF.1.LEAF.TUPLE"), with_stack(|| tuple.fields.iter().all(|field| is_leaf(cx, field))))
        }
        Expr::SeqExpr(_)
        | Expr::Function(_)
        | Expr::If(_)
        | Expr::ExternFunc(_)
        | Expr::Call(_)
        | Expr::TupleGetItem(_)
        | Expr::Op(_) => (rule!("NF.1.LEAF.OTHERS"), false),
    };
    cx.by_kind(rule, conclusion)
}
