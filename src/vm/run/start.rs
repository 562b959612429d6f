//! Starts a run: finds the function of the executable for an entry point.

use std::collections::BTreeMap;
use std::rc::Rc;

use super::link::{link, requests};
use super::{Machine, VmOptions, VmRun};
use crate::grammar::{AttrValue, Name};
use crate::judge::{Cx, Ending};
use crate::value::{
    Account, Closure, CompiledClosure, PackedCallContract, PrimFuncObj, ProgramPoint, Site, Stop, Value, bytes_of,
    readable,
};
use crate::vm::executable::{Executable, NamedPrimFunc, VmFunction};

/// R89.API.RUN: calls a function of the executable by its name with argument values.
pub fn run(cx: &mut Cx, executable: &Executable, entry: &str, args: Vec<Value>, options: &VmOptions) -> VmRun {
    let mut machine = Machine::loaded(cx, executable, options);
    // The arguments count as memory of the run.
    let held = machine.account.hold(bytes_of(&args));
    let result = held.as_ref().map_err(|_| Stop::OutOfFuel).and_then(|_| machine.start(entry, args));
    let outcome = match result {
        Ok(value) => Ending::Value(value),
        Err(Stop::Error(error)) => Ending::Error(error),
        Err(Stop::OutOfFuel) => Ending::OutOfFuel,
        Err(Stop::Unspecified(reason)) => Ending::Unspecified(reason),
        Err(Stop::Unknown(what)) => Ending::Unknown(what),
    };
    let out_of_memory = machine.account.has_refused();
    let spent = options.fuel.saturating_sub(machine.fuel);
    VmRun { outcome, effects: machine.effects, out_of_memory, spent, steps: machine.steps }
}

impl<'m> Machine<'m> {
    /// A run that has not started.
    fn loaded(cx: &'m mut Cx, executable: &'m Executable, options: &'m VmOptions) -> Machine<'m> {
        let object = |f: &NamedPrimFunc| Rc::new(PrimFuncObj { name: f.name.clone(), func: f.func.clone() });
        let mut symbols = BTreeMap::new();
        for (index, named) in executable.prim_funcs.iter().enumerate() {
            if let Some(symbol) = symbol_of(named) {
                symbols.entry(symbol.clone()).or_insert(index);
            }
        }
        Machine {
            cx,
            executable,
            options,
            callees: link(executable),
            requests: requests(executable),
            globals: executable.functions.iter().enumerate().map(|(index, f)| global(index, f)).collect(),
            prim_funcs: executable.prim_funcs.iter().map(object).collect(),
            symbols,
            made_once: BTreeMap::new(),
            frames: Vec::new(),
            effects: Vec::new(),
            steps: Vec::new(),
            fuel: options.fuel,
            account: Account::new(options.memory),
            depth: 0,
            asked: PackedCallContract::default(),
        }
    }

    fn start(&mut self, entry: &str, args: Vec<Value>) -> Result<Value, Stop> {
        let closure = self.entry_point(entry)?;
        let result = self.run_to_end(&Value::Closure(closure), args)?;
        // The caller of the program reads the returned value.
        self.account.go_to(ProgramPoint { site: Site::End, ..ProgramPoint::default() });
        readable(self, std::slice::from_ref(&result))?;
        Ok(result)
    }

    /// MOD.ENTRY-ANY: the entry point is an externally linked function. MOD.PRIVATE: a function without global symbol
    /// cannot be invoked from outside.
    fn entry_point(&mut self, entry: &str) -> Result<Rc<Closure>, Stop> {
        let functions = &self.executable.functions;
        let linked = functions.iter().position(|f| f.global && f.symbol.as_deref() == Some(entry));
        // Among functions of the same name the first counts.
        let linked = linked.and_then(|index| functions.get(index)).map(|f| f.name.clone());
        let linked = linked.and_then(|name| self.named(&name));
        if let Some(closure) = self.cx.conclude(rule!("R89.API.RUN"), linked) {
            return Ok(closure);
        }
        if functions.iter().any(|f| f.global && &*f.name == entry) {
            return Err(Stop::error(rule!("MOD.PRIVATE"), format!("@{entry} has no global symbol, so it is private")));
        }
        let known: Vec<&str> = functions.iter().filter_map(|f| f.symbol.as_deref()).collect();
        let message = format!("the executable has no entry point `{entry}`; there are: {}", known.join(", "));
        Err(Stop::error(rule!("MOD.ENTRY-ANY"), message))
    }

    fn named(&self, name: &Name) -> Option<Rc<Closure>> {
        let index = self.executable.functions.iter().position(|f| f.global && f.name == *name)?;
        self.global_closure(index)
    }

    pub(super) fn global_closure(&self, index: usize) -> Option<Rc<Closure>> {
        self.globals.get(index).cloned().flatten()
    }
}

/// MOD.GLOBAL-CLOSURE: the closure of a function in the global scope, which captures nothing.
fn global(index: usize, function: &VmFunction) -> Option<Rc<Closure>> {
    let compiled = CompiledClosure { function: index, captured: Vec::new(), info: function.signature.clone() };
    function.global.then(|| Rc::new(Closure::of_compiled(compiled)))
}

/// The symbol of a `PrimFunc` is its name (WF.12), unless it is private or has a different symbol.
fn symbol_of(named: &NamedPrimFunc) -> Option<&Name> {
    match named.func.attrs.get("global_symbol") {
        Some(AttrValue::Str(symbol)) => Some(symbol),
        Some(_) | None => (!named.func.private).then_some(&named.name),
    }
}
