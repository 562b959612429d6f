//! Calls of packed functions (`VAL.PACKED`).

use std::rc::Rc;

use super::machine::Machine;
use crate::grammar::Name;
use crate::ops::run_packed_func;
use crate::value::{
    Effect, Host, PackedCallContract, PackedFunc, ResultContract, Returned, Stop, Value, ValueSpec, snapshot,
};

impl Machine<'_> {
    /// Finds the function registered under a global symbol. A `PrimFunc` of the module takes precedence over a routine
    /// of the host.
    pub(super) fn find_packed(&mut self, symbol: &Name) -> Option<Rc<PackedFunc>> {
        let prim_func = self.prim_funcs.get(symbol).cloned();
        if prim_func.is_some()
            && self.cx.fire(rule!("EVAL.EXTERNFUNC.PRIMFUNC"))
            && let Some(func) = prim_func
        {
            return Some(Rc::new(PackedFunc::PrimFunc { symbol: symbol.clone(), func }));
        }
        // R89.SYN.REGISTER: a function of the host is found only if it is registered.
        let found = self.options.registry.get(symbol).map(|def| Rc::new(PackedFunc::Native(def.clone())));
        self.cx.conclude(rule!("R89.SYN.REGISTER"), found)
    }

    /// EVAL.CALL.PACKED: invokes a packed function with all argument values in order.
    ///
    /// The call is a visible effect unless the function is declared pure (`PURE.DEFAULT-IMPURE`).
    pub(super) fn call_packed(
        &mut self,
        f: &PackedFunc,
        args: &[Value],
        asked: PackedCallContract,
    ) -> Result<Value, Stop> {
        let mut args = self.cx.conclude(rule!("EVAL.CALL.PACKED"), args.to_vec());
        if !matches!(asked.wanted, ResultContract::Outputs(_)) {
            // R89.CALLPACKED.NONDPS: passes exactly the arguments of the call.
            args = self.cx.conclude(rule!("R89.CALLPACKED.NONDPS"), args);
        }
        let args = args.as_slice();
        let before = self.record_call(f, args)?;
        let outputs = if let ResultContract::Outputs(outputs) = asked.wanted { outputs } else { 0 };
        let outer = std::mem::replace(&mut self.asked, asked);
        let returned = run_packed_func(self, f, args, outputs);
        self.asked = outer;
        let returned = returned?;
        self.notice_mutation(before, args)?;
        self.accept_returned(f.name(), returned)
    }

    /// Records a call of an impure function. Returns the contents of its arguments.
    fn record_call(&mut self, f: &PackedFunc, args: &[Value]) -> Result<Option<Vec<ValueSpec>>, Stop> {
        if f.is_pure() {
            return Ok(None);
        }
        let args = snapshot(args)?;
        if self.cx.fire(rule!("EVAL.CALL.PACKED.EFFECTS")) {
            self.effect(Effect::Call(f.name().clone(), args.clone()));
        }
        Ok(Some(args))
    }

    /// PURE.EFFECT.MUTATE: a change in the contents of an argument is a side effect.
    fn notice_mutation(&mut self, before: Option<Vec<ValueSpec>>, args: &[Value]) -> Result<(), Stop> {
        let Some(before) = before else { return Ok(()) };
        let changed = snapshot(args)? != before;
        self.mutates |= changed && self.cx.fire(rule!("PURE.EFFECT.MUTATE"));
        Ok(())
    }

    /// VAL.PACKED: a returned value of any category is passed on unchanged. Nothing becomes the unit value; raw data is
    /// not specified.
    fn accept_returned(&mut self, name: &Name, returned: Returned) -> Result<Value, Stop> {
        match returned {
            Returned::Value(Value::Shape(sizes)) if sizes.iter().any(|size| *size < 0) => {
                Err(Stop::unspecified(format!("{name} returned a shape with a negative size, which is no value")))
            }
            Returned::Value(value) => {
                // R89.SAFETY.OBJECT: the kind of the value is determined here.
                let value = self.cx.conclude(rule!("R89.SAFETY.OBJECT"), value);
                let value = self.cx.conclude(rule!("VAL.PACKED"), value);
                // VAL.OBJECT: a value of no other category is an opaque object.
                let opaque = matches!(value, Value::Object(_));
                Ok(if opaque { self.cx.conclude(rule!("VAL.OBJECT"), value) } else { value })
            }
            Returned::Nothing => {
                let unit = self.cx.conclude(rule!("VAL.TUPLE.UNIT"), Value::unit());
                Ok(self.cx.conclude(rule!("R89.CALLPACKED.MAYRETURN"), unit))
            }
            Returned::RawPod => {
                let rule = rule!("RT.TVM.POD");
                let reason = format!("{name} returned plain data that is not boxed [{rule}]");
                self.cx.conclude(rule, Err(Stop::unspecified(reason)))
            }
        }
    }
}
