//! Derivation of one binding, expression or function by itself, for programs under construction.

use rustc_hash::FxHashMap;

use super::{Deriver, Entry};
use crate::findings::Diagnostic;
use crate::grammar::visit::{Visitor, walk_struct_info};
use crate::grammar::{Binding, Expr, Function, GlobalVar, IrModule, Name, ShapeVar, StructInfo, Var, VarKind};
use crate::judge::Cx;
use crate::struct_info::{Nowhere, Surroundings, closed};

/// What is known where the derived node stands.
pub struct Around<'a> {
    /// The module, for the `PrimFunc`s that operators refer to.
    pub module: &'a IrModule,
    pub globals: &'a FxHashMap<Name, StructInfo>,
    pub scope: &'a dyn Surroundings,
}

/// The entry that a binding makes in Δ, with the findings.
pub fn derive_binding(cx: &mut Cx, around: &Around, binding: &Binding) -> (Option<StructInfo>, Vec<Diagnostic>) {
    let mentions = Mentions::of(around.scope, |m| m.visit_binding(binding));
    let mut deriver = mentions.deriver(cx, around);
    deriver.binding(binding);
    // A binding makes its own entry last, after those of functions and sequences inside it.
    let own = deriver.report.vars.pop().filter(|(var, _)| binding.binder().is_some_and(|binder| binder.var == *var));
    (own.map(|(_, info)| info), deriver.report.diagnostics)
}

/// The structural information of an expression, with the findings.
pub fn derive_expr(cx: &mut Cx, around: &Around, expr: &Expr) -> (Option<StructInfo>, Vec<Diagnostic>) {
    let mentions = Mentions::of(around.scope, |m| m.visit_expr(expr));
    let mut deriver = mentions.deriver(cx, around);
    let info = deriver.expr(expr);
    (info, deriver.report.diagnostics)
}

/// What the annotations say of a function, in their own words.
pub fn derive_annotated(cx: &mut Cx, module: &IrModule, function: &Function) -> StructInfo {
    Deriver::new(cx, module).as_annotated(function)
}

/// The structural information of a function, with the findings.
pub fn derive_function(cx: &mut Cx, around: &Around, function: &Function) -> (Option<StructInfo>, Vec<Diagnostic>) {
    let mentions = Mentions::of(around.scope, |m| m.visit_function(function));
    let mut deriver = mentions.deriver(cx, around);
    let info = deriver.function(function);
    (info, deriver.report.diagnostics)
}

/// The part of the scope that a node mentions, directly or in what is known of its variables: what a derivation costs
/// then depends on the node and not on the program before it.
struct Mentions<'a> {
    scope: &'a dyn Surroundings,
    vars: Vec<(Var, bool, StructInfo)>,
    met: rustc_hash::FxHashSet<Var>,
    shape_vars: Vec<ShapeVar>,
    globals: Vec<Name>,
}

impl<'a> Mentions<'a> {
    fn of(scope: &'a dyn Surroundings, visit: impl FnOnce(&mut Self)) -> Mentions<'a> {
        let (met, vars, shape_vars, globals) = Default::default();
        let mut mentions = Mentions { scope, vars, met, shape_vars, globals };
        visit(&mut mentions);
        mentions
    }

    fn deriver<'c, 'm>(&'m self, cx: &'c mut Cx, around: &'m Around) -> Deriver<'c, 'm> {
        let mut deriver = Deriver::new(cx, around.module);
        let known = self.globals.iter().filter_map(|name| Some((&**name, around.globals.get(name)?)));
        deriver.globals = known.map(|(name, info)| (name, Some(closed(deriver.cx, info, &Nowhere)))).collect();
        self.shape_vars.iter().for_each(|var| deriver.scope.sigma.enter(var.clone(), ()));
        for (var, dataflow, info) in &self.vars {
            deriver.scope.delta.enter(var, Entry { info: Some(info.clone()), dataflow: *dataflow });
        }
        deriver
    }
}

impl Visitor for Mentions<'_> {
    fn visit_var(&mut self, var: &Var, kind: VarKind) {
        if !self.met.insert(var.clone()) {
            return;
        }
        if let Some(info) = self.scope.struct_info_of(var) {
            walk_struct_info(self, &info);
            self.vars.push((var.clone(), kind == VarKind::DataflowVar, info));
        }
    }

    fn visit_global_var(&mut self, gv: &GlobalVar) {
        self.globals.push(gv.name.clone());
    }

    fn visit_shape_var(&mut self, var: &ShapeVar) {
        if self.scope.has_shape_var(var) {
            self.shape_vars.push(var.clone());
        }
    }
}
