//! Calls of packed functions (`VAL.PACKED`).

use std::rc::Rc;

use super::Machine;
use crate::grammar::Name;
use crate::ops::run_packed_func;
use crate::value::{Effect, Host, PackedCallContract, PackedFunc, ResultContract, Returned, Stop, Value, snapshot};

impl Machine<'_> {
    /// EVAL.EXTERNFUNC: a `PrimFunc` of the module takes precedence over a routine of the host.
    pub(super) fn look_up(&self, symbol: &Name) -> Option<Rc<PackedFunc>> {
        let own = self.symbols.get(symbol).and_then(|index| self.prim_funcs.get(*index)).cloned();
        let own = own.map(|func| PackedFunc::PrimFunc { symbol: symbol.clone(), func });
        let found = own.or_else(|| self.options.registry.get(symbol).map(|def| PackedFunc::Native(def.clone())));
        found.map(Rc::new)
    }

    pub(super) fn found_packed(&self, symbol: &Name) -> Result<Rc<PackedFunc>, Stop> {
        let missing = || format!("no function is registered under the symbol {symbol}");
        self.look_up(symbol).ok_or_else(|| Stop::error(rule!("EVAL.EXTERNFUNC.MISSING"), missing()))
    }

    /// EVAL.CALL.PACKED: runs a packed function with all arguments in order. The call is a visible effect unless the
    /// function is declared pure.
    pub(super) fn run_packed(
        &mut self,
        f: &PackedFunc,
        args: &[Value],
        asked: PackedCallContract,
    ) -> Result<Value, Stop> {
        if !f.is_pure() {
            self.effect(Effect::Call(f.name().clone(), snapshot(args)?));
        }
        let outputs = if let ResultContract::Outputs(outputs) = asked.wanted { outputs } else { 0 };
        let outer = std::mem::replace(&mut self.asked, asked);
        let returned = run_packed_func(self, f, args, outputs);
        self.asked = outer;
        let returned = returned?;
        accepted(f.name(), returned)
    }
}

/// VAL.PACKED: a returned value of any category is received unchanged. No value becomes unit; raw data is unspecified.
fn accepted(name: &Name, returned: Returned) -> Result<Value, Stop> {
    match returned {
        Returned::Value(Value::Shape(sizes)) if sizes.iter().any(|size| *size < 0) => {
            Err(Stop::unspecified(format!("{name} returned a shape with a negative size, which is no value")))
        }
        Returned::Value(value) => Ok(value),
        Returned::Nothing => Ok(Value::unit()),
        Returned::RawPod => {
            Err(Stop::unspecified(format!("{name} returned plain data that is not boxed [{}]", rule!("RT.TVM.POD"))))
        }
    }
}
