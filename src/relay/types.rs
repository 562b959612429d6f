//! Types with variables that stand for what is not known yet, and their unification.

use std::collections::{BTreeMap, BTreeSet};

use super::tree::{BaseType, Kind, RelayDim, Shape, TensorTypeExpr, TypeExpr, TypeKind};
use crate::grammar::{DataType, Name, Ndim, PrimExpr, StructInfo, TensorShape};
use crate::judge::with_stack;

/// A type.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Type {
    /// Not known yet.
    Var(u32),
    /// A type parameter of kind Type.
    Param(Name),
    Tensor(Base, ShapeTerm),
    Tuple(Vec<Type>),
    Function(Vec<Type>, Box<Type>),
}

/// The type of the elements of a tensor.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Base {
    Var(u32),
    Param(Name),
    Known(DataType),
}

/// The shape of a tensor.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum ShapeTerm {
    Var(u32),
    Param(Name),
    Known(Vec<RelayDim>),
}

/// A variable of any kind.
pub(crate) type Variable = (u8, u32);

/// What the variables stand for.
#[derive(Clone, Default, Debug)]
pub(super) struct Table {
    types: Vec<Option<Type>>,
    bases: Vec<Option<Base>>,
    dims: Vec<Option<ShapeTerm>>,
}

fn next<T>(slots: &mut Vec<Option<T>>) -> u32 {
    slots.push(None);
    u32::try_from(slots.len() - 1).unwrap_or(u32::MAX)
}

fn at<T>(slots: &[Option<T>], var: u32) -> Option<&T> {
    slots.get(var as usize).and_then(Option::as_ref)
}

fn bind<T>(slots: &mut [Option<T>], var: u32, to: T) {
    if let Some(slot) = slots.get_mut(var as usize) {
        *slot = Some(to);
    }
}

impl Type {
    pub(super) fn scalar(dtype: DataType) -> Type {
        Type::Tensor(Base::Known(dtype), ShapeTerm::Known(Vec::new()))
    }

    /// Every variable and every type parameter in it replaced.
    pub(super) fn map(&self, f: &mut dyn TypeRenaming) -> Type {
        with_stack(|| match self {
            Type::Var(v) => f.ty(*v),
            Type::Param(name) => f.ty_param(name),
            Type::Tensor(base, dims) => {
                let base = match base {
                    Base::Var(v) => f.base(*v),
                    Base::Param(name) => f.base_param(name),
                    Base::Known(dtype) => Base::Known(*dtype),
                };
                let dims = match dims {
                    ShapeTerm::Var(v) => f.dims(*v),
                    ShapeTerm::Param(name) => f.dims_param(name),
                    ShapeTerm::Known(dims) => ShapeTerm::Known(dims.clone()),
                };
                Type::Tensor(base, dims)
            }
            Type::Tuple(fields) => Type::Tuple(fields.iter().map(|field| field.map(f)).collect()),
            Type::Function(params, result) => {
                Type::Function(params.iter().map(|param| param.map(f)).collect(), Box::new(result.map(f)))
            }
        })
    }

    /// The variables in it.
    pub(super) fn variables(&self, found: &mut BTreeSet<Variable>) {
        with_stack(|| match self {
            Type::Var(v) => drop(found.insert((0, *v))),
            Type::Param(_) => {}
            Type::Tensor(base, dims) => {
                if let Base::Var(v) = base {
                    found.insert((1, *v));
                }
                if let ShapeTerm::Var(v) = dims {
                    found.insert((2, *v));
                }
            }
            Type::Tuple(fields) => fields.iter().for_each(|field| field.variables(found)),
            Type::Function(params, result) => {
                params.iter().for_each(|param| param.variables(found));
                result.variables(found);
            }
        });
    }

    /// The structural information of a value of a type without variables; `None` for any other, and for functions.
    pub(super) fn ground(&self) -> Option<StructInfo> {
        with_stack(|| {
            if let Type::Tensor(Base::Known(dtype), ShapeTerm::Known(dims)) = self {
                Some(tensor_info(*dtype, dims))
            } else if let Type::Tuple(fields) = self {
                Some(StructInfo::tuple(fields.iter().map(Type::ground).collect::<Option<Vec<_>>>()?))
            } else {
                None
            }
        })
    }

    /// The type that structural information of known rank says.
    pub(super) fn of_info(info: &StructInfo) -> Option<Type> {
        with_stack(|| match info {
            StructInfo::Tensor(tensor) => {
                let Ndim::Known(rank) = tensor.ndim else { return None };
                let dims = match &tensor.shape {
                    Some(TensorShape::Dims(dims)) => dims.iter().map(dim_of).collect(),
                    Some(TensorShape::Var(_) | TensorShape::DataflowVar(_) | TensorShape::Other(_)) | None => {
                        vec![RelayDim::Any; rank as usize]
                    }
                };
                Some(Type::Tensor(Base::Known(tensor.dtype), ShapeTerm::Known(dims)))
            }
            StructInfo::Tuple(fields) => Some(Type::Tuple(fields.iter().map(Type::of_info).collect::<Option<_>>()?)),
            StructInfo::Object | StructInfo::Shape(_) | StructInfo::Prim(_) | StructInfo::Func(_) => None,
        })
    }
}

fn dim_of(e: &PrimExpr) -> RelayDim {
    match e {
        PrimExpr::IntImm(size) => RelayDim::Known(*size),
        PrimExpr::Var(_) | PrimExpr::Binary(..) | PrimExpr::Not(_) | PrimExpr::Select(..) => RelayDim::Any,
    }
}

/// Relax has no dimension that stands for any: with one of them the whole shape is unknown (`RELAY.ANY`).
pub(super) fn tensor_info(dtype: DataType, dims: &[RelayDim]) -> StructInfo {
    let known = |dim: &RelayDim| match dim {
        RelayDim::Known(size) => Some(PrimExpr::IntImm(*size)),
        RelayDim::Any => None,
    };
    match dims.iter().map(known).collect::<Option<Vec<PrimExpr>>>() {
        Some(dims) => StructInfo::tensor(dims, dtype),
        None => StructInfo::tensor_ndim(i64::try_from(dims.len()).unwrap_or(-1), dtype),
    }
}

/// What variables and type parameters are replaced by.
pub(super) trait TypeRenaming {
    fn ty(&mut self, var: u32) -> Type;
    fn base(&mut self, var: u32) -> Base;
    fn dims(&mut self, var: u32) -> ShapeTerm;
    fn ty_param(&mut self, name: &Name) -> Type {
        Type::Param(name.clone())
    }
    fn base_param(&mut self, name: &Name) -> Base {
        Base::Param(name.clone())
    }
    fn dims_param(&mut self, name: &Name) -> ShapeTerm {
        ShapeTerm::Param(name.clone())
    }
}

/// Variables by what they stand for.
struct Resolve<'t>(&'t Table);

impl TypeRenaming for Resolve<'_> {
    fn ty(&mut self, var: u32) -> Type {
        at(&self.0.types, var).map_or(Type::Var(var), |ty| ty.map(self))
    }
    fn base(&mut self, var: u32) -> Base {
        match at(&self.0.bases, var) {
            Some(Base::Var(next)) => self.base(*next),
            Some(known) => known.clone(),
            None => Base::Var(var),
        }
    }
    fn dims(&mut self, var: u32) -> ShapeTerm {
        match at(&self.0.dims, var) {
            Some(ShapeTerm::Var(next)) => self.dims(*next),
            Some(known) => known.clone(),
            None => ShapeTerm::Var(var),
        }
    }
}

/// New variables for the quantified ones and for the declared parameters of a scheme.
pub(super) struct SchemeInstance<'t, 's> {
    pub(super) table: &'t mut Table,
    pub(super) quantified: &'s BTreeSet<Variable>,
    pub(super) params: &'s BTreeMap<Name, Kind>,
    types: BTreeMap<Variable, u32>,
    named: BTreeMap<(u8, Name), u32>,
}

impl<'t, 's> SchemeInstance<'t, 's> {
    pub(super) fn new(
        table: &'t mut Table,
        quantified: &'s BTreeSet<Variable>,
        params: &'s BTreeMap<Name, Kind>,
    ) -> SchemeInstance<'t, 's> {
        SchemeInstance { table, quantified, params, types: BTreeMap::new(), named: BTreeMap::new() }
    }

    fn new_for(&mut self, variable: Variable) -> u32 {
        if !self.quantified.contains(&variable) {
            return variable.1;
        }
        let table = &mut self.table;
        *self.types.entry(variable).or_insert_with(|| table.fresh(variable.0))
    }

    fn named(&mut self, sort: u8, name: &Name) -> Option<u32> {
        if !self.params.contains_key(name) {
            return None;
        }
        let table = &mut self.table;
        Some(*self.named.entry((sort, name.clone())).or_insert_with(|| table.fresh(sort)))
    }
}

impl TypeRenaming for SchemeInstance<'_, '_> {
    fn ty(&mut self, var: u32) -> Type {
        Type::Var(self.new_for((0, var)))
    }
    fn base(&mut self, var: u32) -> Base {
        Base::Var(self.new_for((1, var)))
    }
    fn dims(&mut self, var: u32) -> ShapeTerm {
        ShapeTerm::Var(self.new_for((2, var)))
    }
    fn ty_param(&mut self, name: &Name) -> Type {
        self.named(0, name).map_or_else(|| Type::Param(name.clone()), Type::Var)
    }
    fn base_param(&mut self, name: &Name) -> Base {
        self.named(1, name).map_or_else(|| Base::Param(name.clone()), Base::Var)
    }
    fn dims_param(&mut self, name: &Name) -> ShapeTerm {
        self.named(2, name).map_or_else(|| ShapeTerm::Param(name.clone()), ShapeTerm::Var)
    }
}

impl Table {
    /// A new variable of a sort: 0 for types, 1 for base types, 2 for shapes.
    fn fresh(&mut self, sort: u8) -> u32 {
        match sort {
            0 => next(&mut self.types),
            1 => next(&mut self.bases),
            _ => next(&mut self.dims),
        }
    }

    pub(super) fn var(&mut self) -> Type {
        Type::Var(self.fresh(0))
    }

    /// A type with everything that is known by now.
    pub(super) fn resolve(&self, ty: &Type) -> Type {
        ty.map(&mut Resolve(self))
    }

    /// Makes two types one; false if they are not.
    pub(super) fn unify(&mut self, a: &Type, b: &Type) -> bool {
        let (a, b) = (self.resolve(a), self.resolve(b));
        self.unify_resolved(&a, &b)
    }

    fn unify_resolved(&mut self, a: &Type, b: &Type) -> bool {
        with_stack(|| match (a, b) {
            (Type::Var(x), Type::Var(y)) if x == y => true,
            (Type::Var(x), other) | (other, Type::Var(x)) => {
                let mut inside = BTreeSet::new();
                other.variables(&mut inside);
                let endless = inside.contains(&(0, *x));
                if !endless {
                    bind(&mut self.types, *x, other.clone());
                }
                !endless
            }
            (Type::Param(x), Type::Param(y)) => x == y,
            (Type::Tensor(b1, d1), Type::Tensor(b2, d2)) => {
                let (bases, dims) = (self.unify_bases(b1, b2), self.unify_dims(d1, d2));
                bases && dims
            }
            (Type::Tuple(x), Type::Tuple(y)) => x.len() == y.len() && x.iter().zip(y).all(|(x, y)| self.unify(x, y)),
            (Type::Function(p1, r1), Type::Function(p2, r2)) => {
                p1.len() == p2.len() && p1.iter().zip(p2).all(|(x, y)| self.unify(x, y)) && self.unify(r1, r2)
            }
            (Type::Param(_) | Type::Tensor(..) | Type::Tuple(_) | Type::Function(..), _) => false,
        })
    }

    fn unify_bases(&mut self, a: &Base, b: &Base) -> bool {
        match (a, b) {
            (Base::Var(x), Base::Var(y)) if x == y => true,
            (Base::Var(x), other) | (other, Base::Var(x)) => {
                bind(&mut self.bases, *x, other.clone());
                true
            }
            (Base::Param(x), Base::Param(y)) => x == y,
            (Base::Known(x), Base::Known(y)) => x == y || x.is_void() || y.is_void(),
            (Base::Param(_) | Base::Known(_), _) => false,
        }
    }

    /// RELAY.ANY: a dimension that is not known is no contradiction to one that is.
    fn unify_dims(&mut self, a: &ShapeTerm, b: &ShapeTerm) -> bool {
        match (a, b) {
            (ShapeTerm::Var(x), ShapeTerm::Var(y)) if x == y => true,
            (ShapeTerm::Var(x), other) | (other, ShapeTerm::Var(x)) => {
                bind(&mut self.dims, *x, other.clone());
                true
            }
            (ShapeTerm::Param(x), ShapeTerm::Param(y)) => x == y,
            (ShapeTerm::Known(x), ShapeTerm::Known(y)) => {
                x.len() == y.len() && x.iter().zip(y).all(|(x, y)| x == y || [x, y].contains(&&RelayDim::Any))
            }
            (ShapeTerm::Param(_) | ShapeTerm::Known(_), _) => false,
        }
    }
}

/// What is known of a value that is one of either type: a dimension that only one of them knows is not known.
pub(super) fn join(a: &Type, b: &Type) -> Type {
    with_stack(|| match (a, b) {
        (Type::Tensor(base, ShapeTerm::Known(x)), Type::Tensor(_, ShapeTerm::Known(y))) if x.len() == y.len() => {
            let dims = x.iter().zip(y).map(|(x, y)| if x == y { *x } else { RelayDim::Any });
            Type::Tensor(base.clone(), ShapeTerm::Known(dims.collect()))
        }
        (Type::Tuple(x), Type::Tuple(y)) if x.len() == y.len() => {
            Type::Tuple(x.iter().zip(y).map(|(x, y)| join(x, y)).collect())
        }
        (Type::Var(_) | Type::Param(_) | Type::Tensor(..) | Type::Tuple(_) | Type::Function(..), _) => a.clone(),
    })
}

/// Names for the variables of a scheme, so that its type can be written.
#[derive(Default)]
pub(super) struct VariableNames {
    taken: BTreeSet<Name>,
    given: BTreeMap<Variable, Name>,
    count: [usize; 3],
}

impl VariableNames {
    pub(super) fn avoiding(taken: impl IntoIterator<Item = Name>) -> VariableNames {
        VariableNames { taken: taken.into_iter().collect(), ..VariableNames::default() }
    }

    fn of(&mut self, variable: Variable) -> Name {
        if let Some(name) = self.given.get(&variable) {
            return name.clone();
        }
        let sort = usize::from(variable.0).min(2);
        loop {
            let name: Name = format!("{}{}", ["t", "b", "s"][sort], self.count[sort]).as_str().into();
            self.count[sort] += 1;
            if self.taken.insert(name.clone()) {
                self.given.insert(variable, name.clone());
                return name;
            }
        }
    }

    /// The type parameters for the variables that were written, in the order of their names.
    pub(super) fn params(&self) -> Vec<(Name, Kind)> {
        let kind = |sort: u8| match sort {
            0 => Kind::Type,
            1 => Kind::BaseType,
            _ => Kind::Shape,
        };
        let mut params: Vec<(Name, Kind)> =
            self.given.iter().map(|((sort, _), name)| (name.clone(), kind(*sort))).collect();
        params.sort_by(|a, b| a.0.cmp(&b.0));
        params
    }

    /// A type as it is written.
    pub(super) fn write(&mut self, ty: &Type) -> TypeExpr {
        TypeExpr::new(with_stack(|| match ty {
            Type::Var(v) => TypeKind::Param(self.of((0, *v))),
            Type::Param(name) => TypeKind::Param(name.clone()),
            Type::Tensor(base, dims) => {
                let base = match base {
                    Base::Var(v) => BaseType::Param(self.of((1, *v))),
                    Base::Param(name) => BaseType::Param(name.clone()),
                    Base::Known(dtype) => BaseType::Known(*dtype),
                };
                let shape = match dims {
                    ShapeTerm::Var(v) => Shape::Param(self.of((2, *v))),
                    ShapeTerm::Param(name) => Shape::Param(name.clone()),
                    ShapeTerm::Known(dims) => Shape::Dims(dims.clone()),
                };
                TypeKind::Tensor(TensorTypeExpr { base, shape })
            }
            Type::Tuple(fields) => TypeKind::Tuple(fields.iter().map(|field| self.write(field)).collect()),
            Type::Function(params, result) => {
                let params = params.iter().map(|param| self.write(param)).collect();
                TypeKind::Function(params, Box::new(self.write(result)))
            }
        }))
    }
}
