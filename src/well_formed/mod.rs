//! The well-formedness criteria (chapter Well-Formedness Criteria).
//!
//! One traversal decides all fifteen. It is syntactic (`WF.SYNTACTIC`): it consults neither types, nor structural
//! information, nor the operator registry. Variables are distinguished by identity (A03).

mod annotation;
mod bound;
mod recursion;
mod shape_var;
#[cfg(test)]
mod tests;
mod walk;

use rustc_hash::FxHashMap;

use crate::book::Erratum;
use crate::findings::{Complaint, Demand, Diagnostic, Finder, Trail, TrailStep};
use crate::grammar::tir::{Param, PrimFunc};
use crate::grammar::{AttrValue, Function, GlobalFunc, GlobalVar, IrModule, ShapeVar, Span, Var};
use crate::judge::{Cx, Every};
use crate::scope::Context;

/// WF.1.BIND to WF.15.ATLEASTONE: every violation of the fifteen criteria by a program, normalized or not.
///
/// The findings of a function come in the order of its text. The list is empty for a program that meets the criteria.
/// 2023-02, Well-Formedness Criteria.
pub fn check(cx: &mut Cx, module: &IrModule) -> Vec<Diagnostic> {
    let mut checker = WellFormedChecker::new(cx, module);
    for (index, (gv, func)) in module.funcs.iter().enumerate() {
        match func {
            GlobalFunc::Function(function) => checker.global_function(index, gv, function),
            GlobalFunc::PrimFunc(prim_func) => checker.global_prim_func(index, gv, prim_func),
            GlobalFunc::ExternFunc(_) => {}
        }
    }
    checker.mutual_recursion();
    checker.entry_point();
    let mut findings = checker.into_findings();
    // The criteria of normal form apply to normalized programs.
    if !cx.fire(rule!("WF.NF")) {
        findings.extend(crate::normal_form::violations(cx, module));
    }
    findings.extend(operators_before_normalization(cx, module));
    findings
}

/// Errata: N15, literally calls of operators must have the form of their operators even before normalization.
fn operators_before_normalization(cx: &mut Cx, module: &IrModule) -> Vec<Diagnostic> {
    let rule = rule!("WF23-12.23");
    if !cx.has(rule) || !cx.literal(Erratum::N15) {
        return Vec::new();
    }
    let mut violations = crate::normal_form::violations(&mut cx.unobserved(), module);
    violations.retain(|finding| finding.rule == rule);
    if violations.is_empty() || cx.premise(rule, 1, false) { Vec::new() } else { violations }
}

/// The state of the traversal.
struct WellFormedChecker<'c, 'm> {
    cx: &'c mut Cx,
    module: &'m IrModule,
    /// The first entry of each name.
    globals: FxHashMap<&'m str, usize>,
    /// The global function being checked.
    global: usize,
    trail: Trail,
    /// Each with its position in the traversal, because some are found only later.
    findings: Vec<(usize, Diagnostic)>,
    /// The number of nodes met so far. It orders the findings.
    clock: usize,
    relax: bound::RelaxVars<'m>,
    shapes: Context<&'m ShapeVar, ()>,
    /// Whether the annotation being checked is part of the signature of a function.
    in_signature: bool,
    /// Whether the annotation being checked is that of a variable.
    of_variable: bool,
    /// The shape variables that the signature binds, collected before its check.
    of_signature: Vec<ShapeVar>,
    functions: Vec<recursion::FunctionFrame>,
    calls: recursion::CallGraph,
}

impl Finder for WellFormedChecker<'_, '_> {
    fn trail(&mut self) -> &mut Trail {
        &mut self.trail
    }

    fn cx(&mut self) -> &mut Cx {
        self.cx
    }

    fn found(&mut self, finding: Diagnostic) {
        self.findings.push((self.clock, finding));
    }

    fn at<T>(&mut self, step: TrailStep, body: impl FnOnce(&mut Self) -> T) -> T {
        self.trail.push(step);
        self.clock += 1;
        let result = body(self);
        self.trail.pop();
        result
    }
}

/// An earlier position of the traversal, kept because it may be judged later.
struct Spot {
    trail: Trail,
    span: Span,
    clock: usize,
}

impl<'c, 'm> WellFormedChecker<'c, 'm> {
    /// The current position of the traversal.
    fn spot(&self, span: Span) -> Spot {
        Spot { trail: self.trail.clone(), span, clock: self.clock }
    }

    /// Checks conditions at an earlier position.
    fn demand_back_at(&mut self, spot: Spot, demands: &[Demand]) {
        let here = std::mem::replace(&mut self.trail, spot.trail);
        let now = std::mem::replace(&mut self.clock, spot.clock);
        self.demand(spot.span, demands);
        (self.trail, self.clock) = (here, now);
    }

    fn new(cx: &'c mut Cx, module: &'m IrModule) -> WellFormedChecker<'c, 'm> {
        let mut globals = FxHashMap::default();
        for (index, (gv, _)) in module.funcs.iter().enumerate() {
            globals.entry(&*gv.name).or_insert(index);
        }
        WellFormedChecker {
            cx,
            module,
            globals,
            global: 0,
            trail: Trail::default(),
            findings: Vec::new(),
            clock: 0,
            relax: bound::RelaxVars::default(),
            shapes: Context::new(),
            in_signature: false,
            of_variable: false,
            of_signature: Vec::new(),
            functions: Vec::new(),
            calls: recursion::CallGraph::new(module.funcs.len()),
        }
    }

    /// WF.REPORT-ALL: each violation counts.
    fn into_findings(mut self) -> Vec<Diagnostic> {
        self.findings.sort_by_key(|(at, _)| *at);
        let findings: Vec<Diagnostic> = self.findings.into_iter().map(|(_, finding)| finding).collect();
        if findings.len() > 1 { self.cx.conclude(rule!("WF.REPORT-ALL"), Every(findings)).0 } else { findings }
    }

    fn global_function(&mut self, index: usize, gv: &'m GlobalVar, function: &'m Function) {
        self.global = index;
        self.trail = Trail::new(gv.name.clone());
        self.names_anew();
        self.global_bound_once(index, gv);
        self.linked_under_its_name(gv, function);
        self.function(function, recursion::DenotedFunction::Global(index));
        self.never_bound();
    }

    /// GRAM.PROGRAM.PRIMFUNC-OPAQUE: Relax does not look inside a `PrimFunc`, for example at a vector datatype.
    fn global_prim_func(&mut self, index: usize, gv: &'m GlobalVar, prim_func: &PrimFunc) {
        self.trail = Trail::new(gv.name.clone());
        self.global_bound_once(index, gv);
        if !self.cx.fire(rule!("GRAM.PROGRAM.PRIMFUNC-OPAQUE")) {
            self.datatypes_of(prim_func);
        }
    }

    fn datatypes_of(&mut self, prim_func: &PrimFunc) {
        for param in &prim_func.params {
            match param {
                Param::Buffer(buffer) => self.datatype(buffer.dtype, prim_func.span),
                Param::Scalar(var) => self.datatype(var.dtype, prim_func.span),
                Param::Handle(_) => {}
            }
        }
    }

    /// SCOPE.BIND-ONCE.GLOBAL: a `GlobalVar` is bound by exactly one entry in the module.
    fn global_bound_once(&mut self, index: usize, gv: &'m GlobalVar) {
        let first = self.globals.get(&*gv.name) == Some(&index);
        self.demand(
            gv.span,
            &[(rule!("SCOPE.BIND-ONCE.GLOBAL"), 1, first, &|| {
                Complaint::error(format!("the module binds `{}` more than once", gv.name))
                    .with_hint("rename one of the functions")
            })],
        );
    }

    /// WF.12: a `global_symbol` is the name of the `GlobalVar`.
    fn linked_under_its_name(&mut self, gv: &GlobalVar, function: &Function) {
        let Some(symbol) = function.attrs.get("global_symbol") else { return };
        let same = matches!(symbol, AttrValue::Str(name) if *name == gv.name);
        self.demand(
            function.span,
            &[(rule!("WF.12"), 1, same, &|| {
                let message = match symbol {
                    AttrValue::Str(name) => format!("`{}` has the global_symbol `{name}`", gv.name),
                    _ => format!("the global_symbol of `{}` is not a string", gv.name),
                };
                let hint = format!("set global_symbol to `{}`, or leave it out if the function is private", gv.name);
                Complaint::error(message).with_hint(hint)
            })],
        );
    }

    /// WF.11: some global function is externally linked.
    ///
    /// Errata: A54 counts Relax functions only, and lets the empty module fail.
    fn entry_point(&mut self) {
        let linked = |func: &GlobalFunc| match func {
            GlobalFunc::Function(function) => function.attrs.contains_key("global_symbol"),
            GlobalFunc::PrimFunc(_) | GlobalFunc::ExternFunc(_) => false,
        };
        let some = self.module.funcs.iter().any(|(_, func)| linked(func));
        self.trail = Trail::default();
        self.clock += 1;
        // A module has no position of its own, so the finding points to its first function.
        let first = self.module.funcs.first().map_or(Span::NONE, |(gv, _)| gv.span);
        self.demand(
            first,
            &[(rule!("WF.11"), 1, some, &|| {
                Complaint::error("no function of the module has a global_symbol, so none can be its entry point")
                    .with_hint("give the entry function a global_symbol equal to its name")
            })],
        );
    }
}

/// The name of a variable in a message.
fn quoted(var: &Var) -> String {
    format!("`{var}`")
}
