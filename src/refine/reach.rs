//! What runs of a program reach: the branches that are taken, and the variables that are bound.

use std::cell::RefCell;
use std::collections::BTreeSet;

use crate::eval::Watch;
use crate::grammar::visit::{Visitor, walk_expr, walk_module, walk_var_binding};
use crate::grammar::{Call, Expr, If, IrModule, Name, Span, Var, VarBinding};
use crate::judge::with_stack;
use crate::value::{Host, Value};

/// A part of a program that no run reached.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Unreached {
    /// A branch of a conditional.
    Branch {
        /// Where the conditional is written.
        span: Span,
        /// Which branch: the one for a condition that holds, or the other.
        holds: bool,
    },
    /// The call of an operator, outside of such a branch.
    Operator {
        /// Where the call is written.
        span: Span,
        /// The operator.
        name: Name,
    },
}

/// What was seen of the runs of one program. It stays where it is meanwhile, so that an address tells a node from its equals.
#[derive(Debug, Default)]
pub(super) struct Reach {
    branches: RefCell<BTreeSet<(usize, bool)>>,
    variables: RefCell<BTreeSet<usize>>,
}

impl Watch for Reach {
    fn bound(&self, _: &mut dyn Host, var: &Var, _: &Value) {
        self.variables.borrow_mut().insert(address(var));
    }

    fn decided(&self, conditional: &If, holds: bool) {
        self.branches.borrow_mut().insert((address(conditional), holds));
    }
}

fn address<T>(node: &T) -> usize {
    std::ptr::from_ref(node).addr()
}

impl Reach {
    /// How many branches were taken.
    pub(super) fn branches(&self) -> usize {
        self.branches.borrow().len()
    }

    /// What no run reached of a program.
    pub(super) fn unreached(&self, module: &IrModule) -> Vec<Unreached> {
        let mut missed = Missed { reach: self, unreached: Vec::new() };
        walk_module(&mut missed, module);
        missed.unreached
    }
}

/// Looks for what was not reached; into a branch that was not taken it does not look.
struct Missed<'r> {
    reach: &'r Reach,
    unreached: Vec<Unreached>,
}

impl Missed<'_> {
    fn branch(&mut self, conditional: &If, holds: bool) {
        if !self.reach.branches.borrow().contains(&(address(conditional), holds)) {
            self.unreached.push(Unreached::Branch { span: conditional.span, holds });
        } else if holds {
            self.visit_expr(&conditional.true_branch);
        } else {
            self.visit_expr(&conditional.false_branch);
        }
    }

    fn binding_of(&mut self, binder: &Var, call: &Call) {
        if let Expr::Op(op) = &call.op
            && !self.reach.variables.borrow().contains(&address(binder))
        {
            self.unreached.push(Unreached::Operator { span: call.span, name: op.op_name.clone() });
        }
    }
}

impl Visitor for Missed<'_> {
    fn visit_expr(&mut self, expr: &Expr) {
        if let Expr::If(conditional) = expr {
            with_stack(|| {
                self.branch(conditional, true);
                self.branch(conditional, false);
            });
        } else {
            walk_expr(self, expr);
        }
    }

    fn visit_var_binding(&mut self, binding: &VarBinding) {
        if let Expr::Call(call) = &binding.value {
            self.binding_of(&binding.var.var, call);
        }
        walk_var_binding(self, binding);
    }
}
