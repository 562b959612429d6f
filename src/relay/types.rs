//! Types with variables for unknown parts, and their unification.
//!
//! A type such as a pair of pairs of pairs may have many more parts than the memory it occupies, because parts are
//! shared. Every traversal of a type visits each shared part once.

use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;
use std::sync::Arc;

use rustc_hash::{FxHashMap, FxHashSet};

use super::tree::{BaseType, Kind, RelayDim, Shape, TensorTypeExpr, TypeExpr, TypeKind};
use crate::grammar::{DataType, Name, Ndim, PrimExpr, StructInfo, TensorShape};
use crate::judge::{Once, place, with_stack};

/// A type.
#[derive(Clone, Debug)]
pub(crate) enum Type {
    /// An unknown type.
    Var(u32),
    /// A type parameter of kind Type.
    Param(Name),
    Tensor(Base, ShapeTerm),
    Tuple(Arc<[Type]>),
    /// The types of its parameters, followed by that of its result.
    Function(Arc<[Type]>),
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

/// The meaning of the variables.
#[derive(Clone, Default, Debug)]
pub(super) struct Table {
    types: Vec<Option<Type>>,
    bases: Vec<Option<Base>>,
    dims: Vec<Option<ShapeTerm>>,
    work: Rc<Work>,
}

/// Counts the visited parts of types. A definition that applies another one twice, which applies another one twice, and
/// so on, can have a type that no computer can store.
#[derive(Clone, Default, Debug)]
pub(super) struct Work {
    parts: Cell<u64>,
    depth: Cell<u32>,
    is_too_much: Cell<bool>,
}

/// The maximum number of visited parts for all types of a program. A shared part counts once per traversal.
const MOST_PARTS: u64 = 1 << 23;

/// The maximum nesting of types.
const DEEPEST: u32 = 10_000;

impl Work {
    /// Runs the body one level deeper, unless a limit is exceeded.
    fn within<T>(&self, body: impl FnOnce() -> T) -> Option<T> {
        self.parts.set(self.parts.get() + 1);
        self.is_too_much.set(self.is_too_much.get() || self.parts.get() > MOST_PARTS || self.depth.get() >= DEEPEST);
        if self.is_too_much.get() {
            return None;
        }
        self.depth.set(self.depth.get() + 1);
        let given = with_stack(body);
        self.depth.set(self.depth.get() - 1);
        Some(given)
    }
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

    pub(super) fn tuple(fields: impl IntoIterator<Item = Type>) -> Type {
        Type::Tuple(fields.into_iter().collect())
    }

    pub(super) fn function(params: impl IntoIterator<Item = Type>, result: Type) -> Type {
        Type::Function(params.into_iter().chain([result]).collect())
    }

    /// The types of the parameters and that of the result, if it is a function.
    pub(super) fn signature(&self) -> Option<(&Type, &[Type])> {
        if let Type::Function(parts) = self { parts.split_last() } else { None }
    }

    /// The types that it is composed of.
    fn parts(&self) -> Option<&Arc<[Type]>> {
        match self {
            Type::Tuple(parts) | Type::Function(parts) => Some(parts),
            Type::Var(_) | Type::Param(_) | Type::Tensor(..) => None,
        }
    }

    /// Whether both are visibly equal. Composed types must share their parts.
    fn is(&self, other: &Type) -> bool {
        match (self, other) {
            (Type::Var(a), Type::Var(b)) => a == b,
            (Type::Param(a), Type::Param(b)) => a == b,
            (Type::Tensor(b1, d1), Type::Tensor(b2, d2)) => b1 == b2 && d1 == d2,
            (Type::Tuple(a), Type::Tuple(b)) | (Type::Function(a), Type::Function(b)) => Arc::ptr_eq(a, b),
            (Type::Var(_) | Type::Param(_) | Type::Tensor(..) | Type::Tuple(_) | Type::Function(_), _) => false,
        }
    }

    /// The type with every variable and type parameter replaced. A type without any stays shared.
    fn map(&self, f: &mut dyn TypeRenaming, known: &Once<Type, Type>) -> Type {
        match self {
            Type::Var(v) => f.ty(*v, known),
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
            Type::Tuple(fields) => known.of(fields, || self.made_of(mapped(fields, f, known))),
            Type::Function(parts) => known.of(parts, || self.made_of(mapped(parts, f, known))),
        }
    }

    /// The same kind of type with these parts; the type itself if the parts are the same.
    fn made_of(&self, parts: Vec<Type>) -> Type {
        match self {
            Type::Tuple(old) | Type::Function(old) if old.iter().zip(&parts).all(|(old, new)| old.is(new)) => {
                self.clone()
            }
            Type::Tuple(_) => Type::Tuple(parts.into()),
            Type::Function(_) => Type::Function(parts.into()),
            Type::Var(_) | Type::Param(_) | Type::Tensor(..) => self.clone(),
        }
    }

    /// The variables in it.
    pub(super) fn variables(&self, found: &mut BTreeSet<Variable>) {
        self.visit(&mut FxHashSet::default(), &mut |ty| match ty {
            Type::Var(v) => drop(found.insert((0, *v))),
            Type::Tensor(base, dims) => {
                if let Base::Var(v) = base {
                    found.insert((1, *v));
                }
                if let ShapeTerm::Var(v) = dims {
                    found.insert((2, *v));
                }
            }
            Type::Param(_) | Type::Tuple(_) | Type::Function(_) => {}
        });
    }

    /// Visits each part once.
    fn visit(&self, seen: &mut FxHashSet<usize>, f: &mut dyn FnMut(&Type)) {
        f(self);
        if let Some(parts) = self.parts()
            && seen.insert(place(parts))
        {
            with_stack(|| parts.iter().for_each(|part| part.visit(seen, f)));
        }
    }

    /// The structural information of a value of a type without variables. `None` for any other type, and for functions.
    pub(super) fn ground(&self) -> Option<StructInfo> {
        self.ground_once(&Once::default())
    }

    fn ground_once(&self, known: &Once<Type, Option<StructInfo>>) -> Option<StructInfo> {
        if let Type::Tensor(Base::Known(dtype), ShapeTerm::Known(dims)) = self {
            Some(tensor_info(*dtype, dims))
        } else if let Type::Tuple(fields) = self {
            known.of(fields, || {
                let fields: Option<Arc<[StructInfo]>> =
                    with_stack(|| fields.iter().map(|field| field.ground_once(known)).collect());
                fields.map(StructInfo::Tuple)
            })
        } else {
            None
        }
    }

    /// The type for structural information of known rank.
    pub(super) fn of_info(info: &StructInfo) -> Option<Type> {
        Type::of_info_once(info, &Once::default())
    }

    fn of_info_once(info: &StructInfo, known: &Once<StructInfo, Option<Type>>) -> Option<Type> {
        match info {
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
            StructInfo::Tuple(fields) => known.of(fields, || {
                let fields: Option<Arc<[Type]>> =
                    with_stack(|| fields.iter().map(|field| Type::of_info_once(field, known)).collect());
                fields.map(Type::Tuple)
            }),
            StructInfo::Object | StructInfo::Shape(_) | StructInfo::Prim(_) | StructInfo::Func(_) => None,
        }
    }

    /// The number of its parts. Shared parts count once.
    fn size(&self) -> usize {
        let mut size = 0;
        self.visit(&mut FxHashSet::default(), &mut |_| size += 1);
        size
    }

    /// The number of its parts. Shared parts count each time.
    fn width(&self, known: &mut FxHashMap<usize, usize>) -> usize {
        let Some(parts) = self.parts() else { return 1 };
        if let Some(width) = known.get(&place(parts)) {
            return *width;
        }
        let width = with_stack(|| parts.iter().fold(1, |sum: usize, part| sum.saturating_add(part.width(known))));
        known.insert(place(parts), width);
        width
    }
}

fn mapped(parts: &[Type], f: &mut dyn TypeRenaming, known: &Once<Type, Type>) -> Vec<Type> {
    let work = f.work().clone();
    work.within(|| parts.iter().map(|part| part.map(f, known)).collect()).unwrap_or_else(|| parts.to_vec())
}

fn dim_of(e: &PrimExpr) -> RelayDim {
    match e {
        PrimExpr::IntImm(size) => RelayDim::Known(*size),
        PrimExpr::Var(_) | PrimExpr::Binary(..) | PrimExpr::Not(_) | PrimExpr::Select(..) => RelayDim::Any,
    }
}

/// RELAY.ANY: Relax has no dimension that stands for any number, so with one of them the whole shape is unknown.
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

/// A replacement of variables and type parameters.
pub(super) trait TypeRenaming {
    fn work(&self) -> &Rc<Work>;
    /// The replacement of a variable; `known` holds the types replaced so far.
    fn ty(&mut self, var: u32, known: &Once<Type, Type>) -> Type;
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

/// Replaces variables by their meaning.
struct Resolve<'t> {
    table: &'t Table,
    known: FxHashMap<u32, Type>,
}

impl TypeRenaming for Resolve<'_> {
    fn work(&self) -> &Rc<Work> {
        &self.table.work
    }
    fn ty(&mut self, var: u32, known: &Once<Type, Type>) -> Type {
        if let Some(ty) = self.known.get(&var) {
            return ty.clone();
        }
        let table = self.table;
        let Some(bound) = at(&table.types, var) else { return Type::Var(var) };
        let ty = table.work.within(|| bound.map(self, known)).unwrap_or(Type::Var(var));
        self.known.insert(var, ty.clone());
        ty
    }
    fn base(&mut self, var: u32) -> Base {
        self.table.known_base(&Base::Var(var))
    }
    fn dims(&mut self, var: u32) -> ShapeTerm {
        self.table.known_dims(&ShapeTerm::Var(var))
    }
}

/// Gives new variables to the quantified ones and the declared parameters of a scheme.
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

    /// The type with all of them replaced.
    pub(super) fn of(&mut self, ty: &Type) -> Type {
        ty.map(self, &Once::default())
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
    fn work(&self) -> &Rc<Work> {
        &self.table.work
    }
    fn ty(&mut self, var: u32, _: &Once<Type, Type>) -> Type {
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

    /// The type with everything replaced that is known by now.
    pub(super) fn resolve(&self, ty: &Type) -> Type {
        ty.map(&mut Resolve { table: self, known: FxHashMap::default() }, &Once::default())
    }

    /// Whether the types of the program have too many parts, so that inference has given up.
    pub(super) fn is_too_much(&self) -> bool {
        self.work.is_too_much.get()
    }

    /// The type with its root replaced, as far as it is known.
    fn known(&self, ty: &Type) -> Type {
        let mut ty = ty;
        while let Type::Var(v) = ty
            && let Some(known) = at(&self.types, *v)
        {
            ty = known;
        }
        ty.clone()
    }

    fn known_base(&self, base: &Base) -> Base {
        let mut base = base;
        while let Base::Var(v) = base
            && let Some(known) = at(&self.bases, *v)
        {
            base = known;
        }
        base.clone()
    }

    fn known_dims(&self, dims: &ShapeTerm) -> ShapeTerm {
        let mut dims = dims;
        while let ShapeTerm::Var(v) = dims
            && let Some(known) = at(&self.dims, *v)
        {
            dims = known;
        }
        dims.clone()
    }

    /// Whether a variable occurs in a type.
    fn occurs(&self, var: u32, ty: &Type) -> bool {
        let (mut found, mut vars, mut seen) = (false, FxHashSet::default(), FxHashSet::default());
        let mut todo = vec![ty.clone()];
        while let Some(ty) = todo.pop() {
            ty.visit(&mut seen, &mut |part| {
                if let Type::Var(v) = part
                    && vars.insert(*v)
                {
                    found |= *v == var;
                    todo.extend(at(&self.types, *v).cloned());
                }
            });
        }
        found
    }

    /// Makes two types equal; false if that is impossible.
    pub(super) fn unify(&mut self, a: &Type, b: &Type) -> bool {
        self.unify_once(a, b, &Once::default())
    }

    /// The same, where `known` holds the pairs unified so far.
    fn unify_once(&mut self, a: &Type, b: &Type, known: &Once<Type, bool>) -> bool {
        let (a, b) = (self.known(a), self.known(b));
        match (&a, &b) {
            (Type::Var(x), Type::Var(y)) if x == y => true,
            (Type::Var(x), other) | (other, Type::Var(x)) => {
                let endless = self.occurs(*x, other);
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
            (Type::Tuple(x), Type::Tuple(y)) | (Type::Function(x), Type::Function(y)) => {
                Arc::ptr_eq(x, y) || known.of_both(x, y, || self.unify_all(x, y, known))
            }
            (Type::Param(_) | Type::Tensor(..) | Type::Tuple(_) | Type::Function(_), _) => false,
        }
    }

    fn unify_all(&mut self, a: &[Type], b: &[Type], known: &Once<Type, bool>) -> bool {
        let work = self.work.clone();
        let all = || a.iter().zip(b).all(|(a, b)| self.unify_once(a, b, known));
        // A type that is too large is not an error of the program.
        a.len() == b.len() && work.within(all).unwrap_or(true)
    }

    fn unify_bases(&mut self, a: &Base, b: &Base) -> bool {
        match (self.known_base(a), self.known_base(b)) {
            (Base::Var(x), Base::Var(y)) if x == y => true,
            (Base::Var(x), other) | (other, Base::Var(x)) => {
                bind(&mut self.bases, x, other);
                true
            }
            (Base::Param(x), Base::Param(y)) => x == y,
            (Base::Known(x), Base::Known(y)) => x == y || x.is_void() || y.is_void(),
            (Base::Param(_) | Base::Known(_), _) => false,
        }
    }

    /// RELAY.ANY: an unknown dimension does not contradict a known one.
    fn unify_dims(&mut self, a: &ShapeTerm, b: &ShapeTerm) -> bool {
        match (self.known_dims(a), self.known_dims(b)) {
            (ShapeTerm::Var(x), ShapeTerm::Var(y)) if x == y => true,
            (ShapeTerm::Var(x), other) | (other, ShapeTerm::Var(x)) => {
                bind(&mut self.dims, x, other);
                true
            }
            (ShapeTerm::Param(x), ShapeTerm::Param(y)) => x == y,
            (ShapeTerm::Known(x), ShapeTerm::Known(y)) => {
                x.len() == y.len() && x.iter().zip(&y).all(|(x, y)| x == y || [x, y].contains(&&RelayDim::Any))
            }
            (ShapeTerm::Param(_) | ShapeTerm::Known(_), _) => false,
        }
    }
}

/// The common type of a value that has one of two types. A dimension that only one of them knows is unknown.
pub(super) fn join(a: &Type, b: &Type) -> Type {
    join_once(a, b, &Once::default())
}

fn join_once(a: &Type, b: &Type, known: &Once<Type, Type>) -> Type {
    match (a, b) {
        (Type::Tensor(base, ShapeTerm::Known(x)), Type::Tensor(_, ShapeTerm::Known(y))) if x.len() == y.len() => {
            let dims = x.iter().zip(y).map(|(x, y)| if x == y { *x } else { RelayDim::Any });
            Type::Tensor(base.clone(), ShapeTerm::Known(dims.collect()))
        }
        (Type::Tuple(x), Type::Tuple(y)) if x.len() == y.len() && !Arc::ptr_eq(x, y) => known.of_both(x, y, || {
            with_stack(|| a.made_of(x.iter().zip(y.iter()).map(|(x, y)| join_once(x, y, known)).collect()))
        }),
        (Type::Var(_) | Type::Param(_) | Type::Tensor(..) | Type::Tuple(_) | Type::Function(_), _) => a.clone(),
    }
}

/// The maximum number of parts of types that are written more than once in a program.
const MOST_REPEATED: usize = 1 << 14;

/// Names for the variables of a scheme, so that its type can be written.
#[derive(Default)]
pub(super) struct VariableNames {
    taken: BTreeSet<Name>,
    given: BTreeMap<Variable, Name>,
    count: [usize; 3],
    /// The number of parts written more than once.
    repeated: usize,
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

    /// The type parameters for the written variables, in the order of their names.
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

    /// The same names, with the count of repeated parts continued from others.
    pub(super) fn after(self, others: &VariableNames) -> VariableNames {
        VariableNames { repeated: others.repeated, ..self }
    }

    /// Whether the types were too repetitive, so that a placeholder was written.
    pub(super) fn repeat_themselves(&self) -> bool {
        self.repeated > MOST_REPEATED
    }

    /// The written form of a type.
    pub(super) fn write(&mut self, ty: &Type) -> TypeExpr {
        let width = ty.width(&mut FxHashMap::default());
        self.repeated = self.repeated.saturating_add(width.saturating_sub(ty.size()));
        match self.repeat_themselves() {
            true => TypeExpr::new(TypeKind::Tuple(Vec::new())),
            false => self.written(ty),
        }
    }

    fn written(&mut self, ty: &Type) -> TypeExpr {
        TypeExpr::new(match ty {
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
            Type::Tuple(fields) => TypeKind::Tuple(self.all_written(fields)),
            Type::Function(parts) => {
                let mut parts = self.all_written(parts);
                let result = parts.pop().unwrap_or_else(|| TypeExpr::new(TypeKind::Tuple(Vec::new())));
                TypeKind::Function(parts, Box::new(result))
            }
        })
    }

    fn all_written(&mut self, types: &[Type]) -> Vec<TypeExpr> {
        with_stack(|| types.iter().map(|ty| self.written(ty)).collect())
    }
}
