//! The services that the machine offers to operators and packed functions.

use std::rc::Rc;

use super::Machine;
use crate::grammar::{Name, PrimExpr, StructInfo};
use crate::judge::Cx;
use crate::value::{
    Account, Effect, Host, Kernels, Noise, PackedCallContract, PackedFunc, Registry, Seat, Stop, Tensor, Value,
    exchanged,
};

impl Host for Machine<'_> {
    fn cx(&mut self) -> &mut Cx {
        self.cx
    }

    fn spend(&mut self, steps: u64) -> Result<(), Stop> {
        self.pay(steps)
    }

    fn fuel_left(&self) -> u64 {
        self.fuel
    }

    fn account(&self) -> &Rc<Account> {
        &self.account
    }

    fn noise(&self) -> Option<Rc<Noise>> {
        self.options.noise.clone()
    }

    fn kernels(&self) -> Kernels {
        self.options.kernels
    }

    fn seat(&self) -> Seat {
        self.options.worker.as_ref().map_or(Seat::ALONE, |worker| worker.seat())
    }

    fn exchange(&mut self, what: &str, mine: &Tensor) -> Result<Vec<Tensor>, Stop> {
        exchanged(self, self.options.worker.clone(), what, mine)
    }

    fn effect(&mut self, effect: Effect) {
        self.trace_effect(&effect);
        self.effects.push(effect);
    }

    fn registry(&self) -> &Registry {
        &self.options.registry
    }

    fn find_packed(&mut self, symbol: &Name) -> Option<Rc<PackedFunc>> {
        self.look_up(symbol)
    }

    fn call_value(&mut self, callee: &Value, args: Vec<Value>) -> Result<Value, Stop> {
        self.run_to_end(callee, args)
    }

    fn call_packed(&mut self, f: &PackedFunc, args: &[Value], asked: PackedCallContract) -> Result<Value, Stop> {
        self.run_packed(f, args, asked)
    }

    fn asked(&self) -> &PackedCallContract {
        &self.asked
    }

    fn eval_dim(&mut self, e: &PrimExpr) -> Result<i64, Stop> {
        self.dim(e)
    }

    fn match_without_binding(&mut self, v: &Value, s: &StructInfo) -> Result<(), Stop> {
        self.matches(v, s)
    }
}
