//! The shape variables that a function type introduces.

use std::collections::BTreeSet;

use super::mapping::{for_each_lone, params_of};
use super::surroundings::{JudgementScope, Surroundings};
use crate::grammar::{FuncStructInfo, ShapeVar};
use crate::judge::Cx;

/// WF23-12.6.ANY-ORDER: whether the parameters of a signature bind all at once, so that each of them, and a function
/// type in it, means what a later one binds. Where they bind from left to right, a function type that stands before
/// that introduces a variable of its own.
pub(crate) fn binds_in_any_order(cx: &Cx) -> bool {
    cx.has(rule!("WF23-12.6.ANY-ORDER"))
}

/// So many variables are sooner looked through than put in order.
const FEW: usize = 8;

/// The variables that the parameters of a function introduce, each once. There are few of them nearly always, and nobody
/// keeps them, so they stay where they are written.
#[derive(Default)]
pub(super) struct Own<'f> {
    few: [Option<&'f ShapeVar>; FEW],
    /// How many those are.
    count: usize,
    /// All of them in order, if they are more than a few.
    many: Vec<&'f ShapeVar>,
}

impl<'f> Own<'f> {
    /// What is in scope is introduced by no function.
    pub(super) fn of(func: &'f FuncStructInfo, scope: &JudgementScope) -> Own<'f> {
        let mut own = Own::default();
        for_each_lone(params_of(func), |var| own.note(var));
        if !own.many.is_empty() {
            own.many.sort_unstable();
            own.many.dedup();
        }
        own.retain(|var| !scope.has_shape_var(var));
        own
    }

    fn note(&mut self, var: &'f ShapeVar) {
        if self.many.is_empty() {
            if self.few().any(|known| known == var) {
                return;
            }
            if let Some(place) = self.few.get_mut(self.count) {
                *place = Some(var);
                self.count += 1;
                return;
            }
            self.many.extend(self.few.iter().flatten());
            self.count = 0;
        }
        self.many.push(var);
    }

    fn few(&self) -> impl Iterator<Item = &'f ShapeVar> {
        self.few[..self.count].iter().copied().flatten()
    }

    fn retain(&mut self, stays: impl Fn(&ShapeVar) -> bool) {
        let mut kept = 0;
        for at in 0..self.count {
            if self.few[at].is_some_and(&stays) {
                self.few[kept] = self.few[at];
                kept += 1;
            }
        }
        self.count = kept;
        self.many.retain(|var| stays(var));
    }

    /// Whether one of them is such.
    pub(super) fn any(&self, such: impl Fn(&ShapeVar) -> bool) -> bool {
        self.few().any(&such) || self.many.iter().any(|var| such(var))
    }

    pub(super) fn is_empty(&self) -> bool {
        self.count == 0 && self.many.is_empty()
    }

    pub(super) fn len(&self) -> usize {
        self.count + self.many.len()
    }

    pub(super) fn contains(&self, var: &ShapeVar) -> bool {
        self.few().any(|known| known == var) || self.many.binary_search(&var).is_ok()
    }

    /// To be kept.
    pub(super) fn to_set(&self) -> BTreeSet<ShapeVar> {
        self.few().chain(self.many.iter().copied()).cloned().collect()
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
            for scope in [JudgementScope::new(&Nowhere), JudgementScope::new(&outside)] {
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
