//! Names become identities (A03). Each binding of a name that the module already has gets the next number. A use refers
//! to the innermost binding in scope.

use rustc_hash::FxHashMap;

use crate::grammar::{Expr, Name, ShapeVar, Span, Var, VarKind};

/// The names in scope in the current global function, with the number of bindings of each in the module.
#[derive(Default)]
pub(super) struct Identities {
    vars: NameTable<(Var, VarKind)>,
    dims: NameTable<ShapeVar>,
    /// The lengths of the undo logs at the start of each scope. `None` if shape variables outlive the scope, as they do
    /// for a dataflow block.
    frames: Vec<(usize, Option<usize>)>,
    /// The current global function.
    function: u32,
}

/// The record of each name. There is one map, so that a binding costs one search of it.
struct NameTable<V> {
    known: FxHashMap<Name, Naming<V>>,
    /// The meaning of each name before it was brought into scope.
    log: Vec<(Name, Option<Box<V>>)>,
}

struct Naming<V> {
    /// The key, shared by the bindings.
    name: Name,
    /// The number of bindings of the name in the module.
    count: u32,
    /// The function that bound the name last, with that binding, which may be out of scope by now.
    latest: Option<(u32, V)>,
    visible: Option<V>,
}

impl<V> Default for NameTable<V> {
    fn default() -> NameTable<V> {
        NameTable { known: FxHashMap::default(), log: Vec::new() }
    }
}

impl<V: Clone> NameTable<V> {
    /// Makes the next binding of a name, from the name and the number of earlier bindings.
    fn fresh(&mut self, name: &str, function: u32, make: impl FnOnce(Name, u32) -> V) -> V {
        if let Some(known) = self.known.get_mut(name) {
            let made = make(known.name.clone(), known.count);
            known.count += 1;
            known.latest = Some((function, made.clone()));
            return made;
        }
        let name: Name = name.into();
        let made = make(name.clone(), 0);
        let known = Naming { name: name.clone(), count: 1, latest: Some((function, made.clone())), visible: None };
        self.known.insert(name, known);
        made
    }

    fn bring(&mut self, name: &Name, value: V) {
        if let Some(known) = self.known.get_mut(name) {
            self.log.push((name.clone(), known.visible.replace(value).map(Box::new)));
        }
    }

    fn leave(&mut self, mark: usize) {
        for (name, older) in self.log.drain(mark.min(self.log.len())..).rev() {
            if let Some(known) = self.known.get_mut(&name) {
                known.visible = older.map(|older| *older);
            }
        }
    }

    fn visible(&self, name: &str) -> Option<&V> {
        self.known.get(name).and_then(|known| known.visible.as_ref())
    }

    /// The latest binding in the function, if there is one, and the number of the next one.
    fn latest(&self, name: &str, function: u32) -> (Option<&V>, u32) {
        match self.known.get(name) {
            Some(Naming { count, latest: Some((by, value)), .. }) if *by == function => (Some(value), *count),
            Some(Naming { count, .. }) => (None, *count),
            None => (None, 0),
        }
    }
}

impl Identities {
    /// Starts the next global function. Its scope is empty, but no variable is bound in two functions (`WF.2.ONCE`).
    pub fn next_function(&mut self) {
        self.frames.clear();
        self.vars.leave(0);
        self.dims.leave(0);
        self.function += 1;
    }

    pub fn enter(&mut self) {
        self.frames.push((self.vars.log.len(), Some(self.dims.log.len())));
    }

    pub fn enter_dataflow(&mut self) {
        self.frames.push((self.vars.log.len(), None));
    }

    pub fn leave(&mut self) {
        let Some((vars, dims)) = self.frames.pop() else { return };
        self.vars.leave(vars);
        if let Some(dims) = dims {
            self.dims.leave(dims);
        }
    }

    /// Reserves space for the variables of a block, so that the map of a long block is allocated once.
    pub fn reserve(&mut self, variables: usize) {
        self.vars.known.reserve(variables);
        self.vars.log.reserve(variables);
    }

    /// A new variable of this name, not in scope yet.
    pub fn fresh(&mut self, name: &str, kind: VarKind, span: Span) -> Var {
        self.vars.fresh(name, self.function, |name, count| (Var::numbered(name, count).at(span), kind)).0
    }

    /// Makes the name of the variable refer to it from here on.
    pub fn bring(&mut self, var: &Var, kind: VarKind) {
        self.vars.bring(&var.name, (var.clone(), kind));
    }

    /// The shape variable of this name in scope, or else a new one, in scope at once.
    pub fn declare_dim(&mut self, name: &str, span: Span) -> ShapeVar {
        if let Some(known) = self.dim(name) {
            return known.at(span);
        }
        self.fresh_dim(name, span)
    }

    /// A new shape variable of this name, in scope at once.
    pub fn fresh_dim(&mut self, name: &str, span: Span) -> ShapeVar {
        let var = self.dims.fresh(name, self.function, |name, count| ShapeVar::numbered(name, count).at(span));
        self.dims.bring(&var.name, var.clone());
        var
    }

    /// The variable in scope.
    pub fn var(&self, name: &str) -> Option<(Var, VarKind)> {
        self.vars.visible(name).cloned()
    }

    /// The shape variable in scope.
    pub fn dim(&self, name: &str) -> Option<ShapeVar> {
        self.dims.visible(name).cloned()
    }

    /// The meaning of a name that is not in scope. It is the latest variable with that name, so that the checker can
    /// report a use outside of its scope. If there is none, it is a variable without a binding.
    pub fn stray(&self, name: &str, span: Span) -> Expr {
        match self.vars.latest(name, self.function) {
            (Some((var, kind)), _) => use_of(var.clone().at(span), *kind),
            (None, count) => Expr::Var(Var::numbered(name.into(), count).at(span)),
        }
    }

    /// Like [`Identities::stray`], for shape variables.
    pub fn stray_dim(&self, name: &str, span: Span) -> ShapeVar {
        match self.dims.latest(name, self.function) {
            (Some(var), _) => var.clone().at(span),
            (None, count) => ShapeVar::numbered(name.into(), count).at(span),
        }
    }
}

/// The expression that uses a variable.
pub(super) fn use_of(var: Var, kind: VarKind) -> Expr {
    match kind {
        VarKind::Var => Expr::Var(var),
        VarKind::DataflowVar => Expr::DataflowVar(var),
    }
}
