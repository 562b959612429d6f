//! Names become identities (A03): each binding of a name already used in the module gets the next number, and a use
//! refers to the innermost binding in scope.

use rustc_hash::FxHashMap;

use crate::grammar::{Expr, Name, ShapeVar, Span, Var, VarKind};

/// The names in scope within the global function at hand, and how often each was bound in the module.
#[derive(Default)]
pub(super) struct Scope {
    frames: Vec<Frame>,
    /// How often a name was bound in the module.
    var_counts: FxHashMap<Name, u32>,
    dim_counts: FxHashMap<Name, u32>,
    /// The latest binding of a name in the function, which may be out of scope by now.
    latest_vars: FxHashMap<Name, (Var, VarKind)>,
    latest_dims: FxHashMap<Name, ShapeVar>,
}

#[derive(Default)]
struct Frame {
    /// A dataflow block: shape variables outlive it.
    is_dataflow: bool,
    vars: FxHashMap<Name, (Var, VarKind)>,
    dims: FxHashMap<Name, ShapeVar>,
}

impl Scope {
    /// Nothing of one global function is in scope in the next, but no variable is bound in two of them (`WF.2.ONCE`).
    pub fn next_function(&mut self) {
        self.frames.clear();
        self.latest_vars = FxHashMap::default();
        self.latest_dims = FxHashMap::default();
    }

    pub fn enter(&mut self) {
        self.frames.push(Frame::default());
    }

    pub fn enter_dataflow(&mut self) {
        self.frames.push(Frame { is_dataflow: true, ..Frame::default() });
    }

    pub fn leave(&mut self) {
        self.frames.pop();
    }

    /// A new variable of this name, not in scope yet.
    pub fn fresh(&mut self, name: &str, kind: VarKind, span: Span) -> Var {
        let name: Name = name.into();
        let count = self.var_counts.entry(name.clone()).or_default();
        let var = Var::numbered(name.clone(), *count).at(span);
        *count += 1;
        self.latest_vars.insert(name, (var.clone(), kind));
        var
    }

    /// From here on, the name of the variable means the variable.
    pub fn bring(&mut self, var: &Var, kind: VarKind) {
        if let Some(frame) = self.frames.last_mut() {
            frame.vars.insert(var.name.clone(), (var.clone(), kind));
        }
    }

    /// The shape variable of this name in scope, or else a new one, in scope at once.
    pub fn declare_dim(&mut self, name: &str, span: Span) -> ShapeVar {
        if let Some(known) = self.dim(name) {
            return known.at(span);
        }
        let name: Name = name.into();
        let count = self.dim_counts.entry(name.clone()).or_default();
        let var = ShapeVar::numbered(name.clone(), *count).at(span);
        *count += 1;
        self.latest_dims.insert(name.clone(), var.clone());
        if let Some(frame) = self.frames.iter_mut().rev().find(|frame| !frame.is_dataflow) {
            frame.dims.insert(name, var.clone());
        }
        var
    }

    /// The variable in scope.
    pub fn var(&self, name: &str) -> Option<(Var, VarKind)> {
        self.frames.iter().rev().find_map(|frame| frame.vars.get(name)).cloned()
    }

    /// The shape variable in scope.
    pub fn dim(&self, name: &str) -> Option<ShapeVar> {
        self.frames.iter().rev().find_map(|frame| frame.dims.get(name)).cloned()
    }

    /// What a name means that is not in scope: the latest variable that had it, so that the checker can say that it
    /// is used outside its scope, or else a variable that nothing binds.
    pub fn stray(&self, name: &str, span: Span) -> Expr {
        match self.latest_vars.get(name) {
            Some((var, kind)) => use_of(var.clone().at(span), *kind),
            None => Expr::Var(Var::numbered(name.into(), self.var_counts.get(name).copied().unwrap_or(0)).at(span)),
        }
    }

    /// As [`Scope::stray`], for shape variables.
    pub fn stray_dim(&self, name: &str, span: Span) -> ShapeVar {
        match self.latest_dims.get(name) {
            Some(var) => var.clone().at(span),
            None => ShapeVar::numbered(name.into(), self.dim_counts.get(name).copied().unwrap_or(0)).at(span),
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
