//! Counts the parts of types and structural information. Tuples that share fields and dimensions that share operands
//! may have far more parts than nodes in memory. A pair of pairs of pairs, or a number doubled forty times, is short to
//! write but too large to visit.

use std::sync::Arc;

use rustc_hash::FxHashMap;

use super::{
    FuncStructInfo, FuncType, PrimExpr, PrimStructInfo, ShapeStructInfo, StructInfo, TensorShape, TensorStructInfo,
    Type,
};
use crate::judge::{is_shared, place, with_stack};

/// The largest number of parts of a type or a piece of information that a judgement visits.
pub const MOST_PARTS: usize = 1 << 20;

/// The largest number of parts that a pass over a program visits in total. A short binding may contain everything bound
/// before it.
const ALL_PARTS: usize = 4 * MOST_PARTS;

/// This many parts of each type and of each piece of information are not counted, since a long program has many small
/// ones.
const FEW_PARTS: usize = 1 << 10;

/// The largest number of parts of dimensions that a pass over a program visits in total. They are visited by short
/// loops. A size to which every binding adds has as many parts as there are bindings, in each of them.
const ALL_SIZES: usize = 1 << 27;

/// The message about a tuple with more parts.
pub const TOO_WIDE: &str = "what is known of it has more than a million parts, by itself or with what is known before it, \
                            counting those of function types that it shares as often as they occur in it";

/// The largest number of parts that are printed, including repeated ones.
const MOST_WRITTEN: usize = 1 << 14;

/// Whether the printed information would be long and mostly repetition, because its tuples share fields.
pub fn is_mostly_repeated(info: &StructInfo) -> bool {
    let mut written = WrittenParts::default();
    let count = written.info(info);
    written.is_mostly_repeated(count)
}

/// As [`is_mostly_repeated`], for a type.
pub fn is_type_mostly_repeated(ty: &Type) -> bool {
    let mut written = WrittenParts::default();
    let count = written.ty(ty);
    written.is_mostly_repeated(count)
}

/// The number of parts that are printed for shared tuples.
#[derive(Default)]
struct WrittenParts {
    known: FxHashMap<usize, usize>,
    /// The number of parts, if shared parts count once.
    apart: usize,
}

impl WrittenParts {
    fn is_mostly_repeated(&self, count: usize) -> bool {
        count > MOST_WRITTEN && count / 8 > self.apart
    }

    fn shared<T>(&mut self, fields: &Arc<[T]>, part: impl Fn(&mut WrittenParts, &T) -> usize) -> usize {
        let place = is_shared(fields).then(|| place(fields));
        if let Some(known) = place.and_then(|place| self.known.get(&place)) {
            return *known;
        }
        self.apart = self.apart.saturating_add(1);
        let count = with_stack(|| fields.iter().fold(1, |sum: usize, field| sum.saturating_add(part(self, field))));
        if let Some(place) = place {
            self.known.insert(place, count);
        }
        count
    }

    fn leaf(&mut self) -> usize {
        self.apart = self.apart.saturating_add(1);
        1
    }

    fn info(&mut self, info: &StructInfo) -> usize {
        match info {
            StructInfo::Tuple(fields) => self.shared(fields, WrittenParts::info),
            StructInfo::Func(func) => with_stack(|| {
                let parts = func.params.iter().flat_map(|params| params.iter()).chain([&func.ret]);
                parts.fold(self.leaf(), |sum, part| sum.saturating_add(self.info(part)))
            }),
            StructInfo::Object | StructInfo::Tensor(_) | StructInfo::Shape(_) | StructInfo::Prim(_) => self.leaf(),
        }
    }

    fn ty(&mut self, ty: &Type) -> usize {
        match ty {
            Type::Tuple(fields) => self.shared(fields, WrittenParts::ty),
            Type::Func(func) => with_stack(|| {
                let parts = func.arg_types.iter().chain([&func.ret_type]);
                parts.fold(self.leaf(), |sum, part| sum.saturating_add(self.ty(part)))
            }),
            Type::Object | Type::Tensor(_) | Type::Shape(_) | Type::Prim(_) | Type::PackedFunc => self.leaf(),
        }
    }
}

/// The number of parts that a pass over a program may still visit.
#[derive(Debug)]
pub struct Parts {
    left: usize,
    /// The number of parts of dimensions that it may still visit.
    sizes_left: usize,
    /// The number of all counted parts, if shared parts count once.
    seen: usize,
    /// The same of the parts of dimensions.
    seen_sizes: usize,
    /// The numbers of parts of tuples and functions. Their fields are kept alive, so that no others take their
    /// addresses. A tuple with shared fields counts at each occurrence, but is visited once.
    types: FxHashMap<usize, (Shared<Type, FuncType>, Count)>,
    infos: FxHashMap<usize, (Shared<StructInfo, FuncStructInfo>, Count)>,
    /// The numbers of parts of operands with operands of their own, which are kept alive too.
    operands: FxHashMap<usize, (Arc<PrimExpr>, usize)>,
}

/// The number of visited parts.
#[derive(Clone, Copy, Debug)]
struct Count {
    /// Without the parts of dimensions.
    parts: usize,
    /// The parts of dimensions.
    sizes: usize,
    /// Whether it contains no function type. Then a shared tuple is visited once. Otherwise the variables of the
    /// function type affect the result, so each occurrence is visited.
    plain: bool,
}

impl Count {
    /// One part with so many parts of dimensions.
    fn of_leaf(sizes: usize) -> Count {
        Count { parts: 1, sizes, plain: true }
    }

    fn of_func() -> Count {
        Count { plain: false, ..Count::of_leaf(0) }
    }

    fn with(self, part: Count) -> Count {
        Count {
            parts: self.parts.saturating_add(part.parts),
            sizes: self.sizes.saturating_add(part.sizes),
            plain: self.plain && part.plain,
        }
    }
}

/// Takes the parts of one type or piece of information off a budget. Returns whether it has so many.
fn charge(left: &mut usize, parts: usize) -> bool {
    let most = left.saturating_add(FEW_PARTS).min(MOST_PARTS);
    *left = left.saturating_sub(parts.min(most).saturating_sub(FEW_PARTS));
    parts <= most
}

/// The shared part of a tree.
#[derive(Clone, Debug)]
enum Shared<T, F> {
    Tuple(Arc<[T]>),
    Func(Arc<F>),
}

impl<T, F> Shared<T, F> {
    /// The address. Empty lists may share addresses, but are all alike.
    fn place(&self) -> usize {
        match self {
            Shared::Tuple(fields) => fields.as_ptr() as usize,
            Shared::Func(func) => Arc::as_ptr(func) as usize,
        }
    }
}

impl Default for Parts {
    fn default() -> Parts {
        Parts {
            left: ALL_PARTS,
            sizes_left: ALL_SIZES,
            seen: 0,
            seen_sizes: 0,
            types: FxHashMap::default(),
            infos: FxHashMap::default(),
            operands: FxHashMap::default(),
        }
    }
}

impl Parts {
    /// Whether the parts of a type may be visited. If so, they count from now on.
    pub fn allow_type(&mut self, ty: &Type) -> bool {
        let count = self.of_type(ty);
        self.allow(count)
    }

    /// Whether the parts of a piece of information may be visited. If so, they count from now on.
    pub fn allow_info(&mut self, info: &StructInfo) -> bool {
        let count = self.of_info(info);
        self.allow(count)
    }

    fn allow(&mut self, count: Count) -> bool {
        let together = count.parts.saturating_add(count.sizes) <= MOST_PARTS;
        charge(&mut self.left, count.parts) & charge(&mut self.sizes_left, count.sizes) & together
    }

    /// The number of parts of a type. Beyond the limit the exact number does not matter.
    fn of_type(&mut self, ty: &Type) -> Count {
        let shared = match ty {
            Type::Tuple(fields) if !fields.is_empty() => Shared::Tuple(fields.clone()),
            Type::Func(func) => Shared::Func(func.clone()),
            Type::Object | Type::Tensor(_) | Type::Shape(_) | Type::Prim(_) | Type::PackedFunc | Type::Tuple(_) => {
                return self.of_leaf(0);
            }
        };
        let place = shared.place();
        if let Some((_, parts)) = self.types.get(&place) {
            return *parts;
        }
        self.seen = self.seen.saturating_add(1);
        let parts = with_stack(|| match &shared {
            Shared::Tuple(fields) => fields.iter().fold(Count::of_leaf(0), |sum, field| sum.with(self.of_type(field))),
            Shared::Func(func) => {
                let parts = func.arg_types.iter().chain([&func.ret_type]);
                parts.fold(Count::of_func(), |sum, part| sum.with(self.of_type(part)))
            }
        });
        let parts = self.together(parts);
        self.types.insert(place, (shared, parts));
        parts
    }

    /// For a tuple without function types, at most the number of distinct parts is visited.
    fn together(&self, count: Count) -> Count {
        if !count.plain {
            return count;
        }
        Count { parts: count.parts.min(self.seen), sizes: count.sizes.min(self.seen_sizes), plain: true }
    }

    /// One part with so many parts of dimensions.
    fn of_leaf(&mut self, sizes: usize) -> Count {
        self.seen = self.seen.saturating_add(1);
        self.seen_sizes = self.seen_sizes.saturating_add(sizes);
        Count::of_leaf(sizes)
    }

    fn of_info(&mut self, info: &StructInfo) -> Count {
        let shared = match info {
            StructInfo::Tuple(fields) if !fields.is_empty() => Shared::Tuple(fields.clone()),
            StructInfo::Func(func) => Shared::Func(func.clone()),
            StructInfo::Tensor(TensorStructInfo { shape: Some(TensorShape::Dims(dims)), .. })
            | StructInfo::Shape(ShapeStructInfo { values: Some(dims), .. }) => {
                let sizes = dims.iter().fold(0, |sum: usize, dim| sum.saturating_add(self.of_dim(dim)));
                return self.of_leaf(sizes);
            }
            StructInfo::Prim(PrimStructInfo { value: Some(value), .. }) => {
                let sizes = self.of_dim(value);
                return self.of_leaf(sizes);
            }
            StructInfo::Object
            | StructInfo::Tensor(_)
            | StructInfo::Shape(_)
            | StructInfo::Prim(_)
            | StructInfo::Tuple(_) => return self.of_leaf(0),
        };
        let place = shared.place();
        if let Some((_, parts)) = self.infos.get(&place) {
            return *parts;
        }
        self.seen = self.seen.saturating_add(1);
        let parts = with_stack(|| match &shared {
            Shared::Tuple(fields) => fields.iter().fold(Count::of_leaf(0), |sum, field| sum.with(self.of_info(field))),
            Shared::Func(func) => {
                let parts = func.params.iter().flat_map(|params| params.iter()).chain([&func.ret]);
                parts.fold(Count::of_func(), |sum, part| sum.with(self.of_info(part)))
            }
        });
        let parts = self.together(parts);
        self.infos.insert(place, (shared, parts));
        parts
    }

    /// The number of parts of a dimension, shared ones as often as they occur. An operand is counted once, however many
    /// dimensions have it: a size that grows with every binding has the one before as an operand.
    fn of_dim(&mut self, dim: &PrimExpr) -> usize {
        match dim {
            PrimExpr::Var(_) | PrimExpr::IntImm(_) => 1,
            PrimExpr::Binary(_, a, b) => self.of_operands([a, b]),
            PrimExpr::Not(a) => self.of_operands([a]),
            PrimExpr::Select(c, t, f) => self.of_operands([c, t, f]),
        }
    }

    fn of_operands<const N: usize>(&mut self, operands: [&Arc<PrimExpr>; N]) -> usize {
        operands.into_iter().fold(1, |sum: usize, operand| sum.saturating_add(self.of_operand(operand)))
    }

    fn of_operand(&mut self, operand: &Arc<PrimExpr>) -> usize {
        if matches!(**operand, PrimExpr::Var(_) | PrimExpr::IntImm(_)) {
            return 1;
        }
        let place = Arc::as_ptr(operand) as usize;
        if let Some((_, count)) = self.operands.get(&place) {
            return *count;
        }
        let count = with_stack(|| self.of_dim(operand));
        self.operands.insert(place, (operand.clone(), count));
        count
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::grammar::BinaryOp;

    fn info_pairs(count: usize, last: StructInfo) -> StructInfo {
        (0..count).fold(last, |s, _| StructInfo::tuple([s.clone(), s]))
    }

    fn type_pairs(count: usize, last: Type) -> Type {
        (0..count).fold(last, |t, _| Type::tuple([t.clone(), t]))
    }

    #[test]
    fn what_shares_its_fields_is_counted_as_it_is_gone_through() {
        let func = || StructInfo::func([], StructInfo::Object);
        let allows = |count: usize, last: StructInfo| Parts::default().allow_info(&info_pairs(count, last));
        assert!(allows(10, func()) && allows(18, func()) && !allows(20, func()) && !allows(100, func()));
        assert!(
            allows(10, StructInfo::Object) && allows(100, StructInfo::Object) && allows(10_000, StructInfo::Object)
        );
        let func = || Type::func([], Type::Object, true);
        let allows = |count: usize, last: Type| Parts::default().allow_type(&type_pairs(count, last));
        assert!(allows(10, func()) && allows(18, func()) && !allows(20, func()) && !allows(100, func()));
        assert!(allows(10, Type::Object) && allows(100, Type::Object) && allows(10_000, Type::Object));
    }

    #[test]
    fn what_is_shared_is_looked_at_once() {
        // As a tree it has 2^65 parts.
        let mut parts = Parts::default();
        let info = info_pairs(64, StructInfo::Object);
        // There are 64 tuples, the two fields of the innermost one, and the function type itself, whose parts are
        // counted individually.
        let all = 64 + 2 + 1;
        assert_eq!(parts.of_info(&StructInfo::func([info.clone()], info)).parts, 1 + 2 * all);
        assert_eq!(parts.infos.len(), 65);
    }

    #[test]
    fn what_repeats_itself_is_not_written_and_what_is_wide_is() {
        assert!(!is_mostly_repeated(&info_pairs(10, StructInfo::Object)));
        assert!(is_mostly_repeated(&info_pairs(64, StructInfo::Object)));
        assert!(is_mostly_repeated(&StructInfo::func([], info_pairs(64, StructInfo::Object))));
        assert!(!is_mostly_repeated(&StructInfo::tuple((0..100_000).map(|_| StructInfo::Object))));
        let wide = StructInfo::tuple((0..100_000).map(|i| info_pairs(1, StructInfo::shape([i.into()]))));
        assert!(!is_mostly_repeated(&wide));
        assert!(is_type_mostly_repeated(&type_pairs(64, Type::Object)));
        assert!(!is_type_mostly_repeated(&type_pairs(10, Type::Object)));
        assert!(info_pairs(64, StructInfo::Object).to_string().len() < 200);
        assert!(type_pairs(64, Type::Object).to_string().len() < 200);
    }

    #[test]
    fn dimensions_are_counted_as_they_are_gone_through() {
        let double = |e: PrimExpr| PrimExpr::binary(BinaryOp::Add, e.clone(), e);
        let doubled = |count: usize| (0..count).fold(PrimExpr::var("n"), |e, _| double(e));
        let allows = |count: usize| Parts::default().allow_info(&StructInfo::shape([doubled(count)]));
        assert!(allows(10) && allows(18) && !allows(20) && !allows(100));
    }

    #[test]
    fn what_a_growing_size_shares_with_the_one_before_is_counted_once() {
        let (mut parts, mut size) = (Parts::default(), PrimExpr::var("n"));
        for bindings in 1..4_000 {
            size = PrimExpr::binary(BinaryOp::Add, size, PrimExpr::var("n"));
            // Each sum has one operator and one variable more.
            assert_eq!(parts.of_dim(&size), 2 * bindings + 1);
            assert!(parts.allow_info(&StructInfo::shape([size.clone()])));
            assert!(parts.operands.len() < bindings);
        }
    }

    #[test]
    fn what_is_wide_is_counted_together_and_what_is_not_goes_free() {
        let func = || StructInfo::func([], StructInfo::Object);
        let mut parts = Parts::default();
        let wide = info_pairs(17, func());
        assert_eq!((0..100).filter(|_| parts.allow_info(&wide)).count(), 10);
        let narrow = info_pairs(8, func());
        assert!((0..100_000).all(|_| parts.allow_info(&narrow)));
        assert!(!parts.allow_info(&wide));
    }
}
