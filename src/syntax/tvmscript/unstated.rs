//! Functions without a stated purity.
//!
//! TVM writes `pure=False` on an impure function and nothing on a pure one, but people often leave it out on either. So
//! the check infers the purity of a function without it (TC.FUNC.PURE.DEFAULT). The check needs a stated purity on
//! recursive functions and on the variables of local functions. There, a missing purity means `pure` if all calls allow
//! it.

use std::sync::Arc;

use rustc_hash::{FxHashMap, FxHashSet};

use crate::grammar::visit::{Visitor, walk_call, walk_function, walk_match_cast, walk_var_binding};
use crate::grammar::{
    Binder, Binding, Call, Expr, Function, GlobalFunc, GlobalVar, IrModule, MatchCast, Name, SeqExpr, StructInfo, Var,
    VarBinding,
};
use crate::judge::with_stack;
use crate::ops;
use crate::scope::in_order_of_reference;

/// Functions by the names of their bindings.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub(in crate::syntax) struct Silent {
    pub globals: FxHashSet<Name>,
    pub locals: FxHashSet<Var>,
}

impl Silent {
    /// Without the global functions that are never referred to. These are not recursive, so no purity is missing.
    pub(super) fn of_referred(mut self, referred: &FxHashSet<Name>) -> Silent {
        self.globals.retain(|name| referred.contains(name));
        self
    }

    /// The functions that are pure if the text does not state a purity.
    pub(super) fn pure_in(module: &IrModule) -> Silent {
        if !Others::in_module(module) {
            return Silent::default();
        }
        Silent::among_others(module)
    }

    /// [`Silent::pure_in`] of any module.
    fn among_others(module: &IrModule) -> Silent {
        let recursive = recursive(module);
        let mut calls = CallRelation::default();
        for (gv, func) in &module.funcs {
            match func {
                GlobalFunc::Function(function) => calls.global(&gv.name, function),
                GlobalFunc::PrimFunc(_) | GlobalFunc::ExternFunc(_) => {}
            }
        }
        if recursive.is_empty() && calls.locals.is_empty() {
            return Silent::default();
        }
        let pure = calls.pure();
        let of = |key: &FunctionKey| calls.functions.get(key).is_some_and(|f| f.stated.is_none()) && pure.contains(key);
        Silent {
            globals: recursive.into_iter().filter(|name| of(&FunctionKey::Global(name.clone()))).collect(),
            locals: calls.locals.iter().filter(|var| of(&FunctionKey::Local((*var).clone()))).cloned().collect(),
        }
    }
}

/// Whether a function refers to a global function or contains another one. Otherwise none is recursive or local.
struct Others {
    any: bool,
}

impl Others {
    fn in_module(module: &IrModule) -> bool {
        let mut others = Others { any: false };
        for (_, func) in &module.funcs {
            match func {
                GlobalFunc::Function(function) => walk_function(&mut others, function),
                GlobalFunc::PrimFunc(_) | GlobalFunc::ExternFunc(_) => {}
            }
        }
        others.any
    }
}

impl Visitor for Others {
    fn visit_function(&mut self, _: &Function) {
        self.any = true;
    }

    fn visit_global_var(&mut self, _: &GlobalVar) {
        self.any = true;
    }
}

/// The global functions in cycles in which no function states its purity. If one does, the others have left it out on
/// purpose.
fn recursive(module: &IrModule) -> Vec<Name> {
    let mut names = Vec::new();
    for group in in_order_of_reference(module).iter().filter(|group| group.recursive) {
        let members: Vec<_> = group.members.iter().filter_map(|member| module.funcs.get(*member)).collect();
        let silent = |(_, func): &&(GlobalVar, GlobalFunc)| match func {
            GlobalFunc::Function(function) => function.pure.is_none(),
            GlobalFunc::PrimFunc(_) | GlobalFunc::ExternFunc(_) => true,
        };
        if members.iter().all(silent) {
            names.extend(members.iter().map(|(gv, _)| gv.name.clone()));
        }
    }
    names
}

#[derive(Clone, PartialEq, Eq, Hash, Debug)]
enum FunctionKey {
    Global(Name),
    Local(Var),
    /// A function literal without a variable, by number.
    Unnamed(usize),
}

/// The possible callees.
#[derive(Clone, Debug)]
enum CallTarget {
    Pure,
    Impure,
    Function(FunctionKey),
}

impl CallTarget {
    fn known(pure: bool) -> CallTarget {
        if pure { CallTarget::Pure } else { CallTarget::Impure }
    }
}

#[derive(Default)]
struct Calling {
    stated: Option<bool>,
    callees: Vec<CallTarget>,
}

/// The call graph.
#[derive(Default)]
struct CallRelation {
    functions: FxHashMap<FunctionKey, Calling>,
    /// The function literals whose variables are annotated with their signatures.
    locals: Vec<Var>,
    vars: FxHashMap<Var, CallTarget>,
    /// The functions around the current position.
    around: Vec<FunctionKey>,
}

impl CallRelation {
    fn global(&mut self, name: &Name, function: &Function) {
        self.vars.clear();
        self.inside(FunctionKey::Global(name.clone()), function);
    }

    fn inside(&mut self, key: FunctionKey, function: &Function) {
        let stated = if function.force_pure() { Some(true) } else { function.pure };
        self.functions.insert(key.clone(), Calling { stated, callees: Vec::new() });
        self.around.push(key);
        function.params.iter().for_each(|param| self.annotated(param));
        with_stack(|| walk_function(self, function));
        self.around.pop();
    }

    fn annotated(&mut self, binder: &Binder) {
        self.vars.insert(binder.var.clone(), CallTarget::known(binder.annotation.as_ref().is_some_and(says_pure)));
    }

    fn callee(&self, call: &Call) -> CallTarget {
        let marked = call.is_marked_pure();
        match &call.op {
            Expr::Op(op) => CallTarget::known(marked || ops::lookup(&op.op_name).is_some_and(|def| def.pure)),
            Expr::ExternFunc(_) => CallTarget::known(marked),
            callee => self.value(callee),
        }
    }

    /// A value as a callee.
    fn value(&self, value: &Expr) -> CallTarget {
        if let Expr::GlobalVar(gv) = value {
            CallTarget::Function(FunctionKey::Global(gv.name.clone()))
        } else if let Expr::Var(var) | Expr::DataflowVar(var) = value {
            self.vars.get(var).cloned().unwrap_or(CallTarget::Impure)
        } else {
            CallTarget::Impure
        }
    }

    /// The functions that call only pure ones. Excluded are those that are declared impure or call an impure one, and,
    /// transitively, their callers. The declared purity of a function counts for its callers.
    fn pure(&self) -> FxHashSet<FunctionKey> {
        let mut callers: FxHashMap<&FunctionKey, Vec<&FunctionKey>> = FxHashMap::default();
        let mut impure: Vec<&FunctionKey> = Vec::new();
        for (key, f) in &self.functions {
            match f.stated {
                Some(true) => continue,
                Some(false) => impure.push(key),
                None => {}
            }
            for callee in &f.callees {
                match callee {
                    CallTarget::Pure => {}
                    CallTarget::Function(callee) if self.functions.contains_key(callee) => {
                        callers.entry(callee).or_default().push(key);
                    }
                    CallTarget::Impure | CallTarget::Function(_) => impure.push(key),
                }
            }
        }
        let mut pure: FxHashSet<FunctionKey> = self.functions.keys().cloned().collect();
        while let Some(key) = impure.pop() {
            if pure.remove(key) {
                impure.extend(callers.get(key).into_iter().flatten());
            }
        }
        pure
    }
}

impl Visitor for CallRelation {
    fn visit_function(&mut self, function: &Function) {
        self.inside(FunctionKey::Unnamed(self.functions.len()), function);
    }

    fn visit_call(&mut self, call: &Call) {
        let callee = self.callee(call);
        if let Some(calling) = self.around.last().and_then(|key| self.functions.get_mut(key)) {
            calling.callees.push(callee);
        }
        walk_call(self, call);
    }

    fn visit_var_binding(&mut self, binding: &VarBinding) {
        let Binder { var, annotation, .. } = &binding.var;
        match &binding.value {
            // No annotation, or one that equals the signature.
            Expr::Function(function) if annotation.as_ref().is_none_or(|said| *said == function.signature()) => {
                let key = FunctionKey::Local(var.clone());
                self.vars.insert(var.clone(), CallTarget::Function(key.clone()));
                self.locals.push(var.clone());
                self.inside(key, function);
            }
            value => {
                match annotation {
                    Some(_) => self.annotated(&binding.var),
                    None => {
                        let callee = self.value(value);
                        self.vars.insert(var.clone(), callee);
                    }
                }
                walk_var_binding(self, binding);
            }
        }
    }

    fn visit_match_cast(&mut self, cast: &MatchCast) {
        if let Some(binder) = &cast.var {
            self.vars.insert(binder.var.clone(), CallTarget::known(says_pure(&cast.struct_info)));
        }
        walk_match_cast(self, cast);
    }
}

fn says_pure(info: &StructInfo) -> bool {
    matches!(info, StructInfo::Func(func) if func.pure == Some(true))
}

/// Sets the purity of a module's functions where the text leaves it out.
pub(in crate::syntax) fn say_pure(module: &mut IrModule, silent: &Silent) {
    if silent.globals.is_empty() && silent.locals.is_empty() {
        return;
    }
    let said = Silent::pure_in(module);
    let locals: FxHashSet<&Var> = said.locals.intersection(&silent.locals).collect();
    for (gv, func) in &mut module.funcs {
        match func {
            GlobalFunc::Function(function) => {
                let function = Arc::make_mut(function);
                if said.globals.contains(&gv.name) && silent.globals.contains(&gv.name) {
                    function.pure = Some(true);
                }
                if !locals.is_empty() {
                    say_in_expr(&mut function.body, &locals);
                }
            }
            GlobalFunc::PrimFunc(_) | GlobalFunc::ExternFunc(_) => {}
        }
    }
}

fn say_in_expr(expr: &mut Expr, locals: &FxHashSet<&Var>) {
    with_stack(|| {
        if let Expr::SeqExpr(seq) = expr {
            say_in_seq(Arc::make_mut(seq), locals);
        } else if let Expr::If(branch) = expr {
            let branch = Arc::make_mut(branch);
            say_in_expr(&mut branch.true_branch, locals);
            say_in_expr(&mut branch.false_branch, locals);
        } else if let Expr::Function(function) = expr {
            say_in_expr(&mut Arc::make_mut(function).body, locals);
        }
    });
}

fn say_in_seq(seq: &mut SeqExpr, locals: &FxHashSet<&Var>) {
    for binding in seq.blocks.iter_mut().flat_map(|block| &mut block.bindings) {
        match binding {
            Binding::VarBinding(VarBinding { var, value, .. }) => {
                say_in_expr(value, locals);
                if let Expr::Function(function) = value
                    && locals.contains(&var.var)
                {
                    Arc::make_mut(function).pure = Some(true);
                    if var.annotation.is_some() {
                        var.annotation = Some(function.signature());
                    }
                }
            }
            Binding::MatchCast(_) => {}
        }
    }
    say_in_expr(&mut seq.body, locals);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::book::Edition;
    use crate::generate::Tape;
    use crate::grammar::visit::walk_module;
    use crate::programs::{ProgramSource, Restriction};

    struct Referred(FxHashSet<Name>);

    impl Visitor for Referred {
        fn visit_global_var(&mut self, gv: &GlobalVar) {
            self.0.insert(gv.name.clone());
        }
    }

    /// A module with the purity of all functions removed.
    fn silenced(mut module: IrModule) -> (IrModule, Silent) {
        let mut silent = Silent::default();
        for (gv, func) in &mut module.funcs {
            if let GlobalFunc::Function(function) = func {
                Arc::make_mut(function).pure = None;
                silent.globals.insert(gv.name.clone());
            }
        }
        (module, silent)
    }

    #[test]
    fn a_function_that_none_refers_to_leaves_nothing_out() {
        let source = ProgramSource::of(&[], Restriction::of_laws(Edition::default()));
        let (mut said, mut left_out) = (0, 0);
        for seed in 0..2_000 {
            let (module, silent) = silenced(source.of_tape(Tape::from_seed(seed, 512)).module);
            let mut referred = Referred(FxHashSet::default());
            walk_module(&mut referred, &module);
            let fewer = silent.clone().of_referred(&referred.0);
            left_out += usize::from(fewer != silent);
            let (mut of_all, mut of_fewer) = (module.clone(), module.clone());
            say_pure(&mut of_all, &silent);
            say_pure(&mut of_fewer, &fewer);
            assert_eq!(of_all, of_fewer, "seed {seed}");
            said += usize::from(of_all != module);
        }
        assert!(said > 20 && left_out > 20, "{said} {left_out}");
    }

    #[test]
    fn only_functions_among_others_leave_something_out() {
        let source = ProgramSource::of(&[], Restriction::of_laws(Edition::default()));
        let (mut alone, mut told) = (0, 0);
        for seed in 0..1_000 {
            let (module, _) = silenced(source.of_tape(Tape::from_seed(seed, 512)).module);
            let silent = Silent::among_others(&module);
            assert_eq!(Silent::pure_in(&module), silent, "seed {seed}");
            alone += usize::from(!Others::in_module(&module));
            told += usize::from(silent != Silent::default());
        }
        assert!(alone > 20 && told > 20, "{alone} {told}");
    }
}
