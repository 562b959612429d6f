//! Equality of types and of structural information. A shared tuple is visited once, since a tuple may have far more
//! parts than nodes in memory. An example is a pair of pairs of pairs.

use std::hash::{Hash, Hasher};
use std::sync::Arc;

use rustc_hash::{FxHashMap, FxHashSet, FxHasher};

use super::{FuncStructInfo, FuncType, StructInfo, Type};
use crate::judge::{TreeFields, is_shared, place, with_stack};

/// The pairs of tuples that were found equal, and the hashes of tuples.
#[derive(Default)]
struct EqualityMemo {
    equal: FxHashSet<(usize, usize)>,
    hashes: FxHashMap<usize, u64>,
}

/// The common structure of types and structural information: a tuple, a function, or a tree without parts.
trait TupleTree: TreeFields {
    /// Whether two trees are equal that are not both tuples.
    fn is_equal(&self, other: &Self, known: &mut EqualityMemo) -> bool;

    /// Hashes a tree that is not a tuple.
    fn add_to(&self, hasher: &mut FxHasher, known: &mut EqualityMemo);
}

fn equal<T: TupleTree>(a: &T, b: &T, known: &mut EqualityMemo) -> bool {
    let (Some(fields1), Some(fields2)) = (a.fields(), b.fields()) else { return a.is_equal(b, known) };
    if Arc::ptr_eq(fields1, fields2) {
        return true;
    }
    if fields1.len() != fields2.len() {
        return false;
    }
    let places = (place(fields1), place(fields2));
    let shared = is_shared(fields1) || is_shared(fields2);
    if shared && known.equal.contains(&places) {
        return true;
    }
    let all = all_equal(fields1, fields2, known);
    if shared && all {
        known.equal.insert(places);
    }
    all
}

fn all_equal<T: TupleTree>(a: &[T], b: &[T], known: &mut EqualityMemo) -> bool {
    a.len() == b.len() && with_stack(|| a.iter().zip(b).all(|(a, b)| equal(a, b, known)))
}

fn hash<T: TupleTree>(tree: &T, known: &mut EqualityMemo) -> u64 {
    let shared = tree.fields().filter(|fields| is_shared(fields)).map(place);
    if let Some(known) = shared.and_then(|place| known.hashes.get(&place)) {
        return *known;
    }
    let mut hasher = FxHasher::default();
    match tree.fields() {
        None => tree.add_to(&mut hasher, known),
        Some(fields) => hash_all(fields, &mut hasher, known),
    }
    let hash = hasher.finish();
    if let Some(place) = shared {
        known.hashes.insert(place, hash);
    }
    hash
}

fn hash_all<T: TupleTree>(trees: &[T], hasher: &mut FxHasher, known: &mut EqualityMemo) {
    trees.len().hash(hasher);
    with_stack(|| trees.iter().for_each(|tree| hash(tree, known).hash(hasher)));
}

impl TreeFields for Type {
    #[inline]
    fn fields(&self) -> Option<&Arc<[Type]>> {
        self.as_tuple()
    }
}

impl TupleTree for Type {
    fn is_equal(&self, other: &Type, known: &mut EqualityMemo) -> bool {
        match (self, other) {
            (Type::Object, Type::Object) | (Type::PackedFunc, Type::PackedFunc) => true,
            (Type::Tensor(a), Type::Tensor(b)) => a == b,
            (Type::Shape(a), Type::Shape(b)) => a == b,
            (Type::Prim(a), Type::Prim(b)) => a == b,
            (Type::Func(a), Type::Func(b)) => Arc::ptr_eq(a, b) || same_func_type(a, b, known),
            (
                Type::Object
                | Type::Tensor(_)
                | Type::Shape(_)
                | Type::Prim(_)
                | Type::Tuple(_)
                | Type::Func(_)
                | Type::PackedFunc,
                Type::Object
                | Type::Tensor(_)
                | Type::Shape(_)
                | Type::Prim(_)
                | Type::Tuple(_)
                | Type::Func(_)
                | Type::PackedFunc,
            ) => false,
        }
    }

    fn add_to(&self, hasher: &mut FxHasher, known: &mut EqualityMemo) {
        std::mem::discriminant(self).hash(hasher);
        match self {
            Type::Object | Type::PackedFunc => {}
            Type::Tensor(tensor) => tensor.hash(hasher),
            Type::Shape(shape) => shape.hash(hasher),
            Type::Prim(prim) => prim.hash(hasher),
            Type::Tuple(fields) => hash_all(fields, hasher, known),
            Type::Func(func) => {
                func.pure.hash(hasher);
                hash_all(&func.arg_types, hasher, known);
                with_stack(|| hash(&func.ret_type, known)).hash(hasher);
            }
        }
    }
}

fn same_func_type(a: &FuncType, b: &FuncType, known: &mut EqualityMemo) -> bool {
    a.pure == b.pure
        && all_equal(&a.arg_types, &b.arg_types, known)
        && with_stack(|| equal(&a.ret_type, &b.ret_type, known))
}

impl TreeFields for StructInfo {
    #[inline]
    fn fields(&self) -> Option<&Arc<[StructInfo]>> {
        self.as_tuple()
    }
}

impl TupleTree for StructInfo {
    fn is_equal(&self, other: &StructInfo, known: &mut EqualityMemo) -> bool {
        match (self, other) {
            (StructInfo::Object, StructInfo::Object) => true,
            (StructInfo::Tensor(a), StructInfo::Tensor(b)) => a == b,
            (StructInfo::Shape(a), StructInfo::Shape(b)) => a == b,
            (StructInfo::Prim(a), StructInfo::Prim(b)) => a == b,
            (StructInfo::Func(a), StructInfo::Func(b)) => Arc::ptr_eq(a, b) || same_func(a, b, known),
            (
                StructInfo::Object
                | StructInfo::Tensor(_)
                | StructInfo::Shape(_)
                | StructInfo::Prim(_)
                | StructInfo::Tuple(_)
                | StructInfo::Func(_),
                StructInfo::Object
                | StructInfo::Tensor(_)
                | StructInfo::Shape(_)
                | StructInfo::Prim(_)
                | StructInfo::Tuple(_)
                | StructInfo::Func(_),
            ) => false,
        }
    }

    fn add_to(&self, hasher: &mut FxHasher, known: &mut EqualityMemo) {
        std::mem::discriminant(self).hash(hasher);
        match self {
            StructInfo::Object => {}
            StructInfo::Tensor(tensor) => tensor.hash(hasher),
            StructInfo::Shape(shape) => shape.hash(hasher),
            StructInfo::Prim(prim) => prim.hash(hasher),
            StructInfo::Tuple(fields) => hash_all(fields, hasher, known),
            StructInfo::Func(func) => {
                (&func.derive_func, func.pure, func.params.is_some()).hash(hasher);
                hash_all(func.params.as_deref().unwrap_or_default(), hasher, known);
                with_stack(|| hash(&func.ret, known)).hash(hasher);
            }
        }
    }
}

fn same_func(a: &FuncStructInfo, b: &FuncStructInfo, known: &mut EqualityMemo) -> bool {
    let params = match (&a.params, &b.params) {
        (None, None) => true,
        (Some(a), Some(b)) => all_equal(a, b, known),
        (None, Some(_)) | (Some(_), None) => false,
    };
    params && a.derive_func == b.derive_func && a.pure == b.pure && with_stack(|| equal(&a.ret, &b.ret, known))
}

macro_rules! by_tree {
    ($($name:ty),*) => {$(
        impl PartialEq for $name {
            fn eq(&self, other: &$name) -> bool {
                equal(self, other, &mut EqualityMemo::default())
            }
        }

        impl Eq for $name {}

        impl Hash for $name {
            fn hash<H: Hasher>(&self, state: &mut H) {
                state.write_u64(hash(self, &mut EqualityMemo::default()));
            }
        }
    )*};
}

by_tree!(Type, StructInfo);

impl PartialEq for FuncType {
    fn eq(&self, other: &FuncType) -> bool {
        same_func_type(self, other, &mut EqualityMemo::default())
    }
}

impl Eq for FuncType {}

impl PartialEq for FuncStructInfo {
    fn eq(&self, other: &FuncStructInfo) -> bool {
        same_func(self, other, &mut EqualityMemo::default())
    }
}

impl Eq for FuncStructInfo {}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::grammar::DataType;

    fn types(count: usize, last: Type) -> Type {
        (0..count).fold(last, |t, _| Type::tuple([t.clone(), t]))
    }

    fn infos(count: usize, last: StructInfo) -> StructInfo {
        (0..count).fold(last, |s, _| StructInfo::tuple([s.clone(), s]))
    }

    fn hash_of(of: &impl Hash) -> u64 {
        let mut hasher = FxHasher::default();
        of.hash(&mut hasher);
        hasher.finish()
    }

    /// A copy in which nothing is shared.
    fn apart(info: &StructInfo) -> StructInfo {
        match info {
            StructInfo::Tuple(fields) => StructInfo::tuple(fields.iter().map(apart)),
            StructInfo::Func(func) => {
                StructInfo::func(func.params.iter().flat_map(|p| p.iter()).map(apart), apart(&func.ret))
            }
            other @ (StructInfo::Object | StructInfo::Tensor(_) | StructInfo::Shape(_) | StructInfo::Prim(_)) => {
                other.clone()
            }
        }
    }

    #[test]
    fn chains_of_pairs_are_compared_and_hashed_as_they_are_written() {
        let (a, b) = (infos(100, StructInfo::Object), infos(100, StructInfo::Object));
        assert!(a == b && hash_of(&a) == hash_of(&b));
        assert!(a != infos(100, StructInfo::prim(DataType::INT64)) && a != infos(99, StructInfo::Object));
        let (a, b) = (types(100, Type::Object), types(100, Type::Object));
        assert!(a == b && hash_of(&a) == hash_of(&b));
        assert!(a != types(100, Type::PackedFunc) && a != types(101, Type::Object));
        let func = |t: &Type| Type::func([t.clone()], t.clone(), true);
        assert!(func(&a) == func(&b) && hash_of(&func(&a)) == hash_of(&func(&b)));
    }

    #[test]
    fn what_is_held_in_common_is_no_difference() {
        let pairs = infos(5, StructInfo::func([infos(3, StructInfo::Object)], infos(2, StructInfo::shape_ndim(1))));
        let plain = apart(&pairs);
        assert!(plain == pairs && hash_of(&plain) == hash_of(&pairs));
        let other = infos(5, StructInfo::func([infos(3, StructInfo::Object)], infos(2, StructInfo::shape_ndim(2))));
        assert!(plain != other && apart(&other) != pairs);
    }
}
