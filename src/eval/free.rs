//! The free variables of a function.

use std::collections::BTreeSet;

use crate::grammar::{ShapeVar, Var};

/// The free variables of a function.
///
/// These are all shape variables that occur. A variable that the function binds has a different identity from every
/// variable outside (A03). A closure therefore captures those that have a value when it is created.
#[derive(Debug, Default)]
pub(super) struct FreeVariables {
    pub(super) vars: BTreeSet<Var>,
    /// Free uses of `DataflowVar`s. No closure captures them (`EVAL.FUNC.NO-DFVAR`).
    pub(super) dataflow_vars: BTreeSet<Var>,
    pub(super) shape_vars: BTreeSet<ShapeVar>,
}
