//! The parts of a program that its runs reach: the variables that are bound, and the sides that its choices take.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::rc::Rc;

use super::choices;
use super::unreached::Unreached;
use crate::arguments::linked;
use crate::eval::RunObserver;
use crate::grammar::visit::{Visitor, walk_call, walk_expr, walk_var_binding};
use crate::grammar::{Call, Expr, GlobalFunc, If, IrModule, Name, Var, VarBinding};
use crate::judge::with_stack;
use crate::ops;
use crate::value::{Host, Side, Sides, Value, address};

/// The parts of one program that its runs reached. The program must not be moved meanwhile, because nodes are
/// identified by their addresses.
#[derive(Debug, Default)]
pub(super) struct Reach {
    sides: Rc<Sides>,
    variables: RefCell<BTreeSet<usize>>,
}

impl RunObserver for Reach {
    fn bound(&self, _: &mut dyn Host, var: &Var, _: &Value) {
        self.variables.borrow_mut().insert(address(var));
    }

    fn decided(&self, conditional: &If, holds: bool) {
        self.sides.take(address(conditional), Side::of_condition(holds));
    }

    fn called(&self, call: &Call, values: &[Value]) {
        if let Expr::Op(op) = &call.op
            && ops::sides(&op.op_name).iter().any(|side| !self.sides.took(address(call), *side))
        {
            self.sides.take_all(address(call), ops::taken(&op.op_name, values));
        }
    }

    fn sides(&self) -> Option<Rc<Sides>> {
        Some(self.sides.clone())
    }
}

impl Reach {
    /// How many sides were taken.
    pub(super) fn sides(&self) -> u32 {
        self.sides.count()
    }

    /// A copy of the current state.
    pub(super) fn known(&self) -> Reach {
        Reach { sides: Rc::new((*self.sides).clone()), variables: self.variables.clone() }
    }

    /// Adds the parts that other runs of the same program reached.
    pub(super) fn join(&self, other: &Reach) {
        self.sides.join(&other.sides);
        self.variables.borrow_mut().extend(other.variables.borrow().iter());
    }

    /// Goes back to an earlier state.
    pub(super) fn back_to(&self, earlier: &Reach) {
        self.sides.back_to(&earlier.sides);
        self.variables.borrow_mut().clone_from(&earlier.variables.borrow());
    }

    /// The parts of the functions called from the entry that no run reached.
    pub(super) fn unreached(&self, module: &IrModule, entry: &str) -> Vec<Unreached> {
        let mut missed = Missed { reach: self, unreached: Vec::new() };
        let called = called_from(module, entry);
        for (_, func) in module.funcs.iter().filter(|(name, _)| called.contains(&name.name)) {
            match func {
                GlobalFunc::Function(f) => missed.visit_function(f),
                GlobalFunc::PrimFunc(_) | GlobalFunc::ExternFunc(_) => {}
            }
        }
        for (_, func) in module.funcs.iter().filter(|(name, _)| called.contains(&name.name)) {
            match func {
                GlobalFunc::PrimFunc(f) => choices::missed(&self.sides, f, &mut missed.unreached),
                GlobalFunc::Function(_) | GlobalFunc::ExternFunc(_) => {}
            }
        }
        missed.unreached
    }
}

/// The functions that the entry uses, directly or not; all functions if the entry does not exist.
pub fn called_from(module: &IrModule, entry: &str) -> BTreeSet<Name> {
    let first = module.funcs.iter().find(|(_, func)| match func {
        GlobalFunc::Function(f) => linked(module, entry).is_some_and(|linked| std::ptr::eq(linked, &**f)),
        GlobalFunc::PrimFunc(_) | GlobalFunc::ExternFunc(_) => false,
    });
    let Some((first, _)) = first else { return module.funcs.iter().map(|(name, _)| name.name.clone()).collect() };
    let mut called = UsedGlobals(BTreeSet::from([first.name.clone()]));
    let mut looked_at = BTreeSet::new();
    while let Some(next) = called.0.difference(&looked_at).next().cloned() {
        for (_, func) in module.funcs.iter().filter(|(name, _)| name.name == next) {
            match func {
                GlobalFunc::Function(f) => called.visit_function(f),
                GlobalFunc::PrimFunc(_) | GlobalFunc::ExternFunc(_) => {}
            }
        }
        looked_at.insert(next);
    }
    called.0
}

/// The used global variables, and the symbols that may name `PrimFunc`s.
struct UsedGlobals(BTreeSet<Name>);

impl Visitor for UsedGlobals {
    fn visit_expr(&mut self, expr: &Expr) {
        match expr {
            Expr::GlobalVar(used) => {
                self.0.insert(used.name.clone());
            }
            Expr::ExternFunc(used) => {
                self.0.insert(used.global_symbol.clone());
            }
            Expr::StringImm(text) => {
                self.0.insert(text.value.clone());
            }
            _ => walk_expr(self, expr),
        }
    }
}

/// Searches for unreached parts, but not inside of a branch that was not taken.
struct Missed<'r> {
    reach: &'r Reach,
    unreached: Vec<Unreached>,
}

impl Missed<'_> {
    fn branch(&mut self, conditional: &If, holds: bool) {
        if !self.reach.sides.took(address(conditional), Side::of_condition(holds)) {
            self.unreached.push(Unreached::Branch { span: conditional.span, holds });
        } else if holds {
            self.visit_expr(&conditional.true_branch);
        } else {
            self.visit_expr(&conditional.false_branch);
        }
    }

    fn binding_of(&mut self, binder: &Var, call: &Call) {
        if let Expr::Op(op) = &call.op
            && !self.reach.variables.borrow().contains(&address(binder))
        {
            self.unreached.push(Unreached::Operator { span: call.span, name: op.op_name.clone() });
        }
    }

    /// Adds the sides that a call did not take, if it took any.
    fn sides_of(&mut self, call: &Call) {
        let Expr::Op(op) = &call.op else { return };
        let (took, all) = (|side: &Side| self.reach.sides.took(address(call), *side), ops::sides(&op.op_name));
        if all.iter().any(took) {
            let missed = all.iter().filter(|side| !took(side));
            let missed = missed.map(|side| Unreached::Side { span: call.span, of: op.op_name.clone(), side: *side });
            self.unreached.extend(missed.collect::<Vec<Unreached>>());
        }
    }
}

impl Visitor for Missed<'_> {
    fn visit_expr(&mut self, expr: &Expr) {
        if let Expr::If(conditional) = expr {
            with_stack(|| {
                self.branch(conditional, true);
                self.branch(conditional, false);
            });
        } else {
            walk_expr(self, expr);
        }
    }

    fn visit_call(&mut self, call: &Call) {
        self.sides_of(call);
        walk_call(self, call);
    }

    fn visit_var_binding(&mut self, binding: &VarBinding) {
        if let Expr::Call(call) = &binding.value {
            self.binding_of(&binding.var.var, call);
        }
        walk_var_binding(self, binding);
    }
}
