//! Constants in the target that replace operations on constants: a pass has computed them in floats.

use std::collections::HashSet;

use crate::arguments::{float_constants, float_constants_of_few_digits};
use crate::grammar::visit::{Visitor, walk_call, walk_expr, walk_module, walk_var_binding};
use crate::grammar::{Call, Expr, IrModule, TensorData, Var, VarBinding};
use crate::number::FloatType;

/// REFINE.RING.FOLDED: whether one program has operations on constants alone, and the other has constants that the
/// first lacks; or whether a constant of one is the rounded combination of two constants of the other.
pub(super) fn folds_constants(source: &IrModule, target: &IrModule) -> bool {
    let (before, after) = (Folding::of(source), Folding::of(target));
    if before.folds && after.has_others(&before) || after.folds && before.has_others(&after) {
        return true;
    }
    let (before, after) = (float_constants(source), float_constants(target));
    merges_two(&before, &after) || merges_two(&after, &before)
}

/// REFINE.RING.FOLDED: whether a constant that only one program has is of a type with fewer digits than float32. There
/// are simpler fractions that round to the same float of such a type.
pub(super) fn has_few_digits(source: &IrModule, target: &IrModule) -> bool {
    let (before, after) = (float_constants_of_few_digits(source), float_constants_of_few_digits(target));
    let has_others = |of: &[f64], other: &[f64]| of.iter().any(|x| !other.iter().any(|y| x.to_bits() == y.to_bits()));
    has_others(&before, &after) || has_others(&after, &before)
}

/// Above this number of constants no pairs are combined.
const MOST_CONSTANTS: usize = 64;

/// Whether a constant that only the second program has is the rounded product, quotient, sum or difference of two
/// constants of the first, of which the second lacks one. A result that needs no rounding is the same in the ring.
fn merges_two(of: &[f64], into: &[f64]) -> bool {
    let lost = |x: &f64| !into.contains(x);
    let new: Vec<f64> = into.iter().copied().filter(|x| *x != 0.0 && x.is_finite() && !of.contains(x)).collect();
    if of.len() > MOST_CONSTANTS || new.len() > MOST_CONSTANTS {
        return false;
    }
    let pairs = of.iter().filter(|x| lost(x)).flat_map(|a| of.iter().flat_map(move |b| [(*a, *b), (*b, *a)]));
    pairs.flat_map(|(a, b)| [a * b, a / b, a + b, a - b]).any(|made| {
        let rounds_to = |float: FloatType| float.round(made) != made && new.contains(&float.round(made));
        [FloatType::Float16, FloatType::BFloat16, FloatType::Float32].into_iter().any(rounds_to)
    })
}

/// The constants of a program, and whether it computes with constants alone.
#[derive(Default)]
struct Folding {
    /// The floating-point constants.
    constants: Vec<TensorData>,
    /// Variables that depend on constants only.
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
