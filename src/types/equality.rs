//! Syntactic equality of types and of structural informations, found once for a whole pair of trees.
//!
//! The algorithms begin every case with `T1 == T2`. Asked anew at each level of two deep types that differ only at
//! the bottom this takes quadratic time, so what one comparison learned is handed down to the components.

use rustc_hash::FxHashSet;

use crate::grammar::Type;
use crate::judge::{is_shared, with_stack};

/// What an enclosing comparison has found out about two trees.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Known<'a> {
    Nothing,
    Same,
    /// The first difference lies along these positions of components.
    DifferAt(&'a [usize]),
}

impl<'a> Known<'a> {
    /// What is known about the `i`-th components.
    pub(crate) fn component(self, i: usize) -> Known<'a> {
        match self {
            Known::Nothing => Known::Nothing,
            Known::Same => Known::Same,
            Known::DifferAt([]) => Known::Nothing,
            Known::DifferAt([k, _rest @ ..]) if i < *k => Known::Same,
            Known::DifferAt([k, rest @ ..]) if i == *k => Known::DifferAt(rest),
            Known::DifferAt([..]) => Known::Nothing,
        }
    }
}

/// A tree whose nodes can be compared one by one.
pub(crate) trait Tree: Sized {
    /// Whether two nodes have the same constructor, the same number of components and the same other fields.
    fn same_node(&self, other: &Self) -> bool;

    /// The components: fields, or parameters and then the result.
    fn components(&self) -> (&[Self], Option<&Self>);

    /// Whether it is a tuple whose fields others hold as well.
    fn is_shared(&self) -> bool;
}

impl Tree for Type {
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

/// The positions that lead to the first difference, or `None` if the two are equal.
pub(crate) fn first_difference<T: Tree>(t1: &T, t2: &T) -> Option<Vec<usize>> {
    first_difference_by(t1, t2, T::same_node)
}

/// As [`first_difference`], by another comparison of nodes, which is finer.
pub(crate) fn first_difference_by<T: Tree>(
    t1: &T,
    t2: &T,
    same_node: impl Fn(&T, &T) -> bool + Copy,
) -> Option<Vec<usize>> {
    let mut reversed = difference(t1, t2, same_node, &mut FxHashSet::default())?;
    reversed.reverse();
    Some(reversed)
}

/// Two lists of components in which no difference was found are not gone through again.
fn difference<T: Tree>(
    t1: &T,
    t2: &T,
    same_node: impl Fn(&T, &T) -> bool + Copy,
    same: &mut FxHashSet<(*const T, *const T)>,
) -> Option<Vec<usize>> {
    if std::ptr::eq(t1, t2) {
        return None;
    }
    if !same_node(t1, t2) {
        return Some(Vec::new());
    }
    let ((some1, last1), (some2, last2)) = (t1.components(), t2.components());
    let places = (some1.as_ptr(), some2.as_ptr());
    if last1.is_none() && (some1.is_empty() || places.0 == places.1 || same.contains(&places)) {
        return None;
    }
    let found = some1.iter().chain(last1).zip(some2.iter().chain(last2)).enumerate().find_map(|(i, (a, b))| {
        let mut path = with_stack(|| difference(a, b, same_node, same))?;
        path.push(i);
        Some(path)
    });
    if found.is_none() && (t1.is_shared() || t2.is_shared()) {
        same.insert(places);
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::grammar::DataType;

    #[test]
    fn the_first_difference_is_found_and_handed_down() {
        let pair = |last: i64| Type::tuple([Type::Object, Type::tuple([Type::shape(1), Type::shape(last)])]);
        assert_eq!(first_difference(&pair(2), &pair(2)), None);
        let path = first_difference(&pair(2), &pair(3)).unwrap();
        assert_eq!(path, [1, 1]);
        let known = Known::DifferAt(&path);
        assert!(matches!(known.component(0), Known::Same));
        assert!(matches!(known.component(1).component(1), Known::DifferAt([])));
        assert!(matches!(known.component(2), Known::Nothing));
    }

    #[test]
    fn purity_and_arity_are_differences_of_the_node() {
        let f = |pure| Type::func([Type::tensor(1, DataType::FLOAT32)], Type::Object, pure);
        assert_eq!(first_difference(&f(true), &f(false)), Some(vec![]));
        assert_eq!(first_difference(&f(true), &Type::func([], Type::Object, true)), Some(vec![]));
    }
}
