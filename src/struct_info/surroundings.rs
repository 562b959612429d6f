//! What the judgements on structural information need to know of the place where they are asked: which
//! variables are in scope there (Δ and Σ), and what is known of a Relax variable.

use std::collections::BTreeSet;

use crate::grammar::{ShapeVar, StructInfo, Var};

/// The scopes at the place of use.
pub trait Surroundings {
    /// Whether a Relax variable is in Δ.
    fn has_var(&self, var: &Var) -> bool;

    /// Whether a shape variable is in Σ, that is, bound.
    fn has_shape_var(&self, var: &ShapeVar) -> bool;

    /// The entry of a Relax variable in Δ, for looking through a shape that is given by a variable.
    fn struct_info_of(&self, _var: &Var) -> Option<StructInfo> {
        None
    }
}

/// A place where nothing is in scope.
#[derive(Clone, Copy, Default, Debug)]
pub struct Nowhere;

/// Explicit sets of variables.
#[derive(Clone, Default, Debug)]
pub struct InScope {
    pub vars: BTreeSet<Var>,
    pub shape_vars: BTreeSet<ShapeVar>,
}

/// A place inside a function type, whose shape variables are in scope too.
pub(super) struct Inside<'a> {
    pub(super) outer: &'a dyn Surroundings,
    pub(super) shape_vars: BTreeSet<ShapeVar>,
}

impl InScope {
    pub fn new(vars: &[Var], shape_vars: &[ShapeVar]) -> InScope {
        InScope { vars: vars.iter().cloned().collect(), shape_vars: shape_vars.iter().cloned().collect() }
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

impl Surroundings for Inside<'_> {
    fn has_var(&self, var: &Var) -> bool {
        self.outer.has_var(var)
    }

    fn has_shape_var(&self, var: &ShapeVar) -> bool {
        self.shape_vars.contains(var) || self.outer.has_shape_var(var)
    }

    fn struct_info_of(&self, var: &Var) -> Option<StructInfo> {
        self.outer.struct_info_of(var)
    }
}
