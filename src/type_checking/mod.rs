//! Type checking (chapter Type Checking): the rules `TC`.

mod binding;
mod call;
mod expr;
mod function;
mod instead;
#[cfg(test)]
mod tests;

use std::borrow::Cow;

use rustc_hash::{FxHashMap, FxHashSet};

use crate::book::Erratum;
use crate::derivation::{DeriveReport, EarlyDerivation};
use crate::findings::{Diagnostic, FaultySpans, Finder, Severity, Trail};
use crate::grammar::width::Parts;
use crate::grammar::{DeriveFunc, Function, GlobalFunc, IrModule, Name, Ndim, StructInfo, Type, Var};
use crate::judge::Cx;
use crate::scope::{Component, Context, in_order_of_reference, is_order_of_module};
use crate::types::erase_struct_info;

/// The report of type checking on a module.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct TypeReport {
    /// The type of each global function that has one, in the order of checking.
    pub functions: Vec<(Name, Type)>,
    /// The type of each local variable when it entered the context, in the order of checking.
    pub vars: Vec<(Var, Type)>,
    /// The variables whose binding makes an impure call (`PURE.CALL-EFFECT`), in the order of checking.
    pub impure: Vec<Var>,
    /// The findings, in the order of checking.
    pub diagnostics: Vec<Diagnostic>,
}

impl TypeReport {
    /// Whether there is no error.
    pub fn accepts(&self) -> bool {
        self.diagnostics.iter().all(|finding| finding.severity == Severity::Warning)
    }

    /// The type of a global function; `None` if no function has this name, or no type was found.
    pub fn type_of_function(&self, name: &str) -> Option<&Type> {
        self.functions.iter().find(|(known, _)| &**known == name).map(|(_, t)| t)
    }

    /// The type of a local variable of any function; `None` if it was not reached.
    pub fn type_of_var(&self, var: &Var) -> Option<&Type> {
        self.vars.iter().find(|(known, _)| known == var).map(|(_, t)| t)
    }
}

/// TC.MODULE: the types of a module in normal form, with every type error and warning.
///
/// Errata: A14 visits the strongly connected components of the reference graph, callees first.
/// 2023-02, Type Checking.
pub fn check_module(cx: &mut Cx, module: &IrModule) -> TypeReport {
    let groups = in_order_of_reference(module);
    let known = known_of_vars(cx, module, &groups);
    check_module_in(cx, module, &groups, &known.report, FaultySpans::default())
}

/// Like [`check_module`], given the order of the global functions, the [derived information](known_of_vars) about
/// variables, and the places that are already known to be wrong. A variable bound at such a place has no type.
pub(crate) fn check_module_in<'m>(
    cx: &mut Cx,
    module: &'m IrModule,
    groups: &[Component],
    known: &'m DeriveReport,
    wrong: FaultySpans,
) -> TypeReport {
    let mut checker = TypeChecker { wrong, ..TypeChecker::new(cx, module, known) };
    for group in groups {
        checker.mutual(group);
    }
    let by_reference = is_order_of_module(groups) || !checker.cx.literal(Erratum::A14);
    if checker.cx.conclude(rule!("TC.MODULE.ORDER"), by_reference) {
        for group in groups {
            group.members.iter().for_each(|member| checker.global(*member));
            checker.finish();
        }
    } else {
        for member in 0..module.funcs.len() {
            checker.global(member);
            checker.finish();
        }
    }
    checker.report
}

/// TC.CALL.OP: the structural information of the variables of a module, which the macros of operators need. It is
/// derived without recording rules or reporting findings. Types are checked before structural information
/// (TC.BEFORE-SI), whose errors are reported later.
pub(crate) fn known_of_vars(cx: &Cx, module: &IrModule, groups: &[Component]) -> EarlyDerivation {
    EarlyDerivation::of(cx, module, groups)
}

/// The type of a variable; `None` after an error.
#[derive(Clone, Debug)]
struct TypeEntry {
    ty: Option<Type>,
    /// How the result of a packed function is derived (A21).
    derive: Option<DeriveFunc>,
    dataflow: bool,
    /// The number of functions around the binding.
    depth: usize,
}

/// The function whose body is being checked.
struct PurityFrame {
    /// Whether every call so far is pure.
    pure: bool,
    in_dataflow: usize,
}

struct TypeChecker<'c, 'm> {
    cx: &'c mut Cx,
    module: &'m IrModule,
    /// Γ, for local variables.
    gamma: Context<&'m Var, TypeEntry>,
    /// Γ, for global variables.
    globals: FxHashMap<&'m str, Option<Type>>,
    /// The final types of functions whose group is still being checked. Until then they are known by their annotations.
    finished: Vec<(&'m str, Option<Type>)>,
    recursive: FxHashSet<usize>,
    frames: Vec<PurityFrame>,
    wrong: FaultySpans,
    /// The information that derivation has about the variables of each global function.
    known: FxHashMap<&'m str, &'m [(Var, StructInfo)]>,
    /// The part of it for the current global function.
    known_here: FxHashMap<&'m Var, &'m StructInfo>,
    /// The remaining budget for traversing large types.
    parts: Parts,
    trail: Trail,
    report: TypeReport,
}

impl Finder for TypeChecker<'_, '_> {
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

impl<'c, 'm> TypeChecker<'c, 'm> {
    fn new(cx: &'c mut Cx, module: &'m IrModule, known: &'m DeriveReport) -> TypeChecker<'c, 'm> {
        TypeChecker {
            cx,
            module,
            gamma: Context::new(),
            globals: FxHashMap::default(),
            finished: Vec::new(),
            recursive: FxHashSet::default(),
            frames: Vec::new(),
            wrong: FaultySpans::default(),
            known: known.by_function(),
            known_here: FxHashMap::default(),
            parts: Parts::default(),
            trail: Trail::default(),
            report: TypeReport::default(),
        }
    }

    /// TC.MODULE.PREPOPULATE: enters mutually recursive functions with their annotations.
    fn mutual(&mut self, group: &Component) {
        if group.recursive {
            self.recursive.extend(&group.members);
        }
        if group.members.len() > 1 && self.cx.fire(rule!("TC.MODULE.PREPOPULATE")) {
            for member in &group.members {
                let Some((gv, GlobalFunc::Function(function))) = self.module.funcs.get(*member) else { continue };
                let ty = self.annotated_type(function).filter(|_| !self.wrong.in_signature(function));
                self.globals.insert(&gv.name, ty);
            }
        }
    }

    /// TC.MODULE.PER-FUNC: checks one global function as a whole.
    fn global(&mut self, index: usize) {
        let Some((gv, func)) = self.module.funcs.get(index) else { return };
        self.trail = Trail::new(gv.name.clone());
        self.known_here.clear();
        let known: &'m [(Var, StructInfo)] = self.known.get(&*gv.name).copied().unwrap_or_default();
        self.known_here.extend(known.iter().map(|(var, info)| (var, info)));
        match func {
            GlobalFunc::ExternFunc(_) => {
                let ty = self.cx.conclude(rule!("TC.EXTERNFUNC"), Type::PackedFunc);
                self.globals.insert(&gv.name, Some(ty));
            }
            GlobalFunc::PrimFunc(_) => {
                if self.cx.fire(rule!("TC.GLOBAL.PRIMFUNC")) && self.cx.fire(rule!("MOD.PRIMFUNC-OBJECT")) {
                    self.globals.insert(&gv.name, Some(Type::Object));
                }
            }
            GlobalFunc::Function(function) => {
                if self.cx.fire(rule!("TC.MODULE.PER-FUNC")) {
                    self.global_function(index, &gv.name, function);
                }
            }
        }
    }

    fn global_function(&mut self, index: usize, name: &'m Name, function: &'m Function) {
        let recursive = self.recursive.contains(&index);
        let ty = self.recursive_function(name, function, recursive);
        if let Some(ty) = &ty {
            self.report.functions.push((name.clone(), ty.clone()));
        }
        self.finished.push((name, ty));
    }

    /// TC.MODULE.PREPOPULATE: during the check of a group its members see each other's annotations, in any order. Later
    /// functions see their final types.
    fn finish(&mut self) {
        self.globals.extend(self.finished.drain(..));
    }

    fn erase(&mut self, info: &StructInfo) -> Type {
        let info = self.ranked(info);
        erase_struct_info(self.cx, &info)
    }

    /// The information with the rank of a tensor whose shape is a variable. Literal E25: the type of that variable says
    /// nothing about the tensor.
    fn ranked<'i>(&self, info: &'i StructInfo) -> Cow<'i, StructInfo> {
        let rank_of = |var: &Var| match self.gamma.get(&var).and_then(|entry| entry.ty.as_ref()) {
            Some(Type::Shape(shape)) => shape.ndim,
            Some(
                Type::Object | Type::Tensor(_) | Type::Prim(_) | Type::Tuple(_) | Type::Func(_) | Type::PackedFunc,
            )
            | None => Ndim::Unknown,
        };
        let ranked = info.ranked(&rank_of);
        if matches!(ranked, Cow::Owned(_)) && self.cx.literal(Erratum::E25) { Cow::Borrowed(info) } else { ranked }
    }
}

/// How results of a function with this structural information are derived, if the function is opaque.
fn derive_func_of(info: &StructInfo) -> Option<DeriveFunc> {
    info.as_func()?.derive_func.clone()
}
