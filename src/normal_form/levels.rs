//! The literal order of hoisting (A20): breadth-first, from left to right.
//!
//! Starting at the top, it would use a variable before its binding. The levels therefore start at the deepest one,
//! which is the only breadth-first order that gives a valid program. This order does not follow the order of
//! evaluation, contrary to the text.

use super::is_leaf;
use super::normalize::{Address, Normalizer};
use crate::grammar::Expr;
use crate::judge::with_stack;

/// The operands at each depth that are not leaves, from left to right.
type Levels<'e> = Vec<Vec<&'e Expr>>;

fn address(expr: &Expr) -> Address {
    std::ptr::from_ref(expr).addr()
}

impl Normalizer<'_, '_> {
    /// Binds all operands inside an expression, level by level.
    pub(super) fn hoist_by_levels(&mut self, expr: &Expr) {
        let mut levels = Levels::new();
        self.operands_of(expr, 0, &mut levels);
        for operand in levels.into_iter().rev().flatten() {
            let var = self.hoist(operand);
            self.early.insert(address(operand), var);
        }
    }

    /// The variable for an operand that was hoisted before its turn.
    pub(super) fn hoisted_early(&mut self, expr: &Expr) -> Option<Expr> {
        if self.early.is_empty() { None } else { self.early.remove(&address(expr)) }
    }

    fn operands_of<'e>(&mut self, expr: &'e Expr, depth: usize, levels: &mut Levels<'e>) {
        // Parts of a sequence or a function are bound inside it.
        with_stack(|| {
            if let Expr::Call(call) = expr {
                let callee = Some(&call.op).filter(|op| !matches!(op, Expr::Op(_) | Expr::ExternFunc(_)));
                callee.into_iter().chain(&call.args).for_each(|operand| self.operand_at(operand, depth, levels));
            } else if let Expr::Tuple(tuple) = expr {
                tuple.fields.iter().for_each(|field| self.operand_at(field, depth, levels));
            } else if let Expr::TupleGetItem(get) = expr {
                self.operand_at(&get.tuple_value, depth, levels);
            } else if let Expr::If(branch) = expr {
                self.operand_at(&branch.cond, depth, levels);
            }
        });
    }

    fn operand_at<'e>(&mut self, operand: &'e Expr, depth: usize, levels: &mut Levels<'e>) {
        let bound = !matches!(operand, Expr::Tuple(_) | Expr::Op(_)) && !is_leaf(self.cx, operand);
        if !bound {
            return self.operands_of(operand, depth, levels);
        }
        if self.early.contains_key(&address(operand)) {
            return;
        }
        if levels.len() <= depth {
            levels.resize_with(depth + 1, Vec::new);
        }
        if let Some(level) = levels.get_mut(depth) {
            level.push(operand);
        }
        self.operands_of(operand, depth + 1, levels);
    }
}
