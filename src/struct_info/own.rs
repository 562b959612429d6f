//! The shape variables that a function type introduces.

use std::collections::BTreeSet;

use smallvec::SmallVec;

use super::mapping::{for_each_lone, params_of};
use super::surroundings::{Scope, Surroundings};
use crate::grammar::{FuncStructInfo, ShapeVar};

/// So many variables are sooner looked through than put in order.
const FEW: usize = 8;

/// The variables that the parameters of a function introduce, each once. There are few of them nearly always, and nobody
/// keeps them, so they stay where they are written.
pub(super) struct Own<'f> {
    /// In order, if they are more than a few.
    vars: SmallVec<[&'f ShapeVar; FEW]>,
}

impl<'f> Own<'f> {
    /// What is in scope is introduced by no function.
    pub(super) fn of(func: &'f FuncStructInfo, scope: &Scope) -> Own<'f> {
        let mut vars: SmallVec<[&ShapeVar; FEW]> = SmallVec::new();
        for_each_lone(params_of(func), &mut |var| {
            if vars.len() > FEW || !vars.contains(&var) {
                vars.push(var);
            }
        });
        if vars.len() > FEW {
            vars.sort_unstable();
            vars.dedup();
        }
        vars.retain(|var| !scope.has_shape_var(var));
        Own { vars }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.vars.is_empty()
    }

    pub(super) fn len(&self) -> usize {
        self.vars.len()
    }

    pub(super) fn contains(&self, var: &ShapeVar) -> bool {
        if self.vars.len() > FEW { self.vars.binary_search(&var).is_ok() } else { self.vars.contains(&var) }
    }

    pub(super) fn retain(&mut self, mut stays: impl FnMut(&ShapeVar) -> bool) {
        self.vars.retain(|var| stays(var));
    }

    /// To be kept.
    pub(super) fn to_set(&self) -> BTreeSet<ShapeVar> {
        self.vars.iter().map(|var| (*var).clone()).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::grammar::{DataType, PrimExpr, StructInfo};
    use crate::struct_info::mapping::introduced_by;
    use crate::struct_info::{InScope, Nowhere};

    /// `count` parameters, in which there are so many variables.
    fn function(count: usize, vars: usize) -> StructInfo {
        let vector = |i: usize| StructInfo::tensor([PrimExpr::var(&format!("v{}", i * 7 % vars))], DataType::FLOAT32);
        StructInfo::func((0..count).map(vector), StructInfo::Object)
    }

    #[test]
    fn they_are_those_of_the_parameters_that_are_not_in_scope() {
        let outside = InScope::new(&[], &["v1", "v5", "v11"].map(ShapeVar::new));
        for (count, vars) in (0..40).flat_map(|count| (1..25).map(move |vars| (count, vars))) {
            let StructInfo::Func(func) = function(count, vars) else { panic!("no function") };
            for scope in [Scope::new(&Nowhere), Scope::new(&outside)] {
                let mut plainly = introduced_by(params_of(&func));
                plainly.retain(|var| !scope.has_shape_var(var));
                let own = Own::of(&func, &scope);
                assert_eq!((own.to_set(), own.len()), (plainly.clone(), plainly.len()), "{count} {vars}");
                for var in (0..26).map(|i| ShapeVar::new(&format!("v{i}"))) {
                    assert_eq!(own.contains(&var), plainly.contains(&var), "{count} {vars} {var}");
                }
            }
        }
    }
}
