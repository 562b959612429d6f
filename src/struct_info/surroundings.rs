//! The facts about a place that judgements on structural information need: the variables in scope there (Δ and Σ), and
//! the information about Relax variables.

use std::cell::{Cell, OnceCell, RefCell};
use std::collections::{BTreeMap, BTreeSet};

use smallvec::SmallVec;

use crate::grammar::{PrimExpr, ShapeVar, StructInfo, TensorShape, Var};
use crate::judge::{ScopeVersion, VisitedTuples, is_new};

/// The scopes at a place in a program.
pub trait Surroundings {
    /// Whether a Relax variable is in Δ.
    fn has_var(&self, var: &Var) -> bool;

    /// Whether a shape variable is in Σ, that is, bound.
    fn has_shape_var(&self, var: &ShapeVar) -> bool;

    /// The entry of a Relax variable in Δ, to look through a shape that is a variable.
    fn struct_info_of(&self, _var: &Var) -> Option<StructInfo> {
        None
    }

    /// The highest number that a judgement has given to a variable here. New variables get higher numbers.
    fn last_number(&self) -> u32 {
        0
    }
}

/// A place without variables in scope.
#[derive(Clone, Copy, Default, Debug)]
pub struct Nowhere;

/// Explicit sets of variables.
#[derive(Clone, Default, Debug)]
pub struct InScope {
    /// The variables, `Gamma` in the text.
    pub vars: BTreeSet<Var>,
    /// The shape variables, `Delta` in the text.
    pub shape_vars: BTreeSet<ShapeVar>,
}

/// The surroundings of a judgement, with the variables that enclosing function types introduce.
pub(super) struct JudgementScope<'a> {
    outer: &'a dyn Surroundings,
    /// For each variable, the number of enclosing function types that introduce it. There are usually none.
    introduced: OnceCell<Box<RefCell<BTreeMap<ShapeVar, usize>>>>,
    /// The highest number that was given to a variable here.
    last_number: Cell<u32>,
    /// Whether the variables in the current function types have been renamed apart.
    told: Cell<bool>,
    /// The current version of the scope.
    state: ScopeVersion,
}

/// A function type whose variables are renamed apart, including all inner ones, until this is dropped.
pub(super) struct BinderGuard<'s> {
    scope: &'s JudgementScope<'s>,
}

/// Variables that leave the scope when this is dropped.
pub(super) struct Introduced<'s> {
    scope: &'s JudgementScope<'s>,
    vars: Vars,
}

/// A few variables, possibly repeated.
pub(super) type Vars = SmallVec<[ShapeVar; 4]>;

impl<'a> JudgementScope<'a> {
    pub(super) fn new(outer: &'a dyn Surroundings) -> JudgementScope<'a> {
        JudgementScope {
            outer,
            introduced: OnceCell::new(),
            last_number: Cell::new(0),
            told: Cell::new(false),
            state: ScopeVersion::default(),
        }
    }

    /// The current version of the scope, for memoized judgements.
    pub(super) fn state(&self) -> &ScopeVersion {
        &self.state
    }

    /// The guard of a function type, if this judgement has no function type around it. While the guard lives, inner
    /// function types get none.
    pub(super) fn outermost(&self) -> Option<BinderGuard<'_>> {
        self.state.change();
        (!self.told.replace(true)).then_some(BinderGuard { scope: self })
    }

    /// Records that variables have numbers up to this one.
    pub(super) fn number_up_to(&self, last: u32) {
        self.state.change();
        self.last_number.set(last.max(self.last_number()));
    }

    /// Brings variables into scope for as long as the result lives.
    pub(super) fn introduce(&self, vars: Vars) -> Introduced<'_> {
        self.enter_all(&vars);
        Introduced { scope: self, vars }
    }

    /// Brings variables into scope, until they [leave](JudgementScope::leave).
    pub(super) fn enter(&self, vars: BTreeSet<ShapeVar>) -> BTreeSet<ShapeVar> {
        self.enter_all(&vars);
        vars
    }

    fn enter_all<'v>(&self, vars: impl IntoIterator<Item = &'v ShapeVar>) {
        self.state.change();
        for v in vars {
            let mut introduced = self.introduced.get_or_init(Box::default).borrow_mut();
            match introduced.get_mut(v) {
                Some(times) => *times += 1,
                None => drop(introduced.insert(v.clone(), 1)),
            }
        }
    }

    /// Whether an enclosing function type introduces a variable.
    pub(super) fn is_introduced(&self, var: &ShapeVar) -> bool {
        self.introduced.get().is_some_and(|introduced| introduced.borrow().contains_key(var))
    }

    pub(super) fn leave<'v>(&self, vars: impl IntoIterator<Item = &'v ShapeVar>) {
        self.state.change();
        let Some(introduced) = self.introduced.get() else { return };
        let mut introduced = introduced.borrow_mut();
        for v in vars {
            match introduced.get_mut(v) {
                Some(times) if *times > 1 => *times -= 1,
                Some(_) | None => drop(introduced.remove(v)),
            }
        }
    }
}

impl Drop for BinderGuard<'_> {
    fn drop(&mut self) {
        self.scope.state.change();
        self.scope.told.set(false);
    }
}

impl Drop for Introduced<'_> {
    fn drop(&mut self) {
        self.scope.leave(&self.vars);
    }
}

impl InScope {
    /// A scope with exactly these variables.
    pub fn new(vars: &[Var], shape_vars: &[ShapeVar]) -> InScope {
        InScope { vars: vars.iter().cloned().collect(), shape_vars: shape_vars.iter().cloned().collect() }
    }

    /// The variables that infos mention outside of function types. Those in function types may belong to the types.
    pub fn mentioned_by(infos: &[StructInfo]) -> InScope {
        let mut scope = InScope::default();
        let (mut todo, mut seen): (Vec<&StructInfo>, VisitedTuples) =
            (infos.iter().collect(), VisitedTuples::default());
        while let Some(info) = todo.pop() {
            match info {
                StructInfo::Tuple(fields) if is_new(fields, &mut seen) => todo.extend(fields.iter()),
                StructInfo::Tensor(tensor) => match &tensor.shape {
                    Some(TensorShape::Dims(dims)) => scope.mention(dims.iter()),
                    Some(TensorShape::Var(var) | TensorShape::DataflowVar(var)) => {
                        scope.vars.insert(var.as_ref().clone());
                    }
                    Some(TensorShape::Other(_)) | None => {}
                },
                StructInfo::Shape(shape) => scope.mention(shape.values.iter().flat_map(|values| values.iter())),
                StructInfo::Prim(prim) => scope.mention(&prim.value),
                StructInfo::Object | StructInfo::Tuple(_) | StructInfo::Func(_) => {}
            }
        }
        scope
    }

    fn mention<'e>(&mut self, dims: impl IntoIterator<Item = &'e PrimExpr>) {
        for dim in dims {
            dim.for_each_var(|var| {
                self.shape_vars.insert(var.clone());
            });
        }
    }
}

impl Surroundings for Nowhere {
    fn has_var(&self, _: &Var) -> bool {
        false
    }

    fn has_shape_var(&self, _: &ShapeVar) -> bool {
        false
    }
}

impl Surroundings for InScope {
    fn has_var(&self, var: &Var) -> bool {
        self.vars.contains(var)
    }

    fn has_shape_var(&self, var: &ShapeVar) -> bool {
        self.shape_vars.contains(var)
    }
}

impl Surroundings for JudgementScope<'_> {
    fn has_var(&self, var: &Var) -> bool {
        self.outer.has_var(var)
    }

    fn has_shape_var(&self, var: &ShapeVar) -> bool {
        self.is_introduced(var) || self.outer.has_shape_var(var)
    }

    fn struct_info_of(&self, var: &Var) -> Option<StructInfo> {
        self.outer.struct_info_of(var)
    }

    fn last_number(&self) -> u32 {
        self.last_number.get().max(self.outer.last_number())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_two_function_types_bring_is_in_scope_until_both_end() {
        let scope = JudgementScope::new(&Nowhere);
        let n = || BTreeSet::from([ShapeVar::new("n")]);
        let outer = scope.enter(n());
        let inner = scope.enter(n());
        scope.leave(&inner);
        assert!(scope.has_shape_var(&ShapeVar::new("n")));
        scope.leave(&outer);
        assert!(!scope.has_shape_var(&ShapeVar::new("n")));
    }

    #[test]
    fn what_one_function_type_brings_twice_leaves_with_it() {
        let (scope, n) = (JudgementScope::new(&Nowhere), ShapeVar::new("n"));
        let outer = scope.introduce(Vars::from_iter([n.clone()]));
        drop(scope.introduce(Vars::from_iter([n.clone(), n.clone()])));
        assert!(scope.has_shape_var(&n));
        drop(outer);
        assert!(!scope.has_shape_var(&n));
    }
}
