//! Syntactic equality of types and of structural information, found once for a whole pair of trees.
//!
//! The algorithms begin every case with `T1 == T2`. For two deep types that differ only at the bottom, a new comparison
//! at each level would take quadratic time. So the result of a comparison is kept until the outermost judgement ends.

use rustc_hash::FxHashSet;

use crate::grammar::Type;
use crate::judge::{Cx, address, is_shared, with_stack};

/// A tree whose nodes can be compared one by one.
pub(crate) trait ComparableTree: Sized {
    /// Whether two nodes have the same constructor, the same number of components and the same other fields.
    fn same_node(&self, other: &Self) -> bool;

    /// The components: fields, or parameters and then the result.
    fn components(&self) -> (&[Self], Option<&Self>);

    /// Whether it is a tuple whose fields are shared with other owners.
    fn is_shared(&self) -> bool;
}

impl ComparableTree for Type {
    #[inline]
    fn same_node(&self, other: &Type) -> bool {
        match (self, other) {
            (Type::Object, Type::Object) | (Type::PackedFunc, Type::PackedFunc) => true,
            (Type::Tensor(a), Type::Tensor(b)) => a == b,
            (Type::Shape(a), Type::Shape(b)) => a == b,
            (Type::Prim(a), Type::Prim(b)) => a == b,
            (Type::Tuple(a), Type::Tuple(b)) => a.len() == b.len(),
            (Type::Func(a), Type::Func(b)) => a.arg_types.len() == b.arg_types.len() && a.pure == b.pure,
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

    fn components(&self) -> (&[Type], Option<&Type>) {
        match self {
            Type::Tuple(fields) => (fields, None),
            Type::Func(func) => (&func.arg_types, Some(&func.ret_type)),
            Type::Object | Type::Tensor(_) | Type::Shape(_) | Type::Prim(_) | Type::PackedFunc => (&[], None),
        }
    }

    fn is_shared(&self) -> bool {
        matches!(self, Type::Tuple(fields) if is_shared(fields))
    }
}

/// Whether two trees are equal.
#[inline]
pub(crate) fn same<T: ComparableTree>(cx: &mut Cx, t1: &T, t2: &T) -> bool {
    same_by(cx, t1, t2, T::same_node)
}

/// Like [`same`], with a finer comparison of nodes.
pub(crate) fn same_by<T: ComparableTree>(
    cx: &mut Cx,
    t1: &T,
    t2: &T,
    same_node: impl Fn(&T, &T) -> bool + Copy,
) -> bool {
    if cx.are_known_to_differ(t1, t2) {
        return false;
    }
    let mut differing = Vec::new();
    let same = !differ(t1, t2, same_node, &mut FxHashSet::default(), &mut differing);
    cx.note_differing(differing);
    same
}

/// Whether two trees differ. Notes the pairs of components that lead to the first difference, the deepest first. Lists
/// of components without a difference are not compared again.
fn differ<T: ComparableTree>(
    t1: &T,
    t2: &T,
    same_node: impl Fn(&T, &T) -> bool + Copy,
    same: &mut FxHashSet<(*const T, *const T)>,
    differing: &mut Vec<(usize, usize)>,
) -> bool {
    if std::ptr::eq(t1, t2) {
        return false;
    }
    if !same_node(t1, t2) {
        return true;
    }
    let ((some1, last1), (some2, last2)) = (t1.components(), t2.components());
    let places = (some1.as_ptr(), some2.as_ptr());
    if last1.is_none() && (some1.is_empty() || places.0 == places.1 || same.contains(&places)) {
        return false;
    }
    let mut components = some1.iter().chain(last1).zip(some2.iter().chain(last2));
    let found = components.find(|(a, b)| with_stack(|| differ(*a, *b, same_node, same, differing)));
    if let Some((a, b)) = found {
        differing.push((address(a), address(b)));
    } else if t1.is_shared() || t2.is_shared() {
        same.insert(places);
    }
    found.is_some()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::grammar::DataType;

    fn differences(t1: &Type, t2: &Type) -> Option<Vec<(usize, usize)>> {
        let mut differing = Vec::new();
        differ(t1, t2, Type::same_node, &mut FxHashSet::default(), &mut differing).then_some(differing)
    }

    #[test]
    fn the_way_to_the_first_difference_is_noted_until_the_judgement_ends() {
        let pair = |last: i64| Type::tuple([Type::Object, Type::tuple([Type::shape(1), Type::shape(last)])]);
        let (t1, t2) = (pair(2), pair(3));
        assert_eq!(differences(&t1, &pair(2)), None);
        let (second1, second2) = (&t1.components().0[1], &t2.components().0[1]);
        let (last1, last2) = (&second1.components().0[1], &second2.components().0[1]);
        let expected = [(address(last1), address(last2)), (address(second1), address(second2))];
        assert_eq!(differences(&t1, &t2).unwrap(), expected);
        let mut cx = Cx::new();
        let asked = |cx: &mut Cx| {
            assert!(!same(cx, &t1, &t2));
            cx.are_known_to_differ(second2, second1) && !cx.are_known_to_differ(second1, second2)
        };
        assert!(cx.judge("same", Vec::new, asked));
        assert!(!cx.are_known_to_differ(last1, last2));
    }

    #[test]
    fn purity_and_arity_are_differences_of_the_node() {
        let f = |pure| Type::func([Type::tensor(1, DataType::FLOAT32)], Type::Object, pure);
        assert_eq!(differences(&f(true), &f(false)), Some(vec![]));
        assert_eq!(differences(&f(true), &Type::func([], Type::Object, true)), Some(vec![]));
    }
}
