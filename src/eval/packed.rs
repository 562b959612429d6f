//! Packed functions (`VAL.PACKED`): routines from outside the language, found by name.

use std::collections::BTreeMap;
use std::fmt;
use std::rc::Rc;

use super::machine::{Machine, Stop};
use super::value::{PrimFuncObj, Value};
use crate::conformance::case::{Effect, ValueSpec};
use crate::grammar::Name;

/// A routine of the host.
pub type PackedImpl = dyn for<'m> Fn(&mut Machine<'m>, &[Value]) -> Result<Returned, Stop>;

/// A packed function as registered.
#[derive(Clone)]
pub struct PackedDef {
    pub name: Name,
    /// The declaration of purity (`PURE.REGISTER-MANUAL`): calls of a pure function are not recorded as effects.
    pub pure: bool,
    pub run: Rc<PackedImpl>,
}

/// What a routine returns.
#[derive(Clone, Debug)]
pub enum Returned {
    Value(Value),
    /// Nothing, which the program sees as unit (`VAL.TUPLE.UNIT`).
    Nothing,
    /// Plain data that the host did not box (`RT.TVM.POD`).
    RawPod,
}

/// A packed function as a value.
#[derive(Debug)]
pub enum PackedFunc {
    Native(PackedDef),
    /// A `PrimFunc` of the module, reached through its global symbol (`EVAL.EXTERNFUNC.PRIMFUNC`).
    PrimFunc {
        symbol: Name,
        func: Rc<PrimFuncObj>,
    },
    /// One that came from outside the registry; it cannot be called.
    Unknown(Name),
}

/// The packed functions that programs can find.
#[derive(Clone, Debug, Default)]
pub struct Registry {
    functions: BTreeMap<Name, PackedDef>,
}

impl Registry {
    /// No function at all.
    pub fn empty() -> Registry {
        Registry::default()
    }

    /// Adds a function, or replaces the one of the same name.
    pub fn register(
        &mut self,
        name: &str,
        pure: bool,
        run: impl for<'m> Fn(&mut Machine<'m>, &[Value]) -> Result<Returned, Stop> + 'static,
    ) {
        self.functions.insert(name.into(), PackedDef { name: name.into(), pure, run: Rc::new(run) });
    }

    pub fn get(&self, name: &str) -> Option<&PackedDef> {
        self.functions.get(name)
    }

    pub fn iter(&self) -> impl Iterator<Item = &PackedDef> {
        self.functions.values()
    }
}

impl PackedFunc {
    pub fn name(&self) -> &Name {
        match self {
            PackedFunc::Native(def) => &def.name,
            PackedFunc::PrimFunc { symbol, .. } => symbol,
            PackedFunc::Unknown(name) => name,
        }
    }

    pub fn same_as(&self, other: &PackedFunc) -> bool {
        self.name() == other.name()
    }

    fn is_pure(&self) -> bool {
        match self {
            PackedFunc::Native(def) => def.pure,
            PackedFunc::PrimFunc { .. } | PackedFunc::Unknown(_) => false,
        }
    }
}

impl fmt::Debug for PackedDef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PackedDef").field("name", &self.name).field("pure", &self.pure).finish_non_exhaustive()
    }
}

impl Machine<'_> {
    /// What is registered under a global symbol: a `PrimFunc` of the module before a routine of the host.
    pub fn find_packed(&mut self, symbol: &Name) -> Option<Rc<PackedFunc>> {
        let prim_func = self.prim_funcs.get(symbol).cloned();
        if self.cx.rule(rule!("EVAL.EXTERNFUNC.PRIMFUNC"), prim_func.is_some())
            && let Some(func) = prim_func
        {
            return Some(Rc::new(PackedFunc::PrimFunc { symbol: symbol.clone(), func }));
        }
        self.options.registry.get(symbol).map(|def| Rc::new(PackedFunc::Native(def.clone())))
    }

    /// EVAL.CALL.PACKED: invokes a packed function with all argument values in order.
    ///
    /// The call is a visible effect unless the function is declared pure (`PURE.DEFAULT-IMPURE`).
    pub fn call_packed(&mut self, f: &PackedFunc, args: &[Value]) -> Result<Value, Stop> {
        self.cx.apply(rule!("EVAL.CALL.PACKED"))?;
        let before = self.record_call(f, args)?;
        let returned = match f {
            PackedFunc::Native(def) => (def.run)(self, args)?,
            PackedFunc::PrimFunc { func, .. } => {
                crate::ops::run_prim_func(self, func, args, 0..0)?;
                Returned::Nothing
            }
            PackedFunc::Unknown(name) => {
                return Err(Stop::unspecified(format!("the packed function {name} is not known here")));
            }
        };
        self.notice_mutation(before, args)?;
        self.accept_returned(f.name(), returned)
    }

    /// Records the call of a function that is not pure, and gives the contents of its arguments.
    fn record_call(&mut self, f: &PackedFunc, args: &[Value]) -> Result<Option<Vec<ValueSpec>>, Stop> {
        if f.is_pure() {
            return Ok(None);
        }
        let args = super::convert::snapshot(args)?;
        if self.cx.fire(rule!("EVAL.CALL.PACKED.EFFECTS")) {
            self.effect(Effect::Call(f.name().clone(), args.clone()));
        }
        Ok(Some(args))
    }

    /// PURE.EFFECT.MUTATE: that an argument has other contents than before is a side effect.
    fn notice_mutation(&mut self, before: Option<Vec<ValueSpec>>, args: &[Value]) -> Result<(), Stop> {
        let Some(before) = before else { return Ok(()) };
        let changed = super::convert::snapshot(args)? != before;
        self.mutates |= self.cx.rule(rule!("PURE.EFFECT.MUTATE"), changed);
        Ok(())
    }

    /// VAL.PACKED: a value of any category is received unchanged. Nothing is unit; raw data is not specified.
    fn accept_returned(&mut self, name: &Name, returned: Returned) -> Result<Value, Stop> {
        match returned {
            Returned::Value(value) => {
                self.cx.apply(rule!("VAL.PACKED"))?;
                if let Value::Object(_) = &value {
                    self.cx.apply(rule!("VAL.OBJECT"))?;
                }
                Ok(value)
            }
            Returned::Nothing => {
                self.cx.apply(rule!("VAL.TUPLE.UNIT"))?;
                Ok(Value::unit())
            }
            Returned::RawPod => {
                self.cx.apply(rule!("RT.TVM.POD"))?;
                Err(Stop::unspecified(format!(
                    "{name} returned plain data that is not boxed [{}]",
                    rule!("RT.TVM.POD")
                )))
            }
        }
    }
}
