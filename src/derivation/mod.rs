//! Deriving structural information (chapter Deriving Structural Information): the rules `SI.DERIVE`.

mod annotate;
mod binding;
mod call;
pub(crate) mod devices;
mod expr;
mod function;
mod instead;
mod purity;
mod results;
#[cfg(test)]
mod tests;
mod unknown_purity;

pub use annotate::annotated;
pub use call::{CallError, derive_call};
pub use expr::info_of_literal;
pub use results::inferred_results;

use std::borrow::Cow;
use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;

use rustc_hash::{FxHashMap, FxHashSet};

use purity::PurityContext;
use unknown_purity::Inferring;

use crate::book::Erratum;
use crate::findings::{Diagnostic, FaultySpans, Finder, Severity, Trail};
use crate::grammar::width::Parts;
use crate::grammar::{
    FuncStructInfo, Function, GlobalFunc, GlobalVar, IrModule, Name, Ndim, ShapeVar, StructInfo, Var,
};
use crate::judge::{Compatibility, Cx};
use crate::scope::{Component, Context, in_order_of_reference, is_order_of_module};
use crate::struct_info::closed::{is_closed, show};
use crate::struct_info::{
    ShapeRelation, Surroundings, check_compatibility_in, closed, info_of_prim_func, is_more_specific_in,
};

/// The result of derivation for a module.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct DeriveReport {
    /// The structural information of each global function that has one, in the order of derivation.
    pub functions: Vec<(Name, StructInfo)>,
    /// The structural information of the `PrimFunc`s.
    pub prim_funcs: Vec<(Name, StructInfo)>,
    /// The entry of each local variable in Δ, in the order of derivation.
    pub vars: Vec<(Var, StructInfo)>,
    /// The range of `vars` that belongs to each global function.
    pub vars_of: Vec<(Name, Range<usize>)>,
    /// The findings, in the order of derivation.
    pub diagnostics: Vec<Diagnostic>,
}

impl DeriveReport {
    /// Whether the report has no error.
    pub fn accepts(&self) -> bool {
        self.diagnostics.iter().all(|finding| finding.severity == Severity::Warning)
    }

    /// Renames the variables of function types to their names in the program.
    fn shown(mut self) -> DeriveReport {
        let infos = self.functions.iter_mut().chain(&mut self.prim_funcs).map(|(_, info)| info);
        infos.chain(self.vars.iter_mut().map(|(_, info)| info)).for_each(show);
        self
    }

    /// The structural information of a global function. `None` if there is no such function or nothing was derived.
    pub fn info_of_function(&self, name: &str) -> Option<&StructInfo> {
        let mut known = self.functions.iter().chain(&self.prim_funcs);
        known.find(|(known, _)| &**known == name).map(|(_, info)| info)
    }

    /// The structural information of a local variable of any function; `None` if derivation did not reach it.
    pub fn info_of_var(&self, var: &Var) -> Option<&StructInfo> {
        self.vars.iter().find(|(known, _)| known == var).map(|(_, info)| info)
    }

    /// The entries of the variables of each global function.
    pub fn by_function(&self) -> FxHashMap<&str, &[(Var, StructInfo)]> {
        let of = |range: &Range<usize>| self.vars.get(range.clone()).unwrap_or_default();
        self.vars_of.iter().map(|(name, range)| (&**name, of(range))).collect()
    }

    /// The information of a variable of a global function. If no variable has this identity, variables with the same
    /// name are counted: `name` is the first, `name#1` the second. Programs read from text use this numbering.
    pub fn info_of_var_in(&self, function: &str, var: &Var) -> Option<&StructInfo> {
        let (_, range) = self.vars_of.iter().find(|(name, _)| &**name == function)?;
        let vars = self.vars.get(range.clone())?;
        let same = vars.iter().find(|(known, _)| known == var);
        let mut named = vars.iter().filter(|(known, _)| known.name == var.name);
        same.or_else(|| named.nth(var.id as usize)).map(|(_, info)| info)
    }
}

/// SI.DERIVE.MODULE: the structural information of a module in normal form, with every error and warning.
///
/// Errata: A14: strongly connected components of the reference graph, callees first. 2023-02, Deriving the Structural
/// Information for Each Expression.
pub fn derive_module(cx: &mut Cx, module: &IrModule) -> DeriveReport {
    derive_module_in(cx, module, &in_order_of_reference(module), Beforehand::default())
}

/// The facts that are known before derivation starts.
#[derive(Default)]
pub(crate) struct Beforehand {
    /// The functions that type checking found to be pure.
    pub pure: FxHashSet<Name>,
    /// Places that already have errors. Variables bound there are unknown.
    pub wrong: FaultySpans,
    /// The devices that propagation found; `None` before propagation.
    pub located: Option<devices::Located>,
    /// The results of earlier derivations, under the proposal on unknown purity.
    pub settled: unknown_purity::Settled,
}

/// [`derive_module`] with a given order of the global functions.
pub(crate) fn derive_module_in(
    cx: &mut Cx,
    module: &IrModule,
    groups: &[Component],
    beforehand: Beforehand,
) -> DeriveReport {
    let (report, beforehand) = derived(cx, module, groups, beforehand);
    match devices::propagate(cx, module, &report) {
        None => report.shown(),
        Some(Err(clashes)) => {
            let diagnostics = report.diagnostics.iter().cloned().chain(clashes).collect();
            DeriveReport { diagnostics, ..report }.shown()
        }
        Some(Ok(located)) => {
            let beforehand = Beforehand { located: Some(located), ..beforehand };
            derived(cx, module, groups, beforehand).0.shown()
        }
    }
}

/// A derivation aside, before the types are known.
pub(crate) struct EarlyDerivation {
    /// What it has derived.
    pub report: DeriveReport,
    /// Its context, with the rules that it has used.
    cx: Cx,
}

impl EarlyDerivation {
    /// Derives a module without recording rules in this context.
    pub(crate) fn of(cx: &Cx, module: &IrModule, groups: &[Component]) -> EarlyDerivation {
        let mut cx = cx.unobserved();
        let report = derive_module_in(&mut cx, module, groups, Beforehand::default());
        EarlyDerivation { report, cx }
    }

    /// The derivation after type checking, if it is this one. Type checking adds which functions are pure
    /// ([`Deriver::with_purity_of`]), which matters only where something refers to one of these.
    pub(crate) fn after_types(
        self,
        cx: &mut Cx,
        module: &IrModule,
        groups: &[Component],
        pure: &FxHashSet<Name>,
    ) -> Option<DeriveReport> {
        let is_pure = |member: &usize| module.funcs.get(*member).is_some_and(|(gv, _)| pure.contains(&gv.name));
        let mentioned = groups.iter().filter(|group| group.mentioned);
        let same = !mentioned.flat_map(|group| &group.members).any(is_pure);
        (same && cx.take_over(&self.cx)).then_some(self.report)
    }
}

/// Derives a module. Returns the report and the facts given beforehand.
fn derived(cx: &mut Cx, module: &IrModule, groups: &[Component], beforehand: Beforehand) -> (DeriveReport, Beforehand) {
    if cx.has(rule!("PURITY3.INFER")) {
        return unknown_purity::derived(cx, module, groups, beforehand);
    }
    let mut deriver = Deriver { beforehand, ..Deriver::new(cx, module) };
    deriver.module_in(groups);
    (deriver.report, deriver.beforehand)
}

/// The contexts Δ and Σ.
#[derive(Default)]
pub(crate) struct Contexts<'m> {
    delta: Context<&'m Var, InfoEntry>,
    sigma: Context<ShapeVar, ()>,
}

/// The entry of a variable in Δ. It has no information after an error.
#[derive(Clone)]
struct InfoEntry {
    info: Option<StructInfo>,
    dataflow: bool,
}

impl Surroundings for Contexts<'_> {
    fn has_var(&self, var: &Var) -> bool {
        self.delta.contains(var)
    }

    fn has_shape_var(&self, var: &ShapeVar) -> bool {
        self.sigma.contains(var)
    }

    fn struct_info_of(&self, var: &Var) -> Option<StructInfo> {
        self.delta.get(var).and_then(|entry| entry.info.clone())
    }
}

/// The result of a compatibility check that a rule of the language requires.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fit {
    Certainly,
    /// Accepted with a warning.
    Perhaps,
    /// An error.
    Never,
}

impl Fit {
    /// SUBSI.MEANING: a value is accepted where more general information is expected. If that holds only possibly
    /// (SUBSI.LEVELS), there is a warning. The first edition accepts compatible information instead.
    fn by_subtyping(cx: &mut Cx, given: &StructInfo, expected: &StructInfo, scope: &dyn Surroundings) -> Fit {
        if !cx.has(rule!("SUBSI.MEANING")) {
            return Fit::of(cx, given, expected, scope);
        }
        let definite = is_more_specific_in(cx, ShapeRelation::Definite, given, expected, scope);
        let possible = definite || is_more_specific_in(cx, ShapeRelation::Possible, given, expected, scope);
        cx.by_cases((
            &[(rule!("SUBSI.MEANING"), definite, Fit::Certainly), (rule!("SUBSI.LEVELS"), possible, Fit::Perhaps)],
            (rule!("SUBSI.MEANING"), Fit::Never),
        ))
    }

    /// SI.COMPAT.INCOMPAT-ERR, SI.COMPAT.POSSIBLE-WARN. If there is no conclusion, the program is accepted
    /// (SI.BESTEFFORT), and a warning suggests a cast (SI.BESTEFFORT.WARN).
    fn of(cx: &mut Cx, given: &StructInfo, expected: &StructInfo, scope: &dyn Surroundings) -> Fit {
        let answer = check_compatibility_in(cx, given, expected, scope);
        let by_answer = cx.by_cases(&[
            (rule!("SI.COMPAT.INCOMPAT-ERR"), answer == Compatibility::Incompatible, Fit::Never),
            (rule!("SI.COMPAT.POSSIBLE-WARN"), answer == Compatibility::Possibly, Fit::Perhaps),
        ]);
        match by_answer {
            Some(Fit::Perhaps) => {
                let accepted = cx.conclude(rule!("SI.BESTEFFORT"), Fit::Perhaps);
                cx.conclude(rule!("SI.BESTEFFORT.WARN"), accepted)
            }
            Some(fit @ (Fit::Certainly | Fit::Never)) => fit,
            None => Fit::Certainly,
        }
    }
}

struct Deriver<'c, 'm> {
    cx: &'c mut Cx,
    module: &'m IrModule,
    scope: Contexts<'m>,
    /// The part of Δ for global variables.
    globals: FxHashMap<&'m str, Option<StructInfo>>,
    /// The results of functions that have no return annotation, by the address of the function.
    results: HashMap<usize, StructInfo>,
    beforehand: Beforehand,
    /// The bound on the work that remains.
    parts: Parts,
    /// Whether something refers to the present global function.
    mentioned: bool,
    /// The purity context of the present position.
    place: PurityContext,
    /// Notes for inferring the purity of functions that omit it.
    inferring: Inferring<'m>,
    trail: Trail,
    report: DeriveReport,
}

impl Finder for Deriver<'_, '_> {
    fn trail(&mut self) -> &mut Trail {
        &mut self.trail
    }

    fn cx(&mut self) -> &mut Cx {
        self.cx
    }

    fn found(&mut self, finding: Diagnostic) {
        self.report.diagnostics.push(finding);
    }
}

impl<'c, 'm> Deriver<'c, 'm> {
    fn new(cx: &'c mut Cx, module: &'m IrModule) -> Deriver<'c, 'm> {
        Deriver {
            cx,
            module,
            scope: Contexts::default(),
            globals: FxHashMap::default(),
            results: HashMap::new(),
            beforehand: Beforehand::default(),
            parts: Parts::default(),
            mentioned: true,
            place: PurityContext::default(),
            inferring: Inferring::default(),
            trail: Trail::default(),
            report: DeriveReport::default(),
        }
    }

    fn module_in(&mut self, groups: &[Component]) {
        groups.iter().filter(|group| group.members.len() > 1).for_each(|group| self.mutual(group));
        self.prepopulate();
        if !is_order_of_module(groups) && self.cx.literal(Erratum::A14) {
            self.mentioned = true;
            (0..self.module.funcs.len()).for_each(|member| self.global(member));
            return;
        }
        for group in groups {
            self.mentioned = group.mentioned;
            group.members.iter().for_each(|member| self.global(*member));
        }
    }

    /// Whether the edition declares purity in functions and their information, so that derivation checks it.
    fn declares_purity(&self) -> bool {
        self.cx.has(rule!("PURITY.FIELD"))
    }

    /// Information written in the program at this place, with fresh variables for its function types.
    fn closed(&self, info: &StructInfo) -> StructInfo {
        let info = self.ranked(info);
        closed(self.cx, &info, &self.scope)
    }

    /// [`Deriver::closed`], without a copy of what is closed already.
    fn closed_info(&self, info: StructInfo) -> StructInfo {
        let ranked = self.ranked(&info);
        let same = matches!(ranked, Cow::Borrowed(_)) && is_closed(&ranked);
        let changed = (!same).then(|| closed(self.cx, &ranked, &self.scope));
        drop(ranked);
        changed.unwrap_or(info)
    }

    /// Whether the variables of a global function's information can be met in other information: in that of its users,
    /// or in function types inside it.
    fn is_met(&self, info: &StructInfo) -> bool {
        let is_plain = |func: &FuncStructInfo| {
            is_closed(&func.ret) && func.params.iter().flat_map(|params| params.iter()).all(is_closed)
        };
        self.mentioned || !info.as_func().is_some_and(|func| is_plain(func))
    }

    /// Literal E25: information about a variable does not affect a tensor that has it as its shape.
    fn ranked<'i>(&self, info: &'i StructInfo) -> Cow<'i, StructInfo> {
        let rank_of = |var: &Var| {
            let known = self.scope.delta.get(&var).and_then(|entry| entry.info.as_ref());
            known.map_or(Ndim::Unknown, StructInfo::rank_of_shape)
        };
        let ranked = info.ranked(&rank_of);
        if matches!(ranked, Cow::Owned(_)) && self.cx.literal(Erratum::E25) { Cow::Borrowed(info) } else { ranked }
    }

    /// SI.DERIVE.MODULE.PREPOPULATE: mutually recursive functions are first known by their annotations.
    fn mutual(&mut self, group: &Component) {
        if self.cx.fire(rule!("SI.DERIVE.MODULE.PREPOPULATE")) {
            for member in &group.members {
                let Some((gv, GlobalFunc::Function(function))) = self.module.funcs.get(*member) else { continue };
                let info = self.annotated_info(function);
                let info = info.map(|info| self.with_purity_of(&gv.name, info));
                self.globals.insert(&gv.name, info);
            }
        }
    }

    /// SI.DERIVE.MODULE.PER-FUNC: derives one global function and fills its entry.
    fn global(&mut self, index: usize) {
        let Some((gv, func)) = self.module.funcs.get(index) else { return };
        self.trail = Trail::new(gv.name.clone());
        match func {
            GlobalFunc::ExternFunc(_) => {
                let info = self.info_of_extern_func();
                let info = self.cx.conclude(rule!("SI.DERIVE.EXTERNFUNC"), info);
                self.globals.insert(&gv.name, Some(info));
            }
            GlobalFunc::PrimFunc(func) if self.cx.has(rule!("PRIMFUNC.SI.RESULT")) => {
                // Its variables are its own, whatever names callers use.
                let info = info_of_prim_func(self.cx, self.module, func);
                let info = self.closed(&info);
                let info = self.cx.conclude(rule!("SI.DERIVE.GLOBAL.PRIMFUNC"), info);
                self.report.prim_funcs.push((gv.name.clone(), info.clone()));
                self.globals.insert(&gv.name, Some(info));
            }
            GlobalFunc::PrimFunc(_) => {
                if self.cx.fire(rule!("SI.DERIVE.GLOBAL.PRIMFUNC")) {
                    self.report.prim_funcs.push((gv.name.clone(), StructInfo::Object));
                    self.globals.insert(&gv.name, Some(StructInfo::Object));
                }
            }
            GlobalFunc::Function(function) => self.global_function(gv, function),
        }
    }

    fn global_function(&mut self, gv: &'m GlobalVar, function: &'m Function) {
        self.inferring.begin(&gv.name);
        let is_known = self.cx.has(rule!("PURITY3.PREPOPULATE"));
        // Nobody meets the provisional entry of a function that nothing refers to.
        if !is_known && self.cx.fire(rule!("SI.DERIVE.FUNC.GLOBAL")) && self.mentioned {
            let provisional = self.annotated_info(function);
            let provisional = provisional.map(|info| self.with_purity_of(&gv.name, info));
            self.globals.insert(&gv.name, provisional);
        }
        let start = self.report.vars.len();
        let info = self.function(function);
        let info = info.map(|info| if self.is_met(&info) { self.closed(&info) } else { info });
        self.report.vars_of.push((gv.name.clone(), start..self.report.vars.len()));
        let info = info.map(|info| self.as_settled(&gv.name, info));
        if let Some(info) = &info {
            let info = if self.declares_purity() { info.clone() } else { without_purity(info) };
            self.report.functions.push((gv.name.clone(), info));
        }
        // SI.DERIVE.FUNC.CLEANUP. Errata: A30. Read literally, the entry of the GlobalVar is removed too.
        if self.mentioned && self.cx.literal(Erratum::A30) {
            self.globals.remove(&*gv.name);
        } else if self.cx.fire(rule!("SI.DERIVE.MODULE.PER-FUNC")) {
            let info = info.map(|info| self.with_purity_of(&gv.name, info));
            self.inferring.end(&gv.name, function, self.globals.get(&*gv.name), info.as_ref());
            self.globals.insert(&gv.name, info);
        }
    }
}

/// The reported information of a function. In the text, structural information has no purity (A18).
fn without_purity(info: &StructInfo) -> StructInfo {
    if let StructInfo::Func(func) = info {
        StructInfo::Func(Arc::new(FuncStructInfo { pure: None, ..(**func).clone() }))
    } else {
        info.clone()
    }
}
