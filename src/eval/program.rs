//! Running a module (chapter Program organization): loading it, choosing the entry point, and starting.

use std::collections::BTreeMap;
use std::rc::Rc;
use std::sync::Arc;

use super::machine::{Activation, EvalOptions, Machine};
use super::trace::TraceStep;
use crate::grammar::{AttrValue, Attrs, Function, GlobalFunc, IrModule, Name};
use crate::judge::{Cx, Ending, RuntimeError};
use crate::value::{Closure, Effect, PrimFuncObj, ProgramPoint, Registry, Site, Stop, Value, bytes_of, readable};

/// A run that has ended.
#[derive(Clone, Debug)]
pub struct EvalRun {
    /// How the run ended.
    pub outcome: Ending<Value>,
    /// The visible effects in their order, up to the end of the run.
    pub effects: Vec<Effect>,
    /// Whether a packed function has mutated an argument (`PURE.EFFECT.MUTATE`).
    pub mutates: bool,
    /// Whether the run ended without a value inside a `DataflowBlock` or in a function called from one.
    pub in_dataflow_block: bool,
    /// Whether the run exceeded the memory limit, rather than another limit.
    pub out_of_memory: bool,
    /// Every step, if [`EvalOptions::trace`] asks for them.
    pub steps: Vec<TraceStep>,
}

/// Runs the entry point of a module on argument values.
pub fn evaluate(cx: &mut Cx, module: &IrModule, entry: &str, args: Vec<Value>, options: &EvalOptions) -> EvalRun {
    evaluate_then(cx, module, entry, args, options, |_, run| run)
}

/// As [`evaluate`], and then runs `then` while the machine still exists. It may [call](Machine::call_from_outside)
/// functions that the program returned.
///
/// MOD.LOAD-FIRST: every entry of the module is loaded before the entry function is called.
pub fn evaluate_then<T>(
    cx: &mut Cx,
    module: &IrModule,
    entry: &str,
    args: Vec<Value>,
    options: &EvalOptions,
    then: impl FnOnce(&mut Machine<'_>, EvalRun) -> T,
) -> T {
    let mut machine = Machine::new(cx, module, options);
    // The arguments count towards the memory of the run.
    let held = machine.account.hold(bytes_of(&args));
    let result = held.as_ref().map_err(|_| Stop::OutOfFuel).and_then(|_| {
        machine.load();
        machine.start(entry, args)
    });
    let run = machine.ended(result);
    then(&mut machine, run)
}

/// MOD.MAIN: the entry function of a module if none is named.
pub fn default_entry(cx: &mut Cx, module: &IrModule) -> Result<Name, RuntimeError> {
    let eligible = entry_points(module);
    let main = eligible.iter().find(|name| &***name == "main");
    let chosen = main.cloned().ok_or_else(|| {
        let message = format!("the module has no entry point `main`; {}", list(&eligible));
        RuntimeError { rule: rule!("MOD.MAIN"), message, negative: None }
    });
    cx.premise(rule!("MOD.MAIN"), 1, chosen)
}

/// MOD.EXTLINK: the global symbol of an externally linked function.
///
/// MOD.EXTLINK.ATTR: it is a string under that key. Without it the function is private.
fn global_symbol(attrs: &Attrs) -> Option<&Name> {
    if let Some(AttrValue::Str(symbol)) = attrs.get("global_symbol") { Some(symbol) } else { None }
}

/// MOD.ENTRY-ANY: the Relax functions that can be started.
fn entry_points(module: &IrModule) -> Vec<Name> {
    let symbol = |func: &GlobalFunc| match func {
        GlobalFunc::Function(f) => global_symbol(&f.attrs).cloned(),
        GlobalFunc::PrimFunc(_) | GlobalFunc::ExternFunc(_) => None,
    };
    module.funcs.iter().filter_map(|(_, func)| symbol(func)).collect()
}

fn list(eligible: &[Name]) -> String {
    match eligible {
        [] => "no function of it has a global symbol".to_string(),
        names => format!("possible entry points: {}", names.join(", ")),
    }
}

impl Machine<'_> {
    /// The result of a call from outside, with the effects that were visible.
    fn ended(&mut self, result: Result<Value, Stop>) -> EvalRun {
        let outcome = match self.no_exceptions(result) {
            Ok(value) => Ending::Value(value),
            Err(Stop::Error(error)) => Ending::Error(error),
            Err(Stop::OutOfFuel) => Ending::OutOfFuel,
            Err(Stop::Unspecified(reason)) => Ending::Unspecified(reason),
            Err(Stop::Unknown(what)) => Ending::Unknown(what),
        };
        let in_dataflow_block = self.dataflow_blocks > 0;
        let (effects, steps) = (std::mem::take(&mut self.effects), std::mem::take(&mut self.steps));
        let out_of_memory = self.account.has_refused();
        EvalRun {
            outcome,
            effects,
            out_of_memory,
            mutates: std::mem::take(&mut self.mutates),
            in_dataflow_block,
            steps,
        }
    }

    /// Calls a closure that an ended run returned, as a caller outside the program does. The fuel is the remainder of
    /// that run.
    pub fn call_from_outside(&mut self, closure: &Rc<Closure>, args: Vec<Value>) -> EvalRun {
        // A failed run leaves its activations open.
        self.activation = Activation::of(None);
        self.dataflow_blocks = 0;
        self.depth = 0;
        let result = self.call_closure(closure, args);
        self.ended(result)
    }

    /// The packed functions that the program can call.
    pub fn registered(&self) -> &Registry {
        &self.options.registry
    }

    /// MOD.LOAD-FIRST: enters every function of the module into the global scope.
    ///
    /// MOD.MAP: entries of both kinds can be referred to by their `GlobalVar`.
    pub(super) fn load(&mut self) {
        let _ = self.cx.fire(rule!("MOD.MAP"));
        for (gv, func) in &self.module.funcs {
            let value = match func {
                GlobalFunc::Function(f) => self.load_function(f),
                // It is looked up at each use, as an ExternFunc elsewhere is.
                GlobalFunc::ExternFunc(_) => continue,
                GlobalFunc::PrimFunc(f) => {
                    let object = Rc::new(PrimFuncObj { name: gv.name.clone(), func: f.clone() });
                    // Without a global symbol of its own, a function that is not private has its name as the symbol
                    // (WF.12).
                    let name = (!f.private).then_some(&gv.name);
                    if let Some(symbol) = global_symbol(&f.attrs).or(name) {
                        self.prim_funcs.entry(symbol.clone()).or_insert_with(|| object.clone());
                    }
                    // MOD.PRIMFUNC-OBJECT: an object that Relax cannot look into.
                    self.cx.conclude(rule!("MOD.PRIMFUNC-OBJECT"), Value::PrimFunc(object))
                }
            };
            let value = self.cx.conclude(rule!("MOD.MAP"), value);
            self.globals.entry(gv.name.clone()).or_insert(value);
        }
    }

    /// MOD.GLOBAL-CLOSURE: a global function becomes a closure, which captures nothing.
    fn load_function(&mut self, f: &Arc<Function>) -> Value {
        let closure = Closure {
            func: Some(f.clone()),
            self_name: None,
            captured: BTreeMap::new(),
            captured_shape_vars: BTreeMap::new(),
            result: self.inferred_result(f),
            applied: None,
            compiled: None,
        };
        self.cx.conclude(rule!("MOD.GLOBAL-CLOSURE"), Value::Closure(Rc::new(closure)))
    }

    pub(super) fn start(&mut self, entry: &str, args: Vec<Value>) -> Result<Value, Stop> {
        let _ = self.cx.fire(rule!("MOD.LOAD-FIRST"));
        let Some(closure) = self.entry_point(entry)? else { return self.no_entry(entry) };
        // SI.BOUNDARY.ENTRY: the checks apply to calls from outside as to all others.
        let checked = self.cx.fire(rule!("SI.BOUNDARY.ENTRY")) && self.cx.fire(rule!("EVAL.CALL.CLOSURE.CHECK"));
        let result = self.enter_closure(&closure, args, checked);
        // The caller of the program reads the result.
        self.account.go_to(ProgramPoint { site: Site::End, ..ProgramPoint::default() });
        let result = result.and_then(|value| readable(self, std::slice::from_ref(&value)).map(|()| value));
        self.cx.conclude(rule!("MOD.LOAD-FIRST"), result)
    }

    /// The closure of an externally linked Relax function; `None` if the name does not denote one.
    fn entry_point(&mut self, entry: &str) -> Result<Option<Rc<Closure>>, Stop> {
        let module = self.module;
        let linked = module.funcs.iter().find(|(_, func)| match func {
            GlobalFunc::Function(f) => global_symbol(&f.attrs).is_some_and(|symbol| &**symbol == entry),
            GlobalFunc::PrimFunc(_) | GlobalFunc::ExternFunc(_) => false,
        });
        let linked = self.cx.conclude(rule!("MOD.EXTLINK.ATTR"), linked);
        if linked.is_some()
            && self.cx.fire(rule!("MOD.EXTLINK"))
            && let Some((gv, _)) = linked
            && let Some(closure) = self.globals.get(&gv.name).and_then(Value::as_closure)
        {
            return Ok(Some(closure.clone()));
        }
        match module.get(entry) {
            Some(GlobalFunc::Function(_)) => self.private(entry).map(Some),
            Some(GlobalFunc::PrimFunc(_) | GlobalFunc::ExternFunc(_)) | None => Ok(None),
        }
    }

    /// MOD.PRIVATE: a function without a global symbol cannot be called from outside.
    fn private(&mut self, entry: &str) -> Result<Rc<Closure>, Stop> {
        if !self.cx.premise(rule!("MOD.PRIVATE"), 1, false) {
            return Err(Stop::error(rule!("MOD.PRIVATE"), format!("@{entry} has no global symbol, so it is private")));
        }
        let closure = self.globals.get(entry).and_then(Value::as_closure).cloned();
        closure.ok_or_else(|| Stop::unspecified(format!("@{entry} is not a closure")))
    }

    /// MOD.ENTRY-ANY: only an externally linked Relax function can be the entry.
    fn no_entry(&mut self, entry: &str) -> Result<Value, Stop> {
        let message = match self.module.get(entry) {
            Some(GlobalFunc::PrimFunc(_)) => format!("@{entry} is a PrimFunc, not a Relax function"),
            Some(GlobalFunc::Function(_) | GlobalFunc::ExternFunc(_)) | None => {
                format!("the module has no entry point `{entry}`; {}", list(&entry_points(self.module)))
            }
        };
        self.cx.conclude(rule!("MOD.ENTRY-ANY"), Err(Stop::error(rule!("MOD.ENTRY-ANY"), message)))
    }

    /// PURE.NO-EXCEPTIONS: an error ends the program; nothing can catch it.
    fn no_exceptions(&mut self, result: Result<Value, Stop>) -> Result<Value, Stop> {
        match result {
            error @ Err(Stop::Error(_)) => self.cx.conclude(rule!("PURE.NO-EXCEPTIONS"), error),
            result @ (Ok(_) | Err(Stop::OutOfFuel | Stop::Unspecified(_) | Stop::Unknown(_))) => result,
        }
    }

    /// The name of the global variable that is bound to a definition.
    pub(super) fn global_name(&self, func: &Arc<Function>) -> Option<Name> {
        let bound_to = |other: &GlobalFunc| match other {
            GlobalFunc::Function(f) => Arc::ptr_eq(f, func),
            GlobalFunc::PrimFunc(_) | GlobalFunc::ExternFunc(_) => false,
        };
        self.module.funcs.iter().find(|(_, other)| bound_to(other)).map(|(gv, _)| gv.name.clone())
    }
}
