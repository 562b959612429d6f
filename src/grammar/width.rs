//! How many parts there are to types and structural information, of which tuples that share their fields, and dimensions
//! that share their operands, have far more than they occupy: a pair of pairs of pairs, or twice the double of a double,
//! forty times over, is small to write and cannot be gone through.

use std::sync::Arc;

use rustc_hash::FxHashMap;

use super::{
    FuncStructInfo, FuncType, PrimExpr, PrimStructInfo, ShapeStructInfo, StructInfo, TensorShape, TensorStructInfo,
    Type,
};
use crate::judge::with_stack;

/// The most parts of a type, or of a piece of information, that a judgement goes through.
pub const MOST_PARTS: usize = 1 << 20;

/// The most parts that a pass over a program goes through together: a binding is short, and may hold all that was bound before.
const ALL_PARTS: usize = 4 * MOST_PARTS;

/// So many parts of each type and of each piece of information are not counted, for a long program has many of them.
const FEW_PARTS: usize = 1 << 10;

/// What is said of a tuple where there are more.
pub const TOO_WIDE: &str = "what is known of it has more than a million parts, by itself or with what is known before it, \
                            counting those that it shares as often as they occur in it";

/// How many parts a pass over a program may still go through.
#[derive(Debug)]
pub struct Parts {
    left: usize,
    /// How many parts the tuples and functions have that were counted, which are kept so that no other comes to lie in their place. A tuple
    /// that shares its fields is counted as often as it occurs, and looked at once.
    types: FxHashMap<usize, (Shared<Type, FuncType>, usize)>,
    infos: FxHashMap<usize, (Shared<StructInfo, FuncStructInfo>, usize)>,
}

/// What a tree has in common with others.
#[derive(Clone, Debug)]
enum Shared<T, F> {
    Tuple(Arc<[T]>),
    Func(Arc<F>),
}

impl<T, F> Shared<T, F> {
    /// Where it lies. Those without fields may lie where others do, and have nothing that could be told apart.
    fn place(&self) -> usize {
        match self {
            Shared::Tuple(fields) => fields.as_ptr() as usize,
            Shared::Func(func) => Arc::as_ptr(func) as usize,
        }
    }
}

impl Default for Parts {
    fn default() -> Parts {
        Parts { left: ALL_PARTS, types: FxHashMap::default(), infos: FxHashMap::default() }
    }
}

impl Parts {
    /// Whether the parts of a type may be gone through. They count from here on.
    pub fn allow_type(&mut self, ty: &Type) -> bool {
        let parts = self.of_type(ty);
        self.allow(parts)
    }

    /// Whether the parts of a piece of information may be gone through. They count from here on.
    pub fn allow_info(&mut self, info: &StructInfo) -> bool {
        let parts = self.of_info(info);
        self.allow(parts)
    }

    fn allow(&mut self, parts: usize) -> bool {
        let most = self.left.saturating_add(FEW_PARTS).min(MOST_PARTS);
        self.left = self.left.saturating_sub(parts.min(most).saturating_sub(FEW_PARTS));
        parts <= most
    }

    /// How many parts there are to a type; of more than are allowed it does not matter how many.
    fn of_type(&mut self, ty: &Type) -> usize {
        let shared = match ty {
            Type::Tuple(fields) if !fields.is_empty() => Shared::Tuple(fields.clone()),
            Type::Func(func) => Shared::Func(func.clone()),
            Type::Object | Type::Tensor(_) | Type::Shape(_) | Type::PackedFunc | Type::Tuple(_) => return 1,
        };
        let place = shared.place();
        if let Some((_, parts)) = self.types.get(&place) {
            return *parts;
        }
        let parts = with_stack(|| match &shared {
            Shared::Tuple(fields) => fields.iter().fold(1, |sum: usize, field| sum.saturating_add(self.of_type(field))),
            Shared::Func(func) => {
                let parts = func.arg_types.iter().chain([&func.ret_type]);
                parts.fold(1, |sum: usize, part| sum.saturating_add(self.of_type(part)))
            }
        });
        self.types.insert(place, (shared, parts));
        parts
    }

    fn of_info(&mut self, info: &StructInfo) -> usize {
        let shared = match info {
            StructInfo::Tuple(fields) if !fields.is_empty() => Shared::Tuple(fields.clone()),
            StructInfo::Func(func) => Shared::Func(func.clone()),
            StructInfo::Tensor(TensorStructInfo { shape: Some(TensorShape::Dims(dims)), .. })
            | StructInfo::Shape(ShapeStructInfo { values: Some(dims), .. }) => {
                return dims.iter().fold(1, |sum: usize, dim| sum.saturating_add(of_dim(dim)));
            }
            StructInfo::Prim(PrimStructInfo { value: Some(value), .. }) => return of_dim(value).saturating_add(1),
            StructInfo::Object
            | StructInfo::Tensor(_)
            | StructInfo::Shape(_)
            | StructInfo::Prim(_)
            | StructInfo::Tuple(_) => return 1,
        };
        let place = shared.place();
        if let Some((_, parts)) = self.infos.get(&place) {
            return *parts;
        }
        let parts = with_stack(|| match &shared {
            Shared::Tuple(fields) => fields.iter().fold(1, |sum: usize, field| sum.saturating_add(self.of_info(field))),
            Shared::Func(func) => {
                let parts = func.params.iter().flat_map(|params| params.iter()).chain([&func.ret]);
                parts.fold(1, |sum: usize, part| sum.saturating_add(self.of_info(part)))
            }
        });
        self.infos.insert(place, (shared, parts));
        parts
    }
}

/// How many parts there are to a dimension, of which no more are counted than are allowed.
fn of_dim(dim: &PrimExpr) -> usize {
    dim.parts().take(MOST_PARTS + 1).count()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::grammar::BinaryOp;

    fn info_pairs(count: usize) -> StructInfo {
        (0..count).fold(StructInfo::Object, |s, _| StructInfo::tuple([s.clone(), s]))
    }

    #[test]
    fn what_shares_its_fields_is_counted_as_it_is_gone_through() {
        let allows = |count: usize| Parts::default().allow_info(&info_pairs(count));
        assert!(allows(10) && allows(19) && !allows(20) && !allows(100));
        let pairs = |count: usize| (0..count).fold(Type::Object, |t, _| Type::tuple([t.clone(), t]));
        let allows = |count: usize| Parts::default().allow_type(&pairs(count));
        assert!(allows(10) && allows(19) && !allows(20) && !allows(100));
    }

    #[test]
    fn what_is_shared_is_looked_at_once() {
        // As a tree it has 2^65 parts.
        let mut parts = Parts::default();
        let info = info_pairs(64);
        assert!(!parts.allow_info(&info));
        assert_eq!(parts.infos.len(), 64);
    }

    #[test]
    fn dimensions_are_counted_as_they_are_gone_through() {
        let double = |e: PrimExpr| PrimExpr::binary(BinaryOp::Add, e.clone(), e);
        let doubled = |count: usize| (0..count).fold(PrimExpr::var("n"), |e, _| double(e));
        let allows = |count: usize| Parts::default().allow_info(&StructInfo::shape([doubled(count)]));
        assert!(allows(10) && allows(18) && !allows(20) && !allows(100));
    }

    #[test]
    fn what_is_wide_is_counted_together_and_what_is_not_goes_free() {
        let mut parts = Parts::default();
        let wide = info_pairs(18);
        assert_eq!((0..100).filter(|_| parts.allow_info(&wide)).count(), 8);
        let narrow = info_pairs(9);
        assert!((0..100_000).all(|_| parts.allow_info(&narrow)));
        assert!(!parts.allow_info(&wide));
    }
}
