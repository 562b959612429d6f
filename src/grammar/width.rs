//! How many parts there are to types and structural information, of which tuples that share their fields have far more than they
//! occupy: a pair of pairs of pairs, forty times over, is small to write and cannot be gone through.

use super::{StructInfo, Type};
use crate::judge::with_stack;

/// The most parts of a type, or of a piece of information, that a judgement goes through.
pub const MOST_PARTS: usize = 1 << 20;

/// What is said of a tuple that has more.
pub const TOO_WIDE: &str =
    "the tuple has more than a million parts, counting those that it shares as often as they occur in it";

/// Whether a type has more parts than anyone goes through.
pub fn type_is_too_wide(ty: &Type) -> bool {
    type_within(ty, MOST_PARTS).is_none()
}

/// Whether a piece of information has more parts than anyone goes through.
pub fn info_is_too_wide(info: &StructInfo) -> bool {
    info_within(info, MOST_PARTS).is_none()
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
        StructInfo::Object | StructInfo::Tensor(_) | StructInfo::Shape(_) | StructInfo::Prim(_) => Some(left),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_shares_its_fields_is_counted_as_it_is_gone_through() {
        let pairs = |count: usize| (0..count).fold(StructInfo::Object, |s, _| StructInfo::tuple([s.clone(), s]));
        assert!(!info_is_too_wide(&pairs(10)) && info_is_too_wide(&pairs(100)));
        let pairs = |count: usize| (0..count).fold(Type::Object, |t, _| Type::tuple([t.clone(), t]));
        assert!(!type_is_too_wide(&pairs(10)) && type_is_too_wide(&pairs(100)));
    }
}
