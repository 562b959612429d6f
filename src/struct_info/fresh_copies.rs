//! Unused names for variables that must differ from others.

use std::collections::BTreeSet;
use std::ops::Range;

use super::mapping::Mapping;
use super::surroundings::Surroundings;
use crate::grammar::{PrimExpr, ShapeVar};

/// New variables in place of others. They keep the name hint, and none of them is used anywhere or bound outside.
pub(super) struct FreshCopies<'a> {
    ids: Range<u32>,
    scope: &'a dyn Surroundings,
}

impl<'a> FreshCopies<'a> {
    pub(super) fn beside(used: &BTreeSet<ShapeVar>, scope: &'a dyn Surroundings) -> FreshCopies<'a> {
        let last = used.iter().map(|var| var.id).max().unwrap_or(0).max(scope.last_number());
        FreshCopies { ids: last.saturating_add(1)..u32::MAX, scope }
    }

    pub(super) fn name(&mut self, var: &ShapeVar) -> ShapeVar {
        let mut names = self.ids.by_ref().map(|id| ShapeVar::numbered(var.name.clone(), id));
        names.find(|name| !self.scope.has_shape_var(name)).unwrap_or_else(|| var.clone())
    }
}

/// New variables in place of `vars`, none of them in `used`.
pub(super) fn fresh_names(
    vars: impl IntoIterator<Item = ShapeVar>,
    used: &BTreeSet<ShapeVar>,
    scope: &dyn Surroundings,
) -> Mapping {
    let mut fresh = FreshCopies::beside(used, scope);
    vars.into_iter().map(|var| (PrimExpr::Var(fresh.name(&var)), var)).map(|(name, var)| (var, name)).collect()
}
