//! The shape variables that a function type introduces.

use std::collections::BTreeSet;

use super::mapping::{for_each_lone, params_of};
use super::surroundings::{JudgementScope, Surroundings};
use crate::grammar::{FuncStructInfo, ShapeVar};
use crate::judge::Cx;

/// WF23-12.6.ANY-ORDER: whether the parameters of a signature bind all at once. Each parameter, and each function type
/// in it, then sees the variables of later ones. If they bind from left to right instead, an earlier function type
/// introduces a variable of its own.
pub(crate) fn binds_in_any_order(cx: &Cx) -> bool {
    cx.has(rule!("WF23-12.6.ANY-ORDER"))
}

/// Up to this number of variables a linear search is faster than sorting.
const FEW: usize = 8;

/// The variables that the parameters of a function introduce, each once. There are usually few, and they are not kept,
/// so the first ones are stored inline by reference.
#[derive(Default)]
pub(super) struct Own<'f> {
    few: [Option<&'f ShapeVar>; FEW],
    /// The number of the inline ones.
    count: usize,
    /// All of them, sorted, if there are more than a few.
    many: Vec<&'f ShapeVar>,
}

impl<'f> Own<'f> {
    /// The own variables of a function. A variable in scope is not introduced by any function.
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

    /// Whether a condition holds for one of them.
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

    /// The variables as an owned set.
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

    /// A function with `count` parameters and `vars` different variables.
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
