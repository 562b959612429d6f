//! Renamed forms: bound shape variables get other names and numbers, and everything else stays.

use std::collections::BTreeSet;
use std::sync::Arc;

use relax_spec::book::Edition;
use relax_spec::grammar::{
    FuncStructInfo, PrimExpr, PrimStructInfo, ShapeStructInfo, ShapeVar, StructInfo, TensorShape, TensorStructInfo, Var,
};
use relax_spec::struct_info::introduced_shape_vars;

/// The way in which bound variables are named.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Manner {
    /// All different, and different from all existing variables.
    Fresh,
    /// Like a free variable or one bound elsewhere, wherever that is allowed.
    Shared,
    /// Each like another one of the same signature.
    Exchanged,
    /// All with the same hint, and different numbers.
    OneHint,
    /// The same names with other numbers.
    Renumbered,
}

impl Manner {
    pub const ALL: [Manner; 5] =
        [Manner::Fresh, Manner::Shared, Manner::Exchanged, Manner::OneHint, Manner::Renumbered];
}

/// Renames one input in one way.
pub struct Spelling {
    manner: Manner,
    /// Names with a meaning outside of the input.
    pub reserved: BTreeSet<ShapeVar>,
    /// Names that may be shared with other variables.
    pool: Vec<ShapeVar>,
    /// The variables in scope, with their new names.
    bound: Vec<(ShapeVar, ShapeVar)>,
    /// Variables of the enclosing function types that no parameter has introduced yet.
    pending: Vec<(ShapeVar, ShapeVar)>,
    made: u32,
    functions: u32,
    /// Whether the parameters of a signature bind in any order, so that a function type also sees those after it.
    any_order: bool,
    /// The new names of Relax variables.
    vars: Vec<(Var, Var)>,
}

impl Spelling {
    pub fn new(manner: Manner, reserved: BTreeSet<ShapeVar>, pool: &[ShapeVar]) -> Spelling {
        Spelling {
            manner,
            reserved,
            pool: pool.to_vec(),
            bound: Vec::new(),
            pending: Vec::new(),
            made: 0,
            functions: 0,
            any_order: false,
            vars: Vec::new(),
        }
    }

    /// The same for the binding order of that edition.
    pub fn of(self, edition: Edition) -> Spelling {
        Spelling { any_order: edition >= Edition::E2023_12, ..self }
    }

    /// Begins a scope.
    pub fn mark(&self) -> usize {
        self.bound.len()
    }

    /// Ends a scope.
    pub fn leave(&mut self, mark: usize) {
        self.bound.truncate(mark);
    }

    /// Starts another global function. Its variables are its own, and may have names of the function before.
    pub fn next_function(&mut self) {
        self.vars.clear();
        self.functions += 1;
    }

    fn is_bound(&self, var: &ShapeVar) -> bool {
        self.bound.iter().any(|(known, _)| known == var)
    }

    /// Brings the variables into scope that are not there yet. `free` are the names with a meaning inside.
    pub fn bind(&mut self, vars: BTreeSet<ShapeVar>, free: &BTreeSet<ShapeVar>) {
        let names = self.names(vars, free);
        self.bound.extend(names);
    }

    /// Names for the variables that are not in scope.
    fn names(&mut self, vars: BTreeSet<ShapeVar>, free: &BTreeSet<ShapeVar>) -> Vec<(ShapeVar, ShapeVar)> {
        let new: Vec<ShapeVar> =
            vars.into_iter().filter(|var| !self.is_bound(var) && !self.reserved.contains(var)).collect();
        let mut names = Vec::new();
        for (i, var) in new.iter().enumerate() {
            let other = &new[(i + 1) % new.len()];
            names.push((var.clone(), self.name(var, other, free, &names)));
        }
        names
    }

    fn name(
        &mut self,
        var: &ShapeVar,
        other: &ShapeVar,
        free: &BTreeSet<ShapeVar>,
        chosen: &[(ShapeVar, ShapeVar)],
    ) -> ShapeVar {
        self.made += 1;
        let id = self.made;
        let wanted = match self.manner {
            Manner::Fresh => Vec::new(),
            Manner::Shared => self.pool.clone(),
            Manner::Exchanged => vec![other.clone()],
            Manner::OneHint => vec![ShapeVar::numbered("n".into(), 100 + id)],
            Manner::Renumbered => vec![ShapeVar::numbered(var.name.clone(), 100_000 - id)],
        };
        let meant = self.pending.iter().filter(|(var, _)| free.contains(var));
        let taken = |name: &ShapeVar| {
            let mut known = self.bound.iter().chain(chosen).chain(meant.clone());
            free.contains(name) || self.reserved.contains(name) || known.any(|(_, known)| known == name)
        };
        let name = wanted.into_iter().find(|name| !taken(name));
        name.unwrap_or_else(|| ShapeVar::new(&format!("z{id}")))
    }

    pub fn shape_var(&self, var: &ShapeVar) -> ShapeVar {
        let known = self.pending.iter().chain(&self.bound).rev().find(|(known, _)| known == var);
        known.map_or_else(|| var.clone(), |(_, name)| name.clone())
    }

    pub fn var(&mut self, var: &Var) -> Var {
        if let Some((_, name)) = self.vars.iter().find(|(known, _)| known == var) {
            return name.clone();
        }
        let id = self.vars.len() as u32 + 1;
        self.made += 1;
        let name = match self.manner {
            Manner::Fresh => Var::new(&format!("w{}", self.made)),
            // Two functions share no variable, even if the names are the same (WF.2.ONCE).
            Manner::Shared => Var::numbered(format!("x{id}").into(), self.functions),
            Manner::Exchanged => Var::numbered(var.name.clone(), var.id),
            Manner::OneHint => Var::numbered("x".into(), self.made),
            Manner::Renumbered => Var::numbered(var.name.clone(), 100_000 - self.made),
        };
        self.vars.push((var.clone(), name.clone()));
        name
    }

    pub fn dim(&self, dim: &PrimExpr) -> PrimExpr {
        let again = |e: &PrimExpr| Arc::new(self.dim(e));
        match dim {
            PrimExpr::Var(var) => PrimExpr::Var(self.shape_var(var)),
            PrimExpr::IntImm(i) => PrimExpr::IntImm(*i),
            PrimExpr::Binary(op, a, b) => PrimExpr::Binary(*op, again(a), again(b)),
            PrimExpr::Not(a) => PrimExpr::Not(again(a)),
            PrimExpr::Select(c, t, f) => PrimExpr::Select(again(c), again(t), again(f)),
        }
    }

    pub fn dims(&self, dims: &[PrimExpr]) -> Arc<[PrimExpr]> {
        dims.iter().map(|dim| self.dim(dim)).collect()
    }

    pub fn info(&mut self, s: &StructInfo) -> StructInfo {
        match s {
            StructInfo::Object => StructInfo::Object,
            StructInfo::Tensor(t) => {
                let shape = t.shape.as_ref().map(|shape| match shape {
                    TensorShape::Dims(dims) => TensorShape::Dims(self.dims(dims)),
                    TensorShape::Var(var) => TensorShape::Var(self.var(var).into()),
                    TensorShape::DataflowVar(var) => TensorShape::DataflowVar(self.var(var).into()),
                    TensorShape::Other(e) => TensorShape::Other(e.clone()),
                });
                StructInfo::Tensor(TensorStructInfo { shape, ..t.clone() })
            }
            StructInfo::Shape(s) => {
                let values = s.values.as_ref().map(|values| self.dims(values));
                StructInfo::Shape(ShapeStructInfo { values, ..s.clone() })
            }
            StructInfo::Prim(p) => {
                let value = p.value.as_ref().map(|value| self.dim(value));
                StructInfo::Prim(PrimStructInfo { value, ..p.clone() })
            }
            StructInfo::Tuple(fields) => StructInfo::Tuple(fields.iter().map(|field| self.info(field)).collect()),
            StructInfo::Func(func) => StructInfo::Func(Arc::new(self.func(func))),
        }
    }

    /// A function type binds the variables that its parameters introduce, from there on. An earlier function type may
    /// use the same name for a variable of its own.
    fn func(&mut self, func: &FuncStructInfo) -> FuncStructInfo {
        let (mark, around) = (self.mark(), self.pending.len());
        let mut free = BTreeSet::new();
        free_in_func(func, &mut Vec::new(), &mut free);
        free.retain(|var| !self.is_bound(var));
        let names = self.names(own(func), &free);
        if self.any_order { &mut self.bound } else { &mut self.pending }.extend(names);
        let params = func
            .params
            .as_ref()
            .map(|params| params.iter().map(|param| self.param(param, around)).collect::<Arc<[_]>>());
        let ret = self.info(&func.ret);
        self.leave(mark);
        self.pending.truncate(around);
        FuncStructInfo { params, ret, ..func.clone() }
    }

    /// A part of a parameter of a function, whose pending variables start at `own`.
    fn param(&mut self, s: &StructInfo, own: usize) -> StructInfo {
        match s {
            StructInfo::Tuple(fields) => StructInfo::Tuple(fields.iter().map(|field| self.param(field, own)).collect()),
            StructInfo::Func(func) => StructInfo::Func(Arc::new(self.func(func))),
            StructInfo::Object | StructInfo::Tensor(_) | StructInfo::Shape(_) | StructInfo::Prim(_) => {
                let introduced = introduced_shape_vars(s);
                let met = self.pending[own..].iter().filter(|(var, _)| introduced.contains(var) && !self.is_bound(var));
                let met: Vec<(ShapeVar, ShapeVar)> = met.cloned().collect();
                self.bound.extend(met);
                self.info(s)
            }
        }
    }
}

fn own(func: &FuncStructInfo) -> BTreeSet<ShapeVar> {
    func.params.iter().flat_map(|params| params.iter()).flat_map(introduced_shape_vars).collect()
}

/// The free shape variables of an info.
pub fn free_in(s: &StructInfo) -> BTreeSet<ShapeVar> {
    let mut free = BTreeSet::new();
    collect(s, &mut Vec::new(), &mut free);
    free
}

fn free_in_func(func: &FuncStructInfo, bound: &mut Vec<BTreeSet<ShapeVar>>, free: &mut BTreeSet<ShapeVar>) {
    bound.push(own(func));
    func.params.iter().flat_map(|params| params.iter()).chain([&func.ret]).for_each(|part| collect(part, bound, free));
    bound.pop();
}

fn collect(s: &StructInfo, bound: &mut Vec<BTreeSet<ShapeVar>>, free: &mut BTreeSet<ShapeVar>) {
    let mut dims = |dims: &[PrimExpr]| {
        for dim in dims {
            dim.for_each_var(|var| {
                if !bound.iter().any(|known| known.contains(var)) {
                    free.insert(var.clone());
                }
            });
        }
    };
    match s {
        StructInfo::Object => {}
        StructInfo::Tensor(t) => dims(t.shape.as_ref().and_then(|shape| shape.as_dims()).map_or(&[], |dims| &dims[..])),
        StructInfo::Shape(s) => dims(s.values.as_deref().unwrap_or_default()),
        StructInfo::Prim(p) => dims(p.value.as_slice()),
        StructInfo::Tuple(fields) => fields.iter().for_each(|field| collect(field, bound, free)),
        StructInfo::Func(func) => free_in_func(func, bound, free),
    }
}
