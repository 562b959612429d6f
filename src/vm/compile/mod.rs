//! Compiles a module in [`CompileStage`]s, one after the other:
//!
//! 1. Each function becomes one of the machine (`function`), with boundary checks before and after its body. Its
//!    contents become calls in the order of evaluation (`expr`, `calls`). A function literal is lifted out and becomes
//!    a closure (`closures`, `free`). Shape variables move to the shape heap (`shapes`, `matching`).
//! 2. The program is first brought into normal form ([`normal_form`](crate::normal_form)).
//! 3. A `call_tir` becomes the allocation of its results and a call that writes them (`dps`).
//! 4. Dimensions are computed by `PrimFunc`s (`shape_func`).
//!
//! If a part of the program has no specified behaviour, it compiles to a call that reports this at the point where
//! evaluation would.

mod calls;
mod closures;
mod dps;
mod emit;
mod expr;
mod free;
mod function;
mod matching;
mod shape_func;
mod shapes;

use std::cell::Cell;
use std::collections::HashMap;
use std::rc::Rc;
use std::sync::Arc;

use rustc_hash::FxHashMap;

use super::executable::{Callee, Constant, Executable, NamedPrimFunc, PrimFuncCall, VERSION, VmFunction};
use crate::derivation::inferred_results;
use crate::grammar::{AttrValue, Function as Definition, GlobalFunc, IrModule, Name, StructInfo};
use crate::judge::Cx;
use crate::normal_form::normalize_in_order;
use crate::vm::pool::Pool;
use free::ClosureFreeVariables;

/// The last stage of compilation. Each stage builds on those before it, and preserves the behaviour.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum CompileStage {
    /// The program as written: registers, lifted functions, sizes on the shape heap.
    Written,
    /// The normal form of the program.
    Normal,
    /// A `call_tir` allocates its results, and calls its `PrimFunc`.
    Allocated,
    /// Dimensions are computed by separate `PrimFunc`s.
    Sized,
}

impl CompileStage {
    /// All stages, in order.
    pub const ALL: [CompileStage; 4] =
        [CompileStage::Written, CompileStage::Normal, CompileStage::Allocated, CompileStage::Sized];
}

/// R89.API.BUILD: compiles a module to an executable.
pub fn build(cx: &mut Cx, module: &IrModule) -> Executable {
    build_up_to(cx, module, CompileStage::Sized)
}

/// Like [`build`], but stops after this stage.
pub fn build_up_to(cx: &mut Cx, module: &IrModule, last: CompileStage) -> Executable {
    let aside = cx.in_same_reading().with_edition(cx.basis());
    let normal = if last >= CompileStage::Normal { normal_form(&aside, module) } else { None };
    let (mut executable, regular) = compiled(cx, module, last);
    if let Some(normal) = normal.filter(|_| regular) {
        executable = compiled(cx, &normal, last).0;
    }
    cx.conclude(rule!("R89.API.BUILD"), executable)
}

/// The normal form of a program that is not in normal form. A malformed program has none (NF.ALG.5.DF-MALFORMED).
fn normal_form(cx: &Cx, module: &IrModule) -> Option<IrModule> {
    let normalized = normalize_in_order(&mut cx.in_same_reading().with_edition(cx.basis()), module);
    let is_other = |((_, a), (_, b)): (&(_, GlobalFunc), &(_, GlobalFunc))| match (a, b) {
        (GlobalFunc::Function(a), GlobalFunc::Function(b)) => !Arc::ptr_eq(a, b),
        (GlobalFunc::Function(_) | GlobalFunc::PrimFunc(_) | GlobalFunc::ExternFunc(_), _) => false,
    };
    let changed = module.funcs.iter().zip(&normalized.module.funcs).any(is_other);
    Some(normalized.module).filter(|_| changed && normalized.findings.is_empty())
}

/// A program as an executable, with whether it is regular.
fn compiled(cx: &mut Cx, module: &IrModule, last: CompileStage) -> (Executable, bool) {
    let results = inferred_results(cx, module);
    let mut compiler = Compiler::new(cx, module, results, last);
    compiler.global_functions();
    let regular = !compiler.irregular.get();
    (compiler.finish(), regular)
}

/// The meaning of a global variable.
#[derive(Clone, PartialEq, Eq, Debug)]
enum Global {
    Function(u32),
    PrimFunc(u32),
    Extern(Name),
}

struct Compiler<'c> {
    cx: &'c mut Cx,
    module: &'c IrModule,
    /// The derived results of functions without return annotation, by the functions' addresses.
    results: Option<Rc<HashMap<usize, StructInfo>>>,
    globals: FxHashMap<Name, Global>,
    /// The functions; `None` for one that is being compiled.
    functions: Vec<Option<VmFunction>>,
    callees: Pool<Callee>,
    constants: Pool<Constant>,
    prim_funcs: Vec<NamedPrimFunc>,
    /// The free variables of functions, by their address.
    free: FxHashMap<usize, Rc<ClosureFreeVariables>>,
    /// The number of functions that compute dimensions.
    shape_funcs: usize,
    /// The last stage.
    last: CompileStage,
    /// Whether the program uses a variable without a value, or binds a variable again while it is in scope. Its normal
    /// form may then behave differently, because NF.WIDEN-SAFE is about programs that bind each variable once. Such a
    /// program is compiled as written.
    irregular: Cell<bool>,
}

impl<'c> Compiler<'c> {
    fn new(
        cx: &'c mut Cx,
        module: &'c IrModule,
        results: Option<Rc<HashMap<usize, StructInfo>>>,
        last: CompileStage,
    ) -> Compiler<'c> {
        let mut compiler = Compiler {
            cx,
            module,
            results,
            globals: FxHashMap::default(),
            functions: Vec::new(),
            callees: Pool::new(),
            constants: Pool::new(),
            prim_funcs: Vec::new(),
            free: FxHashMap::default(),
            shape_funcs: 0,
            last,
            irregular: Cell::new(false),
        };
        compiler.declare();
        compiler
    }

    /// MOD.MAP: the meaning of the global variables. Among several of one name the first counts; an `ExternFunc` counts
    /// only if there is no other.
    fn declare(&mut self) {
        for (gv, func) in &self.module.funcs {
            let global = match func {
                GlobalFunc::Function(_) => {
                    self.functions.push(None);
                    Global::Function(self.functions.len() as u32 - 1)
                }
                GlobalFunc::PrimFunc(f) => {
                    self.prim_funcs.push(NamedPrimFunc { name: gv.name.clone(), func: f.clone() });
                    Global::PrimFunc(self.prim_funcs.len() as u32 - 1)
                }
                GlobalFunc::ExternFunc(_) => continue,
            };
            self.globals.entry(gv.name.clone()).or_insert(global);
        }
        for (gv, func) in &self.module.funcs {
            match func {
                GlobalFunc::ExternFunc(f) => {
                    self.globals.entry(gv.name.clone()).or_insert_with(|| Global::Extern(f.global_symbol.clone()));
                }
                GlobalFunc::Function(_) | GlobalFunc::PrimFunc(_) => {}
            }
        }
    }

    fn global_functions(&mut self) {
        let module = self.module;
        let mut index = 0;
        for (gv, func) in &module.funcs {
            match func {
                GlobalFunc::Function(f) => {
                    let compiled = self.global_function(&gv.name, f);
                    self.put(index, compiled);
                    index += 1;
                }
                GlobalFunc::PrimFunc(_) | GlobalFunc::ExternFunc(_) => {}
            }
        }
    }

    fn put(&mut self, index: u32, function: VmFunction) {
        if let Some(place) = self.functions.get_mut(index as usize) {
            *place = Some(function);
        }
    }

    fn finish(self) -> Executable {
        Executable {
            version: VERSION,
            functions: self.functions.into_iter().flatten().collect(),
            callees: self.callees.items,
            constants: self.constants.items,
            prim_funcs: self.prim_funcs,
        }
    }

    /// A callee for a `PrimFunc` as a value.
    fn prim_func_value(index: u32) -> Callee {
        Callee::PrimFunc(PrimFuncCall { index, outputs: 0 })
    }

    /// The derived result of a definition without return annotation.
    fn inferred_result(&self, f: &Arc<Definition>) -> Option<StructInfo> {
        let inferred = self.results.as_ref().filter(|_| f.ret_struct_info.is_none())?;
        inferred.get(&(Arc::as_ptr(f) as usize)).cloned()
    }
}

/// MOD.EXTLINK.ATTR: a string under that key; without it the function is private.
fn global_symbol(f: &Definition) -> Option<Name> {
    if let Some(AttrValue::Str(symbol)) = f.attrs.get("global_symbol") { Some(symbol.clone()) } else { None }
}
