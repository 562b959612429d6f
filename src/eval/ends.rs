//! Which programs end whatever their arguments are, so that their steps need no limit.

use std::collections::HashMap;

use crate::grammar::visit::{Visitor, walk_call, walk_function};
use crate::grammar::{Call, Expr, Function, GlobalFunc, GlobalVar, IrModule, Name};
use crate::ops::{calls_its_argument, is_acyclic, repeats};

/// Whether each run of a module ends: no function can reach itself, none is called that is a value of the program, and
/// no `PrimFunc` has a loop without a bound.
pub fn ends(module: &IrModule) -> bool {
    let numbers: HashMap<&Name, usize> = module.funcs.iter().enumerate().map(|(at, (gv, _))| (&gv.name, at)).collect();
    let mut edges = Vec::with_capacity(module.funcs.len());
    for (_, func) in &module.funcs {
        let mut seen = Mentioned { numbers: &numbers, others: Vec::new(), calls_values: false };
        match func {
            GlobalFunc::Function(function) => walk_function(&mut seen, function),
            GlobalFunc::PrimFunc(f) if repeats(&f.body) => return false,
            GlobalFunc::PrimFunc(_) | GlobalFunc::ExternFunc(_) => {}
        }
        if seen.calls_values {
            return false;
        }
        edges.push(seen.others);
    }
    is_acyclic(&edges)
}

/// The functions of a module that a function mentions.
struct Mentioned<'m> {
    numbers: &'m HashMap<&'m Name, usize>,
    others: Vec<usize>,
    calls_values: bool,
}

impl Visitor for Mentioned<'_> {
    fn visit_function(&mut self, function: &Function) {
        // A local function may call itself by the name of its variable.
        self.calls_values = true;
        walk_function(self, function);
    }

    fn visit_global_var(&mut self, gv: &GlobalVar) {
        self.others.extend(self.numbers.get(&gv.name));
    }

    fn visit_call(&mut self, call: &Call) {
        let callee = match &call.op {
            Expr::Op(op) if calls_its_argument(&op.op_name) => call.args.first().unwrap_or(&call.op),
            callee => callee,
        };
        self.calls_values |= match callee {
            Expr::Op(_) | Expr::GlobalVar(_) => false,
            Expr::ExternFunc(f) => calls_its_argument(&f.global_symbol),
            _ => true,
        };
        walk_call(self, call);
    }
}
