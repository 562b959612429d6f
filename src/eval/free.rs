//! What a function leaves to its surroundings.

use std::collections::BTreeSet;

use crate::grammar::{ShapeVar, Var};

/// What occurs free in a function.
///
/// The shape variables are all that occur: one that the function binds itself has another identity than any that is
/// in scope outside (A03), so a closure captures those among them that have a value when it is created.
#[derive(Debug, Default)]
pub(super) struct FreeVariables {
    pub(super) vars: BTreeSet<Var>,
    /// Free uses of `DataflowVar`s, which no closure captures (`EVAL.FUNC.NO-DFVAR`).
    pub(super) dataflow_vars: BTreeSet<Var>,
    pub(super) shape_vars: BTreeSet<ShapeVar>,
}
