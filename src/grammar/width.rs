//! How many parts there are to types and structural information, of which tuples that share their fields, and dimensions
//! that share their operands, have far more than they occupy: a pair of pairs of pairs, or twice the double of a double,
//! forty times over, is small to write and cannot be gone through.

use super::{PrimExpr, PrimStructInfo, ShapeStructInfo, StructInfo, TensorShape, TensorStructInfo, Type};
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
#[derive(Clone, Copy, Debug)]
pub struct Parts {
    left: usize,
}

impl Default for Parts {
    fn default() -> Parts {
        Parts { left: ALL_PARTS }
    }
}

impl Parts {
    /// Whether the parts of a type may be gone through. They count from here on.
    pub fn allow_type(&mut self, ty: &Type) -> bool {
        self.allow(|left| type_within(ty, left))
    }

    /// Whether the parts of a piece of information may be gone through. They count from here on.
    pub fn allow_info(&mut self, info: &StructInfo) -> bool {
        self.allow(|left| info_within(info, left))
    }

    fn allow(&mut self, within: impl FnOnce(usize) -> Option<usize>) -> bool {
        let most = self.left.saturating_add(FEW_PARTS).min(MOST_PARTS);
        let rest = within(most);
        let gone_through = most - rest.unwrap_or(0);
        self.left = self.left.saturating_sub(gone_through.saturating_sub(FEW_PARTS));
        rest.is_some()
    }
}

/// How many parts may still follow; `None` if there are too many already.
fn type_within(ty: &Type, left: usize) -> Option<usize> {
    let left = left.checked_sub(1)?;
    match ty {
        Type::Tuple(fields) => with_stack(|| fields.iter().try_fold(left, |left, field| type_within(field, left))),
        Type::Func(func) => with_stack(|| {
            func.arg_types.iter().chain([&func.ret_type]).try_fold(left, |left, part| type_within(part, left))
        }),
        Type::Object | Type::Tensor(_) | Type::Shape(_) | Type::PackedFunc => Some(left),
    }
}

fn info_within(info: &StructInfo, left: usize) -> Option<usize> {
    let left = left.checked_sub(1)?;
    match info {
        StructInfo::Tuple(fields) => {
            with_stack(|| fields.iter().try_fold(left, |left, field| info_within(field, left)))
        }
        StructInfo::Func(func) => with_stack(|| {
            let params = func.params.iter().flat_map(|params| params.iter());
            params.chain([&func.ret]).try_fold(left, |left, part| info_within(part, left))
        }),
        StructInfo::Tensor(TensorStructInfo { shape: Some(TensorShape::Dims(dims)), .. })
        | StructInfo::Shape(ShapeStructInfo { values: Some(dims), .. }) => {
            dims.iter().try_fold(left, |left, dim| dim_within(dim, left))
        }
        StructInfo::Prim(PrimStructInfo { value: Some(value), .. }) => dim_within(value, left),
        StructInfo::Object | StructInfo::Tensor(_) | StructInfo::Shape(_) | StructInfo::Prim(_) => Some(left),
    }
}

fn dim_within(dim: &PrimExpr, left: usize) -> Option<usize> {
    dim.parts().try_fold(left, |left, _| left.checked_sub(1))
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
