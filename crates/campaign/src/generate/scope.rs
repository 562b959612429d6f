//! The variables in scope inside a function: one stack, with the last binding on top.

use super::Tape;
use relax_spec::grammar::{Binder, Expr, ShapeVar, StructInfo};

/// A value, in scope or about to be bound.
#[derive(Clone, Debug)]
pub(crate) struct ScopeValue {
    pub(crate) expr: Expr,
    pub(crate) info: StructInfo,
    /// The example sizes of a tensor or a shape, even if its structural information does not determine them.
    pub(crate) sizes: Option<Vec<i64>>,
    pub(crate) used: bool,
    /// Whether it is a tensor that shares no memory with any other value.
    pub(crate) fresh: bool,
    /// Whether it was passed to a call that may overwrite it, and must not be used any more.
    pub(crate) spent: bool,
    /// Whether it is a parameter of the function.
    pub(crate) param: bool,
}

impl ScopeValue {
    pub(crate) fn new(expr: Expr, info: StructInfo, sizes: Option<Vec<i64>>) -> ScopeValue {
        ScopeValue { expr, info, sizes, used: false, fresh: false, spent: false, param: false }
    }

    pub(crate) fn param(binder: &Binder, info: StructInfo, sizes: Option<Vec<i64>>) -> ScopeValue {
        ScopeValue { param: true, used: true, ..ScopeValue::new(binder.to_expr(), info, sizes) }
    }

    pub(crate) fn is_local(&self) -> bool {
        matches!(self.expr, Expr::DataflowVar(_))
    }
}

/// Where a shape variable is known.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum DimScope {
    /// In the signature of the function too.
    Signature,
    Body,
    /// In an inner scope that has ended.
    Left,
}

#[derive(Clone, Debug)]
enum ScopeEntry {
    Value(ScopeValue),
    Dim(ShapeVar, DimScope),
}

/// The scope inside a function.
#[derive(Clone, Default, Debug)]
pub(crate) struct Scope {
    entries: Vec<ScopeEntry>,
    /// Whether further parameters may be added to the function.
    pub(crate) grows: bool,
    pub(crate) effects: bool,
    pub(crate) dataflow: bool,
    /// How deep control flow may still be nested.
    pub(crate) depth: usize,
}

impl Scope {
    /// The scope inside a global function.
    pub(crate) fn new(effects: bool, grows: bool, depth: usize) -> Scope {
        Scope { grows, effects, depth, ..Scope::default() }
    }

    /// The scope inside a local function, which sees the variables around it.
    pub(crate) fn inner(&self, effects: bool) -> Scope {
        let entries = self.entries.iter().filter_map(|entry| match entry {
            ScopeEntry::Value(value) if value.is_local() => None,
            ScopeEntry::Value(value) => {
                Some(ScopeEntry::Value(ScopeValue { fresh: false, param: false, ..value.clone() }))
            }
            ScopeEntry::Dim(_, DimScope::Left) => None,
            ScopeEntry::Dim(var, _) => Some(ScopeEntry::Dim(var.clone(), DimScope::Signature)),
        });
        let depth = self.depth.saturating_sub(1);
        Scope { entries: entries.collect(), grows: false, effects, dataflow: false, depth }
    }

    /// Whether impure calls are allowed here.
    pub(crate) fn is_impure(&self) -> bool {
        self.effects && !self.dataflow
    }

    pub(crate) fn push(&mut self, value: ScopeValue) {
        self.entries.push(ScopeEntry::Value(value));
    }

    /// Adds a shape variable, if it is not in scope already.
    pub(crate) fn push_dim(&mut self, var: &ShapeVar, of: DimScope) {
        if !self.has_dim(var) {
            self.entries.push(ScopeEntry::Dim(var.clone(), of));
        }
    }

    pub(crate) fn values(&self) -> impl DoubleEndedIterator<Item = &ScopeValue> {
        self.entries.iter().filter_map(|entry| if let ScopeEntry::Value(value) = entry { Some(value) } else { None })
    }

    fn dims_of(&self, wanted: impl Fn(DimScope) -> bool + Clone) -> impl Iterator<Item = &ShapeVar> + Clone {
        self.entries.iter().filter_map(move |entry| match entry {
            ScopeEntry::Dim(var, of) if wanted(*of) => Some(var),
            ScopeEntry::Dim(..) | ScopeEntry::Value(_) => None,
        })
    }

    /// The shape variables in scope.
    pub(crate) fn dims(&self) -> impl Iterator<Item = &ShapeVar> + Clone {
        self.dims_of(|of| of != DimScope::Left)
    }

    pub(crate) fn all_dims(&self) -> Vec<ShapeVar> {
        self.dims().cloned().collect()
    }

    /// Those that the signature may mention.
    pub(crate) fn signature_dims(&self) -> Vec<ShapeVar> {
        self.dims_of(|of| of == DimScope::Signature).cloned().collect()
    }

    /// Those of inner scopes that have ended.
    pub(crate) fn left_dims(&self) -> impl Iterator<Item = &ShapeVar> + Clone {
        self.dims_of(|of| of == DimScope::Left)
    }

    pub(crate) fn has_dim(&self, var: &ShapeVar) -> bool {
        self.dims().any(|known| known == var)
    }

    /// The parameters of the function, in their order.
    pub(crate) fn params(&self) -> Vec<Binder> {
        let binder = |value: &ScopeValue| match &value.expr {
            Expr::Var(var) if value.param => Some(Binder::var(var.clone()).annotated(value.info.clone())),
            _ => None,
        };
        self.values().filter_map(binder).collect()
    }

    /// The height of the stack, for [`back_to`](Scope::back_to).
    pub(crate) fn mark(&self) -> usize {
        self.entries.len()
    }

    /// Removes everything above the mark.
    pub(crate) fn back_to(&mut self, mark: usize) {
        self.entries.truncate(mark);
    }

    /// Leaves an inner scope: removes the variables above the mark, except for parameters added to the function since
    /// then.
    pub(crate) fn leave(&mut self, mark: usize) {
        let inside = self.entries.split_off(mark.min(self.entries.len()));
        self.entries.extend(inside.into_iter().filter_map(|entry| match entry {
            ScopeEntry::Value(value) => value.param.then_some(ScopeEntry::Value(value)),
            ScopeEntry::Dim(var, DimScope::Body) => Some(ScopeEntry::Dim(var, DimScope::Left)),
            ScopeEntry::Dim(..) => Some(entry),
        }));
    }

    /// Leaves a dataflow block: removes its dataflow variables.
    pub(crate) fn leave_dataflow(&mut self) {
        self.dataflow = false;
        self.entries.retain(|entry| !matches!(entry, ScopeEntry::Value(value) if value.is_local()));
    }

    /// Draws one of the usable values; the latest is the simplest choice.
    pub(crate) fn pick(&mut self, tape: &mut Tape, accept: impl Fn(&ScopeValue) -> bool) -> Option<ScopeValue> {
        let is_one = |entry: &ScopeEntry| matches!(entry, ScopeEntry::Value(value) if !value.spent && accept(value));
        let fitting: Vec<usize> =
            self.entries.iter().enumerate().rev().filter(|(_, entry)| is_one(entry)).map(|(at, _)| at).collect();
        let at = *tape.pick(&fitting)?;
        let Some(ScopeEntry::Value(value)) = self.entries.get_mut(at) else { return None };
        value.used = true;
        Some(value.clone())
    }

    /// Marks a value as passed to a call that may overwrite it.
    pub(crate) fn spend(&mut self, picked: &Expr) {
        for entry in &mut self.entries {
            if let ScopeEntry::Value(value) = entry {
                value.spent |= value.expr == *picked;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use relax_spec::grammar::{DataType, Var};

    #[test]
    fn an_inner_scope_leaves_its_parameters_behind() {
        let mut scope = Scope::default();
        let value = |name: &str| ScopeValue::new(Expr::var(name), StructInfo::Object, None);
        scope.push(value("outer"));
        let mark = scope.mark();
        scope.push(value("inner"));
        scope.push_dim(&ShapeVar::new("n"), DimScope::Body);
        scope.push_dim(&ShapeVar::new("m"), DimScope::Signature);
        let info = StructInfo::tensor([], DataType::FLOAT32);
        scope.push(ScopeValue::param(&Binder::var(Var::new("x")), info, None));
        scope.leave(mark);
        let names: Vec<Expr> = scope.values().map(|value| value.expr.clone()).collect();
        assert_eq!(names, [Expr::var("outer"), Expr::var("x")]);
        assert_eq!(scope.dims().collect::<Vec<_>>(), [&ShapeVar::new("m")]);
        assert_eq!(scope.left_dims().collect::<Vec<_>>(), [&ShapeVar::new("n")]);
        assert_eq!(scope.params().len(), 1);
        scope.back_to(mark);
        assert_eq!((scope.values().count(), scope.dims().count()), (1, 0));
    }
}
