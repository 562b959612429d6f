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
use crate::derivation::{Beforehand, DeriveReport, derive_module_in};
use crate::findings::{Diagnostic, FaultySpans, Finder, Severity, Trail};
use crate::grammar::width::Parts;
use crate::grammar::{DeriveFunc, Function, GlobalFunc, IrModule, Name, Ndim, StructInfo, Type, Var};
use crate::judge::Cx;
use crate::scope::{Component, Context, in_order_of_reference};
use crate::types::erase_struct_info;

/// What type checking says of a module.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct TypeReport {
    /// The type of each global function that has one, in the order of checking.
    pub functions: Vec<(Name, Type)>,
    /// The type with which each local variable entered the context, in the order of checking.
    pub vars: Vec<(Var, Type)>,
    /// The variables whose binding makes an impure call (`PURE.CALL-EFFECT`), in the order of checking.
    pub impure: Vec<Var>,
    /// What was found, in the order of the check.
    pub diagnostics: Vec<Diagnostic>,
}

impl TypeReport {
    /// Whether there is no error.
    pub fn accepts(&self) -> bool {
        self.diagnostics.iter().all(|finding| finding.severity == Severity::Warning)
    }

    /// The type of a global function; `None` if there is none of this name, or none was found.
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
    check_module_in(cx, module, &groups, &known, FaultySpans::default())
}

/// [`check_module`], given the order of the global functions, what [is known](known_of_vars) of variables, and where something is
/// wrong already: what is bound there is not known.
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
    let by_reference = !checker.cx.literal(Erratum::A14);
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

/// TC.CALL.OP: what derivation finds out of the variables of a module, for the macros of operators, which are given a call with
/// what is known of its arguments. Nothing of it is recorded, and none of its findings is told: types come before structural
/// information (TC.BEFORE-SI), and what is wrong with that is told when its turn comes.
pub(crate) fn known_of_vars(cx: &Cx, module: &IrModule, groups: &[Component]) -> DeriveReport {
    derive_module_in(&mut cx.unobserved(), module, groups, Beforehand::default())
}

/// What the context knows of a variable; no type if an error left none.
#[derive(Clone, Debug)]
struct TypeEntry {
    ty: Option<Type>,
    /// How the result of a packed function is derived (A21).
    derive: Option<DeriveFunc>,
    dataflow: bool,
    /// How many functions enclose the binding.
    depth: usize,
}

/// The function whose body is being checked.
struct PurityFrame {
    /// Every call so far is pure.
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
    /// The final types of the functions that have been checked since all of a group was known by its annotations.
    finished: Vec<(&'m str, Option<Type>)>,
    recursive: FxHashSet<usize>,
    frames: Vec<PurityFrame>,
    wrong: FaultySpans,
    /// What derivation knows of the variables of each global function.
    known: FxHashMap<&'m str, &'m [(Var, StructInfo)]>,
    /// The part of it that is about the global function at hand.
    known_here: FxHashMap<&'m Var, &'m StructInfo>,
    /// What may still be gone through.
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

    /// TC.MODULE.PREPOPULATE: mutually recursive functions are known by their annotations.
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

    /// TC.MODULE.PER-FUNC: one global function, as a whole.
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

    /// TC.MODULE.PREPOPULATE: while a group is being checked its members see each other by their annotations, whichever
    /// comes first; what follows sees their final types.
    fn finish(&mut self) {
        self.globals.extend(self.finished.drain(..));
    }

    fn erase(&mut self, info: &StructInfo) -> Type {
        let info = self.ranked(info);
        erase_struct_info(self.cx, &info)
    }

    /// Literal E25: what a variable is known of says nothing of the tensor that has it for a shape.
    fn ranked<'i>(&self, info: &'i StructInfo) -> Cow<'i, StructInfo> {
        let rank_of = |var: &Var| match self.gamma.get(&var).and_then(|entry| entry.ty.as_ref()) {
            Some(Type::Shape(shape)) => shape.ndim,
            Some(
                Type::Object | Type::Tensor(_) | Type::Prim(_) | Type::Tuple(_) | Type::Func(_) | Type::PackedFunc,
            )
            | None => Ndim::Unknown,
        };
        if self.cx.literal(Erratum::E25) { Cow::Borrowed(info) } else { info.ranked(&rank_of) }
    }
}

/// How results of a function with this structural information are derived, if it is opaque.
fn derive_func_of(info: &StructInfo) -> Option<DeriveFunc> {
    info.as_func()?.derive_func.clone()
}
