//! Fresh variables, whose names do not occur in the program.

use rustc_hash::FxHashSet;

use crate::grammar::visit::{Visitor, walk_module, walk_struct_info, walk_var_def};
use crate::grammar::{Binder, IrModule, Name, ShapeVar, StructInfo, Var, VarKind};

use rustc_hash::FxHashMap;

/// The supply of fresh variables for one module.
pub(crate) struct FreshSupply {
    taken: FxHashSet<Name>,
    next: u32,
    /// The highest number in use for each name of a shape variable.
    numbers: FxHashMap<Name, u32>,
}

impl Default for FreshSupply {
    fn default() -> FreshSupply {
        FreshSupply { taken: FxHashSet::default(), next: 1, numbers: FxHashMap::default() }
    }
}

impl FreshSupply {
    /// A supply whose variables do not occur in the module.
    pub(crate) fn for_module(module: &IrModule) -> FreshSupply {
        let mut fresh = FreshSupply::default();
        walk_module(&mut fresh, module);
        fresh
    }

    /// The next of `v1`, `v2`, and so on that the program does not use.
    pub(crate) fn var(&mut self) -> Var {
        loop {
            let name = format!("v{}", self.next);
            self.next += 1;
            if !self.taken.contains(name.as_str()) {
                return Var::numbered(name.into(), 0);
            }
        }
    }

    /// A shape variable with the same name and a new number.
    pub(super) fn shape_var(&mut self, like: &ShapeVar) -> ShapeVar {
        let number = self.numbers.entry(like.name.clone()).or_insert(like.id);
        *number += 1;
        ShapeVar::numbered(like.name.clone(), *number).at(like.span)
    }

    fn take(&mut self, name: &Name) {
        if name.starts_with('v') {
            self.taken.insert(name.clone());
        }
    }
}

impl Visitor for FreshSupply {
    fn visit_var_def(&mut self, binder: &Binder) {
        self.take(&binder.var.name);
        walk_var_def(self, binder);
    }

    fn visit_var(&mut self, var: &Var, _: VarKind) {
        self.take(&var.name);
    }

    fn visit_shape_var(&mut self, var: &ShapeVar) {
        match self.numbers.get_mut(&var.name) {
            Some(number) => *number = var.id.max(*number),
            None => {
                self.numbers.insert(var.name.clone(), var.id);
            }
        }
    }

    fn visit_struct_info(&mut self, info: &StructInfo) {
        walk_struct_info(self, info);
    }
}
