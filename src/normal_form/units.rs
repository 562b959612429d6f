//! Replaces variables by the empty tuple (NF.UNIT), from edition 2024-04 on.

use std::sync::Arc;

use rustc_hash::FxHashSet;

use crate::derivation::derive_module;
use crate::grammar::visit::{Visitor, walk_expr, walk_var_binding};
use crate::grammar::{
    Binding, Expr, Function, GlobalFunc, IrModule, SeqExpr, Span, StructInfo, Tuple, Var, VarBinding,
};
use crate::judge::{Cx, with_stack};

/// For each global function, in the order of the module: the variables that are used and known to be the empty tuple.
///
/// Errata: M05. This is known only after derivation, which needs a program that is otherwise in normal form.
pub(super) fn used_units(cx: &mut Cx, module: &IrModule) -> Vec<FxHashSet<Var>> {
    if !cx.has(rule!("NF.UNIT.INLINE")) {
        return Vec::new();
    }
    let derived = derive_module(&mut cx.unobserved(), module);
    let known = derived.by_function();
    let mut units = Vec::with_capacity(module.funcs.len());
    for (gv, func) in &module.funcs {
        let GlobalFunc::Function(function) = func else {
            units.push(FxHashSet::default());
            continue;
        };
        let vars = known.get(&*gv.name).copied().unwrap_or_default();
        let of = vars.iter().filter(|(_, info)| is_unit(info)).map(|(var, _)| var.clone());
        units.push(used(cx, function, of.collect()));
    }
    units
}

fn is_unit(info: &StructInfo) -> bool {
    matches!(info, StructInfo::Tuple(fields) if fields.is_empty())
}

/// NF.UNIT.ANY-BINDER: the variables among them that are used, whatever binds them.
fn used(cx: &mut Cx, function: &Function, units: FxHashSet<Var>) -> FxHashSet<Var> {
    if units.is_empty() {
        return units;
    }
    let mut uses = UnitUses { units, used: FxHashSet::default(), bound: FxHashSet::default() };
    uses.visit_expr(&function.body);
    let UnitUses { used, bound, .. } = uses;
    if used.is_empty() {
        return used;
    }
    let by_value = used.intersection(&bound).cloned().collect();
    if cx.fire(rule!("NF.UNIT.ANY-BINDER")) { used } else { by_value }
}

struct UnitUses {
    units: FxHashSet<Var>,
    used: FxHashSet<Var>,
    /// The variables bound by a `VarBinding`.
    bound: FxHashSet<Var>,
}

impl Visitor for UnitUses {
    fn visit_expr(&mut self, expr: &Expr) {
        if let Expr::Var(var) | Expr::DataflowVar(var) = expr
            && self.units.contains(var)
        {
            self.used.insert(var.clone());
        }
        walk_expr(self, expr);
    }

    fn visit_var_binding(&mut self, binding: &VarBinding) {
        self.bound.insert(binding.var.var.clone());
        walk_var_binding(self, binding);
    }
}

/// The first place where one of the variables is used as the value of an expression.
pub(super) fn first_use(function: &Function, units: &FxHashSet<Var>) -> Option<(Var, Span)> {
    struct First<'a>(&'a FxHashSet<Var>, Option<(Var, Span)>);
    impl Visitor for First<'_> {
        fn visit_expr(&mut self, expr: &Expr) {
            if let Expr::Var(var) | Expr::DataflowVar(var) = expr
                && self.0.contains(var)
                && self.1.is_none()
            {
                self.1 = Some((var.clone(), var.span));
            }
            walk_expr(self, expr);
        }
    }
    let mut first = First(units, None);
    first.visit_expr(&function.body);
    first.1
}

/// NF.UNIT.INLINE: replaces every use of the variables by the empty tuple. NF.UNIT.KEEP-BINDING: their bindings stay.
pub(super) fn inlined(cx: &mut Cx, function: &Function, units: &FxHashSet<Var>) -> Function {
    let mut function = function.clone();
    let keeps = cx.fire(rule!("NF.UNIT.KEEP-BINDING"));
    Inline { units, keeps }.expr(&mut function.body);
    function
}

struct Inline<'a> {
    units: &'a FxHashSet<Var>,
    keeps: bool,
}

impl Inline<'_> {
    fn expr(&self, expr: &mut Expr) {
        with_stack(|| {
            if let Expr::Var(var) | Expr::DataflowVar(var) = expr {
                if self.units.contains(var) {
                    *expr = Expr::Tuple(Arc::new(Tuple { fields: Vec::new(), span: var.span }));
                }
            } else if let Expr::SeqExpr(seq) = expr {
                self.sequence(Arc::make_mut(seq));
            } else {
                expr.parts_mut().into_iter().for_each(|part| self.expr(part));
            }
        });
    }

    fn sequence(&self, seq: &mut SeqExpr) {
        for block in &mut seq.blocks {
            if !self.keeps {
                block.bindings.retain(|binding| !self.binds_unit(binding));
            }
            for binding in &mut block.bindings {
                match binding {
                    Binding::VarBinding(binding) => self.expr(&mut binding.value),
                    Binding::MatchCast(cast) => self.expr(&mut cast.value),
                }
            }
        }
        self.expr(&mut seq.body);
    }

    fn binds_unit(&self, binding: &Binding) -> bool {
        binding.binder().is_some_and(|binder| self.units.contains(&binder.var))
    }
}
