//! Constants that the target has in place of operations on constants: a pass has computed them in floats.

use std::collections::HashSet;

use crate::grammar::visit::{Visitor, walk_call, walk_expr, walk_module, walk_var_binding};
use crate::grammar::{Call, Expr, IrModule, TensorData, Var, VarBinding};

/// REFINE.RING.FOLDED: whether one program has operations on constants alone and the other constants that the first has
/// not.
pub(super) fn folds_constants(source: &IrModule, target: &IrModule) -> bool {
    let (before, after) = (Folding::of(source), Folding::of(target));
    before.folds && after.has_others(&before) || after.folds && before.has_others(&after)
}

/// What a program says of constants.
#[derive(Default)]
struct Folding {
    /// The floats among them.
    constants: Vec<TensorData>,
    /// Variables that are bound to what depends on nothing else.
    variables: HashSet<Var>,
    /// Whether some operation has only such operands.
    folds: bool,
}

impl Folding {
    fn of(module: &IrModule) -> Folding {
        let mut found = Folding::default();
        walk_module(&mut found, module);
        found
    }

    fn has_others(&self, other: &Folding) -> bool {
        self.constants.iter().any(|constant| !other.constants.contains(constant))
    }

    fn is_constant(&self, expr: &Expr) -> bool {
        match expr {
            Expr::Constant(_) => true,
            Expr::Var(var) => self.variables.contains(var),
            Expr::Call(call) => self.is_of_constants(call),
            _ => false,
        }
    }

    fn is_of_constants(&self, call: &Call) -> bool {
        call.args.iter().any(|arg| self.is_constant(arg))
            && call
                .args
                .iter()
                .all(|arg| self.is_constant(arg) || matches!(arg, Expr::PrimValue(_) | Expr::ShapeExpr(_)))
    }
}

impl Visitor for Folding {
    fn visit_expr(&mut self, expr: &Expr) {
        if let Expr::Constant(constant) = expr
            && constant.data.dtype.is_float()
        {
            self.constants.push(constant.data.clone());
        }
        walk_expr(self, expr);
    }

    fn visit_call(&mut self, call: &Call) {
        self.folds |= self.is_of_constants(call);
        walk_call(self, call);
    }

    fn visit_var_binding(&mut self, binding: &VarBinding) {
        if self.is_constant(&binding.value) {
            self.variables.insert(binding.var.var.clone());
        }
        walk_var_binding(self, binding);
    }
}
